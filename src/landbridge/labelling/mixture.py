r"""A linear mixture of classifiers, for choosing among them.

The probability of class k at row i is modelled as :math:`\sum_c w_c\, p_{ikc}`, where
:math:`p_{ikc}` is the mean of the probability given by candidate c and of its vote, which is 1 for
the predicted class. Votes limit the influence of rows with extreme probabilities, which are often
too sure in a new domain. The weights have a normal prior around 1/C, and their sum is nearly fixed
to 1. A least-squares fit to labelled rows gives a posterior of the
weights, and with it one of the number of errors of every candidate on the other rows of the pool.
The choice of the labelled rows does not bias it, so rows may be selected freely.

A batch reduces the variance of the differences between pairs of candidates that may be the two
best. The inclusion probabilities approach the optimal design by multiplicative steps (Silvey,
Titterington and Torsney, 1978): the probability of a row grows with the root of the variance that
its label would remove.
"""

from dataclasses import dataclass

import numpy as np

from landbridge._typing import Vector
from landbridge.labelling.design import Scores, inclusion_probabilities
from landbridge.labelling.estimates import Relative
from landbridge.labelling.pool import Pool

# Precision of the prior of the weights in rows, the variance of a label around the mixture, and the
# prior variance of the sum of the weights relative to independent weights. Chosen on the
# development tasks of the benchmark, like the constants below.
PRIOR_ROWS, VARIANCE, SUM_VARIANCE = 15.0, 0.4, 0.1
# Default share of uniform rows in a batch. The mixture needs few of them, because selection does
# not bias it; they serve the interval of the leader.
RANDOM_SHARE = 0.1
# True differences are spread more widely than the model says, by this factor.
TOO_SURE = 1.2
# A pair of best candidates matters less, the larger the difference between the two.
GAP = 0.02
N_SIMULATIONS, N_STEPS = 1000, 20
# A batch is drawn from a random sample of so many rows, and sums are taken over parts of this size;
# bounds time and memory.
MOST_ROWS = 20_000
TINY = 1e-12


