"""What every test may rely on: no network, no settings from outside, the same examples each time.

A test that passes here passes on any machine. Do not loosen a guard for one: give it a server on loopback.
"""

import os
import shutil
import socket
import sys
import tempfile
from collections.abc import Iterator
from ipaddress import ip_address
from pathlib import Path

import pytest
from hypothesis import settings

PROJECT = Path(__file__).resolve().parent.parent
SHARED = Path(os.environ.get("EMANCIPA_SHARED", PROJECT.parent / "shared"))
SCRATCH = tempfile.mkdtemp(prefix="emancipa-tests-")

settings.register_profile("emancipa", derandomize=True, deadline=None)
settings.load_profile("emancipa")


def isolate_environment() -> None:
    """Runs before any test module is collected: Prefect reads its settings once, when it is imported."""
    for name in [name for name in os.environ if name.startswith(("EMANCIPA_", "PREFECT_"))]:
        del os.environ[name]
    os.environ |= {
        "PREFECT_HOME": f"{SCRATCH}/prefect",
        "PREFECT_SERVER_ANALYTICS_ENABLED": "false",
        "DO_NOT_TRACK": "1",
        "TMPDIR": SCRATCH,  # where processes of ours, Prefect's and Dask's among them, leave what they do not need
        "DASK_TEMPORARY_DIRECTORY": SCRATCH,
        "TZ": "UTC",
    }


def is_here(host: object) -> bool:
    """Whether a host, as sockets take it, is this machine's own loopback."""
    name = host.decode() if isinstance(host, bytes) else host
    if name in {None, "", "localhost", socket.gethostname()}:
        return True
    try:
        return ip_address(str(name)).is_loopback
    except ValueError:
        return False


def refuse_network(event: str, arguments: tuple[object, ...]) -> None:
    """Audit hook: asking beyond loopback is an error, and one that no `except OSError` swallows."""
    if event == "socket.getaddrinfo":
        host = arguments[0]
    elif event in {"socket.connect", "socket.sendto"}:
        sock, address = arguments[:2]
        assert isinstance(sock, socket.socket)
        # Connecting a datagram socket sends nothing: it is how distributed learns the machine's own address.
        if not isinstance(address, tuple) or (event == "socket.connect" and sock.type == socket.SOCK_DGRAM):
            return
        host = address[0]
    else:
        return
    if not is_here(host):
        raise RuntimeError(f"tests have no network, but {event} was asked for {host!r}")


isolate_environment()
sys.addaudithook(refuse_network)


def pytest_unconfigure() -> None:
    shutil.rmtree(SCRATCH, ignore_errors=True)


@pytest.fixture(autouse=True, scope="session")
def outside_the_project() -> Iterator[None]:
    """Tests run in their own folder: no `.env` of a developer is read, none leans on where pytest started."""
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(SCRATCH)
        yield


@pytest.fixture(scope="session")
def shared() -> Path:
    """Real files beside the project, as in `shared / "data/ibge/…"`; skips where they are absent."""
    if not (SHARED / "data").is_dir():
        pytest.skip("needs the real files in ../shared, or in the folder that EMANCIPA_SHARED names")
    return SHARED
