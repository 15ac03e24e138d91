"""TSE: the electoral register by section, with the polling place each votes at and the one it is registered at.

One row is a section, so voters are QT_ELEITOR_SECAO over principal and aggregated sections; the columns by election
answer another question (who votes there that day) and are not read. The register abroad (ZZ) and in transit (VT)
stays here, for core to drop and count. Latitudes near 0 and -1 are real in the north: a coordinate is missing where
its longitude is, and only there. A zip that holds each state and their union is read once, never twice.
"""

from collections.abc import Iterator
from dataclasses import replace
from typing import BinaryIO

import polars as pl

from transforms.answers import demand, staged, understood
from transforms.codes import BY_UF, TSE_CODE
from transforms.columns import UF
from transforms.delimited import batches, zip_member
from transforms.errors import SourceChanged, SourceUnsound
from transforms.numbers import TSE_MISSING
from transforms.schema import Column, Kind, Table, Unit
from transforms.sources import Conversation, Request, Scope, Source, Staged

NAME = "tse_polling_places"
ABROAD, IN_TRANSIT = "ZZ", "VT"
_NUMBER = r"^[1-9][0-9]*$"

# The header of every file as published since 2024, old years included.
HEADER = (
    "DT_GERACAO HH_GERACAO AA_ELEICAO DT_ELEICAO DS_ELEICAO NR_TURNO SG_UF CD_MUNICIPIO NM_MUNICIPIO NR_ZONA "
    "NR_SECAO CD_TIPO_SECAO_AGREGADA DS_TIPO_SECAO_AGREGADA NR_SECAO_PRINCIPAL NR_LOCAL_VOTACAO NM_LOCAL_VOTACAO "
    "CD_TIPO_LOCAL DS_TIPO_LOCAL DS_ENDERECO NM_BAIRRO NR_CEP NR_TELEFONE_LOCAL NR_LATITUDE NR_LONGITUDE "
    "CD_SITU_LOCAL_VOTACAO DS_SITU_LOCAL_VOTACAO CD_SITU_ZONA DS_SITU_ZONA CD_SITU_SECAO DS_SITU_SECAO "
    "CD_SITU_LOCALIDADE DS_SITU_LOCALIDADE CD_SITU_SECAO_ACESSIBILIDADE DS_SITU_SECAO_ACESSIBILIDADE "
    "QT_ELEITOR_SECAO QT_ELEITOR_ELEICAO_FEDERAL QT_ELEITOR_ELEICAO_ESTADUAL QT_ELEITOR_ELEICAO_MUNICIPAL "
    "NR_LOCAL_VOTACAO_ORIGINAL NM_LOCAL_VOTACAO_ORIGINAL DS_ENDERECO_LOCVT_ORIGINAL"
).split()

SECTION_KINDS = {"1": "principal", "2": "aggregated", "3": "distributed"}
PLACE_KINDS = {"1": "conventional", "2": "transit", "3": "prison", "4": "temporary"}

