"""Primal-feasible interior-point solver for a quadratic program with a box and a slab.

    minimise  ½ β'Qβ − c'β   subject to   0 ≤ β_i ≤ B,   n(1 − ε) ≤ Σβ ≤ n(1 + ε)

The start β = 1 is strictly feasible, and so is every iterate. The constraints therefore hold to
machine precision whenever the iteration stops. Each step factorises Q + diag(E) once, by Cholesky
for a full matrix Q and by the Woodbury identity if Q = AA' and A has few columns.

Each kind of Q has ``product`` (Q times a vector), ``solver``, which returns a function that solves
(Q + diag(diagonal)) x = b for one or several columns b, and ``mean_diagonal``, the scale of Q.
"""

from collections.abc import Callable, Iterator
from copy import copy
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from scipy.linalg import cho_factor, cho_solve

from landbridge._typing import Vector

# Number of rows of a feature matrix that are converted to double precision at a time.
BLOCK = 8192
# Accuracy that is accepted if rounding stops the progress before ``tol`` is reached.
CERTIFIED = 1e-8
# Iteration stops after this many steps without progress if the error is below the second value.
PATIENCE, NEAR = 5, 1e-4


Solve: TypeAlias = Callable[..., np.ndarray]


@dataclass(frozen=True)
class FullMatrix:
    """Q as a symmetric matrix, with one Cholesky factorisation (n³/3 operations) per step."""

    matrix: np.ndarray

    def product(self, vector: Vector) -> Vector:
        return self.matrix @ vector

    def solver(self, diagonal: Vector) -> Solve:
        shifted = self.matrix.copy()
        shifted.flat[:: len(shifted) + 1] += diagonal
        # A symmetric matrix equals its transpose, which LAPACK can factorise in place.
        factor = cho_factor(shifted.T, lower=True, overwrite_a=True, check_finite=False)

        def solve(b: np.ndarray, *, refine: bool = False) -> np.ndarray:
            return cho_solve(factor, b, check_finite=False)

        return solve

    def mean_diagonal(self) -> float:
        return float(np.mean(np.diagonal(self.matrix)))


@dataclass(frozen=True)
class LowRank:
    """Q = AA' with few columns and one r × r factorisation (n·r² operations) per step.

    A may be stored in single precision. It is read in blocks, and sums use double precision.
    """

    features: np.ndarray

    def blocks(self) -> Iterator[tuple[slice, np.ndarray]]:
        for start in range(0, len(self.features), BLOCK):
            rows = slice(start, start + BLOCK)
            yield rows, self.features[rows].astype(np.float64, copy=False)

    def times(self, coefficients: np.ndarray) -> np.ndarray:
        """A times a vector of length r, or several columns."""
        return np.concatenate([block @ coefficients for _, block in self.blocks()])

    def transposed_times(self, vector: np.ndarray) -> np.ndarray:
        """A' times a vector of length n, or several columns."""
        return sum(block.T @ vector[rows] for rows, block in self.blocks())

    def product(self, vector: Vector) -> Vector:
        return self.times(self.transposed_times(vector))

    def solver(self, diagonal: Vector) -> Solve:
        root = 1.0 / np.sqrt(diagonal)
        gram = np.zeros((self.features.shape[1],) * 2)
        for rows, block in self.blocks():
            scaled = block * root[rows, None]
            gram += scaled.T @ scaled
        # Shift eigenvalues that rounding could make negative; the refinement below corrects for it.
        gram.flat[:: len(gram) + 1] += 1.0 + 1e-15 * np.trace(gram)
        factor = cho_factor(gram, lower=True, overwrite_a=True, check_finite=False)

        def woodbury(b: np.ndarray) -> np.ndarray:
            scaled = (b.T / diagonal).T
            inner = cho_solve(factor, self.transposed_times(scaled), check_finite=False)
            return scaled - (self.times(inner).T / diagonal).T

        def solve(b: np.ndarray, *, refine: bool = False) -> np.ndarray:
            x = woodbury(b)
            if not refine:
                return x
            # The difference above suffers cancellation if the diagonal is tiny; one refinement step
            # corrects it.
            return x + woodbury(b - self.product(x) - diagonal * x)

        return solve

    def mean_diagonal(self) -> float:
        return sum(np.einsum("ij,ij->", b, b) for _, b in self.blocks()) / len(self.features)


