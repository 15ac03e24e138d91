"""core.neighbour: which districts of the state touch, and along how long a border.

Districts that meet in a point are neighbours with a border of 0 m: whether that is contiguous is for the reader
(or the law) to say. The mesh of one state knows no neighbour in another.
"""

import polars as pl

from transforms import borders, geometry
from transforms.columns import DISTRICT
from transforms.schema import Column, Kind, Table, Unit

TABLE = Table(
    name="core.neighbour",
    title="Distritos vizinhos",
    grain="One row per ordered pair of districts that touch: each pair stands both ways round",
    key=("district_code", "neighbour_code"),
    columns=(
        DISTRICT,
        DISTRICT.but(name="neighbour_code", description="A district that touches it.", label="Vizinho"),
        Column("same_municipality", Kind.BOOLEAN, "Whether both are of one município.", "Mesmo município"),
        Column(
            "border_m",
            Kind.FLOAT,
            "Length of the common border, each metre begun counted; 0 where they meet in points only.",
            "Divisa comum (m)",
            Unit.METRES,
            minimum=0,
        ),
    ),
    may_be_empty=True,
)


def neighbour(mesh: pl.DataFrame) -> pl.DataFrame:
    """Pairs of touching districts, from staging.ibge_district_mesh__district."""
    ordered = mesh.sort("district_code")
    found, codes = borders.shared(geometry.shapes(ordered["geometry"])), ordered["district_code"]
    pairs = pl.DataFrame(
        {
            "district_code": codes.gather(found["one"]),
            "neighbour_code": codes.gather(found["other"]),
            "border_m": found["metres"].ceil(),
        }
    )
    turned = pairs.rename({"district_code": "neighbour_code", "neighbour_code": "district_code"})
    return TABLE.conform(
        pl.concat([pairs, turned.select(pairs.columns)]).with_columns(
            same_municipality=pl.col("district_code").str.head(7) == pl.col("neighbour_code").str.head(7)
        )
    )
