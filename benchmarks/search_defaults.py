"""What the candidates are worth that a search takes by itself, where no target row has a label.

On the 130 classification tasks of the regret study (one draw) a search validates the default list
and one more candidate, discriminant analysis on source rows with the target's covariance (CORAL).
Shown are the accuracies of each candidate on held-out target rows, and of what would have been
chosen from the whole list and from shorter ones, by TrCV and by the candidate closest to the vote
of all. Nothing is chosen by these figures afterwards but the list itself.
"""

import warnings
from typing import Any

import numpy as np
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import StandardScaler

from benchmarks._domains import DomainTask, all_tasks, draw_rows, further_tasks
from benchmarks._harness import Log, markdown_table, read, write_page
from landbridge import CORAL, SearchResult, TransferSearchCV
from landbridge.model_selection import roles
from landbridge.model_selection.candidates import default_candidates
from landbridge.model_selection.correction import dissent

NAME = "search_defaults"
SMALL = ["source-only linear", "source-only trees", "reweighted linear"]
DEFAULT = [*SMALL, "source-only discriminant"]
LISTS = {
    "linear, trees, reweighted": SMALL,
    "and discriminant (the default)": DEFAULT,
    "and discriminant, aligned": [*DEFAULT, "aligned discriminant"],
}
RULES = ("trcv", "vote")


def run() -> None:
    """Search every task once, write results and page."""
    log = Log(NAME)
    for task in (*all_tasks(), *further_tasks()):
        log.write(dataset=task.dataset, task=task.name, **study(task))
    report()


def study(task: DomainTask) -> dict[str, Any]:
    """True accuracy of every candidate, and of what each rule takes from each list."""
    rows = draw_rows(task, 0)
    target = {"X_unlabeled": rows.X_target}
    search = TransferSearchCV(candidates(), criterion="all", refit=False, random_state=0)
    training = roles.Training(rows.X, rows.y, **target)
    accuracy = {}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        search.fit(rows.X, rows.y, **target)
        for name, estimator in search.candidates.items():
            model = roles.fit_candidate(estimator, training, task="classification", seed=0)
            accuracy[name] = round(float(np.mean(model.predict(rows.X_test) == rows.y_test)), 4)
    return summary(search.results_, accuracy)


def summary(result: SearchResult, accuracy: dict[str, float]) -> dict[str, Any]:
    """One line of the results."""
    chosen = {
        f"{words}: {rule}": choose(result, names, rule)
        for words, names in LISTS.items()
        for rule in RULES
    }
    return {"accuracy": accuracy, "chosen": chosen}


def candidates() -> dict[str, Any]:
    """The default list and one more."""
    discriminant = LinearDiscriminantAnalysis(solver="lsqr", shrinkage="auto")
    steps = [("scale", StandardScaler()), ("align", CORAL()), ("classify", discriminant)]
    aligned = Pipeline(steps, transform_input=["X_target", "X_unlabeled"])
    return {
        **default_candidates("classification", labelled=False),
        "aligned discriminant": aligned,
    }


def choose(result: SearchResult, names: list[str], rule: str) -> str:
    """Whom a rule takes from a list."""
    numbers = [n for n, cell in enumerate(result.cells) if cell["candidate"] in names]
    kinds = [result.cells[n]["candidate"] for n in numbers]
    values = result.values("trcv")[numbers]
    if rule == "vote":
        values = dissent(result.ballots[numbers], values, kinds, proportion=True)
    return kinds[int(np.nanargmin(values))]


def report() -> None:
    """Write ``docs/benchmarks/search_defaults.md`` from the results."""
    lines = read(NAME)
    title, text = __doc__.split("\n\n", 1)
    accuracy = {
        name: np.array([line["accuracy"][name] for line in lines]) for name in lines[0]["accuracy"]
    }
    taken = {
        rule: np.array([line["accuracy"][line["chosen"][rule]] for line in lines])
        for rule in lines[0]["chosen"]
    }
    best = np.max(list(accuracy.values()), axis=0)
    parts = [f"# {title}", text.strip(), "## Each candidate everywhere"]
    parts += [_candidate_table(accuracy, best), "## Chosen", _choice_table(taken)]
    parts.append(f"The best candidate of each task, known afterwards, has {best.mean():.4f}.")
    write_page(NAME, "\n\n".join(parts))


def _candidate_table(accuracy: dict[str, np.ndarray], best: np.ndarray) -> str:
    rows = [
        [name, f"{values.mean():.4f}", f"{np.mean(values == best):.0%}"]
        for name, values in accuracy.items()
    ]
    return markdown_table(["candidate", "accuracy", "best or as good"], rows)


def _choice_table(taken: dict[str, np.ndarray]) -> str:
    first = next(iter(taken.values()))
    rows = []
    for rule, values in taken.items():
        gain = values - first
        error = gain.std(ddof=1) / np.sqrt(gain.size)
        words = [f"{gain.mean():+.4f} ± {error:.4f}"]
        words += [f"{np.mean(gain > 0):.0%}", f"{np.mean(gain < 0):.0%}"]
        rows.append([*rule.rsplit(": ", 1), f"{values.mean():.4f}", *words])
    header = ["list", "chosen by", "accuracy", "against the first line", "better", "worse"]
    return markdown_table(header, rows)
