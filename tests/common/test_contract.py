"""What every estimator of landbridge promises, checked over the one table."""

import copy
import inspect
import pickle
import warnings

import numpy as np
import pandas as pd
import polars as pl
import pytest
import sklearn
from scipy import sparse
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import parametrize_with_checks
from sklearn.utils.validation import _num_samples

import landbridge as lb
from common.cases import CASES, Case, answer, make_sample

COLUMNS = ["age", "height", "dose", "weight"]

every_case = pytest.mark.parametrize("case", CASES, ids=[c.name + "-" + c.kind for c in CASES])
pytestmark = [
    pytest.mark.no_cover,  # other tests reach the same lines, and recording them takes long
    pytest.mark.filterwarnings("ignore::landbridge.FewSourcesWarning"),
    pytest.mark.filterwarnings("ignore::landbridge.FewTargetRowsWarning"),
    pytest.mark.filterwarnings("ignore::landbridge.WeightingWarning"),
    pytest.mark.filterwarnings("ignore::landbridge.NothingToAlignWarning"),
]


def cases_where(condition):
    chosen = [case for case in CASES if condition(case)]
    return pytest.mark.parametrize("case", chosen, ids=[c.name + "-" + c.kind for c in chosen])


classifiers = cases_where(lambda case: case.kind == "classifier")
with_target = cases_where(
    lambda case: case.target and case.kind in ("classifier", "regressor", "transformer")
)


def fitted(case: Case, sample=None, **params):
    sample = make_sample(case) if sample is None else sample
    return case.make().set_params(**params).fit(**sample.arguments(case))


def as_plain_estimator(estimator):
    """Weighting methods take a second matrix; scikit-learn's checks see them with target = X."""

    class WithItselfAsTarget(type(estimator)):
        def fit(self, X, y=None):
            return super().fit(X, X)

        def __reduce__(self):  # a class made here has no name that pickle could find
            plain = type(self).__mro__[1](**self.get_params(deep=False))
            return as_plain_estimator, (plain,), vars(self)

        @classmethod
        def _get_param_names(cls):
            return cls.__mro__[1]._get_param_names()

    return WithItselfAsTarget(**estimator.get_params(deep=False))


def with_default_groups(estimator):
    """Methods of several sources need groups; scikit-learn's checks see rows dealt out in turn."""

    class WithDealtGroups(type(estimator)):
        def fit(self, X, y, groups=None):
            return super().fit(X, y, groups=np.arange(_num_samples(X)) % 3)

        if hasattr(estimator, "partial_fit"):

            def partial_fit(self, X, y, groups=None):
                return super().partial_fit(X, y, groups=np.arange(len(X)) % 3)

        def __reduce__(self):
            plain = type(self).__mro__[1](**self.get_params(deep=False))
            return with_default_groups, (plain,), vars(self)

        @classmethod
        def _get_param_names(cls):
            return cls.__mro__[1]._get_param_names()

    return WithDealtGroups(**estimator.get_params(deep=False))


def with_its_rows_as_target(estimator):
    """A search needs target rows; scikit-learn's checks see it with the rows of X."""

    class WithItsRowsAsTarget(type(estimator)):
        def fit(self, X, y):
            return super().fit(X, y, X_unlabeled=X)

        def __reduce__(self):  # a class made here has no name that pickle could find
            plain = type(self).__mro__[1](**self.get_params(deep=False))
            return with_its_rows_as_target, (plain,), vars(self)

        @classmethod
        def _get_param_names(cls):
            return cls.__mro__[1]._get_param_names()

    return WithItsRowsAsTarget(**estimator.get_params(deep=False))


def seen_by_scikit_learn(case: Case):
    estimator = case.make()
    if case.needs_target:
        return with_its_rows_as_target(estimator)
    if case.kind == "weighting":
        return as_plain_estimator(estimator)
    if case.kind == "grouped":
        return with_default_groups(estimator)
    return estimator