SECTION = Table(
    name="staging.tse_polling_places__section",
    title="Seções eleitorais e seus locais de votação, segundo o cadastro do TSE",
    grain="One electoral section of the register.",
    key=("tse_municipality_code", "zone", "section"),
    columns=(
        Column("generated_on", Kind.DATE, "Day TSE generated the row.", "Gerado em", source="DT_GERACAO"),
        UF.but(
            description="State; ZZ abroad, VT in transit.",
            pattern=f"^({'|'.join([*BY_UF, ABROAD, IN_TRANSIT])})$",
            source="SG_UF",
        ),
        Column("tse_municipality_code", Kind.CODE, "TSE code of the município, 5 digits.", "Código do TSE",
               pattern=TSE_CODE, source="CD_MUNICIPIO"),
        Column("municipality_name", Kind.TEXT, "Name of the município, as TSE writes it.", "Município (TSE)",
               source="NM_MUNICIPIO"),
        Column("zone", Kind.CODE, "Electoral zone.", "Zona", pattern=_NUMBER, source="NR_ZONA"),
        Column("section", Kind.CODE, "Section in its zone.", "Seção", pattern=_NUMBER, source="NR_SECAO"),
        Column("section_kind", Kind.TEXT, "Principal, aggregated to another, or distributed; empty outside elections.",
               "Tipo de seção", nullable=True, values=tuple(SECTION_KINDS.values()), source="CD_TIPO_SECAO_AGREGADA"),
        Column("place", Kind.CODE, "Polling place the section votes at; numbers repeat between zones.",
               "Local de votação", pattern=_NUMBER, source="NR_LOCAL_VOTACAO"),
        Column("place_name", Kind.TEXT, "Its name.", "Nome do local", nullable=True, source="NM_LOCAL_VOTACAO"),
        Column("address", Kind.TEXT, "Its address.", "Endereço", nullable=True, source="DS_ENDERECO"),
        Column("neighbourhood", Kind.TEXT, "Its neighbourhood.", "Bairro", nullable=True, source="NM_BAIRRO"),
        Column("latitude", Kind.FLOAT, "Its latitude.", "Latitude", Unit.DEGREES, nullable=True, source="NR_LATITUDE"),
        Column("longitude", Kind.FLOAT, "Its longitude.", "Longitude", Unit.DEGREES, nullable=True,
               source="NR_LONGITUDE"),
        Column("place_kind", Kind.TEXT, "Conventional, for voters in transit, in a prison, or temporary.",
               "Tipo de local", nullable=True, values=tuple(PLACE_KINDS.values()), source="CD_TIPO_LOCAL"),
        Column("place_status", Kind.TEXT, "Its status; blocked places still have voters.", "Situação do local",
               nullable=True, source="DS_SITU_LOCAL_VOTACAO"),
        Column("voters", Kind.INTEGER, "Voters registered in the section; empty where TSE tells none.", "Eleitores",
               Unit.VOTERS, nullable=True, minimum=0, source="QT_ELEITOR_SECAO"),
        Column("original_place", Kind.CODE, "Polling place the section is registered at.", "Local de origem",
               pattern=_NUMBER, source="NR_LOCAL_VOTACAO_ORIGINAL"),
        Column("original_place_name", Kind.TEXT, "Its name.", "Nome do local de origem", nullable=True,
               source="NM_LOCAL_VOTACAO_ORIGINAL"),
        Column("original_address", Kind.TEXT, "Its address.", "Endereço de origem", nullable=True,
               source="DS_ENDERECO_LOCVT_ORIGINAL"),
        Column("lines", Kind.INTEGER, "Lines of the file about the section; of several (a second round, a later "
               "generation, another election) one counts.", "Linhas do arquivo", Unit.COUNT, minimum=1),
        Column("file_name", Kind.TEXT, "The file of the archive that was read.", "Arquivo", nullable=True),
    ),
)  # fmt: skip

# Of the election before only coordinates are wanted, and the names by which a place is known again.
_CURRENT_ONLY = (
    "municipality_name section_kind address neighbourhood place_kind place_status original_place original_place_name "
    "original_address"
).split()
PREVIOUS_SECTION = replace(
    SECTION,
    name="staging.tse_polling_places__previous_section",
    title="Seções eleitorais e seus locais de votação na eleição anterior",
    grain="One electoral section of the election before.",
    columns=tuple(column for column in SECTION.columns if column.name not in _CURRENT_ONLY),
    may_be_empty=True,
)


def conversation(scope: Scope) -> Conversation:
    """The current register; where it is away, the file of the last election that has one. Then, for coordinates
    that the register lacks, the file of the election before. All are national, and asked once for all states.
    """
    last, *earlier = (year for year in range(scope.as_of.year, scope.as_of.year - 6, -1) if year % 2 == 0)
    path = "/perfil_eleitorado/eleitorado_local_votacao_ATUAL.zip"
    answer = yield Request("sections", path, media="zip", shared=True, optional=True)
    if answer is None:
        answer = yield _of_election("sections", last, optional=True)
        if answer is None:
            last, *earlier = earlier
            yield _of_election("sections", last, optional=False)
    elif last < scope.as_of.year:
        earlier = [last]
    yield _of_election("previous", earlier[0], optional=True)


