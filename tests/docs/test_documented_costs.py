"""What methods.md and docstrings say that defaults cost is what the benchmark page shows."""

import re
from pathlib import Path

import pytest
from sklearn.base import BaseEstimator

import landbridge as lb

DOCS = Path(__file__).parents[2] / "docs"
PAGE = DOCS / "benchmarks" / "defaults.md"
BASELINES = ("SourceOnly", "TargetOnly", "Pooled")
# How docstrings name a baseline, and how its lines on the page start.
WORDS = {
    "pooled logistic regression": "Pooled, logistic",
    "pooled gradient boosting": "Pooled, gradient",
    "pooled ridge": "Pooled, ridge",
    "source-only": "SourceOnly",
}
DOCSTRINGS = {
    name: " ".join((getattr(lb, name).__doc__ or "").split())
    for name in lb.__all__
    if isinstance(getattr(lb, name), type)
}
CITED = [name for name, doc in DOCSTRINGS.items() if "(benchmark ``defaults``" in doc]


def tables() -> list[dict[str, list[str]]]:
    """Cells of every estimator, for each table of the page."""
    found = []
    for section in PAGE.read_text().split("\n## ")[1:]:
        rows = [line.strip("| ").split(" | ") for line in section.splitlines() if line[:2] == "| "]
        found.append({cells[0]: cells[1:] for cells in rows if cells[0] != "estimator"})
    return found


def gaps_of(name: str, baselines: str | tuple[str, ...] = BASELINES) -> list[float]:
    """Distances of an estimator's mean from those of baselines, in all tables."""
    gaps = []
    for table in tables():
        means = {label: float(cells[-4]) for label, cells in table.items()}
        others = [mean for label, mean in means.items() if label.startswith(baselines)]
        own = [means[label] for label in means if name in re.split(r", ", label)]
        gaps += [mean - other for mean in own for other in others]
    return gaps


def below_the_best_baseline(points: float) -> set[str]:
    """Estimators whose defaults are that far below it, in a table that chose no default."""
    found = set()
    for section in PAGE.read_text().split("\n## ")[1:]:
        if "defaults were chosen on" in section.splitlines()[0]:
            continue
        for line in section.splitlines():
            cells = line.strip("| ").split(" | ")
            names = cells[0].split(", ")
            if set(names) <= DOCSTRINGS.keys() and float(cells[-3].split(" ± ")[0]) < -points:
                found.add(names[-1])
    return found


def test_costly_defaults_are_documented():
    costly = below_the_best_baseline(2.0)
    assert len(costly) > 10
    assert costly <= set(CITED), costly - set(CITED)
    methods = (DOCS / "methods.md").read_text()
    assert not [name for name in costly if f"`{name}`" not in methods]


def test_every_estimator_is_measured():
    estimators = {name for name in DOCSTRINGS if issubclass(getattr(lb, name), BaseEstimator)}
    measured = {name for table in tables() for label in table for name in label.split(", ")}
    elsewhere = {"TransferSearchCV", "MultiSourceCV", "TGreedySelector", "SimilarityLearner"}
    as_default = {"RuLSIF", "UniformWeights"}  # of `ReweightedClassifier`, and of no weighting
    assert estimators - measured == elsewhere | as_default


def test_methods_page_repeats_the_benchmark():
    checked = 0
    for line in (DOCS / "methods.md").read_text().splitlines():
        names = set(re.findall(r"`(\w+)`", line.split(" | ")[0]))
        figures = [float(x.replace("−", "-")) for x in re.findall(r"[−+]\d+\.\d", line)]
        if figures:
            gaps = [gap for name in names for gap in gaps_of(name)]
            missing = [x for x in figures if min(abs(x - gap) for gap in gaps) > 0.11]
            assert not missing, f"{sorted(names)}: {missing}"
            checked += 1
    assert checked > 15


@pytest.mark.parametrize("name", CITED)
def test_docstrings_repeat_the_benchmark(name):
    parts = DOCSTRINGS[name].split("(benchmark ``defaults``")[:-1]
    text = " ".join(part.split(". ")[-1] for part in parts)
    pattern = rf"(\d+) (?:points?|%|less|more).*?({'|'.join(WORDS)})"
    cited = re.findall(pattern, text)
    if not cited:  # "cost 8 points" is said of source-only models
        cited = [(figure, "source-only") for figure in re.findall(r"cost (\d+) points", text)]
    assert cited
    for figure, baseline in cited:
        gaps = gaps_of(name, WORDS[baseline])
        assert min(abs(int(figure) - abs(gap)) for gap in gaps) < 0.6, (figure, baseline, gaps)
