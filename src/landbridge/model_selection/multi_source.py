"""Multiple-source cross-validation: train without each source, judge on it.

Geras and Sutton, *Multiple-source cross-validation*: CVS, and CVR for comparison.
"""

import logging
import time
import warnings
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal, Self

import numpy as np
from sklearn.base import BaseEstimator, MetaEstimatorMixin, is_regressor
from sklearn.model_selection._search import BaseSearchCV
from sklearn.model_selection._split import GroupsConsumerMixin
from sklearn.utils import _safe_indexing, check_random_state, indexable
from sklearn.utils.validation import _num_samples, has_fit_parameter

from landbridge._delegate import clone_with_seed
from landbridge._parallel import iterate_tasks, spawn_seeds
from landbridge._typing import MatrixLike, RandomState, Vector, VectorLike
from landbridge._validation import check_choice, check_estimator_given, missing_values
from landbridge.exceptions import FailedFitWarning
from landbridge.inference.sources import encode_groups, require_two_sources
from landbridge.model_selection.losses import Loss, check_loss, pointwise_loss
from landbridge.model_selection.multi_source_result import Comparison, MultiSourceResult
from landbridge.model_selection.roles import Training, fit_with_target, steps_that_take
from landbridge.model_selection.tables import plain_labels

log = logging.getLogger(__name__)


@dataclass(frozen=True)
class Folds:
    """Checked rows with the source and the fold of each; X is left as it was given."""

    X: MatrixLike
    y: Vector
    source_names: Vector
    source: Vector
    fold: Vector

    @property
    def n_folds(self) -> int:
        return int(self.fold.max()) + 1


class MultiSourceCV(MetaEstimatorMixin, BaseEstimator):
    """How well does an estimator do on a source it has never seen, and how sure are we?

    Train on all sources but k, judge on source k, for each of the K sources (CVS). With
    e_ki the loss on row i of source k, the estimate is the mean of the source means,

        μ̂ = (1/K) Σ_k (1/M_k) Σ_i e_ki,

    which is the expected loss on a new source after training on K − 1 of them (Section 4.1).
    ``scheme="random"`` deals the rows into K random blocks instead (CVR): that is the error on
    the sources one already has, and optimistic for a new one.

    Parameters
    ----------
    estimator : classifier, regressor, pipeline or search
        Cloned for every fold. Where its ``fit`` takes ``groups``, it is given those of the training
        rows.
    loss : {"zero_one", "log", "absolute", "squared"} or callable, default="zero_one"
        Pointwise loss; a callable is given ``(y, predicted)`` and returns one number a row.
    scheme : {"source", "random"}, default="source"
        Leave out sources, or random blocks for comparison.
    unlabeled_target : bool, default=False
        Give the rows of the left-out source, without labels, to the estimator's ``fit`` as
        ``X_unlabeled``, as a transfer estimator would see them.
    n_jobs : int, default=None
        Number of folds that are fitted at the same time; the answer does not depend on it.
    random_state : int, RandomState instance or None, default=None
        Deals the random blocks and, if given, sets unset random states of the estimator by fold.

    Attributes
    ----------
    result_ : MultiSourceResult
        Pointwise losses, intervals, variances; ``print`` it for the answers in words.

    Notes
    -----
    A fit that fails is recorded in ``result_.failures`` with a `FailedFitWarning`; its source is
    left out of every estimate. If fewer than two sources remain, ``fit`` raises.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.linear_model import LogisticRegression
    >>> from landbridge import MultiSourceCV
    >>> rng = np.random.default_rng(0)
    >>> groups = np.repeat(["a", "b", "c", "d", "e", "f"], 100)
    >>> slope = np.repeat(rng.normal(2, 1, size=6), 100)
    >>> X = rng.normal(size=(600, 1))
    >>> y = np.where(slope * X[:, 0] + rng.logistic(size=600) > 0, "ill", "well")
    >>> cv = MultiSourceCV(LogisticRegression()).fit(X, y, groups=groups)
    >>> cv.result_.source_means.round(2)
    array([0.19, 0.19, 0.16, 0.23, 0.29, 0.21])
    >>> answer = cv.result_.interval("new_source", level=0.9)
    >>> print(answer.describe(why=False))
    Expected error on a new source: 0.21, 90 % between 0.11 and 0.31
    >>> answer.advice()
    'noise within sources dominates: more rows in each source help'
    """

    def __init__(
        self,
        estimator: Any,
        loss: Loss = "zero_one",
        scheme: Literal["source", "random"] = "source",
        unlabeled_target: bool = False,
        n_jobs: int | None = None,
        random_state: RandomState = None,
    ):
        self.estimator = estimator
        self.loss = loss
        self.scheme = scheme
        self.unlabeled_target = unlabeled_target
        self.n_jobs = n_jobs
        self.random_state = random_state

    def fit(self, X: MatrixLike, y: VectorLike, *, groups: VectorLike) -> Self:
        """Fit the estimator without each source and judge it there.

        Parameters
        ----------
        X : array, table, CSR matrix or list of length n_rows
            Handed to the estimator as it is, so that pipelines can start from raw tables or texts.
        y : array of length n_rows
        groups : array of length n_rows
            The source of each row.
        """
        check_choice(self.scheme, "scheme", ("source", "random"))
        rng = None if self.random_state is None else check_random_state(self.random_state)
        folds = deal_folds(X, y, groups, self.scheme, rng)
        losses, seconds, failures = judge(
            [self.estimator],
            folds,
            loss=self.loss,
            unlabeled_target=self.unlabeled_target,
            n_jobs=self.n_jobs,
            random_state=rng,
        )
        self.result_ = MultiSourceResult(
            losses=losses[0],
            source=folds.source,
            source_names=folds.source_names,
            fold=folds.fold,
            seconds=seconds[0],
            failures=tuple((fold, message) for _, fold, message in failures),
            loss=loss_name(self.loss),
            scheme=self.scheme,
            estimator=_short(self.estimator),
        )
        return self


