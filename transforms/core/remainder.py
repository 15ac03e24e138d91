"""What each município of origin has before an area leaves it, and what remains after (art. 2º, § 1º).

Population, electorate and collection of the remainder are the município's total minus the area's bounds: what the
area surely has, the remainder surely lacks. Its urban centre is its own: the largest cluster of the districts left.
"""

import polars as pl

from transforms.columns import ENDS
from transforms.core.area_measure import certify
from transforms.core.figures import COLUMNS, FIGURES, DistrictFigures, figures, urban_houses
from transforms.exact import cents

KEYS = ["area_id", "municipality_code"]
_HOUSES = COLUMNS["urban_houses"]


def before(municipality: pl.DataFrame, known: DistrictFigures) -> pl.DataFrame:
    """One row per município: its FIGURES as they stand."""
    members = known.districts.select("municipality_code", "district_code")
    houses = urban_houses(members, ["municipality_code"], known)
    totals = municipality.select(
        "municipality_code",
        "population_census",
        "population_estimate",
        *(pl.col("electorate").alias(f"electorate_{end}") for end in ENDS),
        *(cents(pl.col("collection_brl")).alias(f"collection_{end}") for end in ENDS),
    )
    return totals.join(houses, on="municipality_code", validate="1:1").select("municipality_code", *FIGURES)


def parts(area_district: pl.DataFrame, known: DistrictFigures, certificates: pl.DataFrame) -> pl.DataFrame:
    """One row per area and município of origin: what the area takes from it.

    A certificate speaks of a whole area: it stands for the part where the area has one origin only.
    """
    found = figures(area_district, KEYS, known)
    origins = area_district.group_by("area_id").agg(pl.col("municipality_code").n_unique().alias("_origins"))
    single = certificates.join(origins.filter(pl.col("_origins") == 1), on="area_id", how="semi")
    return certify(found, single)


def after(taken: pl.DataFrame, members: pl.DataFrame, origin: pl.DataFrame, known: DistrictFigures) -> pl.DataFrame:
    """One row per KEYS: the remainder's FIGURES. `taken`: what leaves (as `parts`); `members`: its districts."""
    rest = (
        taken.select(KEYS)
        .join(known.districts.select("municipality_code", "district_code"), on="municipality_code", validate="m:m")
        .join(members.select("area_id", "district_code"), on=["area_id", "district_code"], how="anti")
    )
    whole = origin.select("municipality_code", pl.exclude("municipality_code", *_HOUSES).name.prefix("_"))
    joined = taken.join(whole, on="municipality_code", how="left", validate="m:1")

    remaining = [
        (pl.col(f"_{name}") - pl.col(leaving)).clip(lower_bound=0).alias(name) for name, leaving in _LEAVES.items()
    ]
    subtracted = joined.select(*KEYS, *remaining)
    return subtracted.join(urban_houses(rest, KEYS, known), on=KEYS, how="left", validate="1:1").select(*KEYS, *FIGURES)


# What the remainder lacks of each total: at least it has what is left if the area has the most it can, and so on.
_LEAVES = {
    "population_census": "population_census",
    "population_estimate": "population_estimate",
    **{
        f"{measure}_{end}": f"{measure}_{other}"
        for measure in ("electorate", "collection")
        for end, other in (("low", "high"), ("value", "value"), ("high", "low"))
    },
}
