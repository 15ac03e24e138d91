"""CNEFE, the census's address list: every address with its coordinate, by state; SP has 25 million.

Streamed once, and kept as counts by sector and cell of a thousandth of a degree (about 110 m): enough to tell which
houses stand together, a hundredth of the rows. A cell's point is the mean of its houses'. Sector codes end in a
letter of the preliminary mesh, dropped here; some have no equal in the final one. A município that the list lacks
is absent, never zero.
"""

from collections.abc import Iterator
from typing import BinaryIO

import polars as pl

from transforms.answers import staged, understood
from transforms.delimited import batches, zip_member
from transforms.errors import SourceChanged
from transforms.schema import Column, Kind, Table, Unit
from transforms.sources import Conversation, Request, Scope, Source, Staged
from transforms.sources.ibge_census_sectors import SECTOR

NAME = "ibge_addresses"
FOLDER = "/Cadastro_Nacional_de_Enderecos_para_Fins_Estatisticos/Censo_Demografico_2022/Arquivos_CNEFE/CSV/UF"
_HEADER = (
    "COD_UNICO_ENDERECO COD_UF COD_MUNICIPIO COD_DISTRITO COD_SUBDISTRITO COD_SETOR NUM_QUADRA NUM_FACE CEP "
    "DSC_LOCALIDADE NOM_TIPO_SEGLOGR NOM_TITULO_SEGLOGR NOM_SEGLOGR NUM_ENDERECO DSC_MODIFICADOR NOM_COMP_ELEM1 "
    "VAL_COMP_ELEM1 NOM_COMP_ELEM2 VAL_COMP_ELEM2 NOM_COMP_ELEM3 VAL_COMP_ELEM3 NOM_COMP_ELEM4 VAL_COMP_ELEM4 "
    "NOM_COMP_ELEM5 VAL_COMP_ELEM5 LATITUDE LONGITUDE NV_GEO_COORD COD_ESPECIE DSC_ESTABELECIMENTO "
    "COD_INDICADOR_ESTAB_ENDERECO COD_INDICADOR_CONST_ENDERECO COD_INDICADOR_FINALIDADE_CONST"
).split()
_TYPES = ("COD_TIPO_ESPECI", "COD_TIPO_ESPECIE")  # the file cuts the dictionary's name short

DWELLING = "1"  # COD_ESPECIE: private dwelling
HOUSE_TYPES = ("101", "102")  # house; house in a row or a condominium
ESTABLISHMENTS = ("4", "5", "6", "8")  # teaching, health, other purposes, religious
CELLS_PER_DEGREE = 1000
MICRO = 1_000_000  # coordinates are summed as whole millionths of a degree: the same in whatever order
COMPACT_ROWS = 2_000_000

CELLS = Table(
    name="staging.ibge_addresses__cell",
    title="CNEFE 2022: casas e estabelecimentos por setor e célula",
    grain="One row per census sector and cell of 0.001 degree with a house or an establishment.",
    key=("sector_code", "cell_y", "cell_x"),
    columns=(
        SECTOR.but(description="Census sector, without the letter of the preliminary mesh.", source="COD_SETOR"),
        Column(
            "cell_y",
            Kind.INTEGER,
            "Latitude in whole thousandths of a degree, towards the south; null without coordinates is 0.",
            "Célula (latitude)",
            Unit.COUNT,
            source="LATITUDE",
        ),
        Column(
            "cell_x", Kind.INTEGER, "The same of the longitude.", "Célula (longitude)", Unit.COUNT, source="LONGITUDE"
        ),
        Column(
            "houses",
            Kind.INTEGER,
            "Private dwellings (species 1) that are houses (types 101 and 102), lived in or not.",
            "Casas",
            Unit.HOUSES,
            minimum=0,
        ),
        Column(
            "establishments",
            Kind.INTEGER,
            "Establishments (species 4, 5, 6 and 8).",
            "Estabelecimentos",
            Unit.COUNT,
            minimum=0,
        ),
        Column("latitude", Kind.FLOAT, "Mean latitude of the cell's houses.", "Latitude", Unit.DEGREES, nullable=True),
        Column(
            "longitude", Kind.FLOAT, "Mean longitude of the cell's houses.", "Longitude", Unit.DEGREES, nullable=True
        ),
    ),
    may_be_empty=True,
)


