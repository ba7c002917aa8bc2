"""Result of multiple-source cross-validation, computed from stored predictions."""

from collections.abc import Iterator
from dataclasses import dataclass, fields, replace
from itertools import combinations
from typing import Any, Literal

import numpy as np

from landbridge._html import card, sentence
from landbridge._typing import Vector
from landbridge._validation import Task
from landbridge.inference import (
    FriedmanTest,
    Interval,
    PairedTest,
    SourceSummary,
    cv_variance,
    friedman_test,
    holm,
)
from landbridge.inference.comparison import paired_test_of
from landbridge.inference.intervals import (
    QUESTIONS,
    Question,
    decimals,
    interval_of,
    warn_few_sources,
    with_decimals,
)
from landbridge.inference.sources import SourceWeight, summarise_scores
from landbridge.metrics.inference import losses_by_unit, metric_interval
from landbridge.metrics.metric import Metric
from landbridge.metrics.scoring import check_scoring
from landbridge.model_selection._saved_result import (
    SavedResult,
    wrong_names,
    wrong_numbers,
    wrong_positions,
    wrong_shapes,
)


@dataclass(frozen=True, eq=False, repr=False)
class KeptPredictions(SavedResult):
    """Predictions of rows under models that were trained without their source.

    Attributes
    ----------
    y : ndarray of shape (n_rows,)
        Numbers, or positions in ``classes``.
    predicted : ndarray of shape (…, n_rows)
        Predicted numbers or positions in ``classes``; NaN or −1 where the fit failed.
    probabilities : ndarray of shape (…, n_rows, n_classes)
        NaN for models without ``predict_proba``; without classes for regression.
    classes : ndarray of shape (n_classes,)
        Empty for regression.
    source, source_names : ndarrays
        Row i belongs to ``source_names[source[i]]``.
    sample_weight : ndarray of shape (n_rows,)
        Empty without weights.
    metrics : tuple of Metric
        Requested metrics; the first one is the default.
    """

    y: Vector
    predicted: np.ndarray
    probabilities: np.ndarray
    classes: Vector
    source: Vector
    source_names: Vector
    sample_weight: Vector
    metrics: tuple[Metric, ...]

    def _contradictions(self) -> Iterator[str]:
        """What is wrong with a loaded result, in words."""
        n_rows, n_classes, cells = len(self.y), len(self.classes), self._cells
        of_rows = {"y": self.y, "source": self.source, "sample_weight": self.weight}
        yield from wrong_shapes((n_rows,), of_rows)
        yield from wrong_shapes((*cells, n_rows), {"predicted": self.predicted})
        probabilities = self.probabilities
        yield from wrong_shapes((*cells, n_rows, n_classes), {"probabilities": probabilities})
        yield from wrong_numbers({"probabilities": probabilities[~np.isnan(probabilities)]})
        yield from wrong_numbers({"sample_weight": self.weight}, 0)
        yield from wrong_positions(len(self.source_names), {"source": self.source})
        yield from wrong_names({"classes": self.classes, "source_names": self.source_names})
        if n_classes:
            yield from wrong_positions(n_classes, {"y": self.y})
            yield from wrong_positions(n_classes, {"predicted": self.predicted}, start=-1)
        else:
            yield from wrong_numbers({"y": self.y, "predicted": self.predicted[self.there]})

    @property
    def _cells(self) -> tuple[int, ...]:
        """Shape of the estimators whose predictions are kept."""
        return ()

    @property
    def task(self) -> Task:
        """Classification or regression."""
        return "classification" if self.classes.size else "regression"

    @property
    def there(self) -> np.ndarray:
        """Mask of the predictions that exist; those of failed fits are missing."""
        return ~np.isnan(self.predicted) if self.task == "regression" else self.predicted >= 0

    def metric(self, metric: Any = None) -> Metric:
        """The first metric, the one of this name, or any other that `check_scoring` accepts."""
        named = [one for one in self.metrics if metric in (None, one.name)]
        return (named or check_scoring(metric, task=self.task, classes=self.classes))[0]

    @property
    def weight(self) -> Vector | None:
        """The weights of the rows, if there are any."""
        return self.sample_weight if self.sample_weight.size else None

    def _read_by(self, metric: Metric, rows: Vector, cells: Any = ...) -> np.ndarray:
        """Predictions in the layout of a metric: numbers, one-hot labels or probabilities."""
        if metric.response == "probability":
            found = self.probabilities[cells][..., rows, :]
            if np.isnan(found).any():
                raise ValueError(
                    f"`metric` must not need probabilities, because the estimator has no "
                    f"predict_proba; got {metric.name!r}. Use a metric of labels, or wrap the "
                    "estimator in sklearn.calibration.CalibratedClassifierCV."
                )
            return found
        labels = self.predicted[cells][..., rows]
        if self.task == "regression":
            return labels
        return (labels[..., None] == np.arange(self.classes.size)).astype(np.float64)

    def _summarise(
        self,
        metric: Metric,
        pair: list[int] | None,
        units: Vector,
        names: Vector,
        source_weight: SourceWeight = "equal",
    ) -> SourceSummary:
        """Score per unit; for a pair of estimators, the difference of their losses."""
        rows, n_units = np.logical_and.reduce(np.atleast_2d(self.there)), len(names)
        y, units, weight = self.y[rows], units[rows], _of_rows(self.weight, rows)
        cells = self._read_by(metric, rows, pair)
        values, variances = losses_by_unit(metric, y, cells, units, n_units, weight)
        return summarise_scores(
            metric.score_of(values) if pair is None else values,
            variances,
            names=names,
            n_rows=np.bincount(units, minlength=n_units),
            totals=np.bincount(units, weight, minlength=n_units),
            source_weight=source_weight,
        )


