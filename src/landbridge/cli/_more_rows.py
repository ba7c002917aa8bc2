"""Fit the model that a search on a sample chose on as many rows as memory and time allow.

The sample grows in steps. Each step tells how the time and the memory of the fit grow with the
number of rows, so that a method with a matrix of all pairs of rows stops early and a linear one
goes on until all rows are used.
"""

import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from math import log
from typing import TYPE_CHECKING, Any

from landbridge.cli._problem import Problem

if TYPE_CHECKING:
    from landbridge.model_selection import TransferSearchCV

# Growth of the number of rows from step to step.
STEP = 4
# Time and memory are taken to grow with this power of the rows until two steps were measured.
POWER = 2.0


@dataclass(frozen=True, slots=True)
class Cost:
    """What one fit took: rows per domain, seconds and bytes."""

    rows: int
    seconds: float
    bytes: float


def fit_on_more(
    search: "TransferSearchCV",
    problem: Problem,
    draw: Callable[[int], Problem],
    *,
    seconds: float | None,
    memory: int,
) -> tuple[Problem, str]:
    """Refit on growing samples; the last one and, if there are more rows, why it was not larger.

    ``draw`` reads the problem with at most so many rows of each domain. ``seconds`` bounds all fits
    together; None for no limit.
    """
    assert problem.sample is not None
    started, largest = time.monotonic(), max(problem.sample.rows.values())
    costs = [
        Cost(problem.sample.max_rows, search.refit_time_, 3.0 * problem.features.estimated_size())
    ]
    while costs[-1].rows < largest:
        n_rows = min(STEP * costs[-1].rows, largest)
        left = None if seconds is None else seconds - (time.monotonic() - started)
        if left is not None and predicted(costs, n_rows, "seconds") > left:
            return problem, "more would take longer than --budget"
        if predicted(costs, n_rows, "bytes") > memory:
            return problem, "more would need more than --memory"
        before = _peak_bytes()
        problem = draw(n_rows)
        search.refit_on(**problem.transfer_arguments())
        size = 3.0 * problem.features.estimated_size()
        costs.append(Cost(n_rows, search.refit_time_, max(_peak_bytes() - before, size)))
    return problem, ""


def predicted(costs: list[Cost], rows: int, what: str) -> float:
    """Extrapolate the last cost with the power that the last two steps showed, 1 at least."""
    last: Any = getattr(costs[-1], what)
    power = POWER
    if len(costs) > 1 and getattr(costs[-2], what) > 0 and last > 0:
        growth = log(last / getattr(costs[-2], what))
        power = min(max(growth / log(costs[-1].rows / costs[-2].rows), 1.0), POWER)
    return last * (rows / costs[-1].rows) ** power


def _peak_bytes() -> float:
    """The most memory that this process has had so far; 0 where the system does not tell."""
    try:
        import resource
    except ImportError:  # pragma: no cover - Windows
        return 0.0
    unit = 1 if sys.platform == "darwin" else 1024
    return float(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit)
