"""Measured task: `TrAdaBoostClassifier` on saved draws, and its floor, the trees alone."""

import time
import tracemalloc
import warnings

import numpy as np

from _draws import load_draws  # beside _measure.py, which runs this file
from landbridge import LandbridgeWarning, TrAdaBoostClassifier, TrimmedTreeClassifier
from landbridge.boosting.base_learners import make_learner
from landbridge.boosting.binning import bin_rows

PAPER = {"vote": "second_half", "target_share": None}


def prepare(path, rounds, tree=None, options=None, costs=False):
    warnings.simplefilter("ignore", LandbridgeWarning)
    draws = load_draws(path)
    base = None if tree is None else TrimmedTreeClassifier(**tree)
    model = TrAdaBoostClassifier(base, rounds, **{**PAPER, **(options or {})})
    X, y, X_target, y_target, _, _ = draws[0]
    model.fit(X[:200], y[:200], X_target=X_target, y_target=y_target)  # compiles, or loads it
    return draws, model, costs


def work(state):
    draws, model, costs = state
    scores, spent, floor = [], 0.0, 0.0
    for X, y, X_target, y_target, X_test, y_test in draws:
        started = time.process_time()
        model.fit(X, y, X_target=X_target, y_target=y_target)
        spent += time.process_time() - started
        scores.append(float(np.mean(model.predict(X_test) == y_test)))
        if costs:
            floor += trees_alone(model, [X, X_target], np.concatenate([y, y_target]))
    figures = {"fit_cpu_s": spent, "scores": scores}
    if costs:
        figures |= {"floor_cpu_s": floor, "rounds": model.n_estimators_, **memory(draws[0], model)}
    return figures


def trees_alone(model, parts, y):
    """Bins and as many trees as rounds, without boosting."""
    classes, codes = np.unique(y, return_inverse=True)
    weights = np.full(y.size, 1.0 / y.size)
    started = time.process_time()
    learner = make_learner(
        model.estimator, parts, codes.astype(np.uint8), classes, None, np.ones(y.size)
    )
    for _ in range(model.n_estimators_):
        learner.fit(weights)
    return time.process_time() - started


def memory(draw, model):
    """Largest memory of a fit beside the arguments, what it keeps, and that of the binned rows."""
    X, y, X_target, y_target, _, _ = draw
    rows = bin_rows([X, X_target])
    binned = sum(array.nbytes for array in (rows.codes, *rows.entries))
    tracemalloc.start()
    model.fit(X, y, X_target=X_target, y_target=y_target)
    kept, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    return {"binned_bytes": binned, "peak_bytes": peak, "kept_bytes": kept, "rows": rows.n_rows}