def compare_estimators(
    a: Any,
    b: Any,
    X: MatrixLike,
    y: VectorLike,
    *,
    groups: VectorLike,
    loss: Loss = "zero_one",
    unlabeled_target: bool = False,
    n_jobs: int | None = None,
    random_state: RandomState = None,
) -> Comparison:
    """Compare two or more estimators on sources that they have not seen.

    All are trained without source k and judged on the same rows of it, for every k; the tests rest
    on the paired differences of the source means.

    Parameters
    ----------
    a, b : estimators, or dictionaries of them by name
        ``b`` may be None when ``a`` is a dictionary of several.
    X, y, groups, loss, unlabeled_target, n_jobs, random_state
        As in `MultiSourceCV`.

    Returns
    -------
    Comparison
        ``pairs()`` tests every pair with Holm's correction, ``friedman()`` ranks three or more,
        ``result(name)`` has the intervals of one; ``print`` it for the answers in words.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.dummy import DummyClassifier
    >>> from sklearn.naive_bayes import GaussianNB
    >>> from landbridge import compare_estimators
    >>> rng = np.random.default_rng(0)
    >>> groups, X = np.repeat(np.arange(6), 50), rng.normal(size=(300, 2))
    >>> y = X[:, 0] + rng.normal(size=300) > 0
    >>> comparison = compare_estimators(GaussianNB(), DummyClassifier(), X, y, groups=groups)
    >>> comparison.pairs()[0].p_value < 0.05
    True
    """
    estimators = _named_estimators(a, b)
    rng = None if random_state is None else check_random_state(random_state)
    folds = deal_folds(X, y, groups, "source", None)
    losses, seconds, failures = judge(
        list(estimators.values()),
        folds,
        loss=loss,
        unlabeled_target=unlabeled_target,
        n_jobs=n_jobs,
        random_state=rng,
    )
    names = np.array(list(estimators))
    return Comparison(
        names=names,
        losses=losses,
        source=folds.source,
        source_names=folds.source_names,
        seconds=seconds,
        failures=tuple((str(names[who]), fold, message) for who, fold, message in failures),
        loss=loss_name(loss),
    )


def deal_folds(
    X: MatrixLike,
    y: VectorLike,
    groups: VectorLike,
    scheme: str,
    rng: np.random.RandomState | None,
) -> Folds:
    """Check lengths, labels and groups and give every row its fold."""
    if y is None:
        raise ValueError("`y` must hold the label of each row; got None. Pass y.")
    (X,) = indexable(X)
    y = plain_labels(y)
    if y.ndim == 2 and y.shape[1] == 1:
        y = y.ravel()
    n_rows = _num_samples(X)
    if y.shape[0] != n_rows:
        raise ValueError(
            f"`y` must have one label for each of the {n_rows} rows of X; got {y.shape[0]}. "
            "Pass the labels of the same rows."
        )
    missing = missing_values(y.ravel())
    if missing.any():
        raise ValueError(
            f"`y` must have a label for every row; got {missing.sum()} missing. "
            "Drop the rows without a label."
        )
    names, source = encode_groups(groups, n_rows)
    require_two_sources(names)
    fold = source if scheme == "source" else random_blocks(n_rows, len(names), rng)
    return Folds(X, y, names, source, fold)


def random_blocks(n_rows: int, n_blocks: int, rng: np.random.RandomState | None) -> Vector:
    """CVR: a random partition into blocks whose sizes differ by one at most."""
    fresh = np.random.default_rng() if rng is None else rng
    return fresh.permutation(np.arange(n_rows) % n_blocks)


