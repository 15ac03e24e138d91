"""The client against a server that fails in every way the upstreams have: the outcome, the tries, what is kept."""

import io
import re
import ssl
import tempfile
import threading
import time
import zipfile
from collections.abc import Callable, Iterator
from contextlib import suppress
from email.utils import format_datetime
from pathlib import Path
from typing import Any

import pytest
import requests
from hypothesis import given
from hypothesis import strategies as st
from requests.adapters import HTTPAdapter

from flows.fetch import NoAnswer, Question
from flows.http import Web
from flows.settings import settings
from flows.transport import Session, Turnstile
from flows.verify import Unusable, verify
from tests.upstream import Upstream
from transforms.sources import Base, Media, Request, Source
from warehouse.snapshots import Answer, Poll, Store

BODY = bytes(range(256)) * 400


def packed(method: int, **members: bytes) -> bytes:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", method) as archive:
        for name, body in members.items():
            archive.writestr(f"{name}.csv", body)
    return file.getvalue()


ZIP = packed(zipfile.ZIP_STORED, places=b'"DT_GERACAO";"SG_UF"\r\n"30/11/2026";"ES"\r\n', rest=BODY)
SMALL = packed(zipfile.ZIP_DEFLATED, a=b"x" * 100, b=b"y")
JSON = b'[{"id": 320500205}]'
PREFIXES: dict[Base, str] = {"ibge_api": "api", "ibge_files": "ftp", "tse": "odsele", "siconfi": "siconfi"}

Ask = Callable[..., Answer]


@pytest.fixture
def upstream() -> Iterator[Upstream]:
    with Upstream() as server:
        server.put("/odsele/places.zip", ZIP)
        server.put("/api/districts", JSON, "application/json")
        yield server


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return Store(tmp_path / "raw")


def source(base: Base, largest: int = 1_000_000) -> Source:
    def silence(_: object) -> Iterator[Request]:
        yield from ()

    return Source(
        name="polls",
        title="Polling places",
        publisher="TSE",
        home_page="https://example.org",
        licence="open",
        cadence="daily",
        stale_after=10,
        base=base,
        encoding="utf-8",
        conversation=silence,  # type: ignore[arg-type]
        tables=(),
        largest=largest,
    )


@pytest.fixture
def ask(upstream: Upstream, store: Store) -> Ask:
    """Asks the server for a zip, or for JSON, as one client with no pauses and short patience."""
    bases: dict[str, Any] = {base: f"{upstream.url}/{prefix}" for base, prefix in PREFIXES.items()}
    web = Web(settings(**bases, read_seconds=0.2, connect_seconds=1, backoff_seconds=0, siconfi_pace=0))

    def get(
        path: str = "/places.zip",
        base: Base = "tse",
        media: Media = "zip",
        seconds: float = 10,
        largest: int = 1_000_000,
        client: Web = web,
    ) -> Answer:
        request = Request("part", path, media=media)
        return client.get(Question(source(base, largest), "ES", request, store, time.monotonic() + seconds))

    return get


def outcomes(store: Store) -> list[tuple[int | None, str]]:
    return store.attempts().select("status", "outcome").rows()


def remember(store: Store, answer: Answer) -> None:
    """As a poll would: what was answered is known the next time."""
    moment = answer.fetched_at
    store.poll(Poll("polls", "ES", moment.date(), moment, "ok", (answer,)))


def http(path: Path) -> tuple[str, bytes]:
    """A case's response: its Content-Type and body."""
    head, body = re.split(rb"\r?\n\r?\n", path.read_bytes(), maxsplit=1)
    return re.findall(r"Content-Type: ([^\r\n]+)", head.decode())[0], body


def last_modified(upstream: Upstream) -> str:
    return requests.head(f"{upstream.url}/odsele/places.zip", timeout=5).headers["Last-Modified"]


def leftovers(store: Store) -> list[Path]:
    return list(store.root.rglob("*.part"))


