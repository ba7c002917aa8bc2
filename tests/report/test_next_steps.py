"""Three steps: problems before cautions, and something to do when nothing is wrong."""

import pytest

from landbridge.report.checks import OTHERWISE, STEPS, checks_of, next_steps

from .example import example_summary


def check(name, state):
    return {"name": name, "state": state, "text": ""}


def test_problems_come_before_cautions_and_three_are_enough():
    checks = [
        check("Transfer", "caution"),
        check("Classes", "ok"),
        check("Labels are a sample", "problem"),
        check("Class balance", "caution"),
        check("Missing cells", "caution"),
    ]
    names = ("Labels are a sample", "Transfer", "Class balance")
    assert next_steps(checks) == [STEPS[name] for name in names]


def test_without_a_problem_the_model_is_used():
    assert next_steps([check("Transfer", "ok")]) == list(OTHERWISE)


def test_every_check_of_a_report_has_a_step():
    names = {found["name"] for found in checks_of(example_summary())}
    assert names - {"Sampling", "Warning"} <= set(STEPS)


@pytest.mark.parametrize(
    ("missing", "state", "words"),
    [
        (0.0, "ok", "No cell is empty."),
        (0.004, "ok", "At most 0.4 % of the cells of a domain are empty."),
        (0.25, "caution", "25 % of the cells of north are empty and were filled with means."),
    ],
)
def test_empty_cells_are_stated_for_the_worst_domain(missing, state, words):
    summary = example_summary()
    for domain in summary["data"]["domains"]:
        domain["missing"] = 0.0
    summary["data"]["domains"][0] |= {"name": "north", "missing": missing}
    (found,) = [one for one in checks_of(summary) if one["name"] == "Missing cells"]
    assert (found["state"], found["text"]) == (state, words)
