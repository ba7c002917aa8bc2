"""Three steps: problems before cautions, and something to do when nothing is wrong."""

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
