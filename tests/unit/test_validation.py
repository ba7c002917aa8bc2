"""Each message of the front door, triggered."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy import sparse
from sklearn.base import BaseEstimator

from landbridge import _sklearn_versions
from landbridge import _validation as door
from landbridge.exceptions import NoTargetWarning

X = np.arange(12.0).reshape(6, 2)
Y = np.array(["a", "b", "a", "b", "a", "b"])
FRAME = pd.DataFrame(X, columns=["age", "dose"])


class Probe(BaseEstimator):
    """Stands for any estimator."""


def check(X=X, y=Y, **keywords):
    return door.check_transfer(Probe(), X, y, **{"task": "classification", **keywords})


def with_value(value, *, row=4, column=1):
    changed = X.copy()
    changed[row, column] = value
    return changed


def test_what_is_handed_on():
    data = check(X_target=X[:2], y_target=["b", "c"], X_unlabeled=X[2:])
    assert data.classes.tolist() == ["a", "b", "c"]
    assert data.encode(np.array(["c", "a"])).tolist() == [2, 0]
    assert np.array_equal(data.target_rows, X)
    assert check().target_rows is None


def test_target_rows_stack_sparse_with_dense():
    data = check(X_target=sparse.csr_array(X[:2]), y_target=["b", "a"], X_unlabeled=X[2:])
    assert sparse.issparse(data.target_rows)
    assert np.array_equal(data.target_rows.toarray(), X)


@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
def test_not_finite_in_source(value):
    what = "NaN" if np.isnan(value) else "inf"
    with pytest.raises(
        ValueError, match=rf"finite numbers.*got {what} in row 4, column 1\. Impute"
    ):
        check(with_value(value))
    with pytest.raises(ValueError, match="row 4, column 'dose'"):
        check(pd.DataFrame(with_value(value), columns=FRAME.columns))
    with pytest.raises(ValueError, match=rf"got {what} in row 4, column 1"):
        check(sparse.csr_array(with_value(value)))


def test_large_numbers_are_taken_up_to_the_size_whose_products_overflow():
    assert check(np.full((6, 2), 1e74)).X.shape == (6, 2)
    for big in (with_value(-1e308), sparse.csr_array(with_value(1e200))):
        with pytest.raises(
            ValueError, match=r"`X` must hold numbers of at most 1e\+75 in absolute value"
        ):
            check(big)


def test_small_numbers_are_taken_down_to_the_size_whose_products_vanish():
    assert check(np.full((6, 2), 1e-74)).X.shape == (6, 2)
    assert check(np.zeros((6, 2))).X.shape == (6, 2)
    for rows in (X * 1e-160, sparse.csr_array(-X * 1e-160)):
        with pytest.raises(ValueError, match=r"at least 1e-75 .*; got at most 1\.1e-159\. Scale"):
            check(rows)


def test_single_precision_becomes_double_where_products_overflow_or_vanish():
    for scale, dtype in ((1, np.float32), (1e30, np.float64), (1e-30, np.float64)):
        assert check((X * scale).astype(np.float32)).X.dtype == dtype


def test_opposite_infinities_do_not_hide_each_other():
    with pytest.raises(ValueError, match="got inf in row 0, column 0"):
        check(np.where(X == 0, np.inf, np.where(X == 1, -np.inf, X)))


@pytest.mark.parametrize("empty", [X[:0], X[:, :0]])
def test_empty(empty):
    with pytest.raises(ValueError, match=r"0 (sample|feature).*at least one row and one column"):
        check(empty, Y[: empty.shape[0]])


def test_columns_differ():
    with pytest.raises(ValueError, match="`X_unlabeled` must have 2 columns like X; got 3"):
        check(X_unlabeled=np.ones((2, 3)))


@pytest.mark.parametrize("frame", [pd.DataFrame, pl.DataFrame])
def test_names_differ(frame):
    source = frame({"age": X[:, 0], "dose": X[:, 1]})
    with pytest.raises(ValueError, match=r"same order; got \['height'\], which X does not have"):
        check(source, X_unlabeled=frame({"age": X[:, 0], "height": X[:, 1]}))
    with pytest.raises(ValueError, match=r"got them in another order\. Select them by name"):
        check(source, X_unlabeled=frame({"dose": X[:, 1], "age": X[:, 0]}))


def test_names_are_not_needed_in_the_target():
    assert check(FRAME, X_unlabeled=X).X_unlabeled.shape == X.shape


def test_lengths_differ():
    with pytest.raises(
        ValueError, match=r"`y` must have one label for each row of X; got \[6, 5\]"
    ):
        check(y=Y[:5])


def test_half_a_target():
    with pytest.raises(ValueError, match="`X_target` must come with `y_target`.*`X_unlabeled`"):
        check(X_target=X)
    with pytest.raises(ValueError, match="`y_target` must come with `X_target`"):
        check(y_target=Y)


def test_target_labels_of_the_wrong_length_shape_type_or_missing():
    with pytest.raises(ValueError, match="one label for each of the 6 rows of `X_target`; got 5"):
        check(X_target=X, y_target=Y[:5])
    with pytest.raises(ValueError, match="as many outputs as y"):
        check(X_target=X, y_target=np.column_stack([Y, Y]))
    with pytest.raises(ValueError, match="labels of the same type as y"):
        check(X_target=X, y_target=np.arange(6) % 2)
    with pytest.raises(ValueError, match=r"a label for every row of `X_target`; got 1 missing"):
        check(X_target=X, y_target=np.array(["a", None, "b", "a", "b", "a"], dtype=object))
    for value in (np.nan, np.inf):
        labels = [0.0, value, 1, 2, 3, 4]
        with pytest.raises(ValueError, match="`X_target`; got 1 missing or infinite. Pass rows"):
            check(y=np.arange(6.0), task="regression", X_target=X, y_target=labels)


@pytest.mark.parametrize("missing", [None, np.nan, pd.NA])
def test_source_rows_without_a_label(missing):
    labels = np.array(["a", "b", missing, "b", "a", "b"], dtype=object)
    with pytest.raises(ValueError, match="every row of X; got 1 missing, the first in row 2"):
        check(y=labels)


@pytest.mark.parametrize("task", ["classification", "regression"])
def test_numeric_source_labels_that_are_not_finite(task):
    with pytest.raises(ValueError, match="Input y contains NaN.*leave out source rows without one"):
        check(y=[0.0, np.nan, 1, 1, 0, 0], task=task)


def test_infinity_among_objects_is_no_number():
    labels = np.array([np.inf, 0, 1, 2, 3, 4], dtype=object)
    with pytest.raises(ValueError, match="Input y contains infinity"):
        check(y=labels, task="regression")


def test_labels_of_several_kinds_are_refused():
    days = np.arange(6).astype("M8[D]")
    mixed = np.array([1, "a"] * 3, dtype=object)
    for y, y_target in [(days, np.arange(6)), (np.arange(6), days), (Y, mixed)]:
        with pytest.raises(ValueError, match="`y_target` must hold labels of one kind"):
            check(y=y, X_target=X, y_target=y_target)
    for y in (days, np.zeros(6, dtype=[("a", int)])):
        with pytest.raises(ValueError, match="`y` must hold numbers for regression"):
            check(y=y, task="regression")
    with pytest.raises(TypeError, match="`y` must be a dense array"):
        check(y=sparse.csr_array(X), task="regression")


@pytest.mark.parametrize("values", [[False, True], [3, 7], [0.0, 1.0]])
def test_numbers_that_came_as_objects_are_numbers(values):
    labels = np.array(values * 3, dtype=object)
    data = check(y=labels, X_target=X, y_target=labels)
    assert data.classes.tolist() == values
    assert data.y.dtype == data.y_target.dtype == np.array(values).dtype


def test_a_column_of_target_labels_is_flattened():
    assert check(X_target=X, y_target=Y[:, None]).y_target.shape == (6,)


def test_one_class():
    with pytest.raises(ValueError, match=r"at least 2 classes; got 1 class, 'a'\. Add rows"):
        check(y=["a"] * 6)


def test_classes_are_the_union_of_source_and_target_labels():
    data = check(X_target=X[:2], y_target=["a", "z"])
    assert data.classes.tolist() == ["a", "b", "z"]


@pytest.mark.parametrize("frame", [pd.DataFrame, pl.DataFrame])
def test_text_columns(frame):
    table = frame({"age": X[:, 0], "ward": list(Y)})
    with pytest.raises(ValueError, match=r"numeric columns only; got text in \['ward'\]. Encode"):
        check(table)


def test_dates_are_not_read_as_numbers():
    dates = np.full((6, 2), "2020-01-01", dtype="M8[D]")
    for table in (dates, dates - dates[0], pd.DataFrame(dates), FRAME.assign(dose=dates[:, 0])):
        with pytest.raises(ValueError, match="`X` must have numeric columns only; got dates"):
            check(table)
        with pytest.raises(ValueError, match="`X_unlabeled` must have numeric columns only"):
            check(X_unlabeled=table)
    days = pl.DataFrame({"age": pd.date_range("2020", periods=6), "dose": range(6)})
    with pytest.raises(ValueError, match="got dates or durations"):
        check(days)


def test_anything_but_a_table_of_numbers_is_named():
    for wrong in (X[0], X[None], 5.0):
        with pytest.raises(ValueError, match="`X_unlabeled` must be a table of rows and columns"):
            check(X_unlabeled=wrong)
    with pytest.raises(TypeError, match="`X` must be a table of rows and columns. np.matrix"):
        check(X.view(np.matrix))
    with pytest.raises(ValueError, match="`X_unlabeled` must hold real numbers"):
        check(X_unlabeled=X + 1j)


def test_integers_beyond_64_bits_are_no_labels():
    with pytest.raises(ValueError, match="Integer labels must be below 2[*][*]63; got 11805916"):
        check(y=np.array([2**70, 2**70 + 1] * 3, dtype=object))


def test_text_arrays():
    with pytest.raises(ValueError, match="numeric columns only; got text in some column"):
        check(np.array([["a", "b"]] * 6, dtype=object))


def test_sample_weights():
    assert check(sample_weight=[1, 0, 2, 1, 1, 1]).sample_weight.sum() == 6
    with pytest.raises(ValueError, match="positive sum; got zeros only"):
        check(sample_weight=np.zeros(6))
    with pytest.raises(ValueError, match="[Nn]egative"):
        check(sample_weight=[1, 1, 1, 1, 1, -1])


def test_groups():
    assert check(groups=["x"] * 6).groups.shape == (6,)
    assert check(groups=np.array(["x", 1, 2, 3, 4, 5], dtype=object)).groups.dtype.kind == "U"
    with pytest.raises(ValueError, match="`groups` must name the source of each row; got None"):
        door.check_groups(None, 6)
    with pytest.raises(ValueError, match=r"each of the 6 rows of X; got an array of shape \(5,\)"):
        check(groups=["x"] * 5)
    with pytest.raises(ValueError, match="every row; got 1 missing, the first in row 2"):
        check(groups=[1.0, 2.0, np.nan, 1.0, 2.0, 1.0])
    with pytest.raises(ValueError, match="every row; got 2 missing"):
        check(groups=np.array(["x", None, "y", None, "x", "y"], dtype=object))


def test_choice():
    door.check_choice("t", "criterion", ["t", "loss"])
    with pytest.raises(ValueError, match="`criterion` must be one of 't', 'loss'; got 'best'"):
        door.check_choice("best", "criterion", ["t", "loss"])


def test_two_domains():
    source, target = door.check_two_domains(Probe(), X, X[:3])
    assert source.shape == (6, 2)
    assert target.shape == (3, 2)
    with pytest.raises(ValueError, match="`X_target` must contain the target rows; got None"):
        door.check_two_domains(Probe(), X, None)


def test_no_target_is_said_with_the_plain_counterpart():
    with pytest.warns(NoTargetWarning, match="Probe was fitted without target rows and equals a"):
        check(plain_counterpart="a tree")


def test_new_rows_are_checked_against_what_was_seen():
    probe = Probe()
    door.check_new_source(probe, X)
    with pytest.raises(ValueError, match="finite numbers"):
        door.check_rows(probe, with_value(np.nan))
    with pytest.raises(ValueError, match="3 features"):
        door.check_rows(probe, np.ones((2, 3)))


def test_a_matrix_that_memory_cannot_hold_is_refused_before_it_is_made():
    from landbridge._validation import check_memory

    check_memory(1 << 20, "A small matrix", "Nothing to do.")
    with pytest.raises(MemoryError, match="A huge matrix needs about .* GiB of memory; .* Shrink"):
        check_memory(1 << 55, "A huge matrix", "Shrink it.")


def test_free_memory_is_the_limit(monkeypatch):
    from landbridge._validation import check_memory

    monkeypatch.setattr("os.sysconf", {"SC_AVPHYS_PAGES": 10, "SC_PAGE_SIZE": 4096}.__getitem__)
    check_memory(40960, "A matrix", "Shrink it.")
    with pytest.raises(MemoryError, match="A matrix needs"):
        check_memory(40961, "A matrix", "Shrink it.")


def test_more_than_thirty_whole_numbers_are_no_classes():
    assert door.task_of(np.arange(30)) == "classification"
    assert door.task_of(np.arange(31)) == "regression"
    assert door.task_of(np.array([0.0, 0.5])) == "regression"


def test_earlier_versions_of_scikit_learn_see_the_names_of_any_table(monkeypatch):
    class Table:  # like polars 2: no interchange protocol
        columns, shape = ("a", "b"), (1, 2)

        def __array__(self, dtype=None, copy=None):
            return np.array([[1.0, 2.0]], dtype=dtype)

    seen = []
    monkeypatch.setattr(_sklearn_versions, "VERSION", (1, 8))
    monkeypatch.setattr(_sklearn_versions.validation, "validate_data", lambda _, X: seen.append(X))
    for X in (Table(), np.ones((1, 2))):
        _sklearn_versions.validate_data(Probe(), X)
    assert seen[0].__dataframe__().column_names() == ["a", "b"]
    np.testing.assert_array_equal(np.asarray(seen[0]), [[1.0, 2.0]])
    assert isinstance(seen[1], np.ndarray)
