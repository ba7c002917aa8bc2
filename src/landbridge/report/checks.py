"""Checks of the reliability of a report, and the next steps that follow from them."""

from typing import Any

from landbridge.inspection.shift import COSTS_BELOW, FAILS_BELOW
from landbridge.metrics.metric import percent
from landbridge.report.blocks import State

FEW_LABELS = 30
# AUCs of a domain classifier from which a source is far from the target, or has hardly any overlap.
FAR, APART = 0.65, 0.95
FEW_SOURCES = 5
MANY_MISSING = 0.2
# Below this probability, the labels contradict the lead; above, they support it without proof.
UNLIKELY, LIKELY = 0.1, 0.95
MOST_STEPS = 3
# Recommendation for each check that failed.
STEPS = {
    "Target labels": "Label a random sample of target rows; landbridge label proposes them.",
    "Labels are a sample": "Label unlabelled target rows chosen at random, and search again.",
    "Transfer": "Keep the simpler model, or label more target rows and search again.",
    "Lead of the best candidate": "Treat the leading candidates as equals, or label more rows.",
    "Class balance": "Compare models by a metric that reflects rare classes.",
    "Classes": "Label target rows of the classes that no source has.",
    "Failed candidates": "See the ranking for the reasons why candidates failed.",
    "Distance to the target": "Look at the features that moved before you use a source model.",
    "Importance weights": "Do not rely on importance weights: few rows dominate them.",
    "Missing cells": "Find out why one domain has so many empty cells.",
    "Number of sources": "Collect labelled rows from more sources to predict for a new one.",
}
OTHERWISE = (
    "Save the model, and predict new rows with landbridge predict.",
    "Label a few of the predicted rows later, and check that the score holds.",
)
# State and one sentence.
Found = tuple[State, str]


def next_steps(checks: list[dict[str, str]]) -> list[str]:
    """At most three steps: for problems or, without any, for using the model; for cautions."""
    found = {
        state: [STEPS[c["name"]] for c in checks if c["state"] == state and c["name"] in STEPS]
        for state in ("problem", "caution")
    }
    usable = OTHERWISE[:1] if not found["problem"] else ()
    steps = [*found["problem"], *usable, *found["caution"], *OTHERWISE]
    return list(dict.fromkeys(steps))[:MOST_STEPS]


def checks_of(summary: dict[str, Any]) -> list[dict[str, str]]:
    """One check per condition, with its state and one sentence."""
    parts = ("data", "ranking", "shift", "sources")
    data, ranking, shift, sources = (summary.get(part) for part in parts)
    found: dict[str, Found | None] = {}
    if data and data["target"]:
        found["Target labels"] = _target_labels(data)
        found["Classes"] = _new_classes(data)
        found["Missing cells"] = _missing_cells(data)
    if ranking:
        found["Labels are a sample"] = _representative(ranking)
        found["Class balance"] = _balance(ranking)
        found["Failed candidates"] = _failures(ranking)
        found["Lead of the best candidate"] = _lead(ranking)
        found["Sampling"] = ("ok", ranking["sampling"]) if ranking["sampling"] else None
        found["Transfer"] = _transfer(ranking.get("worth"))
    if shift:
        found["Distance to the target"] = _distance(shift)
        found["Importance weights"] = _weights(shift, _chosen_source(ranking))
    if sources:
        found["Number of sources"] = _number_of_sources(sources)
    return [
        {"name": name, "state": check[0], "text": check[1]}
        for name, check in found.items()
        if check
    ]


def _target_labels(data: dict[str, Any]) -> Found:
    labelled = next(d["labelled"] for d in data["domains"] if d["role"] == "target")
    if labelled == 0:
        return "problem", (
            "The target has no labels: candidates can be ranked, but their scores cannot be "
            "measured. Label a sample of target rows."
        )
    if labelled < FEW_LABELS:
        count = "1 label" if labelled == 1 else f"{labelled} labels"
        wide = f"so intervals are wide. Label {FEW_LABELS} or more."
        return "caution", f"The target has {count}, {wide}"
    return "ok", f"The target has {labelled} labels."


def _representative(ranking: dict[str, Any]) -> Found | None:
    check = ranking["label_check"]
    if check is None:
        return None
    if check["representative"]:
        return "ok", (
            f"The {check['labelled']} labelled target rows look like the unlabelled ones "
            f"(p = {check['p_value']:.2g})."
        )
    if check.get("by_design"):
        return "caution", check["words"]
    return "problem", (
        f"The {check['labelled']} labelled target rows differ from the {check['unlabelled']} "
        f"unlabelled ones (AUC {check['auc']:.2f}, p = {check['p_value']:.2g})."
    )


