"""The front door: every argument of every ``fit`` is checked here, once, and nowhere deeper.

Each message says what must hold, what was given and what to do about it.
"""

from landbridge._validation.labels import (
    Task,
    check_domain_sizes,
    check_groups,
    check_labels,
    check_numeric_labels,
    check_one_label_each,
    check_sample_weight,
    check_target_labels,
    missing_values,
    plain_numbers,
    union_of_classes,
)
from landbridge._validation.matrices import (
    check_finite,
    check_like_source,
    check_new_source,
    check_rows,
    check_same_names,
    column_names,
    non_numeric_columns,
    sklearn_errors,
    stack_rows,
)
from landbridge._validation.parameters import (
    check_choice,
    check_count,
    check_estimator_given,
    check_memory,
    check_not_negative,
    check_positive,
    check_probabilistic,
    is_count,
    is_number,
)
from landbridge._validation.transfer import (
    TransferData,
    check_transfer,
    check_two_domains,
    raise_half_a_target,
    warn_no_target,
)

__all__ = [
    "Task",
    "TransferData",
    "check_choice",
    "check_count",
    "check_domain_sizes",
    "check_estimator_given",
    "check_finite",
    "check_groups",
    "check_labels",
    "check_like_source",
    "check_memory",
    "check_new_source",
    "check_not_negative",
    "check_numeric_labels",
    "check_one_label_each",
    "check_positive",
    "check_probabilistic",
    "check_rows",
    "check_same_names",
    "check_sample_weight",
    "check_target_labels",
    "check_transfer",
    "check_two_domains",
    "column_names",
    "is_count",
    "is_number",
    "missing_values",
    "non_numeric_columns",
    "plain_numbers",
    "raise_half_a_target",
    "sklearn_errors",
    "stack_rows",
    "union_of_classes",
    "warn_no_target",
]
