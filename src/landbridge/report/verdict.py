"""The verdict in two sentences, and the checks that say how far to trust it."""

from typing import Any

from landbridge.model_selection.results import SearchResult
from landbridge.report.pictures import three_digits

FEW_LABELS = 30
SMALL_SHARE, TINY_SHARE = 0.3, 0.05
CLEAR_LEAD = 0.9
FEW_SOURCES = 5
MANY_MISSING = 0.2


def verdict_sentences(ranking: dict[str, Any], target: str, worth: str) -> list[str]:
    """What to train on what, with what to expect; and whether transfer is worth it."""
    best = ranking["candidates"][0]
    train = f"Train {best['name']} on {best['source']}"
    if ranking["criterion"]["name"] == "scv":
        on_source = f"{ranking['score']} {three_digits(best['score'])} on rows of its own source"
        return [f"{train}: {on_source}; nothing was measured about {target}.", worth]
    expected = f"{ranking['score']} {three_digits(best['score'])} on {target}"
    if best["low"] is not None:
        level = f"{100 * ranking['interval']['level']:g} %"
        ends = " to ".join(map(three_digits, (best["low"], best["high"])))
        expected += f" ({level} interval {ends})"
    return [f"{train}: expect {expected}.", worth]


def checks_of(summary: dict[str, Any], result: SearchResult | None = None) -> list[dict[str, str]]:
    """One check for each condition, with its state and one sentence."""
    checks = []
    if summary.get("data") and summary["data"]["target"]:
        checks += [_target_labels(summary["data"]), _new_classes(summary["data"])]
        checks.append(_missing_cells(summary["data"]))
    if summary.get("ranking"):
        checks += [_failures(summary["ranking"]), _lead(summary["ranking"])]
    if result is not None and result.labelled is not None:
        checks.append(_worth(result))
    if summary.get("shift"):
        checks += [_distance(summary["shift"]), _weights(summary["shift"], _chosen_source(summary))]
    if summary.get("sources"):
        checks.append(_number_of_sources(summary["sources"]))
    return [check for check in checks if check is not None]


def _check(name: str, state: str, text: str) -> dict[str, str]:
    return {"name": name, "state": state, "text": text}


def _target_labels(data: dict[str, Any]) -> dict[str, str]:
    labelled = next(d["labelled"] for d in data["domains"] if d["role"] == "target")
    if labelled == 0:
        return _check(
            "Target labels",
            "problem",
            "The target has no label: candidates can be ranked, but nothing measures how good "
            "they are. Label a sample of target rows.",
        )
    if labelled < FEW_LABELS:
        return _check(
            "Target labels",
            "caution",
            f"The target has {labelled} labels, so intervals are wide; {FEW_LABELS} or more help.",
        )
    return _check("Target labels", "ok", f"The target has {labelled} labels.")


def _new_classes(data: dict[str, Any]) -> dict[str, str] | None:
    new = data.get("target_only_classes")
    if new is None:
        return None
    if new:
        return _check(
            "Classes",
            "caution",
            f"The target has classes that no source has: {', '.join(new)}. Only labelled target "
            "rows can teach them.",
        )
    return _check("Classes", "ok", "Every class of the target occurs in a source.")


def _missing_cells(data: dict[str, Any]) -> dict[str, str]:
    worst = max(data["domains"], key=lambda d: d["missing"])
    if worst["missing"] > MANY_MISSING:
        return _check(
            "Missing cells",
            "caution",
            f"{worst['missing']:.0%} of the cells of {worst['name']} are empty and were filled "
            "with means.",
        )
    return _check("Missing cells", "ok", f"At most {worst['missing']:.1%} of a domain's cells.")


def _failures(ranking: dict[str, Any]) -> dict[str, str]:
    failed = [row["name"] for row in ranking["candidates"] if row["note"].startswith("failed")]
    if failed:
        return _check(
            "Failed candidates",
            "caution",
            f"{len(failed)} of {len(ranking['candidates'])} could not be validated, the first is "
            f"{failed[0]}; the ranking says why.",
        )
    return _check("Failed candidates", "ok", "Every candidate could be validated.")


def _lead(ranking: dict[str, Any]) -> dict[str, str] | None:
    pairwise = ranking["pairwise"]
    if pairwise is None:
        return None
    name, probability = pairwise["names"][1], pairwise["values"][0][1]
    if probability is None or probability < CLEAR_LEAD:
        return _check("Lead of the winner", "caution", _no_lead(name, probability))
    return _check(
        "Lead of the winner", "ok", f"The winner beats {name} with probability {probability:.2f}."
    )


def _no_lead(name: str, probability: float | None) -> str:
    equals = "take them as equals, and the simpler one if in doubt"
    if probability is None:
        return f"The winner is better than {name} with an unknown probability: {equals}."
    if probability < 0.5:
        return (
            f"Compared as a pair, {name} is ahead: the winner is better with probability "
            f"{probability:.2f}. The ranking rests on more than that; {equals}."
        )
    return f"The winner is better than {name} with probability {probability:.2f}: {equals}."


def _worth(result: SearchResult) -> dict[str, str]:
    verdict = result.worth_transferring()
    if verdict.worth:
        return _check("Transfer", "ok", "Transfer beats both baselines beyond noise.")
    unbeaten = [name for name, p in verdict.probabilities.items() if p < verdict.level]
    against = " and ".join(unbeaten) or "the baselines"
    return _check("Transfer", "caution", f"Transfer is not shown to beat {against} beyond noise.")


def _chosen_source(summary: dict[str, Any]) -> str | None:
    return summary["ranking"]["candidates"][0]["source"] if summary.get("ranking") else None


def _distance(shift: dict[str, Any]) -> dict[str, str]:
    nearest = min(shift["sources"], key=lambda s: s["auc"])
    state = "ok" if nearest["auc"] < 0.65 else "caution" if nearest["auc"] < 0.95 else "problem"
    text = (
        f"The nearest source is {nearest['source']}; a classifier tells it from the target with "
        f"AUC {nearest['auc']:.2f} (0.5 means alike, 1 means no overlap)."
    )
    return _check("Distance to the target", state, text)


def _weights(shift: dict[str, Any], chosen: str | None) -> dict[str, str]:
    named = [s for s in shift["sources"] if s["source"] == chosen] or shift["sources"]
    source = max(named, key=lambda s: s["effective_share"])
    share = source["effective_share"]
    state = "ok" if share >= SMALL_SHARE else "caution" if share >= TINY_SHARE else "problem"
    text = (
        f"The importance weights of {source['source']} rest on about "
        f"{source['effective_rows']:.0f} of {source['weighted_rows']} rows."
    )
    return _check("Importance weights", state, text)


def _number_of_sources(sources: dict[str, Any]) -> dict[str, str]:
    count = len(sources["per_source"])
    state = "ok" if count >= FEW_SOURCES else "caution"
    more = "" if state == "ok" else f"; an interval about new ones needs {FEW_SOURCES} or more"
    return _check("Number of sources", state, f"There are {count} labelled domains{more}.")
