"""Real tables and texts with natural domains: T-greedy selection against the usual ways.

Each domain is held out once. All parameters, including the number of features and the strength of a
penalty, are chosen on the other domains. Reviews: sentiment from 1000 words, eight of the 16
products held out, 150 reviews of each other product to learn from. Bike sharing: logarithm of
the hourly rentals from calendar and weather with the hour and weekday as indicators, a season
held out. UJIIndoorLoc: longitude from 520 access points, one of the phones with at least 400
rows held out, at most 200 rows of each other phone.

`lasso`: penalty by leave-one-domain-out. `k best`: univariate F tests, then ridge; k by
leave-one-domain-out. `rfe`: recursive elimination with ridge, size by five folds of domains.
`ridge`: all features, penalty by leave-one-domain-out. The score is AUROC for reviews and R² for
the others, on all rows of the held-out domain.
"""

import time
from typing import Any

import numpy as np
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.feature_selection import RFECV, SelectKBest, f_regression
from sklearn.linear_model import LassoCV, Ridge
from sklearn.metrics import r2_score, roc_auc_score
from sklearn.model_selection import GridSearchCV, GroupKFold, LeaveOneGroupOut
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

from benchmarks._harness import Log, markdown_table, read, write_page
from landbridge import TGreedySelector
from landbridge.datasets import fetch_bike_sharing, fetch_reviews, fetch_ujiindoorloc

NAME = "tgreedy_tables"
SEED = 0
OURS = {
    "t": lambda: TGreedySelector("t"),
    "gate": lambda: TGreedySelector("gate"),
    "gate, ols": lambda: TGreedySelector("gate", refit="ols"),
    "greedy": lambda: TGreedySelector("loss"),
}
PENALTIES = [1.0, 10.0, 100.0, 1000.0]


def by_domain(estimator, grid, X, y, groups):
    search = GridSearchCV(estimator, grid, cv=LeaveOneGroupOut(), scoring="neg_mean_squared_error")
    return search.fit(X, y, groups=groups).best_estimator_


def lasso(X, y, groups):
    splits = list(LeaveOneGroupOut().split(X, y, groups))
    model = LassoCV(alphas=20, cv=splits, max_iter=500, tol=1e-3).fit(X, y)
    return model, int((model.coef_ != 0).sum())


def k_best(X, y, groups):
    sizes = [k for k in (5, 10, 30, 100, 300) if k < X.shape[1]]
    model = make_pipeline(SelectKBest(f_regression), Ridge(10.0))
    model = by_domain(model, {"selectkbest__k": sizes}, X, y, groups)
    return model, int(model[0].get_support().sum())


def rfe(X, y, groups):
    folds = list(GroupKFold(min(5, np.unique(groups).size)).split(X, y, groups))
    model = RFECV(Ridge(10.0), step=0.3, cv=folds, scoring="neg_mean_squared_error").fit(X, y)
    return model, int(model.n_features_)


def ridge(X, y, groups):
    return by_domain(Ridge(), {"alpha": PENALTIES}, X, y, groups), X.shape[1]


def ours(make):
    def fit(X, y, groups):
        model = make().fit(X, y, groups=groups)
        return model, int(model.get_support().sum())

    return fit


METHODS = {
    **{name: ours(make) for name, make in OURS.items()},
    "lasso": lasso,
    "k best": k_best,
    "rfe": rfe,
    "ridge": ridge,
}


def subset(groups, allowed, size, rng):
    """At most ``size`` rows of each allowed domain."""
    return np.concatenate(
        [rng.permutation(np.flatnonzero(groups == g))[:size] for g in sorted(allowed)]
    )


def reviews():
    data = fetch_reviews()
    domain, y = np.asarray(data.domain), np.where(np.asarray(data.target) == 1, 1.0, -1.0)
    rng = np.random.default_rng(SEED)
    names = np.unique(domain)
    texts = np.array(data.data, dtype=object)
    for held_out in names[::2]:
        train = subset(domain, set(names) - {held_out}, 150, rng)
        test = np.flatnonzero(domain == held_out)
        words = TfidfVectorizer(max_features=1000, sublinear_tf=True, stop_words=None)
        X = words.fit_transform(texts[train]).toarray()
        X_test = words.transform(texts[test]).toarray()
        yield held_out, X, y[train], domain[train], X_test, y[test]


