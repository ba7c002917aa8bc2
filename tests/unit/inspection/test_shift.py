"""The diagnosis of a shift as a whole, in figures, words and pictures."""

import dataclasses
import pickle
import sys

import matplotlib as mpl
import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy import sparse
from sklearn import config_context
from sklearn.linear_model import LogisticRegression
from sklearn.svm import LinearSVC

from landbridge import UniformWeights, diagnose_shift
from landbridge.datasets import load_auto_mpg, make_covariate_shift
from landbridge.inspection import ShiftDisplay
from landbridge.inspection._domain_auc import DomainAUC
from landbridge.inspection._label_shift import LabelShift
from landbridge.inspection._mmd import MMDTest
from landbridge.inspection.shift import WeightedSource, standardise

mpl.use("Agg")
FAST = {"classifier": LogisticRegression(), "n_permutations": 99, "random_state": 0}


@pytest.fixture(scope="module")
def cars():
    return load_auto_mpg(as_frame=True)


@pytest.fixture(scope="module")
def diagnosis(cars):
    usa, japan = cars.domain == "USA", cars.domain == "Japan"
    return diagnose_shift(
        cars.data[usa],
        cars.data[japan],
        y=cars.target[usa],
        y_target=cars.target[japan],
        random_state=0,
    )


def test_american_and_japanese_cars_differ_strongly(diagnosis):
    assert diagnosis.detected
    assert (diagnosis.n_source, diagnosis.n_target, diagnosis.n_features) == (245, 79, 6)
    assert diagnosis.auc.low > 0.9
    assert diagnosis.mmd.p_value < 0.01
    assert diagnosis.features[0].name == "displacement"
    assert diagnosis.features[0].mean_difference < -1.5
    assert diagnosis.labels.task == "regression"
    assert diagnosis.labels.effect > 1
    assert 0.1 < diagnosis.weighted.effective_share < 0.5
    assert diagnosis.weighted.gap_after < diagnosis.weighted.gap_before / 4
    assert diagnosis.weighted.method == "KernelMeanMatching"


def test_the_verdict_names_strength_features_weights_and_labels(diagnosis):
    verdict = diagnosis.verdict
    assert "The domains differ strongly (AUC 0.9" in verdict
    assert "features shift, most of all displacement (-2." in verdict
    assert "Weighting can correct it at a cost: the effective sample size is" in verdict
    assert "The labels shift too (+1." in verdict


def test_summary_and_repr(diagnosis):
    assert str(diagnosis) == diagnosis.summary()
    assert diagnosis.verdict in diagnosis.summary().replace("\n", " ")
    assert max(map(len, diagnosis.summary().splitlines())) <= 92
    assert "horsepower" in diagnosis.summary()
    assert "horsepower" not in diagnosis.summary(n_features=1).split("corrected p")[1]
    assert repr(diagnosis).startswith("ShiftDiagnosis(auc=0.9")
    assert "labels                 20.03 ± 6.44 → 30.45 ± 6.09" in diagnosis.summary()


def test_the_result_is_frozen_and_travels(diagnosis):
    with pytest.raises(dataclasses.FrozenInstanceError):
        diagnosis.auc = None
    assert pickle.loads(pickle.dumps(diagnosis)) == diagnosis  # noqa: S301
    assert dataclasses.asdict(diagnosis)["features"][0]["name"] == "displacement"


def test_equal_domains_are_not_told_apart():
    data = make_covariate_shift(shift=0, scale=1, random_state=0)
    diagnosis = diagnose_shift(data.X, data.X_target, y=data.y, y_target=data.y_target, **FAST)
    assert not diagnosis.detected
    assert diagnosis.verdict.startswith("No shift of the features was found (AUC 0.")
    assert "No shift of the labels was found" in diagnosis.verdict
    assert diagnosis.weighted.effective_share > 0.9


def test_a_combination_of_features_shifts_though_no_feature_does():
    rng = np.random.default_rng(0)
    X, X_target = rng.normal(size=(2, 400, 2))
    X_target[:, 1] = -X_target[:, 0] + 0.1 * X_target[:, 1]
    diagnosis = diagnose_shift(X, X_target, random_state=0)
    assert diagnosis.detected
    assert "No single feature shifts significantly" in diagnosis.verdict


