"""``landbridge diagnose``: how far is the target from each source, which features moved."""

from landbridge.cli import _options as options
from landbridge.cli._session import session


def diagnose(
    data: options.Data,
    target: options.Target,
    domain: options.Domain = None,
    label: options.OptionalLabel = None,
    drop: options.Drop = None,
    exclude: options.Exclude = None,
    text: options.Text = None,
    encoding: options.Encoding = None,
    max_rows: options.MaxRows = 5000,
    seed: options.Seed = 0,
    format: options.Output = options.Format.table,
    debug: options.Debug = False,
) -> None:
    """Say how far the target is from each source, which features moved, what weights can do."""
    with session(format is options.Format.json, debug) as current:
        from landbridge.cli import _trust
        from landbridge.cli._problem import Question, read_problem
        from landbridge.cli._study import shift_part
        from landbridge.report.layout import shift_section

        question = Question(
            data,
            label,
            domain,
            target,
            drop=drop or (),
            exclude=exclude or (),
            max_rows=max_rows or None,
            seed=seed,
            task_option=False,
            text=text or (),
            encoding=encoding,
        )
        problem = read_problem(question, current.note)
        audit = _trust.audit_problem(problem)
        problem = _trust.without(problem, audit.left_out)
        with current.working("comparing the target with each source"):
            found = shift_part(problem, seed)
        with current.working("checking columns and labels"):
            parts = (
                audit,
                _trust.check_target_labels(problem, seed),
                _trust.explain_losses(problem, seed),
            )
        current.show(
            {**found, **_trust.trust_data(*parts)},
            [*_trust.trust_blocks(*parts), *shift_section(found).blocks],
        )
