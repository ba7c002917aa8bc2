"""
Why does my model fail here?
============================

A model loses accuracy in a new domain for one of two reasons: the features shifted to a region with
few training rows, or the relation between features and label changed. Weighting source rows can
help in the first case but not in the second.
"""

import matplotlib.pyplot as plt
import pandas as pd

from landbridge.datasets import make_concept_shift, make_covariate_shift
from landbridge.inspection import ShiftDisplay, diagnose_shift, explain_loss

moved = make_covariate_shift(600, 300, 2, shift=2.0, random_state=0)
changed = make_concept_shift(600, 300, 2, random_state=0)

# %%
# :func:`~landbridge.inspection.diagnose_shift` compares the features and needs no labels:

diagnosis = diagnose_shift(
    moved.X, moved.X_target, feature_names=["age", "pressure"], random_state=0
)
diagnosis

# %%

ShiftDisplay.from_diagnosis(diagnosis)
plt.show()

# %%
# With labelled target rows, :func:`~landbridge.inspection.explain_loss` splits the loss. The first
# pair of domains differs clearly, but no accuracy is lost: not every shift is harmful.

found = {}
for name, data in (("features moved", moved), ("relation changed", changed)):
    split = explain_loss(
        data.X, data.y, data.X_target, data.y_target, task="classification", random_state=0
    )
    print(f"{name}: {split}\n")
    found[name] = {"from features": split.features.value, "from relation": split.relation.value}

# %%

pd.DataFrame(found).T.plot.barh(stacked=True, figsize=(7, 2.5))
plt.xlabel("additional error in the target")
plt.tight_layout()
plt.show()
