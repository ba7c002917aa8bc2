r"""Fit the model selected on a sample on as many rows as memory and time allow.

Models that learn in passes see every row of the table, piece by piece. For the others the sample
grows in steps. Each step shows how the time and memory of the fit grow with the number of rows. A
method that needs a matrix of all pairs of rows stops early, and one of linear cost continues until
all rows are used.

The last stage of a model receives the rows of each pass piece by piece and then reports whether it
needs another; the scalers in front of it stay as fitted on the sample:

- estimators with ``partial_fit`` take one pass. Those that iterate (stochastic gradient descent,
  neural networks) continue from the fit on a sample; the others start from scratch;
- least squares needs :math:`X^\top W X` and :math:`X^\top W y`, one pass;
- logistic regression takes a Newton step per pass. It begins at the fit on a sample, which is
  close to the optimum on all rows, so that a few steps suffice.

Least squares and logistic regression reach the same optimum as ``fit`` on all rows.
"""

import inspect
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from copy import deepcopy
from dataclasses import dataclass, replace
from math import inf, log
from typing import Any, TypeAlias

import numpy as np
import polars as pl
from scipy import sparse
from scipy.special import log_softmax
from sklearn.base import clone, is_classifier
from sklearn.linear_model import LinearRegression, LogisticRegression, Ridge, RidgeCV
from sklearn.pipeline import Pipeline

from landbridge._delegate import takes_sample_weight
from landbridge._tasks import Progress
from landbridge._typing import Matrix, Vector
from landbridge.baselines import Pooled, SourceOnly, TargetOnly, repeats
from landbridge.cli._options import Select, bytes_of, seconds_of
from landbridge.cli._problem import Problem, read_problem
from landbridge.cli._session import Session, listing
from landbridge.cli._tables import LargeTable, find_large
from landbridge.cli.select import Study, make_card
from landbridge.model_selection import TransferSearchCV, VotingModel
from landbridge.model_selection.candidates import takes_target

# Factor by which the number of rows grows from step to step.
STEP = 4
# Time and memory are assumed to grow with this power of the rows until two steps are measured.
POWER = 2.0
# The duration of a pass is predicted after this many seconds.
LEAST_SECONDS = 5.0
# Maximum number of parameters; the matrix of second derivatives then takes 32 MB.
MOST_PARAMETERS = 2000
# Maximum number of Newton steps, and the relative step size at which they stop. Convergence is
# quadratic, so the remaining error is about the square of the last step.
MOST_STEPS, LAST_STEP = 15, 1e-5


def with_more_rows(study: Study, problem: Problem, asked: Select, session: Session) -> Study:
    """Refit the models of the study on more rows than the search used, if there are more."""
    if problem.sample is None or not problem.sample.cut():
        return study

    columns = problem.features.columns

    def draw(max_rows: int) -> Problem:
        # Use the columns of the search, even if an audit of more rows would differ.
        found = read_problem(
            replace(asked, max_rows=max_rows, keep=columns),
            lambda note: None,
            target=asked.target,
            task=problem.task,
            spare_labels=True,
        )
        return replace(found, features=found.features.select(columns))

    budget, spent = seconds_of(asked.budget), study.search.results_.info.seconds
    deadline = time.monotonic() + budget - spent if budget else inf
    how: dict[str, Any] = {"missing": asked.missing or (), "text": asked.text or ()}
    large = find_large(asked.data, asked.domain, **how)
    members, others = members_that_learn(study.search, problem) if large else ([], ["all"])
    reason, learnt = "", None
    if large is not None and not others:
        learnt = learn_in_passes(members, study.search, problem, large, deadline)
    if learnt is None or not learnt.names:
        with Progress("fitting on more rows", None):
            memory = bytes_of(asked.memory)
            problem, reason = fit_on_more(study.search, problem, draw, deadline, memory)
        assert problem.sample is not None
        rows = problem.sample.rows_used()
        session.note(f"the model is fitted on {rows}" + (f": {reason}" if reason else ""))
    if large is not None and others and reason:
        members, _ = members_that_learn(study.search, problem)
        learnt = learn_in_passes(members, study.search, problem, large, deadline)
    command = study.card["command"]
    card = make_card(problem, study.search, study.summary, asked=asked, command=command)
    if learnt is not None and members:
        session.note(learnt.sentence())
        card["verdict"] = [*card["verdict"], learnt.sentence()]
    return replace(study, card=card)


