"""T-greedy feature selection (Foster, Kakade, Salakhutdinov, "Domain Adaptation: A Small Sample
Statistical Approach", Section 3.3) and the greedy stagewise selection that it is compared with.

There are domains d_1 … d_n, features X_i, a response Y and weights w that start at zero. In each
step, for each feature i and domain k,

    c_ki = E[X_i (Y − w·X) | d_k],   μ_i = mean_k c_ki,   σ_i² = Σ_k (c_ki − μ_i)² / (n − 1),
    T_i  = μ_i / (σ_i / √n),

one feature i* is chosen and w_i* += δ = μ_i* / mean_k E[X_i*² | d_k]. The step subtracts δ E[X X_i*
| d_k] from c_k, so it reads one column of second moments and never the rows.

Deviation 1: i* maximises |T_i| unless the criterion is "t_signed", the printed argmax T_i, which
never picks a feature with a negative effect and ends when all effects are negative. Deviation 2: X
and Y are first centred on the average of the domain means, and the model has the intercept that
follows from it; without centring, as printed, moments are about zero and there is no intercept.
Deviation 3: where σ_i = 0 and μ_i ≠ 0, the size of T_i is infinite; a constant feature is never
picked; ties go to the lowest index. Values within rounding error of zero count as zero, and scores
within rounding error as ties.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import stats

from landbridge._typing import Vector
from landbridge.feature_selection.foresight import Outlook, Score
from landbridge.feature_selection.statistics import Statistics

CRITERIA = ("t", "t_signed", "loss", "gate")
# Rounding errors that an effect accumulates along a path, in units of the data's precision.
ROUNDINGS = 64
TIE = 1e-9


@dataclass(frozen=True, slots=True)
class Problem:
    """Effects, second moments and losses of all domains about the centre of the training ones.

    ``train`` marks the domains used to choose features and weights; the others are held out.
    """

    effects: np.ndarray
    seconds: np.ndarray
    losses: Vector
    offsets: np.ndarray
    train: Vector
    rounding: float

    @property
    def size(self) -> Vector:
        """mean_k E[X_i² | d_k] over the training domains."""
        return self.seconds[self.train].mean(axis=0)

    @property
    def noise(self) -> Vector:
        """Largest effect that rounding errors can produce, for each feature."""
        scale = np.sqrt(self.size * self.losses[self.train].mean())
        return ROUNDINGS * self.rounding * scale

    def about_centre(self, feature: int, column: np.ndarray) -> np.ndarray:
        """E[X X_i | d_k] from the covariances within the domains."""
        moments = self.offsets * self.offsets[:, feature, None]
        moments += column
        return moments


@dataclass(frozen=True, slots=True)
class Walk:
    """A finished path, one row per step; features are in the order of their first pick.

    ``weights`` (steps × chosen) and ``losses`` (steps + 1 × domains) are those after a step; row
    0 of the losses is the model without features.
    """

    feature: Vector
    T: Vector
    effects: np.ndarray
    delta: Vector
    selected: Vector
    weights: np.ndarray
    losses: np.ndarray


def problem_of(
    statistics: Statistics, train: Vector | None = None, *, center: bool = True
) -> Problem:
    """Moments about the average of the means of the training domains, equally weighted.

    Without ``center``, moments are about zero, as printed in the paper.
    """
    n = statistics.means.shape[0]
    train = np.ones(n, dtype=bool) if train is None else train
    offsets, label_offsets = statistics.means.copy(), statistics.label_means.copy()
    if center:
        offsets -= statistics.means[train].mean(axis=0)
        label_offsets -= statistics.label_means[train].mean()
    seconds = np.maximum(statistics.variances, 0.0) + offsets**2
    # After centring, a column that is constant in the training domains contains rounding errors
    # only.
    rounding = ROUNDINGS * statistics.rounding * np.abs(statistics.means[train]).max(axis=0)
    constant = center & (seconds[train].mean(axis=0) <= rounding**2)
    return Problem(
        effects=statistics.covariances + offsets * label_offsets[:, None],
        seconds=np.where(constant, 0.0, seconds),
        losses=statistics.label_variances + label_offsets**2,
        offsets=offsets,
        train=train,
        rounding=statistics.rounding,
    )


def t_statistics(effects: np.ndarray, noise: Vector | float = 0.0) -> tuple[Vector, Vector]:
    """μ and T over the domains (rows of ``effects``); values below ``noise`` count as zero."""
    n = effects.shape[0]
    mean = effects.mean(axis=0)
    deviations = effects - mean
    spread = np.sqrt(np.einsum("ki,ki->i", deviations, deviations) / max(n - 1, 1))
    mean[np.abs(mean) <= noise] = 0.0
    spread[spread <= noise] = 0.0
    with np.errstate(divide="ignore", invalid="ignore"):
        T = mean / (spread / np.sqrt(n))
    T[mean == 0] = 0.0
    return mean, T


def make_score(criterion: str, size: Vector, n: int, alpha: float) -> Score:
    """Objective of a step: |T|, T, the loss decrease, or the decrease if |T| is significant."""
    usable = size > 0
    inverse = np.divide(1.0, size, out=np.zeros_like(size), where=usable)
    if criterion == "t":
        return lambda mean, T: np.where(usable, np.abs(T), 0.0)
    if criterion == "t_signed":
        return lambda mean, T: np.where(usable, np.maximum(T, 0.0), 0.0)
    if criterion == "loss" or n < 2:  # T is undefined for one domain
        return lambda mean, T: mean**2 * inverse
    quantile = stats.t.isf(alpha / 2, n - 1)
    return lambda mean, T: np.where(np.abs(T) >= quantile, mean**2 * inverse, 0.0)


def first_of_best(score: Vector) -> int:
    """Lowest index among the highest scores, up to rounding."""
    best = score.max()
    return int(np.argmax(score >= best * (1 - TIE))) if np.isfinite(best) else int(score.argmax())


class Stagewise:
    """Stagewise updates: w_i += δ, c_k −= δ E[X X_i | d_k] (Section 3.3)."""

    def __init__(self, problem: Problem):
        self.problem = problem
        self.effects, self.losses = problem.effects.copy(), problem.losses.copy()
        self.weights: dict[int, float] = {}

    def eligible(self, score: Vector) -> Vector:
        """Scores of the eligible features: all, including those picked before."""
        return score

    def take(self, i: int, delta: float, column: np.ndarray) -> None:
        """Take one step; ``column`` is E[X X_i | d_k]."""
        self.losses += delta * (delta * self.problem.seconds[:, i] - 2 * self.effects[:, i])
        self.effects -= delta * column
        self.weights[i] = self.weights.get(i, 0.0) + delta


class Refitted(Stagewise):
    """Stepwise variant: refit all chosen features by least squares on the average domain."""

    def __init__(self, problem: Problem):
        super().__init__(problem)
        self.columns = np.empty((0, *problem.effects.shape))

    def eligible(self, score: Vector) -> Vector:
        """Exclude chosen features, whose weights are already optimal."""
        score[list(self.weights)] = 0.0
        return score

    def take(self, i: int, delta: float, column: np.ndarray) -> None:
        """Take one step; ``delta`` is ignored, because all weights are refitted."""
        self.columns = np.concatenate([self.columns, column[None]])
        chosen = [*self.weights, i]
        first, train = self.problem.effects[:, chosen], self.problem.train
        gram = self.columns[:, :, chosen]
        # Scale the features, so that the rank found by lstsq does not depend on their units.
        unit = 1 / np.sqrt(self.problem.size[chosen])
        moments = gram[:, train].mean(axis=1) * np.outer(unit, unit)
        solution = unit * np.linalg.lstsq(moments, unit * first[train].mean(axis=0))[0]
        self.weights = dict(zip(chosen, solution.tolist(), strict=True))
        self.effects = self.problem.effects - np.tensordot(solution, self.columns, axes=1)
        quadratic = np.einsum("i,ikj,j->k", solution, gram, solution)
        self.losses = self.problem.losses - 2 * first @ solution + quadratic


def greedy_path(
    statistics: Statistics,
    *,
    criterion: str = "t",
    max_steps: int = 300,
    n_features: int | None = None,
    refit: str = "stagewise",
    alpha: float = 0.05,
    center: bool = True,
    train: Vector | None = None,
) -> Walk:
    """Path computed from second moments; it ends early if no feature is eligible."""
    problem = problem_of(statistics, train, center=center)
    size, noise, rows = problem.size, problem.noise, problem.train

    def score_at(features: Vector | slice) -> Score:
        return make_score(criterion, size[features], int(rows.sum()), alpha)

    score = score_at(slice(None))
    model = Refitted(problem) if refit == "ols" else Stagewise(problem)
    steps: list[tuple[int, float, Vector, float]] = []
    weights, losses = [], [model.losses.copy()]
    while len(steps) < max_steps and len(model.weights) != n_features:
        mean, T = t_statistics(model.effects[rows], noise)
        points = model.eligible(score(mean, T))
        i = first_of_best(points)
        if points[i] <= 0:
            break
        delta = mean[i] / size[i]
        left = min(max_steps - len(steps), (n_features or max_steps) - len(model.weights))
        column = statistics.column(i, Outlook(mean, T, points, score_at, left))
        steps.append((i, T[i], model.effects[:, i].copy(), delta))
        model.take(i, delta, problem.about_centre(i, column))
        weights.append(list(model.weights.values()))
        losses.append(model.losses.copy())
    return _assemble(steps, list(model.weights), weights, np.array(losses))


def _assemble(
    steps: list[tuple[int, float, Vector, float]],
    selected: list[int],
    weights: list[list[float]],
    losses: np.ndarray,
) -> Walk:
    columns: Any = zip(*steps, strict=True) if steps else ([], [], [], [])
    feature, T, effects, delta = columns
    table = np.zeros((len(steps), len(selected)))
    for row, values in zip(table, weights, strict=True):
        row[: len(values)] = values
    return Walk(
        feature=np.array(feature, dtype=np.intp),
        T=np.array(T),
        effects=np.array(effects).reshape(len(steps), losses.shape[1]),
        delta=np.array(delta),
        selected=np.array(selected, dtype=np.intp),
        weights=table,
        losses=losses,
    )
