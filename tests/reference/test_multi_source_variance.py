"""Every variance estimator against its definition, double sums written out, in exact fractions.

Geras and Sutton, *Multiple-source cross-validation*: moments of Section 4.2, Tables 1 and 2,
Eqs. (11), (12) and θ5.
"""

from fractions import Fraction as F
from itertools import permutations

import numpy as np
import pytest
from benchmarks._variance_decomposition import variance_decomposition
from hypothesis import given, settings
from hypothesis import strategies as st

from landbridge.inference import cv_variance, summarise_sources

EXAMPLE = [[0, 1, 0, 0, 1], [1, 1, 1, 0, 1], [0, 0, 0, 1, 0], [1, 0, 0, 1, 0]]
KINDS = [*(f"theta_{i}" for i in range(2, 6)), "theta_a", "theta_b", "theta_omega", "theta_gamma"]


def definitions(e):
    """The paper's estimators for K sources of M losses each, term by term."""
    K, M = len(e), len(e[0])
    N = K * M
    sigma = [sum(F(x) ** 2 for x in row) / F(M) for row in e]
    omega = [sum(F(a) * F(b) for a, b in permutations(row, 2)) / F(M * (M - 1)) for row in e]
    gamma = {
        (k, j): sum(F(a) * F(b) for a in e[k] for b in e[j]) / F(M * M)
        for k, j in permutations(range(K), 2)
    }
    s1, s2 = sum(sigma) / K, sum(omega) / K
    s3 = sum(gamma.values()) / F(K * (K - 1))
    naive = (
        sum(sigma) / F(K * K * M) + F(M - 1, K * K * M) * sum(omega) + sum(gamma.values()) / (K * K)
    )
    values = {
        "theta_2": s1 / N - F(N + 1 - M, N) * s2 + F(N - M, N) * s3,
        "theta_3": s1 / N + F(M - 1, N) * s2 - F(M, N) * s3,
        "theta_4": s1 / N - s2 / N,
        "theta_5": s1 / N + F(N + M - 1, N) * s2 - F(N + M, N) * s3,
        "theta_a": (sum(sigma) - sum(omega)) / F(K * K * M),
        "theta_b": 2 * (sum(sigma) - sum(omega)) / F(K * K * M),
        "theta_omega": sum(sigma) / F(K * K * M)
        + F(M - 1 - K * M, K * K * M) * sum(omega)
        + sum(gamma.values()) / F(K * K),
        "theta_gamma": sum(sigma) / F(K * K * M)
        + F(M - 1, K * K * M) * sum(omega)
        - sum(gamma.values()) / F(K * K * (K - 1)),
    }
    one_source = {k: naive - omega[k] for k in range(K)}
    one_pair = {(k, j): naive - (gamma[k, j] + gamma[j, k]) / 2 for k, j in gamma}
    return values, one_source, one_pair


def flat(e):
    return np.concatenate(e).astype(float), np.repeat(np.arange(len(e)), [len(row) for row in e])


@pytest.mark.parametrize("kind", KINDS)
def test_zero_one_example_in_rational_arithmetic(kind):
    expected = definitions(EXAMPLE)[0][kind]
    assert cv_variance(*flat(EXAMPLE), kind) == pytest.approx(float(expected), rel=1e-13, abs=1e-16)


def test_one_source_estimators_of_table_1():
    losses, groups = flat(EXAMPLE)
    _, one_source, one_pair = definitions(EXAMPLE)
    for k, expected in one_source.items():
        got = cv_variance(losses, groups, "theta_omega", source=k)
        assert got == pytest.approx(float(expected), rel=1e-13)
    for pair, expected in one_pair.items():
        got = cv_variance(losses, groups, "theta_gamma", source=pair)
        assert got == pytest.approx(float(expected), rel=1e-13)


def test_estimators_are_told_apart_by_the_example():
    """Were two estimators equal on the example, the tests above could not see a mix-up."""
    values = definitions(EXAMPLE)[0]
    assert len(set(values.values())) == 5  # θ2 = θ^ω, θ3 = θ^γ and θ4 = θ_A are the same by name


equal_sizes = st.integers(2, 5).flatmap(
    lambda m: st.lists(st.lists(st.integers(-8, 8), min_size=m, max_size=m), min_size=2, max_size=5)
)


