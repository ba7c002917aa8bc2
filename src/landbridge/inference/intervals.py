"""Intervals for three questions about the same losses.

========== =================================================== ====================================
question   asks for                                            interval
========== =================================================== ====================================
new_source the mean loss on one new source                     μ̂ ± t_{K−1} √max(S_b²(1 + 1/K), θ_A)
population the mean loss over all sources of this kind         μ̂ ± t_{K−1} √max(f θ^γ, θ_A)
fixed      the mean loss over these K sources, rows drawn anew μ̂ ± z √θ_B
========== =================================================== ====================================

The first question is the most common one, and its interval is the widest. It does not shrink to
zero with more rows or more sources, because sources differ. Geras and Sutton's θ_B answers the
third question; as an interval for a new source, its coverage is far too low. If source means agree
by chance, θ_A, the noise within sources, bounds the width from below, so that the interval of a new
source is never narrower than that of the mean. With unequal shares π_k, the number of sources in t,
f and 1 + 1/K is the effective one, 1/Σπ_k².

The factor f = 1 + 8/K accounts for the model itself: another draw of K sources would give another
model, better or worse on all sources, and the folds, which share their training rows, do not show
that. The 8 was chosen on real schools and checked on other schools and on cows
(`benchmarks/multisource_population.py`). It is an average: intervals of models that change little
with their sources are too wide, and those of unstable models are too narrow.
"""

import math
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache
from typing import Literal, TypeAlias

import numpy as np
from scipy import stats

from landbridge._html import card, interval_bar, sentence
from landbridge._typing import Vector, VectorLike
from landbridge._validation import check_choice, is_number, without_masks
from landbridge._warn import warn_caller
from landbridge.exceptions import FewSourcesWarning
from landbridge.inference.sources import SourceSummary, SourceWeight, summarise_sources
from landbridge.inference.variance import theta_a, theta_b, theta_gamma

Question: TypeAlias = Literal["new_source", "population", "fixed"]
QUESTIONS: tuple[Question, ...] = ("new_source", "population", "fixed")
# With fewer sources, t_{K−1} is so large that the interval is hardly informative.
FEW_SOURCES = 5
# Numbers that would need more decimals or digits have an exponent instead.
MOST_DECIMALS, MOST_DIGITS = 6, 15
SUPERSCRIPTS = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")
# `benchmarks/multisource_population.py`
TRAINING_VARIANCE = 8.0
POPULATION_DOUBT = (
    "it allows for the change of an average model with its sources, and is too narrow for models "
    "that change more"
)


