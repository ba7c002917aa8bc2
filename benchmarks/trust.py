"""Does a search say only what is known? Five claims on real tasks, one on generated shifts.

1. Labels that are no random sample raise an alarm, random ones do not, and intervals that are still
   given cover.
2. A verdict that is looked at every ten labels errs in at most 5 % of null pairs.
3. Unlabelled rows make intervals narrower at the same coverage.
4. Without labels, agreement between candidates is nearer to the accuracy than other estimates.
5. Where a source-only model loses, the split of the loss names the cause.
6. On tables of free text, the default search is as good as pooled TF-IDF with logistic regression.

Constants were chosen on the development tasks, except the least overlap at which an estimate is
reweighted, which was set with all tasks in view.
"""

from itertools import combinations
from typing import Any

import numpy as np
from scipy import stats
from sklearn.isotonic import IsotonicRegression

from benchmarks import _trust_causes, _trust_page, _trust_reviews
from benchmarks._domains import DomainTask
from benchmarks._harness import Log, read, write_page
from benchmarks._trust_cells import DRAWS as ROW_DRAWS
from benchmarks._trust_cells import LABELS, every_task, predictions, source_candidates
from benchmarks._trust_labels import PATTERNS, examine, label_tasks
from benchmarks._trust_losses import losses_of_probabilities, regression_lines, regression_tasks
from landbridge.inference import e_value, score_interval
from landbridge.inference.agreement import mean_agreement
from landbridge.inference.control_variate import adjust_mean
from landbridge.metrics.metric import CROSS_VALIDATED

LEVEL, DRAWS, UNLABELLED = 0.9, 3, 500
N_LOOKS, STEP = 30, 10


def run() -> None:
    """Write ``results/trust*.jsonl`` and the page."""
    run_labels()
    run_predictions()
    run_causes()
    run_losses()
    run_reviews()
    names = ("trust_labels", "trust", "trust_causes", "trust_losses", "trust_reviews")
    write_page("trust", _trust_page.page(*map(read, names)))


def run_losses() -> None:
    """One line per task and number of labels with the control variates of mean losses."""
    names = ("kind", "part", "dataset", "task")
    numbers = (
        (dict(zip(names, ("regression", part, task.dataset, task.name), strict=True)), (task,))
        for part, task in regression_tasks()
    )
    classes = (
        (dict(zip(names, ("classification", part, t.dataset, t.name), strict=True)), (part, t))
        for part, t in every_task()
    )
    with Log("trust_losses", resume=True) as log:
        log.run(regression_lines, numbers)
        log.run(classification_lines, classes)


def classification_lines(part: str, task: DomainTask) -> list[dict[str, Any]]:
    """Control variates of the losses of one classification task, by number of labels."""
    draws = [predictions(part, task, draw) for draw in range(ROW_DRAWS)]
    found = losses_of_probabilities(draws)
    return [{"labels": n, **figures} for n, figures in found.items()]


def run_causes() -> None:
    """One line per generated shift."""
    numbers = range(_trust_causes.N_SHIFTS)
    with Log("trust_causes", resume=True) as log:
        log.run(_trust_causes.examine, (({"number": number}, (number,)) for number in numbers))


def run_reviews() -> None:
    """One line per table of reviews and draw."""
    with Log("trust_reviews", resume=True) as log:
        log.run(_trust_reviews.examine, _trust_reviews.cells())


def run_labels() -> None:
    """One line per task and pattern of labels; an interrupted run is continued."""
    cells = (
        (
            {"kind": found.kind, "dataset": found.task.dataset, "task": found.task.name}
            | {"pattern": pattern},
            (found, pattern, 0),
        )
        for found in label_tasks()
        for pattern in PATTERNS
    )
    with Log("trust_labels", resume=True) as log:
        log.run(examine, cells)


def run_predictions() -> None:
    """One line per classification task with the figures of claims 2 to 4."""
    cells = (
        ({"part": part, "dataset": task.dataset, "task": task.name}, (part, task))
        for part, task in every_task()
    )
    with Log("trust", resume=True) as log:
        log.run(claims, cells)


