"""The methods of the surrogate-kernel experiments, each with a grid of four points.

A method is a list of four candidates; a candidate has ``fit(X, y, X_unlabeled)`` and ``predict``.
The plain learner has four costs; every other method has two costs and two values of its own
parameter (KLIEP, which chooses its width itself, has four costs).
"""

from dataclasses import dataclass
from itertools import product
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.decomposition import PCA, KernelPCA
from sklearn.kernel_ridge import KernelRidge
from sklearn.neighbors import KNeighborsClassifier
from sklearn.svm import SVC, LinearSVC

import landbridge as lb


@dataclass
class Plain:
    """A learner that sees the source alone."""

    learner: Any

    def fit(self, X: Any, y: Any, X_unlabeled: Any) -> "Plain":
        self.learner.fit(X, y)
        return self

    def predict(self, X: Any) -> np.ndarray:
        return self.learner.predict(X)


@dataclass
class Mapped:
    """A map fitted on both domains, then a learner on the mapped source.

    Mapped rows are divided by one number, so that a cost means the same behind every map.
    Candidates that share a map fit it once.
    """

    transformer: Any
    learner: Any

    def fit(self, X: Any, y: Any, X_unlabeled: Any) -> "Mapped":
        if not hasattr(self.transformer, "n_features_in_"):
            if isinstance(self.transformer, PCA | KernelPCA):
                self.transformer.fit(np.vstack([X, X_unlabeled]))
            else:
                self.transformer.fit(X, y, X_unlabeled=X_unlabeled)
        treat = getattr(self.transformer, "transform_source", self.transformer.transform)
        rows = treat(X)
        self.scale = np.sqrt((rows**2).sum(axis=1).mean())
        self.learner.fit(rows / self.scale, y)
        return self

    def predict(self, X: Any) -> np.ndarray:
        return self.learner.predict(self.transformer.transform(X) / self.scale)


def mapped(transformers: list[Any], learners: list[Any]) -> list[Any]:
    """Every map with every learner."""
    pairs = product(transformers, learners)
    return [Mapped(transformer, clone(learner)) for transformer, learner in pairs]


def linear_surrogate(ridge: float) -> lb.SurrogateKernelMap:
    """The exact surrogate of the linear kernel: as many features as there are columns."""
    return lb.SurrogateKernelMap(kernel="linear", ridge=ridge, n_components=1000)


@dataclass
class Weighted:
    """A learner on weighted source rows; candidates that share a weighting fit it once."""

    weighting: Any
    learner: Any

    def fit(self, X: Any, y: Any, X_unlabeled: Any) -> "Weighted":
        if not hasattr(self.weighting, "weights_"):
            self.weighting.fit(X, X_unlabeled)
        self.learner.fit(X, y, sample_weight=self.weighting.weights_)
        return self

    def predict(self, X: Any) -> np.ndarray:
        return self.learner.predict(X)


def kernel_mean_matching(learner: Any, values: tuple[float, float]) -> list[Any]:
    """Two costs with our default setting and with the paper's."""
    settings = [lb.KernelMeanMatching(setting=setting) for setting in ("evidence", "paper")]
    return [Weighted(weights, learner(value)) for value, weights in product(values, settings)]


def kliep(learner: Any, values: tuple[float, ...]) -> list[Any]:
    """Four costs with weights whose width is cross-validated."""
    weights = lb.KLIEP()
    return [Weighted(weights, learner(value)) for value in values]


@dataclass
class Reduced:
    """A transfer estimator on the principal components of both domains."""

    n_components: int
    estimator: Any

    def fit(self, X: Any, y: Any, X_unlabeled: Any) -> "Reduced":
        self.pca = PCA(self.n_components, random_state=0).fit(np.vstack([X, X_unlabeled]))
        self.estimator.fit(self.pca.transform(X), y, X_unlabeled=self.pca.transform(X_unlabeled))
        return self

    def predict(self, X: Any) -> np.ndarray:
        return self.estimator.predict(self.pca.transform(X))


@dataclass
class Transfer:
    """A transfer estimator."""

    estimator: Any

    def fit(self, X: Any, y: Any, X_unlabeled: Any) -> "Transfer":
        self.estimator.fit(X, y, X_unlabeled=X_unlabeled)
        return self

    def predict(self, X: Any) -> np.ndarray:
        return self.estimator.predict(X)


