"""Tasks and searches of the benchmark `scale`, importable by worker processes."""

import os
import signal
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.ensemble import ExtraTreesClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import GaussianNB

import landbridge as lb

if TYPE_CHECKING:
    import polars as pl

N_FITS = 60
KEPT = ("target", "source_to_target", "target_alone", "source", "reverse", "unlabelled")


def wait(shared: Any, seconds: float) -> dict[str, Any]:
    """A fit that takes so many seconds and no CPU, with the outcome of a typical fit."""
    time.sleep(seconds)
    return {"rows": np.arange(200), "values": np.full((200, 2), 0.5), "fit_seconds": seconds}


def work(shared: Any, seconds: float) -> dict[str, Any]:
    """A fit that takes so many CPU seconds, with the outcome of a typical fit and its CPU time."""
    started, matrix = time.thread_time(), np.ones((60, 60))
    while time.thread_time() - started < seconds:
        matrix = matrix @ matrix / 60
    outcome = {"rows": np.arange(200), "values": np.full((200, 2), 0.5)}
    return {**outcome, "cpu": time.thread_time() - started}


def burn(shared: Any, seed: int) -> dict[str, Any]:
    """A fit with linear algebra whose last bits depend on the number of threads."""
    time.sleep(0.05)
    left = np.random.default_rng(seed).normal(size=(300, shared.shape[1]))
    return {"values": np.linalg.solve(shared.T @ shared + left.T @ left, left.T @ left[:, 0])}


def misbehave(shared: Any, what: str) -> dict[str, Any]:
    """A candidate that ends its process, never ends, or allocates without end."""
    if what == "os._exit(1)":
        os._exit(1)
    if what == "sleeps forever":
        time.sleep(10_000)
    if what == "allocates without end":
        import resource

        pages = int(Path("/proc/self/statm").read_text().split()[0])
        limit = pages * resource.getpagesize() + 2**28
        resource.setrlimit(resource.RLIMIT_AS, (limit, limit))
        kept = []
        while True:
            kept.append(np.ones(2**22))
    return {"fine": True}


def search(cache: Path | None) -> dict[str, bytes]:
    """A search of sixty fits: four candidates, three sources, five folds; its kept predictions."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(900, 8))
    y = (X[:, 0] + 0.5 * X[:, 1] ** 2 + rng.normal(size=900) > 0.5).astype(int)
    found = lb.TransferSearchCV(
        {
            "bayes": lb.SourceOnly(GaussianNB()),
            "linear": lb.SourceOnly(LogisticRegression()),
            "trees": lb.SourceOnly(ExtraTreesClassifier(15)),
            "forest": lb.SourceOnly(ExtraTreesClassifier(25, min_samples_leaf=5)),
        },
        criterion="scv",
        refit=False,
        cache=cache,
        random_state=0,
    )
    found.fit(X, y, groups=np.repeat(["a", "b", "c"], 300), X_unlabeled=X[:100] + 0.3)
    return predictions_of(found.results_)


def predictions_of(result: Any) -> dict[str, bytes]:
    """Every kept array of a result, as bytes."""
    return {
        f"{kind}.{number}": np.ascontiguousarray(part.values).tobytes()
        for kind in KEPT
        for number, part in enumerate(getattr(result, kind))
        if part is not None
    }


def killed_search(cache: Path, moment: float, number: signal.Signals) -> bool:
    """Start the search in a child and send it a signal; whether it was hit.

    The moment is a share of the fits, finished or begun, so that a busy machine does not matter.
    """
    child = os.fork()
    if child == 0:
        try:
            search(cache)
        finally:
            os._exit(0)
    n_fits, part = divmod(moment * N_FITS, 1)
    while len(list(cache.glob("??/*.fit"))) < n_fits:
        time.sleep(0.001)
    time.sleep(part * 0.02)  # a fit takes about 20 ms
    os.kill(child, number)
    _, status = os.waitpid(child, 0)
    return os.WIFSIGNALED(status)


# Large tables

COLUMNS = 20


def make_rows(n_rows: int, seed: int) -> "pl.DataFrame":
    """Rows of twenty columns: eighteen features, a domain and a label of two classes."""
    import polars as pl

    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n_rows, COLUMNS - 2)).astype(np.float32)
    domain = rng.integers(0, 4, size=n_rows)
    X[:, 0] += 0.3 * domain
    y = X[:, 0] + X[:, 1] * X[:, 2] + rng.normal(size=n_rows) > 0.5
    columns: dict[str, Any] = {f"x{k}": X[:, k] for k in range(X.shape[1])}
    site = np.array(["north", "south", "east", "west"])[domain]
    frame = pl.DataFrame({**columns, "site": site, "ill": np.where(y, "yes", "no")})
    hidden = (pl.col("site") == "west") & (pl.Series(rng.random(n_rows)) > 0.001)
    return frame.with_columns(ill=pl.when(hidden).then(None).otherwise(pl.col("ill")))


def make_dataset(folder: Path, n_rows: int) -> None:
    """A directory of Parquet files with a million rows each."""
    folder.mkdir(parents=True, exist_ok=True)
    for number in range(-(-n_rows // 1_000_000)):
        path = folder / f"{number:03d}.parquet"
        if not path.exists():
            make_rows(min(n_rows, 1_000_000), number).write_parquet(path, row_group_size=250_000)


def one_pass(folder: str) -> None:
    """Read every cell of a dataset once."""
    import polars as pl
    import polars.selectors as cs

    table = pl.scan_parquet(f"{folder}/*.parquet")
    sums = table.select(cs.numeric().sum(), cs.string().str.len_bytes().sum())
    sums.collect(engine="streaming")


def predict_floor(model: str, folder: str, output: str) -> None:
    """The model's own predictions on the pieces of a dataset, read and written in any case."""
    import polars as pl

    from landbridge.cli._tables import Pieces
    from landbridge.cli.predict import write_answers
    from landbridge.persistence import load_model

    saved = load_model(Path(model))
    names = [column["name"] for column in saved.card["columns"]]

    def answers() -> Any:
        for piece in Pieces.open(Path(folder)):
            labels = saved.model.predict(piece.select(names)).tolist()
            yield pl.DataFrame({"prediction": labels})

    write_answers(answers(), Path(output))
