"""Uncertainty of a search: intervals, probabilities and the verdict on transfer.

Each result states which rows it is based on. The intervals are:

``"anchored"``
    Interval for the target score around the anchored estimate, based on the labelled target rows.
``"labelled"``
    The same around the candidate's own score on those rows.
``"adjusted"``
    The same with the unlabelled rows as a control variate, for accuracy, Brier score, MAE, MSE and
    RMSE: about 10 % narrower at the same coverage (`benchmarks/trust.py`). For other metrics this
    is the same as ``"labelled"``.
``"paper"``
    Eq. (15) of Zhong et al.: the score interval of a proportion, which treats the losses of TrCV as
    those of n independent target rows. It ignores the bias of TrCV.
``"effective"``
    The same with the effective sample size of the weights in place of n.

The vote has a separate interval, ``"cross-fitted"``, from predictions whose weights were learned
without the fold of the row. The control variate is used for accuracy, Brier score and log loss. For
regression errors it made intervals only 2 to 5 % narrower, so it is not used.

With groups of target rows (``cv_groups_target`` in `fit`), groups, not rows, are independent:
intervals and paired tests resample or sum whole groups, without a control variate.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from enum import StrEnum
from numbers import Integral
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from scipy import stats

from landbridge._html import card, html_table, interval_bar, sentence
from landbridge._typing import Vector, VectorLike
from landbridge._validation import check_choice, is_number
from landbridge.inference import score_interval
from landbridge.inference.e_process import e_value
from landbridge.inference.intervals import check_level
from landbridge.inference.label_check import LabelCheck
from landbridge.metrics.inference import (
    metric_interval,
    paired_probability,
)
from landbridge.metrics.metric import Metric, format_interval
from landbridge.metrics.scoring import check_scoring
from landbridge.model_selection._unlabelled import adjust_with_unlabelled
from landbridge.model_selection.criteria import CRITERIA
from landbridge.weighting import effective_sample_size

if TYPE_CHECKING:
    from landbridge.model_selection.search_result import SearchResult

# Criterion whose predictions each method uses, in order of reliability.
METHODS = {
    "anchored": "anchored",
    "labelled": "tlv",
    "adjusted": "tlv",
    "effective": "trcv",
    "paper": "trcv",
}
BASELINES = ("target-only", "source-only")


class Withheld(StrEnum):
    """Reason why an interval has no bounds."""

    LABELS = "the labelled target rows are not a sample of the target"
    NO_LABELS = "no model was validated on labelled target rows, by tlv or anchored"
    UNDEFINED = "the metric is not defined on the labelled target rows"


@dataclass(frozen=True, slots=True)
class SearchInterval:
    """Interval for a score on the target; unpacks to ``low, high``.

    Parameters
    ----------
    estimate, low, high : float
        Estimate and bounds in the unit of the metric; NaN bounds if the interval is withheld.
    level : float
        Nominal coverage.
    metric : Metric
        The metric.
    method : str
        Name of the method.
    n_rows : float
        Number of rows used; the effective number if they are weighted.
    of_target : bool
        Whether these are labelled target rows.
    note : str
        Known reason why the coverage is below the level.
    withheld : Withheld or None
        Reason why there are no bounds.
    n_groups : int or None
        Number of groups of these rows, if groups instead of rows are independent.
    """

    estimate: float
    low: float
    high: float
    level: float
    metric: Metric
    method: str
    n_rows: float
    of_target: bool = True
    note: str = ""
    withheld: Withheld | None = None
    n_groups: int | None = None

    def __iter__(self) -> Iterator[float]:
        return iter((self.low, self.high))

    def __contains__(self, score: float) -> bool:
        return self.low <= score <= self.high

    @property
    def rests_on(self) -> str:
        """The rows behind the interval, in words."""
        if self.of_target:
            of_groups = "" if self.n_groups is None else f" of {self.n_groups} groups"
            return f"{self.n_rows:.0f} labelled target rows{of_groups}"
        return f"{self.n_rows:.0f} source rows, as if drawn from the target"

    def __str__(self) -> str:
        if self.withheld is not None:
            return f"{self.metric.label}: no interval, because {self.withheld}"
        estimate, low, high = format_interval(self.estimate, self.low, self.high)
        words = (
            f"{self.metric.label} {estimate}, {100 * self.level:g} % interval {low} to {high} "
            f"({self.method}: {self.rests_on})"
        )
        return f"{words}. {self.note}" if self.note else words

    def _repr_html_(self) -> str:
        bar = interval_bar(self.low, self.estimate, self.high, self.metric.bounds)
        return card(f"{self.metric.label} on the target", bar, sentence(str(self)))


def search_interval(
    result: "SearchResult",
    level: float = 0.95,
    *,
    cell: int | Literal["vote"] | None = None,
    metric: str | Metric | None = None,
    method: str | None = None,
    missing_ok: bool = False,
) -> Any:
    """An interval for a score on the target; see `SearchResult.interval`.

    With ``missing_ok``, return ``None`` instead of raising if there is no interval.
    """
    check_level(level)
    metric = result.find_metric(metric)
    cell = result.answer if cell is None else cell
    if cell != "vote":
        cell = check_cell(result, cell, instead="'vote' or ")
    if method is None and "tlv" not in result.available():
        # Intervals from source rows ignore the bias of TrCV, so they are given only on request.
        score, nan = result.score_of(cell, metric), np.nan
        withheld = Withheld.NO_LABELS
        return SearchInterval(score, nan, nan, level, metric, "none", 0.0, withheld=withheld)
    if cell == "vote":
        if result.predictions("tlv", "vote") is not None:
            return _from_rows(result, "vote", level, metric, "cross-fitted")
        if missing_ok:
            return None
        raise ValueError(
            "`cell` 'vote' must have members that were validated on labelled target rows; got "
            "none, because every candidate failed. `results_.failures` says why."
        )
    method = method or default_method(result, metric)
    check_choice(method, "method", tuple(METHODS))
    criterion = METHODS[method]
    if missing_ok and result.status(criterion, metric)[cell] == "failed":
        return None
    if not CRITERIA[criterion].of_target:
        _require_accuracy(metric, method)
    _require(result, criterion, method)
    if result.status(criterion, metric)[cell] == "failed":
        raise ValueError(
            f"`cell` must be one that could be validated by {criterion!r} and {metric.label}; got "
            f"{cell}, {result.labels[cell]!r}, which failed. `results_.failures` says why."
        )
    estimate = float(result.scores(criterion, metric)[cell])
    if CRITERIA[criterion].of_target:
        anchored = estimate if method == "anchored" else None
        return _from_rows(result, cell, level, metric, method, anchored)
    weights = result.sources[result.cells[cell].source_index].weights
    n = float(weights.size if method == "paper" else effective_sample_size(weights))
    low, high = map(float, score_interval(estimate, n, level))
    return SearchInterval(estimate, low, high, level, metric, method, n, of_target=False)


def _from_rows(
    result: "SearchResult",
    cell: int | Literal["vote"],
    level: float,
    metric: Metric,
    method: str,
    estimate: float | None = None,
) -> SearchInterval:
    """Interval of the metric; reweighted or withheld if the labels are not a sample."""
    y, (values,), weight = result._validated("tlv", [cell], metric.response)
    check, n_rows = result.label_check_, float(y.size)
    score = float(metric.score(y, values, weight)) if estimate is None else estimate
    answer = SearchInterval(score, np.nan, np.nan, level, metric, method, n_rows)
    if not np.isfinite(score):
        return replace(answer, estimate=np.nan, withheld=Withheld.UNDEFINED)
    if check is not None and check.withheld:
        return replace(answer, withheld=Withheld.LABELS)
    groups = result._groups_of("tlv", [cell])
    if weight is None and groups is None and _is_sample(check) and is_adjusted(metric, method):
        return _adjusted(result, cell, level, metric, method)
    options = {"groups": groups, "variance_factor": metric.out_of_fold_factor}
    known = result._replicates(metric, [cell])
    plain = metric_interval(
        metric,
        y,
        values,
        level,
        estimate=estimate,
        sample_weight=weight,
        replicates=None if known is None else known[0],
        **options,
    )
    if groups is not None:
        answer = replace(answer, n_groups=np.unique(groups).size)
    if _is_sample(check):
        return replace(
            answer, estimate=plain.estimate, low=plain.low, high=plain.high, note=plain.note
        )
    # Weights correct only differences that the columns explain, so the interval also includes the
    # unweighted one.
    seen = result.predictions("tlv", cell).seen  # type: ignore[union-attr]
    own = check.weights[seen]  # type: ignore[union-attr]
    weight = own if weight is None else weight * own
    weighted = metric_interval(metric, y, values, level, sample_weight=weight, **options)
    return replace(
        answer,
        estimate=weighted.estimate,
        low=float(np.fmin(weighted.low, plain.low)),
        high=float(np.fmax(weighted.high, plain.high)),
        n_rows=effective_sample_size(weight),
        note="reweighted, because the labelled rows differ from the target",
    )


def is_adjusted(metric: Metric, method: str) -> bool:
    """Whether unlabelled rows are a control variate: where `benchmarks/trust.py` has shown it."""
    if method == "cross-fitted":
        return is_accuracy(metric) or metric.label in ("log loss", "Brier score")
    return method == "adjusted" and (
        is_accuracy(metric) or metric.label in ("Brier score", "MAE", "MSE", "RMSE")
    )


def _adjusted(
    result: "SearchResult",
    cell: int | Literal["vote"],
    level: float,
    metric: Metric,
    method: str,
) -> SearchInterval:
    """Interval with the unlabelled rows as a control variate, or plain if they cannot help."""
    if metric.label == "RMSE":
        (mean,) = check_scoring("mse", task="regression")
        squared = _adjusted(result, cell, level, mean, method)
        estimate, low, high = np.sqrt([squared.estimate, *squared]).tolist()
        return replace(squared, metric=metric, estimate=estimate, low=low, high=high)
    y, (values,), _ = result._validated("tlv", [cell], metric.response)
    centre, factor = None, metric.out_of_fold_factor
    found = adjust_with_unlabelled(result, cell, metric, y, values)
    if found is not None:
        score = metric.score_of(metric.loss(metric.score(y, values)) + found.loss)
        centre, factor = float(score), factor * y.size / found.effective_rows
    plain = metric_interval(
        metric, y, values, level, estimate=centre, variance_factor=factor, shrunk=False
    )
    return SearchInterval(
        plain.estimate, plain.low, plain.high, level, metric, method, float(y.size), note=plain.note
    )


def _is_sample(check: LabelCheck | None) -> bool:
    return check is None or check.representative


def default_method(result: "SearchResult", metric: Metric) -> str:
    """``"anchored"`` if the search has it for this metric, else ``"labelled"``."""
    usable = [name for name in ("anchored", "labelled") if METHODS[name] in result.available()]
    measured = [m for m in usable if set(result.status(METHODS[m], metric)) != {"failed"}]
    return (measured or usable)[0]


def is_accuracy(metric: Metric) -> bool:
    """Whether a metric is the share of correct rows, for which the paper has formulas."""
    return metric.decomposable and metric.response == "label" and metric.label == "accuracy"


# Probabilities


def prob_better(
    result: "SearchResult", *, method: str | None, level: float, metric: Metric
) -> np.ndarray:
    """P(row's cell is better than column's); see `SearchResult.prob_better`."""
    check_level(level)
    method = method or "paired"
    check_choice(method, "method", ("paired", "paper"))
    if method == "paired":
        return _paired(result, metric)
    _require(result, "trcv", method)
    _require_accuracy(metric, method)
    rows = np.array([result.sources[cell.source_index].rows.size for cell in result.cells])
    return prob_better_paper(np.array(result.scores("trcv", metric)), rows, level)


def score_centre(accuracy: float, n: float, level: float) -> tuple[float, float]:
    """μ and σ of Eq. (16): centre and half-width of the score interval, Eq. (15)."""
    low, high = score_interval(accuracy, n, level)
    return float(low + high) / 2, float(high - low) / 2


def prob_better_paper(accuracies: Vector, n: Vector, level: float) -> np.ndarray:
    """Eq. (16): P(row is better than column), each candidate from its own score interval."""
    known = np.isfinite(accuracies)
    answer = np.full((accuracies.size, accuracies.size), np.nan)
    if not known.any():
        return answer
    pairs = zip(accuracies[known], n[known], strict=True)
    centre, half = np.array([score_centre(e, rows, level) for e, rows in pairs]).T
    difference = centre[:, None] - centre[None, :]
    probability = stats.norm.cdf(difference / np.sqrt(half[:, None] ** 2 + half[None, :] ** 2))
    np.fill_diagonal(probability, 0.5)
    answer[np.ix_(known, known)] = probability
    return answer


def _paired(result: "SearchResult", metric: Metric) -> np.ndarray:
    """Compare on labelled target rows if they were predicted, otherwise on source rows."""
    n_cells = len(result.cells)
    answer = np.full((n_cells, n_cells), np.nan)
    criterion = "tlv" if "tlv" in result.available() else result.criterion
    status = result.status(criterion, metric)
    groups: dict[Any, list[int]] = {}
    for cell in range(n_cells):
        if status[cell] != "failed":
            answer[cell, cell] = 0.5
            seen = result.predictions(criterion, cell).seen  # type: ignore[union-attr]
            where = None if CRITERIA[criterion].of_target else result.cells[cell].source_index
            groups.setdefault((where, seen.tobytes()), []).append(cell)
    cells = [cell for group in groups.values() for cell in group]
    answer[np.ix_(cells, cells)] = 0.5
    for group in groups.values():
        y, values, weight = result._validated(criterion, group, metric.response)
        if y.size >= 2:
            found = paired_probability(
                metric,
                y,
                values,
                sample_weight=weight,
                groups=result._groups_of(criterion, group),
                replicates=result._replicates(metric, group) if criterion == "tlv" else None,
            )
            answer[np.ix_(group, group)] = found
    if len(groups) > 1 and CRITERIA[criterion].of_target:
        _compare_across(result, metric, list(groups.values()), answer)
    return answer


def _compare_across(
    result: "SearchResult", metric: Metric, groups: list[list[int]], answer: np.ndarray
) -> None:
    """Compare cells with different rows (after racing) on the rows that each pair shares."""
    for number, group in enumerate(groups):
        for a in group:
            for b in (cell for other in groups[number + 1 :] for cell in other):
                y, values, weight = result._validated("tlv", [a, b], metric.response)
                if y.size >= 2:
                    members = result._groups_of("tlv", [a, b])
                    pair = paired_probability(
                        metric, y, values, sample_weight=weight, groups=members
                    )
                    answer[a, b], answer[b, a] = pair[0, 1], pair[1, 0]


# The verdict on transfer


class Finding(StrEnum):
    """Possible conclusions of a search about transfer."""

    WORTH = "worth it"
    NOT_SHOWN = "not shown"
    NO_LABELS = "no labels"
    OTHER_LABELS = "the labels are not a sample of the target"
    NO_TRANSFER = "no transfer candidate"
    NO_BASELINE = "no baseline"


@dataclass(frozen=True, slots=True)
class Rival:
    """Comparison of one baseline with the best transfer candidate.

    ``e_value`` is valid however often it is inspected while labels arrive; ``probability`` is valid
    for a single look at this number of labels.
    """

    role: str
    cell: int
    name: str
    e_value: float
    probability: float
    beaten: bool


@dataclass(frozen=True, slots=True)
class Verdict:
    """Whether transfer is worth it.

    Parameters
    ----------
    finding : Finding
        Conclusion of the search.
    best : str
        The best transfer candidate.
    rivals : tuple of Rival
        The best target-only and the best source-only candidate.
    level : float
        Nominal coverage.
    n_rows : int
        Number of labelled target rows behind it.
    """

    finding: Finding
    best: str = ""
    rivals: tuple[Rival, ...] = ()
    level: float = 0.95
    n_rows: int = 0

    @property
    def worth(self) -> bool | None:
        """Whether transfer helps; ``None`` if the search cannot decide."""
        known = {Finding.WORTH: True, Finding.NOT_SHOWN: False}
        return known.get(self.finding)

    def __bool__(self) -> bool:
        return bool(self.worth)

    @property
    def message(self) -> str:
        """The verdict in words."""
        if self.finding is Finding.NO_LABELS:
            return (
                "Cannot compare: this needs at least 2 labelled target rows and the criterion "
                "'tlv' or 'anchored'."
            )
        if self.finding is Finding.OTHER_LABELS:
            return (
                "Cannot compare: the labelled target rows are not a sample of the target, so they "
                "do not show whether transfer helps there."
            )
        if self.finding is Finding.NO_TRANSFER:
            return "Cannot compare: `candidates` contains no transfer estimator."
        if self.finding is Finding.NO_BASELINE:
            return "Cannot compare: `candidates` contains no target-only or source-only estimator."
        figures = ", ".join(f"{rival.role}: {_percent(rival.probability)}" for rival in self.rivals)
        if self.finding is Finding.WORTH:
            roles = " and ".join(rival.role for rival in self.rivals)
            return (
                f"Transfer is worth it: {self.best} beats {roles} on these {self.n_rows} labels "
                f"(probability of being better than {figures})."
            )
        unbeaten = " or ".join(rival.role for rival in self.rivals if not rival.beaten)
        return (
            f"{self.best} is not shown to beat {unbeaten} with these {self.n_rows} labels "
            f"(probability of being better than {figures})."
        )

    def __str__(self) -> str:
        return self.message

    def _repr_html_(self) -> str:
        known = {True: "Transfer is worth it", False: "Transfer is not shown to help"}
        rows = [
            (rival.role, rival.name, _percent(rival.probability), float(rival.e_value))
            for rival in self.rivals
        ]
        header = ("baseline", "candidate", "probability of being better", "e-value")
        return card(
            "Cannot compare" if self.worth is None else known[self.worth],
            sentence(self.message),
            html_table(header, rows) if rows else "",
        )


def _percent(probability: float) -> str:
    """Format a probability as a percentage, never rounded to 0 or 100 %."""
    if probability > 0.995:
        return "over 99 %"
    if probability < 0.005:
        return "under 1 %"
    return f"{100 * probability:.0f} %"


def judge_transfer(result: "SearchResult", level: float) -> Verdict:
    """Compare the best transfer candidate with the best baselines on labelled target rows.

    A plain estimator learns from source and labelled target rows together, so it counts as
    transfer. The best of m transfer candidates was chosen on the same rows, so its e-value must
    reach m / (1 − level).
    """
    check_level(level)
    if "tlv" not in result.available():
        return Verdict(Finding.NO_LABELS, level=level)
    if result.label_check_ is not None and result.label_check_.withheld:
        return Verdict(Finding.OTHER_LABELS, level=level)
    values = result.values()
    measured = set(result._complete("tlv"))
    complete = [c for c in result._complete() if c in measured and np.isfinite(values[c])]
    of_role = {
        role: [cell for cell in complete if result.cells[cell].role == role] for role in BASELINES
    }
    transfer = [cell for cell in complete if result.cells[cell].role not in BASELINES]
    if not transfer:
        return Verdict(Finding.NO_TRANSFER, level=level)
    if not any(of_role.values()):
        return Verdict(Finding.NO_BASELINE, level=level)
    best = min(transfer, key=lambda cell: values[cell])
    bar = len(transfer) / (1 - level)
    rivals = []
    n_rows = 0
    for role, cells in of_role.items():
        if cells:
            rival = min(cells, key=lambda cell: values[cell])
            evidence, probability, n_rows = compare_pair(result, best, rival)
            rivals.append(
                Rival(role, rival, result.labels[rival], evidence, probability, evidence >= bar)
            )
    finding = Finding.WORTH if all(rival.beaten for rival in rivals) else Finding.NOT_SHOWN
    return Verdict(finding, result.labels[best], tuple(rivals), level, n_rows)


def compare_pair(result: "SearchResult", first: int, second: int) -> tuple[float, float, int]:
    """E-value and paired probability that ``first`` is better, and the number of rows.

    The e-value uses differences of pointwise losses: those of the metric, or zero-one and squared
    losses for a metric that is not a mean.
    """
    metric = result.metric
    y, values, weight = result._validated("tlv", [first, second], metric.response)
    groups = result._groups_of("tlv", [first, second])
    options = {"groups": groups, "replicates": result._replicates(metric, [first, second])}
    probability = paired_probability(metric, y, values, sample_weight=weight, **options)[0, 1]
    evidence = _evidence(result, metric, y, values, groups)
    return float(evidence[0]), float(probability), y.size


@dataclass(frozen=True, slots=True)
class Lead:
    """Comparison of the best candidate with its closest rival.

    ``e_value`` is the smallest over all rivals and remains valid under repeated inspection while
    labels arrive. ``probability`` is the paired probability against the rival, for a single
    inspection.
    """

    best: str
    rival: str
    e_value: float
    probability: float
    n_rows: int
    level: float
    n_candidates: int

    @property
    def decided(self) -> bool:
        """Test whether the best candidate leads, allowing for its selection among all of them."""
        return self.e_value >= self.n_candidates / (1 - self.level)


def find_lead(result: "SearchResult", level: float) -> Lead | None:
    """The lead of the best candidate; ``None`` without labels or without rivals."""
    check_level(level)
    if "tlv" not in result.available():
        return None
    complete = set(result._complete()) & set(result._complete("tlv"))
    cells = [cell for cell in result.ranking() if cell in complete]
    if len(cells) < 2 or cells[0] != result.best:
        return None
    y, values, _ = result._validated("tlv", cells, result.metric.response)
    if y.size < 2:
        return None
    evidence = _evidence(result, result.metric, y, values, result._groups_of("tlv", cells))
    closest = int(np.argmin(evidence))
    rival = cells[1 + closest]
    _, probability, _ = compare_pair(result, cells[0], rival)
    names = result.labels[cells[0]], result.labels[rival]
    return Lead(*names, float(evidence[closest]), probability, y.size, level, len(cells))


def _evidence(
    result: "SearchResult", metric: Metric, y: Vector, values: np.ndarray, groups: VectorLike
) -> Vector:
    """E-values for the first of several cells being better than each of the others.

    Each group of rows contributes its mean difference.
    """
    losses, bound, scale = _pointwise(result, metric, y, values)
    differences = losses[0] - losses[1:]
    if groups is not None:
        codes = np.unique(groups, return_inverse=True)[1]
        sums = np.stack([np.bincount(codes, row) for row in differences])
        differences = sums / np.bincount(codes)
    found = e_value(differences, bound=bound, scale=scale)
    return np.atleast_1d(found.first_better)


def _pointwise(
    result: "SearchResult", metric: Metric, y: Vector, values: np.ndarray
) -> tuple[np.ndarray, float | None, float | None]:
    """Losses per row, their largest difference, and their typical size from source labels."""
    if metric.decomposable:
        width = metric.loss_bounds[1] - metric.loss_bounds[0]
        if np.isfinite(width):
            return metric.pointwise(y, values), float(width), None
        scale = 1.0
        if result.classes is None:
            scale = float(np.var(result.y) if metric.label == "MSE" else np.std(result.y))
        losses = metric.pointwise(y, values)
    elif result.classes is None:
        losses, scale = (values - y) ** 2, float(np.var(result.y))
    else:
        return (values.argmax(axis=-1) != y).astype(np.float64), 1.0, None
    return losses, None, scale if scale > 0 else None


# What must hold


def _require(result: "SearchResult", criterion: str, method: str) -> None:
    if criterion not in result.available():
        raise ValueError(
            f"method={method!r} must have the predictions of {criterion!r}; got a search with "
            f"{list(result.info.criteria)}. Include {criterion!r} in `criterion`."
        )


def _require_accuracy(metric: Metric, method: str) -> None:
    if not is_accuracy(metric):
        raise ValueError(
            f"`method` {method!r} must be used with accuracy; got {metric.label}. Use method="
            "'labelled' for intervals, or method='paired' for probabilities."
        )


def check_cell(result: "SearchResult", cell: Any, *, instead: str = "") -> int:
    """Check the number of a cell; ``instead`` names other allowed values."""
    n_cells = len(result.cells)
    sound = is_number(cell) and isinstance(cell, Integral)
    if not sound or not -n_cells <= int(cell) < n_cells:
        raise ValueError(
            f"`cell` must be {instead}the number of one of the {n_cells} cells, from 0 to "
            f"{n_cells - 1}; got {cell!r}. `results_.labels` names them."
        )
    return int(cell)
