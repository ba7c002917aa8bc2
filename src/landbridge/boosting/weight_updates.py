"""The weight updates of TrAdaBoost and of its corrected forms, and their closed forms.

n source rows, m target rows, N rounds, c classes; ε is the target error of a round under normalised
target weights, a *mistake* is 1 where a row is misclassified. Equation and line numbers are those
of Al-Stouhi and Reddy, *Adaptive Boosting for Transfer Learning Using Dynamic Updates* (ECML PKDD
2011).
"""

import numpy as np

from landbridge._typing import Vector


def source_rate(n_source: int, n_rounds: int) -> float:
    """β_src = 1/(1 + √(2 ln n / N)), the weighted majority algorithm's rate (line 2)."""
    return 1.0 / (1.0 + np.sqrt(2.0 * np.log(max(n_source, 1)) / n_rounds))


def weighted_error(weights: Vector, mistakes: Vector) -> float:
    """Weighted error ε (line 6)."""
    return float((mistakes * weights).sum() / weights.sum())


def vote_weight(error: float, n_classes: int = 2, floor: float = 0.0) -> float:
    """log(1/β_t) with β_t = ε/(1 − ε) (line 7), ε being at least ``floor``.

    For c classes β_t = ε/((1 − ε)(c − 1)).
    """
    error = max(error, floor)
    return float(np.log((1.0 - error) / error) + np.log(n_classes - 1.0))


def error_limit(n_classes: int) -> float:
    """Error that stops boosting: 1 − 1/c, less a margin for rounding."""
    return 1.0 - 1.0 / n_classes - 1e-9


def printed_correction(error: float, n_classes: int = 2) -> float:
    """C = 2(1 − ε), the correction factor as printed (line 8); c(1 − ε) for c classes."""
    return n_classes * (1.0 - error)


def mass_correction(weights: Vector, mistakes: Vector, vote: float) -> float:
    """C = target mass after its update / before it, what Theorem 3 solves for.

    Equals the printed factor for 0 < ε < 1 − 1/c and 1 for ε = 0, where nothing drifts and
    the printed factor would double the source.
    """
    return float(update_target(weights, mistakes, vote).sum() / weights.sum())


def label_correction(
    error: float, label_errors: Vector, label_costs: Vector, n_classes: int = 2
) -> Vector:
    """C_label = 2{1 − ε (1 − ε_label)^cost_label}, one factor for each class (Section 5.4)."""
    return n_classes * (1.0 - error * (1.0 - label_errors) ** label_costs)


def errors_by_label(
    weights: Vector, mistakes: Vector, codes: Vector, n_classes: int, error: float
) -> Vector:
    """ε_label for each class; a class without target rows has the error of all."""
    mass = np.bincount(codes, weights, minlength=n_classes)
    wrong = np.bincount(codes, weights * mistakes, minlength=n_classes)
    return np.divide(wrong, mass, out=np.full(n_classes, error), where=mass > 0)


def source_factor(mistakes: Vector, rate: float, correction: float | Vector = 1.0) -> Vector:
    """w ← w · C · β_src^mistake (line 9): C = 1 is TrAdaBoost, a constant the fixed cost."""
    if mistakes.dtype == bool:  # avoids computing a power per row
        factor = np.where(mistakes, rate, 1.0)
    else:
        factor = rate**mistakes
    factor *= correction
    return factor


def update_target(weights: Vector, mistakes: Vector, vote: float) -> Vector:
    """w ← w · β_t^(−mistake) (line 10), with the vote log(1/β_t).

    In scikit-learn's order of operations, so that AdaBoost is scikit-learn's to the last bit.
    """
    if not mistakes.any():
        return weights.copy()  # exactly, which a logarithm and back would not be
    return np.exp(np.log(weights) + vote * mistakes)
