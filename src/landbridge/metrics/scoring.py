"""Metrics of stored predictions.

A search stores predictions, and every metric is a function of them. The layout is:

============== ============================ ===================================================
task           y                            predictions
============== ============================ ===================================================
classification class positions 0..k−1       probabilities (…, rows, classes) in the order of the
                                            sorted classes, one-hot without ``predict_proba``
regression     numbers                      numbers (…, rows)
============== ============================ ===================================================

The predicted class of a row is its most probable one.
"""

import inspect
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from functools import partial
from typing import Any, TypeAlias

import numpy as np
from sklearn import metrics
from sklearn.metrics import get_scorer, get_scorer_names, make_scorer

from landbridge._sklearn_versions import metrics_there
from landbridge._typing import Vector, VectorLike
from landbridge._validation import Task
from landbridge.metrics import _kernels as kernels
from landbridge.metrics._kernels import Kernel, Pointwise
from landbridge.metrics.metric import CROSS_VALIDATED, Metric, Response

DEFAULTS: dict[Task, tuple[str, ...]] = {
    "classification": ("accuracy", "balanced_accuracy"),
    "regression": ("rmse", "mae", "r2"),
}
# Names in addition to those of scikit-learn, whose prefix "neg_" may be omitted.
ALIASES = {
    "rmse": "neg_root_mean_squared_error",
    "mae": "neg_mean_absolute_error",
    "mse": "neg_mean_squared_error",
    "absolute": "neg_mean_absolute_error",
    "squared": "neg_mean_squared_error",
    "log": "neg_log_loss",
}
RATE = (0.0, 1.0)
ERROR = (0.0, math.inf)
EXPLAINED = (-math.inf, 1.0)
UNKNOWN = (-math.inf, math.inf)
LOG_LOSS_RANGE = (0.0, -math.log(kernels.PROBABILITY_FLOOR))
# Label, bounds, kernel and pointwise loss of metrics of numbers.
Numbers: TypeAlias = tuple[str, tuple[float, float], Kernel, Pointwise | None]
NUMBERS: dict[Callable[..., Any], Numbers] = {
    metrics.mean_absolute_error: (
        "MAE",
        ERROR,
        partial(kernels.mean_loss, pointwise=kernels.absolute_losses),
        kernels.absolute_losses,
    ),
    metrics.mean_squared_error: (
        "MSE",
        ERROR,
        partial(kernels.mean_loss, pointwise=kernels.squared_losses),
        kernels.squared_losses,
    ),
    metrics.root_mean_squared_error: ("RMSE", ERROR, kernels.root_mean_squared_error, None),
    metrics.r2_score: ("R²", EXPLAINED, kernels.r_squared, None),
}
# Name and ratio of metrics of one class, or averaged over classes.
RATIOS: dict[Callable[..., Any], tuple[str, kernels.Ratio]] = {
    metrics.precision_score: ("precision", kernels.precision_ratio),
    metrics.recall_score: ("recall", kernels.recall_ratio),
    metrics.f1_score: ("F1", kernels.f_ratio),
    metrics.jaccard_score: ("Jaccard index", kernels.jaccard_ratio),
}
# With few positive rows, average precision varies more than its replicates; measured on the
# development tasks of benchmarks/metric_intervals.py.
AVERAGE_PRECISION_FACTOR = 1.25
# Variance of an out-of-fold score relative to that of a fixed model. Squared errors have long
# tails, where the models of the folds differ most (benchmarks/search_regression.py).
SQUARED_ERRORS_FACTOR = 5 / 3
SQUARED_ERRORS = (metrics.mean_squared_error, metrics.root_mean_squared_error, metrics.r2_score)
RANKINGS: dict[Callable[..., Any], tuple[str, Callable[..., Vector]]] = {
    metrics.roc_auc_score: ("ROC AUC", kernels.binary_auc),
    metrics.average_precision_score: ("average precision", kernels.binary_average_precision),
}
# Bounds of metrics that are called in a loop.
LOOPED_BOUNDS: dict[Callable[..., Any], tuple[float, float]] = {
    **dict.fromkeys((*RATIOS, *RANKINGS, metrics.top_k_accuracy_score), RATE),
    **dict.fromkeys((metrics.d2_log_loss_score, metrics.d2_absolute_error_score), EXPLAINED),
    **dict.fromkeys(metrics_there("explained_variance_score", "d2_brier_score"), EXPLAINED),
    **dict.fromkeys((metrics.median_absolute_error, metrics.max_error), ERROR),
    **dict.fromkeys((metrics.mean_squared_log_error, metrics.mean_poisson_deviance), ERROR),
    **dict.fromkeys((metrics.mean_absolute_percentage_error, metrics.mean_gamma_deviance), ERROR),
    metrics.root_mean_squared_log_error: ERROR,
}


