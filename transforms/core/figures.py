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
    wide = joined.group_by(key).agg(*_SUMS, *_LARGEST)
    for more in (_by_municipality, _pointing_in, _crossings):
        wide = wide.join(more(joined, key, known), on=key, how="left", validate="1:1")
    high = pl.col("electorate_high") + pl.col("_pointing").fill_null(0)
    return wide.with_columns(high.alias("electorate_high"), *_ACROSS).select(*key, *FIGURES)


def urban_houses(members: pl.DataFrame, keys: Sequence[str], known: DistrictFigures) -> pl.DataFrame:
    """Of FIGURES only those of the urban houses."""
    key = list(keys)
    joined = _joined(members, key, known)
    across = _crossings(joined, key, known)
    return joined.group_by(key).agg(_LARGEST).join(across, on=key, how="left", validate="1:1").select(*key, *_ACROSS)


def _joined(members: pl.DataFrame, key: list[str], known: DistrictFigures) -> pl.DataFrame:
    # A set's key may itself name a município, so that of each district goes by another name here.
    districts = known.districts.rename({"municipality_code": "_municipality"})
    return members.select(*key, "district_code").join(districts, on="district_code", how="left", validate="m:1")


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


# Of a set's districts: what adds up whatever their municípios, and the largest single centre in one of them.
_SUMS = (
    total("population_census"),
    total("population_estimate"),
    _at_least("electorate_low"),
    total("electorate_value"),
    total("collection_value"),
)
_LARGEST = (
    pl.col("urban_houses_low").max(),
    greatest("urban_houses_value"),
    pl.when(pl.col("clustered").all())
    .then(greatest("urban_houses_high"))
    .otherwise(total("urban_houses_high"))
    .alias("urban_houses_high"),
)
# The largest centre, in one district or across borders. Unknown stays unknown: a known cluster is no limit to what the
# other districts may have.
_ACROSS = (
    pl.max_horizontal("urban_houses_low", "_crossing_low").alias("urban_houses_low"),
    *(
        pl.when(pl.col(f"urban_houses_{end}").is_not_null())
        .then(pl.max_horizontal(f"urban_houses_{end}", f"_crossing_{end}"))
        .alias(f"urban_houses_{end}")
        for end in ("value", "high")
    ),
)

# Of a set's part in one município: what counts once there; then the same of the município, and of all it touches.
_STATED = pl.col("collection_stated")
_PART = (
    pl.col("electorate_value").sum().alias("_assigned"),
    (pl.col("places") == 0).any().alias("_placeless"),
    pl.when(_STATED).then("collection_low").otherwise(0).sum().alias("_stated"),
    _STATED.any().alias("_any_stated"),
    _STATED.all().alias("_all_stated"),
)
_ONCE = (
    pl.when("_placeless").then("electorate").otherwise(pl.col("_assigned") + pl.col("unassigned")).alias("_electorate"),
    pl.when(pl.col("_any_stated") | pl.col("collection").is_not_null()).then("_stated").alias("_low"),
    pl.when("_all_stated").then("_stated").otherwise("collection").alias("_high"),
)
_OF_ALL = (
    total("_electorate").alias("electorate_high"),
    _at_least("_low").alias("collection_low"),
    total("_high").alias("collection_high"),
)


def _by_municipality(joined: pl.DataFrame, key: list[str], known: DistrictFigures) -> pl.DataFrame:
    """Bounds that count each município once: electorate_high (without pointing places), collection_low and _high."""
    parts = joined.group_by(*key, "_municipality").agg(_PART)
    parts = parts.join(
        known.municipalities, left_on="_municipality", right_on="municipality_code", how="left", validate="m:1"
    )
    return parts.select(*key, *_ONCE).group_by(key).agg(_OF_ALL)


def _pointing_in(joined: pl.DataFrame, key: list[str], known: DistrictFigures) -> pl.DataFrame:
    """Voters of flagged places outside each set that may lie inside it: each place once.

    Those of a município already counted whole (a district of it in the set has no place) are not counted again.
    """
    placeless = joined.filter(pl.col("places") == 0)
    pointers = known.pointers.rename({"municipality_code": "_municipality"})
    return (
        pointers.join(joined.select(*key, points_to="district_code"), on="points_to")
        .join(joined, on=[*key, "district_code"], how="anti")
        .join(placeless, on=[*key, "_municipality"], how="anti")
        .unique([*key, "place_id"])
        .group_by(key)
        .agg(pl.col("voters").sum().alias("_pointing"))
    )


_WHOLE = pl.len() == pl.col("_size").first()
_CROSSING = (
    pl.len().alias("_inside"),
    *(pl.when(_WHOLE).then(pl.col(end).first()).alias(f"_crossing_{end}") for end in ("low", "value")),
    total("high").alias("_crossing_high"),
)


def _crossings(joined: pl.DataFrame, key: list[str], known: DistrictFigures) -> pl.DataFrame:
    """The largest cluster that crosses district borders inside the set: whole, if the set has all its districts;
    of one that it has two or more of, no more than the parts it has.
    """
    sized = known.crossings.with_columns(pl.len().over("cluster_id").alias("_size"))
    return (
        joined.select(*key, "district_code")
        .join(sized, on="district_code")
        .group_by(*key, "cluster_id")
        .agg(_CROSSING)
        .filter(pl.col("_inside") > 1)
        .group_by(key)
        .agg(pl.col("^_crossing_.*$").max())
    )
