"""Progress of labelling: a record, and its summary in three sentences."""

import math
from dataclasses import dataclass

from landbridge._html import card, interval_bar, sentence
from landbridge.inference.intervals import format_interval, format_number
from landbridge.labelling.design import Goal
from landbridge.labelling.sequential import SequentialTest


@dataclass(frozen=True, slots=True)
class LabelStatus:
    """Estimates from the labels so far, and the number of labels still needed.

    Parameters
    ----------
    goal : str
        Goal of the labelling.
    n_labels : int
        Number of known labels.
    budget : int
        Planned number of labels.
    candidate, baseline : str
        The leading model, and the one that it is compared with (empty for ``"measure"`` and
        ``"train"``).
    reached : bool
        Whether the goal is reached.
    estimate, low, high : float
        Estimate and interval: for ``"prove"``, the loss of the baseline minus that of the
        candidate; for the other goals, the score of the candidate. NaN with too few labels.
    level : float
        Coverage of the interval.
    score : str
        Name of the estimated score.
    e_value : float
        Evidence for ``"prove"``, valid under repeated inspection; a value of 20 or more is
        significant at 5 %. NaN for the other goals.
    test : SequentialTest or None
        The group-sequential test of ``"prove"``, valid for looks after each batch.
    probability : float
        Probability that the leader is better than the runner-up, for ``"choose"``; NaN for the
        other goals.
    left, left_low, left_high : float
        Number of labels still needed to reach the goal, with an 80 % interval (rough for
        ``"choose"``). Infinite beyond the budget; NaN for ``"train"``, which has no end point.
    worth : float
        Number of random labels that would give the same precision.
    """

    goal: Goal
    n_labels: int
    budget: int
    candidate: str
    baseline: str = ""
    reached: bool = False
    estimate: float = math.nan
    low: float = math.nan
    high: float = math.nan
    level: float = math.nan
    score: str = ""
    e_value: float = math.nan
    test: SequentialTest | None = None
    probability: float = math.nan
    left: float = math.nan
    left_low: float = math.nan
    left_high: float = math.nan
    worth: float = math.nan

    @property
    def sentences(self) -> tuple[str, str, str]:
        """Describe the verdict, the estimate and the labels still needed."""
        return self._verdict(), self._estimate(), self._left()

    def __str__(self) -> str:
        return "\n".join(self.sentences)

    def _repr_html_(self) -> str:
        bar = interval_bar(self.low, self.estimate, self.high, (-math.inf, math.inf))
        verdict, *others = self.sentences
        return card(verdict, bar, *map(sentence, others))

    def _verdict(self) -> str:
        n = f"{self.n_labels} label{'' if self.n_labels == 1 else 's'}"
        if self.goal == "prove":
            if self.reached:
                return f"After {n}, {self.candidate} is shown to be better than {self.baseline}."
            return (
                f"After {n}, {self.candidate} is not yet shown to be better than {self.baseline}."
            )
        if self.goal == "choose":
            words = f"After {n}, {self.candidate} leads"
            if not self.baseline:
                return f"{words}; it is the only candidate."
            return (
                f"{words}; it is better than the runner-up, {self.baseline}, with a probability of "
                f"{100 * self.probability:.0f} %."
            )
        if self.goal == "measure":
            yet = "" if self.reached else " not yet"
            return f"After {n}, {self.candidate} is{yet} measured precisely enough."
        return f"{n[:1].upper()}{n[1:]} for training so far; {self.candidate} is the current model."

    def _estimate(self) -> str:
        if math.isnan(self.estimate):
            return "There are too few labels for an estimate."
        middle, low, high = format_interval(self.estimate, self.low, self.high)
        words = f"{self.score}: {middle}, {100 * self.level:g} % interval {low} to {high}"
        if self.goal == "prove":
            return (
                f"{words}; e-value {format_number(self.e_value)} (20 proves it without a budget)."
            )
        worth = f"{self.worth:.0f} random label{'' if round(self.worth) == 1 else 's'}"
        return f"{words}, as precise as {worth}."

    def _left(self) -> str:
        if self.reached:
            return "No more labels are needed for this goal."
        if math.isnan(self.left):
            return "Fit the search again with these labels before you ask for more."
        if self.goal == "prove" and self.high < 0:
            return f"More labels are unlikely to help: {self.baseline} is probably better."
        if math.isinf(self.left):
            return f"More than the planned {self.budget} labels would likely be needed."
        # Two significant digits: a forecast is no count.
        low, left, high = (
            f"{float(f'{n:.2g}'):.0f}" for n in (self.left_low, self.left, self.left_high)
        )
        high = "more than planned" if math.isinf(self.left_high) else high
        # The benchmark measured the coverage of this interval only for the other goals.
        how_sure = "roughly" if self.goal == "choose" else "80 % interval"
        return f"About {left} more labels are needed ({how_sure} {low} to {high})."
