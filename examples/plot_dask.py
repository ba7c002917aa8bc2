"""
Run a search on a Dask cluster
==============================

Any joblib backend works. With Dask the data is sent to each worker once. This example starts a
small cluster in this process; for a real one pass its address to :class:`distributed.Client`.
"""

import joblib
import matplotlib.pyplot as plt
import numpy as np
from distributed import Client, LocalCluster
from sklearn.linear_model import LogisticRegression

from landbridge import Pooled, SourceOnly, TargetOnly, TransferSearchCV
from landbridge.datasets import make_covariate_shift

data = make_covariate_shift(400, 300, 4, random_state=0)
linear = LogisticRegression()


def search():
    return TransferSearchCV(
        {
            "source-only": SourceOnly(linear),
            "target-only": TargetOnly(linear),
            "pooled": (Pooled(linear), {"target_share": [0.2, 0.5]}),
        },
        n_jobs=2,
        random_state=0,
    ).fit(
        data.X,
        data.y,
        X_target=data.X_target[:40],
        y_target=data.y_target[:40],
        X_unlabeled=data.X_target[40:],
    )


with (
    LocalCluster(
        n_workers=1, threads_per_worker=1, processes=False, dashboard_address=None
    ) as cluster,
    Client(cluster),
    joblib.parallel_config(backend="dask"),
):
    on_dask = search()

# %%
# The results do not depend on where the fits ran:

here = search()
print("identical:", np.array_equal(on_dask.results_.scores(), here.results_.scores()))
print(on_dask.interval(0.9))

on_dask.plot()
plt.show()
