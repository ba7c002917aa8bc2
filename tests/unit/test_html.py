"""What notebooks show: complete, escaped, and without a trace of names taken as markup."""

from html.parser import HTMLParser

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LogisticRegression

from landbridge import (
    MultiSourceCV,
    Pooled,
    SourceOnly,
    TargetOnly,
    TGreedySelector,
    TransferSearchCV,
)
from landbridge._html import html_table, interval_bar
from landbridge.datasets import make_covariate_shift
from landbridge.inference.intervals import format_interval
from landbridge.inspection import diagnose_shift
from landbridge.labelling import LabelPlanner

NAME = "<script>alert(1)</script>"


class Reader(HTMLParser):
    def __init__(self, page):
        super().__init__()
        self.tags, self.words = [], []
        self.feed(page)

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)

    def handle_data(self, data):
        self.words.append(data)


@pytest.fixture(scope="module")
def data():
    return make_covariate_shift(n_source=120, n_target=120, random_state=0)


@pytest.fixture(scope="module")
def search(data):
    linear = LogisticRegression()
    candidates = {NAME: Pooled(linear), "s": SourceOnly(linear), "t": TargetOnly(linear)}
    return TransferSearchCV(candidates, random_state=0).fit(
        data.X,
        data.y,
        X_target=data.X_target[:40],
        y_target=data.y_target[:40],
        X_unlabeled=data.X_target[40:],
    )


def shown(search, data):
    frame = {"a": data.X[:, 0], NAME: data.X[:, 1]}
    yield search
    yield search.results_
    yield search.worth_transferring()
    yield diagnose_shift(data.X, data.X_target, feature_names=list(frame), random_state=0)


def test_names_are_escaped_everywhere(search, data):
    for value in shown(search, data):
        page = Reader(value._repr_html_())
        assert "script" not in page.tags
        assert any(NAME in words for words in page.words)


def test_a_notebook_gets_the_table_of_a_fitted_search(search):
    bundle = search._repr_mimebundle_()
    assert bundle["text/html"] == search._repr_html_()
    assert "<table>" in bundle["text/html"]
    unfitted = TransferSearchCV()._repr_mimebundle_()
    assert "TransferSearchCV" in unfitted["text/html"]


def test_the_interval_is_drawn_between_its_bounds(search):
    interval = search.interval(0.9)
    page = interval._repr_html_()
    assert "<svg" in page
    assert format_interval(interval.estimate, interval.low, interval.high)[1] in page
    # 0 and 1 are the ends of an accuracy: 6 and 234 are those of the picture.
    assert f'cx="{6 + 228 * interval.estimate:.1f}"' in page


def test_a_result_of_several_sources_and_its_interval_are_cards(data):
    groups = np.repeat(list("abcdef"), 20)
    result = MultiSourceCV(LogisticRegression()).fit(data.X, data.y, groups=groups).result_
    words = Reader(result._repr_html_()).words
    assert [line for line in result.describe().split("\n") if line not in words] == []
    interval = result.interval("new_source")
    page = interval._repr_html_()
    assert "<svg" in page
    assert interval.describe(why=False) in Reader(page).words


def test_an_interval_without_bounds_has_no_picture():
    assert interval_bar(np.nan, 0.5, np.nan, (0.0, 1.0)) == ""
    # Without natural ends the picture reaches half a width beyond the interval.
    assert 'x1="63.0" x2="177.0"' in interval_bar(1.0, 1.5, 2.0, (-np.inf, np.inf))


def test_missing_values_are_dashes_and_the_best_row_stands_out():
    page = html_table(("name", "score"), [("a", 1.23456), ("b", np.nan), ("c", None)], best=1)
    assert ">1.23<" in page
    assert page.count("–") == 2
    assert page.index("lb-best") > page.index("1.23")


def test_a_feature_path_lists_its_steps():
    rng = np.random.default_rng(0)
    X, site = rng.normal(size=(400, 4)), np.repeat(np.arange(4), 100)
    X = pd.DataFrame(X, columns=["a", "b", NAME, "d"])
    path = TGreedySelector().fit(X, X[NAME] + rng.normal(size=400), groups=site).path_
    page = Reader(path._repr_html_())
    assert NAME in page.words
    assert path.feature_name[0] == NAME
    assert NAME in repr(path)
    assert f"{path.n_kept} of {len(path)} steps kept" in "".join(page.words)
    assert page.tags.count("tr") == 1 + min(len(path), 10)


def test_the_status_of_labelling_is_a_card(search):
    status = LabelPlanner().status(search)
    page = status._repr_html_()
    assert status.sentences[0] in page.replace("&#x27;", "'").replace("&lt;", "<").replace(
        "&gt;", ">"
    )


def test_plot_and_report_in_one_line(search, tmp_path):
    pytest.importorskip("matplotlib").use("Agg")
    display = search.plot()
    assert display._repr_html_() == "<code>SearchRankingDisplay</code>"
    assert NAME in [label.get_text() for label in display.ax_.get_yticklabels()]
    path = search.report(tmp_path / "r.html")
    page = path.read_text()
    assert "&lt;script&gt;" in page
    assert NAME not in page
