"""Draws handed to a process of its own as plain arrays; used in the peers' environments too."""

import numpy as np
from scipy import sparse

CSR = ("data", "indices", "indptr", "shape")


def save_draws(path, draws):
    """Write tuples of arrays and CSR matrices, all of one length, to an npz file."""
    arrays = {}
    for i, draw in enumerate(draws):
        for j, part in enumerate(draw):
            if sparse.issparse(part):
                arrays.update({f"{i}.{j}.{name}": getattr(part, name) for name in CSR})
            else:
                arrays[f"{i}.{j}"] = np.asarray(part)
    np.savez(path, **arrays)


def load_draws(path):
    """The tuples that `save_draws` wrote, in order."""
    with np.load(path, allow_pickle=False) as file:
        arrays = dict(file)
    places = sorted({tuple(map(int, key.split(".")[:2])) for key in arrays})
    draws = [[] for _ in range(places[-1][0] + 1)]
    for i, j in places:
        draws[i].append(_part(arrays, f"{i}.{j}"))
    return [tuple(draw) for draw in draws]


def _part(arrays, key):
    if key in arrays:
        return arrays[key]
    data, indices, indptr, shape = (arrays[f"{key}.{name}"] for name in CSR)
    return sparse.csr_matrix((data, indices, indptr), shape=tuple(shape))
