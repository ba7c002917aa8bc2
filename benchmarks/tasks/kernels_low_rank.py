"""The low-rank surrogate map or transfer component analysis on many rows."""

import numpy as np

from landbridge import SurrogateKernelMap, TransferComponentAnalysis


def prepare(method, n_rows, n_columns, rank):
    rng = np.random.default_rng(0)
    Z = rng.normal(size=(n_rows // 2, n_columns))
    X = rng.normal(0.5, 1.2, size=(n_rows // 2, n_columns))
    if method == "surrogate map":
        return SurrogateKernelMap(n_components=rank, random_state=0), Z, X
    return TransferComponentAnalysis(20, rank=rank, random_state=0), Z, X


def work(state):
    model, Z, X = state
    return model.fit_transform(Z, X_unlabeled=X).shape, model.transform(X).shape


def examine(state, shapes):
    return {"columns": shapes[0][1]}
