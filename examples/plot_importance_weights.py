"""
When do importance weights help?
================================

Under a covariate shift, weighting source rows by the density ratio removes the bias of a simple
model. The price is variance: few rows carry the weight. The diagnostics show how few.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.linear_model import Ridge

from landbridge import KernelMeanMatching, ReweightedRegressor

rng = np.random.default_rng(0)
X = rng.normal(0.0, 1.0, size=(400, 1))
X_target = rng.normal(1.5, 0.5, size=(300, 1))


def truth(x):
    return np.sin(1.5 * x[:, 0]) + 0.5 * x[:, 0]


y = truth(X) + 0.2 * rng.normal(size=400)
matching = KernelMeanMatching().fit(X, X_target)
print(f"the 400 weighted rows count as {matching.effective_sample_size_:.0f}")

# %%

plain = Ridge(1e-3).fit(X, y)
weighted = ReweightedRegressor(Ridge(1e-3), KernelMeanMatching()).fit(X, y, X_unlabeled=X_target)
grid = np.linspace(-3, 3, 100)[:, None]
plt.scatter(X, y, s=4 + 30 * matching.weights_ / matching.weights_.max(), alpha=0.5, label="source")
plt.hist(X_target[:, 0], bins=20, density=True, alpha=0.3, label="target density")
plt.plot(grid, plain.predict(grid), label="unweighted line")
plt.plot(grid, weighted.predict(grid), label="weighted line")
plt.legend()
plt.show()

for name, model in (("unweighted", plain), ("weighted", weighted)):
    error = np.sqrt(np.mean((model.predict(X_target) - truth(X_target)) ** 2))
    print(f"{name}: RMSE on the target {error:.2f}")
