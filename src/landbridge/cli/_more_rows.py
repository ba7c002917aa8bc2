"""Fit the model selected on a sample on as many rows as memory and time allow.

Models that learn in passes see every row of the table, piece by piece. For the others the sample
grows in steps. Each step shows how the time and memory of the fit grow with the number of rows. A
method that needs a matrix of all pairs of rows stops early, and one of linear cost continues until
all rows are used.
"""

import sys
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from math import log
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from landbridge._delegate import takes_sample_weight
from landbridge._tasks import Progress
from landbridge.baselines import Pooled, SourceOnly, TargetOnly, repeats
from landbridge.cli._options import bytes_of, seconds_of
from landbridge.cli._passes import Passes, stage_of
from landbridge.cli._problem import Problem, read_problem
from landbridge.cli._session import listing
from landbridge.cli._study import Study, make_card
from landbridge.cli._tables import LargeTable, find_large
from landbridge.model_selection import TransferSearchCV, VotingModel
from landbridge.model_selection.candidates import takes_target

if TYPE_CHECKING:
    from landbridge.cli._session import Session
    from landbridge.cli.select import Select

# Factor by which the number of rows grows from step to step.
STEP = 4
# Time and memory are assumed to grow with this power of the rows until two steps are measured.
POWER = 2.0
# The duration of a pass is predicted after this many seconds.
LEAST_SECONDS = 5.0


def with_more_rows(study: Study, problem: Problem, asked: "Select", session: "Session") -> Study:
    """Refit the models of the study on more rows than the search used, if there are more."""
    if problem.sample is None or not problem.sample.cut():
        return study

    columns = problem.features.columns

    def draw(max_rows: int) -> Problem:
        # Use the columns of the search, even if an audit of more rows would differ.
        found = read_problem(
            replace(asked, max_rows=max_rows, keep=columns),
            lambda note: None,
            target=asked.target,
            task=problem.task,
            spare_labels=True,
        )
        return replace(found, features=found.features.select(columns))

    def left() -> float | None:
        return budget - spent - (time.monotonic() - started) if budget else None

    budget, spent = seconds_of(asked.budget), study.search.results_.info.seconds
    started = time.monotonic()
    large = find_large(asked.data, asked.domain)
    members, others = members_that_learn(study.search, problem) if large else ([], ["all"])
    reason, learnt = "", None
    if large is not None and not others:
        learnt = learn_in_passes(members, study.search, problem, large, seconds=left())
    if learnt is None or not learnt.names:
        with session.working("fitting on more rows"):
            problem, reason = fit_on_more(
                study.search, problem, draw, seconds=left(), memory=bytes_of(asked.memory)
            )
        assert problem.sample is not None
        rows = problem.sample.rows_used()
        session.note(f"the model is fitted on {rows}" + (f": {reason}" if reason else ""))
    if large is not None and others and reason:
        members, _ = members_that_learn(study.search, problem)
        learnt = learn_in_passes(members, study.search, problem, large, seconds=left())
    command = study.card["command"]
    card = make_card(problem, study.search, study.summary, asked=asked, command=command)
    if learnt is not None and members:
        session.note(learnt.sentence())
        card["verdict"] = [*card["verdict"], learnt.sentence()]
    return replace(study, card=card)