def text_methods() -> dict[str, list[Any]]:
    """Linear SVMs on tf-idf ("words") or on its 200 leading singular directions."""
    costs, two = (0.001, 0.01, 0.1, 1.0), (0.003, 0.1)

    def svm(C: float) -> LinearSVC:
        return LinearSVC(C=C, dual=False)

    maps = {
        "TCA": [
            lb.TransferComponentAnalysis(50, kernel="linear", mu=mu, rank=200) for mu in (0.01, 1.0)
        ],
        "kernel PCA": [PCA(n) for n in (20, 50)],
        "CORAL": [lb.CORAL(ridge, match_mean=True) for ridge in (1e-3, 1e-1)],
        "SA": [lb.SubspaceAlignment(n) for n in (20, 50)],
        "surrogate": [linear_surrogate(ridge) for ridge in (1.0, 300.0)],
    }
    return {
        "SVM, words": [Plain(svm(C)) for C in costs],
        "SVM": [Plain(svm(C)) for C in costs],
        "KMM": kernel_mean_matching(svm, two),
        "KLIEP": kliep(svm, costs),
        "TSVM, words": [
            Transfer(lb.TransductiveSVC(C, influence, kernel="linear"))
            for C, influence in product((0.1, 1.0), (0.1, 1.0))
        ],
        "LapRLS": [
            Transfer(lb.LaplacianRLSClassifier(ridge, smoothness, kernel="linear"))
            for ridge, smoothness in product((1e-3, 1e-2), (0.1, 1.0))
        ],
        **{name: mapped(pair, [svm(C) for C in two]) for name, pair in maps.items()},
    }


def wifi_methods(gamma: float) -> dict[str, list[Any]]:
    """Kernel ridge regressions with a Gaussian kernel; ``gamma`` is its 1/(2·width²)."""
    ridges, two = (1e-3, 1e-2, 1e-1, 1.0), (1e-2, 1e-1)
    width = float(np.sqrt(0.5 / gamma))

    def krr(alpha: float) -> KernelRidge:
        return KernelRidge(alpha=alpha, kernel="rbf", gamma=gamma)

    def unit_krr(alpha: float) -> KernelRidge:
        """Behind a map rows have a mean squared norm of 1."""
        return KernelRidge(alpha=alpha, kernel="rbf", gamma=0.5)

    maps = {
        "TCA": [lb.TransferComponentAnalysis(50, width=width, mu=mu) for mu in (0.01, 1.0)],
        "kernel PCA": [KernelPCA(n, kernel="rbf", gamma=gamma) for n in (20, 50)],
        "CORAL": [lb.CORAL(ridge, match_mean=True) for ridge in (1e-3, 1e-1)],
        "SA": [lb.SubspaceAlignment(n) for n in (20, 50)],
    }
    return {
        "KRR": [Plain(krr(alpha)) for alpha in ridges],
        "KMM": kernel_mean_matching(krr, two),
        "KLIEP": kliep(krr, ridges),
        "LapRLS": [
            Transfer(lb.LaplacianRLSRegressor(ridge, smoothness, width=width))
            for ridge, smoothness in product((3e-5, 3e-4), (0.01, 0.1))
        ],
        "surrogate": [
            Transfer(lb.SurrogateKernelRegressor(alpha, width=width, ridge=ridge))
            for alpha, ridge in product(two, (0.1, 1.0))
        ],
        **{name: mapped(pair, [unit_krr(alpha) for alpha in two]) for name, pair in maps.items()},
    }


def office_methods() -> dict[str, list[Any]]:
    """Linear SVMs (cost 10 behind a map) and 1-NN on standardised visual words."""
    costs, two = (0.1, 1.0, 10.0, 100.0), (1.0, 10.0)

    def svm(C: float = 10.0) -> SVC:
        return SVC(C=C, kernel="linear")

    def scaled(C: float) -> SVC:
        """A row of 800 standardised columns has a mean squared norm of 800."""
        return svm(C / 800)

    maps: dict[str, list[Any]] = {
        "TCA": [
            lb.TransferComponentAnalysis(n, kernel="linear", mu=mu)
            for n, mu in product((20, 60), (1.0, 100.0))
        ],
        "kernel PCA": [PCA(n) for n in (20, 40, 60, 100)],
        "CORAL": [lb.CORAL(ridge, match_mean=True) for ridge in (0.1, 1.0, 10.0, 100.0)],
        "SA": [lb.SubspaceAlignment(n) for n in (20, 40, 60, 100)],
        "surrogate": [linear_surrogate(ridge) for ridge in (1.0, 10.0, 100.0, 1000.0)],
    }
    return {
        "1-NN": [Plain(KNeighborsClassifier(1))],
        **{f"{name}, 1-NN": mapped(four, [KNeighborsClassifier(1)]) for name, four in maps.items()},
        "SVM": [Plain(scaled(C)) for C in costs],
        "KMM": kernel_mean_matching(scaled, two),
        "KLIEP": kliep(scaled, costs),
        "TSVM": [
            Reduced(60, lb.TransductiveSVC(C, influence, kernel="linear"))
            for C, influence in product((1e-3, 1e-2), (0.1, 1.0))
        ],
        "LapRLS": [
            Transfer(lb.LaplacianRLSClassifier(ridge, smoothness, kernel="linear"))
            for ridge, smoothness in product((0.1, 1.0), (0.1, 1.0))
        ],
        **{f"{name}, SVM": mapped(four, [svm()]) for name, four in maps.items()},
    }
