"""Model files, results and lists of candidates that were damaged, edited or never were such."""

import json
import zipfile

import numpy as np
import pytest

from landbridge.persistence import seal_of

from .conftest import QUESTION, run

pytestmark = pytest.mark.slow


def damaged(content, kind, place):
    """The bytes cut at, changed at or doubled from a place between 0 and 1."""
    at = int(place * (len(content) - 1))
    if kind == "cut":
        return content[:at]
    if kind == "flip":
        return content[:at] + bytes([content[at] ^ 0xFF]) + content[at + 1 :]
    if kind == "zeros":
        return content[:at] + bytes(16) + content[at + 16 :]
    return content[:at] + content


PLACES = [0.0, 0.01, 0.1, 0.3, 0.5, 0.7, 0.9, 0.97, 0.999, 1.0]
KINDS = ["cut", "flip", "zeros", "doubled"]


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("kind", KINDS)
def test_a_damaged_model_is_refused_or_answers_the_same(world, tmp_path, kind, place):
    content = (world.folder / "model.skops").read_bytes()
    (tmp_path / "m.skops").write_bytes(damaged(content, kind, place))
    expected = run("predict", world.folder / "model.skops", world.folder / "table.csv")
    ended = run("predict", "m.skops", world.folder / "table.csv")
    ended.check_clear()
    assert ended.code == 2 or ended.out == expected.out
    run("info", "m.skops").check_clear()


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", ["r.npz", "r.json"])
def test_damaged_results_end_clearly(world, tmp_path, name, kind, place):
    content = (world.folder / name).read_bytes()
    (tmp_path / name).write_bytes(damaged(content, kind, place))
    run("report", name, "-o", "r.md").check_clear()


VALUES = [None, 3, "text", [], {}, [[1]], {"name": 1}, -1, 1e308, True, 10**400, float("inf")]


def test_cards_with_any_part_replaced_end_clearly(world):
    with zipfile.ZipFile(world.folder / "model.skops") as archive:
        members = {name: archive.read(name) for name in archive.namelist()}
    card = json.loads(members["landbridge-card.json"])
    for key in card:
        for value in VALUES:
            edited = json.dumps(card | {key: value}).encode()
            with zipfile.ZipFile("m.skops", "w") as archive:
                for name, content in (members | {"landbridge-card.json": edited}).items():
                    archive.writestr(name, content)
                archive.comment = seal_of(archive)
            run("info", "m.skops").check_clear()
            run("info", "m.skops", "--format", "json").check_clear()
            if key in ("columns", "label", "domain", "format", "versions"):
                run("predict", "m.skops", world.folder / "table.csv").check_clear()


def test_results_with_any_part_replaced_end_clearly(world):
    whole = json.loads((world.folder / "r.json").read_text())
    for key in whole:
        for value in VALUES:
            with open("r.json", "w") as file:
                json.dump(whole | {key: value}, file)
            for output in ("r.md", "out.json"):
                run("report", "r.json", "-o", output).check_clear()


def test_models_and_results_are_not_taken_for_each_other(world):
    for model in ("r.npz", "r.json", "table.csv", "nb.yaml"):
        assert run("info", world.folder / model).code == 2
        run("info", world.folder / model).check_clear()
    for results in ("model.skops", "table.csv", "nb.yaml"):
        ended = run("report", world.folder / results, "-o", "r.md")
        ended.check_clear()
        assert ended.code == 2


