"""Compute the status of labelling from a pool, the rows asked for and a metric."""

import math
from collections.abc import Sequence
from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
from scipy import stats

from landbridge._typing import Vector
from landbridge.inference import e_value
from landbridge.labelling.design import design_weights, prove_scores, risk_of
from landbridge.labelling.estimates import Level, Relative, mean_loss, relative_losses
from landbridge.labelling.forecast import FEWEST_NUMBERS, labels_to_measure, quantiles, wanted_width
from landbridge.labelling.mixture import Mixture
from landbridge.labelling.pool import Pool, consensus_weights
from landbridge.labelling.proofs import (
    expected_effect,
    expected_wins,
    labels_to_prove,
    labels_to_prove_numbers,
    updated_effect,
    updated_wins,
)
from landbridge.labelling.records import Known
from landbridge.labelling.sequential import (
    SequentialTest,
    sequential_sign_test,
    sequential_z_boundaries,
)
from landbridge.labelling.status import LabelStatus
from landbridge.metrics.inference import metric_interval
from landbridge.metrics.metric import Metric

if TYPE_CHECKING:
    from landbridge.labelling.planner import LabelPlanner

SURE = 0.95
FEWEST = 5
# A plan is not extended beyond this multiple of its budget.
MOST_BUDGETS = 4


