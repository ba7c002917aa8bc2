"""What a search found: pointwise losses, frozen. Everything else is a function of them."""

import os
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from landbridge._storage import load_record, save_record
from landbridge._typing import Vector, VectorLike
from landbridge._validation import check_choice
from landbridge.model_selection import uncertainty
from landbridge.model_selection.anchored import Anchored, anchor
from landbridge.model_selection.anchored_ratios import anchor_ratios
from landbridge.model_selection.confidence import SearchInterval, score_in_words
from landbridge.model_selection.correction import corrected, dissent
from landbridge.model_selection.criteria import CRITERIA, NEEDS, POINTWISE, FittedFolds
from landbridge.model_selection.label_floor import label_floors
from landbridge.model_selection.losses import DISTANCES, LOSS_RANGES
from landbridge.model_selection.worth import Verdict

ROW_ARRAYS = ("forward", "reverse")
TARGET_ARRAYS = ("source_to_target", "target_alone", "labelled")


@dataclass(frozen=True, eq=False, repr=False)
class SearchResult:
    """Pointwise losses of every cell, one candidate on one source.

    Attributes
    ----------
    cells : tuple of dict
        ``candidate``, ``params``, ``source``, ``role``, ``fit_seconds``, ``predict_seconds``,
        ``fits``, ``constants`` (fits that saw one class only) and ``stopped_after`` (the folds
        after which a search with halving gave the cell up, else None).
    forward, reverse : ndarray (cells, source rows) or None
        Losses behind `scv`, `wcv` and behind `rv`, `trcv`; NaN on rows outside the cell's source.
    source_to_target, target_alone, labelled : ndarray (cells, labelled target rows) or None
        Losses behind `stv`, `tcv` and `tlv`.
    guesses : ndarray (cells, unlabelled target rows) or None
        Predictions of each cell's first model behind `labelled`: positions of classes, or numbers.
    pseudo_labels, source_labels : ndarray (cells or sources, entries) or None
        With `rv` and `trcv`: shares of the classes among each cell's pseudo-labels, the mean over
        folds, and in each source; 100 quantiles where the loss is a distance.
    ballots : ndarray (cells, unlabelled target rows) or None
        With `rv` and `trcv`: each cell's pseudo-labels as ``guesses`` are, the mean over folds of
        numbers, and the class that most folds give.
    weights : ndarray (sources, source rows) or None
        Density ratios, computed once a source.
    folds : ndarray (sources, source rows)
        Fold of each row, −1 outside the source.
    target_folds : ndarray (labelled target rows,) or None
    groups : ndarray (source rows,) or None
    sources : tuple
        Names of the sources, in the order of ``weights`` and ``folds``.
    failures : tuple of dict
        ``cell``, ``candidate``, ``source``, ``stage``, ``fold``, ``arrays``, ``message``,
        ``traceback``.
    about : dict
        The selecting ``criterion``, its ``correction`` and ``reason``, ``criteria``, ``loss``,
        ``task``, numbers of fits planned and done, seconds, versions.
    """

    cells: tuple[dict[str, Any], ...]
    forward: VectorLike
    reverse: VectorLike
    source_to_target: VectorLike
    target_alone: VectorLike
    labelled: VectorLike
    guesses: VectorLike
    pseudo_labels: VectorLike
    source_labels: VectorLike
    ballots: VectorLike
    weights: VectorLike
    folds: Vector
    target_folds: VectorLike
    groups: VectorLike
    sources: tuple[Any, ...]
    failures: tuple[dict[str, Any], ...]
    about: dict[str, Any]

    def __post_init__(self) -> None:
        for name, value in list(vars(self).items()):
            if isinstance(value, np.ndarray):
                view = value.view()  # the groups may be the user's own array
                view.flags.writeable = False
                object.__setattr__(self, name, view)

    @property
    def criterion(self) -> str:
        """The criterion that selects."""
        return self.about["criterion"]

    @property
    def is_proportion(self) -> bool:
        """Whether losses are zero or one, so that one minus their mean is an accuracy."""
        return self.about["loss"] == "zero_one"

    @property
    def source_of(self) -> list[int]:
        """Number of the source of every cell."""
        return [self.sources.index(cell["source"]) for cell in self.cells]

    @property
    def labels(self) -> list[str]:
        """A short name of every cell."""
        several = len(self.sources) > 1
        return [cell_label(cell, several=several) for cell in self.cells]

    def status(self, criterion: str | None = None) -> list[str]:
        """``"complete"``, ``"stopped"`` or ``"failed"`` for each cell."""
        needs = NEEDS[self._known(criterion)]
        failed = {f["cell"] for f in self.failures if needs & set(f["arrays"])}
        return [
            "failed" if number in failed else "stopped" if cell["stopped_after"] else "complete"
            for number, cell in enumerate(self.cells)
        ]

    def fitted_folds(self, cell: int) -> FittedFolds:
        """The losses of one cell on the rows it was validated on."""
        source = self.source_of[cell]
        rows = self.folds[source] >= 0
        for name in ROW_ARRAYS:
            if getattr(self, name) is not None:
                rows = rows & ~np.isnan(getattr(self, name)[cell])
        parts = {n: _take(getattr(self, n), cell, rows) for n in ROW_ARRAYS}
        for name in TARGET_ARRAYS:
            losses = _take(getattr(self, name), cell, slice(None))
            parts[name] = None if losses is None else losses[~np.isnan(losses)]
        return FittedFolds(weights=_take(self.weights, source, rows), **parts)

    def values(self, criterion: str | None = None) -> Vector:
        """The criterion of every cell, a loss; NaN for cells that failed (see ``failures``)."""
        criterion = self._known(criterion)
        if criterion == "anchored":
            return self._anchored_values()
        usable = [status != "failed" for status in self.status(criterion)]
        function = POINTWISE[criterion]
        return np.array(
            [
                function(self.fitted_folds(cell)).mean if usable[cell] else np.nan
                for cell in range(len(self.cells))
            ]
        )

    def scores(self, criterion: str | None = None) -> Vector:
        """Accuracy estimates for zero-one loss, else negative losses: greater is better.

        Where weights or the anchored mean lead beyond what a loss can be, the score ends there;
        `values`, by which cells are ranked, go on.
        """
        possible = LOSS_RANGES.get(self.about["loss"], (-np.inf, np.inf))
        values = np.clip(self.values(criterion), *possible)
        return 1.0 - values if self.is_proportion else -values

    def label_floors(self) -> Vector:
        """The least target loss that each cell's pseudo-labels allow, if labels are distributed
        as in its source (see `label_floor.py`); 0 where there are none."""
        if self.pseudo_labels is None:
            return np.zeros(len(self.cells))
        labels = self.source_labels[self.source_of]
        return label_floors(self.about["loss"], labels, self.pseudo_labels)

    def dissent(self, criterion: str | None = None) -> Vector:
        """How far each cell's pseudo-labels are from the vote of all, weighted by a criterion.

        See `correction.py`; NaN for cells that failed. Needs the pseudo-labels of `rv` or `trcv`.
        """
        if self.ballots is None:
            raise ValueError(
                "`dissent` must have the pseudo-labels of 'rv' or 'trcv'; got a search with "
                f"{list(self.about['criteria'])}. Search with one of the two among them."
            )
        values = self.values(criterion)
        values[np.array(self.status("rv")) == "failed"] = np.nan  # they have no vote
        return dissent(self.ballots, values, self._kinds, proportion=self.is_proportion)

    def choosing_values(self) -> Vector:
        """What the best cell is chosen by: the selecting criterion, or its ``correction``."""
        return corrected(
            self.values(),
            self.about["correction"],
            floors=self.label_floors(),
            ballots=self.ballots,
            kinds=self._kinds,
            proportion=self.is_proportion,
        )

    def notes(self) -> list[str]:
        """Why a cell may stand elsewhere than its score: what the correction holds against it."""
        correction, numbers = self.about["correction"], self.choosing_values()
        if correction == "consensus":
            form = "{:.1%} of rows" if self.about["task"] == "classification" else "{:.3g} squared"
            return [f"{form.format(number)} away from the vote" for number in numbers]
        bound = "at most {:.3f}" if self.is_proportion else "at least {:.3g}"
        top = 1.0 if self.is_proportion else 0.0
        return [
            f"{bound.format(abs(top - number))} by its label floor" if number > value else ""
            for number, value in zip(numbers, self.values(), strict=True)
        ]

    def ranks(self, criterion: str | None = None) -> np.ndarray:
        """1 for the best cell; stopped cells behind complete ones, failed cells last.

        Without a name as the cells are chosen (see `choosing_values`), with one by that criterion.
        """
        status = self.status(criterion)
        values = self.choosing_values() if criterion is None else self.values(criterion)
        order = {"complete": 0, "stopped": 1, "failed": 2}
        keys = [
            (order[s], v if s != "failed" else 0.0) for s, v in zip(status, values, strict=True)
        ]
        return np.array([1 + sum(other < key for other in keys) for key in keys])

    def ranking(self, criterion: str | None = None) -> list[int]:
        """Cells from best to worst; equal ones in the order given."""
        return np.argsort(self.ranks(criterion), kind="stable").tolist()

    @property
    def best(self) -> int:
        """The cell that the selecting criterion puts first."""
        return self.ranking()[0]

    def anchored(self) -> tuple[list[int], Anchored]:
        """Cells that are complete, and their posterior under the anchored criterion."""
        cells = [n for n, status in enumerate(self.status("anchored")) if status == "complete"]
        prior = self._prior()[cells]
        return cells, self._anchor(self.labelled[cells], prior, self.guesses[cells])

    def interval(
        self, level: float = 0.95, *, method: str | None = None, cell: int | None = None
    ) -> SearchInterval:
        """An interval for a cell's score on the target.

        Parameters
        ----------
        level : float in (0, 1)
        method : {"anchored", "labelled", "effective", "paper"}, optional
            ``"anchored"`` and ``"labelled"`` rest on the labelled target rows, the first around
            the anchored estimate, the second around the mean of the cell's own TLV losses.
            ``"paper"`` is Eq. (15), ``"effective"`` the same with the effective sample size. The
            default is the first of them for which the search has what it needs. Squared losses
            are skewed: in trials 83 and 77 % of the first two held the truth, of 90 % nominal.
        cell : int, optional
            The best one by default.
        """
        cell = self.best if cell is None else cell
        return uncertainty.interval(self, cell, level=level, method=method)

    def prob_better(self, *, method: str | None = None, level: float = 0.95) -> np.ndarray:
        """P(the row's cell is better on the target than the column's), cells × cells.

        Parameters
        ----------
        method : {"paper", "paired"}, optional
            ``"paper"`` is Eq. (16) with the interval of ``level`` behind it, for zero-one loss with
            TrCV. ``"paired"`` compares losses on the same rows: those of `tlv` where there are
            any, else those behind the selecting criterion. The default is the second where the
            ranking rests on labelled rows or Eq. (16) is not defined.
        level : float in (0, 1)

        Returns
        -------
        probabilities : ndarray (cells, cells)
            NaN for cells that failed, 0.5 for two that share fewer than 2 rows.
        """
        return uncertainty.prob_better(self, level=level, method=method)

    def worth_transferring(self, level: float = 0.9) -> Verdict:
        """Does the best transfer candidate beat target-only and source-only beyond noise?"""
        return uncertainty.worth_transferring(self, level)

    def available(self) -> tuple[str, ...]:
        """Criteria that can be computed from the losses at hand, requested or not."""
        have = {
            name
            for name in (*ROW_ARRAYS, *TARGET_ARRAYS, "weights", "guesses")
            if getattr(self, name) is not None
        }
        return tuple(name for name in CRITERIA if NEEDS[name] <= have)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write everything to one file of arrays and JSON (``.npz``)."""
        save_record(self, path)

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Self:
        """Read what `save` wrote."""
        return load_record(cls, path)

    def __repr__(self) -> str:
        return "\n".join(self._lines())

    def _lines(self, most: int = 10) -> Iterator[str]:
        status, scores, labels = self.status(), self.scores(), self.labels
        notes = self.notes()
        failed = status.count("failed")
        yield (
            f"SearchResult: {len(self.cells)} cells, criterion {self.criterion} "
            f"({self.about['reason']}), {failed} failed{self._saving()}"
        )
        for place, cell in enumerate(self.ranking()[:most], start=1):
            note = notes[cell] if status[cell] == "complete" else status[cell]
            score = score_in_words(scores[cell], rate=self.is_proportion)
            yield f"{place:4d}. {labels[cell]}: {score}  {note}".rstrip()
        if len(self.cells) > most:
            yield f"      … and {len(self.cells) - most} more"

    def _saving(self) -> str:
        saved = self.about["fits_planned"] - self.about["fits_done"]
        return f", {saved} fits saved by halving" if saved else ""

    @property
    def _kinds(self) -> list[tuple[str, Any]]:
        """Cells that differ in parameters only are of one kind."""
        return [(cell["candidate"], cell["source"]) for cell in self.cells]

    def _known(self, criterion: str | None) -> str:
        criterion = criterion or self.criterion
        check_choice(criterion, "criterion", self.available())
        return criterion

    def _prior(self) -> Vector:
        """TrCV of every cell; cells that are one model, whatever the source, share the mean."""
        prior = self.values("trcv")
        models = defaultdict(list)
        for number in np.flatnonzero(~np.isnan(prior)).tolist():
            if self.cells[number]["role"] == "target-only":
                name = cell_label(self.cells[number], several=False)
                answers = self.labelled[number].tobytes(), self.guesses[number].tobytes()
                models[name, answers].append(number)
        for cells in models.values():
            prior[cells] = prior[cells].mean()
        return prior

    def _anchor(self, losses: np.ndarray, prior: Vector, guesses: np.ndarray) -> Anchored:
        """By ratios where losses are never negative and have no upper end, else by differences."""
        loss = self.about["loss"]
        ends = LOSS_RANGES.get(loss, (0.0, np.inf))[1] < np.inf
        if ends or np.nanmin(self.labelled) < 0 or np.nanmin(self.reverse) < 0:
            return anchor(losses, prior, guesses)
        return anchor_ratios(losses, prior, guesses, power=DISTANCES.get(loss))

    def _anchored_values(self) -> Vector:
        """Stopped cells are read together with the complete ones on the rows they were given."""
        status, prior = self.status("anchored"), self._prior()
        values = np.full(len(self.cells), np.nan)
        usable = [n for n, s in enumerate(status) if s != "failed"]
        seen = ~np.isnan(self.labelled)
        for pattern in {seen[n].tobytes(): seen[n] for n in usable}.values():
            group = [n for n in usable if seen[n][pattern].all()]
            losses = self.labelled[group][:, pattern]
            posterior = self._anchor(losses, prior[group], self.guesses[group])
            for cell, mean in zip(group, posterior.mean, strict=True):
                if np.array_equal(seen[cell], pattern):
                    values[cell] = mean
        return values


def _take(array: VectorLike, number: int, rows: Any) -> VectorLike:
    return None if array is None else array[number][rows]


def cell_label(cell: dict[str, Any], *, several: bool) -> str:
    """A short name of a cell; with its source where there are several.

    ``estimator__C`` is called ``C``, unless another parameter would be called so too.
    """
    short = [name.rpartition("__")[2] for name in cell["params"]]
    names = short if len(set(short)) == len(short) else list(cell["params"])
    values = cell["params"].values()
    params = ", ".join(f"{name}={value}" for name, value in zip(names, values, strict=True))
    label = f"{cell['candidate']}({params})" if params else cell["candidate"]
    return f"{label} from {cell['source']}" if several else label
