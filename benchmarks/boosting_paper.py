"""Table 2 and Figure 3 of Al-Stouhi and Reddy (2011) on the real data, with the missing baselines.

Thirty draws of each task and ratio; every method sees the same draws, so differences are paired.
"""

import warnings
from collections.abc import Callable, Iterator
from functools import partial
from itertools import product
from typing import Any

import numpy as np

from benchmarks import _boosting_page
from benchmarks._boosting_tasks import GROUPS, TASKS, TEXT_RATIO, Draw, draw, draw_white
from benchmarks._harness import Log
from landbridge import LandbridgeWarning, SourceOnly, TrAdaBoostClassifier, TrimmedTreeClassifier
from landbridge._validation import stack_rows

N_DRAWS = 30
RATIOS = (0.01, 0.02, 0.05, 0.1)
WHITE_ROWS = (30, 100, 489)
COSTS = (1.1, 1.2, 1.3)


PAPER = {"n_estimators": 30, "vote": "second_half", "target_share": None}


def adaboost() -> TrAdaBoostClassifier:
    """Without a target it is AdaBoost; on stumps, since a full tree would leave nothing to
    boost."""
    return TrAdaBoostClassifier(TrimmedTreeClassifier(max_depth=1), 30)


def accuracies(d: Draw) -> dict[str, float]:
    """Accuracy of every method on the test rows of a draw."""
    pooled = stack_rows([d.X, d.X_target]), np.concatenate([d.y, d.y_target])
    fitted = {
        "AdaBoost on the target": adaboost().fit(d.X_target, d.y_target),
        "source only": SourceOnly(adaboost()).fit(d.X, d.y),
        "pooled": adaboost().fit(*pooled),
    }
    corrections = {"TrAdaBoost": "none", **{f"cost {c}": c for c in COSTS}, "dynamic": "dynamic"}
    corrections["printed"] = "paper"
    models = {
        name: TrAdaBoostClassifier(
            TrimmedTreeClassifier(target_error=0.5), correction=correction, **PAPER
        )
        for name, correction in corrections.items()
    }
    models["auto"] = TrAdaBoostClassifier(TrimmedTreeClassifier(target_error="auto"), **PAPER)
    for name, model in models.items():
        fitted[name] = model.fit(d.X, d.y, X_target=d.X_target, y_target=d.y_target)
    scores = {name: float(model.score(d.X_test, d.y_test)) for name, model in fitted.items()}
    rounds = fitted["dynamic"].errors_
    scores["share of rounds without target error"] = float(np.mean(rounds == 0))
    return {name: round(score, 4) for name, score in scores.items()}


def weaknesses(d: Draw) -> dict[str, Any]:
    """TrAdaBoost with other votes, first weights and base learners (Sections 2 and 5.1)."""

    def fit(base: TrimmedTreeClassifier, **options: Any) -> TrAdaBoostClassifier:
        model = TrAdaBoostClassifier(base, correction="none", **{**PAPER, **options})
        return model.fit(d.X, d.y, X_target=d.X_target, y_target=d.y_target)

    tree, stump = TrimmedTreeClassifier(target_error=0.5), TrimmedTreeClassifier(max_depth=1)
    models = {
        "second half": fit(tree),
        "all": fit(tree, vote="all"),
        "half of the weight": fit(tree, target_share=0.5),
    }
    predicted = {name: model.predict(d.X_test) for name, model in models.items()}
    stalled = {"trees stalled": models["second half"], "stumps stalled": fit(stump)}
    return {
        **{name: round(float(np.mean(y == d.y_test)), 4) for name, y in predicted.items()},
        "one label": bool(np.unique(predicted["second half"]).size == 1),
        # A doubling of the target's weight takes the place of the paper's termination.
        **{name: bool(model.n_doublings_ > 0) for name, model in stalled.items()},
    }


def cells() -> Iterator[tuple[dict[str, Any], tuple[Callable[..., Any], Callable[[], Draw]]]]:
    """Every draw: the names of its line, what to measure, and how to make it."""
    for names, make in draws():
        yield names, (accuracies, make)
    for task, seed in product(TASKS, range(N_DRAWS)):
        yield (
            {"task": task, "weaknesses": True, "seed": seed},
            (weaknesses, partial(draw, task, seed)),
        )


def draws() -> Iterator[tuple[dict[str, Any], Callable[[], Draw]]]:
    """The draws of Table 2 and Figure 3, and those with more target rows."""
    seeds = range(N_DRAWS)
    for task, seed in product(TASKS, seeds):
        yield {"task": task, "ratio": TEXT_RATIO, "seed": seed}, partial(draw, task, seed)
    for task, ratio, seed in product(GROUPS, RATIOS, seeds):
        names = {"task": task, "ratio": ratio, "seed": seed}
        yield names, partial(draw, task, seed, ratio=ratio)
    for rows, seed in product(WHITE_ROWS, seeds):
        names = {"task": "white wine", "rows": rows, "seed": seed}
        yield names, partial(draw_white, rows, seed)


def run() -> None:
    """Draw, fit, write the lines and the page."""
    with warnings.catch_warnings(), Log("boosting_paper") as log:
        warnings.simplefilter("ignore", LandbridgeWarning)
        log.run(lambda measure, make: measure(make()), cells())
    _boosting_page.write()
