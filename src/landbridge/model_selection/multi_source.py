"""Multiple-source cross-validation: train without each source, predict it.

Geras and Sutton, *Multiple-source cross-validation*: CVS, and CVR for comparison.
"""

import os
from collections.abc import Mapping
from typing import Any, Literal, Self

import numpy as np
from sklearn.base import BaseEstimator, MetaEstimatorMixin
from sklearn.utils import check_random_state

from landbridge._delegate import task_of_estimator
from landbridge._typing import MatrixLike, RandomState, VectorLike
from landbridge._validation import Task, check_choice
from landbridge.metrics.metric import Metric
from landbridge.metrics.scoring import check_scoring
from landbridge.model_selection._source_folds import (
    Folds,
    deal_folds,
    predict_folds,
    short_name,
)
from landbridge.model_selection.multi_source_result import MultiSourceResult
from landbridge.model_selection.source_comparison import Comparison


class MultiSourceCV(MetaEstimatorMixin, BaseEstimator):
    """Estimate how well an estimator does on a new source, with intervals.

    For each of the K sources, the estimator is trained on the other sources and predicts source k
    (CVS). With s_k the score of the predictions for source k, the estimate is the mean over the
    sources,

        μ̂ = (1/K) Σ_k s_k,

    which estimates the expected score on a new source after training on K − 1 sources (Section
    4.1). ``scheme="random"`` uses K random blocks of rows instead (CVR): this estimates the score
    on the present sources and is optimistic for a new one.

    Parameters
    ----------
    estimator : classifier, regressor, pipeline or search
        Estimator that is cloned for every fold. If its ``fit`` accepts ``groups``, those of the
        training rows are passed.
    scoring : str, scorer, callable, list or dict, default=None
        One or several metrics, as in `landbridge.metrics.scoring.check_scoring`. None for
        accuracy with balanced accuracy, or RMSE with MAE and R². Predictions are stored, so any
        other metric can be computed afterwards.
    scheme : {"source", "random"}, default="source"
        Leave out sources, or random blocks for comparison.
    unlabeled_target : bool, default=False
        Pass the rows of the left-out source, without labels, to ``fit`` as ``X_unlabeled``.
    cache : str or path, optional
        Directory in which finished fits are kept, as in `TransferSearchCV`.
    n_jobs : int, default=None
        Number of parallel jobs. Results are identical for any value.
    random_state : int, RandomState instance or None, default=None
        Seed for the random blocks. If given, it also sets unset random states of the estimator in
        each fold.
    verbose : int, default=0
        If positive, show a progress bar, or log the number of finished fits and the time left.

    Attributes
    ----------
    result_ : MultiSourceResult
        Stored predictions, scores and intervals; ``print`` it for a summary in words.

    Notes
    -----
    A fit that fails is recorded in ``result_.failures`` with a `FailedFitWarning`; its source is
    left out of every estimate. If fewer than two sources remain, ``fit`` raises.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.linear_model import LogisticRegression
    >>> from landbridge import MultiSourceCV
    >>> rng = np.random.default_rng(0)
    >>> groups = np.repeat(["a", "b", "c", "d", "e", "f"], 100)
    >>> slope = np.repeat(rng.normal(2, 1, size=6), 100)
    >>> X = rng.normal(size=(600, 1))
    >>> y = np.where(slope * X[:, 0] + rng.logistic(size=600) > 0, "ill", "well")
    >>> cv = MultiSourceCV(LogisticRegression()).fit(X, y, groups=groups)
    >>> cv.result_.source_scores().round(2)
    array([0.81, 0.81, 0.84, 0.77, 0.71, 0.79])
    >>> answer = cv.result_.interval("new_source", level=0.9)
    >>> print(answer.describe(why=False))
    Expected accuracy on a new source: 0.79, 90 % between 0.69 and 0.89
    >>> print(cv.result_.interval(metric="roc_auc", level=0.9).describe(why=False))
    Expected ROC AUC on a new source: 0.86, 90 % between 0.77 and 0.96
    >>> answer.advice()
    'noise within sources dominates: more rows in each source help'
    """

    def __init__(
        self,
        estimator: Any,
        *,
        scoring: Any = None,
        scheme: Literal["source", "random"] = "source",
        unlabeled_target: bool = False,
        cache: str | os.PathLike[str] | None = None,
        n_jobs: int | None = None,
        random_state: RandomState = None,
        verbose: int = 0,
    ):
        self.estimator = estimator
        self.scoring = scoring
        self.scheme = scheme
        self.unlabeled_target = unlabeled_target
        self.cache = cache
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose

    def fit(
        self,
        X: MatrixLike,
        y: VectorLike,
        *,
        groups: VectorLike,
        sample_weight: VectorLike = None,
    ) -> Self:
        """Fit the estimator without each source and predict it.

        Parameters
        ----------
        X : array, table, CSR matrix or list of length n_rows
            Passed to the estimator unchanged, so pipelines can start from raw tables or texts.
        y : array of length n_rows
            Labels of the rows.
        groups : array of length n_rows
            The source of each row.
        sample_weight : array of length n_rows, optional
            Weights of the rows, used in ``fit`` and in the metrics.

        Returns
        -------
        self
            The fitted estimator.
        """
        check_choice(self.scheme, "scheme", ("source", "random"))
        rng = None if self.random_state is None else check_random_state(self.random_state)
        folds = deal_folds(
            X,
            y,
            groups,
            sample_weight,
            scheme=self.scheme,
            task=task_of_estimator(self.estimator),
            rng=rng,
        )
        metrics = _metrics(self.scoring, folds)
        predictions = predict_folds(
            [self.estimator],
            folds,
            metrics=metrics,
            unlabeled_target=self.unlabeled_target,
            cache=self.cache,
            n_jobs=self.n_jobs,
            random_state=rng,
            verbose=self.verbose,
        )
        self.result_ = MultiSourceResult(
            **folds.fields(metrics),
            predicted=predictions.predicted[0],
            probabilities=predictions.probabilities[0],
            fold=folds.fold,
            seconds=predictions.seconds[0],
            failures=tuple((fold, message) for _, fold, message in predictions.failures),
            scheme=self.scheme,
            estimator=short_name(self.estimator),
        ).with_metrics(metrics)
        return self


