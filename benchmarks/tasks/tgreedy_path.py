"""300 steps on 16 000 rows of 2 000 features in eight domains, in one of several forms."""

import numpy as np
from benchmarks._residual_path import residual_path

from landbridge import TGreedySelector
from landbridge.feature_selection.moments import moments_of
from landbridge.feature_selection.statistics import FullStatistics
from landbridge.feature_selection.t_greedy import greedy_path

STEPS = 300


def draw(kind, n_rows=16000, p=2000, n_domains=8, seed=0):
    """Single precision rows; "correlated" features are noisy mixtures of 100 common factors."""
    rng = np.random.default_rng(seed)
    codes = np.arange(n_rows) % n_domains
    X = rng.standard_normal((n_rows, p), dtype=np.float32)
    if kind == "correlated":
        factors = rng.standard_normal((n_rows, 100), dtype=np.float32)
        X += factors @ rng.standard_normal((100, p), dtype=np.float32) * 0.1
    beta = 0.1 * rng.normal(size=p) * (rng.random(p) < 0.2)
    own = 0.05 * rng.normal(size=(n_domains, p))
    y = np.empty(n_rows)
    for k in range(n_domains):
        rows = codes == k
        y[rows] = X[rows] @ (beta + own[k]).astype(np.float32)
    return X, y + rng.normal(size=n_rows), codes


def selector(X, y, codes):
    return TGreedySelector(stop=None, max_steps=STEPS).fit(X, y, groups=codes).path_.feature


def default_stop(X, y, codes):
    return TGreedySelector(max_steps=STEPS).fit(X, y, groups=codes).path_.feature


def full(X, y, codes):
    return greedy_path(FullStatistics(moments_of(X, y, codes)), max_steps=STEPS).feature


def residual(X, y, codes):
    return residual_path(X, y, codes, max_steps=STEPS)[0]


def single_products(X, y, codes):
    model = TGreedySelector(stop=None, max_steps=STEPS, dtype="float32")
    return model.fit(X, y, groups=codes).path_.feature


FORMS = {
    "selector": selector,
    "single products": single_products,
    "default stop": default_stop,
    "full": full,
    "residual": residual,
}


def prepare(form, kind, precision):
    X, y, codes = draw(kind)
    X = X.astype(np.float64 if precision == "double" else np.float32, copy=False)
    # What the first call imports is not what is measured.
    selector(X[:400, :500], y[:400], codes[:400])
    if form in FORMS:
        return form, (X, y, codes)
    columns = slice(None) if form == "product of all" else np.unique(selector(X, y, codes))
    return form, (X, codes, columns)


def work(state):
    form, data = state
    if form in FORMS:
        feature = FORMS[form](*data)
        return {"distinct": int(np.unique(feature).size), "first": feature[:200].tolist()}
    X, codes, columns = data
    n_domains = codes.max() + 1
    products = [X[k::n_domains][:, columns].T @ X[k::n_domains] for k in range(n_domains)]
    return {"distinct": products[0].shape[0], "check": float(products[0][0, 0])}
