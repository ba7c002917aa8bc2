"""Tasks on joblib's other backends: threads, multiprocessing, ray and third-party ones."""

from collections import deque
from collections.abc import Iterator
from typing import Any

from joblib.parallel import get_active_backend
from sklearn.utils.parallel import Parallel, delayed

from landbridge._tasks.call import Answer, Settings, TaskFunction, call_within
from landbridge._tasks.records import TaskResult
from landbridge._tasks.workers import Attempt


def run_with_joblib(
    function: TaskFunction,
    source: Iterator[Attempt | TaskResult],
    *,
    shared: Any,
    n_jobs: int,
    fit_timeout: float | None,
) -> Iterator[TaskResult]:
    """Run the tasks of ``source`` with the active backend."""
    ready: deque[TaskResult] = deque()
    attempts: dict[int, Attempt] = {}
    settings = Settings()
    sent = _put_once(shared)

    def calls() -> Iterator[Any]:
        # joblib reads this generator in its own threads, so results that need no call go to
        # `ready`.
        for item in source:
            if isinstance(item, TaskResult):
                ready.append(item)
                continue
            attempts[item.index] = item
            content = item.task.content
            yield delayed(_answer)(item.index, fit_timeout, settings, function, sent, content)

    # A backend that cannot stream (multiprocessing) returns all results at the end.
    streams = get_active_backend()[0].supports_return_generator
    return_as = "generator_unordered" if streams else "list"
    parallel = Parallel(n_jobs=n_jobs, return_as=return_as, batch_size=1, pre_dispatch="n_jobs")
    for index, answer in parallel(calls()):
        while ready:
            yield ready.popleft()
        attempt = attempts.pop(index)
        yield answer.as_result(index, attempt.task)
    yield from ready


def _answer(
    index: int,
    fit_timeout: float | None,
    settings: Settings,
    function: TaskFunction,
    sent: Any,
    content: Any,
) -> tuple[int, Answer]:
    shared = sent.get() if isinstance(sent, _RayObject) else sent
    return index, call_within(fit_timeout, settings, function, shared, content).sendable()


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
