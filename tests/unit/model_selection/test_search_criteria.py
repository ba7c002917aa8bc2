"""The criteria against values worked out by hand, and the cases in which they coincide."""

from itertools import combinations_with_replacement, product
from types import SimpleNamespace

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import KFold, cross_val_score
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier

import landbridge as lb
from landbridge.model_selection._fit_tasks import plan_cells, plan_fits
from landbridge.model_selection._sources import Source, make_folds
from landbridge.model_selection.candidates import expand_candidates
from landbridge.model_selection.criteria import CRITERIA, choose_criterion

# Twelve source rows on a line in three folds of four; three unlabelled, two labelled target rows.
SOURCE = np.array([0.0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11])
LABELS = np.array(["n", "n", "p", "n", "n", "p", "n", "p", "p", "n", "p", "p"])
UNLABELLED = np.array([3.3, 6.6, 9.4])
LABELLED, ITS_LABELS = np.array([1.2, 10.3]), np.array(["n", "p"])
WEIGHTS = np.array([0.5, 0.5, 1, 1, 2, 2, 1, 1, 0.5, 0.5, 1, 1])


class GivenWeights(lb.UniformWeights):
    """Density ratios that a test dictates."""

    def fit(self, X, X_target):
        self.weights_ = WEIGHTS[np.asarray(X).ravel().astype(int)]
        return self


def nearest(rows, labels, new):
    """One nearest neighbour, by hand."""
    return np.array([labels[np.argmin(np.abs(rows - x))] for x in new])


def by_hand():
    """Losses of one nearest neighbour, fold after fold, as Fig. 1 says."""
    forward, reverse = np.zeros(12), np.zeros(12)
    for fold in (range(4), range(4, 8), range(8, 12)):
        test = np.array(fold)
        train = np.setdiff1d(np.arange(12), test)
        forward[test] = nearest(SOURCE[train], LABELS[train], SOURCE[test]) != LABELS[test]
        pseudo = nearest(SOURCE[train], LABELS[train], UNLABELLED)
        rows = np.concatenate([UNLABELLED, LABELLED])
        back = nearest(rows, np.concatenate([pseudo, ITS_LABELS]), SOURCE[test])
        reverse[test] = back != LABELS[test]
    return forward, reverse


def column(values):
    return np.asarray(values, dtype=float)[:, None]


@pytest.fixture(scope="module")
def twelve_rows():
    with pytest.warns(lb.FewTargetRowsWarning, match="2 labelled target rows for 3 folds"):
        return lb.transfer_cross_validate(
            KNeighborsClassifier(1),
            column(SOURCE),
            LABELS,
            X_target=column(LABELLED),
            y_target=ITS_LABELS,
            X_unlabeled=column(UNLABELLED),
            cv=KFold(3),
            weighting=GivenWeights(),
            random_state=0,
        )


def test_source_criteria_of_twelve_rows(twelve_rows):
    forward, reverse = by_hand()
    assert twelve_rows.values("scv")[0] == pytest.approx(forward.mean())
    assert twelve_rows.values("wcv")[0] == pytest.approx((WEIGHTS * forward).sum() / 12)
    assert twelve_rows.values("rv")[0] == pytest.approx(reverse.mean())
    assert twelve_rows.values("trcv")[0] == pytest.approx((WEIGHTS * reverse).sum() / 12)
    # The same on paper: rows 2, 5, 6, 9 are wrong forward, rows 2, 6, 9 in reverse.
    assert np.flatnonzero(forward).tolist() == [2, 5, 6, 9]
    assert np.flatnonzero(reverse).tolist() == [2, 6, 9]
    assert twelve_rows.values("scv")[0] == pytest.approx(4 / 12)
    assert twelve_rows.values("wcv")[0] == pytest.approx((1 + 2 + 1 + 0.5) / 12)
    assert twelve_rows.values("rv")[0] == pytest.approx(3 / 12)
    assert twelve_rows.values("trcv")[0] == pytest.approx((1 + 1 + 0.5) / 12)


