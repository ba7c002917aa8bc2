"""What transformers between domains share: the front door and the two treatments."""

import numpy as np
import pytest

import landbridge as lb
from landbridge._validation import check_not_negative, check_positive

RNG = np.random.default_rng(0)
Z, X = RNG.normal(size=(30, 3)), RNG.normal(0.5, 1.3, (20, 3))
MAPS = [lb.CORAL(), lb.SubspaceAlignment(2), lb.SurrogateKernelMap(random_state=0)]
every_map = pytest.mark.parametrize("one", MAPS, ids=[type(one).__name__ for one in MAPS])


@every_map
def test_fit_transform_returns_the_treated_source_rows(one):
    mapped = one.fit_transform(Z, X_unlabeled=X)
    np.testing.assert_array_equal(mapped, one.transform_source(Z))
    assert not np.allclose(mapped, one.transform(Z))
    assert len(one.get_feature_names_out()) == mapped.shape[1]


@every_map
@pytest.mark.filterwarnings("ignore::landbridge.NoTargetWarning")
def test_without_a_target_both_treatments_are_the_same(one):
    np.testing.assert_allclose(one.fit_transform(Z), one.transform(Z), atol=1e-12)


@every_map
def test_labels_of_another_length_are_refused(one):
    with pytest.raises(ValueError, match="`y` must have one label for each row of X"):
        one.fit(Z, np.zeros(7), X_unlabeled=X)
    with pytest.raises(ValueError, match="`y_target` must have one label for each of the 20 rows"):
        one.fit(Z, X_target=X, y_target=1.0)


@pytest.mark.parametrize("value", [-1, np.inf, np.nan])
def test_numbers_that_are_refused(value):
    with pytest.raises(ValueError, match="`mu` must be a finite number of at least 0; got"):
        check_not_negative(value, "mu")
    with pytest.raises(
        ValueError, match="`mu` must be a finite number above 0, as it divides; got"
    ):
        check_positive(value, "mu", "as it divides")
    with pytest.raises(ValueError, match="`mu` must be a finite number above 0; got 0"):
        check_positive(0, "mu")
    check_not_negative(0, "mu")
