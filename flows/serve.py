"""`emancipa serve`: the nightly run as a deployment of a Prefect server, on the hour of Brasília, until stopped.

The schedule lives on the server: a restart neither pauses nor doubles it, and runs that were missed meanwhile end at
once but for the newest (see nightly.superseded). One run at a time, by Prefect's limit and by the data folder's lock.
"""

import os
import re
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from flows import national
from flows.order import Order, run_of
from flows.settings import Settings
from transforms.errors import UsageError

if TYPE_CHECKING:
    from prefect import Flow
    from prefect.schedules import Schedule

NAME = "nightly"
TIMEZONE = "America/Sao_Paulo"


def quiet(data: Path, level: str = "WARNING") -> None:
    """Prefect as a guest: nothing is told to anyone outside, its files stay in the data folder, its log is short.

    Call it before Prefect is imported, for it reads its settings then. What is set already is left alone.
    """
    for name, value in {
        "PREFECT_SERVER_ANALYTICS_ENABLED": "false",
        "DO_NOT_TRACK": "1",
        "PREFECT_HOME": str((data / "prefect").resolve()),
        "PREFECT_LOGGING_LEVEL": level,
        "PREFECT_SERVER_UI_SHOW_PROMOTIONAL_CONTENT": "false",
    }.items():
        os.environ.setdefault(name, value)


def answers() -> bool:
    """Whether the Prefect API that is configured does."""
    from prefect.client.orchestration import get_client  # noqa: PLC0415

    with suppress(Exception), get_client(sync_client=True) as client:
        return client.api_healthcheck() is None
    return False


def states(asked: str | None, settings: Settings, *, is_sample: bool) -> tuple[str, ...]:
    """The states of `ES,SE`, or the one of EMANCIPA_UF; the sample's."""
    if not is_sample and not (asked or settings.uf):
        raise UsageError("which states?", where="--uf", action="give --uf UF or --uf UF,UF, or set EMANCIPA_UF")
    return national.states(asked or settings.uf, is_sample=is_sample)


def schedule(at: str) -> "Schedule":
    """Every day at an hour of Brasília. Raises UsageError."""
    from prefect.schedules import Cron  # noqa: PLC0415

    if not (clock := re.fullmatch(r"([01]?\d|2[0-3]):([0-5]\d)", at)):
        raise UsageError(f"not a time of day: {at!r}", where="--at", action="give HH:MM, for instance --at 02:00")
    return Cron(f"{int(clock[2])} {int(clock[1])} * * *", timezone=TIMEZONE)


def parameters(order: Order, ufs: Sequence[str]) -> dict[str, Any]:
    """What each scheduled run is given: absolute paths, and no date, for that is the schedule's."""
    given = {"data": order.data, "inputs": order.inputs}
    paths = {name: str(path.resolve()) for name, path in given.items() if path}
    named = {"uf": ufs[0]} if len(ufs) == 1 else {"ufs": list(ufs)}
    return {**named, "rules": list(order.rules), "sample": order.sample, **paths}


def serve(order: Order, ufs: Sequence[str], at: str, data: Path) -> None:
    """Register the schedule and do its runs until stopped. Raises UsageError where no Prefect server is at hand."""
    if "PREFECT_API_URL" not in os.environ:
        raise UsageError(
            "a schedule needs a Prefect server",
            where="PREFECT_API_URL",
            action="start one (`prefect server start`) and set PREFECT_API_URL=http://127.0.0.1:4200/api; "
            "or let cron call `emancipa run`",
        )
    quiet(data, "INFO")
    when = schedule(at)
    run_of(replace(order, uf=ufs[0]))  # a rule file or a setting that is wrong is told now, not at night
    if not answers():
        raise UsageError(
            "the Prefect API does not answer", where=os.environ["PREFECT_API_URL"], action="is the server running?"
        )
    from prefect.client.schemas.objects import ConcurrencyLimitConfig  # noqa: PLC0415

    from flows import nightly  # noqa: PLC0415

    flow: Flow[..., Any] = nightly.nightly if len(ufs) == 1 else nightly.national
    flow.serve(
        name=NAME,
        schedule=when,
        parameters=parameters(order, ufs),
        limit=1,
        global_limit=ConcurrencyLimitConfig(limit=1),
        pause_on_shutdown=False,
        description=f"{', '.join(ufs)} every night at {at}, {TIMEZONE}",
    )