def _of_election(part: str, year: int, *, optional: bool) -> Request:
    path = f"/eleitorado_locais_votacao/eleitorado_local_votacao_{year}.zip"
    return Request(part, path, media="zip", shared=True, optional=optional)


def parse_section(stream: BinaryIO) -> pl.DataFrame:
    """The register, zip or CSV: one row a section, voters counted once. Raises SourceUnsound on no section."""
    return _sections(stream, SECTION)


def parse_previous_section(stream: BinaryIO) -> pl.DataFrame:
    """What PREVIOUS_SECTION has of the election before."""
    return _sections(stream, PREVIOUS_SECTION)


def _sections(stream: BinaryIO, table: Table) -> pl.DataFrame:
    columns = {column.source: column.name for column in table.columns if column.source}
    columns |= {"DT_ELEICAO": "election_on", "NR_TURNO": "round"}
    frames, counts = [], []
    for file_name, member in _members(stream):
        for batch in batches(member, columns=columns, generations=[HEADER], source=NAME):
            rows = _typed(batch).with_columns(pl.lit(file_name, pl.String).alias("file_name"))
            counts.append(rows.group_by(SECTION.key).len("lines"))
            frames.append(rows.filter(~_SECOND_ROUND))
    if not sum(frame.height for frame in frames):
        raise SourceUnsound("no electoral section", where=NAME, action="the file is empty at its source: try later")
    lines = pl.concat(counts).group_by(SECTION.key).agg(pl.col("lines").sum())
    sections = _newest(pl.concat(frames))
    key = list(SECTION.key)
    only_later = lines.join(sections, on=key, how="anti", nulls_equal=True).sort(key)
    demand(only_later, pl.lit(value=False), "a section that only the second round has", key, NAME)
    counted = sections.select(key).join(  # the keys alone: a join of all columns would copy them
        lines, on=key, how="left", nulls_equal=True, validate="1:1", maintain_order="left"
    )
    return staged(table, sections.with_columns(counted["lines"]), NAME)


def _members(stream: BinaryIO) -> Iterator[tuple[str | None, BinaryIO]]:
    """The national file, else each state's and that of voters abroad: never both, they hold the same sections."""
    if stream.read(2) != b"PK":
        stream.seek(0)
        yield None, stream
        return
    try:
        yield _named(zip_member(stream, r"eleitorado_local_votacao_(ATUAL|\d{4}|\d{4}_BRASIL)\.csv", source=NAME))
    except SourceChanged:
        for uf in [*BY_UF, ABROAD]:
            yield _named(zip_member(stream, rf"eleitorado_local_votacao_\d{{4}}_{uf}\.csv", source=NAME))


def _named(member: BinaryIO) -> tuple[str, BinaryIO]:
    return member.name.rsplit("/")[-1], member


_TYPED = {
    **{name: pl.col(name).str.to_date("%d/%m/%Y", strict=True) for name in ("generated_on", "election_on")},
    "tse_municipality_code": pl.col("tse_municipality_code").str.zfill(5),
    **{name: pl.col(name).str.strip_chars_start("0") for name in ("zone", "section", "place")},
    "section_kind": pl.col("section_kind").replace_strict(SECTION_KINDS),
    "place_kind": pl.col("place_kind").replace_strict(PLACE_KINDS),
    "voters": pl.col("voters").cast(pl.Int64),
    "original_place": pl.coalesce("original_place", "place").str.strip_chars_start("0"),
    "original_place_name": pl.coalesce("original_place_name", "place_name"),
    "original_address": pl.coalesce("original_address", "address"),
}