@settings(max_examples=40, deadline=None)
@given(equal_sizes)
def test_equal_sizes_give_the_papers_formulas(e):
    losses, groups = flat(e)
    for kind, expected in definitions(e)[0].items():
        # 64 is the largest square of a loss: errors are relative to the size of the terms.
        assert cv_variance(losses, groups, kind) == pytest.approx(float(expected), abs=64e-12)


@settings(max_examples=40, deadline=None)
@given(equal_sizes)
def test_identities(e):
    losses, groups = flat(e)
    K, M = len(e), len(e[0])
    means = np.array([np.mean(row) for row in e])
    between = means.var(ddof=1)
    within = np.mean([np.var(row, ddof=1) for row in e])
    for kind, expected in {
        "theta_2": within / M - (K - 1) / K * between,
        "theta_3": between / K,
        "theta_4": within / (K * M),
        "theta_5": (K + 1) / K * between - within / M,
        "theta_b": 2 * within / (K * M),
    }.items():
        assert cv_variance(losses, groups, kind) == pytest.approx(expected, abs=64e-12)


def brute_force(e, w, share):
    """Unequal sizes and weights by their definitions, in fractions."""
    p = [[F(a) / sum(row) for a in row] for row in w]
    m = [
        sum(a * F(b) for a, b in zip(weights, row, strict=True))
        for weights, row in zip(p, e, strict=True)
    ]
    u = []
    for weights, row, mean in zip(p, e, m, strict=True):
        q, c = sum(a**2 for a in weights), sum(a**3 for a in weights)
        squares = sum(a**2 * (F(b) - mean) ** 2 for a, b in zip(weights, row, strict=True))
        u.append(squares / (1 + q - 2 * c / q))
    mu = sum(a * b for a, b in zip(share, m, strict=True))
    q = sum(a**2 for a in share)
    scatter = sum(a * (b - mu) ** 2 for a, b in zip(share, m, strict=True))
    theta_a = sum(a**2 * b for a, b in zip(share, u, strict=True))
    theta_omega = sum(a * b for a, b in zip(share, u, strict=True)) - scatter
    theta_gamma = q * scatter / (1 - q)
    return {
        "theta_a": theta_a,
        "theta_b": 2 * theta_a,
        "theta_omega": theta_omega,
        "theta_gamma": theta_gamma,
        "theta_5": 2 * theta_gamma - theta_omega,
    }


UNEQUAL = [[0, 1, 1], [1, 0], [0, 0, 1, 0, 1, 1]]
WEIGHTS = [[1, 2, 3], [4, 1], [1, 1, 5, 2, 3, 0]]
ONES = [[1] * len(row) for row in UNEQUAL]


@pytest.mark.parametrize("weights", [None, WEIGHTS])
@pytest.mark.parametrize("source_weight", ["equal", "proportional"])
def test_unequal_sizes_and_weights_by_brute_force(weights, source_weight):
    used = weights or ONES
    totals = [sum(row) for row in used]
    share = [F(1, 3)] * 3
    if source_weight == "proportional":
        share = [F(total, sum(totals)) for total in totals]
    losses, groups = flat(UNEQUAL)
    sample_weight = None if weights is None else np.concatenate(weights).astype(float)
    for kind, expected in brute_force(UNEQUAL, used, share).items():
        got = cv_variance(losses, groups, kind, sample_weight, source_weight=source_weight)
        assert got == pytest.approx(float(expected), rel=1e-12, abs=1e-15), kind


def test_weights_of_one_and_of_any_scale_change_nothing():
    losses, groups = flat(UNEQUAL)
    weight = np.concatenate(WEIGHTS).astype(float)
    for kind in KINDS:
        plain = cv_variance(losses, groups, kind)
        assert cv_variance(losses, groups, kind, np.ones(11)) == pytest.approx(plain, rel=1e-12)
        weighted = cv_variance(losses, groups, kind, weight)
        assert cv_variance(losses, groups, kind, 7 * weight) == pytest.approx(weighted, rel=1e-12)


def test_rows_of_weight_zero_do_not_count():
    losses, groups = flat(UNEQUAL)
    weight = np.where(np.arange(11) == 10, 0.0, 1.0)
    for kind in KINDS:
        got = cv_variance(losses, groups, kind, weight)
        assert got == pytest.approx(cv_variance(losses[:-1], groups[:-1], kind), rel=1e-12)


