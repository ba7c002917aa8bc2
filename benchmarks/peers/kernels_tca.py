"""skada's transfer component analysis."""

import importlib.util
from pathlib import Path

import numpy as np
from skada._subspace import TransferComponentAnalysisAdapter

MU = 1.0


def shared():
    path = Path(__file__).parents[1] / "tasks" / "kernels_two_gaussians.py"
    spec = importlib.util.spec_from_file_location("kernels_two_gaussians", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def prepare(n_rows, n_columns, n_components):
    Z, X = shared().two_gaussians(n_rows, n_rows, n_columns)
    adapter = TransferComponentAnalysisAdapter(kernel="rbf", n_components=n_components, mu=MU)
    domain = np.repeat([1, -2], n_rows)
    return adapter, Z, X, np.vstack([Z, X]), domain


def work(state):
    adapter, _, _, rows, domain = state
    return adapter.fit(rows, sample_domain=domain).eigvects_


def examine(state, components):
    _, Z, X, _, _ = state
    return {"residual": shared().relative_residual(Z, X, components, MU)}