def _typed(text: pl.DataFrame) -> pl.DataFrame:
    """Rows of text as rows of SECTION, of both rounds. What is missing is null, whatever its mark."""
    coordinates = _coordinates(text)
    trimmed = text.with_columns(pl.all().str.strip_chars().str.replace_all(r"\s{2,}", " "))
    told = trimmed.with_columns(pl.when(~pl.all().is_in([*TSE_MISSING, ""])).then(pl.all())).with_columns(coordinates)
    _demand(told, pl.col("round").fill_null("1").str.contains("^[12](º|$)"), "round")
    _demand(told, pl.col("generated_on").is_not_null(), "generated_on")
    _demand(told, pl.col("voters").fill_null("0").str.contains("^[0-9]{1,6}$"), "voters")
    with understood(NAME):
        return told.with_columns(typed.alias(name) for name, typed in _TYPED.items() if name in told.columns)


def _coordinates(text: pl.DataFrame) -> pl.DataFrame:
    """Degrees from comma or point, leading zero or none. A pair is missing where its longitude is: no place in
    Brazil has the longitudes -1, -3 or -4, while those latitudes are real.
    """
    pair = text.select(
        *SECTION.key, pl.col("latitude", "longitude").str.strip_chars().str.replace(",", ".", literal=True)
    )
    told = pair.with_columns(
        pl.when(~pl.col(name).is_in(_NO_COORDINATE)).then(name) for name in ("latitude", "longitude")
    )
    for name in ("latitude", "longitude"):
        _demand(told, pl.col(name).fill_null("0").str.contains(r"^-?([0-9]{1,3}(\.[0-9]*)?|\.[0-9]+)$"), name)
    degrees = told.select(pl.col("latitude", "longitude").cast(pl.Float64))
    located = pl.col("latitude").is_not_null() & ~pl.col("longitude").is_in([-1.0, -3.0, -4.0])
    return degrees.select(pl.when(located).then(name) for name in ("latitude", "longitude"))


_SECOND_ROUND = pl.col("round").fill_null("1").str.starts_with("2")
_NO_COORDINATE = ["", *(mark for mark in TSE_MISSING if mark.startswith("#"))]


def _demand(rows: pl.DataFrame, holds: pl.Expr, column: str) -> None:
    demand(rows, holds, f"{column} is not understood", [*SECTION.key, column], NAME)


def _newest(rows: pl.DataFrame) -> pl.DataFrame:
    """One row a section: the newest by the day it was generated, and of those the ordinary election's (the first).

    Raises SourceChanged where rows equal in both disagree on the voters.
    """
    key, doubled = list(SECTION.key), pl.struct(SECTION.key).is_duplicated()
    again = rows.filter(doubled)
    if again.is_empty():
        return rows
    newest = again.filter(pl.col("generated_on") == pl.col("generated_on").max().over(key))
    first = newest.filter((pl.col("election_on") == pl.col("election_on").min().over(key)).fill_null(value=True))
    agree = pl.col("voters").n_unique().over(key) == 1
    demand(first, agree, "a section twice with different voters", [*key, "voters"], NAME)
    return pl.concat([rows.filter(~doubled), first.unique(key, keep="first", maintain_order=True)])


SOURCE = Source(
    name=NAME,
    title="Eleitorado por local de votação e seção",
    publisher="Tribunal Superior Eleitoral",
    home_page="https://dadosabertos.tse.jus.br/dataset/eleitorado-atual",
    licence="Dados abertos do TSE (Portaria TSE 93/2021): uso livre com citação da fonte",
    cadence="monthly; daily before an election",
    stale_after=75,
    base="tse",
    encoding="cp1252",
    conversation=conversation,
    tables=(
        Staged(SECTION, "sections", parse_section),
        Staged(PREVIOUS_SECTION, "previous", parse_previous_section),
    ),
    dated=(SECTION, "generated_on"),
    smallest=1_000,
    notes="TSE answers 403 to programs that do not say who they are, and at times to all: then place the zip by hand.",
)
