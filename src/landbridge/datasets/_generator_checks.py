"""Argument checks of the generators."""

from landbridge._validation import is_count, is_number

TASKS = ["classification", "regression"]


def check_sizes(**sizes: int) -> None:
    for name, value in sizes.items():
        if not is_count(value):
            raise ValueError(f"`{name}` must be a positive integer; got {value!r}.")


def check_positive(**values: float) -> None:
    for name, value in values.items():
        if not (is_number(value) and value > 0):
            raise ValueError(f"`{name}` must be positive; got {value!r}.")