def claims(part: str, task: DomainTask) -> dict[str, Any]:
    """Figures of claims 2 to 4 for one task."""
    draws = [predictions(part, task, draw) for draw in range(ROW_DRAWS)]
    return {
        "without_labels": without_labels(draws[0]),
        "control_variate": control_variates(draws[0]),
        "out_of_fold": out_of_fold_variates(draws),
        "peeking": peeking(draws[0]),
    }


def without_labels(found: dict[str, Any]) -> dict[str, list[float]]:
    """Accuracy of each source-only candidate and five estimates of it without labels."""
    agreement = mean_agreement(found["unlabelled"].argmax(axis=2))
    lines: dict[str, list[float]] = {"agreement": agreement.tolist()}
    for name in ("accuracy", "ATC", "DoC", "CBPE", "source CV"):
        lines[name] = []
    voted = found["test"].mean(axis=0).argmax(axis=1)
    lines["vote"] = [float(np.mean(voted == found["y_test"]))]
    for c in range(len(agreement)):
        lines["accuracy"].append(float(np.mean(found["test"][c].argmax(1) == found["y_test"])))
        right = found["cv_source"][c].argmax(axis=1) == found["cv_y"]
        own, other = found["cv_source"][c].max(axis=1), found["unlabelled"][c].max(axis=1)
        # ATC: the confidence that as many source rows exceed as are right.
        lines["ATC"].append(float(np.mean(other >= np.quantile(own, 1 - right.mean()))))
        lines["DoC"].append(float(right.mean() - own.mean() + other.mean()))
        calibrated = IsotonicRegression(out_of_bounds="clip").fit(own, right)
        lines["CBPE"].append(float(calibrated.predict(other).mean()))
        lines["source CV"].append(float(right.mean()))
    return {name: np.round(values, 5).tolist() for name, values in lines.items()}


def _fixed_models(found: dict[str, Any]) -> np.ndarray:
    """Predictions of models fitted once, on test rows: what intervals are about."""
    return next(found[name] for name in ("test_100", "test_50", "test_20", "test") if name in found)


def control_variates(found: dict[str, Any]) -> dict[str, list[float]]:
    """Means of width over plain width, covered, plain covered, for labels drawn anew."""
    proba, y = _fixed_models(found), found["y_test"]
    rng, rows = np.random.default_rng(0), np.arange(len(y))
    predicted, vote = proba.argmax(axis=2), proba.mean(axis=0)
    means: dict[str, list[float]] = {}
    for n in (20, 50, 100):
        lines = []
        for _ in range(DRAWS):
            labelled, others = rng.integers(0, len(y), n), rng.integers(0, len(y), UNLABELLED)
            for own in predicted:
                wrong, proxy = (own != y).astype(float), 1 - vote[rows, own]
                _, effective, moved = adjust_mean(wrong[labelled], proxy[labelled], proxy[others])
                plain, truth = wrong[labelled].mean(), wrong.mean()
                least, most = score_interval(plain + moved, effective, LEVEL)
                low, high = score_interval(plain, n, LEVEL)
                lines.append(
                    [(most - least) / (high - low), least <= truth <= most, low <= truth <= high]
                )
        means[str(n)] = np.mean(lines, axis=0).round(5).tolist()
    return means


def out_of_fold_variates(draws: list[dict[str, Any]]) -> dict[str, list[float]]:
    """The same as a search does it: out-of-fold losses, models averaged on unlabelled rows.

    Means of width over plain width, covered, plain covered, squared error and plain squared error
    of the estimate of the refitted models' error on test rows; then covered and plain covered of
    the source-only candidates, and of those that learn from labels.
    """
    means: dict[str, list[float]] = {}
    n_source = len(source_candidates())
    for n in LABELS:
        lines = np.array([_out_of_fold_lines(found, n) for found in draws if f"y_{n}" in found])
        if lines.size:
            roles = lines[:, :n_source, 1:3], lines[:, n_source:, 1:3]
            figures = [lines.mean(axis=(0, 1)), *(role.mean(axis=(0, 1)) for role in roles)]
            means[str(n)] = np.concatenate(figures).round(5).tolist()
    return means