@dataclass(frozen=True, slots=True)
class Cost:
    """Cost of one fit: rows per domain, seconds and bytes."""

    rows: int
    seconds: float
    bytes: float


def fit_on_more(
    search: TransferSearchCV,
    problem: Problem,
    draw: Callable[[int], Problem],
    deadline: float,
    memory: int,
) -> tuple[Problem, str]:
    """Refit on growing samples; return the last one, and the reason if rows are missing.

    ``draw`` reads the problem with a maximum number of rows per domain. A fit that would take more
    than ``memory`` bytes or end after the ``deadline`` is not started.
    """
    assert problem.sample is not None
    largest = max(problem.sample.rows.values())
    costs = [
        Cost(problem.sample.max_rows, search.refit_time_, 3.0 * problem.features.estimated_size())
    ]
    while costs[-1].rows < largest:
        n_rows = min(STEP * costs[-1].rows, largest)
        if time.monotonic() + predicted(costs, n_rows, "seconds") > deadline:
            return problem, "more would take longer than --budget"
        if predicted(costs, n_rows, "bytes") > memory:
            return problem, "more would need more than --memory"
        before = _peak_bytes()
        problem = draw(n_rows)
        arguments = problem.transfer_arguments()
        # There are no folds in a refit.
        search.refit_on(**{k: v for k, v in arguments.items() if not k.startswith("cv_groups")})
        size = 3.0 * problem.features.estimated_size()
        costs.append(Cost(n_rows, search.refit_time_, max(_peak_bytes() - before, size)))
    return problem, ""


@dataclass(slots=True)
class Member:
    """Member of the final model that can learn in passes, and the rows that it learns from."""

    name: str
    transformers: list[Any]  # in front of the stage
    stage: "Stage"
    source: list[str]
    target: list[str]
    target_share: float | None = None
    takes_weight: bool = True
    n_rows: int = 0

    def add(self, piece: "Piece", counts: Mapping[str, int]) -> None:
        """Learn from rows of the member's domains with known classes.

        For an estimator that does not accept weights, rows are repeated.
        """
        of_source, of_target = self._weights(counts)
        weight = np.where(np.isin(piece.domains, self.source), of_source, 0.0)
        weight[np.isin(piece.domains, self.target)] = of_target
        classes = getattr(self.stage.model, "classes_", piece.y)
        rows = np.flatnonzero((weight > 0) & np.isin(piece.y, classes))
        if not self.takes_weight:
            rows = np.repeat(rows, weight[rows].astype(int))
            weight = np.ones_like(weight)
        if rows.size:
            X = piece.X[rows]
            for transformer in self.transformers:
                X = transformer.transform(X)
            self.stage.add(X, piece.y[rows], weight[rows])
        self.n_rows += rows.size

    def end_pass(self) -> bool:
        """Whether another pass is needed; never without rows to learn from."""
        return self.n_rows > 0 and self.stage.end_pass()

    def _weights(self, counts: Mapping[str, int]) -> tuple[float, float]:
        """Weight of a source row and of a labelled target row, as in `Pooled`."""
        n_source, n_target = (
            sum(counts.get(name, 0) for name in names) for names in (self.source, self.target)
        )
        share = self.target_share
        if share is None or not n_source or not n_target:
            return 1.0, 1.0
        if not self.takes_weight:
            return repeats(n_source, n_target, share)
        n_rows = n_source + n_target
        return (1 - share) * n_rows / n_source, share * n_rows / n_target


