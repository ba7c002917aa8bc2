"""Strange cells in the rows to predict, in every kind of column."""

import csv
import functools
import io

import pytest

from landbridge import persistence

pytestmark = pytest.mark.slow

CELLS = [
    "n.d.",
    "12%",
    "1.234,56",
    "1,5",
    "1,234",
    "NA",
    "",
    "inf",
    "-Infinity",
    "1e308",
    "1e200",
    "0x1F",
    "1_000",
    "١٢",
    "--",
    "#REF!",
    "=1+1",
    " 5 ",
    "５",
    "\x1b[31mred",
    "x" * 5000,
    "2020-13-45",
    "TRUE ",
    "007",
    "7.0",
    "+7",
    "1e3",
    "31/12/2020",
    "\u202e5",
    "nan",
    "None",
    "€5",
    "true",
    "2020-06-15",
]
COLUMNS = ["size", "count", "colour", "code", "day", "old"]
ROWS = 12


def written(table, column, cell, rows):
    """The first rows as CSV with ``cell`` in some of them."""
    head = table.head(ROWS).drop("where", "good")
    texts = [[str(v).lower() if isinstance(v, bool) else v for v in row] for row in head.rows()]
    for row in rows:
        texts[row][head.columns.index(column)] = cell
    file = io.StringIO()
    writer = csv.writer(file, lineterminator="\n")
    writer.writerows([head.columns, *texts])
    return file.getvalue()


def as_meant(table, column, cell):
    """Whether the cell is an ordinary value of its column, so that no caution is due."""
    if column in ("size", "count"):
        try:
            value = float(cell.strip())
        except ValueError:
            return False
        return table[column].min() <= value <= table[column].max()
    if column == "old":
        return cell.strip().lower() in ("true", "false")
    if column == "day":
        return cell in ("31/12/2020", "2020-06-15")
    return cell in table[column].to_list()


@pytest.fixture(scope="module", autouse=True)
def loaded_once():
    """Loading the model takes most of the time and is not what these cases are about."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(persistence, "load_model", functools.cache(persistence.load_model))
        yield


@pytest.fixture(scope="module")
def sound(world, tmp_path_factory):
    """The answers to the sound rows."""
    path = tmp_path_factory.mktemp("sound") / "new.csv"
    path.write_text(written(world.table, "size", "", ()))
    ended, answers = world.predict(path)
    assert ended.cautions() == ""
    return answers


@pytest.mark.parametrize("column", COLUMNS)
@pytest.mark.parametrize("cell", CELLS, ids=lambda cell: ascii(cell[:12]))
@pytest.mark.parametrize("rows", [(5,), tuple(range(ROWS))], ids=["one", "all"])
def test_a_strange_cell_is_refused_or_named(world, sound, tmp_path, column, cell, rows):
    path = tmp_path / "new.csv"
    path.write_text(written(world.table, column, cell, rows), encoding="utf-8")
    ended, answers = world.predict(path)
    if answers is None:
        assert column in ended.err
        return
    assert len(answers) == ROWS
    if not as_meant(world.table, column, cell):
        assert column in ended.cautions(), ended.err
        # Another notation of a number is announced; its value may be an ordinary one.
        assert "is read as such" in ended.err or all(
            answers[row]["columns_outside"] >= 1 for row in rows
        )
    untouched = [row for row in range(ROWS) if row not in rows]
    assert [answers[row] for row in untouched] == [sound[row] for row in untouched]
