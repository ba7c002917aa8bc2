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


def test_a_class_inherits_descriptions_and_shares_those_of_its_parameters():
    class Base(Documented):
        """Base class.

        Parameters
        ----------
        rate : float, default=0.5
            The rate.
        depth : int, default=1
            The depth.

        Attributes
        ----------
        error_, size_ : numbers
            Both.
        classes_ : the classes.
        """

    class Learner(Base):
        """Learn.

        Parameters
        ----------
        depth : int, default=2
            Its own depth.

        Attributes
        ----------
        classes_ : the two classes.

        Notes
        -----
        Nothing.
        """

        def __init__(self, depth=2, n_jobs=None):
            self.depth, self.n_jobs = depth, n_jobs

    assert inspect.getdoc(Learner).splitlines() == [
        "Learn.",
        "",
        "Parameters",
        "----------",
        "depth : int, default=2",
        "    Its own depth.",
        "n_jobs : int or None, default=None",
        "    Number of parallel jobs. Results are identical for any value.",
        "",
        "Attributes",
        "----------",
        "error_, size_ : numbers",
        "    Both.",
        "classes_ : the two classes.",
        "",
        "Notes",
        "-----",
        "Nothing.",
    ]
    assert "rate : float" in inspect.getdoc(Base)
