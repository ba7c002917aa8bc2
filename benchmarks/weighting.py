"""Density-ratio weights: speed and memory against peers, known ratios, growth with the rows.

Every program solves the same kernel mean matching problem in the comparison of speed (Gaussian
kernel, the same gamma, B = 1000, Huang's ε, no ridge), and one function evaluates the exact
objective for all. Known ratios come from `make_covariate_shift`, with default settings.
"""

import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from scipy.optimize import minimize

from benchmarks._harness import HERE, Log, measure
from benchmarks._weighting_page import write
from landbridge import KLIEP, ClassifierRatio, KernelMeanMatching, RuLSIF, UniformWeights
from landbridge._kernel import kernel, row_blocks
from landbridge.datasets import make_covariate_shift
from landbridge.weighting.kernel_mean_matching import huang_eps, mean_embedding

OURS = HERE / "tasks" / "weights.py"
SKADA = HERE / "peers" / "skada_weights.py"
ADAPT = HERE / "peers" / "adapt_weights.py"
COLUMNS, GAMMA, BOUND = 10, 0.1, 1000.0
# Distance of the means and standard deviation of the target (the source is standard normal).
SHIFTS = {"moved": (0.7, 1.0), "moved, narrower": (0.7, 0.8), "far": (1.0, 1.0)}
SEEDS = {500: 8, 2000: 5, 10_000: 3}
KMM_SIZES = (2000, 5000, 10_000)
SIZES = (10_000, 20_000, 100_000, 1_000_000)
METHODS = {
    "KernelMeanMatching": {},
    "KLIEP": {},
    "RuLSIF": {},
    "ClassifierRatio": {},
    "UniformWeights": {},
}


def run() -> None:
    """Measure everything and write the page."""
    ratios = (
        ({"kind": "ratio", "shift": shift, "d": d, "n": n, "seed": seed}, (shift, d, n, seed))
        for shift in SHIFTS
        for d in (2, 5, 10)
        for n, n_seeds in SEEDS.items()
        for seed in range(n_seeds)
    )
    with Log("weighting") as log:
        speeds = (({"kind": "speed", "n": n, "seed": 0}, (n,)) for n in KMM_SIZES)
        log.run(kmm_speed, speeds, n_jobs=1)
        log.run(peer_defects, [({"kind": "defect"}, ())])
        growths = (({"kind": "growth", "n": n, "seed": 0}, (n,)) for n in SIZES)
        log.run(growth, growths, n_jobs=1)
        log.run(small_optimum, [({"kind": "optimum"}, ())])
        log.run(known_ratios, ratios)
    write()


def gaussian_rows(folder: Path, n: int, seed: int = 0) -> tuple[Path, np.ndarray, np.ndarray]:
    """A file with n source and n target rows, and the rows."""
    data = make_covariate_shift(n, n, COLUMNS, shift=0.7, scale=1.0, random_state=seed)
    path = folder / f"rows_{n}.npz"
    np.savez(path, X=data.X, X_target=data.X_target)
    return path, data.X, data.X_target


def kmm_speed(n: int) -> list[dict[str, Any]]:
    """CPU, memory and exact objective of each program's kernel mean matching on n rows."""
    paper = {"method": "KernelMeanMatching", "setting": "paper", "gamma": GAMMA}
    programs = {
        "landbridge, automatic": (OURS, paper, None),
        "landbridge, exact": (OURS, {**paper, "n_components": None}, None),
        "skada": (SKADA, {"method": "kmm", "gamma": GAMMA, "B": BOUND}, "skada"),
        "ADAPT": (ADAPT, {"gamma": GAMMA, "B": BOUND}, "adapt"),
    }
    if n > min(KMM_SIZES):
        del programs["landbridge, exact"]
    lines = []
    with tempfile.TemporaryDirectory() as folder:
        data, X, X_target = gaussian_rows(Path(folder), n)
        out = Path(folder) / "weights.npy"
        for name, (task, parameters, peer) in programs.items():
            figures = measure(task, {"data": str(data), "out": str(out), **parameters}, peer=peer)
            if "failed" not in figures:
                figures |= judge(np.load(out), X, X_target)
            lines.append({"program": name, **figures})
    return lines


def judge(weights: np.ndarray, X: np.ndarray, X_target: np.ndarray) -> dict[str, Any]:
    """The exact objective, block by block, and how far the constraints are violated."""
    n = len(X)
    product = np.concatenate(
        [kernel(X[rows], X, "rbf", GAMMA) @ weights for rows in row_blocks(X, n)]
    )
    kappa = mean_embedding(X, X_target, "rbf", GAMMA)
    return {
        "objective": float(0.5 * weights @ product - kappa @ weights) / n**2,
        "box_violation": float(max(-weights.min(), weights.max() - BOUND, 0.0)),
        "slab_violation": float(max(abs(weights.sum() / n - 1) - huang_eps(n), 0.0)),
    }


