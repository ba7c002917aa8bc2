"""A primal-feasible interior point for one quadratic program: a box and one slab.

    minimise  ½ β'Qβ − c'β   subject to   0 ≤ β_i ≤ B,   n(1 − ε) ≤ Σβ ≤ n(1 + ε)

β = 1 lies inside, so every iterate does: the constraints hold to machine precision whenever the
iteration stops. Each step solves with Q + diag(E) once factorised, by Cholesky where Q is a full
matrix and by the Woodbury identity where Q = AA' has few columns.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from scipy.linalg import cho_factor, cho_solve

from landbridge._typing import Vector

# Rows handled at a time where a matrix of features is read in double precision.
BLOCK = 8192


class Solve(Protocol):
    """Solves with one factorised matrix, for a vector or several columns."""

    def __call__(self, b: np.ndarray, *, refine: bool = False) -> np.ndarray: ...


class QuadraticForm(Protocol):
    """What the interior point needs of Q."""

    def product(self, vector: Vector) -> Vector:
        """Q times a vector."""

    def solver(self, diagonal: Vector) -> Solve:
        """A function that solves (Q + diag(diagonal)) x = b."""

    def mean_diagonal(self) -> float:
        """The scale of Q."""


@dataclass(frozen=True)
class FullMatrix:
    """Q as a symmetric matrix: one Cholesky factorisation a step, n³/3 operations."""

    matrix: np.ndarray

    def product(self, vector: Vector) -> Vector:
        return self.matrix @ vector

    def solver(self, diagonal: Vector) -> Solve:
        shifted = self.matrix.copy()
        shifted.flat[:: len(shifted) + 1] += diagonal
        # A symmetric matrix is its own transpose, and LAPACK factorises that order in place.
        factor = cho_factor(shifted.T, lower=True, overwrite_a=True, check_finite=False)

        def solve(b: np.ndarray, *, refine: bool = False) -> np.ndarray:
            return cho_solve(factor, b, check_finite=False)

        return solve

    def mean_diagonal(self) -> float:
        return float(np.mean(np.diagonal(self.matrix)))


@dataclass(frozen=True)
class LowRank:
    """Q = AA' with few columns: one r × r factorisation a step, n·r² operations.

    A may be stored in single precision; it is read in blocks and all sums are double.
    """

    features: np.ndarray

    def blocks(self) -> Iterator[tuple[slice, np.ndarray]]:
        for start in range(0, len(self.features), BLOCK):
            rows = slice(start, start + BLOCK)
            yield rows, self.features[rows].astype(np.float64, copy=False)

    def times(self, coefficients: np.ndarray) -> np.ndarray:
        """A times a vector of r, or several."""
        return np.concatenate([block @ coefficients for _, block in self.blocks()])

    def transposed_times(self, vector: np.ndarray) -> np.ndarray:
        """A' times a vector of n, or several."""
        return sum(block.T @ vector[rows] for rows, block in self.blocks())

    def product(self, vector: Vector) -> Vector:
        return self.times(self.transposed_times(vector))

    def solver(self, diagonal: Vector) -> Solve:
        root = 1.0 / np.sqrt(diagonal)
        gram = np.zeros((self.features.shape[1],) * 2)
        for rows, block in self.blocks():
            scaled = block * root[rows, None]
            gram += scaled.T @ scaled
        # What rounding could make negative is lifted; the refinement below takes it out again.
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
            # The difference above cancels where the diagonal is tiny; one correction repairs it.
            return x + woodbury(b - self.product(x) - diagonal * x)

        return solve

    def mean_diagonal(self) -> float:
        return sum(np.einsum("ij,ij->", b, b) for _, b in self.blocks()) / len(self.features)


