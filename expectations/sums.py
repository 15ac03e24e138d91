"""Parts equal totals, and what one total may be of another: the rows of truths that are sums."""

from collections.abc import Callable

import polars as pl

from expectations.check import Frames, state_code

CENSUS, SECTIONS = "staging.ibge_census_districts__district", "staging.tse_polling_places__section"


def _unequal(parts: pl.LazyFrame, whole: pl.LazyFrame, key: str) -> pl.LazyFrame:
    """Keys whose parts do not add up to the whole. Both have `key` and `figure`; unknown on either side is let pass."""
    known = pl.col("figure").is_not_null()
    summed = parts.filter(known).group_by(key).agg(pl.col("figure").sum().alias("parts"))
    return (
        summed.join(whole.filter(known).select(key, pl.col("figure").alias("whole")), on=key, validate="1:1")
        .filter(pl.col("parts") != pl.col("whole"))
        .sort(key)
    )


def _districts(frames: Frames, figure: str) -> pl.LazyFrame:
    return (
        frames["core.district_population"]
        .join(frames["core.district"], on="district_code", validate="1:1")
        .select("municipality_code", pl.col(figure).alias("figure"))
    )


def districts_and_municipality(basis: str) -> Callable[[Frames], pl.LazyFrame]:
    """Municípios whose districts have another population than they have themselves."""
    return lambda frames: _unequal(
        _districts(frames, basis),
        frames["core.municipality"].select("municipality_code", pl.col(basis).alias("figure")),
        "municipality_code",
    )


def municipalities_and_state(basis: str) -> Callable[[Frames], pl.LazyFrame]:
    """States of another population than their municípios; only where every município is known."""

    def broken(frames: Frames) -> pl.LazyFrame:
        parts = frames["core.municipality"].select(state_code(), pl.col(basis).alias("figure"))
        whole = parts.filter(pl.col("figure").is_not_null().all().over("state_code"))
        return _unequal(whole, frames["core.state"].select("state_code", pl.col(basis).alias("figure")), "state_code")

    return broken


def assigned_and_unassigned(frames: Frames) -> pl.LazyFrame:
    """Municípios whose voters are not those of their districts and the unassigned ones."""
    assigned = (
        frames["core.district_measure"]
        .filter(pl.col("measure") == "electorate")
        .join(frames["core.district"], on="district_code", validate="m:1")
        .select("municipality_code", pl.col("value").cast(pl.Int64).alias("figure"))
    )
    municipality = frames["core.municipality"]
    unassigned = municipality.select("municipality_code", pl.col("unassigned").alias("figure"))
    whole = municipality.select("municipality_code", pl.col("electorate").alias("figure"))
    return _unequal(pl.concat([assigned, unassigned]), whole, "municipality_code")


def registered_and_placed(frames: Frames) -> pl.LazyFrame:
    """States of the run whose polling places have not all the voters of the TSE's sections."""
    placed = frames["core.polling_place"].select("uf", pl.col("voters").alias("figure"))
    none = frames["core.state"].select("uf", pl.lit(0, dtype=pl.Int64).alias("figure"))
    registered = frames[SECTIONS].group_by("uf").agg(pl.col("voters").sum().alias("figure"))
    return _unequal(pl.concat([placed, none]), registered, "uf")


def census_identity(whole: str, *parts: str) -> Callable[[Frames], pl.LazyFrame]:
    """Districts of the census file where one column is not the sum of others, all being known."""
    total = pl.sum_horizontal(*parts, ignore_nulls=False)
    return lambda frames: (
        frames[CENSUS]
        .filter(pl.col(whole) != total)
        .select("district_code", whole, total.alias("parts"))
        .sort("district_code")
    )


def double_counted(frames: Frames) -> pl.LazyFrame:
    """States with more voters than people, on the larger of both populations."""
    voters = frames["core.municipality"].group_by(state_code()).agg(pl.col("electorate").sum())
    people = pl.max_horizontal("population_census", "population_estimate")
    states = frames["core.state"].select("uf", "state_code", people.alias("population"))
    return states.join(voters, on="state_code", validate="1:1").filter(pl.col("electorate") > pl.col("population"))


def more_voters_than_people(frames: Frames) -> pl.LazyFrame:
    """Municípios with more voters than people."""
    people = pl.coalesce("population_estimate", "population_census").alias("population")
    return (
        frames["core.municipality"]
        .select("municipality_code", "municipality_name", people, "electorate")
        .filter(pl.col("electorate") > pl.col("population"))
        .sort("municipality_code")
    )
