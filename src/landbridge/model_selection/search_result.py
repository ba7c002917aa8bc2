"""Result of a search: the predictions of every cell, from which everything is computed."""

import json
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import wraps
from itertools import chain, zip_longest
from typing import Any, TypeVar

import numpy as np
from numpy.ma import MaskedArray

from landbridge._html import card, html_table, sentence
from landbridge._storage import pack, plain_value, unpack
from landbridge._typing import Vector, VectorLike
from landbridge._validation import check_choice
from landbridge.inference.intervals import check_level
from landbridge.inference.label_check import LabelCheck
from landbridge.metrics.class_report import ClassReport, class_report
from landbridge.metrics.inference import bootstrap_scores, loss_errors
from landbridge.metrics.metric import Metric, Response
from landbridge.model_selection import search_inference
from landbridge.model_selection._saved_result import (
    PARTS,
    SavedResult,
    find_metrics,
    wrong_names,
    wrong_numbers,
    wrong_positions,
    wrong_shapes,
)
from landbridge.model_selection._sources import source_name
from landbridge.model_selection.anchored import Distance, anchor
from landbridge.model_selection.candidates import MOST_OF_CONSTANT
from landbridge.model_selection.criteria import CRITERIA
from landbridge.model_selection.search_inference import known_interval
from landbridge.model_selection.search_records import (
    KEPT,
    VOTE,
    Cell,
    CellNumber,
    Failure,
    Predictions,
    SearchInfo,
    SourceRows,
    Status,
    ValidatedRows,
    Vote,
)
from landbridge.model_selection.vote import (
    MOST_COST,
    cross_fitted,
    disagreement,
    members_of,
    number_limits,
    relative_costs,
    skill_weights,
    vote_weights,
)

# Metrics whose loss is a distance between the truth and a number, and its name in `anchor`.
DISTANCES: dict[str, Distance] = {"RMSE": "rmse", "MSE": "mse", "MAE": "mae"}
# Number of cells that are compared with the best at the same time.
PAIRED_AT_ONCE = 500
# Columns of `to_frame`; those of the metrics follow the first three.
COLUMNS = ("candidate", "source", "role", "low", "high", "weight", "seconds", "status")
# Number of rows shown in a notebook and in a terminal.
MOST_IN_NOTEBOOK, MOST_IN_TERMINAL = 15, 10
Method = TypeVar("Method", bound=Callable[..., Any])


def memoised(method: Method) -> Method:
    """Cache the return value, since a result is frozen and summaries repeat calls."""

    @wraps(method)
    def remembering(self: Any, *arguments: Any, **options: Any) -> Any:
        given = (method.__name__, *arguments, *chain.from_iterable(sorted(options.items())))
        key = tuple(tuple(one) if isinstance(one, list | np.ndarray) else one for one in given)
        try:
            known = key in self._answers
        except TypeError:  # an argument that cannot be valid; the method says why
            return method(self, *arguments, **options)
        if not known:
            self._answers[key] = _read_only(method(self, *arguments, **options))
        answer = self._answers[key]
        return answer.copy() if isinstance(answer, list) else answer

    return remembering  # type: ignore[return-value]


