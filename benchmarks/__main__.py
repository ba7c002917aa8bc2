"""``python -m benchmarks [name …]``: run the named benchmarks, or all of them.

A benchmark is a module of this package with a docstring and a function ``run()``; modules whose
name starts with an underscore are shared by them.
"""

import argparse
import importlib
import pkgutil
import time

import benchmarks


def names() -> list[str]:
    """Every benchmark, in alphabetical order."""
    found = pkgutil.iter_modules(benchmarks.__path__)
    return sorted(m.name for m in found if not m.name.startswith("_") and not m.ispkg)


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument("name", nargs="*", choices=[*names(), []], help="default: all")
    for name in parser.parse_args().name or names():
        started = time.perf_counter()
        print(f"== {name}", flush=True)
        importlib.import_module(f"benchmarks.{name}").run()
        print(f"== {name}: {time.perf_counter() - started:.0f} s", flush=True)


if __name__ == "__main__":
    main()
