"""Stable descriptions of everything that the outcome of a task depends on.

Two values have the same description only if they are equivalent for a fit, even in another process
or a later run. A value for which this cannot be guaranteed (a lambda, an object of a C extension, a
class typed into a notebook) has no description, and tasks with it are not cached.
"""

import enum
import functools
import hashlib
import importlib.metadata
import inspect
import platform
import sys
import sysconfig
from collections.abc import Iterable
from pathlib import Path
from types import BuiltinFunctionType, FunctionType, MethodType, ModuleType
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.base import BaseEstimator

from landbridge._version import versions
from landbridge._warn import warn_caller
from landbridge.exceptions import CacheWarning

# Attributes that clone keeps although they are not parameters.
KEPT_BY_CLONE = ("_metadata_request", "_sklearn_output_config")
DEPTH = 60


class NoStableDescription(ValueError):
    """The value cannot be recognised in another run."""


def describe_candidate(name: str, estimator: Any) -> str | None:
    """Description of a candidate; None, with a warning, if it cannot be cached."""
    try:
        return describe(estimator)
    except NoStableDescription as problem:
        warn_caller(f"Fits of {name!r} are not cached: {problem}", CacheWarning)
        return None


def describe_rows(*tables: Any) -> str:
    """Digest of tables of rows: arrays, sparse matrices, data frames, or None."""
    return _digest("\n".join(_table(table, "") for table in tables).encode())


def task_key(*parts: Any) -> str:
    """Key of a task: a hash of its parts and of the package versions."""
    return _digest(f"{_versions()}\n{describe(parts)}".encode())


def describe(value: Any, place: str = "", depth: int = 0) -> str:
    """Describe an estimator or a parameter value by its content, equally in every process.

    ``place`` names the value in the message of `NoStableDescription`, which is raised if there is
    no such description; ``depth`` counts the objects that contain it.
    """
    if depth > DEPTH:
        raise NoStableDescription(f"{place or 'it'} is nested too deeply or contains itself.")
    if type(value) in (type(None), bool, int, float, complex, str, bytes):
        return repr(value)
    if isinstance(value, np.generic):
        return f"{value.dtype.str}:{value.item()!r}"
    if _is_table(value):
        return _table(value, place)
    if type(value) in (list, tuple):
        items = [describe(v, f"{place}[{i}]", depth + 1) for i, v in enumerate(value)]
        return f"{type(value).__name__}({', '.join(items)})"
    if type(value) in (set, frozenset):
        items = sorted(describe(v, place, depth + 1) for v in value)
        return f"{type(value).__name__}({', '.join(items)})"
    if isinstance(value, type) or (callable(value) and not hasattr(value, "fit")):
        described = _describe_callable(value, place, depth)
        if described is not None:
            return described
    return _describe_object(value, place, depth)


def _describe_callable(value: Any, place: str, depth: int) -> str | None:
    """Functions and classes that can be found again by name; None for other objects."""
    if isinstance(value, functools.partial):
        return f"partial{describe((value.func, value.args, value.keywords), place, depth + 1)}"
    if isinstance(value, MethodType):
        return f"{describe(value.__self__, place, depth + 1)}.{value.__func__.__name__}"
    if isinstance(value, np.ufunc):
        return f"numpy ufunc {value.__name__}"
    if not isinstance(value, (type, FunctionType, BuiltinFunctionType)) and not hasattr(
        value, "__wrapped__"
    ):
        return None
    name = f"{value.__module__}.{value.__qualname__}"
    if "<lambda>" in name:
        raise NoStableDescription(f"{place or 'it'} is a lambda. Use a function of a module.")
    found: Any = sys.modules.get(value.__module__ or "")
    for part in value.__qualname__.split("."):
        found = getattr(found, part, None)
    if found is not value:
        raise NoStableDescription(
            f"{place or 'it'} is `{name}`, which was defined inside a function. Move it to the "
            "top level of a module."
        )
    return f"{name} [{_code_of(value, place)}]"


def _describe_object(value: Any, place: str, depth: int) -> str:
    """An object by its class and its parameters, or by its attributes if it has none."""
    kind = type(value)
    if isinstance(value, np.random.RandomState):
        return f"RandomState{describe(value.get_state(legacy=False), place, depth + 1)}"
    if isinstance(value, np.random.Generator):
        return f"Generator{describe(value.bit_generator.state, place, depth + 1)}"
    if isinstance(value, np.random.SeedSequence):
        return f"SeedSequence{describe(value.state, place, depth + 1)}"
    if isinstance(value, np.dtype):
        return f"dtype {value.str}"
    if isinstance(value, (Path, range, slice)):
        return repr(value)
    if isinstance(value, enum.Enum):
        return f"{_describe_callable(kind, place, depth)}.{value.name}"
    if isinstance(value, dict):
        items = sorted(
            f"{describe(k, place, depth + 1)}: {describe(v, f'{place}[{k!r}]', depth + 1)}"
            for k, v in value.items()
        )
        return f"{kind.__name__}({', '.join(items)})"
    content = _parameters(value, place)
    if content is None:
        content = _attributes(value, place)
    name = _describe_callable(kind, place or f"its class {kind.__qualname__}", depth)
    prefix = f"{place}." if place else ""
    items = [f"{k}={describe(v, f'{prefix}{k}', depth + 1)}" for k, v in sorted(content.items())]
    return f"{name}({', '.join(items)})"


