"""The ways the upstreams have failed their users, each by name. Sources: the research pages' tables of traps."""

import io
import json
import re
import socket
import struct
import time
import zipfile
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from warehouse.sample.files import zipped
from warehouse.sample.generate import Answer

if TYPE_CHECKING:
    from tests.upstream import Upstream
    from tests.upstream.handler import Handler

Options = Mapping[str, object]
HTML = "text/html; charset=utf-8"
_AKAMAI = b"""<HTML><HEAD><TITLE>Access Denied</TITLE></HEAD><BODY><H1>Access Denied</H1>
You don't have permission to access this resource on this server.<P>Reference&#32;&#35;18&#46;1a2b3c4d&#46;1790000000
</BODY></HTML>"""
_CLOUDFLARE = b"""<!DOCTYPE html><html lang="en-US"><head><title>Just a moment...</title></head><body>
<script src="/cdn-cgi/challenge-platform/h/b/orchestrate/chl_page/v1"></script></body></html>"""
_WAF = b"""<html><head><title>Request Rejected</title></head><body>The requested URL was rejected. Please consult with
your administrator.<br><br>Your support ID is: 4433221100998877665<br></body></html>"""
_BAD_GATEWAY = b"<html><head><title>502 Bad Gateway</title></head><body><h1>502 Bad Gateway</h1></body></html>"
_MAINTENANCE = "<html><body><h1>Sistema em manutenção</h1></body></html>".encode()
_PROBLEM = json.dumps(
    {
        "code": "BadRequest",
        "title": "Bad Request",
        "message": "Invalid value provided for parameter an_exercicio.",
        "type": "tag:oracle.com,2020:error/BadRequest",
        "instance": "tag:oracle.com,2020:ecid/SIMULATED",
    }
).encode()


@dataclass(frozen=True)
class Exchange:
    """A request and the answer it would get. `send` gives one; a fault may do anything else."""

    handler: "Handler"
    upstream: "Upstream"
    prefix: str
    path: str  # below the base
    params: Mapping[str, str]
    answer: Answer

    def send(self, answer: Answer, **headers: str) -> None:
        self.handler.send_answer(self.prefix, answer, {name.replace("_", "-"): text for name, text in headers.items()})


Fault = Callable[[Exchange, Options], None]


def _instead(body: bytes, content_type: str, status: int, **headers: str) -> Fault:
    return lambda exchange, _: exchange.send(Answer(body, content_type, status), **headers)


def _akamai(exchange: Exchange, _: Options) -> None:
    """403 for clients that do not name themselves."""
    if exchange.handler.headers.get("User-Agent", "").startswith("python-requests/"):
        exchange.send(Answer(_AKAMAI, "text/html", 403))
    else:
        exchange.send(exchange.answer)


def _promise(exchange: Exchange) -> tuple["Handler", bytes]:
    """The headers of the whole answer, whatever part was asked for; its body is yet to be sent."""
    handler, answer, body = exchange.handler, exchange.answer, exchange.answer.body
    headers = handler.validators(exchange.prefix, body)
    handler.send_response(200)
    for name, text in (headers | {"Content-Type": answer.content_type, "Content-Length": str(len(body))}).items():
        handler.send_header(name, text)
    handler.end_headers()
    return handler, body


