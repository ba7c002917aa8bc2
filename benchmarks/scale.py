"""Cost and correctness of resuming, worker crashes and clusters.

Overheads are CPU seconds of the process beyond those of the tasks, because wall times depend on
what else the machine does. A search of 60 fits is killed at random moments and resumed. A
fit counts as repeated if the file of its outcome was written again. Dask runs with two worker
processes on one machine.
"""

import json
import os
import re
import signal
import subprocess
import sys
import tempfile
import time
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks import _scale_tasks as tasks
from benchmarks._harness import RESULTS, Log, markdown_table, read, write_page
from landbridge._tasks import Task, TaskCache, run_tasks, task_key

NAME = "scale"
Lines = Iterator[dict[str, Any]]
PROGRAM = [sys.executable, "-m", "landbridge"]
TASKS = "from benchmarks import _scale_tasks as tasks"


def run(only: str = "") -> None:
    """Measure every part, or those whose name contains ``only``; write results and page.

    The lines of a part that is measured again replace those that were there.
    """
    parts: list[Callable[[], Lines]] = [
        overhead, resume_time, kills, full_disk, misbehaviour, dask_bytes, dask_deaths, dask_speed,
        large_select, large_fit, large_predict, flat_predict,
    ]  # fmt: skip
    chosen = [part for part in parts if only in part.__name__]
    if only:
        _forget([part.__name__ for part in chosen])
    with Log(NAME, resume=bool(only)) as log:
        cells = (({"part": part.__name__}, (part,)) for part in chosen)
        log.run(lambda part: list(part()), cells, n_jobs=1)
    report()


def _forget(parts: list[str]) -> None:
    """Drop the lines of some parts."""
    path = RESULTS / f"{NAME}.jsonl"
    lines = path.read_text().splitlines(keepends=True)
    path.write_text("".join(x for x in lines if json.loads(x)["part"] not in parts))


def overhead(n_rounds: int = 5) -> Lines:
    """CPU beyond the tasks, without and with a cache: the median of several rounds."""
    list(run_tasks(tasks.work, [Task(0.0)]))  # finds the native libraries of the process once
    for seconds, n_tasks in ((0.02, 100), (0.3, 10)):
        rounds = [[_beyond(seconds, n_tasks, c) for c in (False, True)] for _ in range(n_rounds)]
        for cached, share in zip((False, True), np.median(rounds, axis=0), strict=True):
            yield {
                "seconds": seconds,
                "cache": cached,
                "share": float(share),
                "ms_per_task": 1000 * seconds * float(share),
            }


def _beyond(seconds: float, n_tasks: int, cached: bool) -> float:
    """CPU beyond the tasks, as a share of theirs."""
    with tempfile.TemporaryDirectory() as folder:
        cache = TaskCache(Path(folder) / "cache") if cached else None
        planned = [Task(seconds, "k", task_key(i) if cached else None) for i in range(n_tasks)]
        cpu = time.process_time()
        results = list(run_tasks(tasks.work, planned, cache=cache))
        cpu = time.process_time() - cpu
    return cpu / sum(result.outcome["cpu"] for result in results) - 1  # type: ignore[index]


def resume_time() -> Lines:
    """Reading 1000 finished fits."""
    with tempfile.TemporaryDirectory() as folder:
        cache = TaskCache(Path(folder) / "cache")
        planned = [Task(0.0, "k", task_key(i)) for i in range(1000)]
        list(run_tasks(tasks.wait, planned, cache=cache))
        wall, cpu = time.perf_counter(), time.process_time()
        results = list(run_tasks(tasks.wait, planned, cache=cache))
        wall, cpu = time.perf_counter() - wall, time.process_time() - cpu
    yield {
        "fits": len(results), "wall": wall, "cpu": cpu,
        "all_read": all(result.cached for result in results),
    }  # fmt: skip


