"""Features for a domain nobody has seen: the experiments of Foster, Kakade, Salakhutdinov.

Digits on MNIST (one digit against another one is a domain, one digit is held out) and similarity
on MNIST and CIFAR-10 (a class is a domain, one class is held out), with 2000 features learned
without labels. For each number of features: AUROC on new rows of the source domains and on the
held-out domain.
"""

import numpy as np
from scipy.stats import rankdata

from benchmarks import _tgreedy_figures as figures
from benchmarks._harness import Log, markdown_table, read, write_page
from benchmarks._unsupervised import patch_map, stacked_rbm
from landbridge import SimilarityLearner, TGreedySelector
from landbridge.datasets import fetch_cifar10, fetch_mnist
from landbridge.feature_selection.similarity import draw_pairs, multiply_rows

NAME = "tgreedy_paper"
CRITERIA = ("t", "loss", "gate")
SEED = 0
GRID = {
    "digit": [1, 2, 3, 4, 5, 7, 10, 15, 20, 30, 50],
    "MNIST similarity": [1, 2, 3, 4, 5, 7, 10, 15, 20, 30, 50, 75],
    "MNIST similarity, not centred": [1, 2, 3, 4, 5, 7, 10, 15, 20, 30, 50, 75],
    "CIFAR-10 similarity": [1, 2, 3, 4, 5, 7, 10, 15, 20, 30, 50, 75, 100, 150],
}
STEPS = {
    "digit": 100,
    "MNIST similarity": 150,
    "MNIST similarity, not centred": 150,
    "CIFAR-10 similarity": 300,
}


def auroc(scores: np.ndarray, positive: np.ndarray) -> np.ndarray:
    """Area under the ROC curve of each column of scores (Mann–Whitney)."""
    ranks = rankdata(scores, axis=0)
    n_pos, n_neg = positive.sum(), (~positive).sum()
    return (ranks[positive].sum(axis=0) - n_pos * (n_pos + 1) / 2) / (n_pos * n_neg)


def weights_along(path, grid) -> tuple[np.ndarray, np.ndarray]:
    """Chosen features and their weights when the path has reached each number of features."""
    if len(path) == 0:  # Nothing passed the gate: every row gets the same score.
        return path.feature, np.zeros((len(grid), 0))
    selected, first = np.unique(path.feature, return_index=True)
    weights = np.cumsum(path.delta[:, None] * (path.feature[:, None] == selected), axis=0)
    reached = np.sort(first)
    # A path that has ended earlier stays where it is.
    steps = [reached[q - 1] if q <= reached.size else len(path) - 1 for q in grid]
    return selected, weights[steps]


def curves(path, grid, X, parts) -> list[list[float]]:
    """AUROC for each (rows, positive) of ``parts`` along the grid."""
    selected, weights = weights_along(path, grid)
    return [
        [round(float(v), 4) for v in auroc(X[rows][:, selected] @ weights.T, positive)]
        for rows, positive in parts
    ]


def write_curves(log, experiment, held_out, criterion, path, grid, areas, **more) -> None:
    log.write(
        experiment=experiment,
        held_out=int(held_out),
        criterion=criterion,
        seed=SEED,
        grid=grid,
        source=[round(float(v), 4) for v in np.mean(areas[:-1], axis=0)],
        target=areas[-1],
        T=[round(float(abs(t)), 3) for t in path.T[:50]],
        n_steps=len(path),
        **more,
    )


def digits(log, F, y, train, test) -> None:
    """One digit against each other one; one of the other digits is held out."""
    grid = GRID["digit"]
    train_of = [train[y[train] == c] for c in range(10)]
    test_of = [test[y[test] == c] for c in range(10)]
    for digit in range(10):
        for held_out in (c for c in range(10) if c != digit):
            others = [c for c in range(10) if c not in (digit, held_out)]
            rows = np.concatenate([np.r_[train_of[digit], train_of[c]] for c in others])
            site = np.repeat(others, [len(train_of[digit]) + len(train_of[c]) for c in others])
            parts = [
                (rows_c := np.r_[test_of[digit], test_of[c]], y[rows_c] == digit)
                for c in [*others, held_out]
            ]
            for criterion in CRITERIA:
                model = TGreedySelector(criterion, stop=None, max_steps=STEPS["digit"])
                path = model.fit(F[rows], y[rows] == digit, groups=site).path_
                areas = curves(path, grid, F, parts)
                write_curves(log, "digit", held_out, criterion, path, grid, areas, digit=digit)


def similarities(log, name, F, y, train, test, n_pairs=1000) -> None:
    """Classes as domains; one class is held out, and its pairs are the target."""
    grid, rng = GRID[name], np.random.RandomState(SEED)
    first, second, same, domain = draw_pairs(y[test], 500, rng)
    for held_out in range(10):
        known = train[y[train] != held_out]
        G = F if name.endswith("not centred") else F - F[known].mean(axis=0)
        products = multiply_rows(G[test[first]], G[test[second]])
        seen = (y[test[first]] != held_out) & (y[test[second]] != held_out)
        parts = [
            (rows := np.flatnonzero((domain == c) & (seen | (c == held_out))), same[rows] > 0)
            for c in [*(c for c in range(10) if c != held_out), held_out]
        ]
        for criterion in CRITERIA:
            selector = TGreedySelector(criterion, stop=None, max_steps=STEPS[name])
            # G is already centred on the known rows where it has to be.
            learner = SimilarityLearner(selector, n_pairs, random_state=SEED, center=False)
            path = learner.fit(G[known], y[known]).selector_.path_
            areas = curves(path, grid, products, parts)
            write_curves(log, name, held_out, criterion, path, grid, areas)