def check_scoring(scoring: Any, *, task: Task, classes: VectorLike = None) -> tuple[Metric, ...]:
    """Convert ``scoring`` to metrics; the first one is used for selection.

    Parameters
    ----------
    scoring : None, str, scorer, callable, list or dict
        None means accuracy and balanced accuracy, or RMSE, MAE and R². A name is one of
        `sklearn.metrics.get_scorer_names`, with or without ``neg_``, or "rmse", "mae", "mse",
        "zero_one", "log", "absolute", "squared". A scorer comes from `sklearn.metrics.make_scorer`.
        Any other callable is called as ``(y_true, y_pred)``, with ``sample_weight`` if it accepts
        it, and greater values are better. A list or a dictionary contains several of these.
    task : {"classification", "regression"}
        Type of the labels.
    classes : array of shape (n_classes,), optional
        The sorted classes of a classification task.

    Returns
    -------
    tuple of Metric
        Metrics in the given order.

    Notes
    -----
    Metrics of one class ("f1", "precision", "recall", "average_precision", …) use class 1 as the
    positive class, as in scikit-learn, or the last class if there is no class 1. Their label names
    the class.

    Examples
    --------
    >>> from landbridge.metrics.scoring import check_scoring
    >>> [metric.label for metric in check_scoring(None, task="regression")]
    ['RMSE', 'MAE', 'R²']
    >>> check_scoring("f1", task="classification", classes=["no", "yes"])[0].label
    "F1 of 'yes'"
    """
    if scoring is None:
        scoring = DEFAULTS[task]
    named: list[tuple[str | None, Any]]
    if isinstance(scoring, Mapping):
        named = [(str(name), item) for name, item in scoring.items()]
    elif isinstance(scoring, Sequence) and not isinstance(scoring, str):
        named = [(None, item) for item in scoring]
    else:
        named = [(None, scoring)]
    if not named:
        raise ValueError("`scoring` must name at least one metric; got none. Omit it instead.")
    if task == "classification" and classes is None:
        raise ValueError("`classes` must contain the sorted classes of a classification task.")
    known = np.asarray([] if classes is None else classes)
    found = tuple(_metric(name, item, task, known) for name, item in named)
    names = [metric.name for metric in found]
    for name in names:
        if names.count(name) > 1:
            raise ValueError(
                f"`scoring` must give every metric a unique name; got {name!r} twice. Pass a "
                "dictionary with one name per metric."
            )
    return found


def _metric(name: str | None, item: Any, task: Task, classes: Vector) -> Metric:
    given = name if name is not None else _name_of(item)
    if isinstance(item, Metric):
        return item
    scorer = _scorer(item)
    request = _Request(
        name=given,
        function=scorer._score_func,
        options=dict(scorer._kwargs),
        greater_is_better=scorer._sign > 0,
        methods=_response_methods(scorer),
        task=task,
        classes=classes,
    )
    return request.metric()


def _name_of(item: Any) -> str:
    if isinstance(item, str):
        return item
    if isinstance(item, Metric):
        return item.name
    function = getattr(item, "_score_func", item)
    return str(getattr(function, "__name__", type(function).__name__))


