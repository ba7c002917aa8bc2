"""Names for the types that cross the public interface."""

from typing import Any, TypeAlias

import numpy as np

# numpy arrays, pandas and polars tables, CSR matrices: whatever the front door accepts.
MatrixLike: TypeAlias = Any
VectorLike: TypeAlias = Any
# What the front door hands on: a dense array or a CSR matrix, checked.
Matrix: TypeAlias = Any
Vector: TypeAlias = np.ndarray
RandomState: TypeAlias = int | np.random.RandomState | None
