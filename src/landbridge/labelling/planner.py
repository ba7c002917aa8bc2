"""`LabelPlanner`, which selects rows to label, records labels and reports progress."""

import json
import math
import numbers
import os
from collections.abc import Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any, Self

import numpy as np
from sklearn.utils import check_random_state
from sklearn.utils.validation import _num_samples

from landbridge._storage import require_regular_file, require_type, whole_file
from landbridge._typing import RandomState, Vector, VectorLike
from landbridge._validation import (
    check_choice,
    check_count,
    check_positive,
    is_number,
    without_masks,
)
from landbridge.inference.intervals import check_level
from landbridge.labelling import _reasons, mixture
from landbridge.labelling._judge import Judge
from landbridge.labelling.design import (
    GOALS,
    RANDOM_SHARE,
    Goal,
    Scores,
    choose_scores,
    inclusion_probabilities,
    measure_scores,
    prove_scores,
    systematic_sample,
    train_scores,
)
from landbridge.labelling.forecast import expected_ranking, place_of
from landbridge.labelling.pool import (
    STRENGTH,
    STRENGTH_TO_CHOOSE,
    Pool,
    check_size,
    default_metric,
    make_pool,
    pair_of_search,
    pool_of_search,
)
from landbridge.labelling.records import AskedRow, Batch, Known
from landbridge.labelling.status import LabelStatus
from landbridge.model_selection.search_result import SearchResult

FORMAT = 1