def test_one_feature_that_changes_its_spread():
    rng = np.random.default_rng(0)
    diagnosis = diagnose_shift(rng.normal(size=(400, 1)), rng.normal(0, 2, size=(400, 1)), **FAST)
    assert "The feature column 0 (variance 4." in diagnosis.verdict


@pytest.mark.parametrize(
    "convert",
    [
        lambda frame: frame,
        lambda frame: pl.from_pandas(frame),
        lambda frame: frame.to_numpy(),
        lambda frame: frame.to_numpy(dtype=np.float32),
        lambda frame: sparse.csr_matrix(frame.to_numpy()),
    ],
    ids=["pandas", "polars", "numpy", "float32", "csr"],
)
def test_tables_arrays_and_sparse_rows(cars, convert):
    usa, japan = cars.data[cars.domain == "USA"], cars.data[cars.domain == "Japan"]
    names = {feature.name for feature in diagnose_shift(usa, japan, **FAST).features}
    frame = pd.DataFrame(usa).reset_index(drop=True)
    options = FAST | ({"classifier": None} if sparse.issparse(convert(frame)) else {})
    result = diagnose_shift(convert(frame), convert(japan.reset_index(drop=True)), **options)
    assert result.detected
    assert names == set(cars.feature_names)
    named = isinstance(convert(frame), (pd.DataFrame, pl.DataFrame))
    assert result.features[0].name == ("displacement" if named else "column 1")
    assert result.features[0].mean_difference == pytest.approx(-2.03, abs=0.01)


def test_names_for_the_columns_of_arrays_and_of_very_many():
    X = np.zeros((10, 1200))
    X[::2] = 1
    Z = X + 5
    names = [f"term {k}" for k in range(1200)]
    diagnosis = diagnose_shift(X, Z, feature_names=names, **FAST)
    assert diagnosis.features[0].name == "term 0"
    assert "1000 of 1000 features compared shift, most of all term 0" in diagnosis.verdict


def test_arguments_are_left_alone_and_random_state_decides():
    data = make_covariate_shift(300, 300, random_state=0)
    X, X_target = data.X.copy(), data.X_target.copy()
    options = {**FAST, "max_rows": 100}
    before = np.random.get_state()[1].copy()  # noqa: NPY002
    first = diagnose_shift(X, X_target, **options)
    assert np.array_equal(before, np.random.get_state()[1])  # noqa: NPY002
    assert first == diagnose_shift(X, X_target, **options, n_jobs=2)
    assert first != diagnose_shift(X, X_target, **{**options, "random_state": 1})
    np.testing.assert_array_equal(X, data.X)
    np.testing.assert_array_equal(X_target, data.X_target)


def test_many_rows_are_drawn_and_means_use_all():
    data = make_covariate_shift(3000, 1000, random_state=0)
    diagnosis = diagnose_shift(data.X, data.X_target, max_rows=200, **FAST)
    assert (diagnosis.n_source_drawn, diagnosis.n_target_drawn) == (200, 200)
    assert diagnosis.weighted.n_rows == 200
    assert "3000 source rows, 1000 target rows (200 and 200 drawn)" in diagnosis.summary()
    whole = diagnose_shift(data.X, data.X_target, max_rows=None, **FAST)
    assert whole.n_source_drawn == 3000
    by_name = {f.name: f.mean_difference for f in whole.features}
    assert by_name == {f.name: f.mean_difference for f in diagnosis.features}


@pytest.mark.parametrize("output", ["pandas", "polars"])
def test_the_output_that_is_wanted_of_transformers_changes_nothing(output):
    data = make_covariate_shift(60, 50, random_state=0)
    usual = diagnose_shift(data.X, data.X_target, **FAST)
    with config_context(transform_output=output):
        assert diagnose_shift(data.X, data.X_target, **FAST) == usual


def test_rows_in_both_domains_are_suspected_where_the_auc_lies_below_one_half(diagnosis):
    same = np.random.default_rng(0).normal(size=(80, 4))
    # The copy of a row that is left out is in the training rows, with the other domain's name.
    found = diagnose_shift(same, same, n_permutations=99, random_state=0)
    assert found.auc.high < 0.5
    assert "some rows are in both domains" in found.verdict
    assert "rows are in both" not in diagnosis.verdict


