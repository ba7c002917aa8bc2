"""Saved models: whole, honest about themselves, and safe to read."""

import importlib
import io
import json
import os
import subprocess
import sys
import zipfile
from pathlib import Path

import numpy as np
import pytest
import skops.io as sio
from scipy import sparse
from sklearn.cluster import KMeans
from sklearn.ensemble import (
    GradientBoostingClassifier,
    HistGradientBoostingClassifier,
    RandomForestClassifier,
)
from sklearn.feature_extraction.text import CountVectorizer, HashingVectorizer
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, OneHotEncoder, StandardScaler
from sklearn.svm import SVC, SVR
from sklearn.tree import DecisionTreeClassifier

import landbridge as lb
from landbridge import persistence
from landbridge._model_parts import DamagedPart, check_parts
from landbridge.persistence import CARD, FORMAT, load_card, load_model, save_model, seal_of

SOURCE = Path(lb.__file__).parents[1]


@pytest.fixture
def rows():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 3))
    return X, np.where(X[:, 0] + 0.3 * rng.normal(size=60) > 0, "yes", "no")


@pytest.mark.parametrize(
    "model",
    [
        LogisticRegression(),
        make_pipeline(StandardScaler(), SVC()),
        RandomForestClassifier(n_estimators=3, random_state=0),
        HistGradientBoostingClassifier(max_iter=3),
        KNeighborsClassifier(3),
        lb.Pooled(LogisticRegression()),
        make_pipeline(OneHotEncoder(), SVC()),
        lb.ReweightedClassifier(LogisticRegression(), lb.UniformWeights()),
    ],
    ids=lambda model: type(model).__name__,
)
def test_models_come_back_as_they_were(tmp_path, rows, model):
    X, y = rows
    takes_target = isinstance(model, (lb.Pooled, lb.ReweightedClassifier))
    model.fit(X, y, **({"X_target": X[:20], "y_target": y[:20]} if takes_target else {}))
    save_model(model, tmp_path / "m.skops", {"sources": ["red"]})
    saved = load_model(tmp_path / "m.skops")
    assert saved.card["sources"] == ["red"]
    assert saved.card["versions"]["landbridge"] == lb.__version__
    method = "predict_proba" if hasattr(model, "predict_proba") else "decision_function"
    np.testing.assert_array_equal(getattr(saved.model, method)(X), getattr(model, method)(X))


def test_another_process_predicts_the_same_bits(tmp_path, rows):
    X, y = rows
    model = make_pipeline(StandardScaler(), LogisticRegression()).fit(X, y)
    save_model(model, tmp_path / "m.skops")
    np.save(tmp_path / "X.npy", X)
    code = (
        "import numpy as np; from landbridge.persistence import load_model; "
        "model = load_model('m.skops').model; "
        "np.save('p.npy', model.predict_proba(np.load('X.npy')))"
    )
    environment = {**os.environ, "PYTHONPATH": str(SOURCE)}
    subprocess.run([sys.executable, "-c", code], cwd=tmp_path, check=True, env=environment)
    assert np.load(tmp_path / "p.npy").tobytes() == model.predict_proba(X).tobytes()


def test_the_card_is_read_without_the_model(tmp_path, rows, monkeypatch):
    save_model(LogisticRegression().fit(*rows), tmp_path / "m.skops", {"task": "classification"})
    monkeypatch.setitem(sys.modules, "skops", None)
    monkeypatch.setitem(sys.modules, "skops.io", None)
    assert load_card(tmp_path / "m.skops")["task"] == "classification"
    with pytest.raises(ImportError, match="landbridge\\[cli\\]"):
        load_model(tmp_path / "m.skops")


def harmless(X):
    return X


def test_types_outside_the_list_are_refused_by_name(tmp_path, rows):
    X, y = rows
    model = make_pipeline(FunctionTransformer(harmless), LogisticRegression()).fit(X, y)
    with pytest.raises(ValueError, match="to be saved; got .*harmless"):
        save_model(model, tmp_path / "m.skops")
    assert not list(tmp_path.iterdir())
    foreign = io.BytesIO(sio.dumps(model))
    with zipfile.ZipFile(foreign, "a") as archive:
        archive.writestr(CARD, json.dumps({"format": FORMAT}))
        archive.comment = seal_of(archive)
    (tmp_path / "m.skops").write_bytes(foreign.getvalue())
    with pytest.raises(ValueError, match="landbridge; got .*harmless. Do not use the file"):
        load_model(tmp_path / "m.skops")


