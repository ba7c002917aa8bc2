"""Task functions that worker processes can import."""

import os
import signal
import time
from multiprocessing.connection import wait
from pathlib import Path

import numpy as np
from sklearn import get_config
from threadpoolctl import threadpool_info

from landbridge._tasks import run, workers


def leave_mark(folder):
    """Show the parent that this process is at work, by an empty file named after it."""
    if folder is not None:
        Path(folder, str(os.getpid())).touch()


def end_budget_at_marks(monkeypatch, folder, n_marks=1):
    """Let a clock jump past every deadline as soon as processes have left so many marks."""

    class Clock:
        def monotonic(self):
            return time.monotonic() + (1e9 if len(os.listdir(folder)) >= n_marks else 0.0)

    def look_often(handles, timeout):
        return wait(handles, min(timeout, 0.05))

    monkeypatch.setattr(run, "time", Clock())
    monkeypatch.setattr(workers, "time", Clock())
    monkeypatch.setattr(workers, "wait", look_often)


def scale(shared, content):
    return {"values": shared * content, "content": content, "pair": (1, 2)}


def threads(shared, content):
    time.sleep(content)
    return {"threads": [pool["num_threads"] for pool in threadpool_info()]}


def product(shared, content):
    generator = np.random.default_rng(content)
    left = generator.normal(size=(300, 200))
    return {"product": left.T @ left @ shared}


def misbehave(shared, content):
    if content == "exit":
        os._exit(3)
    if content == "segfault":
        os.kill(os.getpid(), signal.SIGSEGV)
    if content == "exit once":
        marker = f"{shared}/seen"
        if not os.path.exists(marker):
            open(marker, "w").close()
            os._exit(1)
    if content == "sleep":
        leave_mark(shared)
        time.sleep(1000)
    if content == "error":
        raise ValueError("no such thing")
    if content == "system exit":
        raise SystemExit(4)
    if content == "generator exit":
        raise GeneratorExit("Error")
    if content == "keyboard interrupt":
        raise KeyboardInterrupt("of the task")
    if content == "local error":

        class LocalError(Exception):
            def __init__(self, one, two):
                super().__init__(one)

        raise LocalError(1, 2)
    return {"content": content}


def settings(shared, content):
    return {
        "assume_finite": get_config()["assume_finite"],
        "writeable": bool(shared.flags.writeable),
        "address": shared.ctypes.data % 64,
        "sum": float(shared.sum()),
        "pid": os.getpid(),
    }


def not_a_dictionary(shared, content):
    return [content]


def objects(shared, content):
    return {"rows": np.array([content, None], dtype=object)}
