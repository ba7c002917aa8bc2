"""
Which rows should be labelled next?
===================================

A bike rental company has labelled hours of spring, summer and autumn, and 20 hours of winter. Is
the vote of its models better in winter than a model of the other seasons alone? Every further label
costs money. :class:`~landbridge.LabelPlanner` asks for hours on which the two disagree and stops
when the question is answered. The labels are simulated here.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.linear_model import LogisticRegression
from sklearn.preprocessing import OneHotEncoder, StandardScaler

from landbridge import (
    LabelPlanner,
    Pooled,
    SourceOnly,
    TargetOnly,
    TransferSearchCV,
    how_many_labels,
)
from landbridge.datasets import load_bike_hours

bikes = load_bike_hours(task="classification")
columns = dict(zip(bikes.feature_names, bikes.data.T, strict=True))
codes = OneHotEncoder(sparse_output=False).fit_transform(
    np.column_stack([columns["hour"] + 24 * columns["day off"], columns["weather"]])
)
numbers = np.column_stack([columns[name] for name in ("temperature", "humidity", "wind")])
X, y = StandardScaler().fit_transform(np.column_stack([codes, numbers])), bikes.target

winter = np.random.default_rng(0).permutation(np.flatnonzero(bikes.domain == "winter"))
known, pool = winter[:20], winter[20:]
others = bikes.domain != "winter"

# %%
# The search is fitted with the 20 labels and with the hours that could be labelled.

linear = LogisticRegression(max_iter=1000)
search = TransferSearchCV(
    {"other seasons": SourceOnly(linear), "winter": TargetOnly(linear), "both": Pooled(linear)},
    random_state=0,
).fit(X[others], y[others], X_target=X[known], y_target=y[known], X_unlabeled=X[pool])

# %%
# The forecast before any further label:

print(how_many_labels(search, goal="prove", baseline="other seasons", budget=300))

# %%
# Ask, label and check, batch by batch. Rows are drawn with known probabilities, and the test allows
# for a check after every batch.

planner = LabelPlanner("prove", baseline="other seasons", budget=300, random_state=0)
while not planner.asked_ or not planner.status(search).reached:
    batch = planner.ask(search)
    if not len(batch) or len(planner.asked_) > planner.budget:
        break
    planner.tell(batch.rows, y[pool][batch.rows])

print(batch.reasons[0])
print(planner.status(search))

# %%
# The advantage of the leader and the evidence for it, by the number of labels:

history = planner.history(search)
labels = [status.n_labels for status in history]
figure, (left, right) = plt.subplots(1, 2, figsize=(9, 3.5), layout="constrained")
left.fill_between(labels, [s.low for s in history], [s.high for s in history], alpha=0.25)
left.plot(labels, [s.estimate for s in history], marker="o")
left.axhline(0, color="grey", linestyle="--")
left.set(xlabel="labels", ylabel=history[-1].score, title="90 % interval")
right.plot(labels, [s.e_value for s in history], marker="o")
right.axhline(20, color="grey", linestyle="--")
right.set(xlabel="labels", ylabel="e-value", yscale="log", title="evidence")
plt.show()

# %%
# The simulation knows the truth: the accuracy of both on all hours of the pool.

for cell in search.results_.ranking():
    name = search.results_.labels[cell]
    right_answers = search.refit_cell(cell).predict(X[pool]) == y[pool]
    print(f"{name:<15} {right_answers.mean():.3f}")
print(f"{'the search':<15} {np.mean(search.predict(X[pool]) == y[pool]):.3f}")
