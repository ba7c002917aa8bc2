"""T-greedy against the paper's formulas worked out in rational arithmetic."""

from fractions import Fraction as F
from itertools import pairwise

import numpy as np
import pytest

from landbridge import TGreedySelector

# Four domains of three to five rows of small integers: features A, B, C and the response.
DOMAINS = {
    "a": [(-1, -2, -1, -6), (2, 0, -2, 4), (1, 2, 2, 6), (-1, 3, -2, 10)],
    "b": [(-1, 1, -1, 0), (-1, -2, 2, -3), (2, 2, 3, -1)],
    "c": [(1, 3, 3, -1), (2, 0, 0, 1), (-1, -1, 0, -1), (1, 2, 3, -1), (2, 3, -1, 4)],
    "d": [(-1, 0, 1, -1), (2, -2, 0, -5), (3, -1, 0, 1), (1, 2, 0, 8)],
}
P = 3


def mean(values):
    values = list(values)
    return sum(values, F(0)) / len(values)


def centred(center=True):
    """Rows minus the average of the domain means, as fractions, and that centre; or as they are."""
    rows = {k: [tuple(map(F, row)) for row in part] for k, part in DOMAINS.items()}
    centre = [mean(mean(row[i] for row in part) for part in rows.values()) for i in range(P + 1)]
    if not center:
        return rows, [F(0)] * (P + 1)
    moved = {
        k: [tuple(v - m for v, m in zip(row, centre, strict=True)) for row in part]
        for k, part in rows.items()
    }
    return moved, centre


def exact_path(criterion, n_steps, center=True):
    """(feature, T², sign of T, effects, δ, losses) of each step, weights and intercept."""
    rows, centre = centred(center)
    n, w, steps = len(rows), [F(0)] * P, []
    size = [mean(mean(row[i] ** 2 for row in part) for part in rows.values()) for i in range(P)]

    def residual(row):
        return row[P] - sum(w[j] * row[j] for j in range(P))

    for _ in range(n_steps):
        effects = [
            [mean(row[i] * residual(row) for row in part) for part in rows.values()]
            for i in range(P)
        ]
        mu = [mean(e) for e in effects]
        variance = [
            sum((c - m) ** 2 for c in e) / (n - 1) for e, m in zip(effects, mu, strict=True)
        ]
        T2 = [m**2 / (v / n) for m, v in zip(mu, variance, strict=True)]
        score = T2 if criterion != "loss" else [m**2 / s for m, s in zip(mu, size, strict=True)]
        if criterion == "t_signed":
            score = [t if m > 0 else F(0) for t, m in zip(T2, mu, strict=True)]
        i = max(range(P), key=lambda j: score[j])
        if score[i] == 0:
            break
        delta = mu[i] / size[i]
        w[i] += delta
        losses = [mean(residual(row) ** 2 for row in part) for part in rows.values()]
        steps.append((i, T2[i], mu[i], effects[i], delta, losses))
    intercept = centre[P] - sum(w[j] * centre[j] for j in range(P))
    return steps, w, intercept


def arrays():
    X = np.array([row[:P] for part in DOMAINS.values() for row in part], dtype=float)
    y = np.array([row[P] for part in DOMAINS.values() for row in part], dtype=float)
    return X, y, np.repeat(list(DOMAINS), [len(part) for part in DOMAINS.values()])


@pytest.mark.filterwarnings("ignore:max_steps=6")
@pytest.mark.parametrize("center", [True, False])
@pytest.mark.parametrize("criterion", ["t", "t_signed", "loss"])
def test_path_weights_and_losses_equal_the_rational_ones(criterion, center):
    steps, w, intercept = exact_path(criterion, 6, center)
    X, y, groups = arrays()
    model = TGreedySelector(criterion, stop=None, max_steps=6, center=center)
    model.fit(X, y, groups=groups)
    path = model.path_
    features, T2, mu, effects, delta, losses = zip(*steps, strict=True)
    assert len(set(features)) > 1
    assert path.feature.tolist() == list(features)
    signed = [float(t) ** 0.5 * (1 if m > 0 else -1) for t, m in zip(T2, mu, strict=True)]
    np.testing.assert_allclose(path.T, signed, rtol=1e-9)
    np.testing.assert_allclose(path.effect, [float(m) for m in mu], rtol=1e-9)
    np.testing.assert_allclose(path.effects, np.array(effects, dtype=float), rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(path.delta, [float(d) for d in delta], rtol=1e-9)
    np.testing.assert_allclose(path.loss[1:], np.array(losses, dtype=float), rtol=1e-9)
    np.testing.assert_allclose(model.coef_, [float(v) for v in w], rtol=1e-10)
    assert model.intercept_ == pytest.approx(float(intercept), rel=1e-10)


def test_the_loss_falls_along_a_greedy_path():
    steps, _, _ = exact_path("loss", 6)
    losses = [mean(step[-1]) for step in steps]
    assert all(later <= earlier for earlier, later in pairwise(losses))


def test_signed_and_uncentred_paths_differ_from_the_default():
    steps, *_ = exact_path("t", 6)
    assert any(mu < 0 for _, _, mu, *_ in steps)
    assert all(mu > 0 for _, _, mu, *_ in exact_path("t_signed", 6)[0])
    assert exact_path("t", 6, center=False)[0] != steps


def test_two_criteria_pick_differently_on_these_rows():
    assert exact_path("t", 1)[0][0][0] != exact_path("loss", 1)[0][0][0]


def test_least_squares_refit_solves_the_rational_normal_equations():
    rows, _ = centred()
    X, y, groups = arrays()
    model = TGreedySelector("loss", stop=None, max_steps=2, refit="ols").fit(X, y, groups=groups)
    i, j = model.path_.feature
    gram = {
        (a, b): mean(mean(row[a] * row[b] for row in part) for part in rows.values())
        for a in (i, j)
        for b in (i, j, P)
    }
    determinant = gram[i, i] * gram[j, j] - gram[i, j] ** 2
    weight = (gram[i, P] * gram[j, j] - gram[j, P] * gram[i, j]) / determinant
    assert model.coef_[i] == pytest.approx(float(weight), rel=1e-10)
