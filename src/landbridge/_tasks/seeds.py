"""Seeds of tasks."""

import numpy as np
from sklearn.utils import check_random_state

from landbridge._typing import RandomState


def spawn_seeds(random_state: RandomState, n_tasks: int) -> list[int]:
    """One seed per task, a function of ``random_state`` and of the index of the task alone."""
    root = check_random_state(random_state).randint(np.iinfo(np.int32).max)
    children = np.random.SeedSequence(root).spawn(n_tasks)
    return [int(child.generate_state(1)[0]) & 0x7FFFFFFF for child in children]
