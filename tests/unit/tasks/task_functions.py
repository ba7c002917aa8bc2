"""Task functions that worker processes can import."""

import os
import signal
import time

import numpy as np
from sklearn import get_config
from threadpoolctl import threadpool_info


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
        time.sleep(1000)
    if content == "error":
        raise ValueError("no such thing")
    if content == "system exit":
        raise SystemExit(4)
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
