"""
Estimators of skada as candidates
=================================

:func:`~landbridge.from_skada` gives an estimator of skada the signature of landbridge, so that it
can be compared with all other candidates. skada is not a dependency of landbridge.
"""

import matplotlib.pyplot as plt
import skada
from sklearn.linear_model import LogisticRegression

from landbridge import Pooled, SourceOnly, TransferSearchCV, from_skada
from landbridge.datasets import make_covariate_shift

data = make_covariate_shift(300, 300, 4, random_state=0)
linear = LogisticRegression()
search = TransferSearchCV(
    {
        "source-only": SourceOnly(linear),
        "pooled": Pooled(linear),
        "skada CORAL": from_skada(skada.CORAL(LogisticRegression())),
        "skada subspaces": from_skada(
            skada.SubspaceAlignment(LogisticRegression(), n_components=2)
        ),
    },
    random_state=0,
).fit(
    data.X,
    data.y,
    X_target=data.X_target[:50],
    y_target=data.y_target[:50],
    X_unlabeled=data.X_target[50:],
)
search.results_

# %%

search.plot()
plt.show()
