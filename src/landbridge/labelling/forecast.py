"""Forecasts of the number of labels needed, with intervals by simulation."""

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import stats
from sklearn.utils import check_random_state

from landbridge._typing import RandomState, Vector, VectorLike
from landbridge._validation import check_choice, check_positive
from landbridge.inference import score_interval
from landbridge.labelling.design import prove_scores, risk_of
from landbridge.labelling.pool import (
    Pool,
    make_pool,
    pair_of_search,
    pool_of_search,
    usable_cells,
)
from landbridge.labelling.sequential import sequential_sign_test
from landbridge.model_selection.search_result import SearchResult

# Chosen on the development tasks of the benchmark so that intervals have their coverage: the
# consensus underestimates the accuracy of a candidate and the share of disputed rows that a leader
# wins.
ACCURACY_BIAS, ACCURACY_SD = 0.06, 0.12
WINS_BIAS, WINS_SD = 0.05, 0.07
# Number of random labels equivalent to one label of goal "measure", and the spread of its
# logarithm.
WORTH, WORTH_SD = 1.2, 0.2
# Coverage of a forecast's interval.
LEVEL = 0.8
# Two cells are distinguished if one is better with this probability.
DECIDED = 0.95
N_SIMULATIONS = 400


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
        Largest number that was considered.
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
    width: float = 0.05,
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
        Predictions for unlabelled rows: (candidates, rows, classes). Only classification is
        supported.
    goal : {"prove", "choose", "measure"}, default="prove"
        ``"prove"`` and ``"choose"``: number of labelled rows on which two models differ until one
        is shown to be better. ``"measure"``: number of labels until the interval of one model is
        narrow enough.
    width : float, default=0.05
        For ``"measure"``: half-width of the interval.
    gap : float, optional
        For the other goals: difference in accuracy to detect. The default is the difference
        expected by the consensus of the candidates; the interval allows for its uncertainty.
    level : float, default=0.9
        Coverage of the interval of ``"measure"``.
    budget : int, default=400
        Largest number of labels that is considered.
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
    check_positive(width, "width")
    pool, first, second = _models(search, goal, candidate, baseline, names)
    if not pool.is_classification:
        raise ValueError(
            "`search` must predict classes for a forecast; got numbers. Label a first batch and "
            "use `status` of a LabelPlanner."
        )
    rng = np.random.default_rng(check_random_state(random_state).randint(2**31))
    if goal == "measure":
        risk = float(risk_of(pool, pool.consensus(), first).mean())
        risk = max(risk - ACCURACY_BIAS, 0.0)
        counts = labels_to_measure(risk, ACCURACY_SD, width, level, rng)
        counts = np.where(counts > budget, np.inf, counts)
        return _forecast(counts, goal, pool.names[first], "", budget)
    share, wins, spread = expected_wins(pool, first, second, gap)
    counts = labels_to_prove(wins, spread, rng, budget=budget, batch_size=batch_size)
    available = share * pool.n_rows
    counts = np.where(counts > available, np.inf, counts)
    return _forecast(counts, goal, pool.names[first], pool.names[second], budget)


def labels_to_decide(result: SearchResult) -> LabelForecast | None:
    """Forecast how many more labels would decide between the two best cells of a search.

    Parameters
    ----------
    result : SearchResult
        Result of a classification search with labelled and unlabelled target rows.

    Returns
    -------
    LabelForecast or None
        ``None`` if the two predict the same, one is already better, or there are no labels.
    """
    cells = [cell for cell in result.ranking() if cell in usable_cells(result)][:2]
    if result.classes is None or not result.target or len(cells) < 2:
        return None
    if not 0.05 < float(result.prob_better()[cells[0], cells[1]]) < DECIDED:
        return None
    pool, _ = pool_of_search(result)
    first, second = (pool.names.index(result.labels[cell]) for cell in cells)
    if not prove_scores(pool, first, second).values.any():
        return None
    share, wins, spread = expected_wins(pool, first, second)
    known = [result.target[cell].labels == result.y_target for cell in cells]  # type: ignore[union-attr]
    won, lost = int((known[0] & ~known[1]).sum()), int((known[1] & ~known[0]).sum())
    mean, sd = updated_wins(wins - WINS_BIAS, spread, won, won + lost)
    counts = labels_to_prove(mean, sd, np.random.default_rng(0), budget=400, batch_size=20)
    counts = np.where(counts > share * result.info.n_unlabelled, np.inf, counts)
    return _forecast(counts, "choose", pool.names[first], pool.names[second], 400)


