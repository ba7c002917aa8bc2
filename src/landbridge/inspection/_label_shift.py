"""Shift of the labels: class proportions, or the mean of a numeric label."""

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from scipy.stats import chi2_contingency, ttest_ind

from landbridge._typing import Vector, VectorLike
from landbridge._validation import Task, missing_values, plain_numbers, task_of


@dataclass(frozen=True, slots=True)
class LabelShift:
    """Labels of the two domains compared.

    Attributes
    ----------
    task : "classification" or "regression".
    classes : the classes of both domains; empty for regression.
    source, target : proportions of the classes, or mean and standard deviation of the numbers.
    effect : half the sum of the absolute differences of proportions (total variation), or the
        standardised mean difference, target minus source.
    p_value : of Pearson's χ² test, or of Welch's t-test.
    """

    task: Task
    classes: tuple[Any, ...]
    source: tuple[float, ...]
    target: tuple[float, ...]
    effect: float
    p_value: float


def label_shift(
    y: VectorLike, y_target: VectorLike, task: Literal["auto"] | Task = "auto"
) -> LabelShift:
    """Compare the labels of the two domains.

    "auto" uses the rule of `TransferSearchCV`: fractional numbers, or more than 30 distinct
    integers, mean regression.
    """
    source, target = _check_labels(y, "y"), _check_labels(y_target, "y_target")
    if (source.dtype.kind == "U") != (target.dtype.kind == "U"):
        raise ValueError(
            f"`y_target` must hold labels of the same type as y; got {target.dtype} and "
            f"{source.dtype}. Convert both to text or both to numbers."
        )
    if task == "auto":
        task = task_of(np.concatenate([source, target]))
    if task == "regression" and source.dtype.kind == "U":
        raise ValueError(
            "`task` must be 'classification' or 'auto' for labels that are not numbers; got "
            "'regression'. Change it, or convert the labels."
        )
    if task == "regression":
        return _shift_of_numbers(source.astype(np.float64), target.astype(np.float64))
    return _shift_of_classes(source, target)


def _shift_of_classes(source: Vector, target: Vector) -> LabelShift:
    classes = np.union1d(source, target)
    counts = np.array([[np.sum(part == k) for k in classes] for part in (source, target)])
    shares = counts / counts.sum(axis=1, keepdims=True)
    p_value = chi2_contingency(counts, correction=False).pvalue if len(classes) > 1 else 1.0
    return LabelShift(
        task="classification",
        classes=tuple(classes.tolist()),
        source=tuple(shares[0].tolist()),
        target=tuple(shares[1].tolist()),
        effect=float(np.abs(shares[0] - shares[1]).sum() / 2),
        p_value=float(p_value),
    )


def _shift_of_numbers(source: Vector, target: Vector) -> LabelShift:
    spread = np.sqrt((source.var(ddof=1) + target.var(ddof=1)) / 2)
    gap = target.mean() - source.mean()
    if spread > 0:
        effect, p_value = gap / spread, ttest_ind(source, target, equal_var=False).pvalue
    else:
        # The test is undefined if both labels are constant.
        effect, p_value = (0.0, 1.0) if gap == 0 else (np.copysign(np.inf, gap), 0.0)
    return LabelShift(
        task="regression",
        classes=(),
        source=(float(source.mean()), float(source.std(ddof=1))),
        target=(float(target.mean()), float(target.std(ddof=1))),
        effect=float(effect),
        p_value=float(p_value),
    )


def _check_labels(labels: VectorLike, name: str) -> Vector:
    labels = np.asarray(labels)
    if labels.ndim != 1 or len(labels) < 2:
        raise ValueError(
            f"`{name}` must be a vector of at least 2 labels; got shape {labels.shape}. "
            "Pass one label per row, or None to leave the labels out."
        )
    known = ~missing_values(labels)
    if labels.dtype.kind == "f":
        known = np.isfinite(labels)
    if not known.all():
        raise ValueError(
            f"`{name}` must not contain missing labels; got {(~known).sum()} missing or infinite. "
            "Pass only the known labels."
        )
    labels = plain_numbers(labels)
    return labels if labels.dtype.kind in "biuf" else labels.astype(str)
