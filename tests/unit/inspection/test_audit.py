"""The column audit: each finding is found, and its neighbour is not."""

from datetime import date, timedelta

import numpy as np
import pandas as pd
import polars as pl
import pytest

from landbridge.inspection import audit_columns
from landbridge.inspection.audit import Finding

N = 60
rng = np.random.default_rng(0)
LABEL = rng.integers(0, 2, N)
DOMAIN = np.repeat(["a", "b", "c"], 20)


def findings(values, name="x", label=None, domain=None):
    table = pl.DataFrame({name: values, "label": LABEL, "domain": DOMAIN})
    audit = audit_columns(
        table, label="label" if label else None, domain="domain" if domain else None
    )
    return set(audit.columns[0].findings)


CASES = {
    "a number per row": (range(N), {}, Finding.IDENTIFIER),
    "scattered whole numbers called id": (
        [k * 977 for k in range(N)],
        {"name": "order_id"},
        Finding.IDENTIFIER,
    ),
    "a code per row": ([f"p{k}" for k in range(N)], {}, Finding.IDENTIFIER),
    "one value": ([3.0] * N, {}, Finding.CONSTANT),
    "one value and holes": ([3.0, None] * (N // 2), {}, Finding.CONSTANT),
    "no value": ([None] * N, {}, Finding.EMPTY),
    "one value per domain": (
        np.repeat([1.0, 2.0, 3.0], 20),
        {"domain": True},
        Finding.CONSTANT_WITHIN_DOMAINS,
    ),
    "years that do not meet": (
        np.concatenate([2000 + 10 * k + rng.random(20) for k in range(3)]),
        {"domain": True},
        Finding.NAMES_DOMAIN,
    ),
    "wards of one hospital each": (
        [f"{d}{k % 2}" for k, d in enumerate(DOMAIN)],
        {"domain": True},
        Finding.NAMES_DOMAIN,
    ),
    "a copy of classes": (np.where(LABEL, "yes", "no"), {"label": True}, Finding.COPY_OF_LABEL),
    "dates": ([date(2020, 1, 1) + timedelta(k) for k in range(N)], {}, Finding.TIME),
    "rising numbers called year": (
        np.sort(rng.integers(1990, 2020, N)),
        {"name": "year"},
        Finding.TIME,
    ),
    "repeated patients": (np.arange(N) // 5 * 31, {"name": "patient_id"}, Finding.GROUP),
    "sentences": (
        ["the box came late and broken"] * 30 + ["it works very well indeed"] * 30,
        {},
        Finding.FREE_TEXT,
    ),
    "dollars": ([f"${k + 0.5}" for k in range(30)] * 2, {}, Finding.CURRENCY),
    "euros behind": ([f"{k},50 €" for k in range(30)] * 2, {}, Finding.CURRENCY),
    "percent": ([f"{k}%" for k in range(30)] * 2, {}, Finding.PERCENT),
    "thousands": ([f"{k},500" for k in range(30)] * 2, {}, Finding.THOUSANDS),
    "marks": (["1.5", "n/a", "2.5"] * 20, {}, Finding.MISSING_MARKS),
    "question marks": (["1.5", "?", "2.5"] * 20, {}, Finding.MISSING_MARKS),
    "zip codes": (["01234", "98765", "10115"] * 20, {}, Finding.LEADING_ZEROS),
    "mostly holes": ([None, None, 1.0, 2.0, None, None] * 10, {}, Finding.MOSTLY_MISSING),
}


@pytest.mark.parametrize("name", CASES)
def test_each_finding_is_found(name):
    values, options, finding = CASES[name]
    assert finding in findings(list(values), **options)


ORDINARY = {
    "measurements": rng.normal(size=N),
    "whole measurements that scatter": rng.permutation(100 * N)[:N] * 13,
    "counts": rng.integers(0, 9, N),
    "categories": rng.choice(["red", "green", "blue"], N),
    "truth values": rng.choice([True, False], N),
    "a noisy copy of the label": LABEL + rng.normal(0, 0.5, N),
    "words": rng.choice(["very good", "not bad", "so so"], N),
}


def test_numbers_near_one_value_per_class_copy_the_label():
    near = LABEL * 3 + rng.normal(0, 0.2, N)
    assert Finding.COPY_OF_LABEL in findings(near, label=True)
    assert Finding.COPY_OF_LABEL in findings(-near, label=True)


@pytest.mark.parametrize(("changed", "copied"), [(4, True), (10, False)])
def test_a_column_with_a_few_other_classes_is_still_a_copy_of_the_label(changed, copied):
    label = np.repeat([0, 1], 250)
    column = label.copy()
    column[:changed] = 1
    audit = audit_columns(pl.DataFrame({"x": column, "y": label}), label="y")
    assert (Finding.COPY_OF_LABEL in audit.columns[0].findings) == copied


def test_a_rare_event_is_no_copy_of_another_rare_event():
    fraud, alert = np.zeros((2, 1000), dtype=int)
    fraud[:3], alert[-2:] = 1, 1
    table = pl.DataFrame({"alert": alert, "copy": fraud, "size": rng.normal(size=1000)})
    audit = audit_columns(table.with_columns(fraud=fraud), label="fraud")
    assert audit.with_finding(Finding.COPY_OF_LABEL) == ("copy",)


@pytest.mark.parametrize("name", ORDINARY)
def test_ordinary_columns_have_no_findings(name):
    assert findings(ORDINARY[name].tolist(), label=True, domain=True) == set()


def test_a_copy_of_a_number_is_a_copy_whatever_its_unit():
    y = rng.normal(size=N)
    table = pd.DataFrame({"inches": y / 2.54 + 3, "other": rng.normal(size=N), "y": y})
    audit = audit_columns(table, label="y")
    assert audit.with_finding(Finding.COPY_OF_LABEL) == ("inches",)


def test_kinds_shares_words_and_both_libraries():
    columns = {
        "key": np.arange(N),
        "size": [None, 1.0, 2.0] * 20,
        "when": [date(2020, 1, 1)] * 30 + [date(2021, 1, 1)] * 30,
        "kind": ["a", "b", None] * 20,
        "ok": [True, False] * 30,
    }
    for make in (pl.DataFrame, pd.DataFrame):
        audit = audit_columns(make(columns))
        assert [c.kind for c in audit.columns] == [
            "number",
            "number",
            "date",
            "text",
            "true or false",
        ]
        assert audit.columns[1].missing == pytest.approx(1 / 3)
        assert audit.columns[1].unique == pytest.approx(2 / 40)
        assert audit.left_out == ("key",)
        assert audit.sentences[0].startswith("key: every row has its own value; left out")
        assert "key" in str(audit)


def test_missing_values_of_pandas_are_no_values():
    table = pd.DataFrame(
        {
            "count": pd.array([1, None, 3] * 10, dtype="Int64"),
            "open": pd.array([True, None, False] * 10, dtype="boolean"),
            "wait": pd.to_timedelta([1.0, None, 3.0] * 10, unit="s"),
        }
    )
    audited = audit_columns(table).columns
    assert [column.kind for column in audited] == ["number", "true or false", "date"]
    assert [column.missing for column in audited] == pytest.approx([1 / 3] * 3)


def test_holes_in_labels_do_not_matter():
    table = pl.DataFrame(
        {"x": LABEL * 2.0, "y": [None if k % 3 == 0 else int(v) for k, v in enumerate(LABEL)]}
    )
    assert audit_columns(table, label="y").with_finding(Finding.COPY_OF_LABEL) == ("x",)


def test_what_is_no_table_or_column_is_refused():
    with pytest.raises(ValueError, match="`table` must be a pandas or polars table; got ndarray"):
        audit_columns(np.zeros((3, 2)))
    with pytest.raises(ValueError, match="`domain` must name a column of the table; got 'ward'"):
        audit_columns(pl.DataFrame({"x": [1]}), domain="ward")
