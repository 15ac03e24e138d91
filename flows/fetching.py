"""`emancipa fetch`: ask the sources, or keep what somebody downloaded by hand; build nothing."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from flows import polling, run, terminal
from flows.fetch import place
from flows.run import Run
from transforms.catalog import sources
from transforms.errors import SourceUnavailable, UsageError
from transforms.sources import Source
from warehouse import data_folder
from warehouse.snapshots import Poll


def fetch(this: Run, names: Sequence[str], files: Sequence[str], *, as_json: bool) -> None:
    """Every source, or the ones named; `files` are SOURCE=PATH. Raises SourceUnavailable if a required one failed."""
    wanted = {name: named(name) for name in names} or dict(sources())
    with data_folder.held(this.data, now=this.now):
        if files:
            polls = dict(_placed(this, word) for word in files)
        else:
            polls = polling.fetch(replace(this, say=run.quiet), wanted)
    rows = [
        {"source": name, "outcome": poll.word, "answers": len(poll.answers), "message": poll.message}
        for name, poll in polls.items()
    ]
    if as_json:
        terminal.as_json(rows)
    else:
        terminal.table(rows, {"source": "source", "outcome": "outcome", "answers": "answers", "message": "message"})
    failed = [name for name, poll in polls.items() if not poll.ok and wanted.get(name, named(name)).required]
    if failed:
        raise SourceUnavailable(
            f"{len(failed)} required source{'s' if len(failed) > 1 else ''} failed: {', '.join(failed)}",
            action="run again later; what was fetched is kept, and a run uses each source's last good snapshot",
        )


def named(name: str) -> Source:
    """A source by its name."""
    if name not in sources():
        raise UsageError(f"no source {name!r}", where="--source", action=f"one of: {', '.join(sources())}")
    return sources()[name]


def _placed(this: Run, word: str) -> tuple[str, Poll]:
    name, equals, path = word.partition("=")
    if not equals or not path:
        raise UsageError(
            f"not SOURCE=PATH: {word!r}", where="--file", action="for instance tse_polling_places=ATUAL.zip"
        )
    return name, place(named(name), this.scope, Path(path), this.store, now=this.now)
