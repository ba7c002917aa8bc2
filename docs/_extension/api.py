"""API reference: one page per subpackage with every public name, found from ``__all__``."""

import importlib
import inspect
from pathlib import Path
from typing import Any

ROOMS = {
    "model_selection": "Choose source, algorithm and parameters",
    "baselines": "Baselines that every comparison needs",
    "weighting": "Importance weights",
    "boosting": "Transfer boosting",
    "kernels": "Kernel methods",
    "mapping": "Feature mappings",
    "ensemble": "Ensembles",
    "neighbors": "Non-nested generalised exemplars",
    "feature_selection": "Features that keep their meaning",
    "inference": "Variances, intervals and tests",
    "metrics": "Metrics of stored predictions",
    "inspection": "Shift diagnosis and displays",
    "labelling": "Which rows to label next",
    "interop": "Estimators of other libraries",
    "datasets": "Datasets and generators",
    "persistence": "Saved models",
    "report": "Reports",
    "exceptions": "Warnings",
}


def public_names() -> dict[str, list[str]]:
    """Public names of each subpackage, in its own order."""
    found: dict[str, list[str]] = {}
    seen: set[int] = set()
    for room in ROOMS:
        try:
            module = importlib.import_module(f"landbridge.{room}")
        except ModuleNotFoundError:
            continue
        names = list(getattr(module, "__all__", None) or _offered_by_package(module))
        # A name that two subpackages offer is described once, in the first of them.
        found[room] = [name for name in names if id(getattr(module, name)) not in seen]
        seen |= {id(getattr(module, name)) for name in names}
    return found


def _offered_by_package(module: Any) -> list[str]:
    """Names that a single file defines, which are public if the package offers them."""
    import landbridge

    own = {
        name
        for name, one in vars(module).items()
        if getattr(one, "__module__", "") == module.__name__
    }
    return [name for name in landbridge.__all__ if name in own]


def write_api_pages(folder: Path) -> None:
    """Write ``index.md`` and one page per subpackage."""
    folder.mkdir(exist_ok=True)
    names = public_names()
    current = {f"landbridge.{room}.{name}" for room, members in names.items() for name in members}
    for stub in folder.glob("generated/*.rst"):
        if stub.stem not in current:
            stub.unlink()  # of a name that is gone
    index = [
        "# API reference\n",
        "Every public name, grouped by subpackage. Most can also be imported from `landbridge` "
        "itself.\n",
        "```{toctree}\n:maxdepth: 1\n",
        *names,
        "```\n",
    ]
    _write(folder / "index.md", "\n".join(index))
    for room, members in names.items():
        _write(folder / f"{room}.md", _page(room, members))


def _page(room: str, members: list[str]) -> str:
    module = importlib.import_module(f"landbridge.{room}")
    parts = [f"# {ROOMS[room]}\n", f"```{{eval-rst}}\n.. automodule:: landbridge.{room}\n"]
    parts.append(f".. currentmodule:: landbridge.{room}\n")
    classes = [name for name in members if inspect.isclass(getattr(module, name))]
    others = [name for name in members if name not in classes]
    for title, chosen, template in (("Classes", classes, "class"), ("Functions", others, "base")):
        if chosen:
            parts.append(f".. rubric:: {title}\n")
            parts.append(
                f".. autosummary::\n   :toctree: generated\n   :template: {template}.rst\n"
            )
            parts += [f"   {name}" for name in chosen]
            parts.append("")
    return "\n".join([*parts, "```\n"])


def _write(path: Path, text: str) -> None:
    # An unchanged file keeps its time, so that Sphinx does not read the page again.
    if not path.exists() or path.read_text() != text:
        path.write_text(text)


def skip_inherited(
    app: Any, what: str, name: str, member: Any, skip: bool, options: Any
) -> bool | None:
    """Leave out methods that scikit-learn or the standard library documents."""
    module = getattr(inspect.unwrap(member) if callable(member) else member, "__module__", None)
    return None if module is None or module.startswith("landbridge") else True