@dataclass(frozen=True, slots=True)
class Cost:
    """Cost of one fit: rows per domain, seconds and bytes."""

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
    """Refit on growing samples; return the last one, and the reason if rows are missing.

    ``draw`` reads the problem with a maximum number of rows per domain. ``seconds`` limits the
    total time of all fits; None means no limit.
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
        arguments = problem.transfer_arguments()
        # There are no folds in a refit.
        search.refit_on(**{k: v for k, v in arguments.items() if not k.startswith("cv_groups")})
        size = 3.0 * problem.features.estimated_size()
        costs.append(Cost(n_rows, search.refit_time_, max(_peak_bytes() - before, size)))
    return problem, ""


@dataclass(frozen=True, slots=True)
class Member:
    """Member of the final model that can learn in passes, and the rows that it learns from."""

    name: str
    passes: Passes
    source: list[str]
    target: list[str]
    target_share: float | None
    takes_weight: bool

    def add(self, piece: "Piece", counts: Mapping[str, int]) -> None:
        """Learn from rows of the member's domains with known classes.

        For an estimator that does not accept weights, rows are repeated.
        """
        of_source, of_target = self._weights(counts)
        weight = np.where(np.isin(piece.domains, self.source), of_source, 0.0)
        weight[np.isin(piece.domains, self.target)] = of_target
        classes = getattr(self.passes.last, "classes_", piece.y)
        rows = np.flatnonzero((weight > 0) & np.isin(piece.y, classes))
        if not self.takes_weight:
            rows = np.repeat(rows, weight[rows].astype(int))
            weight = np.ones_like(weight)
        if rows.size:
            self.passes.add(piece.X[rows], piece.y[rows], weight[rows])

    def _weights(self, counts: Mapping[str, int]) -> tuple[float, float]:
        """Weight of a source row and of a labelled target row, as in `Pooled`."""
        n_source, n_target = (
            sum(counts.get(name, 0) for name in names) for names in (self.source, self.target)
        )
        share = self.target_share
        if share is None or not n_source or not n_target:
            return 1.0, 1.0
        if not self.takes_weight:
            return repeats(n_source, n_target, share)
        n_rows = n_source + n_target
        return (1 - share) * n_rows / n_source, share * n_rows / n_target


def members_that_learn(
    search: TransferSearchCV, problem: Problem
) -> tuple[list[Member], list[str]]:
    """Members of the final model that can learn in passes, and the names of the others."""
    result = search.results_
    last = getattr(search, "vote_", search.best_estimator_)[-1]
    models = [(result.labels[search.best_index_], last)]
    if isinstance(last, VotingModel):
        models = list(last.members)
    found, others = [], []
    for name, model in models:
        cell = result.cells[result.labels.index(name)]
        inner = model.estimator_ if isinstance(model, SourceOnly | TargetOnly | Pooled) else model
        # Design weights exist only for rows of the sample, and maps between domains need all rows
        # at once.
        if takes_target(inner) or stage_of(inner) is None or problem.target_weights is not None:
            others.append(name)
            continue
        source = [cell.source] if cell.source in problem.sources else problem.sources
        target = [str(problem.target)]
        has_target = bool((problem.is_target & problem.has_label).any())
        if isinstance(model, SourceOnly):
            target = []
        elif isinstance(model, TargetOnly) and has_target:
            source = []
        share = model.target_share if isinstance(model, Pooled) else None
        weighted = share is None or takes_sample_weight(inner)
        found.append(Member(name, Passes(inner), source, target, share, weighted))
    return found, others


@dataclass(frozen=True, slots=True)
class Learnt:
    """Members that were fitted to all rows, and the number of passes over the table."""

    names: list[str]
    stopped: list[str]
    n_passes: int
    counts: dict[str, int]

    def sentence(self) -> str:
        """Describe which models were fitted to all rows."""
        if not self.names:
            return "A pass over all rows would take longer than --budget."
        passes = "one pass" if self.n_passes == 1 else f"{self.n_passes} passes"
        said = f"Learned from all labelled rows, in {passes}: {listing(self.names)}."
        if self.stopped:
            said += f" --budget ended before the last step of {listing(self.stopped)}."
        return said


def learn_in_passes(
    members: list[Member],
    search: TransferSearchCV,
    problem: Problem,
    table: LargeTable,
    *,
    seconds: float | None,
) -> Learnt:
    """Fit members on all rows of a table, in common passes.

    A pass that would exceed ``seconds`` is not started or is stopped.
    """
    deadline = None if seconds is None else time.monotonic() + seconds
    label = problem.labels.name  # type: ignore[union-attr]
    counts = table.counts(label)
    waiting, n_passes, began, in_time = list(members), 0, time.monotonic(), True
    while waiting and in_time:
        expected = (time.monotonic() - began) if n_passes else 0.0
        began = time.monotonic()
        in_time = deadline is None or began + expected <= deadline
        title, seen = f"learning from all rows, pass {n_passes + 1}", 0
        shuffled = not all(member.passes.in_any_order for member in waiting)
        with Progress(title, table.n_rows, unit="rows") as progress:
            for piece in _encoded(search, problem, table, shuffled) if in_time else ():
                for member in waiting:
                    member.add(piece, counts)
                progress.advance(piece.n_rows)
                seen += piece.n_rows
                now = time.monotonic()
                if now - began > LEAST_SECONDS and deadline is not None:
                    in_time = began + (now - began) * table.n_rows / seen <= deadline
                if not in_time:
                    break
        if in_time:
            n_passes += 1
            waiting = [member for member in waiting if member.passes.end_pass()]
    stopped = [member.name for member in waiting if member.passes.stop()]
    names = [member.name for member in members if member not in waiting]
    return Learnt(names + stopped, stopped, n_passes, counts)


@dataclass(frozen=True, slots=True)
class Piece:
    """Labelled rows of a piece of the table, encoded."""

    n_rows: int
    X: Any
    y: np.ndarray
    domains: np.ndarray


def _encoded(
    search: TransferSearchCV, problem: Problem, table: LargeTable, shuffled: bool
) -> Iterator[Piece]:
    encode, features = search.preprocessor_.transform, problem.features.columns
    label = problem.labels.name  # type: ignore[union-attr]
    width = encode(problem.features[:1]).shape[1]
    names = [*features, problem.domain_column, label]
    for piece in table.pieces(names, width=width, shuffled=shuffled):
        y = problem.as_labels(piece[label])
        domains = piece[problem.domain_column].cast(pl.String)
        used = y.is_not_null() & domains.is_in([*problem.sources, str(problem.target)])
        known, answers = piece.filter(used), y.filter(used)
        X = encode(known.select(features)) if known.height else None
        yield Piece(
            piece.height,
            X,
            np.asarray(answers.to_list()),
            domains.filter(used).to_numpy().astype(str),
        )


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
