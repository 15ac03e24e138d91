"""Every way an upstream has failed its users, through the command line: what the ledger says, how the run ends, and
that nothing readers or the next run depend on is touched.

Each fault is met twice: with a good answer of the source at hand, and without one.
"""

import json
import os
import shutil
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import polars as pl
import pytest

from flows.cli import call
from tests.upstream import FAULTS, Upstream
from warehouse import publish
from warehouse.snapshots import Store

WORDS = ["--uf", "ES", "--as-of", "2026-11-30"]
API, TSE, TREASURY = "ibge_localities", "tse_polling_places", "siconfi_revenue"
WHERE = {
    API: "/localidades/estados/ES/distritos",
    TSE: "local_votacao_ATUAL",
    TREASURY: "/siconfi/dca",
    "ibge_census_districts": "Agregados_por_distritos",
}


@dataclass(frozen=True)
class Met:
    """A fault: whose, the ledger's word for it, exit codes with and without a good answer at hand, what is said."""

    kind: str
    source: str
    outcome: str
    with_good: int
    without: int
    says: str
    column: str | None = None


BLOCKED, DOWN, CHANGED = (0, 4), (0, 4), (5, 5)
MET = [
    # at the door
    Met("cloudflare", API, "blocked", *BLOCKED, "Cloudflare asks for a browser (ray id 8c0ffee-GRU)"),
    Met("cloudflare_200", API, "blocked", *BLOCKED, f"emancipa fetch --uf ES --file {API}=PATH"),
    Met("cloudflare_503", TSE, "blocked", *BLOCKED, "Cloudflare asks for a browser"),
    Met("waf", API, "blocked", *BLOCKED, "support id 4433221100998877665"),
    # statuses
    Met("400", TREASURY, "refused", *DOWN, "Invalid value provided for parameter an_exercicio."),
    Met("404", API, "absent", *DOWN, "HTTP 404"),
    Met("429", TREASURY, "rate_limited", *DOWN, "HTTP 429"),
    Met("429_retry_after", TREASURY, "rate_limited", *DOWN, "HTTP 429"),
    Met("500", API, "server_error", *DOWN, "Internal server error"),
    Met("502", TREASURY, "server_error", *DOWN, "502 Bad Gateway"),
    Met("503", TSE, "server_error", *DOWN, "Service Unavailable"),
    Met("504", API, "server_error", *DOWN, "Endpoint request timed out"),
    # the connection
    Met("reset", TSE, "truncated", *DOWN, "broke off"),
    Met("truncated", TSE, "truncated", *DOWN, "broke off"),
    Met("drip", TSE, "timeout", *DOWN, "too slow"),
    Met("slow", API, "timeout", *DOWN, "went silent"),
    Met("hang", TREASURY, "timeout", *DOWN, "went silent"),
    # success that is none
    Met("json_error", API, "not_data", *DOWN, "an error instead of data"),
    Met("html", TREASURY, "not_data", *DOWN, "Sistema em manutenção"),
    Met("empty", API, "not_data", *DOWN, "an empty answer"),
    Met("empty_list", API, "absent", *DOWN, "IBGE lists no district of ES"),
    Met("has_more_zero", TREASURY, "corrupt", *DOWN, "an empty page that says more follow"),
    Met("repeated_keys", TREASURY, "corrupt", *DOWN, "the same row twice"),
    # files
    Met("truncated_zip", TSE, "truncated", *DOWN, "the zip cannot be read"),
    Met("empty_zip", TSE, "not_data", *DOWN, "the zip is empty"),
    Met("header_only", TSE, "truncated", *DOWN, "a whole answer has at least"),
    Met("zip_slip", TSE, "not_data", *DOWN, "'../../evil.csv'"),
    Met("zip_bomb", TSE, "too_large", *DOWN, "unpacks to"),
    # changes of layout
    Met("renamed_column", TSE, "layout", *CHANGED, "unexpected ['RENAMED']"),
    Met("added_column", TSE, "layout", *CHANGED, "unexpected ['ADDED']"),
    Met("lost_column", "ibge_census_districts", "layout", *CHANGED, "missing ['v0001']", "v0001"),
]
# What is news, and no failure. (`akamai` turns away programs that do not say who they are: ours does.)
NEWS = {
    ("akamai", TSE): "not_modified",
    ("bom", TSE): "revised",
    ("republished", TSE): "revised",
    ("rectified", TREASURY): "revised",
    ("moved", "ibge_census_districts"): "new",  # the folder and the file in it
    ("empty_items", TREASURY): "revised",
}


NO_PAUSES = {"EMANCIPA_BACKOFF_SECONDS": "0", "EMANCIPA_SICONFI_PACE": "0", "EMANCIPA_TRIES": "2"}
SHORT_PATIENCE = {"EMANCIPA_READ_SECONDS": "0.3", "EMANCIPA_DEADLINE_SECONDS": "1.5"}


@pytest.fixture(scope="module")
def server() -> Iterator[Upstream]:
    with pytest.MonkeyPatch.context() as patch, Upstream() as upstream:
        for name, value in (upstream.environment() | NO_PAUSES).items():
            patch.setenv(name, value)
        yield upstream


@pytest.fixture
def upstream(server: Upstream) -> Iterator[Upstream]:
    yield server
    server.heal()


