"""A web hook on loopback: what is posted to it is kept."""

import json
import socketserver
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, HTTPServer
from typing import Any


class Hook:
    """What was posted to it, and the status it answers with."""

    def __init__(self) -> None:
        self.posted: list[dict[str, Any]] = []
        self.status, self.url = 200, ""


@contextmanager
def hooked() -> Iterator[Hook]:
    found = Hook()

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            found.posted.append(json.loads(self.rfile.read(int(self.headers["Content-Length"]))))
            self.send_response(found.status)
            self.end_headers()

        def log_message(self, *_: object) -> None: ...

    with serving(HTTPServer(("127.0.0.1", 0), Handler)) as server:
        found.url = f"http://127.0.0.1:{server.server_address[1]}/hook"
        yield found


@contextmanager
def serving(server: socketserver.TCPServer) -> Iterator[socketserver.TCPServer]:
    threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True).start()
    with server:
        yield server
        server.shutdown()
