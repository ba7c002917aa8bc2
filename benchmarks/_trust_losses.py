"""Control variates for mean losses: errors of numbers, log losses and Brier scores.

Both parts give one line per task and number of labels. For single candidates and for the vote it
holds the means of width over plain width, covered, plain covered, and the relative squared errors
of both estimates of the loss of the refitted models on test rows.
"""

from collections.abc import Iterator
from typing import Any

import numpy as np

from benchmarks import _regression_tasks
from benchmarks._domains import DomainTask
from benchmarks._regression_tasks import FEWEST_TEST, Searched, n_test, part_of, run_search
from benchmarks._trust_cells import LABELS
from landbridge.inference.control_variate import adjust_mean
from landbridge.metrics import check_scoring
from landbridge.metrics.inference import metric_interval
from landbridge.model_selection.search_inference import expected_losses
from landbridge.model_selection.vote import combine

LEVEL, DRAWS = 0.9, 5
OF_NUMBERS = (20, 50)
# A log loss without a bound depends on single rows; see the note of `metric_interval`.
FLOOR = 1e-3


def regression_tasks() -> Iterator[tuple[str, DomainTask]]:
    """The tasks of `search_regression` with their part."""
    for task in [*_regression_tasks.tasks(), *_regression_tasks.further_tasks()]:
        yield "development" if part_of(task) == "development" else "confirmation", task


def regression_lines(task: DomainTask) -> list[dict[str, Any]]:
    """One line per number of labels; the searches are those of `search_regression`, which are
    kept."""
    lines = []
    for labels in [n for n in OF_NUMBERS if n_test(task, n) >= FEWEST_TEST]:
        found = [errors_of_numbers(run_search(task, draw, labels)) for draw in range(DRAWS)]
        lines.append({"labels": labels, **merged(found)})
    return lines


def errors_of_numbers(searched: Searched) -> dict[str, list[list[float]]]:
    """MAE and MSE of every candidate, as `SearchResult.interval` has them, and of the vote.

    The proxy of the vote, which has none in a search, is the mean distance of its members from it.
    """
    result, values = searched.result, searched.values
    # A cubic that extrapolates has errors of any size.
    cells = [
        number
        for number, cell in enumerate(result.cells)
        if cell.role != "baseline" and cell.candidate != "cubic"
    ]
    lines: dict[str, list[list[float]]] = {}
    if result.label_check_ is not None and result.label_check_.withheld:
        return lines
    for metric in check_scoring(["mae", "mse"], task="regression"):
        add = lines.setdefault(f"{metric.label}, candidates", []).append
        for cell in cells:
            plain, adjusted = (
                result.interval(LEVEL, cell=cell, metric=metric, method=method)
                for method in ("labelled", "adjusted")
            )
            if plain.low < plain.high:
                add(figures(plain, adjusted, metric.score(searched.y, values[cell])))
        add = lines.setdefault(f"{metric.label}, vote", []).append
        _compare_vote(add, metric, searched)
    return lines


def _compare_vote(add: Any, metric: Any, searched: Searched) -> None:
    result = searched.result
    vote = result.vote()
    members, weights = vote.members, vote.weights[vote.members]
    seen = vote.predictions.seen
    own, y = vote.predictions.values[seen], result.y_target[seen]
    labelled = np.stack([result.target[cell].values[seen] for cell in members])
    unlabelled = np.stack([result.unlabelled[cell].values for cell in members])
    other = combine(unlabelled, weights)
    truth = metric.score(searched.y, combine(searched.values, vote.weights))
    proxies = [
        weights @ np.stack([metric.pointwise(member, voted) for member in given])
        for given, voted in ((labelled, own), (unlabelled, other))
    ]
    _compare(add, metric, (own, y), proxies, truth)


def losses_of_probabilities(draws: list[dict[str, Any]]) -> dict[int, dict[str, list[float]]]:
    """Log loss and Brier score of every candidate and of their mean, by number of labels."""
    found = {n: [_of_labels(draw, n) for draw in draws if f"y_{n}" in draw] for n in LABELS}
    return {n: merged(lines) for n, lines in found.items() if lines}


def _of_labels(found: dict[str, Any], n: int) -> dict[str, list[list[float]]]:
    y, y_test = found[f"y_{n}"], found["y_test"]
    parts = [_floored(found[f"{name}_{n}"]) for name in ("labelled", "unlabelled", "test")]
    means = [part.mean(axis=0) for part in parts]
    metrics = check_scoring(
        ["neg_log_loss", "neg_brier_score"],
        task="classification",
        classes=np.arange(means[0].shape[1]),
    )
    lines: dict[str, list[list[float]]] = {}
    for metric in metrics:
        for cell, (own, other, test) in enumerate(zip(*parts, strict=True)):
            add = lines.setdefault(f"{metric.label}, candidates", []).append
            proxies = _proxies(metric, own, other, means)
            _compare(add, metric, (own, y), proxies, metric.score(y_test, test))
            if cell == 0:
                add = lines.setdefault(f"{metric.label}, vote", []).append
                proxies = _proxies(metric, *means[:2], means)
                _compare(add, metric, (means[0], y), proxies, metric.score(y_test, means[2]))
    return lines


def _proxies(metric: Any, own: np.ndarray, other: np.ndarray, means: Any) -> list[np.ndarray]:
    pairs = zip((own, other), means[:2], strict=True)
    return [expected_losses(metric, values, mean) for values, mean in pairs]


def _compare(add: Any, metric: Any, rows: Any, proxies: Any, truth: float) -> None:
    own, y = rows
    losses = metric.pointwise(y, own)
    _, effective, moved = adjust_mean(losses, *proxies)
    factor = metric.out_of_fold_factor
    plain = metric_interval(metric, y, own, LEVEL, variance_factor=factor)
    adjusted = metric_interval(
        metric,
        y,
        own,
        LEVEL,
        estimate=float(metric.score_of(losses.mean() + moved)),
        variance_factor=factor * y.size / effective,
        shrunk=False,
    )
    if plain.low < plain.high:
        add(figures(plain, adjusted, truth))


def figures(plain: Any, adjusted: Any, truth: float) -> list[float]:
    """What the module names, of one interval."""
    return [
        (adjusted.high - adjusted.low) / (plain.high - plain.low),
        truth in adjusted,
        truth in plain,
        (adjusted.estimate / truth - 1) ** 2,
        (plain.estimate / truth - 1) ** 2,
    ]


def merged(found: list[dict[str, list[list[float]]]]) -> dict[str, list[float]]:
    """Means over draws and candidates."""
    names = dict.fromkeys(name for one in found for name in one)
    return {
        name: np.mean([line for one in found for line in one.get(name, [])], axis=0)
        .round(5)
        .tolist()
        for name in names
    }


def _floored(proba: np.ndarray) -> np.ndarray:
    raised = np.maximum(proba.astype(np.float64), FLOOR)
    return raised / raised.sum(axis=-1, keepdims=True)