# Parameters for which None has a meaning in some estimator.
OPTIONAL = {"n_components", "n_features", "max_steps", "rank", "target_share", "target_error"}

CHECKED = [(seen_by_scikit_learn(case), case.expected_failures) for case in CASES]


@pytest.mark.filterwarnings("ignore::landbridge.LandbridgeWarning")
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.SkipTestWarning")
@pytest.mark.filterwarnings("ignore:No features were selected")  # some checks draw pure noise
@parametrize_with_checks(
    [estimator for estimator, _ in CHECKED],
    expected_failed_checks=lambda given: next(why for one, why in CHECKED if one is given),
)
def test_check_estimator(estimator, check):
    check(estimator)


@every_case
def test_arguments_are_never_modified(case):
    sample = make_sample(case)
    before = copy.deepcopy(sample.arguments(case))
    estimator = case.make().fit(**sample.arguments(case))
    answer(case, estimator, sample.X_new)
    for name, value in sample.arguments(case).items():
        assert np.asarray(value).tobytes() == np.asarray(before[name]).tobytes(), name


@every_case
def test_constructor_parameters_are_never_modified(case):
    estimator = case.make()
    before = estimator.get_params(deep=False)
    text = repr(estimator.get_params())
    estimator.fit(**make_sample(case).arguments(case))
    after = estimator.get_params(deep=False)
    assert all(after[name] is before[name] for name in before)
    assert repr(estimator.get_params()) == text


@cases_where(lambda case: case.name != "TransferSearchCV")  # whose folds may be many things
@pytest.mark.parametrize("wrong", ["many", [1], None], ids=["text", "list", "None"])
def test_a_number_of_another_kind_is_refused_by_name(case, wrong):
    sample = make_sample(case)
    for name, value in case.make().get_params(deep=False).items():
        if isinstance(value, bool) or not isinstance(value, int | float) or name == "random_state":
            continue
        if wrong is None and name in OPTIONAL:
            continue
        with pytest.raises(ValueError, match=rf"[`']{name}['`]"):
            case.make().set_params(**{name: wrong}).fit(**sample.arguments(case))


@every_case
def test_global_random_state_is_untouched(case):
    np.random.seed(0)  # noqa: NPY002
    seeded = {"random_state": 0} if "random_state" in case.make().get_params() else {}
    fitted(case, **seeded)
    found = np.random.random()  # noqa: NPY002
    assert found == np.random.RandomState(0).random()


@every_case
def test_same_answer_twice(case):
    sample = make_sample(case)
    seed = {"random_state": 3} if "random_state" in case.make().get_params() else {}
    first, second = (answer(case, fitted(case, sample, **seed), sample.X_new) for _ in range(2))
    assert np.array_equal(first, second)


@cases_where(lambda case: "n_jobs" in case.make().get_params())
def test_same_answer_for_any_number_of_jobs(case):
    sample = make_sample(case)
    one, two = (answer(case, fitted(case, sample, n_jobs=n), sample.X_new) for n in (1, 2))
    assert np.array_equal(one, two)


@cases_where(lambda case: case.row_order)
def test_row_order_is_irrelevant(case):
    sample = make_sample(case)
    rng = np.random.default_rng(1)
    source, target, unlabeled = (
        rng.permutation(len(part)) for part in (sample.X, sample.X_target, sample.X_unlabeled)
    )
    shuffled = type(sample)(
        sample.X[source],
        sample.y[source],
        sample.X_target[target],
        sample.y_target[target],
        sample.X_unlabeled[unlabeled],
        sample.groups[source],
        sample.X_new,
    )
    expected = answer(case, fitted(case, sample), sample.X_new)
    if case.kind == "weighting":
        expected = expected[source]
    got = answer(case, fitted(case, shuffled), sample.X_new)
    np.testing.assert_allclose(got, expected, rtol=case.tolerance * 10, atol=case.tolerance)


