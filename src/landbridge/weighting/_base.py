"""Base class of the weighting methods: check, compute and diagnose."""

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Self

import numpy as np
from scipy import sparse
from sklearn.base import BaseEstimator
from sklearn.utils._tags import Tags

from landbridge._docstrings import Documented
from landbridge._tasks import one_thread
from landbridge._typing import Matrix, MatrixLike, Vector, VectorLike
from landbridge._validation import check_rows, check_two_domains, without_masks
from landbridge._warn import warn_caller
from landbridge.exceptions import WeightingWarning
from landbridge.metrics.metric import percent

# Weights with a smaller effective share of rows than this are reported as unstable.
SMALL_SHARE = 0.05


@without_masks
def effective_sample_size(weights: VectorLike) -> float:
    """Effective sample size (Σw)² / Σw² of weighted rows.

    It is n for equal weights and 1 if one row carries all the weight, and it does not depend on the
    scale of the weights. It is 0 if all weights are zero.

    Parameters
    ----------
    weights : array-like of shape (n_rows,)
        Non-negative weights.

    Returns
    -------
    float
        Between 1 and the number of rows.

    Examples
    --------
    >>> from landbridge import effective_sample_size
    >>> effective_sample_size([2.0, 2.0, 2.0, 0.0])
    3.0
    """
    weights = np.asarray(weights, dtype=np.float64)
    if weights.ndim != 1 or weights.size == 0:
        raise ValueError(
            f"`weights` must be a non-empty vector; got shape {weights.shape}. Pass one weight "
            "per row."
        )
    if not np.all((weights >= 0) & (weights < np.inf)):
        raise ValueError(
            "`weights` must be finite and non-negative; got "
            f"{weights[~((weights >= 0) & (weights < np.inf))][0]}."
        )
    largest = weights.max()
    if largest == 0:
        return 0.0
    shares = weights / largest  # avoids overflow and underflow of the squares
    return float(shares.sum() ** 2 / (shares @ shares))


@dataclass(frozen=True)
class WeightDiagnostics:
    """Diagnostics of estimated weights; ``print`` them for a summary in words.

    Parameters
    ----------
    n_rows : int
        Number of source rows.
    effective_sample_size : float
        (Σw)² / Σw².
    largest_share : float
        Share of the total weight carried by the heaviest row.
    n_at_bound : int
        Number of rows whose weight is at the method's upper bound (0 without a bound).
    mean_gap_before, mean_gap_after : ndarray of shape (n_features,)
        Source mean minus target mean in target standard deviations, unweighted and weighted.
    spread_ratio_before, spread_ratio_after : ndarray of shape (n_features,)
        Source standard deviation divided by that of the target, unweighted and weighted.
    feature_names : tuple of str or None
        Column names, if the rows had names.
    """

    n_rows: int
    effective_sample_size: float
    largest_share: float
    n_at_bound: int
    mean_gap_before: Vector
    mean_gap_after: Vector
    spread_ratio_before: Vector
    spread_ratio_after: Vector
    feature_names: tuple[str, ...] | None = None

    def __repr__(self) -> str:
        return (
            f"WeightDiagnostics(effective_sample_size={self.effective_sample_size:.4g} of "
            f"{self.n_rows}, largest_share={self.largest_share:.3g}, "
            f"n_at_bound={self.n_at_bound}, largest_mean_gap="
            f"{np.abs(self.mean_gap_before).max():.3g} → {np.abs(self.mean_gap_after).max():.3g})"
        )

    def __str__(self) -> str:
        worst = int(np.argmax(np.abs(self.mean_gap_after)))
        name = self.feature_names[worst] if self.feature_names else f"column {worst}"
        return (
            f"The {self.n_rows} weighted source rows are equivalent to "
            f"{self.effective_sample_size:.4g} unweighted rows. The heaviest row carries "
            f"{percent(self.largest_share, 1)} of the weight, and {self.n_at_bound} rows are at "
            f"the upper bound.\nThe largest difference of means went from "
            f"{np.abs(self.mean_gap_before).max():.3g} to {np.abs(self.mean_gap_after).max():.3g} "
            f"standard deviations ({name})."
        )


