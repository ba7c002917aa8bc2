"""The table of all public estimators. A new estimator adds one line and inherits every check."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.tree import DecisionTreeClassifier

import landbridge as lb

Kind = Literal["classifier", "regressor", "transformer", "weighting", "grouped"]


@dataclass(frozen=True)
class Case:
    """One line of the table.

    ``make`` builds a small and fast instance. ``row_order`` says whether the order of rows is
    irrelevant, ``sparse`` whether CSR gives the dense answer, ``target`` whether the method has a
    target at all, ``needs_target`` whether it refuses to be fitted without one, ``tolerance`` how
    far two answers that should be equal may lie apart.
    ``expected_failures`` maps a check of scikit-learn to the reason why it cannot pass.
    """

    make: Callable[[], Any]
    kind: Kind
    row_order: bool = True
    sparse: bool = True
    target: bool = True
    needs_target: bool = False
    tolerance: float = 1e-6
    expected_failures: dict[str, str] = field(default_factory=dict)

    @property
    def name(self) -> str:
        return type(self.make()).__name__


def small_search(estimator: Any) -> Callable[[], Any]:
    """A search over two candidates on two folds."""
    candidates = {"source": lb.SourceOnly(estimator), "pooled": lb.Pooled(estimator)}
    return lambda: lb.TransferSearchCV(candidates, cv=2, random_state=0)


CASES = [
    Case(lambda: lb.SourceOnly(LogisticRegression()), "classifier"),
    Case(lambda: lb.SourceOnly(Ridge()), "regressor"),
    Case(lambda: lb.TargetOnly(LogisticRegression()), "classifier"),
    Case(lambda: lb.TargetOnly(Ridge()), "regressor"),
    Case(lambda: lb.Pooled(LogisticRegression()), "classifier"),
    Case(lambda: lb.Pooled(Ridge()), "regressor"),
    Case(lambda: lb.TrAdaBoostClassifier(), "classifier", tolerance=1e-3),
    Case(lambda: lb.TrAdaBoostClassifier(lb.TrimmedTreeClassifier()), "classifier"),
    # With trees of scikit-learn, ties hang on the order of rows and on the storage.
    Case(lambda: lb.TrAdaBoostRegressor(Ridge(), n_estimators=5), "regressor"),
    Case(lambda: lb.TransferBoostClassifier(n_estimators=4), "classifier"),
    Case(lambda: lb.MultiSourceTrAdaBoostClassifier(n_estimators=4), "classifier"),
    Case(lambda: lb.TaskTrAdaBoostClassifier(n_estimators=4), "classifier"),
    Case(lambda: lb.TrimmedTreeClassifier(), "classifier"),
    Case(lambda: lb.UniformWeights(), "weighting"),
    Case(lambda: lb.KernelMeanMatching(), "weighting"),
    Case(lambda: lb.KernelMeanMatching(n_components=30), "weighting"),
    Case(lambda: lb.KLIEP(), "weighting"),
    Case(lambda: lb.RuLSIF(), "weighting"),
    Case(lambda: lb.ClassifierRatio(), "weighting"),
    Case(lambda: lb.ReweightedClassifier(LogisticRegression()), "classifier"),
    Case(lambda: lb.ReweightedRegressor(Ridge()), "regressor"),
    Case(small_search(LogisticRegression()), "classifier", row_order=False, needs_target=True),
    Case(small_search(Ridge()), "regressor", row_order=False, needs_target=True),
    Case(lambda: lb.SurrogateKernelClassifier(), "classifier", tolerance=1e-3),
    Case(lambda: lb.SurrogateKernelRegressor(), "regressor"),
    Case(lambda: lb.SurrogateKernelMap(random_state=0), "transformer"),
    Case(lambda: lb.TransferComponentAnalysis(n_components=3), "transformer"),
    Case(lambda: lb.LaplacianRLSClassifier(), "classifier"),
    Case(lambda: lb.LaplacianRLSRegressor(), "regressor"),
    Case(lambda: lb.TransductiveSVC(), "classifier", tolerance=1e-3),
    Case(
        lambda: lb.SurrogateKernelClassifier(n_components=20, random_state=0),
        "classifier",
        tolerance=1e-3,
    ),
    Case(lambda: lb.SurrogateKernelRegressor(n_components=20, random_state=0), "regressor"),
    Case(
        lambda: lb.TransferComponentAnalysis(n_components=3, rank=20, random_state=0), "transformer"
    ),
    Case(lambda: lb.LaplacianRLSRegressor(n_components=20, random_state=0), "regressor"),
    Case(lambda: lb.TransductiveSVC(kernel="linear"), "classifier", tolerance=1e-3),
    Case(lambda: lb.CORAL(), "transformer", sparse=False),
    Case(lambda: lb.SubspaceAlignment(n_components=2), "transformer"),
    Case(lambda: lb.LatentMap(n_components=2), "transformer"),
    # Exemplars grow in the order of the rows; k-means and trees settle ties by it.
    Case(lambda: lb.NNgeClassifier(), "classifier", row_order=False, sparse=False, target=False),
    # Not its default learners: randomised trees draw other splits on CSR.
    Case(
        lambda: lb.LocallyWeightedEnsemble(
            [
                ("linear", LogisticRegression()),
                ("tree", DecisionTreeClassifier(min_samples_leaf=5)),
            ],
            random_state=0,
        ),
        "classifier",
        row_order=False,
    ),
    Case(
        lambda: lb.LocallyWeightedEnsemble(
            [("a", LogisticRegression()), ("b", LogisticRegression(C=0.01))],
            min_purity=0.0,
            random_state=0,
        ),
        "classifier",
        row_order=False,
    ),
    Case(lambda: lb.TGreedySelector(), "grouped"),
    Case(lambda: lb.TGreedySelector("gate", n_features=1, stop=None, refit="ols"), "grouped"),
    Case(
        lambda: lb.SimilarityLearner(lb.TGreedySelector(n_features=1), 50, random_state=0),
        "transformer",
        sparse=False,
        row_order=False,
        target=False,
    ),
    Case(
        lambda: lb.SimilarityLearner(
            lb.TGreedySelector(n_features=1), 50, random_state=0, center=False
        ),
        "transformer",
        row_order=False,
        target=False,
    ),
]


@dataclass(frozen=True)
class Sample:
    """A small transfer problem: source, labelled target, unlabelled target, new rows."""

    X: Any
    y: Any
    X_target: Any
    y_target: Any
    X_unlabeled: Any
    groups: Any
    X_new: Any

    def arguments(self, case: Case) -> dict[str, Any]:
        """Keyword arguments of ``fit`` for the kind of the case."""
        if case.kind == "weighting":
            return {"X": self.X, "X_target": self.X_unlabeled}
        if case.kind == "grouped":
            return {"X": self.X, "y": self.y, "groups": self.groups}
        if not case.target:
            return {"X": self.X, "y": self.y}
        return {
            "X": self.X,
            "y": self.y,
            "X_target": self.X_target,
            "y_target": self.y_target,
            "X_unlabeled": self.X_unlabeled,
        }

    def convert(self, matrix: Callable[[Any], Any]) -> "Sample":
        """The same sample with every matrix converted."""
        return Sample(
            matrix(self.X),
            self.y,
            matrix(self.X_target),
            self.y_target,
            matrix(self.X_unlabeled),
            self.groups,
            matrix(self.X_new),
        )


def make_sample(case: Case, seed: int = 0) -> Sample:
    """Two overlapping classes (or a linear response) whose inputs move in the target."""
    rng = np.random.default_rng(seed)

    def draw(n: int, shift: float) -> tuple[np.ndarray, np.ndarray]:
        X = rng.normal(shift, 1.0, size=(n, 4))
        signal = X[:, 0] - 0.5 * X[:, 1] + 0.3 * rng.normal(size=n)
        y = signal if case.kind == "regressor" else (signal > np.median(signal)).astype(int)
        return X, y

    X, y = draw(80, 0.0)
    X_target, y_target = draw(24, 0.4)
    X_unlabeled, _ = draw(40, 0.4)
    X_new, _ = draw(30, 0.4)
    groups = np.repeat(["a", "b", "c", "d"], 20)
    return Sample(X, y, X_target, y_target, X_unlabeled, groups, X_new)


def answer(case: Case, estimator: Any, X: Any) -> np.ndarray:
    """What the fitted estimator says: the arrays that must not change."""
    if case.kind == "weighting":
        return estimator.weights_
    if case.kind == "transformer":
        return np.asarray(estimator.transform(X))
    for method in ("decision_function", "predict_proba", "predict"):
        if hasattr(estimator, method):
            return np.asarray(getattr(estimator, method)(X))
    raise AssertionError(f"{case.name} answers nothing")
