"""Ways of choosing without labels that were tried against TrCV.

All are read off the same search: TrCV with other weights, TrCV corrected by the vote of the
candidates or by the label floor, and ties of TrCV settled by something else.
"""

import numpy as np
from scipy.optimize import brentq

from landbridge import SearchResult, effective_sample_size
from landbridge.model_selection.confidence import paired_error

SHARE = 0.5


def choices(result: SearchResult) -> dict[str, int]:
    """The cell that each rule takes, for a search with one source."""
    weights, floors = result.weights[0], result.label_floors()
    trcv, rv = result.values("trcv"), result.values("rv")
    flat = result.reverse @ flattened(weights, SHARE)
    values = {
        "trcv alone (`correction=None`)": trcv,
        "rv: unit weights": rv,
        "weights flattened to an effective sample of half the rows": flat,
        "closest to the vote weighted by it (the default)": result.dissent("trcv"),
        'raised to the label floor (`correction="label_floor"`)': np.maximum(trcv, floors),
        "the floor granting what all candidates say": np.maximum(trcv, _granted(result)),
        "plus the label floor": trcv + floors,
    }
    chosen = {name: int(np.argmin(value)) for name, value in values.items()}
    losses = result.reverse * weights
    return {
        **chosen,
        "ties within 2 standard errors by the floor": _among_ties(losses, floors, 2.0),
        "ties within 1 standard error by wcv": _among_ties(losses, result.values("wcv"), 1.0),
    }


def flattened(weights: np.ndarray, share: float) -> np.ndarray:
    """w^λ with the largest λ ≤ 1 that leaves an effective sample of ``share`` of the rows."""
    weights = np.maximum(weights, 1e-12)

    def missing(power: float) -> float:
        return effective_sample_size(weights**power) - share * weights.size

    power = 1.0 if missing(1.0) >= 0 else brentq(missing, 0.0, 1.0)
    return weights**power / np.mean(weights**power)


def _among_ties(losses: np.ndarray, values: np.ndarray, errors: float) -> int:
    means = losses.mean(axis=1)
    best = int(np.argmin(means))
    tied = np.flatnonzero(means - means[best] <= errors * paired_error(losses)[best])
    return int(tied[np.argmin(values[tied])])


def _granted(result: SearchResult) -> np.ndarray:
    """Floors where a change of shares that every candidate sees is believed."""
    said = result.pseudo_labels
    believed = np.clip(result.source_labels[0], said.min(axis=0), said.max(axis=0))
    return np.abs(said - believed / believed.sum()).sum(axis=1) / 2
