"""Task: the weights of one of skada's adapters on rows read from a file."""

import numpy as np
import skada
from skada._reweight import DiscriminatorReweightAdapter, KLIEPReweightAdapter, KMMReweightAdapter

ADAPTERS = {
    "kmm": KMMReweightAdapter,
    "kliep": KLIEPReweightAdapter,
    "classifier": DiscriminatorReweightAdapter,
}


def stacked(X, X_target):
    return np.vstack([X, X_target]), np.repeat([1, -2], [len(X), len(X_target)])


def prepare(data, out, method, **parameters):
    with np.load(data) as rows:
        X, X_target = rows["X"], rows["X_target"]
    warm, domain = stacked(X[:50], X_target[:50])
    ADAPTERS[method](**parameters).fit(warm, sample_domain=domain)
    return ADAPTERS[method](**parameters), X, *stacked(X, X_target), out


def work(state):
    adapter, X, rows, domain, out = state
    adapter.fit(rows, sample_domain=domain)
    weights = adapter.compute_weights(rows, sample_domain=domain)[: len(X)]
    np.save(out, weights)
    return {"version": skada.__version__}