def _parameters(value: Any, place: str) -> dict[str, Any] | None:
    """Parameters of an estimator and other state kept by clone; None for other objects."""
    if not hasattr(value, "get_params") or isinstance(value, type):
        return None
    clone = getattr(type(value), "__sklearn_clone__", BaseEstimator.__sklearn_clone__)
    if clone is not BaseEstimator.__sklearn_clone__:
        raise NoStableDescription(
            f"{place or 'it'} is a {type(value).__name__}, which stays fitted when it is "
            "cloned. Pass an unfitted estimator."
        )
    content = dict(value.get_params(deep=False))
    for name in KEPT_BY_CLONE:
        if hasattr(value, name):
            content[name] = repr(getattr(value, name))
    return content


def _attributes(value: Any, place: str) -> dict[str, Any]:
    """Attributes of an object whose class is written in Python and pickles in the default way."""
    kind = type(value)
    plain = (
        kind.__reduce_ex__ is object.__reduce_ex__
        and kind.__reduce__ is object.__reduce__
        and (hasattr(value, "__dict__") or hasattr(kind, "__slots__"))
        and bool(kind.__flags__ & (1 << 9))  # made by a class statement, not by a C extension
    )
    if not plain:
        raise NoStableDescription(
            f"{place or 'it'} is an object of class {kind.__module__}.{kind.__qualname__}, whose "
            "content cannot be described. Pass its parameters instead."
        )
    content = dict(getattr(value, "__dict__", {}))
    for base in kind.__mro__:
        slots = base.__dict__.get("__slots__", ())
        for name in (slots,) if isinstance(slots, str) else slots:
            if hasattr(value, name) and name not in ("__dict__", "__weakref__"):
                content[name] = getattr(value, name)
    return content


def _code_of(value: Any, place: str) -> str:
    """Identify the code of a class (with its bases) or function by versions and digests."""
    modules = {base.__module__ for base in getattr(value, "__mro__", [value])}
    return ", ".join(sorted(_code_of_module(name or "builtins", place) for name in modules))


def _code_of_module(name: str, place: str) -> str:
    if name == "__main__" and not getattr(sys.modules["__main__"], "__file__", None):
        raise NoStableDescription(
            f"{place or 'it'} is defined in an interactive session, where its code can change "
            "unnoticed. Move it to a module."
        )
    return _module_version(name)


@functools.cache
def _module_version(name: str) -> str:
    top = name.partition(".")[0]
    if top in sys.stdlib_module_names or top == "builtins":
        return f"python {platform.python_version()}"
    if top == "landbridge":
        return top  # every key contains a digest of its source
    package = sys.modules.get(top)
    if getattr(package, "__file__", None) is None:  # a namespace package
        top, package = name, sys.modules.get(name)
    file = getattr(package, "__file__", None)
    if file is None:
        raise NoStableDescription(f"the code of module {name} cannot be found.")
    if _is_installed(Path(file)):
        version = getattr(package, "__version__", None)
        if not isinstance(version, str):
            try:
                version = importlib.metadata.version(top)
            except importlib.metadata.PackageNotFoundError:
                version = _source_digest(package)
        return f"{top} {version}"
    return f"{top} {_source_digest(package)}"


def _is_installed(file: Path) -> bool:
    return any(file.is_relative_to(sysconfig.get_path(key)) for key in ("purelib", "platlib"))


def _source_digest(module: ModuleType | None) -> str:
    """Digest of the source of a module; for a package, of all its Python files."""
    file = Path(inspect.getfile(module))  # type: ignore[arg-type]
    files: Iterable[Path] = [file]
    if file.name == "__init__.py":
        files = sorted(file.parent.rglob("*.py"))
    digest = hashlib.blake2b(digest_size=16)
    for path in files:
        digest.update(str(path.relative_to(file.parent)).encode())
        digest.update(path.read_bytes())
    return digest.hexdigest()


@functools.cache
def _versions() -> str:
    """Versions of everything that every fit depends on, with a digest of landbridge's source."""
    own = _source_digest(sys.modules["landbridge"])
    return f"{versions()} {platform.machine()} {own}"


def _is_table(value: Any) -> bool:
    return isinstance(value, np.ndarray) or sp.issparse(value) or _is_frame(value)


def _is_frame(value: Any) -> bool:
    """Data frames and series of pandas and polars."""
    top = type(value).__module__.partition(".")[0]
    return top in ("pandas", "polars") and hasattr(value, "shape")


def _table(table: Any, place: str) -> str:
    """Kind, shape and digest of a table."""
    if table is None:
        return "None"
    if sp.issparse(table):
        table = table.tocsr() if table.format not in ("csr", "csc") else table
        parts = [_array(part, place) for part in (table.data, table.indices, table.indptr)]
        return f"{table.format} {table.shape} {' '.join(parts)}"
    if _is_frame(table):
        kind = f"{type(table).__module__.partition('.')[0]} {type(table).__name__}"
        if len(table.shape) == 1:
            return f"{kind} {table.name!r} {table.dtype} {_array(table.to_numpy(), place)}"
        columns = [
            f"{name!r} {table[name].dtype} {_array(table[name].to_numpy(), place)}"
            for name in table.columns
        ]
        return f"{kind} {_digest(' '.join(columns).encode())} {table.shape}"
    return _array(np.asarray(table), place)


def _array(array: np.ndarray, place: str) -> str:
    """Type, shape, layout and digest: the order in memory decides the rounding of sums."""
    if array.dtype.hasobject:
        items = (describe(item, place, 1) for item in array.ravel().tolist())
        return f"object {array.shape} {_digest(chr(0).join(items).encode())}"
    order = "F" if array.flags.f_contiguous and not array.flags.c_contiguous else "C"
    content = np.ascontiguousarray(array.T if order == "F" else array)
    raw = content.reshape(-1).view(np.uint8).data if content.size else b""
    return f"{array.dtype.str} {array.shape} {order} {_digest(raw)}"


def _digest(content: Any) -> str:
    return hashlib.blake2b(content, digest_size=20).hexdigest()
