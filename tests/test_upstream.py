"""The server that stands in for the upstreams: as they are when well, and how each of them fails."""

import csv
import gzip
import http.client
import io
import json
import re
import ssl
import time
import urllib.error
import urllib.request
import zipfile
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path

import pytest

from flows.cli import call
from tests.upstream import FAULTS, Upstream
from transforms.catalog import sources
from warehouse import sample
from warehouse.sample.generate import CENSUS

PLACES = "/odsele/perfil_eleitorado/eleitorado_local_votacao_ATUAL.zip"
FOLDER = f"/ftp{CENSUS}/Agregados_por_Distrito_csv/"
DISTRICTS = f"{FOLDER}Agregados_por_distritos_basico_BR_20260520.zip"
LOCALITIES = "/api/v1/localidades/estados/ES/distritos"
DCA = "/siconfi/dca?an_exercicio=2025&no_anexo=DCA-Anexo%20I-C&id_ente=32"
DELIVERIES = "/siconfi/extrato_entregas?id_ente=32&an_referencia=2025"


@pytest.fixture
def upstream() -> Iterator[Upstream]:
    with Upstream() as server:
        yield server


class Got:
    """An answer as it came: status, headers by name, body."""

    def __init__(self, upstream: Upstream, path: str, method: str = "GET", **headers: str) -> None:
        host = upstream.url.removeprefix("http://")
        asked = {name.replace("_", "-"): text for name, text in headers.items()}
        with closing(http.client.HTTPConnection(host, timeout=5)) as connection:
            connection.request(method, path, headers=asked)
            with connection.getresponse() as answer:
                self.status, self.headers = answer.status, answer.headers
                self.body = answer.read()

    def json(self) -> dict[str, object]:
        found = json.loads(self.body)
        assert isinstance(found, dict)
        return found

    def member(self) -> bytes:
        with zipfile.ZipFile(io.BytesIO(self.body)) as archive:
            return archive.read(next(name for name in archive.namelist() if name.endswith(".csv")))


def test_the_settings_lead_to_the_sample(upstream: Upstream) -> None:
    assert upstream.environment() == {
        "EMANCIPA_IBGE_API": f"{upstream.url}/api",
        "EMANCIPA_IBGE_FILES": f"{upstream.url}/ftp",
        "EMANCIPA_TSE": f"{upstream.url}/odsele",
        "EMANCIPA_SICONFI": f"{upstream.url}/siconfi",
    }
    answer = sample.answers("tse", "/perfil_eleitorado/eleitorado_local_votacao_ATUAL.zip", {})
    assert answer is not None
    assert Got(upstream, PLACES).body == answer.body
    assert Got(upstream, "/odsele/no.zip").status == 404
    assert [(asked.path, asked.status) for asked in upstream.requests] == [(PLACES, 200), ("/odsele/no.zip", 404)]


def test_files_can_be_asked_for_again_and_in_parts(upstream: Upstream) -> None:
    whole = Got(upstream, PLACES)
    head = Got(upstream, PLACES, "HEAD")
    assert (head.status, head.body, head.headers["Content-Length"]) == (200, b"", str(len(whole.body)))
    tag, moment = whole.headers["ETag"], whole.headers["Last-Modified"]
    assert Got(upstream, PLACES, If_None_Match=tag).status == 304
    assert Got(upstream, PLACES, If_Modified_Since=moment).status == 304
    assert Got(upstream, PLACES, If_None_Match='"other"').status == 200
    rest = Got(upstream, PLACES, Range="bytes=1000-", If_Range=tag)
    assert (rest.status, rest.body) == (206, whole.body[1000:])
    assert rest.headers["Content-Range"] == f"bytes 1000-{len(whole.body) - 1}/{len(whole.body)}"
    assert Got(upstream, PLACES, Range="bytes=1000-", If_Range='"other"').body == whole.body
    assert Got(upstream, PLACES, Range="bytes=99999999-").status == 416