CANDIDATES = [
    "",
    "a",
    "a:",
    "a: 5",
    "- SVC",
    "a: [SVC]",
    "a: os.system",
    "a: sklearn",
    "a: sklearn.",
    "a: .SVC",
    "a: sklearn.svm",
    "a: sklearn.base.clone",
    "a: builtins.eval",
    "a: landbridge.model_selection._saved_result.SavedResult",
    "a: {estimator: SVC, params: {C: [1]}}",
    "a: {estimator: SVC, params: {C: abc}}",
    "a: {estimator: SVC, params: {C: -1}}",
    "a: {estimator: SVC, grid: {C: []}}",
    "a: {estimator: SVC, grid: {C: [abc]}}",
    "a: {estimator: Pooled}",
    "a: {params: {}}",
    "a: {estimator: Pooled, params: {estimator: StandardScaler}}",
    "a: StandardScaler",
    "a: Ridge",
    "a: {estimator: Pooled, params: {estimator: [SVC]}}",
    "a: KMeans",
    "a: Pipeline",
    "a: VotingClassifier",
    "a: GridSearchCV",
    "a: {estimator: Pooled, params: {estimator: SVC, target_share: 7}}",
    "a: {estimator: TrAdaBoostClassifier, params: {n_estimators: 0}}",
    "a: &x SVC\nb: *x",
    "a: *nobody",
    "a: !!python/name:os.system x",
    "a: !!binary abc",
    "\x00",
    "a: \x1b",
    "a:\tSVC",
    "{",
    "a: 'SVC",
    "%YAML 9",
    "a: SVC\na: SVC",
    "--- \n---",
    "a: MultinomialNB",
    "a: GaussianNB\n" + "b" * 300 + ": SVC",
    "a: {estimator: GaussianNB, params: {var_smoothing: .nan}}",
    "a: LinearRegression",
    "null: SVC",
    "a: {estimator: SVC, params: {kernel: nothing}}",
    "a: TGreedySelector",
    "a: CORAL",
    "a: KLIEP",
]


@pytest.mark.parametrize("text", CANDIDATES, ids=range(len(CANDIDATES)))
def test_lists_of_candidates_end_clearly(world, tmp_path, text):
    (tmp_path / "c.yaml").write_text(text)
    asked = ("--candidates", "c.yaml", "--folds", 2, "--sources", "pooled")
    ended = run("select", world.folder / "table.csv", *QUESTION, *asked, "--format", "json")
    ended.check_clear()
    if ended.code == 0:
        best = json.loads(ended.out)["ranking"]["candidates"][0]
        assert np.isfinite(best["score"])


OPTIONS = [
    ("select", "--seed", "-1"),
    ("select", "--seed", 2**32),
    ("select", "--seed", "x"),
    ("select", "--folds", 1),
    ("select", "--folds", 1000),
    ("select", "--level", 2),
    ("select", "--jobs", 0),
    ("select", "--jobs", -99),
    ("select", "--max-rows", -1),
    ("select", "--max-rows", 1),
    ("select", "--criterion", "best"),
    ("select", "--sources", "x"),
    ("select", "--drop", "good"),
    ("select", "--drop", "nothing"),
    ("select", "--exclude", "003"),
    ("select", "--exclude", "nowhere"),
    ("select", "--target", "3"),
    ("select", "--target", ""),
    ("select", "--label", "where"),
    ("select", "--label", "day"),
    ("select", "--label", ""),
    ("select", "--task", "regression", "--label", "colour"),
    ("select", "--save", "/nowhere/m.skops"),
    ("select", "--save", "m.pkl"),
    ("select", "--report", "/dev/null"),
    ("select", "--report", "r.pdf"),
    ("select", "--encoding", "klingon"),
    ("select", "--text", "nothing"),
    ("select", "--candidates", "."),
    ("evaluate", "--model", "SVC.fit"),
    ("evaluate", "--model", "nothing"),
    ("evaluate", "--model", "Ridge"),
    ("features", "--number", 0),
    ("features", "--number", 9999),
    ("features", "--positive", "x"),
    ("diagnose", "--seed", 2**70),
    ("diagnose", "--max-rows", 2),
    ("diagnose", "--target", "001 "),
]


@pytest.mark.parametrize("asked", OPTIONS, ids=lambda asked: " ".join(map(str, asked)))
def test_options_out_of_range_end_clearly(world, asked):
    command, *changes = asked
    base = {"--label": "good", "--domain": "where"}
    if command in ("select", "diagnose"):
        base["--target"] = "003"
    if command == "select":
        base |= {"--candidates": world.folder / "nb.yaml", "--folds": 2, "--sources": "pooled"}
    base |= dict(zip(changes[::2], changes[1::2], strict=True))
    options = [word for pair in base.items() for word in pair]
    ended = run(command, world.folder / "table.csv", *options)
    ended.check_clear()
    assert ended.code == 2 or (command, *changes) in {
        ("select", "--max-rows", 1),
        ("select", "--jobs", -99),
        ("diagnose", "--max-rows", 2),
    }
