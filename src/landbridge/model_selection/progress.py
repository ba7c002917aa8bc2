"""Progress of a search: cells done, time left, the leader so far."""

import logging
import time
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any, Self

if TYPE_CHECKING:
    from landbridge.model_selection.ledger import Ledger

logger = logging.getLogger("landbridge")
# Seconds between two updates: finding the leader must not cost more than the fits.
PAUSE = 1.0


class Progress:
    """A bar where rich is installed, else lines of the logger ``landbridge``; silent at 0."""

    def __init__(self, verbose: int, n_fits: int, n_cells: int):
        self.verbose, self.n_fits, self.n_cells = verbose, n_fits, n_cells
        self.done, self.shown, self.started = 0, -PAUSE, time.perf_counter()
        self.bar: Any = None

    def __enter__(self) -> Self:
        if self.verbose and find_spec("rich"):
            from rich.console import Console
            from rich.progress import BarColumn, TextColumn, TimeRemainingColumn
            from rich.progress import Progress as Bar

            # Standard output is for answers.
            self.bar = Bar(
                TextColumn("{task.description}"),
                BarColumn(),
                TimeRemainingColumn(),
                console=Console(stderr=True),
                transient=True,
            )
            self.bar.start()
            self.task = self.bar.add_task(f"0 of {self.n_cells} cells", total=self.n_fits)
        return self

    def __exit__(self, *_: object) -> None:
        if self.bar is not None:
            self.bar.stop()

    def advance(self, ledger: "Ledger", criterion: str) -> None:
        """One more fit is done."""
        self.done += 1
        now = time.perf_counter() - self.started
        if not self.verbose or (now - self.shown < PAUSE and self.done < self.n_fits):
            return
        self.shown = now
        n_whole, leader = ledger.leader(criterion)
        text = f"{n_whole} of {self.n_cells} cells" + (f", leader {leader}" if leader else "")
        if self.bar is not None:
            self.bar.update(self.task, completed=self.done, description=text)
        else:
            left = now * (self.n_fits - self.done) / self.done
            logger.info("%s, about %.0f s left", text, left)