def read(store: Store, answer: Answer) -> bytes:
    with store.open(answer.sha256) as file:
        return file.read()


@pytest.mark.parametrize(
    ("kind", "statuses", "outcome", "words"),
    [
        ("cloudflare", [403], "blocked", "ray id 8c0ffee-GRU"),
        ("cloudflare_200", [200], "blocked", "ray id 8c0ffee-GRU"),
        ("cloudflare_503", [503], "blocked", "emancipa fetch --uf ES --file polls=PATH"),
        ("waf", [200], "blocked", "support id 4433221100998877665"),
        ("400", [400], "refused", "Invalid value provided for parameter an_exercicio."),
        ("404", [404], "absent", "HTTP 404"),
        ("429", [429] * 4, "rate_limited", "HTTP 429"),
        ("500", [500], "server_error", "Internal server error"),
        ("502", [502] * 4, "server_error", "502 Bad Gateway"),
        ("503", [503] * 4, "server_error", "Service Unavailable"),
        ("504", [504] * 4, "server_error", "Endpoint request timed out"),
        ("hang", [None] * 4, "timeout", "went silent"),
        ("slow", [None] * 4, "timeout", "went silent"),
        ("truncated", [200] * 4, "truncated", "broke off"),
        ("html", [200] * 2, "not_data", "Sistema em manutenção"),
        ("json_error", [200] * 2, "not_data", "not a zip"),
        ("empty", [200] * 2, "not_data", "an empty answer"),
        ("empty_list", [200] * 2, "not_data", "not a zip"),
        ("truncated_zip", [200] * 2, "truncated", "cannot be read"),
        ("empty_zip", [200] * 2, "not_data", "the zip is empty"),
        ("zip_slip", [200] * 2, "not_data", "'../../evil.csv'"),
        ("zip_bomb", [200], "too_large", "unpacks to 8,589,934,588 bytes"),
    ],
)
def test_each_fault_has_its_word_its_tries_and_its_rows(
    kind: str, statuses: list[int | None], outcome: str, words: str, upstream: Upstream, store: Store, ask: Ask
) -> None:
    upstream.fault("places.zip", kind)
    with pytest.raises(NoAnswer) as failure:
        ask()
    assert failure.value.outcome == outcome
    assert words in failure.value.message
    assert "\n" not in failure.value.message
    assert outcomes(store) == [(status, outcome) for status in statuses]
    assert leftovers(store) == []


def test_a_healthy_answer_is_kept_byte_for_byte(upstream: Upstream, store: Store, ask: Ask) -> None:
    answer = ask()
    assert read(store, answer) == ZIP
    assert (answer.size, answer.media, answer.part) == (len(ZIP), "zip", "part")
    assert answer.published_at is not None
    assert format_datetime(answer.published_at, usegmt=True) == last_modified(upstream)
    (row,) = store.attempts().rows(named=True)
    assert (row["outcome"], row["status"], row["bytes"]) == ("new", 200, len(ZIP))
    assert (row["sha256"], row["uf"], row["message"]) == (answer.sha256, "ES", "")
    assert leftovers(store) == []


def test_it_names_itself_as_firewalls_made_for_browsers_want(upstream: Upstream, ask: Ask) -> None:
    upstream.fault("places.zip", "akamai")
    assert ask().size == len(ZIP)
    assert upstream.requests[0].headers["User-Agent"].startswith("Mozilla/5.0 (compatible; emancipa/")


@pytest.mark.parametrize("kind", ["429", "502", "503", "504", "hang", "empty", "truncated_zip"])
def test_what_passes_is_waited_for(kind: str, upstream: Upstream, store: Store, ask: Ask) -> None:
    upstream.fault("places.zip", kind, times=1)
    assert read(store, ask()) == ZIP
    assert [outcome for _, outcome in outcomes(store)][1:] == ["new"]


