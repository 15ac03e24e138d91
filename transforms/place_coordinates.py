"""Which district a coordinate says: the current one and another year's, each only inside its own município.

A coordinate outside the município it is registered in is a mistake, not evidence. A border is one with another
district of the mesh, of whichever município; the coast and the state's edge are none.
"""

from typing import Any

import polars as pl
from numpy.typing import NDArray

from transforms import borders, geometry


def located(places: pl.DataFrame, mesh: pl.DataFrame | None, districts: pl.DataFrame, within: float) -> pl.DataFrame:
    """What coordinates say: index, current_district, previous_district (each null where outside the município, the
    previous also where the current one is inside); of the one that is not null near (districts within so many metres)
    and border_distance_m; unmeshed (districts the mesh lacks).
    """
    schema = {
        "index": pl.get_index_type(),
        "current_district": pl.String(),
        "previous_district": pl.String(),
        "near": pl.List(pl.String),
        "border_distance_m": pl.Float64(),
        "is_meshed": pl.Boolean(),
        "unmeshed": pl.List(pl.String),
    }
    if mesh is None:
        return pl.DataFrame(schema=schema)
    polygons = mesh.sort("district_code").select(polygon=pl.int_range(pl.len()), district="district_code")
    shapes = geometry.shapes(mesh.sort("district_code")["geometry"])
    current = _inside(places, "", shapes, polygons)
    previous = _inside(places.join(current, on="index", how="anti"), "previous_", shapes, polygons)
    used = pl.concat(
        [current.rename({"district": "current_district"}), previous.rename({"district": "previous_district"})],
        how="diagonal",
    ).sort("index")
    meshed = polygons["district"].str.head(7).unique()
    unmeshed = (
        districts.join(polygons, left_on="district_code", right_on="district", how="anti")
        .group_by("municipality_code")
        .agg(pl.col("district_code").sort().alias("unmeshed"))
    )
    return (
        places.select("index", "municipality_code")
        .join(_measured(used, shapes, polygons, within), on="index", how="left", validate="1:1")
        .join(unmeshed, on="municipality_code", how="left", validate="m:1")
        .with_columns(is_meshed=pl.col("municipality_code").is_in(meshed.implode()))
        .select(pl.col(name).cast(dtype) for name, dtype in schema.items())
    )


def _inside(places: pl.DataFrame, prefix: str, shapes: NDArray[Any], polygons: pl.DataFrame) -> pl.DataFrame:
    """Places whose coordinate lies in a district of their município: index, polygon, district, x, y.

    On a border shared by two of them the smaller code holds it, and the flag tells.
    """
    points = places.select("index", "municipality_code", x=f"{prefix}longitude", y=f"{prefix}latitude").drop_nulls()
    municipalities = polygons["district"].str.head(7)
    polygon = geometry.holder(
        shapes,
        municipalities.cast(pl.Int64).to_numpy(),
        points["x"].to_numpy(),
        points["y"].to_numpy(),
        points["municipality_code"].cast(pl.Int64).to_numpy(),
    )
    return points.with_columns(polygon=pl.Series(polygon, dtype=pl.Int64)).join(polygons, on="polygon", validate="m:1")


def _measured(used: pl.DataFrame, shapes: NDArray[Any], polygons: pl.DataFrame, within: float) -> pl.DataFrame:
    """What is `_inside`, with near and border_distance_m."""
    x, y, own = (used[name].to_numpy() for name in ("x", "y", "polygon"))
    edges = borders.drawn(shapes)
    near = borders.distances(edges, x, y, own, within).join(polygons, on="polygon", validate="m:1")
    near = near.group_by("point").agg(pl.col("district").sort().alias("near"))
    border = borders.nearest(edges, x, y, own).rename({"metres": "border_distance_m"})
    return (
        used.with_row_index("point")
        .with_columns(pl.col("point").cast(pl.Int64))
        .join(near, on="point", how="left", validate="1:1")
        .join(border, on="point", how="left", validate="1:1")
    )
