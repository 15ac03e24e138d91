"""Truths over several tables: each planted defect is named by its check, and by it alone."""

import shutil
from collections.abc import Callable
from datetime import date
from pathlib import Path
from typing import Any

import duckdb
import polars as pl
import pytest

from expectations import certified, coverage, domain, sums
from expectations.check import of_query
from tests.gate_release import CODES, Frames, release
from transforms.sources import ibge_localities, tse_municipalities
from warehouse import build

Change = tuple[str, Callable[[Frames], pl.DataFrame]]


def write(path: Path, frames: Frames) -> Path:
    with duckdb.connect(str(path)) as database:
        for name, rows in frames.items():
            database.execute(f"CREATE SCHEMA IF NOT EXISTS {name.split('.')[0]}")
            database.register("rows", rows)
            database.execute(f"CREATE OR REPLACE TABLE {name} AS FROM rows")
    return path


@pytest.fixture(scope="module")
def sound(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write(tmp_path_factory.mktemp("sound") / "w.duckdb", release())


def failing(frames: Frames, warehouse: Path) -> set[str]:
    """The truths that frames break, and the queries that a warehouse which holds them breaks."""
    found = [of_query(one.name, one.header, one.rows, one.error) for one in build.findings(warehouse)]
    found += domain.violations(frames)
    assert [one.error for one in found if one.error] == []
    return {one.name for one in found if one.rows.height}


def where(table: str, condition: pl.Expr, **values: Any) -> Change:
    """A table in which some cells of the rows that meet a condition are others."""

    def changed(frames: Frames) -> pl.DataFrame:
        rows = frames[table]
        cells = {name: pl.when(condition).then(pl.lit(value)).otherwise(pl.col(name)) for name, value in values.items()}
        return rows.with_columns(cell.cast(rows.schema[name]).alias(name) for name, cell in cells.items())

    return table, changed


def without(table: str, condition: pl.Expr) -> Change:
    return table, lambda frames: frames[table].filter(~condition)


def also(table: str, **values: Any) -> Change:
    """A table whose first row is there once more, with other values."""

    def changed(frames: Frames) -> pl.DataFrame:
        rows = frames[table]
        cells = (pl.lit(value).cast(rows.schema[name]).alias(name) for name, value in values.items())
        return pl.concat([rows, rows.head(1).with_columns(cells)])

    return table, changed


def with_one_garbled_cell_in_4000(sections: pl.DataFrame) -> pl.DataFrame:
    clean = pl.DataFrame({"uf": "ZZ", "voters": [1] * 4000, "place_name": "RUA"})
    own = sections.with_row_index().with_columns(place_name=pl.when(pl.col("index") == 0).then(pl.lit("RU\ufffd")))
    return pl.concat([own.drop("index"), clean], how="diagonal")


def at(**values: Any) -> pl.Expr:
    return pl.all_horizontal(*(pl.col(name) == value for name, value in values.items()))


FIRST, SECOND = at(municipality_code=CODES[0]), at(district_code="140002710")
GROUP = at(area_id="G", requirement="population")
DEFECTS: dict[str, list[Change]] = {
    "districts_make_municipality_census": [where("core.district_population", SECOND, population_census=999)],
    "districts_make_municipality_estimate": [where("core.district_population", SECOND, population_estimate=1101)],
    "municipalities_make_state_census": [where("core.state", at(uf="RR"), population_census=17_001)],
    "municipalities_make_state_estimate": [where("core.state", at(uf="RR"), population_estimate=18_699)],
    "electorate_is_assigned_or_unassigned": [where("core.municipality", FIRST, unassigned=49)],
    "every_voter_has_a_place": [without("core.polling_place", at(place="99"))],
    "census_dwellings": [where(sums.CENSUS, SECOND, collective_dwellings=9)],
    "census_private_dwellings": [where(sums.CENSUS, SECOND, vacant_dwellings=61)],
    "districts_listed_and_counted": [where("core.district", SECOND, in_census=False)],
    "tse_codes_of_the_state": [
        where(coverage.CROSSWALK, at(tse_municipality_code="00001"), tse_municipality_code="00000")
    ],
    "tse_codes_of_other_states": [where(coverage.CROSSWALK, at(uf="ES"), municipality_code="5300109")],
    "names_agree_with_the_tse": [where(coverage.CROSSWALK, at(tse_municipality_code="00000"), tse_name="OUTRO")],
    "sections_tell_their_voters": [also(sums.SECTIONS, voters=None)],
    "statement_adds_up": [where("core.state_revenue", at(variant="gross"), warnings="Impostos is 1, its parts 2")],
    "bounds_are_as_narrow_as_they_could_be": [where("core.district_houses", SECOND, establishments=None)],
    "certified_figures_near_census": [where(certified.CERTIFICATES, at(requirement="electorate"), value=399)],
    "certified_houses_within_dwellings": [where(certified.CERTIFICATES, at(requirement="urban_houses"), value=801)],
    "municipalities_known_to_the_tse": [without(coverage.CROSSWALK, FIRST)],
    "municipalities_estimated": [also(coverage.ESTIMATES, location_code="1400803")],
    "every_municipality_is_there": [also(coverage.LOCALITIES, municipality_code="1400803")],
    "sources_cover_the_municipalities": [where("core.municipality", FIRST, tse_municipality_code=None)],
    "sources_are_fresh": [where(coverage.FRESHNESS, at(required=True), is_stale=True)],
    "bounds_are_ordered": [where("core.area_measure", at(area_id="G"), high=499)],
    "text_is_readable": [where("core.district", SECOND, district_name="SÃ£o JoÃ£o")],
    "text_is_clean": [(sums.SECTIONS, lambda frames: with_one_garbled_cell_in_4000(frames[sums.SECTIONS]))],
    "areas_ranked_once": [also("core.area", area_id="X", kind="fusion")],
    "requirements_complete": [
        without("mart.requirement_result", at(area_id="G", requirement="population")),
        where("mart.eligibility", at(area_id="G"), requirements_met=3),
    ],
    "status_follows_requirements": [where("mart.eligibility", at(area_id="140002710"), requirements_met=4)],
    "likely_follows_indications": [where("mart.eligibility", at(area_id="140005010"), likely="unknown")],
    "ranking_order": [where("mart.eligibility", at(area_id="F"), rank=1)],
    "verdict_follows_figures": [where("mart.requirement_result", GROUP, low=10, value=10)],
    "origin_requirement_follows_verdicts": [where("mart.origin_result", GROUP, verdict="undetermined")],
    "origin_verdict_follows_figures": [where("mart.origin_result", GROUP, after_low=10, after_value=10)],
    "simulated_is_said": [where("mart.requirement_result", GROUP, evidence="simulated")],
    "candidates_overlap": [
        (
            "core.area_district",
            lambda frames: pl.concat(
                [
                    frames["core.area_district"],
                    frames["core.area_district"].filter(pl.col("area_id") == "G").with_columns(area_id=pl.lit("F")),
                ]
            ).unique(),
        )
    ],
    "codes_have_owners": [also("core.area_measure", area_id="X")],
    "pending_is_complete": [("mart.pending", lambda frames: frames["mart.pending"].clear())],
    "every_municipality_is_spoken_of": [without("mart.no_candidate", at(municipality_code="1400704"))],
    "municipality_electorate_within_population": [],
    "state_electorate_within_population": [],
}


def test_a_sound_release_breaks_no_truth(sound: Path) -> None:
    assert failing(release(), sound) == set()


@pytest.mark.parametrize("name", [name for name, changes in DEFECTS.items() if changes])
def test_each_defect_is_named_by_its_check_alone(name: str, sound: Path, tmp_path: Path) -> None:
    frames = release()
    changed = {table: change(frames) for table, change in DEFECTS[name]}
    warehouse = write(Path(shutil.copy(sound, tmp_path)), changed)
    assert failing(frames | changed, warehouse) == {name}


BY_ANOTHER = also("mart.rule_arm", requirement="population", arm=2, measured="electorate")


@pytest.mark.parametrize(
    ("change", "refused"),
    [
        (where("mart.requirement_result", GROUP, low=10), set()),
        (where("mart.requirement_result", GROUP, status="not_met"), {"verdict_follows_figures"}),
        (where("mart.origin_result", GROUP, after_low=10), set()),
        (where("mart.origin_result", GROUP, verdict="lost"), {"origin_verdict_follows_figures"}),
    ],
    ids=["met", "not met", "kept", "lost"],
)
def test_what_another_measure_met_its_own_figures_need_not(
    change: Change, refused: set[str], sound: Path, tmp_path: Path
) -> None:
    frames = release()
    changed = {table: make(frames) for table, make in (BY_ANOTHER, change)}
    warehouse = write(Path(shutil.copy(sound, tmp_path)), changed)
    assert (
        failing(frames | changed, warehouse) & {"verdict_follows_figures", "origin_verdict_follows_figures"} == refused
    )


def test_a_fusion_that_a_rule_set_says_nothing_of_is_open(sound: Path, tmp_path: Path) -> None:
    frames = release()
    table, change = where("mart.eligibility", at(area_id="F"), status="undetermined", likely="unknown", rank=2)
    warehouse = write(Path(shutil.copy(sound, tmp_path)), {table: change(frames)})
    assert "likely_follows_indications" not in failing(frames, warehouse)


@pytest.mark.parametrize(
    ("requirement", "figure", "told"),
    [
        ("population", 999, True),
        ("population", 1000, False),
        ("population", 4000, False),
        ("population", 4001, True),
        ("electorate", 399, True),
        ("electorate", 400, False),
        ("electorate", 2400, False),
        ("electorate", 2401, True),
        ("urban_houses", 1, False),
        ("collection", 1, False),
    ],
)
def test_certified_figures_far_from_the_census_are_told(requirement: str, figure: int, told: bool) -> None:
    """Area G has 2,000 inhabitants in the census."""
    frames = release()
    table, change = where(certified.CERTIFICATES, at(requirement=requirement), value=figure)
    found = [one for one in domain.violations(frames | {table: change(frames)}) if one.rows.height or one.error]
    line = 2 + ("population", "electorate", "urban_houses", "collection").index(requirement)
    said = f"certificates.csv, line {line}: {requirement} of G is certified as {figure}, "
    assert [(one.name, one.severity, one.observed) for one in found] == [
        ("certified_figures_near_census", "warning", f"{said}its districts have 2000 inhabitants in the Census 2022")
    ][: int(told)]


@pytest.mark.parametrize(
    ("renewed", "told"), [(date(2026, 5, 5), []), (date(2099, 1, 1), [2]), (date(2026, 5, 3), [2])]
)
def test_only_the_certificate_that_counts_is_compared_with_the_census(renewed: date, told: list[int]) -> None:
    frames = release()
    wrong, change = where(certified.CERTIFICATES, at(requirement="population"), value=10)
    rows = change(frames)
    right = rows.filter(pl.col("requirement") == "population").with_columns(
        value=pl.lit(2000, rows.schema["value"]), date=pl.lit(renewed), line=pl.lit(9, rows.schema["line"])
    )
    far = certified.far_from_census(
        {name: frame.lazy() for name, frame in (frames | {wrong: pl.concat([rows, right])}).items()}
    )
    assert far.collect()["line"].to_list() == told


def test_every_check_has_a_planted_defect() -> None:
    assert set(DEFECTS) == {truth.name for truth in domain.TRUTHS} | set(build.checks())


def electorates(figures: dict[str, int]) -> Frames:
    """The release with other electorates, consistent with themselves."""
    frames = release()
    voters = pl.col("municipality_code").replace_strict(figures, default=0, return_dtype=pl.Int64)
    more = pl.col("electorate") + voters
    frames["core.municipality"] = frames["core.municipality"].with_columns(
        electorate=more, unassigned=pl.col("unassigned") + voters
    )
    lost = frames["core.polling_place"].filter(pl.col("place") == "99").drop("municipality_code", "voters", "place")
    extra = pl.DataFrame({"municipality_code": list(figures), "voters": list(figures.values()), "place": "98"})
    places = extra.join(lost, how="cross").select(frames["core.polling_place"].columns)
    frames["core.polling_place"] = pl.concat([frames["core.polling_place"], places])
    frames[sums.SECTIONS] = pl.concat(
        [frames[sums.SECTIONS], pl.DataFrame({"uf": "RR", "voters": list(figures.values())})], how="diagonal"
    )
    return frames


def test_case_26_a_town_with_more_voters_than_people_is_a_warning() -> None:
    found = [one for one in domain.violations(electorates({CODES[2]: 6259})) if one.rows.height or one.error]
    assert [(one.name, one.severity, one.observed) for one in found] == [
        ("municipality_electorate_within_population", "warning", "M100 has 6759 voters and 1100 inhabitants")
    ]


def test_case_26_a_state_with_more_voters_than_people_is_refused() -> None:
    found = {one.name: one for one in domain.violations(electorates({CODES[2]: 20_000}))}
    state = found["state_electorate_within_population"]
    assert (state.severity, state.observed) == (
        "critical",
        "probable double counting: 28550 voters, 18700 inhabitants in RR",
    )


def test_case_80_a_share_is_of_all_rows() -> None:
    ok = pl.LazyFrame({"municipality_code": ["1400001"] * 5, "ok": [True, True, True, False, None]})
    assert coverage.below_floor(pl.col("ok"), "it", ok, percent=61).collect().rows() == [("14", "it", 3, 5)]
    assert coverage.below_floor(pl.col("ok"), "it", ok, percent=60).collect().rows() == []


def test_case_81_an_absent_table_is_an_error() -> None:
    frames = release()
    del frames["core.municipality"]
    errors = {one.name: one.error for one in domain.violations(frames) if one.error}
    assert errors["state_electorate_within_population"] == "tables absent: core.municipality"


def test_a_truth_that_raises_is_an_error() -> None:
    frames = release()
    frames["core.state"] = frames["core.state"].drop("population_census")
    errors = {one.name: one.error for one in domain.violations(frames) if one.error}
    assert errors["state_electorate_within_population"].startswith("ColumnNotFoundError: ")


def test_case_93_the_expected_number_of_municipalities() -> None:
    frames = release()
    gone = pl.col("municipality_code") == "1400704"
    for name in ("core.municipality", coverage.LOCALITIES):
        frames[name] = frames[name].filter(~gone)
    found = {one.name: one.observed for one in domain.violations(frames)}
    assert found["every_municipality_is_there"] == "RR: 14 municípios, at least 15 expected"


@pytest.mark.parametrize(
    ("day", "uf", "of_state", "elsewhere"),
    [
        ("20260412", "MT", {"73709"}, set()),
        ("20260412", "AP", set(), {"73709"}),
        ("20260531", "MT", set(), set()),
        ("20260531", "AP", set(), set()),
    ],
)
def test_real_tables_of_codes_are_refused_for_the_state_that_is_wrong(
    shared: Any, day: str, uf: str, of_state: set[str], elsewhere: set[str]
) -> None:
    """TSE 73709, Boa Esperança do Norte, stood beside a code of the DF in April 2026."""
    with (shared / f"data/tse/municipio_tse_ibge_{day}.csv").open("rb") as table:
        codes = tse_municipalities.parse_municipality(table)
    with (shared / "data/ibge/RELATORIO_DTB_BRASIL_DISTRITO_2022.xls").open("rb") as workbook:
        listed = ibge_localities.parse_dtb(workbook).filter(uf=uf)
    frames = {coverage.CROSSWALK: codes, coverage.LOCALITIES: listed, "core.state": pl.DataFrame({"uf": [uf]})}
    found = {one.name: one for one in domain.violations(frames) if one.name.startswith("tse_codes_of")}
    told = {name: set(one.rows["tse_municipality_code"]) if one.rows.height else set() for name, one in found.items()}
    assert told == {"tse_codes_of_the_state": of_state, "tse_codes_of_other_states": elsewhere}
    assert found["tse_codes_of_the_state"].severity == "critical"
    if of_state:
        assert found["tse_codes_of_the_state"].observed.startswith("TSE 73709 stands beside 5300109: ")


def test_real_names_differ_in_spelling_only(shared: Any) -> None:
    """Of the 46 pairs that TSE and IBGE write differently, three are not known spellings."""
    with (shared / "data/tse/municipio_tse_ibge_20260531.csv").open("rb") as table:
        codes = tse_municipalities.parse_municipality(table)
    listed = codes.select("municipality_code", "municipality_name")
    assert codes.filter(pl.col("tse_name") != pl.col("municipality_name")).height >= 46
    (truth,) = (truth for truth in domain.TRUTHS if truth.name == "names_agree_with_the_tse")
    (found,) = domain.violations({coverage.CROSSWALK: codes, coverage.LOCALITIES: listed}, [truth])
    assert set(found.rows["municipality_code"]) == {"2515401", "2608503", "4317103"}


def test_real_census_keeps_its_identities(shared: Any) -> None:
    path = shared / "data/ibge/Agregados_por_distritos_basico_BR_20260520.csv"
    columns = (
        "dwellings private_dwellings collective_dwellings occupied_dwellings occasional_dwellings vacant_dwellings"
    )
    names = dict(zip("v0002 v0003 v0004 v0007 v0008 v0009".split(), columns.split(), strict=True))
    raw = pl.read_csv(path, separator=";", encoding="latin-1", infer_schema=False)
    districts = raw.select(
        pl.col("CD_DIST").alias("district_code"),
        pl.col("CD_MUN"),
        *(pl.col(v).cast(pl.Int64, strict=False).alias(name) for v, name in names.items()),
    )
    broken = domain.violations(
        {sums.CENSUS: districts}, [truth for truth in domain.TRUTHS if truth.reads == (sums.CENSUS,)]
    )
    assert [(one.rows.height, one.error) for one in broken] == [(0, ""), (0, "")]
    counted = districts.group_by(pl.col("CD_MUN").str.head(2)).agg(pl.col("CD_MUN").n_unique().alias("n"))
    assert dict(counted.iter_rows()) == coverage.MUNICIPALITIES


@pytest.mark.parametrize(
    "header",
    [{}, {"severity": "loud", "reason": "r", "next step": "n"}, {"severity": "warning", "reason": "r"}],
    ids=["none", "unknown severity", "no next step"],
)
def test_a_query_without_its_header_is_an_error(header: dict[str, str]) -> None:
    found = of_query("q", header, pl.DataFrame())
    assert found.error == "sql/checks/q.sql lacks its header: severity (critical or warning), reason, next step"


def test_a_query_that_cannot_be_run_is_an_error(tmp_path: Path) -> None:
    header = "-- severity: warning\n-- reason: r\n-- next step: n\n"
    duckdb.connect(str(tmp_path / "w.duckdb")).close()
    (found,) = build.findings(tmp_path / "w.duckdb", {"q": f"{header}SELECT nothing"})
    assert of_query(found.name, found.header, found.rows, found.error).error.startswith("Binder Error")


def test_a_source_that_never_answered_has_no_age() -> None:
    fresh = pl.LazyFrame(
        {
            "source": ["b", "a"],
            "age_days": [41, None],
            "stale_after": [40, 40],
            "last_outcome": ["ok", "failed"],
            "is_stale": [True, True],
        }
    )
    told = coverage.stale({coverage.FRESHNESS: fresh}).select("source", "answered").collect()
    assert told.rows() == [("a", "has never answered"), ("b", "last answered 41 days ago")]
