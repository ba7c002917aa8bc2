"""Validation of the arguments of a transfer fit."""

from dataclasses import dataclass, fields, replace
from typing import Any

import numpy as np
from sklearn.utils import check_consistent_length
from sklearn.utils.multiclass import check_classification_targets

from landbridge._typing import Matrix, MatrixLike, Vector, VectorLike
from landbridge._validation.checks import (
    Task,
    check_groups,
    check_like_source,
    check_new_source,
    check_numeric_labels,
    check_object_labels,
    check_one_label_each,
    check_sample_weight,
    check_source_rows,
    check_target_labels,
    refuse_masked,
    sklearn_errors,
    stack_rows,
    union_of_classes,
    validated,
)
from landbridge._warn import warn_caller
from landbridge.exceptions import NoTargetWarning


@dataclass(frozen=True, slots=True)
class TransferData:
    """Arguments of a transfer fit; ``None`` where nothing was given.

    ``classes`` is the sorted union of source and target labels (``None`` for regression).
    """

    X: Matrix
    y: Vector
    X_target: Matrix | None = None
    y_target: VectorLike = None
    X_unlabeled: Matrix | None = None
    sample_weight: Vector | None = None
    sample_weight_target: Vector | None = None
    groups: Vector | None = None
    classes: VectorLike = None

    @property
    def target_rows(self) -> Matrix | None:
        """All target rows, labelled ones first, for methods based on the marginal distribution."""
        parts = [part for part in (self.X_target, self.X_unlabeled) if part is not None]
        return stack_rows(parts) if parts else None

    @property
    def all_rows(self) -> Matrix:
        """Source rows, labelled target rows and unlabelled target rows."""
        parts = (self.X, self.X_target, self.X_unlabeled)
        return stack_rows([part for part in parts if part is not None])

    @property
    def labelled_rows(self) -> Matrix:
        """Source rows followed by the labelled target rows."""
        return self.X if self.X_target is None else stack_rows([self.X, self.X_target])

    @property
    def labels(self) -> Vector:
        """Labels of the source followed by those of the labelled target rows."""
        return self.y if self.y_target is None else np.concatenate([self.y, self.y_target])

    @property
    def row_weights(self) -> Vector:
        """Weights of the source rows and then of the labelled target rows; 1 if none are given."""
        sides = [(self.y, self.sample_weight)]
        if self.y_target is not None:
            sides.append((self.y_target, self.sample_weight_target))
        return np.concatenate(
            [np.ones(len(y)) if weights is None else weights.astype(float) for y, weights in sides]
        )

    @property
    def weighted(self) -> bool:
        """Whether any row has a weight."""
        return self.sample_weight is not None or self.sample_weight_target is not None

    @property
    def options(self) -> dict[str, Any]:
        """Arguments of ``fit`` besides X and y, as far as they were given."""
        names = (part.name for part in fields(TransferData)[2:-1])
        return {name: getattr(self, name) for name in names if getattr(self, name) is not None}

    def without_zero_weights(self) -> "TransferData":
        """The same arguments without the rows of weight 0."""
        kept: dict[str, Any] = {}
        if self.sample_weight is not None and not self.sample_weight.all():
            rows = self.sample_weight > 0
            kept = {"X": self.X[rows], "y": self.y[rows], "sample_weight": self.sample_weight[rows]}
            kept["groups"] = None if self.groups is None else self.groups[rows]
        weights = self.sample_weight_target
        if self.X_target is not None and weights is not None and not weights.all():
            rows = weights > 0
            kept |= {"X_target": self.X_target[rows], "y_target": self.y_target[rows]}
            kept["sample_weight_target"] = weights[rows]
        return replace(self, **kept) if kept else self

    def encode(self, labels: Vector) -> Vector:
        """Labels as their positions in ``classes``."""
        return np.searchsorted(self.classes, labels)


def check_transfer(
    estimator: Any,
    X: MatrixLike,
    y: VectorLike,
    *,
    task: Task,
    X_target: MatrixLike = None,
    y_target: VectorLike = None,
    X_unlabeled: MatrixLike = None,
    sample_weight: VectorLike = None,
    sample_weight_target: VectorLike = None,
    groups: VectorLike = None,
    accept_sparse: bool = True,
    min_classes: int = 2,
    multi_output: bool = False,
    plain_counterpart: str | None = None,
) -> TransferData:
    """Check the arguments of ``estimator.fit`` and record the columns on the estimator.

    ``plain_counterpart`` describes the method without target rows; if it is given and there are
    none, a `NoTargetWarning` names it.
    """
    X, y = _check_source(estimator, X, y, task, accept_sparse, multi_output)
    if sample_weight is not None:
        sample_weight = check_sample_weight(sample_weight, X)
    if groups is not None:
        groups = check_groups(groups, X.shape[0])
    target = _check_target_rows(estimator, X_target, y_target, X_unlabeled, accept_sparse)
    X_target, X_unlabeled = target
    if X_target is not None:
        y_target = check_target_labels(y_target, X_target, y, task)
    if sample_weight_target is not None:
        sample_weight_target = _check_target_weight(sample_weight_target, X_target)
    classes = None
    if task == "classification":
        classes = union_of_classes(y, y_target, min_classes)
    if plain_counterpart and X_target is None and X_unlabeled is None:
        warn_no_target(estimator, plain_counterpart)
    return TransferData(
        X, y, X_target, y_target, X_unlabeled, sample_weight, sample_weight_target, groups, classes
    )


