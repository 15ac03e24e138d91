"""The plain job's polling places: the district of each, the doubts, and the voters that districts have by them."""

import geopandas as gpd  # type: ignore[import-untyped]  # the benchmark's alone
import numpy as np
import pandas as pd
from pandas import DataFrame as Frame

from tests.benchmarks.plain.districts import ENDS
from tests.benchmarks.plain.reading import PLACE, POINT, TEXT

NEAR_M = 500


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
