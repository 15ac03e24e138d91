"""IBGE's Census 2022 figures by district: people, dwellings and area, for the whole country in one file.

The file is Windows-1252 with decimal commas, though its notes say UTF-8 with points. A row of `.` is a district
with no figures: unknown, never zero. The file of 2025 lacks occasional and vacant dwellings (v0008, v0009).
These counts are complete: suppression touches the themed files only.
"""

from typing import BinaryIO

import polars as pl

from transforms.answers import demand_codes, staged, understood
from transforms.columns import DISTRICT, DISTRICT_NAME, MARKER, MUNICIPALITY, MUNICIPALITY_NAME, STATE_CODE
from transforms.delimited import read, zip_member
from transforms.errors import SourceUnavailable
from transforms.listing import newest
from transforms.numbers import NO_DATA, count, missing_marker
from transforms.schema import Column, Kind, Table, Unit
from transforms.sources import Conversation, Request, Scope, Source, Staged

NAME = "ibge_census_districts"
FOLDER = "/Censos/Censo_Demografico_2022/Agregados_por_Setores_Censitarios/Agregados_por_Distrito_csv/"
_FILE = r"Agregados_por_distritos_basico_BR(?:_(\d{8}))?"

_2025 = (
    "CD_DIST;NM_DIST;CD_REGIAO;NM_REGIAO;CD_UF;NM_UF;CD_MUN;NM_MUN;CD_NU;NM_NU;CD_AGLOM;NM_AGLOM;CD_RGINT;"
    "NM_RGINT;CD_RGI;NM_RGI;CD_CONCURB;NM_CONCURB;AREA_KM2;v0001;v0002;v0003;v0004;v0005;v0006;v0007"
).split(";")
GENERATIONS = (_2025, [*_2025, "v0008", "v0009"])  # 2025-04-17, 2026-05-20


def _dwellings(name: str, description: str, label: str, source: str) -> Column:
    return Column(name, Kind.INTEGER, description, label, Unit.DWELLINGS, nullable=True, minimum=0, source=source)


DISTRICTS = Table(
    name="staging.ibge_census_districts__district",
    title="Censo 2022: população, domicílios e área por distrito",
    grain="One row per district of the Census 2022 mesh.",
    key=("district_code",),
    columns=(
        DISTRICT.but(source="CD_DIST"),
        DISTRICT_NAME.but(source="NM_DIST"),
        MUNICIPALITY.but(source="CD_MUN"),
        MUNICIPALITY_NAME.but(source="NM_MUN"),
        STATE_CODE.but(source="CD_UF"),
        Column("area_km2", Kind.FLOAT, "Area of the district.", "Área", Unit.KM2, nullable=True, minimum=0,
               source="AREA_KM2"),
        Column("population", Kind.INTEGER, "Residents on 1 August 2022.", "População residente", Unit.PERSONS,
               nullable=True, minimum=0, source="v0001"),
        _dwellings("dwellings", "All dwellings, private and collective.", "Domicílios", "v0002"),
        _dwellings("private_dwellings", "Private dwellings, occupied or not.", "Domicílios particulares", "v0003"),
        _dwellings("collective_dwellings", "Collective dwellings.", "Domicílios coletivos", "v0004"),
        _dwellings("occupied_dwellings", "Private dwellings, occupied.", "Domicílios ocupados", "v0007"),
        _dwellings("occasional_dwellings", "Private dwellings of occasional use.", "Uso ocasional", "v0008"),
        _dwellings("vacant_dwellings", "Private dwellings, vacant.", "Domicílios vagos", "v0009"),
        MARKER,
    ),
)  # fmt: skip


def conversation(_: Scope) -> Conversation:
    """The folder's list, then the newest file in it. Both are the same for every state."""
    index = yield Request(part="index.html", path=FOLDER, media="html", shared=True)
    if index is None:
        raise SourceUnavailable("the folder of the district files is not there", where=f"{NAME} {FOLDER}")
    file = newest(index, rf"{_FILE}\.zip", NAME)
    yield Request(part="basico.zip", path=FOLDER + file, media="zip", shared=True)


def parse_district(stream: BinaryIO) -> pl.DataFrame:
    """Every district of the country, in about 50 ms. `marker` is what stands instead of the population."""
    columns = {column.source: column.name for column in DISTRICTS.columns if column.source}
    with zip_member(stream, rf"{_FILE}\.csv", source=NAME) as member:
        text = read(member, columns=columns, generations=GENERATIONS, source=NAME)
    counts = [column.name for column in DISTRICTS.columns if column.kind is Kind.INTEGER]
    area = pl.col("area_km2").replace(NO_DATA, None).str.replace(",", ".", literal=True)
    with understood(NAME):
        rows = text.with_columns(
            area.cast(pl.Float64),
            *(count(pl.col(name)).alias(name) for name in counts),
            marker=missing_marker(pl.col("population")),
        )
    table = staged(DISTRICTS, rows, NAME)
    demand_codes(table, NAME)
    return table


SOURCE = Source(
    name=NAME,
    title="Censo Demográfico 2022, agregados por distrito (básico)",
    publisher="IBGE",
    home_page="https://www.ibge.gov.br/estatisticas/sociais/populacao/22827-censo-demografico-2022.html",
    licence="Dados abertos do IBGE, uso livre com citação da fonte",
    cadence="revised about once a year",
    stale_after=500,
    base="ibge_files",
    encoding="windows-1252",
    conversation=conversation,
    tables=(Staged(DISTRICTS, "basico.zip", parse_district),),
    smallest=1000,
    largest=100_000_000,
    notes="The name carries the date of the revision. CD_NU and CD_AGLOM are remnants of single sectors.",
)
