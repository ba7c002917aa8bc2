"""Diagnose the shift between two domains and whether weighting can correct it."""

import math
import textwrap
import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from scipy import sparse
from sklearn.base import BaseEstimator, clone
from sklearn.preprocessing import StandardScaler

from landbridge._docstrings import documented
from landbridge._html import card, html_table, sentence
from landbridge._tasks import spawn_seeds
from landbridge._typing import Matrix, MatrixLike, RandomState, VectorLike
from landbridge._validation import (
    Task,
    check_choice,
    check_count,
    check_probabilistic,
    check_two_domains,
    column_names,
    stack_rows,
    without_masks,
)
from landbridge.exceptions import WeightingWarning
from landbridge.inspection._domain_auc import MIN_ROWS, DomainAUC, domain_auc
from landbridge.inspection._feature_shift import FeatureShift, feature_shifts
from landbridge.inspection._label_shift import LabelShift, label_shift
from landbridge.inspection._mmd import MMDTest, mmd_test
from landbridge.metrics.metric import percent
from landbridge.weighting import KernelMeanMatching, effective_sample_size

LEVEL = 0.05
# Words for a difference, and the lower ends of the AUC interval above which they are used.
STRENGTHS = [(0.9, "strongly"), (0.75, "clearly"), (0.6, "moderately"), (0.0, "slightly")]
# Shares of effective rows below which weighting fails or is costly, and the largest difference of
# means that counts as balanced (Rubin, 2001).
FAILS_BELOW, COSTS_BELOW, BALANCED = 0.05, 0.3, 0.25
WIDTH = 92
# Number of rows shown in a notebook.
MOST_SHOWN = 10


@dataclass(frozen=True, slots=True)
class WeightedSource:
    """Effect of weighting on the source rows.

    Parameters
    ----------
    method : str
        Name of the weighting method.
    n_rows : int
        Number of weighted source rows.
    effective_sample_size : float
        (Σw)² / Σw².
    largest_share : float
        Share of the total weight carried by the heaviest row.
    gap_before, gap_after : float
        Largest absolute difference of column means between source and target, in standard
        deviations of all rows, without and with the weights.
    """

    method: str
    n_rows: int
    effective_sample_size: float
    largest_share: float
    gap_before: float
    gap_after: float

    @property
    def effective_share(self) -> float:
        """Effective sample size over the number of rows."""
        return self.effective_sample_size / self.n_rows


@dataclass(frozen=True, slots=True, repr=False)
class ShiftDiagnosis:
    """Result of `diagnose_shift`; ``print`` it, or plot it with `ShiftDisplay`.

    Parameters
    ----------
    n_source, n_target, n_features : int
        Size of the input.
    n_source_drawn, n_target_drawn : int
        Number of rows sampled for everything except means and variances.
    auc : DomainAUC
        AUC of the domain classifier, with ``value``, ``low``, ``high``.
    mmd : MMDTest
        Test of equal distributions, with ``value`` and ``p_value``.
    features : tuple of FeatureShift
        Shift of each feature, largest first.
    weighted : WeightedSource
        Effect of weighting on the source rows.
    labels : LabelShift or None
        Shift of the labels; None if no labels were given.
    """

    n_source: int
    n_target: int
    n_features: int
    n_source_drawn: int
    n_target_drawn: int
    auc: DomainAUC
    mmd: MMDTest
    features: tuple[FeatureShift, ...]
    weighted: WeightedSource
    labels: LabelShift | None = None

    @property
    def detected(self) -> bool:
        """Whether the interval of the AUC lies above 1/2 or the MMD test rejects at 2.5 %."""
        return bool(self.auc.low > 0.5 or self.mmd.p_value <= LEVEL / 2)

    @property
    def verdict(self) -> str:
        """Verdict in a few sentences."""
        sentences = [_difference(self)]
        if self.detected:
            sentences += [_where(self.features, self.n_features), _bridge(self.weighted)]
        if self.labels is not None:
            sentences.append(_labels(self.labels))
        return " ".join(sentences)

    def summary(self, *, n_features: int = 8) -> str:
        """Summarise the verdict, its figures and the largest shifts.

        Parameters
        ----------
        n_features : int, default=8
            Maximum number of features to list.

        Returns
        -------
        str
            Several lines.
        """
        weighted, auc = self.weighted, self.auc
        ends = f"[{auc.low:.3f}, {auc.high:.3f}]"
        rows = f"{self.n_source} source rows, {self.n_target} target rows"
        if (self.n_source_drawn, self.n_target_drawn) != (self.n_source, self.n_target):
            rows += f" ({self.n_source_drawn} and {self.n_target_drawn} drawn)"
        lines = [
            f"Shift between {rows}, {self.n_features} features",
            *textwrap.wrap(self.verdict, WIDTH),
            "",
            f"domain classifier AUC  {auc.value:.3f}  95 % interval {ends}",
            f"MMD² (unbiased)        {self.mmd.value:.4f}  p {_p(self.mmd.p_value)}",
            f"after weighting        {weighted.effective_sample_size:.1f} effective of "
            f"{weighted.n_rows} rows ({weighted.method}), "
            f"heaviest {percent(weighted.largest_share, 1)}",
            *_label_lines(self.labels),
            "",
            *_feature_lines(self.features[:n_features]),
        ]
        return "\n".join(lines)

    def __str__(self) -> str:
        return self.summary()

    def __repr__(self) -> str:
        return (
            f"ShiftDiagnosis(auc={self.auc.value:.3f} [{self.auc.low:.3f}, {self.auc.high:.3f}], "
            f"mmd={self.mmd.value:.3g} (p={self.mmd.p_value:.3g}), "
            f"effective_sample_size={self.weighted.effective_sample_size:.4g} of "
            f"{self.weighted.n_rows}, detected={self.detected})"
        )

    def _repr_html_(self) -> str:
        rows = [
            (shift.name, shift.ks, shift.mean_difference, _p(shift.p_value).removeprefix("= "))
            for shift in self.features[:MOST_SHOWN]
        ]
        header = ("feature", "distance", "difference of means, sd", "corrected p-value")
        head = self.summary().split("\n", maxsplit=1)[0]
        return card(head, sentence(self.verdict), html_table(header, rows))


