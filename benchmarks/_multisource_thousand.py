"""Figures 2 to 6 of Geras and Sutton as printed, on ten domains.

Figures 2 and 3 have 200 draws of training domains and a test domain, Figures 4 to 6 have 1000 data
sets for every M.

Naive Bayes needs nothing of its training rows but the counts of words by class. A data set drawn
with replacement is therefore a table of multiplicities, and leaving a source (or a random block)
out subtracts its counts from those of all: a data set costs two products with the word counts
instead of ten fits.
"""

from dataclasses import dataclass

import numpy as np
from scipy import sparse
from sklearn.feature_extraction.text import CountVectorizer

from benchmarks._variance_decomposition import variance_decomposition
from landbridge.datasets import fetch_reviews
from landbridge.inference import summarise_sources
from landbridge.inference.variance import VARIANCES

# The paper names no domains; these are the ten with 1000 positive and 1000 negative reviews each.
DOMAINS = (
    "apparel", "books", "dvd", "electronics", "health_personal_care", "kitchen_housewares",
    "music", "sports_outdoors", "toys_games", "video",
)  # fmt: skip
N_RUNS = 1000
N_DRAWS, N_DATA_SETS = 200, 5  # of domains, and of rows for each; the paper has 100 data sets
# (K, M) of Figures 2 and 3. One domain of the ten is always new.
GRID = [(k, 200) for k in (2, 3, 5, 7, 9)] + [(9, m) for m in (50, 100, 500, 1000)]
NAME = "naive Bayes, 10 domains"


@dataclass(frozen=True)
class Pool:
    """Word counts, labels (0, 1) and rows of each domain."""

    X: sparse.csr_array
    y: np.ndarray
    rows: list[np.ndarray]


def pool() -> Pool:
    """The reviews of the ten domains as counts of the words that at least ten of them have."""
    bunch = fetch_reviews()
    domain = np.asarray(bunch.domain)
    chosen = np.flatnonzero(np.isin(domain, DOMAINS))
    X = CountVectorizer(min_df=10).fit_transform([bunch.data[i] for i in chosen])
    y = np.unique(np.asarray(bunch.target)[chosen], return_inverse=True)[1]
    rows = [np.flatnonzero(domain[chosen] == name) for name in DOMAINS]
    return Pool(sparse.csr_array(X, dtype=np.float64), y, rows)


def word_counts(
    data: Pool, drawn: np.ndarray, block: np.ndarray, k: int
) -> tuple[np.ndarray, np.ndarray]:
    """Counts of words and numbers of rows by block and class."""
    code = block * 2 + data.y[drawn]
    n_pool = data.X.shape[0]
    times = sparse.csr_array((np.ones(drawn.size), (code, drawn)), shape=(2 * k, n_pool))
    sizes = np.bincount(code, minlength=2 * k)
    return (times @ data.X).toarray().reshape(k, 2, -1), sizes.reshape(k, 2)


def log_odds(counts: np.ndarray, sizes: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Slope and offset of naive Bayes, from counts and sizes with two classes as `word_counts`."""
    words = np.log(counts + 1.0)  # Laplace's rule, as in MultinomialNB
    words -= np.log((counts + 1.0).sum(axis=-1, keepdims=True))
    prior = np.log(sizes)
    return words[..., 1, :] - words[..., 0, :], prior[..., 1] - prior[..., 0]


def held_out_losses(data: Pool, drawn: np.ndarray, block: np.ndarray, k: int) -> np.ndarray:
    """Zero-one loss of each drawn row by naive Bayes trained without its block."""
    counts, sizes = word_counts(data, drawn, block, k)
    slope, offset = log_odds(counts.sum(axis=0) - counts, sizes.sum(axis=0) - sizes)
    wrong = np.empty(drawn.size, dtype=bool)
    for b in range(k):
        own = np.flatnonzero(block == b)
        rows, back = np.unique(drawn[own], return_inverse=True)
        wrong[own] = mistakes(data, rows, slope[b], offset[b])[back]
    return wrong


def mistakes(data: Pool, rows: np.ndarray, slope: np.ndarray, offset: float) -> np.ndarray:
    """Whether naive Bayes is wrong about each row."""
    return (data.X[rows] @ slope + offset > 0) != data.y[rows]


def outside(data: Pool, k: int, m: int, seed: int = 0) -> dict:
    """CVS, CVR and the error on a new domain, over draws of domains and of rows."""
    errors = np.empty((N_DRAWS, N_DATA_SETS, 3))
    block = np.repeat(np.arange(k), m)
    for index in range(N_DRAWS):
        rng = np.random.default_rng([seed, k, m, index])
        *inside, new = rng.permutation(len(data.rows))[: k + 1]
        for run in range(N_DATA_SETS):
            drawn = np.concatenate([rng.choice(data.rows[i], m) for i in inside])
            cvs = held_out_losses(data, drawn, block, k).mean()
            cvr = held_out_losses(data, rng.permutation(drawn), block, k).mean()
            counts, sizes = word_counts(data, drawn, np.zeros_like(drawn), 1)
            test = rng.choice(data.rows[new], m)
            new_error = mistakes(data, test, *log_odds(counts[0], sizes[0])).mean()
            errors[index, run] = cvs, cvr, new_error
    cvs, cvr, new_domain = np.moveaxis(errors, -1, 0)
    answer = {"learner": NAME, "K": k, "M": m, "draws": N_DRAWS, "new": float(new_domain.mean())}
    for name, estimate in (("cvs", cvs), ("cvr", cvr)):
        gaps = (estimate - new_domain).mean(axis=1)
        answer[name] = float(estimate.mean())
        answer[f"bias_{name}_se"] = float(gaps.std(ddof=1) / np.sqrt(N_DRAWS))
        answer[f"sd_{name}"] = float(np.sqrt(estimate.var(axis=1, ddof=1).mean()))
    return answer


def variance(data: Pool, m: int, scheme: str, n_runs: int = N_RUNS, seed: int = 0) -> dict:
    """The true variance over data sets, its parts, and the mean of every estimator."""
    k = len(data.rows)
    losses = np.empty((n_runs, k * m), dtype=bool)
    estimates = []
    for index in range(n_runs):
        rng = np.random.default_rng([seed, m, index])
        drawn = np.concatenate([rng.choice(rows, m) for rows in data.rows])
        if scheme == "random":
            drawn = rng.permutation(drawn)
        block = np.repeat(np.arange(k), m)
        losses[index] = held_out_losses(data, drawn, block, k)
        summary = summarise_sources(losses[index].astype(float), block)
        estimates.append({kind: function(summary) for kind, function in VARIANCES.items()})
    parts = variance_decomposition(losses, np.repeat(np.arange(k), m))
    table = {kind: np.array([e[kind] for e in estimates]) for kind in VARIANCES}
    gamma = parts.gamma[~np.isnan(parts.gamma)]
    five = (0, 0.25, 0.5, 0.75, 1)
    return {
        "learner": NAME,
        "M": m,
        "scheme": scheme,
        "runs": n_runs,
        "mean": float(losses.mean()),
        "total": parts.total,
        "parts": {name: getattr(parts, f"from_{name}") for name in ("sigma", "omega", "gamma")},
        "omega": np.quantile(parts.omega, five).tolist(),
        "gamma": np.quantile(gamma, five).tolist(),
        "estimators": {kind: float(values.mean()) for kind, values in table.items()},
        "spread": {kind: float(values.std()) for kind, values in table.items()},
        "negative": {kind: float((values < 0).mean()) for kind, values in table.items()},
    }
