"""Which features are picked first when the effects of some change sign between domains.

Ten features have the same effect 0.5 in every domain. Forty have an effect drawn anew for each
domain from a normal distribution with mean 0 and a given standard deviation. Fifty have none.
Rows are standard normal with correlation 0.3 between neighbours, noise has variance 1, and each
domain has 300 rows. The table shows the number of invariant features among the first ten selected,
and the squared error of the ten-feature model on a new domain relative to that of predicting the
mean.
"""

from itertools import product

import numpy as np

from benchmarks._harness import Log, markdown_table, read, write_page
from landbridge import TGreedySelector

NAME = "tgreedy_simulation"
CRITERIA = ("t", "gate", "loss")
INVARIANT, CHANGING, IDLE = 10, 40, 50
REPETITIONS = 50


def draw_domain(rng, beta, n_rows=300):
    """Rows with correlation 0.3 between neighbouring features, and their response."""
    noise = rng.normal(size=(n_rows, beta.size + 1))
    X = (noise[:, 1:] + 0.32 * noise[:, :-1]) / np.sqrt(1 + 0.32**2)
    return X, X @ beta + rng.normal(size=n_rows)


def draw_effects(rng, spread, order):
    effects = np.r_[np.full(INVARIANT, 0.5), spread * rng.normal(size=CHANGING), np.zeros(IDLE)]
    return effects[order]


def run() -> None:
    cells = (
        ({"n_domains": n_domains, "spread": spread, "seed": seed}, (n_domains, spread, seed))
        for n_domains, spread, seed in product((8, 16), (1.0, 2.0), range(REPETITIONS))
    )
    with Log(NAME) as log:
        log.run(one_repetition, cells)
    page()


def one_repetition(n_domains, spread, seed) -> dict[str, dict[str, float]]:
    """Invariant features among the first ten, and the error on a new domain, by criterion."""
    rng = np.random.default_rng([seed, n_domains, int(spread)])
    order = rng.permutation(INVARIANT + CHANGING + IDLE)
    effects = [draw_effects(rng, spread, order) for _ in range(n_domains + 1)]
    parts = [draw_domain(rng, beta) for beta in effects]
    X, y = (np.concatenate(part) for part in zip(*parts[:-1], strict=True))
    site = np.repeat(np.arange(n_domains), 300)
    X_new, y_new = parts[-1]
    found, error = {}, {}
    for criterion in CRITERIA:
        model = TGreedySelector(criterion, n_features=10, stop=None).fit(X, y, groups=site)
        found[criterion] = int((order[model.get_support()] < INVARIANT).sum())
        error[criterion] = round(float(1 - model.score(X_new, y_new)), 4)
    return {"found": found, "error": error}


def page() -> None:
    lines = read(NAME)
    rows, verdicts = [], []
    for n_domains in (8, 16):
        for spread in (1.0, 2.0):
            chosen = [r for r in lines if (r["n_domains"], r["spread"]) == (n_domains, spread)]
            found = {c: np.array([r["found"][c] for r in chosen]) for c in CRITERIA}
            error = {c: np.array([r["error"][c] for r in chosen]) for c in CRITERIA}
            row = [n_domains, spread]
            for values in [*found.values(), *error.values()]:
                row.append(f"{values.mean():.2f} ± {values.std(ddof=1) / len(values) ** 0.5:.2f}")
            rows.append(row)
            ratios = {c: found[c].mean() / found["loss"].mean() for c in ("t", "gate")}
            word = "at least twice" if min(ratios.values()) >= 2 else "less than twice"
            verdicts.append(
                f"- {n_domains} domains, spread {spread:g}: `t` finds {ratios['t']:.1f} times and "
                f"`gate` {ratios['gate']:.1f} times as many invariant features as greedy selection "
                f"({word})."
            )
    header = ["domains", "spread"]
    header += [f"invariant of 10: {c}" for c in CRITERIA] + [
        f"relative error: {c}" for c in CRITERIA
    ]
    text = [
        "# Effects that change sign",
        "",
        __doc__.split("\n\n", 1)[1].strip(),
        f"Means ± standard errors over {REPETITIONS} repetitions.",
        "",
        markdown_table(header, rows),
        "",
        *verdicts,
    ]
    write_page(NAME, "\n".join(text))
