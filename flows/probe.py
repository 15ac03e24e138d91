"""`emancipa sources --probe`: does each upstream answer its first question now? Only the head of the answer is read."""

import time
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from datetime import date
from pathlib import Path
from typing import Any

import requests

from flows.addresses import address
from flows.settings import Settings
from flows.transport import Session
from flows.verify import HEAD, barrier
from transforms.catalog import sources
from transforms.sources import Scope, Source


def probed(settings: Settings, today: date) -> Mapping[str, dict[str, Any]]:
    """By source: answer (`ok`, or what is wrong), seconds, detail. Hand-supplied files are only looked for."""
    session = Session(settings.user_agent)

    def ask(source: Source) -> tuple[str, dict[str, Any]]:
        since = time.monotonic()
        answer, detail = _ask(source, settings, session, today)
        return source.name, {"answer": answer, "seconds": round(time.monotonic() - since, 1), "detail": detail}

    with ThreadPoolExecutor(max_workers=4) as pool:
        return dict(pool.map(ask, sources().values()))


def _ask(source: Source, settings: Settings, session: Session, today: date) -> tuple[str, str]:
    request = next(source.conversation(Scope(settings.uf or "ES", today)))
    url = address(source, request, settings)
    if source.base == "inputs":
        return ("ok" if Path(url).is_file() else "absent"), url
    limits = (settings.connect_seconds, settings.read_seconds)
    try:
        with session.get(url, stream=True, timeout=limits) as response:
            head = next(response.iter_content(HEAD), b"")
            if what := barrier(head, response.headers):
                return "blocked", what
            return ("ok" if response.ok else "refused"), f"HTTP {response.status_code} {url}"
    except requests.RequestException as error:
        return "unreachable", f"{url}: {type(error).__name__}"
