"""Saved records: what goes in comes out, nothing is pickled, damage is named."""

import os
from dataclasses import dataclass, make_dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from landbridge import _storage
from landbridge._storage import load_record, save_record


@dataclass(frozen=True)
class Result:
    losses: np.ndarray
    names: np.ndarray
    failures: tuple
    seconds: float
    note: Any = None


@dataclass(frozen=True)
class Other:
    losses: np.ndarray


def result(**changes):
    content = {
        "losses": np.array([0.0, 1 / 3, np.nan, np.inf]),
        "names": np.array(["Köln", "b"]),
        "failures": (("Köln", "ValueError: no"), ("b", "no")),
        "seconds": 0.1,
    }
    return Result(**{**content, **changes})


@pytest.fixture
def saved(tmp_path):
    path = tmp_path / "result.npz"
    save_record(result(), path)
    return path


def test_round_trip_is_exact(saved):
    loaded, original = load_record(Result, saved), result()
    assert loaded.losses.tobytes() == original.losses.tobytes()
    assert loaded.names.tolist() == ["Köln", "b"]
    assert loaded.failures == original.failures
    assert (loaded.seconds, loaded.note) == (0.1, None)


def test_loaded_arrays_are_read_only(saved):
    with pytest.raises(ValueError, match="read-only"):
        load_record(Result, saved).losses[0] = 1


def test_text_objects_and_numpy_scalars_are_stored_plainly(tmp_path):
    path = tmp_path / "r.npz"
    counts = {"rows": [np.int64(3), 4], "level": np.float64(0.5)}
    save_record(result(names=np.array(["a", "bb"], dtype=object), note=counts), path)
    loaded = load_record(Result, path)
    assert loaded.names.tolist() == ["a", "bb"]
    assert loaded.note == {"rows": (3, 4), "level": 0.5}
    assert type(loaded.note["rows"][0]) is int


def test_records_arrays_and_paths_inside_a_record_are_restored(tmp_path):
    inside = {"priors": np.array([0.5, 0.5]), "others": (Other(np.arange(3)), Other(np.ones(2)))}
    save_record(result(note=inside, failures=(Path("a"), None)), tmp_path / "r.npz")
    loaded = load_record(Result, tmp_path / "r.npz", parts={"Other": Other})
    np.testing.assert_array_equal(loaded.note["priors"], [0.5, 0.5])
    assert [other.losses.tolist() for other in loaded.note["others"]] == [[0, 1, 2], [1, 1]]
    assert loaded.failures == ("a", None)


def test_file_is_an_npz_that_needs_no_pickle(saved):
    with np.load(saved, allow_pickle=False) as archive:
        assert set(archive.files) == {"losses", "names", "header", "seal"}


def test_file_has_the_permissions_of_an_ordinary_file(saved, tmp_path):
    ordinary = tmp_path / "ordinary"
    ordinary.write_text("")
    assert os.stat(saved).st_mode == os.stat(ordinary).st_mode
    os.chmod(saved, 0o600)
    save_record(result(), saved)
    assert os.stat(saved).st_mode & 0o777 == 0o600


def test_a_failed_save_leaves_the_old_file_and_no_other(saved, monkeypatch):
    before = saved.read_bytes()

    def full_disk(file, **_):
        file.write(b"PK\x03\x04 half")
        raise OSError("no space left")

    monkeypatch.setattr(_storage.np, "savez_compressed", full_disk)
    with pytest.raises(OSError, match="no space left"):
        save_record(result(seconds=9.0), saved)
    assert saved.read_bytes() == before
    assert os.listdir(saved.parent) == ["result.npz"]


@pytest.mark.parametrize("share", [0.1, 0.5, 0.9, 0.99])
def test_a_truncated_file_is_named(saved, share):
    content = saved.read_bytes()
    saved.write_bytes(content[: int(len(content) * share)])
    with pytest.raises(ValueError, match="damaged, incomplete or of another kind"):
        load_record(Result, saved)


@pytest.mark.parametrize("flag", [0x01, 0x20])
def test_a_member_marked_as_encrypted_or_patched_is_named(saved, flag):
    content = bytearray(saved.read_bytes())
    entry = content.index(b"PK\x01\x02")
    content[entry + 8] |= flag
    content[content.index(b"PK\x03\x04") + 6] |= flag
    saved.write_bytes(content)
    with pytest.raises(ValueError, match="damaged, incomplete or of another kind"):
        load_record(Result, saved)


