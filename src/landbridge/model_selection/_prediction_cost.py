"""Estimate of what a prediction costs, from the structure of an unfitted estimator.

The vote limits the cost of its members by it. Measured seconds would be more precise, but differ
between runs.
"""

from typing import Any

from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import Pipeline
from sklearn.svm import LinearSVC, LinearSVR

from landbridge._delegate import BOOSTED
from landbridge.model_selection.candidates import SIMPLE

# Units of about 27 ns per row: medians over the searches of benchmarks/search_regret.py, at 3000
# rows. Every estimator checks its rows, which takes longer than a dot product or a tree.
CHECK, DOT_PRODUCT, SINGLE_TREE, TREE_OF_MANY, TRANSFORMER, GAUSSIANS = 2.0, 1.0, 1.0, 1.5, 4.0, 14.0


def prediction_cost(estimator: Any, n_rows: int) -> float:
    """Cost of predicting one row with an estimator trained on ``n_rows``.

    ======================================================= ==============================
    decision tree, constant                                 3
    linear model, discriminant, other naive Bayes           3
    Gaussian naive Bayes                                    16
    forest, boosted trees                                   2 + 1.5 per tree
    ensemble of a given estimator                           2 + the cost of every member
    everything else, such as neighbours and kernel machines 2 + 1 per training row
    ======================================================= ==============================

    Add 2 for a wrapper, such as `Pooled`, which checks the rows as well, and 4 for every earlier
    step of a pipeline.

    >>> from sklearn.linear_model import LogisticRegression
    >>> from landbridge import Pooled
    >>> prediction_cost(Pooled(LogisticRegression()), 1000)
    5.0
    """
    if isinstance(estimator, Pipeline):
        transformers = TRANSFORMER * (len(estimator.steps) - 1)
        return transformers + prediction_cost(estimator.steps[-1][1], n_rows)
    inner = getattr(estimator, "estimator", None)
    each = TREE_OF_MANY if inner is None else prediction_cost(inner, n_rows)
    if hasattr(estimator, "n_estimators"):
        return CHECK + each * (estimator.n_estimators or 100)  # XGBoost: None stands for 100
    if inner is not None:
        return CHECK + each
    return CHECK + _work_of_learner(estimator, n_rows)


def _work_of_learner(learner: Any, n_rows: int) -> float:
    module = type(learner).__module__
    if isinstance(learner, BOOSTED):
        return TREE_OF_MANY * learner.max_iter
    if isinstance(learner, GaussianNB):
        return GAUSSIANS
    if module.startswith(("sklearn.tree", "sklearn.dummy")):
        return SINGLE_TREE
    if module.startswith(SIMPLE) or isinstance(learner, (LinearSVC, LinearSVR)):
        return DOT_PRODUCT
    return float(n_rows)
