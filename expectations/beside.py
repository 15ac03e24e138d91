"""Great Expectations in a process of its own, beside the run: its import takes longer than a state takes to build, and
two threads of one Python would only take turns.

One such process serves every run of the process that asks, one request after the other. It ends when its pipe
closes, whatever became of who held the other end. Where it dies, all it was asked for is an error.
"""

import atexit
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Sequence
from functools import cache
from multiprocessing.connection import Connection, Pipe
from typing import TypeAlias

from expectations import gx
from expectations.check import Outcome

Line: TypeAlias = "Connection[Sequence[gx.Suite], gx.Judged]"
_asking = threading.Lock()


def begin() -> None:
    """Start it, so that it imports while others work."""
    with _asking:
        _line(os.getpid())


def judge(suites: Sequence[gx.Suite]) -> gx.Judged:
    """What `gx.judge` says there."""
    with _asking:
        line = _line(os.getpid())
        try:
            line.send(suites)
            return line.recv()
        except (OSError, EOFError) as error:
            _line.cache_clear()  # the next run has another
            died = Outcome("error", f"the process that judges ended before it had answered ({type(error).__name__})")
            return gx.Judged({key: died for suite in suites for key in suite.expectations})


def serve(descriptor: int) -> None:
    """The other end: answer until nobody asks any more."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # an interrupt is for who asks
    gx.batches()
    line: Connection[gx.Judged, Sequence[gx.Suite]] = Connection(descriptor)
    with line:
        try:
            while True:
                line.send(gx.judge(line.recv()))
        except (EOFError, OSError):
            return


@cache
def _line(_of: int) -> Line:
    """A process that was forked has its parent's line, but may not ask through it."""
    ours, theirs = Pipe()
    code = f"from expectations import beside; beside.serve({theirs.fileno()})"
    with theirs:
        process = subprocess.Popen(  # noqa: S603 this very program
            [sys.executable, "-P", "-c", code],
            pass_fds=[theirs.fileno()],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,  # what libraries print is nobody's result
        )
    atexit.register(_end, process, ours)
    return ours


def _end(process: "subprocess.Popen[bytes]", line: Line) -> None:
    """It keeps nothing that an abrupt end could spoil, and may still be importing."""
    line.close()
    process.kill()
    process.wait()