def peer_defects() -> list[dict[str, Any]]:
    """Where a peer's answer is wrong, measured."""
    with tempfile.TemporaryDirectory() as folder:
        return list(_defects(Path(folder)))


def _defects(folder: Path) -> Iterator[dict[str, Any]]:
    out = folder / "weights.npy"
    data, *_ = gaussian_rows(folder, 1000)
    truth = make_covariate_shift(1000, 1000, COLUMNS, shift=0.7, scale=1.0, random_state=0).weights

    def peer(task: Path, name: str, **parameters: Any) -> tuple[dict[str, Any], np.ndarray]:
        figures = measure(task, {"data": str(data), "out": str(out), **parameters}, peer=name)
        return figures, np.load(out)

    figures, weights = peer(SKADA, "skada", method="kmm", gamma=GAMMA, B=2.0)
    yield {
        "peer": f"skada {figures['version']}",
        "what": "default KMM ignores its bound B = 2",
        "figure": "largest weight",
        "value": float(weights.max()),
        "wrong": bool(weights.max() > 2.0),
    }
    settings = {"method": "kliep", "gamma": GAMMA, "tol": 0.0, "random_state": 0}
    _, early = peer(SKADA, "skada", **settings, max_iter=2)
    figures, weights = peer(SKADA, "skada", **settings, max_iter=1000)
    moved = float(np.abs(weights - early).max() / early.max())
    yield {
        "peer": f"skada {figures['version']}",
        "what": "KLIEP's step, of machine epsilon, does not move",
        "figure": "relative change of the weights between 2 and 1000 iterations",
        "value": moved,
        "wrong": moved < 1e-6,
    }
    figures, weights = peer(SKADA, "skada", method="classifier")
    correlation = float(np.corrcoef(weights, truth)[0, 1])
    yield {
        "peer": f"skada {figures['version']}",
        "what": "classifier ratio is inverted",
        "figure": "correlation with the true ratio",
        "value": correlation,
        "wrong": correlation < 0,
    }
    data, *_ = gaussian_rows(folder, 1001)
    figures, weights = peer(ADAPT, "adapt", gamma=GAMMA, max_size=500)
    yield {
        "peer": f"ADAPT {figures['version']}",
        "what": "rows left over by batching get weight 0 (n = 1001)",
        "figure": "rows with weight exactly 0",
        "value": int(np.sum(weights == 0)),
        "wrong": bool(np.any(weights == 0)),
    }


def growth(n: int) -> list[dict[str, Any]]:
    """CPU and memory of every method on n rows, default settings."""
    with tempfile.TemporaryDirectory() as folder:
        data, *_ = gaussian_rows(Path(folder), n)
        files = {"data": str(data), "out": str(Path(folder) / "weights.npy")}
        return [
            {"method": method, **measure(OURS, {**files, "method": method, **parameters})}
            for method, parameters in METHODS.items()
        ]


def small_optimum(n: int = 60) -> dict[str, Any]:
    """Our objective against SLSQP's on a small problem, relative to it."""
    data = make_covariate_shift(n, n, COLUMNS, shift=0.7, scale=1.0, random_state=0)
    ours = KernelMeanMatching(setting="paper", gamma=GAMMA, n_components=None)
    ours.fit(data.X, data.X_target)
    K = kernel(data.X, data.X, "rbf", GAMMA)
    kappa = mean_embedding(data.X, data.X_target, "rbf", GAMMA)
    eps = huang_eps(n)
    slab = {
        "type": "ineq",
        "fun": lambda b: np.array([b.sum() - n * (1 - eps), n * (1 + eps) - b.sum()]),
    }
    other = minimize(
        lambda b: (0.5 * b @ K @ b - kappa @ b) / n,
        np.ones(n),
        jac=lambda b: (K @ b - kappa) / n,
        bounds=[(0, BOUND)] * n,
        constraints=slab,
        method="SLSQP",
        options={"ftol": 1e-15, "maxiter": 5000},
    )
    return {"n": n, "gap": float((ours.objective_ - n * other.fun) / abs(n * other.fun))}


def known_ratios(shift_name: str, d: int, n: int, seed: int) -> dict[str, Any]:
    """Correlation with the true ratio and error of the target's mean label, default settings."""
    methods = [
        KernelMeanMatching(),
        KLIEP(),
        RuLSIF(alpha=0.0),
        ClassifierRatio(),
        UniformWeights(),
    ]
    shift, scale = SHIFTS[shift_name]
    data = make_covariate_shift(
        n, n, d, shift=shift, scale=scale, task="regression", random_state=seed
    )
    uniform = abs(data.y.mean() - data.target_mean)
    line: dict[str, Any] = {}
    for method in methods:
        weights = method.fit(data.X, data.X_target).weights_
        error = abs(weights @ data.y / weights.sum() - data.target_mean)
        spread = weights.std() > 0
        line[type(method).__name__] = {
            "correlation": float(np.corrcoef(weights, data.weights)[0, 1]) if spread else 0.0,
            "error": float(error / uniform),
        }
    return {"methods": line}
