"""Checks of constructor parameters, made at the start of ``fit``."""

import numbers
import os
from typing import Any

import numpy as np
from joblib import effective_n_jobs


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


def count_jobs(n_jobs: Any) -> int:
    """Workers that ``n_jobs`` stands for; None is 1 unless joblib's configuration says more."""
    whole = is_number(n_jobs) and isinstance(n_jobs, numbers.Integral)
    if n_jobs is not None and (not whole or n_jobs == 0):
        raise ValueError(
            "`n_jobs` must be None, a whole number of parallel jobs, or -1 for all cores; got "
            f"{n_jobs!r}. Pass 1 to run one task after the other."
        )
    return effective_n_jobs(n_jobs)


def check_memory(n_bytes: int, what: str, remedy: str) -> None:
    """Raise before a matrix is made that the free memory cannot hold."""
    try:
        free = os.sysconf("SC_AVPHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    except (AttributeError, ValueError, OSError):  # not on this system
        return
    if n_bytes > free:
        raise MemoryError(
            f"{what} needs about {n_bytes / 2**30:.0f} GiB of memory; {free / 2**30:.0f} GiB are "
            f"free. {remedy}"
        )


def check_estimator_given(value: Any, name: str = "estimator") -> None:
    """Raise unless ``value`` is an estimator: an instance, not a class, with ``fit``."""
    if isinstance(value, type):
        raise TypeError(
            f"`{name}` must be an estimator instance; got the class {value.__name__}. Pass "
            f"{value.__name__}() with its parameters."
        )
    if not hasattr(value, "fit"):
        raise TypeError(
            f"`{name}` must be an estimator with a fit method; got {value!r}. Pass for example "
            "LogisticRegression() or Ridge()."
        )


def check_probabilistic(classifier: Any, name: str) -> None:
    """Raise for a classifier without probabilities; None stands for one that has them."""
    if isinstance(classifier, type):
        check_estimator_given(classifier, name)
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
