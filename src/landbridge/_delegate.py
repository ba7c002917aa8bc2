"""Base class and helpers of meta-estimators that wrap a single estimator."""

from typing import Any, Literal

import numpy as np
from sklearn import config_context
from sklearn.base import BaseEstimator, MetaEstimatorMixin, clone, is_classifier, is_regressor
from sklearn.ensemble import HistGradientBoostingClassifier, HistGradientBoostingRegressor
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import MaxAbsScaler
from sklearn.utils import get_tags
from sklearn.utils._tags import Tags
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import has_fit_parameter

from landbridge._typing import Matrix, MatrixLike, Vector, VectorLike
from landbridge._validation import Task, check_estimator_given, check_rows, without_masks

BOOSTED = (HistGradientBoostingClassifier, HistGradientBoostingRegressor)


def last_step(estimator: Any) -> Any:
    """The estimator itself, or the last step of a pipeline."""
    while isinstance(estimator, Pipeline):
        estimator = estimator.steps[-1][1]
    return estimator


def first_step(estimator: Any) -> Any:
    """The estimator itself, or the first step of a pipeline."""
    while isinstance(estimator, Pipeline):
        estimator = estimator.steps[0][1]
    return estimator


def task_of_estimator(estimator: Any) -> Task:
    """Regression for regressors, otherwise classification."""
    check_estimator_given(estimator)
    return "regression" if is_regressor(estimator) else "classification"


def takes_sample_weight(estimator: Any) -> bool:
    """Whether ``estimator`` (for a pipeline, its last step) accepts row weights in ``fit``."""
    return has_fit_parameter(last_step(estimator), "sample_weight")


def require_sample_weight(estimator: Any, reason: str) -> None:
    """Raise if an estimator does not accept row weights; ``reason`` says why they are needed."""
    if not takes_sample_weight(estimator):
        raise ValueError(
            f"`estimator` must accept sample_weight in fit, because {reason}; got "
            f"{type(estimator).__name__}, which does not. Pass an estimator that does, for "
            "example LogisticRegression, Ridge or a tree."
        )


def check_learns(estimator: Any, kind: Literal["classifier", "regressor"]) -> None:
    """Raise if ``estimator`` is not of the required kind."""
    check_estimator_given(estimator)
    if (is_regressor if kind == "classifier" else is_classifier)(estimator):
        answers = "classes" if kind == "classifier" else "numbers"
        raise ValueError(
            f"`estimator` must be a {kind}; got {type(estimator).__name__}. Pass one that predicts "
            f"{answers}."
        )


def fit_weighted(estimator: Any, X: Matrix, y: Vector, sample_weight: Vector | None) -> Any:
    """Fit a clone of ``estimator``; in a pipeline, weights are passed to the last step."""
    estimator = clone(estimator)
    if sample_weight is None:
        return estimator.fit(X, y)
    if not isinstance(estimator, Pipeline):
        if isinstance(estimator, BOOSTED):
            X = _round_to_quantiles(X, sample_weight, estimator.max_bins)
        return estimator.fit(X, y, sample_weight=sample_weight)
    if isinstance(last_step(estimator), BOOSTED):
        maps, (name, last) = estimator[:-1], estimator.steps[-1]
        rows = maps.fit_transform(X, y) if maps.steps else X
        # `maps` shares its steps with the pipeline, so only the last one has to be restored.
        estimator.steps[-1] = (name, fit_weighted(last, rows, y, sample_weight))
        return estimator
    # With metadata routing every step would have to request or refuse the weights, but only the
    # last step uses them.
    with config_context(enable_metadata_routing=False):
        return estimator.fit(X, y, **{f"{estimator.steps[-1][0]}__sample_weight": sample_weight})


def _round_to_quantiles(X: MatrixLike, sample_weight: Vector, n_values: int) -> MatrixLike:
    """Round every column of numbers to at most ``n_values`` of its weighted quantiles.

    Histogram gradient boosting sorts each column once per bin if rows have weights and a column has
    more distinct values than bins, which takes most of the time of a small fit. With fewer values,
    it puts thresholds midway between neighbouring values. A row and its rounded version are on the
    same side of every threshold, so the model can predict rows that are not rounded.
    """
    if hasattr(X, "columns"):
        columns = {name: X[name] for name in X.columns}
        for name, column in columns.items():
            if _holds_numbers(column):
                columns[name] = _rounded_column(column, sample_weight, n_values)
        return type(X)(columns)
    rounded = np.array(X, dtype=np.float64)
    for column in rounded.T:
        column[:] = _rounded_column(column, sample_weight, n_values)
    return rounded


