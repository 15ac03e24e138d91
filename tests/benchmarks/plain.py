"""The screen of the country as a competent analyst would write it: pandas, geopandas, DuckDB, Great Expectations.

The same job as the product's from the same snapshots, state by state, then the country; neither slowed nor tuned:
whole columns where pandas has them, a loop over groups for the largest remainder, national files read once. It is
here to be measured against; `agreement` holds its verdicts against the product's.

What it leaves out, so that the ratio errs against the product: groups of districts under search; joint departures
and their conflicts; the register of petitions and plebiscites; homonyms; the page with its map, the Portuguese
files, dictionary, lineage, Data Docs and diff; evidence, sources and reasons in words; input files but collections;
CNEFE addresses and clusters; the RREO; checks of layouts and totals, and drift; hashes, caching, locks, publication.
Names are matched whole only, and of sensitivity only what an increase mends or a decrease undoes.
"""

import json
import re
import shutil
import zipfile
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import duckdb
import geopandas as gpd  # type: ignore[import-untyped]  # the benchmark's alone
import great_expectations as gx
import numpy as np
import pandas as pd
from great_expectations.data_context.types.base import ProgressBarsConfig
from pandas import DataFrame as Frame

from warehouse.snapshots import Store

gxe: Any = gx.expectations
Frames = dict[str, Frame]
Totals = Mapping[str, Any]
MET, NOT_MET, UNDETERMINED = STATUSES = ("met", "not_met", "undetermined")
REQUIREMENTS = ("population", "electorate", "urban_houses", "collection")
ENDS = ("low", "value", "high")
BASES, VARIANTS = ("estimate", "census"), ("gross", "without_irrf", "net")
NEAR_M = 500
SAO_PAULO, NORONHA = "3550308", "2605459"
CODES = dict.fromkeys(("CD_DIST", "CD_MUN", "CD_UF", "CD_SETOR", "CD_SIT"), "str")
NUMBERS: Mapping[str, Any] = {"decimal": ",", "na_values": [".", "X"], "dtype": CODES}
CENSUS = {
    "CD_DIST": "district_code", "NM_DIST": "district_name", "CD_MUN": "municipality_code",
    "NM_MUN": "municipality_name", "v0001": "population_census", "v0003": "private_dwellings",
    "v0007": "occupied_dwellings",
}  # fmt: skip
PLACE = ["CD_MUNICIPIO", "NR_ZONA", "NR_LOCAL_VOTACAO"]
TEXT = ["NM_BAIRRO", "DS_ENDERECO", "NM_LOCAL_VOTACAO"]
POINT = ["NR_LATITUDE", "NR_LONGITUDE"]
SECTION = [
    *PLACE, *TEXT, *POINT, "NR_SECAO", "DT_GERACAO", "NR_TURNO", "SG_UF", "NM_MUNICIPIO", "CD_TIPO_SECAO_AGREGADA",
    "CD_TIPO_LOCAL", "DS_SITU_LOCAL_VOTACAO", "QT_ELEITOR_SECAO", "NR_LOCAL_VOTACAO_ORIGINAL",
    "NM_LOCAL_VOTACAO_ORIGINAL", "DS_ENDERECO_LOCVT_ORIGINAL",
]  # fmt: skip


def country(folder: Path, ufs: Sequence[str]) -> None:
    """Every state's files and the country's, in folder/plain."""
    shutil.rmtree(folder / "plain", ignore_errors=True)
    store = Store(folder / "raw")
    shared, states = national_files(store), []
    for uf in ufs:
        states.append(state(store, shared, folder / "inputs/collections.csv", uf))
        write(folder / "plain" / uf, states[-1])
    together = {name: pd.concat([tables[name] for tables in states], ignore_index=True) for name in states[0]}
    together["mart.eligibility"] = ranked(together["mart.eligibility"])
    write(folder / "plain/BR", together)


# reading


def path(store: Store, source: str, part: str, uf: str = "") -> Path:
    """The snapshot of one part of a source's last good answer."""
    poll = store.last_good(source, uf)
    assert poll, source
    return next(store.path(answer.sha256) for answer in poll.answers if answer.part.startswith(part))


def table(store: Store, source: str, part: str, columns: Iterable[str], **options: Any) -> Frame:
    """The CSV in a zip."""
    with zipfile.ZipFile(path(store, source, part)) as archive:
        member = next(name for name in archive.namelist() if name.endswith(".csv"))
        return pd.read_csv(archive.open(member), sep=";", encoding="cp1252", usecols=list(columns), **options)


def national_files(store: Store) -> Frames:
    """What all states share, read once."""
    sectors = ["CD_SETOR", "CD_DIST", "CD_SIT", "CD_UF", "AREA_KM2", "v0001", "v0003", "v0007"]
    houses = ["CD_SETOR", "V00001", "V00047", "V00048"]
    crosswalk = ["SG_UF", "CD_MUNICIPIO_TSE", "NM_MUNICIPIO_TSE", "CD_MUNICIPIO_IBGE"]
    return {
        "census": table(
            store, "ibge_census_districts", "basico", [*CENSUS, "CD_UF", "AREA_KM2", "v0002"], **NUMBERS
        ),
        "sectors": table(store, "ibge_census_sectors", "basico", sectors, **NUMBERS),
        "houses": table(store, "ibge_census_sectors", "domicilio1", houses, **NUMBERS),
        "sections": sections(store, "sections"),
        "previous": sections(store, "previous"),
        "crosswalk": table(store, "tse_municipalities", "municipalities", crosswalk, dtype=str),
    }  # fmt: skip