@dataclass(frozen=True)
class Solution:
    """The minimiser, the multiplier of the slab, the last duality gap and the number of steps.

    Stationarity reads Qβ − c − z_low + z_up = ``slab_multiplier``.
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
    ridge: float = 0.0,
    tol: float = 1e-9,
    max_iter: int = 100,
) -> Solution:
    """Minimise ½ β'(Q + ridge·I)β − linear'β over the box [0, bound] and the slab.

    Predictor and corrector (Mehrotra) share one factorisation a step. It stops when the duality
    gap, relative to n² times the mean diagonal of Q, is below ``tol``.
    """
    n = len(linear)
    scale = n * (form.mean_diagonal() + ridge) or 1.0
    point = _Iterate.start(n, bound, eps)
    for step in range(max_iter + 1):
        gradient = (form.product(point.beta) + ridge * point.beta - linear) / scale
        residual = gradient - point.adjoint(point.low - point.up)
        gap = point.complementarity()
        # Feasible β and β* differ by at most 2n(1 + ε) in sum, so this bounds f(β) − f(β*).
        error = gap / n + 2 * (1 + eps) * np.abs(residual).max()
        if error <= tol or step == max_iter:
            break
        try:
            solve = form.solver(scale * point.diagonal() + ridge)
        except np.linalg.LinAlgError:
            if step == 0:  # Q itself is not positive semi-definite
                raise
            break
        if not point.advance(*_predictor_corrector(point, residual, solve, scale)):
            break
    beta = settle(point.beta, bound, eps)
    multiplier = scale * float(point.low[n] - point.up[n])
    return Solution(beta, multiplier, float(gap * scale), step, bool(error <= tol))


class _Iterate:
    """β with the multipliers of its bounds; the slab is one more bound, on Σβ, in last place."""

    def __init__(self, beta: Vector, upper: Vector, lower: Vector, low: Vector, up: Vector):
        self.beta, self.upper, self.lower = beta, upper, lower
        self.low, self.up = low, up
        self.fixed_sum = bool(upper[-1] <= lower[-1])

    @classmethod
    def start(cls, n: int, bound: float, eps: float) -> "_Iterate":
        upper, lower = np.full(n + 1, bound), np.zeros(n + 1)
        upper[n], lower[n] = n * (1 + eps), n * (1 - eps)
        low, up = np.full(n + 1, 0.1), np.full(n + 1, 0.1 / bound)
        low[n] = up[n] = 0.0 if eps == 0 else 0.1 / (n * eps)
        return cls(np.ones(n), upper, lower, low, up)

    def forward(self, vector: Vector) -> Vector:
        """What the bounds bound: each entry, and the sum."""
        return np.append(vector, vector.sum())

    def adjoint(self, multipliers: Vector) -> Vector:
        return multipliers[:-1] + multipliers[-1]

    def slacks(self) -> tuple[Vector, Vector]:
        value = self.forward(self.beta)
        below, above = value - self.lower, self.upper - value
        if self.fixed_sum:  # an equation has no slack; 1 keeps the quotients finite
            below[-1] = above[-1] = 1.0
        return below, above

    def active(self) -> slice:
        """The bounds that are inequalities."""
        return slice(0, len(self.beta)) if self.fixed_sum else slice(None)

    def complementarity(self) -> float:
        below, above = self.slacks()
        rows = self.active()
        return float(below[rows] @ self.low[rows] + above[rows] @ self.up[rows])

    def diagonal(self) -> Vector:
        below, above = self.slacks()
        return (self.low / below + self.up / above)[:-1]

    def advance(self, d_beta: Vector, d_low: Vector, d_up: Vector) -> bool:
        """Go most of the way to the nearest bound; False when no way is left."""
        length = self.longest_step(d_beta, d_low, d_up)
        length = min(1.0, max(0.9, 1 - 10 * self.complementarity() / len(self.beta)) * length)
        self.beta = self.beta + length * d_beta
        self.low, self.up = self.low + length * d_low, self.up + length * d_up
        return length > 1e-10

    def longest_step(self, d_beta: Vector, d_low: Vector, d_up: Vector) -> float:
        below, above = self.slacks()
        move, rows = self.forward(d_beta), self.active()
        pairs = [(below, move), (above, -move), (self.low, d_low), (self.up, d_up)]
        return min(_to_zero(value[rows], change[rows]) for value, change in pairs)


def _to_zero(value: Vector, change: Vector) -> float:
    """The largest step in (0, 1e3] that keeps value + step·change ≥ 0."""
    with np.errstate(divide="ignore", invalid="ignore"):
        steps = np.where(change < 0, -value / change, 1e3)
    return float(min(steps.min(initial=1e3), 1e3))


def _predictor_corrector(
    point: _Iterate, residual: Vector, solve: Solve, scale: float
) -> tuple[Vector, Vector, Vector]:
    """Mehrotra: how far a pure Newton step would get decides how much the real one is centred."""
    below, above = point.slacks()
    rows = point.active()
    # 1/(give): the slab's part of the diagonal; an equation on the sum gives not at all.
    stiffness = point.low[-1] / below[-1] + point.up[-1] / above[-1]
    give = 0.0 if point.fixed_sum else 1 / stiffness

    def right_side(need_low: Vector, need_up: Vector) -> Vector:
        push = need_low / below - need_up / above
        return scale * ((push[:-1] if point.fixed_sum else point.adjoint(push)) - residual)

    def complete(x: Vector, need_low: Vector, need_up: Vector) -> tuple[Vector, Vector, Vector]:
        """Sherman–Morrison for the slab's 11', then the multipliers' steps."""
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
    d_beta, d_low, d_up = complete(both[:, 1], *need)
    length = min(1.0, point.longest_step(d_beta, d_low, d_up))
    move, now = point.forward(d_beta), point.complementarity()
    then = float(
        (below + length * move)[rows] @ (point.low + length * d_low)[rows]
        + (above - length * move)[rows] @ (point.up + length * d_up)[rows]
    )
    centre = (max(then, 0.0) / now) ** 3 * now / (2 * len(below[rows]))
    need = need[0] + centre - move * d_low, need[1] + centre + move * d_up
    return complete(solve(right_side(*need), refine=True), *need)


def settle(beta: Vector, bound: float, eps: float) -> Vector:
    """Undo the rounding of the sum: back into the slab, never out of the box."""
    beta = np.clip(beta, 0.0, bound)
    n, total = len(beta), float(beta.sum())
    low, high = n * (1 - eps), n * (1 + eps)
    if total > high:
        return beta * (high / total)
    if total < low:
        room = bound - beta
        return np.minimum(beta + room * ((low - total) / room.sum()), bound)
    return beta
