"""Forecasts of the number of labels needed, with intervals by simulation."""

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.utils import check_random_state

from landbridge._typing import RandomState, Vector, VectorLike
from landbridge._validation import check_choice, check_count, check_positive
from landbridge.inference import score_interval
from landbridge.inference.intervals import check_level, normal_quantile
from landbridge.labelling.design import prove_scores, risk_of
from landbridge.labelling.pool import (
    Pool,
    default_metric,
    make_pool,
    pair_of_search,
    pool_of_search,
    usable_cells,
)
from landbridge.labelling.proofs import (
    EFFECT_BIAS,
    N_SIMULATIONS,
    WINS_BIAS,
    candidate_noise,
    expected_effect,
    expected_wins,
    labels_to_prove,
    labels_to_prove_numbers,
    measured_effect,
    updated_effect,
    updated_wins,
)
from landbridge.metrics.metric import Metric
from landbridge.model_selection.search_records import VOTE
from landbridge.model_selection.search_result import SearchResult

# Chosen on the development tasks of the benchmark so that intervals have their coverage: the
# consensus underestimates the accuracy of a candidate.
ACCURACY_BIAS, ACCURACY_SD = 0.06, 0.12
# Number of random labels equivalent to one label of goal "measure", and the spread of its
# logarithm.
WORTH, WORTH_SD = 1.2, 0.2
# For regression: worth of a label, whose intervals allow for heavy tails, and standard deviation of
# the log spread of a score without labels.
NUMBER_WORTH, SPREAD_SD = 0.8, 0.3
# Default width of "measure": for scores, and for errors relative to the estimate.
WIDTH, RELATIVE_WIDTH = 0.05, 0.1
# Squared errors have heavy tails: with fewer labels, intervals for regression are too narrow.
FEWEST_NUMBERS = 50
# Coverage of a forecast's interval.
LEVEL = 0.8
# Two cells are distinguished if one is better with this probability.
DECIDED = 0.95


@dataclass(frozen=True, slots=True)
class LabelForecast:
    """Number of labels that a goal needs.

    Parameters
    ----------
    labels : float
        Median; infinite if more than ``budget`` labels are likely needed.
    low, high : float
        80 % interval.
    goal : str
        Goal of the labelling.
    candidate, baseline : str
        Models that are compared; the second is empty for ``"measure"``.
    budget : int
        Maximum number of labels that was considered.
    """

    labels: float
    low: float
    high: float
    goal: str
    candidate: str
    baseline: str
    budget: int

    def __str__(self) -> str:
        what = {
            "prove": f"show that {self.candidate} is better than {self.baseline}",
            "choose": f"decide between {self.candidate} and {self.baseline}",
            "measure": f"measure {self.candidate} with the requested precision",
        }[self.goal]
        if math.isinf(self.labels):
            return f"More than {self.budget} labels would likely be needed to {what}."
        high = f"more than {self.budget}" if math.isinf(self.high) else f"{self.high:.0f}"
        return (
            f"About {self.labels:.0f} labels would {what} (80 % interval {self.low:.0f} to {high})."
        )