def test_another_weighting_is_fitted_as_a_copy():
    data = make_covariate_shift(random_state=0)
    weighting = UniformWeights()
    diagnosis = diagnose_shift(data.X, data.X_target, weighting=weighting, **FAST)
    assert not hasattr(weighting, "weights_")
    assert diagnosis.weighted.method == "UniformWeights"
    assert diagnosis.weighted.effective_sample_size == pytest.approx(500)
    assert diagnosis.weighted.gap_after == pytest.approx(diagnosis.weighted.gap_before)
    assert "Weighting does not correct it" in diagnosis.verdict
    assert "which is too large. Label target rows." in diagnosis.verdict


def test_weights_that_are_all_zero_leave_nothing():
    class Nothing(UniformWeights):
        def fit(self, X, X_target):
            self.weights_ = np.zeros(X.shape[0])
            return self

    data = make_covariate_shift(100, 100, random_state=0)
    diagnosis = diagnose_shift(data.X, data.X_target, weighting=Nothing(), **FAST)
    assert diagnosis.weighted.effective_sample_size == 0
    assert (
        "Weighting cannot correct it reliably: the effective sample size is 0 of 100"
        in diagnosis.verdict
    )


def test_domains_far_apart_raise_no_warning_but_the_verdict_says_it():
    rng = np.random.default_rng(0)
    diagnosis = diagnose_shift(rng.normal(size=(200, 3)), rng.normal(6, 1, size=(200, 3)), **FAST)
    assert diagnosis.auc.value == 1
    assert diagnosis.auc.low > 0.9
    assert "cannot correct it" in diagnosis.verdict or "does not correct it" in diagnosis.verdict


@pytest.mark.parametrize(
    ("auc", "strength"),
    [(0.55, "slightly"), (0.65, "moderately"), (0.8, "clearly"), (0.95, "strongly")],
)
def test_strength_in_words(diagnosis, auc, strength):
    changed = dataclasses.replace(diagnosis, auc=DomainAUC(auc, auc, auc))
    assert f"differ {strength}" in changed.verdict


def test_either_test_detects(diagnosis):
    blind = DomainAUC(0.5, 0.4, 0.6)
    assert dataclasses.replace(diagnosis, auc=blind).detected
    assert not dataclasses.replace(diagnosis, auc=blind, mmd=MMDTest(0.0, 0.03)).detected
    assert dataclasses.replace(diagnosis, mmd=MMDTest(0.0, 0.9)).detected
    of_four_rows = DomainAUC(1.0, 0.4, 1.0)
    assert dataclasses.replace(diagnosis, auc=of_four_rows).detected
    assert not dataclasses.replace(diagnosis, auc=of_four_rows, mmd=MMDTest(0.0, 0.03)).detected


@pytest.mark.parametrize(
    ("auc", "found"),
    [
        (DomainAUC(0.53, 0.495, 0.565), False),
        (DomainAUC(0.53, 0.505, 0.555), True),
        (DomainAUC(1.0, 0.4, 1.0), False),
        (DomainAUC(1.0, 0.9, 1.0), True),
        (DomainAUC(0.0, 0.0, 0.1), False),
    ],
)
def test_the_auc_counts_where_its_interval_lies_above_one_half(diagnosis, auc, found):
    assert dataclasses.replace(diagnosis, auc=auc, mmd=MMDTest(0.0, 0.9)).detected == found


def test_cheap_weights_in_words(diagnosis):
    cheap = WeightedSource("KernelMeanMatching", 100, 80.0, 0.02, 1.0, 0.1)
    changed = dataclasses.replace(diagnosis, weighted=cheap)
    assert (
        "Weighting can correct it: the effective sample size is 80 of 100 source" in changed.verdict
    )


def test_shifted_classes_in_words(diagnosis):
    labels = LabelShift("classification", ("a", "b"), (0.5, 0.5), (0.2, 0.8), 0.3, 1e-5)
    changed = dataclasses.replace(diagnosis, labels=labels)
    assert "The labels shift too (total variation 0.30, p < 0.001)" in changed.verdict
    assert "a: 50 % → 20 %, b: 50 % → 80 %  p < 0.001" in changed.summary()


def test_no_labels_no_word_about_them(diagnosis):
    changed = dataclasses.replace(diagnosis, labels=None)
    assert "label" not in changed.verdict.replace("Label target rows", "")
    assert "labels" not in changed.summary()