def diagnose_weights(
    X: Matrix,
    X_target: Matrix,
    weights: Vector,
    *,
    bound: float | None = None,
    feature_names: Vector | None = None,
) -> WeightDiagnostics:
    """Compare X under ``weights`` with X_target."""
    total = weights.sum()
    weights = weights / total if total > 0 else np.zeros(len(weights))
    target_mean, target_spread = _moments(X_target, None)
    unit = np.where(target_spread > 0, target_spread, 1.0)
    before, after = _moments(X, None), _moments(X, weights if total > 0 else None)
    at_bound = 0 if bound is None else int(np.sum(weights * total >= bound * (1 - 1e-6)))
    return WeightDiagnostics(
        n_rows=X.shape[0],
        effective_sample_size=effective_sample_size(weights),
        largest_share=float(weights.max()),
        n_at_bound=at_bound,
        mean_gap_before=(before[0] - target_mean) / unit,
        mean_gap_after=(after[0] - target_mean) / unit,
        spread_ratio_before=before[1] / unit,
        spread_ratio_after=after[1] / unit,
        feature_names=None if feature_names is None else tuple(feature_names),
    )


def _moments(X: Matrix, shares: Vector | None) -> tuple[Vector, Vector]:
    """Weighted mean and standard deviation of each column, in double precision."""
    if shares is None:
        shares = np.full(X.shape[0], 1.0 / X.shape[0])
    mean = np.asarray(shares @ X).ravel()
    if sparse.issparse(X):
        square = np.asarray(shares @ X.multiply(X).tocsr()).ravel() - mean**2
    else:
        square = np.array([shares @ (X[:, j] - mean[j]) ** 2 for j in range(X.shape[1])])
    return mean, np.sqrt(np.maximum(square, 0.0))


class Weighting(Documented, BaseEstimator, ABC):
    """Base of the weighting methods: ``fit(X, X_target)`` sets ``weights_`` and its diagnostics.

    Subclasses compute the weights in ``_weights``, where they check their parameters, and those of
    other rows in ``_new_weights``. A method that bounds its weights sets ``bound_``.

    Attributes
    ----------
    weights_ : one weight per source row.
    effective_sample_size_ : (Σw)² / Σw².
    diagnostics_ : `WeightDiagnostics`
    """

    def fit(self, X: MatrixLike, X_target: MatrixLike) -> Self:
        """Estimate weights of the rows of X so that they resemble X_target.

        Parameters
        ----------
        X_target : array-like of shape (n_target, n_features)
            Rows of the target, both labelled and unlabelled.
        """
        X, X_target = check_two_domains(self, X, X_target)
        # Rounding in threaded linear algebra depends on the number of threads, and the solvers
        # here amplify it to differences of 1e-11 between machines.
        with one_thread():
            self.weights_ = self._weights(X, X_target)
            self.diagnostics_ = diagnose_weights(
                X,
                X_target,
                self.weights_,
                bound=getattr(self, "bound_", None),
                feature_names=getattr(self, "feature_names_in_", None),
            )
        self.effective_sample_size_ = self.diagnostics_.effective_sample_size
        _warn_if_unstable(self, self.diagnostics_)
        return self

    def predict_weights(self, X: MatrixLike) -> Vector:
        """Estimate the weights of rows that were not in ``fit``.

        Returns
        -------
        ndarray of shape (n_rows,)
            Weights of the rows.
        """
        return self._new_weights(check_rows(self, X, "weights_"))

    @abstractmethod
    def _new_weights(self, X: Matrix) -> Vector:
        """Weights of rows that were not in ``fit``."""

    @abstractmethod
    def _weights(self, X: Matrix, X_target: Matrix) -> Vector:
        """The weight of each row of X."""

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags


def _warn_if_unstable(weighting: Weighting, diagnostics: WeightDiagnostics) -> None:
    size, n = diagnostics.effective_sample_size, diagnostics.n_rows
    if size >= SMALL_SHARE * n:
        return
    warn_caller(
        f"The weights of {type(weighting).__name__} have an effective sample size of {size:.1f} "
        f"of {n} source rows ({percent(size / n, 1)}), and the heaviest row carries "
        f"{percent(diagnostics.largest_share)} of the weight, so models fitted with them are "
        "unstable. If the domains barely overlap, compare with UniformWeights or label target "
        "rows. If the weights overfit the target sample, smooth them, for example with a larger "
        "ridge.",
        WeightingWarning,
    )
