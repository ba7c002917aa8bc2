"""The pictures of a search show the numbers they were given."""

import matplotlib as mpl
import numpy as np
import pytest
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier

import landbridge as lb

mpl.use("Agg")
import matplotlib.pyplot as plt

RNG = np.random.default_rng(0)
X, X_TARGET = RNG.normal(size=(90, 2)), RNG.normal(0.3, 1, size=(60, 2))
Y, Y_TARGET = (X[:, 0] > 0).astype(int), (X_TARGET[:, 0] > 0.1).astype(int)
GROUPS = np.repeat(["a", "b", "c"], 30)
TARGET = {"X_target": X_TARGET[:24], "y_target": Y_TARGET[:24], "X_unlabeled": X_TARGET[24:]}


class Never(GaussianNB):
    def fit(self, X, y):
        raise RuntimeError("never")


@pytest.fixture(scope="module")
def search():
    candidates = {
        "nb": GaussianNB(),
        "knn": (KNeighborsClassifier(), {"n_neighbors": [1, 5]}),
        "pooled": lb.Pooled(LogisticRegression()),
        "never": Never(),
    }
    with pytest.warns(lb.FailedFitWarning):
        return lb.TransferSearchCV(candidates, criterion="all", cv=3, random_state=0).fit(
            X, Y, groups=GROUPS, **TARGET
        )


@pytest.fixture(autouse=True)
def _close():
    yield
    plt.close("all")


def test_ranking_shows_scores_and_intervals_best_first(search):
    display = lb.SearchRankingDisplay.from_estimator(search, level=0.8)
    assert len(display.labels) == 14  # the vote, the majority class; three cells failed
    assert display.labels[0] == "vote"
    assert display.scores[1] == pytest.approx(search.best_score_)
    assert np.all(np.diff(display.scores[1:]) <= 0)
    assert (display.lows[0], display.highs[0]) == tuple(search.interval(0.8))
    offsets = display.ax_.collections[1].get_offsets()
    np.testing.assert_allclose(offsets[:, 0], display.scores)
    assert (
        display.ax_.get_xlabel() == "accuracy on the target, 80 % interval\ndotted: majority class"
    )
    majority = search.results_.scores()[search.results_.baseline]
    assert display.ax_.lines[0].get_xdata()[0] == majority
    assert len(lb.SearchRankingDisplay.from_result(search.results_, most=3).labels) == 3


def test_heat_map_has_a_column_for_each_source_and_says_what_failed(search):
    display = lb.SourceCandidateDisplay.from_estimator(search, criterion="tlv")
    assert display.scores.shape == (4, 6)
    np.testing.assert_array_equal(
        display.scores[:3, :5].ravel(), search.results_.scores("tlv")[:15]
    )
    assert display.sources == ["a", "b", "c", "no source"]
    assert display.candidates[1] == "knn (n_neighbors=1)"
    texts = [text.get_text() for text in display.ax_.texts]
    assert f"{np.nanmax(display.scores):.2f}" in texts
    assert [t.get_text() for t in display.ax_.get_xticklabels()] == display.sources
    assert [t.get_text() for t in display.ax_.get_yticklabels()] == display.candidates
    # The picture has candidates downwards, the numbers stand where the colours are.
    np.testing.assert_array_equal(display.ax_.images[0].get_array(), display.scores.T)
    at = {text.get_position(): text.get_text() for text in display.ax_.texts}
    assert at[2, 1] == f"{display.scores[2, 1]:.2f}"


def test_the_frame_of_the_heat_map_is_around_the_chosen_cell(search):
    for criterion in (None, "scv", "trcv"):
        display = lb.SourceCandidateDisplay.from_estimator(search, criterion=criterion)
        order = search.results_.ranking(criterion)
        cell = next(c for c in order if search.results_.cells[c].role != "baseline")
        source, candidate = divmod(cell, 5)
        frame = display.ax_.lines[0].get_xydata()
        np.testing.assert_allclose(frame[:4].mean(axis=0), [source, candidate])