@dataclass(frozen=True, eq=False)
class Mixture:
    """Posterior of the errors of classifiers.

    Attributes
    ----------
    mean : ndarray (candidates,)
        Share of errors in the pool.
    precision : ndarray (candidates, candidates)
        Precision of the weights, times the variance of a label.
    pool : ndarray (candidates, candidates)
        Mean of the second candidate's probability and vote, minus 1/K, for the class predicted by
        the first; labelled rows count as 0.
    row_noise : ndarray (candidates,)
        Variance of the difference from the leader due to the unlabelled rows.
    """

    mean: Vector
    precision: np.ndarray
    pool: np.ndarray
    row_noise: Vector

    @classmethod
    def of(cls, pool: Pool, known: Pool | None = None, y: Vector | None = None) -> "Mixture":
        """Update the prior with labelled rows.

        Parameters
        ----------
        pool : Pool
            Predictions for all rows.
        known : Pool, optional
            Predictions for the labelled rows, made before their labels were known.
        y : ndarray of int (labelled rows,), optional
            Their classes.
        """
        count, n_rows, n_classes = pool.values.shape
        right, at_label, n_known = np.zeros(count), _at_predicted(pool), 0
        precision, total = _prior_precision(count), np.zeros(count)
        equal = np.full(count, 1 / count)
        if known is not None:
            n_known = known.n_rows
            right = (known.labels == y).sum(axis=1)
            at_label = at_label - _at_predicted(known)
            centred = _centred(known.values, known.labels)
            products = _products(centred).sum(axis=0).reshape(count, count)
            total = centred[:, np.arange(n_known), y].sum(axis=1) - products @ equal
            precision = precision + products
        weights = equal + np.linalg.solve(precision, total)
        right = right + (n_rows - n_known) / n_classes + at_label @ weights
        mean = 1 - right / n_rows
        differ = np.mean(pool.labels != pool.labels[np.argmin(mean)], axis=1)
        # Losses of two candidates differ by at most 1, and only where their predictions do.
        return cls(mean, precision, at_label / n_rows, differ / n_rows)

    @property
    def leader(self) -> int:
        """The candidate with the fewest expected errors."""
        return int(np.argmin(self.mean))

    @property
    def covariance(self) -> np.ndarray:
        """Covariance of the shares of errors, as far as labels reduce it."""
        return VARIANCE * self.pool @ np.linalg.solve(self.precision, self.pool.T)

    def relative(self) -> Relative:
        """Differences from the leader."""
        lead, covariance = self.mean - self.mean[self.leader], self.covariance
        own = np.diag(covariance)
        variance = np.maximum(own + own[self.leader] - 2 * covariance[self.leader], TINY)
        error = TOO_SURE * np.sqrt(variance + self.row_noise)
        weights = np.exp(-0.5 * lead**2 / variance)
        return Relative(self.mean, lead, error, weights / weights.sum())

    def pairs(self) -> np.ndarray:
        """Matrix of a quadratic form: variances of differences of the two best candidates.

        The pairs and their weights are those of simulated shares of errors.
        """
        values, vectors = np.linalg.eigh(self.covariance)
        normal = np.random.default_rng(0).standard_normal((N_SIMULATIONS, self.mean.size))
        losses = self.mean + (normal * np.sqrt(np.maximum(values, 0.0))) @ vectors.T
        first, second = np.argsort(losses, axis=1)[:, :2].T
        draws = np.arange(N_SIMULATIONS)
        gaps = losses[draws, second] - losses[draws, first]
        together = np.zeros_like(self.covariance)
        np.add.at(together, (first, second), np.exp(-gaps / GAP))
        together += together.T
        return np.diag(together.sum(axis=1)) - together

    def scores(
        self, pool: Pool, left: Vector, n: int, share: float, rng: np.random.Generator
    ) -> Scores:
        """Scores and inclusion probabilities of the next batch.

        Parameters
        ----------
        pool : Pool
            Predictions for all rows.
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
        """
        rows = np.flatnonzero(left)
        frame = rows if rows.size <= MOST_ROWS else np.sort(rng.choice(rows, MOST_ROWS, False))
        every, useful = np.ones(frame.size, dtype=bool), np.ones(frame.size)
        chosen = inclusion_probabilities(Scores(useful), n, 1.0, every)
        if len(self.mean) > 1 and share < 1:
            products = _products(_centred(pool.values[:, frame], pool.labels[:, frame]))
            target = self.pool.T @ self.pairs() @ self.pool
            for _ in range(N_STEPS):
                variance = np.linalg.inv(self.precision + (chosen @ products).reshape(target.shape))
                removed = products @ (variance @ target @ variance).ravel()
                useful *= np.sqrt(np.maximum(removed, 0.0))
                useful /= max(useful.mean(), TINY)
                chosen = inclusion_probabilities(Scores(useful), n, share, every)
        found = [np.zeros(left.size), np.zeros(left.size)]
        found[0][frame], found[1][frame] = useful, chosen
        # Neighbours in the order have the same predictions.
        order = np.lexsort((rng.random(left.size), *pool.labels[::-1]))
        return Scores(found[0], order, probabilities=found[1], frame=frame.size / max(rows.size, 1))


def _prior_precision(count: int) -> np.ndarray:
    """Precision of the prior of the weights, times the variance of a label."""
    common = np.full((count, count), 1 / count)
    return PRIOR_ROWS * (np.eye(count) + (1 / SUM_VARIANCE - 1) * common)


def _at_predicted(pool: Pool) -> np.ndarray:
    """Sums over rows of probabilities and votes, minus 1/K, at the classes of each candidate."""
    count, _, n_classes = pool.values.shape
    sums = np.zeros((count, count))
    for start in range(0, pool.n_rows, MOST_ROWS):
        part = slice(start, start + MOST_ROWS)
        centred = _centred(pool.values[:, part], pool.labels[:, part])
        votes = np.eye(n_classes, dtype=centred.dtype)[pool.labels[:, part]]
        sums += votes.reshape(count, -1) @ centred.reshape(count, -1).T
    return sums


def _centred(values: np.ndarray, labels: np.ndarray) -> np.ndarray:
    """Means of probabilities and votes, minus 1/K."""
    n_classes = values.shape[2]
    return (values + np.eye(n_classes, dtype=values.dtype)[labels]) / 2 - 1 / n_classes


def _products(centred: np.ndarray) -> np.ndarray:
    """Products of the centred values of all pairs of candidates, one line per row."""
    centred = np.moveaxis(centred, 0, 2)
    return np.matmul(centred.transpose(0, 2, 1), centred).reshape(len(centred), -1).astype(float)
