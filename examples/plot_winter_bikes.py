"""
Does labelled data from other seasons help in winter?
=====================================================

A bike rental company wants to predict how busy an hour of winter will be. It has labelled hours of
spring, summer and autumn, and only 200 of winter. :class:`~landbridge.TransferSearchCV` compares a
model of the other seasons, a model of the 200 winter hours, and a model of both.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.linear_model import LogisticRegression
from sklearn.preprocessing import OneHotEncoder, StandardScaler

from landbridge import Pooled, SourceOnly, TargetOnly, TransferSearchCV
from landbridge.datasets import load_bike_hours

bikes = load_bike_hours(task="classification")
winter = bikes.domain == "winter"

# %%
# Demand over the day has one shape on working days and another on days off, so the hour is encoded
# separately for the two kinds of day.

columns = dict(zip(bikes.feature_names, bikes.data.T, strict=True))
time = columns["hour"] + 24 * columns["day off"]
codes = OneHotEncoder(sparse_output=False).fit_transform(
    np.column_stack([time, columns["weather"], columns["year"]])
)
numbers = np.column_stack([columns[name] for name in ("temperature", "humidity", "wind")])
X = StandardScaler().fit_transform(np.column_stack([codes, numbers]))

# %%
# 200 winter hours keep their label; the other 649 serve to check the estimate.

rows = np.random.default_rng(0).permutation(np.flatnonzero(winter))
known, rest = rows[:200], rows[200:]
linear = LogisticRegression(max_iter=1000)
search = TransferSearchCV(
    {
        "source-only": SourceOnly(linear),
        "target-only": TargetOnly(linear),
        "pooled": Pooled(linear),
    },
    random_state=0,
).fit(
    X[~winter],
    bikes.target[~winter],
    X_target=X[known],
    y_target=bikes.target[known],
    X_unlabeled=X[rest],
)
search

# %%
# The verdict compares the best transfer candidate with both baselines, by e-values that stay valid
# however often you look.

print(search.worth_transferring())
print(search.interval(0.95))
print(f"accuracy on the 649 hours kept aside: {search.score(X[rest], bikes.target[rest]):.3f}")

# %%

search.plot()
plt.show()
