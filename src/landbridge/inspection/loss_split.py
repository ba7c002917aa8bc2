"""Split the loss of a source-only model in the target by its cause.

With P the source and Q the target, the difference of the mean losses is split with the help of a
distribution S shared by both domains (Cai, Namkoong and Yadlowsky, *Diagnosing model performance
under distribution shift*, 2023):

    E_Q ℓ − E_P ℓ = [E_S R_P − E_P R_P] + [E_S R_Q − E_S R_P] + [E_Q R_Q − E_S R_Q],

where R(x) is the mean loss at x in a domain. The first and the last part are due to shifted
features (X), the middle part to a changed relation (Y given X). S has the density p q/(p + q), so
with π(x) = P(target | x) between balanced domains, source rows get the weight π(x) and target rows
1 − π(x), which never exceed 1.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.base import clone
from sklearn.ensemble import RandomForestClassifier, RandomForestRegressor
from sklearn.model_selection import KFold, StratifiedKFold, cross_val_predict

from landbridge._docstrings import documented
from landbridge._tasks import spawn_seeds
from landbridge._typing import Matrix, MatrixLike, RandomState, Vector, VectorLike
from landbridge._validation import Task, stack_rows, without_masks
from landbridge.inference.intervals import check_level, decimals, with_decimals
from landbridge.inspection._domain_auc import default_classifier

N_REPLICATES, N_TREES = 1000, 100
FEWEST = 10
# If less than this share of the target rows resembles source rows, weights cannot help.
LEAST_OVERLAP = 0.3


class Cause(Enum):
    """Main cause of a change in loss."""

    NONE = "no significant change of the loss"
    FEATURES = "shifted features (X)"
    RELATION = "a changed relation (Y given X)"
    UNCLEAR = "unclear: neither part is significant"


class Advice(Enum):
    """Recommended action."""

    STOP = "Use the source model: its loss is not significantly higher in the target."
    REWEIGHT = "Reweight the source rows to the target."
    LABEL = "Label target rows and train on them."


@dataclass(frozen=True, slots=True)
class LossPart:
    """Part of the change in loss, with its interval."""

    value: float
    low: float
    high: float

    @property
    def beyond_chance(self) -> bool:
        """Whether the interval excludes 0."""
        return self.low > 0 or self.high < 0


@dataclass(frozen=True, slots=True)
class LossSplit:
    """Change of the mean loss from source to target, split by cause.

    Parameters
    ----------
    source, target : float
        Mean loss of the source-only model in both domains.
    total, features, relation : LossPart
        Total change (target minus source), and its parts from shifted features and from a changed
        relation.
    overlap : float
        Share of the target that overlaps with the source: mean of min(1, odds of the source).
    level : float
        Nominal coverage.
    loss_name : str
        Name of the loss in sentences.
    """

    source: float
    target: float
    total: LossPart
    features: LossPart
    relation: LossPart
    overlap: float
    level: float
    loss_name: str = "loss"

    @property
    def cause(self) -> Cause:
        """Cause of the larger significant part."""
        parts = {Cause.FEATURES: self.features, Cause.RELATION: self.relation}
        clear = {cause: part for cause, part in parts.items() if part.beyond_chance}
        if not clear:
            return Cause.UNCLEAR if self.total.beyond_chance else Cause.NONE
        return max(clear, key=lambda cause: abs(clear[cause].value))

    @property
    def advice(self) -> Advice:
        """Recommended action: stop, reweight or label."""
        if self.total.low <= 0:  # parts that cancel each other need no action either
            return Advice.STOP
        if self.cause is Cause.FEATURES and self.overlap >= LEAST_OVERLAP:
            return Advice.REWEIGHT
        return Advice.LABEL

    def __str__(self) -> str:
        level = f"{100 * self.level:.0f} %"
        parts = self.total, self.features, self.relation
        shown = decimals(min(part.high - part.low for part in parts[1:]) / 4)
        source, target = with_decimals(shown, self.source, self.target)
        total, features, relation = (
            "{} ({level} between {} and {})".format(*_signed(shown, part), level=level)
            for part in parts
        )
        return (
            f"The {self.loss_name} of a source-only model goes from {source} in the "
            f"source to {target} in the target: {total}. Shifted features: "
            f"{features}; changed relation: {relation}. Cause: {self.cause.value}. "
            f"{self.advice.value}"
        )


def _signed(shown: int, part: LossPart) -> list[str]:
    numbers = with_decimals(shown, part.value, part.low, part.high)
    return [number if number.startswith("-") else f"+{number}" for number in numbers]


def split_loss(
    X: Matrix,
    losses: Vector,
    X_target: Matrix,
    losses_target: Vector,
    *,
    level: float,
    loss_name: str,
    seed: int,
) -> LossSplit:
    """Split the change of the mean loss of a model that was trained on other source rows."""
    parts, seeds = (losses, losses_target), spawn_seeds(seed, 2)
    share = target_share(X, X_target, seeds[0])
    weights = share[: len(losses)], 1 - share[len(losses) :]
    values, replicates = _parts(parts, weights, seeds[1])
    tails = 100 * (1 - level) / 2, 100 * (1 + level) / 2
    total, features, relation = (
        LossPart(float(value), *map(float, np.percentile(draws, tails)))
        for value, draws in zip(values, replicates, strict=True)
    )
    odds = weights[1] / np.maximum(1 - weights[1], 1e-9)
    return LossSplit(
        source=float(parts[0].mean()),
        target=float(parts[1].mean()),
        total=total,
        features=features,
        relation=relation,
        overlap=float(np.minimum(odds, 1).mean()),
        level=level,
        loss_name=loss_name,
    )


def _parts(losses: Sequence[Vector], weights: Sequence[Vector], seed: int) -> tuple[Vector, Vector]:
    """Total, features and relation, and their Bayesian bootstrap replicates."""
    rng = np.random.default_rng(seed)
    plain, shared = [], []
    for loss, weight in zip(losses, weights, strict=True):
        draws = rng.standard_exponential((N_REPLICATES + 1, len(loss)))
        draws[0] = 1.0  # the estimate itself
        plain.append(draws @ loss / draws.sum(axis=1))
        shared.append(draws @ (weight * loss) / (draws @ weight))
    relation = shared[1] - shared[0]
    total = plain[1] - plain[0]
    both = np.stack([total, total - relation, relation])
    return both[:, 0], both[:, 1:]


def target_share(X: Matrix, X_target: Matrix, seed: int) -> Vector:
    """Cross-fitted π(x) = P(target | x) between balanced domains, for all rows of both."""
    rows = stack_rows([X, X_target])
    z = np.repeat([0, 1], [X.shape[0], X_target.shape[0]])
    # Large leaves, because smooth probabilities matter more here than a sharp boundary.
    leaf = max(3, int(0.01 * len(z)))
    model = default_classifier(sparse.issparse(rows), seed, leaf=leaf, class_weight="balanced")
    folds = StratifiedKFold(5, shuffle=True, random_state=seed)
    share = cross_val_predict(model, rows, z, cv=folds, method="predict_proba")[:, 1]
    return np.clip(share, 0.01, 0.99)


@documented
@without_masks
def explain_loss(
    X: MatrixLike,
    y: VectorLike,
    X_target: MatrixLike,
    y_target: VectorLike,
    *,
    task: Task,
    estimator: Any = None,
    level: float = 0.9,
    random_state: RandomState = None,
) -> LossSplit:
    """Fit a source-only model and split the change of its loss from source to target.

    Zero-one losses are used for classification and absolute errors for regression.

    Parameters
    ----------
    X, y : arrays
        Source rows and their labels.
    X_target, y_target : arrays
        Labelled target rows and their labels.
    estimator : estimator, optional
        Estimator to fit; a random forest by default.

    Returns
    -------
    LossSplit
        Change of the loss with its parts.

    Examples
    --------
    >>> from landbridge.datasets import make_concept_shift
    >>> from landbridge.inspection import explain_loss
    >>> data = make_concept_shift(400, 200, 3, random_state=0)
    >>> found = explain_loss(
    ...     data.X, data.y, data.X_target, data.y_target, task="classification", random_state=0)
    >>> found.cause.name, found.advice.name
    ('RELATION', 'LABEL')
    """
    check_level(level)
    y, y_target = np.asarray(y), np.asarray(y_target)
    for name, labels, rows in (("y", y, X), ("y_target", y_target, X_target)):
        if labels.shape != (rows.shape[0],) or labels.size < FEWEST:
            raise ValueError(
                f"`{name}` must contain one label per row, for at least {FEWEST} rows; got shape "
                f"{labels.shape} for {rows.shape[0]} rows. Label more rows."
            )
    seeds = spawn_seeds(random_state, 2)
    classify = task == "classification"
    if estimator is None:
        forest = RandomForestClassifier if classify else RandomForestRegressor
        estimator = forest(N_TREES, min_samples_leaf=3, random_state=seeds[0])
    folds = KFold(5, shuffle=True, random_state=seeds[0])
    predicted = cross_val_predict(clone(estimator), X, y, cv=folds)
    predicted_target = clone(estimator).fit(X, y).predict(X_target)
    if classify:
        losses = (predicted != y).astype(float), (predicted_target != y_target).astype(float)
    else:
        losses = np.abs(predicted - y), np.abs(predicted_target - y_target)
    return split_loss(
        X,
        losses[0],
        X_target,
        losses[1],
        level=level,
        loss_name="error rate" if classify else "mean absolute error",
        seed=seeds[1],
    )
