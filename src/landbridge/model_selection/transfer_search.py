"""Search over sources, algorithms and parameters."""

import importlib
import os
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from functools import wraps
from pathlib import Path
from typing import Any, Concatenate, Literal, ParamSpec, Self, TypeVar

import numpy as np
from sklearn import config_context
from sklearn.base import BaseEstimator, MetaEstimatorMixin, clone
from sklearn.model_selection import TimeSeriesSplit
from sklearn.utils import Tags, get_tags
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from landbridge._sklearn_versions import CallbackSupportMixin, with_callbacks
from landbridge._tasks import TaskCache, spawn_seeds, without_dask
from landbridge._typing import MatrixLike, RandomState, Vector, VectorLike
from landbridge._validation import (
    Task,
    TransferData,
    check_choice,
    check_groups,
    check_positive,
    without_masks,
)
from landbridge._warn import warn_caller
from landbridge.exceptions import FailedFitWarning
from landbridge.metrics.scoring import check_scoring
from landbridge.model_selection._fit_tasks import FinalFits, Settings, single, without_column
from landbridge.model_selection._run import run_search
from landbridge.model_selection._search_data import SearchData, check_search_data, compare_labelled
from landbridge.model_selection._sources import check_cv, n_folds, needs_groups, resolve_sources
from landbridge.model_selection.candidates import (
    Candidate,
    baseline,
    default_candidates,
    expand_candidates,
    task_of_candidates,
)
from landbridge.model_selection.criteria import choose_criterion
from landbridge.model_selection.search_inference import check_cell, check_cells
from landbridge.model_selection.search_result import COLUMNS, SearchResult, cv_results
from landbridge.model_selection.vote import VotingModel, class_probabilities
from landbridge.weighting import KernelMeanMatching

P = ParamSpec("P")
Answer = TypeVar("Answer")


def _answer_has(method: str) -> Any:
    """Decorator that makes a method available if the selected model has it."""

    def check(self: "TransferSearchCV") -> bool:
        model = getattr(self, "_answering", None)
        if model is not None:
            return hasattr(model, method)
        if not self.refit:
            raise AttributeError(
                f"`refit` must be 'vote' or 'best' for `{method}`, which needs a model fitted on "
                "everything; got False. Set refit, or use `refit_cell`."
            )
        # A vote averages probabilities; only a single model may have a decision function.
        return method != "decision_function" or self.refit == "best"

    return available_if(check)


def _of_result(
    method: Callable[Concatenate[SearchResult, P], Answer],
) -> Callable[Concatenate["TransferSearchCV", P], Answer]:
    """Make a method of the result, with its documentation, a method of the search."""

    @wraps(method)
    def ask(self: "TransferSearchCV", *arguments: P.args, **options: P.kwargs) -> Answer:
        check_is_fitted(self, "results_")
        return method(self.results_, *arguments, **options)

    return ask


