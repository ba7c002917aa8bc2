"""Level and coverage of the shift diagnosis by simulation, with tolerances of four errors."""

import numpy as np
import pytest
from scipy.stats import kstest, norm
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression

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


def coverage_of_auc(classifier, shift, m, n, truth, n_runs):
    """Shares of samples whose interval covers the truth, and whose interval lies above it."""
    covered, above = [], []
    for seed in range(n_runs):
        rng = np.random.default_rng(seed)
        X, Z = rng.normal(size=(m, 4)), rng.normal(size=(n, 4))
        Z[:, 0] += shift
        auc = domain_auc(X, Z, classifier=classifier, seed=seed)
        covered.append(auc.low <= truth <= auc.high)
        above.append(auc.low > truth)
    return np.mean(covered), np.mean(above)


FOREST = RandomForestClassifier(n_estimators=15, min_samples_leaf=3, random_state=0)


@pytest.mark.parametrize(
    ("classifier", "m", "n", "n_runs"),
    [
        (LogisticRegression(), 150, 150, 600),
        (LogisticRegression(), 60, 40, 600),
        (LogisticRegression(), 500, 50, 600),
        (FOREST, 150, 150, 120),
    ],
)
def test_between_equal_domains_the_interval_of_the_auc_covers_one_half(classifier, m, n, n_runs):
    # Without the correction for folds that train each other's classifiers: 0.82 to 0.86.
    covered, above = coverage_of_auc(classifier, 0.0, m, n, 0.5, n_runs)
    error = np.sqrt(0.05 * 0.95 / n_runs)
    assert covered > 0.95 - 3 * error
    # Nor is it far too wide; 120 samples could not tell.
    assert covered < 0.99 or n_runs < 600
    assert above < 0.025 + 3 * np.sqrt(0.025 * 0.975 / n_runs)


@pytest.mark.parametrize("shift", [0.3, 1.0, 2.0])
def test_between_shifted_domains_the_interval_of_the_auc_covers_what_is_reached(shift):
    # The truth: the AUC of such a classifier, fitted to 4/5 of the rows, on very many new ones.
    reached = []
    for seed in range(200):
        rng = np.random.default_rng([seed, 1])
        is_target = np.repeat([0, 1], 120)
        X = rng.normal(size=(240, 4))
        X[:, 0] += shift * is_target
        slope = LogisticRegression().fit(X, is_target).coef_[0]
        # Scores of the domains are Gaussian with means 0 and shift·slope_0, variance ‖slope‖².
        reached.append(norm.cdf(shift * slope[0] / (np.sqrt(2) * np.linalg.norm(slope))))
    covered, _ = coverage_of_auc(LogisticRegression(), shift, 150, 150, np.mean(reached), 400)
    assert covered > 0.95


def test_a_shift_is_announced_in_at_most_five_percent_of_equal_domains():
    found = []
    for seed in range(100):
        rng = np.random.default_rng(seed)
        X, Z = rng.normal(size=(2, 60, 4))
        found.append(diagnose_shift(X, Z, n_permutations=99, random_state=seed).detected)
    assert np.mean(found) < 0.05 + 4 * np.sqrt(0.05 * 0.95 / len(found))
