"""What a model saw of each column, and whether new rows look like it."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Any

import numpy as np

from landbridge.cli._errors import InputError, listing, nearest
from landbridge.report.data_summary import column_kind

if TYPE_CHECKING:
    import polars as pl

# Text columns with more values than this are free text, not categories.
MOST_VALUES = 40


@dataclass(frozen=True, slots=True)
class NewRows:
    """Rows as the model wants them, and how many columns of each row lie outside."""

    frame: "pl.DataFrame"
    outside: np.ndarray
    cautions: list[str]


def describe_columns(frame: "pl.DataFrame") -> list[dict[str, Any]]:
    """Name and type of every column, with its range or its values."""
    return [_describe(frame[name]) for name in frame.columns]


def check_new_rows(frame: "pl.DataFrame", columns: Sequence[dict[str, Any]]) -> NewRows:
    """Select and convert the columns that the model needs; raise for what is missing."""
    known = [column["name"] for column in columns]
    missing = [name for name in known if name not in frame.columns]
    if missing:
        raise InputError(
            f"The table must have the columns that the model was trained on; {listing(missing)} "
            f"{'is' if len(missing) == 1 else 'are'} missing.{nearest(missing[0], frame.columns)} "
            f"The columns of the table are {listing(frame.columns)}."
        )
    frame = frame.select(_convert(frame[column["name"]], column) for column in columns)
    outside = np.zeros(frame.height, dtype=int)
    cautions = []
    for column in columns:
        strange, words = _outside(frame[column["name"]], column)
        outside += strange
        if strange.any():
            count = f"{int(strange.sum())} of {frame.height} rows"
            cautions.append(f"{column['name']}: {count} {words}")
    return NewRows(frame, outside, cautions)


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
        return known
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


def _convert(column: "pl.Series", known: dict[str, Any]) -> "pl.Series":
    """The column with the type that it had in training."""
    wanted = known["type"]
    if column_kind(column) == wanted:
        return column
    converted = _cast(column, wanted)
    lost = column.filter(column.is_not_null() & converted.is_null())
    if len(lost):
        kind = "numbers" if wanted == "number" else f"values of the type {wanted!r}"
        raise InputError(
            f"Column {column.name!r} must hold {kind} as in training; got {lost[0]!r}. "
            "Check the column, or train a model on data like these."
        )
    return converted


def _cast(column: "pl.Series", kind: str) -> "pl.Series":
    """Converted values, nothing where a value cannot be converted."""
    import polars as pl

    if kind == "text":
        return column.cast(pl.String)
    if column.dtype == pl.String:
        if kind == "number":
            return column.cast(pl.Float64, strict=False)
        if kind == "date":
            return column.str.to_date(strict=False)
        if kind == "time":
            return column.str.to_datetime(strict=False)
    types: dict[str, Any] = {"date": pl.Date, "time": pl.Datetime("us")}
    temporal = column_kind(column) in types and kind in types
    return pl.Series(
        column.name,
        column.cast(types[kind]) if temporal else [None] * len(column),
        dtype=types.get(kind, pl.Boolean if kind == "true or false" else pl.Float64),
    )


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
