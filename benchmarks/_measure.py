"""CPU seconds and peak memory of one call, in a process of its own.

Runs inside the peers' environments too, so it uses the standard library alone. A *task* is a
Python file that defines ``prepare(**arguments) -> state`` and ``work(state) -> dict``: only
``work`` is measured, and what it returns (JSON values) is added to the measurement. A task that
also defines ``examine(state, result) -> dict`` may return anything from ``work``: the values come
from ``examine``, which is not measured.

    python _measure.py task.py '{"n": 5000}'     prints one JSON object
"""

import gc
import importlib.util
import json
import resource
import sys
import time


def peak_mb() -> float:
    """Largest resident set of this process so far, in MB."""
    try:
        # Unlike ru_maxrss, which starts at the size of the process that launched this one.
        with open("/proc/self/status") as status:
            line = next(line for line in status if line.startswith("VmHWM"))
        return int(line.split()[1]) / 1024
    except (OSError, StopIteration):
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def main() -> None:
    path, arguments = sys.argv[1], json.loads(sys.argv[2])
    spec = importlib.util.spec_from_file_location("task", path)
    task = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(task)
    state = task.prepare(**arguments)
    gc.collect()  # What was built before must not be searched through in the middle of `work`.
    before, wall, cpu = peak_mb(), time.perf_counter(), time.process_time()
    answer = task.work(state)
    cpu, wall = time.process_time() - cpu, time.perf_counter() - wall
    figures = {"cpu_s": cpu, "wall_s": wall, "peak_mb": peak_mb(), "extra_mb": peak_mb() - before}
    if hasattr(task, "examine"):
        answer = task.examine(state, answer)
    print("\n" + json.dumps({**figures, **answer}))


if __name__ == "__main__":
    main()
