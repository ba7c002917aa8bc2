"""Parameters and results that many public functions share, described once.

`documented` adds those that a docstring does not describe itself, so that ``help`` and the site
show complete sections.
"""

import inspect
import re
from collections.abc import Callable
from itertools import pairwise
from typing import Any, TypeVar

Function = TypeVar("Function", bound=Callable[..., Any])
ROWS, VALUES = "array-like of shape (n_rows, n_features)", "array-like of shape (n_rows,)"
# Type and description of each parameter; methods that fit and `from_…` describe `X` as source rows.
PARAMETERS = {
    "X": (ROWS, "Rows to predict for."),
    "y": (VALUES, "Labels of the rows."),
    "X_target": ("array-like of shape (n_labelled, n_features)", "Labelled rows of the target."),
    "y_target": ("array-like of shape (n_labelled,)", "Their labels."),
    "X_unlabeled": (
        "array-like of shape (n_unlabelled, n_features)",
        "Unlabelled rows of the target.",
    ),
    "groups": (VALUES, "Source of each row; without it all rows are one source."),
    "sample_weight": (VALUES, "Weights of the rows."),
    "sample_weight_target": (
        "array-like of shape (n_labelled,)",
        "Weights of the labelled target rows.",
    ),
    "level": ("float", "Nominal coverage."),
    "metric": (
        "str or Metric",
        "Name of a metric of the search; by default the one used for selection.",
    ),
    "random_state": (
        "int, RandomState or None",
        "Seed; the same seed gives the same result.",
    ),
    "ax": (
        "matplotlib axes",
        "Axes to draw on, an array of them for several panels; those of a new figure by default.",
    ),
    "result": ("SearchResult", "Results of a search."),
    "summary": ("dict", "Summary made by `summarise`."),
    "data_home": ("str or path", "Directory with the data; `get_data_home()` by default."),
    "download_if_missing": ("bool", "Download missing files; raise an error otherwise."),
}
IN_FIT = {
    "X": (ROWS, "Source rows."),
    "y": (VALUES, "Labels of the source rows."),
    "sample_weight": (VALUES, "Weights of the source rows."),
}
RETURNS = {
    "fit": "self\n    The fitted estimator.",
    "predict": "ndarray of shape (n_rows,)\n    Predicted labels.",
    "predict_proba": (
        "ndarray of shape (n_rows, n_classes)\n"
        "    Class probabilities, in the order of ``classes_``."
    ),
    "decision_function": (
        "ndarray of shape (n_rows,) or (n_rows, n_classes)\n    Scores; larger is more likely."
    ),
    "transform": "ndarray of shape (n_rows, n_components)\n    Transformed rows.",
    "score": "float\n    Accuracy of a classifier, R² of a regressor.",
}
_ENTRY = re.compile(r"^\w[\w, *]* : ", re.M)
_HEADING = re.compile(r"^(\w[\w ]+)\n-{3,}\n", re.M)


def documented(function: Function) -> Function:
    """Add shared parameters, in the order of the signature, and the result to a docstring."""
    head, *rest = _HEADING.split(inspect.cleandoc(function.__doc__ or ""))
    sections = {name: text.strip() for name, text in zip(rest[::2], rest[1::2], strict=True)}
    entries = _entries(sections.pop("Parameters", ""))
    known = {name for names in entries for name in names}
    shared = PARAMETERS | (IN_FIT if function.__name__.startswith(("fit", "from_")) else {})
    order = list(inspect.signature(function).parameters.values())
    for one in order:
        if one.name in shared and one.name not in known:
            entries[(one.name,)] = _entry(one, *shared[one.name])
    places = {one.name: place for place, one in enumerate(order)}
    told = sorted(entries.items(), key=lambda entry: places.get(entry[0][0], 0))
    first = {"Parameters": "\n".join(text for _, text in told)} if told else {}
    if function.__name__ in RETURNS:
        first["Returns"] = sections.pop("Returns", RETURNS[function.__name__])
    parts = [f"{name}\n{'-' * len(name)}\n{text}" for name, text in (first | sections).items()]
    function.__doc__ = "\n\n".join([head.strip(), *parts]) + "\n"
    return function


class Documented:
    """Base of classes whose public methods are `documented`."""

    __slots__ = ()

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        for name, member in list(vars(cls).items()):
            method = getattr(member, "__func__", member)
            if not name.startswith("_") and inspect.isfunction(method) and method.__doc__:
                documented(method)


def _entry(parameter: inspect.Parameter, kind: str, words: str) -> str:
    default = parameter.default
    if default is None:
        kind = f"{kind}, default=None" if "None" in kind else f"{kind}, optional"
    elif default is not inspect.Parameter.empty:
        kind = f"{kind}, default={default!r}"
    return f"{parameter.name} : {kind}\n    {words}"


def _entries(section: str) -> dict[tuple[str, ...], str]:
    """Entries of a section by the names of the parameters that they describe."""
    starts = [found.start() for found in _ENTRY.finditer(section)]
    texts = [section[a:b].strip() for a, b in pairwise([*starts, len(section)])]
    names = [text.partition(" : ")[0].replace("*", "").split(", ") for text in texts]
    return {tuple(one): text for one, text in zip(names, texts, strict=True)}
