"""TrAdaBoost against ADAPT's: CPU time at the same depth and rounds, accuracy on the same draws."""

import tempfile
from collections.abc import Iterable
from dataclasses import astuple
from pathlib import Path
from typing import Any

import numpy as np
from scipy import stats

from benchmarks._boosting_tasks import Draw, draw
from benchmarks._draws import save_draws
from benchmarks._harness import HERE, Log, markdown_table, measure, read, write_page

OURS, ADAPT = HERE / "tasks" / "boosting.py", HERE / "peers" / "boosting_adapt.py"
TASKS = ("wine", "rec-vs-talk", "sci-vs-talk", "abalone")
N_DRAWS, ROUNDS = 20, 30
# Ours is to need at most this share of ADAPT's CPU time.
BARS = {"wine": 10, "rec-vs-talk": 25, "50000 x 30": 5}
SETTINGS: dict[str, dict[str, Any]] = {
    "default (trimmed, dynamic, hard)": {"trimmed": True, "correction": "dynamic"},
    "trimmed from depth 3, dynamic, hard": {
        "trimmed": True,
        "min_depth": 3,
        "correction": "dynamic",
    },
    "trimmed from depth 3, dynamic, soft": {
        "trimmed": True,
        "min_depth": 3,
        "correction": "dynamic",
        "error": "soft",
    },
    "depth 5, TrAdaBoost, hard": {"depth": 5},
    "depth 5, TrAdaBoost, soft": {"depth": 5, "error": "soft"},
}
ADAPT_DEPTHS = (3, 5)


def large_draw() -> Draw:
    """50 000 source rows of 30 features, 200 target rows with a shifted boundary."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(51_200, 30))
    noise = rng.normal(size=len(X))
    y = (X[:, :5].sum(axis=1) + noise > 0).astype(int)
    y[50_000:] = (X[50_000:, :6].sum(axis=1) + noise[50_000:] > 0.5).astype(int)
    return Draw(X[:50_000], y[:50_000], X[50_000:50_200], y[50_000:50_200], X[50_200:], y[50_200:])


def save(folder: Path, name: str, draws: Iterable[Draw]) -> str:
    """Write draws for the processes that are measured."""
    path = folder / f"{name.replace(' ', '_')}.npz"
    save_draws(path, [astuple(d) for d in draws])
    return str(path)


def run() -> None:
    """Measure speed, then accuracy; write the lines and the page."""
    log = Log("boosting_peers")
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for task, depths, rounds in (
            ("wine", (3, 5, 10), ROUNDS),
            ("rec-vs-talk", (3, 5, 10), ROUNDS),
            ("50000 x 30", (5,), 10),
        ):
            draws = [large_draw()] if task == "50000 x 30" else [draw(task, s) for s in range(3)]
            path = save(folder, task, draws)
            for depth in depths:
                arguments = {"path": path, "rounds": rounds, "depth": depth}
                ours = measure(OURS, arguments)
                peer = measure(ADAPT, arguments, peer="adapt")
                log.write(
                    kind="speed", task=task, depth=depth, rounds=rounds, ours=ours, adapt=peer
                )
        for task in TASKS:
            path = save(folder, task, (draw(task, seed) for seed in range(N_DRAWS)))
            for setting, arguments in SETTINGS.items():
                got = measure(OURS, {"path": path, "rounds": ROUNDS, **arguments})
                log.write(kind="accuracy", task=task, method=setting, scores=_short(got))
            for depth in ADAPT_DEPTHS:
                got = measure(ADAPT, {"path": path, "rounds": ROUNDS, "depth": depth}, peer="adapt")
                log.write(
                    kind="accuracy", task=task, method=f"ADAPT, depth {depth}", scores=_short(got)
                )
    write()


def _short(figures: dict[str, Any]) -> list[float]:
    return [round(score, 4) for score in figures["scores"]]


def write() -> None:
    """Write ``docs/benchmarks/boosting_peers.md``."""
    lines = read("boosting_peers")
    speed = [line for line in lines if line["kind"] == "speed"]
    accuracy = [line for line in lines if line["kind"] == "accuracy"]
    page = f"""# Transfer boosting against ADAPT

## CPU time

`TrAdaBoostClassifier(TrimmedTreeClassifier(max_depth=d, target_error=None), correction="none")`
against ADAPT's `TrAdaBoost` with scikit-learn trees of the same depth and the same number of
rounds, each in its own process on one thread; CPU seconds of `fit` over the same draws. Text is CSR
in both: ADAPT takes it without making it dense. Compiling (once, a few seconds, kept on disk) is
not counted. The floor is binning and as many trees, without boosting.

{_speed_table(speed)}

{_bars(speed)}

## Memory

Largest memory of `fit` beside its arguments, over the size of the binned rows (one byte an entry;
in text four bytes a word and row).

