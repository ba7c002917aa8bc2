"""What multiple-source cross-validation found: pointwise losses, and every answer made of them."""

from dataclasses import dataclass, replace
from itertools import combinations
from typing import Any

import numpy as np

from landbridge._storage import Saved
from landbridge._typing import Vector
from landbridge.inference import (
    FriedmanTest,
    Interval,
    PairedTest,
    SourceSummary,
    cv_variance,
    friedman_test,
    holm,
    interval,
    paired_test,
    summarise_sources,
)
from landbridge.inference.intervals import QUESTIONS, Question, decimals, interval_of
from landbridge.inference.sources import SourceWeight
from landbridge.model_selection.losses import LOSS_RANGES

LOSS_WORDS = {
    "zero_one": "error",
    "log": "log loss",
    "absolute": "absolute error",
    "squared": "squared error",
}


@dataclass(frozen=True, eq=False, repr=False)
class MultiSourceResult(Saved):
    """Losses of every row under the model that was trained without its source.

    Attributes
    ----------
    losses : ndarray of shape (n_rows,)
        NaN where the fit failed.
    source, source_names : ndarrays
        Row i belongs to ``source_names[source[i]]``.
    fold : ndarray of shape (n_rows,)
        The fit that judged the row: its source, or its block with ``scheme="random"``.
    seconds : ndarray of shape (n_folds,)
        Time to fit and judge each fold.
    failures : tuple of (fold name, message)
        Fits that failed. Their rows are in no estimate and in no interval.
    loss, scheme, estimator : str
    """

    losses: Vector
    source: Vector
    source_names: Vector
    fold: Vector
    seconds: Vector
    failures: tuple[tuple[str, str], ...]
    loss: str
    scheme: str
    estimator: str

    @property
    def source_means(self) -> Vector:
        """Mean loss of each source, in the order of ``source_names``; NaN where the fit failed."""
        return np.bincount(self.source, self.losses) / np.bincount(self.source)

    @property
    def judged(self) -> tuple[Vector, Vector]:
        """Losses and units (sources, or blocks with ``scheme="random"``) of the rows that count."""
        units = self.source_names[self.source] if self.scheme == "source" else self.fold
        there = ~np.isnan(self.losses)
        return self.losses[there], units[there]

    @property
    def estimate(self) -> float:
        """Mean of the source means."""
        return self._summary().estimate

    @property
    def questions(self) -> tuple[Question, ...]:
        """The questions that these losses can answer."""
        summary = self._summary()
        about_others = self.scheme == "source" and summary.n_sources > 2
        can = {"new_source": about_others, "population": about_others}
        can["fixed"] = not np.isnan(summary.within)
        return tuple(q for q in QUESTIONS if can[q])

    def interval(
        self,
        question: Question = "new_source",
        level: float = 0.95,
        *,
        source_weight: SourceWeight = "equal",
    ) -> Interval:
        """The interval of `landbridge.inference.interval` for the named question."""
        self._refuse_random(question)
        return interval(
            *self.judged,
            question,
            level,
            source_weight=source_weight,
            **self._words_and_range(),
        )

    def variance(self, kind: str = "theta_b", **options: Any) -> float:
        """`landbridge.inference.cv_variance` of these losses."""
        return cv_variance(*self.judged, kind, **options)

    def describe(self, level: float = 0.95) -> str:
        """Every answer in words."""
        summary = self._summary()
        lines = [self._heading()]
        for question in self.questions:
            answer = interval_of(summary, question, level, **self._words_and_range())
            lines.append(answer.describe(why=question == "new_source"))
            if question == "new_source":
                lines.append(_what_shrinks(answer))
        if self.scheme == "random":
            lines.append("Random blocks share sources: expect more on a new source.")
        elif summary.n_sources < 3:
            lines.append("Two sources say nothing about a third: collect more sources.")
        lines += [f"Failed and left out: {fold} ({message})" for fold, message in self.failures]
        return "\n".join(lines)

    def __repr__(self) -> str:
        return self.describe()

    def _words_and_range(self) -> dict[str, Any]:
        return {"name": loss_words(self.loss), "loss_range": LOSS_RANGES.get(self.loss)}

    def _summary(self) -> SourceSummary:
        return summarise_sources(*self.judged)

    def _heading(self) -> str:
        held_out = "sources, each left out once" if self.scheme == "source" else "random blocks"
        n_folds = len(self.seconds)
        return (
            f"{self.estimator}: {self.loss} loss on {len(self.losses)} rows, {n_folds} {held_out}, "
            f"{self.seconds.sum():.2g} s"
        )

    def _refuse_random(self, question: str) -> None:
        if self.scheme == "random" and question != "fixed":
            raise ValueError(
                f"`scheme` must be 'source' for question={question!r}; got 'random', whose blocks "
                "share sources with the training rows. Fit with scheme='source'."
            )


