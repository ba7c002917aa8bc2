"""Save and load models: one skops file with a card that describes the model.

The file is a zip archive without pickle. Reading it runs no code of the file: every type in it must
be an estimator of scikit-learn or skrub, or on the lists below. Sizes are checked before
decompression, and indices inside trees and arrays before the model is returned. The card is a JSON
member of the archive and can be read without the model. The comment of the archive is the SHA-256
of its members, so that an edited file is refused.
"""

import hashlib
import importlib
import io
import json
import os
import zipfile
import zlib
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from sklearn.base import BaseEstimator

from landbridge._extras import import_extra
from landbridge._model_parts import check_parts
from landbridge._storage import check_archive, plain_value, require_regular_file, whole_file
from landbridge._version import versions

CARD = "landbridge-card.json"
FORMAT = 2
# Packages whose estimators may be in a file, in addition to the types that skops trusts.
ESTIMATOR_PACKAGES = ("sklearn", "skrub")
# Classes of landbridge that a model may contain in addition to the public estimators.
OWN = {
    "_low_rank": "LowRankFeatures",
    "boosting.tree_growth": "Tree",
    "cli._table_encoder": "TableEncoder",
    "feature_selection.path": "FeaturePath",
    "feature_selection.selector": "_Solution",
    "interop.boosters": "BoosterClassifier BoosterRegressor",
    "model_selection.search_result": "SearchResult",
    "model_selection.vote": "VotingModel",
    "weighting._base": "WeightDiagnostics",
    "weighting.classifier_ratio": "ColumnSquares SigmoidCalibration",
}
# Parts of fitted estimators that are not estimators themselves, by module.
PARTS = {
    "numpy": "dtype",
    "scipy.sparse._csr": "csr_array csr_matrix",
    "sklearn.tree._tree": "Tree",
    "sklearn.neighbors._kd_tree": "KDTree",
    "sklearn.neighbors._ball_tree": "BallTree",
    "sklearn.metrics._dist_metrics": "EuclideanDistance64",
    "sklearn.ensemble._hist_gradient_boosting.predictor": "TreePredictor",
    "sklearn.neural_network._stochastic_optimizers": "AdamOptimizer SGDOptimizer",
    "sklearn.calibration": "_CalibratedClassifier _SigmoidCalibration",
    "sklearn.gaussian_process.kernels": (
        "ConstantKernel DotProduct Matern Product RBF Sum WhiteKernel"
    ),
    "sklearn._loss.link": "IdentityLink Interval LogLink LogitLink MultinomialLogit",
    "sklearn._loss.loss": (
        "AbsoluteError HalfBinomialLoss HalfGammaLoss HalfMultinomialLoss HalfPoissonLoss "
        "HalfSquaredError HalfTweedieLossIdentity PinballLoss"
    ),
    "polars.datatypes.classes": (
        "Boolean Categorical Date Datetime Duration Float32 Float64 Int64 String"
    ),
    "skrub._dataframe._common": "is_any_date is_categorical is_duration is_numeric is_string",
    "skrub._table_vectorizer": "ShortReprDict _created_by_predicate",
    "skrub.selectors._base": "All And Cols Filter Inv Or Sub",
    "skrub.selectors._selectors": "_cardinality_below",
}


@dataclass(frozen=True, slots=True)
class SavedModel:
    """A model from a file, with the card that was saved in it."""

    model: Any
    card: dict[str, Any]