def test_target_criteria_of_twelve_rows(twelve_rows):
    # Trained on the source alone: 1.2 is next to row 1 (n), 10.3 next to row 10 (p).
    assert twelve_rows.values("stv")[0] == 0
    # Each labelled row is predicted by the other, which has the other label.
    assert twelve_rows.values("tcv")[0] == 1
    # With the source the nearest rows are again rows 1 and 10.
    assert twelve_rows.values("tlv")[0] == 0


def problem(seed, n=90):
    rng = np.random.default_rng(seed)
    X, X_target = rng.normal(size=(n, 3)), rng.normal(0.5, 1, size=(n, 3))
    y, y_target = (
        (rows[:, 0] + 0.5 * rng.normal(size=n) > 0).astype(int) for rows in (X, X_target)
    )
    return X, y, X_target, y_target


@pytest.mark.parametrize("seed", [0, 1, 2])
def test_unit_weights_make_trcv_rv_and_wcv_scv(seed):
    X, y, X_target, _ = problem(seed)
    result = lb.transfer_cross_validate(
        GaussianNB(), X, y, X_unlabeled=X_target, weighting=lb.UniformWeights(), random_state=seed
    )
    assert result.values("trcv")[0] == result.values("rv")[0]
    assert result.values("wcv")[0] == result.values("scv")[0]


@pytest.mark.parametrize("estimator", [GaussianNB(), LogisticRegression(), KNeighborsClassifier()])
def test_scv_is_cross_val_score(estimator):
    X, y, X_target, _ = problem(3)
    cv = KFold(5, shuffle=True, random_state=1)
    result = lb.transfer_cross_validate(
        estimator, X, y, X_unlabeled=X_target, cv=cv, criterion="scv"
    )
    expected = cross_val_score(estimator, X, y, cv=cv).mean()
    assert result.scores("scv")[0] == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize("loss", ["absolute", "squared"])
def test_losses_of_regression_are_those_of_scikit_learn(loss):
    from sklearn.linear_model import Ridge

    X, _, X_target, _ = problem(4)
    y = X @ [1.0, 2.0, 0.5]
    cv = KFold(5)
    scoring = f"neg_mean_{loss}_error"
    result = lb.transfer_cross_validate(
        Ridge(), X, y, X_unlabeled=X_target, cv=cv, criterion=["scv", "rv"], scoring=scoring
    )
    expected = cross_val_score(Ridge(), X, y, cv=cv, scoring=scoring).mean()
    assert result.scores("scv")[0] == pytest.approx(-expected)  # shown as an error
    assert result.values("rv")[0] > result.values("scv")[0]


def test_log_loss_and_a_callable():
    X, y, X_target, _ = problem(5)
    cv = KFold(5)
    log = lb.transfer_cross_validate(
        LogisticRegression(),
        X,
        y,
        X_unlabeled=X_target,
        cv=cv,
        criterion="scv",
        scoring="neg_log_loss",
    )
    expected = cross_val_score(LogisticRegression(), X, y, cv=cv, scoring="neg_log_loss").mean()
    assert log.scores("scv")[0] == pytest.approx(-expected, rel=1e-5)

    def worst_recall(y, predicted, sample_weight=None):
        return min(np.mean(predicted[y == label] == label) for label in np.unique(y))

    called = lb.transfer_cross_validate(
        LogisticRegression(),
        X,
        y,
        X_unlabeled=X_target,
        cv=cv,
        criterion="scv",
        scoring=worst_recall,
    )
    assert [metric.name for metric in called.metrics] == ["worst_recall"]
    predicted = called.source[0].labels
    expected = min(np.mean(predicted[y == label] == label) for label in (0, 1))
    assert called.scores("scv")[0] == expected