class Judge:
    """Estimates from the known labels, for the goal of a planner."""

    def __init__(
        self, planner: "LabelPlanner", pool: Pool, known: Known, metric: Metric, strength: float
    ):
        self.planner, self.pool, self.known = planner, pool, known
        self.metric, self.strength = metric, strength
        self.n = known.y.size

    @cached_property
    def consensus_weights(self) -> Vector | None:
        """Weights of the candidates in the consensus."""
        if self.known.pool is None:
            return None
        return consensus_weights(self.known.pool.values, self.known.y, self.strength)

    @cached_property
    def consensus(self) -> np.ndarray:
        """Consensus of the candidates on the rows of the pool."""
        return self.pool.consensus(self.consensus_weights)

    @cached_property
    def noise(self) -> float:
        """Standard deviation of labels around the consensus; without labels, of the candidates."""
        if self.pool.is_classification:
            return 1.0
        if self.known.pool is not None and self.n >= FEWEST:
            error = self.known.y - self.known.pool.consensus(self.consensus_weights)
            return float(np.sqrt(np.mean(error**2)))
        return float(self.pool.values.std(axis=0).mean())

    @cached_property
    def losses(self) -> np.ndarray:
        """Losses of every candidate at the labelled rows; squared errors if the score is an RMSE.

        Metrics that are no means of losses have zero-one losses and squared errors instead.
        """
        known = self.known.pool
        if known is None:
            return np.zeros((len(self.pool.values), 0))
        if self.metric.decomposable:
            return self.metric.pointwise(self.known.y, known.values)
        if known.is_classification:
            return (known.labels != self.known.y).astype(np.float64)
        return (known.values - self.known.y) ** 2

    @property
    def zero_one(self) -> bool:
        """Whether losses are 0 or 1."""
        return self.pool.is_classification and bool(np.isin(self.losses, (0.0, 1.0)).all())

    @property
    def is_mean(self) -> bool:
        """Whether the score is a function of the mean loss."""
        return self.metric.decomposable or self.metric.label == "RMSE"

    @property
    def counts_errors(self) -> bool:
        """Whether candidates are compared by their number of wrong classes."""
        accuracy = not self.metric.decomposable or self.metric.name == "accuracy"
        return self.pool.is_classification and accuracy

    @cached_property
    def mixture(self) -> Mixture:
        """Model of the errors of classifiers."""
        return Mixture.of(self.pool, self.known.pool, self.known.y)

    def _risks(self, cell: int) -> tuple[Vector, float]:
        """Expected loss of a candidate at the labelled rows, and its mean over the pool."""
        mean = float(risk_of(self.pool, self.consensus, cell).mean())
        known = self.known.pool
        if known is None:
            return np.empty(0), mean
        return risk_of(known, known.consensus(self.consensus_weights), cell), mean

    def relative(self) -> Relative:
        """Losses of the candidates relative to each other."""
        if self.counts_errors:
            return self.mixture.relative()
        expected, means = zip(*map(self._risks, range(len(self.pool.values))), strict=True)
        return relative_losses(
            self.losses, self.known.weights, np.stack(expected), np.array(means), self.pool.n_rows
        )

    def level(self, cell: int) -> Level:
        """Mean loss of one candidate."""
        risk, mean = self._risks(cell)
        return mean_loss(
            self.losses[cell],
            self.known.weights,
            risk,
            mean,
            level=self.planner.level,
            zero_one=self.zero_one,
            n_candidates=len(self.pool.values),
        )

    # Status

    def status(self) -> LabelStatus:
        """Status of the planner with these labels."""
        if self.planner.goal == "prove":
            return self._prove()
        if self.planner.goal == "choose":
            return self._choose()
        cell = self.pool.names.index(self.planner.candidate_)
        found = self._scored(cell)
        return found if self.planner.goal == "train" else self._measured(cell, found)

    def _status(self, candidate: str, baseline: str = "") -> LabelStatus:
        """Status without estimates."""
        return LabelStatus(
            goal=self.planner.goal,
            n_labels=self.n,
            budget=self.planner.budget,
            candidate=candidate,
            baseline=baseline,
            level=self.planner.level,
            score=self.metric.label,
            worth=float(self.n),
        )

    def _scored(self, cell: int, baseline: str = "") -> LabelStatus:
        """Status with the score of a candidate and its interval."""
        status = self._status(self.pool.names[cell], baseline)
        if self.known.pool is None or self.n < FEWEST:
            return status
        if self.is_mean:
            level = self.level(cell)
            low, high = sorted(self._score_of(loss) for loss in (level.low, level.high))
            estimate = self._score_of(level.estimate)
            return replace(status, estimate=estimate, low=low, high=high, worth=level.worth)
        weights = self.known.weights
        found = metric_interval(
            self.metric,
            self.known.y,
            self.known.pool.values[cell],
            self.planner.level,
            sample_weight=weights,
        )
        worth = float(weights.sum() ** 2 / (weights @ weights))
        return replace(status, estimate=found.estimate, low=found.low, high=found.high, worth=worth)

    def _score_of(self, loss: float) -> float:
        if self.metric.decomposable:
            return float(self.metric.score_of(loss))
        return math.sqrt(max(loss, 0.0))

    def _choose(self) -> LabelStatus:
        found = self.relative()
        leader, order = found.leader, np.argsort(found.mean, kind="stable").tolist()
        status = self._scored(leader, self.pool.names[order[1]] if len(order) > 1 else "")
        status = replace(status, probability=found.probability_of_lead())
        others = np.arange(found.mean.size) != leader
        noise, margin = found.error[others], (found.lead + self.planner.gap)[others]
        sure = stats.norm.cdf(margin / np.maximum(noise, 1e-12))
        if self.n >= FEWEST and (sure.size == 0 or sure.min() >= SURE):
            return _with_left(status, None)
        counts = np.array(
            [self._labels_to_separate(noise, margin, z) for z in (1.0, stats.norm.ppf(SURE), 2.5)]
        )
        counts = np.maximum(np.ceil(counts), FEWEST - self.n)
        beyond = self.n + counts > MOST_BUDGETS * self.planner.budget
        return _with_left(status, np.where(beyond, math.inf, counts).tolist())

    def _labels_to_separate(self, noise: Vector, margin: Vector, z: float) -> float:
        """Labels needed for every margin to exceed z standard errors; ∞ for negative margins."""
        if noise.size == 0:
            return 0.0
        if (margin <= 0).any() or not np.isfinite(noise).all():
            return math.inf
        # Variances fall as 1/n, so the labels needed grow with the square of the noise.
        return max((float(np.max((z * noise / margin) ** 2)) - 1) * max(self.n, 1), 0.0)

    def _measured(self, cell: int, found: LabelStatus) -> LabelStatus:
        """Status of the goal "measure"."""
        half, level = (found.high - found.low) / 2, self.planner.level
        width = wanted_width(self.planner.width, found.estimate, self.metric)
        if half <= width and (self.zero_one or self.n >= FEWEST_NUMBERS):
            return _with_left(found, None)
        rng = np.random.default_rng(0)
        if self.zero_one and (self.is_mean or self.n < FEWEST):
            risk, error = self._risks(cell)[1], 0.1
            if self.n >= FEWEST:
                known = self.level(cell)
                risk, error = known.estimate, known.error
            counts = labels_to_measure(risk, error, width, level, rng) - self.n
        elif self.n >= FEWEST and half < math.inf and width > 0:
            # Widths fall as 1/√n; the estimated width itself is uncertain by about 1/√(2n).
            factor = rng.normal(1.0, 1 / math.sqrt(2 * self.n), 400)
            fewest = FEWEST if self.zero_one else FEWEST_NUMBERS
            counts = np.maximum(self.n * (factor * half / width) ** 2, fewest) - self.n
        else:
            counts = np.full(1, math.inf)
        return _with_left(found, np.ceil(quantiles(np.maximum(counts, 1.0))).tolist())

    def _prove(self) -> LabelStatus:
        models = (self.planner.candidate_, self.planner.baseline_)
        first, second = map(self.pool.names.index, models)
        share = float((prove_scores(self.pool, first, second).values > 0).mean())
        difference = self.losses[first] - self.losses[second]
        gap = -difference * self.known.weights / self.pool.n_rows
        status = replace(
            self._status(*models),
            score=f"advantage in {self.metric.label if self.zero_one else 'loss'}",
            worth=self.n / max(share, 1e-12),
        )
        if self.n >= FEWEST:
            estimate, half = float(gap.sum()), self._half_width(gap, share)
            status = replace(status, estimate=estimate, low=estimate - half, high=estimate + half)
        if self.pool.is_classification:
            return self._prove_classes(status, np.sign(difference), first, second)
        return self._prove_numbers(status, difference, first, second)

    def _half_width(self, gap: Vector, share: float) -> float:
        # Add one win and one loss, so that identical outcomes do not imply certainty.
        unit = share / self.n if self.zero_one else 0.0
        parts = np.append(gap, [unit, -unit])
        squares = float(((parts - parts.mean()) ** 2).sum())
        error = math.sqrt(parts.size / (parts.size - 1) * squares)
        return float(stats.t.ppf((1 + self.planner.level) / 2, self.n - 1)) * error

    def _prove_classes(
        self, status: LabelStatus, signs: Vector, first: int, second: int
    ) -> LabelStatus:
        """Exact test of the wins; only signs are used, for any metric."""
        sizes, budget = self.known.sizes, self.planner.budget
        wins, informative = (
            np.bincount(self.known.batches, one, minlength=len(sizes)).astype(int).tolist()
            for one in (signs < 0, signs != 0)
        )
        test = sequential_sign_test(wins, informative, (np.cumsum(sizes) / budget).tolist())
        evidence = float(e_value(signs, bound=1.0)) if self.n else 1.0
        status = replace(status, test=test, e_value=evidence)
        if test.rejected:
            return _with_left(status, None)
        if self.n >= budget:
            return _with_left(status, (math.inf, math.inf, math.inf))
        _, share, spread = expected_wins(self.pool, first, second)
        counts = labels_to_prove(
            *updated_wins(share, spread, sum(wins), sum(informative)),
            np.random.default_rng(0),
            budget=budget,
            batch_size=self.planner.batch_size,
            before=(wins, informative, sizes),
        )
        return _with_left(status, quantiles(counts))

    def _prove_numbers(
        self, status: LabelStatus, difference: Vector, first: int, second: int
    ) -> LabelStatus:
        """Test of numeric losses: compare a standardised sum with normal boundaries."""
        known, budget = self.known, self.planner.budget
        shares = (np.cumsum(known.sizes) / budget).tolist()
        rejected, statistic, p_value = False, 0.0, 0.5
        gap = np.empty(0)
        for look, boundary in enumerate(sequential_z_boundaries(shares)):
            # The weights are those of the labels known at this look, so no decision is revised.
            seen = known.batches <= look
            gap = -difference[seen] * design_weights(known.batches[seen], known.probabilities[seen])
            spread = math.sqrt(gap.size * float(gap.var(ddof=1))) if gap.size > 1 else 0.0
            statistic = float(gap.sum()) / spread if spread > 0 else 0.0
            # Student's quantile at the normal level of the boundary.
            p_value = float(stats.t.sf(statistic, max(gap.size - 1, 1)))
            rejected |= bool(p_value <= stats.norm.sf(boundary))
        gap = gap / self.pool.n_rows
        scale = float(np.mean((self.pool.values[first] - self.pool.values[second]) ** 2))
        evidence = 1.0
        if self.n and scale > 0:
            evidence = float(e_value(-gap, scale=scale / self.n))
        spent = min(shares[-1], 1.0) if shares else 0.0
        wins = int((gap > 0).sum())
        test = SequentialTest(rejected, wins, self.n, (), spent, p_value)
        status = replace(status, test=test, e_value=evidence)
        if rejected:
            return _with_left(status, None)
        _, effect, sd = expected_effect(self.pool, first, second)
        counts = labels_to_prove_numbers(
            *updated_effect(effect, sd, statistic / math.sqrt(max(self.n, 1)), self.n),
            np.random.default_rng(0),
            budget=budget,
            batch_size=self.planner.batch_size,
            before=(statistic, known.sizes),
        )
        return _with_left(status, quantiles(counts))


def _with_left(status: LabelStatus, counts: Sequence[float] | None) -> LabelStatus:
    """The status with the bounds and median of the labels left; ``None`` if the goal is met."""
    low, left, high = (0.0, 0.0, 0.0) if counts is None else counts
    reached = counts is None
    return replace(status, reached=reached, left_low=low, left=left, left_high=high)
