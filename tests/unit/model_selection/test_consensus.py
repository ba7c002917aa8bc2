"""The consensus: the candidate closest to the weighted vote on the target rows is chosen."""

from operator import itemgetter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.linear_model import Ridge
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer

import landbridge as lb
from landbridge.model_selection.correction import BallotBox, dissent, vote_weights


def each_alone(ballots, values, proportion=True):
    """Dissent where every candidate is of a kind of its own."""
    return dissent(ballots, values, range(len(ballots)), proportion=proportion)


def test_weights_of_votes():
    # Chance among three is wrong in 2/3 of the rows; worse than that: nothing.
    weights = vote_weights(np.array([0.0, 0.1, 0.5, 0.8]), 3)
    np.testing.assert_allclose(weights, [1.0, 0.85, 0.25, 0.0])
    np.testing.assert_allclose(vote_weights(np.array([0.5, 4.0]), None), [2.0, 0.25])
    # One that looks perfect is not the whole vote.
    np.testing.assert_allclose(vote_weights(np.array([0.0, 4.0]), None), [25.0, 0.25])


@pytest.mark.parametrize("losses", [[0.6, 0.5], [1.0, 1.0]])
def test_where_no_vote_is_of_use_all_are_equal(losses):
    assert vote_weights(np.array(losses), 2).tolist() == [1.0, 1.0]
    assert np.ptp(vote_weights(np.zeros(2), None)) == 0


def test_dissent_by_hand():
    # Weights with three classes: 0.7, 0.85 and 0.625.
    # Rows are won by 0 (1.55 to 0.625), by 1 (all), by 0 (1.325 to 0.85) and by 2 (1.475 to 0.7).
    ballots = np.array([[0, 1, 0, 1], [0, 1, 1, 2], [2, 1, 0, 2]])
    values = np.array([0.2, 0.1, 0.25])
    np.testing.assert_allclose(each_alone(ballots, values), [0.25, 0.25, 0.25])
    # As a loss of another kind: weights 5, 10 and 4, so that the third row is won by 1.
    np.testing.assert_allclose(each_alone(ballots, values, proportion=False), [0.5, 0.0, 0.5])
    # Numbers: the vote is (2·1 + 1·4)/3 = 2 and (2·0 + 1·3)/3 = 1.
    numbers, losses = np.array([[1.0, 0.0], [4.0, 3.0]]), np.array([1.0, 2.0])
    np.testing.assert_allclose(each_alone(numbers, losses, proportion=False), [1.0, 4.0])


def test_a_candidate_that_failed_has_no_vote():
    ballots = np.array([[1, 1, 1], [0, 0, 0], [0, 0, 0], [0, 0, 0]])
    values = np.array([0.3, 0.4, np.nan, np.nan])
    np.testing.assert_array_equal(each_alone(ballots, values), [0.0, 1.0, np.nan, np.nan])


def test_folds_settle_a_ballot_among_themselves():
    box = BallotBox(3, np.array(["a", "b", "c"]))
    assert box.counted() is None
    for labels in ([0, 1, 2], [1, 1, 2], [1, 2, 0]):
        box.cast(0, np.array(labels))
    box.cast(1, np.array([2, 2, 0]))
    box.cast(1, np.array([2, 0, 0]))
    assert box.counted().tolist() == [[1, 1, 2], [2, 0, 0], [0, 0, 0]]
    assert box.counted().dtype == np.uint8
    numbers = BallotBox(1, None)
    numbers.cast(0, np.array([1.0, 2.0]))
    numbers.cast(0, np.array([4.0, 2.0]))
    assert numbers.counted().tolist() == [[2.5, 2.0]]


@given(st.integers(0, 2**32 - 1))
def test_dissent_differs_from_the_error_by_at_most_the_error_of_the_vote(seed):
    rng = np.random.default_rng(seed)
    n_classes, n_candidates = rng.integers(2, 5), rng.integers(1, 7)
    y = rng.integers(0, n_classes, 50)
    ballots = np.where(rng.random((n_candidates, 50)) < 0.6, y, rng.integers(0, n_classes, 50))
    values = rng.uniform(0, 0.5, n_candidates)
    weights = vote_weights(values, max(2, int(ballots.max()) + 1))
    votes = [weights @ (ballots == k) for k in range(n_classes)]
    error_of_vote = np.mean(np.argmax(votes, axis=0) != y)
    errors = np.mean(ballots != y, axis=1)
    assert (np.abs(errors - each_alone(ballots, values)) <= error_of_vote + 1e-12).all()


