"""A plebiscite's result by section (art. 5º), from TSE's ballot-box reports: a file placed by hand.

A row of the file is an option, and repeats the section's voters: they are counted once per section. The law asks for
the majority of the electorate, not of the valid votes, so the voters are the denominator.
"""

from typing import BinaryIO

import polars as pl

from transforms.answers import demand, staged, understood
from transforms.codes import TSE_CODE
from transforms.columns import UF
from transforms.delimited import batches
from transforms.errors import SourceChanged
from transforms.schema import Column, Kind, Table, Unit
from transforms.sources import Conversation, Request, Scope, Source, Staged

NAME = "tse_plebiscite"
FILE = "plebiscite_sections.csv"
CONSULTATION = "3"  # CD_TIPO_ELEICAO: the file may hold ordinary elections of the day too
OPTIONS = {"1": "yes", "2": "no", "95": "blank", "96": "spoilt"}
_NUMBER = r"^[1-9][0-9]*$"

# Ballot-box reports as published since 2018.
HEADER = (
    "DT_GERACAO HH_GERACAO ANO_ELEICAO CD_TIPO_ELEICAO NM_TIPO_ELEICAO CD_PLEITO DT_PLEITO NR_TURNO CD_ELEICAO "
    "DS_ELEICAO SG_UF CD_MUNICIPIO NM_MUNICIPIO NR_ZONA NR_SECAO NR_LOCAL_VOTACAO CD_CARGO_PERGUNTA "
    "DS_CARGO_PERGUNTA NR_PARTIDO SG_PARTIDO NM_PARTIDO DT_BU_RECEBIDO QT_APTOS QT_COMPARECIMENTO QT_ABSTENCOES "
    "CD_TIPO_URNA DS_TIPO_URNA CD_TIPO_VOTAVEL DS_TIPO_VOTAVEL NR_VOTAVEL NM_VOTAVEL QT_VOTOS NR_URNA_EFETIVADA "
    "CD_CARGA_1_URNA_EFETIVADA CD_CARGA_2_URNA_EFETIVADA CD_FLASHCARD_URNA_EFETIVADA DT_CARGA_URNA_EFETIVADA "
    "DS_CARGO_PERGUNTA_SECAO DS_AGREGADAS DT_ABERTURA DT_ENCERRAMENTO QT_ELEITORES_BIOMETRIA_NH DT_EMISSAO_BU "
    "NR_JUNTA_APURADORA NR_TURMA_APURADORA"
).split()


def _votes(name: str, description: str, label: str) -> Column:
    return Column(name, Kind.INTEGER, description, label, Unit.VOTERS, minimum=0, source="QT_VOTOS")


SECTION = Table(
    name="staging.tse_plebiscite__section",
    title="Resultado de plebiscito por seção",
    grain="One section's answer to one question.",
    key=("election", "question", "tse_municipality_code", "zone", "section"),
    columns=(
        Column("election", Kind.CODE, "TSE's number of the consultation.", "Eleição", pattern=_NUMBER,
               source="CD_ELEICAO"),
        Column("held_on", Kind.DATE, "Day it was held.", "Data", source="DT_PLEITO"),
        Column("question", Kind.CODE, "Number of the question.", "Pergunta", pattern=_NUMBER,
               source="CD_CARGO_PERGUNTA"),
        Column("question_text", Kind.TEXT, "What was asked, in short.", "Assunto", source="DS_CARGO_PERGUNTA"),
        UF.but(source="SG_UF"),
        Column("tse_municipality_code", Kind.CODE, "TSE code of the município.", "Código do TSE", pattern=TSE_CODE,
               source="CD_MUNICIPIO"),
        Column("zone", Kind.CODE, "Electoral zone.", "Zona", pattern=_NUMBER, source="NR_ZONA"),
        Column("section", Kind.CODE, "Section in its zone.", "Seção", pattern=_NUMBER, source="NR_SECAO"),
        Column("voters", Kind.INTEGER, "Voters who could vote in the section.", "Aptos", Unit.VOTERS, minimum=0,
               source="QT_APTOS"),
        Column("turnout", Kind.INTEGER, "Voters who did.", "Comparecimento", Unit.VOTERS, minimum=0,
               source="QT_COMPARECIMENTO"),
        _votes("yes", "Votes for option 1.", "Sim"),
        _votes("no", "Votes for option 2.", "Não"),
        _votes("blank", "Blank votes.", "Brancos"),
        _votes("spoilt", "Spoilt votes.", "Nulos"),
    ),
    may_be_empty=True,
)  # fmt: skip


