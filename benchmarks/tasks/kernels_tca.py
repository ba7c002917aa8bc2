"""Exact transfer component analysis of landbridge; the kernel is that of skada's default."""

import importlib.util
from pathlib import Path

import numpy as np

from landbridge import TransferComponentAnalysis

MU = 1.0


def shared():
    path = Path(__file__).with_name("kernels_two_gaussians.py")
    spec = importlib.util.spec_from_file_location("kernels_two_gaussians", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def prepare(n_rows, n_columns, n_components):
    Z, X = shared().two_gaussians(n_rows, n_rows, n_columns)
    width = float(np.sqrt(n_columns / 2))
    return TransferComponentAnalysis(n_components, width=width, mu=MU), Z, X


def work(state):
    model, Z, X = state
    return model.fit(Z, X_unlabeled=X).components_


def examine(state, components):
    _, Z, X = state
    return {"residual": shared().relative_residual(Z, X, components, MU)}