@dataclass(frozen=True, slots=True)
class Interval:
    """Estimate with its interval and the components of its width.

    ``print`` shows it in words.

    Parameters
    ----------
    question : {"new_source", "population", "fixed"}
        Question that the interval answers.
    estimate, low, high : float
        Point estimate and bounds.
    level : float
        Nominal coverage.
    standard_error : float
        Standard error of the estimate.
    n_sources : int
        Number of sources.
    effective_sources : float
        Effective number of sources, given their weights.
    between : float
        Variance of the true source means.
    within : float
        Variance of a source mean due to the finite number of rows; NaN if a source has one row.
    name : str, default="loss"
        Name of the loss in sentences.
    """

    question: Question
    estimate: float
    low: float
    high: float
    level: float
    standard_error: float
    n_sources: int
    effective_sources: float
    between: float
    within: float
    name: str = "loss"

    def __contains__(self, value: float) -> bool:
        return self.low <= value <= self.high

    @property
    def between_share(self) -> float:
        """Share of the variance of source means that more rows would not remove."""
        return self.between / (self.between + self.within) if self.between else 0.0

    def expected_half_width(self, *, sources: float = 1.0, rows: float = 1.0) -> float:
        """Expected half-width with more sources or more rows.

        Parameters
        ----------
        sources : float, default=1.0
            Factor by which the number of sources changes.
        rows : float, default=1.0
            Factor by which the number of rows per source changes.

        Returns
        -------
        float
            Half the width of the interval.
        """
        if self.standard_error == 0:
            return 0.0
        same = sources == rows == 1
        change = 1.0 if same else self._variance(sources, rows) / self._variance(1.0, 1.0)
        quantile = _quantile(self.question, self.level, self.effective_sources * sources)
        return quantile * self.standard_error * math.sqrt(change)

    def _variance(self, sources: float, rows: float) -> float:
        k, within = self.effective_sources * sources, self.within / rows
        if self.question == "fixed":
            return 2 * within / k
        if self.question == "population":
            return (self.between + within) * training_factor(k) / k
        return (self.between + within) * (1 / k + 1)

    def describe(self, *, why: bool = True) -> str:
        """Describe the interval in words.

        Parameters
        ----------
        why : bool, default=True
            Add the number of sources and `advice`.

        Returns
        -------
        str
            One or two sentences.
        """
        subject = {
            "new_source": f"Expected {self.name} on a new source",
            "population": f"Mean {self.name} over all sources of this kind (approximate)",
            "fixed": f"Mean {self.name} over these {self.n_sources} sources",
        }[self.question]
        estimate, low, high = format_interval(self.estimate, self.low, self.high)
        answer = f"{subject}: {estimate}, {100 * self.level:g} % between {low} and {high}"
        if not why:
            return answer
        doubt = f"; {POPULATION_DOUBT}" if self.question == "population" else ""
        return f"{answer} ({self.n_sources} sources; {self.advice()}{doubt})"

    def _repr_html_(self) -> str:
        bar = interval_bar(self.low, self.estimate, self.high, (-math.inf, math.inf))
        return card(self.describe(why=False), bar, sentence(self.advice(), quiet=True))

    def advice(self) -> str:
        """Explain the width and what would reduce it.

        Returns
        -------
        str
            The text.
        """
        if self.standard_error == 0:
            return "all losses are equal, so the uncertainty cannot be estimated"
        if self.question == "fixed":
            return "noise within sources alone: more rows help"
        if math.isnan(self.within):
            return "a source has one row, so spread between and within sources cannot be separated"
        if self.between_share >= 2 / 3:
            return (
                "spread between sources dominates: collecting more sources helps, more rows do not"
            )
        if self.between_share <= 1 / 3:
            return "noise within sources dominates: more rows in each source help"
        return (
            "spread between and noise within sources both matter: more sources and more rows help"
        )

    def __str__(self) -> str:
        return self.describe()


@without_masks
def interval(
    losses: VectorLike,
    groups: VectorLike,
    question: Question = "new_source",
    level: float = 0.95,
    *,
    sample_weight: VectorLike = None,
    source_weight: SourceWeight = "equal",
    loss_range: tuple[float, float] | None = None,
    name: str = "loss",
) -> Interval:
    """Interval for the mean loss, with the question it answers.

    Parameters
    ----------
    losses : array of shape (n_rows,)
        Loss of each row under the model that was trained without the source of the row.
    groups : array of shape (n_rows,)
        The source of each row.
    question : {"new_source", "population", "fixed"}, default="new_source"
        See the table in the module's docstring. The first two need at least three sources, and a
        warning is raised if there are fewer than five.
    level : float, default=0.95
        Nominal coverage.
    sample_weight, source_weight : optional, default=None, "equal"
        As in `cv_variance`.
    loss_range : pair of floats, optional
        Smallest and largest possible loss, (0, 1) for zero-one losses, at which the interval is
        clipped.
    name : str, default="loss"
        Name of the loss in sentences.

    Returns
    -------
    Interval
        Bounds, estimate and their components.

    Examples
    --------
    >>> import numpy as np
    >>> from landbridge.inference import interval
    >>> rng = np.random.default_rng(0)
    >>> rates = [0.18, 0.25, 0.31, 0.22, 0.28, 0.15, 0.24, 0.30, 0.21]
    >>> groups = np.repeat(np.arange(9), 800)
    >>> losses = rng.random(groups.size) < np.repeat(rates, 800)
    >>> print(interval(losses, groups, level=0.9))  # doctest: +NORMALIZE_WHITESPACE
    Expected loss on a new source: 0.24, 90 % between 0.12 and 0.37 (9 sources; spread between
    sources dominates: collecting more sources helps, more rows do not)
    """
    summary = summarise_sources(
        losses, groups, sample_weight=sample_weight, source_weight=source_weight
    )
    if question != "fixed":
        warn_few_sources(summary.n_sources, "interval")
    return interval_of(summary, question, level, loss_range=loss_range, name=name)


