"""Type aliases of the public interface."""

from typing import Any, TypeAlias

import numpy as np

# numpy arrays, pandas and polars tables, CSR matrices: any accepted input.
MatrixLike: TypeAlias = Any
VectorLike: TypeAlias = Any
# Validated input: a dense array or a CSR matrix.
Matrix: TypeAlias = Any
Vector: TypeAlias = np.ndarray
RandomState: TypeAlias = int | np.random.RandomState | None