def test_json_comes_compressed_from_ibge_and_in_chunks_from_the_treasury(upstream: Upstream) -> None:
    plain = Got(upstream, LOCALITIES)
    packed = Got(upstream, LOCALITIES, Accept_Encoding="gzip, deflate")
    assert packed.headers["Content-Encoding"] == "gzip"
    assert gzip.decompress(packed.body) == plain.body
    assert Got(upstream, LOCALITIES, "HEAD").status == 405
    accounts = Got(upstream, DCA, Accept_Encoding="gzip")
    assert accounts.headers["Transfer-Encoding"] == "chunked"
    assert "Content-Length" not in accounts.headers
    assert Got(upstream, DCA, If_None_Match=accounts.headers["ETag"]).status == 304


def test_a_wrong_parameter_is_the_caller_s_fault(upstream: Upstream) -> None:
    refused = Got(upstream, DCA.replace("2025", "a025"))
    assert (refused.status, refused.headers["Content-Type"]) == (400, "application/problem+json")
    path = "/api/v3/agregados/6579/periodos/2025/variaveis/9324?localidades=N10[all]"
    assert Got(upstream, path).status == 500
    assert Got(upstream, path.replace("N10[all]", "N3[99]")).status == 500
    assert Got(upstream, path.replace("N10[all]", "N3[28]")).status == 404  # a state that is not the sample's
    assert Got(upstream, DCA.replace("=32", "=3205002")).json()["items"] == []


STATUSES = {
    "400": 400,
    "404": 404,
    "429": 429,
    "429_retry_after": 429,
    "500": 500,
    "502": 502,
    "503": 503,
    "504": 504,
    "cloudflare": 403,
    "cloudflare_200": 200,
    "cloudflare_503": 503,
    "waf": 200,
    "json_error": 200,
    "html": 200,
    "empty": 200,
    "empty_list": 200,
}


@pytest.mark.parametrize("kind", STATUSES)
def test_a_fault_answers_so_many_times_and_is_over(upstream: Upstream, kind: str) -> None:
    upstream.fault("/odsele/.*ATUAL", kind, times=2)
    assert Got(upstream, DELIVERIES).status == 200
    assert [Got(upstream, PLACES).status for _ in range(2)] == [STATUSES[kind]] * 2
    assert Got(upstream, PLACES).body[:2] == b"PK"


def test_who_is_at_the_door_can_be_told() -> None:
    with Upstream() as upstream:
        upstream.fault(".", "cloudflare")
        assert Got(upstream, PLACES).headers["cf-mitigated"] == "challenge"
        upstream.fault(".", "waf")
        assert b"support ID is: " in Got(upstream, PLACES).body
        upstream.fault(".", "429_retry_after")
        assert Got(upstream, PLACES).headers["Retry-After"] == "1"
        upstream.fault(".", "429")
        assert "Retry-After" not in Got(upstream, PLACES).headers
        upstream.fault(".", "akamai")
        assert Got(upstream, PLACES, User_Agent="python-requests/2.34.2").status == 403
        assert Got(upstream, PLACES, User_Agent="emancipa/1").status == 200
        upstream.heal()
        assert Got(upstream, PLACES, User_Agent="python-requests/2.34.2").status == 200


def test_a_body_can_stop_half_way(upstream: Upstream) -> None:
    upstream.fault("ATUAL", "truncated", times=1)
    with pytest.raises(http.client.IncompleteRead):
        Got(upstream, PLACES)
    upstream.fault("ATUAL", "reset", times=1)
    with pytest.raises((ConnectionResetError, http.client.IncompleteRead)):
        Got(upstream, PLACES)
    assert Got(upstream, PLACES).body[:2] == b"PK"
    upstream.fault("ATUAL", "truncated", times=1)
    with pytest.raises(http.client.IncompleteRead) as half_way:
        Got(upstream, PLACES)
    got = half_way.value.partial
    rest = Got(upstream, PLACES, Range=f"bytes={len(got)}-")
    assert rest.status == 206
    assert zipfile.ZipFile(io.BytesIO(got + rest.body)).testzip() is None
    upstream.fault("ATUAL", "truncated_zip", times=1)
    half = Got(upstream, PLACES)
    assert half.headers["Content-Length"] == str(len(half.body))
    assert not zipfile.is_zipfile(io.BytesIO(half.body))


