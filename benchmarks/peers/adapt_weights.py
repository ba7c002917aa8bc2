"""Task: the weights of ADAPT's kernel mean matching on rows read from a file."""

from importlib.metadata import version

import numpy as np
from adapt.instance_based import KMM


def prepare(data, out, **parameters):
    with np.load(data) as rows:
        X, X_target = rows["X"], rows["X_target"]
    KMM(kernel="rbf", verbose=0, random_state=0, **parameters).fit_weights(X[:50], X_target[:50])
    return KMM(kernel="rbf", verbose=0, random_state=0, **parameters), X, X_target, out


def work(state):
    method, X, X_target, out = state
    np.save(out, method.fit_weights(X, X_target))
    return {"version": version("adapt")}