@dataclass(frozen=True, eq=False, repr=False)
class SearchResult(SavedResult):
    """Predictions of every cell, one candidate on one source.

    Parameters
    ----------
    cells : tuple of Cell
        One per candidate and source.
    sources : tuple of SourceRows
        Rows, folds and weights of each source.
    y, y_target : ndarray
        Labels of the source rows and of the labelled target rows, as positions in ``classes`` or
        numbers.
    classes : ndarray or None
        Class labels; None for regression.
    target_folds : ndarray or None
        Fold of each labelled target row, −1 where never held out.
    unlabelled_rows : ndarray
        Positions of the unlabelled rows whose predictions are kept.
    sample_weight, sample_weight_target : ndarray or None
        Weights of the source rows and of the labelled target rows.
    target_groups : ndarray or None
        Group of each labelled target row; intervals and tests count groups, not rows.
    failures : tuple of Failure
        Errors of the fits that failed.
    info : SearchInfo
        Settings of the search.
    metrics : tuple of Metric
        Metrics of the search; the first one is used for selection.
    target : tuple of Predictions or None, one per cell
        Predictions for the labelled target rows, by models trained on the source and on the other
        folds.
    source_to_target, target_alone : tuple of Predictions or None
        Predictions for the labelled target rows, by models trained on the source only and on the
        other folds only.
    source, reverse : tuple of Predictions or None
        Predictions for the rows of the cell's source, by the forward and by the reverse models.
    unlabelled : tuple of Predictions or None
        Predictions for the unlabelled target rows ``unlabelled_rows``, averaged over folds.
    label_check_ : LabelCheck or None
        Whether the labelled target rows look like the unlabelled ones.

    Examples
    --------
    >>> import tempfile
    >>> from sklearn.naive_bayes import GaussianNB
    >>> from landbridge import SearchResult, TransferSearchCV
    >>> from landbridge.datasets import make_label_shift
    >>> data = make_label_shift(random_state=0)
    >>> search = TransferSearchCV({"bayes": GaussianNB()}, random_state=0)
    >>> search = search.fit(data.X, data.y, X_target=data.X_target, y_target=data.y_target)
    >>> result = search.results_
    >>> result.labels, result.scores("tlv").round(2)
    (['bayes', 'majority class'], array([0.93, 0.8 ]))
    >>> result.available(), result.find_metric().label, result.status()
    (('tlv', 'anchored'), 'accuracy', ('complete', 'complete'))
    >>> result.ranks(), result.values().round(2), round(result.score_of(0), 2)
    (array([1, 2]), array([0.07, 0.2 ]), 0.93)
    >>> result.rows(), result.within_noise(), result.row(0)["role"]
    ([0, 1], [0], 'plain')
    >>> result.vote().members, result.predictions("tlv", 0).values.shape
    ([0], (500, 2))
    >>> result.class_report().recall.round(2), bool(result.prob_better()[0, 1] > 0.99)
    (array([0.91, 0.93]), True)
    >>> print(result.worth_transferring())
    Cannot compare: `candidates` has no baseline. Add SourceOnly and TargetOnly.
    >>> result.lead() is None, result.agreement() is None  # no rivals, no unlabelled rows
    (True, True)
    >>> [result.labels[cell] for cell in result.ranking()]
    ['bayes', 'majority class']
    >>> print(result.interval(0.9))
    accuracy 0.928, 90 % interval 0.903 to 0.947 (anchored: 500 labelled target rows)
    >>> result.to_frame()[["candidate", "accuracy"]].round(2)
            candidate  accuracy
    0           bayes      0.93
    1  majority class      0.80
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     result.save(f"{folder}/search.npz")
    ...     SearchResult.load(f"{folder}/search.npz").labels
    ['bayes', 'majority class']
    """

    cells: tuple[Cell, ...]
    sources: tuple[SourceRows, ...]
    y: Vector
    y_target: VectorLike
    classes: VectorLike
    target_folds: VectorLike
    unlabelled_rows: Vector
    sample_weight: VectorLike
    sample_weight_target: VectorLike
    failures: tuple[Failure, ...]
    info: SearchInfo
    metrics: tuple[Metric, ...]
    target: tuple[Predictions | None, ...] = ()
    source_to_target: tuple[Predictions | None, ...] = ()
    target_alone: tuple[Predictions | None, ...] = ()
    source: tuple[Predictions | None, ...] = ()
    reverse: tuple[Predictions | None, ...] = ()
    unlabelled: tuple[Predictions | None, ...] = ()
    target_groups: VectorLike = None
    label_check_: LabelCheck | None = None
    _answers: dict[Any, Any] = field(default_factory=dict, init=False)

    # Names

    @property
    def criterion(self) -> str:
        """Criterion used for selection."""
        return self.info.criterion

    @property
    def metric(self) -> Metric:
        """Metric used for selection."""
        return self.metrics[0]

    @property
    @memoised
    def labels(self) -> list[str]:
        """Short name of every cell, with its source if there are several."""
        several = sum(source.name is not None for source in self.sources) > 1
        return [
            f"{cell.name} from {source_name(cell.source)}"
            if several and cell.source is not None
            else cell.name
            for cell in self.cells
        ]

    def available(self) -> tuple[str, ...]:
        """Criteria that were requested or can be computed from the same predictions.

        Returns
        -------
        tuple of str
            Names of criteria.
        """
        have = {name for name in KEPT if getattr(self, name)}
        if any(source.weights is not None for source in self.sources):
            have.add("weights")
        requested = self.info.criteria
        return tuple(c for c, known in CRITERIA.items() if c in requested or known.needs <= have)

    def find_metric(self, metric: str | Metric | None = None) -> Metric:
        """Find a metric of the search by name.

        Returns
        -------
        Metric
            The metric.
        """
        if metric is None or isinstance(metric, Metric):
            return metric or self.metric
        names = {known.name: known for known in self.metrics}
        check_choice(metric, "metric", tuple(names))
        return names[metric]

    # Scores

    @memoised
    def status(
        self, criterion: str | None = None, metric: str | Metric | None = None
    ) -> tuple[Status, ...]:
        """Status of each cell: ``"complete"``, ``"stopped"`` or ``"failed"``.

        Returns
        -------
        tuple of str
            One per cell.
        """
        criterion = self.criterion if criterion is None else criterion
        check_choice(criterion, "criterion", self.available())
        metric, needs = self.find_metric(metric), CRITERIA[criterion].needs
        failed = {failure.cell for failure in self.failures if needs & set(failure.arrays)}
        if metric.response == "probability":
            failed |= {number for number, cell in enumerate(self.cells) if not cell.has_proba}
        words: Iterator[Status] = (
            "complete" if cell.stopped_after is None else "stopped" for cell in self.cells
        )
        return tuple("failed" if number in failed else word for number, word in enumerate(words))

    def _complete(self, criterion: str | None = None, metric: Any = None) -> list[int]:
        """Candidates that were validated to the end."""
        status, baseline = self.status(criterion, metric), self.baseline
        return [n for n, word in enumerate(status) if word == "complete" and n != baseline]

    @memoised
    def values(self, criterion: str | None = None, metric: str | Metric | None = None) -> Vector:
        """Criterion of every cell as a loss (smaller is better); NaN for failed cells.

        Returns
        -------
        ndarray of shape (n_cells,)
            Losses.
        """
        criterion = self.criterion if criterion is None else criterion
        status, metric = self.status(criterion, metric), self.find_metric(metric)
        anchored = criterion == "anchored"
        values = self._anchored(metric) if anchored else np.full(len(status), np.nan)
        for cell, word in enumerate(status):
            # Without an anchored value, a cell keeps its measured loss.
            if word != "failed" and np.isnan(values[cell]):
                values[cell] = _loss(self._validated(criterion, [cell], metric), metric)
        return values

    @memoised
    def scores(self, criterion: str | None = None, metric: str | Metric | None = None) -> Vector:
        """Score of every cell by a criterion, in the unit of the metric; NaN for failed cells.

        Returns
        -------
        ndarray of shape (n_cells,)
            Scores in the unit of the metric.
        """
        metric = self.find_metric(metric)
        return np.clip(metric.score_of(self.values(criterion, metric)), *metric.bounds)

    def _validated(
        self, criterion: str, cells: Sequence[CellNumber], reader: Metric | Response
    ) -> ValidatedRows:
        """Rows that a criterion validates, as far as all given cells have predictions.

        Every cell has predictions; for a criterion on source rows all have the same source.
        """
        response = reader if isinstance(reader, str) else reader.response
        kept = [self.predictions(criterion, cell) for cell in cells]
        seen = np.logical_and.reduce([found.seen for found in kept])  # type: ignore[union-attr]
        values = np.stack([found.read(response)[seen] for found in kept])  # type: ignore[union-attr]
        if CRITERIA[criterion].of_target:
            arrays = self.y_target, self.sample_weight_target, None, self.target_groups
        else:
            source = self._source_of(cells[0])  # type: ignore[arg-type]
            weight = None if self.sample_weight is None else self.sample_weight[source.rows]
            ratio = source.weights if CRITERIA[criterion].weighted else None
            arrays = self.y[source.rows], weight, ratio, None
        y, weight, ratio, groups = (None if array is None else array[seen] for array in arrays)
        if isinstance(reader, Metric) and reader.ranks:
            for cell, own in zip(cells, values, strict=True):
                # Constants that differ between folds would rank the rows by their fold.
                if self._is_constant(cell):
                    own[:] = own.mean(axis=0)
        return ValidatedRows(y, values, weight, ratio, groups, seen)  # type: ignore[arg-type]

    def _source_of(self, cell: int) -> SourceRows:
        return self.sources[self.cells[cell].source_index]

    def _is_constant(self, cell: CellNumber) -> bool:
        """Whether the models of a cell ignore the columns."""
        if cell == VOTE:
            return all(map(self._is_constant, self.vote().members))  # type: ignore[union-attr]
        one = self.cells[cell]
        return one.complexity <= MOST_OF_CONSTANT or 0 < one.fits == one.constants

    def _replicates(self, metric: Metric, cells: Sequence[CellNumber]) -> np.ndarray | None:
        """Bootstrap scores on labelled target rows; ``None`` unless cells share the rows."""
        for known in () if metric.decomposable else self._bootstrap(metric):
            if known.keys() >= set(cells):
                return np.stack([known[cell] for cell in cells])
        return None

    @memoised
    def _bootstrap(self, metric: Metric) -> list[dict[Any, Vector]]:
        """Bootstrap scores of the cells, separately for those with the same validated rows."""
        found = []
        for cells in self._same_rows("tlv", metric, range(len(self.cells))):
            rows = self._validated("tlv", cells, metric)
            if rows.y.size >= 2:
                scores = bootstrap_scores(metric, rows.y, rows.values, **rows.design)
                found.append(dict(zip(cells, scores, strict=True)))
        return found

    def _same_rows(self, criterion: str, metric: Metric, cells: Sequence[int]) -> list[list[int]]:
        """Groups of places in ``cells`` whose cells were validated on the same rows."""
        status, groups = self.status(criterion, metric), defaultdict(list)
        for place, cell in enumerate(cells):
            if status[cell] != "failed":
                source = None if CRITERIA[criterion].of_target else self.cells[cell].source_index
                seen = self.predictions(criterion, cell).seen  # type: ignore[union-attr]
                groups[source, seen.tobytes()].append(place)
        return list(groups.values())

    def predictions(self, criterion: str, cell: CellNumber | None = None) -> Predictions | None:
        """Predictions that a criterion compares with the labels.

        Parameters
        ----------
        criterion : str
            Name of a criterion.
        cell : int or "vote", optional
            By default the model used by `predict`.

        Returns
        -------
        Predictions or None
            ``None`` where nothing was predicted.
        """
        check_choice(criterion, "criterion", tuple(CRITERIA))
        cell = self.answer if cell is None else search_inference.check_cell_or_vote(self, cell)
        if cell == VOTE:
            vote = self.vote()
            return None if vote is None else vote.predictions
        kept = getattr(self, CRITERIA[criterion].predictions)
        return kept[cell] if kept else None

    # The anchored criterion

    def _anchored(self, metric: Metric) -> Vector:
        """Posterior mean of the loss of complete cells on which the metric is defined, else NaN."""
        values, cells = np.full(len(self.cells), np.nan), self._complete("anchored", metric)
        if not cells:
            return values
        rows = self._validated("tlv", cells, metric)
        measured = metric.loss(metric.score(rows.y, rows.values, rows.weight))
        usable = np.isfinite(measured)
        if not usable.any():
            return values
        cells = [cell for cell, good in zip(cells, usable, strict=True) if good]
        # Without TrCV of every cell the prior uses only the unlabelled rows.
        prior = np.zeros(len(cells))
        if "trcv" in self.available() and np.isfinite(self.values("trcv", metric)[cells]).all():
            prior = self.values("trcv", metric)[cells]
        ratio = metric.loss_bounds[0] >= 0 and metric.loss_bounds[1] == np.inf
        replicates = self._replicates(metric, cells)
        errors = loss_errors(
            metric, rows.y, rows.values[usable], replicates=replicates, **rows.design
        )
        values[cells] = anchor(
            measured[usable],
            errors,
            prior,
            n_rows=rows.y.size if rows.groups is None else np.unique(rows.groups).size,
            roles=[self.cells[cell].role for cell in cells],
            kinds=[self.cells[cell].candidate for cell in cells],
            unlabelled=self._unlabelled_of(cells),
            scale="ratio" if ratio else "difference",
            distance=DISTANCES.get(metric.label) if metric.response == "number" else None,
        )
        return values

    def _unlabelled_of(self, cells: Sequence[int]) -> np.ndarray | None:
        """Predictions of unlabelled rows by several cells; None if one of them has none."""
        found = [self.unlabelled[cell] if self.unlabelled else None for cell in cells]
        if any(one is None for one in found):
            return None
        return np.stack([one.values for one in found])  # type: ignore[union-attr]

    # Ranking

    @memoised
    def ranking(
        self, criterion: str | None = None, metric: str | Metric | None = None
    ) -> list[int]:
        """Cells from best to worst; stopped cells behind complete ones, failed cells last.

        Of tied cells, those trained on all sources come first, then simpler ones.

        Returns
        -------
        list of int
            Numbers of cells, best first.
        """
        status, values = self.status(criterion, metric), self.values(criterion, metric)

        def key(cell: int) -> tuple[Any, ...]:
            known = (2, 0) if np.isnan(values[cell]) else (status[cell] == "stopped", values[cell])
            return *known, *self._tie(cell)

        return sorted(range(len(self.cells)), key=key)

    def _tie(self, cell: int) -> tuple[bool, int]:
        """Sort key for ties: all sources before a single one, then the simpler candidate."""
        most = max(source.rows.size for source in self.sources)
        return self._source_of(cell).rows.size < most, self.cells[cell].complexity

    def ranks(self, criterion: str | None = None, metric: str | Metric | None = None) -> np.ndarray:
        """1 for the best cell; equal for cells of equal value and status.

        Returns
        -------
        ndarray of shape (n_cells,)
            Rank of every cell, 1 for the best.
        """
        status, values = self.status(criterion, metric), self.values(criterion, metric)
        ranks, places = np.empty(len(self.cells), dtype=int), {}  # type: ignore[var-annotated]
        for place, cell in enumerate(self.ranking(criterion, metric), start=1):
            ranks[cell] = places.setdefault((status[cell], values[cell]), place)
        return ranks

    @property
    def best(self) -> int:
        """The cell that the selecting criterion puts first; never the majority class or mean."""
        order = self.ranking()
        return next((cell for cell in order if cell != self.baseline), order[0])

    @property
    def baseline(self) -> int | None:
        """The cell of the majority class or mean."""
        return next((n for n, cell in enumerate(self.cells) if cell.role == "baseline"), None)

    @memoised
    def within_noise(self, level: float = 0.8) -> list[int]:
        """Complete cells that are not shown to be worse than the best one, best first.

        Returns
        -------
        list of int
            Numbers of the cells.
        """
        check_level(level)
        status, best = self.status(), self.best
        complete = [cell for cell in self.ranking() if status[cell] == "complete" and cell != best]
        near = [best] if status[best] == "complete" else []
        # Some at a time: a matrix of all pairs of thousands of cells would take gigabytes.
        for start in range(0, len(complete), PAIRED_AT_ONCE):
            some = complete[start : start + PAIRED_AT_ONCE]
            ahead = self.prob_better(cells=(best, *some))[0, 1:]
            near += [cell for cell, lead in zip(some, ahead, strict=True) if not lead >= level]
        return near

    @property
    def simpler(self) -> int | None:
        """The simplest candidate within noise of the best, if it is simpler than the best.

        Among equally simple candidates, the one trained on all sources is preferred.
        """
        near = [cell for cell in self.within_noise() if cell != self.baseline]
        simplest = min(near, key=lambda cell: self._tie(cell)[::-1], default=self.best)
        same = self.cells[simplest].complexity == self.cells[self.best].complexity
        return None if same else simplest

    # The vote

    @memoised
    def vote(self) -> Vote | None:
        """Weights of the cells in the vote.

        Returns
        -------
        Vote or None
            None if no cell can vote.
        """
        values, roles = self.values(), [cell.role for cell in self.cells]
        alone = np.array([cell.prediction_cost for cell in self.cells])
        costs = relative_costs(alone, roles, self.best)
        usable = np.isfinite(values) & (costs <= MOST_COST)
        cells = [cell for cell in self._complete() if usable[cell]]
        if not cells:
            return None
        costs, kinds = costs[cells], [self.cells[cell].candidate for cell in cells]
        predictions = None
        if self.target:
            rows = self._validated("tlv", cells, "probability")
            known, roles = self._limited(rows.values), [roles[cell] for cell in cells]
            about = {"roles": roles, "kinds": kinds, "costs": costs, "sample_weight": rows.weight}
            # The costs depend on which cell is best, and so on all labels. The score of the vote
            # shows no bias by that: coverage is measured in benchmarks/search_regret.py.
            crossed = cross_fitted(known, rows.y, self.target_folds[rows.seen], **about)
            whole = np.full((len(self.y_target), *crossed.shape[1:]), np.nan)
            whole[rows.seen] = crossed
            labels = None if self.classes is None else np.where(rows.seen, whole.argmax(axis=1), -1)
            predictions = Predictions(_read_only(whole), labels)
            found = vote_weights(known, rows.y, **about)
        else:
            bounded = self.metric.loss_bounds == (0.0, 1.0) and self.baseline is not None
            guess = float(values[self.baseline]) if bounded else None
            found = skill_weights(values[cells], guess=guess, kinds=kinds)
        members = members_of(found, costs)
        weights, apart = np.zeros(len(self.cells)), np.full(len(self.cells), np.nan)
        weights[cells] = members
        unlabelled = self._unlabelled_of(cells)
        if unlabelled is not None:
            distances = disagreement(self._limited(unlabelled), members)
            apart[cells] = np.where(members > 0, distances, np.nan)
        return Vote(_read_only(weights), _read_only(apart), predictions)

    @property
    def limits(self) -> tuple[float, float] | None:
        """Smallest and largest number that a member of the vote may predict; None for classes."""
        known = self.y if self.y_target is None else np.append(self.y, self.y_target)
        return number_limits(known) if self.classes is None else None

    def _limited(self, values: np.ndarray) -> np.ndarray:
        """Predictions clipped to `limits`, as the vote uses them."""
        return values if self.limits is None else np.clip(values, *self.limits)

    # Answers, documented where they are computed

    interval = search_inference.interval
    prob_better = memoised(search_inference.prob_better)
    worth_transferring = memoised(search_inference.worth_transferring)
    lead = memoised(search_inference.lead)
    agreement = memoised(search_inference.agreement)

    def class_report(self, cell: CellNumber | None = None) -> ClassReport | None:
        """Recall and precision per class and the confusion matrix on labelled target rows.

        ``None`` for regression and without labelled target rows.

        Parameters
        ----------
        cell : int, "vote" or None, optional
            Number of the cell in ``cells``; by default the model used by `predict`.

        Returns
        -------
        ClassReport or None
            None for regression.
        """
        cell = self.answer if cell is None else cell
        if self.predictions("tlv", cell) is None or self.classes is None:
            return None
        rows = self._validated("tlv", [cell], "label")
        return class_report(rows.y, rows.values[0], self.classes, rows.weight)

    @property
    def answer(self) -> CellNumber:
        """Model used by `predict` of the search: the vote, its only member or the best cell."""
        vote = self.vote() if self.info.answer == "vote" else None
        if vote is None:
            return self.best
        return VOTE if len(vote.members) > 1 else vote.members[0]

    def score_of(self, cell: CellNumber, metric: str | Metric | None = None) -> float:
        """The score of a cell by the selecting criterion, or of the vote on labelled rows.

        Parameters
        ----------
        cell : int or "vote"
            Number of the cell.

        Returns
        -------
        float
            The score.
        """
        metric, cell = self.find_metric(metric), search_inference.check_cell_or_vote(self, cell)
        if cell != VOTE:
            return float(self.scores(None, metric)[cell])
        if self.predictions("tlv", VOTE) is None:
            return np.nan
        rows = self._validated("tlv", [VOTE], metric)
        return float(metric.score(rows.y, rows.values[0], rows.weight))

    # The ranking as a table: one row per cell, and one for the vote

    def rows(self) -> list[CellNumber]:
        """Ranking of the cells, with the vote in front if it is selected.

        Returns
        -------
        list
            Cells and the vote, best first.
        """
        front: list[CellNumber] = [VOTE] if self.answer == VOTE else []
        return front + self.ranking()

    def row(
        self, cell: CellNumber, level: float = 0.9, metric: str | Metric | None = None
    ) -> dict[str, Any]:
        """One line of the ranking by a metric, as plain values.

        Parameters
        ----------
        cell : int or "vote"
            Number of the cell.

        Returns
        -------
        dict
            Columns of the ranking.
        """
        metric, vote = self.find_metric(metric), self.vote()
        cell = search_inference.check_cell_or_vote(self, cell)
        if cell == VOTE:
            about: dict[str, Any] = {"candidate": VOTE, "source": None, "role": VOTE}
            status, weight, seconds = "complete", 1.0, np.nan
        else:
            one = self.cells[cell]
            about = {"candidate": one.name, "source": one.source, "role": one.role}
            status, seconds = self.status(None, metric)[cell], one.fit_seconds + one.predict_seconds
            weight = 0.0 if vote is None else float(vote.weights[cell])
        found = known_interval(self, level, cell, metric) if status == "complete" else None
        score, check = self.score_of(cell, metric), self.label_check_
        reweighted = check is not None and not check.representative
        knows_more = cell == VOTE or (reweighted and CRITERIA[self.criterion].of_target)
        if knows_more and found is not None and found.withheld is None:
            score = found.estimate
        return {
            **about,
            "score": score,
            "low": np.nan if found is None else found.low,
            "high": np.nan if found is None else found.high,
            "weight": weight,
            "seconds": seconds,
            "status": status,
        }

    def to_frame(self, level: float = 0.9) -> Any:
        """The ranking as a pandas DataFrame, one row per cell and one for the vote.

        Parameters
        ----------
        level : float, default=0.9
            Nominal coverage of the intervals.

        Returns
        -------
        pandas.DataFrame
            Best first.
        """
        import pandas as pd

        names = [metric.name for metric in self.metrics]
        table = []
        for cell in self.rows():
            row = self.row(cell, level)
            others = {name: self.score_of(cell, name) for name in names[1:]}
            table.append({**row, names[0]: row["score"], **others})
        return pd.DataFrame(table, columns=[*COLUMNS[:3], *names, *COLUMNS[3:]])

    def __repr__(self) -> str:
        return "\n".join(self._lines())

    def _lines(self) -> Iterator[str]:
        """Lines of a short text: a heading, the verdict on the labels and the ranking."""
        ranked = self.rows()
        yield (
            f"SearchResult: {len(self.cells)} cells by {self.metric.label} ({self.criterion}), "
            f"{self.status().count('failed')} failed"
        )
        if self.label_check_ is not None and self.label_check_.verdict:
            yield self.label_check_.verdict
        for place, cell in enumerate(ranked[:MOST_IN_TERMINAL], start=1):
            if cell == VOTE:
                name = f"vote of {len(self.vote().members)} cells"  # type: ignore[union-attr]
            else:
                name = self.labels[cell]
            about = self.row(cell)
            complete = about["status"] == "complete"
            words = self.metric.format(about["score"]) if complete else about["status"]
            yield f"{place:4d}. {name}: {words}"
        if len(ranked) > MOST_IN_TERMINAL:
            yield f"      … and {len(ranked) - MOST_IN_TERMINAL} more"

    def _repr_html_(self) -> str:
        """The ranking for a notebook."""
        labels, ranked, table = self.labels, self.rows(), []
        for cell in ranked[:MOST_IN_NOTEBOOK]:
            about = self.row(cell, 0.95)
            status = "" if about["status"] == "complete" else about["status"]
            name = cell if cell == VOTE else labels[cell]
            table.append((name, about["score"], about["low"], about["high"], status))
        more = len(ranked) - len(table)
        header = ("candidate", self.metric.label, "95 % low", "95 % high", "")
        return card(
            next(self._lines()),
            html_table(header, table, best=0),
            sentence(f"{more} more in to_frame()", quiet=True) if more else "",
        )

    def _contradictions(self) -> Iterator[str]:
        """What is wrong with a loaded result, in words."""
        n_rows, n_labelled = len(self.y), 0 if self.y_target is None else len(self.y_target)
        of_target = ("y_target", "target_folds", "sample_weight_target", "target_groups")
        yield from wrong_shapes((n_labelled,), {name: getattr(self, name) for name in of_target})
        yield from wrong_shapes((n_rows,), {"y": self.y, "sample_weight": self.sample_weight})
        weights = ("sample_weight", "sample_weight_target")
        yield from wrong_numbers({name: getattr(self, name) for name in weights}, 0)
        labels = {"y": self.y, "y_target": self.y_target}
        if self.classes is None:
            yield from wrong_numbers(labels)
        else:
            yield from wrong_names({"classes": self.classes})
            yield from wrong_positions(len(self.classes), labels)
        all_folds = {"target_folds": self.target_folds}
        for number, source in enumerate(self.sources):
            rows, folds, ratios = (
                {f"source {number} {part}": getattr(source, part)}
                for part in ("rows", "folds", "weights")
            )
            all_folds |= folds
            yield from wrong_shapes((source.rows.size,), rows | folds | ratios)
            yield from wrong_positions(n_rows, rows)
            yield from wrong_numbers(ratios, 0)
        yield from wrong_positions(n_rows + n_labelled, all_folds, start=-1)
        indices = [cell.source_index for cell in self.cells]
        yield from wrong_positions(len(self.sources), {"the sources of the cells": indices})
        yield from wrong_positions(len(self.cells), {"failures": [f.cell for f in self.failures]})
        unlabelled = {"unlabelled_rows": self.unlabelled_rows}
        yield from wrong_positions(self.info.n_unlabelled, unlabelled)
        yield from self._wrong_predictions(n_labelled)

    def _wrong_predictions(self, n_labelled: int) -> Iterator[str]:
        """Missing predictions, and those that do not fit the rows and classes."""
        classes = () if self.classes is None else self.classes.shape
        sizes = dict.fromkeys(KEPT, n_labelled) | {"unlabelled": len(self.unlabelled_rows)}
        for name in KEPT:
            kept = getattr(self, name)
            if len(kept) not in (0, len(self.cells)):
                yield f"{name!r} must have predictions of {len(self.cells)} cells; got {len(kept)}"
            for cell, found in enumerate(kept):
                if found is not None:
                    of_source = name in ("source", "reverse")
                    n_rows = self._source_of(cell).rows.size if of_source else sizes[name]
                    labels = {f"{name} {cell} labels": found.labels}
                    yield from wrong_shapes((n_rows, *classes), {f"{name} {cell}": found.values})
                    yield from wrong_shapes((n_rows,), labels)
                    yield from wrong_numbers({f"{name} {cell}": found.values[found.seen]})
                    yield from wrong_positions(sum(classes), labels, start=-1)
        for criterion in (self.criterion, *self.info.criteria):
            for cell, status in enumerate(self.status(criterion)):
                if status != "failed" and self.predictions(criterion, cell) is None:
                    yield f"the predictions of cell {cell} are missing"

    def __getstate__(self) -> dict[str, Any]:
        """Plain text and arrays, so that a saved search needs no pickle.

        User-defined metric functions are part of the state; others are restored by name.
        """
        arrays, header = pack(self)
        try:
            find_metrics(self.metrics, self.classes)
            own = None
        except (TypeError, ValueError):
            own = self.metrics
        return {"header": json.dumps(header, default=plain_value), "arrays": arrays, "metrics": own}

    def __setstate__(self, state: dict[str, Any]) -> None:
        def complete(content: dict[str, Any]) -> dict[str, Any]:
            own = state["metrics"] or find_metrics(content["metrics"], content["classes"])
            return content | {"metrics": own}

        header, path = json.loads(state["header"]), "results_"
        same = unpack(type(self), state["arrays"], header, path, parts=PARTS, complete=complete)
        vars(self).update(vars(same))


