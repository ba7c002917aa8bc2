"""Leave each source out: by MultiSourceCV, by scikit-learn, or by a plain loop.

The plain loop cuts out the rows, fits and predicts: nobody can avoid that.
"""

import hashlib

import numpy as np
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
    # Starting workers and importing what the first call imports is not what is measured.
    few = np.arange(0, groups.size, 20)
    for each in (1, n_jobs):
        MultiSourceCV(ESTIMATORS[estimator], n_jobs=each).fit(X[few], y[few], groups=groups[few])
    return how, ESTIMATORS[estimator], X, y, groups, n_jobs


def work(state):
    how, estimator, X, y, groups, n_jobs = state
    if how == "plain loop":
        losses = np.empty(len(y))
        for k in range(groups.max() + 1):
            train, test = np.flatnonzero(groups != k), np.flatnonzero(groups == k)
            model = clone(estimator).fit(X[train], y[train])
            losses[test] = model.predict(X[test]) != y[test]
    elif how == "scikit-learn":
        split = LeaveOneGroupOut()
        losses = y != cross_val_predict(estimator, X, y, groups=groups, cv=split, n_jobs=n_jobs)
    else:
        cv = MultiSourceCV(estimator, n_jobs=n_jobs)
        losses = cv.fit(X, y, groups=groups).result_.losses()
    return {"digest": hashlib.sha256(losses.astype(np.float64).tobytes()).hexdigest()[:16]}
