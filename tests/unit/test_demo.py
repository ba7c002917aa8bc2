"""The demo runs offline on the embedded sample and prints its tables with and without rich."""

import runpy
import sys
from pathlib import Path

import pytest

DEMO = Path(__file__).parents[2] / "examples" / "demo.py"


@pytest.mark.parametrize("with_rich", [True, False])
def test_the_demo_compares_the_models_on_both_targets(capsys, monkeypatch, with_rich):
    if not with_rich:
        monkeypatch.setitem(sys.modules, "rich.console", None)
    demo = runpy.run_path(str(DEMO))
    demo["main"].__globals__["N_DRAWS"] = 3
    demo["main"]()
    printed = capsys.readouterr().out
    for target in ("Japan", "Europe"):
        assert f"USA → {target}" in printed
        assert f"Mean absolute error on {target}'s cars" in printed
    for model in demo["MODELS"]:
        assert printed.count(model) >= 2
    assert ("━" in printed) == with_rich
    assert printed.count("The domains differ strongly") == 2


def test_draws_share_no_row_between_labels_and_test():
    demo = runpy.run_path(str(DEMO))
    for labeled, unlabeled, test in demo["draws"](range(50)):
        assert (len(labeled), len(unlabeled), len(test)) == (10, 10, 30)
        assert len({*labeled, *unlabeled, *test}) == 50