def _loss(rows: ValidatedRows, metric: Metric, part: Any = slice(None)) -> float:
    """Loss of the first cell on some of the rows."""
    y, values = rows.y[part], rows.values[0][part]
    if y.size == 0:
        return np.nan
    importance = None if rows.importance is None else rows.importance[part]
    if not metric.decomposable:
        return float(metric.loss(metric.score(y, values, importance)))
    losses = metric.pointwise(y, values)
    if importance is None:
        return float(losses.mean())
    # Eqs. (4) and (6) divide by the number of rows instead of by the sum of the density ratios.
    total = y.size if rows.weight is None else rows.weight[part].sum()
    return float(importance @ losses / total)


def _read_only(answer: Any) -> Any:
    if isinstance(answer, np.ndarray):
        answer.flags.writeable = False
    return answer


def cv_results(result: SearchResult, params: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """The ranking in the shape of ``GridSearchCV.cv_results_``, one entry per cell."""
    cells, names = result.cells, [cell.source for cell in result.cells]
    # Numbers among the names may occur with "pooled", which would turn them into text.
    plain = {type(name) for name in names} in ({str}, {int}, {float}, {bool})
    table: dict[str, Any] = {
        "candidate": np.array([cell.candidate for cell in cells]),
        "source": np.array(names) if plain else np.fromiter(names, object, len(names)),
        "params": list(params),
    }
    for name in dict.fromkeys(chain.from_iterable(params)):
        column = np.fromiter((one.get(name) for one in params), object, len(params))
        table[f"param_{name}"] = MaskedArray(column, mask=[name not in one for one in params])
    fits = np.array([max(cell.fits, 1) for cell in cells])
    table["mean_fit_time"] = np.array([cell.fit_seconds for cell in cells]) / fits
    table["mean_score_time"] = np.array([cell.predict_seconds for cell in cells]) / fits
    by_fold = [_fold_scores(result, number) for number in range(len(cells))]
    for fold, scores in enumerate(zip_longest(*by_fold, fillvalue=np.nan)):
        table[f"split{fold}_test_score"] = np.array(scores)
    table["std_test_score"] = np.array(
        [np.nanstd(scores) if np.isfinite(scores).any() else np.nan for scores in by_fold]
    )
    table["mean_test_score"] = result.scores()
    table["rank_test_score"] = result.ranks()
    table |= {f"mean_test_{one.name}": result.scores(None, one) for one in result.metrics}
    table["status"] = np.array(result.status())
    for criterion in result.info.criteria:
        table[f"score_{criterion}"] = result.scores(criterion)
        table[f"rank_{criterion}"] = result.ranks(criterion)
    return table


def _fold_scores(result: SearchResult, cell: int) -> list[float]:
    """Score of each fold by the selecting criterion; NaN for folds that failed or were skipped."""
    criterion, metric, source = result.criterion, result.metric, result._source_of(cell)
    found, about = result.predictions(criterion, cell), CRITERIA[criterion]
    unread = metric.response == "probability" and not result.cells[cell].has_proba
    if found is None or unread or (about.weighted and source.weights is None):
        return []
    folds = result.target_folds if about.of_target else source.folds
    if criterion == "stv":
        folds = np.zeros_like(folds)
    rows, scores = result._validated(criterion, [cell], metric), []
    for fold in np.unique(folds[folds >= 0]):
        held_out = folds == fold
        complete = found.seen[held_out].all()
        loss = _loss(rows, metric, held_out[rows.seen]) if complete else np.nan
        scores.append(float(np.clip(metric.score_of(loss), *metric.bounds)))
    return scores
