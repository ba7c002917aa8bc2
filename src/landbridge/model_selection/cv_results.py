"""`cv_results_` in the shape of GridSearchCV: a dictionary of arrays, one entry a cell."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.ma import MaskedArray

from landbridge.model_selection.criteria import NEEDS
from landbridge.model_selection.results import SearchResult


def cv_results(result: SearchResult, params: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """Tabulate a result; ``params`` are those of the candidates, with the objects of the grid."""
    cells = result.cells
    table: dict[str, Any] = {
        "candidate": np.array([cell["candidate"] for cell in cells]),
        "source": _names([cell["source"] for cell in cells]),
        "params": [params[number % len(params)] for number in range(len(cells))],
    }
    table.update(_parameter_columns(table["params"]))
    fits = np.array([max(cell["fits"], 1) for cell in cells])
    table["mean_fit_time"] = np.array([cell["fit_seconds"] for cell in cells]) / fits
    table["mean_score_time"] = np.array([cell["predict_seconds"] for cell in cells]) / fits
    table.update(_split_scores(result))
    table["mean_test_score"] = result.scores()
    table["rank_test_score"] = result.ranks()
    if result.pseudo_labels is not None:
        table["label_floor"] = result.label_floors()
    if result.ballots is not None:
        table["dissent"] = result.dissent()
    table["status"] = np.array(result.status())
    for criterion in result.about["criteria"]:
        table[f"score_{criterion}"] = result.scores(criterion)
        table[f"rank_{criterion}"] = result.ranks(criterion)
    return table


def _names(names: list[Any]) -> np.ndarray:
    """Names of sources as they are: numbers beside ``"pooled"`` stay numbers."""
    plain = {type(name) for name in names} in ({str}, {int}, {float}, {bool})
    return np.array(names) if plain else np.fromiter(names, dtype=object, count=len(names))


def _parameter_columns(params: Sequence[dict[str, Any]]) -> dict[str, MaskedArray]:
    """``param_<name>``, masked where a cell's candidate has no such parameter."""
    columns = {}
    for name in dict.fromkeys(name for one in params for name in one):
        column = MaskedArray(np.empty(len(params), dtype=object), mask=True)
        for number, one in enumerate(params):
            if name in one:
                column[number] = one[name]
        columns[f"param_{name}"] = column
    return columns


def _split_scores(result: SearchResult) -> dict[str, np.ndarray]:
    """Scores of the selecting criterion fold by fold (those of ``tlv`` for ``anchored``)."""
    by_fold = [_scores_of_cell(result, number) for number in range(len(result.cells))]
    n_folds = max(len(scores) for scores in by_fold)
    table = np.full((n_folds, len(by_fold)), np.nan)
    for number, scores in enumerate(by_fold):
        table[: len(scores), number] = scores
    columns = {f"split{fold}_test_score": table[fold] for fold in range(n_folds)}
    spread = [np.std(scores) if len(scores) else np.nan for scores in by_fold]
    return {**columns, "std_test_score": np.array(spread)}


def _scores_of_cell(result: SearchResult, cell: int) -> list[float]:
    """NaN for a fold that failed, or that came after the cell was stopped."""
    criterion = "tlv" if result.criterion == "anchored" else result.criterion
    source = result.source_of[cell]
    (name,) = NEEDS[criterion] - {"weights"}
    losses = getattr(result, name)[cell]
    if "weights" in NEEDS[criterion]:
        losses = losses * result.weights[source]
    if criterion in ("tlv", "tcv"):
        folds = result.target_folds
    elif criterion == "stv":
        folds = np.zeros(losses.shape[0])
    else:
        folds = result.folds[source]
    top = 1.0 if result.is_proportion else 0.0
    return [top - float(losses[folds == fold].mean()) for fold in np.unique(folds[folds >= 0])]