def members_that_learn(
    search: TransferSearchCV, problem: Problem
) -> tuple[list[Member], list[str]]:
    """Members of the final model that can learn in passes, and the names of the others."""
    result = search.results_
    last = getattr(search, "vote_", search.best_estimator_)[-1]
    models = [(result.labels[search.best_index_], last)]
    if isinstance(last, VotingModel):
        models = list(last.members)
    found, others = [], []
    for name, model in models:
        cell = result.cells[result.labels.index(name)]
        inner = model.estimator_ if isinstance(model, SourceOnly | TargetOnly | Pooled) else model
        steps = [step for _, step in inner.steps] if isinstance(inner, Pipeline) else [inner]
        stage = stage_of(steps[-1])
        # Design weights exist only for rows of the sample, and maps between domains need all rows
        # at once.
        if takes_target(inner) or stage is None or problem.target_weights is not None:
            others.append(name)
            continue
        source = [cell.source] if cell.source in problem.sources else problem.sources
        target = [str(problem.target)]
        has_target = bool((problem.is_target & problem.has_label).any())
        if isinstance(model, SourceOnly):
            target = []
        elif isinstance(model, TargetOnly) and has_target:
            source = []
        share = model.target_share if isinstance(model, Pooled) else None
        weighted = share is None or takes_sample_weight(inner)
        transformers = [step for step in steps[:-1] if hasattr(step, "transform")]
        found.append(Member(name, transformers, stage, source, target, share, weighted))
    return found, others


@dataclass(frozen=True, slots=True)
class Learnt:
    """Members that were fitted to all rows, and the number of passes over the table."""

    names: list[str]
    stopped: list[str]
    n_passes: int

    def sentence(self) -> str:
        """Describe which models were fitted to all rows."""
        if not self.names:
            return "A pass over all rows would take longer than --budget."
        passes = "one pass" if self.n_passes == 1 else f"{self.n_passes} passes"
        said = f"Learned from all labelled rows, in {passes}: {listing(self.names)}."
        if self.stopped:
            said += f" --budget ended before the last step of {listing(self.stopped)}."
        return said


def learn_in_passes(
    members: list[Member],
    search: TransferSearchCV,
    problem: Problem,
    table: LargeTable,
    deadline: float = inf,
) -> Learnt:
    """Fit members on all rows of a table, in common passes.

    A pass that would end after the ``deadline`` is not started or is stopped.
    """
    label = problem.labels.name  # type: ignore[union-attr]
    counts = table.counts(label)
    waiting, n_passes, began, in_time = list(members), 0, time.monotonic(), True
    while waiting and in_time:
        expected = (time.monotonic() - began) if n_passes else 0.0
        began = time.monotonic()
        in_time = began + expected <= deadline
        title, seen = f"learning from all rows, pass {n_passes + 1}", 0
        shuffled = not all(member.stage.in_any_order for member in waiting)
        with Progress(title, table.n_rows, unit="rows") as progress:
            for piece in _encoded(search, problem, table, shuffled) if in_time else ():
                for member in waiting:
                    member.add(piece, counts)
                progress.advance(piece.n_rows)
                seen += piece.n_rows
                now = time.monotonic()
                if now - began > LEAST_SECONDS:
                    in_time = began + (now - began) * table.n_rows / seen <= deadline
                if not in_time:
                    break
        if in_time:
            n_passes += 1
            waiting = [member for member in waiting if member.end_pass()]
    stopped = [member.name for member in waiting if member.stage.improved]
    names = [member.name for member in members if member not in waiting]
    return Learnt(names + stopped, stopped, n_passes)


@dataclass(frozen=True, slots=True)
class Piece:
    """Labelled rows of a piece of the table, encoded."""

    n_rows: int
    X: Any
    y: np.ndarray
    domains: np.ndarray


def _encoded(
    search: TransferSearchCV, problem: Problem, table: LargeTable, shuffled: bool
) -> Iterator[Piece]:
    encode, features = search.preprocessor_.transform, problem.features.columns
    label = problem.labels.name  # type: ignore[union-attr]
    width = encode(problem.features[:1]).shape[1]
    names = [*features, problem.domain_column, label]
    for piece in table.pieces(names, width=width, shuffled=shuffled):
        y = problem.as_labels(piece[label])
        domains = piece[problem.domain_column].cast(pl.String)
        used = y.is_not_null() & domains.is_in([*problem.sources, str(problem.target)])
        known, answers = piece.filter(used), y.filter(used)
        X = encode(known.select(features)) if known.height else None
        yield Piece(
            piece.height,
            X,
            np.asarray(answers.to_list()),
            domains.filter(used).to_numpy().astype(str),
        )


