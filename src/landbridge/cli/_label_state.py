"""State of labelling, and the file that the user fills in."""

import hashlib
import json
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from landbridge._storage import whole_file
from landbridge._version import __version__
from landbridge.cli._session import InputError, listing, nearest
from landbridge.labelling import LabelPlanner, design_weights

if TYPE_CHECKING:
    from landbridge.cli._problem import Problem

KIND = "landbridge labelling"
ROW, WHY = "row", "why"


@dataclass(frozen=True, slots=True)
class State:
    """A planner and its rows, stored as one readable JSON file.

    ``about`` contains the label, the target and the goal; ``rows`` contains the name in the table
    and a fingerprint of the cells for each selected row.
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
        try:
            state = json.loads(path.read_text(encoding="utf-8"))
        except (json.JSONDecodeError, UnicodeDecodeError) as error:
            raise InputError(
                f"{path}: the state must be a JSON file that `landbridge label` wrote; it cannot "
                f"be read ({error}). Restore a copy, or start again with another --state."
            ) from error
        if not isinstance(state, dict) or state.get("kind") != KIND:
            raise InputError(
                f"{path}: the state must be a file that `landbridge label` wrote; got another "
                "file. Name one with --state."
            )
        about = {name: state.get(name) for name in ("label", "target", "goal")}
        return cls(about, state.get("rows", {}), LabelPlanner.from_dict(state.get("planner", {})))

    def open_rows(self) -> list[int]:
        """Rows of the last batch if none of them has been labelled."""
        asked = self.planner.asked_
        last = max((one.batch for one in asked), default=-1)
        batch = [one for one in asked if one.batch == last]
        return [one.row for one in batch] if all(one.label is None for one in batch) else []


def fingerprint(cells: Sequence[Any]) -> str:
    """A short checksum of the cells of a row."""
    text = json.dumps([str(cell) for cell in cells], ensure_ascii=False)
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def write_batch(
    path: Path, state: State, rows: Sequence[int], table: pl.DataFrame, names: Sequence[str]
) -> None:
    """Write the file to fill in: row, cells, an empty label, and the reason for selection."""

    from landbridge.cli.predict import write_answers

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
    path: Path, state: State, table: pl.DataFrame, names: Sequence[str]
) -> tuple[list[int], list[Any], int]:
    """Read labels, and the number of rows without one; raise if anything is inconsistent."""
    label = state.about["label"]
    try:
        frame = pl.read_csv(path, infer_schema=False)
    except (pl.exceptions.PolarsError, UnicodeDecodeError) as error:
        raise InputError(
            f"{path}: the answers must be a CSV file ({str(error).splitlines()[0]}). Save it as "
            "CSV with commas."
        ) from error
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
    last = max(one.batch for one in state.planner.asked_ if one.row in _rows(places, given))
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
    answers = [_answer(path, name, text, state) for name, text in filled]
    return [places[name] for name, _ in filled], answers, len(given) - len(filled)


def _rows(places: dict[str, int], given: Sequence[str]) -> set[int]:
    return {places[name] for name in given}


def _check_cells(
    path: Path,
    frame: pl.DataFrame,
    given: Sequence[str],
    places: dict[str, int],
    table: pl.DataFrame,
) -> None:
    """Raise if a cell differs from the table, for example after sorting a single column."""

    from landbridge.cli.predict import without_formulas

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


def _answer(path: Path, name: str, text: str, state: State) -> Any:
    classes = state.planner.classes_
    if classes is None:
        try:
            return float(text.replace(",", "."))
        except ValueError:
            raise InputError(f"{path}: labels must be numbers; {name} has {text!r}.") from None
    known = [str(one) for one in np.asarray(classes).tolist()]
    if text not in known:
        raise InputError(
            f"{path}: labels must be one of the classes {listing(known)}; {name} has "
            f"{text!r}.{nearest(text, known)}"
        )
    return np.asarray(classes).tolist()[known.index(text)]


def with_answers(problem: "Problem", path: Path) -> "Problem":
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
        problem,
        labels=filled,
        target_weights=weights,
        n_disputed=len(rows) if disputed else 0,
    )