class Sign(ClassifierMixin, BaseEstimator):
    """One or zero by the sign of a column: reverse validation finds no fault with it."""

    def __init__(self, column=0, copy=None):
        self.column, self.copy = column, copy

    def fit(self, X, y):
        self.classes_ = np.array([0, 1])
        return self

    def predict(self, X):
        return (X[:, self.column] > 0).astype(int)


RNG = np.random.default_rng(0)
N = 400
Y = RNG.integers(0, 2, N)
# The first column says everything in the source and nothing in the target. The second is the best
# one in the target, and not in the source.
X = np.where(RNG.random((N, 5)) < [0, 0.12, 0.1, 0.1, 0.1], -1, 1) * (2 * Y - 1)[:, None]
Y_TARGET = RNG.integers(0, 2, N)
WRONG = RNG.random((N, 5)) < [0.5, 0.02, 0.15, 0.15, 0.15]
X_TARGET = np.where(WRONG, -1, 1) * (2 * Y_TARGET - 1)[:, None]
NAMES = ("misled", "good", "fair", "as fair", "no less fair")
CANDIDATES = {name: Sign(column) for column, name in enumerate(NAMES)}


def searched(candidates=CANDIDATES, X=X, y=Y, **options):
    options = {"weighting": lb.UniformWeights(), "cv": 4, "random_state": 0, **options}
    return lb.TransferSearchCV(candidates, **options).fit(X, y, X_unlabeled=X_TARGET)


def test_the_vote_is_not_misled_by_one_that_passes_reverse_validation():
    plain, search = searched(correction=None), searched(correction="consensus")
    assert plain.best_params_ == {"candidate": "misled"}
    assert plain.results_.values()[0] == 0.0
    assert search.best_params_ == {"candidate": "good"}
    result, table = search.results_, search.cv_results_
    assert search.criterion_ == "trcv"
    assert search.criterion_reason_.endswith("closest to the vote of all on the target")
    np.testing.assert_array_equal(result.ballots, (X_TARGET > 0).astype(int).T)
    expected = each_alone(result.ballots, result.values())
    np.testing.assert_array_equal(result.choosing_values(), expected)
    np.testing.assert_array_equal(table["dissent"], expected)
    # The score is that of the criterion, the rank that of the choice.
    assert search.best_score_ == 1 - result.values("trcv")[1]
    assert table["rank_test_score"].tolist() == (1 + np.argsort(np.argsort(expected))).tolist()
    assert f"{expected[0]:.1%} of rows away from the vote" in repr(result)
    assert "away from the vote" not in repr(plain.results_)


@pytest.mark.parametrize(
    ("options", "voted"),
    [
        ({}, True),
        ({"criterion": "all"}, True),
        ({"criterion": "trcv"}, False),
        ({"criterion": ["trcv", "all"]}, False),
        ({"candidates": dict(list(CANDIDATES.items())[:4])}, False),
        ({"candidates": {"grid": (Sign(), {"column": list(range(5))})}}, False),
        ({"correction": None}, False),
    ],
)
def test_by_default_five_candidates_vote_where_trcv_is_the_default(options, voted):
    search = searched(**options)
    assert (search.results_.about["correction"] == "consensus") == voted
    assert ("closest to the vote" in search.criterion_reason_) == voted
    assert search.criterion_ == "trcv"


def test_with_labels_or_numbers_nobody_votes_by_default():
    labelled = {"X_target": X_TARGET[:20], "y_target": Y_TARGET[:20], "X_unlabeled": X_TARGET[20:]}
    search = lb.TransferSearchCV(CANDIDATES, weighting=lb.UniformWeights(), random_state=0)
    assert search.fit(X, Y, **labelled).results_.about["correction"] is None
    ridges = {f"ridge {k}": Ridge(k + 1) for k in range(5)}
    search = lb.TransferSearchCV(ridges, weighting=lb.UniformWeights(), random_state=0)
    assert search.fit(X, X[:, 0] + 0.5, X_unlabeled=X_TARGET).results_.about["correction"] is None


