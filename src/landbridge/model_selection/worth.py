"""Is transfer worth it? The best transfer candidate against the two baselines, in words."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from landbridge._typing import Vector, VectorLike
from landbridge.model_selection.confidence import prob_better_paired

BASELINES = ("target-only", "source-only")


@dataclass(frozen=True, slots=True)
class Verdict:
    """The answer, its words, and the probability of beating each baseline.

    ``worth`` is ``None`` where the search cannot tell. ``level`` is what each probability had to
    reach.
    """

    worth: bool | None
    probabilities: dict[str, float]
    level: float
    message: str

    def __str__(self) -> str:
        return self.message

    def __bool__(self) -> bool:
        return bool(self.worth)


def judge(
    roles: Sequence[str],
    labels: Sequence[str],
    values: Vector,
    losses: VectorLike,
    level: float,
) -> Verdict:
    """Compare the best transfer candidate with the best of each baseline on labelled target rows.

    ``losses`` are those of TLV (candidates × labelled rows); ``values`` say which is best. A plain
    estimator is trained on source and labelled target rows together, so it counts as transfer.
    The best of m transfer candidates must reach 1 − (1 − level)/m (Bonferroni), because it was
    chosen for being the best on these rows.
    """
    if losses is None:
        return Verdict(None, {}, level, NO_LABELS)
    transfer = [n for n, role in enumerate(roles) if role not in BASELINES]
    rivals = {b: [n for n, role in enumerate(roles) if role == b] for b in BASELINES}
    rivals = {baseline: numbers for baseline, numbers in rivals.items() if numbers}
    if not transfer or not rivals:
        missing = "a transfer candidate" if not transfer else "target-only or source-only"
        return Verdict(None, {}, level, f"The search cannot tell: {missing} must be among them.")
    level = 1 - (1 - level) / len(transfer)
    best = min(transfer, key=lambda n: values[n])
    probabilities = {}
    for baseline, numbers in rivals.items():
        rival = min(numbers, key=lambda n: values[n])
        probabilities[baseline] = float(prob_better_paired(losses[[best, rival]])[0, 1])
    beaten = [baseline for baseline, p in probabilities.items() if p >= level]
    worth = len(beaten) == len(rivals)
    return Verdict(
        worth, probabilities, level, _words(labels[best], probabilities, beaten, losses.shape[1])
    )


NO_LABELS = (
    "The search cannot tell: what transfer gains is measured by criterion 'tlv' or 'anchored', on "
    "at least 2 labelled target rows."
)


def _words(best: str, probabilities: dict[str, float], beaten: list[str], n_rows: int) -> str:
    rows = f"these {n_rows} labels"
    figures = ", ".join(f"{name}: {np.floor(100 * p):.0f} %" for name, p in probabilities.items())
    if len(beaten) == len(probabilities):
        return (
            f"Transfer is worth it: {best} beats {' and '.join(beaten)} with {rows} "
            f"(probability of being better than {figures})."
        )
    unbeaten = " or ".join(name for name in probabilities if name not in beaten)
    return (
        f"No transfer candidate beats {unbeaten} with {rows}; the best is {best} "
        f"(probability of being better than {figures})."
    )
