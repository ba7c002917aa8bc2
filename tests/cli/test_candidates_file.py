"""Candidates from YAML and TOML: the same estimators, and errors with line numbers."""

import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import GaussianNB
from sklearn.svm import SVC

import landbridge as lb
from landbridge.cli._candidates import read_candidates
from landbridge.cli._session import InputError

YAML = """\
# what to try
nb: GaussianNB
svm:
  estimator: sklearn.svm.SVC
  params: {kernel: linear}
  grid:
    C: [0.1, 1, 10]
pooled:
  estimator: landbridge.Pooled
  params:
    estimator:
      estimator: LogisticRegression
      params: {C: 0.5}
  grid:
    target_share: [0.3, 0.5]
    estimator__C: [0.1, 1]
short:
  estimator: Pooled
  params: {estimator: sklearn.linear_model.LogisticRegression}
"""
TOML = """\
nb = "GaussianNB"

[svm]
estimator = "sklearn.svm.SVC"
params = {kernel = "linear"}
grid.C = [0.1, 1, 10]

[pooled]
estimator = "landbridge.Pooled"
params.estimator = {estimator = "LogisticRegression", params = {C = 0.5}}
[pooled.grid]
target_share = [0.3, 0.5]
estimator__C = [0.1, 1]

[short]
estimator = "Pooled"
params = {estimator = "sklearn.linear_model.LogisticRegression"}
"""
LONG = list(range(1, 200))
# Each line repeats the one above ten times.
LAUGHS = "a0: &a0 [1, 1, 1, 1, 1, 1, 1, 1, 1, 1]\n" + "".join(
    f"a{k}: &a{k} [{', '.join([f'*a{k - 1}'] * 10)}]\n" for k in range(1, 9)
)


