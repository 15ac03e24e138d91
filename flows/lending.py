"""Lending states to workers that share no file system with us: what each needs goes out, and its home comes back.

Only where EMANCIPA_SHARE names a share, and the states are built on a cluster of another's. See warehouse/share.py.
"""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from secrets import token_hex

from flows.order import Order, run_of, state_of
from flows.polling import polled
from flows.run import STAGING, Outcome, Run
from flows.settings import settings
from transforms.catalog import sources
from transforms.errors import EmancipaError
from warehouse import publish, staging
from warehouse.share import RAW, Sums, opened, sha256_of

AWAY = "away"  # below a worker's data folder, so that what the machine has of its own is left alone


@dataclass(frozen=True, slots=True)
class Loan:
    """What a worker takes from a share beside a state's home: files, relative to a data folder."""

    share: str
    run: str  # the folder of the share where this run's homes are, apart from those of a run on another machine
    polls: Sums  # ledgers of polls
    files: Sums


def lend(order: Order, *, away: bool) -> dict[str, Loan | None]:
    """By state, what its worker is lent; None where it works in this very data folder."""
    this = run_of(order)
    if not away or (url := this.settings.share) is None:
        return dict.fromkeys(order.ufs)
    files = {uf: tuple(needed(state_of(order, uf))) for uf in order.ufs}
    run = f"runs/{publish.release_id(this.now, token_hex(4))}"
    with opened(url) as share:
        names = sorted({name for needs in files.values() for name in needs})
        for below in ("raw", STAGING):
            share.give(this.settings.data, (name for name in names if name.startswith(f"{below}/")), below=below)
        sums = {name: sha256_of(this.settings.data / name) for name in names}
        polls = share.within(run).give_ledgers(this.settings.raw, RAW, below="raw")
        for uf in order.ufs:
            share.within(run).give_home(this.settings.data, str(state_of(order, uf).home))
    return {uf: Loan(url, run, polls, {name: sums[name] for name in needs}) for uf, needs in files.items()}


def needed(this: Run) -> Iterator[str]:
    """The snapshots that a state is built from, and the rows made of them: see polling.usable."""
    fetched = polled(this)
    for name, source in sources().items():
        new = fetched.get(name)
        good = new if new is not None and new.ok else this.store.last_good(name, this.scope.uf, this.scope.as_of)
        for answer in good.answers if good else ():
            paths = [this.store.path(answer.sha256), *staging.paths(source, answer, this.cache)]
            yield from (str(path.relative_to(this.settings.data)) for path in paths if path.exists())


@contextmanager
def borrowed(order: Order, uf: str, loan: Loan) -> Iterator[Run]:
    """On a worker: a state's run in a data folder of this machine, handed back however it ends."""
    this = state_of(replace(order, data=settings().data / AWAY, inputs=None), uf)
    data, home = this.settings.data, str(this.home)
    with opened(loan.share) as share:
        share.within(loan.run).take_ledgers(this.settings.raw, loan.polls, below="raw")
        share.take(data, loan.files)
        share.within(loan.run).take_home(data, home, now=this.now, keep=this.keep)
    try:
        yield this
    finally:
        with opened(loan.share) as share:
            share.within(loan.run).give_home(data, home)


def bring_home(
    order: Order, loans: Mapping[str, Loan | None], built: Mapping[str, Outcome | BaseException]
) -> dict[str, Outcome | BaseException]:
    """Take the lent homes back; what came of each state, a home that does not come back being its failure."""
    ends = dict(built)
    for uf, loan in loans.items():
        if loan is not None:
            try:
                _bring(state_of(order, uf), loan, built[uf])
            except EmancipaError as error:
                ends[uf] = error
    return ends


def _bring(this: Run, loan: Loan, built: Outcome | BaseException) -> None:
    with opened(loan.share) as share:
        lent = share.within(loan.run)
        lent.take_home(this.settings.data, str(this.home), now=this.now, keep=this.keep)
        seen = publish.current(this.data)
        if isinstance(built, Outcome) and seen != built.release:
            raise EmancipaError(
                f"{seen or 'no release'} came home, and {built.release} was made",
                where=f"EMANCIPA_SHARE, {lent.root}/{this.home}",
                action="see who else writes there, then run again",
            )
        lent.drop(str(this.home))
