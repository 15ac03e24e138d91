"""Pages of an Oracle REST data service (ORDS), as the Treasury's API answers.

A page says how many items it holds and whether more follow; there is no total. An answer of 200 with no items may
mean "nothing yet" or "a filter we do not know", and unstable paging may repeat a row. So paging goes to the end,
every item must echo what was asked, and a repeated row spoils the whole answer. The `links` of a page name a host
inside the Treasury: they are never followed. Amounts are read as exact decimals.
"""

import json
from collections.abc import Generator, Mapping
from decimal import Decimal
from typing import Any, BinaryIO

from transforms.errors import SourceChanged, SourceUnsound
from transforms.sources import Request

MOST_PAGES = 20  # of 5000 items; a state's annual revenue statement is one

Item = Mapping[str, Any]


def pages(
    part: str, path: str, params: Mapping[str, str], echo: Mapping[str, object], *, source: str
) -> Generator[Request, BinaryIO | None, list[Item]]:
    """Asks for page after page and returns all items; `echo` holds the fields each must carry.

    Parts are named `part/offset`. Raises SourceUnsound on pages that do not add up to one whole answer, SourceChanged
    on one that is no answer to what was asked.
    """
    where, items, seen = f"{source} {path}", list[Item](), set[tuple[str, ...]]()
    for _ in range(MOST_PAGES):
        start = len(items)
        asked = {**params, "offset": str(start)} if start else params
        answer = yield Request(part=f"{part}/{start}", path=path, params=asked)
        if answer is None:
            raise SourceChanged("no answer", where=where)
        found, has_more = page(answer, source=where, offset=start)
        for item in found:
            if any(str(item.get(name)) != str(value) for name, value in echo.items()):
                told = {name: item.get(name) for name in echo}
                raise SourceChanged(f"asked for {dict(echo)}, was sent a row of {told}", where=where)
            identity = tuple(str(value) for name, value in sorted(item.items()) if name != "valor")
            if identity in seen:
                raise SourceUnsound(f"the same row twice: {dict(item)}", where=where, action="fetch again")
            seen.add(identity)
        items += found
        if not has_more:
            return items
        if not found:
            raise SourceUnsound("an empty page that says more follow", where=f"{where}, offset {start}")
    raise SourceChanged(f"more than {MOST_PAGES} pages", where=where)


def page(stream: BinaryIO, *, source: str, offset: int | None = None) -> tuple[list[Item], bool]:
    """The items of one page, and whether more follow. Raises SourceChanged or SourceUnsound on anything but a
    whole page.
    """
    try:
        body = json.load(stream, parse_float=Decimal, parse_constant=_refuse)
    except (ValueError, ArithmeticError, RecursionError) as error:
        raise SourceChanged(f"not JSON: {error}", where=source) from error
    envelope = body if isinstance(body, dict) else {}
    items, has_more = envelope.get("items"), envelope.get("hasMore")
    if not isinstance(items, list) or not isinstance(has_more, bool):
        raise SourceChanged("not a page of items", where=source, action="look at the answer: is it an error?")
    if not all(isinstance(item, dict) for item in items):
        raise SourceChanged("an item that is not a row", where=source)
    if envelope.get("count", len(items)) != len(items):
        raise SourceUnsound(f"{len(items)} items in a page that says {envelope['count']}", where=source)
    if offset is not None and envelope.get("offset", offset) != offset:
        raise SourceUnsound(f"asked from item {offset}, was sent from {envelope['offset']}", where=source)
    return items, has_more


def _refuse(constant: str) -> Decimal:
    raise ValueError(f"{constant} is not a figure")