def save_model(
    model: Any, path: str | os.PathLike[str], card: Mapping[str, Any] | None = None
) -> dict[str, Any]:
    """Write a fitted model and its card to a skops file.

    Parameters
    ----------
    model : fitted estimator
        A pipeline that begins with an encoder also accepts raw rows after loading.
    path : path of the file
        Written under a temporary name and renamed, so that it is never incomplete.
    card : mapping, optional
        Description of the model, made of numbers, text, lists and dictionaries. The date and the
        package versions are added.

    Returns
    -------
    dict
        The card as saved.

    Examples
    --------
    >>> import tempfile
    >>> from sklearn.linear_model import LogisticRegression
    >>> from landbridge.persistence import load_model, save_model
    >>> model = LogisticRegression().fit([[0.0], [1.0]], ["no", "yes"])
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     _ = save_model(model, f"{folder}/model.skops", {"sources": ["red"]})
    ...     saved = load_model(f"{folder}/model.skops")
    >>> saved.card["sources"], saved.model.predict([[2.0]]).tolist()
    (['red'], ['yes'])
    """
    skops_io = import_extra("skops.io", "cli")
    date = datetime.now(UTC).isoformat(timespec="seconds")
    card = {"format": FORMAT, "date": date, "versions": versions(), **(card or {})}
    text = json.dumps(card, indent=1, default=plain_value)
    try:
        dump = skops_io.dumps(model, compression=zipfile.ZIP_DEFLATED, compresslevel=6)
    except TypeError as error:
        raise ValueError(
            f"`model` must consist of parts that skops can save; got {type(model).__name__} with a "
            f"part that it cannot save ({error}). Choose another candidate or weighting."
        ) from error
    content = io.BytesIO(dump)
    types = skops_io.get_untrusted_types(data=content.getvalue())
    refused = [name for name in types if not _is_allowed(name)]
    if refused:
        raise ValueError(
            "`model` must consist of estimators of scikit-learn, skrub and landbridge to be "
            f"saved; got {', '.join(refused)}. Save this model with another tool."
        )
    with zipfile.ZipFile(content, "a", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr(CARD, text)
        archive.comment = seal_of(archive)
    with whole_file(path) as file:
        file.write(content.getvalue())
    return card


def load_model(path: str | os.PathLike[str]) -> SavedModel:
    """Load a model saved by `save_model`.

    Types outside the allow-list are rejected before any object is created, and so are trees and
    arrays with indices out of range.

    Parameters
    ----------
    path : str or path
        Name of the file.

    Returns
    -------
    SavedModel
        The model and its card.

    Examples
    --------
    >>> import tempfile
    >>> from sklearn.linear_model import Ridge
    >>> from landbridge.persistence import load_model, save_model
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     _ = save_model(Ridge().fit([[0.0], [1.0]], [0.0, 1.0]), f"{folder}/model.skops")
    ...     saved = load_model(f"{folder}/model.skops")
    >>> type(saved.model).__name__, "versions" in saved.card
    ('Ridge', True)
    """
    skops_io = import_extra("skops.io", "cli")
    card = load_card(path)
    content = Path(path).read_bytes()
    try:
        types = skops_io.get_untrusted_types(data=content)
        refused = [name for name in types if not _is_allowed(name)]
    except Exception as error:  # skops can raise any exception for an edited file
        raise _does_not_fit(path, card, error) from error
    if refused:
        raise ValueError(
            f"`{path}` must contain only estimators of scikit-learn, skrub and landbridge; got "
            f"{', '.join(refused)}. Do not use the file unless you trust its author."
        )
    try:
        model = skops_io.loads(content, trusted=types)
        check_parts(model)
    except Exception as error:
        raise _does_not_fit(path, card, error) from error
    return SavedModel(model, card)


def load_card(path: str | os.PathLike[str]) -> dict[str, Any]:
    """Read only the card of a saved model."""
    require_regular_file(path)
    try:
        with zipfile.ZipFile(path) as archive:
            check_archive(archive, path)
            card = json.loads(archive.read(CARD))
            _check_card(card, path)
            if archive.comment != seal_of(archive):
                raise zipfile.BadZipFile("its content does not match its checksum")
    except (zipfile.BadZipFile, EOFError, NotImplementedError, zlib.error, RuntimeError) as error:
        raise ValueError(
            f"`{path}` must be a complete model saved by landbridge; the file is damaged, "
            f"incomplete or of another kind ({error}). Restore it from the original."
        ) from error
    except KeyError as error:
        raise ValueError(
            f"`{path}` must be a model saved by landbridge; got an archive without a card. "
            "Pass a file that save_model or `landbridge select --save` wrote."
        ) from error
    except json.JSONDecodeError as error:
        raise ValueError(
            f"`{path}` must be a model saved by landbridge; its card is not JSON ({error}). "
            f"Restore it from the original."
        ) from error
    return card


def seal_of(archive: zipfile.ZipFile) -> bytes:
    """SHA-256 of the names and contents of all members, as text."""
    digest = hashlib.sha256()
    for name in sorted(archive.namelist()):
        content = archive.read(name)
        digest.update(f"{len(content)} {name} ".encode() + content)
    return digest.hexdigest().encode()


def _check_card(card: Any, path: str | os.PathLike[str]) -> None:
    """Raise if the model card is malformed or of another format."""
    if not isinstance(card, dict) or not isinstance(card.get("format"), int):
        raise ValueError(
            f"`{path}` must be a model saved by landbridge; got a card without its format. "
            "Restore it from the original."
        )
    saved_by = card.get("versions", {})
    if not isinstance(saved_by, dict):
        raise ValueError(
            f"`{path}` must be a model saved by landbridge; got a card whose versions are "
            f"{type(saved_by).__name__}. Restore it from the original."
        )
    if card["format"] != FORMAT:
        raise ValueError(
            f"`{path}` must have format {FORMAT}; got format {card['format']}, saved by landbridge "
            f"{saved_by.get('landbridge', 'of another version')}. Use that version, or train again."
        )


def _is_allowed(name: str) -> bool:
    """Whether a type is listed, or is an estimator class defined in an allowed package."""
    module, _, qualified = name.rpartition(".")
    if qualified in PARTS.get(module, "").split():
        return True
    if module.startswith("landbridge."):
        own = OWN.get(module.removeprefix("landbridge."), "").split()
        return qualified in own or _is_public_estimator(module, qualified)
    if module.partition(".")[0] not in ESTIMATOR_PACKAGES:
        return False
    try:
        found = getattr(importlib.import_module(module), qualified)
    except (ImportError, AttributeError):
        return False
    if not isinstance(found, type) or found.__module__ != module:
        return False
    return issubclass(found, BaseEstimator)


def _is_public_estimator(module: str, name: str) -> bool:
    import landbridge

    found = getattr(landbridge, name, None) if name in landbridge.__all__ else None
    return (
        isinstance(found, type) and issubclass(found, BaseEstimator) and found.__module__ == module
    )


def _does_not_fit(
    path: str | os.PathLike[str], card: Mapping[str, Any], error: Exception
) -> ValueError:
    saved_by = card.get("versions", {}).items()
    packages = ", ".join(f"{name} {version}" for name, version in saved_by) or "other versions"
    return ValueError(
        f"`{path}` does not match the installed packages, or was changed after saving; got "
        f"{type(error).__name__}: {error}. It was saved with {packages}; "
        "install those versions, copy the file again, or train again."
    )
