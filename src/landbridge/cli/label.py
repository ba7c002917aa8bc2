"""``landbridge label``: choose rows to label next, and report when to stop.

The state of labelling is one JSON file, and the rows to label are a CSV file that the user fills
in.
"""

import hashlib
import json
import math
import warnings
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from landbridge._storage import require_regular_file, require_type, whole_file
from landbridge._version import __version__
from landbridge.cli._options import Goal, Label
from landbridge.cli._problem import Problem
from landbridge.cli._session import (
    InputError,
    Session,
    check_distinct,
    check_output,
    listing,
    nearest,
)
from landbridge.cli._tables import Pieces, files_of
from landbridge.cli.predict import without_formulas, write_answers
from landbridge.cli.select import run_search
from landbridge.labelling import LabelPlanner, LabelStatus, design_weights
from landbridge.report.blocks import THREE_DIGITS, Column, Page, Table, Text, make_table, plain
from landbridge.report.graph import interval_graph
from landbridge.report.render import render_page

KIND = "landbridge labelling"
ROW, WHY = "row", "why"


@dataclass(frozen=True, slots=True)
class State:
    """A planner and its rows, stored as one readable JSON file.

    ``about`` contains the label, the target, the goal and the columns of the pool; ``rows``
    contains the name in the table and a fingerprint of these columns for each selected row.
    """

    about: dict[str, Any]
    rows: dict[str, dict[str, str]]
    planner: LabelPlanner

    def save(self, path: Path) -> None:
        """Write the file, which is never left incomplete."""
        state = {
            "kind": KIND,
            "landbridge": __version__,
            **self.about,
            "rows": self.rows,
            "planner": self.planner.to_dict(),
        }
        text = json.dumps(state, indent=1, ensure_ascii=False)
        with whole_file(path) as file:
            file.write(text.encode())

    @classmethod
    def load(cls, path: Path) -> "State":
        """Load a state written by `save`."""
        require_regular_file(path)
        try:
            state = json.loads(path.read_text(encoding="utf-8"))
        except (ValueError, RecursionError) as error:
            raise InputError(
                f"{path}: the state must be a JSON file that `landbridge label` wrote; it cannot "
                f"be read ({error}). Restore a copy, or start again with another --state."
            ) from error
        if not isinstance(state, dict) or state.get("kind") != KIND:
            raise InputError(
                f"{path}: the state must be a file that `landbridge label` wrote; got another "
                "file. Name one with --state."
            )
        about = {name: state.get(name) for name in ("label", "target", "goal", "columns")}
        planner = LabelPlanner.from_dict(state.get("planner", {}))
        try:
            require_type(state.get("columns"), list[str], "columns")
            require_type(state.get("rows"), dict[str, dict[str, str]], "rows")
            for one in planner.asked_:
                _ = state["rows"][str(one.row)]["name"], state["rows"][str(one.row)]["cells"]
        except (KeyError, TypeError) as error:
            raise InputError(
                f"{path}: the state must describe the rows that were asked for; it was damaged or "
                f"edited ({error}). Restore a copy, or start again with another --state."
            ) from error
        return cls(about, state["rows"], planner)

    def open_rows(self) -> list[int]:
        """Rows of the last batch if none of them has been labelled."""
        asked = self.planner.asked_
        last = max((one.batch for one in asked), default=-1)
        batch = [one for one in asked if one.batch == last]
        return [one.row for one in batch] if all(one.label is None for one in batch) else []


def run_label(asked: Label, current: Session) -> None:
    check_output(asked.output, ".csv")
    check_output(asked.state_path, ".json")
    read = [*files_of(asked.data), asked.candidates]
    check_distinct(read, output=asked.output, state=asked.state_path)
    if asked.answers is not None and not asked.answers.is_file():
        raise InputError(
            f"{asked.answers}: no such file. Pass the file of the last batch with its labels."
        )
    problem = asked.read(current, target=asked.target, task=asked.task, spare_labels=True)
    state = _state(asked)
    table, names = _pool(asked, problem, state)
    if asked.answers is not None:
        _take(asked, problem, state, table, names, current)
    search = _search(asked, problem, state, current)
    status = _next(asked, state, search, table, names, current)
    _show(asked, state, search, status, current)


