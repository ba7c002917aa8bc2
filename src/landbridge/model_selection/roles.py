"""Which rows a candidate is given in each of the fits that the criteria need.

S is the source, L the labelled target, U the unlabelled target; a bar means "without the fold".

================= ============================= ================================== ===========
fit               a plain estimator is given    a transfer estimator is given      predicts
================= ============================= ================================== ===========
forward           S̄ᵢ                            S̄ᵢ as source, L, U                 Sᵢ, U
reverse           {U, Ŷ} ∪ L                    {U, Ŷ} as source, L, Xs of Sᵢ      Sᵢ
labelled          S ∪ L̄ⱼ                        S as source, L̄ⱼ, U                 Lⱼ
source to target  S                             S as source, L and U unlabelled    L
target alone      L̄ⱼ                            L̄ⱼ as source, no target            Lⱼ
final             S ∪ L                         S as source, L, U                  new rows
================= ============================= ================================== ===========

A transfer estimator is one whose ``fit`` takes ``X_target``, alone or as a step of a pipeline,
whose other steps then treat the target rows too. Without unlabelled rows the rows of L stand in
for U.
"""

import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn import config_context
from sklearn.base import clone
from sklearn.dummy import DummyClassifier
from sklearn.pipeline import Pipeline
from sklearn.utils import _safe_indexing
from sklearn.utils.validation import has_fit_parameter

from landbridge._typing import MatrixLike, Vector, VectorLike
from landbridge._validation import stack_rows
from landbridge.baselines import Pooled, SourceOnly, TargetOnly
from landbridge.exceptions import LandbridgeWarning
from landbridge.model_selection.tables import SearchData


@dataclass(frozen=True, slots=True)
class Training:
    """What one fit is given."""

    X: MatrixLike
    y: Vector
    X_target: MatrixLike = None
    y_target: VectorLike = None
    X_unlabeled: MatrixLike = None

    @property
    def labels(self) -> Vector:
        """Every label of the fit."""
        return self.y if self.y_target is None else np.concatenate([self.y, self.y_target])

    @property
    def rows(self) -> MatrixLike:
        """Every labelled row of the fit, the source's first."""
        return self.X if self.X_target is None else stack_rows([self.X, self.X_target])


class OneClass(DummyClassifier):
    """Stands in for a candidate whose labels are of one class."""


def takes_target(estimator: Any) -> bool:
    """Whether ``fit`` takes target rows; for a pipeline: whether that of any step does."""
    return bool(steps_that_take(estimator, "X_target"))


def role_of(estimator: Any) -> str:
    """One word for what a candidate does with source and target."""
    last = _last_step(estimator)
    for kind, role in ((SourceOnly, "source-only"), (TargetOnly, "target-only")):
        if isinstance(last, kind):
            return role
    if isinstance(last, Pooled):
        return "pooled"
    return "transfer" if takes_target(estimator) else "plain"


def forward(data: SearchData, estimator: Any, train: Vector) -> Training:
    """Step 1 of Fig. 1."""
    X, y = _safe_indexing(data.X, train), data.y[train]
    if not takes_target(estimator):
        return Training(X, y)
    return Training(X, y, data.X_target, data.y_target, data.X_unlabeled)


def reverse(data: SearchData, estimator: Any, pseudo_labels: Vector, test: Vector) -> Training:
    """Step 3 of Fig. 1; for a transfer estimator the two domains change sides."""
    held_out = _safe_indexing(data.X, test) if takes_target(estimator) else None
    return Training(data.rows_to_label, pseudo_labels, data.X_target, data.y_target, held_out)


def labelled(data: SearchData, source: Vector, train: Vector | slice) -> Training:
    """Source and labelled target rows; all of them (``slice(None)``) for the final fit."""
    X_target, y_target = data.X_target, data.y_target
    if X_target is not None and not isinstance(train, slice):
        X_target, y_target = _safe_indexing(X_target, train), y_target[train]
    return Training(
        _safe_indexing(data.X, source), data.y[source], X_target, y_target, data.X_unlabeled
    )


def source_to_target(data: SearchData, source: Vector) -> Training:
    """The source with its labels, the target without."""
    X = _safe_indexing(data.X, source)
    return Training(X, data.y[source], X_unlabeled=data.target_rows)


def target_alone(data: SearchData, train: Vector) -> Training:
    """Labelled target rows as if there were no source."""
    return Training(_safe_indexing(data.X_target, train), data.y_target[train])


def fit_candidate(estimator: Any, rows: Training, *, task: str, seed: int) -> Any:
    """A fitted clone; labels of one class give the constant, as a pseudo-labelling can."""
    # What source-only never sees, the target's labels, cannot save it from one class.
    alone = role_of(estimator) == "source-only"
    X, y = (rows.X, rows.y) if alone else (rows.rows, rows.labels)
    if task == "classification" and np.unique(y).size == 1:
        return OneClass(strategy="most_frequent").fit(X, y)
    model = _seeded(clone(estimator), seed)
    with warnings.catch_warnings():
        # What a fold lacks is a property of the fold, not something to tell the user each time.
        warnings.simplefilter("ignore", LandbridgeWarning)
        if takes_target(model):
            return fit_with_target(model, rows)
        return model.fit(rows.rows, rows.labels)


def fit_with_target(model: Any, rows: Training, **options: Any) -> Any:
    """Fit with the target rows that there are; in a pipeline every step that takes them gets them.

    ``options`` are further arguments of ``fit``.
    """
    named = {
        "X_target": rows.X_target,
        "y_target": rows.y_target,
        "X_unlabeled": rows.X_unlabeled,
    }
    given = {name: value for name, value in named.items() if value is not None}
    if not given or not isinstance(model, Pipeline):
        return model.fit(rows.X, rows.y, **given, **options)
    with config_context(enable_metadata_routing=True):
        model.set_params(transform_input=[name for name in given if name.startswith("X")])
        for name in given:
            for step in steps_that_take(model, name):
                step.set_fit_request(**{name: True})
        return model.fit(rows.X, rows.y, **given, **options)


def _seeded(model: Any, seed: int) -> Any:
    """Give a seed to every ``random_state`` that the user left open."""
    names = [
        name
        for name, value in model.get_params().items()
        if value is None and name.rpartition("__")[2] == "random_state"
    ]
    return model.set_params(**dict.fromkeys(names, seed)) if names else model


def _last_step(estimator: Any) -> Any:
    return estimator.steps[-1][1] if isinstance(estimator, Pipeline) else estimator


def steps_that_take(estimator: Any, name: str) -> list[Any]:
    """The estimator, or of a pipeline the steps, whose ``fit`` has this parameter."""
    steps = [estimator]
    if isinstance(estimator, Pipeline):
        steps = [step for _, step in estimator.steps if hasattr(step, "fit")]
    return [step for step in steps if has_fit_parameter(step, name)]
