"""Labelled against unlabelled target rows: statistics by hand, kinds of tables, weights, words."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy import sparse
from scipy.stats import rankdata
from sklearn.metrics import roc_auc_score

from landbridge.inference import check_labels
from landbridge.inference import label_check as module
from landbridge.inference._comparable_rows import comparable_rows


def rows(n=400, d=4, seed=0):
    return np.random.default_rng(seed).normal(size=(n, d))


def by_extreme(X, column=1, n=50):
    order = np.argsort(X[:, column])
    return X[order[:n]], X[order[n:]]


# Statistics ------------------------------------------------------------------------------------


def test_cross_fitted_scores_equal_models_that_never_saw_the_fold():
    X, z = rows(40), np.repeat([1.0, 0.0], [15, 25])
    G = module.cross_fitting_matrix(X, np.random.default_rng(3))
    K = module._kernel(X)
    folds = np.random.default_rng(3).permutation(np.arange(40) % module.N_FOLDS)
    ridge = module.RIDGE * np.trace(K)
    # A constant 1/n of the hat matrix is a kernel of its own: the intercept.
    hat = np.linalg.solve(K + ridge * np.eye(40), K) + 1 / 40
    scores = G @ z
    for fold in range(module.N_FOLDS):
        inside = folds == fold
        # Replacing the fold's labels by its own predictions leaves the predictions as they are.
        filled = z.copy()
        for _ in range(2000):
            filled[inside] = (hat @ filled)[inside]
        expected = filled[inside] - filled[inside].mean()
        np.testing.assert_allclose(scores[inside], expected, atol=1e-8)


def test_the_auc_of_every_permutation():
    rng = np.random.default_rng(0)
    scores = rng.integers(0, 6, size=(30, 4)).astype(float)
    division = np.column_stack([rng.permutation(np.repeat([1.0, 0.0], [10, 20])) for _ in range(4)])
    found = module.column_auc(scores, division)
    for k in range(4):
        assert found[k] == pytest.approx(roc_auc_score(division[:, k], scores[:, k]))


def test_column_statistics_are_standard_scores_under_permutation():
    X = rows(50, 2)
    rng = np.random.default_rng(1)
    z = np.repeat([1.0, 0.0], [20, 30])
    division = np.column_stack([z, *(rng.permutation(z) for _ in range(4000))])
    ranks = rankdata(X[:, 0]) / 51 - 0.5
    sums = np.abs(ranks @ (division - 0.4))
    found = module.column_statistics(X, division)[0]
    spread = np.std(ranks @ (division - 0.4))
    squares = (ranks**2) @ (division - 0.4)
    expected = np.maximum(sums / spread, np.abs(squares) / np.std(squares))
    np.testing.assert_allclose(found, expected, rtol=0.05)


def test_the_smallest_p_value_is_ranked_among_its_permutations():
    # The observed value is the best of the first statistic and the worst of the second.
    statistics = np.array([[4.0, 1, 2, 3], [1.0, 2, 3, 4]])
    # Smallest p-values: 1/4 (observed), 3/4, 2/4, 1/4.
    assert module.smallest_p(statistics) == 0.5


# The check -------------------------------------------------------------------------------------


def test_a_random_sample_is_representative():
    X = rows()
    check = check_labels(X[:50], X[50:], random_state=0)
    assert check.representative
    assert check.verdict == ""
    assert not check.withheld
    np.testing.assert_array_equal(check.weights, 1)
    assert check.effective_sample_size == 50
    assert 0.3 < check.auc < 0.7


@pytest.mark.parametrize("kind", ["array", "pandas", "polars", "sparse"])
def test_the_column_behind_the_choice_is_named(kind):
    names = ["a", "b", "c", "d"]
    labelled, others = by_extreme(rows() + (10 if kind == "sparse" else 0))
    given, options = (labelled, others), {"feature_names": names}
    if kind == "sparse":
        given = sparse.csr_matrix(labelled), sparse.csr_matrix(others)
    elif kind != "array":
        make = pd.DataFrame if kind == "pandas" else pl.DataFrame
        given, options = [make(dict(zip(names, part.T, strict=True))) for part in given], {}
    check = check_labels(*given, random_state=0, **options)
    assert not check.representative
    assert check.withheld
    assert check.columns[0].name == "b"
    assert check.columns[0].shift < -1
    # Every unlabelled row lies above the labelled ones: counted against the labelled rows.
    assert check.columns[0].outside == 1
    assert check.columns[0].p_value <= 0.01
    assert "b (100 % of the others lie outside their range)" in check.verdict
    assert "no interval is given" in check.verdict


def test_text_dates_and_missing_values_are_compared():
    rng = np.random.default_rng(0)
    n = 300
    table = pl.DataFrame(
        {
            "ward": rng.choice(["north", "south", "west"], n),
            "day": pl.Series(range(n)).cast(pl.Date),
            "x": [None if k % 7 == 0 else float(v) for k, v in enumerate(rng.normal(size=n))],
        }
    )
    by_day = check_labels(table[:60], table[60:], random_state=0)
    assert by_day.columns[0].name == "day"
    shuffled = table.sort(pl.col("ward") == "north", descending=True)
    by_ward = check_labels(shuffled[:60], shuffled[60:], random_state=0)
    assert by_ward.columns[0].name == "ward"
    missing = table.sort(pl.col("x").is_null(), descending=True)
    by_hole = check_labels(missing[:40], missing[40:], random_state=0)
    assert by_hole.columns[0].name == "x"
    assert not any(check.representative for check in (by_day, by_ward, by_hole))


def test_a_change_of_spread_alone_is_seen():
    X = rows(500, 3)
    order = np.argsort(np.abs(X[:, 2]))
    check = check_labels(X[order[:60]], X[order[60:]], random_state=0)
    assert check.columns[0].name == "column 2"


def test_rows_to_label_are_unlike_the_labelled_ones():
    labelled, others = by_extreme(rows())
    check = check_labels(labelled, others, random_state=0)
    assert len(check.rows_to_label) == 20
    assert others[check.rows_to_label, 1].min() > labelled[:, 1].max()
    again = check_labels(labelled, others, random_state=0)
    np.testing.assert_array_equal(check.rows_to_label, again.rows_to_label)


def test_weights_move_the_labelled_rows_towards_the_others():
    rng = np.random.default_rng(0)
    labelled, others = rng.normal(0.6, 1, (200, 2)), rng.normal(0, 1, (700, 2))
    check = check_labels(labelled, others, random_state=0)
    assert not check.representative
    assert not check.withheld
    assert check.weights.mean() == pytest.approx(1)
    weighted = np.average(labelled, axis=0, weights=check.weights)
    before = np.abs(labelled.mean(axis=0) - others.mean(axis=0))
    assert (np.abs(weighted - others.mean(axis=0)) < before / 2).all()
    w = check.weights
    assert check.effective_sample_size == pytest.approx(w.sum() ** 2 / (w**2).sum())
    assert "Scores are reweighted" in check.verdict


def grouped_rows(seed, n_labelled=12, n_others=28, size=8):
    """Patients with a level of their own; ``n_labelled`` random ones are labelled."""
    rng = np.random.default_rng(seed)
    groups = np.repeat(np.arange(n_labelled + n_others), size)
    X = rng.normal(size=(n_labelled + n_others, 3))[groups] + 0.3 * rng.normal(
        size=(groups.size, 3)
    )
    mine = groups < n_labelled
    return X[mine], X[~mine], groups[mine], groups[~mine]


def test_random_groups_are_a_random_sample_although_their_rows_are_not():
    alarms = np.zeros(2)
    for seed in range(40):
        first, second, mine, others = grouped_rows(seed)
        options = {"groups": mine, "groups_unlabelled": others}
        alarms += [
            not check_labels(first, second, random_state=seed).representative,
            not check_labels(first, second, **options, random_state=seed).representative,
        ]
    # At most 3 % are expected; 6 or more of 40 have a probability below 0.001.
    assert alarms[0] > 30
    assert alarms[1] < 6


def test_groups_that_differ_are_found_and_every_row_is_weighted():
    first, second, mine, others = grouped_rows(0, n_labelled=20)
    check = check_labels(
        first + np.array([1.5, 0, 0]), second, groups=mine, groups_unlabelled=others, random_state=0
    )
    assert not check.representative
    assert check.columns[0].name == "column 0"
    assert np.unique(check.weights).size > 100
    with pytest.raises(ValueError, match="must name the source of each of the 224 rows"):
        check_labels(first, second, groups=mine, groups_unlabelled=others[1:])


def test_too_few_rows_are_not_compared():
    assert check_labels(np.ones((9, 1)), np.ones((9, 1)), groups=[1, 2, 3] * 3) is None
    X = rows(20)
    assert check_labels(X[:4], X[4:]) is None
    assert check_labels(X[4:], X[:4]) is None
    assert check_labels(X[:5], X[5:], random_state=0) is not None


def test_tables_that_do_not_fit_are_refused():
    X = rows(20)
    with pytest.raises(ValueError, match="must be tables with the same columns; got shapes"):
        check_labels(X[:10], X[10:, :2])
    with pytest.raises(ValueError, match="must be tables with the same columns; got shapes"):
        check_labels(sparse.csr_matrix(X[:10]), sparse.csr_matrix(X[10:, :2]))
    with pytest.raises(ValueError, match="`feature_names` must name each of the 4 columns; got 1"):
        check_labels(X[:10], X[10:], feature_names=["a"])


def test_arguments_are_left_alone_and_columns_known_by_number():
    table = pd.DataFrame(rows(30))
    before = table.copy()
    encoded = comparable_rows(table[:10], table[10:], None)
    assert encoded.names == ("0", "1", "2", "3")
    check_labels(table[:10], table[10:], random_state=0)
    pd.testing.assert_frame_equal(table, before)


# Labels of a design ----------------------------------------------------------------------------


def test_labels_of_a_design_are_weighted_and_not_tested():
    check = module.check_of_design(np.array([1.0, 1.0, 2.0]), 50)
    assert check.effective_sample_size == pytest.approx(16 / 6)
    assert not check.representative
    assert not check.withheld
    assert "worth 3 random labels" in check.verdict
