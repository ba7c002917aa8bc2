"""Pictures and page of `multisource_paper`, from its JSON lines and one comparison."""

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from benchmarks._harness import PAGES, markdown_table, read, write_page
from benchmarks._multisource_claims import claims
from benchmarks._multisource_thousand import N_DATA_SETS
from landbridge.inspection import MultiSourceDisplay
from landbridge.model_selection import Comparison

NAME = "multisource_paper"
COLOURS = ["#0072b2", "#d55e00", "#009e73", "#cc79a7", "#56b4e9"]
PARTS = {"sigma": "σ²", "omega": "ω", "gamma": "γ"}
ESTIMATORS = {
    "source": {"theta_gamma": "θ^γ", "theta_a": "θ_A", "theta_b": "θ_B"},
    "random": {"theta_3": "θ3", "theta_4": "θ4", "theta_5": "θ5"},
}
SCHEMES = {"source": "CVS (sources left out)", "random": "CVR (random blocks)"}


def write(comparison: Comparison) -> None:
    """Draw every figure and write the page; ``comparison`` is that of all rows of all domains."""
    lines = read(NAME)
    outside = [line for line in lines if line["what"] == "outside"]
    variance = [line for line in lines if line["what"] == "variance"]
    learners = list(dict.fromkeys(line["learner"] for line in outside))
    draw_sources(comparison)
    draw("figure2", learners, outside_panels(outside, learners, figure_2))
    draw("figure3", learners, outside_panels(outside, learners, figure_3))
    every = list(dict.fromkeys(line["learner"] for line in variance))
    draw("figure4", every, variance_panels(variance, every, figure_4))
    draw("figure5", every, variance_panels(variance, every, figure_5))
    draw("figure6", every, variance_panels(variance, every, figure_6))
    covered = [line for line in outside if "coverage" in line]
    learners = list(dict.fromkeys(line["learner"] for line in covered))
    draw("coverage", learners, outside_panels(covered, learners, figure_coverage))
    level = lines[0]["level"]
    text = PAGE.format(
        n_domains=len(lines[0]["domains"]),
        rows=lines[0]["rows"],
        level=f"{100 * level:g} %",
        n_sets=N_DATA_SETS,
        claims=markdown_table(["the paper says", "here", *every], claims(outside, variance, every)),
        bias=bias_table(outside),
        coverage=coverage_table(covered),
        estimators=estimator_table(variance),
        verdict=coverage_verdict(covered, len(lines[0]["domains"])),
        answer=comparison.result("naive Bayes").describe(level),
    )
    write_page(NAME, text)


# Figures: a panel is a function that draws into axes.


def draw_sources(comparison: Comparison) -> None:
    """All domains once: errors of naive Bayes, and the paired differences to the linear SVM."""
    import matplotlib as mpl

    mpl.use("Agg")
    for name, display in (
        ("sources", MultiSourceDisplay.from_result(comparison.result("naive Bayes"))),
        ("differences", MultiSourceDisplay.from_comparison(comparison)),
    ):
        display.plot().figure_.savefig(PAGES / f"{NAME}_{name}.png", dpi=90)


def draw(name: str, learners: list[str], panels: list[list[Callable[[Any], None]]]) -> None:
    import matplotlib as mpl

    mpl.use("Agg")
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(
        len(panels), 2, figsize=(8.4, 2.9 * len(panels)), layout="constrained", squeeze=False
    )
    for learner, row, panel_row in zip(learners, axes, panels, strict=True):
        for ax, panel in zip(row, panel_row, strict=True):
            panel(ax)
            ax.spines[["top", "right"]].set_visible(False)
        row[0].set_ylabel(f"{learner}\n{row[0].get_ylabel()}")
    axes[0, 1].legend(frameon=False, fontsize=8)
    PAGES.mkdir(parents=True, exist_ok=True)
    figure.savefig(PAGES / f"{NAME}_{name}.png", dpi=90)
    plt.close(figure)


def outside_panels(outside: list[dict], learners: list[str], panel: Callable) -> list[list]:
    """For each learner: along K at the common M, along M at the common K."""
    rows = []
    for learner in learners:
        mine = [line for line in outside if line["learner"] == learner]
        along_k = sorted((line for line in mine if line["M"] == 200), key=lambda line: line["K"])
        k = next(line["K"] for line in mine if line["M"] == 1000)
        along_m = sorted((line for line in mine if line["K"] == k), key=lambda line: line["M"])
        rows.append(
            [
                lambda ax, part=along_k: panel(ax, part, "K", "sources K, M = 200"),
                lambda ax, part=along_m, k=k: panel(ax, part, "M", f"rows of a source M, K = {k}"),
            ]
        )
    return rows


def variance_panels(variance: list[dict], learners: list[str], panel: Callable) -> list[list]:
    """For each learner: CVS on the left, CVR on the right."""

    def draw_panel(ax: Any, learner: str, scheme: str) -> None:
        mine = [v for v in variance if v["learner"] == learner and v["scheme"] == scheme]
        panel(ax, mine, scheme)

    return [
        [partial(draw_panel, learner=learner, scheme=scheme) for scheme in SCHEMES]
        for learner in learners
    ]