def sections(store: Store, part: str) -> Frame:
    """One row a section: first round, newest row; a pair of coordinates is missing where its longitude is."""
    rows = table(store, "tse_polling_places", part, SECTION, dtype=str, na_values=["#NULO", "#NE"])
    rows["QT_ELEITOR_SECAO"] = pd.to_numeric(rows["QT_ELEITOR_SECAO"])
    for name in POINT:
        rows[name] = pd.to_numeric(rows[name].str.replace(",", "."))
    rows.loc[rows["NR_LONGITUDE"].isin([-1, -3, -4]), POINT] = np.nan
    rows["CD_MUNICIPIO"] = rows["CD_MUNICIPIO"].str.zfill(5)
    rows["DT_GERACAO"] = pd.to_datetime(rows["DT_GERACAO"], format="%d/%m/%Y")
    original = rows["NR_LOCAL_VOTACAO_ORIGINAL"]
    rows["NR_LOCAL_VOTACAO_ORIGINAL"] = original.where(original != "-1").fillna(rows["NR_LOCAL_VOTACAO"])
    first = rows[rows["NR_TURNO"] == "1"].sort_values("DT_GERACAO")
    return first.drop_duplicates(["CD_MUNICIPIO", "NR_ZONA", "NR_SECAO"], keep="last")


def answer(store: Store, source: str, part: str, uf: str) -> Any:
    """What an API said."""
    return json.loads(path(store, source, part, uf).read_bytes())


def estimates(store: Store, uf: str) -> Frame:
    """The official estimates of a state and its municípios."""
    rows = [
        (series["localidade"]["nivel"]["id"], series["localidade"]["id"], int(year), figure)
        for part in ("population/state", "population/municipalities")
        for series in answer(store, "ibge_estimates", part, uf)[0]["resultados"][0]["series"]
        for year, figure in series["serie"].items()
    ]
    frame = pd.DataFrame(rows, columns=["level", "code", "year", "population"])
    return frame.assign(population=pd.to_numeric(frame["population"], errors="coerce"))


def localities(store: Store, uf: str) -> Frame:
    """The districts on IBGE's list."""
    found = answer(store, "ibge_localities", "districts.json", uf)
    rows = [(str(one["id"]), one["nome"], str(one["municipio"]["id"]), one["municipio"]["nome"]) for one in found]
    return pd.DataFrame(rows, columns=list(CENSUS.values())[:4])


def revenue(cells: Frame) -> dict[str, int]:
    """The state's tax revenue (cents) by its definitions: account "Impostos" of the annual statement."""
    by_cell = cells.set_index(["cod_conta", "coluna"])["valor"]

    def received(account: str) -> float:
        refunds = by_cell.get((account, "Outras Deduções da Receita"), 0)
        return float(by_cell[account, "Receitas Brutas Realizadas"] - abs(refunds))

    taxes = "RO1.1.1.0.00.0.0"
    shares = ("Deduções - FUNDEB", "Deduções - Transferências Constitucionais")
    passed_on = sum(abs(by_cell.get((taxes, share), 0)) for share in shares)
    gross = received(taxes)
    amounts = gross, gross - received("RO1.1.1.3.03.0.0"), gross - passed_on
    return {f"revenue_{name}": round(amount * 100) for name, amount in zip(VARIANTS, amounts, strict=True)}


# from sources to districts


def state(store: Store, shared: Frames, collections: Path, uf: str) -> Frames:
    """Every table of one state."""
    listed, estimated = localities(store, uf), estimates(store, uf)
    cells = pd.DataFrame(answer(store, "siconfi_revenue", "dca", uf)["items"])
    code = listed["district_code"].iloc[0][:2]
    census, sectors = (shared[name][shared[name]["CD_UF"] == code] for name in ("census", "sectors"))
    houses = shared["houses"][shared["houses"]["CD_SETOR"].str[:2] == code]
    crosswalk, current, before = (
        shared[name][shared[name]["SG_UF"] == uf] for name in ("crosswalk", "sections", "previous")
    )
    mesh = gpd.read_file(path(store, "ibge_district_mesh", "districts.gpkg", uf))
    mesh["geometry"] = mesh.make_valid(method="structure", keep_collapsed=False)

    official = estimated[estimated["level"] == "N6"].set_index("code")["population"]
    districts = urban_houses(population(entities(listed, census, uf), official), sectors, houses)
    beside = neighbours(mesh)
    places, pointers = polling_places(registered(current, before, crosswalk), districts, mesh, beside)
    districts, municipalities = electorate(districts, places, pointers)
    collection(districts, municipalities, collections)
    municipalities["population_estimate"] = municipalities["municipality_code"].map(official)
    municipalities = municipalities.merge(centres(districts, "municipality_code"), on="municipality_code")
    totals = {
        "population_census": districts["population_census"].sum(),
        "population_estimate": estimated.loc[estimated["level"] == "N3", "population"].iloc[0],
        **revenue(cells),
    }
    return {
        "staging.census_district": census, "staging.locality": listed, "staging.estimate": estimated,
        "staging.sector": sectors, "staging.houses": houses, "staging.section": current,
        "staging.previous_section": before, "staging.municipality_code": crosswalk, "staging.account": cells,
        "core.state": pd.DataFrame([{"uf": uf, **totals}]), "core.municipality": municipalities,
        "core.district": districts, "core.polling_place": places, "core.neighbour": beside,
        **marts(districts, municipalities, totals),
    }  # fmt: skip