def how_many_labels(
    search: Any,
    *,
    goal: str = "prove",
    width: float | None = None,
    gap: float | None = None,
    level: float = 0.9,
    budget: int = 400,
    batch_size: int = 20,
    candidate: str | None = None,
    baseline: str | None = None,
    names: Any = None,
    random_state: RandomState = 0,
) -> LabelForecast:
    """Forecast the number of labels that a goal needs.

    Parameters
    ----------
    search : fitted TransferSearchCV, SearchResult, or array of predictions
        Predictions for unlabelled rows: (candidates, rows, classes), or (candidates, rows) for
        regression. A search forecasts its own metric, with the help of its labelled rows.
    goal : {"prove", "choose", "measure"}, default="prove"
        ``"prove"`` and ``"choose"``: number of labelled rows on which two models differ until one
        is shown to be better. ``"measure"``: number of labels until the interval of one model is
        narrow enough.
    width : float, optional
        For ``"measure"``: half-width of the interval, in the unit of the score. The default is
        0.05 for scores and 10 % of the estimate for errors such as RMSE.
    gap : float, optional
        For the other goals: difference to detect, in accuracy or, for regression, in RMSE. The
        default is the difference expected by the consensus of the candidates; the interval allows
        for its uncertainty.
    level : float, default=0.9
        Coverage of the interval of ``"measure"``.
    budget : int, default=400
        Maximum number of labels that is considered.
    batch_size : int, default=20
        Number of labels between two analyses.
    candidate, baseline : str, optional
        Names of models. The default candidate is the model selected by the search; the default
        baseline is the best model without transfer for ``"prove"`` and the runner-up for
        ``"choose"``.
    names : sequence of str, optional
        Names of the models if predictions are given as an array.
    random_state : int, RandomState or None, default=0
        Seed; the same seed gives the same result.

    Returns
    -------
    LabelForecast
        Number of labels with an interval.

    Examples
    --------
    >>> import numpy as np
    >>> from landbridge.labelling import how_many_labels
    >>> rng = np.random.default_rng(0)
    >>> sure = rng.beta(8, 2, size=(3, 500))
    >>> found = how_many_labels(np.stack([sure, 1 - sure], axis=2), goal="measure")
    >>> bool(found.low <= found.labels <= found.high)
    True
    """
    check_choice(goal, "goal", ("prove", "choose", "measure"))
    for name, value in (("width", width), ("gap", gap)):
        if value is not None:
            check_positive(value, name)
    check_level(level)
    check_count(budget, "budget")
    check_count(batch_size, "batch_size")
    pool, first, second = _models(search, goal, candidate, baseline, names)
    rng = np.random.default_rng(check_random_state(random_state).randint(2**31))
    if goal == "measure":
        counts = _counts_to_measure(search, pool, first, width, level, rng)
        counts = np.where(counts > budget, np.inf, counts)
        return _forecast(counts, goal, pool.names[first], "", budget)
    if pool.is_classification:
        share, wins, spread = expected_wins(pool, first, second, gap)
        counts = labels_to_prove(wins, spread, rng, budget=budget, batch_size=batch_size)
    else:
        share, effect, spread = expected_effect(pool, first, second, gap=gap)
        counts = labels_to_prove_numbers(effect, spread, rng, budget=budget, batch_size=batch_size)
    counts = np.where(counts > share * pool.n_rows, np.inf, counts)
    return _forecast(counts, goal, pool.names[first], pool.names[second], budget)


def _counts_to_measure(
    search: Any, pool: Pool, cell: int, width: float | None, level: float, rng: np.random.Generator
) -> Vector:
    result = getattr(search, "results_", search)
    metric = result.metric if isinstance(result, SearchResult) else default_metric(pool)
    if metric.name == "accuracy":
        risk = float(risk_of(pool, pool.consensus(), cell).mean())
        risk = max(risk - ACCURACY_BIAS, 0.0)
        return labels_to_measure(risk, ACCURACY_SD, width or WIDTH, level, rng)
    z, uncertainty = normal_quantile(level), SPREAD_SD
    score, spread = simulated_score(pool, cell, metric, rng)
    if isinstance(result, SearchResult) and result.target:
        name = pool.names[cell]
        known = result.interval(level, cell=VOTE if name == VOTE else result.labels.index(name))
        if math.isfinite(known.low):
            n = result.info.n_labelled
            score, spread = known.estimate, (known.high - known.low) / 2 / z * math.sqrt(n)
            # The relative error of a standard deviation of n numbers is 1/√(2n), or more with heavy
            # tails.
            uncertainty = 1 / math.sqrt(n) + WORTH_SD
    width = wanted_width(width, score, metric)
    spreads = spread * np.exp(rng.normal(0.0, uncertainty, N_SIMULATIONS))
    worth = WORTH if pool.is_classification else NUMBER_WORTH
    return np.maximum(np.ceil((z * spreads / width) ** 2 / worth), FEWEST_NUMBERS)


def wanted_width(width: float | None, score: float, metric: Metric) -> float:
    """Requested half-width; by default absolute for scores and relative for errors."""
    if width is not None:
        return width
    return WIDTH if metric.greater_is_better else RELATIVE_WIDTH * abs(score)


def simulated_score(
    pool: Pool, cell: int, metric: Metric, rng: np.random.Generator, n: int = 100
) -> tuple[float, float]:
    """Score of a candidate and √n times its standard error, with labels from the consensus."""
    consensus, scores = pool.consensus(), []
    noise = candidate_noise(pool)
    for _ in range(60):
        rows = rng.integers(pool.n_rows, size=n)
        if pool.is_classification:
            # The inverse of the distribution function draws one class per row.
            edges = np.cumsum(consensus[rows], axis=1)
            y = (rng.random((n, 1)) > edges[:, :-1]).sum(axis=1)
        else:
            y = consensus[rows] + noise * rng.normal(size=n)
        scores.append(metric.score(y, pool.values[cell][rows]))
    return float(np.nanmean(scores)), float(np.nanstd(scores)) * math.sqrt(n)