@every_case
def test_float32_gives_nearly_the_answer_of_float64(case):
    sample = make_sample(case).convert(lambda X: X.astype(np.float32))
    same_values = sample.convert(lambda X: X.astype(np.float64))
    single = answer(case, fitted(case, sample), sample.X_new)
    double = answer(case, fitted(case, same_values), same_values.X_new)
    assert single.shape == double.shape
    assert np.isfinite(single).all()
    scale = np.abs(double).max()
    # Most entries agree to single precision; a split of a tree may fall on the other side.
    assert np.mean(np.abs(single - double) <= 0.02 * scale) >= 0.9


@classifiers
@pytest.mark.parametrize("labels", [["no", "yes"], [-1, 1], [False, True], [2.0, 5.0]])
def test_labels_of_any_type(case, labels):
    sample, labels = make_sample(case), np.array(labels)
    renamed = copy.copy(sample)
    object.__setattr__(renamed, "y", labels[sample.y])
    object.__setattr__(renamed, "y_target", labels[sample.y_target])
    plain = fitted(case, sample).predict(sample.X_new)
    estimator = fitted(case, renamed)
    assert np.array_equal(estimator.predict(sample.X_new), labels[plain])
    assert np.array_equal(estimator.classes_, labels)


@every_case
def test_data_frames_keep_feature_names(case):
    sample = make_sample(case)
    expected = answer(case, fitted(case, sample), sample.X_new)
    for frame in (pd.DataFrame, pl.DataFrame):
        table = sample.convert(lambda X, frame=frame: frame(dict(zip(COLUMNS, X.T, strict=True))))
        estimator = fitted(case, table)
        assert list(estimator.feature_names_in_) == COLUMNS
        assert estimator.n_features_in_ == 4
        got = answer(case, estimator, table.X_new)
        np.testing.assert_allclose(got, expected, rtol=1e-6, atol=1e-8)


@cases_where(lambda case: case.sparse)
def test_csr_gives_the_dense_answer(case):
    sample = make_sample(case)
    thin = sample.convert(lambda X: np.where(np.abs(X) > 0.3, X, 0.0))
    expected = answer(case, fitted(case, thin), thin.X_new)
    compressed = thin.convert(sparse.csr_array)
    got = answer(case, fitted(case, compressed), compressed.X_new)
    np.testing.assert_allclose(got, expected, rtol=1e-4, atol=1e-5)


@cases_where(lambda case: case.sparse)
def test_several_sparse_entries_in_one_cell_count_as_their_sum(case):
    sample = make_sample(case)
    thin = sample.convert(lambda X: sparse.csr_array(np.where(np.abs(X) > 0.3, X, 0.0)))
    halves = thin.convert(
        lambda X: sparse.csr_array(
            (np.repeat(X.data / 2, 2), np.repeat(X.indices, 2), 2 * X.indptr), shape=X.shape
        )
    )
    expected = answer(case, fitted(case, thin), thin.X_new)
    got = answer(case, fitted(case, halves), halves.X_new)
    np.testing.assert_allclose(got, expected, rtol=1e-9, atol=1e-12)
    assert halves.X.nnz == 2 * thin.X.nnz


@cases_where(lambda case: not case.sparse)
def test_csr_is_refused_clearly_where_it_cannot_be_taken(case):
    with pytest.raises(TypeError, match=r"[Ss]parse"):
        fitted(case, make_sample(case).convert(sparse.csr_array))


@every_case
def test_clone_pickle_and_repr(case):
    sample = make_sample(case)
    estimator = fitted(case, sample)
    expected = answer(case, estimator, sample.X_new)
    revived = pickle.loads(pickle.dumps(estimator))  # noqa: S301
    assert np.array_equal(answer(case, revived, sample.X_new), expected)
    copied = clone(estimator)
    assert not [name for name in vars(copied) if name.endswith("_")]
    assert case.name in repr(estimator)