def entities(listed: Frame, census: Frame, uf: str) -> Frame:
    """Districts of the list and of the census, and which can be raised."""
    counted = census[list(CENSUS)].rename(columns=CENSUS)
    both = listed.merge(counted, on="district_code", how="outer", suffixes=("", "_c"), validate="1:1")
    for name in listed.columns[1:]:
        both[name] = both[name].fillna(both.pop(f"{name}_c"))
    both["uf"] = uf
    both["is_seat"] = both["district_code"].str.endswith("05") | (both["municipality_code"] == SAO_PAULO)
    both["is_candidate"] = ~both["is_seat"] & (both["municipality_code"] != NORONHA)
    return both


def shared_out(districts: Frame, whole: pd.Series, weight: pd.Series) -> pd.Series:
    """Each município's whole by weight, in whole units: the largest remainders first, ties to the smaller code."""

    def of_group(group: Frame) -> pd.Series:
        product, weights = group["weight"] * group["whole"], group["weight"].sum()
        if not weights or product.isna().all():
            return product * np.nan
        floor, rest = product // weights, product % weights
        left = int(group["whole"].iloc[0] - floor.sum())
        order = group.assign(rest=-rest).sort_values(["rest", "district_code"]).index
        floor.loc[order[:left]] += 1
        return floor

    frame = districts[["municipality_code", "district_code"]].assign(whole=whole, weight=weight)
    return pd.concat([of_group(group) for _, group in frame.groupby("municipality_code")])


def population(districts: Frame, official: pd.Series) -> Frame:
    """The official estimates by census people; a lone district that the census lacks takes its município's whole."""
    alone = ~districts["municipality_code"].duplicated(keep=False) & districts["population_census"].isna()
    weight, whole = districts["population_census"].mask(alone, 1), districts["municipality_code"].map(official)
    return districts.assign(population_estimate=shared_out(districts, whole, weight))


def urban_houses(districts: Frame, sectors: Frame, houses: Frame) -> Frame:
    """Houses of urban sectors; suppressed cells are none in `low`, anything up to the dwellings in `high`."""
    urban = sectors[sectors["CD_SIT"].isin(["1", "2"])].merge(houses, on="CD_SETOR", how="left", validate="1:1")
    urban["known"] = urban[["V00047", "V00048"]].sum(axis=1, min_count=1)
    by, code = urban.groupby("CD_DIST"), districts["district_code"]
    town, unknown = code.isin(urban["CD_DIST"]), ~code.isin(sectors["CD_DIST"])
    sums = by["known"].sum(), by["known"].sum(min_count=1), by["v0003"].sum(min_count=1)
    for end, found in zip(ENDS, sums, strict=True):
        districts[f"urban_houses_{end}"] = code.map(found).where(town, 0)
    districts.loc[unknown, "urban_houses_value"] = np.nan
    districts.loc[unknown, "urban_houses_high"] = districts["private_dwellings"]
    return districts.assign(clustered=~town & ~unknown)  # the sectors of a town may be several centres


def centres(districts: Frame, key: str) -> Frame:
    """The largest urban centre of each set of districts; where centres are not told apart, they may be one."""
    by = districts.groupby(key)
    _, value, high = names = [f"urban_houses_{end}" for end in ENDS]
    found, known = by[names].max(), by[names].count().eq(by.size(), axis=0)
    found[high] = found[high].where(by["clustered"].all(), by[high].sum())
    found[[value, high]] = found[[value, high]].where(known[[value, high]])
    return found.reset_index()


def neighbours(mesh: gpd.GeoDataFrame) -> Frame:
    """Districts that touch, and the metres of border that they share; each pair both ways round."""
    shapes, by_code = mesh[["CD_DIST", "geometry"]], mesh.set_index("CD_DIST").geometry
    pairs = gpd.sjoin(shapes, shapes, predicate="intersects", lsuffix="one", rsuffix="other")
    pairs = pairs[pairs["CD_DIST_one"] < pairs["CD_DIST_other"]]
    one, other = (by_code.loc[pairs[f"CD_DIST_{side}"]].reset_index(drop=True).boundary for side in ("one", "other"))
    metres = one.intersection(other, align=False).to_crs(mesh.estimate_utm_crs()).length.round().to_numpy()
    names = ["district_code", "neighbour_code"]
    found = pairs[["CD_DIST_one", "CD_DIST_other"]].set_axis(names, axis=1).assign(border_m=metres)
    both = pd.concat([found, found.rename(columns=dict(zip(names, names[::-1], strict=True)))])
    both["same_municipality"] = both["district_code"].str[:7] == both["neighbour_code"].str[:7]
    return both.sort_values(names, ignore_index=True)