def _difference(diagnosis: ShiftDiagnosis) -> str:
    auc, mmd = diagnosis.auc, diagnosis.mmd
    figures = f"AUC {auc.value:.3f} [{auc.low:.3f}, {auc.high:.3f}], MMD p {_p(mmd.p_value)}"
    if not diagnosis.detected:
        hint = " An AUC below 1/2 suggests that some rows are in both domains."
        return (
            f"No shift of the features was found ({figures}). This does not prove that there is "
            f"none: few rows reveal only large shifts.{hint if auc.high < 0.5 else ''}"
        )
    strength = next(word for bar, word in STRENGTHS if auc.low >= bar)
    return f"The domains differ {strength} ({figures})."


def _where(features: tuple[FeatureShift, ...], n_features: int) -> str:
    shifted = [feature for feature in features if feature.p_value <= LEVEL]
    if not shifted:
        return "No single feature shifts significantly; the difference is in their combination."
    largest = ", ".join(f"{feature.name} ({_how(feature)})" for feature in shifted[:3])
    if len(features) == 1:
        return f"The feature {largest} shifts."
    compared = "features" if len(features) == n_features else "features compared"
    return f"{len(shifted)} of {len(features)} {compared} shift, most of all {largest}."


def _how(feature: FeatureShift) -> str:
    """Difference of means, or ratio of variances if the means hardly differ."""
    if abs(feature.mean_difference) < 0.1 and not 0.8 < feature.variance_ratio < 1.25:
        if math.isinf(feature.variance_ratio):
            return "constant in the source"
        return f"variance {feature.variance_ratio:.2f}×"
    return difference_words(feature.mean_difference)


def difference_words(difference: float) -> str:
    """Standardised difference of means in words; it is infinite for two constants."""
    if math.isinf(difference):
        return "constant, with different values"
    return f"{difference:+.2f} sd"


def _bridge(weighted: WeightedSource) -> str:
    worth = (
        f"the effective sample size is {weighted.effective_sample_size:.0f} of "
        f"{weighted.n_rows} source rows, and the largest difference of means goes from "
        f"{weighted.gap_before:.2f} to {weighted.gap_after:.2f} sd"
    )
    if weighted.effective_share < FAILS_BELOW:
        return f"Weighting cannot correct it reliably: {worth}. Label target rows."
    if weighted.gap_after > BALANCED:
        return f"Weighting does not correct it: {worth}, which is too large. Label target rows."
    if weighted.effective_share < COSTS_BELOW:
        return f"Weighting can correct it at a cost: {worth}."
    return f"Weighting can correct it: {worth}."


def _labels(labels: LabelShift) -> str:
    if labels.task == "classification":
        figures = f"total variation {labels.effect:.2f}, p {_p(labels.p_value)}"
    else:
        figures = f"{difference_words(labels.effect)}, p {_p(labels.p_value)}"
    if labels.p_value > LEVEL:
        return f"No shift of the labels was found ({figures})."
    return (
        f"The labels shift too ({figures}). Weighting corrects this only if the relation between "
        "features and labels is the same in both domains."
    )


