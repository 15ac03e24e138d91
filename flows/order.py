"""What somebody asks a run for, in plain values: they cross processes and machines, where a `Run` is made of them.

Tasks are given an order, never a frame, a connection or a client. Equal orders give the same run within a process,
so that its threads share one client, and with it the patience that upstreams are owed.
"""

from dataclasses import dataclass, field
from datetime import UTC, date, datetime
from functools import lru_cache
from pathlib import Path
from zoneinfo import ZoneInfo

from flows import rule_files, sample, terminal
from flows.pipeline import Run
from flows.settings import settings
from transforms.codes import state
from transforms.errors import UsageError
from transforms.sources import Scope
from warehouse import sample as bundled

BRASILIA = ZoneInfo("America/Sao_Paulo")  # where a night's date is read off the clock


@dataclass(frozen=True, slots=True)
class Order:
    """The words of a command or a schedule; None and empty are left to the settings. `home`: see `Run`."""

    uf: str | None = None
    as_of: date | None = None
    rules: tuple[str, ...] = ()
    offline: bool = False
    sample: bool = False
    data: Path | None = None
    inputs: Path | None = None
    accept_drift: str = ""
    home: Path = Path()
    now: datetime = field(default_factory=lambda: datetime.now(UTC))


@lru_cache(maxsize=64)  # the states of a country, twice
def run_of(order: Order) -> Run:
    """The run. The state has no default but EMANCIPA_UF; the date's is today, where Brazil's capital is."""
    found = settings(sample=order.sample, data=order.data, inputs=order.inputs)
    asked = bundled.UF if order.sample else order.uf or found.uf
    if asked is None:
        raise UsageError("which state?", where="--uf", action="give --uf UF, for instance --uf ES, or set EMANCIPA_UF")
    if order.sample and order.uf not in {None, bundled.UF}:
        raise UsageError(
            f"the sample is {bundled.UF}, not {order.uf}", where="--uf", action="leave out --uf or --sample"
        )
    today = bundled.AS_OF if order.sample else order.now.astimezone(BRASILIA).date()
    return Run(
        scope=Scope(state(asked).uf, order.as_of or today),
        rules=rule_files.read(order.rules),
        settings=found,
        client=None if order.offline else sample.client(found, bundled=order.sample),
        now=order.now,
        simulated=bundled.SIMULATED if order.sample else frozenset(),
        accept_drift=order.accept_drift,
        say=terminal.say,
        home=order.home,
    )
