"""Section 4.2 of Zhong et al. (2010): reverse validation where source and target are alike."""

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer, make_moons
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier

from landbridge import TransferSearchCV

CANDIDATES = {
    "linear": make_pipeline(StandardScaler(), LogisticRegression()),
    "Bayes": GaussianNB(),
    "neighbours": KNeighborsClassifier(),
    "tree": DecisionTreeClassifier(random_state=0),
}
TABLES = {
    "moons": make_moons(600, noise=0.3, random_state=0),
    "breast cancer": load_breast_cancer(return_X_y=True),
}


@pytest.mark.parametrize("table", TABLES)
def test_the_loss_is_at_most_twice_that_of_cross_validation(table):
    X, y = TABLES[table]
    source, target = np.array_split(np.random.default_rng(0).permutation(y.size), 2)
    search = TransferSearchCV(
        CANDIDATES, criterion=("scv", "rv"), cv=5, refit=False, random_state=0
    ).fit(X[source], y[source], X_unlabeled=X[target])
    plain, reverse = (1 - search.results_.scores(name) for name in ("scv", "rv"))
    assert np.all(reverse <= 2 * plain)
    assert np.all(reverse >= plain / 2)
