"""The verdict in a few sentences, and the checks of its reliability."""

from typing import Any

from landbridge.inspection._verdict import COSTS_BELOW, FAILS_BELOW
from landbridge.metrics.metric import format_interval, format_number, percent
from landbridge.model_selection.search_inference import Verdict
from landbridge.model_selection.search_result import SearchResult

FEW_LABELS = 30
# AUCs of a domain classifier from which a source is far from the target, or has hardly any overlap.
FAR, APART = 0.65, 0.95
FEW_SOURCES = 5
MANY_MISSING = 0.2
# With this many labels, a single class is not due to chance if the sources have several classes.
FEWEST_OF_ONE_CLASS = 10
# Below this probability, the labels contradict the lead.
UNLIKELY = 0.1


def verdict_sentences(ranking: dict[str, Any], target: str, worth: Verdict) -> list[str]:
    """Describe the labels, the selected model with its score, and whether transfer helps.

    Problems that invalidate the score come before the score.
    """
    sentences = []
    check = ranking["label_check"]
    if check is not None and not check["representative"]:
        sentences.append(check["words"])
    sentences += [words for words in (_one_class(ranking), _ignored_class(ranking)) if words]
    sentences.append(_answer(ranking, target))
    if not ranking["of_target"]:
        return [*sentences, *_without_labels(ranking, target)]
    simpler = _simpler(ranking)
    to_decide = ranking.get("to_decide")  # summaries of older files have none
    return [*sentences, *([simpler] if simpler else []), worth.message, *filter(None, [to_decide])]


def _answer(ranking: dict[str, Any], target: str) -> str:
    best = ranking["candidates"][0]
    how = _how_to_answer(ranking, best, target)
    if not ranking["of_target"]:
        return f"{how}. No labelled row of {target} was used, so its score there is unknown."
    alone = ""
    if best["score"] is None:  # only the best member of the vote was validated
        best = ranking["candidates"][1]
        alone = f"{best['name']} alone has "
    found = f"{alone}{ranking['score']} {format_number(best['score'])} on {target}"
    if best["low"] is not None:
        score, low, high = format_interval(best["score"], best["low"], best["high"])
        level = f"{100 * ranking['interval']['level']:g} %"
        found = f"{alone}{ranking['score']} {score} on {target} ({level} interval {low} to {high})"
    elif ranking["interval"]["withheld"]:
        found = f"the labelled rows say {found}, but they are not a random sample of {target}"
    found += _recall_of_rarest(ranking)
    baseline = ranking["baseline"]
    if ranking["beats_baseline"] is False:
        return (
            f"{how}: {found}, which is no better than always predicting the {baseline['name']} on "
            "the same rows."
        )
    return f"{how}: {found}."


def _without_labels(ranking: dict[str, Any], target: str) -> list[str]:
    """Describe the agreement of candidates, its past reliability, and the labels needed."""
    found, needed = ranking["agreement"], ranking["labels_needed"]
    sentences = []
    if found is not None:
        ends = " and ".join(map("{:.2f}".format, (found["low"], found["high"])))
        sentences.append(
            f"Candidates agree with each other on up to {percent(found['agreement'])} of "
            f"{found['rows']} unlabelled rows. With such agreement the accuracy lay between {ends} "
            f"for {percent(found['level'])} of other datasets: a reference, not a measurement."
        )
    elif ranking["vote"] is not None:
        apart = [m["disagreement"] for m in ranking["vote"]["members"]]
        apart = sorted(value for value in apart if value is not None)
        if apart:
            ends = " to ".join(map(format_number, (apart[0], apart[-1])))
            sentences.append(f"On unlabelled rows its members differ from the vote by {ends}.")
    what = f"the error to within {percent(needed['within'])} of it"
    if needed["accuracy"]:
        what = f"the accuracy to within {needed['within']:g}"
    sentences.append(
        f"About {needed['labels']} random labels of {target} would measure {what}; "
        "`landbridge label` draws them."
    )
    return sentences


