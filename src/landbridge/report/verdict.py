"""The verdict in a few sentences, and the checks that say how far to trust it."""

from typing import Any

from landbridge.metrics.metric import format_number
from landbridge.model_selection.search_inference import Verdict
from landbridge.model_selection.search_result import SearchResult

FEW_LABELS = 30
SMALL_SHARE, TINY_SHARE = 0.3, 0.05
CLEAR_LEAD = 0.9
FEW_SOURCES = 5
MANY_MISSING = 0.2
# A class that is predicted for less than this part of its share is almost never predicted.
SELDOM = 0.2


def verdict_sentences(ranking: dict[str, Any], target: str, worth: Verdict) -> list[str]:
    """What is known about the labels, the answer with its score, and whether transfer helps."""
    sentences = []
    check = ranking["label_check"]
    if check is not None and not check["representative"]:
        sentences.append(check["words"])
    sentences.append(_answer(ranking, target))
    sentences += [words for words in (_rare_class(ranking), _simpler(ranking)) if words]
    return [*sentences, worth.message]


def _answer(ranking: dict[str, Any], target: str) -> str:
    best = ranking["candidates"][0]
    how = _how_to_answer(ranking, best, target)
    if not ranking["of_target"]:
        agreed = "" if best["score"] is None else f" ({_score(ranking, best)} by the criterion)"
        return (
            f"{how}{agreed}. Nothing measures how well it does on {target}: no target row with a "
            "label was used. Label a random sample of target rows."
        )
    alone = ""
    if best["score"] is None:  # the vote was not validated, its best member was
        best = ranking["candidates"][1]
        alone = f"{best['name']} alone has "
    found = f"{alone}{_score(ranking, best)} on {target}"
    if best["low"] is not None:
        level = f"{100 * ranking['interval']['level']:g} %"
        ends = " to ".join(map(format_number, (best["low"], best["high"])))
        found += f" ({level} interval {ends})"
    elif ranking["interval"]["withheld"]:
        found = f"the labelled rows say {found}, but they are not a sample of {target}"
    baseline = ranking["baseline"]
    if ranking["beats_baseline"] is False:
        return (
            f"{how}: {found}, which does not beat always predicting the {baseline['name']} "
            f"({format_number(baseline['score'])})."
        )
    return f"{how}: {found}."


def _how_to_answer(ranking: dict[str, Any], best: dict[str, Any], target: str) -> str:
    if ranking["answer"] == "vote":
        members = ranking["vote"]["members"]
        named = ", ".join(f"{m['name']} {m['weight']:.0%}" for m in members[:3])
        more = f" and {len(members) - 3} more" if len(members) > 3 else ""
        return f"Predict {target} with the vote of {len(members)} models ({named}{more})"
    if best["source"] is None:
        return f"Train {best['name']} on the labelled rows of {target}"
    return f"Train {best['name']} on {best['source']}"


def _score(ranking: dict[str, Any], row: dict[str, Any]) -> str:
    return f"{ranking['score']} {format_number(row['score'])}"


def _rare_class(ranking: dict[str, Any]) -> str:
    classes = ranking["classes"]
    if classes is None or not classes["is_rare"]:
        return ""
    rarest = classes["rarest"]
    name, share = classes["names"][rarest], classes["rarest_share"]
    n = round(classes["rows"][rarest])
    found = round((classes["recall"][rarest] or 0.0) * n)
    words = (
        f"Class {name} has {share:.1%} of the labelled rows; {found} of {n} are found (recall "
        f"{format_number(classes['recall'][rarest] or 0.0)})."
    )
    if classes["predicted"][rarest] < SELDOM * classes["rows"][rarest]:
        words += (
            " It is almost never predicted: search with --metric average_precision or "
            "--metric balanced_accuracy."
        )
    return words


def _simpler(ranking: dict[str, Any]) -> str:
    if ranking["simplest"] is None:
        return ""
    return f"{ranking['simplest']} is simpler and not shown to be worse than the best candidate."


def checks_of(summary: dict[str, Any], result: SearchResult | None = None) -> list[dict[str, str]]:
    """One check per condition, with its state and one sentence."""
    checks = []
    if summary.get("data") and summary["data"]["target"]:
        checks += [_target_labels(summary["data"]), _new_classes(summary["data"])]
        checks.append(_missing_cells(summary["data"]))
    if summary.get("ranking"):
        ranking = summary["ranking"]
        checks += [
            _representative(ranking),
            _balance(ranking),
            _failures(ranking),
            _lead(ranking),
        ]
        if ranking["sampling"]:
            checks.append(_check("Sampling", "ok", ranking["sampling"]))
    if result is not None and result.target:
        checks.append(_worth(result.worth_transferring()))
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


def _representative(ranking: dict[str, Any]) -> dict[str, str] | None:
    check = ranking["label_check"]
    if check is None:
        return None
    if check["representative"]:
        return _check(
            "Labels are a sample",
            "ok",
            f"The {check['labelled']} labelled target rows look like the unlabelled ones "
            f"(p = {check['p_value']:.2g}).",
        )
    return _check("Labels are a sample", "problem", check["words"])


def _balance(ranking: dict[str, Any]) -> dict[str, str] | None:
    classes = ranking["classes"]
    if classes is None:
        return None
    rarest = classes["rarest"]
    text = (
        f"The rarest class, {classes['names'][rarest]}, has {classes['rarest_share']:.1%} of the "
        "labelled target rows"
    )
    if not classes["is_rare"]:
        return _check("Class balance", "ok", f"{text}.")
    return _check(
        "Class balance",
        "caution",
        f"{text}: accuracy hides how well it is found. Consider --metric average_precision or "
        "--metric roc_auc.",
    )


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
    return _check(
        "Missing cells", "ok", f"At most {worst['missing']:.1%} of the cells of a domain are empty."
    )


def _failures(ranking: dict[str, Any]) -> dict[str, str]:
    failed = [row["name"] for row in ranking["candidates"] if row["status"] == "failed"]
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
    first, second = pairwise["names"][:2]
    probability = pairwise["values"][0][1]
    name = "Lead of the best candidate"
    if probability is None or probability < CLEAR_LEAD:
        odds = "unknown" if probability is None else f"{probability:.2f}"
        return _check(
            name,
            "caution",
            f"{first} is better than {second} with probability {odds}: take them as equals.",
        )
    return _check(name, "ok", f"{first} beats {second} with probability {probability:.2f}.")


def _worth(verdict: Verdict) -> dict[str, str]:
    if verdict.worth:
        return _check("Transfer", "ok", "Transfer beats both baselines beyond noise.")
    unbeaten = " and ".join(rival.role for rival in verdict.rivals if not rival.beaten)
    against = unbeaten or "the baselines"
    return _check("Transfer", "caution", f"Transfer is not shown to beat {against} beyond noise.")


def _chosen_source(summary: dict[str, Any]) -> str | None:
    rows = summary["ranking"]["candidates"] if summary.get("ranking") else []
    return next((row["source"] for row in rows if row["source"] is not None), None)


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
