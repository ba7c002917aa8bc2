"""Fit the model that a search on a sample chose on as many rows as memory and time allow.

The sample grows in steps. Each step tells how the time and the memory of the fit grow with the
number of rows, so that a method with a matrix of all pairs of rows stops early and a linear one
goes on until all rows are used. Naive Bayes needs no rows in memory: it learns from sums, so that a
pass over the table in pieces gives the fit on everything.
"""

import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from math import log
from typing import Any

import numpy as np
from sklearn.base import clone

from landbridge._tasks import Progress
from landbridge.baselines import SourceOnly
from landbridge.cli._large import LargeTable
from landbridge.cli._problem import Problem
from landbridge.model_selection import TransferSearchCV, VotingModel

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
    search: TransferSearchCV,
    problem: Problem,
    draw: Callable[[int], Problem],
    *,
    seconds: float | None,
    memory: int,
) -> tuple[Problem, str]:
    """Refit on growing samples; return the last one and the reason if it has not all rows.

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


def learn_in_pieces(search: TransferSearchCV, problem: Problem, table: LargeTable) -> list[str]:
    """Fit the members that need only sums on all rows of a table; return their names."""
    members = _members_that_sum(search)
    fresh = {name: clone(inner) for name, (inner, _) in members.items()}
    encode = search.preprocessor_.transform
    names = [*problem.features.columns, problem.domain_column, problem.labels.name]  # type: ignore[union-attr]
    with Progress("learning in pieces", table.n_rows, unit="rows") as progress:
        for piece in table.pieces(names) if members else ():
            known = piece.filter(piece[problem.labels.name].is_not_null())  # type: ignore[union-attr]
            domains = known[problem.domain_column].cast(str).to_numpy()
            for name, (inner, sources) in members.items():
                own = known.filter(np.isin(domains, sources(problem)))
                if own.height:
                    y = np.asarray(own[problem.labels.name].to_list())  # type: ignore[union-attr]
                    X = encode(own.select(problem.features.columns))
                    fresh[name].partial_fit(X, y, classes=inner.classes_)
            progress.advance(piece.height)
    for name, (inner, _) in members.items():
        inner.__dict__.update(fresh[name].__dict__)
    return list(members)


def _members_that_sum(
    search: TransferSearchCV,
) -> dict[str, tuple[Any, Callable[[Problem], list[str]]]]:
    """Fitted naive Bayes models among the members, and the domains that each learns from."""
    result = search.results_
    found: dict[str, tuple[Any, Callable[[Problem], list[str]]]] = {}
    last = getattr(search, "vote_", search.best_estimator_)[-1]
    models = dict(last.members) if isinstance(last, VotingModel) else {"": last}
    for cell, label in enumerate(result.labels):
        model = models.get(label, last if cell == search.best_index_ and "" in models else None)
        about = result.cells[cell]
        inner = model.estimator_ if isinstance(model, SourceOnly) else model
        if type(inner).__module__ != "sklearn.naive_bayes":
            continue
        found[label] = (inner, partial(_domains, about.source, about.role))
    return found


def _domains(source: Any, role: str, problem: Problem) -> list[str]:
    names = problem.sources if source not in problem.sources else [source]
    return names if role == "source-only" else [*names, str(problem.target)]


def predicted(costs: list[Cost], rows: int, what: str) -> float:
    """Extrapolate the cost by a power law fitted to the last two steps, at least linear."""
    last: Any = getattr(costs[-1], what)
    power = POWER
    if len(costs) > 1 and getattr(costs[-2], what) > 0 and last > 0:
        growth = log(last / getattr(costs[-2], what))
        power = min(max(growth / log(costs[-1].rows / costs[-2].rows), 1.0), POWER)
    return last * (rows / costs[-1].rows) ** power


def _peak_bytes() -> float:
    """Peak memory of this process so far; 0 if the system does not report it."""
    try:
        import resource
    except ImportError:  # pragma: no cover - Windows
        return 0.0
    unit = 1 if sys.platform == "darwin" else 1024
    return float(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit)
