"""Checks of constructor parameters, made at the start of ``fit``."""

import numbers
from typing import Any

import numpy as np


def is_number(value: Any) -> bool:
    """Whether ``value`` is a real number: no text, no list, no truth value; NaN is one."""
    return isinstance(value, numbers.Real) and not isinstance(value, bool)


def is_count(value: Any, least: int = 1) -> bool:
    """Whether ``value`` is a whole number of at least ``least``."""
    return is_number(value) and isinstance(value, numbers.Integral) and int(value) >= least


def check_not_negative(value: Any, name: str) -> None:
    """Raise unless ``value`` is a finite number of at least 0."""
    if not (is_number(value) and 0 <= value < np.inf):
        raise ValueError(f"`{name}` must be a finite number of at least 0; got {value!r}.")


def check_positive(value: Any, name: str, reason: str = "") -> None:
    """Raise unless ``value`` is a finite number above 0; ``reason`` says why it must be."""
    if not (is_number(value) and 0 < value < np.inf):
        because = f", {reason}" if reason else ""
        raise ValueError(f"`{name}` must be a finite number above 0{because}; got {value!r}.")


def check_count(value: Any, name: str, *, least: int = 1) -> None:
    """Raise unless ``value`` is a whole number of at least ``least``."""
    if not is_count(value, least):
        raise ValueError(f"`{name}` must be a whole number of at least {least}; got {value!r}.")


def check_probabilistic(classifier: Any, name: str) -> None:
    """Raise for a classifier without probabilities; None stands for one that has them."""
    if classifier is not None and not hasattr(classifier, "predict_proba"):
        raise ValueError(
            f"`{name}` must have predict_proba; got {type(classifier).__name__}, which has not. "
            "Wrap it in sklearn.calibration.CalibratedClassifierCV, for example."
        )


def check_choice(value: Any, name: str, choices: list[Any] | tuple[Any, ...]) -> None:
    """Raise unless ``value`` is one of ``choices``."""
    if not any(value is choice or value == choice for choice in choices):
        known = ", ".join(repr(choice) for choice in choices)
        raise ValueError(f"`{name}` must be one of {known}; got {value!r}.")
