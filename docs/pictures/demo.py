"""Draw ``demo.png`` from the two questions of ``landbridge demo``; run it as a script."""

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


def ranking(folder: Path, target: str) -> list[dict]:
    domain = QUESTIONS[target][0]
    file = folder / ("winter.csv" if target == "winter" else "days_off.csv")
    command = ["select", str(file), "--label", "demand", "--domain", domain, "--target", target]
    options = ["--candidates", str(folder / "candidates.yaml"), "--format", "json"]
    shown = subprocess.run(
        [sys.executable, "-m", "landbridge", *command, *options],
        check=True, capture_output=True, text=True,
    )  # fmt: skip
    return json.loads(shown.stdout)["ranking"]["candidates"]


def main() -> None:
    folder = Path(tempfile.mkdtemp())
    demo = [sys.executable, "-m", "landbridge", "demo", "--folder", str(folder)]
    subprocess.run(demo, check=True, capture_output=True)
    figure, axes = plt.subplots(1, 2, figsize=(9, 2.7), sharex=True)
    for axis, (target, (_, title)) in zip(axes, QUESTIONS.items(), strict=True):
        rows = [row for row in ranking(folder, target) if row["low"] is not None][::-1]
        for place, row in enumerate(rows):
            colour = {"pooled": "#b5460f", "vote": "#0d67b5"}.get(row["name"].split()[0], "#5b6470")
            axis.plot([row["low"], row["high"]], [place] * 2, color=colour, lw=4, alpha=0.45)
            axis.plot(row["score"], place, "o", color=colour)
        axis.set_yticks(range(len(rows)), [row["name"] for row in rows])
        axis.set_title(title, fontsize=10, loc="left")
        axis.set_xlabel("accuracy on the target, 95 % interval")
        axis.spines[["top", "right", "left"]].set_visible(False)
        axis.tick_params(left=False)
        axis.grid(axis="x", alpha=0.3)
    figure.tight_layout()
    figure.savefig(Path(__file__).with_suffix(".png"), dpi=130)


if __name__ == "__main__":
    main()