def test_it_is_weighted_by_the_criterion_that_it_corrects():
    weighting = lb.ClassifierRatio()
    result = searched(
        criterion=["rv", "trcv"], correction="consensus", weighting=weighting
    ).results_
    expected = each_alone(result.ballots, result.values("rv"))
    np.testing.assert_array_equal(result.choosing_values(), expected)
    other = each_alone(result.ballots, result.values("trcv"))
    np.testing.assert_array_equal(result.dissent("trcv"), other)


def test_the_points_of_a_grid_share_one_vote():
    # Ten misled ones would outvote the others, if each had a vote of its own.
    many = {**CANDIDATES, "misled": (Sign(0), {"copy": list(range(10))})}
    search = searched(many, correction="consensus")
    assert search.best_params_ == {"candidate": "good"}
    ballots = np.array([[1], [1], [1], [0], [0]])
    alone, shared = range(5), [("grid", "a")] * 3 + [("b", "a"), ("c", "a")]
    for kinds, expected in ((alone, [0, 0, 0, 1, 1]), (shared, [1, 1, 1, 0, 0])):
        found = dissent(ballots, np.full(5, 0.1), kinds, proportion=True)
        np.testing.assert_array_equal(found, expected)


def test_several_sources_vote_together():
    groups = np.where(np.arange(N) % 2, "a", "b")
    search = lb.TransferSearchCV(
        CANDIDATES, correction="consensus", weighting=lb.UniformWeights(), cv=4, random_state=0
    ).fit(X, Y, groups=groups, X_unlabeled=X_TARGET)
    assert search.results_.ballots.shape == (10, N)
    assert search.best_params_ == {"candidate": "good"}


def test_a_failed_candidate_keeps_the_others_whole():
    class Failing(Sign):
        def fit(self, X, y):
            raise ValueError("no")

    with pytest.warns(lb.exceptions.FailedFitWarning):
        search = searched({"failing": Failing(), **CANDIDATES}, correction="consensus")
    assert search.best_params_ == {"candidate": "good"}
    assert np.isnan(search.cv_results_["dissent"]).tolist() == [True] + 5 * [False]


def test_halving_keeps_the_one_that_the_vote_puts_first():
    stopped = {}
    for correction in (None, "consensus"):
        search = searched(correction=correction, halving=True)
        cells = search.results_.cells
        stopped[correction] = [c["candidate"] for c in cells if c["stopped_after"] is not None]
    assert "good" in stopped[None]
    assert "good" not in stopped["consensus"]
    assert search.best_params_ == {"candidate": "good"}


def test_numbers_vote_too():
    rng = np.random.default_rng(1)
    y = rng.normal(size=200)
    rows = y[:, None] + rng.normal(scale=[0.4, 0.5, 0.5, 0.5], size=(200, 4))
    moved = rows + np.array([5.0, 0.0, 0.0, 0.0])
    candidates = {
        f"column {column}": make_pipeline(
            FunctionTransformer(itemgetter((slice(None), [column]))), Ridge()
        )
        for column in range(4)
    }
    search = lb.TransferSearchCV(candidates, correction="consensus", criterion="rv", cv=4)
    search.set_params(random_state=0).fit(rows, y, X_unlabeled=moved)
    result = search.results_
    votes = 1 / result.values("rv") @ result.ballots / np.sum(1 / result.values("rv"))
    np.testing.assert_allclose(result.dissent(), np.mean((result.ballots - votes) ** 2, axis=1))
    assert search.best_params_ != {"candidate": "column 0"}
    assert "squared away from the vote" in repr(result)


def test_bad_corrections():
    with pytest.raises(ValueError, match="`correction` must be one of"):
        searched(correction="vote")
    with pytest.raises(
        ValueError, match="`correction` must be None or 'auto' with criterion 'wcv'"
    ):
        searched(criterion="wcv", correction="consensus")