def test_variance_of_a_weighted_mean_is_unbiased_exactly():
    """u_k averaged over all outcomes of independent fair coins is the variance of the mean."""
    p = [F(1, 2), F(1, 3), F(1, 6)]
    outcomes = [(a, b, c) for a in (0, 1) for b in (0, 1) for c in (0, 1)]
    weight = np.array([3.0, 2.0, 1.0, 1.0, 1.0])
    mean_u = np.mean(
        [
            summarise_sources([*e, 0, 1], [0, 0, 0, 1, 1], sample_weight=weight).mean_variance[0]
            for e in outcomes
        ]
    )
    assert mean_u == pytest.approx(float(sum(a**2 for a in p) / 4), rel=1e-14)


def test_decomposition_by_brute_force():
    """σ², ω and γ as averages of the covariance matrix of all losses over the runs."""
    rng = np.random.default_rng(0)
    runs = rng.normal(size=(7, 1)) + rng.normal(size=(7, 9)) * np.arange(1, 10)
    groups = np.array([0, 0, 0, 1, 1, 2, 2, 2, 2])
    covariance = np.cov(runs, rowvar=False)
    answer = variance_decomposition(runs, groups)
    share = np.zeros(9)
    for k in range(3):
        rows = np.flatnonzero(groups == k)
        block = covariance[np.ix_(rows, rows)]
        pairs = block[~np.eye(len(rows), dtype=bool)]
        assert answer.sigma2[k] == pytest.approx(block.diagonal().mean(), rel=1e-12)
        assert answer.omega[k] == pytest.approx(pairs.mean(), rel=1e-12)
        share[rows] = 1 / (3 * len(rows))
        for j in set(range(3)) - {k}:
            cross = covariance[np.ix_(rows, np.flatnonzero(groups == j))]
            assert answer.gamma[k, j] == pytest.approx(cross.mean(), rel=1e-12)
    assert answer.total == pytest.approx(share @ covariance @ share, rel=1e-12)
    parts = answer.from_sigma + answer.from_omega + answer.from_gamma
    assert parts == pytest.approx(answer.total, rel=1e-12)
    diagonal = sum(share[i] ** 2 * covariance[i, i] for i in range(9))
    assert answer.from_sigma == pytest.approx(diagonal, rel=1e-12)


@pytest.mark.parametrize("kind", KINDS)
def test_documented_bias(kind):
    """E[estimator] − θ over draws of Gaussian losses with known σ², ω, γ and mean.

    All moments are of second order, so the expectation of each estimator follows from the mean
    and the covariance alone: it is trace(A Σ) + μ'Aμ of its quadratic form A.
    """
    K, M, sigma2, omega, gamma, mean = 3, 4, 1.0, 0.3, 0.1, 0.7
    groups = np.repeat(np.arange(K), M)
    same = groups[:, None] == groups
    covariance = np.where(same, omega, gamma)
    np.fill_diagonal(covariance, sigma2)
    n = K * M
    # The quadratic form by polarisation: A_ij = (Q(e_i + e_j) − Q(e_i) − Q(e_j)) / 2.
    eye = np.eye(n)
    single = np.array([cv_variance(eye[i], groups, kind) for i in range(n)])
    both = np.array(
        [[cv_variance(eye[i] + eye[j], groups, kind) for j in range(n)] for i in range(n)]
    )
    form = (both - single[:, None] - single) / 2
    expectation = np.trace(form @ covariance) + mean**2 * form.sum()
    theta = covariance.sum() / n**2
    bias = {
        "theta_2": -omega,
        "theta_3": -gamma,
        "theta_4": -(omega + (K - 1) * gamma) / K,
        "theta_5": omega - 2 * gamma,
        "theta_a": -(K * omega + K * (K - 1) * gamma) / K**2,
        "theta_b": (K * sigma2 - (M + 1) * K * omega - M * K * (K - 1) * gamma) / (K**2 * M),
        "theta_omega": -omega,  # Table 1 with equal means
        "theta_gamma": -gamma,
    }[kind]
    assert expectation - theta == pytest.approx(bias, abs=1e-12)
