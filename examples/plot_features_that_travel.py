"""
Which features keep their meaning in a new domain?
==================================================

A feature whose effect is large but changes between domains looks useful in a pooled fit and
misleads in a new domain. T-greedy selection prefers effects that are the same in every domain.
"""

import matplotlib.pyplot as plt
import numpy as np

from landbridge import TGreedySelector
from landbridge.inspection import FeatureStabilityDisplay

rng = np.random.default_rng(0)
n_sites, n_rows = 8, 300
site = np.repeat(np.arange(n_sites), n_rows)
X = rng.normal(size=(n_sites * n_rows, 10))
local = np.array([5, -1, 4, -3, 5, 2, -2, 4])[site]  # differs from site to site
y = X[:, 0] + 0.8 * X[:, 1] + local * X[:, 2] + rng.normal(size=len(X))

# %%
# Ordinary greedy selection picks feature 2 first, whose effect changes its sign:

greedy = TGreedySelector(criterion="loss", n_features=3).fit(X, y, groups=site)
stable = TGreedySelector(n_features=2).fit(X, y, groups=site)
print("greedy:  ", greedy.path_.feature[:3])
print("T-greedy:", stable.path_.feature[:2])

# %%
# Effects by domain: dots on both sides of zero mean that a feature changes its meaning.

FeatureStabilityDisplay.from_estimator(greedy)
plt.show()

# %%
# On a new site the two stable features do better than the three greedy ones:

X_new = rng.normal(size=(1000, 10))
y_new = X_new[:, 0] + 0.8 * X_new[:, 1] - 3.0 * X_new[:, 2] + rng.normal(size=1000)
for name, selector in (("greedy", greedy), ("T-greedy", stable)):
    print(f"{name}: RMSE {np.sqrt(np.mean((selector.predict(X_new) - y_new) ** 2)):.2f}")
