"""Uniform weights, the baseline of the weighting methods."""

import numpy as np

from landbridge._typing import Matrix, Vector
from landbridge.weighting._base import Weighting


class UniformWeights(Weighting):
    """Weight every source row by 1 and ignore the target.

    This is the baseline for comparisons of weights; its diagnostics show how far apart the domains
    are without weighting.

    Examples
    --------
    >>> import numpy as np
    >>> from landbridge import UniformWeights
    >>> UniformWeights().fit(np.eye(3), np.eye(3) + 1).weights_
    array([1., 1., 1.])
    """

    def _weights(self, X: Matrix, X_target: Matrix) -> Vector:
        return np.ones(X.shape[0])

    def _new_weights(self, X: Matrix) -> Vector:
        return np.ones(X.shape[0])
