"""Read candidates from a YAML or TOML file: names of estimators with parameters and grids.

No code in the file is evaluated. A name must refer to an estimator class of scikit-learn or
landbridge; everything else is a plain value.
"""

import importlib
import inspect
import math
import re
import reprlib
import tomllib
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from types import NoneType
from typing import Any, NoReturn

import yaml
from sklearn.base import BaseEstimator
from sklearn.utils import all_estimators

import landbridge
from landbridge.cli._session import InputError, nearest
from landbridge.interop.boosters import (
    BoosterClassifier,
    BoosterRegressor,
    find_booster,
    is_booster_name,
    make_booster,
)

PACKAGES = ("landbridge", "sklearn")
KEYS = ("estimator", "params", "grid")
# Candidate files are small; a larger file is a mistake or an attack.
MOST_BYTES = 1 << 20
MOST_ENTRIES = 10_000
DEEPEST = 20
# Parameters of boosters that are not in the signature of XGBClassifier.
BOOSTER_PARAMETERS = ("n_estimators", "learning_rate", "max_depth", "random_state")
MOST_POINTS = 10_000
# Plain values that YAML 1.1, which PyYAML reads, and YAML 1.2 understand differently.
AMBIGUOUS = re.compile(
    r"yes|no|on|off|[-+]?0[0-9_]+|[-+]?0o[0-7]+|[-+]?[0-9][0-9_]*(:[0-5]?[0-9])+(\.[0-9_]*)?",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True, repr=False)
class Entry:
    """Value with its line number; lists and mappings contain further entries."""

    value: Any
    line: int
    path: Path

    def __repr__(self) -> str:
        return repr(self.value)

    def fail(self, message: str) -> NoReturn:
        raise InputError(f"{self.path}, line {self.line}: {message}")

    def plain(self) -> Any:
        """The value without lines; estimators inside it are built."""
        if isinstance(self.value, dict):
            if "estimator" in self.value:
                return build_estimator(self)
            return {key: entry.plain() for key, entry in self.value.items()}
        if isinstance(self.value, list):
            return [entry.plain() for entry in self.value]
        if isinstance(self.value, str) and self.names_estimator():
            return build_estimator(self)
        return self.value

    def names_estimator(self) -> bool:
        """Whether the text is the name of an estimator, which starts with a capital letter."""
        prefixes = tuple(f"{package}." for package in PACKAGES)
        known = self.value in _known_classes() or is_booster_name(self.value.rpartition(".")[2])
        return known or self.value.startswith(prefixes)


def read_candidates(path: Path) -> dict[str, Any]:
    """Map names to estimators, or to pairs of an estimator and its grid, for a search."""
    root = _read(path)
    if not isinstance(root.value, dict) or not root.value:
        root.fail("the file must map names to candidates; write for example  nb: GaussianNB")
    return {name: _candidate(entry) for name, entry in root.value.items()}


def build_estimator(entry: Entry) -> Any:
    """Build the estimator named by ``estimator``, with its ``params``."""
    if isinstance(entry.value, str):
        return build_estimator(Entry({"estimator": entry}, entry.line, entry.path))
    _check_keys(entry, ("estimator", "params"))
    named = entry.value["estimator"]
    cls = find_class(named)
    params = entry.value.get("params", Entry({}, entry.line, entry.path))
    if not isinstance(params.value, dict):
        params.fail(f"params must map names to values; got {params.value!r}.")
    known = _parameters(cls)
    for name, value in params.value.items():
        if name not in known:
            value.fail(f"{cls.__name__} has no parameter {name!r}.{nearest(name, known)}")
        if name in ("estimator", "weighting") and not isinstance(value.value, dict | NoneType):
            find_class(value)
    values = {name: value.plain() for name, value in params.value.items()}
    try:
        return make_booster(cls.__name__, values) if _is_booster(cls) else cls(**values)
    except TypeError as error:
        entry.fail(f"{cls.__name__} cannot be made: {error}")