def conversation(scope: Scope) -> Conversation:
    """The state's file, one request."""
    yield Request("addresses.zip", f"{FOLDER}/{scope.state_code}_{scope.uf}.zip", media="zip", optional=True)


def parse_cell(stream: BinaryIO) -> pl.DataFrame:
    """A state's addresses, counted by sector and cell, in memory bounded by the cells."""
    with zip_member(stream, r".+\.csv", source=NAME, largest=20_000_000_000) as member:
        rows = _summed(_counted(batch) for batch in _batches(member))
    point = {"latitude": "_y", "longitude": "_x"}
    return staged(
        CELLS,
        rows.with_columns(
            (pl.when(pl.col("_placed") > 0).then(pl.col(total)) / pl.col("_placed") / MICRO).round(6).alias(name)
            for name, total in point.items()
        ),
        NAME,
    )


def _batches(member: BinaryIO) -> Iterator[pl.DataFrame]:
    columns = {
        "COD_SETOR": "sector_code",
        "LATITUDE": "latitude",
        "LONGITUDE": "longitude",
        "COD_ESPECIE": "species",
    }
    header = member.readline().decode("utf-8-sig").strip().replace('"', "").split(";")
    member.seek(0)
    kind = _TYPES[1] if _TYPES[1] in header else _TYPES[0]
    return batches(
        member,
        columns=columns | {kind: "type"},
        generations=[[*_HEADER, kind]],
        source=NAME,
        encoding="utf-8",
    )


def _counted(batch: pl.DataFrame) -> pl.DataFrame:
    """Houses and establishments of some addresses by sector and cell."""
    house = (pl.col("species") == DWELLING) & pl.col("type").is_in(HOUSE_TYPES)
    with understood(NAME):
        micro = [
            (pl.col(name).str.replace(",", ".", literal=True).cast(pl.Float64) * MICRO).round().cast(pl.Int64)
            for name in ("latitude", "longitude")
        ]
        return (
            batch.select(
                pl.col("sector_code").str.head(15),
                house.fill_null(value=False).cast(pl.Int64).alias("houses"),
                pl.col("species").is_in(ESTABLISHMENTS).cast(pl.Int64).alias("establishments"),
                micro[0].alias("_y"),
                micro[1].alias("_x"),
            )
            .filter(pl.col("houses") + pl.col("establishments") > 0)
            .with_columns(
                *(
                    pl.col(f"_{axis}").floordiv(MICRO // CELLS_PER_DEGREE).fill_null(0).alias(f"cell_{axis}")
                    for axis in "yx"
                ),
            )
            .group_by(CELLS.key)
            .agg(
                pl.col("houses", "establishments").sum(),
                (pl.col("_y", "_x") * pl.col("houses")).sum(),
                pl.col("houses").filter(pl.col("_y").is_not_null()).sum().alias("_placed"),
            )
        )


def _summed(frames: Iterator[pl.DataFrame]) -> pl.DataFrame:
    """The counts of all batches, summed as they come: what waits is bounded."""
    waiting: list[pl.DataFrame] = []
    held = 0
    for frame in frames:
        waiting.append(frame)
        held += frame.height
        if held > COMPACT_ROWS:
            waiting = [_sum(waiting)]
            held = 0
    if not waiting:
        raise SourceChanged("no address", where=NAME, action="the file is empty at its source: try later")
    return _sum(waiting)


def _sum(frames: list[pl.DataFrame]) -> pl.DataFrame:
    return pl.concat(frames).group_by(CELLS.key).agg(pl.all().sum())


SOURCE = Source(
    name=NAME,
    title="Cadastro Nacional de Endereços para Fins Estatísticos (CNEFE), Censo 2022",
    publisher="IBGE",
    home_page="https://www.ibge.gov.br/estatisticas/sociais/populacao/38734-cadastro-nacional-de-enderecos.html",
    licence="Dados abertos do IBGE, uso livre com citação da fonte",
    cadence="once a census",
    stale_after=1500,
    base="ibge_files",
    encoding="utf-8",
    conversation=conversation,
    tables=(Staged(CELLS, "addresses", parse_cell),),
    required=False,
    smallest=200,
    largest=20_000_000_000,
    notes="Coordinates of levels 5 and 6 (locality, sector) are not the address's own.",
)