@pytest.mark.parametrize(("name", "text"), [("c.yaml", YAML), ("c.toml", TOML)])
def test_both_forms_give_the_estimators_and_their_grids(tmp_path, name, text):
    (tmp_path / name).write_text(text)
    found = read_candidates(tmp_path / name)
    assert list(found) == ["nb", "svm", "pooled", "short"]
    assert isinstance(found["nb"], GaussianNB)
    svm, grid = found["svm"]
    assert isinstance(svm, SVC)
    assert svm.kernel == "linear"
    assert grid == {"C": [0.1, 1, 10]}
    pooled, grid = found["pooled"]
    assert isinstance(pooled, lb.Pooled)
    assert pooled.estimator.C == 0.5
    assert grid == {"target_share": [0.3, 0.5], "estimator__C": [0.1, 1]}
    assert isinstance(found["short"].estimator, LogisticRegression)


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("c.yaml", "nb: GausianNB\n", "line 1: no estimator is called 'GausianNB'. Did you mean"),
        ("c.yaml", "\nnb: os.system\n", "line 2: estimators must come from landbridge or sklearn"),
        ("c.yaml", "a: sklearn._isotonic.X\n", "line 1: estimators must come from"),
        ("c.yaml", "a: sklearn.svm.SVD\n", "line 1: 'sklearn.svm.SVD' does not exist"),
        ("c.yaml", "a: sklearn.base.clone\n", "must be an estimator"),
        ("c.yaml", "a: 3\n", "line 1: a candidate must be the name"),
        ("c.yaml", "a: {estimator: 3}\n", "line 1: an estimator must be given by its name"),
        ("c.yaml", "a:\n  estimator: SVC\n  parms: {}\n", "line 3: unknown key 'parms'. Did you"),
        ("c.yaml", "a:\n  estimator: SVC\n  params: 3\n", "line 3: params must map"),
        ("c.yaml", "a:\n  estimator: SVC\n  params:\n    c: 1\n", "line 4: SVC has no parameter"),
        ("c.yaml", "a:\n  estimator: Pooled\n", "line 1: Pooled cannot be made"),
        ("c.yaml", "b: SVC\na: SourceOnly\n", "line 2: SourceOnly cannot be made"),
        ("c.yaml", "a:\n  estimator: SVC\n  grid: 3\n", "line 3: a grid must map"),
        ("c.yaml", "a:\n  estimator: SVC\n  grid: {C: 3}\n", "line 3: the grid of 'C' must be"),
        ("c.yaml", "a:\n  estimator: SVC\n  grid: {D: [3]}\n", "line 3: SVC has no parameter 'D'"),
        ("c.yaml", "a: SVC\na: SVC\n", "'a' is given twice"),
        ("c.yaml", "a: [1\n", "this is not YAML"),
        ("c.yaml", "a: SVC\nb: \x00\n", "line 2: this is not YAML: the character U.0000 is not"),
        ("c.yaml", "a: \x1b[31m\n", "line 1: this is not YAML: the character U.001B is not"),
        ("c.yaml", "a: " + "[" * 30 + "]" * 30 + "\n", "must be nested at most 20 levels deep"),
        ("c.yaml", "a: " + "[" * 20_000 + "\n", "must be nested at most 20 levels deep|not YAML"),
        ("c.yaml", "a: &a [*a]\n", "must be nested at most 20 levels deep"),
        ("c.yaml", "a: !!python/object/apply:os.system [ls]\n", "Tags like"),
        ("c.yaml", "a: {estimator: SVC, params: {C: !!python/name:os.system }}\n", "Tags like"),
        ("c.yaml", "? [a, b]\n: SVC\n", "a key must be one name"),
        ("c.yaml", LAUGHS, "must have at most 10000 entries, including those repeated by aliases"),
        ("c.yaml", "a: SVC\n" + "#" * (1 << 20), "must have at most 1048576 bytes"),
        (
            "c.yaml",
            f"a: {{estimator: SVC, grid: {{C: {LONG}, tol: {LONG}}}}}",
            "a grid must have at most 10000 points; got 39601",
        ),
        ("c.yaml", "a: {estimator: Pooled, params: {estimator: Ridg}}\n", "'Ridg'. Did you mean"),
        ("c.yaml", "a: {estimator: Pooled, params: {estimator: 5}}\n", "given by its name; got 5"),
        ("c.yaml", "a: 2020-13-45\n", "this is not YAML"),
        ("c.yaml", "a: StandardScaler\n", "must be a classifier or a regressor; got StandardSc"),
        ("c.yaml", "a: {estimator: Pooled, params: {estimator: [SVC]}}\n", "given by its name"),
        ("c.toml", "a = " + "[" * 20_000 + "\n", "must be nested at most 20 levels deep|not TOML"),
        ("c.yaml", "a: !!python/name:os.system\n", "this is not YAML"),
        ("c.yaml", "", "the file must map names"),
        ("c.yaml", "- SVC\n", "the file must map names"),
        ("c.toml", "a = \n", "line 1: this is not TOML"),
        ("c.toml", 'b = "SVC"\n[a]\nestimator = "SVC"\ngrid.c = [1]\n', "line 4: SVC has no"),
        ("c.toml", '[a]\nestimator = "os.system"\n', "line 2: estimators must come from"),
        ("c.txt", "a: SVC\n", "must end in .yaml"),
        ("c.yaml", "\na: !!bool maybe\n", "line 2: this is not YAML: 'maybe' is not of the type"),
        ("c.yaml", "a: !!timestamp x\n", "line 1: this is not YAML: 'x' is not of the type 'times"),
        ("c.yaml", "a: !!int x\n", "line 1: this is not YAML: 'x' is not of the type 'int'"),
        ("c.toml", "a = " + "9" * 5000 + "\n", "c.toml: this is not TOML: Exceeds the limit"),
        ("c.toml", "a" + ".a" * 3000 + " = 1\n", "must be nested at most 20 levels deep"),
        (
            "c.yaml",
            "a:\n  estimator: StackingClassifier\n  params: {estimators: [[1, 2], [3]]}\n"
            "  grid: {estimator: [3]}\n",
            "line 4: StackingClassifier has no parameter 'estimator'. Did you mean 'estimators'",
        ),
    ],
)
def test_mistakes_are_named_with_their_line(tmp_path, name, text, message):
    (tmp_path / name).write_text(text)
    with pytest.raises(InputError, match=message) as found:
        read_candidates(tmp_path / name)
    assert str(found.value).count(name) == 1


