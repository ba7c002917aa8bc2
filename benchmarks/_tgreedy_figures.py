"""Pictures of the T-greedy benchmarks, in the manner of the paper's Figures 2 to 4."""

import matplotlib

matplotlib.use("Agg")

import matplotlib.pyplot as plt
import numpy as np

from benchmarks._harness import PAGES

COLOURS = {
    "t": "tab:blue",
    "loss": "tab:red",
    "gate": "tab:green",
    "signed": "tab:purple",
    "printed": "tab:orange",
}
NAMES = {
    "t": "T-greedy",
    "loss": "greedy",
    "gate": "gate",
    "signed": "signed T",
    "printed": "as printed",
}


def _save(figure, name: str) -> None:
    PAGES.mkdir(parents=True, exist_ok=True)
    figure.savefig(PAGES / f"{name}.svg", metadata={"Date": None})
    plt.close(figure)


def _curve(axis, lines, criterion: str) -> None:
    chosen = [r for r in lines if r["criterion"] == criterion]
    if len(chosen) < sum(r["criterion"] == "loss" for r in lines):
        return
    grid = chosen[0]["grid"]
    source = np.array([r["source"] for r in chosen])
    target = np.array([r["target"] for r in chosen])
    axis.plot(grid, source.mean(axis=0), "--", color=COLOURS[criterion], lw=1.2)
    axis.plot(grid, target.mean(axis=0), color=COLOURS[criterion], label=NAMES[criterion])
    if len(chosen) > 1:
        error = target.std(axis=0, ddof=1) / np.sqrt(len(chosen))
        middle = target.mean(axis=0)
        axis.fill_between(
            grid, middle - error, middle + error, color=COLOURS[criterion], alpha=0.2, lw=0
        )


def averages(groups, name: str) -> None:
    """Figure 4: solid on the held-out domain with standard errors, dashed on the source."""
    figure, axes = plt.subplots(
        1, len(groups), figsize=(4 * len(groups), 3.4), layout="constrained"
    )
    for axis, (title, lines) in zip(axes, groups.items(), strict=True):
        for criterion in COLOURS:
            _curve(axis, lines, criterion)
        _decorate(axis, title.replace(" (", "\n("))
    axes[0].set_ylabel("AUROC (dashed: source, solid: held-out)")
    axes[0].legend(frameon=False)
    _save(figure, name)


def splits(lines, name: str) -> None:
    """Figures 2 and 3: a panel for each held-out domain, and T along one path."""
    held_out = sorted({r["held_out"] for r in lines})[-4:]
    figure, axes = plt.subplots(1, 5, figsize=(17, 3.2), layout="constrained")
    for axis, domain in zip(axes, held_out, strict=False):
        for criterion in COLOURS:
            _curve(axis, [r for r in lines if r["held_out"] == domain], criterion)
        _decorate(axis, f"held out: {domain}")
    for criterion, colour in COLOURS.items():
        rows = [r for r in lines if (r["held_out"], r["criterion"]) == (held_out[-1], criterion)]
        if not rows:
            continue
        row = rows[0]
        axes[-1].plot(np.arange(1, len(row["T"]) + 1), row["T"], color=colour)
    axes[-1].set(title=f"|T| of each step, held out: {held_out[-1]}", xlabel="step", yscale="log")
    low, high = axes[-1].get_ylim()
    ticks = [t for t in (0.5, 1, 2, 5, 10, 20, 50, 100) if low <= t <= high]
    axes[-1].set_yticks(ticks, [f"{t:g}" for t in ticks])
    axes[-1].minorticks_off()
    axes[0].set_ylabel("AUROC (dashed: source)")
    axes[0].legend(frameon=False)
    _save(figure, name)


def _decorate(axis, title: str) -> None:
    axis.axhline(0.5, color="0.7", lw=0.8)
    axis.set(title=title, xlabel="features", xscale="log")
    ticks = [q for q in (1, 3, 10, 30, 100) if q <= axis.get_xlim()[1]]
    axis.set_xticks(ticks, map(str, ticks))
    axis.minorticks_off()