@dataclass(frozen=True, eq=False, repr=False)
class MultiSourceResult(KeptPredictions):
    """Predictions of every row by the model that was trained without its source.

    Parameters
    ----------
    y, predicted, probabilities, classes, source, source_names, sample_weight, metrics
        Predictions, as in `KeptPredictions`.
    fold : ndarray of shape (n_rows,)
        The fit that predicted the row: its source, or its block with ``scheme="random"``.
    seconds : ndarray of shape (n_folds,)
        Time to fit and predict each fold.
    failures : tuple of (fold name, message)
        Fits that failed. Their rows are excluded from estimates and intervals.
    scheme, estimator : str
        Scheme used to leave out sources, and the estimator in words.

    Examples
    --------
    >>> from sklearn.naive_bayes import GaussianNB
    >>> from landbridge import MultiSourceCV
    >>> from landbridge.model_selection import MultiSourceResult
    >>> from landbridge.datasets import make_sources
    >>> data = make_sources(6, task="classification", random_state=0)
    >>> result = MultiSourceCV(GaussianNB()).fit(data.X, data.y, groups=data.groups).result_
    >>> print(result.interval("new_source", 0.9).describe(why=False))
    Expected accuracy on a new source: 0.73, 90 % between 0.59 and 0.87
    >>> result.source_scores("balanced_accuracy").round(2)
    array([0.74, 0.83, 0.72, 0.65, 0.69, 0.75])
    >>> round(result.estimate(), 2), round(float(result.losses().mean()), 2)
    (0.73, 0.27)
    >>> result.baseline_scores().round(2)
    array([0.56, 0.51, 0.58, 0.51, 0.55, 0.61])
    >>> result.source_intervals(level=0.9)[0].round(2)
    array([0.67, 0.76, 0.64, 0.57, 0.6 , 0.67])
    >>> result.variance() > 0, result.summary().n_sources, result.metric("roc_auc").label
    (True, 6, 'ROC AUC')
    >>> result.interval("new_source", 0.9).advice()
    'spread between and noise within sources both matter: more sources and more rows help'
    >>> round(result.interval("new_source", 0.9).expected_half_width(sources=2), 2)
    0.12
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     result.save(f"{folder}/sources.npz")
    ...     MultiSourceResult.load(f"{folder}/sources.npz").estimator
    'GaussianNB()'
    """

    fold: Vector
    seconds: Vector
    failures: tuple[tuple[str, str], ...]
    scheme: Literal["source", "random"]
    estimator: str

    def _contradictions(self) -> Iterator[str]:
        yield from super()._contradictions()
        yield from wrong_shapes((len(self.y),), {"fold": self.fold})
        yield from wrong_positions(len(self.seconds), {"fold": self.fold})
        yield from wrong_numbers({"seconds": self.seconds})

    @property
    def _fold_names(self) -> Vector:
        """Names of the sources, or numbers of the random blocks."""
        return self.source_names if self.scheme == "source" else np.arange(len(self.seconds))

    def losses(self, metric: Any = None) -> Vector:
        """Loss of each row, for a metric that is a mean of losses; NaN for failed fits.

        Returns
        -------
        ndarray of shape (n_rows,)
            One loss per row.
        """
        chosen, there = self.metric(metric), self.there
        losses = np.full(self.y.shape[0], np.nan)
        losses[there] = chosen.pointwise(self.y[there], self._read_by(chosen, there))
        return losses

    def summary(
        self, metric: Any = None, *, source_weight: SourceWeight = "equal"
    ) -> SourceSummary:
        """The score of each source (or random block) and the variance of its error.

        A source on which the metric is not defined, for example ROC AUC with one class, is left
        out.

        Parameters
        ----------
        source_weight : {"equal", "proportional"}, default="equal"
            Weight of a source in the mean.

        Returns
        -------
        SourceSummary
            The summary.
        """
        chosen = self.metric(metric)
        return self._summarise(chosen, None, self.fold, self._fold_names, source_weight)

    def source_scores(self, metric: Any = None) -> Vector:
        """Score of each source in the order of ``source_names``; NaN where there is none.

        Returns
        -------
        ndarray of shape (n_sources,)
            One score per source.
        """
        chosen, scores = self.metric(metric), np.full(len(self.source_names), np.nan)
        for k, rows, weight in self._by_source():
            scores[k] = chosen.score(self.y[rows], self._read_by(chosen, rows), weight)
        return scores

    def source_intervals(self, metric: Any = None, level: float = 0.95) -> tuple[Vector, Vector]:
        """Bounds of an interval for the score of each source, from `metric_interval`.

        Returns
        -------
        tuple of ndarray (low, high)
            Bounds per source.
        """
        chosen, (low, high) = self.metric(metric), np.full((2, len(self.source_names)), np.nan)
        for k, rows, weight in self._by_source():
            y, predictions = self.y[rows], self._read_by(chosen, rows)
            low[k], high[k] = metric_interval(chosen, y, predictions, level, sample_weight=weight)
        return low, high

    def baseline_scores(self, metric: Any = None) -> Vector:
        """Score of predicting each source by its own class shares, or by its own mean.

        The predicted class is the majority class of that source. A model of other sources does not
        know them, so this is a demanding baseline.

        Returns
        -------
        ndarray of shape (n_sources,)
            Score of a constant prediction per source.
        """
        chosen, scores = self.metric(metric), np.full(len(self.source_names), np.nan)
        for k, rows, weight in self._by_source():
            y = self.y[rows]
            if self.task == "regression":
                constant = np.full(y.size, np.average(y, weights=weight))
            else:
                counts = np.bincount(y, weight, minlength=self.classes.size)
                constant = np.tile(counts / counts.sum(), (y.size, 1))
            scores[k] = chosen.score(y, constant, weight)
        return scores

    def _by_source(self) -> Iterator[tuple[int, Vector, Vector | None]]:
        """Position, rows and weights of every source with predictions."""
        there = self.there
        for k in np.unique(self.source[there]):
            rows = there & (self.source == k)
            yield k, rows, _of_rows(self.weight, rows)

    def estimate(self, metric: Any = None) -> float:
        """Mean of the scores of the sources.

        Returns
        -------
        float
            The estimate.
        """
        return self.summary(metric).estimate

    @property
    def questions(self) -> tuple[Question, ...]:
        """Questions for which intervals are available."""
        summary = self.summary()
        about_others = self.scheme == "source" and summary.n_sources > 2
        about_these = not np.isnan(summary.within)
        return tuple(q for q in QUESTIONS if (about_these if q == "fixed" else about_others))

    def interval(
        self,
        question: Question = "new_source",
        level: float = 0.95,
        metric: Any = None,
        *,
        source_weight: SourceWeight = "equal",
    ) -> Interval:
        """Interval for one question; see `landbridge.inference.interval`.

        Parameters
        ----------
        question : {"new_source", "population", "fixed"}, default="new_source"
        metric : str, scorer or callable, optional
            Any metric can be used, because predictions are kept. By default the first of
            ``scoring``.
        source_weight : {"equal", "proportional"}, default="equal"
            Weight of a source in the mean.

        Returns
        -------
        Interval
            Interval on the scale of the score. It treats the scores of the sources as the
            observations, so it also applies to metrics that are not means over rows.
        """
        if self.scheme == "random" and question != "fixed":
            raise ValueError(
                f"`scheme` must be 'source' for question={question!r}; got 'random', whose blocks "
                "share sources with the training rows. Fit with scheme='source'."
            )
        chosen = self.metric(metric)
        summary = self.summary(chosen, source_weight=source_weight)
        if question != "fixed":
            warn_few_sources(summary.n_sources, "interval")
        return _answer(summary, question, level, chosen)

    def variance(self, kind: str = "theta_b", metric: Any = None, **options: Any) -> float:
        """Variance of the mean loss; see `landbridge.inference.cv_variance`.

        Parameters
        ----------
        kind : str, default="theta_b"
            Name of the variance estimator.

        Returns
        -------
        float
            The estimated variance.
        """
        losses, there = self.losses(metric), self.there
        units, weight = self._fold_names[self.fold[there]], _of_rows(self.weight, there)
        return cv_variance(losses[there], units, kind, sample_weight=weight, **options)

    def describe(self, level: float = 0.95) -> str:
        """Describe all available intervals in words.

        Returns
        -------
        str
            Sentences.
        """
        first, *others = self.metrics
        summary = self.summary(first)
        held_out = "sources, each left out once" if self.scheme == "source" else "random blocks"
        lines = [
            f"{self.estimator}: {self.y.shape[0]} rows, {len(self.seconds)} {held_out}, "
            f"{self.seconds.sum():.2g} s"
        ]
        questions = self.questions
        for question in questions:
            answer = _answer(summary, question, level, first)
            lines.append(answer.describe(why=question == "new_source"))
            if question == "new_source":
                lines.append(what_shrinks(answer))
        for metric in others:
            if np.isfinite(self.source_scores(metric)).sum() < 2:
                lines.append(f"{metric.label} is defined on fewer than 2 sources.")
            elif questions:
                answer = _answer(self.summary(metric), questions[0], level, metric)
                lines.append(answer.describe(why=False))
        if self.scheme == "random":
            lines.append("Random blocks share sources: expect a worse score on a new source.")
        else:
            lines.append(self._against_constant(first))
            if summary.n_sources < 3:
                lines.append(
                    "Two sources do not allow conclusions about a third; collect more sources."
                )
        lines += [f"Failed and left out: {fold} ({message})" for fold, message in self.failures]
        return "\n".join(lines)

    def __repr__(self) -> str:
        return self.describe()

    def _repr_html_(self) -> str:
        head, *lines = self.describe().split("\n")
        return card(head, *map(sentence, lines))

    def _against_constant(self, metric: Metric) -> str:
        own, constant = self.source_scores(metric), self.baseline_scores(metric)
        known = ~np.isnan(own + constant)
        better = int((metric.loss(own) < metric.loss(constant))[known].sum())
        guess = "mean label" if self.task == "regression" else "majority class"
        return (
            f"Better than always predicting a source's own {guess} on {better} of "
            f"{int(known.sum())} sources (its mean {metric.label} is "
            f"{metric.format(float(np.mean(constant[known])))})"
        )


