"""Draw the pictures of the README and the start page; run it as a script.

``demo.png`` shows both questions of ``landbridge demo``. The start page has one picture per
question, in light and dark colours, so that a phone shows one above the other.
"""

import json
import subprocess
import sys
import tempfile
from pathlib import Path

import matplotlib.pyplot as plt

QUESTIONS = {
    "winter": ("season", "Winter, from other seasons: transfer helps"),
    "day off": ("day", "Days off, from working days: it does not"),
}
HERE = Path(__file__).parent
LIGHT = {"pooled": "#b5460f", "vote": "#0d67b5", "other": "#5b6470", "ink": "#222222"}
DARK = {"pooled": "#f08a4b", "vote": "#5aa9f0", "other": "#a0a8b4", "ink": "#ced6dd"}
LOW, HIGH = 0.15, 0.8


def ranking(folder: Path, target: str) -> list[dict]:
    domain = QUESTIONS[target][0]
    file = folder / ("winter.csv" if target == "winter" else "days_off.csv")
    command = ["select", str(file), "--label", "demand", "--domain", domain, "--target", target]
    options = ["--candidates", str(folder / "candidates.yaml"), "--format", "json"]
    shown = subprocess.run(
        [sys.executable, "-m", "landbridge", *command, *options],
        check=True, capture_output=True, text=True,
    )  # fmt: skip
    rows = json.loads(shown.stdout)["ranking"]["candidates"]
    return [row for row in rows if row["low"] is not None][::-1]


def draw(axis: plt.Axes, rows: list[dict], title: str, colours: dict[str, str]) -> None:
    ink = colours["ink"]
    for place, row in enumerate(rows):
        colour = colours.get(row["name"].split()[0], colours["other"])
        axis.plot([row["low"], row["high"]], [place] * 2, color=colour, lw=4, alpha=0.45)
        axis.plot(row["score"], place, "o", color=colour)
    axis.set_yticks(range(len(rows)), [row["name"] for row in rows], color=ink)
    axis.set_title(title, fontsize=10, loc="left", color=ink)
    axis.set_xlabel("accuracy on the target, 95 % interval", color=ink)
    axis.set_xlim(LOW, HIGH)
    axis.spines[["top", "right", "left"]].set_visible(False)
    axis.spines["bottom"].set_color(ink)
    axis.tick_params(left=False, colors=ink)
    axis.grid(axis="x", alpha=0.3)


def main() -> None:
    folder = Path(tempfile.mkdtemp())
    demo = [sys.executable, "-m", "landbridge", "demo", "--folder", str(folder)]
    subprocess.run(demo, check=True, capture_output=True)
    found = {target: ranking(folder, target) for target in QUESTIONS}
    figure, axes = plt.subplots(1, 2, figsize=(9, 2.7))
    for axis, (target, (_, title)) in zip(axes, QUESTIONS.items(), strict=True):
        draw(axis, found[target], title, LIGHT)
    figure.tight_layout()
    figure.savefig(HERE / "demo.png", dpi=130)
    for scheme, colours in {"light": LIGHT, "dark": DARK}.items():
        for target, (_, title) in QUESTIONS.items():
            figure, axis = plt.subplots(figsize=(4.5, 2.7))
            draw(axis, found[target], title, colours)
            figure.tight_layout()
            name = f"demo_{target.replace(' ', '_')}_{scheme}.png"
            figure.savefig(HERE / name, dpi=160, transparent=True)


if __name__ == "__main__":
    main()