def _state(asked: Label) -> State:
    """The state on disk, or a new one."""
    about = {"label": asked.label, "target": asked.target, "goal": asked.goal.value}
    if not asked.state_path.exists():
        if asked.answers is not None:
            raise InputError(
                f"{asked.state_path}: no such state file, which --answers requires. "
                "Pass it with --state, or omit --answers to get a first batch."
            )
        planner = LabelPlanner(
            asked.goal.value,  # type: ignore[arg-type]
            batch_size=asked.batch,
            budget=asked.planned,
            level=asked.level,
            random_state=asked.seed,
        )
        return State(about, {}, planner)
    state = State.load(asked.state_path)
    state.planner.level = asked.level
    for name, value in about.items():
        if state.about[name] != value:
            raise InputError(
                f"{asked.state_path}: --{name} must be {state.about[name]!r} as in the batches "
                f"before; got {value!r}. Use another --state to start again."
            )
    return state


def _pool(asked: Label, problem: Problem, state: State) -> tuple[Any, list[str]]:
    """Features and names of the rows that can be selected, including those already labelled."""
    places = problem.in_order(problem.is_target & _unlabelled(problem, state))
    if not places.size:
        raise InputError(
            f"The target {asked.target!r} must have unlabelled rows; all of them have labels. "
            "Leave unknown labels empty."
        )
    table, names = problem.features[places], [problem.row_names[place] for place in places]
    if len(set(names)) < len(names):  # an identifier that is not unique
        names = [f"{name} ({place})" for place, name in enumerate(names, start=1)]
    for one in state.planner.asked_:
        known = state.rows[str(one.row)]
        at = names[one.row] if one.row < len(names) else None
        if at != known["name"] or fingerprint(table.row(one.row)) != known["cells"]:
            raise InputError(
                f"The table must be the one of the first batch; {known['name']} has changed, "
                "moved or been removed. Restore it, or use another --state to start again."
            )
    return table, names


def _unlabelled(problem: Problem, state: State) -> Any:
    """Rows without a label at first, even if labels were copied into the table later."""
    asked = {row["name"] for row in state.rows.values()}
    return ~problem.has_label | np.array([name in asked for name in problem.row_names])


def _take(
    asked: Label, problem: Problem, state: State, table: Any, names: list[str], current: Session
) -> None:
    assert asked.answers is not None
    rows, labels, empty = read_answers(asked.answers, problem, state, table, names)
    state.planner.tell(rows, labels)
    state.save(asked.state_path)  # before slow steps
    current.note(f"{len(rows)} labels are in {asked.state_path}")
    if empty:
        have = "row has" if empty == 1 else "rows have"
        current.note(f"{empty} {have} no label; such rows count as missing at random")


def _search(asked: Label, problem: Problem, state: State, current: Session) -> Any:
    """Search on the initial labels; for goal "train", also on the new ones."""
    labels = problem.labels
    assert labels is not None
    hidden = problem.is_target & _unlabelled(problem, state)
    shown = pl.select(pl.when(pl.Series(~hidden)).then(labels).alias(labels.name)).to_series()
    problem = replace(problem, labels=shown)
    arguments = problem.transfer_arguments()
    rows, answers = state.planner.labelled_
    if asked.goal is Goal.train and rows.size:
        # The rows stay in the pool, whose numbering must not change.
        X_new = arguments["X_unlabeled"][rows.tolist()]
        first = "X_target" in arguments
        X_old = [arguments["X_target"]] if first else []
        y_old = [arguments["y_target"]] if first else []
        arguments["X_target"] = pl.concat([*X_old, X_new])
        arguments["y_target"] = np.concatenate([*y_old, answers])
    return run_search(problem, asked, current, arguments)


def _next(
    asked: Label, state: State, search: Any, table: Any, names: list[str], current: Session
) -> LabelStatus | None:
    """Write the next batch, unless the goal is reached or a batch is still open."""
    planner = state.planner
    status = planner.status(search) if planner.labelled_[0].size else None
    rows = state.open_rows()
    if not rows and not (status is not None and status.reached):
        batch = planner.ask(search)
        rows = batch.rows.tolist()
        state.about["columns"] = table.columns
        for row in rows:
            state.rows[str(row)] = {"name": names[row], "cells": fingerprint(table.row(row))}
        state.save(asked.state_path)
    if rows:
        write_batch(asked.output, state, rows, table, names)
        current.note(
            f"fill in the column {asked.label!r} of {asked.output}, then run the same command "
            f"with --answers {asked.output}"
        )
    return status


