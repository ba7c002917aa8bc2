"""Test whether the labelled rows are a random sample of the target.

Estimates from labelled rows are valid for similar rows. If only the first two weeks, one ward or
the largest values were labelled, the estimates may be wrong for the rest, and cross-validation does
not detect this. Labelled and unlabelled target rows are compared by

* a cross-fitted kernel ridge classifier of "labelled" against "unlabelled" (linear plus Gaussian
  kernel, which detects differences in means, spreads and clusters), by its AUC;
* the largest difference of the columns, in location and in spread of their ranks.

One permutation test covers both (minP of Westfall and Young, 1993): both are linear in the labels
given the rows, so all permutations are computed by one matrix product. The level is exact: if rows
were labelled at random, the probability of a false alarm is at most 3 %.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from scipy import linalg, sparse
from scipy.stats import rankdata
from sklearn.linear_model import LogisticRegression
from sklearn.metrics.pairwise import euclidean_distances
from sklearn.utils import check_random_state

from landbridge._typing import Matrix, MatrixLike, RandomState, Vector, VectorLike
from landbridge._validation import check_groups, without_masks
from landbridge.inference._comparable_rows import ComparableRows, comparable_rows

LEVEL = 0.03
N_PERMUTATIONS = 499
MAX_LABELLED, MAX_UNLABELLED = 300, 700
FEWEST = 5
N_FOLDS, RIDGE = 5, 0.1
# An unlabelled row is similar to the labelled rows if it is less unusual than the most unusual 5 %
# of them.
STRANGEST = 0.05
# Below these values, an estimate for the whole target would be an extrapolation: reweighted 90 %
# intervals covered the truth in 18 of 24 tasks above this overlap, and in 10 of 23 tasks with an
# overlap of 0.5 to 0.7.
LEAST_OVERLAP, LEAST_EFFECTIVE = 0.7, 10.0
N_TO_LABEL, MOST_NAMED = 20, 3


@dataclass(frozen=True, slots=True)
class LabelledColumn:
    """Difference of one column between labelled and unlabelled target rows.

    Parameters
    ----------
    name : str
        Name of the column.
    shift : float
        Mean of the labelled minus mean of the unlabelled rows, in standard deviations of both.
    outside : float
        Share of the unlabelled rows that lie outside the range of the labelled rows.
    p_value : float
        Permutation p-value, corrected for the number of columns.
    """

    name: str
    shift: float
    outside: float
    p_value: float


@dataclass(frozen=True, slots=True, eq=False)
class LabelCheck:
    """Comparison of labelled with unlabelled target rows.

    Parameters
    ----------
    n_labelled, n_unlabelled : int
        Number of labelled and of unlabelled target rows.
    p_value : float
        Permutation p-value of "the labelled rows are a random sample".
    weights : array of shape (n_labelled,)
        Weights with mean 1 that make the labelled rows resemble the unlabelled ones; all 1 if the
        labels are representative.
    effective_sample_size : float
        (Σw)²/Σw².
    auc : float
        Cross-fitted AUC of the classifier of labelled against unlabelled rows.
    representative : bool
        Whether the p-value is above 0.03.
    columns : tuple of LabelledColumn
        The columns that differ most, the most significant first.
    overlap : float
        Share of the unlabelled rows that are similar to labelled ones.
    withheld : bool
        Whether the rows overlap too little for any estimate of the whole target. A search also
        withholds intervals if the labelled rows differ and have only one class.
    rows_to_label : array of int
        Positions of unlabelled rows, drawn at random from those that are unlike the labelled ones.
    by_design : bool
        Whether the rows were chosen with known probabilities, so that no test is needed.
    n_disputed : int
        Number of labelled rows that were chosen because two models disagree on them.
    """

    n_labelled: int
    n_unlabelled: int
    p_value: float
    weights: Vector
    effective_sample_size: float
    auc: float = 0.5
    representative: bool = False
    columns: tuple[LabelledColumn, ...] = ()
    overlap: float = 1.0
    withheld: bool = False
    rows_to_label: Vector = field(default_factory=lambda: np.empty(0, dtype=int))
    by_design: bool = False
    n_disputed: int = 0

    @property
    def verdict(self) -> str:
        """Message to the user; empty if the labels are representative."""
        if self.n_disputed:
            return (
                f"{self.n_disputed} of the {self.n_labelled} labelled target rows were chosen "
                f"because two models disagree on them; rows on which they agree could not be "
                f"chosen. Scores from these labels are not valid for the target, so no interval is "
                "given. Label rows for the goal 'measure' to get one."
            )
        if self.by_design:
            return (
                f"The {self.n_labelled} labelled target rows were chosen with known probabilities. "
                "Scores weight them by the inverse probabilities, so that they are worth "
                f"{self.effective_sample_size:.0f} random labels."
            )
        return "" if self.representative else _in_words(self)

    def __repr__(self) -> str:
        return (
            f"LabelCheck(representative={self.representative}, p_value={self.p_value:.3g}, "
            f"auc={self.auc:.3f}, overlap={self.overlap:.2f}, effective_sample_size="
            f"{self.effective_sample_size:.4g} of {self.n_labelled}, withheld={self.withheld})"
        )


@without_masks
def check_labels(
    X_labelled: MatrixLike,
    X_unlabelled: MatrixLike,
    *,
    groups: VectorLike = None,
    groups_unlabelled: VectorLike = None,
    feature_names: Sequence[str] | None = None,
    random_state: RandomState = None,
) -> LabelCheck | None:
    """Test whether the labelled target rows are a random sample of the target.

    Parameters
    ----------
    X_labelled, X_unlabelled : target rows with and without label
        Rows as numpy, CSR, pandas or polars with the same columns. Text columns are compared by
        their most frequent values, and missing values by where they occur.
    groups, groups_unlabelled : arrays, optional
        Group, such as the patient, of each labelled and unlabelled row. Groups are then assumed to
        be labelled at random instead of rows, and one row per group is compared.
    feature_names : sequence of str, optional
        Names of the columns of arrays; None uses those of a table.
    random_state : int, RandomState or None, default=None
        Seed for the permutations and for sampling large tables (300 labelled, 700 other rows).

    Returns
    -------
    LabelCheck or None
        None if either side has fewer than 5 rows or groups.

    Examples
    --------
    >>> import numpy as np
    >>> from landbridge.inspection import check_labels
    >>> rows = np.random.default_rng(1).normal(size=(500, 3))
    >>> check_labels(rows[:50], rows[50:], random_state=0).representative
    True
    >>> rows = rows[np.argsort(rows[:, 1])]  # the smallest values were labelled
    >>> check = check_labels(rows[:50], rows[50:], feature_names=["a", "b", "c"], random_state=0)
    >>> check.representative, check.withheld, check.columns[0].name
    (False, True, 'b')
    """
    rows = comparable_rows(X_labelled, X_unlabelled, feature_names)
    rng = np.random.default_rng(check_random_state(random_state).randint(2**31))
    drawn = _draw_both(rows, rng, groups, groups_unlabelled)
    if min(part.size for part in drawn) < FEWEST:
        return None
    X, scores, auc, columns = _compare(rows, drawn, N_PERMUTATIONS, rng)
    p_value = smallest_p(np.stack([auc, columns.max(axis=0)]))
    found = _columns(rows, columns)
    n_labelled, n_unlabelled = rows.labelled.shape[0], rows.unlabelled.shape[0]
    if p_value > LEVEL:
        return LabelCheck(
            n_labelled,
            n_unlabelled,
            p_value,
            weights=np.ones(n_labelled),
            effective_sample_size=float(n_labelled),
            auc=float(auc[0]),
            representative=True,
            columns=found,
        )
    if groups is not None or groups_unlabelled is not None:  # every row gets a weight
        drawn = _draw_both(rows, rng)
        X, scores, _, columns = _compare(rows, drawn, 0, rng)
    return LabelCheck(
        n_labelled,
        n_unlabelled,
        p_value,
        **_weigh(n_labelled, X, drawn, scores[:, 0], columns, rng),
        auc=float(auc[0]),
        columns=found,
    )


def _compare(
    rows: ComparableRows, drawn: list[Vector], n_permutations: int, rng: np.random.Generator
) -> tuple[Matrix, Vector, Vector, Vector]:
    """Rows, classifier scores, AUC and column statistics; the latter for every permutation."""
    X = _stack(rows.labelled[drawn[0]], rows.unlabelled[drawn[1]])
    z = np.repeat([1.0, 0.0], [drawn[0].size, drawn[1].size])
    division = np.column_stack([z, *(rng.permutation(z) for _ in range(n_permutations))])
    scores = cross_fitting_matrix(X, rng) @ (division - z.mean())
    return X, scores, column_auc(scores, division), column_statistics(X, division)


def check_of_design(weights: Vector, n_unlabelled: int, n_disputed: int = 0) -> LabelCheck:
    """Describe labels that were chosen with known probabilities, as `LabelPlanner` does.

    ``weights`` are the inverse probabilities. ``n_disputed`` of the labels are of rows chosen
    because two models differ on them; if there are any, estimates are withheld, because other rows
    could not be chosen.
    """
    weights = np.asarray(weights, dtype=np.float64)
    effective = float(weights.sum() ** 2 / (weights @ weights))
    return LabelCheck(
        n_labelled=weights.size,
        n_unlabelled=n_unlabelled,
        p_value=0.0,
        weights=np.ones(weights.size),
        effective_sample_size=effective,
        withheld=n_disputed > 0,
        by_design=True,
        n_disputed=n_disputed,
    )


def _weigh(
    n_labelled: int,
    X: Matrix,
    drawn: list[Vector],
    scores: Vector,
    columns: Vector,
    rng: np.random.Generator,
) -> dict[str, Any]:
    """Overlap, weights and rows to label if labels are not representative."""
    n_drawn = drawn[0].size
    log_odds = _log_odds(X, scores, columns[:, 0], n_drawn)
    mine, others = log_odds[:n_drawn], log_odds[n_drawn:]
    like = others >= np.quantile(mine, STRANGEST)
    # Bayes' rule: the density ratio of unlabelled to labelled rows is the inverse of the odds.
    ratio = np.exp(-mine + mine.min())
    weights = np.full(n_labelled, ratio.mean())
    weights[drawn[0]] = ratio
    weights /= weights.mean()
    effective = float(weights.sum() ** 2 / (weights**2).sum())
    overlap = float(like.mean())
    strange = drawn[1][~like] if (~like).any() else drawn[1]
    chosen = rng.choice(strange, min(N_TO_LABEL, strange.size), replace=False)
    return {
        "weights": weights,
        "effective_sample_size": effective,
        "overlap": overlap,
        "withheld": bool(overlap < LEAST_OVERLAP or effective < LEAST_EFFECTIVE),
        "rows_to_label": np.sort(chosen),
    }


def cross_fitting_matrix(X: Matrix, rng: np.random.Generator) -> Vector:
    """Matrix G with G z the cross-fitted kernel ridge scores of centred labels z.

    With the hat matrix H = 1/n + K (K + ridge·I)⁻¹ of all rows, the scores of a fold F from a model
    that never saw it are (I − H_FF)⁻¹ (H_F· z − H_FF z_F), so no model has to be refitted.
    """
    K = _kernel(X)
    n = K.shape[0]
    ridge = max(RIDGE * np.trace(K), 1e-12)
    factor = linalg.cho_factor(K + ridge * np.eye(n), overwrite_a=True)
    H = linalg.cho_solve(factor, K).T + 1.0 / n  # K and (K + ridge·I)⁻¹ commute
    folds = rng.permutation(np.arange(n) % N_FOLDS)
    G = H
    for fold in range(N_FOLDS):
        inside = np.flatnonzero(folds == fold)
        block = H[np.ix_(inside, inside)]
        other = H[inside]
        other[:, inside] = 0.0
        fitted = np.linalg.solve(np.eye(inside.size) - block, other)
        # Folds differ in their share of labelled rows, which shifts all scores of a fold equally.
        G[inside] = fitted - fitted.mean(axis=0)
    return G


def _kernel(X: Matrix) -> Vector:
    """Centred sum of a linear and a Gaussian kernel of median width, both with mean diagonal 1."""
    linear = X @ X.T
    linear = linear.toarray() if sparse.issparse(linear) else np.asarray(linear)
    distances = euclidean_distances(X, squared=True)
    median = np.median(distances[np.triu_indices_from(distances, k=1)])
    gaussian = np.exp(-distances / (median if median > 0 else 1.0))
    total = linear / max(np.mean(np.diag(linear)), 1e-12) + gaussian
    total = total - total.mean(axis=0) - total.mean(axis=1)[:, None] + total.mean()
    return (total + total.T) / 2


def column_auc(scores: Vector, division: Vector) -> Vector:
    """AUC of each column of scores for the same column of zero-one labels."""
    n_one = division.sum(axis=0)
    ranks = rankdata(scores, axis=0)
    wins = (ranks * division).sum(axis=0) - n_one * (n_one + 1) / 2
    return wins / (n_one * (len(scores) - n_one))


def column_statistics(X: Matrix, division: Vector) -> Vector:
    """Larger absolute standard score of mean rank and mean squared rank of labelled rows.

    The result has shape (columns, permutations). Sparse columns are compared by their values.
    """
    n, n_one = division.shape[0], division[:, 0].sum()
    centred = division - n_one / n
    spread = np.sqrt(n_one * (n - n_one) / (n * (n - 1)))
    if sparse.issparse(X):
        parts = [X]
    else:
        ranks = rankdata(X, axis=0) / (n + 1) - 0.5
        parts = [ranks, ranks**2]
    found = []
    for part in parts:
        sums = np.asarray(part.T @ centred)
        mean = np.asarray(part.mean(axis=0)).ravel()
        square = part.multiply(part) if sparse.issparse(part) else part**2
        deviation = np.asarray(square.sum(axis=0)).ravel() - n * mean**2
        scale = np.sqrt(np.maximum(deviation, 0)) * spread
        with np.errstate(divide="ignore", invalid="ignore"):
            found.append(np.where(scale[:, None] > 1e-12, np.abs(sums) / scale[:, None], 0.0))
    return np.maximum.reduce(found)


def smallest_p(statistics: Vector) -> float:
    """Permutation p-value of the smallest p-value over several statistics (rows).

    The first column is the observed division, the others are permutations of it.
    """
    n = statistics.shape[1]
    p_values = (n + 1 - rankdata(statistics, axis=1, method="min")) / n
    smallest = p_values.min(axis=0)
    return float(np.mean(smallest <= smallest[0] + 1e-12))


def _columns(rows: ComparableRows, statistics: Vector) -> tuple[LabelledColumn, ...]:
    """Columns that differ significantly; at least the most significant one."""
    largest = statistics.max(axis=0)
    observed = statistics[:, 0]
    order = np.argsort(-observed, kind="stable")
    found: list[LabelledColumn] = []
    for k in order[: 10 * MOST_NAMED].tolist():
        name = rows.names[k]
        p_value = float(np.mean(largest >= observed[k] - 1e-12))
        if any(column.name == name for column in found) or (found and p_value > 0.05):
            continue
        mine, others = rows.column(k)
        outside = np.mean((others < mine.min()) | (others > mine.max()))
        spread = np.sqrt((mine.var() + others.var()) / 2)
        shift = (mine.mean() - others.mean()) / spread if spread > 0 else 0.0
        found.append(LabelledColumn(name, float(shift), float(outside), p_value))
    return tuple(found)


def _log_odds(X: Matrix, scores: Vector, columns: Vector, n_labelled: int) -> Vector:
    """Log-odds of "labelled" by ridge, from the score and the most significant columns."""
    clearest = np.argsort(-columns, kind="stable")[:MOST_NAMED]
    values = X[:, clearest]
    values = values.toarray() if sparse.issparse(values) else values
    design = np.column_stack([scores, values, values**2])
    spread = design.std(axis=0)
    design = (design - design.mean(axis=0)) / np.where(spread > 0, spread, 1.0)
    z = np.arange(len(scores)) < n_labelled
    model = LogisticRegression(max_iter=1000).fit(design, z)
    return model.decision_function(design)


def _draw_both(rows: ComparableRows, rng: np.random.Generator, *groups: VectorLike) -> list[Vector]:
    """Positions of at most 300 labelled and 700 unlabelled rows, of different groups."""
    parts = (rows.labelled.shape[0], rows.unlabelled.shape[0])
    drawn = []
    for n, most, own in zip(
        parts, (MAX_LABELLED, MAX_UNLABELLED), groups or (None, None), strict=True
    ):
        kept = np.arange(n)
        if own is not None:
            order = rng.permutation(n)
            kept = order[np.unique(check_groups(own, n)[order], return_index=True)[1]]
        if kept.size > most:
            kept = rng.choice(kept, most, replace=False)
        drawn.append(np.sort(kept))
    return drawn


def _stack(first: Matrix, second: Matrix) -> Matrix:
    """Both parts with columns scaled to unit variance; dense columns are also centred."""
    if sparse.issparse(first):
        X = sparse.vstack([first, second], format="csr")
        mean = np.asarray(X.mean(axis=0)).ravel()
        variance = np.asarray(X.multiply(X).mean(axis=0)).ravel() - mean**2
        scale = np.where(variance > 0, 1 / np.sqrt(np.maximum(variance, 1e-300)), 0.0)
        return X @ sparse.diags_array(scale)
    X = np.concatenate([first, second])
    spread = X.std(axis=0)
    return (X - X.mean(axis=0)) / np.where(spread > 0, spread, 1.0)


def _in_words(check: LabelCheck) -> str:
    named = [column for column in check.columns if column.p_value <= 0.05][:MOST_NAMED]
    where = "in the combination of their columns"
    if named:
        where = "in " + ", ".join(_how(column) for column in named)
    beginning = (
        f"The {check.n_labelled} labelled target rows are not a random sample of the target: they "
        f"differ {where}. {100 * check.overlap:.0f} % of the unlabelled rows are similar to them."
    )
    if check.withheld:
        return (
            f"{beginning} Scores from these labels are not valid for the target, so no interval is "
            "given. Label unlabelled rows chosen at random."
        )
    return (
        f"{beginning} Scores are reweighted to the target (worth "
        f"{check.effective_sample_size:.0f} labels) and their intervals are wider. Label "
        "unlabelled rows chosen at random."
    )


def _how(column: LabelledColumn) -> str:
    if column.outside >= 0.3:
        return f"{column.name} ({100 * column.outside:.0f} % of the others lie outside their range)"
    return f"{column.name} ({column.shift:+.1f} sd)"
