"""Kernel mean matching (Huang, Smola, Gretton, Borgwardt and Schölkopf, 2007)."""

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from sklearn.metrics.pairwise import PAIRWISE_KERNEL_FUNCTIONS
from sklearn.utils import check_random_state

from landbridge._kernel import kernel, mean_self_kernel, resolve_gamma, row_blocks
from landbridge._low_rank import LowRankFeatures, fit_low_rank_features
from landbridge._tasks import one_thread
from landbridge._typing import Matrix, RandomState, Vector
from landbridge._validation import check_choice, check_not_negative, is_count, is_number
from landbridge._warn import warn_caller
from landbridge.exceptions import NotConvergedWarning
from landbridge.weighting._base import Weighting
from landbridge.weighting._interior_point import (
    FullMatrix,
    LowRank,
    QuadraticForm,
    Solution,
    solve_box_and_slab,
)

# Up to this number of source rows, the exact problem takes seconds; beyond it, use features.
EXACT_ROWS = 2000
# Number of features for up to 20 000 rows, and for more rows.
MANY_ROWS, COMPONENTS, COMPONENTS_OF_MANY = 20_000, 256, 128

# A matrix of features with more entries than this is stored in single precision.
DOUBLE_ENTRIES = 2**25

# Values that recovered known density ratios well for many dimensions, sizes and shifts. gamma is in
# units of the median heuristic, the ridge in units of the mean of k(x, x). See
# benchmarks/weighting.py.
WIDTH, RIDGE = 0.3, 0.15


def huang_eps(n: int) -> float:
    """ε = (√n − 1)/√n, the default of Huang et al."""
    return (np.sqrt(n) - 1) / np.sqrt(n)


def mean_embedding(X: Matrix, X_target: Matrix, name: str, gamma: float) -> Vector:
    """κ_i = n/n_t · Σ_j k(x_i, x_j) over the target rows, block by block."""
    sums = [
        kernel(X[rows], X_target, name, gamma).sum(axis=1)
        for rows in row_blocks(X, X_target.shape[0])
    ]
    return np.concatenate(sums) * (X.shape[0] / X_target.shape[0])


def objective(form: QuadraticForm, kappa: Vector, beta: Vector, ridge: float = 0.0) -> float:
    """½ β'(K + ridge·I)β − κ'β."""
    return float(0.5 * beta @ form.product(beta) + 0.5 * ridge * beta @ beta - kappa @ beta)


@dataclass(frozen=True)
class Problem:
    """Quadratic program of one fit.

    ``left_out`` is the mean of k(x, x) − ‖a(x)‖², the part of the diagonal of K that the
    features do not represent. AA' + left_out·I has the same trace as K.
    """

    form: QuadraticForm
    kappa: Vector
    bound: float
    eps: float
    ridge: float
    left_out: float

    @property
    def diagonal(self) -> float:
        """Total value added to the diagonal of the form."""
        return self.ridge + self.left_out

    def solve(self) -> Solution:
        # The error of the features exceeds 1e-7, so higher accuracy would be wasted.
        tol = 1e-7 if isinstance(self.form, LowRank) else 1e-9
        if self.ridge > 0:
            # The error of a weight near 0 is about √(tol·n/ridge); aim at 1e-4.
            tol = float(np.clip(1e-8 * self.ridge / len(self.kappa), 1e-12, 1e-9))
        return solve_box_and_slab(
            self.form, self.kappa, bound=self.bound, eps=self.eps, ridge=self.diagonal, tol=tol
        )


