"""The plain job's districts: people, houses of the urban centre and taxes, each with its bounds."""

from pathlib import Path

import numpy as np
import pandas as pd
from pandas import DataFrame as Frame

from tests.benchmarks.plain.reading import CENSUS

ENDS = ("low", "value", "high")
SAO_PAULO, NORONHA = "3550308", "2605459"


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