def test_pseudo_labels_of_one_class_give_that_constant():
    X, y, X_target, _ = problem(6)
    far = X_target + 50.0  # every row is predicted to be of class 1
    result = lb.transfer_cross_validate(
        LogisticRegression(), X, y, X_unlabeled=far, criterion="rv", cv=3
    )
    assert result.values("rv")[0] == pytest.approx(np.mean(y == 0))
    assert result.cells[0].constants == 3


def test_transfer_learner_changes_sides_in_the_reverse_fit():
    seen = []

    class Witness(lb.Pooled):
        def fit(self, X, y, *, X_target=None, y_target=None, X_unlabeled=None):
            seen.append(
                [None if part is None else len(part) for part in (X, X_target, X_unlabeled)]
            )
            return super().fit(X, y, X_target=X_target, y_target=y_target, X_unlabeled=X_unlabeled)

    X, y, X_target, y_target = problem(7)
    lb.transfer_cross_validate(
        Witness(LogisticRegression()),
        X,
        y,
        X_target=X_target[:20],
        y_target=y_target[:20],
        X_unlabeled=X_target[20:],
        criterion=["rv", "stv", "tlv", "tcv"],
        cv=3,
    )
    forward, reverse = [60, 20, 70], [70, 20, 30]
    assert seen[:6] == [forward, reverse] * 3
    assert seen[6] == [90, None, 90]  # stv: the target without labels
    # tlv: the fold of the labelled target rows is left out, then tcv: the target alone
    assert sorted(rows[1] for rows in seen[7:10]) == [13, 13, 14]
    assert [rows[1:] for rows in seen[10:]] == [[None, None]] * 3


def test_default_criterion_depends_on_labels():
    assert choose_criterion(None, 20).criterion == "anchored"
    assert choose_criterion(None, 1).criterion == "trcv"
    assert choose_criterion(None, 0).by_default
    assert not choose_criterion("trcv", 0).by_default
    assert set(choose_criterion("all", 20).criteria) == set(CRITERIA)
    assert choose_criterion("all", 0).criteria == ("trcv", "scv", "wcv", "rv")
    assert choose_criterion([None, "scv"], 20).criteria == ("anchored", "scv")
    assert choose_criterion(["scv", "rv"], 0).criterion == "scv"


@pytest.mark.parametrize(
    ("requested", "n_labelled", "message"),
    [
        ("best", 20, "`criterion` must be one of 'scv'.*got 'best'"),
        (["scv", "best"], 20, "`criterion` must be one of"),
        ([], 20, "`criterion` must name at least one"),
        ("tlv", 0, "'tlv' must have at least 2 labelled target rows; got 0"),
        ("anchored", 1, "'anchored' must have at least 2 labelled target rows; got 1"),
    ],
)
def test_bad_criteria_are_refused(requested, n_labelled, message):
    with pytest.raises(ValueError, match=message):
        choose_criterion(requested, n_labelled)


@pytest.mark.parametrize("names", list(combinations_with_replacement(CRITERIA, 2)))
def test_every_array_of_a_cell_is_filled_once_per_fold(names):
    # Two fits that fill the same rows would leave those of the fit that ends last.
    candidates = expand_candidates(
        {"s": lb.SourceOnly(GaussianNB()), "t": lb.TargetOnly(GaussianNB()), "plain": GaussianNB()}
    )
    folds = make_folds(LABELS, cv=3, task="classification", seed=0)
    sources = [Source(name, np.arange(12), folds) for name in "ab"]
    context = SimpleNamespace(candidates=candidates, sources=sources, target_folds=folds)
    cells = plan_cells(candidates, sources, 12)
    needs = CRITERIA[names[0]].needs | CRITERIA[names[1]].needs
    filled = [
        (cell, array, fit.fold)
        for fit in plan_fits(cells, context, needs)
        for cell, array in product(fit.cells, fit.fills)
    ]
    assert len(set(filled)) == len(filled)
    arrays = needs - {"weights"} | {"unlabelled"}
    assert {pair[:2] for pair in filled} == set(product(range(len(cells)), arrays))