class KernelMeanMatching(Weighting):
    """Weights that match the source mean to the target mean in feature space.

    With K_ij = k(x_i, x_j) on the n source rows and κ_i = n/n_t · Σ_j k(x_i, x_j) over the n_t
    target rows, it solves ::

        minimise  ½ β'(K + ridge·I)β − κ'β   subject to  0 ≤ β_i ≤ bound,  |Σβ − n| ≤ n·eps.

    * The weights lie in [0, bound] and their sum in [n(1 − eps), n(1 + eps)], to machine precision.
    * Every row has a weight, regardless of the number of rows.
    * Permuting the source rows permutes the weights. Permuting the target rows has no effect.

    Deviation 1: the problem has a ridge, which the papers do not have. Without it the optimum
    overfits, because it matches the target sample with a few source rows. ``setting="paper"``
    disables it. Deviation 2: beyond 2 000 source rows, K ≈ AA' + δI and κ are computed from the
    same few features A, with δ chosen to preserve the trace of K. ``n_components=None`` keeps the
    exact kernel. On nine pairs of domains without target labels, logistic regression with these
    weights was 4 points less accurate than the best source-only model (benchmark ``defaults``).

    Parameters
    ----------
    kernel : str, default="rbf"
        A kernel of scikit-learn (`sklearn.metrics.pairwise.pairwise_kernels`).
    gamma : "median", float or None
        The width: 1 / (2 × median squared distance of the rows of both domains), or a number.
        ``None`` uses the value of ``setting``.
    bound : float, default=1000.0
        B, the largest weight; the default is Huang's.
    eps : float in [0, 1], "huang" or None
        Largest deviation of the mean weight from 1; 0 makes it exactly 1, "huang" is (√n − 1)/√n.
        ``None`` uses the value of ``setting``.
    ridge : float or None
        Added to the diagonal of K. ``None`` uses the value of ``setting``.
    setting : {"evidence", "paper"}, default="evidence"
        Values of ``gamma``, ``eps`` and ``ridge`` that are not given. "evidence": values that
        recovered known density ratios well (``docs/benchmarks/weighting.md``): 0.3 times the gamma
        of the median heuristic, eps 0, ridge = 0.15 times the mean of k(x, x). "paper": the median
        heuristic, Huang's eps, no ridge.
    n_components : "auto", int or None, default="auto"
        Number of features; ``None`` solves the exact problem. "auto": exact up to 2 000 source
        rows, then 256 features, and 128 beyond 20 000 rows.
    random_state : int, RandomState or None, default=0
        Seed for the features and the median distance.

    Attributes
    ----------
    gamma_, bound_, eps_, ridge_, n_components_ : the numbers used (``n_components_`` is None for
        the exact problem).
    objective_ : the objective at the solution.
    n_iter_ : interior-point steps.

    Examples
    --------
    >>> import numpy as np
    >>> from landbridge import KernelMeanMatching
    >>> rng = np.random.default_rng(0)
    >>> X, X_target = rng.normal(size=(300, 2)), rng.normal(0.5, 1, size=(200, 2))
    >>> kmm = KernelMeanMatching().fit(X, X_target)
    >>> bool(abs(kmm.weights_ @ X / 300 - X_target.mean(axis=0)).max() < 0.1)
    True
    """

    def __init__(
        self,
        kernel: str = "rbf",
        gamma: float | Literal["median"] | None = None,
        bound: float = 1000.0,
        eps: float | Literal["huang"] | None = None,
        ridge: float | None = None,
        setting: Literal["evidence", "paper"] = "evidence",
        n_components: int | Literal["auto"] | None = "auto",
        random_state: RandomState = 0,
    ):
        self.kernel = kernel
        self.gamma = gamma
        self.bound = bound
        self.eps = eps
        self.ridge = ridge
        self.setting = setting
        self.n_components = n_components
        self.random_state = random_state

    def _weights(self, X: Matrix, X_target: Matrix) -> Vector:
        self._check_parameters()
        rng = check_random_state(self.random_state)
        self.gamma_ = self._width(X, X_target, rng)
        self.n_components_ = resolve_components(self.n_components, X.shape[0])
        if self.n_components_ is None:
            problem, self._map = self._exact(X, X_target), None
        else:
            problem, self._map = self._approximate(X, X_target, self.n_components_, rng)
        self.bound_, self.eps_, self.ridge_ = problem.bound, problem.eps, problem.ridge
        solution = _solve(problem, self.kernel)
        self.n_iter_ = solution.n_iter
        self.objective_ = objective(problem.form, problem.kappa, solution.beta, problem.diagonal)
        self._keep_extension(X, X_target, problem, solution)
        return solution.beta

    @one_thread()
    def _new_weights(self, X: Matrix) -> Vector:
        """Weights of new rows under the fitted solution; requires a positive ridge.

        At the optimum, stationarity determines the weight of a row from its kernel values,
        β(x) = clip((n·mean_j k(x, t_j) − Σ_i β_i k(x, x_i) + ν) / ridge, 0, bound) with ν the
        multiplier of the sum (and ridge + δ for features), so the same formula gives the weight of
        a row not seen in ``fit``.
        """
        if self.ridge_ == 0:
            raise ValueError(
                "`ridge` must be positive to weight new rows; got 0. Without a ridge, weights are "
                "defined only at the rows of fit. Fit with ridge=1.0, for example."
            )
        if self._map is not None:
            pull = self._map.combine(X, self._coefficients)
        else:
            source, target = self._domains
            n = len(self.weights_)
            pull = mean_embedding(X, target, self.kernel, self.gamma_) * (n / X.shape[0])
            for rows in row_blocks(X, n):
                pull[rows] -= kernel(X[rows], source, self.kernel, self.gamma_) @ self.weights_
        return np.clip((pull + self._multiplier) / self._diagonal, 0.0, self.bound_)

    def _width(self, X: Matrix, X_target: Matrix, rng: np.random.RandomState) -> float:
        if self.gamma is not None:
            return resolve_gamma(self.gamma, X, X_target, rng)
        factor = 1.0 if self.setting == "paper" else WIDTH
        return factor * resolve_gamma("median", X, X_target, rng)

    def _exact(self, X: Matrix, X_target: Matrix) -> Problem:
        K = kernel(X, X, self.kernel, self.gamma_)
        kappa = mean_embedding(X, X_target, self.kernel, self.gamma_)
        return self._problem(FullMatrix(K), kappa, float(np.mean(np.diagonal(K))), left_out=0.0)

    def _approximate(
        self, X: Matrix, X_target: Matrix, size: int, rng: np.random.RandomState
    ) -> tuple[Problem, LowRankFeatures]:
        features = fit_low_rank_features(X, X_target, self.kernel, self.gamma_, size, rng)
        single = X.shape[0] * features.n_features > DOUBLE_ENTRIES
        form = LowRank(features.transform(X, np.float32 if single else np.float64))
        # Compute κ from the same features as K, so that both means have the same approximation.
        self._target_mean = features.mean(X_target)
        kappa = form.times(X.shape[0] * self._target_mean)
        scale = mean_self_kernel(X, self.kernel, self.gamma_)
        left_out = max(scale - form.mean_diagonal(), 0.0)
        return self._problem(form, kappa, scale, left_out), features

    def _problem(
        self, form: QuadraticForm, kappa: Vector, scale: float, left_out: float
    ) -> Problem:
        """Build the problem, with parameters that are None taken from the setting."""
        n, paper = len(kappa), self.setting == "paper"
        eps = self.eps if self.eps is not None else ("huang" if paper else 0.0)
        return Problem(
            form=form,
            kappa=kappa,
            bound=float(self.bound),
            eps=huang_eps(n) if eps == "huang" else float(eps),
            ridge=float((0.0 if paper else RIDGE * scale) if self.ridge is None else self.ridge),
            left_out=left_out,
        )

    def _keep_extension(
        self, X: Matrix, X_target: Matrix, problem: Problem, solution: Solution
    ) -> None:
        """Store the values that ``predict_weights`` uses."""
        self._multiplier, self._diagonal = solution.slab_multiplier, problem.diagonal
        if isinstance(problem.form, LowRank):
            residual = problem.form.transposed_times(solution.beta)
            self._coefficients = X.shape[0] * self._target_mean - residual
        elif problem.ridge > 0:
            self._domains = X, X_target

    def _check_parameters(self) -> None:
        check_choice(self.kernel, "kernel", sorted(PAIRWISE_KERNEL_FUNCTIONS))
        check_choice(self.setting, "setting", ["evidence", "paper"])
        if not (is_number(self.bound) and 1 < self.bound < np.inf):
            raise ValueError(
                f"`bound` must be a finite number above 1, the mean weight; got {self.bound!r}."
            )
        if self.ridge is not None:
            check_not_negative(self.ridge, "ridge")
        if self.eps is None or (isinstance(self.eps, str) and self.eps == "huang"):
            return
        if not (is_number(self.eps) and 0 <= self.eps <= 1):
            raise ValueError(f"`eps` must be in [0, 1] or 'huang'; got {self.eps!r}.")


def resolve_components(n_components: Any, n: int) -> int | None:
    """The number of features, None for the exact kernel."""
    if isinstance(n_components, str) and n_components == "auto":
        if n <= EXACT_ROWS:
            return None
        return COMPONENTS if n <= MANY_ROWS else COMPONENTS_OF_MANY
    if n_components is None:
        return None
    if is_count(n_components):
        return int(n_components)
    raise ValueError(
        f"`n_components` must be 'auto', a positive integer or None; got {n_components!r}."
    )


def _solve(problem: Problem, name: str) -> Solution:
    try:
        solution = problem.solve()
    except np.linalg.LinAlgError as error:
        raise ValueError(
            f"`kernel` must be positive semi-definite on the rows of X; got {name!r}, whose "
            "matrix is not. Use 'rbf', 'laplacian' or 'cosine', or increase the ridge."
        ) from error
    if not solution.converged:
        warn_caller(
            f"Kernel mean matching stopped after {solution.n_iter} steps with a duality gap of "
            f"{solution.gap:.2g}. The weights satisfy the constraints but are not optimal. "
            "Increase the ridge.",
            NotConvergedWarning,
        )
    return solution
