"""The experiments of the transfer cross-validation paper.

The experiments are algorithm selection and tuning of the SVM's C on the eight datasets of Table 2
(Table 4 of the paper), and selection of the source with each algorithm and of pairs on the two
tasks of Table 3 (Table 5). The measure is corr, the number of pairs of models that a criterion
ranks in the same order as the accuracy on the unlabelled target rows, or as equal. A draw labels a
tenth of the target rows, but at least 20.
"""

from typing import Any

import numpy as np

from benchmarks._harness import Log, markdown_table, read, write_page
from benchmarks._paper_cells import FOLDS, algorithms, learners_for_sources, run_draw
from benchmarks._paper_tasks import table_2, table_3
from landbridge import rank_agreement
from landbridge.model_selection.criteria import CRITERIA

NAME = "search_paper"
# Rows of the paper's Table 4 (algorithms, then SVM) and the last column of Table 5.
PAPER_ALGORITHMS = {
    "scv": [18, 17, 13, 17, 13, 19, 16, 17],
    "tcv": [17, 18, 14, 17, 10, 15, 10, 11],
    "stv": [16, 15, 13, 15, 14, 18, 17, 20],
    "wcv": [20, 19, 17, 19, 18, 18, 15, 15],
    "trcv": [22, 23, 22, 20, 22, 20, 15, 18],
}
PAPER_TUNING = {
    "scv": [4, 7, 5, 4, 3, 7, 7, 8],
    "tcv": [5, 4, 3, 4, 4, 4, 5, 5],
    "stv": [4, 7, 4, 7, 3, 8, 7, 5],
    "wcv": [8, 7, 6, 6, 5, 8, 6, 7],
    "trcv": [7, 8, 7, 8, 6, 8, 8, 8],
}
PAPER_PAIRS = {"scv": 436, "stv": 371, "tcv": 399, "wcv": 442, "trcv": 512}


DRAWS = {"algorithms": 5, "sources": 5, "tuning": 10}


def run() -> None:
    """Search every task in every draw, write results and page."""
    kinds = {"algorithms": list(table_2()), "sources": list(table_3())}
    kinds["tuning"] = kinds["algorithms"]
    cells = (
        ({"kind": kind, "task": task.name, "draw": draw}, (task, draw, kind))
        for kind, tasks in kinds.items()
        for task in tasks
        for draw in range(DRAWS[kind])
    )
    with Log(NAME) as log:
        log.run(lambda *cell: agreements(run_draw(*cell), cell[2]), cells)
    report()


def agreements(answer: dict[str, Any], kind: str) -> dict[str, Any]:
    """corr of every criterion; for source selection also with each algorithm held fixed."""
    accuracy = np.array(answer["accuracy"])
    scores = {name: np.array(values) for name, values in answer["scores"].items()}
    corr = {name: rank_agreement(accuracy, values) for name, values in scores.items()}
    found: dict[str, Any] = {"corr": corr, "accuracy": [round(a, 4) for a in answer["accuracy"]]}
    if kind == "sources":
        n = len(learners_for_sources())
        found["by_algorithm"] = {
            name: [rank_agreement(accuracy[k::n], values[k::n]) for k in range(n)]
            for name, values in scores.items()
        }
    return found


def report() -> None:
    """Write ``docs/benchmarks/search_paper.md`` from the results."""
    lines = read(NAME)
    names = list(learners_for_sources())
    draws = ", ".join(f"{n} for {kind}" for kind, n in DRAWS.items())
    text = [
        f"# {__doc__.splitlines()[0]}",
        __doc__.split("\n\n", 1)[1].strip(),
        f"Draws: {draws}. Learners: {', '.join(algorithms())}, those of the paper (LatentMap with "
        "5 nearest neighbours, LWE over the first four); for the sources pooled logistic "
        f"regression in place of NNge. Folds: {FOLDS['tuning']} for tuning as in the paper, "
        f"{FOLDS['algorithms']} for the other two, because a fit of NNge takes seconds. Numbers "
        "are means over draws ± standard error; *paper* is its one number from one draw. Ties are "
        "not wrong, so TCV, which does not see the source, has full marks where the algorithm is "
        "fixed.",
        "These runs are older than the present NNge, than the default weights of target rows in "
        "ensembles and pooled models, and than the present boosting without a target, which "
        "TrAdaBoost's TCV and STV rest on. The page [search_printed](search_printed.md) shows the "
        "present methods.",
        "## Algorithm selection (of 28)",
        _table(lines, "algorithms", PAPER_ALGORITHMS),
        "## Tuning C of SVM (of 10)",
        _table(lines, "tuning", PAPER_TUNING),
        "## Selection of the source (both tasks together: of 6 with a fixed algorithm)",
        _source_table(lines, names),
        "## What the figures say",
        _verdict(lines),
    ]
    write_page(NAME, "\n\n".join(text))