@pytest.mark.parametrize(
    "value", ["yes", "No", "on", "OFF", "010", "-0777", "08", "0o10", "1:30", "190:20:30.15"]
)
def test_values_that_versions_of_yaml_read_differently_are_refused(tmp_path, value):
    file = tmp_path / "c.yaml"
    file.write_text(f"a:\n  estimator: SVC\n  params:\n    C: {value}\n")
    with pytest.raises(InputError, match=f"line 4: versions of YAML read {value} differently"):
        read_candidates(file)
    file.write_text(f"'{value}': {{estimator: SVC, params: {{kernel: '{value}'}}}}\n")
    assert read_candidates(file)[value].kernel == value


def test_numbers_in_yaml_are_those_of_version_1_2(tmp_path):
    values = {"1e3": 1000.0, "1.5E-3": 0.0015, "-.5e+2": -50.0, "0x10": 16, "0": 0, "0.5": 0.5}
    (tmp_path / "c.yaml").write_text(
        "a:\n  estimator: SVC\n  grid:\n    C: [" + ", ".join(values) + "]\n"
    )
    (_, grid) = read_candidates(tmp_path / "c.yaml")["a"]
    assert grid["C"] == list(values.values())
    assert [type(value) for value in grid["C"]] == [float, float, float, int, int, float]


def test_files_that_cannot_be_read(tmp_path):
    with pytest.raises(InputError, match="no such file"):
        read_candidates(tmp_path / "c.yaml")
    (tmp_path / "c.yaml").write_bytes(b"\xe9")
    with pytest.raises(InputError, match="UTF-8"):
        read_candidates(tmp_path / "c.yaml")


def test_bare_names_inside_params_are_estimators(tmp_path):
    (tmp_path / "c.yaml").write_text(
        "a: {estimator: Pooled, params: {estimator: LogisticRegression}}\n"
        "b:\n  estimator: ReweightedClassifier\n"
        "  params: {estimator: LogisticRegression, weighting: KLIEP}\n"
        "  grid: {weighting: [KLIEP, RuLSIF]}\n"
    )
    found = read_candidates(tmp_path / "c.yaml")
    assert isinstance(found["a"].estimator, LogisticRegression)
    model, grid = found["b"]
    assert isinstance(model.weighting, lb.KLIEP)
    assert [type(value) for value in grid["weighting"]] == [lb.KLIEP, lb.RuLSIF]


def test_boosters_are_named_like_other_estimators(tmp_path):
    pytest.importorskip("lightgbm")
    (tmp_path / "c.yaml").write_text(
        "a: LGBMClassifier\n"
        "b:\n  estimator: lightgbm.LGBMRegressor\n  params: {num_leaves: 7}\n"
        "  grid: {learning_rate: [0.1, 0.2]}\n"
        "c: {estimator: Pooled, params: {estimator: LGBMClassifier}}\n"
        "d: {estimator: Pooled, params: {estimator: lightgbm.LGBMClassifier}}\n"
    )
    found = read_candidates(tmp_path / "c.yaml")
    assert type(found["a"].estimator).__name__ == "LGBMClassifier"
    model, grid = found["b"]
    assert model.estimator.num_leaves == 7
    assert grid == {"estimator__learning_rate": [0.1, 0.2]}
    for pooled in (found["c"], found["d"]):
        assert type(pooled.estimator.estimator).__name__ == "LGBMClassifier"
    for text, message in [
        ("a: {estimator: LGBMClassifier, params: {leaves: 7}}", "has no parameter 'leaves'"),
        ("a: {estimator: LGBMClassifier, grid: {leaves: [7]}}", "has no parameter 'leaves'"),
        ("a: os.LGBMClassifier", "estimators must come from"),
        ("a: {estimator: Pooled, params: {estimator: os.LGBMClassifier}}", "must come from"),
    ]:
        (tmp_path / "c.yaml").write_text(text)
        with pytest.raises(InputError, match=message):
            read_candidates(tmp_path / "c.yaml")