def find_class(entry: Entry) -> Any:
    """The estimator class of a name such as ``GaussianNB`` or ``sklearn.svm.SVC``."""
    name = entry.value
    if not isinstance(name, str):
        entry.fail(f"an estimator must be given by its name; got {name!r}.")
    booster = _find_booster(entry)
    if booster is not None:
        return booster
    if "." not in name:
        if name not in _known_classes():
            entry.fail(f"no estimator is called {name!r}.{nearest(name, _known_classes())}")
        return _known_classes()[name]
    module, _, last = name.rpartition(".")
    parts = name.split(".")
    if parts[0] not in PACKAGES or any(part.startswith("_") for part in parts):
        entry.fail(
            f"estimators must come from {' or '.join(PACKAGES)}; got {name!r}. "
            "Use the Python library for your own estimators."
        )
    try:
        found = getattr(importlib.import_module(module), last)
    except (ImportError, AttributeError):
        entry.fail(f"{name!r} does not exist.{nearest(last, _known_classes())}")
    if not _is_estimator_class(found):
        entry.fail(f"{name!r} must be an estimator class with a fit method. Check the name.")
    return found


def _candidate(entry: Entry) -> Any:
    if isinstance(entry.value, str):
        return _require_predict(build_estimator(entry), entry)
    if not isinstance(entry.value, dict) or "estimator" not in entry.value:
        entry.fail("a candidate must be the name of an estimator, or have the key 'estimator'.")
    _check_keys(entry, KEYS)
    inner = {key: value for key, value in entry.value.items() if key != "grid"}
    estimator = _require_predict(build_estimator(Entry(inner, entry.line, entry.path)), entry)
    grid = entry.value.get("grid")
    return estimator if grid is None else (estimator, _grid(grid, estimator))


def _require_predict(estimator: Any, entry: Entry) -> Any:
    if not hasattr(type(estimator), "predict"):
        entry.fail(
            f"a candidate must be a classifier or a regressor; got {type(estimator).__name__}, "
            "which does not predict."
        )
    return estimator


def _grid(grid: Entry, estimator: Any) -> dict[str, list[Any]]:
    if not isinstance(grid.value, dict):
        grid.fail("a grid must map parameters to lists of values, like  C: [0.1, 1, 10]")
    # Boosters are wrapped; the parameters refer to the booster, not to the wrapper.
    inside = "estimator__" if isinstance(estimator, BoosterClassifier | BoosterRegressor) else ""
    known = _parameters(type(estimator.estimator)) if inside else _all_parameters(estimator, grid)
    for name, values in grid.value.items():
        if name not in known:
            values.fail(
                f"{type(estimator).__name__} has no parameter {name!r}.{nearest(name, known)}"
            )
        if not isinstance(values.value, list) or not values.value:
            values.fail(f"the grid of {name!r} must be a list of values; got {values.plain()!r}.")
    points = math.prod(len(values.value) for values in grid.value.values())
    if points > MOST_POINTS:
        grid.fail(
            f"a grid must have at most {MOST_POINTS} points; got {points}. Shorten its lists."
        )
    return {f"{inside}{name}": values.plain() for name, values in grid.value.items()}


def _all_parameters(estimator: Any, grid: Entry) -> list[str]:
    """Parameters of an estimator and of those inside it, which may be malformed."""
    try:
        return [name for name in estimator.get_params() if isinstance(name, str)]
    except (TypeError, ValueError, AttributeError, LookupError) as error:
        grid.fail(
            f"the parameters of {type(estimator).__name__} cannot be read ({error}). Correct the "
            "params of the candidate."
        )


def _check_keys(entry: Entry, known: tuple[str, ...]) -> None:
    for key, value in entry.value.items():
        if key not in known:
            value.fail(
                f"unknown key {key!r}.{nearest(key, known)} The keys are {', '.join(known)}."
            )


