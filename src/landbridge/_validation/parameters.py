"""Checks of constructor parameters, made at the start of ``fit``."""

from typing import Any

import numpy as np


def check_not_negative(value: Any, name: str) -> None:
    """Raise unless ``value`` is a finite number of at least 0."""
    if not 0 <= value < np.inf:
        raise ValueError(f"`{name}` must be a finite number of at least 0; got {value!r}.")


def check_positive(value: Any, name: str, reason: str = "") -> None:
    """Raise unless ``value`` is a finite number above 0; ``reason`` says why it must be."""
    if not 0 < value < np.inf:
        because = f", {reason}" if reason else ""
        raise ValueError(f"`{name}` must be a finite number above 0{because}; got {value!r}.")


def check_count(value: Any, name: str) -> None:
    """Raise unless ``value`` is a whole number of at least 1."""
    if not isinstance(value, int | np.integer) or value < 1:
        raise ValueError(f"`{name}` must be a whole number of at least 1; got {value!r}.")


def check_choice(value: Any, name: str, choices: list[Any] | tuple[Any, ...]) -> None:
    """Raise unless ``value`` is one of ``choices``."""
    if not any(value is choice or value == choice for choice in choices):
        known = ", ".join(repr(choice) for choice in choices)
        raise ValueError(f"`{name}` must be one of {known}; got {value!r}.")