def _balance(ranking: dict[str, Any]) -> Found | None:
    classes = ranking["classes"]
    if classes is None:
        return None
    text = (
        f'The rarest class "{classes["names"][classes["rarest"]]}" has '
        f"{percent(classes['rarest_share'], 1)} of the labelled target rows"
    )
    if not classes["is_rare"] or classes["suggested_metric"] is None:
        return "ok", f"{text}."
    return "caution", (
        f"{text}: {ranking['score']} hides how well it is predicted. Consider the metric "
        f"{classes['suggested_metric']}."
    )


def _new_classes(data: dict[str, Any]) -> Found | None:
    new = data.get("target_only_classes")
    if new is None:
        return None
    if new:
        return "caution", (
            f"The target has classes that no source has: {', '.join(new)}. They can only be "
            "learned from labelled target rows."
        )
    return "ok", "Every class of the target occurs in a source."


def _missing_cells(data: dict[str, Any]) -> Found:
    worst = max(data["domains"], key=lambda d: d["missing"])
    if worst["missing"] > MANY_MISSING:
        cells = f"{percent(worst['missing'])} of the cells of {worst['name']}"
        return "caution", f"{cells} are empty and were filled with means."
    if not worst["missing"]:
        return "ok", "No cell is empty."
    return "ok", f"At most {percent(worst['missing'], 1)} of the cells of a domain are empty."


def _failures(ranking: dict[str, Any]) -> Found:
    failed = [row["name"] for row in ranking["candidates"] if row["status"] == "failed"]
    if failed:
        return "caution", (
            f"{len(failed)} of {len(ranking['candidates'])} could not be validated, for example "
            f"{failed[0]}; the ranking gives the reasons."
        )
    return "ok", "Every candidate could be validated."


def _lead(ranking: dict[str, Any]) -> Found | None:
    lead, check = ranking["lead"], ranking["label_check"]
    if not ranking["of_target"]:
        return "caution", "The ranking of the candidates uses no target labels."
    if lead is None:
        return None
    best, rival = lead["best"], lead["rival"]
    looked = f"(probability {_rounded(lead['probability'])} on {lead['rows']} labels)"
    if lead["decided"] and (check is None or check["representative"]):
        remains = "the verdict remains valid when labels are added."
        return "ok", f"{best} leads, next is {rival} {looked}; {remains}"
    if lead["decided"]:
        return "caution", f"{best} leads {rival} on these labels, which are not a random sample."
    if lead["probability"] < UNLIKELY:
        return "caution", (
            f"{rival} does better than {best} on the labelled rows {looked}; "
            f"{best} ranks first because of the unlabelled ones."
        )
    if lead["probability"] > LIKELY:
        return "caution", f"{best} leads {rival} {looked}, but the test needs more labels."
    return "caution", f"{best} is not shown to beat {rival} {looked}: treat them as equal."


def _rounded(probability: float) -> str:
    """Two digits, but never 0 or 1."""
    if probability > 0.995:
        return "above 0.99"
    return "below 0.01" if probability < 0.005 else f"{probability:.2f}"


def _transfer(worth: dict[str, Any] | None) -> Found | None:
    if worth is None:
        return None
    if worth["shown"]:
        return "ok", "Transfer beats both baselines beyond noise."
    if worth["shown"] is None:
        return "caution", worth["words"]
    against = " and ".join(worth["unbeaten"])
    return "caution", f"Transfer is not shown to beat {against} beyond noise."


def _chosen_source(ranking: dict[str, Any] | None) -> str | None:
    rows = ranking["candidates"] if ranking else []
    return next((row["source"] for row in rows if row["source"] is not None), None)


def _distance(shift: dict[str, Any]) -> Found:
    nearest = min(shift["sources"], key=lambda s: s["auc"])
    state = "ok" if nearest["auc"] < FAR else "caution" if nearest["auc"] < APART else "problem"
    text = (
        f"The nearest source is {nearest['source']}; a domain classifier has an "
        f"AUC of {nearest['auc']:.2f} (0.5 means equal, 1 means no overlap)."
    )
    moved = [feature["name"] for feature in nearest["features"][: nearest["n_moved"]]]
    if moved and state != "ok":
        text += f" The columns that moved most: {', '.join(moved[:3])}."
    return state, text


def _weights(shift: dict[str, Any], chosen: str | None) -> Found:
    named = [s for s in shift["sources"] if s["source"] == chosen] or shift["sources"]
    source = max(named, key=lambda s: s["effective_share"])
    share = source["effective_share"]
    state = "ok" if share >= COSTS_BELOW else "caution" if share >= FAILS_BELOW else "problem"
    return state, (
        f"The importance weights of {source['source']} rest on about "
        f"{source['effective_rows']:.0f} of {source['weighted_rows']} rows."
    )


def _number_of_sources(sources: dict[str, Any]) -> Found:
    count = len(sources["per_source"])
    if count >= FEW_SOURCES:
        return "ok", f"There are {count} labelled domains."
    needs = f"an interval for the score on a new one needs {FEW_SOURCES} or more"
    return "caution", f"There are {count} labelled domains; {needs}."
