"""The label floor: a bound on the target loss, and what it changes in the choice."""

from itertools import permutations
from operator import itemgetter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import wasserstein_distance
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.linear_model import Ridge
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer

import landbridge as lb
from landbridge.model_selection.label_floor import describe_labels, label_floors
from landbridge.model_selection.losses import log_losses

LOSSES = {
    "zero_one": lambda y, guess: (y != guess).astype(float),
    "absolute": lambda y, guess: np.abs(y - guess),
    "squared": lambda y, guess: (y - guess) ** 2,
}
SAMPLES = st.lists(st.integers(0, 3), min_size=4, max_size=4).map(
    lambda values: np.array(values, dtype=float)
)


def floor_of(loss, y, guesses, classes=(0, 1, 2, 3)):
    guesses = describe_labels(loss, guesses, classes)
    return label_floors(loss, describe_labels(loss, y, classes), guesses[None])[0]


@pytest.mark.parametrize("loss", LOSSES)
@given(y=SAMPLES, guesses=SAMPLES)
def test_it_is_the_least_loss_of_any_pairing_of_labels_and_guesses(loss, y, guesses):
    pairings = [LOSSES[loss](y[list(order)], guesses).mean() for order in permutations(range(4))]
    assert floor_of(loss, y, guesses) == pytest.approx(min(pairings))


@given(y=SAMPLES, seed=st.integers(0, 1000))
def test_no_probabilities_have_a_log_loss_below_it(y, seed):
    probabilities = np.random.default_rng(seed).dirichlet(np.full(4, 0.2), size=4)
    losses = log_losses(y, probabilities, np.arange(4.0))
    assert losses.mean() >= floor_of("log", y, probabilities.argmax(axis=1)) - 1e-12


@pytest.mark.parametrize(("n", "m"), [(4, 10), (25, 20), (2, 50)])
def test_samples_of_different_sizes_are_compared_by_their_quantiles(n, m):
    rng = np.random.default_rng(n)
    first, second = rng.normal(size=n), rng.normal(1, 2, size=m)
    expected = wasserstein_distance(first, second)
    assert floor_of("absolute", first, second) == pytest.approx(expected)
    aligned = np.sort(np.repeat(first, m)) - np.sort(np.repeat(second, n))
    assert floor_of("squared", first, second) == pytest.approx(np.mean(aligned**2))


def test_classes_are_compared_by_their_shares():
    y, guesses = np.array(["a", "a", "b", "c"]), np.array(["a", "b", "b", "b", "b", "b", "b", "d"])
    expected = (3 / 8 + 4 / 8 + 2 / 8 + 1 / 8) / 2
    assert floor_of("zero_one", y, guesses, np.array(list("abcd"))) == pytest.approx(expected)
    log = floor_of("log", y, guesses, np.array(list("abcd")))
    assert log == pytest.approx(np.log(2) * expected)


def test_there_is_none_for_a_callable_or_a_distance_of_names():
    assert describe_labels(lambda y, guess: y != guess, np.array([0, 1]), None) is None
    assert describe_labels("squared", np.array(["a", "b"]), np.array(["a", "b"])) is None


def test_rows_may_have_a_source_each_and_unknown_ones_have_no_floor():
    sources = np.array([[0.5, 0.5], [0.2, 0.8], [0.2, 0.8]])
    guesses = np.array([[0.9, 0.1], [0.9, 0.1], [np.nan, np.nan]])
    np.testing.assert_allclose(label_floors("zero_one", sources, guesses), [0.4, 0.7, 0.0])


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
X_TARGET = RNG.normal([1.0, 0, 0], 1, size=(N, 3))
CANDIDATES = {"first": Sign(0), "second": Sign(1), "third": Sign(2)}


def searched(**options):
    options = {"weighting": lb.UniformWeights(), "cv": 4, "random_state": 0, **options}
    return lb.TransferSearchCV(CANDIDATES, **options).fit(X, Y, X_unlabeled=X_TARGET)


