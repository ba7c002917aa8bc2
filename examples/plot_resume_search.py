"""
My search was killed. Do I have to start again?
===============================================

With ``cache`` every finished fit is stored. If the search is started again, or another candidate is
added, no finished fit is repeated, and the results are bit-identical.
"""

import tempfile
import time

import matplotlib.pyplot as plt
import numpy as np
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression

from landbridge import Pooled, SourceOnly, TransferSearchCV
from landbridge.datasets import make_covariate_shift

data = make_covariate_shift(1500, 600, 5, random_state=0)
rows = {
    "X_target": data.X_target[:60],
    "y_target": data.y_target[:60],
    "X_unlabeled": data.X_target[60:],
}
folder = tempfile.TemporaryDirectory()
forest = RandomForestClassifier(100, random_state=0)
candidates = {"source-only": SourceOnly(forest), "pooled": Pooled(forest)}


def timed(candidates):
    started = time.process_time()
    search = TransferSearchCV(candidates, cache=folder.name, random_state=0)
    search.fit(data.X, data.y, **rows)
    print(f"{search.results_.info.fits_done} fits, {time.process_time() - started:.1f} s of CPU")
    return search


# %%
# The first search runs all fits:

first = timed(candidates)

# %%
# The second one, as after a crash, reads them from the cache:

second = timed(candidates)
print("identical:", np.array_equal(first.results_.scores(), second.results_.scores()))

# %%
# A third candidate needs only its own fits:

third = timed({**candidates, "pooled linear": Pooled(LogisticRegression())})
third.plot()
plt.show()
folder.cleanup()