def test_a_body_can_come_late_or_never(upstream: Upstream) -> None:
    for kind in ("drip", "slow"):
        upstream.fault("ATUAL", kind, times=1, seconds=0.3)
        started = time.monotonic()
        assert Got(upstream, PLACES).body[:2] == b"PK"
        assert time.monotonic() - started >= 0.28
    upstream.fault("ATUAL", "hang", times=1)
    connection = http.client.HTTPConnection(upstream.url.removeprefix("http://"), timeout=0.2)
    connection.request("GET", PLACES)
    with pytest.raises(TimeoutError):
        connection.getresponse()
    connection.close()
    assert upstream.requests[-1].status == 0


FILES: dict[str, Callable[[bytes, bytes], bool]] = {
    "empty_zip": lambda body, _: zipfile.ZipFile(io.BytesIO(body)).namelist() == [],
    "header_only": lambda body, csv: csv.count(b"\n") == 1,
    "bom": lambda body, csv: csv.startswith(b'\xef\xbb\xbf"DT_GERACAO"'),
    "zip_slip": lambda body, _: "../../evil.csv" in zipfile.ZipFile(io.BytesIO(body)).namelist(),
    "zip_bomb": lambda body, _: zipfile.ZipFile(io.BytesIO(body)).infolist()[0].file_size > 4_000_000_000,
    "added_column": lambda body, csv: csv.split(b"\r\n")[0].count(b";") == 41 and csv.startswith(b'"ADDED";'),
    "republished": lambda body, csv: csv.split(b"\r\n")[1].startswith(b'"29/11/2026"'),
}


@pytest.mark.parametrize("kind", FILES)
def test_a_file_can_be_wrong_inside(upstream: Upstream, kind: str) -> None:
    before = Got(upstream, PLACES).headers
    upstream.fault("ATUAL", kind)
    got = Got(upstream, PLACES, If_Modified_Since=before["Last-Modified"])
    table = b"" if kind in {"empty_zip", "zip_slip", "zip_bomb"} else got.member()
    assert FILES[kind](got.body, table)
    assert got.headers["ETag"] != before["ETag"]


@pytest.mark.parametrize("kind", ["renamed_column", "lost_column"])
def test_a_column_can_go(upstream: Upstream, kind: str) -> None:
    upstream.fault("ATUAL", kind, column="QT_ELEITOR_SECAO")
    header, row, *_ = Got(upstream, PLACES).member().split(b"\r\n")
    assert b'"QT_ELEITOR_SECAO"' not in header.split(b";")
    assert header.count(b";") == row.count(b";") == (40 if kind == "renamed_column" else 39)


def test_a_file_can_move_to_a_newer_name(upstream: Upstream) -> None:
    body = Got(upstream, DISTRICTS).body
    upstream.fault("Agregados_por_Distrito_csv", "moved")
    index = Got(upstream, FOLDER).body
    assert b"basico_BR_20261101.zip" in index
    assert b"basico_BR_20260520.zip" not in index
    assert Got(upstream, DISTRICTS).status == 404
    assert Got(upstream, DISTRICTS.replace("20260520", "20261101")).body == body


