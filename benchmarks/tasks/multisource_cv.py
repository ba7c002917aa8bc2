"""Leave each source out: by MultiSourceCV, by scikit-learn, or just the fits nobody can avoid."""

import hashlib

import numpy as np
from joblib import Parallel, delayed
from sklearn.base import clone
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import LeaveOneGroupOut, cross_val_predict

from landbridge import MultiSourceCV

ESTIMATORS = {
    "logistic regression": LogisticRegression(C=10.0, max_iter=500),
    "random forest": RandomForestClassifier(n_estimators=20, random_state=0),
}


def prepare(how, estimator, n_sources, n_rows, n_features, n_jobs):
    rng = np.random.default_rng(0)
    groups = np.repeat(np.arange(n_sources), n_rows)
    slopes = 1 + 0.3 * rng.normal(size=(n_sources, n_features))
    X = rng.normal(size=(groups.size, n_features))
    y = ((X * slopes[groups]).sum(axis=1) + rng.logistic(size=groups.size) > 0).astype(int)
    if n_jobs > 1:  # starting the workers is not what is measured
        Parallel(n_jobs=n_jobs)(delayed(np.ones)(1) for _ in range(2 * n_jobs))
    folds = []
    if how == "fits alone":
        parts = [(groups != k, groups == k) for k in range(n_sources)]
        folds = [(X[train], y[train], X[test], y[test]) for train, test in parts]
    return {
        "how": how,
        "estimator": ESTIMATORS[estimator],
        "data": (X, y, groups),
        "folds": folds,
        "n_jobs": n_jobs,
    }


def work(state):
    X, y, groups = state["data"]
    if state["how"] == "fits alone":
        losses = np.concatenate(
            [
                clone(state["estimator"]).fit(X_train, y_train).predict(X_test) != y_test
                for X_train, y_train, X_test, y_test in state["folds"]
            ]
        )
    elif state["how"] == "scikit-learn":
        split = LeaveOneGroupOut()
        predicted = cross_val_predict(
            state["estimator"], X, y, groups=groups, cv=split, n_jobs=state["n_jobs"]
        )
        losses = predicted != y
    else:
        cv = MultiSourceCV(state["estimator"], n_jobs=state["n_jobs"])
        losses = cv.fit(X, y, groups=groups).result_.losses
    return {"digest": hashlib.sha256(losses.astype(np.float64).tobytes()).hexdigest()[:16]}
