"""Shared parameters are added to docstrings in the order of the signature."""

import inspect
from itertools import pairwise

from landbridge._docstrings import Documented, documented


def test_missing_parameters_are_added_with_their_defaults():
    @documented
    def predict(X, extra, *, level=0.8, metric=None, random_state=None):
        """Say something.

        Parameters
        ----------
        extra : int
            Its own.

        Examples
        --------
        >>> 1
        1
        """

    lines = inspect.getdoc(predict).splitlines()
    assert [line for line in lines if " : " in line] == [
        "X : array-like of shape (n_rows, n_features)",
        "extra : int",
        "level : float, default=0.8",
        "metric : str or Metric, optional",
        "random_state : int, RandomState or None, default=None",
    ]
    headings = [a for a, b in pairwise(lines) if b.startswith("---")]
    assert headings == ["Parameters", "Returns", "Examples"]
    assert lines[lines.index("extra : int") + 1] == "    Its own."


def test_descriptions_of_a_function_are_kept():
    @documented
    def predict(X, y):
        """Say something.

        Parameters
        ----------
        X, y : arrays
            Both.

        Returns
        -------
        float
            A number.
        """

    text = inspect.getdoc(predict)
    assert text.count(" : ") == 1
    assert "A number." in text
    assert "Predicted" not in text


def test_methods_of_subclasses_are_documented_unless_private():
    class Learner(Documented):
        def fit(self, X):
            """Learn."""

        @classmethod
        def from_result(cls, result):
            """Draw."""

        def _predict(self, X):
            """Private."""

    assert "Source rows." not in (Documented.__doc__ or "")

    class Tree(Learner):
        def fit(self, X):
            """Grow."""

        def untold(self, X): ...

    for learner in (Learner, Tree):
        assert "Source rows." in learner.fit.__doc__
    assert "SearchResult" in Learner.from_result.__doc__
    assert Learner._predict.__doc__ == "Private."
    assert Tree.untold.__doc__ is None
