"""The page of the surrogate-kernel experiments, every figure and verdict from the results."""

from typing import Any

import numpy as np
from scipy.stats import ttest_rel

from benchmarks._harness import markdown_table, write_page

Scores = dict[str, dict[str, np.ndarray]]

# Tables 2, 4 and 6 of Zhang et al. (2013), means in per cent; the WiFi data of the paper are not
# public, so its Tables 4 and 6 stand beside other buildings.
PAPER_TEXT = {
    "comp-vs-sci": (63.96, 60.96, 64.00, 63.38, 65.50, 65.05),
    "comp-vs-talk": (64.48, 64.95, 64.92, 68.03, 71.98, 76.08),
    "rec-vs-sci": (57.91, 54.75, 58.43, 62.03, 56.31, 62.10),
    "rec-vs-talk": (62.83, 63.73, 62.51, 65.63, 63.40, 66.17),
    "sci-vs-talk": (60.43, 60.15, 59.83, 61.80, 56.51, 66.00),
}
# Table 1 of the paper.
PAPER_SIZES = {
    "comp-vs-sci": (3930, 4900, 9893),
    "comp-vs-talk": (4482, 3652, 10625),
    "rec-vs-sci": (3961, 3965, 14975),
    "rec-vs-talk": (3669, 3561, 15254),
    "sci-vs-talk": (3374, 3828, 15328),
}
TEXT_COLUMNS = ("SVM, words", "KMM", "KLIEP", "TSVM, words", "TCA", "surrogate")
PAPER_WIFI = {
    "t1-vs-t2": (80.84, 81.84, 82.67, 82.35, 86.85, 90.36),
    "t1-vs-t3": (76.44, 76.42, 75.54, 94.96, 80.48, 94.97),
    "t2-vs-t3": (67.12, 69.24, 70.21, 85.34, 72.02, 85.83),
    "hallway1": (60.02, 55.97, 48.57, 53.68, 65.93, 76.36),
    "hallway2": (49.38, 42.25, 41.71, 56.18, 62.44, 64.69),
    "hallway3": (48.42, 47.36, 44.84, 51.53, 59.18, 65.73),
}
WIFI_COLUMNS = ("KRR", "KMM", "KLIEP", "LapRLS", "TCA", "surrogate")
TITLES = {
    "text": "Newsgroups: accuracy in per cent",
    "wifi": "WiFi: per cent of rows found within 3 m (ICDM 2007) or 6 m (UJI)",
    "office": "Office-Caltech10: accuracy in per cent",
}
BASELINES = {"text": "SVM", "wifi": "KRR", "office": "SVM"}


def write(lines: list[dict[str, Any]], printed: list[dict[str, Any]]) -> None:
    """Write ``docs/benchmarks/kernels_paper.md``."""
    parts = [INTRODUCTION, *in_the_papers_setting(printed)]
    for kind, title in TITLES.items():
        scores = collect(lines, kind)
        if scores:
            parts += [f"## {title}", table(scores), *verdicts(kind, scores)]
    parts += [costs(lines), CONCLUSION]
    write_page("kernels_paper", "\n\n".join(parts))


def in_the_papers_setting(lines: list[dict[str, Any]]) -> list[str]:
    """What the page opens with: exact kernels, jitter 1e-6, word counts and signals."""
    parts = ["## The paper's own setting", PRINTED, *sizes(lines)]
    text_columns = ("SVM", "KMM", "KLIEP", "TSVM", "TCA", "surrogate")
    for kind, base, columns in (
        ("all counts", "SVM", text_columns),
        ("counts", "SVM", text_columns),
        ("signals", "KRR", WIFI_COLUMNS),
    ):
        scores = collect(lines, kind)
        if not scores:
            continue
        parts += [f"### {PRINTED_TITLES[kind]}", table(scores)]
        if kind == "all counts":
            rows = [[task, *(f"{v:.1f}" for v in row)] for task, row in PAPER_TEXT.items()]
            parts.append("The paper's Table 2:\n\n" + markdown_table(["task", *columns], rows))
        names = [
            n
            for n in ("surrogate", "TCA", "minimiser of Eq. 8")
            if n in next(iter(scores.values()))
        ]
        gains = "\n".join(compare(scores, base, name) for name in names)
        parts += [claim(scores, columns), gains]
    return [*parts, *gammas([line for line in lines if line["kind"] == "gamma"])]


def sizes(lines: list[dict[str, Any]]) -> list[str]:
    """Rows and columns of the tasks, beside those of the paper where it has them."""
    rows = []
    for line in (line for line in lines if line["kind"] == "sizes"):
        ours = [line[name] for name in ("source", "target", "columns")]
        rows.append([line["task"], *ours, *PAPER_SIZES.get(line["task"], ("–",) * 3)])
    ours = ["source rows", "target rows", "columns"]
    return [markdown_table(["task", *ours, *(f"{name}, paper" for name in ours)], rows), SIZES]


