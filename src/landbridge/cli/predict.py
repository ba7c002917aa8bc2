"""``landbridge predict``: predictions for new rows, with notes on rows unlike the training data."""

import json
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import IO, Any

import numpy as np
import polars as pl
import polars.selectors as cs
from sklearn.pipeline import Pipeline

from landbridge._storage import whole_file
from landbridge._tasks import Progress
from landbridge.cli._columns import RowChecker, check_card, require_columns
from landbridge.cli._files import AS_WRITTEN, find_files
from landbridge.cli._options import Predict
from landbridge.cli._session import InputError, Session, check_distinct, check_output
from landbridge.cli._tables import Pieces, require_column
from landbridge.model_selection import VotingModel
from landbridge.model_selection._fit_tasks import check_predictions
from landbridge.persistence import load_model

ENDINGS = (".csv", ".tsv", ".parquet")


def run_predict(asked: Predict, current: Session) -> None:
    check_output(asked.output, *ENDINGS)
    check_distinct(find_files(asked.new), output=asked.output)
    saved = load_model(asked.model)
    columns = check_card(saved.card, asked.model)
    known = [column["name"] for column in columns]
    keep = list(dict.fromkeys(asked.keep or ()))
    # Read every column as text; types are those of the training data, not inferred again.
    missing, text = (saved.card.get(name, ()) for name in ("missing", "text"))
    pieces = Pieces.open(asked.new, asked.encoding, missing, text, keep)
    require_columns(known, pieces.names)
    for name in keep:
        require_column(pieces.names, name, "--keep")
    expected = {*known, *keep, saved.card.get("label"), saved.card.get("domain")}
    extra = [name for name in pieces.names if name not in expected]
    if extra:
        current.note(f"ignored columns that the model does not know: {', '.join(extra)}")
    checker = RowChecker(columns, comma_separated=pieces.comma_separated)
    answers = _answers(asked, saved.model, pieces, checker, keep)
    if asked.output is None:
        print_answers(answers, as_json=current.as_json, raw=asked.raw)
    else:
        write_answers(answers, asked.output, raw=asked.raw)
    for caution in checker.cautions():
        current.warn(caution)
    if asked.output is not None:
        current.wrote("predictions", asked.output)
        if current.as_json:
            counts = {"rows": checker.n_rows, "outside": checker.n_outside}
            current.show({**counts, "output": str(asked.output)}, [])


def _answers(
    asked: Predict, model: Any, pieces: Pieces, checker: RowChecker, keep: list[str]
) -> Iterator[pl.DataFrame]:
    """Predict in pieces, so that memory does not grow with the number of rows."""
    with Progress("predicting", None, unit="rows") as progress:
        for piece in pieces:
            rows = checker.check(piece)
            try:
                answers = predict_table(model, rows.frame, rows.outside)
            except (ValueError, AttributeError, TypeError, LookupError, ArithmeticError) as error:
                raise InputError(
                    f"{asked.model}: the model does not accept the columns named in its card: "
                    f"{type(error).__name__}: {str(error).splitlines()[0]} Copy the file again "
                    "from where it was saved."
                ) from error
            kept = [piece[AS_WRITTEN + name].alias(name) for name in keep]
            other = [column.name for column in kept if _has_parts(column.dtype)]
            if other and (asked.output is None or asked.output.suffix.lower() != ".parquet"):
                raise InputError(
                    f"--keep must name columns with one value per cell; {other[0]!r} holds lists, "
                    "records or bytes. Leave it out, or pass an --output that ends in .parquet."
                )
            taken = [name for name in keep if name in answers.columns]
            if taken:
                raise InputError(
                    f"--keep must not name an output column; got {taken[0]!r}, "
                    "which contains predictions. Rename the column in the table."
                )
            yield answers.select(*kept, *answers)
            progress.advance(piece.height)


def _has_parts(kind: pl.DataType) -> bool:
    """Whether cells hold lists, records, bytes or Python objects, which text files cannot."""
    return kind.is_nested() or kind in (pl.Binary, pl.Object)