def test_it_does_not_believe_what_the_labels_exclude():
    search = searched(correction="label_floor")
    result = search.results_
    floors = np.abs(np.mean(X_TARGET > 0, axis=0) - Y.mean())
    np.testing.assert_allclose(result.label_floors(), floors)
    assert result.values()[0] == 0.0  # reverse validation finds no fault with the first
    np.testing.assert_allclose(result.choosing_values(), np.maximum(result.values("trcv"), floors))
    assert search.best_params_ == {"candidate": "second"}
    assert search.criterion_ == "trcv"
    assert "label floor" in search.criterion_reason_
    # The score is that of the criterion, the rank that of the choice.
    assert search.best_score_ == 1 - result.values("trcv")[1]
    assert result.ranks().tolist() == [2, 1, 3]
    assert search.cv_results_["rank_test_score"].tolist() == [2, 1, 3]
    assert search.cv_results_["rank_trcv"].tolist() == [1, 2, 3]
    np.testing.assert_allclose(search.cv_results_["label_floor"], floors)
    assert f"at most {1 - floors[0]:.3f} by its label floor" in repr(result)


@pytest.mark.parametrize(
    ("options", "best"),
    [
        ({}, "first"),
        ({"criterion": "trcv"}, "first"),
        ({"criterion": "all"}, "first"),
        ({"criterion": "all", "correction": "label_floor"}, "second"),
        ({"criterion": "trcv", "correction": "label_floor"}, "second"),
        ({"criterion": ["rv", "scv"], "correction": "label_floor"}, "second"),
    ],
)
def test_unless_it_is_asked_for_the_criterion_alone_chooses(options, best):
    search = searched(**options)
    assert search.best_params_["candidate"] == best
    assert ("label floor" in repr(search.results_)) == (best == "second")
    if best == "first":
        values = search.results_.values()
        np.testing.assert_array_equal(search.results_.choosing_values(), values)


def test_a_criterion_without_pseudo_labels_has_no_floor():
    with pytest.raises(
        ValueError, match="`correction` must be None or 'auto' with criterion 'scv'"
    ):
        searched(criterion="scv", correction="label_floor")
    result = searched(criterion="scv").results_
    assert result.pseudo_labels is None
    assert result.label_floors().tolist() == [0.0, 0.0, 0.0]


def test_halving_keeps_what_the_floor_may_still_put_first():
    candidates = {"first again": Sign(0), **CANDIDATES}
    options = {"weighting": lb.UniformWeights(), "cv": 4, "random_state": 0, "halving": True}
    stopped = {}
    for correction in (None, "label_floor"):
        search = lb.TransferSearchCV(candidates, correction=correction, **options)
        search.set_params(criterion="trcv").fit(X, Y, X_unlabeled=X_TARGET)
        stopped[correction] = [cell["stopped_after"] is not None for cell in search.results_.cells]
    assert stopped[None] == [False, False, True, True]
    assert stopped["label_floor"] == [False, False, False, True]
    assert search.best_params_ == {"candidate": "second"}


def test_numbers_have_a_floor_too():
    rng = np.random.default_rng(1)
    y = rng.normal(size=100)
    rows = np.column_stack([y + rng.normal(size=100), y + rng.normal(size=100)])
    moved = rows + np.array([8.0, 0.0])
    candidates = {
        name: make_pipeline(FunctionTransformer(itemgetter((slice(None), [column]))), Ridge())
        for column, name in enumerate(["moved", "still"])
    }
    search = lb.TransferSearchCV(candidates, correction="label_floor", cv=4, random_state=0)
    result = search.fit(rows, y, X_unlabeled=moved).results_
    floors = result.label_floors()
    guesses = Ridge().fit(rows[:, :1], y).predict(moved[:, :1])
    assert floors[0] == pytest.approx(np.mean((np.sort(guesses) - np.sort(y)) ** 2), rel=0.3)
    assert floors[1] < 0.5
    np.testing.assert_array_equal(result.choosing_values(), np.maximum(result.values(), floors))


def test_a_callable_loss_has_no_floor():
    def wrong(y, guesses):
        return (y != guesses).astype(float)

    search = searched(criterion="trcv", correction=None, loss=wrong, halving=True)
    assert search.results_.pseudo_labels is None
    assert not search.results_.label_floors().any()
