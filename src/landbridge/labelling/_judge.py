"""Compute the status of labelling from a pool, the rows asked for and a metric."""

import math
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from scipy import stats

from landbridge._typing import Vector
from landbridge.inference import e_value
from landbridge.labelling.design import prove_scores, risk_of
from landbridge.labelling.estimates import Level, Relative, mean_loss, relative_losses
from landbridge.labelling.forecast import FEWEST_NUMBERS, labels_to_measure, quantiles, wanted_width
from landbridge.labelling.mixture import Mixture
from landbridge.labelling.pool import Pool, consensus_weights, make_pool
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

ALPHA = 0.05
SURE = 0.95
FEWEST = 5


class Score(NamedTuple):
    """An estimate with its interval, its name, and the number of equally precise random labels."""

    estimate: float
    low: float
    high: float
    score: str
    worth: float


class LabelsLeft(NamedTuple):
    """Whether a goal is reached, and the number of labels left with its interval."""

    reached: bool
    left_low: float = 0.0
    left: float = 0.0
    left_high: float = 0.0


class Judge:
    """Estimates from the known labels."""

    def __init__(self, pool: Pool, known: Known, metric: Metric | None, strength: float):
        self.pool, self.known, self.metric, self.strength = pool, known, metric, strength

    @cached_property
    def consensus_weights(self) -> Vector | None:
        """Weights of the candidates in the consensus."""
        if self.known.y.size == 0:
            return None
        return consensus_weights(self.known.values, self.known.y, self.strength)

    @cached_property
    def consensus(self) -> np.ndarray:
        """Consensus of the candidates on the rows of the pool."""
        return self.pool.consensus(self.consensus_weights)

    @cached_property
    def _labelled(self) -> Pool:
        """The labelled rows as a separate pool."""
        return make_pool(self.known.values, names=self.pool.names)

    @cached_property
    def noise(self) -> float:
        """Standard deviation of labels around the consensus; without labels, of the candidates."""
        if self.pool.is_classification:
            return 1.0
        if self.known.y.size >= FEWEST:
            error = self.known.y - self._labelled.consensus(self.consensus_weights)
            return float(np.sqrt(np.mean(error**2)))
        return float(self.pool.values.std(axis=0).mean()) + 1e-12

    @cached_property
    def losses(self) -> np.ndarray:
        """Losses of every candidate at the labelled rows."""
        values, y = self.known.values, self.known.y
        if y.size == 0:
            return np.zeros((len(self.pool.values), 0))
        if self.metric is not None and self.metric.decomposable:
            return self.metric.pointwise(y, self._readable(values))
        if self.pool.is_classification:
            return (self._labelled.labels != y).astype(np.float64)
        return (values - y) ** 2

    def _readable(self, values: np.ndarray) -> np.ndarray:
        if self.metric is None or self.metric.response != "label":
            return values
        return np.eye(values.shape[-1])[values.argmax(axis=-1)]

    @property
    def zero_one(self) -> bool:
        """Whether losses are 0 or 1."""
        return self.pool.is_classification and bool(np.isin(self.losses, (0.0, 1.0)).all())

    def _risks(self, cell: int) -> tuple[Vector, float]:
        """Expected loss of a candidate at the labelled rows, and its mean over the pool."""
        mean = float(risk_of(self.pool, self.consensus, cell).mean())
        if self.known.y.size == 0:
            return np.empty(0), mean
        here = self._labelled.consensus(self.consensus_weights)
        return risk_of(self._labelled, here, cell), mean

    @property
    def counts_errors(self) -> bool:
        """Whether candidates are compared by their number of wrong classes."""
        metric = self.metric
        return self.pool.is_classification and (
            metric is None or not metric.decomposable or metric.name == "accuracy"
        )

    @cached_property
    def mixture(self) -> Mixture:
        """Model of the errors of classifiers."""
        if self.known.y.size == 0:
            return Mixture.of(self.pool)
        return Mixture.of(self.pool, self._labelled, self.known.y)

    def relative(self) -> Relative:
        """Losses of the candidates relative to each other."""
        if self.counts_errors:
            return self.mixture.relative()
        pairs = [self._risks(cell) for cell in range(len(self.pool.values))]
        expected = np.stack([one for one, _ in pairs])
        means = np.array([mean for _, mean in pairs])
        return relative_losses(self.losses, self.known.weights, expected, means, self.pool.n_rows)

    def level(self, cell: int, level: float) -> Level:
        """Mean loss of one candidate."""
        risk, mean = self._risks(cell)
        return mean_loss(
            self.losses[cell],
            self.known.weights,
            risk,
            mean,
            level=level,
            zero_one=self.zero_one,
            n_candidates=len(self.pool.values),
        )

    # Status

    def status(self, planner: "LabelPlanner") -> LabelStatus:
        """The status of a planner with these labels."""
        if planner.goal == "prove":
            return self._prove(planner)
        if planner.goal == "choose":
            return self._choose(planner)
        cell = self.pool.names.index(planner.candidate_)
        score = self._score(cell, planner)
        if planner.goal == "train":
            left = LabelsLeft(False, math.nan, math.nan, math.nan)
        else:
            left = self._labels_to_measure(cell, score, planner)
        return self._status(planner, (planner.candidate_, ""), score, left)

    def _status(
        self,
        planner: "LabelPlanner",
        models: tuple[str, str],
        score: Score,
        left: LabelsLeft,
        *,
        probability: float = math.nan,
        e_value: float = math.nan,
        test: SequentialTest | None = None,
    ) -> LabelStatus:
        return LabelStatus(
            goal=planner.goal,
            n_labels=self.known.y.size,
            n_batches=len(self.known.sizes),
            budget=planner.budget,
            candidate=models[0],
            baseline=models[1],
            level=planner.level,
            probability=probability,
            e_value=e_value,
            test=test,
            **score._asdict(),
            **left._asdict(),
        )

    def _score(self, cell: int, planner: "LabelPlanner") -> Score:
        """Score of a candidate with its interval."""
        name = self._score_name()
        if self.known.y.size < FEWEST:
            return Score(math.nan, math.nan, math.nan, name, float(self.known.y.size))
        metric, level = self.metric, self.level(cell, planner.level)
        if metric is not None and not metric.decomposable:
            weights = self.known.weights
            found = metric_interval(
                metric,
                self.known.y,
                self._readable(self.known.values[cell]),
                planner.level,
                sample_weight=weights,
            )
            worth = float(weights.sum() ** 2 / (weights @ weights))
            return Score(found.estimate, found.low, found.high, name, worth)
        low, high = sorted(self._score_of(loss) for loss in (level.low, level.high))
        return Score(self._score_of(level.estimate), low, high, name, level.worth)

    def _score_of(self, loss: float) -> float:
        if self.metric is not None:
            return float(self.metric.score_of(loss))
        return 1.0 - loss if self.pool.is_classification else math.sqrt(max(loss, 0.0))

    def _score_name(self) -> str:
        if self.metric is not None:
            return self.metric.label
        return "accuracy" if self.pool.is_classification else "RMSE"

    # Goals

    def _choose(self, planner: "LabelPlanner") -> LabelStatus:
        found = self.relative()
        leader = found.leader
        order = np.argsort(found.mean, kind="stable").tolist()
        rival = self.pool.names[order[1]] if len(order) > 1 else ""
        scale = 1.0 if self.zero_one or not self.losses.size else float(self.losses.mean())
        gap = planner.gap * scale
        noise, margin = found.error, found.lead + gap
        others = np.arange(found.mean.size) != leader
        sure = stats.norm.cdf(margin[others] / np.maximum(noise[others], 1e-12))
        reached = bool(self.known.y.size >= FEWEST and (sure.size == 0 or sure.min() >= SURE))
        # Variances fall as 1/n, so the labels needed grow with the square of the noise.
        n = max(self.known.y.size, 1)
        counts = [
            self._labels_to_separate(noise[others], margin[others], n, z)
            for z in (1.0, stats.norm.ppf(SURE), 2.5)
        ]
        low, left, high = (
            float(np.ceil(count)) if n + count <= 4 * planner.budget else math.inf
            for count in counts
        )
        return self._status(
            planner,
            (self.pool.names[leader], rival),
            self._score(leader, planner),
            LabelsLeft(True) if reached else LabelsLeft(False, low, left, high),
            probability=found.probability_of_lead(),
        )

    @staticmethod
    def _labels_to_separate(noise: Vector, margin: Vector, n: int, z: float) -> float:
        """Labels needed for every margin to exceed z standard errors; ∞ for negative margins."""
        if noise.size == 0:
            return 0.0
        if (margin <= 0).any() or not np.isfinite(noise).all():
            return math.inf
        return max((float(np.max((z * noise / margin) ** 2)) - 1) * n, 0.0)

    def _labels_to_measure(self, cell: int, score: Score, planner: "LabelPlanner") -> LabelsLeft:
        n = self.known.y.size
        if n < FEWEST:
            risk, error = self._risks(cell)[1], 0.1
        else:
            level = self.level(cell, planner.level)
            risk, error = level.estimate, level.error
        half = (score.high - score.low) / 2
        width = wanted_width(
            planner.width,
            score.estimate,
            self.metric,
            is_classification=self.pool.is_classification,
        )
        enough = self.zero_one or n >= FEWEST_NUMBERS
        if half <= width and enough:
            return LabelsLeft(True)
        rng = np.random.default_rng(0)
        if self.zero_one:
            counts = np.maximum(labels_to_measure(risk, error, width, planner.level, rng) - n, 1.0)
        elif n >= FEWEST:
            # Widths fall as 1/√n; the estimated width itself is uncertain by about 1/√(2n).
            factor = rng.normal(1.0, 1 / math.sqrt(2 * n), 400)
            counts = np.maximum(n * (factor * half / width) ** 2, FEWEST_NUMBERS) - n
            counts = np.maximum(counts, 1.0)
        else:
            counts = np.full(1, math.inf)
        low, left, high = np.ceil(quantiles(counts)).tolist()
        return LabelsLeft(False, low, left, high)

    def _prove(self, planner: "LabelPlanner") -> LabelStatus:
        models = (planner.candidate_, planner.baseline_)
        first, second = (self.pool.names.index(name) for name in models)
        difference = self.losses[first] - self.losses[second]
        share = float((prove_scores(self.pool, first, second).values > 0).mean())
        gap = -difference * self.known.weights / self.pool.n_rows
        ends = (math.nan, math.nan, math.nan)
        if gap.size >= FEWEST:
            ends = (float(gap.sum()), *self._gap_interval(gap, share, planner.level))
        name = f"advantage in {self._score_name() if self.zero_one else 'loss'}"
        if self.pool.is_classification:
            left, evidence, test = self._prove_by_signs(difference, first, second, planner)
        else:
            left, evidence, test = self._prove_numbers(gap, first, second, planner)
        score = Score(*ends, name, gap.size / max(share, 1e-12))
        return self._status(planner, models, score, left, e_value=evidence, test=test)

    def _gap_interval(self, gap: Vector, share: float, level: float) -> tuple[float, float]:
        n = gap.size
        # Add one win and one loss, so that identical outcomes do not imply certainty.
        unit = share / n if self.zero_one else 0.0
        parts = np.append(gap, [unit, -unit])
        error = math.sqrt(
            parts.size / (parts.size - 1) * float(((parts - parts.mean()) ** 2).sum())
        )
        half = float(stats.t.ppf((1 + level) / 2, n - 1)) * error
        return float(gap.sum()) - half, float(gap.sum()) + half

    def _by_batch(self, values: Vector) -> list[int]:
        return (
            np.bincount(self.known.batches, values, minlength=len(self.known.sizes))
            .astype(int)
            .tolist()
        )

    def _prove_by_signs(
        self, difference: Vector, first: int, second: int, planner: "LabelPlanner"
    ) -> tuple[LabelsLeft, float, SequentialTest]:
        wins = self._by_batch((difference < 0).astype(float))
        informative = self._by_batch((difference != 0).astype(float))
        sizes = list(self.known.sizes)
        test = sequential_sign_test(
            wins, informative, (np.cumsum(sizes) / planner.budget).tolist(), alpha=ALPHA
        )
        # Only signs are used, for any metric, because the test is exact for them.
        signs = np.sign(difference)
        evidence = float(e_value(signs, bound=1.0).first_better) if signs.size else 1.0
        if test.rejected:
            left = LabelsLeft(True)
        elif sum(sizes) >= planner.budget:
            left = LabelsLeft(False, math.inf, math.inf, math.inf)
        else:
            before = (wins, informative, sizes)
            left = LabelsLeft(False, *self._labels_to_prove(first, second, planner, before))
        return left, evidence, test

    def _labels_to_prove(
        self,
        first: int,
        second: int,
        planner: "LabelPlanner",
        before: tuple[list[int], list[int], list[int]],
    ) -> tuple[float, float, float]:
        _, wins, spread = expected_wins(self.pool, first, second)
        mean, sd = updated_wins(wins, spread, sum(before[0]), sum(before[1]))
        counts = labels_to_prove(
            mean,
            sd,
            np.random.default_rng(0),
            budget=planner.budget,
            batch_size=planner.batch_size,
            before=before,
            alpha=ALPHA,
        )
        return quantiles(counts)

    def _prove_numbers(
        self, gap: Vector, first: int, second: int, planner: "LabelPlanner"
    ) -> tuple[LabelsLeft, float, SequentialTest]:
        """Test of numeric losses: compare a standardised sum with normal boundaries."""
        shares = (np.cumsum(self.known.sizes) / planner.budget).tolist()
        boundaries = sequential_z_boundaries(shares, alpha=ALPHA)
        rejected, statistic = False, 0.0
        for look, boundary in enumerate(boundaries):
            parts = gap[self.known.batches <= look]
            spread = math.sqrt(parts.size * float(parts.var(ddof=1))) if parts.size > 1 else 0.0
            statistic = float(parts.sum()) / spread if spread > 0 else 0.0
            # Student's quantile at the normal level of the boundary.
            degrees = max(parts.size - 1, 1)
            rejected |= bool(stats.t.sf(statistic, degrees) <= stats.norm.sf(boundary))
        distance = (self.pool.values[first] - self.pool.values[second]) ** 2
        scale = float(distance.mean()) / max(gap.size, 1)
        evidence = 1.0
        if gap.size and scale > 0:
            evidence = float(e_value(-gap, scale=scale).first_better)
        left = LabelsLeft(True)
        if not rejected:
            _, effect, sd = expected_effect(self.pool, first, second)
            observed = statistic / math.sqrt(max(gap.size, 1))
            counts = labels_to_prove_numbers(
                *updated_effect(effect, sd, observed, gap.size),
                np.random.default_rng(0),
                budget=planner.budget,
                batch_size=planner.batch_size,
                before=(statistic, self.known.sizes),
            )
            left = LabelsLeft(False, *quantiles(counts))
        test = SequentialTest(
            rejected,
            int((gap > 0).sum()),
            gap.size,
            (),
            float(min(shares[-1], 1.0)) if gap.size else 0.0,
            float(stats.t.sf(statistic, max(gap.size - 1, 1))),
        )
        return left, evidence, test
