"""The adapters against skada and ADAPT themselves, each in its own environment.

The same rows are given to the other library directly and through the adapter; the answers must be
equal. ``LANDBRIDGE_PEERS`` names the folder with ``.venv-skada`` and ``.venv-adapt``.
"""

import os
import subprocess
from pathlib import Path

import pytest

import landbridge

SOURCE = Path(landbridge.__file__).parents[1]
PEERS = Path(os.environ.get("LANDBRIDGE_PEERS", SOURCE.parent))

ROWS = """
import warnings
warnings.simplefilter("ignore")
import numpy as np
from sklearn.linear_model import LogisticRegression
from landbridge.datasets import make_covariate_shift
from landbridge.interop import from_adapt, from_skada

data = make_covariate_shift(n_source=200, n_target=150, random_state=0)
X, X_target = data.X, data.X_target
codes = np.searchsorted(np.unique(data.y), data.y)
names = np.array(["no", "yes"])
X_l, c_l = X_target[:40], np.searchsorted(np.unique(data.y), data.y_target)[:40]
X_u = X_target[40:]
given = {"X_target": X_l, "y_target": names[c_l], "X_unlabeled": X_u}
"""

SKADA = """
import skada
masked = np.concatenate([codes, c_l, np.full(150, -1)])
rows, domain = np.vstack([X, X_l, X_target]), np.repeat([1, -2], [240, 150])
for make in (skada.CORAL, skada.OTMapping, skada.SubspaceAlignment):
    direct = make(LogisticRegression()).fit(rows, masked.copy(), sample_domain=domain)
    model = from_skada(make(LogisticRegression())).fit(X, names[codes], **given)
    assert (model.predict(X_u) == names[direct.predict(X_u)]).all(), make
    assert np.allclose(model.predict_proba(X_u), direct.predict_proba(X_u)), make
print("equal")
"""

ADAPT = """
from adapt.feature_based import CORAL, FA
from adapt.instance_based import KLIEP, TrAdaBoost
labelled = (np.vstack([X, X_l]), np.concatenate([codes, c_l]))
settings = {"verbose": 0, "random_state": 0}
for make, arguments in (
    (CORAL, (*labelled, X_target)),
    (KLIEP, (*labelled, X_target)),
    (FA, (X, codes, X_l, c_l)),
    (TrAdaBoost, (X, codes, X_l, c_l)),
):
    direct = make(LogisticRegression(), **settings).fit(*arguments)
    model = from_adapt(make(LogisticRegression(), **settings)).fit(X, names[codes], **given)
    assert (model.predict(X_u) == names[np.ravel(direct.predict(X_u)).astype(int)]).all(), make
print("equal")
"""


@pytest.mark.slow
@pytest.mark.parametrize(("peer", "code"), [("skada", SKADA), ("adapt", ADAPT)])
def test_answers_are_those_of_the_other_library(peer, code):
    python = PEERS / f".venv-{peer}" / "bin" / "python"
    if not python.exists():
        pytest.skip(f"{peer} has no environment at {python}")
    done = subprocess.run(
        [str(python), "-c", ROWS + code],
        capture_output=True,
        text=True,
        env={**os.environ, "PYTHONPATH": str(SOURCE), "TF_CPP_MIN_LOG_LEVEL": "3"},
    )
    assert done.stdout.strip().endswith("equal"), done.stderr
