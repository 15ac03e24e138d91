"""What somebody asks a run for, in plain values: they cross processes and machines, where a `Run` is made of them.

Tasks are given an order, never a frame, a connection or a client. Equal orders give the same run within a process,
so that its threads share one client, and with it the patience that upstreams are owed.
"""

from dataclasses import dataclass, field
from datetime import UTC, date, datetime
from functools import lru_cache
from pathlib import Path

from flows import rule_files, sample, terminal
from flows.fetch import Client
from flows.run import Run
from flows.settings import Settings, settings
from transforms.codes import state
from transforms.errors import UsageError
from transforms.sources import Scope
from warehouse import sample as bundled
from warehouse.snapshots import BRASILIA
from warehouse.states import COUNTRY, STATES


@dataclass(frozen=True, slots=True)
class Order:
    """The words of a command or a schedule; None and empty are left to the settings. `ufs`: of a national run."""

    uf: str | None = None
    ufs: tuple[str, ...] = ()
    as_of: date | None = None
    rules: tuple[str, ...] = ()
    offline: bool = False
    sample: bool = False
    data: Path | None = None
    inputs: Path | None = None
    accept_drift: str = ""
    now: datetime = field(default_factory=lambda: datetime.now(UTC))


def runs_of(order: Order) -> list[Run]:
    """The run; of a national order, the run of each of its states."""
    return [state_of(order, uf) for uf in order.ufs] or [run_of(order)]


def state_of(order: Order, uf: str) -> Run:
    """One state of a national run: in a home of its own, with the client and the store of the whole."""
    return run_of(order).of_state(uf, STATES / uf)


@lru_cache(maxsize=8)
def run_of(order: Order) -> Run:
    """The run, of the country where the order is national."""
    found = settings(sample=order.sample, data=order.data, inputs=order.inputs)
    if found.inputs is not None and not found.inputs.is_dir():
        raise UsageError("no such folder", where=f"--inputs {found.inputs}", action="name one that exists, or none")
    today = bundled.AS_OF if order.sample else order.now.astimezone(BRASILIA).date()
    return Run(
        scope=Scope(COUNTRY if order.ufs else _state(order, found), order.as_of or today),
        rules=rule_files.read(order.rules, proven=True),
        settings=found,
        client=_client(order, found),
        offline=order.offline,
        now=order.now,
        simulated=bundled.SIMULATED if order.sample else frozenset(),
        accept_drift=order.accept_drift,
        say=terminal.say,
    )


def _client(order: Order, found: Settings) -> Client | None:
    """Offline, the folder of hand-supplied files alone; not even that where a past day is rebuilt as it was."""
    if not order.offline:
        return sample.client(found, bundled=order.sample, progress=terminal.BARS)
    as_it_was = order.as_of is not None and order.inputs is None
    return None if as_it_was else sample.by_hand(found, bundled=order.sample)


def _state(order: Order, found: Settings) -> str:
    """The state asked for. It has no default but EMANCIPA_UF."""
    asked = bundled.UF if order.sample else order.uf or found.uf
    if asked is None:
        raise UsageError("which state?", where="--uf", action="give --uf UF, for instance --uf ES, or set EMANCIPA_UF")
    if order.sample and order.uf not in {None, bundled.UF}:
        raise UsageError(
            f"the sample is {bundled.UF}, not {order.uf}", where="--uf", action="leave out --uf or --sample"
        )
    return state(asked).uf
