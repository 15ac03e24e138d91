"""The figures of any set of districts: areas, their parts, remainders, municípios, sets under search.

How measures combine: population adds up, on each basis. Electorate: what is sure adds up, and the most
it can be also counts, once each, flagged places pointing in from outside and the voters no place is known for.
Urban houses: the largest single cluster, for the law wants one urban centre. Collection: stated parts add up; what
is apportioned can be anything up to each município's whole.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import chain

import polars as pl

from transforms.columns import ENDS, MEASURES
from transforms.exact import exact

# By measure, the columns of its low, value and high. Population is counted: its bounds are the figure itself.
COLUMNS = {
    measure: [measure] * 3
    if measure.startswith("population")
    else [f"{measure.removesuffix('_brl')}_{end}" for end in ENDS]
    for measure in MEASURES
}
FIGURES = tuple(dict.fromkeys(chain.from_iterable(COLUMNS.values())))


@dataclass(frozen=True, slots=True)
class DistrictFigures:
    """What is known of every district, wide; whole numbers (money in cents).

    `districts` (key district_code): municipality_code, the columns of FIGURES, `places`, `clustered`,
    `collection_stated`. `municipalities` (key municipality_code): electorate, unassigned, collection (cents).
    `pointers` (key place_id, points_to): a flagged place, its own district, its voters, and a district it may be in.
    `crossings` (key cluster_id, district_code): clusters that cross district borders: low and value of the whole
    cluster, high of its part in the district.
    """

    districts: pl.DataFrame
    municipalities: pl.DataFrame
    pointers: pl.DataFrame
    crossings: pl.DataFrame


def figures(members: pl.DataFrame, keys: Sequence[str], known: DistrictFigures) -> pl.DataFrame:
    """One row per set: its keys and FIGURES. `members`: keys and district_code, one row per district of each set."""
    key = list(keys)
    joined = _joined(members, key, known)
    wide = joined.group_by(key).agg(
        total("population_census"),
        total("population_estimate"),
        _at_least("electorate_low"),
        total("electorate_value"),
        total("collection_value"),
    )
    for more in (_by_municipality, _pointing_in, _houses):
        wide = wide.join(more(joined, key, known), on=key, how="left", validate="1:1")
    high = pl.col("electorate_high") + pl.col("_pointing").fill_null(0)
    return wide.with_columns(high.alias("electorate_high")).select(*key, *FIGURES)


def urban_houses(members: pl.DataFrame, keys: Sequence[str], known: DistrictFigures) -> pl.DataFrame:
    """Of FIGURES only those of the urban houses."""
    return _houses(_joined(members, list(keys), known), list(keys), known)


def _joined(members: pl.DataFrame, key: list[str], known: DistrictFigures) -> pl.DataFrame:
    # A set's key may itself name a município, so that of each district goes by another name here.
    districts = known.districts.rename({"municipality_code": "_municipality"})
    return members.select(*key, "district_code").join(districts, on="district_code", how="left", validate="m:1")


def _houses(joined: pl.DataFrame, key: list[str], known: DistrictFigures) -> pl.DataFrame:
    """The largest single centre of each set, whether in one of its districts or across their borders."""
    largest = joined.group_by(key).agg(
        pl.col("urban_houses_low").max(),
        greatest("urban_houses_value"),
        pl.when(pl.col("clustered").all())
        .then(greatest("urban_houses_high"))
        .otherwise(total("urban_houses_high"))
        .alias("urban_houses_high"),
    )
    # Unknown stays unknown: a known cluster is no limit to what the other districts may have.
    return largest.join(_crossings(joined, key, known), on=key, how="left", validate="1:1").select(
        *key,
        pl.max_horizontal("urban_houses_low", "_crossing_low").alias("urban_houses_low"),
        *(
            pl.when(pl.col(f"urban_houses_{end}").is_not_null())
            .then(pl.max_horizontal(f"urban_houses_{end}", f"_crossing_{end}"))
            .alias(f"urban_houses_{end}")
            for end in ("value", "high")
        ),
    )


def shown(measure: str) -> list[pl.Expr]:
    """The low, value and high of a measure as readers see them, from the columns of FIGURES."""
    scale = 100 if measure == "collection_brl" else 1
    return [exact(pl.col(column), scale).alias(end) for column, end in zip(COLUMNS[measure], ENDS, strict=True)]


def total(column: str) -> pl.Expr:
    """The sum; unknown where any part is (a part left out would make the whole look smaller)."""
    return pl.when(pl.col(column).is_not_null().all()).then(pl.col(column).sum()).alias(column)


def greatest(column: str) -> pl.Expr:
    """The largest part; unknown where any part is."""
    return pl.when(pl.col(column).is_not_null().all()).then(pl.col(column).max()).alias(column)


def _at_least(column: str) -> pl.Expr:
    """The least the sum can be: an unknown part is at least nothing; unknown where every part is."""
    return pl.when(pl.col(column).is_not_null().any()).then(pl.col(column).sum()).alias(column)


def _by_municipality(joined: pl.DataFrame, key: list[str], known: DistrictFigures) -> pl.DataFrame:
    """Bounds that count each município once: electorate_high (without pointing places), collection_low and _high."""
    stated = pl.col("collection_stated")
    parts = joined.group_by(*key, "_municipality").agg(
        pl.col("electorate_value").sum().alias("_assigned"),
        (pl.col("places") == 0).any().alias("_placeless"),
        pl.when(stated).then("collection_low").otherwise(0).sum().alias("_stated"),
        stated.any().alias("_any_stated"),
        stated.all().alias("_all_stated"),
    )
    totals = known.municipalities.rename({"municipality_code": "_municipality"})
    parts = parts.join(totals, on="_municipality", how="left", validate="m:1")
    whole = pl.col("collection")
    parts = parts.with_columns(
        pl.when("_placeless")
        .then("electorate")
        .otherwise(pl.col("_assigned") + pl.col("unassigned"))
        .alias("_electorate"),
        pl.when(pl.col("_any_stated") | whole.is_not_null()).then("_stated").alias("_low"),
        pl.when("_all_stated").then("_stated").otherwise(whole).alias("_high"),
    )
    return parts.group_by(key).agg(
        total("_electorate").alias("electorate_high"),
        _at_least("_low").alias("collection_low"),
        total("_high").alias("collection_high"),
    )


def _pointing_in(joined: pl.DataFrame, key: list[str], known: DistrictFigures) -> pl.DataFrame:
    """Voters of flagged places outside each set that may lie inside it: each place once.

    Those of a município already counted whole (a district of it in the set has no place) are not counted again.
    """
    inside = joined.select(*key, pl.col("district_code").alias("points_to"))
    own = joined.select(*key, "district_code")
    whole = joined.filter(pl.col("places") == 0).select(*key, "_municipality").unique()
    pointers = known.pointers.rename({"municipality_code": "_municipality"})
    return (
        pointers.join(inside, on="points_to")
        .join(own, on=[*key, "district_code"], how="anti")
        .join(whole, on=[*key, "_municipality"], how="anti")
        .unique([*key, "place_id"])
        .group_by(key)
        .agg(pl.col("voters").sum().alias("_pointing"))
    )


def _crossings(joined: pl.DataFrame, key: list[str], known: DistrictFigures) -> pl.DataFrame:
    """The largest cluster that crosses district borders inside the set: whole, if the set has all its districts;
    of one that it has two or more of, no more than the parts it has.
    """
    sized = known.crossings.with_columns(pl.len().over("cluster_id").alias("_size"))
    whole = pl.len() == pl.col("_size").first()
    return (
        joined.select(*key, "district_code")
        .join(sized, on="district_code")
        .group_by(*key, "cluster_id")
        .agg(
            pl.len().alias("_inside"),
            *(pl.when(whole).then(pl.col(end).first()).alias(f"_crossing_{end}") for end in ("low", "value")),
            total("high").alias("_crossing_high"),
        )
        .filter(pl.col("_inside") > 1)
        .group_by(key)
        .agg(pl.col("^_crossing_.*$").max())
    )