def kills(n_kills: int = 20) -> Lines:
    """Kill a search at random moments, resume it, compare with an undisturbed run."""
    whole = tasks.search(None)
    rng = np.random.default_rng(0)
    for number, count in ((signal.SIGKILL, n_kills), (signal.SIGTERM, n_kills // 4)):
        for _ in range(count):
            with tempfile.TemporaryDirectory() as folder:
                cache = Path(folder) / "cache"
                moment = rng.uniform()
                hit = tasks.killed_search(cache, moment, number)
                before = _files(cache)
                resumed = tasks.search(cache)
                after = _files(cache)
            yield {
                "signal": number.name, "moment": moment, "hit": hit,
                "finished": len(before), "fits": len(after), "identical": resumed == whole,
                "repeated": sum(after.get(name) != inode for name, inode in before.items()),
            }  # fmt: skip


def full_disk() -> Lines:
    """A search whose cache is on a disk of 60 kB, then again with room; a limit where we may not
    mount one."""
    whole = tasks.search(None)
    with tempfile.TemporaryDirectory() as folder:
        disk, cache = Path(folder) / "disk", Path(folder) / "disk" / "cache"
        disk.mkdir()
        mounted = subprocess.run(
            ["mount", "-t", "tmpfs", "-o", "size=60k", "tmpfs", str(disk)], capture_output=True
        ).returncode
        if mounted:
            return
        try:
            with warnings.catch_warnings(record=True) as caught:
                warnings.simplefilter("always")
                full = tasks.search(cache)
            before = _files(cache)
            damaged = TaskCache(cache).contents().damaged
            subprocess.run(["mount", "-o", "remount,size=50m", str(disk)], check=True)
            resumed = tasks.search(cache)
            after = _files(cache)
        finally:
            subprocess.run(["umount", str(disk)], check=True)
    messages = [str(warning.message) for warning in caught if "stored" in str(warning.message)]
    yield {
        "message": messages[0].replace(str(disk), "…") if messages else "",
        "n_messages": len(messages), "stored": len(before), "damaged": damaged, "fits": len(after),
        "identical": full == whole and resumed == whole,
        "repeated": sum(after.get(name) != inode for name, inode in before.items()),
    }  # fmt: skip


def misbehaviour() -> Lines:
    """Candidates that crash, hang or eat memory among candidates that do not."""
    bad = ["os._exit(1)", "sleeps forever", "allocates without end"]
    contents = ["fine", *bad, *["fine"] * 6]
    started = time.perf_counter()
    results = list(
        run_tasks(tasks.misbehave, [Task(c) for c in contents], n_jobs=2, fit_timeout=60.0)
    )
    reasons = {r.task.content: (r.failure.reason, r.failure.message) for r in results if r.failure}
    for name in bad:
        yield {
            "candidate": name, "reason": reasons[name][0],
            "message": reasons[name][1].splitlines()[0][:80],
            "seconds": time.perf_counter() - started,
            "others_complete": sum(r.outcome is not None for r in results) == len(contents) - 3,
        }  # fmt: skip


def dask_bytes() -> Lines:
    """Bytes written by client and scheduler, for few and for many fits on the same data."""
    shared = np.random.default_rng(0).normal(size=(1_000_000, 5))
    with _cluster(), _counted() as sent:
        for n_tasks in (20, 400):
            before = sent[0]
            list(run_tasks(tasks.wait, [Task(0.0) for _ in range(n_tasks)], shared=shared))
            yield {
                "fits": n_tasks, "sent": sent[0] - before, "data": shared.nbytes,
                "per_fit": (sent[0] - before - 2 * shared.nbytes) / n_tasks,
            }  # fmt: skip


def dask_deaths(n_kills: int = 10) -> Lines:
    """Kill one of two Dask workers in each of ten runs."""
    shared = np.random.default_rng(0).normal(size=(200, 60))
    planned = [Task(seed) for seed in range(40)]
    here = [
        result.outcome["values"].tobytes()
        for result in run_tasks(tasks.burn, planned, shared=shared)
    ]
    rng = np.random.default_rng(1)
    with _cluster() as client:
        for _ in range(n_kills):
            client.wait_for_workers(2)
            victim = list(client.run(os.getpid).values())[int(rng.integers(2))]
            moment = int(rng.integers(1, 30))
            found: dict[int, Any] = {}
            for result in run_tasks(tasks.burn, planned, shared=shared):
                found[result.index] = result.outcome
                if len(found) == moment:
                    os.kill(victim, signal.SIGKILL)
            same = [found[i]["values"].tobytes() if found.get(i) else None for i in range(40)]
            yield {"killed_after": moment, "results": len(found), "identical": same == here}


def dask_speed(n_rounds: int = 3) -> Lines:
    """Two workers against one process, on fits that take 0.3 s: the median of several rounds."""
    planned = [Task(0.3) for _ in range(40)]

    def seconds() -> float:
        started = time.perf_counter()
        list(run_tasks(tasks.wait, planned))
        return time.perf_counter() - started

    one = seconds()
    with _cluster():
        list(run_tasks(tasks.wait, planned[:4]))  # imports on the workers
        two = float(np.median([seconds() for _ in range(n_rounds)]))
    yield {"one": one, "two": two, "speed_up": one / two, "rounds": n_rounds}


def large_select(n_rows: int = 20_000_000) -> Lines:
    """`select` on a large dataset, against one pass over it and the search on the sample."""
    from landbridge.cli._tables import find_large

    data = _dataset(n_rows)
    question = ["-y", "ill", "-d", "site", "-t", "west", "--candidates", _few_candidates(data)]
    sample = data.parent / f"sample-{n_rows}.parquet"
    drawn, _ = find_large([str(data)], "site").draw(  # type: ignore[union-attr]
        "ill", 20_000, seed=0, labels_first=True
    )
    drawn.drop("\0row").write_parquet(sample)
    one = _measured([sys.executable, "-c", f"{TASKS}; tasks.one_pass({str(data)!r})"])
    search = _measured([*PROGRAM, "select", str(sample), *question])
    whole = _measured([*PROGRAM, "select", str(data), *question])
    yield dict(
        rows=n_rows, pass_cpu=one["cpu"], search_cpu=search["cpu"], **whole,
        beyond=(whole["cpu"] - search["cpu"]) / one["cpu"],
    )  # fmt: skip


def large_fit(n_rows: int = 1_000_000) -> Lines:
    """Pooled logistic regression, chosen on a sample, on all rows in passes."""
    data = _dataset(n_rows)
    command = _linear_search(data)
    search = _measured(command)
    whole, said = _watched([*command, "--save", str(data.parent / "linear.skops")])
    found = re.search(r"in (\d+) passes", said)
    yield {
        "rows": n_rows, "passes": int(found[1]) if found else 0,
        "megabytes": whole["megabytes"], "cpu": whole["cpu"] - search["cpu"],
    }  # fmt: skip


def large_predict(n_rows: int = 10_000_000) -> Lines:
    """`predict` against the model's own predictions on the same pieces with reading and writing.

    The model is the linear one of `large_fit`: the cheaper it is, the more all else shows.
    """
    model = _dataset(1_000_000).parent / "linear.skops"
    for number in (100_000, 1_000_000, n_rows):
        data, output = _dataset(number), str(model.with_name("out.parquet"))
        code = f"{TASKS}; tasks.predict_floor({str(model)!r}, {str(data)!r}, {output!r})"
        floor = _measured([sys.executable, "-c", code])
        own = _measured([*PROGRAM, "predict", str(model), str(data), "-o", output])
        yield dict(
            rows=number, floor_cpu=floor["cpu"], **own,
            ratio=own["cpu"] / floor["cpu"],
        )  # fmt: skip


def flat_predict(sizes: Sequence[int] = (10**5, 10**6, 10**7, 10**8)) -> Lines:
    """Memory of `predict` as the rows of four columns grow; large tables repeat a million rows."""
    names = [f"x{k}" for k in range(4)]
    rows = tasks.make_rows(1_000_000, 1).select(names)
    with tempfile.TemporaryDirectory() as folder:
        train, model = Path(folder) / "train.parquet", str(Path(folder) / "linear.skops")
        tasks.make_rows(20_000, 0).select(*names, "site", "ill").write_parquet(train)
        _measured([*_linear_search(train), "--save", model])
        output = str(Path(folder) / "out.parquet")
        for n_rows in sizes:
            parquet = Path(folder) / str(n_rows)
            parquet.mkdir()
            rows.head(n_rows).write_parquet(parquet / "0.parquet", row_group_size=250_000)
            for number in range(1, n_rows // rows.height):
                (parquet / f"{number}.parquet").hardlink_to(parquet / "0.parquet")
            own = _measured([*PROGRAM, "predict", model, str(parquet), "-o", output])
            yield {"rows": n_rows, "format": "Parquet", **own}
        for n_rows in sizes[:-1]:
            text = Path(folder) / "rows.csv"
            with text.open("wb") as file:
                rows.head(n_rows).write_csv(file)
                for _ in range(1, n_rows // rows.height):
                    rows.write_csv(file, include_header=False)
            own = _measured([*PROGRAM, "predict", model, str(text), "-o", output])
            yield {"rows": n_rows, "format": "CSV", **own}


def _linear_search(data: Path) -> list[str]:
    """The command that chooses pooled logistic regression on a sample."""
    candidates = data.parent / "linear.yaml"
    candidates.write_text("pooled: {estimator: Pooled, params: {estimator: LogisticRegression}}\n")
    question = ["-y", "ill", "-d", "site", "-t", "west", "--candidates", str(candidates)]
    options = ["--max-rows", "5000", "--sources", "pooled", "--answer", "best"]
    return [*PROGRAM, "select", str(data), *question, *options]


def _few_candidates(data: Path) -> str:
    """A file with two fast candidates, so that reading is not lost in the noise of the fits."""
    path = data.parent / "few.yaml"
    path.write_text("nb: GaussianNB\nboosted: HistGradientBoostingClassifier\n")
    return str(path)


def _dataset(n_rows: int) -> Path:
    """A dataset in the folder of temporary files, made once."""
    folder = Path(tempfile.gettempdir()) / "landbridge-scale" / f"rows-{n_rows}"
    tasks.make_dataset(folder, n_rows)
    return folder


def _measured(command: list[str]) -> dict[str, float]:
    """CPU seconds and most megabytes of a process."""
    return _watched(command)[0]


def _watched(command: list[str]) -> tuple[dict[str, float], str]:
    """CPU seconds and most megabytes of a process, and what it said."""
    one_thread = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"), "1")
    environment = {**os.environ, **one_thread, "PYTHONPATH": os.pathsep.join(sys.path)}
    started, peak, ended = time.perf_counter(), 0.0, 0
    with tempfile.TemporaryFile() as log:
        process = subprocess.Popen(command, env=environment, stdout=subprocess.DEVNULL, stderr=log)
        while not ended:
            peak = max(peak, _peak(process.pid))
            time.sleep(0.02)
            ended, status, usage = os.wait4(process.pid, os.WNOHANG)
        log.seek(0)
        said = log.read().decode()
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise RuntimeError(said[-2000:])
    return {
        "cpu": usage.ru_utime + usage.ru_stime,
        "wall": time.perf_counter() - started,
        "megabytes": peak,
    }, " ".join(said.split())


def _peak(process: int) -> float:
    """Largest resident set of a running process so far, in megabytes; 0 once it has ended.

    The ``ru_maxrss`` of a child is never below the size of this process, which starts it.
    """
    status = Path(f"/proc/{process}/status").read_text()
    found = re.search(r"VmHWM:\s*(\d+) kB", status)
    return int(found[1]) * 1024 / 1e6 if found else 0.0


def report() -> None:
    """Write ``docs/benchmarks/scale.md`` from the results."""
    lines = read(NAME)

    def of(part: str) -> list[dict[str, Any]]:
        return [line for line in lines if line["part"] == part]

    text = [f"# {__doc__.splitlines()[0]}", *__doc__.strip().split("\n\n")[1:]]
    text += ["## Overhead"]
    limits = {0.02: "10 %", 0.3: "2 %"}  # of the cache
    rows = [
        [
            f"{x['seconds']:g} s",
            "yes" if x["cache"] else "no",
            f"{x['ms_per_task']:.2f} ms",
            f"{100 * x['share']:.2f} %",
            limits[x["seconds"]] if x["cache"] else "–",
        ]
        for x in of("overhead")
    ]
    header = ["fit", "cache", "CPU per fit beyond it", "share of the fit", "at most"]
    text += [markdown_table(header, rows)]
    text += [
        f"Resuming {x['fits']} finished fits takes {x['cpu']:.2f} s of CPU ({x['wall']:.2f} s of "
        "wall time); at most 5 s are allowed."
        for x in of("resume_time")
    ]
    text += ["## Killed searches", _kill_table(of("kills"))]
    text += [
        f"On a full disk the search continues and warns: “{x['message']}” {x['stored']} fits were "
        f"stored, {x['damaged']} files damaged; with room again {x['repeated']} of them were "
        f"repeated, and both results were {'' if x['identical'] else 'not '}bit-identical."
        for x in of("full_disk")
    ]
    text += ["## Candidates that misbehave"]
    rows = [
        [x["candidate"], x["reason"], x["message"], _yes(x["others_complete"])]
        for x in of("misbehaviour")
    ]
    text += [markdown_table(["candidate", "recorded as", "message", "others complete"], rows)]
    text += ["## Dask"]
    rows = [
        [x["fits"], f"{x['sent'] / x['data']:.3f}", f"{x['per_fit'] / 1000:.1f} kB"]
        for x in of("dask_bytes")
    ]
    text += [
        markdown_table(
            ["fits", "bytes sent / bytes of the data", "beyond two copies, per fit"], rows
        ),
        "The data goes to each of the two workers once; a fit adds only its own message.",
    ]
    deaths = of("dask_deaths")
    if deaths:
        text += [
            f"One of two workers killed in each of {len(deaths)} runs of 40 tasks: "
            f"{sum(x['identical'] for x in deaths)} gave the answer of one process bit for bit, "
            f"{sum(40 - x['results'] for x in deaths)} tasks were lost."
        ]
    for line in of("dask_speed"):
        text += [
            f"Two workers are {line['speed_up']:.2f} × as fast as one process on fits that wait "
            f"0.3 s (at least 1.7 × is required), the median of {line['rounds']} rounds of wall "
            "time. The fits wait rather than compute: this measures scheduling, not cores."
        ]
    text += _large_tables(of("large_select"), of("large_fit"), of("large_predict"))
    flat = of("flat_predict")
    if flat:
        rows = [
            [
                x["format"], f"{x['rows']:,}".replace(",", " "), f"{x['cpu']:.1f} s",
                f"{x['megabytes']:.0f} MB",
            ]
            for x in flat
        ]  # fmt: skip
        text += ["The same for four columns, up to 10⁸ rows:"]
        header = ["format", "rows", "CPU of `landbridge predict`", "memory"]
        text += [markdown_table(header, rows)]
    write_page(NAME, "\n\n".join(text))


def _large_tables(
    selects: list[dict[str, Any]], fits: list[dict[str, Any]], predicts: list[dict[str, Any]]
) -> list[str]:
    text = ["## Large tables"]
    text += [
        f"`landbridge select` on {x['rows'] / 1e6:.0f} million rows × {tasks.COLUMNS} columns of "
        f"Parquet takes {x['cpu']:.0f} s of CPU and {x['megabytes']:.0f} MB. The search on the "
        "sample of 20 000 rows per domain, with two fast candidates, takes "
        f"{x['search_cpu']:.0f} s of it; the rest is "
        f"{x['beyond']:.1f} × one pass over the dataset ({x['pass_cpu']:.1f} s; at most 3 × and "
        "2000 MB are allowed)."
        for x in selects
    ]
    text += [
        f"`--save` fits the pooled logistic regression that a sample chose on all "
        f"{x['rows'] / 1e6:.0f} million rows in {x['passes']} passes, with {x['cpu']:.0f} s of CPU "
        f"and {x['megabytes']:.0f} MB."
        for x in fits
    ]
    rows = [
        [
            f"{x['rows']:,}".replace(",", " "), f"{x['cpu']:.1f} s", f"{x['floor_cpu']:.1f} s",
            f"{x['ratio']:.2f}", f"{x['megabytes']:.0f} MB",
        ]
        for x in predicts
    ]  # fmt: skip
    if rows:
        header = ["rows", "CPU of `landbridge predict`", "floor", "ratio", "memory"]
        text += [
            markdown_table(header, rows),
            "The model is the logistic regression above. The floor is its own `predict` on the "
            "same pieces, with reading and writing them; at most 1.5 × and 1000 MB are allowed. A "
            "row group of these files has 250 000 rows, so the first table is smaller than what "
            "is otherwise read ahead.",
        ]
    return text


def _kill_table(lines: list[dict[str, Any]]) -> str:
    rows = []
    for name in dict.fromkeys(line["signal"] for line in lines):
        own = [line for line in lines if line["signal"] == name]
        rows.append(
            [
                name, len(own), sum(x["hit"] for x in own),
                f"{min(x['finished'] for x in own)}–{max(x['finished'] for x in own)}",
                sum(x["repeated"] for x in own),
                f"{sum(x['identical'] for x in own)} of {len(own)}",
            ]
        )  # fmt: skip
    header = [
        "signal", "runs", "hit while running", "fits finished then", "finished fits repeated",
        "bit-identical",
    ]  # fmt: skip
    return markdown_table(header, rows)


def _files(cache: Path) -> dict[str, int]:
    """Finished fits by name, with the number of the file on disk: a refit has another one."""
    return {path.name: path.stat().st_ino for path in cache.glob("??/*.fit")}


def _yes(value: bool) -> str:
    return "yes" if value else "no"


@contextmanager
def _cluster() -> Iterator[Any]:
    from landbridge._tasks.dask_cluster import dask_cluster

    with dask_cluster("local:2") as client:
        yield client


@contextmanager
def _counted() -> Iterator[list[int]]:
    """Bytes that this process, the client and the scheduler, writes to its connections."""
    from distributed.comm.tcp import TCP

    sent, write = [0], TCP.write

    async def counting(self: Any, *arguments: Any, **options: Any) -> int:
        n_bytes = await write(self, *arguments, **options)
        sent[0] += n_bytes
        return n_bytes

    TCP.write = counting
    try:
        yield sent
    finally:
        TCP.write = write
