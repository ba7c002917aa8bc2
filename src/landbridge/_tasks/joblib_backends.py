"""Tasks on joblib's other backends: threads, multiprocessing, ray and third-party ones."""

from collections.abc import Iterator
from typing import Any

from joblib.parallel import get_active_backend
from sklearn.utils.parallel import Parallel, delayed

from landbridge._tasks.call import Answer, Attempt, RemoteCall, Run
from landbridge._tasks.records import TaskResult


def run_with_joblib(run: Run, source: Iterator[Attempt]) -> Iterator[TaskResult]:
    """Run the tasks of ``source`` with the active backend."""
    attempts: dict[int, Attempt] = {}
    remote, sent = RemoteCall(run.function), _put_once(run.shared.content)

    def calls() -> Iterator[Any]:
        for attempt in source:
            attempts[attempt.index] = attempt
            content = attempt.task.content
            yield delayed(_answer)(attempt.index, remote, run.fit_timeout, sent, content)

    # A backend that cannot stream (multiprocessing) returns all results at the end.
    streams = get_active_backend()[0].supports_return_generator
    return_as = "generator_unordered" if streams else "list"
    parallel = Parallel(n_jobs=run.n_jobs, return_as=return_as, batch_size=1, pre_dispatch="n_jobs")
    for index, answer in parallel(calls()):
        yield attempts.pop(index).result(answer)


def _answer(
    index: int, remote: RemoteCall, fit_timeout: float | None, sent: Any, content: Any
) -> tuple[int, Answer]:
    shared = sent.get() if isinstance(sent, _RayObject) else sent
    return index, remote.answer_within(fit_timeout, shared, content)


class _RayObject:
    """Reference to an object in ray's store, which each node receives once."""

    def __init__(self, reference: Any):
        self.reference = reference

    def get(self) -> Any:
        import ray

        return ray.get(self.reference)


def _put_once(shared: Any) -> Any:
    """Wrap the shared data so that the backend sends it only once."""
    if type(get_active_backend()[0]).__name__ != "RayBackend":
        return shared
    import ray

    return _RayObject(ray.put(shared))
