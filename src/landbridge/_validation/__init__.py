"""Input validation: all arguments of ``fit`` are checked here, and only once.

Each error message states the requirement, the value received and what to do.
"""

from landbridge._validation.checks import (
    Task,
    check_choice,
    check_count,
    check_domain_sizes,
    check_estimator_given,
    check_finite,
    check_groups,
    check_labels,
    check_like_source,
    check_memory,
    check_new_source,
    check_not_negative,
    check_numeric_labels,
    check_one_label_each,
    check_positive,
    check_probabilistic,
    check_rows,
    check_same_names,
    check_sample_weight,
    check_target_labels,
    column_names,
    count_jobs,
    is_count,
    is_number,
    is_text,
    missing_values,
    non_numeric_columns,
    plain_numbers,
    seen_names,
    sklearn_errors,
    stack_rows,
    task_of,
    union_of_classes,
)
from landbridge._validation.transfer import (
    TransferData,
    check_mapping,
    check_transfer,
    check_two_domains,
    raise_half_a_target,
    warn_no_target,
)