def updated_wins(wins: float, spread: float, won: int, total: int) -> tuple[float, float]:
    """Mean and standard deviation of the share of wins after some rows.

    The prior is a beta distribution with this mean and spread.
    """
    wins = min(max(wins, 0.01), 0.99)
    rows = max(wins * (1 - wins) / spread**2 - 1, 0.0)
    mean = (rows * wins + won) / max(rows + total, 1e-12)
    return mean, math.sqrt(mean * (1 - mean) / (rows + total + 1))


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
    """Number of a candidate by its name."""
    check_choice(name, parameter, pool.names)
    return pool.names.index(str(name))


def expected_wins(
    pool: Pool, first: int, second: int, gap: float | None = None
) -> tuple[float, float, float]:
    """Share of disputed rows, and the share of these won by the first model, with its sd."""
    disputed = np.flatnonzero(prove_scores(pool, first, second).values)
    if disputed.size == 0:
        raise ValueError(
            f"`candidate` and `baseline` must differ on some row; {pool.names[first]!r} and "
            f"{pool.names[second]!r} predict the same class for all rows. Compare other models."
        )
    share = disputed.size / pool.n_rows
    consensus = pool.consensus()[disputed]
    places = np.arange(disputed.size)
    mine, theirs = (consensus[places, pool.labels[cell][disputed]] for cell in (first, second))
    if gap is not None:
        return share, min(0.5 + gap / (2 * share), 1.0), 0.0
    wins = float(mine.sum() / (mine.sum() + theirs.sum()))
    return share, wins + WINS_BIAS, WINS_SD


def labels_to_prove(
    wins: float,
    spread: float,
    rng: np.random.Generator,
    *,
    budget: int,
    batch_size: int,
    before: tuple[list[int], list[int], list[int]] = ([], [], []),
    alpha: float = 0.05,
) -> Vector:
    """Simulated numbers of disputed labels at which the sequential test ends; ∞ if it does not.

    Parameters
    ----------
    wins, spread : float
        Mean and standard deviation of the share of wins of the first model.
    rng : Generator
    budget, batch_size : int
        Planned number of labels, and number of labels between two analyses.
    before : three lists of int
        Wins, informative rows and labels of the known batches.
    alpha : float

    Returns
    -------
    ndarray (simulations,)
        Additional labels.
    """
    known = sum(before[2])
    sizes = [batch_size] * max((budget - known) // batch_size, 0)
    if known + sum(sizes) < budget:
        sizes.append(budget - known - sum(sizes))
    shares = (known + np.cumsum(sizes)) / budget
    boundaries = _boundaries(before, sizes, shares, budget, alpha)
    chances = np.clip(rng.normal(wins, spread, N_SIMULATIONS), 0.02, 0.98)
    counts = rng.binomial(np.array(sizes, int)[:, None], chances) if sizes else np.empty((0, 1))
    totals = sum(before[0]) + np.cumsum(counts, axis=0)
    crossed = totals >= boundaries[:, None]
    ended = crossed.any(axis=0)
    labels = np.cumsum(sizes)[crossed.argmax(axis=0)] if sizes else np.zeros(ended.size)
    return np.where(ended, labels, np.inf)


def _boundaries(
    before: tuple[list[int], list[int], list[int]],
    sizes: list[int],
    shares: Vector,
    budget: int,
    alpha: float,
) -> Vector:
    """Wins needed at each future analysis, if all its rows are informative."""
    past = (np.cumsum(before[2]) / budget).tolist()
    informative = [*before[1], *sizes]
    whole = [*past, *shares.tolist()]
    looks = range(len(before[1]) + 1, len(informative) + 1)
    test = sequential_sign_test([0] * len(informative), informative, whole, alpha=alpha)
    return np.array([test.boundaries[look - 1] for look in looks])


def labels_to_measure(
    risk: float, error: float, width: float, level: float, rng: np.random.Generator
) -> Vector:
    """Simulated numbers of labels for a score interval of half-width ``width``."""
    risks = np.clip(rng.normal(risk, error, N_SIMULATIONS), 0.005, 0.995)
    worth = np.exp(rng.normal(math.log(WORTH), WORTH_SD, N_SIMULATIONS))
    z = float(stats.norm.ppf((1 + level) / 2))
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
