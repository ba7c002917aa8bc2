"""Encode raw rows as numbers: categories, dates, free text and missing values.

Free text becomes sparse TF-IDF, which suits linear models; the other default candidates reduce
sparse rows to components. With ``dense``, the encoder does this itself.
"""

import warnings
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from scipy import sparse
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.decomposition import TruncatedSVD
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.impute import SimpleImputer
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import MaxAbsScaler, StandardScaler
from sklearn.utils.validation import check_is_fitted

from landbridge._typing import Matrix, Vector
from landbridge.inspection.audit import FREE_WORDS, typical_words

if TYPE_CHECKING:
    import polars as pl

# Columns with at most this many distinct texts are categories.
MOST_CATEGORIES = 40
# Texts with fewer words than this are also encoded by characters, which added 0.01 to the accuracy
# on reviews cut to 10 or 20 words.
SHORT_TEXT = 30
# Ten thousand more or fewer terms change the accuracy on reviews by 0.001.
MOST_TERMS = 20_000
COMPONENTS = 100
# Numbers with a mean of more than this many standard deviations, such as times in milliseconds, are
# centred before they are rounded to single precision.
FAR = 1000
# Number of components for names and other single words with too many values for indicators.
NAME_COMPONENTS = 30
# skrub's vectorizer refers to its fitted steps several times, and a saved model would repeat them.
REPEATED_STEPS = [
    "_preprocessors",
    "_encoders",
    "_named_encoders",
    "_specific_transformers",
    "_postprocessors",
    "all_processing_steps_",
]


class TableEncoder(TransformerMixin, BaseEstimator):
    """Encode a polars table without using labels, so that one encoder suits every fold.

    Numbers are standardised, missing ones are filled with their mean, categories become indicators
    and dates are split into their parts. A column of free text becomes TF-IDF of words and pairs of
    words, and of characters where texts are short; the result is then sparse, with every entry
    between -1 and 1.

    Parameters
    ----------
    dense : bool, default=False
        Reduce text to 100 components, so that the result is an array.
    random_state : int, default=0

    Attributes
    ----------
    text_columns_ : list of str
        Columns of free text.
    """

    def __init__(self, dense: bool = False, random_state: int = 0):
        self.dense = dense
        self.random_state = random_state

    def fit(self, X: "pl.DataFrame", y: Any = None) -> Self:
        """Learn the columns of ``X``; ``y`` is ignored."""
        self.vectorizers_, self.reducers_ = [], []
        self.text_columns_ = []
        for name in [column.name for column in X if is_free_text(column)]:
            vectorizers = _fit_vectorizers(_texts(X[name]))
            if vectorizers:
                self.text_columns_.append(name)
                self.vectorizers_.append(vectorizers)
        self.other_columns_ = [name for name in X.columns if name not in self.text_columns_]
        others = X.select(self.other_columns_)
        self.centres_ = {column.name: column.mean() for column in others if _is_far(column)}
        if self.other_columns_:
            self.numbers_only_ = all(map(_is_number, X.select(self.other_columns_)))
            self.table_ = _table_pipeline(
                self.random_state, bounded=self._is_sparse, numbers_only=self.numbers_only_
            )
            with warnings.catch_warnings():
                # Users need not know that there are fewer components than requested.
                warnings.filterwarnings("ignore", "The matrix shape is")
                self.table_.fit(self._other_rows(X))
            for name in REPEATED_STEPS:
                vars(self.table_[0]).pop(name, None)
        if self.dense:
            for number in range(len(self.text_columns_)):
                terms = self._terms(X, number)
                reducer = TruncatedSVD(
                    min(COMPONENTS, *terms.shape), random_state=self.random_state
                )
                scaler = StandardScaler()
                self.reducers_.append(Pipeline([("svd", reducer), ("scale", scaler)]).fit(terms))
        return self

    def transform(self, X: "pl.DataFrame") -> Matrix:
        """Encode rows with the columns of `fit`."""
        check_is_fitted(self, "other_columns_")
        missing = {*self.other_columns_, *self.text_columns_} - set(X.columns)
        if missing:
            raise ValueError(
                f"`X` must have the columns of `fit`; {min(missing)!r} is missing. Add it."
            )
        parts: list[Any] = []
        if self.other_columns_:
            with warnings.catch_warnings():
                # A small domain or fold may lack categories that others have. These become zeros,
                # and `predict` reports the columns that have new values.
                warnings.filterwarnings("ignore", "Found unknown categories")
                parts.append(np.asarray(self.table_.transform(self._other_rows(X))))
        terms = [self._terms(X, number) for number in range(len(self.text_columns_))]
        if self._is_sparse:
            return sparse.hstack([*parts, *terms], format="csr")
        reduced = zip(self.reducers_, terms, strict=True)
        return np.hstack([*parts, *(reducer.transform(rows) for reducer, rows in reduced)])

    def get_feature_names_out(self, input_features: Any = None) -> Vector:
        """Name of every column of the result; ``input_features`` is ignored."""
        names: list[str] = []
        if self.other_columns_:
            names += list(
                self.other_columns_ if self.numbers_only_ else self.table_.get_feature_names_out()
            )
        for number, column in enumerate(self.text_columns_):
            if self.dense:
                n_components = self.reducers_[number]["svd"].n_components
                names += [f"{column} component {k + 1}" for k in range(n_components)]
                continue
            for vectorizer in self.vectorizers_[number]:
                names += [f"{column}: {term}" for term in vectorizer.get_feature_names_out()]
        return np.array(names, dtype=object)

    def _other_rows(self, X: "pl.DataFrame") -> Any:
        """The columns other than free text; numbers as the array that skrub would return."""
        import polars as pl
        import polars.selectors as cs

        rows = X.select(self.other_columns_)
        rows = rows.with_columns(pl.col(name) - mean for name, mean in self.centres_.items())
        if self.numbers_only_:
            return rows.cast({cs.float(): pl.Float32}).to_numpy()
        # skrub would read text like 007 or 01/02/2020 as numbers and dates.
        return rows.cast({cs.string(): pl.Categorical})

    @property
    def _is_sparse(self) -> bool:
        return bool(self.text_columns_) and not self.dense

    def _terms(self, X: "pl.DataFrame", number: int) -> Matrix:
        """TF-IDF of one column; rows have norm 1, with or without characters."""
        texts = _texts(X[self.text_columns_[number]])
        vectorizers = self.vectorizers_[number]
        found = sparse.hstack([one.transform(texts) for one in vectorizers], format="csr")
        return found / np.sqrt(len(vectorizers))