QuadraticForm: TypeAlias = FullMatrix | LowRank


@dataclass(frozen=True)
class Solution:
    """Minimiser, multiplier of the slab, bound on the suboptimality, and number of steps.

    The stationarity condition is Qβ − c − z_low + z_up = ``slab_multiplier``.
    """

    beta: Vector
    slab_multiplier: float
    gap: float
    n_iter: int
    converged: bool


def solve_box_and_slab(
    form: QuadraticForm,
    linear: Vector,
    *,
    bound: float,
    eps: float,
    ridge: float | Vector = 0.0,
    tol: float = 1e-9,
    max_iter: int = 100,
) -> Solution:
    """Minimise ½ β'(Q + diag(ridge))β − linear'β over the box [0, bound] and the slab.

    The predictor and corrector steps (Mehrotra) share one factorisation. The iteration stops when
    the duality gap, relative to n² times the mean diagonal of Q, is below ``tol``.
    """
    n = len(linear)
    scale = max(n * (form.mean_diagonal() + np.mean(ridge)), np.abs(linear).max()) or 1.0
    # With a tiny ridge, the diagonal has entries near 0, and solves lose accuracy.
    refine = bool(np.min(ridge) < 1e-6 * scale / n)
    start = (form.product(np.ones(n)) + ridge - linear) / scale
    point = _Iterate(n, bound, eps, product=0.1 * float(np.abs(start).mean()) + 1e-4)
    best, best_error, best_step = point, np.inf, 0
    for step in range(max_iter + 1):
        gradient = (form.product(point.beta) + ridge * point.beta - linear) / scale
        residual = gradient - point.adjoint(point.low - point.up)
        # Feasible β and β* differ by at most 2n(1 + ε) in sum, so this bounds f(β) − f(β*).
        error = point.complementarity() / n + 2 * (1 + eps) * float(np.abs(residual).max())
        if error < best_error:
            best, best_error, best_step = point, error, step
        stalled = best_error <= NEAR and step >= best_step + PATIENCE
        if error <= tol or stalled or step == max_iter:
            break
        try:
            solve = form.solver(scale * point.diagonal() + ridge)
        except np.linalg.LinAlgError:
            if best_error > NEAR:  # rounding errors are smaller, so Q is not convex
                raise
            break
        direction = _predictor_corrector(point, residual, solve, scale, refine)
        # Step closer to the bounds as the error decreases, but never onto a bound.
        length = min(1.0, float(np.clip(1 - error, 0.9, 0.999)) * point.longest_step(*direction))
        point = point.moved(length, *direction)
    return Solution(
        beta=settle(best.beta, bound, eps),
        slab_multiplier=scale * float(best.low[n] - best.up[n]),
        gap=n * scale * best_error,
        n_iter=step,
        converged=best_error <= max(tol, CERTIFIED),
    )


