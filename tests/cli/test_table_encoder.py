"""Tables as numbers: what becomes of free text, names, categories and missing cells."""

import numpy as np
import polars as pl
import pytest
from scipy import sparse
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import Pipeline

from landbridge.cli._table_encoder import MOST_CATEGORIES, SHORT_TEXT, TableEncoder, is_free_text
from landbridge.persistence import load_model, save_model

WORDS = ["good", "bad", "film", "book", "plot", "actor", "page", "story", "slow", "great"]


def reviews(n=120, length=8, seed=0):
    rng = np.random.default_rng(seed)
    return [" ".join(rng.choice(WORDS, length)) for _ in range(n)]


def table(n=120, length=8):
    price = np.random.default_rng(1).normal(50, 20, n).tolist()
    price[3] = None
    kinds = ["paper", "ebook"] * (n // 2)
    return pl.DataFrame({"review": reviews(n, length), "price": price, "kind": kinds})


def test_free_text_is_sparse_and_every_entry_is_between_minus_one_and_one():
    frame = table()
    encoder = TableEncoder().fit(frame)
    X = encoder.transform(frame)
    assert encoder.text_columns_ == ["review"]
    assert sparse.issparse(X)
    assert abs(X).max() <= 1
    assert X.shape[1] == len(encoder.get_feature_names_out())
    names = list(encoder.get_feature_names_out())
    text = [k for k, name in enumerate(names) if name.startswith("review: ")]
    np.testing.assert_allclose(sparse.linalg.norm(X[:, text], axis=1), 1)
    assert "review: good" in names
    assert any(" " in name.removeprefix("review: ").strip() for name in names)  # pairs of words


@pytest.mark.parametrize(("length", "characters"), [(SHORT_TEXT - 1, True), (SHORT_TEXT, False)])
def test_short_texts_are_read_by_characters_too(length, characters):
    encoder = TableEncoder().fit(table(length=length))
    assert ("review: goo" in encoder.get_feature_names_out()) is characters


@pytest.mark.parametrize("n", [50, 120])
def test_dense_rows_have_components_instead(n):
    frame = table(n)
    encoder = TableEncoder(dense=True).fit(frame)
    X = encoder.transform(frame)
    assert isinstance(X, np.ndarray)
    assert "review component 1" in encoder.get_feature_names_out()
    assert X.shape[1] == len(encoder.get_feature_names_out())
    np.testing.assert_allclose(X.std(axis=0), 1, atol=1e-5)


def test_without_free_text_columns_are_standardised():
    frame = table().drop("review")
    X = TableEncoder().fit_transform(frame)
    assert isinstance(X, np.ndarray)
    np.testing.assert_allclose(X.mean(axis=0), 0, atol=1e-5)
    assert X[3, 0] == pytest.approx(0)  # the missing price is the mean


@pytest.mark.parametrize("others", [{}, {"kind": ["a", "b"] * 50}])
@pytest.mark.parametrize("kind", [pl.Float64, pl.Int64])
def test_numbers_far_from_zero_keep_their_differences(others, kind):
    size = np.random.default_rng(0).integers(0, 1000, 100)
    near, far = (
        TableEncoder().fit_transform(
            pl.DataFrame({"x": pl.Series(size + start, dtype=kind), "y": size, **others})
        )
        for start in (0, 1_600_000_000_000)
    )
    np.testing.assert_allclose(near, far, atol=1e-5)


def test_a_table_of_text_alone_and_missing_and_new_texts():
    frame = table().select("review")
    encoder = TableEncoder().fit(frame)
    new = pl.DataFrame({"review": [None, "zzz", "good plot"]})
    X = encoder.transform(new)
    assert X[0].nnz == 0
    assert X[1].nnz == 0
    assert X[2].nnz > 0


def test_texts_without_words_are_names():
    odd = [f"{'-' * (k % 60)} - - - -" for k in range(120)]
    assert is_free_text(pl.Series("odd", odd))
    encoder = TableEncoder().fit(pl.DataFrame({"odd": odd, "x": range(120)}))
    assert encoder.text_columns_ == []


def test_texts_that_share_no_word_still_count():
    texts = [" ".join(f"w{k}x{j}" for j in range(40)) for k in range(50)]
    encoder = TableEncoder().fit(pl.DataFrame({"t": texts}))
    assert encoder.text_columns_ == ["t"]


def test_few_long_texts_and_short_names_are_no_free_text():
    long = ["a category with a long name", "another one like that here"] * 60
    assert not is_free_text(pl.Series("kind", long))
    names = [f"person number{k}" for k in range(MOST_CATEGORIES + 1)]
    assert not is_free_text(pl.Series("name", names))
    assert not is_free_text(pl.Series("x", np.arange(100.0)))
    assert is_free_text(pl.Series("review", reviews()))


def test_missing_columns_are_named():
    encoder = TableEncoder().fit(table())
    with pytest.raises(ValueError, match="'price' is missing"):
        encoder.transform(table().drop("price"))


def test_a_saved_encoder_gives_the_same_rows(tmp_path):
    frame = table()
    model = Pipeline([("encode", TableEncoder()), ("model", LogisticRegression())])
    model.fit(frame, [0, 1] * 60)
    save_model(model, tmp_path / "model.skops")
    loaded = load_model(tmp_path / "model.skops").model
    np.testing.assert_array_equal(loaded.predict_proba(frame), model.predict_proba(frame))


def test_a_category_that_fit_did_not_see_is_all_zeros_and_no_warning():
    kinds = pl.DataFrame({"kind": ["paper", "ebook", "audio"] * 4})
    encoder = TableEncoder().fit(kinds)
    rows = encoder.table_["scale"].inverse_transform(
        encoder.transform(pl.DataFrame({"kind": ["paper", "film"]}))
    )
    np.testing.assert_allclose(rows.sum(axis=1), [1, 0], atol=1e-6)


@pytest.mark.parametrize("columns", [["a", "c"], ["a", "b", "c"], ["b"]])
def test_numbers_alone_are_encoded_as_the_vectorizer_would(columns, monkeypatch):
    rng = np.random.default_rng(0)
    table = pl.DataFrame(
        {
            "a": rng.normal(size=50),
            "b": rng.integers(0, 3, 50),
            "c": [None, *rng.normal(size=49).tolist()],
        }
    ).select(columns)
    direct = TableEncoder().fit(table)
    monkeypatch.setattr("landbridge.cli._table_encoder._is_number", lambda column: False)
    vectorized = TableEncoder().fit(table)
    both = direct.transform(table[:9]), vectorized.transform(table[:9])
    np.testing.assert_allclose(*both, atol=1e-6)
    assert direct.get_feature_names_out().tolist() == columns


@pytest.mark.parametrize("texts", [["007", "7", "7.0"], ["01/02/2020", "2020-02-01"], ["?", "n/a"]])
@pytest.mark.parametrize("n_more", [0, MOST_CATEGORIES])
def test_text_is_never_read_as_numbers_dates_or_missing_values(texts, n_more):
    frame = pl.DataFrame({"code": 3 * (texts + [str(100 + k) for k in range(n_more)])})
    X = TableEncoder().fit_transform(frame)
    assert len(np.unique(X[: len(texts)], axis=0)) == len(texts)
