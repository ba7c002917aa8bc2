"""All criteria of one estimator."""

from collections.abc import Iterable
from typing import Any

from landbridge._typing import MatrixLike, RandomState, VectorLike
from landbridge.model_selection.losses import Loss
from landbridge.model_selection.results import SearchResult
from landbridge.model_selection.search import TransferSearchCV


def transfer_cross_validate(
    estimator: Any,
    X: MatrixLike,
    y: VectorLike,
    *,
    X_target: MatrixLike = None,
    y_target: VectorLike = None,
    X_unlabeled: MatrixLike = None,
    groups: VectorLike = None,
    criterion: str | Iterable[str] | None = "all",
    loss: Loss | None = None,
    cv: Any = 5,
    weighting: Any = None,
    sources: Any = "pooled",
    n_jobs: int | None = None,
    random_state: RandomState = None,
) -> SearchResult:
    """Validate one estimator by every criterion that the rows allow.

    Parameters
    ----------
    estimator : estimator
        Anything that may be a candidate of `TransferSearchCV`. Its errors are raised.
    X, y : source rows and their labels
    X_target, y_target : labelled target rows, optional
    X_unlabeled : unlabelled target rows, optional
    groups : source of each row, optional
    criterion : str, list of str, "all" or None, default="all"
    loss, cv, weighting, n_jobs, random_state
        As in `TransferSearchCV`.
    sources : {"pooled", "each", "both"} or list or mapping, default="pooled"
        ``"each"`` validates on every source alone.

    Returns
    -------
    result : SearchResult
        ``result.scores("trcv")`` and so on hold one score for each source.

    Examples
    --------
    >>> from sklearn.naive_bayes import GaussianNB
    >>> from landbridge import transfer_cross_validate
    >>> from landbridge.datasets import make_covariate_shift
    >>> data = make_covariate_shift(n_source=200, n_target=200, random_state=0)
    >>> result = transfer_cross_validate(
    ...     GaussianNB(), data.X, data.y, X_unlabeled=data.X_target, random_state=0)
    >>> result.available()
    ('scv', 'wcv', 'rv', 'trcv')
    """
    search = TransferSearchCV(
        {type(estimator).__name__: estimator},
        criterion=criterion,
        loss=loss,
        cv=cv,
        weighting=weighting,
        sources=sources,
        refit=False,
        error_score="raise",
        n_jobs=n_jobs,
        random_state=random_state,
    )
    search.fit(X, y, groups=groups, X_target=X_target, y_target=y_target, X_unlabeled=X_unlabeled)
    return search.results_
