"""The search for the source, the algorithm and its parameters."""

import time
import warnings
from collections.abc import Iterable
from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator, MetaEstimatorMixin, clone
from sklearn.pipeline import Pipeline
from sklearn.utils import get_tags
from sklearn.utils._tags import Tags
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from landbridge._parallel import spawn_seeds
from landbridge._typing import MatrixLike, RandomState, Vector, VectorLike
from landbridge._validation import check_choice, stack_rows
from landbridge.exceptions import FailedFitWarning
from landbridge.model_selection import roles
from landbridge.model_selection.candidates import (
    Candidate,
    default_candidates,
    expand_candidates,
    task_of_candidates,
)
from landbridge.model_selection.confidence import SearchInterval
from landbridge.model_selection.criteria import choose_criterion
from landbridge.model_selection.cv_results import cv_results
from landbridge.model_selection.engine import Settings, model_seeds, run_search
from landbridge.model_selection.losses import Loss, check_loss, loss_name, without_column
from landbridge.model_selection.sources import check_cv, resolve_sources
from landbridge.model_selection.tables import SearchData, check_search_data
from landbridge.model_selection.worth import Verdict
from landbridge.weighting import KernelMeanMatching


def _check_weighting(weighting: Any) -> Any:
    if weighting is None:
        return KernelMeanMatching()
    if isinstance(weighting, type) or not hasattr(weighting, "fit"):
        raise TypeError(
            "`weighting` must be an object with fit(X, X_target) and weights_, like "
            f"KernelMeanMatching(); got {weighting!r}. Pass an instance."
        )
    return weighting


def _best_has(method: str) -> Any:
    def check(self: "TransferSearchCV") -> bool:
        if hasattr(self, "best_estimator_"):
            return hasattr(self.best_estimator_, method)
        if not self.refit:
            raise AttributeError(
                f"`refit` must be True for `{method}`, which is that of the best candidate fitted "
                "on everything; got False. Set refit=True, or fit the candidate yourself."
            )
        return True

    return available_if(check)


