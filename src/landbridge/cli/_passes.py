r"""Fit estimators in a few passes over rows that come in pieces.

A stage receives the rows of each pass piece by piece and then reports whether it needs another:

- scalers and estimators with ``partial_fit`` take one pass. Those that iterate (stochastic gradient
  descent, neural networks) continue from the fit on a sample; the others start from scratch;
- least squares needs :math:`X^\top W X` and :math:`X^\top W y`, one pass; `RidgeCV` takes a second
  one for the leave-one-out errors of all penalties;
- logistic regression takes a Newton step per pass. It begins at the fit on a sample, which is
  close to the optimum on all rows, so that a few steps suffice.

Least squares and logistic regression reach the same optimum as ``fit`` on all rows.
"""

import inspect
from collections.abc import Callable
from copy import deepcopy
from typing import Any, Protocol

import numpy as np
from scipy import sparse
from scipy.special import log_softmax
from sklearn.base import clone, is_classifier
from sklearn.linear_model import LinearRegression, LogisticRegression, Ridge, RidgeCV
from sklearn.pipeline import Pipeline

from landbridge._typing import Matrix, Vector

# Maximum number of parameters; the matrix of second derivatives then takes 32 MB.
MOST_PARAMETERS = 2000
# Maximum number of Newton steps, and the relative step size at which they stop. Convergence is
# quadratic, so the remaining error is about the square of the last step.
MOST_STEPS, LAST_STEP = 15, 1e-5


class Stage(Protocol):
    """One part of a model that learns in passes; it changes the model that it was given."""

    in_any_order: bool

    def add(self, X: Matrix, y: Vector, weight: Vector) -> None:
        """Learn from the next rows."""

    def end_pass(self) -> bool:
        """Whether another pass is needed."""


class PartialFit:
    """An estimator or a scaler with ``partial_fit``, in one pass."""

    def __init__(self, model: Any):
        # The state of naive Bayes or of a scaler consists of sums, which would count the sample
        # twice.
        self.in_any_order = "max_iter" not in model.get_params()
        self.model = model
        self.learning = clone(model) if self.in_any_order else deepcopy(model)
        self.takes_weight = "sample_weight" in inspect.signature(model.partial_fit).parameters
        self.classes = model.classes_ if is_classifier(model) else None

    def add(self, X: Matrix, y: Vector, weight: Vector) -> None:
        options: dict[str, Any] = {} if self.classes is None else {"classes": self.classes}
        if not hasattr(self.model, "predict"):  # a scaler, which is fitted without weights
            self.learning.partial_fit(X)
            return
        if self.takes_weight and (weight != 1).any():
            options["sample_weight"] = weight
        self.learning.partial_fit(X, y, **options)

    def end_pass(self) -> bool:
        self.model.__dict__.update(self.learning.__dict__)
        return False


class LeastSquares:
    """`LinearRegression`, `Ridge` and `RidgeCV` from the normal equations."""

    in_any_order = True

    def __init__(self, model: Any):
        self.model = model
        self.alphas = np.atleast_1d(getattr(model, "alphas", getattr(model, "alpha", 0.0)))
        self.shift: Vector | None = None  # a point near the mean, to avoid cancellation
        self.sums: Matrix | None = None
        self.errors: Vector | None = None  # sums of squared leave-one-out errors, pass 2

    def add(self, X: Matrix, y: Vector, weight: Vector) -> None:
        rows = np.column_stack([_dense(X), y])
        if self.shift is None:
            self.shift = rows.mean(axis=0) * self.model.fit_intercept
            self.sums = np.zeros((rows.shape[1] + 1, rows.shape[1] + 1))
        rows = np.column_stack([rows - self.shift, np.ones(len(rows))])
        if self.errors is None:
            self.sums += (rows * weight[:, None]).T @ rows
        else:
            self.errors += self._squared_errors(rows, weight)

    def end_pass(self) -> bool:
        if self.errors is None:
            self._solve()
            if self.alphas.size > 1:
                self.errors = np.zeros(self.alphas.size)
                return True
        best = 0 if self.errors is None else int(np.argmin(self.errors))
        assert self.shift is not None
        coef = self.coefs[best]
        self.model.coef_ = coef
        mean = self.shift[:-1] + self.mean[:-1]
        self.model.intercept_ = 0.0
        if self.model.fit_intercept:
            self.model.intercept_ = float(self.shift[-1] + self.mean[-1] - mean @ coef)
        if isinstance(self.model, RidgeCV):
            self.model.alpha_ = float(self.alphas[best])
        return False

    def _solve(self) -> None:
        r"""Coefficients and inverse of :math:`X^\top W X + αI`, for every penalty α."""
        assert self.sums is not None
        self.total = self.sums[-1, -1]
        self.mean = self.sums[-1, :-1] / self.total * self.model.fit_intercept
        centred = self.sums[:-1, :-1] - self.total * np.outer(self.mean, self.mean)
        gram = centred[:-1, :-1]
        # Duplicate columns have no unique solution; the pseudo-inverse gives the shortest one.
        self.inverses = [
            np.linalg.pinv(gram + alpha * np.eye(len(gram)), hermitian=True)
            for alpha in self.alphas
        ]
        self.coefs = [inverse @ centred[:-1, -1] for inverse in self.inverses]

    def _squared_errors(self, rows: Matrix, weight: Vector) -> Vector:
        r"""Weighted squares of :math:`r_i / (1 - h_i)`, which are leave-one-out errors."""
        X, y = rows[:, :-2] - self.mean[:-1], rows[:, -2] - self.mean[-1]
        found = np.empty(self.alphas.size)
        for number, (coef, inverse) in enumerate(zip(self.coefs, self.inverses, strict=True)):
            leverage = weight * ((X @ inverse) * X).sum(axis=1)
            leverage += weight / self.total * self.model.fit_intercept
            found[number] = (weight * ((y - X @ coef) / (1 - leverage)) ** 2).sum()
        return found


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