def conversation(_: Scope) -> Conversation:
    """A file of the inputs folder, if it is there."""
    yield Request(FILE, FILE, media="csv", shared=True, optional=True)


def parse_section(stream: BinaryIO) -> pl.DataFrame:
    """Popular consultations of the file, one row a section and question.

    Raises SourceChanged where the rows of a section disagree, repeat an option, or hold more votes than turnout.
    """
    options = {"CD_TIPO_ELEICAO": "kind", "NR_VOTAVEL": "option", "QT_VOTOS": "votes"}
    columns = {column.source: column.name for column in SECTION.columns if column.source not in {None, "QT_VOTOS"}}
    read = batches(stream, columns={**columns, **options}, generations=[HEADER], source=NAME)
    text = [batch.filter(pl.col("kind").str.strip_chars() == CONSULTATION) for batch in read]
    rows = pl.concat(text) if text else pl.DataFrame()
    if rows.is_empty():
        raise SourceChanged("no row of a popular consultation", where=FILE)
    return staged(SECTION, _by_section(_typed(rows)), NAME)


def _typed(text: pl.DataFrame) -> pl.DataFrame:
    counts = pl.col("voters", "turnout", "votes")
    rows = text.with_columns(pl.all().str.strip_chars())
    whole = pl.all_horizontal(counts.str.contains("^[0-9]{1,7}$").fill_null(value=False))
    demand(rows, whole, "a count is no number", [*SECTION.key, "option"], NAME)
    with understood(NAME):
        return rows.with_columns(
            counts.cast(pl.Int64),
            pl.col("held_on").str.head(10).str.to_date("%d/%m/%Y", strict=True),
            pl.col("tse_municipality_code").str.zfill(5),
            pl.col("zone", "section").str.strip_chars_start("0"),
            pl.col("option").replace_strict(OPTIONS),
        )


def _by_section(rows: pl.DataFrame) -> pl.DataFrame:
    """Options side by side; an option without votes has no row in the file."""
    key = list(SECTION.key)
    once = ~pl.struct([*key, "option"]).is_duplicated()
    demand(rows, once, "an option twice in a section", [*key, "option"], NAME)
    told = [name for name in SECTION.names if name not in {*key, *OPTIONS.values()}]
    agree = pl.struct(told).n_unique().over(key) == 1
    demand(rows, agree, "rows of a section disagree on its voters", [*key, "voters"], NAME)
    sections = rows.group_by(key).agg(
        pl.col(told).first(),
        *(pl.col("votes").filter(pl.col("option") == option).sum().alias(option) for option in OPTIONS.values()),
    )
    counted = pl.sum_horizontal(OPTIONS.values()) <= pl.col("turnout")
    demand(sections, counted & (pl.col("turnout") <= pl.col("voters")), "more votes than voters", key, NAME)
    return sections


SOURCE = Source(
    name=NAME,
    title="Resultado de plebiscito por seção (boletins de urna)",
    publisher="Tribunal Superior Eleitoral",
    home_page="https://dadosabertos.tse.jus.br",
    licence="Dados abertos do TSE (Portaria TSE 93/2021): uso livre com citação da fonte",
    cadence="after a plebiscite",
    stale_after=3650,
    base="inputs",
    encoding="cp1252",
    conversation=conversation,
    tables=(Staged(SECTION, FILE, parse_section),),
    required=False,
    notes=f"Put the state's ballot-box report (bweb_1t_{{UF}}_….csv) in the inputs folder as {FILE}.",
)
