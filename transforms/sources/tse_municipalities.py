"""TSE: the official table of municípios, TSE's codes beside IBGE's. Places are joined by it, never by name.

It was wrong once (April 2026: Boa Esperança do Norte, in Mato Grosso, with a code of the DF), and tables that circulate
are wrong in rows that look right, so `faults` lists what cannot be; whoever uses the table looks there first.
"""

from typing import BinaryIO

import polars as pl

from transforms.answers import staged, understood
from transforms.codes import TSE_CODE, UF_OF_CODE, is_municipality
from transforms.columns import MUNICIPALITY, MUNICIPALITY_NAME, STATE_CODE, UF
from transforms.delimited import read, zip_member
from transforms.errors import SourceUnsound
from transforms.names import comparable
from transforms.schema import Column, Kind, Table
from transforms.sources import Conversation, Request, Scope, Source, Staged

NAME = "tse_municipalities"
UNLISTED, ABSENT = "not in IBGE's list", "no TSE code"  # faults that a new município has for a while
HEADER = (
    "DT_GERACAO HH_GERACAO CD_UF_TSE CD_UF_IBGE SG_UF NM_UF CD_MUNICIPIO_TSE NM_MUNICIPIO_TSE CD_MUNICIPIO_IBGE "
    "NM_MUNICIPIO_IBGE"
).split()

MUNICIPALITIES = Table(
    name="staging.tse_municipalities__municipality",
    title="Códigos de município do TSE e do IBGE",
    grain="One município (also the DF and Fernando de Noronha), as the TSE pairs its code with IBGE's.",
    key=("tse_municipality_code",),
    columns=(
        Column("tse_municipality_code", Kind.CODE, "TSE code, 5 digits.", "Código do TSE", pattern=TSE_CODE,
               source="CD_MUNICIPIO_TSE"),
        Column("tse_name", Kind.TEXT, "Name, as TSE writes it.", "Nome (TSE)", source="NM_MUNICIPIO_TSE"),
        MUNICIPALITY.but(source="CD_MUNICIPIO_IBGE"),
        MUNICIPALITY_NAME.but(source="NM_MUNICIPIO_IBGE"),
        STATE_CODE.but(source="CD_UF_IBGE"),
        UF.but(source="SG_UF"),
        Column("generated_on", Kind.DATE, "Day TSE generated the row.", "Gerado em", source="DT_GERACAO"),
    ),
)  # fmt: skip


def conversation(_: Scope) -> Conversation:
    """One zip for the country, made anew each week."""
    yield Request("municipalities", "/municipio_tse_ibge/municipio_tse_ibge.zip", media="zip", shared=True)


def parse_municipality(stream: BinaryIO) -> pl.DataFrame:
    """The zip, or the CSV in it: one row a município. TSE codes come with and without their leading zero."""
    is_zip = stream.read(2) == b"PK"
    stream.seek(0)
    member = zip_member(stream, r"municipio_tse_ibge\.csv", source=NAME) if is_zip else stream
    columns = {column.source: column.name for column in MUNICIPALITIES.columns if column.source}
    text = read(member, columns=columns, generations=[HEADER], source=NAME)
    if text.is_empty():
        raise SourceUnsound("no município", where=NAME, action="the file is empty at its source: try later")
    with understood(NAME):
        rows = text.with_columns(pl.all().str.strip_chars()).with_columns(
            pl.col("tse_municipality_code").str.zfill(5),
            pl.col("generated_on").str.to_date("%d/%m/%Y", strict=True),
        )
    return staged(MUNICIPALITIES, rows, NAME)


def faults(crosswalk: pl.DataFrame, official: pl.DataFrame | None = None) -> pl.DataFrame:
    """What is wrong in pairs of codes, a row each: uf, tse_municipality_code, municipality_code, fault.

    `crosswalk` has uf, tse_municipality_code, tse_name, municipality_code. `official` is IBGE's list of the
    municípios of one or more states (municipality_code, municipality_name); only those are held against it.
    """
    code = pl.col("municipality_code")
    possible = [found for found in crosswalk["municipality_code"].unique() if is_municipality(found)]
    checks = {
        "not a code that IBGE could give": ~code.is_in(possible),
        "a code of another state": code.str.head(2).replace_strict(UF_OF_CODE, default=None) != pl.col("uf"),
        "an IBGE code twice": code.is_duplicated(),
        "a TSE code twice": pl.col("tse_municipality_code").is_duplicated(),
    }
    found = [
        crosswalk.filter(wrong.fill_null(value=True)).select(*_FAULTY, fault=pl.lit(fault))
        for fault, wrong in checks.items()
    ]
    if official is not None:
        found.append(_against(crosswalk, official))
    return pl.concat(found).sort(*_FAULTY, "fault", nulls_last=True)


def _against(crosswalk: pl.DataFrame, official: pl.DataFrame) -> pl.DataFrame:
    """Codes that IBGE's list lacks, municípios of it without a TSE code, and names of another município of the
    state: tables exchange the codes of neighbours in the alphabet. A name that the list does not know is none.
    """
    code, state = pl.col("municipality_code"), pl.col("municipality_code").str.head(2).alias("state")
    known = official.select(code, state, name=comparable(pl.col("municipality_name")))
    namesakes = known.unique(["state", "name"], keep="none").rename({"municipality_code": "namesake"})
    pairs = (
        crosswalk.with_columns(state, name=comparable(pl.col("tse_name")))
        .join(known.select("state").unique(), on="state", how="semi")
        .join(namesakes, on=["state", "name"], how="left", validate="m:1")
    )
    unknown = pairs.join(known, on="municipality_code", how="anti").with_columns(fault=pl.lit(UNLISTED))
    exchanged = pairs.filter(pl.col("namesake") != code).with_columns(
        fault=pl.format("the name is that of {}", pl.col("namesake"))
    )
    uf = pl.col("state").replace_strict(UF_OF_CODE)
    absent = known.join(crosswalk, on="municipality_code", how="anti").with_columns(
        uf.alias("uf"), tse_municipality_code=pl.lit(None, pl.String), fault=pl.lit(ABSENT)
    )
    return pl.concat(rows.select(*_FAULTY, "fault") for rows in (unknown, exchanged, absent))


_FAULTY = ("uf", "tse_municipality_code", "municipality_code")


SOURCE = Source(
    name=NAME,
    title="Códigos oficiais de UF e municípios segundo o TSE e o IBGE",
    publisher="Tribunal Superior Eleitoral",
    home_page=("https://dadosabertos.tse.jus.br/dataset/codigos-oficiais-de-uf-e-municipios-segundo-o-tse-e-o-ibge"),
    licence="Dados abertos do TSE (Portaria TSE 93/2021): uso livre com citação da fonte",
    cadence="weekly, on Sundays",
    stale_after=90,
    base="tse",
    encoding="cp1252",
    conversation=conversation,
    tables=(Staged(MUNICIPALITIES, "municipalities", parse_municipality),),
    dated=(MUNICIPALITIES, "generated_on"),
    largest=100_000_000,
)