def _how_to_answer(ranking: dict[str, Any], best: dict[str, Any], target: str) -> str:
    if ranking["answer"] == "vote":
        members = ranking["vote"]["members"]
        named = ", ".join(f"{m['name']} {percent(m['weight'])}" for m in members[:3])
        more = f" and {len(members) - 3} more" if len(members) > 3 else ""
        return f"Predict {target} with the vote of {len(members)} models ({named}{more})"
    if best["source"] is None:
        return f"Train {best['name']} on the labelled rows of {target}"
    return f"Train {best['name']} on {best['source']}"


def _one_class(ranking: dict[str, Any]) -> str:
    """Describe the problem that all labels are of one class although the sources have several."""
    classes = ranking["classes"]
    if classes is None:
        return ""
    present = [name for name, rows in zip(classes["names"], classes["rows"], strict=True) if rows]
    if len(present) != 1 or sum(classes["rows"]) < FEWEST_OF_ONE_CLASS:
        return ""
    return (
        f"All {sum(classes['rows']):.0f} labelled target rows are of class {present[0]}, so scores "
        "do not cover the other classes. Label rows chosen at random."
    )


def _ignored_class(ranking: dict[str, Any]) -> str:
    """Describe classes that the selected model never or almost never predicts."""
    classes = ranking["classes"]
    if classes is None or not (classes["never"] or classes["seldom"]):
        return ""
    k = (classes["never"] or classes["seldom"])[0]
    how_often = "never" if classes["never"] else "almost never"
    others = len(classes["never"]) + len(classes["seldom"]) - 1
    more = (
        f" The same holds for {others} other {'class' if others == 1 else 'classes'}."
        if others
        else ""
    )
    metric = classes["suggested_metric"] or "balanced_accuracy"
    if ranking["beats_baseline"] is False:
        more += f" It is no better than always predicting the {ranking['baseline']['name']}."
    return (
        f'The selected model {how_often} predicts class "{classes["names"][k]}": '
        f"{_found(classes, k)} labelled rows are found.{more} Search with --metric "
        f"{metric} to compare models by it."
    )


def _recall_of_rarest(ranking: dict[str, Any]) -> str:
    classes = ranking["classes"]
    if classes is None or not classes["is_rare"]:
        return ""
    k = classes["rarest"]
    recall = f"{classes['recall'][k] or 0.0:.2f}"
    return (
        f', recall {recall} of the rarest class "{classes["names"][k]}" '
        f"({percent(classes['rarest_share'], 1)} of the rows, {_found(classes, k)} found)"
    )


