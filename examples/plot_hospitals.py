"""
Which hospital should I learn from?
===================================

Six hospitals have labelled all their patients, a seventh only 40. Each hospital follows a slightly
different rule. The search trains candidates on each hospital alone and on all of them together.
"""

import matplotlib.pyplot as plt
from sklearn.linear_model import LogisticRegression

from landbridge import Pooled, SourceOnly, TargetOnly, TransferSearchCV
from landbridge.datasets import make_sources

data = make_sources(6, 150, 5, n_target=400, between=0.6, task="classification", random_state=1)

linear = LogisticRegression()
search = TransferSearchCV(
    {
        "source-only": SourceOnly(linear),
        "target-only": TargetOnly(linear),
        "pooled": Pooled(linear),
    },
    sources="both",
    random_state=0,
).fit(
    data.X,
    data.y,
    groups=data.groups,
    X_target=data.X_target[:40],
    y_target=data.y_target[:40],
    X_unlabeled=data.X_target[40:],
)
search.results_.to_frame().head(8)[["candidate", "source", "accuracy", "low", "high"]]

# %%
# Source by candidate: some hospitals are closer to the target than others, and with 40 labels the
# search can only partly tell which.

from landbridge.inspection import SourceCandidateDisplay

SourceCandidateDisplay.from_estimator(search)
plt.show()

# %%
# Predictions come from a vote, which averages over hospitals that the labels cannot separate.

print(search.interval(0.9))
print(f"on the other 360 patients: {search.score(data.X_target[40:], data.y_target[40:]):.3f}")
