"""Warnings about results that are computed correctly but need care in interpretation."""


class LandbridgeWarning(UserWarning):
    """Base class of all landbridge warnings."""


class NoTargetWarning(LandbridgeWarning):
    """A transfer estimator was fitted without target rows and equals its plain counterpart."""


class FewTargetRowsWarning(LandbridgeWarning):
    """There are too few labelled target rows to guide the method."""


class WeightingWarning(LandbridgeWarning):
    """The effective sample size of importance weights is so small that results are unstable."""


class NothingToAlignWarning(LandbridgeWarning):
    """The alignment is the identity because the target already spans the source."""


class FewSourcesWarning(LandbridgeWarning):
    """There are too few sources for an informative interval about new ones."""


class FailedFitWarning(LandbridgeWarning):
    """A fit failed and was recorded; results are based on the others.

    The arguments are the message and, if available, the name of the attribute with more details.
    """

    def __str__(self) -> str:
        return " ".join(map(str, self.args))


class NotConvergedWarning(LandbridgeWarning):
    """An iterative solver stopped before it reached its tolerance."""


class WeakLearnerWarning(LandbridgeWarning):
    """A base learner is no better than chance, so boosting cannot improve it."""


class ConditionWarning(LandbridgeWarning):
    """A bound or a test is used outside the conditions under which it was proved."""


class NothingSelectedWarning(LandbridgeWarning):
    """No feature met the selection criterion."""


class CacheWarning(LandbridgeWarning):
    """Completed fits cannot be cached, so a later run repeats them."""
