"""Parameters, attributes and results that many public names share, described once.

`documented` adds those that a docstring does not describe itself, so that ``help`` and the site
show complete sections. A class also inherits the descriptions of its base classes.
"""

import inspect
import re
from collections.abc import Callable
from itertools import pairwise
from typing import Any, TypeAlias, TypeVar

Function = TypeVar("Function", bound=Callable[..., Any])
# Text of an entry by the names that it describes.
Entries: TypeAlias = dict[tuple[str, ...], str]
ROWS, VALUES = "array-like of shape (n_rows, n_features)", "array-like of shape (n_rows,)"
# Type and description of each parameter; methods that fit describe `X` as source rows, and so do
# those that draw from data.
PARAMETERS = {
    "X": (ROWS, "New rows."),
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
    "task": ('{"classification", "regression"}', "Kind of label."),
    "kernel": (
        '{"rbf", "linear", "cosine", "laplacian", "poly"} or callable',
        "Kernel function; a callable is evaluated on pairs of row blocks.",
    ),
    "width": (
        'float or "scale"',
        'Width of the Gaussian, exp(−‖x − x\'‖²/2·width²); "scale" makes 2·width² the mean\n'
        "    squared distance between two rows.",
    ),
    "target_share": (
        "float in (0, 1) or None",
        "Share of the total weight given to the labelled target rows, as in `Pooled`. ``None``\n"
        "    gives every labelled row the same weight.",
    ),
    "n_jobs": ("int or None", "Number of parallel jobs. Results are identical for any value."),
    "level": ("float", "Nominal coverage."),
    "metric": (
        "str or Metric",
        "Name of a metric; by default the first one, which is used for selection.",
    ),
    "criterion": ("str", "Name of a criterion; by default the one used for selection."),
    "random_state": ("int, RandomState or None", "Seed; the same seed gives the same result."),
    "ax": (
        "matplotlib axes",
        "Axes to draw on, an array of them for several panels; those of a new figure by default.",
    ),
    "result": ("SearchResult", "Results of a search."),
    "summary": ("dict", "Summary made by `summarise`."),
    "label": ("str", "Column with the label."),
    "domain": ("str", "Column with the domain."),
    "features": (
        "sequence of str",
        "Columns to use; by default all except the label and the domain.",
    ),
    "batch_size": ("int", "Number of rows read at a time."),
    "progress": ("bool", "Show a progress bar if rich is installed."),
    "data_home": ("str or path", "Directory with the data; `get_data_home()` by default."),
    "download_if_missing": ("bool", "Download missing files; raise an error otherwise."),
}
IN_FIT = {
    "X": (ROWS, "Source rows."),
    "y": (VALUES, "Labels of the source rows."),
    "sample_weight": (VALUES, "Weights of the source rows."),
}
FROM_DATA = {
    **IN_FIT,
    "X_target": ("array-like of shape (n_target, n_features)", "Rows of the target."),
    "y_target": ("array-like of shape (n_target,)", "Their labels."),
}
FITTED = "self\n    The fitted estimator."
RETURNS = {
    **dict.fromkeys(("fit", "partial_fit", "merge", "fit_file", "fit_dataset"), FITTED),
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
    special = {"fit": IN_FIT, "from": FROM_DATA}
    shared = PARAMETERS | special.get(function.__name__.partition("_")[0], {})
    head, sections = _sections(function)
    first = {"Parameters": _parameters(function, _entries(sections.pop("Parameters", "")), shared)}
    if function.__name__ in RETURNS:
        first["Returns"] = sections.pop("Returns", RETURNS[function.__name__])
    _write(function, head, first | sections)
    return function


class Documented:
    """Base of classes that are `documented` with their public methods."""

    __slots__ = ()

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        for name, member in list(vars(cls).items()):
            method = getattr(member, "__func__", member)
            if not name.startswith("_") and inspect.isfunction(method) and method.__doc__:
                documented(method)
        if vars(cls).get("__doc__"):
            _document_class(cls)


def _document_class(cls: type) -> None:
    """Add shared and inherited parameters, and inherited attributes before those of the class."""
    head, sections = _sections(cls)
    parameters = _entries(sections.pop("Parameters", ""))
    attributes = _entries(sections.pop("Attributes", ""))
    given = inspect.signature(cls).parameters
    for base in (base for base in cls.__mro__[1:] if issubclass(base, Documented)):
        above = _sections(base)[1]
        of_base = _without(_entries(above.get("Parameters", "")), parameters)
        parameters |= {names: text for names, text in of_base.items() if given.keys() >= {*names}}
        attributes = _without(_entries(above.get("Attributes", "")), attributes) | attributes
    first = {
        "Parameters": _parameters(cls, parameters, PARAMETERS),
        "Attributes": "\n".join(attributes.values()),
    }
    _write(cls, head, first | sections)


def _without(entries: Entries, known: Entries) -> Entries:
    """Entries that describe none of the known names."""
    names = {name for told in known for name in told}
    return {told: text for told, text in entries.items() if not names & {*told}}


def _sections(described: Any) -> tuple[str, dict[str, str]]:
    """The text before the first heading, and the text under each heading."""
    head, *rest = _HEADING.split(inspect.cleandoc(described.__doc__ or ""))
    return head, {name: text.strip() for name, text in zip(rest[::2], rest[1::2], strict=True)}


def _parameters(
    function: Callable[..., Any], entries: Entries, shared: dict[str, tuple[str, str]]
) -> str:
    """Entries for the parameters of a function, in the order of its signature."""
    known = {name for names in entries for name in names}
    order = list(inspect.signature(function).parameters.values())
    for one in order:
        if one.name in shared and one.name not in known:
            entries = {**entries, (one.name,): _entry(one, *shared[one.name])}
    places = {one.name: place for place, one in enumerate(order)}
    told = sorted(entries.items(), key=lambda entry: places.get(entry[0][0], 0))
    return "\n".join(text for _, text in told)


def _write(described: Any, head: str, sections: dict[str, str]) -> None:
    parts = [f"{name}\n{'-' * len(name)}\n{text}" for name, text in sections.items() if text]
    described.__doc__ = "\n\n".join([head.strip(), *parts]) + "\n"


def _entry(parameter: inspect.Parameter, kind: str, words: str) -> str:
    default = parameter.default
    if default is None:
        kind = f"{kind}, default=None" if "None" in kind else f"{kind}, optional"
    elif default is not inspect.Parameter.empty:
        shown = f'"{default}"' if isinstance(default, str) else repr(default)
        kind = f"{kind}, default={shown}"
    return f"{parameter.name} : {kind}\n    {words}"


def _entries(section: str) -> Entries:
    """Entries of a section."""
    starts = [found.start() for found in _ENTRY.finditer(section)]
    texts = [section[a:b].strip() for a, b in pairwise([*starts, len(section)])]
    names = [text.partition(" : ")[0].replace("*", "").split(", ") for text in texts]
    return {tuple(one): text for one, text in zip(names, texts, strict=True)}
