"""Docstrings of all public names are complete by numpydoc's rules."""

import ast
import dataclasses
import importlib
import inspect
import math
import pkgutil
import re
import sys
import warnings
from enum import Enum
from pathlib import Path

import pytest

pytest.importorskip("numpydoc")
from numpydoc.docscrape import NumpyDocString
from numpydoc.validate import validate

sys.path.insert(0, str(Path(__file__).parents[2] / "docs"))
from _extension.api import public_names

# Sections that not every object needs, and rules of taste: See Also, extended summary, names of
# return values, capitals after symbols, verbs (numpydoc takes plurals for verbs). Examples have a
# rule of their own below.
NOT_CONTENT = {"SA01", "ES01", "EX01", "RT02", "PR08", "PR09", "SS05", "GL01", "GL02", "GL03"}
MOST_PER_OBJECT = 0.1
SOURCE = Path(__file__).parents[2] / "src" / "landbridge"
# Methods that work as in scikit-learn.
SCIKIT_LEARN = {
    "decision_function", "get_feature_names_out", "get_params", "predict_proba", "set_fit_request",
    "set_params", "set_partial_fit_request", "set_score_request",
}  # fmt: skip


def public_objects():
    for room, names in public_names().items():
        module = importlib.import_module(f"landbridge.{room}")
        for name in names:
            value = getattr(module, name)
            if inspect.isclass(value) and issubclass(value, Enum):
                continue  # numpydoc would ask for the parameters of Enum itself
            yield f"landbridge.{room}.{name}"
            members = vars(value).items() if inspect.isclass(value) else ()
            for member, what in members:
                is_method = inspect.isfunction(what) or isinstance(
                    what, classmethod | staticmethod | property
                )
                if is_method and not member.startswith("_"):
                    yield f"landbridge.{room}.{name}.{member}"


def test_public_docstrings_are_complete():
    names = list(public_objects())
    errors = [
        f"{name}: {code} {message}"
        for name in names
        for code, message in validate(name)["errors"]
        if code not in NOT_CONTENT
    ]
    assert len(names) > 200
    assert len(errors) <= MOST_PER_OBJECT * len(names), "\n".join(errors)


def documented_parameters(value):
    """Names and type of every entry of the Parameters section."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # sections that numpydoc does not know
        parameters = NumpyDocString(inspect.getdoc(value) or "")["Parameters"]
    return [(re.findall(r"\w+", entry.name), entry.type) for entry in parameters]


def read_default(text):
    """Value of a documented default; π/4 and infinities are written as in mathematics."""
    text = text.replace("π/4", str(math.pi / 4)).replace("inf", "1e999")
    return ast.literal_eval(text)


def mismatches(names, kind, given):
    """Compare an entry like ``a, b : int, default=1, 2`` with the parameters of a signature."""
    documented = re.search(r"default=(.+)$", kind)
    values = read_default(documented[1]) if documented else None
    each = values if len(names) > 1 and isinstance(values, tuple) else (values,) * len(names)
    for name, value in zip(names, each, strict=True):
        has_default = given[name].default is not inspect.Parameter.empty
        if not has_default and (documented or "optional" in kind):
            yield f"{name} is required, documented as {kind}"
        elif has_default and value != given[name].default:
            yield f"{name} is {given[name].default!r}, documented as {kind}"


def test_documented_defaults_are_those_of_the_signature():
    wrong = []
    for path in public_objects():
        value = pkgutil.resolve_name(path)
        entries = documented_parameters(value)
        if not entries or (dataclasses.is_dataclass(value) and not is_display(value)):
            continue  # records are returned, not called
        given = inspect.signature(value).parameters
        found = [m for names, kind in entries for m in mismatches(names, kind, given)]
        wrong += [f"{path}: {mismatch}" for mismatch in found]
    assert not wrong, "\n".join(wrong)


def test_a_wrong_default_is_found():
    given = inspect.signature(lambda a, b=1, c=2: None).parameters
    assert not [
        *mismatches(["b", "c"], "int, default=1, 2", given),
        *mismatches(["a"], "int", given),
    ]
    assert len([*mismatches(["b", "c"], "int, default=1", given)]) == 1
    assert len([*mismatches(["a"], "int, optional", given)]) == 1


# Their input is a search, a diagnosis or a table that takes longer than an example should.
SHOWN_ELSEWHERE = {
    "summarise_data",
    "summarise_features",
    "summarise_search",
    "summarise_shift",
    "summarise_sources",
}


def is_display(value):
    return value.__name__.endswith("Display")


def needs_example(value):
    """Every public class and function, except those that cannot have a short example.

    These are abstract classes, enumerations and warnings, records (the function that returns one
    shows it), loaders of data files, and adapters of packages that may not be installed.
    """
    if inspect.isclass(value):
        if issubclass(value, Enum | Warning) or inspect.isabstract(value):
            return False
        if dataclasses.is_dataclass(value) and not is_display(value):
            return False
    is_loader = value.__name__.startswith("fetch_")
    is_adapter = value.__module__.startswith("landbridge.interop")
    return not (is_loader or is_adapter or value.__name__ in SHOWN_ELSEWHERE)


def test_public_classes_and_functions_have_an_example():
    missing = []
    for room, names in public_names().items():
        module = importlib.import_module(f"landbridge.{room}")
        values = [getattr(module, name) for name in names]
        missing += [
            f"{room}.{value.__name__}"
            for value in values
            if needs_example(value) and ">>> " not in (value.__doc__ or "")
        ]
    assert not missing


def test_methods_beyond_the_interface_of_scikit_learn_are_shown_in_an_example():
    lines = [line.strip() for path in SOURCE.rglob("*.py") for line in path.read_text().split("\n")]
    shown = [line for line in lines if line.startswith((">>> ", "... "))]
    called = set(re.findall(r"\.(\w+)\(", "\n".join(shown))) | SCIKIT_LEARN
    missing = []
    for room, names in public_names().items():
        module = importlib.import_module(f"landbridge.{room}")
        for value in (getattr(module, name) for name in names):
            methods = vars(value) if inspect.isclass(value) else ()
            missing += [
                f"{room}.{value.__name__}.{name}"
                for name in methods
                if not name.startswith("_")
                and callable(getattr(value, name))
                and name not in called
            ]
    assert not missing