def interval_of(
    summary: SourceSummary,
    question: Question = "new_source",
    level: float = 0.95,
    *,
    loss_range: tuple[float, float] | None = None,
    name: str = "loss",
) -> Interval:
    """`interval` from a summary, without its warning."""
    check_choice(question, "question", QUESTIONS)
    check_level(level)
    if question != "fixed" and summary.n_sources < 3:
        raise ValueError(
            f"`groups` must name at least 3 sources for question={question!r}; got 2. Two sources "
            "only support question='fixed', which is about these two; collect more sources."
        )
    spread, within = summary.spread, summary.within
    if question == "fixed":
        variance = theta_b(summary)
    else:
        within_only = 0.0 if math.isnan(within) else theta_a(summary)
        if question == "population":
            variance = training_factor(summary.effective_sources) * theta_gamma(summary)
        else:
            variance = spread + theta_gamma(summary)
        variance = max(variance, within_only)
    half = _quantile(question, level, summary.effective_sources) * math.sqrt(variance)
    low, high = (-math.inf, math.inf) if loss_range is None else loss_range
    between = spread if math.isnan(within) else max(spread - within, 0.0)
    return Interval(
        question=question,
        estimate=summary.estimate,
        low=max(summary.estimate - half, low),
        high=min(summary.estimate + half, high),
        level=level,
        standard_error=math.sqrt(variance),
        n_sources=summary.n_sources,
        effective_sources=summary.effective_sources,
        between=between,
        within=within,
        name=name,
    )


@without_masks
def score_interval(rate: VectorLike, n_rows: VectorLike, level: float) -> tuple[Vector, Vector]:
    """Score (Wilson) interval of a rate, clipped at 0 and 1.

    Parameters
    ----------
    rate : float or array
        Observed share.
    n_rows : float or array
        Number of rows on which the rate was observed.
    level : float
        Nominal coverage.

    Returns
    -------
    tuple of ndarray (low, high)
        Bounds.

    Examples
    --------
    >>> from landbridge.inference import score_interval
    >>> [round(float(bound), 3) for bound in score_interval(0.9, 50, 0.95)]
    [0.786, 0.957]
    """
    check_level(level)
    rate, n = np.clip(rate, 0.0, 1.0), np.asarray(n_rows, dtype=np.float64)
    z = normal_quantile(level)
    centre = (2 * n * rate + z**2) / (2 * (n + z**2))
    half = z * np.sqrt(4 * n * rate * (1 - rate) + z**2) / (2 * (n + z**2))
    return centre - half, centre + half


def training_factor(n_sources: float) -> float:
    """Factor f of the module's docstring."""
    return 1.0 + TRAINING_VARIANCE / n_sources


def check_level(level: float) -> None:
    """Raise unless the level is strictly between 0 and 1."""
    if not (is_number(level) and 0 < level < 1):
        raise ValueError(
            f"`level` must lie between 0 and 1; got {level!r}. Pass 0.95 for 95 per cent."
        )


