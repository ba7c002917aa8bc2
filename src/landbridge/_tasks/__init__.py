"""Running tasks: workers, cache, time limits and progress."""

from landbridge._tasks.cache import CacheContents, StoredTask, TaskCache, is_cache
from landbridge._tasks.clock import not_working, working_time
from landbridge._tasks.in_order import map_tasks
from landbridge._tasks.keys import (
    NoStableDescription,
    describe,
    describe_candidate,
    describe_rows,
    task_key,
)
from landbridge._tasks.progress import Progress, TaskProgress, duration
from landbridge._tasks.records import Task, TaskFailure, TaskResult
from landbridge._tasks.run import run_tasks
from landbridge._tasks.seeds import spawn_seeds
from landbridge._tasks.shared_file import SharedData
from landbridge._tasks.signals import unswallowed_signals
from landbridge._tasks.threads import on_one_thread, one_thread
