r"""A linear model of how far the consensus is wrong, for choosing among classifiers.

Let :math:`v_{ik}` tell which candidates predict class k at row i, minus its mean 1/K over the
classes. The probability that the consensus gives to class k is wrong by :math:`v_{ik}^\top θ` plus
noise of variance s², with independent normal priors of θ. Labelled rows give a posterior of θ, and
with it one of the number of errors of every candidate on the other rows of the pool. The choice of
the labelled rows does not bias it, so rows may be selected freely.

Two rows are of the same kind if the same candidates agree on them; the model does not distinguish
such rows. A batch takes, one by one, the kind of row that reduces the expected regret most, and a
share of rows that are drawn uniformly.
"""

from dataclasses import dataclass

import numpy as np

from landbridge._typing import Vector
from landbridge.labelling.design import Scores
from landbridge.labelling.estimates import Relative

# Precision of the prior in rows (s² divided by the prior variance of θ), and s². Chosen on the
# development tasks of the benchmark.
PRIOR_ROWS, VARIANCE = 30.0, 0.4
# True differences are spread more widely than the model says, by this factor.
TOO_SURE = 1.2
# Kinds of rows that a batch is selected from, the most common first; bounds time and memory.
MOST_KINDS = 4096
TINY = 1e-12


def kinds_of_rows(labels: np.ndarray) -> Vector:
    """Number the rows by kind: rows on which the same candidates agree have the same number.

    Parameters
    ----------
    labels : ndarray of int (candidates, rows)
        Predicted classes.

    Returns
    -------
    ndarray of int (rows,)
    """
    count, n_rows = labels.shape
    codes, n_codes = np.zeros(n_rows, dtype=np.int64), 1
    for cell in range(1, count):
        # The first candidate with the same prediction.
        first = np.full(n_rows, cell, dtype=np.int64)
        for earlier in range(cell - 1, -1, -1):
            first[labels[earlier] == labels[cell]] = earlier
        if n_codes > 2**62 // count:
            codes = np.unique(codes, return_inverse=True)[1].astype(np.int64)
            n_codes = n_rows
        codes, n_codes = codes * count + first, n_codes * count
    return np.unique(codes, return_inverse=True)[1]


def agreement(labels: np.ndarray, n_classes: int) -> np.ndarray:
    """Sum over rows of :math:`\\sum_k v_{ik} v_{ik}^\\top`, candidates × candidates."""
    together = [[np.count_nonzero(one == other) for other in labels] for one in labels]
    return np.array(together) - labels.shape[1] / n_classes


