"""Input validation: all arguments of ``fit`` are checked here, and only once.

Each error message states the requirement, the value received and what to do.
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
    is_text,
    missing_values,
    plain_numbers,
    task_of,
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
    count_jobs,
    is_count,
    is_number,
)
from landbridge._validation.transfer import (
    TransferData,
    check_mapping,
    check_transfer,
    check_two_domains,
    raise_half_a_target,
    warn_no_target,
)
