"""Fitting the answer of a search on other rows."""

import copy

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import GaussianNB
from sklearn.preprocessing import StandardScaler

import landbridge as lb

RNG = np.random.default_rng(0)
X = RNG.normal(size=(400, 3))
Y = (X[:, 0] + 0.5 * RNG.normal(size=400) > 0).astype(int)
GROUPS = np.tile(["a", "b"], 200)
CANDIDATES = {
    "bayes": lb.SourceOnly(GaussianNB()),
    "pooled": lb.Pooled(LogisticRegression()),
    "target": lb.TargetOnly(LogisticRegression()),
}


def rows(n):
    """The first rows, as source and as target."""
    moved = X + 0.3
    return {
        "X": X[:n], "y": Y[:n], "groups": GROUPS[:n],
        "X_target": moved[: n // 4], "y_target": Y[: n // 4], "X_unlabeled": moved[n // 4 : n],
    }  # fmt: skip


def search(**options):
    options = {"cv": 3, "random_state": 0, "sources": "both", **options}
    return lb.TransferSearchCV(CANDIDATES, **options)


def test_the_answer_is_that_of_a_fit_on_the_new_rows():
    fitted = search().fit(**rows(100))
    before, ranking = fitted.predict_proba(X), fitted.results_.scores()
    weights = fitted.vote_.weights
    fitted.refit_on(**rows(400))
    assert not np.allclose(fitted.predict_proba(X), before)
    assert np.array_equal(fitted.results_.scores(), ranking)
    assert np.array_equal(fitted.vote_.weights, weights)
    again = search().fit(**rows(100)).refit_on(**rows(100))
    assert again.predict_proba(X).tobytes() == before.tobytes()


@pytest.mark.parametrize("source", ["a", "b", "pooled"])
def test_a_cell_learns_from_the_rows_of_its_source(source):
    fitted = search(refit="best").fit(**rows(100)).refit_on(**rows(400))
    cells = fitted.results_.cells
    number = next(
        n for n, cell in enumerate(cells) if (cell.candidate, cell.source) == ("bayes", source)
    )
    own = slice(None) if source == "pooled" else source == GROUPS
    alone = GaussianNB().fit(X[own], Y[own])
    assert np.allclose(fitted.refit_cell(number).predict_proba(X), alone.predict_proba(X))


def test_the_preprocessor_stays():
    fitted = search(preprocessor=StandardScaler()).fit(**rows(100))
    means = fitted.preprocessor_.mean_.copy()
    fitted.refit_on(**rows(400))
    assert np.array_equal(fitted.preprocessor_.mean_, means)
    assert fitted.best_estimator_.steps[0][1] is fitted.preprocessor_


def test_what_does_not_fit_the_search_is_refused():
    fitted = search().fit(**rows(100))
    with pytest.raises(ValueError, match="`groups` must hold the sources of the search; 'b' is"):
        fitted.refit_on(**{**rows(200), "groups": np.repeat("a", 200)})
    with pytest.raises(ValueError, match=r"`y` must hold the classes of the search, \[0, 1\]; got"):
        fitted.refit_on(**{**rows(200), "y": np.arange(200) % 3})
    copied = copy.deepcopy(fitted)
    with pytest.raises(ValueError, match="`refit_on` must be called on a search that was fitted"):
        copied.refit_on(**rows(100))
