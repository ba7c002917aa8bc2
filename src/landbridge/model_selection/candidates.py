"""Candidates: names with estimators and grids, and the lists that serve without any."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.base import clone, is_regressor
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.ensemble import HistGradientBoostingClassifier, HistGradientBoostingRegressor
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.model_selection import ParameterGrid
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MaxAbsScaler

from landbridge._typing import MatrixLike
from landbridge._validation import Task
from landbridge.baselines import Pooled, SourceOnly, TargetOnly
from landbridge.boosting import TrAdaBoostClassifier
from landbridge.model_selection.roles import role_of
from landbridge.weighting import ClassifierRatio, ReweightedClassifier, ReweightedRegressor

# A discriminant has a covariance of all columns with all; it and trees need dense rows.
MOST_COLUMNS = 2000
DENSE = ("trees", "discriminant")
INTERFACE = ("fit", "get_params", "set_params", "__sklearn_tags__")


@dataclass(frozen=True, slots=True)
class Candidate:
    """One estimator with one choice of parameters."""

    name: str
    estimator: Any
    params: dict[str, Any]
    role: str


def expand_candidates(candidates: Any) -> list[Candidate]:
    """Every estimator with every combination of its grid, in the order given."""
    expanded = []
    for name, estimator, grid in _named(candidates):
        _check_estimator(name, estimator)
        combinations = list(_combinations(name, grid))
        for params in combinations:
            try:
                model = clone(estimator).set_params(**clone(params, safe=False))
            except (AttributeError, ValueError) as error:
                raise ValueError(
                    f"`candidates` must have grids of parameters that exist; the grid of {name!r} "
                    f"does not fit: {error}"
                ) from error
            expanded.append(Candidate(name, model, params, role_of(model)))
    return expanded


def task_of_candidates(candidates: list[Candidate]) -> Task:
    """Regression or classification, the same for all."""
    regressors = [candidate.name for candidate in candidates if is_regressor(candidate.estimator)]
    others = [candidate.name for candidate in candidates if candidate.name not in regressors]
    if regressors and others:
        raise ValueError(
            "`candidates` must all be classifiers or all be regressors; got the regressor "
            f"{regressors[0]!r} beside {others[0]!r}. Search them separately."
        )
    return "regression" if regressors else "classification"


def default_candidates(task: Task, *, labelled: bool, X: MatrixLike = None) -> dict[str, Any]:
    """What to try on rows like ``X`` without further knowledge: baselines, weighting, boosting.

    Without labelled target rows target-only and pooled would equal source-only and are left out;
    a discriminant, which often is the best of its kind there, takes part.
    """
    linear, trees, reweighted = _learners(task)
    candidates: dict[str, Any] = {
        "source-only linear": SourceOnly(linear),
        "source-only trees": SourceOnly(trees),
        "reweighted linear": reweighted(linear, ClassifierRatio()),
    }
    if labelled:
        candidates["target-only linear"] = TargetOnly(linear)
        candidates["pooled linear"] = Pooled(linear)
        candidates["pooled trees"] = Pooled(trees)
    if task == "classification" and labelled:
        candidates["transfer boosting"] = TrAdaBoostClassifier()
    elif task == "classification" and not _is_wide(X):
        discriminant = LinearDiscriminantAnalysis(solver="lsqr", shrinkage="auto")
        candidates["source-only discriminant"] = SourceOnly(discriminant)
    if sparse.issparse(X):
        return {name: model for name, model in candidates.items() if not name.endswith(DENSE)}
    return candidates


def _learners(task: Task) -> tuple[Any, Any, Any]:
    if task == "regression":
        linear = make_pipeline(MaxAbsScaler(), Ridge())
        return linear, HistGradientBoostingRegressor(), ReweightedRegressor
    linear = make_pipeline(MaxAbsScaler(), LogisticRegression(max_iter=1000))
    return linear, HistGradientBoostingClassifier(), ReweightedClassifier


def _is_wide(X: MatrixLike) -> bool:
    return len(np.shape(X)) == 2 and np.shape(X)[1] > MOST_COLUMNS


def _named(candidates: Any) -> list[tuple[str, Any, Any]]:
    if hasattr(candidates, "fit") or not isinstance(candidates, Iterable):
        raise TypeError(
            "`candidates` must map names to estimators or to (estimator, grid); got "
            f"{candidates!r}. Write {{'name': estimator}}, also for a single one."
        )
    pairs = list(candidates.items()) if isinstance(candidates, Mapping) else list(candidates)
    if not pairs:
        raise ValueError(
            "`candidates` must hold at least one estimator; got none. "
            "Pass a mapping from names to estimators, or None for a default list."
        )
    named = []
    for pair in pairs:
        if not (isinstance(pair, tuple) and len(pair) == 2 and isinstance(pair[0], str)):
            raise ValueError(
                "`candidates` must map names to estimators or to (estimator, grid); got "
                f"{pair!r}. Write {{'name': estimator}}."
            )
        name, value = pair
        estimator, grid = value if isinstance(value, tuple) and len(value) == 2 else (value, {})
        named.append((name, estimator, grid))
    names = [name for name, _, _ in named]
    repeated = sorted({name for name in names if names.count(name) > 1})
    if repeated:
        raise ValueError(
            f"`candidates` must have names that differ; got {repeated[0]!r} "
            f"{names.count(repeated[0])} times. Rename one, or give one estimator a grid."
        )
    return named


def _check_estimator(name: str, estimator: Any) -> None:
    if isinstance(estimator, type) or not all(hasattr(estimator, part) for part in INTERFACE):
        raise TypeError(
            "`candidates` must hold estimators with scikit-learn's interface "
            f"({', '.join(INTERFACE)}); got {estimator!r} for {name!r}. Pass an instance, of a "
            "class of your own that inherits from sklearn.base.BaseEstimator."
        )


def _combinations(name: str, grid: Any) -> ParameterGrid:
    try:
        combinations = ParameterGrid(grid)
        empty = len(combinations) == 0
    except ValueError:
        empty = True
    except TypeError as error:
        raise TypeError(
            f"`candidates` must have grids like {{'C': [0.1, 1]}} or a list of them; got {grid!r} "
            f"for {name!r}."
        ) from error
    if empty:
        raise ValueError(
            f"`candidates` must have grids with at least one value for each parameter; got "
            f"{grid!r} for {name!r}. Fill the grid or pass the estimator alone."
        )
    return combinations
