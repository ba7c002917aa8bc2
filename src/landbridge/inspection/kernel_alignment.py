"""Displays of kernel alignment: a projected eigenfunction, and kernels before and after."""

from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from sklearn.decomposition import PCA

from landbridge._kernel import KernelSpec, Width, kernel_matrix, resolve_width
from landbridge._low_rank import positive_eigenpairs
from landbridge._palette import ACCENT, INK, STRONG
from landbridge._typing import Matrix, MatrixLike, Vector, VectorLike
from landbridge._validation import check_two_domains, stack_rows
from landbridge.inspection._display import Display, open_frame
from landbridge.kernels.surrogate import align_exactly
from landbridge.kernels.surrogate_map import SurrogateKernelMap
from landbridge.metrics.metric import percent

N_CURVE = 300
MAX_ROWS = 300


@dataclass
class EigenfunctionDisplay(Display):
    """Plot an eigenvector of the target kernel, its eigenfunction and its source values.

    The eigenvector φ of K_X with eigenvalue λ extends to every point, φ(x) = k(x, X)φ/λ (Eq. 4 of
    Zhang et al.); its values on the source define the surrogate kernel. The functions are drawn
    along one coordinate.

    Parameters
    ----------
    target, eigenvector : arrays of shape (n_target,)
        Coordinates of the target rows and the eigenvector there.
    curve, values : arrays
        A grid of coordinates and the eigenfunction on it.
    source, projected : arrays of shape (n_source,)
        Coordinates of the source rows and the eigenfunction there.
    eigenvalue : float
        Eigenvalue of the eigenvector.
    coordinate : str, default="coordinate"
        Name of the coordinate.

    Examples
    --------
    >>> from landbridge.datasets import load_auto_mpg
    >>> from landbridge.inspection import EigenfunctionDisplay
    >>> cars = load_auto_mpg(as_frame=True)
    >>> usa, japan = cars.data[cars.domain == "USA"], cars.data[cars.domain == "Japan"]
    >>> display = EigenfunctionDisplay.from_data(usa, japan, column="weight")
    >>> display.ax_[0].get_title()
    'Eigenvector on the target'
    """

    target: Vector
    eigenvector: Vector
    curve: Vector
    values: Vector
    source: Vector
    projected: Vector
    eigenvalue: float
    coordinate: str = "coordinate"

    @classmethod
    def from_data(
        cls,
        X: MatrixLike,
        X_target: MatrixLike,
        *,
        column: int | str | None = None,
        order: int = 1,
        kernel: KernelSpec = "rbf",
        width: Width = "scale",
        ax: Any = None,
    ) -> Self:
        """Compute from source and target rows and draw.

        By default, the horizontal axis is the leading principal axis of both domains.

        Parameters
        ----------
        column : int or str, optional
            Position or name of the feature on the horizontal axis.
        order : int, default=1
            Number of the eigenfunction; 0 has the largest eigenvalue.
        """
        Z, target, coordinate = _one_coordinate(X, X_target, column)
        width = resolve_width(width, np.vstack([Z, target]))
        values, vectors = positive_eigenpairs(kernel_matrix(target, target, kernel, width))
        if not 0 <= order < values.size:
            raise ValueError(
                f"`order` must be between 0 and {values.size - 1}, the rank of the target "
                f"kernel minus one; got {order}."
            )
        eigenvector, eigenvalue = vectors[:, -1 - order], values[-1 - order]
        eigenvector = eigenvector * np.sign(eigenvector[np.abs(eigenvector).argmax()])
        both = np.vstack([Z, target])
        grid = np.linspace(both.min(), both.max(), N_CURVE)[:, None]

        def eigenfunction(points: np.ndarray) -> Vector:  # Eq. (4)
            return kernel_matrix(points, target, kernel, width) @ eigenvector / eigenvalue

        return cls(
            target[:, 0],
            eigenvector,
            grid[:, 0],
            eigenfunction(grid),
            Z[:, 0],
            eigenfunction(Z),
            float(eigenvalue),
            coordinate,
        ).plot(ax)

    def _figure(self) -> dict[str, Any]:
        return {"ncols": 3, "sharey": True, "figsize": (9.6, 3.0)}

    def _draw(self, ax: Any) -> None:
        first, second, third = ax
        first.plot(self.target, self.eigenvector, ".", color=STRONG, alpha=0.6)
        first.set_title("Eigenvector on the target")
        first.set_ylabel(f"φ(x), eigenvalue {self.eigenvalue:.3g}")
        second.plot(self.target, self.eigenvector, ".", color=STRONG, alpha=0.25)
        second.set_title("Its eigenfunction")
        third.plot(self.source, self.projected, ".", color=ACCENT, alpha=0.6)
        third.set_title("Its values on the source")
        for panel in (second, third):
            panel.plot(self.curve, self.values, color=INK, linewidth=1)
        for panel in ax:
            panel.set_xlabel(self.coordinate)
            panel.set_xlim(self.curve.min(), self.curve.max())
            open_frame(panel)


