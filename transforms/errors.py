"""The errors a user may meet: what happened, where, and what to do. Each carries its exit code.

Anything else that escapes is a bug (exit 1).
"""


class EmancipaError(Exception):
    """Base of all expected failures; itself, one of the machine: a disk, a share, a damaged file.

    `where` names source, file, line or code; `action` is the next step.
    """

    exit_code = 1

    def __init__(self, what: str, where: str = "", action: str = "") -> None:  # positional when unpickled
        super().__init__(what, where, action)
        self.what, self.where, self.action = what, where, action

    def __str__(self) -> str:
        where = f" [{self.where}]" if self.where else ""
        action = f"\n  → {self.action}" if self.action else ""
        return f"{self.what}{where}{action}"


class UsageError(EmancipaError):
    """A wrong argument, setting, rule file or hand-supplied file."""

    exit_code = 2


class ChecksRefused(EmancipaError):
    """A critical check failed: nothing was published."""

    exit_code = 3


class SourceUnavailable(EmancipaError):
    """A source did not answer usably and no earlier snapshot of it is at hand."""

    exit_code = 4


class SourceUnsound(SourceUnavailable):
    """A source answered with nothing, or with parts that contradict each other: no news, and worth asking again."""


class SourceChanged(EmancipaError):
    """A source answered in a layout, or with contents, that no known reader understands."""

    exit_code = 5


class Locked(EmancipaError):
    """Another run holds the lock of the data folder."""

    exit_code = 6
