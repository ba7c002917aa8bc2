"""
LightGBM as a candidate
=======================

LightGBM, XGBoost and CatBoost follow scikit-learn's interface and need no adapter. Wrapping one
booster in ``SourceOnly``, ``TargetOnly`` and ``Pooled`` shows what each set of rows contributes.
"""

import matplotlib.pyplot as plt
import numpy as np
from lightgbm import LGBMRegressor

from landbridge import Pooled, SourceOnly, TargetOnly, TransferSearchCV
from landbridge.datasets import load_bike_hours

bikes = load_bike_hours()
winter = bikes.domain == "winter"
rows = np.random.default_rng(0).permutation(np.flatnonzero(winter))
known, rest = rows[:150], rows[150:]

booster = LGBMRegressor(n_estimators=60, min_child_samples=5, n_jobs=1, verbose=-1)
search = TransferSearchCV(
    {
        "source-only": SourceOnly(booster),
        "target-only": TargetOnly(booster),
        "pooled": (Pooled(booster), {"target_share": [0.3, 0.6]}),
    },
    random_state=0,
).fit(
    bikes.data[~winter],
    bikes.target[~winter],
    X_target=bikes.data[known],
    y_target=bikes.target[known],
    X_unlabeled=bikes.data[rest],
)
print(search.interval(0.9))
search.plot()
plt.show()
