"""
Can one phone's WiFi model locate another phone?
================================================

A model turns the signal strengths of WiFi access points into a position. Another phone measures
signals a few decibels louder or weaker. This is a regression task; errors are in metres.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.ensemble import ExtraTreesRegressor

from landbridge import Pooled, SourceOnly, TargetOnly, TransferSearchCV

rng = np.random.default_rng(0)
points = rng.uniform(0, 40, size=(20, 2))  # access points in a hall of 40 m by 40 m


def walk(n_rows, gain, offset):
    place = rng.uniform(0, 40, size=(n_rows, 2))
    distance = np.linalg.norm(place[:, None] - points, axis=2)
    signal = -40 - 20 * np.log10(distance + 1) + rng.normal(0, 3, size=distance.shape)
    return np.maximum(gain * signal + offset, -100), place[:, 0]


X, y = walk(800, 1.0, 0.0)
X_phone, y_phone = walk(500, 0.9, -6.0)

trees = ExtraTreesRegressor(50, min_samples_leaf=2, random_state=0)
search = TransferSearchCV(
    {"source-only": SourceOnly(trees), "target-only": TargetOnly(trees), "pooled": Pooled(trees)},
    random_state=0,
).fit(X, y, X_target=X_phone[:40], y_target=y_phone[:40], X_unlabeled=X_phone[40:])

print(search.interval(0.9))
error = np.sqrt(np.mean((search.predict(X_phone[40:]) - y_phone[40:]) ** 2))
print(f"RMSE on 460 further positions: {error:.2f} m")
search.plot()
plt.show()
