"""Fits of cells on all rows of a search, which give the models that predict."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from sklearn.pipeline import Pipeline

from landbridge._tasks import one_thread, unswallowed_signals
from landbridge._typing import Vector
from landbridge.model_selection._fit_tasks import fit_candidate, target_rows
from landbridge.model_selection._plan import model_seeds
from landbridge.model_selection._search_data import SearchData
from landbridge.model_selection.candidates import Candidate
from landbridge.model_selection.search_records import Cell


@dataclass(frozen=True)
class FinalFits:
    """Rows and candidates of a search.

    ``data`` was transformed by ``preprocessor``, and ``source_rows`` holds the rows of every source
    of the result.
    """

    data: SearchData
    candidates: Sequence[Candidate]
    seed: int
    source_rows: Sequence[Vector]
    preprocessor: Any = None

    def fit(self, cell: Cell) -> Any:
        """Fit a cell on its source and all target rows; the model needs preprocessed rows."""
        number = cell.candidate_index
        with one_thread(), unswallowed_signals():
            return fit_candidate(
                self.candidates[number],
                target_rows(self.data, self.source_rows[cell.source_index]),
                task=self.data.task,
                seed=model_seeds(self.seed, self.candidates)[number],
            )

    def with_preprocessor(self, model: Any) -> Any:
        """Put the preprocessor in front of a model, so that it predicts rows as they are given."""
        if self.preprocessor is None:
            return model
        return Pipeline([("preprocessor", self.preprocessor), ("model", model)])