class _Iterate:
    """β, its distances to the bounds and their multipliers.

    The slab is stored as the last bound, on Σβ. The distances are updated and not recomputed,
    because near a bound the difference B − β would lose the digits that the step needs.
    """

    def __init__(self, n: int, bound: float, eps: float, product: float):
        """Start at β = 1, with multipliers such that distance × multiplier = ``product``."""
        self.beta = np.ones(n)
        self.fixed_sum = eps == 0
        self.below, self.above = np.ones(n + 1), np.full(n + 1, bound - 1.0)
        # An equality constraint has no distance; 1 keeps the quotients finite.
        self.below[n] = self.above[n] = 1.0 if self.fixed_sum else n * eps
        self.low, self.up = product / self.below, product / self.above
        if self.fixed_sum:
            self.low[n] = self.up[n] = 0.0
        # The bounds that are inequalities.
        self.rows = slice(0, n) if self.fixed_sum else slice(0, n + 1)

    def forward(self, vector: Vector) -> Vector:
        """Bounded quantities: each entry, and the sum."""
        return np.append(vector, vector.sum())

    def adjoint(self, multipliers: Vector) -> Vector:
        return multipliers[:-1] + multipliers[-1]

    def complementarity(self) -> float:
        rows = self.rows
        return float(self.below[rows] @ self.low[rows] + self.above[rows] @ self.up[rows])

    def diagonal(self) -> Vector:
        return (self.low / self.below + self.up / self.above)[:-1]

    def moved(self, length: float, d_beta: Vector, d_low: Vector, d_up: Vector) -> "_Iterate":
        """The iterate after a step of this length."""
        new = copy(self)
        move = length * self.forward(d_beta)
        if self.fixed_sum:
            move[-1] = 0.0
        new.beta = self.beta + move[:-1]
        new.below, new.above = self.below + move, self.above - move
        new.low, new.up = self.low + length * d_low, self.up + length * d_up
        return new

    def longest_step(self, d_beta: Vector, d_low: Vector, d_up: Vector) -> float:
        """The largest step after which no distance and no multiplier is negative."""
        move, rows = self.forward(d_beta), self.rows
        pairs = [(self.below, move), (self.above, -move), (self.low, d_low), (self.up, d_up)]
        return min(step_to_zero(value[rows], change[rows]) for value, change in pairs)


def step_to_zero(value: Vector, change: Vector) -> float:
    """The largest step that keeps value + step·change ≥ 0."""
    falling = change < 0
    return float(np.min(-value[falling] / change[falling], initial=1e3))


def _predictor_corrector(
    point: _Iterate, residual: Vector, solve: Solve, scale: float, refine: bool
) -> tuple[Vector, Vector, Vector]:
    """Mehrotra's step: the length of a pure Newton step determines the centring."""
    below, above = point.below, point.above
    # The slab's part of the diagonal; infinite for an equality constraint on the sum.
    stiffness = point.low[-1] / below[-1] + point.up[-1] / above[-1]
    give = 0.0 if point.fixed_sum else 1 / stiffness

    def right_side(need_low: Vector, need_up: Vector) -> Vector:
        push = need_low / below - need_up / above
        return scale * ((push[:-1] if point.fixed_sum else point.adjoint(push)) - residual)

    def complete(x: Vector, need_low: Vector, need_up: Vector) -> tuple[Vector, Vector, Vector]:
        """Sherman–Morrison for the slab's 11', then the steps of the multipliers."""
        pull = x.sum() / (give + ones.sum())
        d_beta = x - pull * ones
        move = point.forward(d_beta)
        d_low = (need_low - point.low * move) / below
        d_up = (need_up + point.up * move) / above
        if point.fixed_sum:
            d_low[-1], d_up[-1] = -pull, 0.0
        return d_beta, d_low, d_up

    need = -below * point.low, -above * point.up
    both = solve(np.column_stack([np.full(len(residual), scale), right_side(*need)]))
    ones = both[:, 0]
    newton = complete(both[:, 1], *need)
    now = point.complementarity()
    then = point.moved(min(1.0, point.longest_step(*newton)), *newton).complementarity()
    centre = (max(then, 0.0) / now) ** 3 * now / (2 * len(below[point.rows]))
    move = point.forward(newton[0])
    need = need[0] + centre - move * newton[1], need[1] + centre + move * newton[2]
    return complete(solve(right_side(*need), refine=refine), *need)


def settle(beta: Vector, bound: float, eps: float) -> Vector:
    """Correct rounding errors of the sum: move β into the slab without leaving the box."""
    beta = np.clip(beta, 0.0, bound)
    n, total = len(beta), float(beta.sum())
    low, high = n * (1 - eps), n * (1 + eps)
    if total > high:
        return beta * (high / total)
    if total < low:
        room = bound - beta
        return np.minimum(beta + room * ((low - total) / room.sum()), bound)
    return beta
