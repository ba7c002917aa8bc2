"""TrAdaBoost for regression (Pardoe and Stone 2010): TrAdaBoost.R2 and its two-stage form."""

from collections.abc import Iterator
from typing import Any

import numpy as np
from scipy.optimize import brentq
from sklearn.base import MetaEstimatorMixin, RegressorMixin
from sklearn.model_selection import KFold
from sklearn.tree import DecisionTreeRegressor
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from landbridge._delegate import check_learns
from landbridge._transfer_estimator import WeightedTransferEstimator
from landbridge._typing import Matrix, MatrixLike, RandomState, Vector
from landbridge._validation import (
    TransferData,
    check_choice,
    check_count,
    check_rows,
    warn_no_target,
)
from landbridge.boosting import weight_updates as formula
from landbridge.boosting.base_learners import AnyLearner
from landbridge.boosting.tradaboost import (
    CLIP,
    Correction,
    Rules,
    boost,
    check_correction,
    warn_few_rows,
    warn_weak_learner,
)
from landbridge.boosting.voting import Boosted, first_voter

LARGEST_DECAY = 1e12
# Number of folds of the target rows that the two-stage form uses to choose its step.
N_FOLDS = 5


def adjusted_errors(y: Vector, predicted: Vector) -> Vector:
    """|y − h(x)|/D, where D is the largest error; between 0 and 1."""
    error = np.abs(y - predicted)
    largest = error.max()
    return error / largest if largest > 0 else error


def weighted_median(predictions: Vector, weights: Vector) -> Vector:
    """Weighted median per row: the smallest prediction at which half of the weight is reached."""
    order = np.argsort(predictions, axis=1)
    running = np.cumsum(weights[order], axis=1)
    middle = (running >= 0.5 * running[:, -1:]).argmax(axis=1)
    rows = np.arange(len(predictions))
    return predictions[rows, order[rows, middle]]


def decay_for_share(source: Vector, errors: Vector, target_mass: float, share: float) -> float:
    """λ = log(1/β) such that Σ w_src β^e leaves the target with ``share`` of all weight.

    Infinite if no finite λ reaches the share, either because the source must be removed completely
    or because source rows without error weigh too much.
    """
    wanted = target_mass * (1.0 - share) / share

    def excess(decay: float) -> float:
        return float(source @ np.exp(-decay * errors) - wanted)

    if excess(0.0) <= 0.0:
        return 0.0
    high = 1.0
    while excess(high) > 0.0:
        high *= 4.0
        if high > LARGEST_DECAY:
            return np.inf
    return float(brentq(excess, 0.0, high))


def decayed(source: Vector, errors: Vector, decay: float) -> Vector:
    """Update w ← w · β^e; all weights are 0 if λ is infinite."""
    if np.isinf(decay):
        return np.full(source.size, formula.TINY)
    return np.maximum(source * np.exp(-decay * errors), formula.TINY)


class WeightedRegressor(AnyLearner):
    """Any regressor, judged by the size of its errors."""

    def mistakes(self, estimator: Any, inside: Vector | None = None) -> Vector:
        """Adjusted errors on the rows ``inside`` (default: all)."""
        X, y = (self.X, self.y) if inside is None else (self.X[inside], self.y[inside])
        return adjusted_errors(y, estimator.predict(X))


def boost_target(
    learner: WeightedRegressor, weights: Vector, n_source: int, n_rounds: int, inside: Vector
) -> Boosted:
    """AdaBoost.R2′: AdaBoost.R2 that never changes the weights of the source rows.

    Rows that are not ``inside`` are ignored, even for the largest error.
    """
    weights, done = weights.copy(), Boosted()
    in_target = inside >= n_source
    target = inside[in_target]
    mass = weights[target].sum()
    floor = 0.5 / formula.row_count(learner.row_weights[inside])
    while len(done.estimators) < n_rounds:
        estimator = learner.fit(weights, inside)
        mistakes = learner.mistakes(estimator, inside)
        error = formula.weighted_error(weights[inside], mistakes)
        if error >= formula.error_limit(2) and done.estimators:
            break
        vote = formula.vote_weight(min(error, CLIP / 2), floor=floor)
        done.add(estimator, vote, error)
        if not mistakes[in_target].any():
            break
        weights[target] = formula.update_target(weights[target], mistakes[in_target], vote)
        weights[target] *= mass / weights[target].sum()
    return done


