"""Rows of two shifted Gaussians, for the speed of kernel methods; runs in every environment."""

import numpy as np


def two_gaussians(n_source, n_target, n_columns):
    """The same rows in every process."""
    rng = np.random.default_rng(0)
    source = rng.normal(size=(n_source, n_columns))
    return source, rng.normal(0.5, 1.2, size=(n_target, n_columns))


def relative_residual(Z, X, W, mu):
    """Largest ‖KHKw − θ(KLK + μI)w‖ / ‖KHKw‖ over the columns w of W, θ its Rayleigh quotient."""
    rows = np.vstack([Z, X])
    squares = (rows**2).sum(axis=1)
    K = np.exp(-(squares[:, None] + squares - 2 * rows @ rows.T) / rows.shape[1])
    difference = np.r_[np.full(len(Z), 1 / len(Z)), np.full(len(X), -1 / len(X))]
    embedded = K @ W
    left = K @ (embedded - embedded.mean(axis=0))
    right = np.outer(K @ difference, difference @ embedded) + mu * W
    theta = (W * left).sum(axis=0) / (W * right).sum(axis=0)
    residual = np.linalg.norm(left - theta * right, axis=0) / np.linalg.norm(left, axis=0)
    return float(residual.max())
