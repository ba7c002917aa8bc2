"""What `landbridge diagnose` says about columns, labels and losses."""

import numpy as np
import polars as pl
import pytest

ASKED = ("--domain", "region", "--target", "west", "--label", "good")


def write(path, *, by_size, n=60):
    """Two sources and a target whose labels turn around; a third of its rows is labelled."""
    rng = np.random.default_rng(0)
    region = np.repeat(["north", "south", "west"], n)
    size, weight = rng.normal(size=(2, 3 * n))
    turned = np.where(region == "west", -1, 1)
    good = np.where(size * turned > 0, "yes", "no").astype(object)
    theirs = np.flatnonzero(region == "west")
    order = theirs[np.argsort(size[theirs])] if by_size else rng.permutation(theirs)
    good[order[n // 3 :]] = None
    pl.DataFrame(
        {
            "row": np.arange(3 * n),
            "size": size,
            "weight": weight,
            "country": np.where(region == "north", "NO", "FR"),
            "region": region,
            "good": good.tolist(),
        }
    ).write_csv(path)
    return path


@pytest.fixture(scope="module")
def random_labels(tmp_path_factory):
    return write(tmp_path_factory.mktemp("tables") / "t.csv", by_size=False)


def test_a_turned_relation_odd_columns_and_representative_labels(landbridge, random_labels):
    answer = landbridge.json("diagnose", random_labels, *ASKED)
    assert set(answer["loss_split"]) == {"north", "south"}
    for split in answer["loss_split"].values():
        assert split["cause"] == "relation"
        assert split["advice"] == "label"
        relation = split["relation"]
        assert 0 < relation["low"] < relation["value"] < relation["high"]
    assert answer["label_check"]["representative"]
    columns = {column["name"]: column["findings"] for column in answer["columns"]}
    assert columns["row"] == ["identifier"]
    assert "constant_within_domains" in columns["country"]
    moved = {feature["name"] for source in answer["sources"] for feature in source["features"]}
    assert "row" not in moved


def test_groups_are_compared_instead_of_rows(landbridge, tmp_path):
    rng = np.random.default_rng(0)
    patient = np.repeat(np.arange(60), 5)
    level = rng.normal(size=60)[patient] + 0.2 * rng.normal(size=300)
    hospital = np.where(patient < 20, "a", "b")
    label = np.where(patient < 35, (level > 0).astype(int), -1)
    table = pl.DataFrame({"patient": patient, "level": level, "domain": hospital, "y": label})
    table.with_columns(pl.col("y").replace(-1, None)).write_csv(tmp_path / "t.csv")
    asked = ("diagnose", tmp_path / "t.csv", "--label", "y", "--target", "b")
    checks = [
        landbridge.json(*asked, *rest)["label_check"]
        for rest in (("--drop", "patient"), ("--group", "patient"))
    ]
    assert checks[0]["p_value"] != checks[1]["p_value"]
    assert checks[1]["representative"]


def test_the_table_of_columns_has_types_and_shares(landbridge, random_labels):
    shown = landbridge("diagnose", random_labels, *ASKED).stdout
    line = next(line.split() for line in shown.splitlines() if line.split()[:1] == ["country"])
    assert line[1:] == ["text", "0.0", "%", "1.1", "%", "constant", "within", "domains"]


@pytest.mark.parametrize("most", [1, 20])
def test_a_domain_with_the_name_of_the_union_is_refused(landbridge, table, monkeypatch, most):
    monkeypatch.setattr("landbridge.cli._problem.MOST_COMPARED", most)
    frame = pl.read_csv(table).with_columns(pl.col("region").replace("north", "all sources"))
    frame.write_csv("odd.csv")
    asked = ("odd.csv", "-y", "good", "-d", "region")
    for command in ("diagnose", "select"):
        done = landbridge(command, *asked, "-t", "west", code=2)
        assert "No domain may be called 'all sources'" in done.stderr
    assert "No domain may be called 'all sources'" in landbridge("evaluate", *asked, code=2).stderr
    landbridge("diagnose", *asked, "-t", "west", "--exclude", "all sources")


def test_of_many_sources_the_largest_are_compared_and_all_together(
    landbridge, random_labels, monkeypatch
):
    monkeypatch.setattr("landbridge.cli._problem.MOST_COMPARED", 1)
    answer = landbridge.json("diagnose", random_labels, *ASKED)
    assert {(source["source"], source["rows"]) for source in answer["sources"]} == {
        ("all sources", 120),
        ("north", 60),
    }
    assert set(answer["loss_split"]) == {"all sources", "north"}
    assert "compared with all 2 sources together and with the 1 largest" in answer["note"]


def test_labels_of_the_smallest_rows_are_no_sample(landbridge, tmp_path):
    table = write(tmp_path / "t.csv", by_size=True)
    said = " ".join(landbridge("diagnose", table, *ASKED).stdout.split())
    assert "The 20 labelled target rows are not a random sample of the target" in said
    assert "size (100 % of the others lie outside their range)" in said
    assert "row: every row has its own value; left out" in said
    assert "goes from" in said.split("Does a source model do worse")[1]
