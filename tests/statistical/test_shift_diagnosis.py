"""Level and coverage of the shift diagnosis by simulation, with tolerances of four errors."""

import numpy as np
import pytest
from scipy.stats import kstest, norm
from sklearn.base import BaseEstimator, ClassifierMixin

from landbridge import diagnose_shift
from landbridge.inspection._domain_auc import domain_auc
from landbridge.inspection._mmd import mmd_test

pytestmark = pytest.mark.slow


def test_the_p_value_of_the_mmd_is_uniform_without_a_shift():
    p_values = []
    for seed in range(800):
        rng = np.random.default_rng(seed)
        X, Z = rng.exponential(size=(30, 3)), rng.exponential(size=(20, 3))
        p_values.append(mmd_test(X, Z, n_permutations=99, seed=seed).p_value)
    p_values = np.array(p_values)
    for level in (0.05, 0.1, 0.2, 0.5):
        error = np.sqrt(level * (1 - level) / len(p_values))
        assert abs(np.mean(p_values <= level) - level) < 4 * error
    # A p-value from 99 permutations lies on a grid; a uniform number below it fills the gaps.
    jittered = p_values - np.random.default_rng(0).uniform(0, 0.01, len(p_values))
    assert kstest(jittered, "uniform").pvalue > 0.001


class KnownRule(ClassifierMixin, BaseEstimator):
    """Scores a row by its first column: the AUC of two Gaussians is then known exactly."""

    def fit(self, X, y):
        self.classes_ = np.unique(y)
        return self

    def predict_proba(self, X):
        scores = norm.cdf(X[:, 0])
        return np.column_stack([1 - scores, scores])


@pytest.mark.parametrize(("shift", "m", "n"), [(0.0, 60, 40), (1.0, 100, 50), (2.0, 200, 100)])
def test_the_interval_of_the_auc_covers_the_truth(shift, m, n):
    truth, covered = norm.cdf(shift / np.sqrt(2)), []
    for seed in range(1000):
        rng = np.random.default_rng(seed)
        X, Z = rng.normal(size=(m, 1)), rng.normal(shift, 1, size=(n, 1))
        auc = domain_auc(X, Z, classifier=KnownRule(), seed=seed)
        covered.append(auc.low <= truth <= auc.high)
    # Small folds make the variance itself uncertain: two points below the level are granted.
    assert 0.92 < np.mean(covered) < 0.98


def test_a_shift_is_announced_in_at_most_five_percent_of_equal_domains():
    found = []
    for seed in range(100):
        rng = np.random.default_rng(seed)
        X, Z = rng.normal(size=(2, 60, 4))
        found.append(diagnose_shift(X, Z, n_permutations=99, random_state=seed).detected)
    assert np.mean(found) < 0.05 + 4 * np.sqrt(0.05 * 0.95 / len(found))
