"""Great Expectations in a process of its own, beside the run: its import takes longer than a state takes to build, and
two threads of one Python would only take turns.

One such process serves every run of the process that asks, one request after the other. It ends when its pipe
closes, whatever became of who held the other end. One that dies is asked for anew once, and one that does not answer
is killed: then all it was asked for is an error, and nothing is published.
"""

import atexit
import os
import subprocess
import sys
import threading
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from multiprocessing.connection import Connection, Pipe
from pathlib import Path
from typing import TypeAlias

from expectations import gx
from expectations.check import Outcome

PATIENCE = 300  # seconds: a hundred times what the largest release has needed
HERE = str(Path(__file__).parents[1])  # the same program there as here, wherever it was found
Line: TypeAlias = "Connection[Sequence[gx.Suite], gx.Judged]"
_asking = threading.Lock()


@dataclass(frozen=True, slots=True)
class Judge:
    """The process, and our end of the line to it."""

    process: "subprocess.Popen[bytes]"
    line: Line

    def ask(self, suites: Sequence[gx.Suite]) -> gx.Judged:
        """Raises OSError or EOFError where it ends first, also because it was killed for taking too long."""
        patience = threading.Timer(PATIENCE, self.process.kill)
        patience.start()
        try:
            self.line.send(suites)
            return self.line.recv()
        finally:
            patience.cancel()

    def end(self) -> None:
        """It keeps nothing that an abrupt end could spoil, and may still be importing."""
        self.line.close()
        self.process.kill()
        self.process.wait()


def begin() -> None:
    """Start it, so that it imports while others work."""
    with _asking:
        _living()


def judge(suites: Sequence[gx.Suite]) -> gx.Judged:
    """What `gx.judge` says there."""
    with _asking:
        for _ in range(2):
            try:
                return _living().ask(suites)
            except (OSError, EOFError):
                _end()
            except BaseException:  # an answer may still come: the next to ask would take it for its own
                _end()
                raise
    died = Outcome("error", "the process that judges ended before it had answered, twice")
    return gx.Judged({key: died for suite in suites for key in suite.expectations})


def serve(descriptor: int) -> None:
    """The other end: answer until nobody asks any more."""
    gx.batches()
    line: Connection[gx.Judged, Sequence[gx.Suite]] = Connection(descriptor)
    with line:
        try:
            while True:
                line.send(gx.judge(line.recv()))
        except (EOFError, OSError):
            return


def _living() -> Judge:
    if _judge(os.getpid()).process.poll() is not None:  # it ended while nobody asked
        _end()
    return _judge(os.getpid())


def _end() -> None:
    _judge(os.getpid()).end()
    _judge.cache_clear()


@cache
def _judge(_of: int) -> Judge:
    """A process that was forked has its parent's line, but may not ask through it."""
    ours, theirs = Pipe()
    code = f"import sys; sys.path.insert(0, {HERE!r}); from expectations import beside; beside.serve({theirs.fileno()})"
    with theirs:
        process = subprocess.Popen(  # noqa: S603 this very program
            [sys.executable, "-P", "-W", "ignore", "-c", code],
            pass_fds=[theirs.fileno()],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,  # what libraries print is nobody's result
            process_group=0,  # an interrupt at the terminal is for who asks
        )
    judge = Judge(process, ours)
    atexit.register(judge.end)
    return judge
