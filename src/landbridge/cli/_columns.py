"""What a model saw of each column, and whether new rows look like it.

New rows are read with the types of training. A cell that does not fit its column becomes missing,
is named in a caution and counts as outside; where half of the cells or more do not fit, the column
is another one and the table is refused.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Any

import numpy as np

from landbridge.cli._cells import LARGEST, announce_notation, read_dates, read_numbers, strays
from landbridge.cli._errors import InputError, listing, nearest
from landbridge.report.data_summary import column_kind

if TYPE_CHECKING:
    import polars as pl

# Text columns with more values than this are free text, not categories.
MOST_VALUES = 40
KINDS = ("number", "text", "date", "time", "true or false")


@dataclass(frozen=True, slots=True)
class NewRows:
    """Rows as the model wants them, and how many columns of each row lie outside."""

    frame: "pl.DataFrame"
    outside: np.ndarray
    cautions: list[str]


def describe_columns(frame: "pl.DataFrame") -> list[dict[str, Any]]:
    """Name and type of every column, with its range or its values."""
    return [_describe(frame[name]) for name in frame.columns]


def check_card(card: dict[str, Any], path: object) -> list[dict[str, Any]]:
    """The columns of a saved model; raise where the card does not describe them."""
    columns = card.get("columns")
    if columns is None:
        raise InputError(f"{path}: must be a model that `landbridge select --save` wrote.")
    names = [card.get(name, "") for name in ("label", "domain")]
    whole = isinstance(columns, list) and all(map(_is_description, columns))
    whole = whole and all(isinstance(name, str) for name in names)
    if not whole or len({column["name"] for column in columns}) < len(columns):
        raise InputError(
            f"{path}: the columns on its card must be as `landbridge select --save` wrote them; "
            "they were edited. Copy the file again."
        )
    return columns


def _is_description(column: Any) -> bool:
    if not isinstance(column, dict) or not isinstance(column.get("name"), str):
        return False
    if column.get("type") not in KINDS or not isinstance(column.get("missing"), bool):
        return False
    end = (int, float) if column["type"] == "number" else str
    ends = [column[name] for name in ("low", "high") if name in column]
    try:
        if end is str:
            [datetime.fromisoformat(value) for value in ends]
    except (TypeError, ValueError):
        return False
    values = column.get("values", [])
    return (
        len(ends) in (0, 2)
        and all(isinstance(value, end) for value in ends)
        and isinstance(values, list)
        and all(isinstance(value, str) for value in values)
    )


def check_new_rows(
    frame: "pl.DataFrame", columns: Sequence[dict[str, Any]], *, comma_separated: bool = True
) -> NewRows:
    """Select and convert the columns that the model needs; raise for what is missing."""
    names = [column["name"] for column in columns]
    missing = [name for name in names if name not in frame.columns]
    if missing:
        raise InputError(
            f"The table must have the columns that the model was trained on; {listing(missing)} "
            f"{'is' if len(missing) == 1 else 'are'} missing.{nearest(missing[0], frame.columns)} "
            f"The columns of the table are {listing(frame.columns)}."
        )
    outside = np.zeros(frame.height, dtype=int)
    converted, cautions = [], []
    for known in columns:
        given = frame[known["name"]]
        column, misfit = _convert(given, known, comma_separated)
        if misfit.any():
            cells = strays(given.cast(str), column)
            cautions.append(
                f"{given.name}: read as missing, because it is no {known['type']}: {cells}"
            )
        converted.append(column)
        strange = misfit
        for found, words in (_empty(given, known), _outside(column, known)):
            if found.any():
                count = f"{int(found.sum())} of {frame.height} rows"
                cautions.append(f"{given.name}: {count} {words}")
                strange = strange | found
        outside += strange
    return NewRows(type(frame)(converted), outside, cautions)


def _describe(column: "pl.Series") -> dict[str, Any]:
    import polars as pl

    kind = column_kind(column)
    known: dict[str, Any] = {
        "name": column.name,
        "type": kind,
        "missing": bool(column.null_count()),
    }
    values = column.drop_nulls()
    if not len(values):
        return known | {"filled": False}
    if kind == "number":
        values = values.cast(pl.Float64)
        finite = values.filter(values.is_finite())
        known |= {"low": finite.min(), "high": finite.max()} if len(finite) else {}
    elif kind in ("date", "time"):
        ends: list[Any] = [values.min(), values.max()]
        known |= {"low": ends[0].isoformat(), "high": ends[1].isoformat()}
    elif kind == "text" and values.n_unique() <= MOST_VALUES:
        known["values"] = sorted(values.unique().to_list())
    return known


def _convert(
    column: "pl.Series", known: dict[str, Any], comma_separated: bool
) -> tuple["pl.Series", np.ndarray]:
    """The column with the type that it had in training, and the rows that do not fit it."""
    import polars as pl

    wanted = known["type"]
    never_filled = wanted == "text" and known["missing"] and not known.get("filled", True)
    if column_kind(column) == wanted or never_filled:
        return column, np.zeros(len(column), dtype=bool)
    converted = _cast(column, wanted, comma_separated)
    misfit = (column.is_not_null() & converted.is_null()).to_numpy()
    if 2 * misfit.sum() >= max(len(column) - column.null_count(), 1):
        kind = "numbers" if wanted == "number" else f"values of the type {wanted!r}"
        wrong = column.filter(pl.Series(misfit))[0]
        raise InputError(
            f"Column {column.name!r} must hold {kind} as in training; got {wrong!r}. "
            "Check the column, or train a model on data like these."
        )
    return converted, misfit


def _cast(column: "pl.Series", kind: str, comma_separated: bool) -> "pl.Series":
    """Converted values, nothing where a value cannot be converted."""
    import polars as pl

    types: dict[str, Any] = {"date": pl.Date, "time": pl.Datetime("us"), "number": pl.Float64}
    if column.dtype == pl.String:
        if kind == "number":
            numbers = read_numbers(column, comma_separated=comma_separated)
            announce_notation(numbers, "new rows")
            usable = (numbers.values.abs() <= LARGEST).fill_null(False)
            return numbers.values.set(~usable, None)
        if kind == "true or false":
            names = column.str.strip_chars().str.to_lowercase()
            return names.replace_strict({"true": True, "false": False}, default=None)
        found = read_dates(column)
        if found is not None:
            return found.cast(types[kind]) if kind == "date" else _as_time(found)
    elif column_kind(column) in types and kind in ("date", "time") and column.dtype.is_temporal():
        return column.cast(types[kind])
    nothing = pl.Boolean if kind == "true or false" else types.get(kind, pl.String)
    return pl.Series(column.name, [None] * len(column), dtype=nothing)


def _as_time(found: "pl.Series") -> "pl.Series":
    import polars as pl

    return found.cast(pl.Datetime("us")) if found.dtype == pl.Date else found


def _empty(column: "pl.Series", known: dict[str, Any]) -> tuple[np.ndarray, str]:
    """Rows without a value in a column that always had one."""
    if known["missing"]:
        return np.zeros(len(column), dtype=bool), ""
    return column.is_null().to_numpy(), "have no value, which never happened in training"


def _outside(column: "pl.Series", known: dict[str, Any]) -> tuple[np.ndarray, str]:
    """Rows whose value the model never met, and what is strange about them."""
    nowhere = np.zeros(len(column), dtype=bool)
    if "values" in known:
        strange = ~column.is_in(known["values"]) & column.is_not_null()
        new = column.filter(strange).unique().sort().to_list()
        return strange.fill_null(False).to_numpy(), f"hold a new value: {listing(new, 5)}"
    if "low" not in known:
        return nowhere, ""
    low, high = known["low"], known["high"]
    if known["type"] != "number":
        low, high = datetime.fromisoformat(low), datetime.fromisoformat(high)
    strange = ((column < low) | (column > high)).fill_null(False)
    return strange.to_numpy(), f"lie outside {seen_range(known)}"


def seen_range(known: dict[str, Any]) -> str:
    """The range of a column in words."""
    ends = (known["low"], known["high"])
    return " to ".join(f"{end:.6g}" if isinstance(end, float) else str(end) for end in ends)
