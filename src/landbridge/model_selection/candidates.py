"""Candidates: names with estimators and grids, their roles, and the default lists."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal, Self

import numpy as np
from scipy import sparse
from sklearn.base import BaseEstimator, clone
from sklearn.decomposition import TruncatedSVD
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.dummy import DummyClassifier, DummyRegressor
from sklearn.ensemble import (
    ExtraTreesRegressor,
    HistGradientBoostingRegressor,
    RandomForestClassifier,
    RandomForestRegressor,
)
from sklearn.linear_model import LogisticRegression, RidgeCV
from sklearn.model_selection import ParameterGrid
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsRegressor
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import MaxAbsScaler, MinMaxScaler, StandardScaler
from sklearn.svm import LinearSVC, LinearSVR
from sklearn.utils.metadata_routing import get_routing_for_object
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import has_fit_parameter

from landbridge._delegate import BOOSTED, last_step, task_of_estimator
from landbridge._typing import MatrixLike, Vector, VectorLike
from landbridge._validation import Task
from landbridge.baselines import Pooled, SourceOnly, TargetOnly
from landbridge.weighting import ReweightedClassifier, RuLSIF

# For learners that need dense rows, or whose cost grows with the square of the columns, sparse rows
# and rows with more columns than this are reduced to components.
MOST_COLUMNS, COMPONENTS = 2000, 100
# With more rows than this, every tree uses a sample of this size to limit the cost.
FOREST_ROWS = 4000
RIDGE_PENALTIES = np.logspace(-2, 4, 13)
SIMPLE = ("sklearn.linear_model", "sklearn.naive_bayes", "sklearn.discriminant_analysis")
LINEAR_MACHINES = (LinearSVC, LinearSVR)
SLOW = ("sklearn.neural_network", "sklearn.gaussian_process")
# Costs of a prediction in units of about 27 ns per row: medians over the searches of
# benchmarks/search_regret.py, at 3000 rows. Every estimator checks its rows, which takes longer
# than a dot product or a tree.
CHECK = 2.0
DOT_PRODUCT = 1.0
SINGLE_TREE = 0.5
TREE_OF_MANY = 1.5
TRANSFORMER = 4.0
GAUSSIANS = 14.0
# Largest complexity of a model that ignores the columns; see `complexity_of`.
MOST_OF_CONSTANT = 2
INTERFACE = ("fit", "get_params", "set_params", "__sklearn_tags__")


Role = Literal["source-only", "target-only", "pooled", "transfer", "plain", "baseline"]
# The role that follows from the last step alone.
ROLES: dict[type, Role] = {SourceOnly: "source-only", TargetOnly: "target-only", Pooled: "pooled"}


@dataclass(frozen=True, slots=True)
class Candidate:
    """One estimator with one choice of parameters.

    ``role`` describes the use of the two domains: only one of them, both with weights
    (``"pooled"``), both stacked (``"plain"``) or any other use (``"transfer"``). ``"baseline"`` is
    the majority class or mean, which no search selects.
    """

    name: str
    estimator: Any
    params: dict[str, Any]
    role: Role

    @property
    def complexity(self) -> int:
        """Rank used to break ties and to order fits; simple candidates come first."""
        return 0 if self.role == "baseline" else complexity_of(self.estimator)

    @property
    def uses_source(self) -> bool:
        """Whether the source matters, so that there is one cell per source."""
        # A pipeline that ends in TargetOnly fits its other steps on the source.
        return self.role != "baseline" and not isinstance(self.estimator, TargetOnly)


class LabelBaseline(BaseEstimator):
    """Predict the class frequencies or the mean of the target labels for every row.

    Without target labels, it uses those of the source. It accepts rows of any kind, including
    tables that the candidates encode.
    """

    def __init__(self, task: Task = "classification"):
        self.task = task

    def fit(
        self,
        X: MatrixLike,
        y: VectorLike,
        *,
        X_target: MatrixLike = None,
        y_target: VectorLike = None,
        X_unlabeled: MatrixLike = None,
        sample_weight: VectorLike = None,
        sample_weight_target: VectorLike = None,
    ) -> Self:
        """Learn from ``y_target``, or from ``y`` without it."""
        if y_target is not None:
            y, sample_weight = y_target, sample_weight_target
        model = DummyClassifier() if self.task == "classification" else DummyRegressor()
        self.model_ = model.fit(np.zeros((len(y), 1)), y, sample_weight=sample_weight)
        if self.task == "classification":
            self.classes_ = self.model_.classes_
        return self

    def predict(self, X: MatrixLike) -> Vector:
        """Predict the majority class or the mean for every row."""
        return self.model_.predict(X)

    @available_if(lambda self: self.task == "classification")
    def predict_proba(self, X: MatrixLike) -> np.ndarray:
        """Predict the shares of the classes for every row."""
        return self.model_.predict_proba(X)


def baseline(task: Task) -> Candidate:
    """Baseline of the ranking, which every candidate should beat."""
    name = "majority class" if task == "classification" else "mean"
    return Candidate(name, LabelBaseline(task), {}, "baseline")


def takes_target(estimator: Any) -> bool:
    """Whether ``fit`` takes target rows; for a pipeline, whether that of any step does."""
    return bool(steps_that_take(estimator, "X_target"))


def steps_that_take(estimator: Any, name: str) -> list[Any]:
    """The estimator, or the steps of a pipeline, whose ``fit`` has this parameter.

    Steps that refuse it, as by ``set_fit_request(sample_weight=False)``, are left out. Weights
    reach the steps of a pipeline only if its last step learns from them.
    """
    if not isinstance(estimator, Pipeline):
        return [estimator] if has_fit_parameter(estimator, name) else []
    steps = [step for _, step in estimator.steps if hasattr(step, "fit")]
    taking = [step for step in steps if has_fit_parameter(step, name) and not _refuses(step, name)]
    if "weight" in name and estimator.steps[-1][1] not in taking[-1:]:
        return []
    return taking


def _refuses(step: Any, name: str) -> bool:
    """Whether the user said that ``fit`` of a step does not want an argument."""
    requests = getattr(get_routing_for_object(step), "fit", None)
    return requests is not None and requests.requests.get(name) is False


def role_of(estimator: Any) -> Role:
    """Role of an estimator: which of source and target it is trained on."""
    last = last_step(estimator)
    for kind, role in ROLES.items():
        if isinstance(last, kind):
            return role
    if getattr(last, "target_share", None) == 0:
        return "source-only"  # reweighted source rows without the labelled target rows
    return "transfer" if takes_target(estimator) else "plain"


def expand_candidates(candidates: Any) -> list[Candidate]:
    """Every estimator with every combination of its grid, in the order given."""
    if not isinstance(candidates, Mapping) or not all(isinstance(n, str) for n in candidates):
        raise TypeError(
            "`candidates` must map names to estimators or to (estimator, grid); got "
            f"{candidates!r}. Write {{'name': estimator}}, even for a single one."
        )
    if not candidates:
        raise ValueError(
            "`candidates` must hold at least one estimator; got none. "
            "Pass a mapping from names to estimators, or None for a default list."
        )
    if "vote" in candidates:
        raise ValueError(
            "`candidates` must not contain the name 'vote', which is that of the vote of all "
            "candidates. Rename the candidate."
        )
    expanded = []
    for name, value in candidates.items():
        estimator, grid = value if isinstance(value, tuple) and len(value) == 2 else (value, {})
        if isinstance(estimator, type) or not all(hasattr(estimator, part) for part in INTERFACE):
            raise TypeError(
                "`candidates` must hold estimators with scikit-learn's interface "
                f"({', '.join(INTERFACE)}); got {estimator!r} for {name!r}. Pass an instance; "
                "your own classes should inherit from sklearn.base.BaseEstimator."
            )
        for params in _combinations(name, grid):
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
    """Task of the candidates, which must be the same for all."""
    first = {task_of_estimator(one.estimator): one.name for one in reversed(candidates)}
    if len(first) > 1:
        raise ValueError(
            "`candidates` must all be classifiers or all be regressors; got the regressor "
            f"{first['regression']!r} and {first['classification']!r}. Search them separately."
        )
    return next(iter(first))


def _combinations(name: str, grid: Any) -> list[dict[str, Any]]:
    try:
        combinations = list(ParameterGrid(grid))
    except ValueError:
        combinations = []
    except TypeError as error:
        raise TypeError(
            f"`candidates` must have grids like {{'C': [0.1, 1]}} or a list of them; got {grid!r} "
            f"for {name!r}."
        ) from error
    if not combinations:
        raise ValueError(
            f"`candidates` must have grids with at least one value per parameter; got "
            f"{grid!r} for {name!r}. Fill the grid or pass the estimator alone."
        )
    return combinations


def default_candidates(task: Task, *, labelled: bool, X: MatrixLike = None) -> dict[str, Any]:
    """Candidates to try on rows like ``X`` without further knowledge.

    With labelled target rows: a linear model and an ensemble of trees, each trained on the source,
    on the labelled target rows and on both. Without them, target-only and pooled models would
    equal source-only ones, and selection depends on the agreement of the candidates. Therefore
    three learners of other kinds are added; for classification, one of them is a linear model on
    reweighted source rows.
    """
    wrappers: dict[str, Any] = {"source-only": SourceOnly}
    if labelled:
        wrappers |= {"target-only": TargetOnly, "pooled": Pooled}
    learners = _learners(task, X)
    names = ("linear", "trees") if labelled else tuple(learners)
    candidates = {
        f"{role} {name}": wrapper(learners[name])
        for name in names
        for role, wrapper in wrappers.items()
    }
    if task == "classification" and not labelled:
        candidates["reweighted linear"] = ReweightedClassifier(learners["linear"], RuLSIF())
    return candidates


def _learners(task: Task, X: MatrixLike) -> dict[str, Any]:
    """Learners by name for rows like ``X``."""
    n_rows, n_columns = np.shape(X) if len(np.shape(X)) == 2 else (0, 0)
    is_sparse = sparse.issparse(X)
    rows_per_tree = FOREST_ROWS if n_rows > FOREST_ROWS else None
    if task == "regression":
        scaler = MaxAbsScaler() if is_sparse else StandardScaler()
        linear = make_pipeline(scaler, RidgeCV(RIDGE_PENALTIES))
        dense = {
            "trees": ExtraTreesRegressor(
                min_samples_leaf=3, bootstrap=rows_per_tree is not None, max_samples=rows_per_tree
            ),
            "forest": RandomForestRegressor(max_features=0.33, max_samples=rows_per_tree),
            "boosting": HistGradientBoostingRegressor(),
            "neighbours": make_pipeline(StandardScaler(), KNeighborsRegressor(10)),
        }
    else:
        # On columns scaled to [0, 1] the solver needs a tenth of the iterations that it needs on
        # columns far from zero, and C=4 gives the same penalty as C=1 on [-1, 1].
        scaler, penalty = (MaxAbsScaler(), 1.0) if is_sparse else (MinMaxScaler(), 4.0)
        linear = make_pipeline(scaler, LogisticRegression(C=penalty, max_iter=1000))
        if is_sparse and abs(X).max() <= 1:
            # TF-IDF is not scaled, because scaling would give rare terms more influence. On six
            # pairs of reviews C=10 without scaling had an accuracy of 0.805, C=1 0.791, and columns
            # scaled to [-1, 1] 0.788.
            linear = LogisticRegression(C=10.0, max_iter=1000)
        dense = {
            "trees": RandomForestClassifier(max_samples=rows_per_tree),
            "discriminant": LinearDiscriminantAnalysis(solver="lsqr", shrinkage="auto"),
            "naive Bayes": GaussianNB(),
        }
    if is_sparse or n_columns > MOST_COLUMNS:
        components = TruncatedSVD(min(COMPONENTS, n_columns))
        dense = {name: make_pipeline(components, learner) for name, learner in dense.items()}
    return {"linear": linear, **dense}


def complexity_of(estimator: Any) -> int:
    """Complexity used to break ties; smaller numbers are simpler and predict faster.

    ====== ==================================================================================
    0      a constant
    10     linear models, discriminants, naive Bayes
    20     single trees, neighbours, kernel machines and everything else
    30     ensembles
    40     neural networks, Gaussian processes
    ====== ==================================================================================

    Add 0 for a model trained on one domain, 1 for both domains together (pooled or a plain
    estimator), and 2 for any other transfer estimator. For a pipeline, the last step is used.
    """
    last = last_step(estimator)
    extra = {"source-only": 0, "target-only": 0, "pooled": 1, "plain": 1}.get(role_of(last), 2)
    inner = getattr(last, "estimator", None) if takes_target(last) else None
    learner = last if inner is None else last_step(inner)
    module = type(learner).__module__
    if isinstance(learner, (DummyClassifier, DummyRegressor)):
        return extra
    # Check attributes instead of classes, so that learners of other packages are recognised.
    if hasattr(learner, "n_estimators") or isinstance(learner, BOOSTED):
        return extra + 30
    if module.startswith(SLOW):
        return extra + 40
    return extra + (10 if module.startswith(SIMPLE) else 20)


def prediction_cost(estimator: Any, n_rows: int) -> float:
    """Estimated cost of predicting one row with an estimator trained on ``n_rows``.

    The vote limits the cost of its members by it. Measured seconds would be more precise, but
    differ between runs.

    ======================================================= ==============================
    decision tree                                           2.5
    linear model, discriminant, constant, other naive Bayes 3
    Gaussian naive Bayes                                    16
    forest, boosted trees                                   2 + 1.5 per tree
    ensemble of a given estimator                           2 + the cost of every member
    everything else, such as neighbours and kernel machines 2 + 1 per training row
    ======================================================= ==============================

    Add 2 for a wrapper, such as `Pooled`, which checks the rows as well, and 4 for every earlier
    step of a pipeline.

    >>> from sklearn.linear_model import LogisticRegression
    >>> prediction_cost(Pooled(LogisticRegression()), 1000)
    5.0
    """
    if isinstance(estimator, Pipeline):
        transformers = TRANSFORMER * (len(estimator.steps) - 1)
        return transformers + prediction_cost(estimator.steps[-1][1], n_rows)
    # A parameter, because forests have an attribute of this name that holds their kind of tree.
    inner = estimator.get_params(deep=False).get("estimator")
    each = TREE_OF_MANY if inner is None else prediction_cost(inner, n_rows)
    if hasattr(estimator, "n_estimators"):
        return CHECK + each * (estimator.n_estimators or 100)  # XGBoost: None stands for 100
    if inner is not None:
        return CHECK + each
    if isinstance(estimator, BOOSTED):
        return CHECK + TREE_OF_MANY * estimator.max_iter
    if isinstance(estimator, GaussianNB):
        return CHECK + GAUSSIANS
    module = type(estimator).__module__
    if module.startswith("sklearn.tree"):
        return CHECK + SINGLE_TREE
    if module.startswith(("sklearn.dummy", *SIMPLE)) or isinstance(estimator, LINEAR_MACHINES):
        return CHECK + DOT_PRODUCT
    return CHECK + n_rows
