"""Components of the variance of a cross-validation error over repeated runs.

Geras and Sutton, *Multiple-source cross-validation*, Eqs. (2), (6) and (7). One data set cannot
tell the three parts apart; several data sets drawn anew can.
"""

from dataclasses import dataclass

import numpy as np

from landbridge._typing import Vector, VectorLike
from landbridge.inference.sources import encode_groups


@dataclass(frozen=True, slots=True)
class VarianceDecomposition:
    """Variances and covariances of losses, and the parts of the total that they make up.

    ``from_sigma + from_omega + from_gamma`` equals ``total`` exactly.

    Parameters
    ----------
    names : ndarray of shape (n_sources,)
        Names of the sources.
    sigma2, omega : ndarray of shape (n_sources,)
        Variance σ_k² of a loss and covariance ω_k of two losses of one source.
    gamma : ndarray of shape (n_sources, n_sources)
        Covariances γ_kl between sources.
    from_sigma, from_omega, from_gamma : float
        Parts of the total.
    total : float
        Variance of μ̂ over the runs.
    """

    names: Vector
    sigma2: Vector
    omega: Vector
    gamma: np.ndarray
    from_sigma: float
    from_omega: float
    from_gamma: float
    total: float

    def __repr__(self) -> str:
        return (
            f"VarianceDecomposition(σ² {self.from_sigma:.3g} + ω {self.from_omega:.3g} + "
            f"γ {self.from_gamma:.3g} = {self.total:.3g}, {len(self.names)} sources)"
        )


def variance_decomposition(losses: VectorLike, groups: VectorLike) -> VarianceDecomposition:
    """Split the variance of the mean loss into the parts of Eq. (7).

    With m_k the mean loss of source k in a run and M_k its rows, over the runs

        σ_k² = mean_i V[e_ki],   γ_kl = Cov[m_k, m_l],   ω_k = (M_k V[m_k] − σ_k²) / (M_k − 1),
        V[μ̂] = Σ_k σ_k² / (K² M_k) + Σ_k (M_k − 1) ω_k / (K² M_k) + Σ_{k≠l} γ_kl / K².

    Every moment is unbiased (divisor R − 1).

    Parameters
    ----------
    losses : array of shape (n_runs, n_rows)
        Losses of each run; a run draws the rows of every source anew.
    groups : array of shape (n_rows,)
        The source of each column, the same in every run; for random cross-validation its block.

    Returns
    -------
    VarianceDecomposition
        The result with its diagnostics.

    Examples
    --------
    >>> import numpy as np
    >>> from benchmarks._variance_decomposition import variance_decomposition
    >>> rng = np.random.default_rng(0)
    >>> runs = rng.normal(size=(500, 1)) + rng.normal(size=(500, 40))
    >>> variance_decomposition(runs, np.repeat(["a", "b"], 20))
    VarianceDecomposition(σ² 0.0506 + ω 0.492 + γ 0.518 = 1.06, 2 sources)
    """
    losses = np.asarray(losses, dtype=np.float64)
    if losses.ndim != 2 or losses.shape[0] < 2 or not np.isfinite(losses).all():
        raise ValueError(
            "`losses` must hold finite losses of at least 2 runs, one run per row; got shape "
            f"{losses.shape}. Repeat the cross-validation on data drawn anew."
        )
    names, codes = encode_groups(groups, losses.shape[1])
    n_sources, n_rows = len(names), np.bincount(codes)
    if n_rows.min() < 2:
        raise ValueError(
            f"`groups` must give every source at least 2 rows; got one in "
            f"{names[n_rows.argmin()].item()!r}. Drop that source."
        )
    sigma2 = np.bincount(codes, losses.var(axis=0, ddof=1)) / n_rows
    means = np.stack([np.bincount(codes, run) for run in losses]) / n_rows
    gamma = np.atleast_2d(np.cov(means, rowvar=False))
    variance_of_means = gamma.diagonal().copy()
    omega = (n_rows * variance_of_means - sigma2) / (n_rows - 1)
    np.fill_diagonal(gamma, np.nan)
    return VarianceDecomposition(
        names=names,
        sigma2=sigma2,
        omega=omega,
        gamma=gamma,
        from_sigma=float((sigma2 / n_rows).sum() / n_sources**2),
        from_omega=float(((n_rows - 1) / n_rows * omega).sum() / n_sources**2),
        from_gamma=float(np.nansum(gamma) / n_sources**2),
        total=float(means.mean(axis=1).var(ddof=1)),
    )
