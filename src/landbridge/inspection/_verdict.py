"""Sentences and table of a shift diagnosis."""

import math
import textwrap
from typing import TYPE_CHECKING

from landbridge.inspection._domain_auc import DomainAUC
from landbridge.inspection._feature_shift import FeatureShift
from landbridge.inspection._label_shift import LabelShift
from landbridge.inspection._mmd import MMDTest
from landbridge.metrics.metric import percent

if TYPE_CHECKING:
    from landbridge.inspection.shift import ShiftDiagnosis, WeightedSource

LEVEL = 0.05
# Words for a difference, and the lower ends of the AUC interval above which they are used.
STRENGTHS = [(0.9, "strongly"), (0.75, "clearly"), (0.6, "moderately"), (0.0, "slightly")]
# Shares of effective rows below which weighting fails or is costly, and the largest difference of
# means that counts as balanced (Rubin, 2001).
FAILS_BELOW, COSTS_BELOW, BALANCED = 0.05, 0.3, 0.25
_WIDTH = 92


def detected(auc: DomainAUC, mmd: MMDTest) -> bool:
    """Whether one of the two tests, each at a level of 2.5 %, detects a difference."""
    return bool(auc.low > 0.5 or mmd.p_value <= LEVEL / 2)


def in_words(diagnosis: "ShiftDiagnosis") -> str:
    """Verdict: whether and where there is a shift, and whether weighting can correct it."""
    sentences = [_difference(diagnosis.auc, diagnosis.mmd)]
    if detected(diagnosis.auc, diagnosis.mmd):
        sentences += [_where(diagnosis.features, diagnosis.n_features), _bridge(diagnosis.weighted)]
    if diagnosis.labels is not None:
        sentences.append(_labels(diagnosis.labels))
    return " ".join(sentence for sentence in sentences if sentence)


def _difference(auc: DomainAUC, mmd: MMDTest) -> str:
    figures = f"AUC {auc.value:.3f} [{auc.low:.3f}, {auc.high:.3f}], MMD p {_p(mmd.p_value)}"
    if not detected(auc, mmd):
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


def _bridge(weighted: "WeightedSource") -> str:
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


def table(diagnosis: "ShiftDiagnosis", n_features: int) -> str:
    """The verdict, the figures, and the features that shift most."""
    weighted, auc = diagnosis.weighted, diagnosis.auc
    rows = f"{diagnosis.n_source} source rows, {diagnosis.n_target} target rows"
    if (diagnosis.n_source_drawn, diagnosis.n_target_drawn) != (
        diagnosis.n_source,
        diagnosis.n_target,
    ):
        rows += f" ({diagnosis.n_source_drawn} and {diagnosis.n_target_drawn} drawn)"
    lines = [
        f"Shift between {rows}, {diagnosis.n_features} features",
        *textwrap.wrap(diagnosis.verdict, _WIDTH),
        "",
        f"domain classifier AUC  {auc.value:.3f}  95 % interval [{auc.low:.3f}, {auc.high:.3f}]",
        f"MMD² (unbiased)        {diagnosis.mmd.value:.4f}  p {_p(diagnosis.mmd.p_value)}",
        f"after weighting        {weighted.effective_sample_size:.1f} effective of "
        f"{weighted.n_rows} rows ({weighted.method}), "
        f"heaviest {percent(weighted.largest_share, 1)}",
        *_label_lines(diagnosis.labels),
        "",
        *_feature_lines(diagnosis.features[:n_features]),
    ]
    return "\n".join(lines)


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
