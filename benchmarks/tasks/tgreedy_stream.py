"""Second moments of a Parquet file by domain: the selector, or a plain polars pass."""

import numpy as np
import polars as pl

from landbridge import TGreedySelector


def prepare(form, path):
    return form, path


def work(state):
    form, path = state
    if form == "landbridge":
        selector = TGreedySelector(n_features=5, stop=None)
        selector.fit_file(path, label="y", domain="site")
        return {"picked": selector.get_feature_names_out().tolist()}
    return {"check": float(plain_pass(path)["s0"][0, 0])}


def plain_pass(path):
    """Sums of products of features and label for each domain, nothing else."""
    sums = {}
    for batch in pl.scan_parquet(path).collect_batches(chunk_size=32768):
        for (site,), part in batch.partition_by("site", as_dict=True).items():
            Z = part.drop("site").to_numpy()
            sums[site] = sums.get(site, 0.0) + (Z.T @ Z).astype(np.float64)
    return sums
