"""Task: the weights of one of our methods on rows read from a file."""

import numpy as np

import landbridge


def prepare(data, out, method, **parameters):
    with np.load(data) as rows:
        X, X_target = rows["X"], rows["X_target"]
    weighting = getattr(landbridge, method)(**parameters)
    # The first call of a kernel loads shared libraries; that is no work of the method.
    getattr(landbridge, method)(**parameters).fit(X[:50], X_target[:50])
    return weighting, X, X_target, out


def work(state):
    weighting, X, X_target, out = state
    weighting.fit(X, X_target)
    np.save(out, weighting.weights_)
    return {"effective_sample_size": weighting.effective_sample_size_}
