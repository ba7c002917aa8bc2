"""The label floor: a bound on the target loss, and what it changes in the choice."""

from itertools import permutations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import wasserstein_distance
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.linear_model import Ridge

import landbridge as lb
from landbridge.model_selection.label_floor import label_floor, total_variation, transport_cost
from landbridge.model_selection.losses import log_losses

LOSSES = {
    "zero_one": lambda y, guess: (y != guess).astype(float),
    "absolute": lambda y, guess: np.abs(y - guess),
    "squared": lambda y, guess: (y - guess) ** 2,
}
SAMPLES = st.lists(st.integers(0, 3), min_size=4, max_size=4).map(
    lambda values: np.array(values, dtype=float)
)


@pytest.mark.parametrize("loss", LOSSES)
@given(y=SAMPLES, guesses=SAMPLES)
def test_it_is_the_least_loss_of_any_pairing_of_labels_and_guesses(loss, y, guesses):
    pairings = [LOSSES[loss](y[list(order)], guesses).mean() for order in permutations(range(4))]
    assert label_floor(loss, y, guesses) == pytest.approx(min(pairings))


@given(y=SAMPLES, seed=st.integers(0, 1000))
def test_no_probabilities_have_a_log_loss_below_it(y, seed):
    probabilities = np.random.default_rng(seed).dirichlet(np.full(4, 0.2), size=4)
    guesses = probabilities.argmax(axis=1)
    losses = log_losses(y, probabilities, np.arange(4.0))
    assert losses.mean() >= label_floor("log", y, guesses) - 1e-12


@pytest.mark.parametrize(("n", "m"), [(3, 7), (10, 15), (1, 6)])
def test_samples_of_different_sizes_are_compared_by_their_quantiles(n, m):
    rng = np.random.default_rng(n)
    first, second = rng.normal(size=n), rng.normal(1, 2, size=m)
    assert transport_cost(first, second, 1) == pytest.approx(wasserstein_distance(first, second))
    # Copies of a sample are the same distribution.
    whole = transport_cost(np.repeat(first, m), np.repeat(second, n), 2)
    assert transport_cost(first, second, 2) == pytest.approx(whole)
    aligned = np.sort(np.repeat(first, m)) - np.sort(np.repeat(second, n))
    assert whole == pytest.approx(np.mean(aligned**2))


def test_classes_are_compared_by_their_shares():
    y, guesses = np.array(["a", "a", "b", "c"]), np.array(["a", "b", "b", "b", "b", "b", "b", "d"])
    assert total_variation(y, guesses) == pytest.approx((3 / 8 + 4 / 8 + 2 / 8 + 1 / 8) / 2)
    assert label_floor("log", y, guesses) == pytest.approx(np.log(2) * 0.625)
    assert label_floor(lambda y, guess: y != guess, y, guesses) == 0.0


class Sign(ClassifierMixin, BaseEstimator):
    """Class 1 where a column is positive, whatever it is trained on."""

    def __init__(self, column=0):
        self.column = column

    def fit(self, X, y):
        self.classes_ = np.array([0, 1])
        return self

    def predict(self, X):
        return (X[:, self.column] > 0).astype(int)


RNG = np.random.default_rng(0)
N = 400
X = RNG.normal(size=(N, 3))
Y = (X[:, 0] > 0).astype(int)
X[:, 1] = np.where(RNG.random(N) < 0.8, 1, -1) * X[:, 0]
# In the target the first column, which tells the classes apart in the source, is moved.
X_TARGET = RNG.normal(size=(N, 3)) + [1.0, 0, 0]
CANDIDATES = {"first": Sign(0), "second": Sign(1), "third": Sign(2)}


def searched(**options):
    options = {"weighting": lb.UniformWeights(), "cv": 4, "random_state": 0, **options}
    return lb.TransferSearchCV(CANDIDATES, **options).fit(X, Y, X_unlabeled=X_TARGET)


def test_the_default_does_not_believe_what_the_labels_exclude():
    search = searched()
    result = search.results_
    floors = [total_variation(Y, (X_TARGET[:, column] > 0).astype(int)) for column in range(3)]
    np.testing.assert_allclose(result.label_floors(), floors)
    assert result.values()[0] == 0.0  # reverse validation finds no fault with the first
    np.testing.assert_array_equal(
        result.choosing_values(), np.maximum(result.values("trcv"), floors)
    )
    assert search.best_params_ == {"candidate": "second"}
    assert search.criterion_ == "trcv"
    assert "label floor" in search.criterion_reason_
    # The score is that of the criterion, the rank that of the choice.
    assert search.best_score_ == 1 - result.values("trcv")[1]
    assert result.ranks().tolist() == [2, 1, 3]
    assert search.cv_results_["rank_test_score"].tolist() == [2, 1, 3]
    assert search.cv_results_["rank_trcv"].tolist() == [1, 2, 3]
    np.testing.assert_allclose(search.cv_results_["label_floor"], floors)
    assert f"but at most {1 - floors[0]:.3f} by its label floor" in repr(result)


@pytest.mark.parametrize(
    ("options", "best"),
    [
        ({"criterion": "trcv"}, "first"),
        ({"criterion": ["rv", "scv"]}, "first"),
        ({"criterion": "all"}, "second"),
        ({"label_floor": False}, "first"),
        ({"criterion": "trcv", "label_floor": True}, "second"),
        ({"criterion": "rv", "label_floor": True}, "second"),
    ],
)
def test_by_name_the_criterion_alone_chooses(options, best):
    search = searched(**options)
    assert search.best_params_["candidate"] == best
    assert ("label floor" in repr(search.results_)) == (best == "second")


def test_a_criterion_without_pseudo_labels_has_no_floor():
    with pytest.raises(
        ValueError, match="`label_floor` must be False or None with criterion 'scv'"
    ):
        searched(criterion="scv", label_floor=True)
    result = searched(criterion="scv").results_
    assert result.floors is None
    assert result.label_floors().tolist() == [0.0, 0.0, 0.0]


def test_halving_keeps_what_the_floor_may_still_put_first():
    candidates = {"first again": Sign(0), **CANDIDATES}
    options = {"weighting": lb.UniformWeights(), "cv": 4, "random_state": 0, "halving": True}
    stopped = {}
    for label_floor in (False, True):
        search = lb.TransferSearchCV(candidates, label_floor=label_floor, **options)
        search.set_params(criterion="trcv").fit(X, Y, X_unlabeled=X_TARGET)
        stopped[label_floor] = [cell["stopped_after"] is not None for cell in search.results_.cells]
    assert stopped[False] == [False, False, True, True]
    assert stopped[True] == [False, False, False, True]
    assert search.best_params_ == {"candidate": "second"}


def test_numbers_have_a_floor_too():
    rng = np.random.default_rng(1)
    y = rng.normal(size=60)
    rows = np.column_stack([y + rng.normal(size=60), rng.normal(size=60)])
    search = lb.TransferSearchCV({"ridge": Ridge()}, cv=3, random_state=0)
    result = search.fit(rows, y, X_unlabeled=rows + [3.0, 0.0]).results_
    model = Ridge().fit(rows, y)
    expected = transport_cost(y, model.predict(rows + [3.0, 0.0]), 2)
    assert result.label_floors()[0] == pytest.approx(expected, rel=0.2)
    assert result.choosing_values()[0] >= result.values()[0]