@dataclass(frozen=True, eq=False)
class Votes:
    """Posterior of the errors of classifiers.

    Attributes
    ----------
    mean : ndarray (candidates,)
        Share of errors in the pool.
    precision : ndarray (candidates, candidates)
        Precision of θ, times s².
    pool : ndarray (candidates, candidates)
        Agreement per row of the pool, for the unlabelled rows.
    row_noise : ndarray (candidates, candidates)
        Variance of the difference of two candidates due to the unlabelled rows.
    n_classes : int
        Number of classes.
    """

    mean: Vector
    precision: np.ndarray
    pool: np.ndarray
    row_noise: np.ndarray
    n_classes: int

    @classmethod
    def of(
        cls,
        labels: np.ndarray,
        known: np.ndarray,
        surprise: np.ndarray,
        means: Vector,
        n_classes: int,
    ) -> "Votes":
        """Update the prior with labelled rows.

        Parameters
        ----------
        labels : ndarray of int (candidates, rows)
            Predicted classes for the pool.
        known : ndarray of int (candidates, labelled rows)
            Those for the labelled rows, made before their labels were known.
        surprise : ndarray (candidates, labelled rows)
            Losses minus those that the consensus expected.
        means : ndarray (candidates,)
            Mean expected losses of the pool.
        n_classes : int
        """
        n_rows, seen = labels.shape[1], agreement(known, n_classes)
        precision = PRIOR_ROWS * np.eye(len(labels)) + seen
        pool = (agreement(labels, n_classes) - seen) / n_rows
        total = surprise.sum(axis=1)
        theta = -np.linalg.solve(precision, total)
        mean = means + total / n_rows - pool @ theta
        # Losses of two candidates differ by at most 1, and only where their predictions do.
        return cls(mean, precision, pool, _pairs(pool) / (2 * n_rows), n_classes)

    @property
    def leader(self) -> int:
        """The candidate with the fewest expected errors."""
        return int(np.argmin(self.mean))

    def _spread(self) -> Vector:
        """Standard deviations of differences from the leader, as far as labels reduce them."""
        covariance = VARIANCE * self.pool @ np.linalg.solve(self.precision, self.pool)
        return np.sqrt(np.maximum(_pairs(covariance)[self.leader], TINY))

    def relative(self) -> Relative:
        """Differences from the leader."""
        lead, spread = self.mean - self.mean[self.leader], self._spread()
        error = TOO_SURE * np.sqrt(spread**2 + self.row_noise[self.leader])
        weights = np.exp(-0.5 * (lead / spread) ** 2)
        return Relative(self.mean, lead, error, weights / weights.sum())

    def rows_per_kind(self, matrices: np.ndarray, counts: Vector, n: int, n_random: int) -> Vector:
        """Number of rows of each kind that reduce the expected regret most, chosen one by one.

        Parameters
        ----------
        matrices : ndarray (kinds, candidates, candidates)
            Agreement of one row of each kind.
        counts : ndarray of int (kinds,)
            Rows without label.
        n : int
            Rows to choose.
        n_random : int
            Rows that will be drawn uniformly.

        Returns
        -------
        ndarray of int (kinds,)
        """
        lead, spread = self.mean - self.mean[self.leader], self._spread()
        # The derivative of the expected regret of the leader by the variance of a difference.
        urgent = np.exp(-0.5 * (lead / spread) ** 2) / np.maximum(spread, 1e-3)
        urgent[self.leader] = 0.0
        wanted = np.diag(urgent)
        wanted[self.leader] -= urgent
        wanted[:, self.leader] -= urgent
        wanted[self.leader, self.leader] = urgent.sum()
        target = self.pool @ wanted @ self.pool
        flat = matrices.reshape(len(matrices), -1)
        precision, chosen = self.precision + n_random * self.pool, np.zeros(len(counts), dtype=int)
        for _ in range(min(n, int(counts.sum()))):
            variance = np.linalg.inv(precision)
            gain = (flat @ (variance @ target @ variance).ravel()) / (1 + flat @ variance.ravel())
            kind = int(np.argmax(np.where(chosen < counts, gain, -np.inf)))
            if gain[kind] <= TINY:
                break
            chosen[kind] += 1
            precision = precision + matrices[kind]
        return chosen


def _pairs(matrix: np.ndarray) -> np.ndarray:
    """Variances of the differences of all pairs, from a covariance matrix."""
    own = np.diag(matrix)
    return own[:, None] + own[None, :] - 2 * matrix


def vote_scores(
    votes: Votes,
    labels: np.ndarray,
    left: Vector,
    n: int,
    share: float,
    rng: np.random.Generator,
) -> Scores:
    """Inclusion probabilities of a batch: chosen rows per kind, and a share of uniform rows.

    Parameters
    ----------
    votes : Votes
    labels : ndarray of int (candidates, rows)
        Predicted classes for the pool.
    left : ndarray of bool (rows,)
        Rows without label.
    n : int
        Size of the batch.
    share : float
        Share of uniform rows.
    rng : Generator

    Returns
    -------
    Scores
        Probabilities that sum to n, or to the number of remaining rows, and an order by kind.
    """
    count, kinds = int(left.sum()), kinds_of_rows(labels)
    order = rng.permutation(kinds.size)
    order = order[np.argsort(kinds[order], kind="stable")]
    if count <= n:
        found = left.astype(np.float64)
        return Scores(found, order, probabilities=found)
    available = np.bincount(kinds[left], minlength=int(kinds.max()) + 1)
    common = np.argsort(-available, kind="stable")[:MOST_KINDS]
    common = common[available[common] > 0]
    # One row of each kind.
    examples = np.empty(available.size, dtype=int)
    examples[kinds] = np.arange(kinds.size)
    said = labels[:, examples[common]].T
    matrices = (said[:, :, None] == said[:, None, :]) - 1 / votes.n_classes
    n_random, chosen = round(share * n), np.zeros(available.size)
    chosen[common] = votes.rows_per_kind(matrices, available[common], n - n_random, n_random)
    certain = (chosen / np.maximum(available, 1))[kinds]
    uniform = (n - chosen.sum()) / (count - chosen.sum())
    found = np.where(left, certain + (1 - certain) * uniform, 0.0)
    return Scores(found, order, probabilities=found)