def _scorer(item: Any) -> Any:
    """scikit-learn's scorer object for a name, a scorer or a function."""
    if isinstance(item, str):
        known = set(get_scorer_names())
        if item == "zero_one":
            return make_scorer(metrics.zero_one_loss, greater_is_better=False)
        for name in (item, ALIASES.get(item), f"neg_{item}"):
            if name in known:
                return get_scorer(name)
        near = get_close_matches(item, sorted(known), 1)
        meant = f"Did you mean {near[0]!r}? " if near else ""
        raise ValueError(
            f"`scoring` must be the name of a metric; got {item!r}. {meant}Choose one of "
            "sklearn.metrics.get_scorer_names(), or pass make_scorer(...)."
        )
    if hasattr(item, "_score_func"):
        return item
    if not callable(item):
        raise ValueError(
            f"`scoring` must be a name, a scorer or a function; got {item!r}. Pass for example "
            "'roc_auc' or make_scorer(...)."
        )
    for name in get_scorer_names():  # sklearn.metrics.log_loss is known to be a loss
        scorer = get_scorer(name)
        if scorer._score_func is item and not set(scorer._kwargs) - {"average"}:
            return scorer
    _refuse_estimator_callable(item)
    return make_scorer(item)


def _refuse_estimator_callable(function: Callable[..., Any]) -> None:
    if next(iter(_parameters(function)), "") in ("estimator", "clf", "est", "model"):
        raise ValueError(
            "`scoring` must be a function of (y_true, y_pred), because models are not stored; got "
            f"a function of an estimator, {_name_of(function)}. Pass "
            "make_scorer(function of y_true and y_pred)."
        )


def _response_methods(scorer: Any) -> tuple[str, ...]:
    methods = scorer._response_method
    return (methods,) if isinstance(methods, str) else tuple(methods)