class TransferSearchCV(CallbackSupportMixin, MetaEstimatorMixin, BaseEstimator):
    r"""Choose source, algorithm and parameters for a target with few labels or none.

    Every candidate is cross-validated on every source, the predictions are kept, and candidates
    are compared by any metric. The search predicts with a weighted vote of the best candidates, or
    with the best one alone.

    Parameters
    ----------
    candidates : mapping of names to estimators or to (estimator, grid), optional
        Anything with scikit-learn's interface: plain estimators, pipelines, transfer estimators.
        A grid is a mapping from parameters to values, or a list of such mappings. Target rows go to
        the estimators whose ``fit`` takes ``X_target``; a plain estimator is trained on source rows
        and labelled target rows together. By default a short list with source-only, target-only and
        pooled learners: classifiers for text, booleans and whole numbers with at most 30 different
        values, otherwise regressors. The majority class (or mean) is always a row of the ranking.
    scoring : str, callable, list, dict or None, default=None
        Names of scikit-learn's scorers, ``make_scorer`` objects, functions
        ``(y_true, y_pred, sample_weight)``, or several of them; the first one is used for
        selection. By default accuracy with balanced accuracy, or RMSE with MAE and R². Scores have
        the unit of the metric: RMSE is positive, and smaller is better.
    criterion : str, list of str, "all" or None, default=None
        ``"scv"``, ``"wcv"`` (cross-validation on the source, weighted by the density ratio),
        ``"rv"``, ``"trcv"`` (reverse validation, weighted), ``"tcv"``, ``"stv"``, ``"tlv"`` (on
        labelled target rows, trained on the others, on the source, on both) or ``"anchored"``
        (`tlv` combined with the agreement on unlabelled rows, and with `trcv` if it is in the
        list). If there are several, the first one is used for selection; they share fits. ``None``
        stands for ``"anchored"`` with labelled target rows and for ``"trcv"`` without, also inside
        a list; ``"all"`` is ``None`` followed by all others.
    refit : {"vote", "best", False}, default="vote"
        Model used by `predict`: the weighted vote of at most five candidates, or the best one.
        ``best_estimator_`` is the best single model in both cases.
    cv : int or splitter, default=5
        Folds of the source rows. Splitters with groups (`GroupKFold`) and in order of time
        (`TimeSeriesSplit`) work; a number keeps the ``cv_groups`` of `fit` together.
    cv_target : int or splitter, optional
        Folds of the labelled target rows; same as ``cv`` by default.
    weighting : object with ``fit(X, X_target)`` and ``weights_``, optional
        Density ratio of `wcv` and `trcv`, fitted once per source. By default
        `KernelMeanMatching`.
    sources : {"each", "pooled", "both"} or list or mapping, default="each"
        Train on every group separately, on all rows pooled, on both, or on subsets of groups.
    preprocessor : transformer, optional
        Transformer, for example an encoder for tables with text, that is fitted once on all source
        and target rows without labels. It becomes the first step of every model.
    racing : bool, default=False
        Stop a candidate early if the paired comparison shows that it is clearly worse.
    cache : str or path, optional
        Directory in which finished fits are stored. They are reused if the search was interrupted
        or if candidates or sources are added.
    time_budget : float, optional
        Seconds after which no fit is started. Cheap candidates are fitted first, racing is enabled,
        and the ranking contains the candidates validated in time.
    fit_timeout : float, optional
        Seconds that one fit may take before it is recorded as failed.
    error_score : {"record", "raise"}, default="record"
        Record a candidate that fails in ``results_.failures``, or raise its error. A source that
        cannot be validated is recorded in either case.
    n_jobs : int, optional
        Number of parallel jobs. Results are identical for any value.
    random_state : int, RandomState or None
        Seed for the folds and for every ``random_state`` of a candidate that is ``None``.
    verbose : int, default=0
        If positive, show a progress bar, or log the number of finished fits, the time left and the
        leader.

    Attributes
    ----------
    best_estimator_ : fitted estimator
        Best single candidate, fitted on all rows (if ``refit`` is set).
    vote_ : VotingModel
        The fitted members with their weights (with ``refit="vote"``). With a ``preprocessor``, it
        is the last step of a pipeline.
    best_source_, best_params_, best_score_, best_index_
        ``best_params_`` holds ``"candidate"`` and the grid's parameters.
    cv_results_ : dict of arrays, one entry per cell (candidate × source)
    results_ : SearchResult
        Stored predictions, weights and failures; see ``to_frame``, ``save`` and ``load``.
    criterion_ : str
    classes_, n_features_in_, feature_names_in_, refit_time_, preprocessor_

    See Also
    --------
    MultiSourceCV : Estimate the score of a model on a new source.

    Notes
    -----
    Transfer cross-validation estimates the target loss of a candidate by

    .. math::
        TrCV = \frac1n \sum_{i=1}^{k} \sum_{x_{ij} \in S_i} β(x_{ij})\,
        \ell\bigl(y_{ij}, \bar f_i(x_{ij})\bigr),

    where :math:`\bar f_i` is the reverse model of fold i, trained on target rows with pseudo-labels
    from the candidate trained on the other folds, and β is the density ratio of target to source.

    Deviation 1: without unlabelled rows, the labelled target rows are used instead, because the
    reverse model needs training rows. Deviation 2: a reverse model with a single training class
    predicts that class. Deviation 3: the default is a vote, because averaging good candidates loses
    less than choosing one of them. Deviation 4: the vote has at most five members, and the
    estimated cost of predicting with it is at most 4.8 times that of the best candidate. Costs are
    estimated from the structure of the candidates, because measured times differ between runs. In
    ``benchmarks/search_regret.py`` the vote took more than five times as long, mostly with ten or
    more classes, in 0 to 5 % of the searches, depending on the candidates. Use ``refit="best"``
    where speed matters more.

    References
    ----------
    Zhong, Fan, Yang, Verscheure, Ren, "Cross Validation Framework to Choose amongst Models and
    Datasets for Transfer Learning", ECML PKDD 2010.

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
    >>> bool(0 < low < high < 1)
    True
    >>> search.worth_transferring().worth, search.prob_better().shape
    (False, (4, 4))
    >>> search.predict_unlabelled([0]).shape, type(search.refit_cell(0)).__name__
    ((1, 160, 2), 'SourceOnly')
    >>> more = {"X_target": data.X_target[:80], "y_target": data.y_target[:80]}
    >>> search.refit_on(data.X, data.y, **more).predict(data.X_target).shape
    (200,)
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     search.report(f"{folder}/report.html").name
    'report.html'
    """

    # Set where the task of the default candidates is known; otherwise it is inferred from `y`.
    _task: Task | None = None

    def __init__(
        self,
        candidates: Any = None,
        *,
        scoring: Any = None,
        criterion: str | Iterable[str | None] | None = None,
        refit: Literal["vote", "best"] | bool = "vote",
        cv: Any = 5,
        cv_target: Any = None,
        weighting: Any = None,
        sources: Any = "each",
        preprocessor: Any = None,
        racing: bool = False,
        cache: str | os.PathLike[str] | None = None,
        time_budget: float | None = None,
        fit_timeout: float | None = None,
        error_score: str = "record",
        n_jobs: int | None = None,
        random_state: RandomState = None,
        verbose: int = 0,
    ):
        self.candidates = candidates
        self.scoring = scoring
        self.criterion = criterion
        self.refit = refit
        self.cv = cv
        self.cv_target = cv_target
        self.weighting = weighting
        self.sources = sources
        self.preprocessor = preprocessor
        self.racing = racing
        self.cache = cache
        self.time_budget = time_budget
        self.fit_timeout = fit_timeout
        self.error_score = error_score
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose

    @with_callbacks
    def fit(
        self,
        X: MatrixLike,
        y: VectorLike,
        *,
        groups: VectorLike = None,
        X_target: MatrixLike = None,
        y_target: VectorLike = None,
        X_unlabeled: MatrixLike = None,
        sample_weight: VectorLike = None,
        sample_weight_target: VectorLike = None,
        cv_groups: VectorLike = None,
        cv_groups_target: VectorLike = None,
        cv_groups_unlabeled: VectorLike = None,
    ) -> Self:
        """Run the search and fit the selected models on all rows.

        Parameters
        ----------
        X, y, groups : arrays of length n_rows
            Source rows, their labels and, optionally, the source of each.
        X_target, y_target, X_unlabeled : arrays, optional
            Labelled and unlabelled rows of the target.
        sample_weight, sample_weight_target : arrays, optional
            Weights of source and labelled target rows, used in fits and metrics. Rows labelled with
            known probabilities are weighted by the inverse probabilities, as in
            ``LabelPlanner.weights_``; the check of the labels then uses the weights too. A
            candidate that does not accept weights is recorded as failed.
        cv_groups, cv_groups_target, cv_groups_unlabeled : arrays, optional
            Groups of rows that stay in one fold (patients). Intervals and tests then count groups
            of labelled target rows instead of rows, and groups are compared to find out whether
            the labels are a random sample.

        Returns
        -------
        self : TransferSearchCV
            The fitted search.
        """
        self._check_parameters()
        candidates = None if self.candidates is None else expand_candidates(self.candidates)
        rows = TransferData(
            X, y, X_target, y_target, X_unlabeled, sample_weight, sample_weight_target, groups
        )
        task = self._task if candidates is None else task_of_candidates(candidates)
        data = check_search_data(self, rows, task)
        source_rows = resolve_sources(self.sources, data.groups, data.n_rows)
        given = data
        data = self._preprocess(data)
        if candidates is None:
            defaults = default_candidates(data.task, labelled=data.n_labelled > 0, X=data.X)
            candidates = expand_candidates(defaults)
        every = [*candidates, baseline(data.task)]
        settings = self._settings(data, cv_groups, cv_groups_target)
        for name in ("best_estimator_", "vote_", "classes_", "refit_time_", "_answering"):
            self.__dict__.pop(name, None)  # left from an earlier fit
        # Keep the given columns, so that differences can be named.
        check = compare_labelled(
            given, settings.seed, settings.cv_groups_target, cv_groups_unlabeled
        )
        self.results_ = run_search(data, every, source_rows, settings, self._callbacks(), check)
        if data.task == "classification":
            self.classes_ = data.classes
        by_source = [source.rows for source in self.results_.sources]
        preprocessor = getattr(self, "preprocessor_", None)
        self._final_fits = FinalFits(data, every, settings.seed, by_source, preprocessor)
        self._report_failures(data)
        self._choose(every)
        if self.refit:
            self._refit()
        if hasattr(self, "_callback_fit_ctx"):
            self._callback_fit_ctx.call_on_fit_task_end(estimator=self)
        return self

    # Predicting

    @_answer_has("predict")
    @without_masks
    def predict(self, X: MatrixLike) -> Vector:
        """Predict with the vote, or with the best candidate.

        Parameters
        ----------
        X : rows of the target

        Returns
        -------
        labels : ndarray of shape (n_rows,)
        """
        return without_column(self._model().predict(X))

    @_answer_has("predict_proba")
    @without_masks
    def predict_proba(self, X: MatrixLike) -> np.ndarray:
        """Class probabilities of the vote, or of the best candidate."""
        return self._model().predict_proba(X)

    @_answer_has("decision_function")
    @without_masks
    def decision_function(self, X: MatrixLike) -> np.ndarray:
        """Decision function of the best candidate, with ``refit="best"``."""
        return self._model().decision_function(X)

    @_answer_has("score")
    @without_masks
    def score(self, X: MatrixLike, y: VectorLike, sample_weight: VectorLike = None) -> float:
        """Accuracy of a classifier, R² of a regressor, on new rows of the target."""
        weights = {} if sample_weight is None else {"sample_weight": sample_weight}
        with config_context(enable_metadata_routing=False):  # only the last step uses weights
            return self._model().score(X, y, **weights)

    def refit_on(
        self,
        X: MatrixLike,
        y: VectorLike,
        *,
        groups: VectorLike = None,
        X_target: MatrixLike = None,
        y_target: VectorLike = None,
        X_unlabeled: MatrixLike = None,
        sample_weight: VectorLike = None,
        sample_weight_target: VectorLike = None,
    ) -> Self:
        """Refit the selected models on other rows, for example on more of them.

        This allows a search on a sample, followed by a fit on all rows. The ranking, the weights of
        the vote and the preprocessor do not change.

        Parameters
        ----------
        X, y, groups : arrays
            Source rows with the columns, classes and sources of the search.
        X_target, y_target, X_unlabeled, sample_weight, sample_weight_target : arrays, optional
            As in `fit`.

        Returns
        -------
        self
            The search with refitted models.
        """
        final = self._fits_in_this_process("refit_on")
        given = TransferData(
            X, y, X_target, y_target, X_unlabeled, sample_weight, sample_weight_target, groups
        )
        data = check_search_data(self, given, self.results_.info.task)
        rows = resolve_sources(self.sources, data.groups, data.n_rows)
        missing = [s.name for s in self.results_.sources if s.name not in {None, *rows}]
        if missing:
            raise ValueError(
                f"`groups` must hold the sources of the search; {missing[0]!r} is missing. Pass "
                "rows of all of them."
            )
        if data.classes is not None and not np.array_equal(data.classes, self.classes_):
            raise ValueError(
                f"`y` must hold the classes of the search, {self.classes_.tolist()}; got "
                f"{data.classes.tolist()}. Search again with rows of all classes."
            )
        if final.preprocessor is not None:
            data = data.transformed(final.preprocessor.transform(data.all_rows))
        everything = np.arange(data.n_rows)
        source_rows = [rows.get(source.name, everything) for source in self.results_.sources]
        self._final_fits = replace(final, data=data, source_rows=source_rows)
        self._refit()
        return self

    def refit_cell(self, cell: int) -> Any:
        """Fit another cell of the ranking on all rows.

        Parameters
        ----------
        cell : int
            Number of the cell in ``results_.cells``.

        Returns
        -------
        model : fitted estimator
            Model with the preprocessor, if any, as its first step.
        """
        final = self._fits_in_this_process("refit_cell")
        cell = check_cell(self.results_, cell)
        return final.with_preprocessor(final.fit(self.results_.cells[cell]))

    def predict_unlabelled(self, cells: Sequence[int]) -> np.ndarray:
        """Refit cells on all rows and predict all unlabelled rows of the search.

        ``results_`` keeps the predictions of at most 2000 of these rows.

        Parameters
        ----------
        cells : sequence of int
            Numbers in ``results_.cells``.

        Returns
        -------
        ndarray of shape (n_cells, n_unlabelled, n_classes) or (n_cells, n_unlabelled)
            Class probabilities, or numbers for regression.
        """
        final = self._fits_in_this_process("predict_unlabelled")
        rows, predictions = final.data.rows_to_label, []
        for cell in check_cells(self.results_, cells):
            model = final.fit(self.results_.cells[cell])
            if self.results_.classes is None:
                found = np.asarray(model.predict(rows))
            else:
                found = class_probabilities(model, rows, self.results_.classes)
            predictions.append(single(found))
        return np.stack(predictions)

    # Answers

    interval = _of_result(SearchResult.interval)
    prob_better = _of_result(SearchResult.prob_better)
    worth_transferring = _of_result(SearchResult.worth_transferring)

    def plot(self, **options: Any) -> Any:
        """Draw the ranking with intervals.

        Parameters
        ----------
        **options : dict
            Passed to `SearchRankingDisplay.from_estimator`.

        Returns
        -------
        SearchRankingDisplay
            With ``ax_`` and ``figure_``.
        """
        check_is_fitted(self, "results_")
        # Displays and reports import this module, so they are imported on use.
        inspection = importlib.import_module("landbridge.inspection")
        return inspection.SearchRankingDisplay.from_estimator(self, **options)

    def report(self, path: str | os.PathLike[str], *, level: float = 0.95) -> Path:
        """Write a report of the search.

        Parameters
        ----------
        path : str or path
            File that ends in ``.html``, ``.md`` or ``.json``.
        level : float, default=0.95
            Nominal coverage of the intervals.

        Returns
        -------
        path
            The file.
        """
        check_is_fitted(self, "results_")
        reports = importlib.import_module("landbridge.report")
        whole = isinstance(self.random_state, int | np.integer)
        seed = int(self.random_state) if whole else None  # type: ignore[arg-type]
        summary = reports.summarise(
            title="Which source, which model",
            target="the target",
            origin=reports.summarise_origin(command="", seed=seed),
            result=self.results_,
            level=level,
        )
        reports.write_report(summary, Path(path))
        return Path(path)

    def _repr_html_(self) -> str:
        if not hasattr(self, "results_"):
            return super()._repr_html_()  # scikit-learn's diagram
        verdict = self.results_.worth_transferring()
        return self.results_._repr_html_() + verdict._repr_html_()

    def _repr_mimebundle_(self, **options: Any) -> dict[str, str]:
        return {"text/plain": repr(self), "text/html": self._repr_html_()}

    # Inside

    def _check_parameters(self) -> None:
        check_choice(self.error_score, "error_score", ("record", "raise"))
        check_choice(self.refit, "refit", ("vote", "best", False))
        check_choice(self.racing, "racing", (True, False))
        for name in ("time_budget", "fit_timeout"):
            if getattr(self, name) is not None:
                check_positive(getattr(self, name), name)
        if self.weighting is not None and (
            isinstance(self.weighting, type) or not hasattr(self.weighting, "fit")
        ):
            raise TypeError(
                "`weighting` must be an object with fit(X, X_target) and weights_, like "
                f"KernelMeanMatching(); got {self.weighting!r}. Pass an instance."
            )

    def _settings(
        self, data: SearchData, cv_groups: VectorLike, cv_groups_target: VectorLike
    ) -> Settings:
        if cv_groups is not None:
            cv_groups = check_groups(cv_groups, data.n_rows)
        if cv_groups_target is not None:
            cv_groups_target = check_groups(cv_groups_target, data.n_labelled)
        cv = check_cv(self.cv, groups=cv_groups)
        choice = choose_criterion(self.criterion, data.n_labelled)
        cv_target = self.cv_target
        if cv_target is None:
            # Groups and the order of time matter in the target as well.
            special = needs_groups(cv) or isinstance(cv, TimeSeriesSplit)
            cv_target = cv if special and data.n_labelled > n_folds(cv) else n_folds(cv)
        if choice.needs & {"target", "target_alone"}:
            cv_target = check_cv(cv_target, "cv_target", groups=cv_groups_target)
        metrics = check_scoring(self.scoring, task=data.task, classes=data.classes)
        taken = {*COLUMNS, *(["score"] if metrics[0].name != "score" else [])}
        clash = sorted(taken & {metric.name for metric in metrics})
        if clash:
            raise ValueError(
                f"`scoring` must not name a metric like a column of the ranking; got {clash[0]!r}. "
                "Pass a dictionary with other names."
            )
        return Settings(
            choice=choice,
            metrics=metrics,
            answer="best" if self.refit == "best" else "vote",
            weighting=KernelMeanMatching() if self.weighting is None else self.weighting,
            cv=cv,
            cv_target=cv_target,
            cv_groups=cv_groups,
            cv_groups_target=cv_groups_target,
            racing=self.racing,
            raise_errors=self.error_score == "raise",
            cache=None if self.cache is None else TaskCache(self.cache),
            time_budget=self.time_budget,
            fit_timeout=self.fit_timeout,
            n_jobs=self.n_jobs,
            seed=spawn_seeds(self.random_state, 1)[0],
            verbose=self.verbose,
        )

    @without_dask()
    def _preprocess(self, data: SearchData) -> SearchData:
        self.__dict__.pop("preprocessor_", None)  # left from an earlier fit
        if self.preprocessor is None:
            return data
        if isinstance(self.preprocessor, type) or not hasattr(self.preprocessor, "transform"):
            raise TypeError(
                "`preprocessor` must be a transformer, an object with fit and transform like "
                f"StandardScaler(); got {self.preprocessor!r}. Pass an instance."
            )
        rows = data.all_rows
        self.preprocessor_ = clone(self.preprocessor).fit(rows)
        return data.transformed(self.preprocessor_.transform(rows))

    def _report_failures(self, data: SearchData) -> None:
        result = self.results_
        status = result.status()
        if not result.failures:
            return
        first = result.failures[0]
        failed = {failure.cell for failure in result.failures}
        cell = result.cells[first.cell]
        fold = "" if first.fold < 0 else f", fold {first.fold}"
        text = (
            f"{len(failed)} of {len(status)} cells failed, the first {cell.candidate!r} on source "
            f"{cell.source!r} ({first.stage}{fold}): {first.message.rstrip('.')}."
        )
        by_selecting = status.count("failed")
        if by_selecting < len(failed):
            text += f" By {result.criterion!r}, which selects, {by_selecting} failed."
        out_of_time = all(failure.stage == "budget" for failure in result.failures)
        candidates = [n for n, cell in enumerate(result.cells) if cell.role != "baseline"]
        if all(status[number] == "failed" for number in candidates):
            if out_of_time:
                raise ValueError(
                    "`time_budget` must be long enough to validate one candidate; got "
                    f"{self.time_budget:g} s. {first.message} Increase the budget."
                )
            data.check_finite()  # the most likely reason, with the name of the argument
            raise ValueError(
                "`candidates` must hold an estimator that can be validated by "
                f"{result.criterion!r}; {text}\n{first.traceback}"
            )
        warning = FailedFitWarning(text, "Tracebacks are in `results_.failures`.")
        if out_of_time:
            warning = FailedFitWarning(
                f"The time budget ended before {len(failed)} of {len(status)} cells were "
                "validated. Increase the budget to compare them, too."
            )
        warn_caller(warning)

    def _choose(self, candidates: Sequence[Candidate]) -> None:
        result = self.results_
        if np.isnan(result.values()[result.best]):
            raise ValueError(
                f"`scoring` {result.metric.name!r} must be defined on the validation rows; got no "
                f"value by {result.criterion!r}. It may need rows of every class: label more "
                "target rows, or choose another metric."
            )
        self.best_index_ = result.best
        chosen = [candidates[cell.candidate_index] for cell in result.cells]
        best = chosen[self.best_index_]
        self.best_source_ = result.cells[self.best_index_].source
        self.best_params_ = {"candidate": best.name, **best.params}
        self.best_score_ = float(result.scores()[self.best_index_])
        self.criterion_ = result.criterion
        self.cv_results_ = cv_results(result, [candidate.params for candidate in chosen])

    def _fits_in_this_process(self, method: str) -> FinalFits:
        check_is_fitted(self, "results_")
        if not hasattr(self, "_final_fits"):
            raise ValueError(
                f"`{method}` must be called on a search that was fitted in this process; got one "
                "that was copied or loaded, which holds no rows. Fit it again."
            )
        return self._final_fits

    def _refit(self) -> None:
        started, final, cells = time.perf_counter(), self._final_fits, self.results_.cells
        fitted = {self.best_index_: final.fit(cells[self.best_index_])}
        self.best_estimator_ = final.with_preprocessor(fitted[self.best_index_])
        self._answering = self.best_estimator_
        vote = self.results_.vote() if self.refit == "vote" else None
        if vote is not None:
            labels = self.results_.labels
            fitted |= {c: final.fit(cells[c]) for c in vote.members if c != self.best_index_}
            model = VotingModel(
                [(labels[cell], fitted[cell]) for cell in vote.members],
                vote.weights[vote.members],
                getattr(self, "classes_", None),
                self.results_.limits,
            )
            self.vote_ = final.with_preprocessor(model)
            self._answering = self.vote_
        self.refit_time_ = time.perf_counter() - started

    def _model(self) -> Any:
        check_is_fitted(self, "best_estimator_")
        return self._answering

    def _callbacks(self) -> Callable[[int], Callable[[], None]] | None:
        """Notify the callbacks of scikit-learn about every finished fit."""
        if not getattr(self, "_skl_callbacks", None):
            return None

        def begin(n_fits: int) -> Callable[[], None]:
            context = self._init_callback_context(max_subtasks=n_fits, sequential_subtasks=True)
            context.call_on_fit_task_begin(estimator=self)

            def advance() -> None:
                part = context.subcontext(task_name="candidate fit")
                part.call_on_fit_task_begin(estimator=self)
                part.call_on_fit_task_end(estimator=self)

            return advance

        return begin

    def __getstate__(self) -> dict[str, Any]:
        """Drop the training rows; a saved or copied search can predict but not refit."""
        state = super().__getstate__()
        return {name: value for name, value in state.items() if name != "_final_fits"}

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