def test_retry_after_is_obeyed(upstream: Upstream, ask: Ask) -> None:
    upstream.fault("places.zip", "429_retry_after", times=1)
    began = time.monotonic()
    assert ask().size == len(ZIP)
    assert time.monotonic() - began >= 1


def test_retry_after_beyond_the_deadline_gives_up_at_once(upstream: Upstream, store: Store, ask: Ask) -> None:
    upstream.fault("places.zip", "429_retry_after")
    with pytest.raises(NoAnswer, match="trying again in 1 s would be too late"):
        ask(seconds=0.5)
    assert outcomes(store) == [(429, "rate_limited")]


def test_a_broken_download_goes_on_where_it_broke(upstream: Upstream, store: Store, ask: Ask) -> None:
    upstream.fault("places.zip", "truncated", times=1)
    assert read(store, ask()) == ZIP
    assert outcomes(store) == [(200, "truncated"), (206, "new")]
    first, second = store.attempts()["bytes"]
    assert first + second == len(ZIP)
    assert upstream.requests[1].headers["Range"] == f"bytes={first}-"
    assert upstream.requests[1].headers["If-Range"].startswith('"')


def test_the_rest_of_another_file_is_not_glued_on(upstream: Upstream, store: Store, ask: Ask) -> None:
    upstream.fault("places.zip", "republished")
    upstream.fault("places.zip", "truncated", times=1)
    assert read(store, ask()) != ZIP
    assert outcomes(store) == [(200, "truncated"), (200, "new")]


def test_a_reset_connection_is_asked_again(upstream: Upstream, store: Store, ask: Ask) -> None:
    upstream.fault("places.zip", "reset", times=4)
    with pytest.raises(NoAnswer) as failure:
        ask()
    assert failure.value.outcome in {"truncated", "unreachable"}  # as the reset overtakes the first half, or not
    assert store.attempts().height == 4
    assert leftovers(store) == []
    assert read(store, ask()) == ZIP


def test_a_dripping_body_is_cut_off_at_the_deadline(upstream: Upstream, store: Store, ask: Ask) -> None:
    upstream.fault("places.zip", "drip", seconds=5)
    began = time.monotonic()
    with pytest.raises(NoAnswer, match="too slow") as failure:
        ask(seconds=0.4)
    assert time.monotonic() - began < 1
    assert failure.value.outcome == "timeout"
    assert outcomes(store) == [(200, "timeout")]
    assert leftovers(store) == []


def test_a_slow_but_steady_body_is_whole(upstream: Upstream, store: Store, ask: Ask) -> None:
    upstream.fault("places.zip", "drip", seconds=0.5)
    assert read(store, ask()) == ZIP


def test_case_85_a_silent_server_ends_within_the_deadline(upstream: Upstream, store: Store, ask: Ask) -> None:
    upstream.fault("places.zip", "hang")
    began = time.monotonic()
    with pytest.raises(NoAnswer) as failure:
        ask(seconds=0.3)
    assert time.monotonic() - began < 1
    assert failure.value.outcome == "timeout"


def test_nobody_at_home(store: Store, tmp_path: Path) -> None:
    web = Web(settings(tse="http://127.0.0.1:1", backoff_seconds=0, tries=3))
    question = Question(source("tse"), "ES", Request("part", "/x", media="zip"), store, time.monotonic() + 5)
    with pytest.raises(NoAnswer, match=r"127\.0\.0\.1:1 cannot be reached: .*Connection refused"):
        web.get(question)
    assert outcomes(store) == [(None, "unreachable")] * 3


def test_unchanged_is_told_by_the_host_and_costs_nothing(upstream: Upstream, store: Store, ask: Ask) -> None:
    first = ask()
    remember(store, first)
    again = ask()
    assert again == first
    assert outcomes(store) == [(200, "new"), (304, "not_modified")]
    assert upstream.requests[1].headers["If-None-Match"] == first.etag
    assert upstream.requests[1].headers["If-Modified-Since"] == last_modified(upstream)


