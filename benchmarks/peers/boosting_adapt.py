"""Measured task in ADAPT's environment: its TrAdaBoost with scikit-learn trees on the same
draws."""

import time
import warnings

import numpy as np
from adapt.instance_based import TrAdaBoost
from sklearn.tree import DecisionTreeClassifier

from _draws import load_draws  # beside _measure.py, which runs this file


def prepare(path, rounds, depth=None):
    warnings.simplefilter("ignore")
    return load_draws(path), rounds, depth


def work(state):
    draws, rounds, depth = state
    scores, spent = [], 0.0
    for X, y, X_target, y_target, X_test, y_test in draws:
        tree = DecisionTreeClassifier(max_depth=depth, random_state=0)
        model = TrAdaBoost(tree, n_estimators=rounds, verbose=0, random_state=0)
        started = time.process_time()
        model.fit(X, y, Xt=X_target, yt=y_target)
        spent += time.process_time() - started
        scores.append(float(np.mean(model.predict(X_test) == y_test)))
    return {"fit_cpu_s": spent, "scores": scores}