def registered(current: Frame, before: Frame, crosswalk: Frame) -> Frame:
    """Voters by the place they are registered at, with its text and coordinates, also of the election before."""

    def first(frame: Frame) -> Frame:
        order = frame.assign(unlocated=frame["NR_LATITUDE"].isna(), number=frame["NR_SECAO"].astype(int))
        return order.sort_values(["unlocated", "number"]).drop_duplicates(PLACE)

    places = current.groupby([*PLACE[:2], "NR_LOCAL_VOTACAO_ORIGINAL"], as_index=False).agg(
        voters=("QT_ELEITOR_SECAO", "sum"),
        sections=("NR_SECAO", "size"),
        original_name=("NM_LOCAL_VOTACAO_ORIGINAL", "first"),
        original_address=("DS_ENDERECO_LOCVT_ORIGINAL", "first"),
    )
    places = places.rename(columns={"NR_LOCAL_VOTACAO_ORIGINAL": "NR_LOCAL_VOTACAO"})
    places = places.merge(first(current)[[*PLACE, *TEXT, *POINT]], on=PLACE, how="left", validate="1:1")
    earlier = first(before)[[*PLACE, *POINT]]
    places = places.merge(earlier, on=PLACE, how="left", suffixes=("", "_previous"), validate="1:1")
    codes = crosswalk.set_index(crosswalk["CD_MUNICIPIO_TSE"].str.zfill(5))["CD_MUNICIPIO_IBGE"]
    places["municipality_code"] = places["CD_MUNICIPIO"].map(codes)
    places["NM_LOCAL_VOTACAO"] = places["NM_LOCAL_VOTACAO"].fillna(places.pop("original_name"))
    places["DS_ENDERECO"] = places["DS_ENDERECO"].fillna(places.pop("original_address"))
    return places


def polling_places(places: Frame, districts: Frame, mesh: gpd.GeoDataFrame, beside: Frame) -> tuple[Frame, Frame]:
    """Every place with its district, how it was found and the doubts; and which other districts the doubts mean."""
    single = districts[~districts["municipality_code"].duplicated(keep=False)].set_index("municipality_code")
    here, earlier = inside(places, mesh, ""), inside(places, mesh, "_previous")
    found = pd.DataFrame(
        {
            "single_district": places["municipality_code"].map(single["district_code"]),
            "coordinates": here["CD_DIST"],
            "previous_coordinates": earlier["CD_DIST"],
            "name": by_name(places, districts),
        },
        index=places.index,
    )
    places["method"] = np.select([found[name].notna() for name in found], list(found), "unassigned")
    places["district_code"] = code = found.bfill(axis=1).iloc[:, 0]

    metres = distances(pd.concat([here, earlier[~earlier.index.isin(here.index)]]), mesh, beside)
    places["border_distance_m"] = metres.groupby("place")["metres"].min().round(1)
    by_coordinate = places["method"].isin(["coordinates", "previous_coordinates"])
    near = metres[(metres["metres"] <= NEAR_M) & metres["place"].isin(places.index[by_coordinate])]
    conflict = by_coordinate & found["name"].notna() & (found["name"] != code)
    outside = places["NR_LATITUDE"].notna() & found["coordinates"].isna() & found["single_district"].isna()
    flags = {"border": places.index.isin(near["place"]), "conflict": conflict, "outside": outside}
    told = pd.DataFrame({name: np.where(flag, f"{name}|", "") for name, flag in flags.items()})
    places["flags"] = told.sum(axis=1).str.rstrip("|")
    named = pd.DataFrame({"place": places.index[conflict], "points_to": found["name"][conflict]})
    pointers = pd.concat([near[["place", "points_to"]], named]).drop_duplicates().sort_values(["place", "points_to"])
    places["points_to"] = pointers.groupby("place")["points_to"].agg("|".join).reindex(places.index).fillna("")
    places["is_sure"] = places["method"].isin(["single_district", "coordinates"]) & (places["flags"] == "")
    return places, pointers.join(places[["voters", "municipality_code"]], on="place")


def inside(places: Frame, mesh: gpd.GeoDataFrame, which: str) -> gpd.GeoDataFrame:
    """Places whose coordinate lies in a district of their own município, with that district."""
    have = places[places[f"NR_LONGITUDE{which}"].notna()]
    points = gpd.points_from_xy(have[f"NR_LONGITUDE{which}"], have[f"NR_LATITUDE{which}"], crs=mesh.crs)
    frame = gpd.GeoDataFrame(have[["municipality_code"]], geometry=points)
    joined = gpd.sjoin(frame, mesh[["CD_DIST", "geometry"]], predicate="intersects")
    own = joined[joined["CD_DIST"].str[:7] == joined["municipality_code"]].sort_values("CD_DIST")
    return own[~own.index.duplicated()].sort_index()


def by_name(places: Frame, districts: Frame) -> pd.Series:
    """The one district of the município, not its seat, that the neighbourhood, address or place is called."""

    def comparable(text: pd.Series) -> pd.Series:
        ascii_ = text.fillna("").str.normalize("NFKD").str.encode("ascii", "ignore").str.decode("ascii")
        return ascii_.str.upper().str.replace(r"\s+", " ", regex=True).str.strip()

    names = districts[~districts["is_seat"]].assign(name=lambda frame: comparable(frame["district_name"]))
    names = names[~names.duplicated(["municipality_code", "name"], keep=False)]
    found = pd.Series(np.nan, index=places.index, dtype="str")
    for column in TEXT:
        asked = places[["municipality_code"]].assign(name=comparable(places[column]))
        joined = asked.merge(names, on=["municipality_code", "name"], how="left", validate="m:1")
        found = found.fillna(joined["district_code"])
    return found