def is_free_text(column: "pl.Series") -> bool:
    """Whether a column holds sentences, not names or categories."""
    import polars as pl

    if column.dtype != pl.String or column.n_unique() <= MOST_CATEGORIES:
        return False
    return typical_words(column.drop_nulls().to_numpy()) >= FREE_WORDS


def _is_far(column: "pl.Series") -> bool:
    """Whether numbers lie too far from zero for their differences in single precision."""
    spread = column.std() if column.dtype.is_numeric() else None
    return bool(spread) and abs(column.mean()) > FAR * spread  # type: ignore[arg-type,operator]


def _is_number(column: "pl.Series") -> bool:
    return column.dtype.is_numeric() and column.null_count() < len(column)


def _texts(column: "pl.Series") -> list[str]:
    return column.fill_null("").to_list()


def _fit_vectorizers(texts: list[str]) -> list[TfidfVectorizer]:
    """Vectorizers of words and, for short texts, characters; none if texts have no words."""
    kinds = [{"ngram_range": (1, 2), "token_pattern": r"(?u)\b\w+\b"}]
    if np.median([len(text.split()) for text in texts]) < SHORT_TEXT:
        kinds.append({"analyzer": "char_wb", "ngram_range": (3, 5)})
    # Terms of a single row do not generalise, but a few rows may have no terms in common.
    for fewest_rows in (2, 1):
        shared = {"min_df": fewest_rows, "max_features": MOST_TERMS, "sublinear_tf": True}
        try:
            return [TfidfVectorizer(**kind, **shared).fit(texts) for kind in kinds]
        except ValueError:
            continue
    return []


def _table_pipeline(seed: int, *, bounded: bool, numbers_only: bool) -> Pipeline:
    """Vectorise with skrub, impute missing numbers by the mean, and scale to unit variance.

    If there are text columns, the others are ``bounded`` by 1, like TF-IDF entries. Numbers alone
    need no vectorizer, which takes milliseconds per column.
    """
    steps: list[tuple[str, Any]] = [
        ("impute", SimpleImputer(keep_empty_features=True)),
        ("scale", MaxAbsScaler() if bounded else StandardScaler()),
    ]
    if not numbers_only:
        from skrub import StringEncoder, TableVectorizer

        names = StringEncoder(n_components=NAME_COMPONENTS, random_state=seed)
        steps.insert(0, ("table", TableVectorizer(high_cardinality=names)))
    return Pipeline(steps)
