"""Warnings for statistical doubt: what is computed is right, what it means needs care."""


class LandbridgeWarning(UserWarning):
    """Base of every warning that landbridge raises itself."""


class NoTargetWarning(LandbridgeWarning):
    """A transfer estimator was fitted without target rows and equals its plain counterpart."""


class FewTargetRowsWarning(LandbridgeWarning):
    """There are too few labelled target rows for the method to be steered by them."""


class WeightingWarning(LandbridgeWarning):
    """So few rows carry the importance weights that results based on them are unstable."""


class NothingToAlignWarning(LandbridgeWarning):
    """The alignment is the identity because the target already spans the source."""


class FewSourcesWarning(LandbridgeWarning):
    """There are too few sources for an informative interval about new ones."""


class FailedFitWarning(LandbridgeWarning):
    """A fit failed and was recorded; results are based on the others.

    Arguments: what happened and, where there is more to see, where.
    """

    def __str__(self) -> str:
        return " ".join(map(str, self.args))


class NotConvergedWarning(LandbridgeWarning):
    """An iterative solver stopped before it reached its tolerance."""


class WeakLearnerWarning(LandbridgeWarning):
    """A base learner does no better than chance, so boosting cannot improve it."""


class ConditionWarning(LandbridgeWarning):
    """A bound or a test is used outside the conditions under which it was proved."""


class NothingSelectedWarning(LandbridgeWarning):
    """No feature was found to be worth selecting."""


class CacheWarning(LandbridgeWarning):
    """Finished fits are not stored, so that a later run repeats them."""
