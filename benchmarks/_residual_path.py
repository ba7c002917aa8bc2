"""T-greedy in the form printed in the paper: from residuals, one pass over the rows per step."""

import numpy as np

from landbridge._typing import Vector
from landbridge.feature_selection.moments import by_domain
from landbridge.feature_selection.t_greedy import ROUNDINGS, first_of_best, make_score, t_statistics


def residual_path(
    X: np.ndarray,
    y: Vector,
    codes: Vector,
    *,
    criterion: str = "t",
    max_steps: int = 300,
    alpha: float = 0.05,
    center: bool = True,
) -> tuple[Vector, Vector, Vector]:
    """Features, T and δ of the same path as `greedy_path`, without moments."""
    domains = list(by_domain(X, y, codes))
    X_mean = np.mean([rows.mean(axis=0) for rows, _ in domains], axis=0)
    y_mean = np.mean([labels.mean() for _, labels in domains])
    if not center:
        X_mean, y_mean = np.zeros_like(X_mean), np.zeros_like(y_mean)
    domains = [(rows - X_mean, (labels - y_mean).astype(X.dtype)) for rows, labels in domains]
    second = [np.einsum("ij,ij->j", rows, rows) / len(rows) for rows, _ in domains]
    size = np.asarray(second, dtype=np.float64).mean(axis=0)
    loss = np.mean([residual @ residual / len(residual) for _, residual in domains])
    noise = ROUNDINGS * np.finfo(X.dtype).eps * np.sqrt(size * loss)
    score = make_score(criterion, size, len(domains), alpha)
    steps = []
    for _ in range(max_steps):
        effects = np.stack([residual @ rows / len(rows) for rows, residual in domains])
        mean, T = t_statistics(effects.astype(np.float64), noise)
        points = score(mean, T)
        i = first_of_best(points)
        if points[i] <= 0:
            break
        delta = mean[i] / size[i]
        steps.append((i, T[i], delta))
        for rows, residual in domains:
            residual -= X.dtype.type(delta) * rows[:, i]
    feature, T, delta = np.array(steps).reshape(-1, 3).T
    return feature.astype(np.intp), T, delta