@cache
def _known_classes() -> dict[str, Any]:
    classes = dict(all_estimators(type_filter=["classifier", "regressor", "transformer"]))
    own = {name: getattr(landbridge, name) for name in landbridge.__all__}
    return classes | {name: value for name, value in own.items() if _is_estimator_class(value)}


def _find_booster(entry: Entry) -> Any:
    """The class of a name like ``LGBMClassifier`` or ``lightgbm.LGBMClassifier``, or None."""
    library, _, name = entry.value.rpartition(".")
    try:
        cls = find_booster(name)
    except ImportError as error:
        entry.fail(str(error))
    return cls if cls is not None and library in ("", cls.__module__.partition(".")[0]) else None


def _is_booster(cls: Any) -> bool:
    return is_booster_name(cls.__name__) and not cls.__module__.startswith(
        ("sklearn", "landbridge")
    )


def _parameters(cls: Any) -> list[str]:
    if not _is_booster(cls):
        return cls._get_param_names()
    # Wrappers of other libraries accept further parameters as keywords, which are listed
    # separately.
    names = inspect.signature(cls.__init__).parameters
    return sorted({*names, *cls().get_params(), *BOOSTER_PARAMETERS} - {"self", "kwargs"})


def _is_estimator_class(value: Any) -> bool:
    return isinstance(value, type) and issubclass(value, BaseEstimator) and hasattr(value, "fit")


def _read(path: Path) -> Entry:
    if not path.is_file():
        raise InputError(f"{path}: no such file. --candidates must be a YAML or TOML file.")
    if path.stat().st_size > MOST_BYTES:
        raise InputError(f"{path}: must have at most {MOST_BYTES} bytes. Write fewer candidates.")
    try:
        text = path.read_text(encoding="utf-8-sig")
    except UnicodeDecodeError as error:
        raise InputError(f"{path}: must be text in UTF-8; got {error}.") from error
    if path.suffix.lower() == ".toml":
        return _read_toml(text, path)
    if path.suffix.lower() in (".yaml", ".yml"):
        return _read_yaml(text, path)
    raise InputError(f"{path}: the name of --candidates must end in .yaml, .yml or .toml.")


def _read_yaml(text: str, path: Path) -> Entry:
    loader = None
    try:
        loader = _Loader(text)
        node = loader.get_single_node()
        return Entry({}, 1, path) if node is None else _YAML(loader, path).read(node, 0)
    except InputError:
        raise
    except yaml.constructor.ConstructorError as error:
        line = error.problem_mark.line + 1 if error.problem_mark else 1
        raise InputError(
            f"{path}, line {line}: this is not YAML for candidates: {error.problem}. Tags like "
            "!!python are not read; write names and plain values."
        ) from error
    except yaml.MarkedYAMLError as error:
        line = error.problem_mark.line + 1 if error.problem_mark else 1
        raise InputError(f"{path}, line {line}: this is not YAML: {error.problem}") from error
    except yaml.reader.ReaderError as error:
        line = text[: error.position].count("\n") + 1
        raise InputError(
            f"{path}, line {line}: this is not YAML: the character U+{error.character:04X} "
            "is not allowed. Remove it."
        ) from error
    except RecursionError as error:
        raise InputError(_too_deep(path)) from error
    except ValueError as error:
        raise InputError(f"{path}: this is not YAML: {error}.") from error
    finally:
        if loader is not None:
            loader.dispose()


def _too_deep(path: Path) -> str:
    return f"{path}: entries must be nested at most {DEEPEST} levels deep. Simplify the file."


class _Loader(yaml.SafeLoader):
    """PyYAML's loader, which also reads 1e3 as a number, as YAML 1.2 does."""


_Loader.add_implicit_resolver(
    "tag:yaml.org,2002:float",
    re.compile(r"[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)[eE][-+]?[0-9]+$"),
    list("-+.0123456789"),
)


