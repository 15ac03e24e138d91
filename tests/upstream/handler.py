"""How the upstreams answer when they are well: caching headers, ranges, compression, each as its own server does it."""

import gzip
import hashlib
import re
from email.utils import formatdate
from http.server import BaseHTTPRequestHandler
from typing import TYPE_CHECKING
from urllib.parse import parse_qsl, unquote, urlsplit

from tests.upstream.faults import FAULTS, Exchange
from warehouse.sample.generate import Answer

if TYPE_CHECKING:
    from tests.upstream import Upstream

_MAY_2026 = 1_779_278_400
BASES = {"api": "ibge_api", "ftp": "ibge_files", "odsele": "tse", "siconfi": "siconfi"}
_MISSING = {
    "api": Answer(b'{"statusCode":404,"error":"Not Found","message":"Not Found"}', "application/json", 404),
    "siconfi": Answer(b'{"code":"NotFound","title":"Not Found"}', "application/problem+json", 404),
}
_APACHE_404 = Answer(
    b"<!DOCTYPE HTML><html><head><title>404 Not Found</title></head><body><h1>Not Found</h1></body></html>",
    "text/html; charset=iso-8859-1",
    404,
)


class Handler(BaseHTTPRequestHandler):
    """One connection. Every request is recorded, with the status it got."""

    protocol_version = "HTTP/1.1"
    server_version, sys_version = "Upstream/1", ""

    def do_GET(self) -> None:
        self._serve()

    def do_HEAD(self) -> None:
        self._serve()

    def log_message(self, *_: object) -> None:
        """Nothing: `Upstream.requests` is the log."""

    def _serve(self) -> None:
        upstream: Upstream = self.server.upstream  # type: ignore[attr-defined]
        parts = urlsplit(self.path)
        _, prefix, rest = (*unquote(parts.path).split("/", 2), "")[:3]
        params = dict(parse_qsl(parts.query, keep_blank_values=True))
        shown = unquote(self.path)
        try:
            found = None
            if prefix in BASES:
                found = upstream.healthy(BASES[prefix], prefix, f"/{rest}", params)
            exchange = Exchange(self, upstream, prefix, f"/{rest}", params, found or _MISSING.get(prefix, _APACHE_404))
            met = upstream.next_fault(shown)
            if met:
                FAULTS[met[0]](exchange, met[1])
            else:
                exchange.send(exchange.answer)
        except (BrokenPipeError, ConnectionResetError):
            self.close_connection = True

    def record(self, status: int) -> None:
        """Before the first byte goes out, so that whoever has the answer finds it in the log."""
        upstream: Upstream = self.server.upstream  # type: ignore[attr-defined]
        upstream.record(self.command, unquote(self.path), dict(self.headers), status)

    def send_response(self, code: int, message: str | None = None) -> None:
        self.record(code)
        super().send_response(code, message)

    def send_answer(self, prefix: str, answer: Answer, headers: dict[str, str] | None = None) -> None:
        """The answer, or the part of it that was asked for, with the headers this upstream sends."""
        if self.command == "HEAD" and prefix == "api":
            answer = Answer(b'{"statusCode":405}', "application/json", 405)
        status, body, known = answer.status, answer.body, dict[str, str]()
        if status == 200:
            status, body, known = self._part(prefix, body)
        if status in (200, 206) and self._has(known):
            self._send(304, b"", known)
            return
        known["Content-Type"] = answer.content_type
        if prefix == "api" and "gzip" in self.headers.get("Accept-Encoding", ""):
            body = gzip.compress(body, mtime=0)
            known |= {"Content-Encoding": "gzip", "Vary": "Accept-Encoding"}
        self._send(status, body, known | (headers or {}), chunked=prefix == "siconfi" and status == 200)

    def validators(self, prefix: str, body: bytes) -> dict[str, str]:
        """What tells these bytes from others; file servers also say since when, and that they give parts."""
        digest = hashlib.sha256(body).hexdigest()
        known = {"ETag": f'"{digest[:16]}"'}
        if prefix not in {"ftp", "odsele"}:
            return known
        changed = formatdate(_MAY_2026 + int(digest[:5], 16), usegmt=True)  # other bytes, another moment
        return known | {"Last-Modified": changed, "Accept-Ranges": "bytes"}

    def _part(self, prefix: str, body: bytes) -> tuple[int, bytes, dict[str, str]]:
        """Status, bytes and headers of what was asked for."""
        known = self.validators(prefix, body)
        match = re.fullmatch(r"bytes=(\d*)-(\d*)", self.headers.get("Range", ""))
        if not match or match[0] == "bytes=-" or "Accept-Ranges" not in known:
            return 200, body, known
        if self.headers.get("If-Range", known["ETag"]) not in known.values():
            return 200, body, known
        size = len(body)
        first = int(match[1]) if match[1] else max(0, size - int(match[2]))
        last = min(int(match[2]), size - 1) if match[1] and match[2] else size - 1
        if first >= size:
            return 416, b"", {"Content-Range": f"bytes */{size}"}
        return 206, body[first : last + 1], known | {"Content-Range": f"bytes {first}-{last}/{size}"}

    def _has(self, known: dict[str, str]) -> bool:
        """Whether whoever asks has these very bytes already."""
        if match := self.headers.get("If-None-Match"):
            return match == "*" or known["ETag"] in [part.strip().removeprefix("W/") for part in match.split(",")]
        return self.headers.get("If-Modified-Since", "") == known.get("Last-Modified")

    def _send(self, status: int, body: bytes, headers: dict[str, str], chunked: bool = False) -> None:
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name, value)
        if chunked:
            self.send_header("Transfer-Encoding", "chunked")
            body = b"%x\r\n%s\r\n0\r\n\r\n" % (len(body), body) if body else b"0\r\n\r\n"
        elif status != 304:
            self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body)
