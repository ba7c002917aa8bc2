"""Whether transfer helps, and whether the best candidate leads, by e-values and probabilities."""

from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING

import numpy as np

from landbridge._html import card, html_table, sentence
from landbridge._typing import Vector
from landbridge.inference.e_process import e_value
from landbridge.inference.intervals import check_level
from landbridge.metrics.inference import paired_probability
from landbridge.metrics.metric import Metric
from landbridge.model_selection.search_records import ValidatedRows

if TYPE_CHECKING:
    from landbridge.model_selection.search_result import SearchResult

BASELINES = ("target-only", "source-only")


class Finding(StrEnum):
    """Possible conclusions of a search about transfer."""

    WORTH = "worth it"
    NOT_SHOWN = "not shown"
    NO_LABELS = "no labels"
    OTHER_LABELS = "the labels are not a random sample of the target"
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
                "Cannot compare: the labelled target rows are not a random sample of the target, "
                "so they do not show whether transfer helps there."
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
    measured = set(self._complete("tlv"))
    complete = [c for c in self._complete() if c in measured and np.isfinite(values[c])]
    of_role = {
        role: [cell for cell in complete if self.cells[cell].role == role] for role in BASELINES
    }
    transfer = [cell for cell in complete if self.cells[cell].role not in BASELINES]
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
            evidence, probability, n_rows = compare_pair(self, best, rival)
            rivals.append(
                Rival(role, rival, self.labels[rival], evidence, probability, evidence >= bar)
            )
    finding = Finding.WORTH if all(rival.beaten for rival in rivals) else Finding.NOT_SHOWN
    return Verdict(finding, self.labels[best], tuple(rivals), level, n_rows)


def compare_pair(result: "SearchResult", first: int, second: int) -> tuple[float, float, int]:
    """E-value and paired probability that ``first`` is better, and the number of rows."""
    metric, pair = result.metric, [first, second]
    rows = result._validated("tlv", pair, metric.response)
    probability = paired_probability(
        metric,
        rows.y,
        rows.values,
        sample_weight=rows.weight,
        groups=rows.groups,
        replicates=result._replicates(metric, pair),
    )
    return float(_evidence(result, metric, rows)[0]), float(probability[0, 1]), rows.y.size


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
    if "tlv" not in self.available():
        return None
    complete = set(self._complete()) & set(self._complete("tlv"))
    cells = [cell for cell in self.ranking() if cell in complete]
    if len(cells) < 2 or cells[0] != self.best:
        return None
    rows = self._validated("tlv", cells, self.metric.response)
    if rows.y.size < 2:
        return None
    evidence = _evidence(self, self.metric, rows)
    closest = int(np.argmin(evidence))
    rival = cells[1 + closest]
    _, probability, _ = compare_pair(self, cells[0], rival)
    names = self.labels[cells[0]], self.labels[rival]
    return Lead(*names, float(evidence[closest]), probability, rows.y.size, level, len(cells))


def _evidence(result: "SearchResult", metric: Metric, rows: ValidatedRows) -> Vector:
    """E-values for the first of several cells being better than each of the others.

    They use differences of pointwise losses: those of the metric, or zero-one and squared losses
    for a metric that is not a mean. Each group of rows contributes its mean difference.
    """
    losses, bound, scale = _pointwise(result, metric, rows)
    differences = losses[0] - losses[1:]
    if rows.groups is not None:
        codes = np.unique(rows.groups, return_inverse=True)[1]
        sums = np.stack([np.bincount(codes, row) for row in differences])
        differences = sums / np.bincount(codes)
    found = e_value(differences, bound=bound, scale=scale)
    return np.atleast_1d(found.first_better)


def _pointwise(
    result: "SearchResult", metric: Metric, rows: ValidatedRows
) -> tuple[np.ndarray, float | None, float | None]:
    """Losses per row, their largest difference, and their typical size from source labels."""
    y, values = rows.y, rows.values
    if metric.decomposable:
        losses = metric.pointwise(y, values)
        width = metric.loss_bounds[1] - metric.loss_bounds[0]
        if np.isfinite(width):
            return losses, float(width), None
    elif result.classes is None:
        losses = (values - y) ** 2
    else:
        return (values.argmax(axis=-1) != y).astype(np.float64), 1.0, None
    scale = 1.0
    if result.classes is None:
        squared = metric.label == "MSE" or not metric.decomposable
        scale = float(np.var(result.y) if squared else np.std(result.y))
    return losses, None, scale if scale > 0 else None