@with_target
def test_works_inside_a_pipeline_that_transforms_the_target_too(case):
    sample = make_sample(case)
    names = [n for n in ("X_target", "y_target", "X_unlabeled") if n in sample.arguments(case)]
    with sklearn.config_context(enable_metadata_routing=True):
        last = case.make().set_fit_request(**dict.fromkeys(names, True))
        pipeline = Pipeline(
            [("scale", StandardScaler()), ("transfer", last)],
            transform_input=[name for name in names if name.startswith("X")],
        ).fit(**sample.arguments(case))
        got = answer(case, pipeline, sample.X_new)
    scaler = StandardScaler().fit(sample.X)
    by_hand = sample.convert(scaler.transform)
    expected = answer(case, fitted(case, by_hand), by_hand.X_new)
    np.testing.assert_allclose(got, expected, rtol=1e-6, atol=1e-8)


@cases_where(lambda case: case.needs_target)
def test_no_target_is_refused_where_nothing_can_be_done_without(case):
    sample = make_sample(case)
    with pytest.raises(ValueError, match="got no target rows at all"):
        case.make().fit(sample.X, sample.y)


@cases_where(
    lambda case: (
        case.target
        and not case.needs_target
        and case.kind in ("classifier", "regressor", "transformer")
    )
)
def test_no_target_warns_once_and_fits(case):
    sample = make_sample(case)
    with pytest.warns(lb.NoTargetWarning, match=f"{case.name} was fitted without target") as seen:
        estimator = case.make().fit(sample.X, sample.y)
    assert sum(issubclass(w.category, lb.NoTargetWarning) for w in seen) == 1
    assert np.isfinite(answer(case, estimator, sample.X_new)).all()


@cases_where(lambda case: case.kind in ("transformer", "grouped"))
@pytest.mark.parametrize("output", ["pandas", "polars"])
@pytest.mark.filterwarnings("ignore:No features were selected")
def test_tables_come_out_with_names_where_they_are_wanted(case, output):
    sample = make_sample(case)
    table = pd.DataFrame if output == "pandas" else pl.DataFrame
    plain, wanted = fitted(case, sample), case.make().set_output(transform=output)
    wanted.fit(**sample.arguments(case))
    names = wanted.get_feature_names_out().tolist()
    for method in ("transform", "transform_source"):
        if hasattr(plain, method):
            out = getattr(wanted, method)(sample.X_new)
            assert isinstance(out, table), method
            assert list(out.columns) == names
            np.testing.assert_allclose(out, getattr(plain, method)(sample.X_new), atol=1e-12)


@every_case
@pytest.mark.parametrize("output", ["pandas", "polars"])
@pytest.mark.filterwarnings("ignore:No features were selected")
def test_the_output_that_is_wanted_of_transformers_changes_no_answer(case, output):
    sample = make_sample(case)
    usual = answer(case, fitted(case, sample), sample.X_new)
    with sklearn.config_context(transform_output=output):
        given = answer(case, fitted(case, sample), sample.X_new)
    np.testing.assert_allclose(given, usual, atol=1e-12)


@with_target
def test_fit_has_the_one_signature(case):
    parameters = inspect.signature(case.make().fit).parameters
    assert list(parameters)[:2] == ["X", "y"]
    for name in ("X_target", "y_target", "X_unlabeled"):
        assert parameters[name].kind is inspect.Parameter.KEYWORD_ONLY
        assert parameters[name].default is None


@with_target
def test_bad_target_rows_are_refused(case):
    sample = make_sample(case)
    good = sample.arguments(case)
    holes = sample.X_target.copy()
    holes[3, 1] = np.nan
    for changes, message in [
        ({"X_target": holes}, "`X_target` must hold only finite numbers.*row 3, column 1"),
        ({"X_unlabeled": holes}, "`X_unlabeled` must hold only finite numbers"),
        ({"X_target": sample.X_target[:, :3]}, "`X_target` must have 4 columns like X; got 3"),
        ({"y_target": None}, "`X_target` must come with `y_target`"),
        ({"X_target": None}, "`y_target` must come with `X_target`"),
        ({"y_target": sample.y_target[:-1]}, "`y_target` must have one label for each of the 24"),
    ]:
        with pytest.raises(ValueError, match=message):
            case.make().fit(**{**good, **changes})


