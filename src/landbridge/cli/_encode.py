"""Raw rows to numbers: categories, dates, text and missing values, as a part of the saved model."""

from typing import Any

TEXT_COMPONENTS = 10


def make_encoder(seed: int) -> Any:
    """skrub's vectoriser, missing numbers by their mean, every column with unit variance.

    It looks at rows and never at labels, so one encoder may serve every fold, and the target's
    rows go through the same one.
    """
    from sklearn.impute import SimpleImputer
    from sklearn.pipeline import Pipeline
    from sklearn.preprocessing import StandardScaler
    from skrub import StringEncoder, TableVectorizer

    text = StringEncoder(n_components=TEXT_COMPONENTS, random_state=seed)
    return Pipeline(
        [
            ("table", TableVectorizer(high_cardinality=text)),
            ("impute", SimpleImputer(keep_empty_features=True)),
            ("scale", StandardScaler()),
        ]
    )
