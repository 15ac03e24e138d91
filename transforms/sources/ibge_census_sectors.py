"""IBGE's Census 2022 figures by sector: dwellings, complete; houses by kind, suppressed where few.

Two national files of a hundred megabytes and more, streamed and projected early. The basic table is never
suppressed. In the themed one a cell of 1 or 2, and every cell of a sector with fewer than five private dwellings,
is `X`: unknown, never zero; its marker is kept. Themed files vary in the name of the sector's column and in their
other columns, so they are read by the names needed.
"""

from typing import BinaryIO

import polars as pl

from transforms.answers import staged, understood
from transforms.columns import DISTRICT, MARKER
from transforms.delimited import batches, first_line, zip_member
from transforms.errors import SourceChanged, SourceUnavailable, SourceUnsound
from transforms.listing import newest
from transforms.numbers import NO_DATA, count, missing_marker
from transforms.schema import Column, Kind, Table, Unit
from transforms.sources import Conversation, Request, Scope, Source, Staged

NAME = "ibge_census_sectors"
FOLDER = "/Censos/Censo_Demografico_2022/Agregados_por_Setores_Censitarios/Agregados_por_Setor_csv/"
_BASIC = r"Agregados_por_setores_basico_BR(?:_(\d{8}))?"
_DWELLINGS = r"Agregados_por_setores_caracteristicas_domicilio1_BR(?:_(\d{8}))?"
_KEYS = ("CD_SETOR", "CD_setor", "SETOR", "COD_SETOR_M22FINAL")

SECTOR = Column(
    "sector_code",
    Kind.CODE,
    "Census sector, 15 digits: the district's 9 and 6 more.",
    "Setor",
    pattern=r"^[1-5]\d{14}$",
    source="CD_SETOR",
)


def _count(name: str, description: str, label: str, source: str, unit: Unit = Unit.DWELLINGS) -> Column:
    return Column(name, Kind.INTEGER, description, label, unit, nullable=True, minimum=0, source=source)


SECTORS = Table(
    name="staging.ibge_census_sectors__sector",
    title="Censo 2022: setores, população e domicílios",
    grain="One row per census sector of the country.",
    key=("sector_code",),
    columns=(
        SECTOR,
        DISTRICT.but(source="CD_DIST"),
        Column(
            "situation_code",
            Kind.CODE,
            "1 and 2 town or village, dense or not; 3 urban nucleus; 5 to 7 rural settlements; 8 other rural; 9 water.",
            "Situação detalhada",
            nullable=True,
            pattern=r"^[1-9]$",
            source="CD_SIT",
        ),
        Column(
            "area_km2", Kind.FLOAT, "Area of the sector.", "Área", Unit.KM2, nullable=True, minimum=0, source="AREA_KM2"
        ),
        _count("population", "Residents.", "População", "v0001", Unit.PERSONS),
        _count("private_dwellings", "Private dwellings, occupied or not.", "Domicílios particulares", "v0003"),
        _count("occupied_dwellings", "Private dwellings, occupied.", "Domicílios ocupados", "v0007"),
    ),
    may_be_empty=True,
)

HOUSES = Table(
    name="staging.ibge_census_sectors__houses",
    title="Censo 2022: casas por setor",
    grain="One row per census sector of the country that the themed file has.",
    key=("sector_code",),
    columns=(
        SECTOR,
        _count("houses", "Occupied permanent private dwellings that are houses.", "Casas", "V00047", Unit.HOUSES),
        MARKER.but(name="houses_marker", label="Marca de ausência (casas)"),
        _count("village_houses", "The same, in a row or a condominium.", "Casas de vila", "V00048", Unit.HOUSES),
        MARKER.but(name="village_houses_marker", label="Marca de ausência (casas de vila)"),
        _count(
            "private_occupied", "Occupied permanent private dwellings.", "Domicílios permanentes ocupados", "V00001"
        ),
    ),
    may_be_empty=True,
)


def conversation(_: Scope) -> Conversation:
    """The folder's list, then the newest file of each kind. All are the same for every state."""
    index = yield Request("index.html", FOLDER, media="html", shared=True)
    if index is None:
        raise SourceUnavailable("the folder of the sector files is not there", where=f"{NAME} {FOLDER}")
    for part, pattern in (("basico.zip", _BASIC), ("domicilio1.zip", _DWELLINGS)):
        index.seek(0)
        file = newest(index, rf"{pattern}\.zip", NAME)
        yield Request(part, FOLDER + file, media="zip", shared=True)


def parse_sector(stream: BinaryIO) -> pl.DataFrame:
    """Every sector of the country."""
    area = pl.col("area_km2").replace(NO_DATA, None).str.replace(",", ".", literal=True).cast(pl.Float64)
    frame = _read(stream, _BASIC, SECTORS)
    with understood(NAME):
        numbers = [count(pl.col(column.name)).alias(column.name) for column in _counted(SECTORS)]
        situation = pl.col("situation_code").replace(NO_DATA, None)
        return staged(SECTORS, frame.with_columns(area, situation, *numbers), NAME)


def parse_houses(stream: BinaryIO) -> pl.DataFrame:
    """Houses of every sector, null where suppressed, with the marker."""
    frame = _read(stream, _DWELLINGS, HOUSES)
    with understood(NAME):
        return staged(
            HOUSES,
            frame.with_columns(
                *(count(pl.col(column.name)).alias(column.name) for column in _counted(HOUSES)),
                missing_marker(pl.col("houses")).alias("houses_marker"),
                missing_marker(pl.col("village_houses")).alias("village_houses_marker"),
            ),
            NAME,
        )


def _counted(table: Table) -> list[Column]:
    return [column for column in table.columns if column.kind is Kind.INTEGER]


def _read(stream: BinaryIO, pattern: str, table: Table) -> pl.DataFrame:
    """The table's columns of the archive's file, as text; the sector's code without the preliminary mesh's letter."""
    with zip_member(stream, rf"{pattern}\.csv", source=NAME) as member:
        header = first_line(member, source=NAME)
        key = next((name for name in _KEYS if name in header), _KEYS[0])
        columns = {column.source: column.name for column in table.columns if column.source} | {key: SECTOR.name}
        columns = {upstream: ours for upstream, ours in columns.items() if ours != SECTOR.name or upstream == key}
        if missing := [name for name in columns if name not in header]:
            raise SourceChanged(f"the file lacks {missing}; it has {header[:12]}", where=f"{NAME}, line 1")
        frames = list(batches(member, columns=columns, generations=[header], source=NAME))
        if not frames:
            raise SourceUnsound("no sector", where=NAME, action="the file is empty at its source: try later")
        return pl.concat(frames).with_columns(pl.col(SECTOR.name).str.head(15))


SOURCE = Source(
    name=NAME,
    title="Censo Demográfico 2022, agregados por setor (básico e características dos domicílios 1)",
    publisher="IBGE",
    home_page="https://www.ibge.gov.br/estatisticas/sociais/populacao/22827-censo-demografico-2022.html",
    licence="Dados abertos do IBGE, uso livre com citação da fonte",
    cadence="revised about once a year",
    stale_after=500,
    base="ibge_files",
    encoding="windows-1252",
    conversation=conversation,
    tables=(Staged(SECTORS, "basico", parse_sector), Staged(HOUSES, "domicilio1", parse_houses)),
    required=False,
    smallest=1000,
    largest=1_000_000_000,
    notes="Sums over themed files undercount: they are made after suppression.",
)
