"""Every estimator of the table can be saved and answers the same afterwards."""

import warnings

import numpy as np
import pytest

from common.cases import CASES, answer, make_sample
from landbridge.persistence import load_model, save_model


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_every_estimator_can_be_saved(case, tmp_path):
    sample = make_sample(case)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        estimator = case.make().fit(**sample.arguments(case))
        save_model(estimator, tmp_path / "m.skops")
        again = load_model(tmp_path / "m.skops").model
        np.testing.assert_array_equal(
            answer(case, again, sample.X_new), answer(case, estimator, sample.X_new)
        )


def test_a_model_that_skops_cannot_write_is_refused(tmp_path):
    case = CASES[0]
    estimator = case.make().fit(**make_sample(case).arguments(case))
    estimator.notes_ = {("a", "pair"): "as a key"}
    with pytest.raises(ValueError, match="must consist of parts that skops can save"):
        save_model(estimator, tmp_path / "m.skops")
    assert not list(tmp_path.iterdir())