def _out_of_fold_lines(found: dict[str, Any], n: int) -> list[list[float]]:
    """One line of figures per candidate."""
    y, labelled = found[f"y_{n}"], found[f"labelled_{n}"].astype(float)
    unlabelled, test = found[f"unlabelled_{n}"].astype(float), found[f"test_{n}"]
    votes = labelled.mean(axis=0), unlabelled.mean(axis=0)
    lines = []
    for c in range(len(labelled)):
        own, other = labelled[c].argmax(axis=1), unlabelled[c].argmax(axis=1)
        wrong, truth = (own != y).astype(float), np.mean(test[c].argmax(1) != found["y_test"])
        proxy = 1 - votes[0][np.arange(n), own]
        others = 1 - votes[1][np.arange(len(other)), other]
        _, effective, moved = adjust_mean(wrong, proxy, others)
        estimate = float(np.clip(wrong.mean() + moved, 0, 1))
        low, high = score_interval(estimate, effective / CROSS_VALIDATED, LEVEL)
        low_plain, high_plain = score_interval(wrong.mean(), n / CROSS_VALIDATED, LEVEL)
        lines.append(
            [
                (high - low) / (high_plain - low_plain),
                low <= truth <= high,
                low_plain <= truth <= high_plain,
                (estimate - truth) ** 2,
                (wrong.mean() - truth) ** 2,
            ]
        )
    return lines


def peeking(found: dict[str, Any]) -> dict[str, list[list[int]]]:
    """For pairs of candidates: verdicts with up to 300 labels, looked at every 10.

    Null pairs: both losses of a row change places at random ("swapped"), or the mean is taken from
    the difference ("centred", log losses). True pairs: as they are. Each line: decided by the
    e-value at any look, by a t-test at any look, and by a t-test at the last look alone, and the
    sign of the verdict of the e-value times that of the true difference.
    """
    proba, y = _fixed_models(found), found["y_test"]
    rng, rows = np.random.default_rng(1), np.arange(len(y))
    wrong = (proba.argmax(axis=2) != y).astype(float)
    log_loss = -np.log(np.clip(proba[:, rows, y], 1e-3, 1))
    lines: dict[str, list[list[int]]] = {"swapped": [], "centred": [], "true": [], "true log": []}
    pairs = list(combinations(range(len(wrong)), 2))
    for a, b in [pairs[k] for k in rng.choice(len(pairs), 5, replace=False)]:
        order = rng.integers(0, len(y), N_LOOKS * STEP)
        d, e = (wrong[a] - wrong[b])[order], (log_loss[a] - log_loss[b])[order]
        signs = rng.choice([-1.0, 1.0], len(order))
        if d.any():
            lines["swapped"].append(_looks(d * signs, 1.0, 0.0))
            lines["true"].append(_looks(d, 1.0, float((wrong[a] - wrong[b]).mean())))
        lines["centred"].append(_looks(e - (log_loss[a] - log_loss[b]).mean(), None, 0.0))
        lines["true log"].append(_looks(e, None, float((log_loss[a] - log_loss[b]).mean())))
    return lines


def _looks(d: np.ndarray, bound: float | None, truth: float) -> list[int]:
    ends = range(STEP, len(d) + 1, STEP)
    evidence = [[e_value(part[:end], bound=bound) for part in (d, -d)] for end in ends]
    decided = next((found for found in evidence if sum(found) >= 40), None)  # a mean of 20
    fixed = []
    for end in ends:
        part = d[:end]
        error = part.std(ddof=1) / np.sqrt(end)
        t = abs(part.mean()) / error if error > 0 else 0.0
        fixed.append(bool(2 * stats.t.sf(t, end - 1) <= 0.05))
    sign = 0.0
    if decided is not None:
        sign = float(np.sign(truth) * (-1 if decided[0] > decided[1] else 1))
    return [int(decided is not None), int(any(fixed)), int(fixed[-1]), int(sign)]
