"""Saved models: whole, honest about themselves, and safe to read."""

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
from sklearn.ensemble import HistGradientBoostingClassifier, RandomForestClassifier
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, StandardScaler
from sklearn.svm import SVC

import landbridge as lb
from landbridge import persistence
from landbridge.persistence import CARD, load_card, load_model, save_model

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
        archive.writestr(CARD, json.dumps({"format": 1}))
    (tmp_path / "m.skops").write_bytes(foreign.getvalue())
    with pytest.raises(ValueError, match="only; got .*harmless. Do not use the file"):
        load_model(tmp_path / "m.skops")


@pytest.mark.parametrize(
    ("name", "allowed"),
    [
        ("landbridge.baselines.Pooled", True),
        ("sklearn.tree._tree.Tree", True),
        ("landbridge.baselines.DummyClassifier", False),  # visible there, not defined there
        ("landbridge._storage.save_record", False),
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
        (whole[: len(whole) // 2], "damaged, incomplete or foreign"),
        (b"", "damaged, incomplete or foreign"),
        (b"col1,col2\n1,2\n", "damaged, incomplete or foreign"),
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


def test_a_newer_format_asks_for_an_upgrade(tmp_path, rows):
    save_model(LogisticRegression().fit(*rows), tmp_path / "m.skops", {"format": 99})
    with pytest.raises(ValueError, match="got format 99.*Upgrade"):
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
    with pytest.raises(TypeError, match="made of numbers, text, lists and dictionaries; got ndarr"):
        save_model(model, path, {"rates": np.ones(3)})
    assert not path.exists()
    assert save_model(model, path, {"rate": np.float32(0.5)})["rate"] == 0.5
    assert load_card(path)["rate"] == 0.5
