"""Correlation alignment (Sun, Feng and Saenko: Return of Frustratingly Easy Domain Adaptation).

min_A ‖A'C_S A − C_T‖²_F has the solution A = C_S^-½ C_T^½: source rows are whitened by their own
covariance C_S and coloured by that of the target, C_T. ridge·I is added to both covariances (I in
the paper).

Deviation 1: the paper standardises each domain first, so that their means are zero. With
``match_mean=True`` the means are part of the map: x ↦ (x − m_S)A + m_T. The default is x ↦ xA as
printed. If class frequencies differ between domains, the means differ too, and matching them moves
one class onto another (cars by origin: accuracy 0.28 instead of 0.91). Deviation 2: with ridge = 0
inverses are taken on the range of C_S.
"""

import numpy as np

from landbridge._domain_map import DomainMap
from landbridge._validation import TransferData, check_memory, check_not_negative


def covariance_root(X: np.ndarray, ridge: float, power: float) -> np.ndarray:
    """(cov(X) + ridge·I)^power on its range; one row has the covariance 0."""
    centred = X.astype(float) - X.mean(axis=0, dtype=float)
    covariance = centred.T @ centred / max(X.shape[0] - 1, 1)
    values, vectors = np.linalg.eigh(covariance + ridge * np.eye(X.shape[1]))
    keep = values > max(values[-1], 0.0) * X.shape[1] * np.finfo(float).eps
    return (vectors[:, keep] * values[keep] ** power) @ vectors[:, keep].T


class CORAL(DomainMap):
    """Give the source rows the covariance (and, on request, the mean) of the target rows.

    Source rows become x C_S^-½ C_T^½; target rows are not changed. ``transform`` expects target
    rows, as a Pipeline requires in ``predict``, and is the identity. ``fit_transform`` and
    ``transform_source`` map source rows. Standardise the columns over both domains first. Rows must
    be dense; for sparse rows, reduce the columns first or use `SubspaceAlignment`.

    Parameters
    ----------
    ridge : float, default=1.0
        Added to the variances of both domains; 1 is the paper's value for standardised columns.
    match_mean : bool, default=False
        Also move the mean of the source to that of the target: (x − m_S) C_S^-½ C_T^½ + m_T. This
        helps slightly if the class frequencies of both domains agree, and is very harmful if they
        do not.

    Attributes
    ----------
    matrix_ : array of shape (n_features, n_features)
        C_S^-½ C_T^½.
    source_mean_, target_mean_ : arrays of shape (n_features,)

    Examples
    --------
    >>> import numpy as np
    >>> from landbridge import CORAL
    >>> rng = np.random.default_rng(0)
    >>> X, X_target = rng.normal(size=(50, 2)), rng.normal(1, 3, size=(40, 2))
    >>> mapped = CORAL(ridge=0.0).fit_transform(X, X_unlabeled=X_target)
    >>> bool(np.allclose(np.cov(mapped.T), np.cov(X_target.T)))
    True
    >>> CORAL().fit(X, X_unlabeled=X_target).transform_source(X).shape
    (50, 2)
    """

    _transfer_checks = {"accept_sparse": False, "plain_counterpart": "the identity"}

    def __init__(self, ridge: float = 1.0, match_mean: bool = False):
        self.ridge = ridge
        self.match_mean = match_mean

    def _check_parameters(self) -> None:
        check_not_negative(self.ridge, "ridge")

    def _fit_transfer(self, data: TransferData) -> None:
        """Learn means and covariances."""
        target = data.target_rows
        n_columns = data.X.shape[1]
        check_memory(
            # memory for two covariances, with the eigenvectors and products of each
            6 * 8 * n_columns**2,
            f"CORAL with {n_columns} columns",
            "Reduce the columns first, for example with TruncatedSVD.",
        )
        self._n_features_out = n_columns
        self.matrix_ = np.eye(n_columns)
        self.source_mean_ = self.target_mean_ = np.zeros(n_columns)
        if target is None:
            return
        whiten = covariance_root(data.X, self.ridge, -0.5)
        self.matrix_ = whiten @ covariance_root(target, self.ridge, 0.5)
        if self.match_mean:
            self.source_mean_ = data.X.mean(axis=0, dtype=float)
            self.target_mean_ = target.mean(axis=0, dtype=float)

    def _map_target(self, X: np.ndarray) -> np.ndarray:
        """Return *target* rows unchanged."""
        return X

    def _map_source(self, X: np.ndarray) -> np.ndarray:
        """Map *source* rows to the covariance (and mean) of the target."""
        return (X - self.source_mean_) @ self.matrix_ + self.target_mean_