def distances(used: gpd.GeoDataFrame, mesh: gpd.GeoDataFrame, beside: Frame) -> Frame:
    """Metres from each place to every district beside its own: the nearest other one is among them."""
    metric = mesh.estimate_utm_crs()
    points, shapes = used.to_crs(metric).geometry, mesh.to_crs(metric).set_index("CD_DIST").geometry
    pairs = used[["CD_DIST"]].rename_axis("place").reset_index()
    pairs = pairs.merge(beside, left_on="CD_DIST", right_on="district_code")
    one = points.loc[pairs["place"]].reset_index(drop=True)
    metres = one.distance(shapes.loc[pairs["neighbour_code"]].reset_index(drop=True), align=False)
    return pairs[["place"]].assign(points_to=pairs["neighbour_code"], metres=metres)


def electorate(districts: Frame, places: Frame, pointers: Frame) -> tuple[Frame, Frame]:
    """Voters by district with bounds; and the municípios with theirs and those that no district was found for."""
    peopled, code = places[places["voters"] > 0], districts["district_code"]
    total = places.groupby("municipality_code")["voters"].sum()
    nowhere = places[places["district_code"].isna()].groupby("municipality_code")["voters"].sum()
    beyond = pointers[pointers["points_to"].str[:7] != pointers["municipality_code"]]
    pointed, from_beyond = (
        code.map(rows.groupby("points_to")["voters"].sum()).fillna(0) for rows in (pointers, beyond)
    )
    sure = peopled[peopled["is_sure"]].groupby("district_code")["voters"].sum()
    districts["electorate_low"] = code.map(sure).fillna(0)
    districts["electorate_value"] = value = code.map(peopled.groupby("district_code")["voters"].sum())
    most = value + pointed + districts["municipality_code"].map(nowhere).fillna(0)
    whole = districts["municipality_code"].map(total) + from_beyond  # what one without a place may have
    districts["electorate_high"] = most.where(value.notna(), whole)
    municipalities = districts.groupby("municipality_code", as_index=False).agg(
        municipality_name=("municipality_name", "first"),
        uf=("uf", "first"),
        districts=("district_code", "size"),
        population_census=("population_census", lambda column: column.sum(min_count=1)),
    )
    municipalities["unassigned"] = municipalities["municipality_code"].map(nowhere).fillna(0)
    for end in ENDS:
        municipalities[f"electorate_{end}"] = municipalities["municipality_code"].map(total)
    return districts, municipalities


def collection(districts: Frame, municipalities: Frame, file: Path) -> None:
    """Adds the state taxes (cents) that the treasury gave for municípios, apportioned by dwellings: 0 to the whole."""
    told = pd.DataFrame({"cod_municipio": [], "nivel": [], "valor": []})
    if file.exists():
        told = pd.read_csv(file, sep=";", decimal=",", dtype={"cod_municipio": str})
    cents = (told[told["nivel"] == "municipio"].groupby("cod_municipio")["valor"].sum() * 100).round()
    whole = districts["municipality_code"].map(cents).astype(float)
    districts["collection_low"], districts["collection_high"] = whole.where(whole.isna(), 0), whole
    districts["collection_value"] = shared_out(districts, whole, districts["occupied_dwellings"])
    for end in ENDS:
        municipalities[f"collection_{end}"] = municipalities["municipality_code"].map(cents).astype(float)


# the law


def verdict(met: pd.Series, possible: pd.Series) -> pd.Series:
    """Met for every value within the bounds, not met for none, else undetermined."""
    return pd.Series(np.select([met, ~possible], STATUSES[:2], UNDETERMINED), index=met.index)


def agreed(verdicts: Sequence[pd.Series]) -> pd.Series:
    """All alike, or undetermined; null is no verdict."""
    rows = pd.concat(verdicts, axis=1)
    return rows.bfill(axis=1).iloc[:, 0].where(rows.nunique(axis=1) == 1, UNDETERMINED)


def judged(units: Frame, keys: list[str], totals: Totals) -> Frame:
    """Each unit's four requirements. Whole numbers throughout (money in cents): nothing is rounded."""
    both = units[["population_estimate", "population_census"]]
    fewest, people, most = both.min(axis=1), both.bfill(axis=1).iloc[:, 0], both.max(axis=1)
    figures = {name: [units[f"{name}_{end}"] for end in ENDS] for name in REQUIREMENTS[1:]}
    voters, houses, money = figures.values()
    by_basis, by_variant = [], []
    for basis in BASES:
        own = units[f"population_{basis}"]
        met = (own > 10_000) | (own * 200 >= totals[f"population_{basis}"])
        by_basis.append(verdict(met, met).where(own.notna()))
    for variant in VARIANTS:
        total = totals[f"revenue_{variant}"]
        by_variant.append(verdict(money[0] * 200 >= total, ~(money[2] * 200 < total)))
    easiest, revenue_ = min(10_000, totals["population_estimate"] / 200), totals["revenue_gross"]
    parts = {
        "population": (fewest, people, most, easiest, agreed(by_basis),
                       by_basis[0].fillna(by_basis[1]) == MET),
        "electorate": (*voters, people / 10, verdict(voters[0] * 10 >= most, ~(voters[2] * 10 < fewest)),
                       voters[1] * 10 >= people),
        "urban_houses": (*houses, 200, verdict(houses[0] > 200, ~(houses[2] <= 200)), houses[1] > 200),
        "collection": (*(each / 100 for each in money), revenue_ / 20_000, agreed(by_variant),
                       money[1] * 200 >= revenue_),
    }  # fmt: skip
    found = []
    for requirement, (low, value, high, threshold, status, passes) in parts.items():
        margin = (value / threshold - 1).round(4)
        likely = passes.map({True: "likely_met", False: "likely_not_met"})
        rows = units[keys].assign(requirement=requirement, low=low, value=value, high=high, threshold=threshold)
        indication = likely.where(value.notna() & (status == UNDETERMINED))
        found.append(rows.assign(margin=margin, status=status, indication=indication))
    return pd.concat(found, ignore_index=True)


