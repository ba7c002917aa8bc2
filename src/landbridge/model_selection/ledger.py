"""The ledger of a search: losses as they arrive, failures, seconds; frozen into a result."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from sklearn.utils.validation import _num_samples

from landbridge._typing import Vector, VectorLike
from landbridge.model_selection.candidates import Candidate
from landbridge.model_selection.correction import BallotBox, corrected
from landbridge.model_selection.criteria import NEEDS, Choice
from landbridge.model_selection.execution import Failure, Outcome
from landbridge.model_selection.label_floor import describe_labels, label_floors
from landbridge.model_selection.losses import Loss
from landbridge.model_selection.plan import Cell, Fit
from landbridge.model_selection.results import (
    ROW_ARRAYS,
    TARGET_ARRAYS,
    SearchResult,
    cell_label,
)
from landbridge.model_selection.sources import Source
from landbridge.model_selection.tables import SearchData


class Ledger:
    """Arrays to be filled, one row a cell; written by `run_search` alone."""

    def __init__(
        self,
        cells: Sequence[Cell],
        candidates: Sequence[Candidate],
        sources: Sequence[Source],
        data: SearchData,
        choice: Choice,
        loss: Loss,
    ):
        needs = choice.needs
        self.cells, self.candidates, self.sources = cells, candidates, sources
        self.groups, self.n_rows, self.loss = data.groups, data.n_rows, loss
        columns = dict.fromkeys(ROW_ARRAYS, data.n_rows) | dict.fromkeys(
            TARGET_ARRAYS, data.n_labelled
        )
        self.losses = {
            name: np.full((len(cells), n), np.nan) for name, n in columns.items() if name in needs
        }
        shape = (len(sources), data.n_rows)
        self.weights = np.full(shape, np.nan) if "weights" in needs else None
        self.guesses = _predictions(data, len(cells)) if "guesses" in needs else None
        self.ballots = BallotBox(len(cells), data.classes) if "reverse" in needs else None
        # Descriptions of labels (see `label_floor.py`): of the sources, and by cell and fold.
        self.source_labels: VectorLike = None
        self.pseudo_labels: dict[int, list[Vector]] = {number: [] for number in range(len(cells))}
        if "reverse" in needs and describe_labels(loss, data.y, data.classes) is not None:
            labels = [describe_labels(loss, data.y[s.rows], data.classes) for s in sources]
            self.source_labels = np.array(labels)
        self.failures: list[dict[str, Any]] = []
        self.seconds = np.zeros((len(cells), 2))
        self.fits, self.constants = np.zeros((2, len(cells)), dtype=int)
        self.stopped_after: dict[int, int] = {}
        self.folds_seen = 0
        self.fits_done, self.weight_seconds = 0, 0.0
        for number, source in enumerate(sources):
            if source.problem:
                self.fail_source(number, "source", Failure(f"ValueError: {source.problem}", ""))

    def record(self, fit: Fit, outcome: Outcome) -> None:
        """Enter what one fit gave."""
        self.fits_done += 1
        self.folds_seen = max(self.folds_seen, fit.fold + 1)
        for cell in fit.cells:
            # A shared fit costs its time once, whatever the number of cells that use it.
            self.seconds[cell] += np.array([outcome.fit_seconds, outcome.predict_seconds]) / len(
                fit.cells
            )
            self.fits[cell] += fit.n_models
            self.constants[cell] += outcome.constants
            if outcome.failure is not None:
                self._fail(cell, fit.stage, fit.fold, fit.fills, outcome.failure)
            if self.guesses is not None and outcome.guesses is not None:
                self.guesses[cell] = outcome.guesses
            if outcome.pseudo_labels is not None:
                self.pseudo_labels[cell].append(outcome.pseudo_labels)
            if self.ballots is not None and outcome.ballot is not None:
                self.ballots.cast(cell, outcome.ballot)
            for name, losses in outcome.losses.items():
                self.losses[name][cell, outcome.rows] = losses

    def record_weights(self, source: int, weights: Vector) -> None:
        """Enter the density ratios of one source."""
        if self.weights is not None:
            self.weights[source, self.sources[source].rows] = weights

    def fail_source(self, source: int, stage: str, failure: Failure) -> None:
        """Enter a failure of every cell on a source."""
        arrays = ("weights",) if stage == "weights" else (*self.losses, "weights")
        for number, cell in enumerate(self.cells):
            if cell.source == source:
                self._fail(number, stage, -1, arrays, failure)

    def still_running(self, fits: Sequence[Fit]) -> list[Fit]:
        """Fits of which at least one cell has not been stopped."""
        return [fit for fit in fits if not set(fit.cells) <= self.stopped_after.keys()]

    def stop(self, clearly_behind: Callable[..., list[int]], choice: Choice) -> None:
        """Stop the cells that are clearly behind by the losses seen so far.

        Not the one that a correction of the criterion puts first.
        """
        losses = self._compared_losses(choice.criterion)
        failed = {failure["cell"] for failure in self.failures}
        running = [
            number
            for number in range(len(self.cells))
            if number not in failed
            and number not in self.stopped_after
            and not np.isnan(losses[number]).all()
        ]
        if len(running) > 2:
            first = self._first_of(losses, running, choice.correction)
            for cell in clearly_behind(losses, running):
                if cell != first:
                    self.stopped_after[cell] = self.folds_seen

    def leader(self, criterion: str) -> tuple[int, str | None]:
        """Number of cells that are whole, and the one with the smallest mean loss."""
        weighted = self._compared_losses(criterion)
        expected = [
            source.rows.size if weighted.shape[1] == self.n_rows else weighted.shape[1]
            for source in self.sources
        ]
        whole = [
            number
            for number, cell in enumerate(self.cells)
            if np.sum(~np.isnan(weighted[number])) == expected[cell.source]
        ]
        if not whole:
            return 0, None
        best = min(whole, key=lambda number: np.nanmean(weighted[number]))
        return len(whole), cell_label(self._describe(best), several=len(self.sources) > 1)

    def freeze(self, target_folds: VectorLike, about: dict[str, Any]) -> SearchResult:
        """The result so far."""
        folds = np.full((len(self.sources), self.n_rows), -1)
        for number, source in enumerate(self.sources):
            folds[number, source.rows] = source.folds
        missing = dict.fromkeys((*ROW_ARRAYS, *TARGET_ARRAYS))
        return SearchResult(
            cells=tuple(self._describe(number) for number in range(len(self.cells))),
            **{**missing, **self.losses},
            guesses=self.guesses,
            pseudo_labels=self._mean_pseudo_labels(),
            source_labels=self.source_labels,
            ballots=None if self.ballots is None else self.ballots.counted(),
            weights=self.weights,
            folds=folds,
            target_folds=target_folds,
            groups=self.groups,
            sources=tuple(source.name for source in self.sources),
            failures=tuple(self.failures),
            about=about,
        )

    def _compared_losses(self, criterion: str) -> np.ndarray:
        """Cells × rows: the losses by which cells are compared before all folds are done."""
        needs = NEEDS[criterion]
        name = next(name for name in (*TARGET_ARRAYS[::-1], *ROW_ARRAYS) if name in needs)
        if name in TARGET_ARRAYS or self.weights is None:
            return self.losses[name]
        return self.losses[name] * self.weights[[cell.source for cell in self.cells]]

    def _mean_pseudo_labels(self) -> VectorLike:
        """Cells × entries of a description, the mean over folds; NaN where nothing was fitted."""
        if self.source_labels is None:
            return None
        means = np.full((len(self.cells), self.source_labels.shape[1]), np.nan)
        for cell, folds in self.pseudo_labels.items():
            if folds:
                means[cell] = np.mean(folds, axis=0)
        return means

    def _first_of(self, losses: np.ndarray, running: Sequence[int], correction: str | None) -> int:
        """The cell that the losses so far, corrected, would choose."""
        values = np.full(len(self.cells), np.nan)
        values[running] = [np.nanmean(losses[cell]) for cell in running]
        guesses, floors = self._mean_pseudo_labels(), np.zeros(len(self.cells))
        if guesses is not None:
            labels = self.source_labels[[cell.source for cell in self.cells]]
            floors = label_floors(self.loss, labels, guesses)
        chosen_by = corrected(
            values,
            correction,
            floors=floors,
            ballots=None if self.ballots is None else self.ballots.counted(),
            kinds=[(self.candidates[c.candidate].name, c.source) for c in self.cells],
            proportion=self.loss == "zero_one",
        )
        return int(np.nanargmin(chosen_by))

    def _describe(self, number: int) -> dict[str, Any]:
        candidate = self.candidates[self.cells[number].candidate]
        return {
            "candidate": candidate.name,
            "params": {name: _plain(value) for name, value in candidate.params.items()},
            "source": self.sources[self.cells[number].source].name,
            "role": candidate.role,
            "fit_seconds": float(self.seconds[number, 0]),
            "predict_seconds": float(self.seconds[number, 1]),
            "fits": int(self.fits[number]),
            "constants": int(self.constants[number]),
            "stopped_after": self.stopped_after.get(number),
        }

    def _fail(
        self, cell: int, stage: str, fold: int, arrays: tuple[str, ...], failure: Failure
    ) -> None:
        self.failures.append(
            {
                "cell": cell,
                "candidate": self.candidates[self.cells[cell].candidate].name,
                "source": self.sources[self.cells[cell].source].name,
                "stage": stage,
                "fold": fold,
                "arrays": arrays,
                "message": failure.message,
                "traceback": failure.traceback,
            }
        )


def _predictions(data: SearchData, n_cells: int) -> np.ndarray:
    """Room for predictions of the unlabelled target rows: numbers of classes, or numbers."""
    kind = float if data.task == "regression" else int
    return np.zeros((n_cells, _num_samples(data.rows_to_label)), dtype=kind)


def _plain(value: Any) -> Any:
    """A value of a grid as JSON can hold it."""
    if isinstance(value, np.generic):
        return value.item()
    return value if isinstance(value, (str, int, float, bool, type(None))) else repr(value)