def check_mapping(
    estimator: Any,
    X: MatrixLike,
    y: VectorLike = None,
    *,
    X_target: MatrixLike = None,
    y_target: VectorLike = None,
    X_unlabeled: MatrixLike = None,
    accept_sparse: bool = True,
    plain_counterpart: str,
) -> TransferData:
    """Check the arguments of ``fit`` of a transformer, for which labels are optional.

    Only the length of the labels is checked; each method defines their meaning.
    """
    X = check_new_source(estimator, X, accept_sparse=accept_sparse)
    refuse_masked({"y": y, "y_target": y_target})
    if y is not None:
        y = np.asarray(y)
        with sklearn_errors(X, "X"):
            check_consistent_length(X, y)
    target = _check_target_rows(estimator, X_target, y_target, X_unlabeled, accept_sparse)
    X_target, X_unlabeled = target
    if X_target is not None:
        y_target = np.asarray(y_target)
        check_one_label_each(y_target, X_target)
    if X_target is None and X_unlabeled is None:
        warn_no_target(estimator, plain_counterpart)
    return TransferData(X, y, X_target, y_target, X_unlabeled)


def _check_target_rows(
    estimator: Any,
    X_target: MatrixLike,
    y_target: VectorLike,
    X_unlabeled: MatrixLike,
    accept_sparse: bool,
) -> list[Matrix | None]:
    """Check that labels come with rows, and both sets of rows against the columns of the source."""
    if (X_target is None) != (y_target is None):
        raise_half_a_target(X_target)
    given = {"X_target": X_target, "X_unlabeled": X_unlabeled}
    return [
        None if X is None else check_like_source(estimator, X, name, accept_sparse=accept_sparse)
        for name, X in given.items()
    ]


def _check_target_weight(sample_weight_target: VectorLike, X_target: Matrix | None) -> Vector:
    if X_target is None:
        raise ValueError(
            "`sample_weight_target` must come with `X_target`, the rows that it weights; got "
            "`sample_weight_target` alone. Pass both."
        )
    return check_sample_weight(sample_weight_target, X_target, "sample_weight_target")


def check_two_domains(
    estimator: Any, X: MatrixLike, X_target: MatrixLike, *, accept_sparse: bool = True
) -> tuple[Matrix, Matrix]:
    """Check rows of the source and of the target, without labels."""
    if X_target is None:
        raise ValueError(
            "`X_target` must contain the target rows; got None. "
            "Pass the labelled and unlabelled target rows."
        )
    X = check_new_source(estimator, X, accept_sparse=accept_sparse)
    return X, check_like_source(estimator, X_target, "X_target", accept_sparse=accept_sparse)


def _check_source(
    estimator: Any,
    X: MatrixLike,
    y: VectorLike,
    task: Task,
    accept_sparse: bool,
    multi_output: bool,
) -> tuple[Matrix, Vector]:
    if task == "classification":
        y = check_object_labels(y)
    elif y is not None:
        y = check_numeric_labels(y)
    options = {"y_numeric": task == "regression", "multi_output": multi_output}
    X, y = validated(estimator, X, y, accept_sparse=accept_sparse, **options)
    if task == "classification":
        check_classification_targets(y)
    return check_source_rows(estimator, X), y


def raise_half_a_target(X_target: MatrixLike) -> None:
    """Raise an error that says whether target rows or target labels are missing."""
    if X_target is None:
        raise ValueError(
            "`y_target` must come with `X_target`, the rows that it labels; got `y_target` alone. "
            "Pass both."
        )
    raise ValueError(
        "`X_target` must come with `y_target`, its labels; got `X_target` alone. "
        "Pass unlabelled target rows as `X_unlabeled`."
    )


def warn_no_target(estimator: Any, plain_counterpart: str) -> None:
    """Warn that a transfer estimator was fitted without target rows."""
    warn_caller(
        f"{type(estimator).__name__} was fitted without target rows and equals "
        f"{plain_counterpart}. Pass `X_target` with `y_target`, or `X_unlabeled`.",
        NoTargetWarning,
    )