def remainders(areas: Frame, districts: Frame, municipalities: Frame) -> Frame:
    """What is left of each município of origin: its totals less the area's bounds, and its own largest centre."""
    whole = areas.merge(municipalities, on="municipality_code", suffixes=("", "_whole"), validate="m:1")
    pairs = areas[["district_code", "municipality_code"]].rename(columns={"district_code": "leaving"})
    pairs = pairs.merge(districts, on="municipality_code")
    rest = centres(pairs[pairs["leaving"] != pairs["district_code"]], "leaving")
    left = whole[["district_code", "municipality_code", "municipality_name"]].copy()
    leaves = {f"population_{basis}": f"population_{basis}" for basis in BASES} | {
        f"{measure}_{end}": f"{measure}_{other}"
        for measure in ("electorate", "collection")
        for end, other in zip(ENDS, ENDS[::-1], strict=True)
    }
    for name, other in leaves.items():
        left[name] = (whole[f"{name}_whole"] - whole[other]).clip(lower=0)
    return left.merge(rest, left_on="district_code", right_on="leaving", how="left", validate="1:1")


def marts(districts: Frame, municipalities: Frame, totals: Totals) -> Frames:
    """The law's requirements, the origin before and after, the ranking, what is pending and what would change it."""
    areas = districts[districts["is_candidate"]].reset_index(drop=True)
    rest = remainders(areas, districts, municipalities)
    before = judged(municipalities, ["municipality_code"], totals)
    origins = judged(rest, ["district_code", "municipality_code", "municipality_name"], totals).merge(
        before, on=["municipality_code", "requirement"], suffixes=("_after", "_before"), validate="m:1"
    )
    had, keeps = origins["status_before"], origins["status_after"]
    conditions = [had == NOT_MET, keeps == MET, (had == MET) & (keeps == NOT_MET)]
    origins["verdict"] = np.select(conditions, ["never_had", "kept", "lost"], UNDETERMINED)
    results = pd.concat([judged(areas, ["district_code"], totals), of_origin(origins)], ignore_index=True)
    ranking = eligibility(areas, results)
    asked = results[(results["status"] == UNDETERMINED) & (results["requirement"] != "origin")]
    open_ = ranking.loc[ranking["status"] != "ineligible", ["district_code", "district_name"]]
    none = districts[~districts.groupby("municipality_code")["is_candidate"].transform("any")]
    return {
        "mart.requirement_result": results,
        "mart.origin_result": origins,
        "mart.eligibility": ranking,
        "mart.pending": open_.merge(asked[["district_code", "requirement", *ENDS]], on="district_code"),
        "mart.no_candidate": none[["uf", "municipality_code", "municipality_name"]].drop_duplicates(),
        "mart.sensitivity": sensitivity(areas, rest, results, origins, ranking, totals),
    }


def of_origin(origins: Frame) -> Frame:
    """The fifth requirement of each area: that its origin loses nothing."""
    open_, likely, keeps = origins["verdict"] == UNDETERMINED, origins["indication_after"], origins["status_after"]
    fails = (keeps == NOT_MET) | (likely == "likely_not_met")
    unknown = (keeps == UNDETERMINED) & likely.isna()
    facts = {"lost": origins["verdict"] == "lost", "open": open_, "unlikely": open_ & fails, "unknown": open_ & unknown}
    rows = origins[["district_code"]].assign(**facts).groupby("district_code").any().reset_index()
    status = np.select([rows["lost"], rows["open"]], [NOT_MET, UNDETERMINED], MET)
    indication = pd.Series(np.where(rows["unlikely"], "likely_not_met", "likely_met"))
    indication = indication.where((status == UNDETERMINED) & (rows["unlikely"] | ~rows["unknown"]))
    return rows[["district_code"]].assign(requirement="origin", status=status, indication=indication)


def eligibility(areas: Frame, results: Frame) -> Frame:
    """Each area's status, likelihood, counts and binding requirement, in rank order."""
    names = ["district_code", "district_name", "municipality_code", "municipality_name", "uf"]
    found = areas[[*names, *(f"{measure}_value" for measure in REQUIREMENTS[1:])]]
    found = found.assign(population=areas["population_estimate"].fillna(areas["population_census"]))
    counts = pd.crosstab(results["district_code"], results["status"]).reindex(columns=STATUSES, fill_value=0)
    found = found.merge(counts.add_prefix("requirements_").reset_index(), on="district_code", validate="1:1")
    closest = results.dropna(subset="margin").sort_values("margin", kind="stable").drop_duplicates("district_code")
    closest = closest.set_index("district_code")[["requirement", "margin"]]
    closest.columns = ["binding_requirement", "smallest_margin"]
    found = found.join(closest, on="district_code")
    fails, open_ = found["requirements_not_met"] > 0, found["requirements_undetermined"] > 0
    found["status"] = np.select([fails, open_], ["ineligible", UNDETERMINED], "eligible")
    unlikely = results[results["indication"] == "likely_not_met"]["district_code"]
    unknown = results[(results["status"] == UNDETERMINED) & results["indication"].isna()]["district_code"]
    cases = [found["district_code"].isin(unlikely), found["district_code"].isin(unknown)]
    likely = pd.Series(np.select(cases, ["likely_ineligible", "unknown"], "likely_eligible"))
    found["likely"] = likely.where(found["status"] == UNDETERMINED)
    origin = results[results["requirement"] == "origin"].set_index("district_code")["status"]
    return ranked(found.assign(origin_status=found["district_code"].map(origin)))


