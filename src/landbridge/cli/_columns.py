"""Summaries of the training columns, and checks of new rows against them.

New rows are read with the column types of the training data. A cell that does not fit its column
becomes missing, is named in a caution and counts as outside. If half of the cells or more do not
fit, the column is taken to be a different one and the table is refused.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import TYPE_CHECKING, Any

import numpy as np

from landbridge.cli._cells import (
    LARGEST,
    Notation,
    announce_day_first,
    announce_notation,
    read_dates,
    read_numbers,
    unreadable,
)
from landbridge.cli._session import InputError, listing, nearest
from landbridge.report.data_summary import column_kind

if TYPE_CHECKING:
    import polars as pl

# Text columns with more values than this are free text, not categories.
MOST_VALUES = 40
# Number of misfit cells shown in a caution.
SHOWN = 3
KINDS = ("number", "text", "date", "time", "true or false")


@dataclass(frozen=True, slots=True)
class NewRows:
    """Converted rows, and the number of columns outside the training range per row."""

    frame: "pl.DataFrame"
    outside: np.ndarray


def describe_columns(frame: "pl.DataFrame") -> list[dict[str, Any]]:
    """Name and type of every column, with its range or its values."""
    return [_describe(frame[name]) for name in frame.columns]


def check_card(card: dict[str, Any], path: object) -> list[dict[str, Any]]:
    """Columns of a saved model; raise if the card does not describe them."""
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


class RowChecker:
    """Convert new rows in pieces and record anomalies.

    The notation of numbers is determined by the first piece in which a column has values.
    """

    def __init__(self, columns: Sequence[dict[str, Any]], *, comma_separated: bool = True):
        self.columns, self.comma_separated = columns, comma_separated
        self.n_rows = 0
        self.n_outside = 0
        self.findings = {column["name"]: _Findings() for column in columns}

    def check(self, frame: "pl.DataFrame") -> NewRows:
        """Select and convert the columns that the model needs; raise if one is missing."""
        require_columns([column["name"] for column in self.columns], frame.columns)
        outside = np.zeros(frame.height, dtype=int)
        converted = []
        for known in self.columns:
            found = self.findings[known["name"]]
            given = frame[known["name"]]
            column = _convert(given, known, self.comma_separated, found)
            converted.append(column)
            strange = found.add_misfits(given, column, self.n_rows)
            if not found.n_misfits < max(found.n_filled, 1) / 2:
                _refuse_misfits(given, column, known)
            for new in (found.add_empty(given, known), found.add_outside(column, known)):
                strange = strange | new
            outside += strange
        self.n_rows += frame.height
        self.n_outside += int((outside > 0).sum())
        return NewRows(type(frame)(converted), outside)

    def cautions(self) -> list[str]:
        """Anomalies of all rows so far, one sentence per column and kind."""
        return [
            f"{known['name']}: {words}"
            for known in self.columns
            for words in self.findings[known["name"]].describe(known, self.n_rows)
        ]


@dataclass(slots=True)
class _Findings:
    """Anomalies of one column, over all pieces."""

    notation: Notation | None = None
    day_first: bool = False  # already announced
    n_filled: int = 0
    n_misfits: int = 0
    misfits: list[str] = field(default_factory=list)  # the first few
    n_empty: int = 0
    n_outside: int = 0
    new_values: set[str] = field(default_factory=set)

    def add_misfits(self, given: "pl.Series", column: "pl.Series", start: int) -> np.ndarray:
        """Cells that could not be converted."""
        self.n_filled += len(given) - given.null_count()
        misfit = np.zeros(len(given), dtype=bool)
        if column is given:
            return misfit
        rows = unreadable(given, column)
        self.n_misfits += len(rows)
        for row in rows.to_list()[: SHOWN - len(self.misfits)]:
            self.misfits.append(f"{str(given[row])!r} in row {start + row + 1}")
        misfit[rows.to_numpy()] = True
        return misfit

    def add_empty(self, given: "pl.Series", known: dict[str, Any]) -> np.ndarray:
        """Rows without a value in a column that always had one."""
        empty = np.zeros(len(given), dtype=bool)
        if not known["missing"] and given.null_count():
            empty = given.is_null().to_numpy()
        self.n_empty += int(empty.sum())
        return empty

    def add_outside(self, column: "pl.Series", known: dict[str, Any]) -> np.ndarray:
        """Rows with a value that did not occur in training."""
        strange = _outside(column, known)
        self.n_outside += int(strange.sum())
        if "values" in known and strange.any() and len(self.new_values) < MOST_VALUES:
            self.new_values.update(column.filter(strange).unique().to_list()[:MOST_VALUES])
        return strange

    def describe(self, known: dict[str, Any], n_rows: int) -> Iterator[str]:
        if self.n_misfits:
            cells = ", ".join(self.misfits)
            more = self.n_misfits - len(self.misfits)
            cells = f"{cells} and {more} more" if more else cells
            yield f"read as missing, because it is not of type {known['type']}: {cells}"
        if self.n_empty:
            yield (
                f"{self.n_empty} of {n_rows} rows have no value, which never happened in training"
            )
        if self.n_outside and "values" in known:
            new = listing(sorted(self.new_values), 5)
            yield f"{self.n_outside} of {n_rows} rows hold a new value: {new}"
        elif self.n_outside:
            yield f"{self.n_outside} of {n_rows} rows lie outside {seen_range(known)}"


def require_columns(names: Sequence[str], given: Sequence[str]) -> None:
    """Raise for columns of training that the table does not have."""
    missing = [name for name in names if name not in given]
    if missing:
        raise InputError(
            f"The table must have the columns that the model was trained on; {listing(missing)} "
            f"{'is' if len(missing) == 1 else 'are'} missing.{nearest(missing[0], given)} "
            f"The columns of the table are {listing(given)}."
        )


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
    column: "pl.Series", known: dict[str, Any], comma_separated: bool, found: _Findings
) -> "pl.Series":
    """Convert the column to its type in training; cells that do not fit become missing."""
    wanted = known["type"]
    never_filled = wanted == "text" and known["missing"] and not known.get("filled", True)
    if column_kind(column) == wanted or never_filled:
        return column
    return _cast(column, wanted, comma_separated, found)


def _refuse_misfits(given: "pl.Series", column: "pl.Series", known: dict[str, Any]) -> None:
    wanted = known["type"]
    kind = "numbers" if wanted == "number" else f"values of the type {wanted!r}"
    wrong = given[unreadable(given, column)[0]]
    raise InputError(
        f"Column {given.name!r} must hold {kind} as in training; got {wrong!r}. "
        "Check the column, or train a model on data like these."
    )


def _cast(column: "pl.Series", kind: str, comma_separated: bool, found: _Findings) -> "pl.Series":
    """Converted values; null where a value cannot be converted."""
    import polars as pl

    types: dict[str, Any] = {"date": pl.Date, "time": pl.Datetime("us"), "number": pl.Float64}
    if column.dtype == pl.String:
        if kind == "number":
            numbers = read_numbers(column, comma_separated=comma_separated, notation=found.notation)
            if numbers.n_filled and found.notation is None:
                found.notation = numbers.notation
                announce_notation(numbers, column, "new rows")
            usable = (numbers.values.abs() <= LARGEST).fill_null(False)
            return numbers.values.set(~usable, None)
        if kind == "true or false":
            names = column.str.strip_chars().str.to_lowercase()
            return names.replace_strict({"true": True, "false": False}, default=None)
        dates = read_dates(column)
        if dates is not None:
            if not found.day_first:
                found.day_first = announce_day_first(column, "new rows")
            return dates.cast(types[kind]) if kind == "date" else _as_time(dates)
    elif column_kind(column) in types and kind in ("date", "time") and column.dtype.is_temporal():
        return column.cast(types[kind])
    nothing = pl.Boolean if kind == "true or false" else types.get(kind, pl.String)
    return pl.Series(column.name, [None] * len(column), dtype=nothing)


def _as_time(found: "pl.Series") -> "pl.Series":
    import polars as pl

    return found.cast(pl.Datetime("us")) if found.dtype == pl.Date else found


def _outside(column: "pl.Series", known: dict[str, Any]) -> np.ndarray:
    """Rows with a value that did not occur in training."""
    if "values" in known:
        strange = ~column.is_in(known["values"]) & column.is_not_null()
    elif "low" not in known:
        return np.zeros(len(column), dtype=bool)
    elif known["type"] == "number":
        # Missing numbers become NaN, which is never outside. numpy takes a tenth of polars' time.
        values = column.to_numpy()
        return (values < np.float64(known["low"])) | (values > np.float64(known["high"]))
    else:
        low, high = (datetime.fromisoformat(known[end]) for end in ("low", "high"))
        strange = (column < low) | (column > high)
    return strange.fill_null(False).to_numpy()


def seen_range(known: dict[str, Any]) -> str:
    """The range of a column in words."""
    ends = (known["low"], known["high"])
    return " to ".join(f"{end:.6g}" if isinstance(end, float) else str(end) for end in ends)
