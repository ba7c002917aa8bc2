"""Surrogate kernel as a transformer before any linear learner, exact or low-rank.

The mathematics is in `landbridge.kernels.surrogate`.
"""

from typing import Any

import numpy as np

from landbridge._domain_map import DomainMap
from landbridge._kernel import KernelSpec, Width, check_kernel, gamma_of, resolve_width
from landbridge._low_rank import fit_low_rank_features, resolve_rank
from landbridge._typing import Matrix, RandomState
from landbridge._validation import TransferData, check_not_negative
from landbridge._warn import warn_caller
from landbridge.exceptions import NothingToAlignWarning
from landbridge.kernels.surrogate import Alignment, align_features

# If the alignment loses less than this share of the trace, it has no practical effect.
NEGLIGIBLE_LOSS = 1e-6


def warn_if_nothing_to_align(alignment: Alignment) -> None:
    """Warn if the target spans the source, so that the alignment is the identity."""
    if alignment.n_clipped == 0 and alignment.trace_share > 1 - NEGLIGIBLE_LOSS:
        warn_caller(
            "The target spans the source in feature space, so the alignment is the identity. "
            "Raise `ridge`, which shrinks the directions in which the target varies little.",
            NothingToAlignWarning,
        )


class SurrogateKernelMap(DomainMap):
    """Feature map that aligns the source with the surrogate of the target kernel.

    Rows are mapped to features φ with φ(x)'φ(x') = k(x, x') (approximately, with ``n_components``).
    Source rows are then moved by the transformation T of Eq. (9); target rows are not moved. A
    linear learner on the result equals the kernel machine on the composite kernel, Eq. (10).

    ``transform`` maps target rows, as a Pipeline requires in ``predict``. ``fit_transform`` returns
    the moved source rows for training the next step; see also ``transform_source``.

    Parameters
    ----------
    gamma : float, default=0.0
        γ of Eq. (8), relative to the squared mean diagonal of the source kernel.
    ridge : float, default=1.0
        λ relative to the mean diagonal of the target kernel. The alignment is due to this ridge: 0
        gives the paper's pseudo-inverse, which has no effect once the target spans the source.
    n_components : int, "auto" or None, default="auto"
        Number of features: Nyström landmarks, or explicit features for the linear kernel. None
        uses every row as a landmark, which is exact and cubic in the number of rows.
    random_state : int, RandomState or None, default=None
        Seed for drawing the landmarks.

    Attributes
    ----------
    trace_share_ : float
        Share of the source kernel's trace that the target can express, in [0, 1].
    n_clipped_ : int
        Number of negative eigenvalues that were removed.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.linear_model import LogisticRegression
    >>> from landbridge import SurrogateKernelMap
    >>> rng = np.random.default_rng(0)
    >>> X, X_target = rng.normal(size=(100, 3)), rng.normal(0.5, size=(80, 3))
    >>> y = X[:, 0] > 0
    >>> surrogate = SurrogateKernelMap(random_state=0)
    >>> moved = surrogate.fit_transform(X, X_unlabeled=X_target)
    >>> model = LogisticRegression().fit(moved, y)
    >>> model.predict(surrogate.transform(X_target)).shape
    (80,)
    >>> surrogate.transform_source(X).shape == moved.shape
    True
    """

    _transfer_checks = {"plain_counterpart": "the features of its kernel"}

    def __init__(
        self,
        kernel: KernelSpec = "rbf",
        width: Width = "scale",
        gamma: float = 0.0,
        ridge: float = 1.0,
        n_components: int | str | None = "auto",
        random_state: RandomState = None,
    ):
        self.kernel = kernel
        self.width = width
        self.gamma = gamma
        self.ridge = ridge
        self.n_components = n_components
        self.random_state = random_state

    def _check_parameters(self) -> None:
        check_surrogate_parameters(self)

    def _fit_transfer(self, data: TransferData) -> None:
        """Fit features on all rows and T on source and target; labels are not used."""
        source, target, rows = data.X, data.target_rows, data.all_rows
        wanted = rows.shape[0] if self.n_components is None else self.n_components
        rank = resolve_rank(wanted, rows.shape[0])
        self.width_ = resolve_width(self.width, rows)
        gamma = gamma_of(self.kernel, self.width_)
        self.features_ = fit_low_rank_features(
            source, target, self.kernel, gamma, rank, self.random_state
        )
        self._n_features_out = self.features_.n_features
        self._align(source, target)

    def _align(self, source: Matrix, target: Matrix | None) -> None:
        self.transform_, self.trace_share_, self.n_clipped_, self.scale_ = None, 1.0, 0, 1.0
        if target is None:
            return
        alignment = align_features(
            self.features_.moments(source)[0],
            self.features_.moments(target)[0],
            source.shape[0],
            target.shape[0],
            gamma=self.gamma,
            ridge=self.ridge,
        )
        warn_if_nothing_to_align(alignment)
        self.transform_ = alignment.transform
        self.trace_share_, self.n_clipped_ = alignment.trace_share, alignment.n_clipped
        self.scale_ = alignment.scale

    def _map_target(self, X: Matrix) -> np.ndarray:
        """Features of *target* rows."""
        features = self.features_.transform(X)
        features *= np.sqrt(self.scale_)
        return features

    def _map_source(self, X: Matrix) -> np.ndarray:
        """Features of *source* rows, moved by T."""
        features = self._map_target(X)
        return features if self.transform_ is None else features @ self.transform_


def check_surrogate_parameters(estimator: Any) -> None:
    """Raise if a parameter of the surrogate kernel is invalid."""
    check_kernel(estimator.kernel, estimator.width)
    check_not_negative(estimator.gamma, "gamma")
    check_not_negative(estimator.ridge, "ridge")
