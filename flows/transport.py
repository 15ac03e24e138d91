"""What lies under a request: turns at a host's door, certificates, redirects, and the clock that cuts a reply short.

Certificates are always verified. On the one error that OpenSSL 3 gives for servers without RFC 5746, and for that
host only, the older handshake is allowed; nothing ever falls back to http.
"""

import ssl
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any
from urllib.parse import urljoin, urlsplit

import requests
from requests.adapters import HTTPAdapter
from urllib3.util.ssl_ import create_urllib3_context

SLOWEST_PACE = 6.0  # seconds between two requests, however often a host says 429


class Turnstile:
    """One host's door: so many at once, so long between two. Shared by every thread of a run."""

    def __init__(self, connections: int, pace: float = 0.0) -> None:
        self._places = threading.BoundedSemaphore(connections)
        self._lock = threading.Lock()
        self.pace, self._next = pace, 0.0

    @contextmanager
    def passing(self, until: float) -> Iterator[None]:
        """One try's turn; TimeoutError where it does not come by `until` (time.monotonic)."""
        if not self._places.acquire(timeout=max(0.0, until - time.monotonic())):
            raise TimeoutError
        try:
            with self._lock:
                turn = max(time.monotonic(), self._next)
                if turn > until:
                    raise TimeoutError
                self._next = turn + self.pace
            time.sleep(max(0.0, turn - time.monotonic()))
            yield
        finally:
            self._places.release()

    def slow_down(self) -> None:
        """The host said it was asked too often: half as fast from now on."""
        with self._lock:
            self.pace = min(self.pace * 2, max(SLOWEST_PACE, self.pace))


class Session(requests.Session):
    """Requests with one honest name, redirects only to a transport as safe, and limits on every wait."""

    def __init__(self, user_agent: str) -> None:
        super().__init__()
        self.max_redirects = 5
        # Compressed replies could be neither resumed nor measured against their Content-Length.
        self.headers.update({"User-Agent": user_agent, "Accept": "*/*", "Accept-Encoding": "identity"})

    def get_redirect_target(self, resp: requests.Response) -> str | None:
        target = super().get_redirect_target(resp)
        if target and resp.url.startswith("https:") and not urljoin(resp.url, target).startswith("https:"):
            raise requests.exceptions.InvalidSchema(f"redirected to {target}, which is not https")
        return target

    def allow_older_handshake(self, url: str) -> bool:
        """For the host of `url` only. Whether that is news: a second time the error is final."""
        prefix = f"https://{urlsplit(url).netloc}/"
        if prefix in self.adapters:
            return False
        self.mount(prefix, _OlderHandshake())
        return True


class _OlderHandshake(HTTPAdapter):
    """Allows servers without secure renegotiation (RFC 5746). The certificate is verified as ever."""

    def init_poolmanager(self, *args: Any, **kwargs: Any) -> None:
        context = create_urllib3_context()
        context.options |= getattr(ssl, "OP_LEGACY_SERVER_CONNECT", 0x4)  # named since Python 3.12
        super().init_poolmanager(*args, ssl_context=context, **kwargs)


@contextmanager
def cut_off(response: requests.Response, seconds: float) -> Iterator[None]:
    """Ends a reply after `seconds`, however slowly it drips: a limit on silences alone never would."""

    def shut() -> None:
        with suppress(ValueError, RuntimeError, OSError):  # it has just ended by itself
            response.raw.shutdown()

    clock = threading.Timer(max(0.0, seconds), shut)
    clock.daemon = True
    clock.start()
    try:
        yield
    finally:
        clock.cancel()