def compare_estimators(
    a: Any,
    b: Any,
    X: MatrixLike,
    y: VectorLike,
    *,
    groups: VectorLike,
    scoring: Any = None,
    sample_weight: VectorLike = None,
    unlabeled_target: bool = False,
    cache: str | os.PathLike[str] | None = None,
    n_jobs: int | None = None,
    random_state: RandomState = None,
) -> Comparison:
    """Compare two or more estimators on sources that they have not seen.

    For every source k, all estimators are trained without it and predict its rows. The tests use
    the paired differences of their losses by source.

    Parameters
    ----------
    a, b : estimators, or dictionaries of them by name
        ``b`` may be None if ``a`` is a dictionary of at least two estimators.
    X : array-like of shape (n_rows, n_features)
        Rows of all sources.
    y : array-like of shape (n_rows,)
        Labels.
    groups : array-like of shape (n_rows,)
        Source of each row.
    scoring : str, scorer, callable, list or dict, default=None
        One or several metrics, as in `MultiSourceCV`.
    sample_weight : array-like of shape (n_rows,), default=None
        Weights of the rows, as in `MultiSourceCV.fit`.
    unlabeled_target : bool, default=False
        Pass the rows of the left-out source, without labels, to ``fit`` as ``X_unlabeled``.
    cache : str or path, optional
        Directory in which finished fits are stored, as in `TransferSearchCV`.
    n_jobs : int, default=None
        Number of parallel jobs. Results are identical for any value.
    random_state : int, RandomState instance or None, default=None
        If given, sets unset random states of the estimators in each fold.

    Returns
    -------
    Comparison
        ``pairs()`` tests every pair with Holm's correction, ``friedman()`` ranks three or more
        estimators, and ``result(name)`` has the intervals of one of them; ``print`` it for a
        summary in words.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.dummy import DummyClassifier
    >>> from sklearn.naive_bayes import GaussianNB
    >>> from landbridge import compare_estimators
    >>> rng = np.random.default_rng(0)
    >>> groups, X = np.repeat(np.arange(6), 50), rng.normal(size=(300, 2))
    >>> y = X[:, 0] + rng.normal(size=300) > 0
    >>> comparison = compare_estimators(GaussianNB(), DummyClassifier(), X, y, groups=groups)
    >>> comparison.pairs()[0].p_value < 0.05
    True
    """
    estimators = _named_estimators(a, b)
    rng = None if random_state is None else check_random_state(random_state)
    tasks = {task_of_estimator(estimator) for estimator in estimators.values()}
    if len(tasks) > 1:
        raise ValueError(
            "`a` and `b` must all be classifiers or all be regressors; got both. Compare "
            "classifiers and regressors separately."
        )
    folds = deal_folds(X, y, groups, sample_weight, scheme="source", task=tasks.pop(), rng=None)
    metrics = _metrics(scoring, folds)
    found = predict_folds(
        list(estimators.values()),
        folds,
        metrics=metrics,
        unlabeled_target=unlabeled_target,
        cache=cache,
        n_jobs=n_jobs,
        random_state=rng,
        verbose=0,
    )
    names = np.array(list(estimators))
    return Comparison(
        **folds.fields(metrics),
        predicted=found.predicted,
        probabilities=found.probabilities,
        names=names,
        seconds=found.seconds,
        failures=tuple((str(names[who]), fold, message) for who, fold, message in found.failures),
    ).with_metrics(metrics)


def _metrics(scoring: Any, folds: Folds) -> tuple[Metric, ...]:
    task: Task = "classification" if folds.classes.size else "regression"
    return check_scoring(scoring, task=task, classes=folds.classes)


def _named_estimators(a: Any, b: Any) -> dict[str, Any]:
    named: dict[str, Any] = {}
    for given in (a, b):
        if given is None:
            continue
        if not isinstance(given, Mapping):
            name = type(given).__name__
            given = {name if name not in named else f"{name}_2": given}
        for name, estimator in given.items():
            if name in named:
                raise ValueError(
                    f"`b` must not repeat names of `a`; got {name!r} in both. Rename one."
                )
            named[str(name)] = estimator
    if len(named) < 2:
        raise ValueError(
            f"`a` and `b` must hold at least 2 estimators together; got {len(named)}. "
            "Use MultiSourceCV to judge one."
        )
    return named