@pytest.mark.parametrize(
    ("name", "allowed"),
    [
        ("landbridge.baselines.Pooled", True),
        ("sklearn.tree._tree.Tree", True),
        ("landbridge.baselines.DummyClassifier", False),  # visible there, not defined there
        ("landbridge._storage.save_record", False),
        ("landbridge.model_selection.vote.VotingModel", True),
        ("landbridge.cli._problem.Problem", False),  # not a part of models
        ("baselines.Pooled", False),
        ("landbridge.nowhere.Thing", False),
        ("os.system", False),
        ("builtins.eval", False),
    ],
)
def test_only_estimators_of_known_packages_are_allowed(name, allowed):
    assert persistence._is_allowed(name) == allowed


def test_damaged_and_foreign_files_are_named(tmp_path, rows):
    path = tmp_path / "m.skops"
    save_model(LogisticRegression().fit(*rows), path)
    whole = path.read_bytes()
    for content, message in [
        (whole[: len(whole) // 2], "damaged, incomplete or of another kind"),
        (b"", "damaged, incomplete or of another kind"),
        (b"col1,col2\n1,2\n", "damaged, incomplete or of another kind"),
        (sio.dumps(Ridge()), "an archive without a card"),
    ]:
        path.write_bytes(content)
        with pytest.raises(ValueError, match=message):
            load_model(path)
    with pytest.raises(FileNotFoundError):
        load_model(tmp_path / "nowhere.skops")


def test_flipped_bytes_are_noticed(tmp_path, rows):
    path = tmp_path / "m.skops"
    save_model(LogisticRegression().fit(*rows), path)
    content = bytearray(path.read_bytes())
    content[60] ^= 0xFF
    path.write_bytes(content)
    with pytest.raises(ValueError, match="damaged"):
        load_model(path)


def test_another_format_asks_for_its_version(tmp_path, rows):
    save_model(LogisticRegression().fit(*rows), tmp_path / "m.skops", {"format": 99})
    with pytest.raises(ValueError, match="must have format 2; got format 99.*Use that version"):
        load_model(tmp_path / "m.skops")


def test_a_model_that_the_installed_packages_do_not_know(tmp_path, rows, monkeypatch):
    save_model(LogisticRegression().fit(*rows), tmp_path / "m.skops")

    def fail(*_args, **_options):
        raise AttributeError("no such class")

    monkeypatch.setattr(sio, "loads", fail)
    with pytest.raises(ValueError, match="saved with landbridge .*install those versions"):
        load_model(tmp_path / "m.skops")


def test_a_failed_save_leaves_the_old_file_alone(tmp_path, rows, monkeypatch):
    path = tmp_path / "m.skops"
    save_model(LogisticRegression().fit(*rows), path)
    before = path.read_bytes()

    def full(*_args):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "replace", full)
    with pytest.raises(OSError, match="No space left"):
        save_model(Ridge().fit(rows[0], rows[0][:, 0]), path)
    assert path.read_bytes() == before
    assert [file.name for file in tmp_path.iterdir()] == ["m.skops"]


def test_a_card_that_json_cannot_hold_is_refused_before_anything_is_written(tmp_path, rows):
    model = LogisticRegression().fit(*rows)
    path = tmp_path / "model.skops"
    with pytest.raises(
        TypeError, match="consist of numbers, text, lists and dictionaries; got ndarr"
    ):
        save_model(model, path, {"rates": np.ones(3)})
    assert not path.exists()
    assert save_model(model, path, {"rate": np.float32(0.5)})["rate"] == 0.5
    assert load_card(path)["rate"] == 0.5


def test_every_class_on_the_list_exists():
    for module, names in persistence.OWN.items():
        found = importlib.import_module(f"landbridge.{module}")
        for name in names.split():
            assert getattr(found, name).__module__ == f"landbridge.{module}"


def fitted_models(X, y):
    numbers = np.where(y == "yes", 1.0, 0.0)
    return {
        "tree": DecisionTreeClassifier().fit(X, y),
        "words": CountVectorizer().fit(y),
        "hashes": HashingVectorizer(n_features=4).fit(y),
        "brute": KNeighborsClassifier(3, algorithm="brute").fit(X, y),
        "clusters": KMeans(2, n_init=1).fit(X),
        "categories": HistGradientBoostingClassifier(
            max_iter=2, min_samples_leaf=5, categorical_features=[0]
        ).fit(np.c_[X[:, 0] > 0, X[:, 1:]], y),
        "forest": RandomForestClassifier(n_estimators=2).fit(X, y),
        "boosting": GradientBoostingClassifier(n_estimators=2).fit(X, y),
        "histogram": HistGradientBoostingClassifier(max_iter=2).fit(X, y),
        "neighbours": KNeighborsClassifier(3, algorithm="kd_tree").fit(X, y),
        "ball": KNeighborsClassifier(3, algorithm="ball_tree").fit(X, y),
        "svc": SVC().fit(X, y),
        "svr": SVR().fit(X, numbers),
        "trimmed": lb.TrimmedTreeClassifier().fit(X, y, X_target=X[:9], y_target=y[:9]),
        "sparse": SVC(kernel="linear").fit(sparse.csr_matrix(X), y),
        "one-hot": OneHotEncoder(max_categories=3, drop="first").fit(X.round()),
        "plain one-hot": OneHotEncoder(drop="if_binary").fit(np.c_[X.round(), y == "yes"]),
    }


def test_sound_models_pass_the_check_of_their_parts(rows):
    for model in fitted_models(*rows).values():
        check_parts([model, {"again": model}])


def edit_tree(model, max_depth=None, **changes):
    """Change the nodes of a scikit-learn tree, which cannot be written to from Python."""
    state = model.tree_.__getstate__()
    state["max_depth"] = state["max_depth"] if max_depth is None else max_depth
    for name, value in changes.items():
        state["nodes"][name][0] = value
    tree = model.tree_.__reduce__()
    model.tree_ = tree[0](*tree[1])
    model.tree_.__setstate__(state)


def edit_neighbours(model, place, value, part=slice(None)):
    state = list(model._tree.__getstate__())
    state[place] = state[place][part].copy()
    state[place][0] = value
    model._tree.__setstate__(tuple(state))


def edit_categories(model):
    """Let all nodes split by categories, whose sets are too small or unknown."""
    for (predictor,) in model._predictors:
        predictor.nodes["is_categorical"] = 1
        predictor.raw_left_cat_bitsets = np.zeros((99, 7), np.uint32)


@pytest.mark.parametrize(
    ("name", "edit", "message"),
    [
        ("tree", lambda m: edit_tree(m, left_child=10**9), "children outside"),
        ("tree", lambda m: edit_tree(m, right_child=0), "children outside"),
        ("tree", lambda m: edit_tree(m, feature=77), "features not in X"),
        ("tree", lambda m: setattr(m, "n_features_in_", 1), "a tree with other features"),
        ("tree", lambda m: edit_tree(m, max_depth=0), "a wrong depth"),
        ("boosting", lambda m: setattr(m, "estimators_", m.estimators_.T), "other classes"),
        ("words", lambda m: m.vocabulary_.update(yes=10**9), "other columns"),
        ("hashes", lambda m: setattr(m, "n_features", 0), "no columns"),
        ("brute", lambda m: setattr(m, "_fit_X", m._fit_X[:0]), "other rows"),
        ("brute", lambda m: setattr(m, "_fit_X", m._fit_X[:, :1]), "other rows"),
        (
            "clusters",
            lambda m: setattr(m, "cluster_centers_", m.cluster_centers_[:, :1]),
            "centers with other features",
        ),
        ("categories", edit_categories, "unknown categories"),
        ("neighbours", lambda m: edit_neighbours(m, 2, (0, 0, 0, 0.0)), "children outside the"),
        ("neighbours", lambda m: edit_neighbours(m, 3, 0, slice(0, 1)), "bounds of other nodes"),
        ("svc", lambda m: m.support_.fill(10**6), "support vectors outside its rows"),
        ("forest", lambda m: edit_tree(m.estimators_[1], left_child=10**9), "children outside"),
        ("forest", lambda m: setattr(m, "n_features_in_", 1), "a tree with other features"),
        ("boosting", lambda m: edit_tree(m.estimators_[1, 0], feature=9), "features not in X"),
        ("histogram", lambda m: m._predictors[0][0].nodes["left"].fill(10**6), "children outside"),
        (
            "histogram",
            lambda m: m._predictors[0][0].nodes["feature_idx"].fill(7),
            "features not in",
        ),
        ("neighbours", lambda m: edit_neighbours(m, 1, 10**9), "rows out of range"),
        ("ball", lambda m: edit_neighbours(m, 2, (0, 10**9, 0, 0.0)), "nodes outside its rows"),
        ("svc", lambda m: m._n_support.fill(10**6), "other counts"),
        (
            "svc",
            lambda m: setattr(m, "_dual_coef_", m._dual_coef_[:, :2]),
            "coefficients of the wrong",
        ),
        ("svr", lambda m: setattr(m, "_intercept_", np.zeros(7)), "a wrong number of intercepts"),
        ("svr", lambda m: setattr(m, "n_features_in_", 9), "support vectors with other features"),
        ("trimmed", lambda m: m.tree_.left.fill(0), "children outside"),
        (
            "one-hot",
            lambda m: m._default_to_infrequent_mappings[0].fill(10**6),
            "codes outside its columns",
        ),
        ("one-hot", lambda m: m._n_features_outs.append(3), "a wrong number of columns"),
        ("one-hot", lambda m: m._default_to_infrequent_mappings.pop(), "groups for another number"),
        (
            "plain one-hot",
            lambda m: m._drop_idx_after_grouping.__setitem__(-1, 99),
            "a dropped code that does not exist",
        ),
        ("sparse", lambda m: m.support_vectors_.indices.fill(10**6), "a sparse matrix with wrong"),
    ],
)
def test_indices_that_lead_outside_are_refused(rows, name, edit, message):
    model = fitted_models(*rows)[name]
    edit(model)
    with pytest.raises(DamagedPart, match=message):
        check_parts(model)


def test_an_edited_tree_in_a_file_is_refused_when_it_is_loaded(tmp_path, rows):
    model = fitted_models(*rows)["tree"]
    edit_tree(model, left_child=10**9)
    save_model(model, tmp_path / "m.skops")
    with pytest.raises(ValueError, match="DamagedPart: Tree with children outside the tree"):
        load_model(tmp_path / "m.skops")


def rewrite(path, **members):
    """The same archive with other content in some of its members, and a new checksum."""
    with zipfile.ZipFile(path) as archive:
        content = {name: archive.read(name) for name in archive.namelist()}
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in (content | members).items():
            archive.writestr(name, data)
        archive.comment = seal_of(archive)


@pytest.mark.parametrize(
    ("card", "message"),
    [
        (b"[]", "a card without its format"),
        (b'{"format": "2"}', "a card without its format"),
        (b'{"format": 2, "versions": 3}', "a card whose versions are int"),
        (b'{"format": 9}', "got format 9, saved by landbridge of another version"),
        (b"{", "its card is not JSON"),
        (b"[" * 100_000, "damaged, incomplete or of another kind|its card is not JSON"),
    ],
)
def test_malformed_cards_are_refused(tmp_path, rows, card, message):
    path = tmp_path / "m.skops"
    save_model(LogisticRegression().fit(*rows), path)
    rewrite(path, **{CARD: card})
    with pytest.raises(ValueError, match=message):
        load_model(path)


def test_descriptions_of_types_that_were_edited_are_refused(tmp_path, rows):
    path = tmp_path / "m.skops"
    save_model(LogisticRegression().fit(*rows), path)
    for schema in (b"{", b"[]", b'{"__class__": "x", "__module__": "y", "__loader__": "z"}'):
        rewrite(path, **{"schema.json": schema})
        with pytest.raises(ValueError, match="was changed after saving; got|landbridge; got"):
            load_model(path)


def test_a_model_without_the_checksum_of_its_parts_is_refused(tmp_path, rows):
    path = tmp_path / "m.skops"
    save_model(LogisticRegression().fit(*rows), path)
    with zipfile.ZipFile(path) as archive:
        seal, (first, second, *_) = archive.comment, archive.namelist()
        swapped = {first: archive.read(second), second: archive.read(first)}
    for members, comment in [({}, b""), (swapped, seal)]:
        rewrite(path, **members)
        with zipfile.ZipFile(path, "a") as archive:
            archive.comment = comment
        with pytest.raises(ValueError, match="its content does not match its checksum"):
            load_model(path)


def test_archives_that_lie_about_their_size_are_refused(tmp_path, rows, monkeypatch):
    path = tmp_path / "m.skops"
    save_model(LogisticRegression().fit(*rows), path)
    header = io.BytesIO()
    np.lib.format.write_array_header_1_0(
        header, {"descr": "<f8", "fortran_order": False, "shape": (10**12,)}
    )
    with zipfile.ZipFile(path) as archive:
        array = next(name for name in archive.namelist() if name.endswith(".npy"))
    whole = path.read_bytes()
    for content, message in [
        (header.getvalue(), "whose header states another size"),
        (b"x", "damaged array"),
    ]:
        rewrite(path, **{array: content})
        with pytest.raises(ValueError, match=message):
            load_model(path)
        path.write_bytes(whole)
    with zipfile.ZipFile(path, "a") as archive, pytest.warns(UserWarning, match="Duplicate name"):
        archive.writestr(CARD, b"{}")
    with pytest.raises(ValueError, match="two members with the same name"):
        load_model(path)
    path.write_bytes(whole)
    monkeypatch.setattr("landbridge._storage.MOST_RATIO", 0)
    monkeypatch.setattr("landbridge._storage.MOST_TEXT", 100)
    with pytest.raises(ValueError, match="bytes of text in"):
        load_model(path)
    monkeypatch.setattr("landbridge._storage.MOST_BYTES", 100)
    with pytest.raises(ValueError, match="bytes when decompressed, more than 100"):
        load_model(path)


def test_devices_and_pipes_are_refused(tmp_path):
    os.mkfifo(tmp_path / "pipe.skops")
    for path in ("/dev/zero", tmp_path / "pipe.skops", tmp_path):
        with pytest.raises(ValueError, match="must be a regular file"):
            load_model(path)
