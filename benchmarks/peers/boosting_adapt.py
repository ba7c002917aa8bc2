"""Measured task in ADAPT's environment: its TrAdaBoost with scikit-learn trees on the same
draws."""

import time
import tracemalloc
import warnings

import numpy as np
from adapt.instance_based import TrAdaBoost
from sklearn.tree import DecisionTreeClassifier

from _draws import load_draws  # beside _measure.py, which runs this file


def prepare(path, rounds, depth=None, costs=False):
    warnings.simplefilter("ignore")
    return load_draws(path), rounds, depth, costs


def work(state):
    draws, rounds, depth, costs = state
    scores, spent = [], 0.0
    for X, y, X_target, y_target, X_test, y_test in draws:
        model = new_model(rounds, depth)
        started = time.process_time()
        model.fit(X, y, Xt=X_target, yt=y_target)
        spent += time.process_time() - started
        scores.append(float(np.mean(model.predict(X_test) == y_test)))
    figures = {"fit_cpu_s": spent, "scores": scores}
    return {**figures, "peak_bytes": peak(draws[0], rounds, depth)} if costs else figures


def new_model(rounds, depth):
    tree = DecisionTreeClassifier(max_depth=depth, random_state=0)
    return TrAdaBoost(tree, n_estimators=rounds, verbose=0, random_state=0)


def peak(draw, rounds, depth):
    """Largest memory of a fit beside the arguments, as far as it is Python's and numpy's."""
    X, y, X_target, y_target, _, _ = draw
    tracemalloc.start()
    new_model(rounds, depth).fit(X, y, Xt=X_target, yt=y_target)
    largest = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return largest