def _values(lines: list[dict[str, Any]], kind: str, criterion: str) -> dict[str, list[int]]:
    tasks: dict[str, list[int]] = {}
    for line in lines:
        if line["kind"] == kind:
            tasks.setdefault(line["task"], []).append(line["corr"][criterion])
    return tasks


def _table(lines: list[dict[str, Any]], kind: str, paper: dict[str, list[int]]) -> str:
    tasks = list(_values(lines, kind, "scv"))
    rows = []
    for criterion in CRITERIA:
        values = _values(lines, kind, criterion)
        cells = [_mean_and_error(values[task]) for task in tasks]
        mean = np.mean([np.mean(values[task]) for task in tasks])
        rows.append([criterion, *cells, f"{mean:.2f}"])
        if criterion in paper:
            rows.append(["paper", *paper[criterion], f"{np.mean(paper[criterion]):.2f}"])
    return markdown_table(["criterion", *tasks, "mean"], rows)


def _source_table(lines: list[dict[str, Any]], names: list[str]) -> str:
    rows = []
    for criterion in CRITERIA:
        own = [line for line in lines if line["kind"] == "sources"]
        draws = sorted({line["draw"] for line in own})
        by_draw = np.array(
            [
                np.sum([x["by_algorithm"][criterion] for x in own if x["draw"] == draw], axis=0)
                for draw in draws
            ]
        )
        pairs = [sum(x["corr"][criterion] for x in own if x["draw"] == draw) for draw in draws]
        cells = [_mean_and_error(by_draw[:, k]) for k in range(len(names))]
        rows.append([criterion, *cells, _mean_and_error(pairs), PAPER_PAIRS.get(criterion, "")])
    return markdown_table(["criterion", *names, "pairs (of 552)", "paper's pairs"], rows)


def _mean_and_error(values: Any) -> str:
    error = np.std(values, ddof=1) / np.sqrt(len(values)) if len(values) > 1 else 0.0
    return f"{np.mean(values):.1f} ± {error:.1f}"


def _verdict(lines: list[dict[str, Any]]) -> str:
    sentences = []
    for kind, words in (
        ("algorithms", "Algorithm selection"),
        ("tuning", "Tuning"),
        ("sources", "Pairs of source and algorithm"),
    ):
        means = {
            c: float(np.mean([np.mean(v) for v in _values(lines, kind, c).values()]))
            for c in CRITERIA
        }
        above = [c for c in ("scv", "wcv") if means["trcv"] > means[c]]
        claim = (
            "TrCV is above SCV and WCV in the mean"
            if len(above) == 2
            else f"TrCV is above {' and '.join(above) or 'neither SCV nor WCV'} in the mean"
        )
        order = sorted(means, key=lambda c: -means[c])
        ranking = ", ".join(f"{c} {means[c]:.2f}" for c in order)
        gaps = " and ".join(f"{_gap(lines, kind, c)} to {c.upper()}" for c in ("scv", "wcv"))
        sentences.append(
            f"- {words}: {claim}; the difference is {gaps} (± standard error over draws). "
            f"Means: {ranking}. The quartiles of the models' true accuracies lie "
            f"{_range_of_accuracy(lines, kind):.3f} apart on a task."
        )
    return "\n".join(sentences)


def _range_of_accuracy(lines: list[dict[str, Any]], kind: str) -> float:
    """How far the quartiles of the models' true accuracies lie apart, in the mean over tasks."""
    own = [np.quantile(line["accuracy"], [0.25, 0.75]) for line in lines if line["kind"] == kind]
    return float(np.mean([high - low for low, high in own]))


def _gap(lines: list[dict[str, Any]], kind: str, criterion: str) -> str:
    """TrCV minus another criterion, the mean over tasks in each draw."""
    own, other = (_values(lines, kind, c).values() for c in ("trcv", criterion))
    by_draw = np.mean([np.subtract(a, b) for a, b in zip(own, other, strict=True)], axis=0)
    error = np.std(by_draw, ddof=1) / np.sqrt(by_draw.size)
    return f"{by_draw.mean():+.2f} ± {error:.2f}"