def warn_few_sources(n_sources: int, what: str) -> None:
    """Warn if there are fewer than five sources; fewer than three are rejected elsewhere."""
    if 2 < n_sources < FEW_SOURCES:
        warn_caller(
            f"The {what} is based on {n_sources} sources; with fewer than {FEW_SOURCES}, it is "
            "very imprecise. Collect more sources.",
            FewSourcesWarning,
        )


def decimals(standard_error: float) -> int:
    """Decimals to show: one significant digit of the standard error, two if it starts with 1.

    They are negative for a standard error of more than 20.
    """
    if not 0 < standard_error < math.inf:
        return 3
    exponent = math.floor(math.log10(standard_error))
    leads_with_one = standard_error / 10.0**exponent < 2
    return -exponent + leads_with_one


def three_digits(values: Iterable[float | None]) -> int:
    """Decimals that give the largest number three significant digits."""
    largest = max((abs(x) for x in values if x is not None and math.isfinite(x)), default=0.0)
    return 3 - math.ceil(math.log10(largest)) if largest else 0


def with_decimals(shown: int, *values: float) -> tuple[str, ...]:
    """Format numbers with this many decimals; numbers that need too many have an exponent.

    If ``shown`` is negative, digits that it does not justify are zeros, after the first four.
    """
    if shown > MOST_DECIMALS or any(abs(value) >= 10.0**MOST_DIGITS for value in values):
        return tuple(format_number(value) for value in values)
    if shown < 0:
        values = tuple(round(value, max(shown, _places(value))) for value in values)
    # A plain space is safe in CSV.
    return tuple(f"{value:,.{max(0, shown)}f}".replace(",", " ") for value in values)


def format_interval(estimate: float, low: float, high: float) -> tuple[str, ...]:
    """Estimate and bounds with the decimals that the width of the interval justifies.

    These are the decimals of the standard error, a quarter of the width; see `decimals`.
    """
    values = estimate, low, high
    if not 0 < high - low < math.inf:
        return tuple(map(format_number, values))
    return with_decimals(decimals((high - low) / 4), *values)


def _places(value: float) -> int:
    """Decimals of a number with four significant digits; negative above 10 000."""
    return 3 - math.floor(math.log10(abs(value))) if value and math.isfinite(value) else 0


def format_number(value: float) -> str:
    """Four significant digits, or three of a number below 1."""
    if not math.isfinite(value):
        return "–" if math.isnan(value) else ("∞" if value > 0 else "−∞")
    size = abs(float(f"{value:.3e}"))  # 999.96 is rounded to 1000
    if size < 1e-300:  # replaces zero where logarithms are taken
        return "0"
    if size < 1e-4 or size >= 10.0**MOST_DIGITS:
        return f"{value:.3e}"
    shown = _places(size) - (size < 1)
    if 0.9995 <= size < 1:  # never rounded to 1
        shown = 4
    return with_decimals(shown, value)[0]


def engineering_exponent(low: float, high: float) -> int:
    """Multiple of three for the labels of an axis, like 9 for 200×10⁹; 0 for plain numbers."""
    largest = max(abs(low), abs(high))
    if not math.isfinite(largest) or largest == 0 or 1e-4 <= largest < 1e6:
        return 0
    return 3 * math.floor(math.log10(largest) / 3)


def engineering(mantissa: str, exponent: int) -> str:
    """A number like 200×10⁹, without an exponent of 0."""
    if exponent == 0 or mantissa.strip("-−0.") == "":
        return mantissa
    return f"{mantissa}×10{str(exponent).translate(SUPERSCRIPTS)}"


@cache
def normal_quantile(level: float) -> float:
    """z of a two-sided interval."""
    return float(stats.norm.ppf((1 + level) / 2))


@cache
def t_quantile(level: float, freedom: float) -> float:
    """t of a two-sided interval; z for infinitely many degrees of freedom."""
    return float(stats.t.ppf((1 + level) / 2, freedom))


def _quantile(question: Question, level: float, n_sources: float) -> float:
    return t_quantile(level, math.inf if question == "fixed" else n_sources - 1)