@dataclass(frozen=True)
class _Request:
    """A requested metric, with everything that determines how it is computed."""

    name: str
    function: Callable[..., Any]
    options: dict[str, Any]
    greater_is_better: bool
    methods: tuple[str, ...]
    task: Task
    classes: Vector  # none for regression

    def metric(self) -> Metric:
        self._check_task()
        if self.function in NUMBERS:
            return self._of_numbers()
        build = {"label": _of_labels, "probability": _of_probabilities}.get(self.response)
        found = build(self) if build is not None else None
        if found is not None:
            return self._make(*found)
        bounds = LOOPED_BOUNDS.get(self.function, UNKNOWN)
        return self._make("", bounds, self._looped(), None, vectorised=False)

    @property
    def response(self) -> Response:
        if self.task == "regression":
            return "number"
        return "label" if self.methods == ("predict",) else "probability"

    @property
    def n_classes(self) -> int:
        return len(self.classes)

    @property
    def positive(self) -> int:
        """Position of the positive class: ``pos_label``, else 1, else the last class."""
        wanted = self.options.get("pos_label", 1)
        found = [k for k, c in enumerate(self.classes.tolist()) if c == wanted]
        if found:
            return found[0]
        if self.options.get("pos_label") is None:
            return self.n_classes - 1
        raise ValueError(
            f"`scoring` must name a class in pos_label; got {wanted!r} for {self.name!r}. The "
            f"classes are {self.classes.tolist()[:10]}."
        )

    @property
    def is_of_one_class(self) -> bool:
        """Whether only the positive class is scored, so that its rows limit what is known."""
        if self.function is metrics.average_precision_score:
            return self.n_classes == 2
        ratio = self.function in RATIOS or self.function is metrics.fbeta_score
        return ratio and self.options.get("average", "binary") == "binary"

    def label(self, words: str, *, of_class: bool = False) -> str:
        average = self.options.get("average")
        if of_class:
            positive = self.classes[self.positive].item()
            return words if positive == 1 else f"{words} of {positive!r}"
        return f"{words} ({average})" if average in ("macro", "micro", "weighted") else words

    def only(self, *known: str) -> bool:
        """Whether no other options are set."""
        return not {k for k, v in self.options.items() if v is not None} - set(known)

    def require_two_classes(self, instead: str) -> None:
        if self.n_classes != 2:
            raise ValueError(
                f"`scoring` {self.name!r} requires two classes; got {self.n_classes}. Use "
                f"{instead}."
            )

    def _check_task(self) -> None:
        module = getattr(self.function, "__module__", "") or ""
        if self.task == "regression":
            for_classes = module.endswith(("metrics._classification", "metrics._ranking"))
            if for_classes or "cluster" in module or self.methods != ("predict",):
                raise ValueError(
                    f"`scoring` must be a regression metric; got {self.name!r}, which is for "
                    "classification. Use for example 'rmse', 'mae' or 'r2'."
                )
        elif module.endswith("metrics._regression") and self.classes.dtype.kind not in "biuf":
            raise ValueError(
                f"`scoring` must be a classification metric; got {self.name!r}, which is for "
                f"numbers, and classes like {self.classes.tolist()[0]!r}. Use for example "
                "'accuracy' or 'roc_auc'."
            )
        if self.methods == ("decision_function",) and self.function not in RANKINGS:
            raise ValueError(
                f"`scoring` {self.name!r} needs decision_function, but only probabilities are "
                "stored. Use response_method='predict_proba'."
            )

    def _make(
        self,
        label: str,
        bounds: tuple[float, float],
        kernel: Kernel,
        pointwise: Pointwise | None,
        *,
        vectorised: bool = True,
    ) -> Metric:
        return Metric(
            name=self.name,
            label=label or self.name.removeprefix("neg_").replace("_", " "),
            greater_is_better=self.greater_is_better,
            response=self.response,
            bounds=bounds,
            kernel=kernel,
            pointwise_kernel=pointwise,
            vectorised=vectorised,
            variance_factor=(
                AVERAGE_PRECISION_FACTOR
                if self.function is metrics.average_precision_score
                else 1.0
            ),
            out_of_fold_factor=(
                SQUARED_ERRORS_FACTOR if self.function in SQUARED_ERRORS else CROSS_VALIDATED
            ),
            positive=self.positive if self.is_of_one_class else None,
            ranks=self.function in RANKINGS,
        )

    def _of_numbers(self) -> Metric:
        label, bounds, kernel, pointwise = NUMBERS[self.function]
        if not self.only():
            return self._make(label, bounds, self._looped(), None, vectorised=False)
        if self.task == "classification":  # distances between classes that are numbers
            numbers = self.classes.astype(np.float64)
            kernel = partial(_on_labels, kernel=kernel, classes=numbers)
            if pointwise is not None:
                pointwise = partial(_losses_on_labels, pointwise=pointwise, classes=numbers)
        return self._make(label, bounds, kernel, pointwise)

    def _looped(self) -> Kernel:
        options = dict(self.options)
        parameters = _parameters(self.function)
        of_probabilities = self.response == "probability"
        if of_probabilities and self.n_classes > 2 and "labels" in parameters:
            options.setdefault("labels", self.classes)
        loop = partial(
            kernels.looped,
            function=self.function,
            options=options,
            takes_weights="sample_weight" in parameters
            or any(one.kind is one.VAR_KEYWORD for one in parameters.values()),
        )
        if self.response == "number":
            return loop
        if of_probabilities:
            column = self.positive if self.n_classes == 2 else None
            return partial(_on_probabilities, kernel=loop, classes=self.classes, column=column)
        return partial(_on_labels, kernel=loop, classes=self.classes)