def x_axis(ax: Any, lines: list[dict], x: str, label: str) -> list[int]:
    if x == "M":
        ax.set_xscale("log")
        ax.set_xticks([line["M"] for line in lines], [str(line["M"]) for line in lines])
        ax.minorticks_off()
    ax.set_xlabel(label)
    return [line[x] for line in lines]


def figure_2(ax: Any, lines: list[dict], x: str, label: str) -> None:
    values = x_axis(ax, lines, x, label)
    for name, words, colour in zip(
        ("cvs", "cvr", "new"), ("CVS", "CVR", "new domain"), COLOURS, strict=False
    ):
        ax.plot(values, [line[name] for line in lines], "o-", color=colour, label=words)
    ax.set_ylabel("error")


def figure_3(ax: Any, lines: list[dict], x: str, label: str) -> None:
    values = x_axis(ax, lines, x, label)
    for name, words, colour in zip(("sd_cvs", "sd_cvr"), ("CVS", "CVR"), COLOURS, strict=False):
        ax.plot(values, [line[name] for line in lines], "o-", color=colour, label=words)
    ax.set_ylim(bottom=0)
    ax.set_ylabel("standard deviation")


def figure_4(ax: Any, lines: list[dict], scheme: str) -> None:
    values = x_axis(ax, lines, "M", f"M; {SCHEMES[scheme]}")
    for (name, words), colour in zip(PARTS.items(), COLOURS, strict=False):
        ax.plot(values, [v["parts"][name] for v in lines], "o-", color=colour, label=words)
    ax.plot(values, [v["total"] for v in lines], "k--", label="θ")
    ax.axhline(0, color="#888888", linewidth=0.6)
    ax.set_yscale("symlog", linthresh=1e-6)
    ax.set_ylabel("part of the variance")


def figure_5(ax: Any, lines: list[dict], scheme: str) -> None:
    values = np.array(x_axis(ax, lines, "M", f"M; {SCHEMES[scheme]}"))
    for name, words, colour, shift in (
        ("omega", "ω_k", COLOURS[0], 0.96),
        ("gamma", "γ_kl", COLOURS[1], 1.04),
    ):
        low, first, middle, third, high = np.array([v[name] for v in lines]).T
        ax.vlines(shift * values, low, high, color=colour, linewidth=1)
        ax.vlines(shift * values, first, third, color=colour, linewidth=5)
        ax.plot(shift * values, middle, "o", color=colour, markeredgecolor="white", label=words)
    ax.axhline(0, color="#888888", linewidth=0.6)
    ax.set_ylabel("covariance")


def figure_6(ax: Any, lines: list[dict], scheme: str) -> None:
    values = x_axis(ax, lines, "M", f"M; {SCHEMES[scheme]}")
    for (kind, words), colour in zip(ESTIMATORS[scheme].items(), COLOURS, strict=False):
        means = np.array([v["estimators"][kind] for v in lines])
        shown = np.where(means > 0, means, np.nan)  # θ5 can be negative
        ax.plot(values, shown, "o-", color=colour, label=words)
    ax.plot(values, [v["total"] for v in lines], "k--", label="θ")
    ax.set_yscale("log")
    ax.set_ylabel("mean estimate of θ")
    ax.legend(frameon=False, fontsize=8)


COVERAGES = {
    "new_source: M rows of a new domain": "new_source, M rows of a new domain",
    "new_source: new domain": "new_source, all rows of a new domain",
    "fixed: new domain": "θ_B, a new domain",
    "theta_b: these domains": "θ_B, these domains",
}


def figure_coverage(ax: Any, lines: list[dict], x: str, label: str) -> None:
    lines = [line for line in lines if line["K"] > 2]
    values = x_axis(ax, lines, x, label)
    for (name, words), colour in zip(COVERAGES.items(), COLOURS, strict=False):
        ax.plot(values, [c["coverage"][name] for c in lines], "o-", color=colour, label=words)
    ax.axhline(0.9, color="k", linewidth=0.8, linestyle="--")
    ax.set_ylim(0, 1.02)
    ax.set_ylabel("coverage")


# Tables and the words beside them.


def bias_table(outside: list[dict]) -> str:
    header = ["learner", "K", "M", "new domain", "CVS", "CVR", "bias of CVS", "bias of CVR"]
    return markdown_table(
        header,
        [
            [
                line["learner"],
                line["K"],
                line["M"],
                *(f"{line[name]:.3f}" for name in ("new", "cvs", "cvr")),
                *(
                    f"{line[name] - line['new']:+.3f} ± {line[f'bias_{name}_se']:.3f}"
                    for name in ("cvs", "cvr")
                ),
            ]
            for line in outside
        ],
    )


def coverage_table(outside: list[dict]) -> str:
    names = [*COVERAGES, "population: mean of domains", "theta_a: these domains"]
    header = ["learner", "K", "M", "half-width", *(COVERAGES.get(n, n) for n in names)]
    return markdown_table(
        header,
        [
            [
                line["learner"],
                line["K"],
                line["M"],
                f"{line['half_width']['new_source']:.3f}",
                *(f"{100 * line['coverage'][name]:.0f} %" for name in names),
            ]
            for line in outside
            if line["K"] > 2
        ],
    )