class _YAML:
    """Convert YAML nodes to entries, and limit their number, because aliases can repeat them."""

    def __init__(self, loader: Any, path: Path):
        self.loader, self.path, self.n_entries = loader, path, 0

    def read(self, node: Any, depth: int) -> Entry:
        self.n_entries += 1
        line = node.start_mark.line + 1
        if self.n_entries > MOST_ENTRIES:
            raise InputError(
                f"{self.path}, line {line}: must have at most {MOST_ENTRIES} entries, including "
                f"those repeated by aliases. Write fewer."
            )
        if depth > DEEPEST:
            raise InputError(_too_deep(self.path))
        if isinstance(node, yaml.CollectionNode) and not node.tag.endswith((":map", ":seq")):
            problem = f"unknown tag {node.tag!r}"
            raise yaml.constructor.ConstructorError(problem=problem, problem_mark=node.start_mark)
        if isinstance(node, yaml.MappingNode):
            return Entry(self._mapping(node, depth), line, self.path)
        if isinstance(node, yaml.SequenceNode):
            content: Any = [self.read(item, depth + 1) for item in node.value]
        else:
            content = self._scalar(node, line)
        entry = Entry(content, line, self.path)
        if isinstance(node, yaml.ScalarNode) and not node.style and AMBIGUOUS.fullmatch(node.value):
            entry.fail(
                f"versions of YAML read {node.value} differently. Write true or false, a number "
                f"without leading zeros or colons, or text in quotes: '{node.value}'."
            )
        return entry

    def _scalar(self, node: Any, line: int) -> Any:
        try:
            return self.loader.construct_object(node)
        except (LookupError, AttributeError, TypeError, ArithmeticError, ValueError) as error:
            # What PyYAML raises for a value that is not of its tag, such as !!bool maybe.
            kind = node.tag.rpartition(":")[2]
            raise InputError(
                f"{self.path}, line {line}: this is not YAML: {reprlib.repr(node.value)} is not of "
                f"the type {kind!r}. Correct the value, or write text in quotes."
            ) from error

    def _mapping(self, node: Any, depth: int) -> dict[str, Entry]:
        content: dict[str, Entry] = {}
        for key, value in node.value:
            entry = self.read(value, depth + 1)
            if not isinstance(key.value, str):
                entry.fail("a key must be one name; got a list or a mapping.")
            if key.value in content:
                entry.fail(f"{key.value!r} is given twice. Rename one.")
            # A mapping begins on the line below its key; messages should name the line of the key.
            content[key.value] = Entry(entry.value, key.start_mark.line + 1, self.path)
        return content


def _read_toml(text: str, path: Path) -> Entry:
    try:
        values = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        found = re.search(r"line (\d+)", str(error))
        line = found.group(1) if found else "1"
        raise InputError(f"{path}, line {line}: this is not TOML: {error}") from error
    except RecursionError as error:
        raise InputError(_too_deep(path)) from error
    except ValueError as error:  # Python reads no integers of thousands of digits
        raise InputError(f"{path}: this is not TOML: {error}.") from error
    return _from_toml(values, text.splitlines(), 1, path)


def _from_toml(value: Any, lines: list[str], line: int, path: Path, depth: int = 0) -> Entry:
    """Find line numbers, which tomllib does not keep, by searching for the keys."""
    if depth > DEEPEST:
        raise InputError(_too_deep(path))
    if isinstance(value, dict):
        content: Any = {
            key: _from_toml(item, lines, _line_of(key, lines, line), path, depth + 1)
            for key, item in value.items()
        }
    elif isinstance(value, list):
        content = [_from_toml(item, lines, line, path, depth + 1) for item in value]
    else:
        content = value
    return Entry(content, line, path)


def _line_of(key: str, lines: list[str], start: int) -> int:
    named = re.compile(rf"""(?:^|[\[.{{,\s"']){re.escape(key)}["']?\s*(?:=|\]|\.)""")
    below = range(start, len(lines) + 1)
    return next((number for number in below if named.search(lines[number - 1])), start)
