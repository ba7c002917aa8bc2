"""skada's scorers on the cells of the regret study; runs inside skada's environment.

    python skada_scorers.py FOLDER …

Each folder holds ``rows.npz``; the scores of every candidate go to ``skada.json`` beside it. The
candidates are those of the study (`landbridge` is found through PYTHONPATH): each is fitted on four
fifths of the source rows and the target rows, then given to the scorer with the other fifth and
the target rows, as `cross_validate` of skada does with one split.
"""

import json
import sys
import warnings
from pathlib import Path
from types import SimpleNamespace

import numpy as np
from benchmarks._regret_cells import candidates
from skada.metrics import (
    CircularValidation,
    DeepEmbeddedValidation,
    ImportanceWeightedScorer,
    MixValScorer,
    PredictionEntropyScorer,
    SoftNeighborhoodDensity,
)
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.metrics import accuracy_score
from sklearn.model_selection import train_test_split

from landbridge.model_selection import roles

SCORERS = {
    "importance weighted": ImportanceWeightedScorer(),
    "circular validation": CircularValidation(),
    "prediction entropy": PredictionEntropyScorer(),
    "soft neighbourhood density": SoftNeighborhoodDensity(),
    "deep embedded validation": DeepEmbeddedValidation(random_state=0),
    "MixVal": MixValScorer(random_state=0),
}


class Adapted(ClassifierMixin, BaseEstimator):
    """A candidate with the interface that skada's scorers call.

    ``sample_domain`` is positive on source rows. Class probabilities have a column for each class
    of the task, also where a model has not seen it. The features of deep embedded validation are
    the columns themselves, as skada takes for a pipeline without transformer.

    Circular validation fits a copy again, on pseudo-labels that it has numbered from 0 without
    gaps. The labelled target rows then get the same numbers; those of a class that no
    pseudo-label has are left out, because skada could not read such a prediction.
    """

    module_ = SimpleNamespace(layer_name="columns")

    def __init__(self, estimator=None, n_classes=2, X_labelled=None, y_labelled=None):
        self.estimator = estimator
        self.n_classes = n_classes
        self.X_labelled = X_labelled
        self.y_labelled = y_labelled

    def fit(self, X, y, sample_domain=None):
        source = sample_domain >= 0
        labelled = self._labelled_in_the_numbers_of(X[source])
        rows = roles.Training(X[source], y[source], *labelled, X_unlabeled=X[~source])
        self.model_ = roles.fit_candidate(self.estimator, rows, task="classification", seed=0)
        self.classes_ = np.arange(self.n_classes)
        return self

    def _labelled_in_the_numbers_of(self, X_pseudo_labelled):
        if self.X_labelled is None or not hasattr(self, "model_"):
            return self.X_labelled, self.y_labelled
        numbered = np.unique(self.model_.predict(X_pseudo_labelled))
        known = np.isin(self.y_labelled, numbered)
        if not known.any():
            return None, None
        return self.X_labelled[known], np.searchsorted(numbered, self.y_labelled[known])

    def predict(self, X, sample_domain=None, allow_source=False):
        return self.model_.predict(X)

    def predict_proba(self, X, sample_domain=None, allow_source=False):
        probabilities = np.zeros((len(X), self.n_classes))
        probabilities[:, self.model_.classes_] = self.model_.predict_proba(X)
        return probabilities

    def predict_features(self, X):
        return X

    def score(self, X, y, sample_weight=None, sample_domain=None, allow_source=False):
        return accuracy_score(y, self.predict(X), sample_weight=sample_weight)


def score_candidates(rows) -> dict[str, list[float]]:
    """Every scorer's verdict on every candidate; NaN where a scorer fails."""
    n = int(rows["n_labels"])
    X_target = rows["X_target"].astype(float)[n:]
    labelled = (rows["X_target"].astype(float)[:n], rows["y_target"][:n]) if n else (None, None)
    X, X_held, y, y_held = train_test_split(
        rows["X"].astype(float), rows["y"], test_size=0.2, random_state=0
    )
    n_classes = int(max(rows["y"].max(), rows["y_target"].max())) + 1
    scores = {name: [] for name in SCORERS}
    for estimator in candidates(n > 0).values():
        model = Adapted(estimator, n_classes, *labelled)
        model.set_score_request(sample_weight=True, sample_domain=True, allow_source=True)
        model.fit(*_stacked(X, y, X_target))
        held_X, held_y, held_domain = _stacked(X_held, y_held, X_target)
        for name, scorer in SCORERS.items():
            try:
                score = scorer._score(None, model, held_X, held_y, sample_domain=held_domain)
            except Exception as error:
                print(name, type(error).__name__, error, file=sys.stderr)
                score = float("nan")
            scores[name].append(float(score))
    return scores


def _stacked(X, y, X_target):
    """Rows of both domains with skada's masked labels (−1) and signed domains."""
    domain = np.repeat([1, -2], [len(X), len(X_target)])
    return np.vstack([X, X_target]), np.concatenate([y, np.full(len(X_target), -1)]), domain


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    for folder in map(Path, sys.argv[1:]):
        if not (folder / "skada.json").exists():
            with np.load(folder / "rows.npz") as rows:
                (folder / "skada.json").write_text(json.dumps(score_candidates(rows)))