def _cut(exchange: Exchange, reset: bool) -> None:
    """Promise the whole body, send half, and close or reset the connection. Ranges are ignored meanwhile."""
    handler, body = _promise(exchange)
    handler.wfile.write(body[: len(body) // 2])
    handler.wfile.flush()
    handler.close_connection = True
    if reset:
        time.sleep(0.05)  # let the half arrive
        handler.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    handler.connection.shutdown(socket.SHUT_RDWR) if not reset else handler.connection.close()


def _hang(exchange: Exchange, _: Options) -> None:
    """Accept and say nothing, until the server stops."""
    exchange.handler.record(0)
    exchange.upstream.closing.wait(600)
    exchange.handler.close_connection = True


def _drip(exchange: Exchange, options: Options) -> None:
    """The whole body, over `seconds` (2 by default), in fifty drops."""
    handler, body = _promise(exchange)
    step = max(1, len(body) // 50)
    for start in range(0, len(body), step):
        handler.wfile.write(body[start : start + step])
        handler.wfile.flush()
        if exchange.upstream.closing.wait(float(str(options.get("seconds", 2))) / 50):
            break


def _slow(exchange: Exchange, options: Options) -> None:
    """The right answer after `seconds` (2 by default) of silence."""
    exchange.upstream.closing.wait(float(str(options.get("seconds", 2))))
    exchange.send(exchange.answer)


def _body(change: Callable[[bytes, Options], bytes]) -> Fault:
    """A fault of content: the answer's bytes, changed."""

    def send(exchange: Exchange, options: Options) -> None:
        answer = exchange.answer
        exchange.send(replace(answer, body=change(answer.body, options)) if answer.status == 200 else answer)

    return send


def _members(body: bytes) -> dict[str, bytes]:
    with zipfile.ZipFile(io.BytesIO(body)) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def _csv(change: Callable[[list[bytes], Options], list[bytes]]) -> Fault:
    """A fault of layout: the lines of each CSV in the zip, changed."""

    def rewrite(body: bytes, options: Options) -> bytes:
        members = {
            name: b"".join(change(text.splitlines(keepends=True), options)) if name.endswith(".csv") else text
            for name, text in _members(body).items()
        }
        return zipped(members)

    return _body(rewrite)


def _column(lines: list[bytes], options: Options) -> int:
    header = [cell.strip(b'"') for cell in lines[0].rstrip(b"\r\n").split(b";")]
    wanted = options.get("column")
    return header.index(str(wanted).encode()) if wanted else len(header) - 1


def _renamed_column(lines: list[bytes], options: Options) -> list[bytes]:
    end = lines[0][len(lines[0].rstrip(b"\r\n")) :]
    header = lines[0].rstrip(b"\r\n").split(b";")
    header[_column(lines, options)] = b'"RENAMED"'
    return [b";".join(header) + end, *lines[1:]]


def _lost_column(lines: list[bytes], options: Options) -> list[bytes]:
    at = _column(lines, options)
    kept = []
    for line in lines:
        end = line[len(line.rstrip(b"\r\n")) :]
        cells = line.rstrip(b"\r\n").split(b";")
        kept.append(b";".join(cells[:at] + cells[at + 1 :]) + end)
    return kept


def _added_column(lines: list[bytes], options: Options) -> list[bytes]:
    return [(b'"ADDED";' if row == 0 else b'"0";') + line for row, line in enumerate(lines)]


def _republished(body: bytes, options: Options) -> bytes:
    """The same address, new contents: TSE's generation date moves on; any other zip is packed anew."""
    members = _members(body)
    for name, text in members.items():
        if name.endswith(".csv"):
            members[name] = re.sub(rb'(?m)^"\d\d/\d\d/\d{4}"', b'"29/11/2026"', text)
    return zipped(members | {"republished.txt": b"again"})


def _zip_slip(body: bytes, options: Options) -> bytes:
    return zipped({"../../evil.csv": b"evil"} | _members(body))


def _zip_bomb(body: bytes, options: Options) -> bytes:
    """Every member says it unpacks to 4 GB less two bytes."""
    bomb = bytearray(body)
    for signature, at in ((b"PK\x01\x02", 24), (b"PK\x03\x04", 22)):
        for match in re.finditer(re.escape(signature), body):
            bomb[match.start() + at : match.start() + at + 4] = struct.pack("<I", 0xFFFFFFFE)
    return bytes(bomb)


def _items(change: Callable[[list[dict[str, object]], Exchange], dict[str, object]]) -> Fault:
    """A fault of the ORDS envelope: what to say instead, from the items there are."""

    def send(exchange: Exchange, _: Options) -> None:
        whole = json.loads(exchange.answer.body)
        whole |= change(whole["items"], exchange)
        whole["count"] = len(whole["items"])
        exchange.send(replace(exchange.answer, body=json.dumps(whole, ensure_ascii=False).encode()))

    return send


def _repeated(items: list[dict[str, object]], exchange: Exchange) -> dict[str, object]:
    """Two pages, the second of them the first again."""
    if "offset" not in exchange.params or exchange.params["offset"] == "0":
        return {"items": items[: len(items) // 2], "hasMore": True}
    again = exchange.upstream.healthy("siconfi", "siconfi", exchange.path, dict(exchange.params) | {"offset": "0"})
    first = json.loads(again.body)["items"] if again else []
    return {"items": first[: len(first) // 2], "hasMore": False}


def _rectified(items: list[dict[str, object]], exchange: Exchange) -> dict[str, object]:
    """The state sent its reports again: status RE and a later date, every amount one per cent higher."""
    for item in items:
        if item.get("status_relatorio"):
            item |= {"status_relatorio": "RE", "data_status": "2026-11-20T13:00:00Z"}
        if "valor" in item:
            item["valor"] = round(float(str(item["valor"])) * 1.01, 2)
    return {"items": items}


def _moved(exchange: Exchange, _: Options) -> None:
    """A newer file took the place of a dated one: its name is in the index, the old address is gone."""
    newer, path = "20261101", exchange.path
    if path.endswith("/"):
        body = exchange.answer.body.replace(b"20260520", newer.encode())
        exchange.send(replace(exchange.answer, body=body))
    elif newer in path:
        old = exchange.upstream.healthy("ibge_files", exchange.prefix, path.replace(newer, "20260520"), exchange.params)
        exchange.send(old or exchange.answer)
    else:
        exchange.send(Answer(b"<html><title>404 Not Found</title></html>", "text/html", 404))


FAULTS: Mapping[str, Fault] = {
    # at the door
    "akamai": _akamai,
    "cloudflare": _instead(_CLOUDFLARE, HTML, 403, cf_mitigated="challenge", cf_ray="8c0ffee-GRU"),
    "cloudflare_200": _instead(_CLOUDFLARE, HTML, 200, cf_mitigated="challenge", cf_ray="8c0ffee-GRU"),
    "cloudflare_503": _instead(_CLOUDFLARE, HTML, 503, cf_mitigated="challenge", cf_ray="8c0ffee-GRU"),
    "waf": _instead(_WAF, "text/html", 200),
    # statuses
    "400": _instead(_PROBLEM, "application/problem+json", 400),
    "404": _instead(b"<html><title>404 Not Found</title></html>", "text/html", 404),
    "429": _instead(b"", "text/plain", 429),
    "429_retry_after": _instead(b"", "text/plain", 429, Retry_After="1"),
    "500": _instead(b'{"statusCode":500,"message":"Internal server error"}', "application/json", 500),
    "502": _instead(_BAD_GATEWAY, "text/html", 502),
    "503": _instead(b"Service Unavailable", "text/plain", 503),
    "504": _instead(b'{"message":"Endpoint request timed out"}', "application/json", 504),
    # the connection
    "reset": lambda exchange, _: _cut(exchange, reset=True),
    "truncated": lambda exchange, _: _cut(exchange, reset=False),
    "drip": _drip,
    "slow": _slow,
    "hang": _hang,
    # success that is none
    "json_error": _instead(b'{"error":"Servi\xc3\xa7o indispon\xc3\xadvel"}', "application/json", 200),
    "html": _instead(_MAINTENANCE, HTML, 200),
    "empty": _instead(b"", "application/octet-stream", 200),
    "empty_list": _instead(b"[]", "application/json", 200),
    "empty_items": _items(lambda items, _: {"items": [], "hasMore": False}),
    "has_more_zero": _items(lambda items, _: {"items": [], "hasMore": True}),
    "repeated_keys": _items(_repeated),
    # files
    "truncated_zip": _body(lambda body, _: body[: len(body) // 2]),
    "empty_zip": _body(lambda body, _: zipped({})),
    "header_only": _csv(lambda lines, _: lines[:1]),
    "bom": _csv(lambda lines, _: [b"\xef\xbb\xbf" + lines[0], *lines[1:]]),
    "zip_slip": _body(_zip_slip),
    "zip_bomb": _body(_zip_bomb),
    # changes
    "renamed_column": _csv(_renamed_column),
    "added_column": _csv(_added_column),
    "lost_column": _csv(_lost_column),
    "republished": _body(_republished),
    "moved": _moved,
    "rectified": _items(_rectified),
}