def _show(
    asked: Label, state: State, search: Any, status: LabelStatus | None, current: Session
) -> None:
    n_open = len(state.open_rows())
    if status is None:
        words = f"{n_open} rows to label are in {asked.output}."
        if not n_open:
            models = f"{state.planner.candidate_} and {state.planner.baseline_}"
            words = f"There is nothing to label: {models} agree on all unlabelled rows."
        current.show({"rows": n_open, "output": str(asked.output)}, [Text(words)])
        return
    history = _history_table(state.planner.history(search))
    current.show(
        {**plain(asdict(status)), "sentences": list(status.sentences), "rows": n_open},
        [*map(Text, status.sentences), history],
    )
    level = f"intervals of {100 * status.level:g} %"
    page = Page(f"Labels of {asked.target}", level, status.sentences, history)
    path = asked.output.with_suffix(".html")
    with whole_file(path) as file:
        file.write(render_page(page).encode())
    current.wrote("report", path)


def _history_table(history: Sequence[LabelStatus]) -> Table:
    """Estimate and interval after every batch; for goal "prove", with the e-value."""
    last = history[-1]
    proof = last.goal == "prove"
    ends = [tuple(plain([one.estimate, one.low, one.high])) for one in history]
    columns = [
        Column("labels", "d"),
        Column(last.score, THREE_DIGITS, graph=interval_graph(ends, zero=0.0 if proof else None)),
        *(Column(title, THREE_DIGITS) for title in ("low", "high", *(["e-value"] * proof))),
    ]
    lines = [
        [one.n_labels, *three, *([one.e_value] * proof)]
        for one, three in zip(history, ends, strict=True)
    ]
    return make_table(columns, lines, chosen=len(lines) - 1)


def fingerprint(cells: Sequence[Any]) -> str:
    """A short checksum of the cells of a row."""
    text = json.dumps([str(cell) for cell in cells], ensure_ascii=False)
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def write_batch(
    path: Path, state: State, rows: Sequence[int], table: pl.DataFrame, names: Sequence[str]
) -> None:
    """Write the file to fill in: row, cells, an empty label, and the reason for selection."""
    reasons = {one.row: one.why for one in state.planner.asked_}
    shown = table[list(rows)]
    label = state.about["label"]
    frame = pl.DataFrame(
        {
            ROW: [names[row] for row in rows],
            label: pl.Series([None] * len(rows), dtype=pl.String),
            WHY: [reasons[row] for row in rows],
        }
    )
    clashes = {column: f"{column} (feature)" for column in shown.columns if column in frame.columns}
    write_answers([frame.hstack(shown.rename(clashes).get_columns())], path, raw=False)


def read_answers(
    path: Path, problem: Problem, state: State, table: pl.DataFrame, names: Sequence[str]
) -> tuple[list[int], list[Any], int]:
    """Read labels, and the number of rows without one; raise if anything is inconsistent."""
    label = state.about["label"]
    frame = pl.concat(Pieces.open(path)).cast(pl.String)
    for column in (ROW, label):
        if column not in frame.columns:
            raise InputError(
                f"{path}: the answers must have the column {column!r}; got "
                f"{listing(frame.columns)}. Keep the first line as it was written."
            )
    places = {names[one.row]: one.row for one in state.planner.asked_}
    given = [value.lstrip("'") if value else "" for value in frame[ROW].to_list()]
    unknown = [name for name in given if name not in places]
    if unknown:
        raise InputError(
            f"{path}: every line must be a row that was asked for; got {unknown[0]!r}. Remove "
            "lines that were added."
        )
    twice = sorted({name for name in given if given.count(name) > 1})
    if twice:
        raise InputError(f"{path}: every row must occur once; {listing(twice)} occurs twice.")
    batches = [one.batch for one in state.planner.asked_ if names[one.row] in given]
    last = max(batches, default=state.planner.asked_[-1].batch)
    wanted = [names[one.row] for one in state.planner.asked_ if one.batch == last]
    missing = [name for name in wanted if name not in given]
    if missing:
        raise InputError(
            f"{path}: all {len(wanted)} lines must be kept; {listing(missing)} "
            f"{'is' if len(missing) == 1 else 'are'} missing. Leave unknown labels "
            "empty."
        )
    _check_cells(path, frame, given, places, table)
    filled = [
        (name, text.strip())
        for name, text in zip(given, frame[label].to_list(), strict=True)
        if text is not None and text.strip()
    ]
    if not filled:
        raise InputError(f"{path}: the column {label!r} must hold labels; it is empty. Fill it in.")
    answers = [_answer(path, name, text, problem, state) for name, text in filled]
    return [places[name] for name, _ in filled], answers, len(given) - len(filled)


