"""Stable descriptions and keys."""

import functools
import subprocess
import sys

import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse as sp
from sklearn import config_context
from sklearn.base import BaseEstimator
from sklearn.ensemble import RandomForestClassifier
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import StratifiedKFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, StandardScaler
from sklearn.svm import SVC
from sklearn.tree import DecisionTreeClassifier

from landbridge import SourceOnly
from landbridge._tasks import (
    NoStableDescription,
    describe,
    describe_candidate,
    describe_rows,
    task_key,
)
from landbridge._tasks import keys as module
from landbridge.exceptions import CacheWarning

X = np.arange(12.0).reshape(4, 3)


class Plain:
    def __init__(self, width):
        self.width = width


class Slotted:
    __slots__ = ("width",)

    def __init__(self, width):
        self.width = width


def kernel(a, b):
    return a @ b.T


def with_request(estimator):
    with config_context(enable_metadata_routing=True):
        return estimator.set_fit_request(sample_weight=True)


DIFFERENT = [
    LogisticRegression(),
    LogisticRegression(C=2),
    LogisticRegression(C=2.0),
    LogisticRegression(class_weight={0: 1, 1: 2}),
    with_request(LogisticRegression()),
    StandardScaler(),
    StandardScaler().set_output(transform="pandas"),
    SVC(kernel=kernel),
    SVC(kernel="linear"),
    make_pipeline(StandardScaler(), LogisticRegression()),
    make_pipeline(StandardScaler(), LogisticRegression(C=3)),
    SourceOnly(LogisticRegression()),
    RandomForestClassifier(random_state=np.random.RandomState(0)),
    RandomForestClassifier(random_state=np.random.RandomState(1)),
    np.random.default_rng(0),
    np.random.default_rng(1),
    np.random.SeedSequence(1),
    FunctionTransformer(np.log1p),
    FunctionTransformer(np.exp),
    FunctionTransformer(functools.partial(kernel, b=X)),
    FunctionTransformer(functools.partial(kernel, b=X + 1)),
    StratifiedKFold(5),
    StratifiedKFold(4),
    Plain(1),
    Plain(2),
    Slotted(1),
    Slotted(2),
    Plain,
    kernel,
    {1: 2},
    {"1": 2},
    [1, 2],
    (1, 2),
    {1, 2},
    1,
    1.0,
    True,
    np.float32(1),
    np.int64(1),
    "1",
    b"1",
    None,
    float("nan"),
    np.dtype("float32"),
    slice(1, 2),
    X,
    np.asfortranarray(X),
    X.astype(np.float32),
    X.ravel(),
    X[:, :2],
    X[:2],
    np.array(["a", None], dtype=object),
    np.array(["a", "b"], dtype=object),
    np.array(["a", "b"]),
    sp.csr_array(X),
    sp.csc_array(X),
    pd.DataFrame(X, columns=list("abc")),
    pd.DataFrame(X, columns=list("abd")),
    pd.Series([1.0, 2.0], name="a"),
    pl.DataFrame({"a": ["x", None]}),
    pl.DataFrame({"a": ["x", "y"]}),
]


def test_different_values_have_different_descriptions():
    descriptions = [describe(value) for value in DIFFERENT]
    assert len(set(descriptions)) == len(descriptions)


def test_equal_values_have_equal_descriptions():
    fitted = LogisticRegression(C=2).fit(X, [0, 1, 0, 1])
    assert describe(fitted) == describe(LogisticRegression(C=2)), "clone forgets what was learnt"
    assert describe({"a": 1, "b": 2}) == describe({"b": 2, "a": 1})
    assert describe({3, 1, 2}) == describe({2, 1, 3})
    assert describe(X[::1]) == describe(X.copy())
    assert describe_rows(X, None) == describe_rows(X.copy(), None)
    assert describe_rows(X, None) != describe_rows(None, X)
    assert describe(sp.coo_array(X)) == describe(sp.csr_array(X))


def test_descriptions_are_the_same_in_another_process():
    code = """
    import numpy as np
    from sklearn.pipeline import make_pipeline
    from sklearn.linear_model import LogisticRegression
    from sklearn.preprocessing import StandardScaler, FunctionTransformer
    from landbridge._tasks import task_key
    model = make_pipeline(StandardScaler(), FunctionTransformer(np.log1p), LogisticRegression())
    print(task_key(model, np.arange(3.0), {"b", "a", "c"}, np.array(["b", None], dtype=object)))
    """
    code = "\n".join(line.strip() for line in code.splitlines())
    run = [
        subprocess.run(
            [sys.executable, "-c", code], capture_output=True, text=True, check=True
        ).stdout
        for _ in range(2)
    ]
    assert run[0] == run[1]
    assert len(run[0].strip()) == 40


@pytest.mark.parametrize(
    ("value", "message"),
    [
        (FunctionTransformer(lambda rows: rows), "func is a lambda"),
        (FunctionTransformer(functools.partial(lambda rows: rows)), "is a lambda"),
        (make_pipeline(SVC(kernel=lambda a, b: a @ b.T)), r"steps\[0\]\[1\].kernel is a lambda"),
        (FrozenEstimator(DecisionTreeClassifier()), "is a FrozenEstimator, which stays fitted"),
        (Plain(iter([])), "width is an object of class builtins.list_iterator"),
        (object(), "is an object of class builtins.object"),
    ],
)
def test_values_without_a_stable_description_are_named(value, message):
    with pytest.raises(NoStableDescription, match=message):
        describe(value)


def test_functions_and_classes_inside_functions_have_no_description():
    def inner(rows):
        return rows

    class Inner(BaseEstimator):
        pass

    with pytest.raises(NoStableDescription, match="func is .*inner`, which was defined inside a"):
        describe(FunctionTransformer(inner))
    with pytest.raises(NoStableDescription, match="Inner`, which was defined inside a function"):
        describe(Inner())


def test_an_object_that_contains_itself_has_no_description():
    loop = Plain(None)
    loop.width = loop
    with pytest.raises(NoStableDescription, match="nested too deeply or contains itself"):
        describe(loop)


def test_classes_of_an_interactive_session_have_no_description():
    code = (
        "from sklearn.base import BaseEstimator\nfrom landbridge._tasks import describe\n"
        "class Mine(BaseEstimator): pass\ndescribe(Mine())"
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert "defined in an interactive session" in run.stderr


def test_a_candidate_that_cannot_be_cached_is_announced():
    with pytest.warns(CacheWarning, match="Fits of 'mine' are not cached: func is a lambda"):
        assert describe_candidate("mine", FunctionTransformer(lambda rows: rows)) is None
    assert describe_candidate("lr", LogisticRegression()) == describe(LogisticRegression())


def test_code_of_local_modules_is_part_of_the_description(tmp_path, monkeypatch):
    monkeypatch.syspath_prepend(tmp_path)
    file = tmp_path / "my_estimators.py"
    texts = []
    for body in ("return 1", "return 2"):
        file.write_text(f"def rule(x):\n    {body}\n")
        sys.modules.pop("my_estimators", None)
        module._module_version.cache_clear()
        import my_estimators

        texts.append(describe(my_estimators.rule))
    sys.modules.pop("my_estimators")
    assert texts[0] != texts[1]


def test_versions_are_part_of_the_key(monkeypatch):
    before = task_key("a")
    assert before == task_key("a") != task_key("b")
    monkeypatch.setattr(module, "versions", lambda: {"scikit-learn": "99"})
    module._versions.cache_clear()
    assert task_key("a") != before
    monkeypatch.undo()
    module._versions.cache_clear()
    assert task_key("a") == before
