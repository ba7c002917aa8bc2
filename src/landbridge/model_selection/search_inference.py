"""Uncertainty of a search: intervals, probabilities of being better, and verdicts.

Each result states which rows it is based on. The intervals are:

``"anchored"``
    Interval for the target score around the anchored estimate, based on the labelled target rows.
``"labelled"``
    The same around the candidate's own score on those rows.
``"adjusted"``
    The same with the unlabelled rows as a control variate, for accuracy, MAE, MSE and RMSE: about
    10 % narrower at the same coverage (`benchmarks/trust.py`). For other metrics this is the same
    as ``"labelled"``.
``"paper"``
    Eq. (15) of Zhong et al.: the score interval of a proportion, which treats the losses of TrCV as
    those of n independent target rows. It ignores the bias of TrCV.
``"effective"``
    The same with the effective sample size of the weights in place of n.

The vote has a separate interval, ``"cross-fitted"``, from predictions whose weights were learned
without the fold of the row. The control variate is used for Brier score and log loss. For accuracy
and regression errors it made intervals only 2 to 5 % narrower, so it is not used.

With groups of target rows (``cv_groups_target`` in `fit`), groups, not rows, are independent:
intervals and paired tests resample or sum whole groups, without a control variate.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from itertools import chain, combinations, product
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy import stats

from landbridge._html import card, html_table, interval_bar, sentence
from landbridge._typing import Vector
from landbridge._validation import check_choice, is_count
from landbridge.inference import score_interval
from landbridge.inference.agreement import FEWEST_CANDIDATES, AgreementInterval, agreement_interval
from landbridge.inference.control_variate import adjust_mean
from landbridge.inference.e_process import e_value
from landbridge.inference.intervals import check_level, format_interval
from landbridge.metrics.inference import (
    effective_rows,
    metric_interval,
    paired_probability,
    reweighted_interval,
)
from landbridge.metrics.metric import Metric
from landbridge.metrics.scoring import check_scoring
from landbridge.model_selection.criteria import CRITERIA
from landbridge.model_selection.search_records import VOTE, CellNumber, Predictions, ValidatedRows
from landbridge.model_selection.vote import combine
from landbridge.weighting import effective_sample_size

if TYPE_CHECKING:
    from landbridge.model_selection.search_result import SearchResult

# Roles that transfer has to beat.
BASELINES = ("target-only", "source-only")
# With fewer labels the slope of the loss on its proxy is noise.
FEWEST_LABELS = 20
# Criterion whose predictions each method uses, in order of reliability.
METHODS = {
    "anchored": "anchored",
    "labelled": "tlv",
    "adjusted": "tlv",
    "effective": "trcv",
    "paper": "trcv",
}


class Withheld(StrEnum):
    """Reason why an interval has no bounds."""

    LABELS = "the labelled target rows are not a random sample of the target"
    NO_LABELS = "no model was validated on labelled target rows (by tlv or anchored)"
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


def interval(
    self: "SearchResult",
    level: float = 0.95,
    *,
    cell: CellNumber | None = None,
    metric: str | Metric | None = None,
    method: str | None = None,
) -> SearchInterval:
    """Interval for the score on the target.

    Parameters
    ----------
    cell : int or "vote", optional
        By default, the selected model: the vote, or the best cell with ``refit="best"``.
    method : {"anchored", "labelled", "adjusted", "effective", "paper"}, optional
        ``"anchored"`` and ``"labelled"`` use the labelled target rows and are centred at the
        anchored estimate and at the cell's own score. ``"adjusted"`` is a narrower version of the
        latter that also uses the unlabelled rows, for accuracy, MAE, MSE and RMSE.
        ``"paper"`` is Eq. (15) for accuracy, and ``"effective"`` uses the effective sample size
        instead. The default is the first method that the search supports. With
        ``cv_groups_target`` in `fit`, groups of rows count instead of rows.

    Returns
    -------
    interval : SearchInterval
        Unpacks to ``low, high``; NaN bounds and a reason if the interval is withheld.
    """
    metric = self.find_metric(metric)
    cell = self.answer if cell is None else check_cell_or_vote(self, cell)
    found = known_interval(self, level, cell, metric, method)
    if found is not None:
        return found
    if cell == VOTE:
        raise ValueError(
            "`cell` 'vote' must have members that were validated on labelled target rows; got "
            "none, because every candidate failed. `results_.failures` says why."
        )
    criterion = METHODS[method or default_method(self)]
    raise ValueError(
        f"`cell` must be one that could be validated by {criterion!r} and {metric.label}; got "
        f"{cell}, {self.labels[cell]!r}, which failed. `results_.failures` says why."
    )


def known_interval(
    result: "SearchResult",
    level: float,
    cell: CellNumber,
    metric: Metric | None = None,
    method: str | None = None,
) -> SearchInterval | None:
    """The interval of a cell; ``None`` for a cell that was not validated."""
    check_level(level)
    metric = result.find_metric(metric)
    if method is None and "tlv" not in result.available():
        # Intervals from source rows ignore the bias of TrCV, so they are given only on request.
        score, withheld = result.score_of(cell, metric), Withheld.NO_LABELS
        return SearchInterval(score, np.nan, np.nan, level, metric, "none", 0.0, withheld=withheld)
    if cell == VOTE:
        known = result.predictions("tlv", VOTE) is not None
        return _from_rows(result, VOTE, level, metric, "cross-fitted") if known else None
    method = method or default_method(result)
    check_choice(method, "method", tuple(METHODS))
    criterion = METHODS[method]
    _require(result, method, metric)
    if result.status(criterion, metric)[cell] == "failed":
        return None
    if CRITERIA[criterion].of_target:
        return _from_rows(result, cell, level, metric, method)
    estimate = float(result.scores(criterion, metric)[cell])
    weights = result._source_of(cell).weights
    n = float(weights.size if method == "paper" else effective_sample_size(weights))
    low, high = map(float, score_interval(estimate, n, level))
    return SearchInterval(estimate, low, high, level, metric, method, n, of_target=False)


def default_method(result: "SearchResult") -> str:
    """``"anchored"``, or ``"labelled"`` if every fit on labelled target rows failed."""
    return "anchored" if "anchored" in result.available() else "labelled"


def _from_rows(
    result: "SearchResult", cell: CellNumber, level: float, metric: Metric, method: str
) -> SearchInterval:
    """Interval of the metric; reweighted or withheld if the labels are not a random sample."""
    rows, check = result._validated("tlv", [cell], metric), result.label_check_
    y, (values,), weight, groups = rows.y, rows.values, rows.weight, rows.groups
    estimate = float(result.scores("anchored", metric)[cell]) if method == "anchored" else None
    score = float(metric.score(y, values, weight)) if estimate is None else estimate
    answer = SearchInterval(score, np.nan, np.nan, level, metric, method, float(y.size))
    if not np.isfinite(score):
        return replace(answer, estimate=np.nan, withheld=Withheld.UNDEFINED)
    if check is not None and check.withheld:
        return replace(answer, withheld=Withheld.LABELS)
    is_sample = check is None or check.representative
    adjusted = weight is None and groups is None and is_sample and is_adjusted(metric, method)
    factor = metric.out_of_fold_factor
    if adjusted and metric.label == "RMSE":
        (mean,) = check_scoring("mse", task="regression")
        squared = _from_rows(result, cell, level, mean, method)
        estimate, low, high = np.sqrt([squared.estimate, *squared]).tolist()
        return replace(squared, metric=metric, estimate=estimate, low=low, high=high)
    if adjusted:
        estimate, factor = adjusted_estimate(result, cell, metric, rows)
    known = result._replicates(metric, [cell])
    found = metric_interval(
        metric,
        y,
        values,
        level,
        estimate=estimate,
        replicates=None if known is None else known[0],
        variance_factor=factor,
        shrunk=not adjusted,
        **rows.design,
    )
    n_rows, note = effective_rows(y.size, weight), found.note
    if not is_sample:
        own = check.weights[rows.seen]  # type: ignore[union-attr]
        weight = own if weight is None else weight * own
        found = reweighted_interval(
            found, metric, y, values, weight, groups=groups, variance_factor=factor
        )
        n_rows = effective_sample_size(weight)
        note = "reweighted, because the labelled rows differ from the target"
    n_groups = None if groups is None else np.unique(groups).size
    low, high = found
    return SearchInterval(
        found.estimate, low, high, level, metric, method, n_rows, note=note, n_groups=n_groups
    )


def is_adjusted(metric: Metric, method: str) -> bool:
    """Whether unlabelled rows are used as a control variate, as `benchmarks/trust.py` supports."""
    if method == "cross-fitted":
        return metric.label in ("log loss", "Brier score")
    distance = metric.response == "number" and metric.label in ("MAE", "MSE", "RMSE")
    return method == "adjusted" and (is_accuracy(metric) or distance)


def is_accuracy(metric: Metric) -> bool:
    """Whether a metric is the share of correct rows, for which the paper has formulas."""
    return metric.decomposable and metric.response == "label" and metric.label == "accuracy"


# Probabilities


def prob_better(
    self: "SearchResult",
    *,
    method: str | None = None,
    level: float = 0.95,
    metric: str | Metric | None = None,
    cells: Sequence[int] | None = None,
) -> np.ndarray:
    """Probability that the cell of the row is better than that of the column.

    Parameters
    ----------
    cells : sequence of int, optional
        Cells to compare; all by default.
    method : {"paired", "paper"}, optional
        ``"paired"`` compares cells on common validation rows, which are labelled target rows if
        there are any. ``"paper"`` is Eq. (16), for accuracy by TrCV.
    level : float in (0, 1), default=0.95
        Level of the interval used in Eq. (16).

    Returns
    -------
    probabilities : ndarray (cells, cells)
        NaN for cells that failed, 0.5 for pairs of cells with fewer than 2 common rows.
    """
    check_level(level)
    method, metric = method or "paired", self.find_metric(metric)
    check_choice(method, "method", ("paired", "paper"))
    chosen = range(len(self.cells)) if cells is None else check_cells(self, cells)
    if method == "paper":
        _require(self, method, metric)
        rows = np.array([self._source_of(cell).rows.size for cell in chosen])
        return prob_better_paper(self.scores("trcv", metric)[chosen], rows, level)
    # On labelled target rows if they were predicted, otherwise on source rows.
    criterion = "tlv" if "tlv" in self.available() else self.criterion
    together = self._same_rows(criterion, metric, chosen)
    answer, known = np.full((len(chosen), len(chosen)), np.nan), list(chain(*together))
    answer[np.ix_(known, known)] = 0.5
    if CRITERIA[criterion].of_target:
        # After racing, cells have different rows: compare each pair on the rows that it shares.
        pairs = (product(first, second) for first, second in combinations(together, 2))
        together += map(list, chain.from_iterable(pairs))
    for places in together:
        compared = [chosen[place] for place in places]
        shared = self._validated(criterion, compared, metric)
        if shared.y.size >= 2:
            replicates = self._replicates(metric, compared) if criterion == "tlv" else None
            answer[np.ix_(places, places)] = paired_probability(
                metric, shared.y, shared.values, replicates=replicates, **shared.design
            )
    return answer


def prob_better_paper(accuracies: Vector, n: Vector, level: float) -> np.ndarray:
    """Eq. (16): P(row is better than column), each candidate from its own score interval."""
    low, high = score_interval(accuracies, n, level)
    centre, half = (low + high) / 2, (high - low) / 2  # μ and σ
    difference = centre[:, None] - centre
    probability = stats.norm.cdf(difference / np.hypot(half[:, None], half))
    np.fill_diagonal(probability, np.where(np.isfinite(accuracies), 0.5, np.nan))
    return probability


# What must hold


def _require(result: "SearchResult", method: str, metric: Metric) -> None:
    criterion = METHODS[method]
    if not (CRITERIA[criterion].of_target or is_accuracy(metric)):
        raise ValueError(
            f"`method` {method!r} must be used with accuracy; got {metric.label}. Use method="
            "'labelled' for intervals, or method='paired' for probabilities."
        )
    if criterion not in result.available():
        raise ValueError(
            f"method={method!r} must have the predictions of {criterion!r}; got a search with "
            f"{list(result.info.criteria)}. Include {criterion!r} in `criterion`."
        )


def check_cell(result: "SearchResult", cell: Any, *, instead: str = "") -> int:
    """Check the number of a cell; ``instead`` names other allowed values."""
    n_cells = len(result.cells)
    if not is_count(cell, -n_cells) or cell >= n_cells:
        raise ValueError(
            f"`cell` must be {instead}the number of one of the {n_cells} cells, from 0 to "
            f"{n_cells - 1}; got {cell!r}. `results_.labels` names them."
        )
    return int(cell)


def check_cell_or_vote(result: "SearchResult", cell: Any) -> CellNumber:
    """Check a cell that may also be the vote."""
    if isinstance(cell, str) and cell == VOTE:
        return VOTE
    return check_cell(result, cell, instead="'vote' or ")


def check_cells(result: "SearchResult", cells: Any) -> list[int]:
    """Check the numbers of several cells."""
    if not isinstance(cells, Iterable) or isinstance(cells, str | bytes | Mapping):
        raise ValueError(
            "`cells` must be a sequence of numbers of cells, like [0, 1]; got "
            f"{cells!r}. `results_.labels` names the cells."
        )
    return [check_cell(result, cell) for cell in cells]


# Unlabelled rows


def adjusted_estimate(
    result: "SearchResult", cell: CellNumber, metric: Metric, rows: ValidatedRows
) -> tuple[float | None, float]:
    """Score of a cell, corrected by unlabelled rows, and its variance factor.

    The proxy of a loss is its expectation according to the other candidates: the mean over the
    classes, weighted by the average probabilities of the candidates, or, for numbers, the loss of
    the cell if the vote were right. It is known for labelled and unlabelled rows; see
    `landbridge.inference.control_variate`. The score is None if unlabelled rows cannot help.
    """
    (values,), factor = rows.values, metric.out_of_fold_factor
    elsewhere, voters = unlabelled_predictions(result, cell), _voters(result)
    if elsewhere is None or rows.y.size < FEWEST_LABELS or len(voters) < FEWEST_CANDIDATES:
        return None, factor
    judges: Sequence[Any] = [VOTE] if result.classes is None else voters
    here: Any = [result.predictions("tlv", judge) for judge in judges]
    there: Any = [unlabelled_predictions(result, judge) for judge in judges]
    if None in there or any(one is None or not one.seen[rows.seen].all() for one in here):
        return None, factor
    g = expected_losses(metric, values, np.mean([one.values[rows.seen] for one in here], axis=0))
    others = expected_losses(
        metric, elsewhere.read(metric.response), np.mean([one.values for one in there], axis=0)
    )
    slope, effective, moved = adjust_mean(metric.pointwise(rows.y, values), g, others)
    if not slope:
        return None, factor
    score = metric.score_of(metric.loss(metric.score(rows.y, values)) + moved)
    return float(score), factor * rows.y.size / effective


def expected_losses(metric: Metric, values: np.ndarray, reference: np.ndarray) -> Vector:
    """Loss of each row if its label were drawn from the reference, or equal to it for numbers."""
    if reference.ndim == 1:
        return metric.pointwise(reference, values)
    n_rows, n_classes = reference.shape
    by_class = [metric.pointwise(np.full(n_rows, k), values) for k in range(n_classes)]
    return np.einsum("kr,rk->r", np.stack(by_class), reference)


def agreement(
    self: "SearchResult", level: float = 0.9
) -> tuple[list[int], AgreementInterval] | None:
    """Agreement of candidates on unlabelled rows, a reference for their accuracy.

    Only models of the best cell's source are compared. The interval was calibrated on models of one
    source. Models of different sources agree less, and one learner fitted to two sources agrees
    more.

    Parameters
    ----------
    level : float in (0, 1), default=0.9
        Share of the reference differences between agreement and accuracy that the interval
        covers.

    Returns
    -------
    cells, intervals : list of int and AgreementInterval, or None
        ``None`` for numbers, and with fewer than three candidates.
    """
    if self.classes is None:
        return None
    cells = _voters(self)
    if self.best in cells:
        source = self.cells[self.best].source_index
        cells = [cell for cell in cells if self.cells[cell].source_index == source]
    if len(cells) < FEWEST_CANDIDATES:
        return None
    predicted = self._unlabelled_of(cells).argmax(axis=2)  # type: ignore[union-attr]
    return cells, agreement_interval(predicted, level=level)


def _voters(result: "SearchResult") -> list[int]:
    """Complete candidates with predictions of unlabelled rows."""
    kept = result.unlabelled
    return [cell for cell in result._complete() if kept and kept[cell] is not None]


def unlabelled_predictions(result: "SearchResult", cell: CellNumber) -> Predictions | None:
    """Predictions of the kept unlabelled rows."""
    vote = result.vote() if cell == VOTE else None
    if cell == VOTE and vote is None:
        return None
    members: Any = [cell] if vote is None else vote.members
    values = result._unlabelled_of(members)
    if values is None:
        return None
    values = values[0] if vote is None else combine(values, vote.weights[members])
    return Predictions(values, None if values.ndim == 1 else values.argmax(axis=1))


# Verdicts: whether transfer helps, and whether the best candidate leads


class Finding(StrEnum):
    """Possible conclusions of a search about transfer."""

    WORTH = "worth it"
    NOT_SHOWN = "not shown"
    NO_LABELS = "no labels"
    OTHER_LABELS = "the labels are not a random sample of the target"
    NO_TRANSFER = "no transfer candidate"
    NO_BASELINE = "no baseline"


# What is missing for a comparison of transfer with the baselines.
CANNOT_COMPARE = {
    Finding.NO_LABELS: (
        "this needs at least 2 labelled target rows and the criterion 'tlv' or 'anchored'."
    ),
    Finding.OTHER_LABELS: (
        "the labelled target rows are not a random sample of the target, so they do not show "
        "whether transfer helps there."
    ),
    Finding.NO_TRANSFER: "`candidates` has no transfer estimator. Add for example Pooled.",
    Finding.NO_BASELINE: "`candidates` has no baseline. Add SourceOnly and TargetOnly.",
}


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
        return None if self.finding in CANNOT_COMPARE else self.finding is Finding.WORTH

    def __bool__(self) -> bool:
        return bool(self.worth)

    @property
    def message(self) -> str:
        """The verdict in words."""
        if self.finding in CANNOT_COMPARE:
            return f"Cannot compare: {CANNOT_COMPARE[self.finding]}"
        figures = ", ".join(f"{rival.role}: {_percent(rival.probability)}" for rival in self.rivals)
        if self.finding is Finding.WORTH:
            roles = " and ".join(rival.role for rival in self.rivals)
            return (
                f"Transfer is worth it: {self.best} beats {roles} on these {self.n_rows} labels "
                f"(probability of being better than {figures})."
            )
        unbeaten = [rival for rival in self.rivals if not rival.beaten]
        more = ""
        if any(rival.probability >= self.level for rival in unbeaten):
            more = (
                " The test needs more labels than the probability suggests: it accounts for the "
                "choice among candidates and stays valid when labels are added."
            )
        return (
            f"{self.best} is not shown to beat {' or '.join(rival.role for rival in unbeaten)} "
            f"with these {self.n_rows} labels (probability of being better than {figures}).{more}"
        )

    def __str__(self) -> str:
        return self.message

    def _repr_html_(self) -> str:
        titles = {True: "Transfer is worth it", False: "Transfer is not shown to help"}
        title = "Cannot compare" if self.worth is None else titles[self.worth]
        rows = [
            (rival.role, rival.name, _percent(rival.probability), float(rival.e_value))
            for rival in self.rivals
        ]
        header = ("baseline", "candidate", "probability of being better", "e-value")
        return card(title, sentence(self.message), html_table(header, rows) if rows else "")


def _percent(probability: float) -> str:
    """Format a probability as a percentage, never rounded to 0 or 100 %."""
    if probability > 0.995:
        return "over 99 %"
    if probability < 0.005:
        return "under 1 %"
    return f"{100 * probability:.0f} %"


def worth_transferring(self: "SearchResult", level: float = 0.95) -> Verdict:
    """Test whether the best transfer candidate beats target-only and source-only.

    They are compared on labelled target rows. A plain estimator learns from source and labelled
    target rows together, so it counts as transfer. The best of m transfer candidates was chosen on
    the same rows, so its e-value must reach m / (1 − level).

    Parameters
    ----------
    level : float, default=0.95
        One minus the probability of a false verdict.

    Returns
    -------
    Verdict
        Result of the comparisons.
    """
    check_level(level)
    if "tlv" not in self.available():
        return Verdict(Finding.NO_LABELS, level=level)
    if self.label_check_ is not None and self.label_check_.withheld:
        return Verdict(Finding.OTHER_LABELS, level=level)
    values = self.values()
    complete = [cell for cell in _comparable(self) if np.isfinite(values[cell])]
    transfer = [cell for cell in complete if self.cells[cell].role not in BASELINES]
    best_of = {self.cells[cell].role: cell for cell in reversed(complete)}
    baselines = [role for role in BASELINES if role in best_of]
    if not transfer or not baselines:
        return Verdict(Finding.NO_BASELINE if transfer else Finding.NO_TRANSFER, level=level)
    best, bar, rivals = transfer[0], len(transfer) / (1 - level), []
    for role in baselines:
        rival = best_of[role]
        evidence, probability, n_rows = compare_pair(self, best, rival)
        rivals.append(
            Rival(role, rival, self.labels[rival], evidence, probability, evidence >= bar)
        )
    finding = Finding.WORTH if all(rival.beaten for rival in rivals) else Finding.NOT_SHOWN
    return Verdict(finding, self.labels[best], tuple(rivals), level, n_rows)


def compare_pair(result: "SearchResult", first: int, second: int) -> tuple[float, float, int]:
    """E-value and paired probability that ``first`` is better, and the number of rows."""
    rows = result._validated("tlv", [first, second], result.metric)
    probability = result.prob_better(cells=(first, second))[0, 1]
    return float(_evidence(result, rows)[0]), float(probability), rows.y.size


def _comparable(result: "SearchResult") -> list[int]:
    """Candidates, best first, that were validated on labelled rows and by the criterion."""
    complete = set(result._complete()) & set(result._complete("tlv"))
    return [cell for cell in result.ranking() if cell in complete]


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


def lead(self: "SearchResult", level: float = 0.95) -> Lead | None:
    """Lead of the best candidate, with an e-value that allows repeated inspection.

    Parameters
    ----------
    level : float in (0, 1), default=0.95
        One minus the probability of a false verdict.

    Returns
    -------
    lead : Lead or None
        ``None`` without labelled target rows or without rivals.
    """
    check_level(level)
    cells = _comparable(self) if "tlv" in self.available() else []
    if len(cells) < 2 or cells[0] != self.best:
        return None
    rows = self._validated("tlv", cells, self.metric)
    if rows.y.size < 2:
        return None
    evidence = _evidence(self, rows)
    closest = int(np.argmin(evidence))
    best, rival = cells[0], cells[1 + closest]
    probability = float(self.prob_better(cells=(best, rival))[0, 1])
    names = self.labels[best], self.labels[rival]
    return Lead(*names, float(evidence[closest]), probability, rows.y.size, level, len(cells))


def _evidence(result: "SearchResult", rows: ValidatedRows) -> Vector:
    """E-values for the first of several cells being better than each of the others.

    They use differences of pointwise losses: those of the metric, or zero-one and squared losses
    for a metric that is not a mean. Weighted rows contribute in proportion to their weights, and
    each group of rows contributes its mean difference.
    """
    metric, y, values = result.metric, rows.y, rows.values
    if metric.decomposable:
        losses = metric.pointwise(y, values)
        bound = metric.loss_bounds[1] - metric.loss_bounds[0]
    elif result.classes is None:
        losses, bound = (values - y) ** 2, np.inf
    else:
        losses, bound = (values.argmax(axis=-1) != y).astype(np.float64), 1.0
    scale = None  # of unbounded losses of numbers: their typical size, from source labels
    if result.classes is None:
        squared = metric.label == "MSE" or not metric.decomposable
        scale = float(np.var(result.y) if squared else np.std(result.y)) or None
    differences = losses[0] - losses[1:]
    if rows.weight is not None:
        differences = differences * (rows.weight / rows.weight.max())  # the bound still holds
    if rows.groups is not None:
        codes = np.unique(rows.groups, return_inverse=True)[1]
        sums = np.stack([np.bincount(codes, row) for row in differences])
        differences = sums / np.bincount(codes)
    finite = bound if np.isfinite(bound) else None
    return np.atleast_1d(e_value(differences, bound=finite, scale=scale))
