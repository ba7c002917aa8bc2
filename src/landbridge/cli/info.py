"""``landbridge info``: describe a saved model."""

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import typer

from landbridge.cli import _options as options
from landbridge.cli._errors import InputError
from landbridge.cli._session import Session


@dataclass(frozen=True, kw_only=True)
class Info(options.AnswerOptions):
    """Describe a saved model, its training data and its expected score."""

    model: Annotated[Path, typer.Argument(help="Model file written by `select --save`.")]

    def run(self, current: Session) -> None:
        from landbridge.persistence import load_card
        from landbridge.report.blocks import Block, Column, Facts, make_table

        card = load_card(self.model)
        columns = [Column("column"), Column("type"), Column("seen in training")]
        try:
            rows = [[c["name"], c["type"], _seen(c)] for c in card.get("columns", [])]
            blocks: list[Block] = [Facts(list(_facts(card).items())), make_table(columns, rows)]
        except (KeyError, TypeError, AttributeError, ValueError) as error:
            raise InputError(
                f"{self.model}: its card is damaged; a part is "
                f"missing or was edited ({type(error).__name__}: {error}). Copy the file again."
            ) from error
        current.show(card, blocks)


def _facts(card: dict[str, Any]) -> dict[str, str]:
    versions = ", ".join(f"{name} {version}" for name, version in card["versions"].items())
    if "candidate" not in card:
        return {"saved": card["date"], "versions": versions}
    members = ", ".join(f"{m['name']} {m['weight']:.0%}" for m in card["members"])
    return {
        "model": card["candidate"] + (f" ({members})" if members else ""),
        "predicts": f"{card['label']} ({card['task']})",
        "target": card["target"],
        "trained on": ", ".join(f"{name}: {rows} rows" for name, rows in card["rows"].items()),
        "expected on the target": _expected(card),
        "criterion": card["criterion"],
        "classes": ", ".join(card["classes"]),
        "saved": card["date"],
        "seed": str(card["seed"]),
        "versions": versions,
        "command": card["command"],
    }


def _expected(card: dict[str, Any]) -> str:
    from landbridge.metrics.metric import format_interval, format_number

    interval = card["interval"]
    if not card["of_target"]:
        return "unknown: no target row with a label was used"
    words = f"{card['score_name']} {format_number(card['score'])}"
    if interval["withheld"]:
        return f"unknown: {interval['withheld']} ({words} on them)"
    if interval["low"] is not None:
        score, low, high = format_interval(card["score"], interval["low"], interval["high"])
        return (
            f"{card['score_name']} {score}, {100 * interval['level']:g} % interval {low} to {high}"
        )
    return words


def _seen(column: dict[str, Any]) -> str:
    from landbridge.cli._columns import seen_range

    if "values" in column:
        return ", ".join(column["values"])
    return seen_range(column) if "low" in column else ""