def _holds_numbers(column: Any) -> bool:
    """Whether a column of a table holds numbers, which are not the codes of categories."""
    dtype = column.dtype
    if hasattr(dtype, "is_numeric"):  # polars
        return bool(dtype.is_numeric())
    return isinstance(dtype, np.dtype) and dtype.kind in "iuf"


def _rounded_column(column: VectorLike, weights: Vector, n_values: int) -> Vector:
    values = np.array(column, dtype=np.float64)
    finite = np.isfinite(values)
    if (np.isnan(values) | finite).all():
        values[finite] = _nearest_quantile(values[finite], weights[finite], n_values)
    return values


def _nearest_quantile(values: Vector, weights: Vector, n_values: int) -> Vector:
    order = np.argsort(values, kind="stable")
    mass = np.cumsum(weights[order])
    if not mass.size or mass[-1] <= 0 or np.unique(values).size <= n_values:
        return values
    ranks = (np.arange(n_values) + 0.5) / n_values * mass[-1]
    quantiles = np.unique(values[order[np.searchsorted(mass, ranks)]])
    return quantiles[np.searchsorted((quantiles[1:] + quantiles[:-1]) / 2, values)]


def linear_learner() -> Pipeline:
    """Default base learner, for any scale, dense or sparse rows, and sample weights."""
    return make_pipeline(MaxAbsScaler(), LogisticRegression(max_iter=1000))


def clone_with_seed(estimator: Any, seed: int | None) -> Any:
    """Clone with all unset ``random_state`` parameters, including nested ones, set to ``seed``."""
    estimator = clone(estimator)
    if seed is None:
        return estimator
    unset = [
        name
        for name, value in estimator.get_params(deep=True).items()
        if value is None and (name == "random_state" or name.endswith("__random_state"))
    ]
    return estimator.set_params(**dict.fromkeys(unset, seed))


def _estimator_has(method: str) -> Any:
    def check(self: "DelegatingEstimator") -> bool:
        return hasattr(getattr(self, "estimator_", self.estimator), method)

    return available_if(check)


class DelegatingEstimator(MetaEstimatorMixin, BaseEstimator):
    """Base class that predicts with ``estimator_`` after checking the rows.

    Subclasses have a constructor parameter ``estimator`` and set ``estimator_`` in ``fit``.
    """

    estimator: Any

    @property
    def task_(self) -> Task:
        return task_of_estimator(self.estimator)

    @property
    def classes_(self) -> Vector:
        return self.estimator_.classes_

    def predict(self, X: MatrixLike) -> Vector:
        """Predict with the fitted estimator."""
        return self._ask("predict", X)

    @_estimator_has("predict_proba")
    def predict_proba(self, X: MatrixLike) -> np.ndarray:
        """Class probabilities of the fitted estimator, in the order of ``classes_``."""
        return self._ask("predict_proba", X)

    @_estimator_has("decision_function")
    def decision_function(self, X: MatrixLike) -> np.ndarray:
        """Decision function of the fitted estimator."""
        return self._ask("decision_function", X)

    @without_masks
    def score(self, X: MatrixLike, y: VectorLike, sample_weight: VectorLike = None) -> float:
        """Accuracy of a classifier, R² of a regressor."""
        return self._ask("score", X, y, sample_weight=sample_weight)

    def _ask(self, method: str, X: MatrixLike, *others: Any, **options: Any) -> Any:
        X = check_rows(self, X, "estimator_")
        return getattr(self.estimator_, method)(X, *others, **options)

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        inner = get_tags(self.estimator)
        tags.estimator_type = inner.estimator_type
        tags.classifier_tags = inner.classifier_tags
        tags.regressor_tags = inner.regressor_tags
        tags.target_tags.required = inner.target_tags.required
        tags.input_tags.sparse = inner.input_tags.sparse
        return tags