def _check_cells(
    path: Path,
    frame: pl.DataFrame,
    given: Sequence[str],
    places: dict[str, int],
    table: pl.DataFrame,
) -> None:
    """Raise if a cell differs from the table, for example after sorting a single column."""
    shown = without_formulas(table[[places[name] for name in given]])
    written = pl.read_csv(shown.write_csv().encode(), infer_schema=False)
    for column in written.columns:
        name = column if column in frame.columns else f"{column} (feature)"
        if name not in frame.columns or column == ROW:
            continue  # omitted columns cannot be compared
        differs = (frame[name].fill_null("") != written[column].fill_null("")).to_numpy()
        if differs.any():
            at = int(np.argmax(differs))
            raise InputError(
                f"{path}: cells must stay as they were; {given[at]} has {frame[name][at]!r} in "
                f"{column!r} where the table has {written[column][at]!r}. If lines were sorted, "
                "sort whole lines."
            )


def _answer(path: Path, name: str, text: str, problem: Problem, state: State) -> Any:
    classes = state.planner.classes_
    if classes is None:
        number = problem.read_labels(pl.Series([text]))[0]
        if number is None or not math.isfinite(number):
            raise InputError(
                f"{path}: labels must be finite numbers, written as in the table; {name} has "
                f"{text!r}."
            )
        return number
    known = [str(one) for one in np.asarray(classes).tolist()]
    if text not in known:
        raise InputError(
            f"{path}: labels must be one of the classes {listing(known)}; {name} has "
            f"{text!r}.{nearest(text, known)}"
        )
    return np.asarray(classes).tolist()[known.index(text)]


def with_answers(problem: Problem, path: Path) -> Problem:
    """Add the labels of a state and their design weights to the problem.

    Labels already in the table count as a first batch drawn uniformly.
    """
    if not path.is_file():
        raise InputError(f"{path}: --design must be a file that `landbridge label` wrote.")
    state = State.load(path)
    assert problem.labels is not None
    for name, value in (("label", problem.labels.name), ("target", problem.target)):
        if state.about[name] != value:
            raise InputError(
                f"{path}: --{name} must be {state.about[name]!r} as in the state; got {value!r}."
            )
    planner = state.planner
    answered = {
        state.rows[str(one.row)]["name"]: one for one in planner.asked_ if one.label is not None
    }
    places = {name: place for place, name in enumerate(problem.row_names)}
    gone = [name for name in answered if name not in places]
    if gone:
        raise InputError(
            f"{path}: the table must hold the rows of the state; {gone[0]} is missing."
        )
    columns = state.about["columns"]
    unknown = [name for name in columns if name not in problem.features.columns]
    if unknown:
        warnings.warn(
            f"{path}: it is not checked that the table is the one of `landbridge label`, because "
            f"{listing(unknown)} {'is' if len(unknown) == 1 else 'are'} left out here.",
            stacklevel=2,
        )
    for name, one in answered.items() if not unknown else ():
        cells = [problem.features[column][places[name]] for column in columns]
        if fingerprint(cells) != state.rows[str(one.row)]["cells"]:
            raise InputError(
                f"{path}: the table must be the one of `landbridge label`; {name} has changed or "
                "moved. Restore it, or name the rows by a column with --id from the start."
            )
    labels, first = problem.labels.to_list(), problem.is_target & problem.has_label
    rows = [places[name] for name in answered]
    for row, one in zip(rows, answered.values(), strict=True):
        labels[row], first[row] = planner._name(one.label), False
    n_first, n_target = int(first.sum()), int(problem.is_target.sum())
    weights, known = np.zeros(len(labels)), planner._known()
    # Goal "prove" never selects rows on which the two models agree, so its labels represent only
    # the other rows.
    disputed = planner.goal == "prove" and planner.classes_ is not None
    if disputed:
        weights[rows] = known.weights
        weights[first] = n_target / max(n_first, 1)
    else:
        batches = np.append(np.zeros(n_first, int), known.batches + 1)
        uniform = np.full(n_first, n_first / max(n_target, 1))
        weights[[*np.flatnonzero(first), *rows]] = design_weights(
            np.unique(batches, return_inverse=True)[1], np.append(uniform, known.probabilities)
        )
    weights /= weights[weights > 0].mean() if rows or n_first else 1.0
    filled = pl.Series(problem.labels.name, labels, dtype=problem.labels.dtype)
    return replace(
        problem, labels=filled, target_weights=weights, n_disputed=len(rows) if disputed else 0
    )