def transfer_cross_validate(
    estimator: Any,
    X: MatrixLike,
    y: VectorLike,
    *,
    X_target: MatrixLike = None,
    y_target: VectorLike = None,
    X_unlabeled: MatrixLike = None,
    groups: VectorLike = None,
    criterion: str | Iterable[str | None] | None = "all",
    scoring: Any = None,
    cv: Any = 5,
    weighting: Any = None,
    sources: Any = "pooled",
    n_jobs: int | None = None,
    random_state: RandomState = None,
) -> SearchResult:
    """Validate one estimator by all criteria that the data allow.

    Parameters
    ----------
    estimator : estimator
        Any candidate of `TransferSearchCV`. Errors of its fits are raised.
    X, y, groups, X_target, y_target, X_unlabeled : arrays
        Rows of source and target, as in `TransferSearchCV.fit`.
    criterion : str, list of str, "all" or None, default="all"
        As in `TransferSearchCV`.
    sources : {"pooled", "each", "both"} or list or mapping, default="pooled"
        ``"each"`` validates on every source separately.
    scoring, weighting, n_jobs, random_state : optional
        As in `TransferSearchCV`.
    cv : int or splitter, default=5
        As in `TransferSearchCV`.

    Returns
    -------
    result : SearchResult
        ``result.scores("trcv")`` has one score per source, followed by the baseline.

    Examples
    --------
    >>> from sklearn.naive_bayes import GaussianNB
    >>> from landbridge import transfer_cross_validate
    >>> from landbridge.datasets import make_covariate_shift
    >>> data = make_covariate_shift(n_source=200, n_target=200, random_state=0)
    >>> result = transfer_cross_validate(
    ...     GaussianNB(), data.X, data.y, X_unlabeled=data.X_target, random_state=0)
    >>> result.available()
    ('scv', 'wcv', 'rv', 'trcv')
    """
    search = TransferSearchCV(
        {type(estimator).__name__: estimator},
        criterion=criterion,
        scoring=scoring,
        cv=cv,
        weighting=weighting,
        sources=sources,
        refit=False,
        error_score="raise",
        n_jobs=n_jobs,
        random_state=random_state,
    )
    search.fit(X, y, groups=groups, X_target=X_target, y_target=y_target, X_unlabeled=X_unlabeled)
    return search.results_
