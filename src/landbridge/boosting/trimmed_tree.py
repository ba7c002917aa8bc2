"""Base learner of Al-Stouhi and Reddy: a classification tree trimmed by its target error."""

from typing import Literal

import numpy as np
from sklearn.base import ClassifierMixin
from sklearn.utils.validation import check_is_fitted

from landbridge._transfer_estimator import WeightedTransferEstimator
from landbridge._typing import MatrixLike, Vector
from landbridge._validation import TransferData, check_count, check_rows, is_number, warn_no_target
from landbridge.boosting.binning import BinnedRows, bin_rows
from landbridge.boosting.tree_growth import LEAF, Limits, Tree, grow_tree, leaf_of


class TrimmedTreeClassifier(ClassifierMixin, WeightedTransferEstimator):
    """Classification tree grown top-down until its error on the target rows is below one half.

    Nodes are split by Gini impurity on all rows, source and target,

        gain = Σ_c L_c²/L + Σ_c R_c²/R − Σ_c W_c²/W,

    where W_c, L_c and R_c are the weights of class c in the node, on its left and on its right.
    Nodes are split level by level, from left to right. Growth stops when the weighted error on the
    target rows falls below ``target_error``: "a top-down approach where we trimmed the tree at the
    first node that achieved a target error rate that is less than 0.5" (Al-Stouhi and Reddy,
    *Adaptive Boosting for Transfer Learning Using Dynamic Updates*, 5.1). Without target rows, the
    tree is not trimmed. It is meant as a base learner for boosting. On its own, it is 16 points
    less accurate than pooled logistic regression (benchmark ``defaults``).

    Features are binned once into at most 255 bins, which is exact for up to 255 distinct values. A
    CSR matrix stays sparse. With numba (``landbridge[fast]``) growth is compiled; without it the
    same trees are grown in numpy.

    Parameters
    ----------
    max_depth : int or None, default=None
        Largest number of splits on the path to a leaf.
    target_error : float in (0, 1], "auto" or None, default=0.5
        Growth stops when the target error is below this value; ``None`` never trims. "auto" is
        min(½, 1.5/√m) for m target rows.

    Attributes
    ----------
    classes_ : the labels of source and target, sorted.
    tree_ : the nodes, arrays in breadth-first order.
    feature_importances_ : share of each feature in the total gain.

    Notes
    -----
    Deviation 1: at least one split is made if the data allow it. The root alone is a constant
    classifier, which may have a target error below ½ but transfers nothing.

    Deviation 2: "below ½" means below ½ − 1e-9. The error of a classifier under weights updated by
    its own mistakes is exactly ½, and rounding errors must not decide.

    Deviation 3, only with ``target_error="auto"``: with a dozen target rows, an error below ½ is
    usually well below it. With hundreds of rows it is typically 0.49, and an ensemble of such weak
    learners is not useful. The user guide compares both rules for growing numbers of target rows.

    Examples
    --------
    >>> import numpy as np
    >>> from landbridge import TrimmedTreeClassifier
    >>> X, y = np.array([[0.0], [1.0], [2.0], [3.0]]), np.array(["a", "b", "a", "b"])
    >>> tree = TrimmedTreeClassifier().fit(X, y, X_target=[[0.2], [2.9]], y_target=["a", "b"])
    >>> tree.get_depth(), tree.predict([[0.1], [2.8]]).tolist()
    (1, ['a', 'b'])
    >>> tree.get_n_leaves(), len(tree.apply(X))
    (2, 4)
    """

    _transfer_checks = {"task": "classification", "min_classes": 1}

    def __init__(
        self, max_depth: int | None = None, target_error: float | Literal["auto"] | None = 0.5
    ):
        self.max_depth = max_depth
        self.target_error = target_error

    def _check_parameters(self) -> None:
        self._limits(1)

    def _fit_transfer(self, data: TransferData) -> None:
        """Grow the tree on the source rows and the labelled target rows."""
        parts = [data.X]
        if data.X_target is None:
            warn_no_target(self, "a full classification tree")
        else:
            parts.append(data.X_target)
        codes = class_codes(data)
        self._grow(bin_rows(parts), codes, data.row_weights, data.classes, data.X.shape[0])

    def _grow(
        self,
        rows: BinnedRows,
        codes: Vector,
        weights: Vector,
        classes: Vector,
        first_target: int,
        inside: Vector | None = None,
    ) -> Vector:
        """Grow the tree on binned rows; return the leaf of each row."""
        self.classes_ = classes
        self.n_features_in_ = rows.offsets.size - 1
        self.tree_, leaf = grow_tree(
            rows,
            codes,
            weights,
            classes.size,
            self._limits(rows.n_rows - first_target),
            first_target=first_target,
            inside=inside,
        )
        return leaf

    def apply(self, X: MatrixLike) -> Vector:
        """Find the leaf of each row, as a position in ``tree_``.

        Returns
        -------
        ndarray of shape (n_rows,)
            Number of the leaf of each row.
        """
        check_is_fitted(self, "tree_")
        return leaf_of(self.tree_, check_rows(self, X))

    def predict(self, X: MatrixLike) -> Vector:
        """Predict the class with the largest weight in the leaf of each row."""
        leaves = self.apply(X)
        return self.classes_[self.tree_.labels[leaves]]

    def predict_proba(self, X: MatrixLike) -> np.ndarray:
        """Predict the weighted share of each class in the leaf of each row."""
        leaves = self.apply(X)
        return self.tree_.value[leaves]

    @property
    def feature_importances_(self) -> Vector:
        """Share of each feature in the total Gini gain."""
        check_is_fitted(self, "tree_")
        tree: Tree = self.tree_
        inner = tree.feature != LEAF
        gain = np.bincount(tree.feature[inner], tree.gain[inner], minlength=self.n_features_in_)
        return gain / gain.sum() if gain.sum() > 0 else gain

    def get_depth(self) -> int:
        """Number of splits on the longest path from the root to a leaf.

        Returns
        -------
        int
            The depth.
        """
        check_is_fitted(self, "tree_")
        return self.tree_.depth

    def get_n_leaves(self) -> int:
        """Number of leaves.

        Returns
        -------
        int
            The number of leaves.
        """
        check_is_fitted(self, "tree_")
        return int((self.tree_.feature == LEAF).sum())

    def _limits(self, n_target: int) -> Limits:
        check_count(self.max_depth, "max_depth", optional=True)
        error = auto_error(n_target) if self.target_error == "auto" else self.target_error
        if error is not None and not (is_number(error) and 0 < error <= 1):
            raise ValueError(
                "`target_error` must be between 0 and 1, 'auto' or None; got "
                f"{self.target_error!r}. Use 0.5 to trim as in the paper, or None for a full tree."
            )
        return Limits(self.max_depth, error)


def auto_error(n_target: int) -> float:
    """Target error min(½, 1.5/√m) at which growth stops with m target rows."""
    return min(0.5, 1.5 / np.sqrt(max(n_target, 1)))


def class_codes(data: TransferData) -> Vector:
    """Labels as class indices of the smallest integer type."""
    return data.encode(data.labels).astype(np.uint8 if data.classes.size < 256 else np.int32)