@dataclass
class KernelAlignmentDisplay(Display):
    """Kernel matrices of the source before and after alignment, and of the target.

    Each matrix is divided by its mean diagonal. Rows are sorted by label and then along the leading
    principal axis, so that classes appear as blocks.

    Parameters
    ----------
    before, after, target : square arrays
        K_Z, T'K_Z T and K_X.
    trace_share : float
        Share of the trace of K_Z in the span of the target.
    n_clipped : int
        Number of negative eigenvalues that were removed.

    Examples
    --------
    >>> from landbridge.datasets import load_auto_mpg
    >>> from landbridge.inspection import KernelAlignmentDisplay
    >>> cars = load_auto_mpg()
    >>> usa, japan = cars.data[cars.domain == "USA"], cars.data[cars.domain == "Japan"]
    >>> display = KernelAlignmentDisplay.from_data(usa, japan, ridge=1.0)
    >>> display.ax_[0].get_title()
    'Source, before'
    """

    before: np.ndarray
    after: np.ndarray
    target: np.ndarray
    trace_share: float
    n_clipped: int

    @classmethod
    def from_data(
        cls,
        X: MatrixLike,
        X_target: MatrixLike,
        *,
        y: VectorLike = None,
        y_target: VectorLike = None,
        kernel: KernelSpec = "rbf",
        width: Width = "scale",
        gamma: float = 0.0,
        ridge: float = 1.0,
        random_state: int = 0,
        ax: Any = None,
    ) -> Self:
        """Align and plot; at most 300 rows per domain are sampled.

        Parameters
        ----------
        gamma : float, default=0.0
            Weight of the penalty.
        ridge : float, default=1.0
            Added to the diagonal.
        """
        Z, target = check_two_domains(SurrogateKernelMap(), X, X_target)
        width = resolve_width(width, stack_rows([Z, target]))
        rng = np.random.default_rng(random_state)
        Z, target = _ordered(Z, y, rng), _ordered(target, y_target, rng)
        K_z, K_zx, K_x = (
            kernel_matrix(A, B, kernel, width) for A, B in ((Z, Z), (Z, target), (target, target))
        )
        alignment = align_exactly(K_z, K_zx, K_x, gamma=gamma, ridge=ridge)
        after = alignment.transform.T @ K_z @ alignment.transform
        before, after, of_target = (K / np.trace(K) * K.shape[0] for K in (K_z, after, K_x))
        share, n_clipped = alignment.trace_share, alignment.n_clipped
        return cls(before, after, of_target, share, n_clipped).plot(ax)

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        X: MatrixLike,
        X_target: MatrixLike,
        *,
        y: VectorLike = None,
        y_target: VectorLike = None,
        ax: Any = None,
    ) -> Self:
        """Align and plot with the parameters of a surrogate-kernel estimator.

        Parameters
        ----------
        estimator : estimator
            An estimator of `landbridge.kernels` with a surrogate kernel.
        """
        names = ("kernel", "gamma", "ridge")
        return cls.from_data(
            X,
            X_target,
            y=y,
            y_target=y_target,
            width=getattr(estimator, "width_", estimator.width),
            ax=ax,
            **{name: getattr(estimator, name) for name in names},
        )

    def _figure(self) -> dict[str, Any]:
        return {"ncols": 3, "figsize": (9.6, 3.5)}

    def _draw(self, ax: Any) -> None:
        kernels = (self.before, self.after, self.target)
        off_diagonal = [K[~np.eye(len(K), dtype=bool)] for K in kernels]
        values = np.concatenate([*off_diagonal, [0.0]])
        limits = {"vmin": min(0.0, values.min()), "vmax": np.quantile(values, 0.995)}
        titles = ("Source, before", "Source, after", "Target")
        for panel, K, title in zip(ax, kernels, titles, strict=True):
            image = panel.imshow(K, cmap="viridis", interpolation="nearest", **limits)
            panel.set_title(title)
            panel.set_xticks([])
            panel.set_yticks([])
        ax[1].set_xlabel(
            f"{percent(self.trace_share)} of the trace kept, {self.n_clipped} eigenvalues clipped"
        )
        ax[0].figure.colorbar(image, ax=list(ax), shrink=0.75, label="k(x, x')")


def _one_coordinate(
    X: MatrixLike, X_target: MatrixLike, column: int | str | None
) -> tuple[np.ndarray, np.ndarray, str]:
    """Both domains as one column each, and its name."""
    checked = SurrogateKernelMap()
    Z, target = check_two_domains(checked, X, X_target, accept_sparse=False)
    if column is None:
        axis = PCA(1).fit(np.vstack([Z, target]))
        return axis.transform(Z), axis.transform(target), "leading principal axis"
    if isinstance(column, str):
        names = list(getattr(checked, "feature_names_in_", []))
        if column not in names:
            raise ValueError(f"`column` must be one of the columns {names}; got {column!r}.")
        position = names.index(column)
    else:
        position = column
    name = column if isinstance(column, str) else f"column {column}"
    return Z[:, [position]], target[:, [position]], name


def _ordered(X: Matrix, y: VectorLike, rng: np.random.Generator) -> Matrix:
    """At most 300 rows, sorted by label and then along the leading principal axis."""
    labels = np.zeros(X.shape[0]) if y is None else np.unique(np.asarray(y), return_inverse=True)[1]
    chosen = rng.permutation(X.shape[0])[:MAX_ROWS]
    X, labels = X[chosen], labels[chosen]
    if min(X.shape) < 2:
        return X[np.argsort(labels, kind="stable")]
    leading = PCA(1, svd_solver="arpack", random_state=0).fit_transform(X)[:, 0]
    return X[np.lexsort([leading, labels])]
