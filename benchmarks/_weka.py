"""Weka's learners through its command line, where Weka is installed.

Nothing of Weka is imported or linked: rows go out as ARFF files, predictions come back as text.
Debian's package ``weka`` is found by itself; elsewhere set ``WEKA_CLASSPATH``.
"""

import os
import re
import shutil
import subprocess
import tempfile
from pathlib import Path

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin

CLASSPATH = os.environ.get(
    "WEKA_CLASSPATH", "/usr/share/java/weka.jar:/usr/share/java/java-cup.jar"
)
EXAMPLES = Path("/usr/share/doc/weka/examples")
LEARNERS = {
    "NNge": "weka.classifiers.rules.NNge",
    "J48": "weka.classifiers.trees.J48",
    "SMO": "weka.classifiers.functions.SMO",
    "NaiveBayes": "weka.classifiers.bayes.NaiveBayes",
    "IBk": "weka.classifiers.lazy.IBk",
}


def installed() -> bool:
    """Whether Java and the archive named by the class path are there."""
    return shutil.which("java") is not None and Path(CLASSPATH.split(":")[0]).exists()


def predictions(
    learner: str, X: np.ndarray, codes: np.ndarray, X_test: np.ndarray, n_classes: int
) -> np.ndarray:
    """Train one of ``LEARNERS`` with its defaults on rows in the given order; predict codes."""
    with tempfile.TemporaryDirectory() as folder:
        train, test = Path(folder, "train.arff"), Path(folder, "test.arff")
        _write_arff(train, X, codes, n_classes)
        _write_arff(test, X_test, np.zeros(len(X_test), dtype=int), n_classes)
        command = [
            "java",
            "-XX:+UseSerialGC",
            "-XX:TieredStopAtLevel=1",
            "-cp",
            CLASSPATH,
            LEARNERS[learner],
        ]
        command += ["-t", str(train), "-T", str(test), "-p", "0"]
        done = subprocess.run(command, capture_output=True, text=True, check=True)
    found = re.findall(r"^\s*\d+\s+\d+:c\d+\s+\d+:c(\d+)", done.stdout, re.MULTILINE)
    if len(found) != len(X_test):
        raise RuntimeError(f"Weka answered {len(found)} of {len(X_test)} rows: {done.stderr[:300]}")
    return np.array(found, dtype=int)


class WekaClassifier(ClassifierMixin, BaseEstimator):
    """One of ``LEARNERS`` as an estimator: Weka trains again for every call of ``predict``.

    Rows are shuffled before they are written, as Weka does before it cross-validates.
    """

    def __init__(self, learner: str):
        self.learner = learner

    def fit(self, X: np.ndarray, y: np.ndarray) -> "WekaClassifier":
        order = np.random.default_rng(0).permutation(len(y))
        self.classes_, codes = np.unique(y, return_inverse=True)
        self.rows_ = X[order], codes[order]
        return self

    def predict(self, X: np.ndarray) -> np.ndarray:
        return self.classes_[predictions(self.learner, *self.rows_, X, len(self.classes_))]


def _write_arff(path: Path, X: np.ndarray, codes: np.ndarray, n_classes: int) -> None:
    names = ",".join(f"c{code}" for code in range(n_classes))
    lines = ["@relation rows", *(f"@attribute a{j} numeric" for j in range(X.shape[1]))]
    lines += [f"@attribute class {{{names}}}", "@data"]
    lines += [
        ",".join(map(repr, row)) + f",c{code}" for row, code in zip(X.tolist(), codes, strict=True)
    ]
    path.write_text("\n".join(lines) + "\n")