class Passes:
    """All stages of one model. They work on a copy, which replaces the model at the end."""

    def __init__(self, model: Any):
        self.model, self.copy = model, deepcopy(model)
        steps = [step for _, step in self.copy.steps] if isinstance(self.copy, Pipeline) else []
        self.before = [step for step in steps[:-1] if hasattr(step, "transform")]
        self.last = steps[-1] if steps else self.copy
        # Scalers learn from all rows; other transformers stay as fitted on the sample.
        self.stages: list[tuple[int, Callable[[Any], Stage], Any]] = [
            (place, PartialFit, step)
            for place, step in enumerate(self.before)
            if hasattr(step, "partial_fit")
        ]
        kind = stage_of(self.last)
        assert kind is not None
        self.stages.append((len(self.before), kind, self.last))
        self.in_any_order = kind is not PartialFit or PartialFit(self.last).in_any_order
        self.current: Stage | None = None
        self.n_passes = 0

    def add(self, X: Matrix, y: Vector, weight: Vector) -> None:
        """Give rows to the stage that learns in this pass."""
        place, kind, step = self.stages[0]
        if self.current is None:
            self.current = kind(step)
        for transformer in self.before[:place]:
            X = transformer.transform(X)
        self.current.add(X, y, weight)

    def end_pass(self) -> bool:
        """Whether another pass is needed; if not, the fitted copy replaces the model."""
        self.n_passes += 1
        if self.current is None:  # there was no row for this model
            return False
        if self.current.end_pass():
            return True
        self.stages.pop(0)
        self.current = None
        if not self.stages:
            self.install()
        return bool(self.stages)

    def stop(self) -> bool:
        """Stop early; return whether at least one Newton step improved the model."""
        usable = isinstance(self.current, Newton) and self.current.improved
        if usable:
            self.install()
        return usable

    def install(self) -> None:
        self.model.__dict__.update(self.copy.__dict__)


def stage_of(model: Any) -> Callable[[Any], Stage] | None:
    """Stage of a fitted estimator or of a pipeline's last step; None if it needs all rows."""
    if isinstance(model, Pipeline):
        return stage_of(model.steps[-1][1])
    options = model.get_params(deep=False) if hasattr(model, "get_params") else {}
    if options.get("class_weight") is not None or options.get("positive"):
        return None
    n_columns = getattr(model, "n_features_in_", 0)
    if type(model) is LogisticRegression:
        plain = model.penalty != "l1" and not model.l1_ratio and model.solver != "liblinear"
        small = len(model.coef_) * (n_columns + 1) <= MOST_PARAMETERS
        return Newton if plain and small else None
    if type(model) in (LinearRegression, Ridge, RidgeCV):
        plain = np.ndim(model.coef_) == 1 and np.ndim(options.get("alpha", 0.0)) == 0
        plain &= options.get("cv") is None and options.get("scoring") is None
        return LeastSquares if plain and n_columns <= MOST_PARAMETERS else None
    # With early stopping some rows are held out, and `partial_fit` refuses.
    if hasattr(model, "partial_fit") and not options.get("early_stopping"):
        return PartialFit
    return None


def _dense(X: Matrix) -> Matrix:
    rows = X.toarray() if sparse.issparse(X) else X
    return np.asarray(rows, dtype=float)