def test_standardised_columns_have_unit_variance_over_both_domains():
    rng = np.random.default_rng(0)
    X, Z = rng.normal(5, 3, size=(50, 2)), rng.normal(0, 1, size=(30, 2))
    both = np.vstack(standardise(X, Z))
    np.testing.assert_allclose(both.mean(axis=0), 0, atol=1e-12)
    np.testing.assert_allclose(both.std(axis=0), 1)
    scaled = standardise(sparse.csr_matrix(X), sparse.csr_matrix(Z))
    assert all(sparse.issparse(part) for part in scaled)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"X": np.zeros((3, 2))}, "`X` must have at least 4 rows to be compared; got 3"),
        ({"X_target": np.zeros((2, 2))}, "`X_target` must have at least 4 rows"),
        ({"X_target": np.zeros((9, 3))}, "`X_target` must have 2 columns like X; got 3"),
        ({"X_target": None}, "`X_target` must contain the target rows; got None"),
        ({"y": [1, 2]}, "`y` and `y_target` must be passed together"),
        ({"feature_names": ["a"]}, "`feature_names` must name each of the 2 columns; got 1 names"),
        ({"n_permutations": 0}, "`n_permutations` must be a whole number of at least 1; got 0"),
        ({"n_permutations": 9.5}, "`n_permutations` must be a whole number .* got 9.5"),
        ({"max_rows": 3}, "`max_rows` must be a whole number of at least 4 or None; got 3"),
        ({"max_rows": "all"}, "`max_rows` must be a whole number .* got 'all'"),
        ({"classifier": LinearSVC()}, "`classifier` must have predict_proba; got LinearSVC"),
        ({"weighting": "kmm"}, "`weighting` must be a weighting method; got 'kmm'"),
        ({"task": "ranking"}, "`task` must be one of 'auto', 'classification', 'regression'"),
    ],
)
def test_what_cannot_be_diagnosed(change, message):
    arguments = {"X": np.zeros((9, 2)), "X_target": np.zeros((9, 2))} | change
    with pytest.raises(ValueError, match=message):
        diagnose_shift(**arguments)


def test_the_picture_shows_the_figures(diagnosis):
    display = ShiftDisplay.from_diagnosis(diagnosis, n_features=3)
    names = [label.get_text() for label in display.ax_[0].get_yticklabels()]
    assert names == [feature.name for feature in diagnosis.features[:3]]
    widths = [bar.get_width() for bar in display.ax_[0].patches]
    assert widths == [feature.ks for feature in diagnosis.features[:3]]
    texts = " ".join(text.get_text() for text in display.ax_[1].texts)
    assert f"AUC {diagnosis.auc.value:.3f}" in texts
    assert f"{diagnosis.weighted.effective_sample_size:.0f} of 245 rows effective" in texts
    assert display.figure_ is display.ax_[1].figure
    mpl.pyplot.close(display.figure_)


def test_the_picture_from_data_on_given_axes():
    data = make_covariate_shift(100, 100, shift=0, scale=1, random_state=0)
    figure, axes = mpl.pyplot.subplots(1, 2)
    display = ShiftDisplay.from_data(data.X, data.X_target, ax=axes, **FAST)
    assert display.figure_ is figure
    assert not display.diagnosis.detected
    mpl.pyplot.close(figure)


def test_drawing_without_matplotlib_names_the_extra(diagnosis, monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib.pyplot", None)
    with pytest.raises(ImportError, match=r"needs the package matplotlib.*landbridge\[plot\]"):
        ShiftDisplay.from_diagnosis(diagnosis)


def test_two_different_constants_are_told_in_words():
    rng = np.random.default_rng(0)
    X, Z = (np.column_stack([rng.normal(size=60), np.full(60, c)]) for c in (1.0, 2.0))
    diagnosis = diagnose_shift(
        X,
        Z,
        y=np.ones(60),
        y_target=np.full(60, 2.0),
        task="regression",
        feature_names=["noise", "site"],
        n_permutations=50,
        random_state=0,
    )
    assert "site (constant, with different values)" in diagnosis.verdict
    assert "The labels shift too (constant, with different values, p < 0.001)" in diagnosis.verdict
    assert "inf" not in diagnosis.summary()
