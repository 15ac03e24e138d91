"""Bars for long downloads: on a terminal only, on standard error, gone when they are done.

Downloads tell how far they are from threads of their own (flows/fetch.py, `Progress`); what else is said meanwhile
goes above the bars.
"""

from threading import Lock
from typing import TYPE_CHECKING

from rich.console import Console

if TYPE_CHECKING:
    from rich.progress import Progress, TaskID

LONG = 5_000_000  # bytes; a shorter download is over before a bar could be read


class Bars:
    """One for a process. Shows nothing where its console is no terminal."""

    def __init__(self, console: Console) -> None:
        self._console, self._lock = console, Lock()
        self._shown: Progress | None = None
        self._tasks: dict[str, TaskID] = {}

    def __call__(self, label: str, done: int, total: int | None) -> None:
        """A download got further; at its end, or where it starts over, the bar follows."""
        if not self._console.is_terminal or total is None or total < LONG:
            return
        with self._lock:
            if done >= total:
                self._drop(label)
                return
            bars = self._bars()
            if label not in self._tasks:
                self._tasks[label] = bars.add_task(label, completed=done, total=total)
            bars.update(self._tasks[label], completed=done, total=total)

    def say(self, line: str) -> bool:
        """Prints a line above the bars, if there are any. What it begins with has ended."""
        with self._lock:
            if self._shown is None:
                return False
            self._console.print(line, markup=False, highlight=False, soft_wrap=True)
            about = line.partition(":")[0]
            for label in [label for label in self._tasks if label.split()[0] in about]:
                self._drop(label)
            return True

    def _bars(self) -> "Progress":
        from rich.progress import BarColumn, DownloadColumn, Progress, TextColumn, TimeRemainingColumn  # noqa: PLC0415

        if self._shown is None:
            columns = (TextColumn("{task.description}"), BarColumn(), DownloadColumn(), TimeRemainingColumn())
            self._shown = Progress(*columns, console=self._console, transient=True)
            self._shown.start()
        return self._shown

    def _drop(self, label: str) -> None:
        """Without a bar left, the terminal is as it was."""
        if self._shown and label in self._tasks:
            self._shown.remove_task(self._tasks.pop(label))
        if self._shown and not self._tasks:
            self._shown.stop()
            self._shown = None