def test_the_same_name_with_other_bytes_is_a_revision(upstream: Upstream, store: Store, ask: Ask) -> None:
    first = ask()
    remember(store, first)
    upstream.fault("places.zip", "republished")
    second = ask()
    assert outcomes(store) == [(200, "new"), (200, "revised")]
    assert first.sha256 != second.sha256
    assert read(store, first) == ZIP  # the earlier snapshot stays


def test_a_damaged_snapshot_is_asked_for_in_full(upstream: Upstream, store: Store, ask: Ask) -> None:
    first = ask()
    remember(store, first)
    blob = store.path(first.sha256)
    blob.chmod(0o644)
    blob.write_bytes(b"rot")
    fresh = Store(store.root)
    web = Web(settings(tse=f"{upstream.url}/odsele"))
    question = Question(source("tse"), "ES", Request("part", "/places.zip", media="zip"), fresh, time.monotonic() + 5)
    assert read(fresh, web.get(question)) == ZIP
    assert "If-None-Match" not in upstream.requests[1].headers
    assert outcomes(fresh) == [(200, "new"), (200, "unchanged")]


@pytest.mark.parametrize("status", [200, 500, 400])
def test_an_error_object_is_no_data_whatever_its_status(
    status: int, upstream: Upstream, store: Store, ask: Ask
) -> None:
    upstream.put("/api/districts", b'{"statusCode":500,"message":"Invalid period"}', "application/json", status)
    with pytest.raises(NoAnswer, match="Invalid period"):
        ask("/districts", "ibge_api", "json")


@pytest.mark.parametrize(
    ("name", "outcome", "words"),
    [
        ("resposta_waf.http", "blocked", "support id 0000000000000000001"),
        ("resposta_erro.http", "not_data", "Consulta sem resultados ou invalida (application/json)"),
    ],
)
def test_case_07_error_page_with_http_200(
    name: str, outcome: str, words: str, shared: Path, upstream: Upstream, store: Store, ask: Ask
) -> None:
    kind, body = http(shared / "cases/07-error-page-with-http-200" / name)
    upstream.put("/api/districts", body, kind)
    with pytest.raises(NoAnswer) as failure:
        ask("/districts", "ibge_api", "json")
    assert failure.value.outcome == outcome
    assert words in failure.value.message
    assert f"{upstream.url}/api/districts" in failure.value.message
    evidence = store.attempts()["sha256"][0]
    with store.open(evidence) as kept:
        assert kept.read() == body  # what they said is kept, though never built from


def test_case_16_an_unknown_certificate_is_refused(store: Store) -> None:
    with Upstream(tls=True) as upstream:
        upstream.put("/api/districts", JSON, "application/json")
        web = Web(settings(ibge_api=f"{upstream.url}/api", backoff_seconds=0))
        request = Request("part", "/districts")
        question = Question(source("ibge_api"), "ES", request, store, time.monotonic() + 5)
        host = upstream.url.removeprefix("https://")
        message = f"no safe connection to {host}, its certificate does not verify: .*self-signed"
        with pytest.raises(NoAnswer, match=message):
            web.get(question)
        assert outcomes(store) == [(None, "unreachable")]
        assert upstream.requests == []  # not a byte was asked for, and nothing over http