@every_case
def test_masked_values_are_refused_by_name(case):
    sample = make_sample(case)
    given = sample.arguments(case)
    if "sample_weight" in inspect.signature(case.make().fit).parameters:
        given["sample_weight"] = np.ones(len(sample.X))
    for name, values in given.items():
        masked = np.ma.masked_array(values)
        masked[3] = np.ma.masked
        with pytest.raises(ValueError, match=f"`{name}` must have no masked values; got"):
            case.make().fit(**{**given, name: masked})


@every_case
def test_masked_new_rows_are_refused(case):
    sample = make_sample(case)
    estimator = case.make().fit(**sample.arguments(case))
    rows = np.ma.masked_array(sample.X_new)
    plain = None
    for method in ("predict", "predict_proba", "decision_function", "transform"):
        if hasattr(estimator, method):
            plain = getattr(estimator, method)(sample.X_new)
            np.testing.assert_array_equal(getattr(estimator, method)(rows), plain)
    rows[2, 1] = np.ma.masked
    for method in ("predict", "predict_proba", "decision_function", "transform"):
        if hasattr(estimator, method):
            with pytest.raises(ValueError, match="`X` must have no masked values; got 1"):
                getattr(estimator, method)(rows)


@cases_where(lambda case: case.kind == "regressor")
@pytest.mark.parametrize("name", ["y", "y_target"])
def test_labels_that_are_not_numbers_are_refused(case, name):
    sample = make_sample(case)
    labels = getattr(sample, name)
    hole, mixed = labels.astype(object), labels.astype(object)
    hole[3], mixed[3] = None, "a"
    not_finite, large = labels.copy(), labels.copy()
    not_finite[3], large[3] = np.nan, 1e308
    days = np.arange(labels.size).astype("datetime64[D]")
    wrongs = [hole, mixed, not_finite, large, labels + 1j]
    if not case.needs_target:  # A search leaves the conversion of labels to its candidates.
        wrongs += [labels.astype(str), days]
    for wrong in wrongs:
        with pytest.raises((ValueError, TypeError)):
            case.make().fit(**{**sample.arguments(case), name: wrong})


@every_case
@pytest.mark.parametrize(
    ("size", "dtype"),
    [(1e-320, "d"), (1e-160, "d"), (1e-30, "f"), (1e30, "f"), (1e70, "d"), (1e307, "d")],
)
def test_tiny_and_huge_rows_are_refused_or_give_finite_answers(case, size, dtype):
    sample = make_sample(case).convert(lambda X: (X * (size / 4)).astype(dtype))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            found = answer(case, fitted(case, sample), sample.X_new)
        except ValueError:
            return
    assert found.dtype.kind not in "fc" or np.isfinite(found).all()
    assert case.kind != "weighting" or found.sum() > 0


META_PARAMETERS = ("estimator", "classifier", "weighting", "selector", "estimators", "preprocessor")


@pytest.mark.parametrize("wrong", [5, "LogisticRegression", LogisticRegression])
@cases_where(lambda case: set(META_PARAMETERS) & set(case.make().get_params(deep=False)))
def test_what_is_no_estimator_is_refused_by_the_name_of_the_parameter(case, wrong):
    sample = make_sample(case)
    for name in set(META_PARAMETERS) & set(case.make().get_params(deep=False)):
        with pytest.raises((TypeError, ValueError), match=f"`{name}` must"):
            case.make().set_params(**{name: wrong}).fit(**sample.arguments(case))
