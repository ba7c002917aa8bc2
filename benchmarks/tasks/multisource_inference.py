"""One call of an inference function on many losses, or the floor: one pass of numpy over them."""

import numpy as np

from landbridge.inference import cv_variance, interval, paired_test


def floor(losses, other, groups):
    """Sum and count by source: what no function of source means can avoid."""
    return float((np.bincount(groups, losses) / np.bincount(groups)).mean())


FUNCTIONS = {
    "floor": floor,
    "cv_variance": lambda losses, other, groups: cv_variance(losses, groups, "theta_b"),
    "cv_variance, weighted": lambda losses, other, groups: cv_variance(
        losses, groups, "theta_b", other
    ),
    "interval": lambda losses, other, groups: interval(losses, groups).low,
    "paired_test": lambda losses, other, groups: paired_test(losses, other, groups).p_value,
}


def prepare(function, n_rows, n_sources, names):
    rng = np.random.default_rng(0)
    groups = np.repeat(np.arange(n_sources), n_rows // n_sources)
    if names == "shuffled numbers":
        groups = rng.permutation(groups)
    if names == "text":
        groups = np.array([f"hospital {k:04d}" for k in range(n_sources)])[groups]
    return FUNCTIONS[function], (rng.random(n_rows), rng.random(n_rows), groups)


def work(state):
    function, arguments = state
    return {"answer": float(function(*arguments))}
