"""A search that is killed at random moments and started again, in processes of its own."""

import os
import signal
import subprocess
import sys
import textwrap
import time
from pathlib import Path

import numpy as np
import pytest

import landbridge
from landbridge._tasks import TaskCache
from landbridge.model_selection import SearchResult

SOURCE = Path(landbridge.__file__).parents[1]
SCRIPT = textwrap.dedent(
    """
    import sys
    import numpy as np
    from sklearn.ensemble import ExtraTreesClassifier
    from sklearn.linear_model import LogisticRegression
    from sklearn.naive_bayes import GaussianNB
    import landbridge as lb

    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 4))
    y = (X[:, 0] + rng.normal(size=300) > 0).astype(int)
    search = lb.TransferSearchCV(
        {
            "bayes": lb.SourceOnly(GaussianNB()),
            "linear": lb.SourceOnly(LogisticRegression()),
            "trees": lb.SourceOnly(ExtraTreesClassifier(10)),
            "forest": lb.SourceOnly(ExtraTreesClassifier(20, min_samples_leaf=5)),
        },
        criterion="scv", refit=False, cache=sys.argv[1], n_jobs=int(sys.argv[3]), random_state=0,
    )
    print("started", flush=True)
    search.fit(X, y, groups=np.repeat(["a", "b", "c"], 100), X_unlabeled=X[:50] + 0.3)
    search.results_.save(sys.argv[2])
    """
)


def start(folder: Path, n_jobs: int) -> subprocess.Popen:
    command = [sys.executable, "-c", SCRIPT, folder / "fits", folder / "r.npz", n_jobs]
    process = subprocess.Popen(
        [*map(str, command)],
        env={**os.environ, "PYTHONPATH": str(SOURCE), "OMP_NUM_THREADS": "1"},
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
    )
    process.stdout.readline()  # imports are done, the search begins
    return process


def finish(folder: Path, n_jobs: int) -> list[bytes]:
    """Kept predictions of a search."""
    with start(folder, n_jobs) as process:
        assert process.wait(timeout=300) == 0
    result = SearchResult.load(folder / "r.npz")
    return [part.values.tobytes() for part in result.source if part is not None]


def files(folder: Path) -> dict[str, int]:
    """Finished fits with the number of the file on disk: one that is written again has another."""
    return {path.name: path.stat().st_ino for path in (folder / "fits").glob("??/*.fit")}


@pytest.mark.slow
@pytest.mark.parametrize("n_jobs", [1, 2])
@pytest.mark.parametrize(("number", "times"), [(signal.SIGKILL, 10), (signal.SIGTERM, 3)])
def test_no_finished_fit_is_repeated(tmp_path, number, times, n_jobs):
    (tmp_path / "whole").mkdir()
    whole = finish(tmp_path / "whole", n_jobs)
    n_fits, hits = len(files(tmp_path / "whole")), 0
    assert n_fits >= 60
    rng = np.random.default_rng([number, n_jobs])
    for run in range(times):
        folder = tmp_path / str(run)
        folder.mkdir()
        n_before = rng.integers(n_fits)
        with start(folder, n_jobs) as process:
            while len(files(folder)) < n_before and process.poll() is None:
                time.sleep(0.001)
            process.send_signal(number)
        before = files(folder)
        hits += 0 < len(before) < n_fits
        assert finish(folder, n_jobs) == whole
        after = files(folder)
        assert len(after) == n_fits
        assert [name for name in before if after.get(name) != before[name]] == []
        assert TaskCache(folder / "fits").contents().damaged == 0
    assert hits, "no signal came in the middle of a search"
