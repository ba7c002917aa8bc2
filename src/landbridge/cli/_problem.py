"""The learning problem of a table: source rows, target rows, and labels."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import polars as pl

from landbridge._validation import task_of
from landbridge.cli._columns import (
    LARGEST,
    MOST_CELLS,
    PLAIN,
    Notation,
    Numbers,
    announce_notation,
    column_kind,
    is_code,
    read_dates,
    read_numbers,
    strays,
    warn_similar_names,
)
from landbridge.cli._options import TableOptions
from landbridge.cli._session import InputError, listing, nearest
from landbridge.cli._tables import (
    DEFAULT_DOMAIN,
    ROW,
    Sample,
    Sampler,
    advice_on_text,
    find_large,
    is_comma_separated,
    read_data,
    require_column,
)
from landbridge.inspection.audit import MISSING_MARKS, ColumnAudit, Finding, audit_columns
from landbridge.model_selection._sources import POOLED, source_name

Note = Callable[[str], None]
# Names of columns, chosen so that no file has them.
DOMAIN_KEY, LABEL_KEY = "\0domain", "\0label"
# The type of a column is inferred from a sample.
MOST_AUDITED = 50_000
# With at most this many sampled domains, each one has its own note.
MOST_NOTES = 5
# Maximum number of sources compared with the target one by one, which takes about a second each.
MOST_COMPARED = 20


@dataclass(frozen=True, slots=True)
class Problem:
    """Rows, domains and labels; ``labels`` is ``None`` if no label was given."""

    features: pl.DataFrame
    domains: np.ndarray
    labels: pl.Series | None
    target: str | None
    task: str | None
    domain_column: str = DEFAULT_DOMAIN
    audit: ColumnAudit = field(default_factory=lambda: ColumnAudit(()))
    row_names: Sequence[str] = ()  # from the identifier column, or positions
    groups: np.ndarray | None = None  # rows of one group stay in one fold
    times: pl.Series | None = None  # dates, times or numbers
    sample: Sample | None = None
    target_weights: np.ndarray | None = None  # design weights of labelled rows
    n_disputed: int = 0  # number of labels chosen because two models disagree
    notation: Notation | None = None  # how labels that are numbers are written

    @property
    def is_target(self) -> np.ndarray:
        if self.target is None:
            return np.zeros(self.domains.size, dtype=bool)
        return self.domains == self.target

    @property
    def has_label(self) -> np.ndarray:
        if self.labels is None:
            return np.zeros(self.domains.size, dtype=bool)
        return self.labels.is_not_null().to_numpy()

    @property
    def sources(self) -> list[str]:
        return [str(name) for name in np.unique(self.domains[~self.is_target])]

    @property
    def labelled_domains(self) -> list[str]:
        """Domains with at least two labels."""
        names, counts = np.unique(self.domains[self.has_label], return_counts=True)
        return [str(name) for name in names[counts > 1]]

    @property
    def has_numeric_response(self) -> bool:
        """Whether the labels are numbers, or two classes that can be coded −1 and +1."""
        assert self.labels is not None
        return self.labels.dtype.is_numeric() or self.labels.drop_nulls().n_unique() == 2

    def with_numeric_labels(self) -> "Problem":
        """Convert classes to numbers if all of them are written as numbers."""
        assert self.labels is not None
        numbers = self.read_labels(self.labels)
        if self.labels.dtype.is_numeric() or numbers.null_count() > self.labels.null_count():
            return self
        return replace(self, labels=numbers)

    def in_order(self, mask: np.ndarray) -> np.ndarray:
        """Positions of the rows in `mask`, sorted by time if times are known."""
        positions = np.flatnonzero(mask)
        if self.times is None:
            return positions
        return positions[np.argsort(self.times[positions].to_numpy(), kind="stable")]

    def time_words(self, rows: np.ndarray) -> list[str]:
        """Times of rows as they are shown, without empty fractions of seconds."""
        assert self.times is not None
        return self.times[rows].cast(str).str.strip_suffix(".000000").to_list()

    def rows(self, mask: np.ndarray) -> pl.DataFrame:
        return self.features[self.in_order(mask)]

    def answers(self, mask: np.ndarray) -> np.ndarray:
        """Labels of rows as an array: numbers for regression, classes as they are written."""
        assert self.labels is not None
        values = self.labels[self.in_order(mask)]
        if self.task == "regression":
            return values.to_numpy().astype(np.float64)
        return np.asarray(values.to_list())

    def as_labels(self, column: pl.Series) -> pl.Series:
        """Convert labels of additional rows; numbers for regression."""
        return self.read_labels(column) if self.task == "regression" else column

    def read_labels(self, column: pl.Series) -> pl.Series:
        """Labels as numbers in the notation of the table; missing where they are not."""
        return _as_numbers(column, notation=self.notation).values

    def transfer_arguments(self) -> dict[str, Any]:
        """The arguments of ``fit``: source, labelled target, unlabelled target."""
        source = ~self.is_target & self.has_label
        labelled = self.is_target & self.has_label
        unlabelled = self.is_target & ~self.has_label
        arguments: dict[str, Any] = {
            "X": self.rows(source),
            "y": self.answers(source),
            "groups": self.domains[self.in_order(source)],
        }
        if labelled.any():
            arguments["X_target"] = self.rows(labelled)
            arguments["y_target"] = self.answers(labelled)
            if self.target_weights is not None:
                arguments["sample_weight_target"] = self.target_weights[self.in_order(labelled)]
        if unlabelled.any():
            arguments["X_unlabeled"] = self.rows(unlabelled)
        if self.groups is not None:
            for end, rows in (("", source), ("_target", labelled), ("_unlabeled", unlabelled)):
                if f"X{end}" in arguments:
                    arguments[f"cv_groups{end}"] = self.groups[self.in_order(rows)]
        return arguments

    def compared_sources(self) -> dict[str, np.ndarray]:
        """Rows of each source to compare with the target.

        With many sources, these are the largest ones and all sources together.
        """
        if len(self.sources) <= MOST_COMPARED:
            return {name: self.domains == name for name in self.sources}
        names, counts = np.unique(self.domains[~self.is_target], return_counts=True)
        largest = names[np.argsort(-counts, kind="stable")[:MOST_COMPARED]]
        return {
            source_name(POOLED): ~self.is_target,
            **{str(name): self.domains == name for name in largest},
        }

    def label_arguments(self, source: np.ndarray) -> dict[str, Any]:
        """Labels of a source and of the target, if both have any."""
        known, theirs = source & self.has_label, self.is_target & self.has_label
        if known.sum() < 2 or theirs.sum() < 2:
            return {}
        return {"y": self.answers(known), "y_target": self.answers(theirs), "task": self.task}

    def grouped_arguments(self) -> dict[str, Any]:
        """The arguments of ``fit`` where every labelled domain is a source."""
        known = self.has_label & np.isin(self.domains, self.labelled_domains)
        domains = self.domains[self.in_order(known)]
        return {"X": self.rows(known), "y": self.answers(known), "groups": domains}


def read_problem(
    table: TableOptions,
    note: Note,
    *,
    target: str | None = None,
    task: str | None = None,
    spare_labels: bool = False,
    announce_task: bool = True,
    group: str | None = None,
    time: str | None = None,
    memory: int = 2**30,
) -> Problem:
    """Read the table and derive the learning problem; raise if there is none.

    With ``spare_labels``, ``max_rows`` drops unlabelled rows first. Commands without an option for
    the task do not print it. Constant columns, columns that identify rows and ``group`` are not
    used as features. Text files that may need more than ``memory`` bytes lead to a note.
    """
    domain = table.domain or DEFAULT_DOMAIN
    frame, sample = _read_rows(table, note, labels_first=spare_labels, memory=memory)
    _check_columns(frame, domain, table, group=group, time=time)
    if ROW not in frame.columns:
        frame = frame.with_row_index(ROW, offset=1)
    frame = _keep_domains(frame, domain, target, table.exclude or [], note)
    if sample is not None:
        sample = sample.of(set(frame[domain].cast(str)))
    elif table.max_rows:
        sampler = Sampler(
            domain, table.label, table.max_rows, seed=table.seed, labels_first=spare_labels
        )
        sampler.add(frame)
        rows, sample = sampler.draw()
        frame = frame[rows]
    if sample is not None:
        _announce_sample(sample, note)
    features = _select_features(frame, domain, table, group)
    warn_similar_names(frame[domain].cast(str), "domains")
    domains = frame[domain].cast(str).to_numpy().astype(str)
    labels = notation = None
    if table.label is not None:
        column = frame[table.label]
        numbers = _as_numbers(column, is_comma_separated(table.data, table.encoding))
        task = task or find_task(column, numbers.values, note if announce_task else None)
        labels, notation = _check_labels(column, numbers, task), numbers.notation
    audit = audit_features(features, domains, labels)
    identifiers = [*(table.id or ()), *audit.with_finding(Finding.IDENTIFIER)]
    return Problem(
        _without(features, audit, table.keep or (), note),
        domains,
        labels,
        target,
        task,
        domain,
        audit,
        _row_names(frame, identifiers),
        None if group is None else frame[group].cast(str).to_numpy().astype(str),
        None if time is None else _check_times(frame[time]),
        sample,
        notation=notation,
    )


def _read_rows(
    table: TableOptions, note: Note, *, labels_first: bool, memory: int
) -> tuple[pl.DataFrame, Sample | None]:
    """All rows of the table, or a sample of a large one that need not be read whole."""
    how: dict[str, Any] = {"missing": table.missing or (), "text": table.text or ()}
    large = find_large(table.data, table.domain, **how) if table.max_rows else None
    if large is not None:
        return large.draw(table.label, table.max_rows, seed=table.seed, labels_first=labels_first)
    advice = advice_on_text(table.data, memory)
    if advice:
        note(advice)
    # Labels and domains are names and are read as text.
    names = () if table.label is None else (table.label,)
    frame = read_data(table.data, table.domain, names=names, encoding=table.encoding, **how)
    return frame, None


def _select_features(
    frame: pl.DataFrame, domain: str, table: TableOptions, group: str | None
) -> pl.DataFrame:
    """Columns to learn from; raise if there are none, or if their cells hold several values."""
    left_out = {ROW, domain, table.label, group, *(table.drop or ()), *(table.id or ())}
    features = frame.select(name for name in frame.columns if name not in left_out)
    if not features.width:
        raise InputError(
            "The table must have columns to learn from, besides the label and the domain; got "
            "none. Check --drop and the separator of the file."
        )
    other = [column.name for column in features if column_kind(column) == "other"]
    if other:
        raise InputError(
            f"Every cell must hold one value; {listing(other)} hold lists, records or bytes. Leave "
            f"them out with --drop {other[0]}."
        )
    return features


def audit_features(
    features: pl.DataFrame, domains: np.ndarray, labels: pl.Series | None
) -> ColumnAudit:
    """Columns other than the domain and the label, for at most 50 000 rows."""
    table = features.with_columns(pl.Series(DOMAIN_KEY, domains))
    if labels is not None:
        table = table.with_columns(labels.alias(LABEL_KEY))
    table = table.gather_every(max(1, -(-table.height // MOST_AUDITED)))
    label = None if labels is None else LABEL_KEY
    return audit_columns(table, domain=DOMAIN_KEY, label=label)


def _without(
    features: pl.DataFrame, audit: ColumnAudit, keep: Sequence[str], note: Note
) -> pl.DataFrame:
    """The features without identifiers and constants, as long as others remain."""
    names = [name for name in audit.left_out if name not in keep]
    if not names or len(names) == features.width:
        return features
    note(
        f"left out, because they identify rows or never change: {listing(names)} (--keep "
        f"{names[0]} to use it)"
    )
    return features.drop(names)


def _row_names(frame: pl.DataFrame, identifiers: Sequence[str]) -> list[str]:
    """Names of the rows by the first identifier, or else their positions in the table."""
    if not identifiers:
        return [f"row {number}" for number in frame[ROW].to_list()]
    return [f"{identifiers[0]} {value}" for value in frame[identifiers[0]].to_list()]


def _check_times(column: pl.Series) -> pl.Series:
    """Raise unless a column holds times, or numbers in their order."""
    if column.dtype.is_temporal() or column.dtype.is_numeric():
        return column
    raise InputError(
        f"--time must hold dates, times or numbers; {column.name!r} holds text like "
        f"{str(column[0])!r}. Write dates like 2020-12-31, or name another column."
    )


def _check_filled(column: pl.Series, option: str) -> None:
    """Raise if a column has empty cells."""
    if column.null_count():
        row = (column.is_null().arg_max() or 0) + 1
        raise InputError(
            f"{option} must have a value in every row; {column.name!r} is empty in row {row}. Fill "
            "it in, or remove the row."
        )


def find_task(labels: pl.Series, numbers: pl.Series, note: Note | None) -> str:
    """Classification or regression, by the library's rule for labels and their numbers.

    Numbers with leading zeros are codes, hence classes.
    """
    strange = labels.filter(labels.is_not_null() & numbers.is_null())
    is_names = len(strange) or (labels.dtype == pl.String and is_code(labels.drop_nulls()))
    known = (labels if is_names else numbers).drop_nulls()
    task = task_of(np.asarray(known.to_list())) if len(known) else "classification"
    n_marks = int(strange.cast(str).str.to_lowercase().is_in(MISSING_MARKS).sum())
    if 0 < len(strange) <= n_marks + (1 - MOST_CELLS) * (len(known) - n_marks):
        _refuse_stray_labels(labels, numbers)
    what = f"{labels.drop_nulls().n_unique()} different values in {labels.name!r}"
    other = "regression" if task == "classification" else "classification"
    if note is not None:
        note(f"{what}: this is a {task} task (--task {other} to change it)")
    return task


def _refuse_stray_labels(labels: pl.Series, numbers: pl.Series) -> None:
    """Raise if nearly all labels are numbers but a few are not."""
    if task_of(numbers.drop_nulls().to_numpy()) == "regression":
        raise InputError(
            f"--label must hold numbers or classes; {labels.name!r} holds numbers except for "
            f"{strays(labels.cast(str), numbers)}. Leave those cells empty, or pass them as "
            "--missing, or --task classification if they are classes."
        )


def _as_numbers(
    labels: pl.Series, comma_separated: bool = True, notation: Notation | None = None
) -> Numbers:
    """Labels as numbers; other labels become missing."""
    if labels.dtype == pl.String:
        return read_numbers(labels, comma_separated=comma_separated, notation=notation)
    if not labels.dtype.is_numeric():
        labels = pl.Series(labels.name, [None] * len(labels), dtype=pl.Float64)
    return Numbers(labels, PLAIN, len(labels) - labels.null_count())


def require_labels(problem: Problem, *, least: int) -> None:
    """Raise unless every source has ``least`` labelled rows and the labels differ."""
    labelled = ~problem.is_target & problem.has_label
    if not labelled.any():
        raise InputError(
            "The source must have labels; got none: the label column is empty outside the target. "
            "Fill in labels, or name another --label."
        )
    if np.unique(problem.answers(problem.has_label)).size < 2:
        value = problem.answers(problem.has_label)[0]
        raise InputError(
            f"The labels must differ between rows; got {str(value)!r} everywhere. "
            "Name another --label, or add rows with other labels."
        )
    for name in problem.sources:
        count = int((labelled & (problem.domains == name)).sum())
        if count < least:
            raise InputError(
                f"Every source must have at least {least} labelled rows; {name!r} has {count}. "
                f"Leave it out with --exclude {name}, or merge it with another domain."
            )


def _check_columns(
    frame: pl.DataFrame, domain: str, table: TableOptions, **settled: str | None
) -> None:
    """Raise if a named column is missing or unsuitable."""
    require_column(frame.columns, domain, "--domain")
    if table.label is not None:
        require_column(frame.columns, table.label, "--label")
        if table.label == domain:
            raise InputError(
                f"--label and --domain must be two columns; got {domain!r} for both. Name the "
                "column to learn."
            )
        labels = frame[table.label]
        is_other = column_kind(labels) == "other"
        if is_other or _holds_dates(labels):
            kind = str(labels.dtype) if is_other else "dates"
            raise InputError(
                f"--label must hold numbers, text or true and false; {table.label!r} holds "
                f"{kind}. Name another column, or convert this one."
            )
    for name in table.text or ():
        require_column(frame.columns, name, "--text")
    options = {"--drop": table.drop, "--id": table.id, "--keep": table.keep}
    options |= {f"--{name}": [column] for name, column in settled.items() if column is not None}
    for option, names in options.items():
        for name in names or ():
            require_column(frame.columns, name, option)
            if name in (table.label, domain):
                raise InputError(
                    f"{option} must name a feature; got {name!r}, the label or the domain. Name "
                    "another column."
                )
            if option[2:] in settled:
                _check_filled(frame[name], option)


def _holds_dates(labels: pl.Series) -> bool:
    if labels.dtype != pl.String:
        return labels.dtype.is_temporal()
    known = labels.drop_nulls()
    if _as_numbers(known).values.null_count() < len(known):
        return False
    dates = read_dates(known)
    return dates is not None and not dates.null_count()


def _keep_domains(
    frame: pl.DataFrame, domain: str, target: str | None, exclude: list[str], note: Note
) -> pl.DataFrame:
    missing = frame[domain].null_count()
    if missing:
        row = frame[domain].is_null().arg_max() or 0
        raise InputError(
            f"Every row must name its domain; {domain!r} is empty in {missing} rows, the first is "
            f"row {row + 1}. Fill in the names or remove those rows."
        )
    names = sorted(frame[domain].cast(str).unique().to_list())
    union = source_name(POOLED)
    if union in names and union not in exclude:
        raise InputError(
            f"No domain may be called {union!r}, which is the name of all of them together; got "
            f"it in {domain!r}. Rename the domain, or leave it out with --exclude {union!r}."
        )
    for option, name in [("--target", target), *(("--exclude", name) for name in exclude)]:
        if name is not None and name not in names:
            raise InputError(
                f"{option} must be one of the names in {domain!r}; got {name!r}."
                f"{nearest(name, names)} The names are {listing(names)}."
            )
    if target in exclude:
        raise InputError(f"--exclude must name a source; got the target {target!r}.")
    frame = frame.filter(~pl.col(domain).cast(str).is_in(exclude))
    counts = frame[domain].cast(str).value_counts()
    for name, count in sorted(counts.iter_rows()):
        if count == 1:
            raise InputError(
                f"Every domain must have at least 2 rows; {name!r} has 1. Leave it out with "
                f"--exclude {name}, or merge it with another domain."
            )
    if len(counts) < 2 and target is not None:
        raise InputError(
            f"There must be a source besides the target; {domain!r} holds {target!r} "
            "only. Add rows of another domain."
        )
    if exclude:
        note(f"left out: {listing(exclude)}")
    return frame


def _announce_sample(sample: Sample, note: Note) -> None:
    cut = sample.cut()
    if len(cut) > MOST_NOTES:
        note(sample.sentence())
        return
    for name in cut:
        note(f"{name}: {sample.drawn[name]} of {sample.rows[name]} rows are used (--max-rows)")


def _check_labels(labels: pl.Series, read: Numbers, task: str) -> pl.Series:
    """Classes as they are written, or numbers for regression."""
    if task == "classification":
        if labels.dtype == pl.String:
            warn_similar_names(labels, "classes")
        return labels
    numbers = read.values
    wrong = labels.filter(labels.is_not_null() & numbers.is_null())
    if len(wrong):
        raise InputError(
            f"--task regression must have numbers as labels; {labels.name!r} holds {wrong[0]!r}. "
            "Use --task classification, or another --label."
        )
    large = numbers.filter(~(numbers.abs() <= LARGEST) & numbers.is_not_null())
    if len(large):
        raise InputError(
            f"Labels must be finite numbers of at most {LARGEST:g} in absolute value; "
            f"{labels.name!r} holds {large[0]}. Replace it, or leave the cell empty."
        )
    announce_notation(read, labels, "label", "--task classification to use classes")
    return numbers
