"""The control variate: formula of slope, variance and estimate, and its limits."""

import numpy as np
import pytest
from scipy import stats

from landbridge.inference import control_variate_interval, score_interval
from landbridge.inference.control_variate import PRIOR_ROWS, fit_slope


def rows(n=40, n_other=400, seed=0):
    rng = np.random.default_rng(seed)
    g, g_other = rng.random(n), rng.random(n_other)
    return 2 * g + 0.3 * rng.normal(size=n), g, g_other


def test_slope_and_effective_labels_have_their_formulas():
    loss, g, _ = rows()
    n, share = 40, 400 / 440
    covariance = np.cov(loss, g)
    slope = covariance[0, 1] / covariance[1, 1] * n / (n + PRIOR_ROWS)
    left = (
        covariance[0, 0]
        - 2 * share * slope * covariance[0, 1]
        + share * slope**2 * covariance[1, 1]
    )
    found, effective = fit_slope(loss, g, 400)
    assert found == pytest.approx(slope)
    expected = n * covariance[0, 0] / max(left * (n - 1) / (n - 2), covariance[0, 0] / 4)
    assert effective == pytest.approx(expected)


def test_the_estimate_moves_against_labelled_rows_that_are_harder_than_the_others():
    loss, g, g_other = rows()
    g = g + 0.5
    found = control_variate_interval(loss, g, g_other)
    most = np.quantile(np.concatenate([g, g_other]), 0.95)
    g, g_other = np.minimum(g, most), np.minimum(g_other, most)
    everywhere = (g.sum() + g_other.sum()) / 440
    assert found.slope > 0
    assert found.estimate == pytest.approx(loss.mean() - found.slope * (g.mean() - everywhere))
    assert found.estimate < loss.mean()


def test_means_have_a_t_interval_with_the_effective_number_of_labels():
    loss, g, g_other = rows()
    found = control_variate_interval(loss, g, g_other, level=0.8)
    half = stats.t.ppf(0.9, 39) * loss.std(ddof=1) / np.sqrt(found.effective_sample_size)
    assert (found.low, found.high) == pytest.approx((found.estimate - half, found.estimate + half))


def test_zero_one_losses_have_a_score_interval():
    rng = np.random.default_rng(1)
    g, g_other = rng.random(60), rng.random(500)
    loss = (rng.random(60) < g).astype(float)
    found = control_variate_interval(loss, g, g_other, bounds=(0, 1))
    expected = score_interval(found.estimate, found.effective_sample_size, 0.9)
    assert (found.low, found.high) == pytest.approx(expected)
    plain = score_interval(loss.mean(), 60, 0.9)
    assert found.high - found.low < plain[1] - plain[0]


@pytest.mark.parametrize("which", ["constant loss", "constant proxy", "useless proxy"])
def test_a_proxy_that_cannot_help_leaves_the_plain_interval(which):
    rng = np.random.default_rng(0)
    loss = np.zeros(30) if which == "constant loss" else rng.integers(0, 2, 30).astype(float)
    g = np.ones(30) if which == "constant proxy" else np.arange(30.0)
    if which == "useless proxy":
        loss = np.tile([0.0, 1.0, 1.0, 0.0, 0.0, 1.0], 5)
        g = np.tile([0.0, 0.0, 1.0, 1.0, 2.0, 2.0], 5)
    found = control_variate_interval(loss, g, rng.random(50), bounds=(0, 1))
    assert found.slope == 0
    assert found.effective_sample_size == 30
    assert (found.low, found.high) == pytest.approx(score_interval(loss.mean(), 30, 0.9))


def test_the_sign_of_the_proxy_does_not_matter():
    loss, g, g_other = rows()
    loss = (loss > 1).astype(float)
    one, other = (control_variate_interval(loss, s * g, s * g_other) for s in (1, -1))
    assert (one.low, one.high) == pytest.approx((other.low, other.high))


def test_errors_of_numbers_on_a_population():
    """The mean over draws is unbiased, its variance falls by ρ² N/(n + N), and intervals cover."""
    rng = np.random.default_rng(0)
    g = rng.exponential(size=20_000)
    losses = np.abs(g + 0.7 * rng.normal(size=g.size))
    n, n_other, n_draws = 60, 600, 600
    drawn = rng.integers(g.size, size=(n_draws, n + n_other))
    found = [control_variate_interval(losses[i[:n]], g[i[:n]], g[i[n:]]) for i in drawn]
    estimates, truth = np.array([one.estimate for one in found]), losses.mean()
    plain = losses[drawn[:, :n]].mean(axis=1)
    assert abs(estimates.mean() - truth) < 4 * estimates.std() / np.sqrt(n_draws)
    cut = np.minimum(g, np.quantile(g, 0.95))
    reduction = 1 - np.corrcoef(cut, losses)[0, 1] ** 2 * n_other / (n + n_other)
    assert estimates.var() / plain.var() == pytest.approx(reduction, rel=0.25)
    assert np.mean([one.low <= truth <= one.high for one in found]) > 0.85


def test_a_mean_of_losses_stays_positive():
    loss, g = np.linspace(0.01, 3.0, 300), np.linspace(1.0, 300.0, 300)
    found = control_variate_interval(loss, g, np.zeros(3000))
    assert found.estimate == pytest.approx(loss.mean() / 4)


@pytest.mark.parametrize(
    ("parts", "message"),
    [
        (([0, 1], [0, 1], [0]), "one number for each of at least 3 labelled rows"),
        (([0, 1, 0], [0, 1], [0]), "one number for each of at least 3 labelled rows"),
        (([0, 1, 0], [0, 1, 1], []), "`proxy_unlabelled` must not be empty"),
        (([0, 1, np.nan], [0, 1, 1], [1]), "must be finite"),
    ],
)
def test_bad_parts_are_refused(parts, message):
    with pytest.raises(ValueError, match=message):
        control_variate_interval(*parts)
