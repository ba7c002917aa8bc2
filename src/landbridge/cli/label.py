"""``landbridge label``: choose rows to label next, and report when to stop."""

from dataclasses import asdict, dataclass
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Any

from landbridge.cli import _options as options
from landbridge.cli._options import option
from landbridge.cli._session import InputError, Session, check_distinct, check_output
from landbridge.cli.select import Answer, Sources

if TYPE_CHECKING:
    from landbridge.cli._label_state import State
    from landbridge.cli._problem import Problem
    from landbridge.labelling import LabelStatus


class Goal(StrEnum):
    """Purpose of the labels."""

    choose = "choose"
    prove = "prove"
    measure = "measure"
    train = "train"


@dataclass(frozen=True, kw_only=True)
class Label(options.SearchOptions):
    """Choose the target rows to label next, and report when there are enough labels."""

    goal: Goal = option(
        Goal.choose,
        "Choose the best model, prove that it beats one without transfer, measure its score, or "
        "train.",
    )
    batch: int = option(20, "Rows per batch.", min=1)
    planned: int = option(100, "Planned total number of labels.", min=1)
    answers: Path | None = option(None, "The file of the last batch, filled in.")
    output: Path = option(Path("ask.csv"), "File to fill in: .csv.", "--output", "-o")
    state: Path | None = option(None, "State file: .json; next to the output if omitted.")
    # Other settings of a search, with the defaults of `select`.
    criterion = None
    answer = Answer.vote
    sources = Sources.both

    @property
    def state_path(self) -> Path:
        """Path of the state file."""
        return self.output.with_suffix(".json") if self.state is None else self.state

    def run(self, current: Session) -> None:
        check_output(self.output, ".csv")
        check_output(self.state_path, ".json")
        check_distinct(output=self.output, state=self.state_path)
        if self.answers is not None and not self.answers.is_file():
            raise InputError(
                f"{self.answers}: no such file. Pass the file of the last batch with its labels."
            )
        problem = self.read(current, target=self.target, task=self.task, spare_labels=True)
        state = self._state()
        table, names = self._pool(problem, state)
        if self.answers is not None:
            self._take(state, table, names, current)
        search = self._search(problem, state, current)
        status = self._next(state, search, table, names, current)
        self._show(state, search, status, current)

    def _state(self) -> "State":
        """The state on disk, or a new one."""
        from landbridge.cli._label_state import State
        from landbridge.labelling import LabelPlanner

        about = {"label": self.label, "target": self.target, "goal": self.goal.value}
        if not self.state_path.exists():
            if self.answers is not None:
                raise InputError(
                    f"{self.state_path}: no such state file, which --answers requires. "
                    "Pass it with --state, or omit --answers to get a first batch."
                )
            planner = LabelPlanner(
                self.goal.value,
                batch_size=self.batch,
                budget=self.planned,
                random_state=self.seed,
            )
            return State(about, {}, planner)
        state = State.load(self.state_path)
        for name, value in about.items():
            if state.about[name] != value:
                raise InputError(
                    f"{self.state_path}: --{name} must be {state.about[name]!r} as in the batches "
                    f"before; got {value!r}. Use another --state to start again."
                )
        return state

    def _pool(self, problem: "Problem", state: "State") -> tuple[Any, list[str]]:
        """Features and names of the rows that can be selected, including those already labelled."""
        from landbridge.cli._label_state import fingerprint

        places = problem.in_order(problem.is_target & self._unlabelled(problem, state))
        if not places.size:
            raise InputError(
                f"The target {self.target!r} must have unlabelled rows; all of them have labels. "
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

    def _unlabelled(self, problem: "Problem", state: "State") -> Any:
        """Rows without a label at first, even if labels were copied into the table later."""
        import numpy as np

        asked = {row["name"] for row in state.rows.values()}
        return ~problem.has_label | np.array([name in asked for name in problem.row_names])

    def _take(self, state: "State", table: Any, names: list[str], current: Session) -> None:
        from landbridge.cli._label_state import read_answers

        assert self.answers is not None
        rows, labels, empty = read_answers(self.answers, state, table, names)
        state.planner.tell(rows, labels)
        state.save(self.state_path)  # before slow steps
        current.note(f"{len(rows)} labels are in {self.state_path}")
        if empty:
            have = "row has" if empty == 1 else "rows have"
            current.note(f"{empty} {have} no label; such rows count as missing at random")

    def _search(self, problem: "Problem", state: "State", current: Session) -> Any:
        """Search on the initial labels; for goal "train", also on the new ones."""
        from dataclasses import replace

        import numpy as np
        import polars as pl

        from landbridge.cli._study import run_search

        labels = problem.labels
        assert labels is not None
        hidden = problem.is_target & self._unlabelled(problem, state)
        shown = pl.select(pl.when(pl.Series(~hidden)).then(labels).alias(labels.name)).to_series()
        problem = replace(problem, labels=shown)
        arguments = problem.transfer_arguments()
        rows, answers = state.planner.labelled_
        if self.goal is Goal.train and rows.size:
            # The rows stay in the pool, whose numbering must not change.
            X_new = arguments["X_unlabeled"][rows.tolist()]
            first = "X_target" in arguments
            X_old = [arguments["X_target"]] if first else []
            y_old = [arguments["y_target"]] if first else []
            arguments["X_target"] = pl.concat([*X_old, X_new])
            arguments["y_target"] = np.concatenate([*y_old, answers])
        return run_search(problem, self, current, arguments)

    def _next(
        self, state: "State", search: Any, table: Any, names: list[str], current: Session
    ) -> "LabelStatus | None":
        """Write the next batch, unless the goal is reached or a batch is still open."""
        from landbridge.cli._label_state import fingerprint, write_batch

        planner = state.planner
        status = planner.status(search) if planner.labelled_[0].size else None
        rows = state.open_rows()
        if not rows and not (status is not None and status.reached):
            batch = planner.ask(search)
            rows = batch.rows.tolist()
            for row in rows:
                state.rows[str(row)] = {
                    "name": names[row],
                    "cells": fingerprint(table.row(row)),
                }
            state.save(self.state_path)
        if rows:
            write_batch(self.output, state, rows, table, names)
            current.note(
                f"fill in the column {self.label!r} of {self.output}, then run the same command "
                f"with --answers {self.output}"
            )
        return status

    def _show(
        self, state: "State", search: Any, status: "LabelStatus | None", current: Session
    ) -> None:
        from landbridge._storage import whole_file
        from landbridge.cli._label_picture import label_picture
        from landbridge.report.blocks import Text

        n_open = len(state.open_rows())
        if status is None:
            words = f"{n_open} rows to label are in {self.output}."
            current.show({"rows": n_open, "output": str(self.output)}, [Text(words)])
            return
        history = state.planner.history(search)
        values = {name: _plain(value) for name, value in asdict(status).items()}
        current.show(
            {**values, "sentences": list(status.sentences), "rows": n_open},
            [*map(Text, status.sentences), _history_table(history)],
        )
        picture = self.output.with_suffix(".svg")
        with whole_file(picture) as file:
            file.write(label_picture(history).encode())
        current.wrote("picture", picture)


def _plain(value: Any) -> Any:
    """A value that JSON can hold: no NaN or infinity."""
    import math

    return None if isinstance(value, float) and not math.isfinite(value) else value


def _history_table(history: "tuple[LabelStatus, ...]") -> Any:
    from landbridge.report.blocks import FOUR_DIGITS, Column, make_table

    proof = history[-1].goal == "prove"
    titles = ["labels", history[-1].score, "low", "high", *(["e-value"] if proof else [])]
    lines = [
        [one.n_labels, one.estimate, one.low, one.high, *([one.e_value] if proof else [])]
        for one in history
    ]
    columns = [Column("labels", "d"), *(Column(title, FOUR_DIGITS) for title in titles[1:])]
    return make_table(columns, lines)