def _label_lines(labels: LabelShift | None) -> list[str]:
    if labels is None:
        return []
    if labels.task == "regression":
        (mean, spread), (mean_target, spread_target) = labels.source, labels.target
        figures = f"{mean:.4g} ± {spread:.3g} → {mean_target:.4g} ± {spread_target:.3g}"
    else:
        pairs = zip(labels.classes, labels.source, labels.target, strict=True)
        figures = ", ".join(f"{name}: {percent(a)} → {percent(b)}" for name, a, b in pairs)
    return [f"labels                 {figures}  p {_p(labels.p_value)}"]


def _feature_lines(features: tuple[FeatureShift, ...]) -> list[str]:
    width = max([7, *(len(feature.name) for feature in features)])
    header = f"{'feature':<{width}}  {'KS':>5}  {'mean, sd':>9}  {'variance':>9}  corrected p"
    return [header] + [
        f"{f.name:<{width}}  {f.ks:5.2f}  {_finite(f.mean_difference, '+.2f'):>9}  "
        f"{_finite(f.variance_ratio, '.2f'):>8}×  {_p(f.p_value)}"
        for f in features
    ]


def _finite(value: float, form: str) -> str:
    return format(value, form) if math.isfinite(value) else "–"


def _p(value: float) -> str:
    return "< 0.001" if value < 0.001 else f"= {value:.3f}"


@documented
@without_masks
def diagnose_shift(
    X: MatrixLike,
    X_target: MatrixLike,
    *,
    y: VectorLike = None,
    y_target: VectorLike = None,
    task: Literal["auto"] | Task = "auto",
    feature_names: Sequence[str] | None = None,
    weighting: Any = None,
    classifier: Any = None,
    n_permutations: int = 500,
    max_rows: int | None = 2000,
    random_state: RandomState = None,
    n_jobs: int | None = None,
) -> ShiftDiagnosis:
    """Compare two domains and assess what their difference means for transfer.

    * Domain classifier: the area under the ROC curve of a cross-fitted classifier of the domain
      (5 folds; a random forest, or logistic regression for sparse rows), averaged over folds, with
      a 95 % interval on the logit scale. It uses DeLong's variance, corrected for the overlap of
      training folds (Nadeau and Bengio, 2003).
    * Maximum mean discrepancy: unbiased estimate with a Gaussian kernel of median width and an
      exact permutation test.
    * Features: standardised mean difference, ratio of variances, Kolmogorov-Smirnov distance with
      a p-value that is corrected for the number of columns.
    * Weighting: effective sample size and balance of the source weighted to resemble the target.
    * Labels, if both domains have some: proportions or means, with a test.

    Means and variances use all rows. Everything else uses at most ``max_rows`` rows of each
    domain, drawn at random, with columns scaled to unit variance over both domains (dense columns
    are also centred). A million rows therefore cost little more than a few thousand.

    Parameters
    ----------
    X, X_target : rows of the source and of the target
        Rows as numpy, pandas, polars or CSR, with the same columns.
    y, y_target : labels, optional
        Pass both or neither. They need not cover all rows; only their distributions are compared.
    task : {"auto", "classification", "regression"}, default="auto"
        Type of the labels; "auto" means regression for fractional numbers and for more than 30
        distinct integers, else classification.
    feature_names : sequence of str, default=None
        Names of the columns of arrays and sparse matrices; None uses those of a table.
    weighting : weighting method, default=None
        Method to weight the source; None is `KernelMeanMatching()`.
    classifier : classifier with ``predict_proba``, default=None
        Domain classifier; None is the one described above.
    n_permutations : int, default=500
        Number of permutations. The p-value of the MMD is at least 1 / (1 + n_permutations), so at
        least 39 are needed to reach the level of 2.5 %.
    max_rows : int or None, default=2000
        Number of rows drawn from each domain; None uses all. The MMD needs memory for (2 ·
        max_rows)² numbers.

    Returns
    -------
    diagnosis : `ShiftDiagnosis`
        Diagnosis of the shift.

    Examples
    --------
    >>> from landbridge.datasets import load_auto_mpg
    >>> from landbridge.inspection import diagnose_shift
    >>> cars = load_auto_mpg()
    >>> usa, japan = cars.data[cars.domain == "USA"], cars.data[cars.domain == "Japan"]
    >>> diagnosis = diagnose_shift(usa, japan, feature_names=cars.feature_names, random_state=0)
    >>> diagnosis.detected, diagnosis.auc.low > 0.9
    (True, True)
    >>> diagnosis.features[0].name
    'displacement'
    >>> print(diagnosis.summary().splitlines()[0])
    Shift between 245 source rows, 79 target rows, 6 features
    """
    check_choice(task, "task", ["auto", "classification", "regression"])
    check_count(n_permutations, "n_permutations")
    check_count(max_rows, "max_rows", least=MIN_ROWS, optional=True)
    check_probabilistic(classifier, "classifier")
    _check_weighting(weighting)
    if (y is None) != (y_target is None):
        raise ValueError(
            "`y` and `y_target` must be passed together; got only one of them. Pass both or "
            "neither."
        )
    names = column_names(X) if feature_names is None else [str(name) for name in feature_names]
    X, X_target = check_two_domains(_Columns(), X, X_target)
    names = _check_names(names, X.shape[1])
    _check_rows_suffice(X, "X")
    _check_rows_suffice(X_target, "X_target")
    seeds = spawn_seeds(random_state, 4)
    drawn = _draw(X, max_rows, seeds[0]), _draw(X_target, max_rows, seeds[1])
    source, target = standardise(*drawn)
    return ShiftDiagnosis(
        n_source=X.shape[0],
        n_target=X_target.shape[0],
        n_features=X.shape[1],
        n_source_drawn=source.shape[0],
        n_target_drawn=target.shape[0],
        auc=domain_auc(source, target, classifier=classifier, seed=seeds[2], n_jobs=n_jobs),
        mmd=mmd_test(source, target, n_permutations=n_permutations, seed=seeds[3], n_jobs=n_jobs),
        features=feature_shifts(X, X_target, drawn, names),
        weighted=_weigh(source, target, weighting),
        labels=None if y is None else label_shift(y, y_target, task),
    )