def predicted(costs: list[Cost], rows: int, what: str) -> float:
    """Extrapolate the cost by a power law fitted to the last two steps, at least linear."""
    last: Any = getattr(costs[-1], what)
    power = POWER
    if len(costs) > 1 and getattr(costs[-2], what) > 0 and last > 0:
        growth = log(last / getattr(costs[-2], what))
        power = min(max(growth / log(costs[-1].rows / costs[-2].rows), 1.0), POWER)
    return last * (rows / costs[-1].rows) ** power


def _peak_bytes() -> float:
    """Peak memory of this process so far; 0 if the system does not report it."""
    try:
        import resource
    except ImportError:  # pragma: no cover - Windows
        return 0.0
    unit = 1 if sys.platform == "darwin" else 1024
    return float(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit)


class PartialFit:
    """An estimator with ``partial_fit``, in one pass."""

    improved = False

    def __init__(self, model: Any):
        # The state of naive Bayes consists of sums, which would count the sample twice.
        self.in_any_order = "max_iter" not in model.get_params()
        self.model = model
        self.learning = clone(model) if self.in_any_order else deepcopy(model)
        self.takes_weight = "sample_weight" in inspect.signature(model.partial_fit).parameters
        self.classes = model.classes_ if is_classifier(model) else None

    def add(self, X: Matrix, y: Vector, weight: Vector) -> None:
        options: dict[str, Any] = {} if self.classes is None else {"classes": self.classes}
        if self.takes_weight and (weight != 1).any():
            options["sample_weight"] = weight
        self.learning.partial_fit(X, y, **options)

    def end_pass(self) -> bool:
        self.model.__dict__.update(self.learning.__dict__)
        return False


class LeastSquares:
    """`LinearRegression`, `Ridge` and `RidgeCV` from the normal equations."""

    in_any_order, improved = True, False

    def __init__(self, model: Any):
        self.model = model
        # A penalty chosen on the sample is kept; with more rows, its choice matters less.
        self.alpha = getattr(model, "alpha_", getattr(model, "alpha", 0.0))
        self.shift: Vector | None = None  # a point near the mean, to avoid cancellation
        self.sums: Matrix | None = None

    def add(self, X: Matrix, y: Vector, weight: Vector) -> None:
        rows = np.column_stack([_dense(X), y])
        if self.shift is None:
            self.shift = rows.mean(axis=0) * self.model.fit_intercept
            self.sums = np.zeros((rows.shape[1] + 1, rows.shape[1] + 1))
        rows = np.column_stack([rows - self.shift, np.ones(len(rows))])
        self.sums += (rows * weight[:, None]).T @ rows

    def end_pass(self) -> bool:
        assert self.sums is not None
        assert self.shift is not None
        total = self.sums[-1, -1]
        mean = self.sums[-1, :-1] / total * self.model.fit_intercept
        centred = self.sums[:-1, :-1] - total * np.outer(mean, mean)
        gram = centred[:-1, :-1] + self.alpha * np.eye(len(centred) - 1)
        # Duplicate columns have no unique solution; the pseudo-inverse gives the shortest one.
        self.model.coef_ = np.linalg.pinv(gram, hermitian=True) @ centred[:-1, -1]
        mean = mean + self.shift
        self.model.intercept_ = 0.0
        if self.model.fit_intercept:
            self.model.intercept_ = float(mean[-1] - mean[:-1] @ self.model.coef_)
        return False


