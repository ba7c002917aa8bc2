"""
When does TrAdaBoost beat plain pooling?
========================================

TrAdaBoost lowers the weight of misclassified source rows round by round. Here part of the source
follows another rule. How many target labels are needed before this beats pooling?
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.tree import DecisionTreeClassifier

from landbridge import Pooled, TargetOnly, TrAdaBoostClassifier

rng = np.random.default_rng(0)


def rows(n_rows, share_wrong):
    X = rng.normal(size=(n_rows, 6))
    wrong = rng.random(n_rows) < share_wrong
    rule = np.where(wrong, X[:, 1] - X[:, 0], X[:, 0] + X[:, 1])
    return X, (rule + 0.3 * rng.normal(size=n_rows) > 0).astype(int)


X, y = rows(600, 0.4)
X_test, y_test = rows(2000, 0.0)
tree = DecisionTreeClassifier(max_depth=4, random_state=0)
models = {
    "target-only": TargetOnly(tree),
    "pooled": Pooled(tree),
    "TrAdaBoost": TrAdaBoostClassifier(tree, n_estimators=20, random_state=0),
}
sizes = [10, 20, 40, 80, 160]
scores = {name: [] for name in models}
for n_labels in sizes:
    draws = [rows(n_labels, 0.0) for _ in range(5)]
    for name, model in models.items():
        scores[name].append(
            np.mean(
                [model.fit(X, y, X_target=a, y_target=b).score(X_test, y_test) for a, b in draws]
            )
        )

for name, values in scores.items():
    plt.plot(sizes, values, marker="o", label=name)
plt.xscale("log")
plt.xticks(sizes, sizes)
plt.xlabel("labelled target rows")
plt.ylabel("accuracy")
plt.legend()
plt.show()