@dataclass(frozen=True, eq=False, repr=False)
class Comparison(Saved):
    """Losses of several estimators on the same rows, and the tests built on them.

    Attributes
    ----------
    names : ndarray of shape (n_estimators,)
    losses : ndarray of shape (n_estimators, n_rows)
        NaN where a fit failed; a source where any estimator failed is in no test.
    source, source_names : ndarrays
        Row i belongs to ``source_names[source[i]]``.
    seconds : ndarray of shape (n_estimators, n_sources)
    failures : tuple of (estimator, source, message)
    loss : str
    """

    names: Vector
    losses: np.ndarray
    source: Vector
    source_names: Vector
    seconds: np.ndarray
    failures: tuple[tuple[str, str, str], ...]
    loss: str

    @property
    def source_means(self) -> np.ndarray:
        """Mean loss of each estimator (row) on each source (column)."""
        counts = np.bincount(self.source)
        return np.stack([np.bincount(self.source, row) for row in self.losses]) / counts

    def result(self, name: str) -> MultiSourceResult:
        """The losses of one estimator alone."""
        position = self._position(name)
        failures = tuple((fold, why) for who, fold, why in self.failures if who == name)
        return MultiSourceResult(
            losses=self.losses[position],
            source=self.source,
            source_names=self.source_names,
            fold=self.source,
            seconds=self.seconds[position],
            failures=failures,
            loss=self.loss,
            scheme="source",
            estimator=name,
        )

    def test(self, first: str, second: str, method: str = "t", level: float = 0.95) -> PairedTest:
        """The paired test of two estimators, on the sources where none failed."""
        there = ~np.isnan(self.losses).any(axis=0)
        return paired_test(
            self.losses[self._position(first), there],
            self.losses[self._position(second), there],
            self.source_names[self.source[there]],
            method,
            level=level,
            names=(first, second),
        )

    def pairs(self, method: str = "t", level: float = 0.95) -> tuple[PairedTest, ...]:
        """The paired test of every pair, with Holm's correction over all of them."""
        tests = [self.test(a, b, method, level) for a, b in combinations(self.names.tolist(), 2)]
        corrected = holm([test.p_value for test in tests])
        return tuple(
            replace(test, p_holm=float(p)) for test, p in zip(tests, corrected, strict=True)
        )

    def friedman(self, level: float = 0.95) -> FriedmanTest:
        """Friedman's test of three or more estimators over the sources, with mean ranks."""
        means = self.source_means
        return friedman_test(means[:, ~np.isnan(means).any(axis=0)].T, level)

    def __repr__(self) -> str:
        tests = self.pairs()
        digits = decimals(min(test.standard_error for test in tests))
        means = np.nanmean(self.source_means, axis=1)
        lines = [f"{loss_words(self.loss)} on left-out sources:"]
        lines += [
            f"  {name}: {mean:.{digits}f}" for name, mean in zip(self.names, means, strict=True)
        ]
        lines += [f"  {test}" for test in tests]
        lines += [f"  failed: {who} without {fold} ({why})" for who, fold, why in self.failures]
        return "\n".join(lines)

    def _position(self, name: str) -> int:
        found = np.flatnonzero(self.names == name)
        if not found.size:
            raise ValueError(f"`name` must be one of {self.names.tolist()}; got {name!r}.")
        return int(found[0])


def loss_words(loss: str) -> str:
    """What a loss is called in sentences and pictures."""
    return LOSS_WORDS.get(loss, "loss")


def _what_shrinks(answer: Interval) -> str:
    digits = decimals(answer.standard_error) + 1
    now, sources, rows = (
        answer.expected_half_width(sources=a, rows=b) for a, b in ((1, 1), (2, 1), (1, 2))
    )
    if np.isnan(rows):
        return f"  half-width {now:.{digits}f}"
    return (
        f"  half-width {now:.{digits}f}; expect {sources:.{digits}f} with twice the sources, "
        f"{rows:.{digits}f} with twice the rows ({100 * answer.between_share:.0f} % of the spread "
        "lies between sources)"
    )
