"""Comparison of several estimators on the same left-out sources, with paired tests."""

from dataclasses import dataclass, replace
from itertools import combinations
from typing import Any

import numpy as np

from landbridge._typing import Vector
from landbridge.inference import FriedmanTest, PairedTest, SourceSummary, friedman_test, holm
from landbridge.inference.comparison import paired_test_of
from landbridge.inference.intervals import decimals
from landbridge.inference.sources import summarise_scores
from landbridge.metrics.inference import losses_by_unit
from landbridge.metrics.metric import Metric
from landbridge.model_selection.multi_source_result import KeptPredictions, MultiSourceResult


@dataclass(frozen=True, eq=False, repr=False)
class Comparison(KeptPredictions):
    """Predictions of several estimators for the same rows, and the tests built on them.

    Tests compare losses, for which smaller is better: 1 − accuracy, RMSE, 1 − R².

    Parameters
    ----------
    y, predicted, probabilities, classes, source, source_names, sample_weight, scoring : arrays
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

    def source_losses(self, metric: Any = None) -> np.ndarray:
        """Loss of each estimator (row) on each source (column); NaN where there is none.

        Parameters
        ----------
        metric : str or Metric, optional
            Name of a metric; by default the first one.

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
        failures = tuple((fold, why) for who, fold, why in self.failures if who == name)
        result = MultiSourceResult(
            y=self.y,
            predicted=self.predicted[position],
            probabilities=self.probabilities[position],
            classes=self.classes,
            source=self.source,
            source_names=self.source_names,
            sample_weight=self.sample_weight,
            scoring=self.scoring,
            fold=self.source,
            seconds=self.seconds[position],
            failures=failures,
            scheme="source",
            estimator=name,
        )
        return result.with_metrics(self.metrics)

    def test(
        self,
        first: str,
        second: str,
        method: str = "t",
        level: float = 0.95,
        metric: Any = None,
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
        level : float, default=0.95
            Nominal coverage.
        metric : str or Metric, optional
            Name of a metric; by default the first one.

        Returns
        -------
        PairedTest
            The comparison.
        """
        return paired_test_of(
            self.differences(first, second, metric), method, level, (first, second)
        )

    def differences(self, first: str, second: str, metric: Any = None) -> SourceSummary:
        """Difference in loss (first minus second) per source, with its variance.

        Parameters
        ----------
        first : str
            Name of the first estimator.
        second : str
            Name of the second estimator.
        metric : str or Metric, optional
            Name of a metric; by default the first one.

        Returns
        -------
        SourceSummary
            Differences per source.
        """
        chosen = self.metric(metric)
        there = np.asarray(self.there.all(axis=0))
        pair = [self._position(first), self._position(second)]
        weight = None if self.weight is None else self.weight[there]
        units, n_sources = self.source[there], len(self.source_names)
        predictions = self._read_by(chosen, there, pair)
        values, variances = losses_by_unit(
            chosen, self.y[there], predictions, units, n_sources, weight
        )
        return summarise_scores(
            values,
            variances,
            names=self.source_names,
            n_rows=np.bincount(units, minlength=n_sources),
            totals=np.bincount(units, weight, minlength=n_sources),
        )

    def pairs(
        self, method: str = "t", level: float = 0.95, metric: Any = None
    ) -> tuple[PairedTest, ...]:
        """Test every pair of estimators, with Holm's correction.

        Parameters
        ----------
        method : str, default="t"
            Name of the method.
        level : float, default=0.95
            Nominal coverage.
        metric : str or Metric, optional
            Name of a metric; by default the first one.

        Returns
        -------
        tuple of PairedTest
            One per pair.
        """
        tests = [
            self.test(a, b, method, level, metric) for a, b in combinations(self.names.tolist(), 2)
        ]
        corrected = holm([test.p_value for test in tests])
        return tuple(
            replace(test, p_holm=float(p)) for test, p in zip(tests, corrected, strict=True)
        )

    def friedman(self, level: float = 0.95, metric: Any = None) -> FriedmanTest:
        """Friedman's test of three or more estimators over the sources, with mean ranks.

        Parameters
        ----------
        level : float, default=0.95
            Nominal coverage.
        metric : str or Metric, optional
            Name of a metric; by default the first one.

        Returns
        -------
        FriedmanTest
            Ranks and critical difference.
        """
        losses = self.source_losses(metric)
        return friedman_test(losses[:, ~np.isnan(losses).any(axis=0)].T, level)

    def __repr__(self) -> str:
        tests, metric = self.pairs(), self.metrics[0]
        digits = decimals(min(test.standard_error for test in tests))
        means = metric.score_of(np.nanmean(self.source_losses(), axis=1))
        lines = [f"{metric.label} on left-out sources:"]
        lines += [
            f"  {name}: {mean:.{digits}f}" for name, mean in zip(self.names, means, strict=True)
        ]
        lines += [f"  {loss_label(metric)} of {test}" for test in tests]
        lines += [f"  failed: {who} without {fold} ({why})" for who, fold, why in self.failures]
        return "\n".join(lines)

    def _position(self, name: str) -> int:
        found = np.flatnonzero(self.names == name)
        if not found.size:
            raise ValueError(f"`name` must be one of {self.names.tolist()}; got {name!r}.")
        return int(found[0])


def loss_label(metric: Metric) -> str:
    """Name of ``metric.loss``, such as "error", "RMSE" or "1 − ROC AUC"."""
    if not metric.greater_is_better:
        return metric.label
    if metric.label == "accuracy":
        return "error"
    return f"1 − {metric.label}" if metric.bounds[1] == 1.0 else f"−{metric.label}"