def _of_rows(weight: Vector | None, rows: Vector) -> Vector | None:
    return None if weight is None else weight[rows]


def _answer(summary: SourceSummary, question: Question, level: float, metric: Metric) -> Interval:
    return interval_of(summary, question, level, loss_range=metric.bounds, name=metric.label)


def what_shrinks(answer: Interval) -> str:
    """Half-width of the interval, now and with twice the sources or twice the rows."""
    shown = decimals(answer.standard_error)
    factors = [(1, 1), (2, 1), (1, 2)]
    widths = [answer.expected_half_width(sources=sources, rows=rows) for sources, rows in factors]
    now, more_sources, more_rows = with_decimals(shown + bool(shown), *widths)
    if np.isnan(widths[2]):
        return f"  half-width {now}"
    return (
        f"  half-width {now}; expect {more_sources} with twice the sources, "
        f"{more_rows} with twice the rows ({100 * answer.between_share:.0f} % of the "
        "spread lies between sources)"
    )


@dataclass(frozen=True, eq=False, repr=False)
class Comparison(KeptPredictions):
    """Predictions of several estimators for the same rows, and the tests built on them.

    Tests compare losses, for which smaller is better: 1 − accuracy, RMSE, 1 − R².

    Parameters
    ----------
    y, predicted, probabilities, classes, source, source_names, sample_weight, metrics
        Predictions, as in `KeptPredictions`, with estimators as the first axis.
    names : ndarray of shape (n_estimators,)
        Names of the estimators.
    seconds : ndarray of shape (n_estimators, n_sources)
        Seconds per fit.
    failures : tuple of (estimator, source, message)
        A source on which any estimator failed is excluded from all tests.

    Examples
    --------
    >>> from sklearn.dummy import DummyClassifier
    >>> from sklearn.linear_model import LogisticRegression
    >>> from sklearn.naive_bayes import GaussianNB
    >>> from landbridge import compare_estimators
    >>> from landbridge.datasets import make_sources
    >>> data = make_sources(6, task="classification", random_state=0)
    >>> estimators = {
    ...     "bayes": GaussianNB(), "guess": DummyClassifier(), "logistic": LogisticRegression()}
    >>> comparison = compare_estimators(estimators, None, data.X, data.y, groups=data.groups)
    >>> comparison.source_losses().round(2)
    array([[0.25, 0.17, 0.28, 0.35, 0.32, 0.25],
           [0.56, 0.51, 0.58, 0.49, 0.55, 0.61],
           [0.25, 0.15, 0.27, 0.34, 0.24, 0.25]])
    >>> len(comparison.pairs()), comparison.test("bayes", "guess").p_value < 0.01
    (3, True)
    >>> comparison.differences("bayes", "guess").n_sources
    6
    >>> comparison.friedman().mean_ranks.round(1)
    array([1.8, 3. , 1.2])
    >>> round(comparison.result("bayes").estimate("roc_auc"), 2)
    0.82
    >>> comparison.metric("f1_macro").label
    'F1 (macro)'
    """

    names: Vector
    seconds: np.ndarray
    failures: tuple[tuple[str, str, str], ...]

    def _contradictions(self) -> Iterator[str]:
        yield from wrong_names({"names": self.names})
        yield from super()._contradictions()
        times = (*self._cells, len(self.source_names))
        yield from wrong_shapes(times, {"seconds": self.seconds})
        yield from wrong_numbers({"seconds": self.seconds})

    @property
    def _cells(self) -> tuple[int, ...]:
        return self.names.shape

    def source_losses(self, metric: Any = None) -> np.ndarray:
        """Loss of each estimator (row) on each source (column); NaN where there is none.

        Returns
        -------
        ndarray of shape (n_estimators, n_sources)
            Mean loss per estimator and source.
        """
        chosen = self.metric(metric)
        results = [self.result(str(name)) for name in self.names]
        return chosen.loss(np.stack([result.source_scores(chosen) for result in results]))

    def result(self, name: str) -> MultiSourceResult:
        """Return the result of one estimator.

        Parameters
        ----------
        name : str
            Name of an estimator.

        Returns
        -------
        MultiSourceResult
            Results of one estimator.
        """
        position = self._position(name)
        kept = {part.name: getattr(self, part.name) for part in fields(KeptPredictions)}
        kept |= {part: kept[part][position] for part in ("predicted", "probabilities")}
        return MultiSourceResult(
            **kept,
            fold=self.source,
            seconds=self.seconds[position],
            failures=tuple((fold, why) for who, fold, why in self.failures if who == name),
            scheme="source",
            estimator=name,
        )

    def test(
        self, first: str, second: str, method: str = "t", level: float = 0.95, metric: Any = None
    ) -> PairedTest:
        """Test two estimators on the sources on which none failed.

        Parameters
        ----------
        first : str
            Name of the first estimator.
        second : str
            Name of the second estimator.
        method : str, default="t"
            Name of the method.

        Returns
        -------
        PairedTest
            The comparison.
        """
        difference = self.differences(first, second, metric)
        return paired_test_of(difference, method, level, (first, second))

    def differences(self, first: str, second: str, metric: Any = None) -> SourceSummary:
        """Difference in loss (first minus second) per source, with its variance.

        Parameters
        ----------
        first : str
            Name of the first estimator.
        second : str
            Name of the second estimator.

        Returns
        -------
        SourceSummary
            Differences per source.
        """
        pair = [self._position(first), self._position(second)]
        return self._summarise(self.metric(metric), pair, self.source, self.source_names)

    def pairs(
        self, method: str = "t", level: float = 0.95, metric: Any = None
    ) -> tuple[PairedTest, ...]:
        """Test every pair of estimators, with Holm's correction.

        Parameters
        ----------
        method : str, default="t"
            Name of the method.

        Returns
        -------
        tuple of PairedTest
            One per pair.
        """
        pairs = combinations(self.names.tolist(), 2)
        tests = [self.test(*pair, method, level, metric) for pair in pairs]
        p_holm = holm([test.p_value for test in tests])
        return tuple(replace(test, p_holm=float(p)) for test, p in zip(tests, p_holm, strict=True))

    def friedman(self, level: float = 0.95, metric: Any = None) -> FriedmanTest:
        """Friedman's test of three or more estimators over the sources, with mean ranks.

        Returns
        -------
        FriedmanTest
            Ranks and critical difference.
        """
        losses = self.source_losses(metric)
        return friedman_test(losses[:, ~np.isnan(losses).any(axis=0)].T, level)

    def __repr__(self) -> str:
        tests, metric = self.pairs(), self.metrics[0]
        shown = decimals(min(test.standard_error for test in tests))
        means = metric.score_of(np.nanmean(self.source_losses(), axis=1))
        lines = [f"{metric.label} on left-out sources:"]
        scores = with_decimals(shown, *means)
        lines += [f"  {name}: {score}" for name, score in zip(self.names, scores, strict=True)]
        lines += [f"  {loss_label(metric)} of {test}" for test in tests]
        lines += [f"  failed: {who} without {fold} ({why})" for who, fold, why in self.failures]
        return "\n".join(lines)

    def _position(self, name: str) -> int:
        names = self.names.tolist()
        if name not in names:
            raise ValueError(f"`name` must be one of {names}; got {name!r}.")
        return names.index(name)


def loss_label(metric: Metric) -> str:
    """Name of ``metric.loss``, such as "error", "RMSE" or "1 − ROC AUC"."""
    if not metric.greater_is_better:
        return metric.label
    if metric.label == "accuracy":
        return "error"
    return f"1 − {metric.label}" if metric.bounds[1] == 1.0 else f"−{metric.label}"