def gammas(lines: list[dict[str, Any]]) -> list[str]:
    """The paper's remarks on γ: accuracy hardly depends on it, removed eigenvalues are rare."""
    if not lines:
        return []
    names = list(lines[0]["scores"])
    rows = [
        [name, *(f"{100 * np.mean([x[key][name] for x in lines]):.1f}" for key in GAMMA_COLUMNS)]
        for name in names
    ]
    spread = [100 * (max(x["scores"].values()) - min(x["scores"].values())) for x in lines]
    n_tasks = len({x["task"] for x in lines})
    return [
        "### The weight γ of Eq. (8)",
        "The paper fixes γ at a small value, finds the accuracy quite insensitive to it, and calls "
        f"negative eigenvalues very rare. Means over {n_tasks} tasks and {len(lines) // n_tasks} "
        "draws, with γ relative to the squared mean diagonal of K_Z:",
        markdown_table(["γ", *GAMMA_COLUMNS.values()], rows),
        "Within a draw, the largest and the smallest accuracy differ by "
        f"{np.mean(spread):.1f} points in the mean.",
    ]


GAMMA_COLUMNS = {"scores": "accuracy in per cent", "removed": "removed eigenvalues in per cent"}


PRINTED_TITLES = {
    "all counts": "Newsgroups, linear kernel on counts of words: accuracy in per cent",
    "counts": "Newsgroups, 900 rows per domain: accuracy in per cent",
    "signals": "WiFi, Gaussian kernel: per cent of rows found within 3 m (ICDM 2007) or 6 m (UJI)",
}
PRINTED = """The exact kernel, a jitter of 1e-6 of the mean diagonal on K_X, γ = 0, and costs tuned
on 50 labelled target rows; counts of words without English stop words. First the paper's splits,
60 % of both domains or 2000 to 2900 rows each, in ten draws; then 900 rows of each. With stop words
kept and 900 rows, one draw per task put the surrogate about 1.2 points below the SVM, so the
removal of stop words decides its sign. With tf-idf and tuned ridges see the sections below.

*Minimiser of Eq. 8*: the printed Eq. (9) is not the T of least norm among those with T'K_Z T = S.
The one that is pairs the eigenvectors of S with those of K_Z by rank and rotates the source rows
into each other; the sign of every pair is arbitrary, and with it the cross kernel that predicts. It
is no option of the estimators for that reason."""

SIZES = """The WiFi data of the paper have 792 rows and 67 columns for each time (Table 3), and 450
to 550 rows and 45 to 80 columns for each device and hallway (Table 5)."""


def collect(lines: list[dict[str, Any]], kind: str) -> Scores:
    """Per cent by task and method, in the order of the repeats."""
    chosen = sorted((one for one in lines if one["kind"] == kind), key=lambda one: one["repeat"])
    tasks = list(dict.fromkeys(one["task"] for one in chosen))
    return {
        task: {
            method: 100 * np.array([one["scores"][method] for one in chosen if one["task"] == task])
            for method in chosen[0]["scores"]
        }
        for task in tasks
    }


def table(scores: Scores) -> str:
    """Methods down, tasks across: mean ± standard deviation, the best of a task in bold."""
    tasks = list(scores)
    methods = list(scores[tasks[0]])
    best = {task: max(methods, key=lambda m, task=task: scores[task][m].mean()) for task in tasks}
    rows = []
    for method in methods:
        cells = [_cell(scores[task][method], bold=best[task] == method) for task in tasks]
        mean = np.mean([scores[task][method].mean() for task in tasks])
        rows.append([method, *cells, f"{mean:.1f}"])
    repeats = ", ".join(map(str, sorted({next(iter(s.values())).size for s in scores.values()})))
    return markdown_table(["method", *tasks, "mean"], rows) + f"\n\nDraws per task: {repeats}."


def _cell(values: np.ndarray, *, bold: bool) -> str:
    text = (
        f"{values.mean():.1f} ± {values.std(ddof=1):.1f}" if values.size > 1 else f"{values[0]:.1f}"
    )
    return f"**{text}**" if bold else text


def verdicts(kind: str, scores: Scores) -> list[str]:
    """What the figures say about the claims of the paper."""
    parts = []
    if kind == "text":
        parts += [beside_the_paper(scores), claim(scores, TEXT_COLUMNS)]
    if kind == "wifi":
        header = ["paper's task", *WIFI_COLUMNS]
        rows = [[task, *(f"{value:.1f}" for value in row)] for task, row in PAPER_WIFI.items()]
        parts += [
            "The paper's own figures, on WiFi data that are not public:\n\n"
            + markdown_table(header, rows),
            claim(scores, WIFI_COLUMNS),
        ]
    names = ["surrogate", "TCA", "kernel PCA"]
    if kind == "office":
        names = [f"{name}, SVM" for name in names]
    parts.append("\n".join(compare(scores, BASELINES[kind], name) for name in names))
    if kind == "office":
        nearest = [f"{name}, 1-NN" for name in ("surrogate", "TCA", "kernel PCA", "SA", "CORAL")]
        parts.append("\n".join(compare(scores, "1-NN", name) for name in nearest))
        parts.append(compare(scores, "kernel PCA, SVM", "TCA, SVM"))
    else:
        parts.append(compare(scores, "kernel PCA", "TCA"))
    return parts


