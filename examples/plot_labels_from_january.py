"""
What if all my labels are from January?
=======================================

Labels are often collected where it is convenient. Here the target is the year 2012, and all its
labelled hours are from January, while predictions are needed for the whole year. An interval
computed from these labels would be valid for January only, so the search checks the labels first.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.ensemble import ExtraTreesRegressor

from landbridge import Pooled, SourceOnly, TargetOnly, TransferSearchCV
from landbridge.datasets import load_bike_hours

bikes = load_bike_hours(domain="year")
is_2012 = bikes.domain == "2012"
month = bikes.data[:, bikes.feature_names.index("month")]
january = is_2012 & (month == 1)
others = is_2012 & (month != 1)

trees = ExtraTreesRegressor(30, min_samples_leaf=3, random_state=0)
candidates = {
    "source-only": SourceOnly(trees),
    "target-only": TargetOnly(trees),
    "pooled": Pooled(trees),
}


def searched(known, unknown):
    return TransferSearchCV(candidates, random_state=0).fit(
        bikes.data[~is_2012],
        bikes.target[~is_2012],
        X_target=bikes.data[known],
        y_target=bikes.target[known],
        X_unlabeled=bikes.data[unknown],
    )


search = searched(january, others)
print(search.interval())

# %%
# The check names the columns by which the labelled rows differ from the others.

check = search.results_.label_check_
for column in check.columns[:3]:
    print(
        bikes.feature_names[int(column.name.split()[-1])]
        if column.name.startswith("column")
        else column.name
    )

# %%
# If the same number of labels is drawn at random from the year, the interval is given.

rows = np.random.default_rng(0).permutation(np.flatnonzero(is_2012))
n_labels = int(january.sum())
search = searched(rows[:n_labels], rows[n_labels:])
print(search.interval())

search.plot()
plt.show()
