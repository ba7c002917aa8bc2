"""The control variate: formula of slope, variance and estimate, and its limits."""

import numpy as np
import pytest

from landbridge.inference.control_variate import PRIOR_ROWS, adjust_mean, fit_slope


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
    slope, _, moved = adjust_mean(loss, g, g_other)
    most = np.quantile(np.concatenate([g, g_other]), 0.95)
    g, g_other = np.minimum(g, most), np.minimum(g_other, most)
    everywhere = (g.sum() + g_other.sum()) / 440
    assert slope > 0
    assert moved == pytest.approx(-slope * (g.mean() - everywhere))
    assert moved < 0


def test_zero_one_losses_are_not_cut_and_gain_labels():
    rng = np.random.default_rng(1)
    g, g_other = rng.random(60), rng.random(500)
    loss = (rng.random(60) < g).astype(float)
    slope, effective, moved = adjust_mean(loss, g, g_other)
    assert effective > 60
    assert moved == pytest.approx(-slope * (g.mean() - np.r_[g, g_other].mean()))


@pytest.mark.parametrize("which", ["constant loss", "constant proxy", "useless proxy"])
def test_a_proxy_that_cannot_help_leaves_the_plain_interval(which):
    rng = np.random.default_rng(0)
    loss = np.zeros(30) if which == "constant loss" else rng.integers(0, 2, 30).astype(float)
    g = np.ones(30) if which == "constant proxy" else np.arange(30.0)
    if which == "useless proxy":
        loss = np.tile([0.0, 1.0, 1.0, 0.0, 0.0, 1.0], 5)
        g = np.tile([0.0, 0.0, 1.0, 1.0, 2.0, 2.0], 5)
    assert adjust_mean(loss, g, rng.random(50)) == (0, 30, 0)


def test_the_sign_of_the_proxy_does_not_matter():
    loss, g, g_other = rows()
    loss = (loss > 1).astype(float)
    one, other = (adjust_mean(loss, s * g, s * g_other) for s in (1, -1))
    assert one == pytest.approx((-other[0], *other[1:]))


def test_errors_of_numbers_on_a_population():
    """The mean over draws is unbiased, and its variance falls by ρ² N/(n + N), as stated."""
    rng = np.random.default_rng(0)
    g = rng.exponential(size=20_000)
    losses = np.abs(g + 0.7 * rng.normal(size=g.size))
    n, n_other, n_draws = 60, 600, 600
    drawn = rng.integers(g.size, size=(n_draws, n + n_other))
    found = [adjust_mean(losses[i[:n]], g[i[:n]], g[i[n:]]) for i in drawn]
    plain, truth = losses[drawn[:, :n]].mean(axis=1), losses.mean()
    estimates = plain + [moved for _, _, moved in found]
    assert abs(estimates.mean() - truth) < 4 * estimates.std() / np.sqrt(n_draws)
    cut = np.minimum(g, np.quantile(g, 0.95))
    reduction = 1 - np.corrcoef(cut, losses)[0, 1] ** 2 * n_other / (n + n_other)
    assert estimates.var() / plain.var() == pytest.approx(reduction, rel=0.25)
    stated = np.mean([n / effective for _, effective, _ in found])
    assert stated == pytest.approx(reduction, rel=0.1)


def test_a_mean_of_losses_stays_positive():
    loss, g = np.linspace(0.01, 3.0, 300), np.linspace(1.0, 300.0, 300)
    assert adjust_mean(loss, g, np.zeros(3000))[2] == pytest.approx(-3 * loss.mean() / 4)
