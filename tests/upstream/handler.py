"""How the upstreams answer when they are well: caching headers, ranges, compression, each as its own server does it."""

import gzip
import hashlib
import re
from email.message import Message
from http.server import BaseHTTPRequestHandler
from typing import TYPE_CHECKING
from urllib.parse import parse_qsl, unquote, urlsplit

from tests.upstream.faults import FAULTS, Exchange
from warehouse.sample.generate import Answer

if TYPE_CHECKING:
    from tests.upstream import Upstream

BASES = {"api": "ibge_api", "ftp": "ibge_files", "odsele": "tse", "siconfi": "siconfi"}
LAST_MODIFIED = "Wed, 20 May 2026 12:00:00 GMT"
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
        """The whole answer, with the headers this upstream sends."""
        if self.command == "HEAD" and prefix == "api":
            answer = Answer(b'{"statusCode":405}', "application/json", 405)
        tag = f'"{hashlib.sha256(answer.body).hexdigest()[:16]}"'
        known = {"ETag": tag} if answer.status == 200 else {}
        if answer.status == 200 and prefix in ("ftp", "odsele"):
            known |= {"Last-Modified": LAST_MODIFIED, "Accept-Ranges": "bytes"}
            if self._is_fresh(tag):
                self._send(304, b"", known)
                return
            if first_last := self._range(len(answer.body), tag):
                first, last = first_last
                if first >= len(answer.body):
                    self._send(416, b"", {"Content-Range": f"bytes */{len(answer.body)}"})
                    return
                known |= {
                    "Content-Range": f"bytes {first}-{last}/{len(answer.body)}",
                    "Content-Type": answer.content_type,
                }
                self._send(206, answer.body[first : last + 1], known | (headers or {}))
                return
        if answer.status == 200 and self._is_fresh(tag):
            self._send(304, b"", known)
            return
        body = answer.body
        known["Content-Type"] = answer.content_type
        if prefix == "api" and "gzip" in self.headers.get("Accept-Encoding", ""):
            body = gzip.compress(body, mtime=0)
            known |= {"Content-Encoding": "gzip", "Vary": "Accept-Encoding"}
        self._send(answer.status, body, known | (headers or {}), chunked=prefix == "siconfi" and answer.status == 200)

    def _is_fresh(self, tag: str) -> bool:
        asked: Message = self.headers
        if match := asked.get("If-None-Match"):
            return match == "*" or tag in [part.strip().removeprefix("W/") for part in match.split(",")]
        return asked.get("If-Modified-Since") == LAST_MODIFIED

    def _range(self, size: int, tag: str) -> tuple[int, int] | None:
        match = re.fullmatch(r"bytes=(\d*)-(\d*)", self.headers.get("Range", ""))
        if not match or match[0] == "bytes=-" or self.headers.get("If-Range", tag) not in (tag, LAST_MODIFIED):
            return None
        if not match[1]:
            return max(0, size - int(match[2])), size - 1
        return int(match[1]), min(int(match[2] or size - 1), size - 1)

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
