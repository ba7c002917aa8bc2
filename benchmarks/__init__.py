"""Benchmarks: each writes JSON lines under ``results/`` and a page under ``docs/benchmarks/``."""