def target_shares(n_source: float, n_target: float, n_steps: int) -> Iterator[float]:
    """Share of the target after each step: from m/(n + m) to 1 in equal steps."""
    start = n_target / (n_source + n_target)
    for step in range(1, n_steps):
        yield start + step / (n_steps - 1) * (1.0 - start)


class TrAdaBoostRegressor(MetaEstimatorMixin, RegressorMixin, WeightedTransferEstimator):
    """TrAdaBoost for regression, with weights updated by the size of the errors.

    With ``e_i = |y_i − h(x_i)| / max_j |y_j − h(x_j)|`` in place of a misclassification, the
    updates are

        w_src ← C_t · w_src · β_src^e,     w_tar ← w_tar · β_t^(−e),     β_t = ε_t/(1 − ε_t),

    where ε_t is the weighted mean of e over the target rows and C_t is as in
    `TrAdaBoostClassifier`. The prediction is the weighted median of the rounds ⌈N/2⌉ … N. The
    method is useful if part of the source contradicts the target. On nine pairs of domains with 60
    target labels its RMSE was 9 % of a standard deviation above that of pooled gradient boosting
    (benchmark ``defaults``).

    The two-stage form reduces the weight of the source in ``n_steps`` steps, choosing β_t so that
    the share of the target grows from m/(n + m) to 1. Each step runs AdaBoost.R2 with fixed source
    weights, and the step with the smallest cross-validated target error is kept.

    Without labelled target rows it is AdaBoost.R2 (with weights, not resampling) on the source,
    with a warning. Unlabelled rows are ignored.

    Parameters
    ----------
    estimator : regressor, default=None
        Base learner; ``None`` is ``DecisionTreeRegressor(max_depth=6)``.
    n_estimators : int, default=30
        Number of rounds (in the two-stage form, of each AdaBoost.R2).
    variant : {"r2", "two_stage"}, default="r2"
        TrAdaBoost.R2 or two-stage TrAdaBoost.R2.
    correction : {"dynamic", "paper", "none"} or float, default="dynamic"
        C_t of the R2 form; "none" is the published TrAdaBoost.R2. See `TrAdaBoostClassifier`.
    n_steps : int, default=10
        Steps of the two-stage form.
    random_state : int, RandomState or None, default=None
        Controls the randomness of the base learners and the sampling of rows by weight, not the
        folds.

    Attributes
    ----------
    estimators_, estimator_weights_ : the voting learners and their weights.
    errors_ : ε_t of each round (two-stage: of the chosen step).
    source_mass_ : share of all weight on source rows, before each round or step.
    n_estimators_, stop_reason_ : rounds made, and why they ended.
    cv_errors_, best_step_ : mean absolute error of each step and the chosen one; two-stage form.

    Notes
    -----
    Deviation 1: ``correction="dynamic"`` is not part of Pardoe and Stone's method. It carries over
    from classification because this form of C_t depends only on weights. Deviation 2: ε_t is at
    least 1/(2m), as in `TrAdaBoostClassifier`. Deviation 3: ``sample_weight`` and
    ``sample_weight_target`` count as in `TrAdaBoostClassifier`. They also weight the
    cross-validated error of the two-stage form.

    References
    ----------
    Pardoe and Stone, *Boosting for Regression Transfer*, ICML 2010.

    Examples
    --------
    >>> import numpy as np
    >>> from landbridge import TrAdaBoostRegressor
    >>> rng = np.random.default_rng(0)
    >>> X, X_target = rng.uniform(size=(200, 1)), rng.uniform(size=(20, 1))
    >>> model = TrAdaBoostRegressor(n_estimators=10).fit(
    ...     X, X[:, 0], X_target=X_target, y_target=X_target[:, 0] + 0.1)
    >>> model.predict([[0.5]]).shape
    (1,)
    """

    _transfer_checks = {"task": "regression"}

    def __init__(
        self,
        estimator: Any = None,
        n_estimators: int = 30,
        variant: str = "r2",
        correction: Correction = "dynamic",
        n_steps: int = 10,
        random_state: RandomState = None,
    ):
        self.estimator = estimator
        self.n_estimators = n_estimators
        self.variant = variant
        self.correction = correction
        self.n_steps = n_steps
        self.random_state = random_state

    def _fit_transfer(self, data: TransferData) -> None:
        """Boost on ``X, y`` and ``X_target, y_target``."""
        n_source = 0
        if data.X_target is None:
            warn_no_target(self, "AdaBoost.R2 fitted on X")
        else:
            warn_few_rows(data.y_target.size)
            n_source = data.X.shape[0]
        learner = self._learner(data)
        if self.variant == "two_stage" and n_source:
            self._fit_two_stages(learner, n_source)
        else:
            self._fit_r2(learner, n_source)

    def _check_parameters(self) -> None:
        check_count(self.n_estimators, "n_estimators")
        check_correction(self.correction)
        check_choice(self.variant, "variant", ("r2", "two_stage"))
        check_count(self.n_steps, "n_steps", least=2)

    def _learner(self, data: TransferData) -> WeightedRegressor:
        base = DecisionTreeRegressor(max_depth=6) if self.estimator is None else self.estimator
        check_learns(base, "regressor")
        rng = check_random_state(self.random_state)
        labels = data.labels.astype(np.float64)
        return WeightedRegressor(base, data.labelled_rows, labels, rng, data.row_weights)

    def _fit_r2(self, learner: WeightedRegressor, n_source: int) -> None:
        rules = Rules(self.n_estimators, self.correction)
        codes = np.zeros(learner.y.size, dtype=np.intp)
        done = boost(learner, codes, n_source, 2, rules, learner.row_weights)
        self._keep(done, first_voter(len(done.estimators), "second_half"))
        warn_weak_learner(done, 2)

    def _fit_two_stages(self, learner: WeightedRegressor, n_source: int) -> None:
        n_rows, given = learner.y.size, learner.row_weights
        weights = given / given.sum()
        models, scores, source_mass = [], [], []
        masses = given[:n_source].sum(), given[n_source:].sum()
        shares = [*target_shares(*masses, self.n_steps), None]
        for share in shares:
            source_mass.append(float(weights[:n_source].sum()))
            models.append(
                boost_target(learner, weights, n_source, self.n_estimators, np.arange(n_rows))
            )
            scores.append(self._cross_validate(learner, weights, n_source))
            if share is not None:
                source, target = weights[:n_source], weights[n_source:]
                errors = learner.mistakes(learner.fit(weights))[:n_source]
                source[:] = decayed(
                    source, errors, decay_for_share(source, errors, target.sum(), share)
                )
                weights /= weights.sum()
        self.cv_errors_ = np.array(scores)
        self.best_step_ = int(self.cv_errors_.argmin())
        done = models[self.best_step_]
        done.source_mass = source_mass
        self._keep(done, 0)

    def _cross_validate(self, learner: WeightedRegressor, weights: Vector, n_source: int) -> float:
        n_target = weights.size - n_source
        if n_target == 1:
            return 0.0
        folds = KFold(min(N_FOLDS, n_target), shuffle=True, random_state=0)
        losses, given = [], learner.row_weights[n_source:]
        for train, test in folds.split(np.arange(n_target)):
            inside = np.concatenate([np.arange(n_source), n_source + train])
            scaled = weights.copy()
            scaled[n_source + train] *= given.sum() / given[train].sum()
            done = boost_target(learner, scaled, n_source, self.n_estimators, inside)
            held_out = n_source + test
            predicted = _median_of(done.estimators, np.array(done.votes), learner.X[held_out])
            losses.append((given[test] * np.abs(predicted - learner.y[held_out])).sum())
        return float(np.sum(losses) / given.sum())

    def _keep(self, done: Boosted, first: int) -> None:
        self.n_estimators_ = len(done.estimators)
        self.stop_reason_ = done.stop_reason
        self.estimators_ = done.estimators[first:]
        self.estimator_weights_ = np.array(done.votes[first:])
        self.errors_ = np.array(done.errors)
        self.source_mass_ = np.array(done.source_mass)

    def predict(self, X: MatrixLike) -> Vector:
        """Weighted median of the predictions of the voting learners.

        Returns
        -------
        ndarray of shape (n_rows,)
            Predicted values.
        """
        check_is_fitted(self, "estimators_")
        return _median_of(self.estimators_, self.estimator_weights_, check_rows(self, X))


def _median_of(estimators: list[Any], weights: Vector, X: Matrix) -> Vector:
    return weighted_median(np.column_stack([e.predict(X) for e in estimators]), weights)