{_memory_table(speed)}

Below some hundred kilobytes of binned rows, as in wine, the trees and the two histograms that are
kept in any case weigh more than the rows.

## Accuracy

Mean accuracy on the target over {N_DRAWS} draws at the sizes of the paper (8 to 14 labelled target
rows), {ROUNDS} rounds.

{_accuracy_table(accuracy)}

Best setting of ours minus ADAPT's best depth, paired over draws: {_against_adapt(accuracy)}

ADAPT takes errors from probabilities and votes with them (`error="soft"` here), and uses ε/(2 − ε)
for β, so that its rounds never stall; its trees have a fixed depth. {_soft(accuracy)}
"""
    write_page("boosting_peers", page)


def _ratio(line: dict[str, Any]) -> float:
    return line["adapt"]["fit_cpu_s"] / line["ours"]["fit_cpu_s"]


def _speed_table(speed: list[dict[str, Any]]) -> str:
    rows = [
        [
            line["task"],
            line["depth"],
            line["ours"]["rounds"],
            line["adapt"]["fit_cpu_s"],
            line["ours"]["fit_cpu_s"],
            f"{_ratio(line):.1f}×",
            f"{line['ours']['fit_cpu_s'] / line['ours']['floor_cpu_s']:.2f}",
        ]
        for line in speed
    ]
    header = ("task", "depth", "rounds", "ADAPT, s", "landbridge, s", "ADAPT / landbridge")
    return markdown_table((*header, "landbridge / its floor"), rows)


def _bars(speed: list[dict[str, Any]]) -> str:
    answers = []
    for task, bar in BARS.items():
        (line,) = (one for one in speed if one["task"] == task and one["depth"] == 5)
        verdict = "reached" if _ratio(line) >= bar else "missed"
        answers.append(f"{task} at depth 5: {_ratio(line):.1f}×, wanted {bar}×, {verdict}")
    return "; ".join(answers) + "."


def _memory_table(speed: list[dict[str, Any]]) -> str:
    rows = []
    for line in speed:
        if line["depth"] == 5:
            ours = line["ours"]
            ratio = ours["peak_bytes"] / ours["binned_bytes"]
            binned, peak = (f"{ours[k] / 1e6:.2f} MB" for k in ("binned_bytes", "peak_bytes"))
            rows.append([line["task"], binned, peak, f"{ratio:.2f}"])
    return markdown_table(("task", "binned rows", "peak", "peak / binned"), rows)


def _scores(accuracy: list[dict[str, Any]], task: str, method: str) -> np.ndarray:
    (line,) = (one for one in accuracy if one["task"] == task and one["method"] == method)
    return np.array(line["scores"])


def _methods(accuracy: list[dict[str, Any]]) -> list[str]:
    return list(dict.fromkeys(line["method"] for line in accuracy))


def _accuracy_table(accuracy: list[dict[str, Any]]) -> str:
    rows = [
        [method, *(f"{_scores(accuracy, task, method).mean():.3f}" for task in TASKS)]
        for method in _methods(accuracy)
    ]
    return markdown_table(("method", *TASKS), rows)


def _best(accuracy: list[dict[str, Any]], adapt: bool) -> str:
    """The method with the largest mean accuracy over all tasks, ours or ADAPT's."""
    names = [name for name in _methods(accuracy) if name.startswith("ADAPT") == adapt]
    return max(names, key=lambda n: np.mean([_scores(accuracy, t, n).mean() for t in TASKS]))


def _against_adapt(accuracy: list[dict[str, Any]]) -> str:
    ours, peer = _best(accuracy, adapt=False), _best(accuracy, adapt=True)
    answers = []
    for task in TASKS:
        difference = _scores(accuracy, task, ours) - _scores(accuracy, task, peer)
        error = difference.std(ddof=1) / np.sqrt(difference.size)
        p = stats.ttest_1samp(difference, 0).pvalue
        verdict = "above" if difference.mean() > 0 else "below"
        verdict = verdict if p < 0.05 else "not significant"
        points = f"{100 * difference.mean():+.1f} ± {100 * error:.1f} points"
        answers.append(f"{task} {points} ({verdict})")
    return f"{ours} against {peer}: " + "; ".join(answers) + "."


def _soft(accuracy: list[dict[str, Any]]) -> str:
    answers = []
    for name in ("trimmed from depth 3, dynamic", "depth 5, TrAdaBoost"):
        gain = np.mean(
            [
                _scores(accuracy, task, f"{name}, soft").mean()
                - _scores(accuracy, task, f"{name}, hard").mean()
                for task in TASKS
            ]
        )
        answers.append(f"{name}: {100 * gain:+.1f} points")
    return "Soft minus hard errors, mean over the tasks: " + "; ".join(answers) + "."