def _found(classes: dict[str, Any], k: int) -> str:
    n = round(classes["rows"][k])
    return f"{round((classes['recall'][k] or 0.0) * n)} of {n}"


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
            "The target has no labels: candidates can be ranked, but their scores cannot be "
            "measured. Label a sample of target rows.",
        )
    if labelled < FEW_LABELS:
        return _check(
            "Target labels",
            "caution",
            f"The target has {labelled} labels, so intervals are wide. Label {FEW_LABELS} or more.",
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
    if check.get("by_design"):
        return _check("Labels are a sample", "caution", check["words"])
    names = ", ".join(column["name"] for column in check["columns"])
    worth = f"they are equivalent to about {check['effective_rows']:.0f} random labels"
    if check["withheld"]:
        worth = f"{100 * check['overlap']:.0f} % of the latter are similar to them"
    return _check(
        "Labels are a sample",
        "problem",
        f"The {check['labelled']} labelled target rows differ from the {check['unlabelled']} "
        f"unlabelled ones in {names or 'their columns'} (AUC "
        f"{check['auc']:.2f}, p = {check['p_value']:.2g}); {worth}.",
    )


def _balance(ranking: dict[str, Any]) -> dict[str, str] | None:
    classes = ranking["classes"]
    if classes is None:
        return None
    rarest = classes["rarest"]
    text = (
        f'The rarest class "{classes["names"][rarest]}" has '
        f"{percent(classes['rarest_share'], 1)} of the labelled target rows"
    )
    if not classes["is_rare"]:
        return _check("Class balance", "ok", f"{text}.")
    return _check(
        "Class balance",
        "caution",
        f"{text}: accuracy hides how well it is predicted. Consider --metric "
        f"{classes['suggested_metric']}.",
    )


def _new_classes(data: dict[str, Any]) -> dict[str, str] | None:
    new = data.get("target_only_classes")
    if new is None:
        return None
    if new:
        return _check(
            "Classes",
            "caution",
            f"The target has classes that no source has: {', '.join(new)}. They can only be "
            "learned from labelled target rows.",
        )
    return _check("Classes", "ok", "Every class of the target occurs in a source.")


def _missing_cells(data: dict[str, Any]) -> dict[str, str]:
    worst = max(data["domains"], key=lambda d: d["missing"])
    if worst["missing"] > MANY_MISSING:
        return _check(
            "Missing cells",
            "caution",
            f"{percent(worst['missing'])} of the cells of {worst['name']} are empty and were "
            "filled with means.",
        )
    return _check(
        "Missing cells",
        "ok",
        f"At most {percent(worst['missing'], 1)} of the cells of a domain are empty.",
    )


def _failures(ranking: dict[str, Any]) -> dict[str, str]:
    failed = [row["name"] for row in ranking["candidates"] if row["status"] == "failed"]
    if failed:
        return _check(
            "Failed candidates",
            "caution",
            f"{len(failed)} of {len(ranking['candidates'])} could not be validated, for example "
            f"{failed[0]}; the ranking gives the reasons.",
        )
    return _check("Failed candidates", "ok", "Every candidate could be validated.")


def _lead(ranking: dict[str, Any]) -> dict[str, str] | None:
    name, lead = "Lead of the best candidate", ranking["lead"]
    if not ranking["of_target"]:
        return _check(name, "caution", "The ranking of the candidates uses no target labels.")
    if lead is None:
        return None
    looked = f"(probability {_rounded(lead['probability'])} on {lead['rows']} labels)"
    check = ranking["label_check"]
    if lead["decided"] and (check is None or check["representative"]):
        text = (
            f"{lead['best']} leads, next is {lead['rival']} {looked}; the verdict remains valid "
            "when labels are added."
        )
        return _check(name, "ok", text)
    if lead["decided"]:
        text = (
            f"{lead['best']} leads {lead['rival']} on these labels, which are not a random sample."
        )
        return _check(name, "caution", text)
    text = f"{lead['best']} is not shown to beat {lead['rival']} {looked}: treat them as equal."
    if lead["probability"] < UNLIKELY:
        text = (
            f"{lead['rival']} does better than {lead['best']} on the labelled rows {looked}; "
            f"{lead['best']} ranks first because of the unlabelled ones."
        )
    return _check(name, "caution", text)


def _rounded(probability: float) -> str:
    """Two digits, but never 0 or 1."""
    if probability > 0.995:
        return "above 0.99"
    return "below 0.01" if probability < 0.005 else f"{probability:.2f}"


def _worth(verdict: Verdict) -> dict[str, str]:
    if verdict.worth:
        return _check("Transfer", "ok", "Transfer beats both baselines beyond noise.")
    if verdict.worth is None:
        return _check("Transfer", "caution", verdict.message)
    unbeaten = " and ".join(rival.role for rival in verdict.rivals if not rival.beaten)
    against = unbeaten or "the baselines"
    return _check("Transfer", "caution", f"Transfer is not shown to beat {against} beyond noise.")


def _chosen_source(summary: dict[str, Any]) -> str | None:
    rows = summary["ranking"]["candidates"] if summary.get("ranking") else []
    return next((row["source"] for row in rows if row["source"] is not None), None)


def _distance(shift: dict[str, Any]) -> dict[str, str]:
    nearest = min(shift["sources"], key=lambda s: s["auc"])
    state = "ok" if nearest["auc"] < FAR else "caution" if nearest["auc"] < APART else "problem"
    text = (
        f"The nearest source is {nearest['source']}; a domain classifier has an "
        f"AUC of {nearest['auc']:.2f} (0.5 means equal, 1 means no overlap)."
    )
    moved = [feature["name"] for feature in nearest["features"][: nearest["n_moved"]]]
    if moved and state != "ok":
        text += f" The columns that moved most: {', '.join(moved[:3])}."
    return _check("Distance to the target", state, text)


def _weights(shift: dict[str, Any], chosen: str | None) -> dict[str, str]:
    named = [s for s in shift["sources"] if s["source"] == chosen] or shift["sources"]
    source = max(named, key=lambda s: s["effective_share"])
    share = source["effective_share"]
    state = "ok" if share >= COSTS_BELOW else "caution" if share >= FAILS_BELOW else "problem"
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
