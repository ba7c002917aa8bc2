"""Reference of the command line, generated from the commands themselves."""

import enum
import inspect
import typing
from collections.abc import Callable, Iterator
from pathlib import Path
from types import UnionType
from typing import Any

from typer.models import ArgumentInfo

TYPE_NAMES = {str: "text", Path: "path", int: "integer", float: "number"}


def write_command_pages(path: Path) -> None:
    """Write one section per command: what it does, its arguments and its options."""
    from landbridge.cli._options import app

    parts = [
        "# Command reference\n",
        "Generated from the program; `landbridge COMMAND --help` prints the same.\n",
    ]
    parts += [_section(command.callback) for command in app.registered_commands]
    text = "\n".join(parts)
    if not path.exists() or path.read_text() != text:
        path.write_text(text)


def _section(command: Callable[..., Any]) -> str:
    """One command. Its signature is read, because the objects of typer differ by release."""
    name = command.__name__.replace("_", "-")
    rows, needed = [], []
    for parameter in _parameters(command):
        rows.append(f"| {parameter['names']} | {parameter['kind']} | {parameter['meaning']} |")
        if parameter["required"]:
            needed.append(parameter["usage"])
    return "\n".join(
        [
            f"## landbridge {name}\n",
            inspect.getdoc(command) or "",
            f"\n```\nlandbridge {' '.join([name, *needed])} [OPTIONS]\n```\n",
            "| option | value | meaning |",
            "|---|---|---|",
            *rows,
            "",
        ]
    )


def _parameters(command: Callable[..., Any]) -> Iterator[dict[str, Any]]:
    for name, parameter in inspect.signature(command).parameters.items():
        kind, info = typing.get_args(parameter.annotation)[:2]
        if info.hidden:
            continue
        required = parameter.default is inspect.Parameter.empty
        if isinstance(info, ArgumentInfo):
            names = usage = info.metavar or name.upper()
            names = f"`{names}`"
        else:
            # In `Annotated`, typer keeps the first name where a default would be.
            first = (info.default,) if isinstance(info.default, str) else ()
            options = (*first, *(info.param_decls or ())) or (f"--{name.replace('_', '-')}",)
            names = ", ".join(f"`{option}`" for option in options)
            usage = f"{options[0]} {name.upper()}"
        meaning = (info.help or "").replace("|", "\\|")
        default = getattr(parameter.default, "value", parameter.default)
        if not required and default not in (None, False):
            meaning += f" Default: `{default}`."
        yield {
            "names": names,
            "kind": _kind(kind),
            "meaning": meaning,
            "required": required,
            "usage": usage,
        }


def _kind(kind: Any) -> str:
    """The values that an option takes, in words."""
    if typing.get_origin(kind) in (typing.Union, UnionType):
        kind = next(part for part in typing.get_args(kind) if part is not type(None))
    if typing.get_origin(kind) is list:
        kind = typing.get_args(kind)[0]
    if isinstance(kind, type) and issubclass(kind, enum.Enum):
        return ", ".join(f"`{member.value}`" for member in kind)
    return TYPE_NAMES.get(kind, "")
