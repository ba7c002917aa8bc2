"""``landbridge predict``: answers for new rows, with a word about rows that are unlike training."""

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from landbridge.cli import _options as options
from landbridge.cli._errors import InputError
from landbridge.cli._session import Session, check_output

if TYPE_CHECKING:
    import polars as pl

WRITERS = {".csv": "write_csv", ".tsv": "write_csv", ".parquet": "write_parquet"}


@dataclass(frozen=True, kw_only=True)
class Predict(options.AnswerOptions):
    """Predict raw rows with a saved model; warns about rows outside what it was trained on."""

    model: Annotated[Path, typer.Argument(help="File that `select --save` wrote.")]
    new: Annotated[Path, typer.Argument(help="Table with the rows to predict.")]
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", help="Write .csv, .tsv or .parquet; else print CSV."),
    ] = None
    keep: Annotated[
        list[str] | None,
        typer.Option(help="Column of the table to copy to the output; may be repeated."),
    ] = None
    raw: Annotated[
        bool,
        typer.Option("--raw", help="Keep text that a spreadsheet would take for a formula."),
    ] = False
    encoding: options.Encoding = None

    def run(self, current: Session) -> None:
        check_output(self.output, *WRITERS)
        given, written = self.new, self.output
        if written is not None and written.exists() and given.exists() and written.samefile(given):
            raise InputError(
                f"{written}: predictions must not replace the rows that they are made of. Give "
                "--output another name; --keep copies columns into it."
            )
        from landbridge.cli._columns import check_card, check_new_rows
        from landbridge.cli._tables import is_comma_separated, read_table, require_column
        from landbridge.persistence import load_model

        saved = load_model(self.model)
        columns = check_card(saved.card, self.model)
        known = [column["name"] for column in columns]
        keep = list(dict.fromkeys(self.keep or ()))
        # Every column as it is written: its type is that of training, not a new guess.
        frame = read_table(self.new, text=None, encoding=self.encoding)
        for name in keep:
            require_column(frame, name, "--keep")
        comma = is_comma_separated(self.new, self.encoding)
        rows = check_new_rows(frame, columns, comma_separated=comma)
        for caution in rows.cautions:
            current.warn(caution)
        expected = {*known, *keep, saved.card.get("label"), saved.card.get("domain")}
        extra = [name for name in frame.columns if name not in expected]
        if extra:
            current.note(f"ignored columns that the model does not know: {', '.join(extra)}")
        try:
            answers = predict_table(saved.model, rows.frame, rows.outside)
        except (ValueError, AttributeError, TypeError) as error:
            raise InputError(
                f"{self.model}: the model must take the columns that its card names; got "
                f"{type(error).__name__}: {str(error).splitlines()[0]} Copy the file again from "
                "where it was saved."
            ) from error
        for name in keep:
            if name in answers.columns:
                raise InputError(
                    f"--keep must name a column that the output has not; got {name!r}, which holds "
                    "part of the answer. Rename the column in the table."
                )
        answers = answers.select(*(frame[name] for name in keep), *answers)
        if self.output is None:
            print_answers(answers, as_json=current.as_json, raw=self.raw)
            return
        write_answers(answers, self.output, raw=self.raw)
        current.wrote("predictions", self.output)
        if current.as_json:
            outside = int((rows.outside > 0).sum())
            done = {"rows": answers.height, "outside": outside, "output": str(self.output)}
            current.show(done, [])


def predict_table(model: Any, frame: "pl.DataFrame", outside: Any) -> "pl.DataFrame":
    """Predictions, class scores where the model has them, and columns outside of training."""
    import numpy as np
    import polars as pl

    columns: dict[str, Any] = {"prediction": np.asarray(model.predict(frame))}
    if hasattr(model, "classes_"):
        method = "predict_proba" if hasattr(model, "predict_proba") else "decision_function"
        scores = np.asarray(getattr(model, method)(frame)) if hasattr(model, method) else None
        if scores is not None and scores.ndim == 1:
            columns[f"score_{model.classes_[1]}"] = scores
        elif scores is not None:
            columns |= {f"score_{c}": scores[:, k] for k, c in enumerate(model.classes_)}
    return pl.DataFrame(columns | {"columns_outside": outside})


def without_formulas(answers: "pl.DataFrame") -> "pl.DataFrame":
    """Text that begins like a formula with an apostrophe before it, as spreadsheets have it."""
    import polars as pl

    text = pl.col(pl.String)
    # Numbers that were kept as text are no formulas: -5 stays -5.
    is_number = text.str.strip_chars().cast(pl.Float64, strict=False).is_not_null()
    formula = text.str.contains(r"^[=+\-@\t\r]") & ~is_number
    answers = answers.with_columns(
        pl.when(formula).then(pl.lit("'") + text).otherwise(text).name.keep()
    )
    return answers.rename({n: f"'{n}" for n in answers.columns if n[:1] in "=+-@\t\r"})


def print_answers(answers: "pl.DataFrame", *, as_json: bool, raw: bool = False) -> None:
    """All rows on standard output."""
    import json
    import sys

    if as_json:
        sys.stdout.write(json.dumps(answers.to_dicts(), indent=1, default=str) + "\n")
    else:
        sys.stdout.write((answers if raw else without_formulas(answers)).write_csv())


def write_answers(answers: "pl.DataFrame", path: Path, *, raw: bool = True) -> None:
    """A table as the ending of the name says."""
    from landbridge._storage import whole_file

    suffix = path.suffix.lower()
    separator = {"separator": "\t"} if suffix == ".tsv" else {}
    if suffix != ".parquet" and not raw:
        answers = without_formulas(answers)
    with whole_file(path) as file:
        getattr(answers, WRITERS[suffix])(file, **separator)
