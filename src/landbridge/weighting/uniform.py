"""Uniform weights, the baseline of the weighting methods."""

import numpy as np

from landbridge._typing import Matrix, MatrixLike, Vector
from landbridge.weighting._base import Weighting


class UniformWeights(Weighting):
    """Weight every source row by 1 and ignore the target.

    This is the baseline for comparisons of weights; its diagnostics show how far apart the domains
    are without weighting.

    Attributes
    ----------
    weights_ : ones.
    effective_sample_size_ : the number of source rows.
    diagnostics_ : `WeightDiagnostics`

    Examples
    --------
    >>> import numpy as np
    >>> from landbridge import UniformWeights
    >>> UniformWeights().fit(np.eye(3), np.eye(3) + 1).weights_
    array([1., 1., 1.])
    """

    def _weights(self, X: Matrix, X_target: Matrix) -> Vector:
        return np.ones(X.shape[0])

    def predict_weights(self, X: MatrixLike) -> Vector:
        """Return weights of 1.

        Parameters
        ----------
        X : array-like of shape (n_rows, n_features)
            Rows.

        Returns
        -------
        ndarray of shape (n_rows,)
            Weights of the rows.
        """
        return np.ones(self._new_rows(X).shape[0])