def test_a_flipped_byte_is_named(saved):
    content = bytearray(saved.read_bytes())
    content[len(content) // 4] ^= 0xFF
    saved.write_bytes(bytes(content))
    with pytest.raises(ValueError, match="damaged, incomplete or of another kind"):
        load_record(Result, saved)


@pytest.mark.parametrize("flag", [0x01, 0x20], ids=["encrypted", "patched"])
def test_flags_of_damaged_members_are_named(saved, flag):
    content = bytearray(saved.read_bytes())
    content[content.index(b"PK\x01\x02") + 8] |= flag
    saved.write_bytes(bytes(content))
    with pytest.raises(ValueError, match="damaged, incomplete or of another kind"):
        load_record(Result, saved)


@pytest.mark.parametrize("content", [b"", b"a,b\n1,2\n", b"\x80\x04pickle"])
def test_another_kind_of_file_is_named(tmp_path, content):
    path = tmp_path / "table.csv"
    path.write_bytes(content)
    with pytest.raises(ValueError, match="another kind of file"):
        load_record(Result, path)


def changed(path, **parts):
    """The same file with some arrays replaced, or left out where they are None."""
    with np.load(path) as archive:
        arrays = {name: archive[name] for name in archive.files} | parts
    np.savez(path, **{name: array for name, array in arrays.items() if array is not None})
    return path


@pytest.mark.parametrize(
    ("parts", "message"),
    [
        ({"losses": np.full(3, 0.5)}, "the array 'losses' was changed"),
        ({"losses": None}, "the array 'losses' is missing"),
        ({"more": np.zeros(1)}, "the array 'more' was changed"),
        ({"seal": None}, "its checksum is missing"),
        ({"seal": np.zeros(32, np.uint8)}, "its header was changed"),
    ],
)
def test_edited_files_are_refused_by_the_name_of_what_was_changed(saved, parts, message):
    with pytest.raises(ValueError, match=f"damaged or edited: {message}"):
        load_record(Result, changed(saved, **parts))


def test_the_digest_sees_type_and_shape():
    zeros = np.zeros(4)
    others = zeros.reshape(2, 2), zeros.astype(np.int64), zeros.astype(">f8")
    assert len({_storage._digest(array) for array in (zeros, *others)}) == 4


def test_a_foreign_npz_is_named(tmp_path):
    path = tmp_path / "foreign.npz"
    np.savez(path, losses=np.zeros(3))
    with pytest.raises(ValueError, match="without its header"):
        load_record(Result, path)
    np.savez(path, header=np.array([object()], dtype=object))
    with pytest.raises(ValueError, match="damaged, incomplete or of another kind"):
        load_record(Result, path)


def test_another_record_another_version_and_other_fields_are_named(saved, monkeypatch):
    with pytest.raises(ValueError, match="must contain a saved Other; got a saved Result"):
        load_record(Other, saved)
    earlier = make_dataclass("Result", ["losses", "names"], frozen=True)
    with pytest.raises(ValueError, match="must have the fields of Result"):
        load_record(earlier, saved)
    monkeypatch.setattr(_storage, "FORMAT", _storage.FORMAT + 1)
    with pytest.raises(ValueError, match=r"must have format 5; got format 4.*Save it again"):
        load_record(Result, saved)


def test_what_cannot_be_saved_is_refused(tmp_path):
    path = tmp_path / "r.npz"
    with pytest.raises(TypeError, match="`names` must be an array of numbers or of text"):
        save_record(result(names=np.array([object()])), path)
    with pytest.raises(TypeError, match="consist of numbers, text, lists"):
        save_record(result(note=object()), path)
    for no_record in ({"losses": 1}, Result):
        with pytest.raises(TypeError, match="instance of a dataclass"):
            save_record(no_record, path)
    assert not path.exists()


def test_a_missing_file_is_a_missing_file(tmp_path):
    with pytest.raises(FileNotFoundError):
        load_record(Result, tmp_path / "nowhere.npz")


def test_a_folder_that_is_not_there_is_named(tmp_path):
    with pytest.raises(FileNotFoundError, match="r.npz: the folder .*nowhere must exist. Create"):
        save_record(result(), tmp_path / "nowhere" / "r.npz")
