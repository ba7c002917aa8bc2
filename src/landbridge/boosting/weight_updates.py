"""Weight updates of TrAdaBoost and its corrected variants, with closed forms.

There are n source rows, m target rows, N rounds and c classes. ε is the target error of a round
under normalised target weights, and a *mistake* is 1 where a row is misclassified. Equation and
line numbers are those of Al-Stouhi and Reddy, *Adaptive Boosting for Transfer Learning Using
Dynamic Updates* (ECML PKDD 2011).
"""

import numpy as np

from landbridge._typing import Vector

# No weight falls below this number, whose logarithm is finite.
TINY = np.finfo(np.float64).tiny


def row_count(given: Vector) -> float:
    """Number of rows, or the sum of their given weights if that is larger.

    An integer weight is then equivalent to repeated rows, and small weights never reduce the count
    below the number of rows.
    """
    return max(float(given.size), float(given.sum()))


def mean_count(given: Vector) -> float:
    """Mean weight of a row, at least 1."""
    return row_count(given) / given.size


def source_rate(n_source: float, n_rounds: int) -> float:
    """Rate β_src = 1/(1 + √(2 ln n / N)) of the weighted majority algorithm (line 2)."""
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
    """Error at which boosting stops: 1 − 1/c minus a margin for rounding."""
    return 1.0 - 1.0 / n_classes - 1e-9


def printed_correction(error: float, n_classes: int = 2) -> float:
    """Correction factor C = 2(1 − ε) as printed (line 8), or c(1 − ε) for c classes."""
    return n_classes * (1.0 - error)


def mass_correction(weights: Vector, mistakes: Vector, vote: float) -> float:
    """C = total target weight after its update / before it, the quantity derived in Theorem 3.

    It equals the printed factor for 0 < ε < 1 − 1/c. It is 1 for ε = 0, where the weights do
    not drift and the printed factor would double the weight of the source.
    """
    return float(update_target(weights, mistakes, vote).sum() / weights.sum())


def label_correction(
    error: float, label_errors: Vector, label_costs: Vector, n_classes: int = 2
) -> Vector:
    """C_label = 2{1 − ε (1 − ε_label)^cost_label}, one factor per class (Section 5.4)."""
    return n_classes * (1.0 - error * (1.0 - label_errors) ** label_costs)


def errors_by_label(
    weights: Vector, mistakes: Vector, codes: Vector, n_classes: int, error: float
) -> Vector:
    """ε_label per class; classes without target rows get the overall error."""
    mass = np.bincount(codes, weights, minlength=n_classes)
    wrong = np.bincount(codes, weights * mistakes, minlength=n_classes)
    return np.divide(wrong, mass, out=np.full(n_classes, error), where=mass > 0)


def source_factor(mistakes: Vector, rate: float, correction: float | Vector = 1.0) -> Vector:
    """Factor C · β_src^mistake of source weights (line 9); C = 1 gives TrAdaBoost."""
    if mistakes.dtype == bool:  # one power instead of one per row
        factor = np.where(mistakes, rate, 1.0)
    else:
        factor = rate**mistakes
    factor *= correction
    return factor


def update_target(weights: Vector, mistakes: Vector, vote: float) -> Vector:
    """w ← w · β_t^(−mistake) (line 10), with the vote log(1/β_t).

    The order of operations is that of scikit-learn, so that AdaBoost agrees to the last bit.
    """
    if not mistakes.any():
        return weights.copy()  # exp(log(w)) would not be exact
    return np.exp(np.log(np.maximum(weights, TINY)) + vote * mistakes)