class _Columns(BaseEstimator):
    """Store the columns of the source for input validation."""


def standardise(X: Matrix, X_target: Matrix) -> tuple[Matrix, Matrix]:
    """Scale columns to unit variance over both domains; dense ones are also centred.

    The scale does not depend on the domains, which keeps permutation tests exact.
    """
    dense = not (sparse.issparse(X) or sparse.issparse(X_target))
    scaler = StandardScaler(with_mean=dense).set_output(transform="default")
    scaled = scaler.fit_transform(stack_rows([X, X_target]))
    return scaled[: X.shape[0]], scaled[X.shape[0] :]


def _weigh(source: Matrix, target: Matrix, weighting: Any) -> WeightedSource:
    weighting = KernelMeanMatching() if weighting is None else clone(weighting)
    with warnings.catch_warnings():
        # The verdict already contains this warning.
        warnings.simplefilter("ignore", WeightingWarning)
        weights = weighting.fit(source, target).weights_
    total = weights.sum()
    shares = weights / total if total > 0 else np.full(len(weights), 1 / len(weights))
    aim = np.asarray(target.mean(axis=0)).ravel()
    return WeightedSource(
        method=type(weighting).__name__,
        n_rows=source.shape[0],
        effective_sample_size=effective_sample_size(weights),
        largest_share=float(shares.max()),
        gap_before=float(np.abs(np.asarray(source.mean(axis=0)).ravel() - aim).max()),
        gap_after=float(np.abs(np.asarray(shares @ source).ravel() - aim).max()),
    )


def _draw(X: Matrix, max_rows: int | None, seed: int) -> Matrix:
    if max_rows is None or X.shape[0] <= max_rows:
        return X
    chosen = np.random.default_rng(seed).choice(X.shape[0], max_rows, replace=False)
    return X[np.sort(chosen)]


def _check_names(names: list[str] | None, n_columns: int) -> list[str]:
    if names is None:
        return [f"column {column}" for column in range(n_columns)]
    if len(names) != n_columns:
        raise ValueError(
            f"`feature_names` must name each of the {n_columns} columns; got {len(names)} names. "
            "Pass one name per column, or None."
        )
    return names


def _check_weighting(weighting: Any) -> None:
    if weighting is not None and not hasattr(weighting, "fit"):
        raise ValueError(
            f"`weighting` must be a weighting method; got {weighting!r}. Pass for example "
            "KernelMeanMatching() or UniformWeights()."
        )


def _check_rows_suffice(X: Matrix, name: str) -> None:
    if X.shape[0] < MIN_ROWS:
        raise ValueError(
            f"`{name}` must have at least {MIN_ROWS} rows to be compared; got {X.shape[0]}. "
            "Pass more rows of that domain."
        )
