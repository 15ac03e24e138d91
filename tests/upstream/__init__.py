"""A local server that plays IBGE, TSE and SICONFI in their true formats, and fails the ways they fail.

    with Upstream() as upstream:
        upstream.fault(r"/dca", "429", times=2)
        run(env=upstream.environment())
        assert [r.status for r in upstream.requests if "/dca" in r.path] == [429, 429, 200]

Prefixes `/api`, `/ftp`, `/odsele` and `/siconfi` stand for the four base settings. What it says by default is the
bundled sample; with `census=` it is the whole country around a real census file. By hand: `python -m tests.upstream`.
"""

import datetime as dt
import re
import ssl
import tempfile
import threading
from collections.abc import Mapping
from dataclasses import dataclass, field
from http.server import ThreadingHTTPServer
from pathlib import Path
from types import TracebackType
from typing import Self

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

from tests.upstream.census import country
from tests.upstream.faults import FAULTS
from tests.upstream.handler import BASES, Handler
from warehouse.sample import UF
from warehouse.sample.facts import espirito_santo
from warehouse.sample.generate import Answer, World, answer

__all__ = ["FAULTS", "Answer", "Asked", "Upstream"]


@dataclass(frozen=True, slots=True)
class Asked:
    """One request as it came, and the status it got (0 where the connection was cut instead)."""

    method: str
    path: str  # with the query, decoded
    headers: Mapping[str, str]
    status: int


@dataclass(slots=True)
class _Fault:
    pattern: re.Pattern[str]
    kind: str
    left: float
    options: Mapping[str, object] = field(default_factory=dict)


class Upstream:
    """The server. Use it as a context manager, or `start()` and `stop()` it."""

    def __init__(
        self,
        *,
        port: int = 0,
        census: Path | None = None,
        crosswalk: Path | None = None,
        estimates: Mapping[int, Mapping[str, int]] | None = None,
        page_limit: int = 5000,
        tls: bool = False,
    ) -> None:
        """`census` is a district CSV in IBGE's layout, served as it is; `estimates` are by year and município."""
        self.requests: list[Asked] = []
        self._faults: list[_Fault] = []
        self._placed: dict[str, Answer] = {}
        self._lock, self._making = threading.Lock(), threading.Lock()
        if census:
            self.world, placed = country(census, crosswalk, estimates, page_limit)
            self._placed |= placed
        else:
            self.world = World({UF: espirito_santo()}, page_limit=page_limit)
        self._made: dict[tuple[str, str, tuple[tuple[str, str], ...]], Answer | None] = {}
        self.closing = threading.Event()
        self._server = ThreadingHTTPServer(("127.0.0.1", port), Handler)
        self._server.daemon_threads = True
        self._server.upstream = self  # type: ignore[attr-defined]
        self._scheme = "https" if tls else "http"
        if tls:
            self._server.socket = _self_signed().wrap_socket(self._server.socket, server_side=True)

    @property
    def url(self) -> str:
        return f"{self._scheme}://127.0.0.1:{self._server.server_port}"

    def environment(self) -> dict[str, str]:
        """The settings that point a run here."""
        names = {prefix: f"EMANCIPA_{base.upper()}" for prefix, base in BASES.items()}
        return {name: f"{self.url}/{prefix}" for prefix, name in names.items()}

    def fault(self, path: str, kind: str, times: int | None = None, **options: object) -> None:
        """From now on, requests whose path (with query) matches fail as `kind` says: N times, or always.

        The newest fault that matches wins. `FAULTS` lists the kinds; options: seconds (drip, slow), column (layout).
        """
        if kind not in FAULTS:
            raise ValueError(f"unknown fault {kind!r}: one of {', '.join(FAULTS)}")
        with self._lock:
            self._faults.insert(0, _Fault(re.compile(path), kind, float("inf") if times is None else times, options))

    def heal(self) -> None:
        """Forget every fault."""
        with self._lock:
            self._faults.clear()

    def put(self, path: str, body: bytes, content_type: str = "application/zip", status: int = 200) -> None:
        """From now on, answer this path (with its prefix, without query) with these bytes."""
        self._placed[path] = Answer(body, content_type, status)

    def next_fault(self, path: str) -> tuple[str, Mapping[str, object]] | None:
        """The fault that a request meets, used up by one."""
        with self._lock:
            for fault in self._faults:
                if fault.left > 0 and fault.pattern.search(path):
                    fault.left -= 1
                    return fault.kind, fault.options
        return None

    def healthy(self, base: str, prefix: str, path: str, params: Mapping[str, str]) -> Answer | None:
        """What the upstream says when nothing is wrong; made once."""
        if placed := self._placed.get(f"/{prefix}{path}"):
            return placed
        key = (base, path, tuple(sorted(params.items())))
        with self._making:
            if key not in self._made:
                self._made[key] = answer(self.world, base, path, params)
            return self._made[key]

    def record(self, method: str, path: str, headers: Mapping[str, str], status: int) -> None:
        with self._lock:
            self.requests.append(Asked(method, path, headers, status))

    def start(self) -> Self:
        threading.Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True).start()
        return self

    def stop(self) -> None:
        self.closing.set()
        self._server.shutdown()
        self._server.server_close()

    def __enter__(self) -> Self:
        return self.start()

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.stop()


def _self_signed() -> ssl.SSLContext:
    """A certificate nobody vouches for."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "localhost")])
    start = dt.datetime(2026, 1, 1, tzinfo=dt.UTC)
    certificate = (
        x509.CertificateBuilder(name, name, key.public_key(), 1, start, start.replace(year=2046))
        .add_extension(x509.SubjectAlternativeName([x509.DNSName("localhost")]), critical=False)
        .sign(key, hashes.SHA256())
    )
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    with tempfile.NamedTemporaryFile(suffix=".pem") as pem:
        pem.write(certificate.public_bytes(serialization.Encoding.PEM))
        pem.write(
            key.private_bytes(
                serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
            )
        )
        pem.flush()
        context.load_cert_chain(pem.name)
    return context
