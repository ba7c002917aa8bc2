"""Checks of constructor parameters, made at the start of ``fit``."""

import numbers
import os
from typing import Any

import numpy as np
from joblib import effective_n_jobs


def is_number(value: Any) -> bool:
    """Whether ``value`` is a real number, not text, a list or a boolean; NaN is accepted."""
    return isinstance(value, numbers.Real) and not isinstance(value, bool)


def is_count(value: Any, least: int = 1) -> bool:
    """Whether ``value`` is an integer of at least ``least``."""
    return is_number(value) and isinstance(value, numbers.Integral) and int(value) >= least


def check_not_negative(value: Any, name: str) -> None:
    """Raise unless ``value`` is a finite number of at least 0."""
    if not (is_number(value) and 0 <= value < np.inf):
        raise ValueError(f"`{name}` must be a finite number of at least 0; got {value!r}.")


def check_positive(value: Any, name: str, reason: str = "") -> None:
    """Raise unless ``value`` is a finite number above 0; ``reason`` is added to the message."""
    if not (is_number(value) and 0 < value < np.inf):
        because = f", {reason}" if reason else ""
        raise ValueError(f"`{name}` must be a finite number above 0{because}; got {value!r}.")


def check_count(value: Any, name: str, *, least: int = 1, optional: bool = False) -> None:
    """Raise unless ``value`` is an integer of at least ``least``, or None where ``optional``."""
    if not (is_count(value, least) or (optional and value is None)):
        allowed = f"a whole number of at least {least}{' or None' if optional else ''}"
        raise ValueError(f"`{name}` must be {allowed}; got {value!r}.")


def count_jobs(n_jobs: Any) -> int:
    """Number of workers for ``n_jobs``; None is 1 unless joblib is configured otherwise."""
    whole = is_number(n_jobs) and isinstance(n_jobs, numbers.Integral)
    if n_jobs is not None and (not whole or n_jobs == 0):
        raise ValueError(
            "`n_jobs` must be None, a whole number of parallel jobs, or -1 for all cores; got "
            f"{n_jobs!r}. Pass 1 to run one task after the other."
        )
    return effective_n_jobs(n_jobs)


def check_memory(n_bytes: int, what: str, remedy: str) -> None:
    """Raise if a matrix would not fit into free memory."""
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
    """Raise if a classifier has no ``predict_proba``; None is accepted."""
    if isinstance(classifier, type):
        check_estimator_given(classifier, name)
    if classifier is not None and not hasattr(classifier, "predict_proba"):
        raise ValueError(
            f"`{name}` must have predict_proba; got {type(classifier).__name__}, which does not. "
            "Wrap it in sklearn.calibration.CalibratedClassifierCV, for example."
        )


def check_choice(value: Any, name: str, choices: list[Any] | tuple[Any, ...]) -> None:
    """Raise unless ``value`` is one of ``choices``."""
    if not any(value is choice or value == choice for choice in choices):
        known = ", ".join(repr(choice) for choice in choices)
        raise ValueError(f"`{name}` must be one of {known}; got {value!r}.")
