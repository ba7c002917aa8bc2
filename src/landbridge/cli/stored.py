"""``landbridge info``, ``report`` and ``cache``: read what other commands wrote."""

import json
from pathlib import Path
from typing import Any

from landbridge.cli._options import Cache, Info, Report, seconds_of
from landbridge.cli._session import InputError, Session, check_distinct, check_output, command_line


def run_info(asked: Info, current: Session) -> None:
    from landbridge.persistence import load_card
    from landbridge.report.blocks import Block, Column, Facts, make_table

    card = load_card(asked.model)
    columns = [Column("column"), Column("type"), Column("seen in training")]
    try:
        rows = [[c["name"], c["type"], _seen(c)] for c in card.get("columns", [])]
        blocks: list[Block] = [Facts(list(_facts(card).items())), make_table(columns, rows)]
        json.dumps(card, allow_nan=False)
    except (KeyError, TypeError, AttributeError, ValueError, OverflowError) as error:
        raise InputError(
            f"{asked.model}: its card is damaged; a part is "
            f"missing or was edited ({type(error).__name__}: {error}). Copy the file again."
        ) from error
    current.show(card, blocks)


def _facts(card: dict[str, Any]) -> dict[str, str]:
    from landbridge.metrics.metric import percent

    versions = ", ".join(f"{name} {version}" for name, version in card["versions"].items())
    if "candidate" not in card:
        return {"saved": card["date"], "versions": versions}
    members = ", ".join(f"{m['name']} {percent(m['weight'])}" for m in card["members"])
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
    from landbridge.inference.intervals import format_interval, format_number

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


def run_report(asked: Report, current: Session) -> None:
    from jinja2 import UndefinedError

    from landbridge.report import write_report
    from landbridge.report.render import SUFFIXES

    check_output(asked.output, *SUFFIXES)
    check_distinct([asked.results], output=asked.output)
    summary = read_results(asked.results, asked.level)
    try:
        write_report(summary, asked.output)
    except (LookupError, TypeError, AttributeError, ValueError, OverflowError, UndefinedError) as e:
        raise InputError(
            f"{asked.results}: the results are damaged; a part is missing or "
            f"was edited ({type(e).__name__}: {e}). Save them again with `select --results`."
        ) from e
    current.wrote("report", asked.output)


def read_results(path: Path, level: float | None) -> dict[str, Any]:
    """Read a summary from a file, or compute it from stored predictions at the given level."""
    from landbridge.report import summarise, summarise_origin
    from landbridge.report.summary import FORMAT

    if not path.is_file():
        raise InputError(f"{path}: no such file. Pass a file written by `select --results`.")
    if path.suffix.lower() == ".npz":
        from landbridge.model_selection import SearchResult

        origin = summarise_origin(command=command_line())
        result = SearchResult.load(path)
        return summarise(
            title=f"Results of {path.name}",
            target="the target",
            origin=origin,
            result=result,
            level=0.95 if level is None else level,
        )
    if level is not None:
        raise InputError(
            f"{path}: --level requires a .npz file with predictions; the intervals of "
            f"{path.suffix or 'other files'} are fixed. Omit it, or pass the .npz file."
        )
    try:
        summary = json.loads(path.read_text(encoding="utf-8"))
    except (ValueError, RecursionError) as error:
        raise InputError(f"{path}: not a landbridge results file: {error}.") from error
    if not isinstance(summary, dict) or summary.get("kind") != "landbridge report":
        raise InputError(f"{path}: not a landbridge results file.")
    if summary.get("format") != FORMAT:
        raise InputError(
            f"{path}: must have format {FORMAT}; got format {summary.get('format')!r}, saved by "
            "another version of landbridge. Search again, or use that version."
        )
    return summary


def run_cache(asked: Cache, current: Session) -> None:
    from rich.filesize import decimal

    from landbridge._tasks import TaskCache, duration, is_cache
    from landbridge.report.blocks import Column, Facts, make_table

    if not is_cache(asked.directory):
        raise InputError(
            f"{asked.directory}: not a directory of finished fits. Pass the directory that was "
            "given to --resume."
        )
    fits = TaskCache(asked.directory)
    removed = None if asked.prune is None else fits.prune(seconds_of(asked.prune))
    contents = fits.contents()
    kinds: list[dict[str, Any]] = [
        {
            "name": name,
            "fits": contents.tasks[name],
            "bytes": contents.bytes[name],
            "seconds": contents.seconds[name],
        }
        for name in sorted(contents.tasks)
    ]
    data: dict[str, Any] = {
        "directory": str(asked.directory),
        "fits": sum(contents.tasks.values()),
        "bytes": sum(contents.bytes.values()),
        "damaged": contents.damaged,
        "removed": removed,
        "kinds": kinds,
    }
    facts = [
        ("directory", str(asked.directory)),
        ("finished fits", f"{data['fits']}, {decimal(data['bytes'])}"),
    ]
    if contents.damaged:
        facts.append(("damaged files, which are fitted again", str(contents.damaged)))
    if removed is not None:
        facts.append(("files removed", str(removed)))
    columns = [Column("candidate"), Column("fits", ".0f"), Column("size"), Column("time saved")]
    rows = [
        [kind["name"], kind["fits"], decimal(kind["bytes"]), duration(kind["seconds"])]
        for kind in kinds
    ]
    current.show(data, [Facts(facts), *([make_table(columns, rows)] if rows else [])])