def test_case_16_the_older_handshake_is_tried_once_and_still_verifies(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    """No OpenSSL of today serves without RFC 5746, so the first handshake is made to fail as with such a server."""
    send = HTTPAdapter.send

    def refuse(adapter: HTTPAdapter, *args: Any, **kwargs: Any) -> requests.Response:
        if type(adapter) is HTTPAdapter:
            raise requests.exceptions.SSLError(
                "[SSL: UNSAFE_LEGACY_RENEGOTIATION_DISABLED] unsafe legacy (_ssl.c:1006)"
            )
        return send(adapter, *args, **kwargs)

    monkeypatch.setattr(HTTPAdapter, "send", refuse)
    with Upstream(tls=True) as upstream:
        web = Web(settings(ibge_api=f"{upstream.url}/api", backoff_seconds=0))
        request = Request("part", "/districts")
        question = Question(source("ibge_api"), "ES", request, store, time.monotonic() + 5)
        with pytest.raises(NoAnswer, match="its certificate does not verify"):
            web.get(question)
    first, second = store.attempts()["message"]
    assert "no secure renegotiation (RFC 5746)" in first
    assert "CERTIFICATE_VERIFY_FAILED" in second


def test_case_16_the_older_handshake_is_for_one_host() -> None:
    session = Session("x")
    assert session.allow_older_handshake("https://a.example/x")
    assert not session.allow_older_handshake("https://a.example/y")
    older = session.get_adapter("https://a.example/z")
    assert isinstance(older, HTTPAdapter)
    context = older.poolmanager.connection_pool_kw["ssl_context"]
    assert context.options & 0x4
    assert (context.verify_mode, context.check_hostname) == (ssl.CERT_REQUIRED, True)
    assert type(session.get_adapter("https://b.example/")) is HTTPAdapter


@pytest.mark.parametrize(
    ("here", "there", "follows"),
    [
        ("https://a.example/x", "https://b.example/y", True),
        ("http://a.example/x", "https://a.example/x", True),
        ("https://a.example/x", "/y", True),
        ("https://a.example/x", "http://a.example/x", False),
        ("https://a.example/x", "//b.example/y", True),
    ],
)
def test_redirects_never_lose_the_certificate(here: str, there: str, follows: bool) -> None:
    response = requests.Response()
    response.status_code, response.url = 302, here
    response.headers["Location"] = there
    session = Session("x")
    if follows:
        assert session.get_redirect_target(response) == there
    else:
        with pytest.raises(requests.exceptions.InvalidSchema, match="not https"):
            session.get_redirect_target(response)


@pytest.mark.parametrize("name", ["sem_charset.http", "declarado_errado.http"])
def test_case_87_bytes_are_kept_as_they_came(
    name: str, shared: Path, upstream: Upstream, store: Store, ask: Ask
) -> None:
    kind, body = http(shared / "cases/87-charset-guessed-or-declared-wrong" / name)
    upstream.put("/odsele/names", body, kind)
    assert read(store, ask("/names", media="csv")) == body


def test_case_88_a_zip_that_points_outside_is_refused(shared: Path, upstream: Upstream, store: Store, ask: Ask) -> None:
    upstream.put("/odsele/places.zip", (shared / "cases/88-zip-slip/malicioso.zip").read_bytes())
    with pytest.raises(NoAnswer, match=r"points outside it: '\.\./\.\./fora\.txt'"):
        ask()
    assert not list(store.root.parent.rglob("fora.txt"))


def test_a_zip_whose_member_is_damaged_is_corrupt(upstream: Upstream, store: Store, ask: Ask) -> None:
    broken = bytearray(ZIP)
    broken[-20_000] ^= 0xFF
    upstream.put("/odsele/places.zip", bytes(broken))
    with pytest.raises(NoAnswer, match=r"Bad CRC-32 for file 'rest\.csv'"):
        ask()
    assert outcomes(store) == [(200, "corrupt")] * 2


def test_a_zip_that_lies_about_its_sizes_is_corrupt(upstream: Upstream, ask: Ask) -> None:
    upstream.fault("places.zip", "zip_bomb")
    with pytest.raises(NoAnswer, match=r"'places\.csv' in the zip holds 41 bytes, not 4,294,967,294") as failure:
        ask(largest=10_000_000_000)
    assert failure.value.outcome == "corrupt"


@pytest.mark.parametrize(
    ("status", "page", "words"),
    [
        (
            403,
            b"<HTML><HEAD><TITLE>Access Denied</TITLE></HEAD><BODY>Reference&#32;&#35;18&#46;1a2b3c4d</BODY></HTML>",
            "Akamai denied access (support id 18.1a2b3c4d)",
        ),
        (
            200,
            b'<html><script src="/_Incapsula_Resource?x"></script>incident ID: 42-7</html>',
            "Imperva asks for a browser (support id 42-7)",
        ),
        (503, b"<html><title>Just a moment...</title></html>", "Cloudflare asks for a browser"),
    ],
)
def test_walls_are_named_with_what_their_support_asks_for(
    status: int, page: bytes, words: str, upstream: Upstream, store: Store, ask: Ask
) -> None:
    """Whoever stands in the way, it is asked once only, and the way around is told."""
    upstream.put("/odsele/places.zip", page, "text/html", status)
    with pytest.raises(NoAnswer) as failure:
        ask()
    assert failure.value.outcome == "blocked"
    assert words in failure.value.message
    assert "emancipa fetch --uf ES --file polls=PATH" in failure.value.message
    assert outcomes(store) == [(status, "blocked")]


@given(data=st.data(), media=st.sampled_from(["json", "zip", "html", "gpkg", "csv", "spreadsheet"]))
def test_any_bytes_are_kept_or_refused(data: st.DataObject, media: Media) -> None:
    """Damaged, cut, swollen or random: a verdict, never a crash."""
    start = data.draw(st.sampled_from([SMALL, JSON, b"SQLite format 3\0" + bytes(84), b"<html>", b""]))
    bytes_ = bytearray(start)
    for _ in range(data.draw(st.integers(0, 4))):
        at = data.draw(st.integers(0, len(bytes_)))
        bytes_[at : at + data.draw(st.integers(0, 8))] = data.draw(st.binary(max_size=8))
    with tempfile.NamedTemporaryFile() as file, suppress(Unusable):
        file.write(bytes_)
        file.flush()
        verify(Path(file.name), media, largest=1_000_000)


def test_more_than_a_source_can_have_is_not_downloaded(upstream: Upstream, store: Store, ask: Ask) -> None:
    with pytest.raises(NoAnswer, match="announces"):
        ask(largest=1000)
    assert outcomes(store) == [(200, "too_large")]
    assert store.attempts()["bytes"].to_list() == [0]


def test_progress_is_told(upstream: Upstream, store: Store, ask: Ask) -> None:
    told: list[tuple[str, int, int | None]] = []
    web = Web(settings(tse=f"{upstream.url}/odsele"), lambda *news: told.append(news))
    ask(client=web)
    assert told[-1] == ("polls part", len(ZIP), len(ZIP))
    assert [done for _, done, _ in told] == sorted(done for _, done, _ in told)


def test_a_host_is_asked_no_faster_than_its_pace_and_slower_when_it_complains() -> None:
    door = Turnstile(1, 0.05)

    def three() -> float:
        began = time.monotonic()
        for _ in range(3):
            with door.passing(began + 5):
                pass
        return time.monotonic() - began

    assert 0.1 <= three() < 0.2
    door.slow_down()
    assert three() >= 0.2


def test_the_pace_never_exceeds_six_seconds_nor_wakes_from_zero() -> None:
    slow, free = Turnstile(1, 1.5), Turnstile(1)
    for _ in range(5):
        slow.slow_down()
        free.slow_down()
    assert (slow.pace, free.pace) == (6.0, 0.0)


def test_only_so_many_at_once_pass_a_door() -> None:
    door, inside, most, lock = Turnstile(2), [0], [0], threading.Lock()

    def visit() -> None:
        with door.passing(time.monotonic() + 5):
            with lock:
                inside[0] += 1
                most[0] = max(most[0], inside[0])
            time.sleep(0.01)
            with lock:
                inside[0] -= 1

    threads = [threading.Thread(target=visit) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert most[0] == 2
    with door.passing(time.monotonic() + 1), door.passing(time.monotonic() + 1), pytest.raises(TimeoutError):  # noqa: SIM117
        with door.passing(time.monotonic() + 0.01):
            pass
