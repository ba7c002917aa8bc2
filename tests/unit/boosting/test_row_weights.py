"""Weights of rows count in every transfer booster like repeated rows."""

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.tree import DecisionTreeRegressor

import landbridge as lb
from landbridge.boosting.weight_updates import mean_count, row_count

RNG = np.random.default_rng(5)
X, XT, X_NEW = RNG.normal(size=(80, 3)), RNG.normal(0.4, 1, (24, 3)), RNG.normal(size=(60, 3))
SIGNAL, SIGNAL_TARGET = (A[:, 0] + 0.8 * RNG.normal(size=len(A)) for A in (X, XT))
SITES = np.repeat(["a", "b"], 40)
TIMES, TIMES_TARGET = RNG.integers(0, 4, 80), RNG.integers(1, 4, 24)
TIMES_TARGET[[3, 8]] = 0

# Trees of scikit-learn break ties at random and by rounding, so copies may change their splits.
TREE = lb.TrimmedTreeClassifier(max_depth=2, target_error=None)
LINEAR = LogisticRegression(tol=1e-8)
SMALL = {"n_estimators": 4, "random_state": 0}
MODELS = {
    "tradaboost": lb.TrAdaBoostClassifier(TREE, **SMALL),
    "tradaboost-paper": lb.TrAdaBoostClassifier(
        TREE, target_share=None, correction="paper", **SMALL
    ),
    "tradaboost-linear": lb.TrAdaBoostClassifier(LINEAR, **SMALL),
    "trimmed": lb.TrAdaBoostClassifier(lb.TrimmedTreeClassifier(), **SMALL),
    "several-sources": lb.MultiSourceTrAdaBoostClassifier(TREE, **SMALL),
    "several-sources-linear": lb.MultiSourceTrAdaBoostClassifier(LINEAR, **SMALL),
    "task": lb.TaskTrAdaBoostClassifier(TREE, **SMALL),
    "task-linear": lb.TaskTrAdaBoostClassifier(LINEAR, **SMALL),
    "transferboost": lb.TransferBoostClassifier(TREE, **SMALL),
    "transferboost-linear": lb.TransferBoostClassifier(LINEAR, **SMALL),
    "tree": lb.TrimmedTreeClassifier(target_error=0.2),
    "r2": lb.TrAdaBoostRegressor(DecisionTreeRegressor(max_depth=2), **SMALL),
    "r2-linear": lb.TrAdaBoostRegressor(Ridge(), **SMALL),
    "two-stage": lb.TrAdaBoostRegressor(Ridge(), variant="two_stage", n_steps=2, **SMALL),
}
every_model = pytest.mark.parametrize("name", MODELS)


def fit(name, rows=None, target=None, with_target=True, **weights):
    """Fit to the given rows, by default all; labels are classes or numbers."""
    rows = np.arange(80) if rows is None else rows
    target = np.arange(24) if target is None else target
    y, y_target = SIGNAL[rows], SIGNAL_TARGET[target]
    if not isinstance(MODELS[name], lb.TrAdaBoostRegressor):
        y, y_target = (y > 0).astype(int), (y_target > 0.3).astype(int)
    if name.startswith(("several", "task", "transfer")):
        weights["groups"] = SITES[rows]
    if with_target:
        weights |= {"X_target": XT[target], "y_target": y_target}
    return clone(MODELS[name]).fit(X[rows], y, **weights)


def answers(model):
    method = "predict_proba" if hasattr(model, "predict_proba") else "predict"
    return getattr(model, method)(X_NEW)


# The folds of the two-stage form are of rows, so copies of a row may be on both sides.
@pytest.mark.parametrize("name", [name for name in MODELS if name != "two-stage"])
def test_integer_weights_equal_repeated_rows(name):
    repeated = fit(name, np.repeat(np.arange(80), TIMES), np.repeat(np.arange(24), TIMES_TARGET))
    expected = answers(repeated)
    weighted = answers(fit(name, sample_weight=TIMES, sample_weight_target=TIMES_TARGET))
    np.testing.assert_allclose(weighted, expected, rtol=1e-6, atol=1e-8)
    assert np.abs(answers(fit(name)) - expected).max() > 1e-3