def ranked(found: Frame) -> Frame:
    """Status, likelihood, requirements met, smallest margin, population, code; equal but for the code share a rank."""
    keys = found[["requirements_met", "smallest_margin", "population"]].mul(-1)
    keys.insert(0, "likely", found["likely"].map({"likely_eligible": 0, "unknown": 1, "likely_ineligible": 2}))
    keys.insert(0, "status", found["status"].map({"eligible": 0, UNDETERMINED: 1, "ineligible": 2}))
    order = keys.assign(code=found["district_code"]).sort_values([*keys, "code"])
    place = pd.Series(np.arange(1, len(order) + 1), index=order.index)
    rank = place.where(~order.duplicated(list(keys))).ffill().astype(int)
    return found.assign(rank=rank).loc[order.index].reset_index(drop=True)


def steps(units: Frame, keys: list[str], totals: Totals) -> Frame:
    """By requirement: how far its figure must rise to be no longer surely failed, or fall to be no longer surely met;
    `harm`: the rise at which the voters become too few.
    """
    people = units[["population_estimate", "population_census"]]
    least, most = people.min(axis=1), people.max(axis=1)
    arms = np.minimum(10_001, np.ceil([totals["population_estimate"] / 200, totals["population_census"] / 200]))
    money = [np.ceil(totals[f"revenue_{variant}"] / 200) for variant in VARIANTS]
    limits = {
        "electorate": (np.ceil(least / 10), np.ceil(most / 10)),
        "urban_houses": (201, 201),
        "collection": (min(money), max(money)),
    }
    found = [units[keys].assign(
        requirement="population", figure=most, increase=(arms - people).min(axis=1),
        decrease=(people - arms + 1).min(axis=1), harm=units["electorate_high"] * 10 - least + 1,
    )]  # fmt: skip
    for requirement, (low, high) in limits.items():
        figure = units[f"{requirement}_high"]
        fall = units[f"{requirement}_low"] - high + 1
        found.append(units[keys].assign(requirement=requirement, figure=figure, increase=low - figure, decrease=fall))
    return pd.concat(found, ignore_index=True)


def sensitivity(areas: Frame, rest: Frame, results: Frame, origins: Frame, ranking: Frame, totals: Totals) -> Frame:
    """The smallest change that undoes an eligible area, or mends one that fails in a single thing."""
    own, left = ["district_code", "requirement"], ["district_code", "municipality_code", "requirement"]
    stands = origins["verdict"].map({"kept": MET, "lost": NOT_MET, UNDETERMINED: UNDETERMINED})
    of_area = steps(areas, own[:1], totals).merge(results[[*own, "status"]], on=own, validate="1:1")
    of_rest = steps(rest, left[:2], totals).merge(origins[left].assign(status=stands), on=left, validate="1:1")
    both = pd.concat([of_area, of_rest], ignore_index=True)
    failed, code = both["status"] == NOT_MET, both["district_code"]
    once = code.map(both[failed].groupby("district_code").size()) == 1
    eligible = code.map(ranking.set_index("district_code")["status"]) == "eligible"
    mends = failed & once & ~(both["increase"] >= both["harm"]) & (both["increase"] > 0)
    undoes = eligible & (both["status"] == MET) & (both["decrease"] > 0)
    both["direction"] = pd.Series(np.where(mends, "increase", "decrease")).where(mends | undoes)
    both["amount"] = both["increase"].where(mends, both["decrease"].where(undoes))
    both["share"] = both["amount"] / both["figure"].where(both["figure"] > 0)
    chosen = both.dropna(subset="amount").sort_values("share").drop_duplicates("district_code")
    chosen = chosen[[*left, "direction", "amount", "share"]]
    return ranking[["district_code", "status"]].merge(chosen, on="district_code", how="left", validate="1:1")


# what goes out

