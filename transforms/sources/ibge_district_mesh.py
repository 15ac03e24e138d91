"""IBGE's polygons of districts and sectors, Census 2022: GeoPackage by state, the shapefile where it is away.

SIRGAS 2000 (EPSG:4674). A district may come in several features and a ring may cross itself: both are mended here,
so that everyone after reads one valid geometry a district. The polygons of urban sectors serve where the address
list lacks a município; without them its urban sectors count as one centre.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import BinaryIO
from warnings import catch_warnings, simplefilter

import numpy as np
import polars as pl
from pyproj import CRS
from pyproj.exceptions import CRSError
from shapely.errors import GEOSException

from transforms import geometry
from transforms.answers import staged, understood
from transforms.columns import DISTRICT, DISTRICT_NAME
from transforms.errors import SourceChanged
from transforms.schema import Column, Kind, Table, Unit
from transforms.sources import Conversation, Request, Scope, Source, Staged
from transforms.sources.ibge_census_sectors import SECTOR

NAME = "ibge_district_mesh"
FOLDER = "/Censos/Censo_Demografico_2022/Agregados_por_Setores_Censitarios/malha_com_atributos"
AREA_TOLERANCE = 0.005
URBAN = ("1", "2")  # CD_SIT: town or village, dense or not

GEOMETRY = Column("geometry", Kind.BINARY, "Polygons as WKB, EPSG:4674, valid.", "Geometria")
AREA = Column(
    "area_km2", Kind.FLOAT, "Area as IBGE gives it.", "Área", Unit.KM2, nullable=True, minimum=0, source="AREA_KM2"
)

DISTRICTS = Table(
    name="staging.ibge_district_mesh__district",
    title="Malha de distritos do Censo 2022",
    grain="One row per district of the state's mesh.",
    key=("district_code",),
    columns=(DISTRICT.but(source="CD_DIST"), DISTRICT_NAME.but(source="NM_DIST"), AREA, GEOMETRY),
    may_be_empty=True,
)

SECTORS = Table(
    name="staging.ibge_district_mesh__sector",
    title="Malha de setores urbanos do Censo 2022",
    grain="One row per urban sector (CD_SIT 1 and 2) of the state's mesh.",
    key=("sector_code",),
    columns=(SECTOR, GEOMETRY),
    may_be_empty=True,
)


def conversation(scope: Scope) -> Conversation:
    """The districts, as GeoPackage or else as shapefile; then the sectors, which may be absent."""
    uf = scope.uf
    districts = Request(
        "districts.gpkg",
        f"{FOLDER}/distritos/gpkg/UF/{uf}/{uf}_distritos_CD2022.gpkg",
        media="gpkg",
        optional=True,
    )
    if (yield districts) is None:
        yield Request("districts.zip", f"{FOLDER}/distritos/shp/UF/{uf}/{uf}_distritos_CD2022.zip", media="zip")
    yield Request(
        "sectors.gpkg", f"{FOLDER}/setores/gpkg/UF/{uf}/{uf}_setores_CD2022.gpkg", media="gpkg", optional=True
    )


def parse_district(stream: BinaryIO) -> pl.DataFrame:
    """The districts of a state, one valid geometry each. Raises SourceChanged where areas do not add up."""
    features = _features(stream, ["CD_DIST", "NM_DIST", "AREA_KM2"])
    with understood(NAME), _drawn():
        shapes = geometry.dissolved(features, pl.col("CD_DIST").alias("district_code"))
        words = features.group_by(pl.col("CD_DIST").alias("district_code")).agg(
            pl.col("NM_DIST").min().alias("district_name"),
            pl.col("AREA_KM2").cast(pl.Float64).fill_nan(None).max().alias("area_km2"),  # empty is read as NaN
        )
        table = staged(DISTRICTS, shapes.join(words, on="district_code", validate="1:1"), NAME)
    told = table.drop_nulls("area_km2")
    measured, given = float(geometry.area_km2(geometry.shapes(told["geometry"])).sum()), float(told["area_km2"].sum())
    if not abs(measured - given) <= AREA_TOLERANCE * given:  # nor where it cannot be measured
        raise SourceChanged(f"the polygons measure {measured:.0f} km², the table {given:.0f}", where=NAME)
    return table


def parse_sector(stream: BinaryIO) -> pl.DataFrame:
    """The urban sectors of a state."""
    features = _features(stream, ["CD_SETOR", "CD_SIT", "CD_SITUACAO"])  # the dictionary says the longer name
    with understood(NAME), _drawn():
        code = pl.col("CD_SETOR").str.head(15).alias("sector_code")
        urban = features.filter(pl.coalesce("^CD_SIT.*$").cast(pl.String).is_in(URBAN))
        return staged(SECTORS, geometry.dissolved(urban, code), NAME)


@contextmanager
def _drawn() -> Iterator[None]:
    """Inside, a shape that cannot be drawn (a ring left open, a coordinate beyond numbers) is no map."""
    try:
        with np.errstate(over="raise"):
            yield
    except (GEOSException, FloatingPointError) as error:
        raise SourceChanged(f"shapes that cannot be drawn: {error}", where=NAME) from error


def _features(stream: BinaryIO, columns: list[str]) -> pl.DataFrame:
    """The wanted attributes, and the geometry as WKB, of every feature that has one."""
    from pyogrio import raw  # noqa: PLC0415  it brings pandas, and a night without a new map needs neither
    from pyogrio.errors import DataLayerError, DataSourceError  # noqa: PLC0415

    try:
        with catch_warnings():
            simplefilter("ignore", RuntimeWarning)  # bytes in memory have no file name to end in .gpkg
            meta, _, shapes, fields = raw.read(stream.read(), columns=columns, force_2d=True)
        crs = CRS(meta["crs"])
    except (DataSourceError, DataLayerError, CRSError, ValueError) as error:
        raise SourceChanged(f"not a readable map: {str(error).splitlines()[0]}", where=NAME) from error
    if not crs.is_geographic or crs.ellipsoid is None or crs.ellipsoid.semi_major_metre != geometry.GRS80.a:
        raise SourceChanged(f"a map in {crs.name}, not in degrees of SIRGAS 2000", where=NAME)
    frame = pl.DataFrame({name: field.tolist() for name, field in zip(meta["fields"], fields, strict=True)})
    return frame.with_columns(pl.Series("geometry", shapes.tolist(), dtype=pl.Binary)).drop_nulls("geometry")


SOURCE = Source(
    name=NAME,
    title="Malha de distritos e de setores do Censo 2022, com atributos",
    publisher="IBGE",
    home_page="https://www.ibge.gov.br/geociencias/organizacao-do-territorio/malhas-territoriais/26565.html",
    licence="Dados abertos do IBGE, uso livre com citação da fonte",
    cadence="once a census; corrected now and then",
    stale_after=1500,
    base="ibge_files",
    encoding="utf-8",
    conversation=conversation,
    tables=(
        Staged(DISTRICTS, "districts", parse_district, version=2),
        Staged(SECTORS, "sectors", parse_sector, version=2),
    ),
    required=False,
    smallest=1000,
    largest=2_000_000_000,
    notes="Borders are of 2022. A state's mesh knows no district of its neighbours.",
)