def predict_table(model: Any, frame: pl.DataFrame, outside: Any) -> pl.DataFrame:
    """Predictions, class scores if available, and columns outside the training range."""
    rows: Any = frame
    if isinstance(model, Pipeline) and len(model) > 1:  # encode once, for scores and labels
        rows, model = model[:-1].transform(frame), model[-1]
    scores: dict[str, Any] = {}
    labels = None
    if hasattr(model, "classes_"):
        method = "predict_proba" if hasattr(model, "predict_proba") else "decision_function"
        found = np.asarray(getattr(model, method)(rows)) if hasattr(model, method) else None
        if found is not None and found.ndim == 1:
            scores[f"score_{model.classes_[1]}"] = found
        elif found is not None:
            scores |= {f"score_{c}": found[:, k] for k, c in enumerate(model.classes_)}
            if isinstance(model, VotingModel):  # predicts the class of the largest score
                labels = np.asarray(model.classes_)[found.argmax(axis=1)]
    if labels is None:
        labels = np.asarray(model.predict(rows))
    for values in (labels, *scores.values()):
        if values.dtype.kind == "f":
            check_predictions(values)
    # polars reads a list of text three times as fast as a numpy array of text.
    shown: Any = labels.tolist() if labels.dtype.kind == "U" else labels
    return pl.DataFrame({"prediction": shown, **scores, "columns_outside": outside})


def without_formulas(answers: pl.DataFrame) -> pl.DataFrame:
    """Prefix text that looks like a formula with an apostrophe, as in spreadsheets."""
    text = pl.col(pl.String)
    # Numbers stored as text are not formulas: -5 stays -5.
    is_number = text.str.strip_chars().cast(pl.Float64, strict=False).is_not_null()
    formula = text.str.contains(r"^[=+\-@\t\r]") & ~is_number
    answers = answers.with_columns(
        pl.when(formula).then(pl.lit("'") + text).otherwise(text).name.keep()
    )
    return answers.rename({n: f"'{n}" for n in answers.columns if n[:1] in "=+-@\t\r"})


def print_answers(answers: Iterable[pl.DataFrame], *, as_json: bool, raw: bool = False) -> None:
    """All rows on standard output."""
    if not as_json:
        _write_csv(answers, sys.stdout.buffer, raw=raw)
        return
    start = "[\n"
    for piece in answers:
        # JSON has no NaN and no durations.
        piece = _without_durations(piece).with_columns(cs.float().fill_nan(None))
        rows = json.dumps(piece.to_dicts(), indent=1, default=str)
        # Omit the brackets of each piece, because all rows form one list.
        sys.stdout.write(start + rows[2:-2])
        start = ",\n"
    sys.stdout.write("\n]\n")


def write_answers(answers: Iterable[pl.DataFrame], path: Path, *, raw: bool = True) -> None:
    """Write a table piece by piece in the format of the suffix; rename it when complete."""
    suffix = path.suffix.lower()
    with whole_file(path) as file:
        if suffix == ".parquet":
            _write_parquet(answers, file)
        else:
            _write_csv(answers, file, raw=raw, separator="\t" if suffix == ".tsv" else ",")


def _without_durations(piece: pl.DataFrame) -> pl.DataFrame:
    """The same columns with durations as seconds."""
    return piece.with_columns(cs.duration().dt.total_microseconds() / 1e6)


def _write_csv(
    answers: Iterable[pl.DataFrame], file: IO[bytes], *, raw: bool, separator: str = ","
) -> None:
    for number, piece in enumerate(answers):
        piece = _without_durations(piece)  # CSV has none
        shown = piece if raw else without_formulas(piece)
        # Written by Python, whose errors name a closed pipe, unlike those of polars.
        file.write(shown.write_csv(include_header=number == 0, separator=separator).encode())


def _write_parquet(answers: Iterable[pl.DataFrame], file: IO[bytes]) -> None:
    import pyarrow.parquet as pq

    writer = None
    try:
        for piece in answers:
            # Arrow has no integers of 128 bits.
            rows = piece.with_columns(cs.by_dtype(pl.Int128).cast(pl.String)).to_arrow()
            if writer is None:
                writer = pq.ParquetWriter(file, rows.schema)
            writer.write_table(rows.cast(writer.schema))
    finally:
        if writer is not None:
            writer.close()