@pytest.fixture(scope="module")
def published(server: Upstream, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A data folder with one release, made of good answers of every source."""
    data = tmp_path_factory.mktemp("published")
    assert call(["run", *WORDS, "--data", str(data)]) == 0
    return data


@pytest.fixture
def data(published: Path, tmp_path: Path) -> Path:
    """That folder anew: ledgers are copied, what never changes is linked."""

    def copy(source: str, target: str) -> None:
        if source.endswith((".jsonl", "lock")):
            shutil.copy2(source, target)
        else:
            os.link(source, target)

    shutil.copytree(published, tmp_path / "data", symlinks=True, copy_function=copy)
    return tmp_path / "data"


def forget(data: Path, source: str) -> None:
    """As if the source had never answered here, and nothing had been published."""
    path = data / "raw/polls.jsonl"
    kept = [line for line in path.read_text().splitlines() if json.loads(line)["source"] != source]
    path.write_text("".join(f"{line}\n" for line in kept))
    shutil.rmtree(data / "releases")
    (data / "current").unlink()


def contents(folder: Path) -> dict[str, int]:
    """Every file below a folder, with when it last changed."""
    return {str(path.relative_to(folder)): path.stat().st_mtime_ns for path in folder.rglob("*") if path.is_file()}


def last_attempt(data: Path, source: str) -> dict[str, object]:
    return Store(data / "raw").attempts().filter(source=source).row(-1, named=True)


def run(data: Path, *words: str) -> int:
    return call(["run", *WORDS, "--data", str(data), *words])


def test_every_fault_is_met_here() -> None:
    assert {met.kind for met in MET} | {kind for kind, _ in NEWS} == FAULTS.keys()


@pytest.mark.parametrize("met", MET, ids=lambda met: f"{met.kind}-{met.source}")
@pytest.mark.parametrize("has_good", [True, False], ids=["with", "without"])
def test_a_fault_ends_well_and_says_so_in_one_line(
    met: Met,
    has_good: bool,
    upstream: Upstream,
    data: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    for name, value in SHORT_PATIENCE.items():
        monkeypatch.setenv(name, value)
    if not has_good:
        forget(data, met.source)
    before = publish.current(data)
    releases, blobs = data / "releases", data / "raw/blobs"
    had = contents(blobs) | (contents(releases) if has_good else {})
    upstream.fault(WHERE[met.source], met.kind, seconds=5, column=met.column)
    began = time.monotonic()

    assert run(data) == (met.with_good if has_good else met.without)

    assert time.monotonic() - began < 10
    assert publish.current(data) == before
    has = contents(blobs) | (contents(releases) if has_good else {})
    assert had.items() <= has.items()
    assert not list(data.rglob("*.part"))
    row = last_attempt(data, met.source)
    assert row["outcome"] == met.outcome
    assert met.says in str(row["message"])
    told = capsys.readouterr().err
    assert "Traceback" not in told
    (line,) = [line for line in told.splitlines() if line.startswith(f"{met.source}: failed")]
    assert met.says in line
    if has_good and met.with_good == 0:
        assert f"{met.source}: what it answered on" in told
    poll = Store(data / "raw").history(met.source)[-1]
    assert (poll.outcome, poll.cause) == ("failed", met.outcome)


@pytest.mark.parametrize(("kind", "source"), NEWS, ids=[f"{kind}-{source}" for kind, source in NEWS])
def test_news_is_told_from_trouble(kind: str, source: str, upstream: Upstream, data: Path) -> None:
    had = contents(data / "raw/blobs")
    upstream.fault("Agregados_por_[Dd]istrito" if kind == "moved" else WHERE[source], kind)
    assert call(["fetch", *WORDS, "--source", source, "--data", str(data)]) == 0
    seen = Store(data / "raw").attempts().filter(source=source)
    assert NEWS[kind, source] in set(seen["outcome"].tail(3))
    assert had.items() <= contents(data / "raw/blobs").items()  # a revision is a new snapshot


def test_a_layout_that_changed_leaves_the_last_good_for_offline_runs(upstream: Upstream, data: Path) -> None:
    before = publish.current(data)
    upstream.fault(WHERE[TSE], "renamed_column")
    assert run(data) == 5
    assert run(data, "--offline") == 0
    assert publish.current(data) == before


def test_a_past_day_is_rebuilt_to_the_byte_after_its_sources_were_revised(
    upstream: Upstream, data: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """TSE publishes anew under the same name, the state rectifies its statement: `diff` names both."""
    first = publish.current(data)
    assert first is not None
    upstream.fault(WHERE[TSE], "republished")
    upstream.fault("/siconfi/", "rectified")
    later = [word.replace("2026-11-30", "2026-12-15") for word in WORDS]
    assert call(["run", *later, "--data", str(data)]) == 0
    second = publish.current(data)
    assert second not in {None, first}
    capsys.readouterr()
    assert call(["diff", first, str(second), "--json", "--data", str(data)]) == 0
    told = capsys.readouterr().out
    assert TSE in told
    assert TREASURY in told

    assert run(data, "--offline") == 0
    third = publish.current(data)
    assert third not in {None, first, second}
    for kind in ("parquet/*.parquet", "export/*.csv"):
        was, now = (
            {path.name: path.read_bytes() for path in (data / "releases" / str(name)).glob(kind)}
            for name in (first, third)
        )
        assert len(was) > 5
        assert was == now


def test_optional_sources_are_done_without(
    upstream: Upstream, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """With wider bounds, and said so."""
    for what in ("malha_com_atributos", "Agregados_por_Setor_csv", "Arquivos_CNEFE"):
        upstream.fault(what, "503")
    assert run(tmp_path) == 0
    told = capsys.readouterr().err
    for name in ("ibge_district_mesh", "ibge_census_sectors", "ibge_addresses"):
        assert f"{name}: done without, bounds are wider" in told
    houses = pl.read_parquet(tmp_path / "current/parquet/core.district_houses.parquet")
    assert set(houses["method"]) == {"private dwellings of the district"}