def labels_to_decide(result: SearchResult) -> LabelForecast | None:
    """Forecast how many more labels would decide between the two best cells of a search.

    Parameters
    ----------
    result : SearchResult
        Result of a search with labelled and unlabelled target rows.

    Returns
    -------
    LabelForecast or None
        ``None`` if the two make the same predictions, one is already better, or there are no
        labels.
    """
    cells = [cell for cell in result.ranking() if cell in usable_cells(result)][:2]
    if not result.target or len(cells) < 2:
        return None
    if not 0.05 < float(result.prob_better(cells=cells)[0, 1]) < DECIDED:
        return None
    pool, _ = pool_of_search(result)
    first, second = (pool.names.index(result.labels[cell]) for cell in cells)
    if not prove_scores(pool, first, second).values.any():
        return None
    rng = np.random.default_rng(0)
    known = [result.target[cell] for cell in cells]
    if result.classes is None:
        said = np.stack([one.values for one in known])  # type: ignore[union-attr]
        share, effect, spread = expected_effect(pool, first, second)
        observed, n = measured_effect(said, np.asarray(result.y_target))
        mean, sd = updated_effect(effect - EFFECT_BIAS, spread, observed, n)
        counts = labels_to_prove_numbers(mean, sd, rng, budget=400, batch_size=20)
    else:
        share, wins, spread = expected_wins(pool, first, second)
        right = [one.labels == result.y_target for one in known]  # type: ignore[union-attr]
        won, lost = int((right[0] & ~right[1]).sum()), int((right[1] & ~right[0]).sum())
        mean, sd = updated_wins(wins - WINS_BIAS, spread, won, won + lost)
        counts = labels_to_prove(mean, sd, rng, budget=400, batch_size=20)
    counts = np.where(counts > share * result.info.n_unlabelled, np.inf, counts)
    return _forecast(counts, "choose", pool.names[first], pool.names[second], 400)


def _models(
    search: Any, goal: str, candidate: str | None, baseline: str | None, names: Any
) -> tuple[Pool, int, int]:
    if hasattr(search, "results_") or hasattr(search, "unlabelled"):
        pool, _ = pool_of_search(search)
        leader, rival = pair_of_search(search)
        if goal == "choose":
            rival = None
    else:
        pool, leader, rival = make_pool(search, names=names), None, None
    order = expected_ranking(pool)
    first = place_of(pool, candidate or leader, "candidate") if candidate or leader else order[0]
    others = [cell for cell in order if cell != first]
    if baseline or rival:
        return pool, first, place_of(pool, baseline or rival, "baseline")
    if goal != "measure" and not others:
        raise ValueError("`search` must contain at least two models to compare; got one.")
    return pool, first, others[0] if others else first


def expected_ranking(pool: Pool) -> list[int]:
    """Candidates sorted by the loss expected by the consensus, smallest first."""
    consensus = pool.consensus()
    expected = [float(risk_of(pool, consensus, cell).mean()) for cell in range(len(pool.values))]
    return np.argsort(expected, kind="stable").tolist()


def place_of(pool: Pool, name: str | None, parameter: str) -> int:
    """Index of a candidate by its name."""
    check_choice(name, parameter, pool.names)
    return pool.names.index(str(name))


def labels_to_measure(
    risk: float, error: float, width: float, level: float, rng: np.random.Generator
) -> Vector:
    """Simulated numbers of labels for a score interval of half-width ``width``."""
    risks = np.clip(rng.normal(risk, error, N_SIMULATIONS), 0.005, 0.995)
    worth = np.exp(rng.normal(math.log(WORTH), WORTH_SD, N_SIMULATIONS))
    z = normal_quantile(level)
    # Width of the score interval: w² (1 + z²/n)² = z² r(1 − r)/n + z⁴/(4n²); a few steps suffice.
    n = np.maximum(z**2 * risks * (1 - risks) / width**2, 1.0)
    for _ in range(20):
        low, high = score_interval(risks, n, level)
        n = np.maximum(n * ((high - low) / (2 * width)) ** 2, 1.0)
    return np.maximum(np.ceil(n / worth), 10.0)


def _forecast(counts: Vector, goal: str, first: str, second: str, budget: int) -> LabelForecast:
    low, middle, high = quantiles(counts)
    return LabelForecast(middle, low, high, goal, first, second, budget)


def quantiles(counts: VectorLike) -> tuple[float, float, float]:
    """Bounds and median of the interval; counts may be infinite."""
    ordered = np.sort(np.asarray(counts, float))
    tail = (1 - LEVEL) / 2
    places = [math.floor(q * (ordered.size - 1)) for q in (tail, 0.5, 1 - tail)]
    places[-1] = math.ceil((1 - tail) * (ordered.size - 1))
    return float(ordered[places[0]]), float(ordered[places[1]]), float(ordered[places[2]])