KEYS = {
    "staging.census_district": ["CD_DIST"], "staging.locality": ["district_code"], "staging.sector": ["CD_SETOR"],
    "staging.houses": ["CD_SETOR"], "staging.section": ["CD_MUNICIPIO", "NR_ZONA", "NR_SECAO"],
    "staging.previous_section": ["CD_MUNICIPIO", "NR_ZONA", "NR_SECAO"], "staging.estimate": ["code", "year"],
    "staging.municipality_code": ["CD_MUNICIPIO_IBGE"], "core.state": ["uf"],
    "staging.account": ["cod_ibge", "rotulo", "coluna", "cod_conta"], "core.municipality": ["municipality_code"],
    "core.district": ["district_code"], "core.polling_place": PLACE, "core.neighbour": ["district_code",
    "neighbour_code"], "mart.requirement_result": ["district_code", "requirement"],
    "mart.origin_result": ["district_code", "municipality_code", "requirement"],
    "mart.eligibility": ["district_code"], "mart.pending": ["district_code", "requirement"],
    "mart.no_candidate": ["municipality_code"], "mart.sensitivity": ["district_code"],
}  # fmt: skip
WORDS = {
    "level": ["N3", "N6"], "CD_SIT": list("12356789"), "NR_TURNO": ["1"], "CD_TIPO_LOCAL": list("1234"),
    "CD_TIPO_SECAO_AGREGADA": list("123"), "status": [*STATUSES, "eligible", "ineligible"],
    "method": ["single_district", "coordinates", "previous_coordinates", "name", "unassigned"],
    "requirement": [*REQUIREMENTS, "origin"], "binding_requirement": REQUIREMENTS, "origin_status": STATUSES,
    "verdict": ["kept", "lost", "never_had", UNDETERMINED], "indication": ["likely_met", "likely_not_met"],
    "likely": ["likely_eligible", "unknown", "likely_ineligible"], "direction": ["increase", "decrease"],
}  # fmt: skip
MAY_BE_NULL = (
    r"core\.polling_place\.district_code|mart\.sensitivity\.(requirement|municipality_code)|.*\.(v000\d|V000\d\d|"
    r"AREA_KM2|population.*|(private|occupied)_dwellings|NR_L.*TUDE.*|NM_BAIRRO|DS_ENDERECO|CD_TIPO.*|valor|likely|"
    r"QT_ELEITOR_SECAO|(electorate|urban_houses|collection|low|value|high|threshold|margin|indication)(_.*)?|share|"
    r"border_distance_m|smallest_margin|binding_requirement|direction|amount)"
)
MAY_BE_NEGATIVE = r"NR_L.*TUDE.*|.*margin.*|valor"
SHEETS = {
    "Elegibilidade": "mart.eligibility", "Requisitos": "mart.requirement_result", "Origem": "mart.origin_result",
    "Pendências": "mart.pending",
}  # fmt: skip


def write(folder: Path, tables: Frames) -> None:
    """Check every table, then DuckDB, Parquet, CSV and the workbook."""
    check(tables)
    (folder / "parquet").mkdir(parents=True)
    with duckdb.connect(str(folder / "emancipa.duckdb")) as database:
        for schema in ("staging", "core", "mart"):
            database.execute(f"CREATE SCHEMA {schema}")
        for name, frame in tables.items():
            database.register("frame", frame)
            database.execute(f"CREATE TABLE {name} AS SELECT * FROM frame")
            database.unregister("frame")
            frame.to_parquet(folder / "parquet" / f"{name}.parquet", index=False)
            if name.startswith("mart"):
                frame.to_csv(folder / f"{name}.csv", index=False)
    with pd.ExcelWriter(folder / "elegibilidade.xlsx", engine="xlsxwriter") as book:
        for sheet, name in SHEETS.items():
            tables[name].to_excel(book, sheet_name=sheet, index=False)


def check(tables: Frames) -> None:
    """A suite of Great Expectations over each table; the first that fails stops the job."""
    context = gx.get_context(mode="ephemeral")
    context.variables.progress_bars = ProgressBarsConfig(globally=False)
    source = context.data_sources.add_pandas("frames")
    for name, frame in tables.items():
        whole = source.add_dataframe_asset(name).add_batch_definition_whole_dataframe("whole")
        suite = gx.ExpectationSuite(name, expectations=list(expectations(name, frame)))
        result = whole.get_batch({"dataframe": frame}).validate(suite)
        if not result.success:
            raise ValueError(f"{name}: {[one.expectation_config for one in result.results if not one.success]}")


def expectations(name: str, frame: Frame) -> Iterable[Any]:
    """A unique key, no nulls, known words, and numbers that are not negative."""
    key = KEYS[name]
    yield (
        gxe.ExpectCompoundColumnsToBeUnique(column_list=key)
        if len(key) > 1
        else gxe.ExpectColumnValuesToBeUnique(column=key[0])
    )
    for column in frame.columns:
        if column in key or not re.fullmatch(MAY_BE_NULL, f"{name}.{column}"):
            yield gxe.ExpectColumnValuesToNotBeNull(column=column)
        if column in WORDS:
            yield gxe.ExpectColumnValuesToBeInSet(column=column, value_set=list(WORDS[column]))
        if frame[column].dtype.kind in "iuf" and not re.fullmatch(MAY_BE_NEGATIVE, column):
            yield gxe.ExpectColumnValuesToBeBetween(column=column, min_value=0)


def agreement(folder: Path) -> str:
    """By requirement, how many of the product's verdicts (the release in `folder`) this job comes to as well."""
    ours, theirs = (
        pd.read_parquet(folder / place / "parquet/mart.requirement_result.parquet") for place in ("plain/BR", "current")
    )
    ours = ours.rename(columns={"district_code": "area_id"})
    both = theirs.merge(ours, on=["area_id", "requirement"], how="outer", validate="1:1")
    both["same"] = both["status_x"] == both["status_y"]
    lines = [f"{name}: {same.sum()} of {len(same)}" for name, same in both.groupby("requirement")["same"]]
    return "; ".join([f"verdicts as the product's: {both['same'].sum()} of {len(both)}", *lines])
