"""Running tasks: workers, cache, time limits and progress."""

from landbridge._tasks.cache import CacheContents, StoredTask, TaskCache, is_cache
from landbridge._tasks.keys import (
    NoStableDescription,
    describe,
    describe_candidate,
    describe_rows,
    task_key,
)
from landbridge._tasks.progress import Progress, TaskProgress, duration
from landbridge._tasks.run import map_tasks, run_tasks, without_dask
from landbridge._tasks.task import (
    Task,
    TaskFailure,
    TaskResult,
    not_working,
    one_thread,
    spawn_seeds,
    unswallowed_signals,
    working_time,
)
from landbridge._tasks.workers import SharedData