class LabelPlanner:
    """Choose the rows to label next, and determine when to stop.

    Rows are drawn with known probabilities. Estimates are therefore valid for all rows of the pool,
    although informative rows are preferred. Estimates use the predictions made before a label was
    known, so the search may be fitted again with the new labels at any time. Row numbers refer to
    ``X_unlabeled``, which must not change.

    In the benchmark, 20, 50 and 100 labels of ``"choose"`` among classifiers were at least as good
    as twice that number of random labels. Intervals of ``"measure"`` for regression cover about
    86 % instead of 90 %.

    Parameters
    ----------
    goal : {"choose", "prove", "measure", "train"}, default="choose"
        ``"choose"`` finds the best candidate, using rows on which the likely best ones differ.
        ``"prove"`` tests whether the candidate beats the baseline, using rows on which they differ.
        ``"measure"`` narrows the interval of one candidate, using rows on which it may be wrong.
        ``"train"`` collects training labels, using rows with a small margin between two classes.
    batch_size : int, default=20
        Rows per batch.
    random_share : float in [0, 1], optional
        Share of a batch that is drawn uniformly; it bounds the weights of rows. With 1 a batch is
        a simple random sample (of disputed rows for ``"prove"``). The default is 0.25, and 0.1 for
        ``"choose"`` among classifiers by their errors, which needs no weights.
    budget : int, default=100
        Planned number of labels. The test of ``"prove"`` spends its level evenly over them.
    candidate, baseline : str, optional
        Names of the models of ``"prove"`` and ``"measure"``. By default, the model selected by the
        search and its best model without transfer; for plain predictions, the two models that agree
        most with the consensus.
    width : float, optional
        ``"measure"`` is reached when the mean distance of the interval bounds from the estimate is
        at most this value. The default is 0.05 for scores and 10 % of the estimate for errors such
        as RMSE.
    gap : float, default=0.02
        ``"choose"`` is reached when the leader is at most this much worse than any other candidate
        with a probability of 95 %.
    level : float in (0, 1), default=0.9
        Coverage of intervals.
    random_state : int, RandomState or None, default=None
        Seed; the same seed gives the same result.

    Attributes
    ----------
    asked_ : list of AskedRow
        Every row that was asked for.
    names_ : tuple of str
        Names of the candidates.
    n_rows_ : int
        Number of rows of the pool.
    candidate_, baseline_ : str
        The models that are compared; the first batch determines them.
    classes_ : ndarray or None
        The classes, in the order of the probabilities.

    See Also
    --------
    how_many_labels : A forecast before anything is labelled.

    Examples
    --------
    >>> import numpy as np
    >>> from landbridge import LabelPlanner
    >>> rng = np.random.default_rng(0)
    >>> y = rng.integers(2, size=400)
    >>> good, bad = (np.where(rng.random(400) < p, y, 1 - y) for p in (0.9, 0.7))
    >>> planner = LabelPlanner("prove", candidate="good", baseline="bad", random_state=0)
    >>> while not (planner.asked_ and planner.status().reached):
    ...     batch = planner.ask_from_predictions(np.eye(2)[[good, bad]], names=["good", "bad"])
    ...     planner = planner.tell(batch.rows, y[batch.rows])
    >>> print(planner.status().sentences[0])
    After 20 labels, good is shown to be better than bad.
    >>> [status.n_labels for status in planner.history()]
    [20]
    >>> LabelPlanner.from_dict(planner.to_dict()).goal
    'prove'
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     planner.save(f"{folder}/plan.json")
    ...     LabelPlanner.load(f"{folder}/plan.json").goal
    'prove'
    >>> from sklearn.linear_model import LogisticRegression
    >>> from sklearn.naive_bayes import GaussianNB
    >>> from landbridge import TransferSearchCV
    >>> from landbridge.datasets import make_concept_shift
    >>> data = make_concept_shift(random_state=0)
    >>> search = TransferSearchCV(
    ...     {"bayes": GaussianNB(), "linear": LogisticRegression()}, random_state=0)
    >>> search = search.fit(data.X, data.y, X_unlabeled=data.X_target)
    >>> len(LabelPlanner(batch_size=5, random_state=0).ask(search))
    5
    """

    def __init__(
        self,
        goal: Goal = "choose",
        *,
        batch_size: int = 20,
        random_share: float | None = None,
        budget: int = 100,
        candidate: str | None = None,
        baseline: str | None = None,
        width: float | None = None,
        gap: float = 0.02,
        level: float = 0.9,
        random_state: RandomState = None,
    ):
        check_choice(goal, "goal", GOALS)
        check_count(batch_size, "batch_size")
        check_count(budget, "budget")
        check_level(level)
        if width is not None:
            check_positive(width, "width")
        if not (is_number(gap) and 0 <= gap < math.inf):
            raise ValueError(f"`gap` must be a finite number of at least 0; got {gap!r}.")
        if random_share is not None and not (is_number(random_share) and 0 <= random_share <= 1):
            raise ValueError(
                f"`random_share` must be between 0 and 1; got {random_share!r}. With 0.25, "
                "every fourth row is drawn uniformly."
            )
        self.goal = goal
        self.batch_size = batch_size
        self.random_share = random_share
        self.budget = budget
        self.candidate = candidate
        self.baseline = baseline
        self.width = width
        self.gap = gap
        self.level = level
        self.random_state = random_state
        self.asked_: list[AskedRow] = []
        self.names_: tuple[str, ...] = ()
        self.candidate_ = ""
        self.baseline_ = ""
        self.classes_: Any = None
        self.n_rows_ = 0
        self._pool: Pool | None = None
        self._read_last: tuple[SearchResult, Pool, Vector] | None = None
        self._metric: Any = None

    # Asking

    def ask(self, search: Any, X_unlabeled: Any = None) -> Batch:
        """Choose the next rows to label.

        Parameters
        ----------
        search : fitted TransferSearchCV, or SearchResult
            Search fitted with ``X_unlabeled``. It may be fitted again between batches.
        X_unlabeled : rows, optional
            The unlabelled rows of the search, used only to check their number.

        Returns
        -------
        Batch
            Row numbers, inclusion probabilities and reasons; empty if no useful row is left.
        """
        pool, places = self._read(search)
        wanted = getattr(search, "results_", search).info.n_unlabelled
        if X_unlabeled is not None and _num_samples(X_unlabeled) != wanted:
            raise ValueError(
                f"`X_unlabeled` must be the {wanted} rows that the search was fitted with; got "
                f"{_num_samples(X_unlabeled)} rows. Pass the same rows, or fit the search again."
            )
        return self._ask(pool, places)

    @without_masks
    def ask_from_predictions(
        self,
        predictions: VectorLike,
        *,
        names: Sequence[str] | None = None,
        classes: VectorLike = None,
    ) -> Batch:
        """Choose the next rows from the predictions of any models.

        Parameters
        ----------
        predictions : array of shape (models, rows, classes) or (models, rows)
            Class probabilities (one-hot without probabilities), or numbers for regression.
        names : sequence of str, optional
            Names of the models.
        classes : array-like, optional
            The classes, in the order of the probabilities; their positions if omitted.

        Returns
        -------
        Batch
            The rows to label.
        """
        pool = make_pool(predictions, names=names)
        if pool.is_classification and self.classes_ is None:
            count = pool.values.shape[2]
            self.classes_ = np.arange(count) if classes is None else np.asarray(classes)
            if self.classes_.shape != (count,) or np.unique(self.classes_).size != count:
                raise ValueError(
                    f"`classes` must name each of the {count} classes of `predictions` once; got "
                    f"{self.classes_.tolist()}."
                )
        self._metric = self._metric or default_metric(pool)
        first, second = None, None
        if not self.candidate_:
            order = expected_ranking(pool)
            first = self.candidate or pool.names[order[0]]
            second = next((pool.names[cell] for cell in order if pool.names[cell] != first), None)
        self._settle(pool, first, second)
        return self._ask(pool, np.arange(pool.n_rows))

    def _read(self, search: Any) -> tuple[Pool, Vector]:
        result = getattr(search, "results_", search)
        # A large pool is predicted once per search and cached.
        if self._read_last is None or self._read_last[0] is not result:
            self._read_last = (result, *pool_of_search(search))
        _, pool, places = self._read_last
        self.classes_, self._metric = result.classes, result.metric
        self._settle(pool, *(pair_of_search(search) if not self.candidate_ else (None, None)))
        return pool, places

    def _settle(self, pool: Pool, first: str | None, second: str | None) -> None:
        """Record the models of the first batch, and require the same models afterwards."""
        if self.names_ and pool.names != self.names_:
            raise ValueError(
                f"`search` must have the candidates of the first batch, {list(self.names_)}; got "
                f"{list(pool.names)}. Fit the same candidates, or start a new planner."
            )
        if self.n_rows_ not in (0, pool.n_rows):
            raise ValueError(
                f"The pool must have the {self.n_rows_} rows of the first batch; got "
                f"{pool.n_rows}. Use predictions of the same rows; a saved result keeps at most "
                "2000, so fit the search again in this process."
            )
        if not self.candidate_:
            first = first if self.candidate is None else self.candidate
            second = second if self.baseline is None else self.baseline
            place_of(pool, first, "candidate")
            if self.goal == "prove":
                if second is None:
                    raise ValueError(
                        f"goal='prove' compares two candidates; got only {first!r}. Add one."
                    )
                place_of(pool, second, "baseline")
            self.candidate_, self.baseline_ = str(first), second or ""
        self.names_, self.n_rows_, self._pool = pool.names, pool.n_rows, pool

    def _ask(self, pool: Pool, places: Vector) -> Batch:
        number = max((one.batch for one in self.asked_), default=-1) + 1
        # A batch depends only on the seed and the number of the batch, not on other draws.
        seed = check_random_state(self.random_state).randint(2**31)
        rng = np.random.default_rng([seed, number])
        left = ~np.isin(places, [one.row for one in self.asked_])
        scores, weights = self._scores(pool, left, rng)
        probabilities = scores.probabilities
        if probabilities is None:
            share = self._share(RANDOM_SHARE)
            probabilities = inclusion_probabilities(scores, self.batch_size, share, left)
        if probabilities.sum() < 0.5:
            return Batch(np.empty(0, int), np.empty(0), (), number)
        order = None if self.random_share == 1 else scores.order  # simple random rows
        chosen = np.sort(systematic_sample(probabilities, order, rng))
        reasons = _reasons.reasons(self, pool, chosen, scores, weights)
        for place, why in zip(chosen, reasons, strict=True):
            self.asked_.append(
                AskedRow(
                    row=int(places[place]),
                    batch=number,
                    probability=float(scores.frame * probabilities[place]),
                    why=why,
                    predictions=pool.values[:, place].tolist(),
                )
            )
        return Batch(places[chosen], scores.frame * probabilities[chosen], tuple(reasons), number)

    def _scores(
        self, pool: Pool, left: Vector, rng: np.random.Generator
    ) -> tuple[Scores, Vector | None]:
        if self.goal == "prove":
            pair = [pool.names.index(name) for name in (self.candidate_, self.baseline_)]
            return prove_scores(pool, *pair), None
        judge = self._judge(pool)
        if self.goal == "measure":
            cell = pool.names.index(self.candidate_)
            return measure_scores(pool, judge.consensus, cell, judge.noise), None
        if self.goal == "choose":
            weights = judge.relative().weights
            if not judge.counts_errors:
                return choose_scores(pool, judge.consensus, weights, judge.noise), weights
            share = self._share(mixture.RANDOM_SHARE)
            found = judge.mixture.scores(pool, left, self.batch_size, share, rng)
            return found, weights
        cell = pool.names.index(self.candidate_)
        n_doubtful = round((1 - self._share(RANDOM_SHARE)) * self.batch_size)
        values = pool.values[cell]
        doubt = values if pool.is_classification else judge.consensus
        return train_scores(doubt, n_doubtful, pool.values, left), None

    def _share(self, default: float) -> float:
        return default if self.random_share is None else self.random_share

    # Answers

    @without_masks
    def tell(self, indices: VectorLike, labels: VectorLike) -> Self:
        """Record the labels of rows in a batch.

        Parameters
        ----------
        indices : array of int
            Row numbers of `ask`.
        labels : array of the same length
            Classes, or numbers.

        Returns
        -------
        self
            This planner.
        """
        indices, labels = np.atleast_1d(indices), np.atleast_1d(np.asarray(labels))
        if indices.shape != labels.shape or indices.ndim != 1:
            raise ValueError(
                f"`labels` must have one label per row; got {labels.size} labels for "
                f"{indices.size} rows."
            )
        values, counts = np.unique(indices, return_counts=True)
        if (counts > 1).any():
            raise ValueError(
                f"`indices` must name each row once; row {values[counts > 1][0]} is named "
                f"{counts.max()} times. Remove the duplicates."
            )
        places = {one.row: number for number, one in enumerate(self.asked_)}
        known = [self._position(label) for label in labels.tolist()]
        for row, label in zip(indices.tolist(), known, strict=True):
            if row not in places:
                raise ValueError(
                    f"`indices` must be rows that were asked for; got row {row}. Only rows with a "
                    "known inclusion probability can be used."
                )
            before = self.asked_[places[row]].label
            if before is not None and before != label:
                raise ValueError(
                    f"`labels` must not change; row {row} has the label {self._name(before)!r} and "
                    f"got {self._name(label)!r}. Start a new planner if an answer was wrong."
                )
        for row, label in zip(indices.tolist(), known, strict=True):
            self.asked_[places[row]] = replace(self.asked_[places[row]], label=label)
        return self

    def _position(self, label: Any) -> Any:
        if self.classes_ is None:
            if not isinstance(label, numbers.Real) or not math.isfinite(label):
                raise ValueError(f"`labels` must be finite numbers; got {label!r}.")
            check_size(abs(float(label)), "labels")
            return float(label)
        found = np.flatnonzero(np.asarray(self.classes_) == label)
        if found.size == 0:
            known = ", ".join(map(str, np.asarray(self.classes_).tolist()))
            raise ValueError(f"`labels` must be one of the classes {known}; got {label!r}.")
        return int(found[0])

    def _name(self, position: Any) -> Any:
        return position if self.classes_ is None else np.asarray(self.classes_).tolist()[position]

    @property
    def labelled_(self) -> tuple[Vector, Vector]:
        """Rows with a label, and their labels."""
        known = [one for one in self.asked_ if one.label is not None]
        rows = np.array([one.row for one in known], dtype=int)
        return rows, np.asarray([self._name(one.label) for one in known])

    @property
    def weights_(self) -> Vector:
        """Design weights of the rows with a label, with mean 1."""
        weights = self._known().weights
        return weights / weights.mean() if weights.size else weights

    def status(self, search: Any = None, *, after: int | None = None) -> LabelStatus:
        """Estimate the progress towards the goal.

        Parameters
        ----------
        search : fitted TransferSearchCV or SearchResult, optional
            The predictions of the pool; those of the last `ask` if omitted.
        after : int, optional
            Use only the labels of the first batches, up to this number.

        Returns
        -------
        LabelStatus
            Progress towards the goal.
        """
        if search is not None:
            self._read(search)
        if self._pool is None:
            raise ValueError(
                "`status` needs the predictions of the pool. Pass `search`, or call `ask` first."
            )
        return self._judge(self._pool, after).status()

    def history(self, search: Any = None) -> tuple[LabelStatus, ...]:
        """Status after every batch that has labels.

        Parameters
        ----------
        search : fitted TransferSearchCV or SearchResult, optional
            A fitted search.

        Returns
        -------
        tuple of LabelStatus
            One status per batch.
        """
        answered = sorted({one.batch for one in self.asked_ if one.label is not None})
        return tuple(self.status(search, after=batch + 1) for batch in answered)

    def _known(self, after: int | None = None) -> Known:
        asked = [one for one in self.asked_ if after is None or one.batch < after]
        return Known.of(asked, self.names_, is_classification=self.classes_ is not None)

    def _judge(self, pool: Pool, after: int | None = None) -> Judge:
        strength = STRENGTH_TO_CHOOSE if self.goal == "choose" else STRENGTH
        return Judge(self, pool, self._known(after), self._metric, strength)

    # Files

    def to_dict(self) -> dict[str, Any]:
        """Export the state as plain values.

        Returns
        -------
        dict
            State for `from_dict`.
        """
        classes = None if self.classes_ is None else np.asarray(self.classes_).tolist()
        return {
            "format": FORMAT,
            "goal": self.goal,
            "batch_size": self.batch_size,
            "random_share": self.random_share,
            "budget": self.budget,
            "width": self.width,
            "gap": self.gap,
            "level": self.level,
            "random_state": self.random_state,
            "names": list(self.names_),
            "n_rows": self.n_rows_,
            "candidate": self.candidate_ or self.candidate,
            "baseline": self.baseline_ or self.baseline,
            "classes": classes,
            "asked": [asdict(one) for one in self.asked_],
        }

    @classmethod
    def from_dict(cls, state: dict[str, Any]) -> Self:
        """Create a planner from the dictionary returned by `to_dict`.

        Parameters
        ----------
        state : dict
            Dictionary returned by `to_dict`.
        """
        if not isinstance(state, dict) or state.get("format") != FORMAT:
            raise ValueError(
                "`state` must be a result of `LabelPlanner.to_dict`; got other values."
            )
        options = ("batch_size", "random_share", "budget", "width", "gap", "level", "random_state")
        try:
            planner = cls(
                state["goal"],
                candidate=state["candidate"],
                baseline=state["baseline"],
                **{name: state[name] for name in options},
            )
            planner.names_, planner.n_rows_ = tuple(state["names"]), state["n_rows"]
            planner.candidate_ = state["candidate"] or ""
            planner.baseline_ = state["baseline"] or ""
            classes = state["classes"]
            planner.classes_ = None if classes is None else np.asarray(classes)
            planner.asked_ = [AskedRow(**one) for one in state["asked"]]
            planner._check_asked()
            planner._known()
        except (LookupError, TypeError, ValueError) as error:
            raise ValueError(
                f"`state` must be a result of `LabelPlanner.to_dict`; got damaged values ({error})."
            ) from error
        return planner

    def _check_asked(self) -> None:
        """Raise if the rows of a loaded state cannot have been asked for."""
        require_type(self.n_rows_, int, "n_rows")
        require_type(self.names_, tuple[str, ...], "names")
        for k, one in enumerate(self.asked_):
            require_type(one, AskedRow, f"asked {k}")
            inside = 0 <= one.row < self.n_rows_ and 0 <= one.batch < len(self.asked_)
            if not (inside and 0 < one.probability <= 1):
                raise ValueError(f"row {one.row} of batch {one.batch}")
            whole = self.classes_ is None or one.label in range(len(self.classes_))
            if one.label is not None and not (whole and math.isfinite(one.label)):
                raise ValueError(f"the label {one.label} of row {one.row}")
        if len({one.row for one in self.asked_}) < len(self.asked_):
            raise ValueError("a row that was asked for twice")

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the state to a JSON file, which is never left incomplete.

        Parameters
        ----------
        path : path
            File to write.
        """
        text = json.dumps(self.to_dict(), indent=1, ensure_ascii=False)
        with whole_file(path) as file:
            file.write(text.encode())

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Self:
        """Load a planner written by `save`.

        Parameters
        ----------
        path : path
            File written by `save`.

        Returns
        -------
        LabelPlanner
        """
        require_regular_file(path)
        try:
            state = json.loads(Path(path).read_text(encoding="utf-8"))
        except (ValueError, RecursionError) as error:
            raise ValueError(f"{path}: not a labelling state ({error}).") from error
        return cls.from_dict(state)


def ask_from_predictions(
    predictions: VectorLike,
    *,
    goal: Goal = "choose",
    batch_size: int = 20,
    random_share: float | None = None,
    candidate: str | None = None,
    baseline: str | None = None,
    names: Sequence[str] | None = None,
    random_state: RandomState = None,
) -> Batch:
    """Choose a first batch of rows to label from the predictions of any models.

    Use a `LabelPlanner` to continue with the labels.

    Parameters
    ----------
    predictions : array of shape (models, rows, classes) or (models, rows)
        Class probabilities (one-hot without probabilities), or numbers for regression.
    goal : {"choose", "prove", "measure", "train"}, default="choose"
        See `LabelPlanner`.
    batch_size : int, default=20
        See `LabelPlanner`.
    random_share : float, optional
        See `LabelPlanner`.
    candidate : str, optional
        See `LabelPlanner`.
    baseline : str, optional
        See `LabelPlanner`.
    names : sequence of str, optional
        Names of the models; their numbers if omitted.
    random_state : int, RandomState or None
        See `LabelPlanner`.

    Returns
    -------
    Batch
        The rows to label.

    Examples
    --------
    >>> import numpy as np
    >>> from landbridge.labelling import ask_from_predictions
    >>> rng = np.random.default_rng(0)
    >>> probabilities = rng.dirichlet([1, 1], size=(3, 1000))
    >>> batch = ask_from_predictions(probabilities, batch_size=5, random_state=0)
    >>> len(batch), bool((batch.probabilities > 0).all())
    (5, True)
    """
    planner = LabelPlanner(
        goal,
        batch_size=batch_size,
        random_share=random_share,
        candidate=candidate,
        baseline=baseline,
        random_state=random_state,
    )
    return planner.ask_from_predictions(predictions, names=names)
