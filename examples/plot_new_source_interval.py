"""
How well will a model do at a new hospital?
===========================================

Cross-validation over rows measures the score at known hospitals. For a new hospital, leave out one
hospital at a time and use an interval that allows for the differences between hospitals.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.linear_model import LogisticRegression

from landbridge import MultiSourceCV
from landbridge.inspection import MultiSourceDisplay

rng = np.random.default_rng(0)
n_hospitals, n_rows = 10, 150
hospital = np.repeat([f"hospital {k + 1}" for k in range(n_hospitals)], n_rows)
slope = np.repeat(rng.normal(2.0, 1.2, size=n_hospitals), n_rows)
X = rng.normal(size=(n_hospitals * n_rows, 3))
y = np.where(slope * X[:, 0] + X[:, 1] + rng.logistic(size=len(X)) > 0, "ill", "well")

cv = MultiSourceCV(LogisticRegression()).fit(X, y, groups=hospital)
for question in ("fixed", "population", "new_source"):
    print(cv.result_.interval(question, level=0.9).describe(why=False))

# %%
# The interval for a new hospital is the widest, because a new hospital differs from the others.

MultiSourceDisplay.from_result(cv.result_)
plt.show()

# %%
# Scores at ten further hospitals, compared with the interval:

model = LogisticRegression().fit(X, y)
interval = cv.result_.interval("new_source", level=0.9)
hits = []
for _ in range(10):
    new = rng.normal(size=(150, 3))
    truth = rng.normal(2.0, 1.2) * new[:, 0] + new[:, 1] + rng.logistic(size=150) > 0
    hits.append(model.score(new, np.where(truth, "ill", "well")) in interval)
print(f"{sum(hits)} of 10 new hospitals inside the 90 % interval")