def bikes():
    data = fetch_bike_sharing()
    names = list(data.feature_names)
    season = np.asarray(data.season).astype(str)
    dropped = [names.index(n) for n in names if n in ("season", "mnth", "hr", "weekday")]
    dummies = OneHotEncoder(sparse_output=False).fit_transform(
        data.data[:, [names.index("hr"), names.index("weekday")]]
    )
    X = np.hstack([np.delete(data.data, dropped, axis=1), dummies])
    X = np.hstack([X, X[:, :5] ** 2])
    y = np.log1p(np.asarray(data.target, dtype=float))
    for held_out in np.unique(season):
        train, test = np.flatnonzero(season != held_out), np.flatnonzero(season == held_out)
        yield held_out, X[train], y[train], season[train], X[test], y[test]


def phones():
    data = fetch_ujiindoorloc()
    train_rows = np.asarray(data.split) == "train"
    X, phone = data.data[train_rows], np.asarray(data.domain)[train_rows]
    y = data.target[train_rows, list(data.target_names).index("longitude")]
    names, counts = np.unique(phone, return_counts=True)
    rng = np.random.default_rng(SEED)
    for held_out in names[counts >= 400][:8]:
        train = subset(phone, set(names) - {held_out}, 200, rng)
        test = np.flatnonzero(phone == held_out)
        yield held_out, X[train], y[train], phone[train], X[test], y[test]


TASKS = {"reviews": reviews, "bike sharing": bikes, "UJIIndoorLoc": phones}


def response(model, X):
    return model.decision_function(X) if hasattr(model, "decision_function") else model.predict(X)


def run() -> None:
    cells = (
        ({"task": task, "held_out": str(held_out)}, (task, *rows))
        for task, splits in TASKS.items()
        for held_out, *rows in splits()
    )
    with Log(NAME) as log:
        log.run(compare, cells)
    page()


def compare(task, X, y, groups, X_test, y_test) -> list[dict[str, Any]]:
    """Score, number of features and CPU seconds of every method on one held-out domain."""
    scaler, lines = StandardScaler().fit(X), []
    X, X_test = scaler.transform(X), scaler.transform(X_test)
    score = roc_auc_score if task == "reviews" else r2_score
    for method, fit in METHODS.items():
        started = time.process_time()
        model, size = fit(X, y, groups)
        seconds = time.process_time() - started
        value = round(float(score(y_test, response(model, X_test))), 4)
        line = {"method": method, "score": value, "features": size, "cpu_s": round(seconds, 3)}
        lines.append({**line, "seed": SEED})
    return lines


def page() -> None:
    lines = read(NAME)
    text = ["# Real tables and texts", "", __doc__.split("\n\n", 1)[1].strip()]
    for task in TASKS:
        chosen = [r for r in lines if r["task"] == task]
        # A domain counts when all methods have been run on it.
        n_domains = len(chosen) // len(METHODS)
        chosen = chosen[: n_domains * len(METHODS)]
        if n_domains > 1:
            title = f"## {task}, {n_domains} held-out domains"
            text += ["", title, "", table(chosen), "", verdict(chosen)]
    write_page(NAME, "\n".join(text))


def column(lines, method, key) -> np.ndarray:
    return np.array([r[key] for r in lines if r["method"] == method], dtype=float)


def table(lines) -> str:
    rows = []
    for method in METHODS:
        score = column(lines, method, "score")
        rows.append(
            [
                method,
                f"{score.mean():.3f} ± {score.std(ddof=1) / np.sqrt(score.size):.3f}",
                f"{score.min():.3f}",
                f"{np.median(column(lines, method, 'features')):g}",
                f"{column(lines, method, 'cpu_s').mean():.2f}",
            ]
        )
    header = ["method", "score on the held-out domain", "worst domain", "features", "CPU s"]
    return markdown_table(header, rows)


def verdict(lines) -> str:
    """Where our three criteria stand against each baseline, by paired differences."""
    words = []
    for method in ("t", "gate", "gate, ols"):
        results = {"wins against": [], "loses to": [], "does not differ from": []}
        for other in ("greedy", "lasso", "k best", "rfe", "ridge"):
            difference = column(lines, method, "score") - column(lines, other, "score")
            error = difference.std(ddof=1) / np.sqrt(difference.size)
            word = "does not differ from"
            if abs(difference.mean()) > 2 * error:
                word = "wins against" if difference.mean() > 0 else "loses to"
            results[word].append(f"{other} ({difference.mean():+.3f} ± {error:.3f})")
        parts = [f"{word} {', '.join(names)}" for word, names in results.items() if names]
        words.append(f"- `{method}` " + "; ".join(parts) + ".")
    return "\n".join(words)
