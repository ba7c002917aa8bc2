"""
What does a surrogate kernel do?
================================

A kernel machine trained on the source uses similarities of source rows. The surrogate kernel
transfers the target's kernel to the source rows, and the alignment maps one onto the other.
"""

import matplotlib.pyplot as plt
import numpy as np

from landbridge import SurrogateKernelClassifier
from landbridge.inspection import KernelAlignmentDisplay

rng = np.random.default_rng(0)
n_rows = 80
y = np.repeat([0, 1], n_rows // 2)
centre = np.array([[-1.2, 0.0], [1.2, 0.0]])
turn = np.array([[0.8, -0.6], [0.6, 0.8]])
X = centre[y] + 0.6 * rng.normal(size=(n_rows, 2))
X_target = (centre[y] + 0.6 * rng.normal(size=(n_rows, 2))) @ turn.T

KernelAlignmentDisplay.from_data(X, X_target, y=y, y_target=y)
plt.show()

# %%
# The classifier uses the aligned kernel and no target labels.

model = SurrogateKernelClassifier(random_state=0).fit(X, y, X_unlabeled=X_target)
print(f"accuracy on the target: {model.score(X_target, y):.3f}")