class TransferSearchCV(MetaEstimatorMixin, BaseEstimator):
    r"""Choose source, algorithm and parameters for a target with few labels or none.

    Every candidate is validated on every source by transfer cross-validation,

    .. math::
        TrCV = \frac1n \sum_{i=1}^{k} \sum_{x_{ij} \in S_i} β(x_{ij})\,
        \ell\bigl(y_{ij}, \bar f_i(x_{ij})\bigr),

    where :math:`\bar f_i` is the reverse model of fold i, trained on target rows with the labels
    that the candidate, trained on the other folds, gives them, and β is the density ratio of
    target to source; or by one of the other criteria below. The pair of source and candidate with
    the smallest criterion is fitted again on everything.

    Parameters
    ----------
    candidates : mapping of names to estimators or to (estimator, grid), optional
        Anything with scikit-learn's interface: plain estimators, pipelines, transfer estimators.
        A grid is a mapping from parameters to values, or a list of such. Target rows go to the
        estimators whose ``fit`` takes ``X_target``; a plain estimator is trained on source rows
        with the labelled target rows below them. By default a short list that holds the
        baselines source-only, target-only and pooled.
    criterion : str, list of str, "all" or None, default=None
        ``"scv"``, ``"wcv"`` (cross-validation on the source, weighted by β), ``"rv"``, ``"trcv"``
        (reverse validation, weighted by β), ``"tcv"``, ``"stv"``, ``"tlv"`` (on labelled target
        rows, trained on the others, on the source, on both) or ``"anchored"`` (`tlv` in the light
        of `trcv`). Of several the first selects; nothing is fitted twice. ``None`` takes
        ``"anchored"`` with labelled target rows and ``"trcv"`` without; so does ``"all"``, which
        may also stand in a list, for all others.
    correction : {"auto", "consensus", "label_floor"} or None, default="auto"
        What chooses in the place of `trcv` or `rv`; scores remain those of the criterion.
        ``"consensus"`` takes the candidate closest to the vote of all of them on the target rows,
        each with its skill by the criterion. ``"label_floor"`` raises the criterion to the least
        loss that the distribution of a candidate's pseudo-labels allows if the target's labels
        are distributed as the source's: for targets that are known to have about the source's
        shares of classes, misleading for others. ``"auto"`` is ``"consensus"`` where `trcv` is
        the default, at least five candidates vote and labels are classes; ``None`` elsewhere.
    loss : {"zero_one", "log", "absolute", "squared"} or callable, optional
        Pointwise. By default zero-one for classes and squared for numbers.
    cv : int or splitter, default=5
        Folds of the source; the labelled target rows get as many.
    weighting : object with ``fit(X, X_target)`` and ``weights_``, optional
        Density ratio of `wcv`, `trcv` and `anchored`, fitted once a source. By default
        `KernelMeanMatching`.
    sources : {"each", "pooled", "both"} or list or mapping, default="each"
        Every group alone, all rows together, both, or explicit subsets of groups.
    preprocessor : transformer, optional
        Fitted once on the rows of source and target together, without labels, and applied before
        everything else: an encoder for tables with text. It becomes the first step of
        ``best_estimator_``.
    halving : bool, default=False
        Stop a candidate early when the paired comparison puts it clearly behind.
    refit : bool, default=True
        Fit the best candidate on all of its source and on the target rows. Without it there is no
        ``predict``.
    error_score : {"record", "raise"}, default="record"
        What becomes of a candidate that fails: a record with its traceback in
        ``results_.failures``, or the error itself. A source that cannot be validated is recorded
        in either case.
    n_jobs : int, optional
        Tasks at a time. The answer does not depend on it.
    random_state : int, RandomState or None
        Seeds the folds and every ``random_state`` of a candidate that is ``None``.
    verbose : int, default=0
        Above 0 a progress bar (with rich) or log lines show cells done, time left, the leader.

    Attributes
    ----------
    best_estimator_ : fitted estimator (with ``refit``)
    best_source_, best_params_, best_score_, best_index_
        ``best_params_`` holds ``"candidate"`` and the grid's parameters.
    cv_results_ : dict of arrays, one entry a cell (candidate × source)
    results_ : SearchResult
        Pointwise losses, weights, failures; ``save`` and ``load``.
    criterion_ : str
    criterion_reason_ : str
    classes_, n_features_in_, feature_names_in_, refit_time_, preprocessor_

    Notes
    -----
    Zhong, Fan, Yang, Verscheure, Ren, "Cross Validation Framework to Choose amongst Models and
    Datasets for Transfer Learning". Deviation 1: without unlabelled rows the labelled target rows
    stand in for them, because the reverse model needs rows to learn from. Deviation 2: a reverse
    model that would see one class only is that constant. Deviation 3: ``correction``,
    because a model that learns its own pseudo-labels again passes reverse validation whether they
    are right or wrong; scores are those of the criterion itself in any case.

    Examples
    --------
    >>> from sklearn.linear_model import LogisticRegression
    >>> from landbridge import Pooled, SourceOnly, TransferSearchCV
    >>> from landbridge.datasets import make_covariate_shift
    >>> data = make_covariate_shift(n_source=200, n_target=200, random_state=0)
    >>> search = TransferSearchCV(
    ...     {"source": SourceOnly(LogisticRegression()),
    ...      "pooled": (Pooled(LogisticRegression()), {"target_share": [0.2, 0.5]})},
    ...     random_state=0)
    >>> search = search.fit(data.X, data.y, X_target=data.X_target[:40],
    ...                     y_target=data.y_target[:40], X_unlabeled=data.X_target[40:])
    >>> search.criterion_
    'anchored'
    >>> low, high = search.interval(0.9)
    >>> bool(low < search.best_score_ < high)
    True
    """

    def __init__(
        self,
        candidates: Any = None,
        criterion: str | Iterable[str] | None = None,
        loss: Loss | None = None,
        correction: str | None = "auto",
        cv: Any = 5,
        weighting: Any = None,
        sources: Any = "each",
        preprocessor: Any = None,
        halving: bool = False,
        refit: bool = True,
        error_score: str = "record",
        n_jobs: int | None = None,
        random_state: RandomState = None,
        verbose: int = 0,
    ):
        self.candidates = candidates
        self.criterion = criterion
        self.loss = loss
        self.correction = correction
        self.cv = cv
        self.weighting = weighting
        self.sources = sources
        self.preprocessor = preprocessor
        self.halving = halving
        self.refit = refit
        self.error_score = error_score
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose

    def fit(
        self,
        X: MatrixLike,
        y: VectorLike,
        *,
        groups: VectorLike = None,
        X_target: MatrixLike = None,
        y_target: VectorLike = None,
        X_unlabeled: MatrixLike = None,
    ) -> Self:
        """Search, and fit the best candidate on everything.

        Parameters
        ----------
        X, y : source rows and their labels
        groups : source of each row, optional
        X_target, y_target : labelled target rows, optional
        X_unlabeled : unlabelled target rows, optional
        """
        check_choice(self.error_score, "error_score", ("record", "raise"))
        check_choice(self.refit, "refit", (True, False))
        check_choice(self.halving, "halving", (True, False))
        candidates = None if self.candidates is None else expand_candidates(self.candidates)
        data = check_search_data(
            self,
            X,
            y,
            task=task_of_candidates(candidates) if candidates else None,
            groups=groups,
            X_target=X_target,
            y_target=y_target,
            X_unlabeled=X_unlabeled,
        )
        source_rows = resolve_sources(self.sources, data.groups, data.n_rows)
        data = self._preprocess(data)
        if candidates is None:
            defaults = default_candidates(data.task, labelled=data.n_labelled > 0, X=data.X)
            candidates = expand_candidates(defaults)
        settings = self._settings(data, candidates)
        self.results_ = run_search(data, candidates, source_rows, settings)
        for name in ("best_estimator_", "classes_", "refit_time_"):  # of an earlier fit
            self.__dict__.pop(name, None)
        if data.task == "classification":
            self.classes_ = data.classes
        self._report_failures()
        self._choose(candidates)
        if self.refit:
            self._refit(data, candidates, source_rows, settings.seed)
        return self

    @_best_has("predict")
    def predict(self, X: MatrixLike) -> Vector:
        """Predict with the best estimator."""
        return without_column(self._fitted().predict(X))

    @_best_has("predict_proba")
    def predict_proba(self, X: MatrixLike) -> np.ndarray:
        """Class probabilities of the best estimator."""
        return self._fitted().predict_proba(X)

    @_best_has("decision_function")
    def decision_function(self, X: MatrixLike) -> np.ndarray:
        """Decision function of the best estimator."""
        return self._fitted().decision_function(X)

    @_best_has("score")
    def score(self, X: MatrixLike, y: VectorLike, sample_weight: VectorLike = None) -> float:
        """Accuracy of a classifier, R² of a regressor, on new rows of the target."""
        weights = {} if sample_weight is None else {"sample_weight": sample_weight}
        return self._fitted().score(X, y, **weights)

    def interval(
        self, level: float = 0.95, *, method: str | None = None, index: int | None = None
    ) -> SearchInterval:
        """An interval for the target score of the best candidate, or of cell ``index``.

        See `SearchResult.interval`: ``"anchored"`` on target labels by default, ``"paper"`` for
        Eq. (15), ``"effective"`` for the same with the effective sample size.
        """
        check_is_fitted(self, "results_")
        return self.results_.interval(level, method=method, cell=index)

    def prob_better(self, *, method: str | None = None, level: float = 0.95) -> np.ndarray:
        """P(row's cell is better than column's); see `SearchResult.prob_better`."""
        check_is_fitted(self, "results_")
        return self.results_.prob_better(method=method, level=level)

    def worth_transferring(self, level: float = 0.9) -> Verdict:
        """Does the best transfer candidate beat target-only and source-only beyond noise?"""
        check_is_fitted(self, "results_")
        return self.results_.worth_transferring(level)

    def _settings(self, data: SearchData, candidates: list[Candidate]) -> Settings:
        loss = self.loss or ("zero_one" if data.task == "classification" else "squared")
        check_loss(loss, data.task)
        if self.correction == "label_floor" and callable(loss):
            raise ValueError(
                "`correction` must not be 'label_floor' with a loss of your own, whose floor is "
                f"unknown; got loss={loss_name(loss)!r}. Take correction='consensus' or None."
            )
        voters = {c.name for c in candidates} if data.task == "classification" else ()
        choice = choose_criterion(
            self.criterion, data.n_labelled, correction=self.correction, n_voters=len(voters)
        )
        return Settings(
            choice=choice,
            loss=loss,
            weighting=_check_weighting(self.weighting),
            cv=check_cv(self.cv),
            halving=self.halving,
            record_errors=self.error_score == "record",
            n_jobs=self.n_jobs,
            seed=spawn_seeds(self.random_state, 1)[0],
            verbose=self.verbose,
        )

    def _preprocess(self, data: SearchData) -> SearchData:
        self.__dict__.pop("preprocessor_", None)  # of an earlier fit
        if self.preprocessor is None:
            return data
        if isinstance(self.preprocessor, type) or not hasattr(self.preprocessor, "transform"):
            raise TypeError(
                "`preprocessor` must be a transformer, an object with fit and transform like "
                f"StandardScaler(); got {self.preprocessor!r}. Pass an instance."
            )
        parts = [p for p in (data.X, data.X_target, data.X_unlabeled) if p is not None]
        rows = stack_rows(parts)
        self.preprocessor_ = clone(self.preprocessor).fit(rows)
        return data.transformed(self.preprocessor_.transform(rows))

    def _report_failures(self) -> None:
        result = self.results_
        status = result.status()
        if result.failures:
            first = result.failures[0]
            failed = {failure["cell"] for failure in result.failures}
            by_selecting = status.count("failed")
            text = (
                f"{len(failed)} of {len(status)} cells failed, the first {first['candidate']!r} "
                f"on source {first['source']!r} ({first['stage']}, fold {first['fold']}): "
                f"{first['message'].rstrip('.')}."
            )
            if by_selecting < len(failed):
                text += f" By {result.criterion!r}, which selects, {by_selecting} failed."
            if all(s == "failed" for s in status):
                raise ValueError(
                    f"`candidates` must hold one that can be validated by "
                    f"{result.criterion!r}; {text}\n{first['traceback']}"
                )
            warnings.warn(
                f"{text} Tracebacks are in `results_.failures`.",
                FailedFitWarning,
                stacklevel=3,
            )

    def _choose(self, candidates: list[Candidate]) -> None:
        result = self.results_
        self.best_index_ = result.best
        best = candidates[self.best_index_ % len(candidates)]
        self.best_source_ = result.cells[self.best_index_]["source"]
        self.best_params_ = {"candidate": best.name, **best.params}
        self.best_score_ = float(result.scores()[self.best_index_])
        self.criterion_, self.criterion_reason_ = result.criterion, result.about["reason"]
        self.cv_results_ = cv_results(result, [candidate.params for candidate in candidates])

    def _refit(
        self,
        data: SearchData,
        candidates: list[Candidate],
        source_rows: dict[Any, Vector],
        seed: int,
    ) -> None:
        started = time.perf_counter()
        number = self.best_index_ % len(candidates)
        rows = roles.labelled(data, source_rows[self.best_source_], slice(None))
        model = roles.fit_candidate(
            candidates[number].estimator,
            rows,
            task=data.task,
            seed=model_seeds(seed, len(candidates))[number],
        )
        if self.preprocessor is not None:
            model = Pipeline([("preprocessor", self.preprocessor_), ("model", model)])
        self.best_estimator_ = model
        self.refit_time_ = time.perf_counter() - started

    def _fitted(self) -> Any:
        check_is_fitted(self, "best_estimator_")
        return self.best_estimator_

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        if self.candidates is None:
            return tags
        try:
            inner = [get_tags(c.estimator) for c in expand_candidates(self.candidates)]
        except (TypeError, ValueError):
            return tags
        tags.estimator_type = inner[0].estimator_type
        tags.classifier_tags = inner[0].classifier_tags
        tags.regressor_tags = inner[0].regressor_tags
        tags.target_tags.required = True
        tags.input_tags.sparse = all(tag.input_tags.sparse for tag in inner)
        return tags
