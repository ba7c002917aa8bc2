"""The version of landbridge, and of the packages that affect its results."""

__version__ = "0.1.0"


def versions() -> dict[str, str]:
    """Versions of landbridge, Python, numpy, scipy and scikit-learn."""
    import platform
    from importlib.metadata import version

    packages = {name: version(name) for name in ("numpy", "scipy", "scikit-learn")}
    return {"landbridge": __version__, "python": platform.python_version(), **packages}
