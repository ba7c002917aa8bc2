"""Encoding of labels that arrive in batches: numbers, or two classes with any names.

A path needs numeric labels. Numbers are used as they are; text labels are coded 0 and 1 in order of
appearance. If the stream has two distinct values, they are classes and become −1 and +1. The
moments are adjusted by a linear map, so no row has to be read twice.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np

from landbridge._typing import Vector
from landbridge._validation import is_text


@dataclass(frozen=True, slots=True)
class Labels:
    """The first (at most three) distinct values of a stream, in order of appearance."""

    values: tuple[Any, ...] = ()
    text: bool = False

    def extend(self, y: Vector) -> "Labels":
        """Add the values of another batch."""
        if y.dtype.kind in "mM":
            raise ValueError(
                f"`y` must contain numbers or two classes; got dates or durations, {y.dtype}. "
                "Convert them to numbers, for example to days since the first."
            )
        text = is_text(y)
        if self.values and text != self.text:
            raise ValueError(
                "`y` must contain text in every batch or numbers in every batch; got "
                f"{'text' if text else 'numbers'} after {'text' if self.text else 'numbers'}. "
                "Convert the labels first."
            )
        if len(self.values) > 2:
            return self
        new = [value for value in _first_values(y) if value not in self.values]
        values = (*self.values, *new)
        if text and len(values) > 2:
            raise ValueError(
                f"`y` must contain numbers or two classes; got the classes {list(values)}. "
                "Select two classes, or compare one class with the rest: y == 'name'."
            )
        return Labels(values[:3], text)

    def encode(self, y: Vector) -> Vector:
        """Labels as numbers."""
        if not self.text:
            return y.astype(np.float64, copy=False)
        return (y == self.values[-1]).astype(np.float64) * (len(self.values) - 1)

    def code_map(self, other: "Labels") -> tuple[float, float]:
        """Scale and offset that turn the code of ``other`` into the code of these labels."""
        if not self.text:
            return 1.0, 0.0
        codes = [float(self.values.index(value)) for value in other.values]
        return (codes[-1] - codes[0] if len(codes) > 1 else 1.0), codes[0]

    @property
    def classes(self) -> Vector | None:
        """The two classes in sorted order, or ``None`` for a numeric response."""
        if len(self.values) < 2:
            raise ValueError(
                f"`y` must contain at least two distinct values; got one class or number, "
                f"{self.values[0]!r}, in every row. Check how the labels were read."
            )
        return None if len(self.values) > 2 else np.array(sorted(self.values))

    @property
    def final_map(self) -> tuple[float, float]:
        """Scale and offset that turn codes into the response: −1, +1 for two classes."""
        classes = self.classes
        if classes is None:
            return 1.0, 0.0
        low, high = self.encode(classes)
        return 2.0 / (high - low), -(high + low) / (high - low)


def _first_values(y: Vector) -> list[Any]:
    """Up to three distinct values in sorted order, without sorting long batches."""
    if y.size > 64:
        head = np.unique(y[:64])
        if head.size > 2:
            return head[:3].tolist()
    return np.unique(y)[:3].tolist()
