"""
Which metric should I use for one per cent of fraud?
====================================================

With one fraud in a hundred payments, a model that never predicts fraud has an accuracy of 99 %. The
search supports any metric of scikit-learn, with intervals; average precision suits rare classes.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression

from landbridge import Pooled, SourceOnly, TargetOnly, TransferSearchCV

rng = np.random.default_rng(0)


def payments(n_rows, shift):
    X = rng.normal(size=(n_rows, 8)) + shift
    risk = X[:, 0] + X[:, 1] * X[:, 2] - X[:, 3] + 0.5 * rng.logistic(size=n_rows)
    return X, np.where(risk > np.quantile(risk, 0.99), "fraud", "fine")


X, y = payments(6000, 0.0)  # last year's payments
X_new, y_new = payments(6000, 0.3)  # a new country

linear = LogisticRegression(max_iter=1000)
forest = RandomForestClassifier(50, min_samples_leaf=5, random_state=0)
search = TransferSearchCV(
    {
        "source-only linear": SourceOnly(linear),
        "source-only forest": SourceOnly(forest),
        "target-only linear": TargetOnly(linear),
        "pooled forest": Pooled(forest),
    },
    scoring=["average_precision", "accuracy"],
    random_state=0,
).fit(
    X,
    y == "fraud",
    X_target=X_new[:1500],
    y_target=y_new[:1500] == "fraud",
    X_unlabeled=X_new[1500:],
)

# %%
# By accuracy every candidate looks excellent, even the majority class, which finds no fraud.

frame = search.results_.to_frame()
frame[["candidate", "average_precision", "accuracy"]].round(3)

# %%

search.plot()
plt.show()

# %%
# The interval for average precision is wide, because only about 15 of the labelled rows are fraud.

print(search.interval(0.9))
