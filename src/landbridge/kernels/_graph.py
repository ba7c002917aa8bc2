"""Sparse Laplacian of the nearest-neighbour graph."""

from scipy import sparse
from scipy.sparse.csgraph import laplacian
from sklearn.neighbors import kneighbors_graph

from landbridge._typing import Matrix


def neighbor_laplacian(X: Matrix, n_neighbors: int) -> sparse.csr_array:
    """Laplacian I − D^-½ M D^-½ of the nearest-neighbour graph.

    Two rows are connected if either is among the ``n_neighbors`` nearest rows of the other.
    With fewer rows than neighbours, all pairs are connected. The Laplacian of a single row is
    0.
    """
    n_rows = X.shape[0]
    if n_rows < 2:
        return sparse.csr_array((n_rows, n_rows))
    nearest = sparse.csr_array(kneighbors_graph(X, min(n_neighbors, n_rows - 1)))
    joined = nearest.maximum(nearest.T)
    return sparse.csr_array(laplacian(joined, normed=True))