def coverage_verdict(outside: list[dict], n_domains: int) -> str:
    """The default interval over all settings with at least five domains, each comparison once."""
    usual = [line for line in outside if line["K"] >= 5]

    def pooled(name: str, lines: list[dict]) -> float:
        weights = [line["draws"] * (n_domains - line["K"]) for line in lines]
        return 100 * float(np.average([line["coverage"][name] for line in lines], weights=weights))

    whole, own = "new_source: new domain", "new_source: M rows of a new domain"
    inside = "yes" if 88 <= pooled(whole, usual) <= 97 else "no"
    by_rows = ", ".join(
        f"{pooled(whole, [line for line in usual if line['M'] == m]):.0f} % at M = {m}"
        for m in sorted({line["M"] for line in usual})
    )
    others = "; ".join(
        f"{words} {pooled(name, usual):.0f} %"
        for name, words in {
            "fixed: new domain": "θ_B, read as an interval for a new domain,",
            "theta_b: these domains": "θ_B for its own question, these domains,",
            "theta_a: these domains": "θ_A for these domains",
            "population: mean of domains": "`population`",
        }.items()
    )
    return (
        f"With at least 5 domains the default interval covers the error on a new domain in "
        f"{pooled(whole, usual):.1f} % ({by_rows}); within 88–97 %: {inside}. For M rows of the "
        f"new domain, which is its own question, it covers {pooled(own, usual):.1f} %. {others}."
    )


def estimator_table(variance: list[dict]) -> str:
    kinds = ("theta_2", "theta_3", "theta_4", "theta_5", "theta_b")
    header = ["learner", "scheme", "M", "data sets", "θ", *(f"{k} / θ" for k in kinds), "θ5 < 0"]
    return markdown_table(
        header,
        [
            [
                v["learner"],
                "CVS" if v["scheme"] == "source" else "CVR",
                v["M"],
                v["runs"],
                f"{v['total']:.2e}",
                *(f"{v['estimators'][kind] / v['total']:.2g}" for kind in kinds),
                f"{100 * v['negative']['theta_5']:.0f} %",
            ]
            for v in variance
        ],
    )


PAGE = """# Multiple-source cross-validation on {n_domains} domains of reviews

Generated by `python -m benchmarks multisource_paper`, after Geras and Sutton, *Multiple-source
cross-validation*: {rows} reviews, {n_domains} domains; naive Bayes on word occurrence and a linear
SVM on unit vectors. K domains are drawn, the others are new; rows are drawn with replacement (for
CVR in Figures 2 and 3 without, since a row drawn twice would stand on both sides of a random
split). Intervals are nominal {level}.

*Naive Bayes, 10 domains* is the paper's own setting: its ten domains (those of the collection with
1000 positive and 1000 negative reviews; the paper does not name them), word counts, and rows drawn
with replacement throughout, so that CVR can have copies of a row on both sides of a split. Figures
2 and 3 have 200 draws of domains, of which one is new, with {n_sets} data sets each (the paper:
100), Figures 4 to 6 have 1000 data sets.

## All rows of all domains

```
{answer}
```

![Accuracy by domain](multisource_paper_sources.png)

The same for the difference of naive Bayes and a linear SVM on the same words, domain by domain:

![Paired differences by domain](multisource_paper_differences.png)

## The paper's claims

{claims}

± is the Monte Carlo standard error; a verdict is unclear within two of them.

## Figure 2: error by cross-validation and on new domains

![Figure 2](multisource_paper_figure2.png)

{bias}

± is the Monte Carlo standard error over draws of domains.

## Figure 3: standard deviation with the domains fixed

![Figure 3](multisource_paper_figure3.png)

With 14 domains the rows of CVR are drawn without replacement: at M = 1000, half of a domain, that
alone takes up to 30 % off its standard deviation.

## Figure 4: parts of the variance

The rows with 14 domains have 200 or 50 data sets. The dashed line is the variance θ over the draws,
the sum of the parts.

![Figure 4](multisource_paper_figure4.png)

## Figure 5: covariances within and between sources

Range (thin), quartiles (thick) and median over sources and pairs, each estimated from the draws.

![Figure 5](multisource_paper_figure5.png)

## Figure 6: estimators of the variance

![Figure 6](multisource_paper_figure6.png)

{estimators}

## Beyond the paper: what the intervals cover

{verdict}

![Coverage](multisource_paper_coverage.png)

{coverage}

`new_source` is about the mean loss on as many rows of a new source as the sources at hand have;
the error on all rows of a new domain has less noise. `population` is judged against the mean over
draws of domains, with the part between domains reduced by 1 − K/{n_domains}, since the domains are
drawn from {n_domains} and not from all there could be. The half-width is that of `new_source`.
`population` was measured before its interval allowed for the training rows that folds share; it is
now wider by a factor of √((K + 1)/(K − 1)).
"""
