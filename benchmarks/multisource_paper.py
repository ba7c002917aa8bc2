"""Multiple-source cross-validation on 14 domains of product reviews, after Geras and Sutton.

Their Figures 2–6 on the 14 Amazon domains of the FDU-MTL reviews (they had 10 domains of the same
collection), for naive Bayes and a linear SVM: bias of CVS and CVR against the error on domains that
were left out altogether, standard deviations, the decomposition of the variance and every
estimator of it.
Beyond the paper: how often each interval covers what it is about, and a truly new domain.

A *draw* chooses K domains (the others are new) and, several times, M rows of each with
replacement, which is the paper's protocol. Rows for random blocks (CVR) in Figures 2 and 3 are
drawn without replacement instead: a row drawn twice would stand on both sides of a random split.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from itertools import product
from typing import Any

import numpy as np
from scipy import stats
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.naive_bayes import MultinomialNB
from sklearn.preprocessing import normalize
from sklearn.svm import LinearSVC

from benchmarks import _multisource_thousand
from benchmarks._harness import Log
from benchmarks._multisource_page import NAME, write
from benchmarks._variance_decomposition import variance_decomposition
from landbridge import MultiSourceCV, compare_estimators
from landbridge.datasets import fetch_reviews
from landbridge.inference import Interval
from landbridge.inference.intervals import interval_of
from landbridge.inference.variance import VARIANCES
from landbridge.model_selection import Comparison

LEVEL = 0.9
SEED = 0
N_SOURCES = (2, 3, 5, 7, 10, 13)
N_ROWS = (50, 100, 200, 500, 1000)
# (K, M) of Figures 2 and 3: along K at M = 200, along M at K = 10.
GRID = [(k, 200) for k in N_SOURCES] + [(10, m) for m in N_ROWS if m != 200]


@dataclass(frozen=True)
class Learner:
    """An estimator, its features and the draws of domains, of rows and runs that it can afford."""

    name: str
    make: type
    options: dict
    unit_length: bool
    draws: int
    repeats: int
    runs: int

    def estimator(self):
        return self.make(**self.options)


LEARNERS = [
    Learner("naive Bayes", MultinomialNB, {}, False, draws=80, repeats=4, runs=200),
    Learner("linear SVM", LinearSVC, {"C": 0.1}, True, draws=40, repeats=3, runs=50),
]


@cache
def reviews():
    """Word occurrence (CSR), label and domain of every review of the 14 product domains."""
    bunch = fetch_reviews()
    domain = np.asarray(bunch.domain)
    chosen = np.flatnonzero(~np.isin(domain, ["imdb", "MR"]))
    texts = [bunch.data[i] for i in chosen]
    X = CountVectorizer(binary=True, min_df=10).fit_transform(texts).astype(np.float64)
    return X, normalize(X), np.asarray(bunch.target)[chosen], domain[chosen]


def run() -> None:
    with Log(NAME) as log:
        log.run(lambda figures, *arguments: figures(*arguments), cells())
    write(on_all_domains())


def cells() -> Iterator[tuple[dict[str, Any], tuple[Any, ...]]]:
    """Names of every line, the function of its figures and its arguments."""
    yield {"what": "data"}, (sizes,)
    for learner, (k, m) in product(LEARNERS, GRID):
        yield {"what": "outside", "learner": learner.name, "K": k, "M": m}, (outside, learner, k, m)
    settings = list(product(N_ROWS, ("source", "random")))
    names: dict[str, Any] = {"what": "variance"}
    for learner, (m, scheme) in product(LEARNERS, settings):
        line = {**names, "learner": learner.name, "M": m, "scheme": scheme}
        yield line, (variance, learner, m, scheme)
    # The paper's own setting.
    data = _multisource_thousand.pool()
    for k, m in _multisource_thousand.GRID:
        line = {"what": "outside", "learner": _multisource_thousand.NAME, "K": k, "M": m}
        yield line, (_multisource_thousand.outside, data, k, m)
    for m, scheme in settings:
        line = {**names, "learner": _multisource_thousand.NAME, "M": m, "scheme": scheme}
        yield line, (_multisource_thousand.variance, data, m, scheme)


def sizes() -> dict[str, Any]:
    """The domains and their number of reviews."""
    _, _, y, domain = reviews()
    return {"domains": np.unique(domain).tolist(), "rows": len(y), "level": LEVEL, "seed": SEED}


def on_all_domains() -> Comparison:
    """Both learners on all rows of all domains, for the pictures of the page."""
    X, _, y, domain = reviews()
    estimators = {"naive Bayes": LEARNERS[0].estimator(), "linear SVM": LinearSVC(C=0.01)}
    return compare_estimators(estimators, None, X, y, groups=domain)


def features(learner: Learner):
    words, unit, y, domain = reviews()
    names = np.unique(domain)
    rows = [np.flatnonzero(domain == name) for name in names]
    return (unit if learner.unit_length else words), y, rows


def sample(rng, rows: list[np.ndarray], m: int, *, replace: bool) -> np.ndarray:
    """M rows of each domain, domains one after the other."""
    return np.concatenate([rng.choice(of_domain, m, replace=replace) for of_domain in rows])


def cross_validate(learner: Learner, rows: np.ndarray, k: int, scheme: str, seed: int):
    X, y, _ = features(learner)
    groups = np.repeat(np.arange(k), len(rows) // k)
    cv = MultiSourceCV(learner.estimator(), scheme=scheme, random_state=seed)
    return cv.fit(X[rows], y[rows], groups=groups).result_


def outside(learner: Learner, k: int, m: int) -> dict:
    """CVS, CVR and the error on new domains, for many choices of K domains."""
    draws = [draw(learner, k, m, index) for index in range(learner.draws)]

    def average(name: str) -> float:
        return float(np.mean([d[name] for d in draws]))

    def error(values: list[float]) -> float:
        return float(np.std(values, ddof=1) / np.sqrt(len(values)))

    answer = {"learner": learner.name, "K": k, "M": m, "draws": learner.draws}
    answer |= {name: average(name) for name in ("cvs", "cvr", "new")}
    for name in ("cvs", "cvr"):
        answer[f"bias_{name}_se"] = error([d[name] - d["new"] for d in draws])
        answer[f"sd_{name}"] = float(np.sqrt(average(f"var_{name}")))
    population = answer["cvs"]
    answer["coverage"] = dict(coverage(draws, k, population))
    answer["half_width"] = {
        q: float(np.mean([(i.high - i.low) / 2 for d in draws for i in d["intervals"][q]]))
        for q in draws[0]["intervals"]
    }
    return answer


def draw(learner: Learner, k: int, m: int, index: int) -> dict:
    """One choice of K domains, with several samples of rows from them."""
    X, y, rows = features(learner)
    rng = np.random.default_rng([SEED, k, m, index])
    order = rng.permutation(len(rows))
    inside, new = [rows[i] for i in order[:k]], [rows[i] for i in order[k:]]
    questions = ("new_source", "population", "fixed") if k > 2 else ("fixed",)
    found: dict = {"cvs": [], "cvr": [], "new": [], "new_m": [], "thetas": []}
    found["intervals"] = {q: [] for q in questions}
    for _ in range(learner.repeats):
        drawn = sample(rng, inside, m, replace=True)
        result = cross_validate(learner, drawn, k, "source", 0)
        summary = result.summary("zero_one")
        found["cvs"].append(summary.estimate)
        found["thetas"].append({kind: VARIANCES[kind](summary) for kind in ("theta_a", "theta_b")})
        for q in questions:
            found["intervals"][q].append(interval_of(summary, q, LEVEL, loss_range=(0.0, 1.0)))
        model = learner.estimator().fit(X[drawn], y[drawn])
        wrong = [model.predict(X[of_domain]) != y[of_domain] for of_domain in new]
        found["new"].append([w.mean() for w in wrong])
        found["new_m"].append([rng.choice(w, m).mean() for w in wrong])
        random_rows = sample(rng, inside, m, replace=False)
        seed = int(rng.integers(2**31))
        found["cvr"].append(
            cross_validate(learner, random_rows, k, "random", seed).estimate("zero_one")
        )
    return {
        **{name: float(np.mean(found[name])) for name in ("cvs", "cvr", "new")},
        **{f"var_{name}": float(np.var(found[name], ddof=1)) for name in ("cvs", "cvr")},
        "runs": found,
        "intervals": found["intervals"],
    }


def coverage(draws: list[dict], k: int, population: float) -> Iterator[tuple[str, float]]:
    """Share of intervals that hold what they are about; some also for questions of others."""
    z = stats.norm.ppf((1 + LEVEL) / 2)
    n_domains = len(draws[0]["runs"]["new"][0]) + k

    def share(hits) -> float:
        return float(np.mean(list(hits)))

    for q in draws[0]["intervals"]:
        yield f"{q}: new domain", share(_new_hits(draws, q, "new"))
        yield f"{q}: M rows of a new domain", share(_new_hits(draws, q, "new_m"))
    if "population" in draws[0]["intervals"]:
        yield (
            "population: mean of domains",
            share(
                abs(i.estimate - population) <= _finite(i, k / n_domains) * (i.high - i.estimate)
                for d in draws
                for i in d["intervals"]["population"]
            ),
        )
    for kind in ("theta_a", "theta_b"):
        yield f"{kind}: these domains", share(_fixed_hits(draws, kind, z))


def _new_hits(draws: list[dict], question: str, truth: str) -> Iterator[bool]:
    for d in draws:
        for answer, errors in zip(d["intervals"][question], d["runs"][truth], strict=True):
            yield from (error in answer for error in errors)


def _finite(answer: Interval, share: float) -> float:
    """Factor of the half-width where a share of all domains there are has been drawn.

    The mean of K of 14 domains is closer to the mean of the 14 than to that of all domains there
    could be: only the part of the variance that lies between domains shrinks by 1 − K/14.
    """
    spread = answer.between + answer.within
    return float(np.sqrt((answer.between * (1 - share) + answer.within) / spread))


def _fixed_hits(draws: list[dict], kind: str, z: float) -> Iterator[bool]:
    """The truth is the mean over repeated samples; its own error is undone by R / (R − 1)."""
    for d in draws:
        values = np.array(d["runs"]["cvs"])
        off = np.abs(values - values.mean()) * np.sqrt(len(values) / (len(values) - 1))
        for distance, thetas in zip(off, d["runs"]["thetas"], strict=True):
            yield distance <= z * np.sqrt(thetas[kind])


def variance(learner: Learner, m: int, scheme: str) -> dict:
    """All 14 domains, many samples of M rows: the true variance, its parts and its estimators."""
    _, _, rows = features(learner)
    k = len(rows)
    losses, estimates = [], []
    for index in range(learner.runs):
        rng = np.random.default_rng([SEED, m, index])
        drawn = sample(rng, rows, m, replace=True)
        result = cross_validate(learner, drawn, k, scheme, int(rng.integers(2**31)))
        units = result.source if result.scheme == "source" else result.fold
        losses.append(result.losses()[np.argsort(units, kind="stable")])
        summary = result.summary("zero_one")
        estimates.append({kind: function(summary) for kind, function in VARIANCES.items()})
    parts = variance_decomposition(np.array(losses), np.repeat(np.arange(k), m))
    table = {kind: [e[kind] for e in estimates] for kind in VARIANCES}
    return {
        "learner": learner.name,
        "M": m,
        "scheme": scheme,
        "runs": learner.runs,
        "mean": float(np.mean(losses)),
        "total": parts.total,
        "parts": {name: getattr(parts, f"from_{name}") for name in ("sigma", "omega", "gamma")},
        "omega": _quantiles(parts.omega),
        "gamma": _quantiles(parts.gamma[~np.isnan(parts.gamma)]),
        "estimators": {kind: float(np.mean(values)) for kind, values in table.items()},
        "spread": {kind: float(np.std(values)) for kind, values in table.items()},
        "negative": {kind: float(np.mean(np.less(values, 0))) for kind, values in table.items()},
    }


def _quantiles(values: np.ndarray) -> list[float]:
    return np.quantile(values, [0, 0.25, 0.5, 0.75, 1]).tolist()
