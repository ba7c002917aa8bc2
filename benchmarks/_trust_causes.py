"""Generated shifts whose cause is known: either the features move, or their relation to the label.

Some regions are harder than others (more noise where the first column is large), so features that
move there raise the loss of any model although the relation stays. Where the relation changes, the
effect turns from one column towards another, and features move a little beside it.
"""

import numpy as np

from landbridge.inspection import explain_loss

N_SHIFTS, N_SOURCE, N_TARGET = 100, 400, 200


def make_shift(number: int) -> tuple[str, str, tuple]:
    """Task, cause and rows of one shift; tasks and causes take turns."""
    rng = np.random.default_rng([7, number])
    task = ("classification", "regression")[number % 2]
    cause = ("FEATURES", "RELATION")[number // 2 % 2]
    d = int(rng.integers(3, 8))
    X, T = rng.normal(size=(N_SOURCE, d)), rng.normal(size=(N_TARGET, d))
    T[:, 0] += rng.uniform(0.9, 1.5) if cause == "FEATURES" else rng.uniform(0, 0.3)
    angle = 0.0 if cause == "FEATURES" else rng.uniform(np.pi / 3, 2 * np.pi / 3)
    y, y_target = _labels(X, 0.0, task, rng), _labels(T, angle, task, rng)
    return task, cause, (X, y, T, y_target)


def _labels(X: np.ndarray, angle: float, task: str, rng: np.random.Generator) -> np.ndarray:
    effect = 2 * (np.cos(angle) * X[:, 1] + np.sin(angle) * X[:, 2])
    noise = 0.5 * np.exp(0.8 * X[:, 0]) * rng.normal(size=len(X))
    return effect + noise if task == "regression" else (effect + noise > 0).astype(int)


def examine(number: int) -> dict:
    """Whether the cause of one shift is named."""
    task, cause, (X, y, T, y_target) = make_shift(number)
    found = explain_loss(X, y, T, y_target, task=task, random_state=number)
    return {
        "number": number,
        "task": task,
        "cause": cause,
        "found": found.cause.name,
        "advice": found.advice.name,
        "overlap": found.overlap,
        "total": found.total.value,
        "features": found.features.value,
        "relation": found.relation.value,
    }
