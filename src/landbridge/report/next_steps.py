"""Recommended next steps: at most three, the most urgent first."""

from typing import Any

MOST_STEPS = 3
# Recommendation for each check that failed.
STEPS = {
    "Target labels": "Label a random sample of target rows; landbridge label proposes them.",
    "Labels are a sample": "Label unlabelled target rows chosen at random, and search again.",
    "Transfer": "Keep the simpler model, or label more target rows and search again.",
    "Lead of the best candidate": "Treat the leading candidates as equals, or label more rows.",
    "Class balance": "Compare models by a metric for rare classes, with --metric.",
    "Classes": "Label target rows of the classes that no source has.",
    "Failed candidates": "See the ranking for the reasons why candidates failed.",
    "Distance to the target": "Look at the features that moved before you use a source model.",
    "Importance weights": "Do not rely on importance weights: few rows dominate them.",
    "Missing cells": "Find out why one domain has so many empty cells.",
    "Number of sources": "Collect labelled rows from more sources to predict for a new one.",
}
OTHERWISE = (
    "Save the model with --save, and predict new rows with landbridge predict.",
    "Label a few of the predicted rows later, and check that the score holds.",
)


def next_steps(checks: list[dict[str, str]]) -> list[str]:
    """Steps for problems or, if there are none, for using the model; then those for cautions."""
    found = {
        state: [STEPS[check["name"]] for check in checks if _is(check, state)]
        for state in ("problem", "caution")
    }
    usable = OTHERWISE[:1] if not found["problem"] else ()
    steps = [*found["problem"], *usable, *found["caution"], *OTHERWISE]
    return list(dict.fromkeys(steps))[:MOST_STEPS]


def _is(check: dict[str, Any], state: str) -> bool:
    return check["state"] == state and check["name"] in STEPS
