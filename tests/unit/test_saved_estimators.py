"""Every estimator of the table can be saved and answers the same afterwards."""

import warnings

import numpy as np
import pytest

from common.cases import CASES, answer, make_sample
from landbridge.persistence import load_model, save_model

UNABLE = {"RuLSIF": "its scores have pairs as keys, which skops does not write"}


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_every_estimator_can_be_saved(case, tmp_path):
    sample = make_sample(case)
    if case.name in UNABLE:
        with pytest.raises(ValueError, match="must be made of what skops can write"):
            save_model(case.make().fit(**sample.arguments(case)), tmp_path / "m.skops")
        return
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        estimator = case.make().fit(**sample.arguments(case))
        save_model(estimator, tmp_path / "m.skops")
        again = load_model(tmp_path / "m.skops").model
        np.testing.assert_array_equal(
            answer(case, again, sample.X_new), answer(case, estimator, sample.X_new)
        )