def judge(
    estimators: list[Any],
    folds: Folds,
    *,
    loss: Loss,
    unlabeled_target: bool,
    n_jobs: int | None,
    random_state: np.random.RandomState | None,
) -> tuple[np.ndarray, np.ndarray, list[tuple[int, str, str]]]:
    """Losses (estimators × rows), seconds (estimators × folds) and failures (who, fold, message).

    A fold has the same seed for every estimator.
    """
    for estimator in estimators:
        check_estimator_given(estimator)
        check_loss(loss, "regression" if is_regressor(estimator) else "classification")
        if unlabeled_target:
            _require_unlabeled(estimator)
    n_folds = folds.n_folds
    seeds = [None] * n_folds if random_state is None else spawn_seeds(random_state, n_folds)
    tasks = [(who, k) for who in range(len(estimators)) for k in range(n_folds)]
    answers = iterate_tasks(
        judge_fold,
        ((estimators[who], folds, k, loss, unlabeled_target, seeds[k]) for who, k in tasks),
        n_jobs=n_jobs,
    )
    names = [_short(estimator) for estimator in estimators]
    losses = np.full((len(estimators), len(folds.y)), np.nan)
    seconds = np.zeros((len(estimators), n_folds))
    failures = []
    for (who, k), (values, taken, message) in zip(tasks, answers, strict=True):
        losses[who, folds.fold == k] = values
        seconds[who, k] = taken
        log.info("%s, fold %d of %d: %.2f s", names[who], k + 1, n_folds, taken)
        if message:
            failures.append((who, _fold_name(folds, k), message))
    _report_failures(failures, n_folds, len(estimators))
    return losses, seconds, failures


def judge_fold(
    estimator: Any, folds: Folds, k: int, loss: Loss, unlabeled_target: bool, seed: int | None
) -> tuple[Vector | float, float, str]:
    """Fit without fold k and judge on it: losses, seconds and what went wrong, if anything."""
    started = time.perf_counter()
    train, test = np.flatnonzero(folds.fold != k), np.flatnonzero(folds.fold == k)
    X_test = _safe_indexing(folds.X, test)
    rows = Training(
        _safe_indexing(folds.X, train),
        folds.y[train],
        X_unlabeled=X_test if unlabeled_target else None,
    )
    options = {}
    if _takes_groups(estimator):
        options["groups"] = folds.source_names[folds.source[train]]
    try:
        model = fit_with_target(clone_with_seed(estimator, seed), rows, **options)
        losses = pointwise_loss(loss, model, X_test, folds.y[test])
    except Exception as error:
        return np.nan, time.perf_counter() - started, f"{type(error).__name__}: {error}"
    return losses, time.perf_counter() - started, ""


def loss_name(loss: Loss) -> str:
    """The loss as it is written into results."""
    return getattr(loss, "__name__", type(loss).__name__) if callable(loss) else loss


def _report_failures(failures: list[tuple[int, str, str]], n_folds: int, n_estimators: int) -> None:
    if not failures:
        return
    failed = {fold for _, fold, _ in failures}
    _, fold, message = failures[0]
    if n_folds - len(failed) < 2:
        raise ValueError(
            f"`estimator` must fit on at least 2 of the {n_folds} sources left out; got "
            f"{len(failed)} failures, the first without {fold}: {message}"
        )
    warnings.warn(
        f"{len(failures)} of {n_folds * n_estimators} fits failed, the first without {fold} "
        f"({message}). Those sources are left out of every estimate and interval.",
        FailedFitWarning,
        stacklevel=4,
    )


def _fold_name(folds: Folds, k: int) -> str:
    if folds.fold is folds.source:
        return repr(folds.source_names[k].item())
    return f"block {k}"


def _named_estimators(a: Any, b: Any) -> dict[str, Any]:
    named: dict[str, Any] = {}
    for given in (a, b):
        if given is None:
            continue
        if not isinstance(given, Mapping):
            name = type(given).__name__
            given = {name if name not in named else f"{name}_2": given}
        for name, estimator in given.items():
            if name in named:
                raise ValueError(
                    f"`b` must not use the names of a again; got {name!r} in both. Rename one."
                )
            named[str(name)] = estimator
    if len(named) < 2:
        raise ValueError(
            f"`a` and `b` must hold at least 2 estimators together; got {len(named)}. "
            "Use MultiSourceCV to judge one."
        )
    return named


def _takes_groups(estimator: Any) -> bool:
    if isinstance(estimator, BaseSearchCV):  # other splitters warn about groups or refuse them
        return isinstance(estimator.cv, GroupsConsumerMixin)
    return has_fit_parameter(estimator, "groups")


def _require_unlabeled(estimator: Any) -> None:
    if not steps_that_take(estimator, "X_unlabeled"):
        raise ValueError(
            "`estimator` must take X_unlabeled in fit with unlabeled_target=True; got "
            f"{type(estimator).__name__}, which does not. Pass a transfer estimator, or leave "
            "unlabeled_target out."
        )


def _short(estimator: Any) -> str:
    """The estimator on one line."""
    return " ".join(repr(estimator).split())