def beside_the_paper(scores: Scores) -> str:
    """Our means beside the printed ones, and whether the paper's winner is ours."""
    rows, same = [], 0
    for task, printed in PAPER_TEXT.items():
        ours = [scores[task][method].mean() for method in TEXT_COLUMNS]
        rows.append([task, *(f"{a:.1f} ({b:.1f})" for a, b in zip(ours, printed, strict=True))])
        same += int(np.argmax(ours) == np.argmax(printed))
    return (
        "Beside the paper's Table 2, ours (printed):\n\n"
        + markdown_table(["task", *TEXT_COLUMNS], rows)
        + f"\n\nThe best of these six methods is the paper's best on {same} of {len(rows)} tasks."
    )


def claim(scores: Scores, methods: tuple[str, ...]) -> str:
    """Whether the surrogate kernel is the best of the paper's methods on most tasks."""
    best = [max(methods, key=lambda m, one=one: one[m].mean()) for one in scores.values()]
    wins = best.count("surrogate")
    word = "reproduces" if wins > len(best) / 2 else "does **not** reproduce"
    others = ", ".join(f"{name} {best.count(name)}" for name in methods if best.count(name))
    return (
        "The paper's claim, that its method attains the best performance on most of the tasks, "
        f"{word}: the surrogate kernel is the best of its six methods on {wins} of {len(best)} "
        f"(best: {others})."
    )


def compare(scores: Scores, base: str, method: str) -> str:
    """Wins of ``method`` over ``base`` by a paired t-test over the draws at 99.5 %."""
    better, worse, gains, variance = 0, 0, [], 0.0
    for by_method in scores.values():
        difference = by_method[method] - by_method[base]
        gains.append(difference.mean())
        variance += difference.var(ddof=1) / difference.size if difference.size > 1 else np.nan
        if difference.size > 1 and difference.std() > 0:
            sure = ttest_rel(by_method[method], by_method[base]).pvalue < 0.005
            better += int(sure and difference.mean() > 0)
            worse += int(sure and difference.mean() < 0)
    higher = sum(gain > 0 for gain in gains)
    if np.isnan(variance):
        return (
            f"- **{method}** against {base}: higher on {higher} of {len(gains)} tasks, mean "
            f"difference {np.mean(gains):+.1f} points."
        )
    return (
        f"- **{method}** against {base}: higher on {higher} of {len(gains)} tasks (significantly "
        f"on {better}, significantly lower on {worse}; paired t-test over the draws, 99.5 %), "
        f"mean difference {np.mean(gains):+.1f} ± {np.sqrt(variance) / len(gains):.1f} points "
        "(standard error over the draws)."
    )


def costs(lines: list[dict[str, Any]]) -> str:
    """Mean CPU seconds of four fits and their predictions."""
    text = [one["cpu_s"] for one in lines if one["kind"] == "text"]
    if not text:
        return ""
    rows = [[name, f"{np.mean([one[name] for one in text]):.2f}"] for name in text[0]]
    return (
        "## CPU seconds of a method on a newsgroup draw (four fits)\n\n"
        + markdown_table(["method", "CPU s"], rows)
        + "\n\nMethods that share weights or a map between their points fit them once."
    )


INTRODUCTION = """# Surrogate kernels compared with other methods on real data

Generated by `python -m benchmarks kernels_paper`. The experiments of Zhang, Zheng, Wang, Kwok, Yang
and Marsic, *Covariate Shift in Hilbert Space: A Solution via Surrogate Kernels* (2013), with CORAL,
subspace alignment (SA) and a kernel PCA of both domains as controls.

Each draw takes 60 % of the source and of the target rows. Parameters are chosen on 50 labelled
target rows (images: 30), which are not test rows. Every method has a grid of four points (1-NN
has no parameter). Methods that use unlabelled rows receive all target rows without labels.

- *Newsgroups*: subject and body, tf-idf. "words" sees all words; the other methods see the 200
  leading singular directions of both domains' words, which is the linear kernel at low rank.
- *WiFi*: kernel ridge regression of both coordinates with a Gaussian kernel; UJIIndoorLoc in each
  of its three buildings from one phone to another that was carried to the same places. At most 600
  rows per domain.
- *Office-Caltech10*: visual words, each row divided by its sum, columns standardised by domain."""

CONCLUSION = """## What reproduces

The verdicts above are generated from the results. Read them with this in mind:

- The paper's linear SVM has 58 to 64 % on the newsgroup tasks. Where ours is far above that, and
  above the printed figures of every method, the printed gains are gains over a weak baseline.
- The surrogate of a kernel is the source projected on the span of the target: with the printed
  pseudo-inverse it changes nothing once the target spans the source. Only the ridge has an effect:
  it changes the weights of directions, which may help or harm.
- TCA is compared with a plain kernel PCA of both domains, which ignores domain means. Where both
  gain, the gain comes from the low dimension and not from matching means.
- Eq. (9) is one of many T with the same aligned kernel. The symmetric one, which moves the source
  points least, had 81.1 % on text where Eq. (9) has 85.6 %, 32.8 against 31.6 % on WiFi and 41.5
  against 41.1 % on images in the same draws, so it is not offered."""
