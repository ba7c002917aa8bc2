"""The verdict in a few sentences."""

from typing import Any

from landbridge.inference.intervals import format_interval, format_number
from landbridge.metrics.metric import percent

# With this many labels, a single class is not due to chance if the sources have several classes.
FEWEST_OF_ONE_CLASS = 10
# With fewer rows of a class, it may be ignored by chance.
FEWEST_OF_A_CLASS = 5


def verdict_sentences(ranking: dict[str, Any], target: str) -> list[str]:
    """Describe the labels, the selected model with its score, and whether transfer helps.

    Problems that invalidate the score come before the score.
    """
    sentences = []
    check = ranking["label_check"]
    if check is not None and not check["representative"]:
        sentences.append(check["words"])
    ignored = _ignored_class(ranking)
    sentences += [words for words in (_one_class(ranking), ignored) if words]
    sentences.append(_answer(ranking, target))
    if not ranking["of_target"]:
        return [*sentences, *_without_labels(ranking, target)]
    if ranking["beats_baseline"] is False and not ignored:
        sentences[-1] += _no_better(ranking)
    worth = ranking["worth"]  # None if no model was validated by tlv
    if worth is not None and ranking["interval"]["withheld"]:
        return [*sentences, worth["words"]]
    if ranking["simplest"] is not None:
        simplest = ranking["simplest"]
        sentences.append(
            f"{simplest} is simpler and not shown to be worse than the best candidate."
        )
    more = (None if worth is None else worth["words"], ranking["to_decide"])
    return sentences + [words for words in more if words]


def _no_better(ranking: dict[str, Any]) -> str:
    return f" It is no better than always predicting the {ranking['baseline']['name']}."


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
    return f"{how}: {found}{_recall_of_rarest(ranking)}."


def _without_labels(ranking: dict[str, Any], target: str) -> list[str]:
    """Describe the agreement of candidates, its past reliability, and the labels needed."""
    found, needed = ranking["agreement"], ranking["labels_needed"]
    sentences = []
    if ranking["only_class"] is not None:
        sentences.append(
            f'The selected model predicts class "{ranking["only_class"]}" for all unlabelled rows. '
            "If other classes matter, search with the metric balanced_accuracy or roc_auc."
        )
    elif found is not None:
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
            least, most = apart[0], apart[-1]
            if ranking["vote"]["of_classes"]:
                words = f"on {percent(least)} to {percent(most)} of the unlabelled rows"
            else:
                words = f"by {format_number(least)} to {format_number(most)} (root mean square)"
            sentences.append(f"Its members differ from the vote {words}.")
    what = f"the error to within {percent(needed['within'])} of it"
    if needed["accuracy"]:
        what = f"the accuracy to within {needed['within']:g}"
    sentences.append(
        f"About {needed['labels']} random labels of {target} would measure {what}; "
        "the command landbridge label draws them."
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
    if classes is None:
        return ""
    both = [*classes["never"], *classes["seldom"]]
    ignored = [k for k in both if classes["rows"][k] >= FEWEST_OF_A_CLASS]
    if not ignored:
        return ""
    k, others, more = ignored[0], len(ignored) - 1, ""
    how_often = "never" if k in classes["never"] else "almost never"
    if others:
        more = f" The same holds for {others} other {'class' if others == 1 else 'classes'}."
    advice = "Use the predicted probability of the class instead of the predicted class."
    if classes["suggested_metric"]:
        advice = f"Search with the metric {classes['suggested_metric']} to compare models by it."
    if ranking["beats_baseline"] is False:
        more += _no_better(ranking)
    return (
        f'The selected model {how_often} predicts class "{classes["names"][k]}": '
        f"it finds {_found(classes, k)} labelled rows.{more} {advice}"
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