class Newton:
    r"""`LogisticRegression`: a Newton step per pass on :math:`C \sum_i w_i ℓ_i + ‖θ‖²/2`.

    Two classes have one column of parameters, more classes one column each.
    """

    in_any_order = True

    def __init__(self, model: LogisticRegression):
        self.model = model
        self.intercept = int(model.fit_intercept)
        columns = [model.coef_, *([model.intercept_[:, None]] if self.intercept else [])]
        self.current = np.hstack(columns).astype(float)
        self.penalty = np.zeros_like(self.current)
        if model.penalty is not None and np.isfinite(model.C):
            self.penalty[:, : model.coef_.shape[1]] = 1.0 / model.C
        self.accepted, self.lowest = self.current, np.inf
        self.n_steps, self.improved = 0, False
        self._begin()

    def _begin(self) -> None:
        n = self.current.size
        self.loss = 0.5 * float((self.penalty * self.current**2).sum())
        self.gradient = self.penalty * self.current
        self.curvature = np.diag(self.penalty.ravel()).reshape(n, n)

    def add(self, X: Matrix, y: Vector, weight: Vector) -> None:
        X = np.column_stack([_dense(X), np.ones((X.shape[0], self.intercept))])
        position = np.searchsorted(self.model.classes_, y)
        scores = X @ self.current.T
        if scores.shape[1] == 1:  # the other class has the score 0
            scores = np.column_stack([np.zeros(len(X)), scores])
        logs = log_softmax(scores, axis=1)
        self.loss -= float(weight @ logs[np.arange(len(X)), position])
        shares = np.exp(logs)
        errors = shares.copy()
        errors[np.arange(len(X)), position] -= 1
        first = scores.shape[1] - len(self.current)  # 1 for two classes, else 0
        self.gradient += (errors[:, first:] * weight[:, None]).T @ X
        d = X.shape[1]
        for a in range(len(self.current)):
            for b in range(a + 1):
                p, q = shares[:, first + a], shares[:, first + b]
                block = (X * (weight * p * ((a == b) - q))[:, None]).T @ X
                self.curvature[a * d : (a + 1) * d, b * d : (b + 1) * d] += block
                if a != b:
                    self.curvature[b * d : (b + 1) * d, a * d : (a + 1) * d] += block.T

    def end_pass(self) -> bool:
        self.n_steps += 1
        if self.loss > self.lowest * (1 + 1e-12):  # the step was too long
            self.current = self.accepted + (self.current - self.accepted) / 4
            self._begin()
            return self.n_steps < MOST_STEPS
        self.improved = np.isfinite(self.lowest)
        self.accepted, self.lowest = self.current, self.loss
        # Adding the same number to the scores of all classes changes nothing, so the matrix is
        # singular.
        step = np.linalg.lstsq(self.curvature, self.gradient.ravel(), rcond=None)[0]
        self.current = self.current - step.reshape(self.current.shape)
        size = max(1.0, float(np.abs(self.current).max()))
        is_last = bool(np.abs(step).max() <= LAST_STEP * size)
        self._set(self.current if is_last else self.accepted)
        self._begin()
        return not is_last and self.n_steps < MOST_STEPS

    def _set(self, parameters: Matrix) -> None:
        n_columns = parameters.shape[1] - self.intercept
        self.model.coef_ = parameters[:, :n_columns].copy()
        if self.intercept:
            self.model.intercept_ = parameters[:, -1].copy()


# A stage learns rows with `add`. `end_pass` changes the model and tells whether another pass is
# needed; an `improved` model can be used before it.
Stage: TypeAlias = PartialFit | LeastSquares | Newton


def stage_of(model: Any) -> Stage | None:
    """Stage that learns a fitted estimator in passes; None if it needs all rows at once."""
    options = model.get_params(deep=False) if hasattr(model, "get_params") else {}
    if options.get("class_weight") is not None or options.get("positive"):
        return None
    n_columns = getattr(model, "n_features_in_", 0)
    if type(model) is LogisticRegression:
        plain = model.penalty != "l1" and not model.l1_ratio and model.solver != "liblinear"
        small = len(model.coef_) * (n_columns + 1) <= MOST_PARAMETERS
        return Newton(model) if plain and small else None
    if type(model) in (LinearRegression, Ridge, RidgeCV):
        plain = np.ndim(model.coef_) == 1 and np.ndim(options.get("alpha", 0.0)) == 0
        return LeastSquares(model) if plain and n_columns <= MOST_PARAMETERS else None
    # With early stopping some rows are held out, and `partial_fit` refuses.
    if hasattr(model, "partial_fit") and not options.get("early_stopping"):
        return PartialFit(model)
    return None


def _dense(X: Matrix) -> Matrix:
    rows = X.toarray() if sparse.issparse(X) else X
    return np.asarray(rows, dtype=float)
