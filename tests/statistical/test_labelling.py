"""Level of proofs and coverage of design-based intervals on simulated pools."""

import numpy as np
import pytest

from landbridge import LabelPlanner

pytestmark = pytest.mark.slow
N_RUNS = 300


def make_pool(skills, seed, n=800):
    """Labels, and probabilities that are more often wrong where they are unsure."""
    rng = np.random.default_rng(seed)
    y = rng.integers(2, size=n)
    sure = rng.uniform(0.5, 1.0, size=n)
    proba = []
    for skill in skills:
        right = rng.random(n) < np.clip(skill + 0.5 * (sure - 0.75), 0, 1)
        p = np.where(right == (y == 1), sure, 1 - sure)
        proba.append(np.column_stack([1 - p, p]))
    return y, np.stack(proba)


def run(planner, y, proba, n_batches):
    for _ in range(n_batches):
        batch = planner.ask_from_predictions(proba)
        planner.tell(batch.rows, y[batch.rows])
    return planner.status()


def test_false_proofs_with_a_look_after_every_batch():
    """Equal models: at most 5 % proofs, within three standard errors of 300 runs."""
    proofs = 0
    for seed in range(N_RUNS):
        y, proba = make_pool((0.75, 0.75), seed)
        right = (proba.argmax(axis=2) == y).mean(axis=1)
        worse, better = np.argsort(right, kind="stable").tolist()
        planner = LabelPlanner(
            "prove", candidate=str(worse), baseline=str(better), random_state=seed
        )
        proofs += run(planner, y, proba, 5).reached
    assert proofs / N_RUNS <= 0.05 + 3 * np.sqrt(0.05 * 0.95 / N_RUNS)


def test_coverage_of_measure():
    """90 % intervals of 60 labels cover the accuracy of the pool in 86 to 95 % of runs."""
    covered = []
    for seed in range(N_RUNS):
        y, proba = make_pool((0.8, 0.7, 0.75), seed)
        truth = (proba[0].argmax(axis=1) == y).mean()
        planner = LabelPlanner("measure", candidate="0", random_state=seed)
        status = run(planner, y, proba, 3)
        covered.append(status.low <= truth <= status.high)
    assert 0.86 <= np.mean(covered) <= 0.95