def test_pairwise_probabilities_are_ordered_like_the_ranking(search):
    display = lb.PairwiseDisplay.from_estimator(search, method="paired", most=4)
    cells = search.results_.ranking()[:4]
    expected = search.prob_better(method="paired")[np.ix_(cells, cells)]
    np.testing.assert_allclose(display.probabilities, expected, rtol=1e-12)
    assert len(display.ax_.texts) == 4 * 3
    assert "paired" in display.ax_.get_title()
    assert display.ax_.get_yticklabels()[2].get_text() == f"{display.labels[2]}  3"
    # Ranked by labelled rows, compared on labelled rows.
    default = lb.PairwiseDisplay.from_estimator(search, most=4)
    np.testing.assert_allclose(default.probabilities, expected, rtol=1e-12)


def test_criterion_against_criterion_has_a_point_for_each_cell(search):
    display = lb.CriteriaDisplay.from_estimator(search, "trcv", "tlv")
    assert display.ax_.get_xlabel() == "accuracy by trcv"
    assert display.ax_.get_ylabel() == "accuracy by tlv"
    points = sum(len(c.get_offsets()) for c in display.ax_.collections)
    assert points == 16
    np.testing.assert_array_equal(display.x, search.results_.scores("trcv"))


def test_losses_of_numbers_are_named_and_axes_can_be_given():
    search = lb.TransferSearchCV({"ridge": Ridge()}, cv=3).fit(
        X, X[:, 0] * 2, X_target=X_TARGET, y_target=X_TARGET[:, 0]
    )
    _, ax = plt.subplots()
    display = lb.SearchRankingDisplay.from_estimator(search, ax=ax)
    assert display.ax_ is ax
    assert "RMSE on the target" in ax.get_xlabel()


def test_a_small_picture_has_room_for_its_labels_and_a_legend_for_long_names():
    long = "a candidate whose name is as long as names of candidates can be"
    found = lb.TransferSearchCV({long: GaussianNB()}, criterion="all", cv=3, random_state=0).fit(
        X, Y, **TARGET
    )
    heat = lb.SourceCandidateDisplay.from_estimator(found)
    heat.figure_.canvas.draw()
    assert heat.ax_.get_title().startswith("accuracy by ")
    for words in (heat.ax_.title, *heat.ax_.get_xticklabels(), *heat.ax_.get_yticklabels()):
        box = words.get_window_extent()
        assert min(box.x0, box.y0) >= 0
        assert box.x1 <= heat.figure_.bbox.width
        assert box.y1 <= heat.figure_.bbox.height
    drawn = lb.CriteriaDisplay.from_estimator(found, "trcv", "tlv")
    drawn.figure_.canvas.draw()
    assert drawn.ax_.get_window_extent().width > 250


def test_numbers_on_colours_can_be_read():
    scores = np.array([[0.1, 0.9, np.nan]])
    for better, colours in ((True, ["white", "black"]), (False, ["black", "white"])):
        drawn = lb.SourceCandidateDisplay(scores, ["s"], list("abc"), "", None, better).plot()
        assert [text.get_color() for text in drawn.ax_.texts] == colours
    even = lb.PairwiseDisplay(np.array([[0.5, 0.98], [0.02, 0.5]]), ["a", "b"], "").plot()
    assert [text.get_color() for text in even.ax_.texts] == ["white", "white"]


def test_small_losses_can_be_told_apart():
    candidates = {"a": Ridge(), "b": Ridge(1e4)}
    small = {**TARGET, "y_target": 1e-3 * X_TARGET[:24, 0]}
    found = lb.TransferSearchCV(candidates, cv=3, random_state=0).fit(X, 1e-3 * X[:, 0], **small)
    texts = {text.get_text() for text in lb.SourceCandidateDisplay.from_estimator(found).ax_.texts}
    shown = texts - {""}
    assert len(shown) == 3
    assert len({round(float(text), 2) for text in shown}) <= len(shown)


def test_a_search_must_be_fitted_to_be_shown():
    empty = lb.TransferSearchCV()
    for kind in (lb.SearchRankingDisplay, lb.SourceCandidateDisplay, lb.PairwiseDisplay):
        with pytest.raises(NotFittedError):
            kind.from_estimator(empty)
    with pytest.raises(NotFittedError):
        lb.CriteriaDisplay.from_estimator(empty, "trcv", "tlv")
