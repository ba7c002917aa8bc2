"""Rows of one group are not independent: intervals and comparisons that count groups."""

import numpy as np
import pytest
from scipy import stats

from landbridge.metrics.inference import (
    bootstrap_scores,
    bootstrap_weights,
    effective_rows,
    loss_errors,
    metric_interval,
    paired_probability,
)
from landbridge.metrics.scoring import check_scoring

ACCURACY, AUC = check_scoring(["accuracy", "roc_auc"], task="classification", classes=[0, 1])
MAE, RMSE = check_scoring(["mae", "rmse"], task="regression")
N_GROUPS, SIZE = 15, 12
GROUPS = np.repeat(np.arange(N_GROUPS), SIZE)


def patients(rng):
    """Labels and predictions of 15 patients, for each of whom the model is good or bad."""
    y = rng.integers(2, size=GROUPS.size)
    skill = np.repeat(rng.normal(1.0, 1.5, N_GROUPS), SIZE)
    margin = (2 * y - 1) * skill + rng.normal(size=GROUPS.size)
    right = 1 / (1 + np.exp(-margin))
    return y, np.column_stack([1 - right, right])


def numbers(rng):
    """Errors whose size depends on the patient."""
    spread = np.repeat(np.exp(rng.normal(0.0, 0.6, N_GROUPS)), SIZE)
    return np.zeros(GROUPS.size), spread * rng.normal(size=GROUPS.size)


def test_the_covariance_sums_deviations_within_groups():
    y, values = numbers(np.random.default_rng(0))
    cells = np.stack([values, values**2])
    losses = np.abs(cells)
    deviations = (losses - losses.mean(axis=1, keepdims=True)).reshape(2, N_GROUPS, SIZE).sum(2)
    expected = deviations @ deviations.T * N_GROUPS / (N_GROUPS - 1) / GROUPS.size**2
    errors = loss_errors(MAE, y, cells, groups=GROUPS)
    np.testing.assert_allclose(errors @ errors.T, expected)


def test_groups_of_one_row_are_rows():
    rng = np.random.default_rng(0)
    y, values = numbers(rng)
    rows, weight = np.arange(y.size), rng.random(y.size)
    for metric in (MAE, RMSE):
        alone = tuple(metric_interval(metric, y, values, groups=rows))
        assert alone == pytest.approx(tuple(metric_interval(metric, y, values)))
    assert effective_rows(y.size, weight, rows) == pytest.approx(effective_rows(y.size, weight))
    assert effective_rows(y.size, None, GROUPS) == pytest.approx(N_GROUPS)


def test_rows_of_a_group_share_their_weight():
    weights = bootstrap_weights(GROUPS.size, n_replicates=20, groups=GROUPS)
    by_group = weights.reshape(20, N_GROUPS, SIZE)
    assert (by_group == by_group[:, :, :1]).all()
    np.testing.assert_allclose(weights.mean(axis=1), 1.0)


def test_a_perfect_score_of_few_groups_is_worth_few_rows():
    y = np.tile([0, 1], GROUPS.size // 2)
    perfect = np.eye(2)[y]
    by_group = metric_interval(ACCURACY, y, perfect, groups=GROUPS)
    assert by_group.low < metric_interval(ACCURACY, y, perfect).low - 0.05


def test_paired_probabilities_count_groups():
    """The paired t test of the sums of 15 groups, and the sign test where all rows agree."""
    y, values = numbers(np.random.default_rng(1))
    cells = np.stack([values, 1.3 * values[::-1]])
    found = paired_probability(MAE, y, cells, groups=GROUPS)[0, 1]
    difference = np.abs(cells[1]) - np.abs(cells[0])
    sums = (difference - difference.mean()).reshape(N_GROUPS, SIZE).sum(axis=1)
    error = np.sqrt(sums @ sums * N_GROUPS / (N_GROUPS - 1)) / GROUPS.size
    assert found == pytest.approx(stats.t.cdf(difference.mean() / error, N_GROUPS - 1))
    constant = paired_probability(MAE, y, np.stack([y, y + 1]), groups=GROUPS)[0, 1]
    assert constant == pytest.approx(1 - 0.5**N_GROUPS)


@pytest.mark.parametrize("metric", [ACCURACY, AUC, MAE, RMSE], ids=lambda metric: metric.label)
def test_intervals_cover_where_those_of_rows_do_not(metric):
    """Strong differences between patients: 90 % intervals of rows hold the truth far too seldom."""
    make = numbers if metric.response == "number" else patients
    rng = np.random.default_rng(0)
    many = [make(rng) for _ in range(2000)]
    truth = metric.score(*(np.concatenate(part) for part in zip(*many, strict=True)))

    def covers(y, values, groups):
        scores = bootstrap_scores(metric, y, values[None], n_replicates=200, groups=groups)
        return truth in metric_interval(metric, y, values, groups=groups, replicates=scores[0])

    covered = [[covers(*one, groups) for groups in (None, GROUPS)] for one in many[:200]]
    by_row, by_group = np.mean(covered, axis=0)
    assert by_row < 0.75
    assert 0.83 <= by_group <= 0.99