def _of_labels(request: _Request) -> Numbers | None:
    """Metrics of predicted classes that have a fast kernel; None for others."""
    function, options = request.function, request.options
    correct: tuple[Kernel, Pointwise] = kernels.accuracy, kernels.zero_one_losses
    kernel: Kernel
    ratio: kernels.Ratio
    if function is metrics.accuracy_score and request.only():
        return "accuracy", RATE, *correct
    if function is metrics.zero_one_loss and request.only():
        loss = partial(kernels.mean_loss, pointwise=kernels.zero_one_losses)
        return "error", RATE, loss, kernels.zero_one_losses
    if function is metrics.balanced_accuracy_score and request.only("adjusted"):
        adjusted = bool(options.get("adjusted"))
        kernel = partial(kernels.balanced_accuracy, adjusted=adjusted)
        return "balanced accuracy", (-1.0, 1.0) if adjusted else RATE, kernel, None
    if function is metrics.matthews_corrcoef and request.only():
        return "Matthews correlation", (-1.0, 1.0), kernels.matthews_correlation, None
    if function is metrics.fbeta_score:
        beta = float(options["beta"])
        words, ratio = f"F{beta:g}", partial(kernels.f_ratio, beta=beta)
    elif function in RATIOS:
        words, ratio = RATIOS[function]
    else:
        return None
    average = options.get("average", "binary")
    if average == "samples":
        raise ValueError(
            f"`scoring` must be a metric of single labels; got {request.name!r}, which is a "
            "multilabel metric. Use average='macro'."
        )
    if not request.only("average", "pos_label", "beta"):
        return None
    if average == "binary":
        request.require_two_classes(f"'{request.name}_macro', or average='macro'")
        kernel = partial(kernels.ratio_of_class, ratio=ratio, positive=request.positive)
        return request.label(words, of_class=True), RATE, kernel, None
    if average == "micro" and function is not metrics.jaccard_score:
        return request.label(words), RATE, *correct  # over all classes it is the accuracy
    if average in ("macro", "weighted"):
        kernel = partial(kernels.mean_ratio, ratio=ratio, by_support=average == "weighted")
        return request.label(words), RATE, kernel, None
    return None


def _of_probabilities(request: _Request) -> Numbers | None:
    """Metrics of probabilities that have a fast kernel; None for others."""
    function, options, binary = request.function, request.options, request.n_classes == 2
    if function is metrics.log_loss and request.only():
        log = kernels.log_losses
        return "log loss", LOG_LOSS_RANGE, partial(kernels.mean_loss, pointwise=log), log
    if function is metrics.brier_score_loss and request.only("pos_label"):
        brier = partial(kernels.brier_losses, scale=0.5 if binary else 1.0)
        bounds = (0.0, 1.0 if binary else 2.0)
        return "Brier score", bounds, partial(kernels.mean_loss, pointwise=brier), brier
    if function not in RANKINGS:
        return None
    kernel: Kernel
    words, curve = RANKINGS[function]
    average = options.get("average", "macro")
    if not request.only("average", "pos_label", "multi_class"):
        return None
    if binary:
        is_auc = function is metrics.roc_auc_score  # the same for either class
        positive = 1 if is_auc else request.positive
        kernel = partial(kernels.ranking_of_class, curve=curve, positive=positive)
        return (words if is_auc else request.label(words, of_class=True)), RATE, kernel, None
    against = options.get("multi_class", "ovr")
    if function is metrics.roc_auc_score and "multi_class" not in options:
        request.require_two_classes("'roc_auc_ovr' or 'roc_auc_ovo'")
    if average not in ("macro", "weighted"):
        return None
    kernel = partial(kernels.mean_ranking, curve=curve, by_support=average == "weighted")
    if against == "ovo":
        kernel = partial(kernels.mean_pairwise_auc, by_support=average == "weighted")
        words += ", pairs of classes"
    return request.label(words), RATE, kernel, None


def _parameters(function: Callable[..., Any]) -> Mapping[str, Any]:
    try:
        return inspect.signature(function).parameters
    except (TypeError, ValueError):
        return {}


def _on_labels(
    y: Vector, predictions: np.ndarray, weights: np.ndarray, *, kernel: Kernel, classes: Vector
) -> np.ndarray:
    return kernel(classes[y], classes[predictions.argmax(axis=-1)], weights)


def _on_probabilities(
    y: Vector,
    predictions: np.ndarray,
    weights: np.ndarray,
    *,
    kernel: Kernel,
    classes: Vector,
    column: int | None,
) -> np.ndarray:
    return kernel(classes[y], predictions if column is None else predictions[..., column], weights)


def _losses_on_labels(
    y: Vector, predictions: np.ndarray, *, pointwise: Pointwise, classes: Vector
) -> np.ndarray:
    return pointwise(classes[y], classes[predictions.argmax(axis=-1)])