@pytest.mark.filterwarnings("ignore::landbridge.NoTargetWarning")
@every_model
def test_integer_weights_equal_repeated_rows_without_a_target(name):
    expected = answers(fit(name, np.repeat(np.arange(80), TIMES), with_target=False))
    weighted = answers(fit(name, with_target=False, sample_weight=TIMES))
    np.testing.assert_allclose(weighted, expected, rtol=1e-6, atol=1e-8)


@every_model
def test_weights_of_one_change_no_bit(name):
    plain = answers(fit(name))
    ones = fit(name, sample_weight=np.ones(80), sample_weight_target=np.ones(24))
    assert np.array_equal(answers(ones), plain)


def test_two_stages_weight_source_target_and_folds():
    """Rows of weight 0 are as absent; target weights change the cross-validated error."""
    kept, kept_target = np.flatnonzero(TIMES), np.flatnonzero(TIMES_TARGET)
    expected = answers(fit("two-stage", kept, kept_target))
    zero = {"sample_weight": TIMES > 0, "sample_weight_target": TIMES_TARGET > 0}
    assert np.array_equal(answers(fit("two-stage", **zero)), expected)
    errors = fit("two-stage").cv_errors_
    heavy = fit("two-stage", sample_weight_target=np.r_[np.ones(12), np.full(12, 9)]).cv_errors_
    assert np.abs(heavy - errors).max() > 1e-3


def test_target_keeps_its_share_whatever_the_weights():
    model = fit("tradaboost", sample_weight=TIMES + 1, sample_weight_target=TIMES_TARGET)
    assert model.source_mass_[0] == pytest.approx(0.5)
    model = fit("tradaboost-paper", sample_weight=TIMES, sample_weight_target=TIMES_TARGET)
    assert model.source_mass_[0] == pytest.approx(TIMES.sum() / (TIMES.sum() + TIMES_TARGET.sum()))


def test_count_of_rows():
    assert row_count(np.array([2.0, 3.0])) == 5
    assert row_count(np.array([0.1, 0.2])) == 2  # small weights do not count as no rows
    assert mean_count(np.ones(7)) == 1.0
    assert mean_count(np.array([2.0, 3.0])) == 2.5


@every_model
def test_a_weight_that_vanishes_beside_the_others_has_a_finite_logarithm(name):
    tiny, tiny_target = np.ones(80), np.ones(24)
    tiny[:5] = tiny_target[:5] = 5e-324
    model = fit(name, sample_weight=tiny, sample_weight_target=tiny_target)
    assert np.isfinite(answers(model)).all()


@every_model
@pytest.mark.parametrize("side", ["sample_weight", "sample_weight_target"])
def test_invalid_weights_are_refused(name, side):
    size = 80 if side == "sample_weight" else 24
    for wrong, message in [
        (-np.ones(size), "Negative values"),
        (np.full(size, np.nan), "NaN"),
        (np.ones(size - 1), f"`{side}`.shape"),
        (np.zeros(size), f"`{side}` must have a positive sum"),
        (np.full(size, 1e308), f"`{side}` must have a largest weight between .* got 1e[+]308"),
        (np.full(size, 1e-300), f"`{side}` must have a largest weight between .* got 1e-300"),
    ]:
        with pytest.raises(ValueError, match=message):
            fit(name, **{side: wrong})


def test_target_weights_need_a_target():
    with pytest.raises(ValueError, match="`sample_weight_target` must come with `X_target`"):
        fit("tradaboost", with_target=False, sample_weight_target=np.ones(24))


@pytest.mark.parametrize("name", ["tradaboost", "several-sources", "task", "transferboost"])
def test_a_search_with_weights_fits_boosters(name):
    search = lb.TransferSearchCV({"boosted": MODELS[name], "linear": LINEAR}, cv=3, random_state=0)
    y, y_target = (SIGNAL > 0).astype(int), (SIGNAL_TARGET > 0.3).astype(int)
    weights = {"sample_weight": TIMES + 1, "sample_weight_target": TIMES_TARGET + 1}
    search.fit(X, y, X_target=XT, y_target=y_target, **weights)
    assert not search.results_.failures