def run() -> None:
    log = Log(NAME)
    mnist = fetch_mnist()
    rng = np.random.default_rng(SEED)
    y = np.asarray(mnist.target).astype(int)
    is_train = np.asarray(mnist.split) == "train"
    train = np.concatenate(
        [rng.permutation(np.flatnonzero(is_train & (y == c)))[:1000] for c in range(10)]
    )
    test = np.flatnonzero(~is_train)
    keep = np.r_[train, test]
    F = stacked_rbm(np.asarray(mnist.data)[keep], np.arange(train.size), SEED)
    y, train, test = y[keep], np.arange(train.size), np.arange(train.size, keep.size)
    digits(log, F, y, train, test)
    similarities(log, "MNIST similarity", F, y, train, test)
    similarities(log, "MNIST similarity, not centred", F, y, train, test)
    cifar = fetch_cifar10()
    y = np.asarray(cifar.target).astype(int)
    train = np.flatnonzero(np.asarray(cifar.split) == "train")
    test = np.flatnonzero(np.asarray(cifar.split) == "test")
    F = patch_map(np.asarray(cifar.data), train, SEED)
    F /= F[train].std(axis=0)
    similarities(log, "CIFAR-10 similarity", F, y, train, test)
    page()


def page() -> None:
    """Tables, pictures and verdict, all from the JSON lines."""
    groups = grouped(read(NAME))
    figures.averages(groups, NAME)
    pictures = [f"![Averages over all held-out domains]({NAME}.svg)"]
    for name, chosen in groups.items():
        if name.startswith("every"):
            continue
        short = name.split(" (")[0].lower().replace("-", "").replace(",", "")
        file = f"{NAME}_{short.replace(' ', '_')}"
        figures.splits(chosen, file)
        pictures.append(f"![{name}, one panel a held-out domain]({file}.svg)")
    text = [
        "# Features for an unseen domain: the paper's experiments",
        "",
        __doc__.split("\n\n", 1)[1].strip(),
        "",
        "The published features come from deep belief networks that are not available; here MNIST "
        "is mapped by two stacked restricted Boltzmann machines (500 and 2000 units, trained on "
        "the 10 000 training digits without labels) and CIFAR-10 by whitened patches and k-means "
        "(500 centres in four quadrants). For similarity features are centred before they are "
        "multiplied, which the paper does not say; *not centred* shows MNIST without it. Mean "
        "AUROC ± standard error over the held-out domains. "
        "`gap` is source minus held-out domain.",
    ]
    for name, chosen in groups.items():
        text += ["", f"## {name}", "", table(chosen), "", verdict(chosen)]
    text += ["", "## Pictures", "", "\n\n".join(pictures)]
    write_page(NAME, "\n".join(text))


def grouped(lines) -> dict[str, list]:
    """The lines of each experiment under a title that counts its held-out domains."""
    digit = [r for r in lines if r["experiment"] == "digit"]
    groups = {
        "2 against the others": [r for r in digit if r["digit"] == 2],
        "every digit against the others": digit,
    }
    for name in [name for name in GRID if "similarity" in name]:
        groups[name] = [r for r in lines if r["experiment"] == name]
    counts = {name: len(chosen) // len(CRITERIA) for name, chosen in groups.items()}
    # A split counts when all criteria have been run on it.
    return {
        f"{name} ({counts[name]} splits)": chosen[: counts[name] * len(CRITERIA)]
        for name, chosen in groups.items()
        if counts[name] > 1
    }


def table(lines) -> str:
    """AUROC on source and held-out domain for a few numbers of features."""
    grid = lines[0]["grid"]
    rows = []
    for q in (1, 3, 5, 10, 20, 50):
        row = [q]
        for criterion in CRITERIA:
            source, target = values(lines, criterion, grid.index(q))
            row += [
                f"{source.mean():.3f}",
                f"{target.mean():.3f} ± {target.std(ddof=1) / np.sqrt(target.size):.3f}",
                f"{source.mean() - target.mean():.3f}",
            ]
        rows.append(row)
    header = ["features"]
    for criterion in CRITERIA:
        header += [f"{criterion}: source", f"{criterion}: held-out", "gap"]
    return markdown_table(header, rows)


def values(lines, criterion, place) -> tuple[np.ndarray, np.ndarray]:
    chosen = [r for r in lines if r["criterion"] == criterion]
    return tuple(np.array([r[key][place] for r in chosen]) for key in ("source", "target"))


def verdict(lines) -> str:
    """Paired comparison with greedy selection on the held-out domain, in words."""
    grid = lines[0]["grid"]
    words = []
    for criterion in ("t", "gate"):
        parts = []
        for q in (5, 10, 20, 50):
            difference = values(lines, criterion, grid.index(q))[1]
            difference = difference - values(lines, "loss", grid.index(q))[1]
            error = difference.std(ddof=1) / np.sqrt(difference.size)
            word = "no clear difference"
            if abs(difference.mean()) > 2 * error:
                word = "**wins**" if difference.mean() > 0 else "**loses**"
            parts.append(f"{q} features: {word} ({difference.mean():+.3f} ± {error:.3f})")
        words.append(
            f'On the held-out domain `"{criterion}"` against `"loss"`: ' + "; ".join(parts) + "."
        )
    return "\n\n".join(words)
