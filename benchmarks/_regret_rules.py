"""Ways of choosing without labels that were tried before the label floor was taken.

All are read off the same search: TrCV with other weights, TrCV where differences within its noise
are settled by the label floor, TrCV plus the floor, and TrCV raised to it, with the source's shares
of classes as they are and, at last, as far as the candidates do not all contradict them.
"""

import numpy as np
from scipy.optimize import brentq

from landbridge import SearchResult, effective_sample_size
from landbridge.model_selection.confidence import paired_error

RAISED = "trcv raised to the label floor"
SHARE, ERRORS = 0.5, 2.0


def choices(result: SearchResult) -> dict[str, int]:
    """The cell that each rule takes, for a search with one source."""
    weights, floors = result.weights[0], result.label_floors()
    trcv, rv = result.values("trcv"), result.values("rv")
    of_source = np.abs(result.pseudo_labels - result.source_labels[0]).sum(axis=1) / 2
    flat = result.reverse @ flattened(weights, SHARE)
    scores = {
        "trcv": trcv,
        "rv (trcv with unit weights)": rv,
        "trcv, weights flattened to at least half of the rows": flat,
        "trcv plus the floor of the source's shares": trcv + of_source,
        "trcv raised to the floor of the source's shares": np.maximum(trcv, of_source),
        "rv raised to the label floor": np.maximum(rv, floors),
        RAISED: np.maximum(trcv, floors),
    }
    chosen = {name: int(np.argmin(values)) for name, values in scores.items()}
    chosen["trcv, ties within 2 standard errors by that floor"] = _among_ties(
        result.reverse * weights, of_source
    )
    return chosen


def flattened(weights: np.ndarray, share: float) -> np.ndarray:
    """w^λ with the largest λ ≤ 1 that leaves an effective sample of ``share`` of the rows."""
    weights = np.maximum(weights, 1e-12)

    def missing(power: float) -> float:
        return effective_sample_size(weights**power) - share * weights.size

    power = 1.0 if missing(1.0) >= 0 else brentq(missing, 0.0, 1.0)
    return weights**power / np.mean(weights**power)


def _among_ties(losses: np.ndarray, floors: np.ndarray) -> int:
    means = losses.mean(axis=1)
    best = int(np.argmin(means))
    tied = np.flatnonzero(means - means[best] <= ERRORS * paired_error(losses)[best])
    return int(tied[np.argmin(floors[tied])])
