"""Which biases an estimator of the variance of random cross-validation can have.

Proposition 1 of Geras and Sutton, *Multiple-source cross-validation*. With K blocks of M losses and
the moments s1, s2, s3 (the mean square, the mean product of two losses of one block, and of two
blocks), every quadratic estimator is θ̂ = a·s1 + b·s2 + c·s3, and its bias is

    E[θ̂ − θ] = (a − 1/KM) σ² + (b − (M−1)/KM) ω + (c − (K−1)/K) γ + (a + b + c) μ².

The four coefficients α1 … α4 always satisfy α1 + α2 + α3 − α4 = −1, and any four numbers that do
belong to one estimator.
"""

from dataclasses import dataclass

import numpy as np

from landbridge._validation import check_count


@dataclass(frozen=True, slots=True)
class QuadraticEstimator:
    """Quadratic estimator θ̂ = a·s1 + b·s2 + c·s3 for K blocks of M losses.

    Parameters
    ----------
    a, b, c : float
        Coefficients of the moments.
    n_blocks : int
        K, at least 2.
    n_rows : int
        M, the losses per block, at least 2.

    Examples
    --------
    θ3 of Grandvalet and Bengio for 5 blocks of 10 losses has the bias −γ:

    >>> from benchmarks._quadratic import QuadraticEstimator
    >>> QuadraticEstimator(1 / 50, 9 / 50, -10 / 50, n_blocks=5, n_rows=10).bias
    (0.0, 0.0, -1.0, 0.0)
    """

    a: float
    b: float
    c: float
    n_blocks: int
    n_rows: int

    def __post_init__(self) -> None:
        check_count(self.n_blocks, "n_blocks", least=2)
        check_count(self.n_rows, "n_rows", least=2)

    @property
    def bias(self) -> tuple[float, float, float, float]:
        """(α1, α2, α3, α4): the bias is α1·σ² + α2·ω + α3·γ + α4·μ²."""
        n = self.n_blocks * self.n_rows
        alphas = (
            self.a - 1 / n,
            self.b - (self.n_rows - 1) / n,
            self.c - (self.n_blocks - 1) / self.n_blocks,
            self.a + self.b + self.c,
        )
        return tuple(round(float(alpha), 15) + 0.0 for alpha in alphas)  # type: ignore[return-value]

    def estimate(self, losses: np.ndarray) -> float:
        """The estimate from losses of shape (n_blocks, n_rows).

        Parameters
        ----------
        losses : array-like
            Losses, one per row.

        Returns
        -------
        float
            The estimate.
        """
        losses = np.asarray(losses, dtype=np.float64)
        if losses.shape != (self.n_blocks, self.n_rows):
            raise ValueError(
                f"`losses` must have the shape ({self.n_blocks}, {self.n_rows}) of the estimator; "
                f"got {losses.shape}. Put one block in each row."
            )
        sums, squares = losses.sum(axis=1), (losses**2).sum(axis=1)
        s1 = squares.mean() / self.n_rows
        s2 = (sums**2 - squares).mean() / (self.n_rows * (self.n_rows - 1))
        means = sums / self.n_rows
        s3 = (means.sum() ** 2 - (means**2).sum()) / (self.n_blocks * (self.n_blocks - 1))
        return float(self.a * s1 + self.b * s2 + self.c * s3)


def estimator_with_bias(
    sigma: float, omega: float, gamma: float, mu: float, *, n_blocks: int, n_rows: int
) -> QuadraticEstimator:
    """The quadratic estimator with a given bias (the converse of Proposition 1).

    Parameters
    ----------
    sigma, omega, gamma, mu : float
        α1 … α4, the coefficients of σ², ω, γ and μ² in the bias; α1 + α2 + α3 − α4 must be −1.
    n_blocks, n_rows : int
        K and M.

    Returns
    -------
    QuadraticEstimator
        The result with its diagnostics.

    Examples
    --------
    The paper's θ5 is the estimator with the bias ω − 2γ:

    >>> from benchmarks._quadratic import estimator_with_bias
    >>> theta_5 = estimator_with_bias(0, 1, -2, 0, n_blocks=5, n_rows=10)
    >>> print([round(50 * value) for value in (theta_5.a, theta_5.b, theta_5.c)])
    [1, 59, -60]
    """
    check_count(n_blocks, "n_blocks", least=2)
    check_count(n_rows, "n_rows", least=2)
    total = sigma + omega + gamma - mu
    if not abs(total + 1) <= 1e-9:
        raise ValueError(
            "`sigma` + `omega` + `gamma` − `mu` must be −1 (Proposition 1): no quadratic estimator "
            f"has another bias; got {total:g}. Change one of the four."
        )
    n = n_blocks * n_rows
    return QuadraticEstimator(
        a=sigma + 1 / n,
        b=omega + (n_rows - 1) / n,
        c=gamma + (n_blocks - 1) / n_blocks,
        n_blocks=n_blocks,
        n_rows=n_rows,
    )