def test_pages_can_contradict_themselves(upstream: Upstream) -> None:
    items = Got(upstream, DCA).json()["items"]
    assert isinstance(items, list)
    upstream.fault("/dca", "empty_items", times=1)
    assert Got(upstream, DCA).json()["items"] == []
    upstream.fault("/dca", "has_more_zero", times=1)
    stuck = Got(upstream, DCA).json()
    assert (stuck["hasMore"], stuck["count"]) == (True, 0)
    upstream.fault("/dca", "repeated_keys")
    first, second = Got(upstream, DCA).json(), Got(upstream, f"{DCA}&offset=17").json()
    assert (first["hasMore"], second["hasMore"]) == (True, False)
    assert first["items"] == second["items"] == items[: len(items) // 2]


def test_a_report_can_be_rectified(upstream: Upstream) -> None:
    def dca(name: str) -> object:
        found = Got(upstream, DELIVERIES).json()["items"]
        assert isinstance(found, list)
        return next(row[name] for row in found if row["entregavel"] == "Balanço Anual (DCA)")

    assert (dca("status_relatorio"), dca("data_status")) == ("HO", "2026-04-28T18:12:40Z")
    before = Got(upstream, DCA).headers["ETag"]
    upstream.fault("/siconfi/", "rectified")
    assert (dca("status_relatorio"), dca("data_status")) == ("RE", "2026-11-20T13:00:00Z")
    assert Got(upstream, DCA).headers["ETag"] != before


def test_smaller_pages_on_request() -> None:
    with Upstream(page_limit=10) as upstream:
        pages = [Got(upstream, f"{DCA}&offset={offset}").json() for offset in (0, 10, 20, 30)]
    assert [(page["count"], page["hasMore"]) for page in pages] == [(10, True), (10, True), (10, True), (4, False)]


def test_nobody_vouches_for_its_certificate() -> None:
    with Upstream(tls=True) as upstream:
        assert upstream.url.startswith("https://")
        with pytest.raises(urllib.error.URLError) as caught:
            urllib.request.urlopen(upstream.url + LOCALITIES, timeout=5)
        assert isinstance(caught.value.reason, ssl.SSLCertVerificationError)


def test_what_it_says_can_be_put_there(upstream: Upstream) -> None:
    upstream.put("/odsele/new.zip", b"PK", status=200)
    assert Got(upstream, "/odsele/new.zip").body == b"PK"
    with pytest.raises(ValueError, match="unknown fault 'typo'"):
        upstream.fault(".", "typo")


def test_every_fault_is_tried_here() -> None:
    elsewhere = {
        "akamai",
        "truncated",
        "reset",
        "truncated_zip",
        "drip",
        "slow",
        "hang",
        "renamed_column",
        "lost_column",
    }
    pages = {"moved", "empty_items", "has_more_zero", "repeated_keys", "rectified"}
    assert set(FAULTS) == {*STATUSES, *FILES} | elsewhere | pages


def test_a_whole_country_follows_from_a_census_file(tmp_path: Path) -> None:
    zipped = Got.member
    with Upstream() as upstream:
        text = zipped(Got(upstream, DISTRICTS)).decode("cp1252")
    lines = [line for line in text.splitlines() if '"3205002"' in line]
    header = text.splitlines()[0]
    away = [line.replace('"32', '"28').replace('"Espírito Santo"', '"Sergipe"') for line in lines[:2]]
    census = tmp_path / "census.csv"
    census.write_bytes("\r\n".join([header, *lines, *away, ""]).encode("cp1252"))
    with Upstream(census=census, estimates={2025: {"3205002": 577284, "2805002": 400000}}) as upstream:
        assert zipped(Got(upstream, DISTRICTS)) == census.read_bytes()
        districts = json.loads(Got(upstream, LOCALITIES.replace("ES", "SE")).body)
        assert [row["id"] for row in districts] == [280500210, 280500205]
        path = "/api/v3/agregados/6579/periodos/2025/variaveis/9324?localidades=N3[28]"
        (variable,) = json.loads(Got(upstream, path).body)
        assert variable["resultados"][0]["series"][0]["serie"] == {"2025": "400000"}
        sections = csv.DictReader(io.StringIO(zipped(Got(upstream, PLACES)).decode("cp1252")), delimiter=";")
        assert len({row["NR_LOCAL_VOTACAO"] for row in sections if row["SG_UF"] == "SE"}) == 2
        assert Got(upstream, f"{DCA[:-2]}28").json()["count"] == 34


def test_the_probe_asks_each_upstream_its_first_question(
    upstream: Upstream, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    for name, value in upstream.environment().items():
        monkeypatch.setenv(name, value)
    assert call(["sources", "--probe", "--json", "--data", str(tmp_path)]) == 0
    rows = {row["source"]: row for row in json.loads(capsys.readouterr().out)}
    at_hand = {name for name, row in rows.items() if row["answer"] != "absent"}
    assert at_hand == {name for name, source in sources().items() if source.base != "inputs"}
    assert {rows[name]["answer"] for name in at_hand} == {"ok"}
    asked = r"HTTP 200 http://127\.0\.0\.1:\d+/siconfi/extrato_entregas\?an_referencia=\d{4}&id_ente=32"
    assert re.fullmatch(asked, rows["siconfi_revenue"]["detail"])
    assert rows["inputs_candidates"]["detail"] == str(tmp_path / "inputs/candidates.csv")
