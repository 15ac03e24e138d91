"""IBGE's yearly population estimates (aggregate 6579), for a state and its municípios.

Which year is a decision of the run, never of the API: the latest that had been published by `as_of`, which the
API dates as `modificacao`. It lists a year before it has it: an empty list with status 200, or figures that are all
`...`, is a year not published yet, and the one before it is asked for. Figures are text; `-` is zero and the other
markers are kept. There are no estimates of districts.
"""

import re
from collections.abc import Generator
from datetime import date, datetime
from typing import Any, BinaryIO

import polars as pl

from transforms.answers import demand, from_json, from_sheet, staged, understood, without_footnotes
from transforms.codes import BY_CODE, BY_UF, STATES, is_municipality
from transforms.columns import MARKER
from transforms.errors import SourceChanged, SourceUnavailable
from transforms.numbers import count, missing_marker
from transforms.schema import Column, Kind, Table, Unit
from transforms.sidra import flat_rows, is_flat
from transforms.sources import Conversation, Request, Scope, Source, Staged

NAME = "ibge_estimates"
AGGREGATE, VARIABLE = "6579", "9324"
PATH = f"/v3/agregados/{AGGREGATE}/periodos"
_LEVELS = {"N3": "state", "N6": "municipality"}
_WAIT = "try again later"
_FIELDS = ("level", "location_code", "location_name", "year", "figure")
_CODE_OF_NAME = {state.name: state.code for state in STATES}
_DOU_STATES = {"BRASIL E UNIDADES DA FEDERAÇÃO": "location_name", "POPULAÇÃO ESTIMADA": "figure"}
_DOU_MUNICIPALITIES = {
    "UF": "uf",
    "COD. UF": "state_code",
    "COD. MUNIC": "sequence",
    "NOME DO MUNICÍPIO": "location_name",
    "POPULAÇÃO ESTIMADA": "figure",
}

YEAR = Column("year", Kind.INTEGER, "Year of the estimate (1 July).", "Ano", Unit.COUNT, minimum=2001, source="id")
PERIODS = Table(
    name="staging.ibge_estimates__period",
    title="Anos com estimativa de população publicada",
    grain="One row per year that IBGE has estimated.",
    key=("year",),
    columns=(
        YEAR,
        Column("modified", Kind.DATE, "Day IBGE last changed that year's estimates.", "Modificado em",
               source="modificacao"),
    ),
    may_be_empty=True,
)  # fmt: skip
POPULATION = Table(
    name="staging.ibge_estimates__population",
    title="População estimada de estados e municípios",
    grain="One row per state or município, and year.",
    key=("location_code", "year"),
    columns=(
        Column("level", Kind.TEXT, "Whether the row is a state or a município.", "Nível",
               values=tuple(_LEVELS.values()), source="localidade.nivel.id"),
        Column("location_code", Kind.CODE, "IBGE code: 2 digits of a state, 7 of a município.", "Código",
               pattern=r"^([1-5]\d|[1-5]\d{6})$", source="localidade.id"),
        Column("location_name", Kind.TEXT, "Name, as the source writes it.", "Nome", source="localidade.nome"),
        YEAR.but(source="serie"),
        Column("population", Kind.INTEGER, "Residents estimated at 1 July; null where a marker stands.",
               "População estimada", Unit.PERSONS, nullable=True, minimum=0, source="serie"),
        MARKER,
    ),
)  # fmt: skip


def conversation(scope: Scope) -> Conversation:
    """The years published, then the newest of them as of the run's date: the state, and its municípios.

    A year that has no figures of either gives way to the one before it, and that is told.
    """
    answer = yield Request(part="periods.json", path=PATH, shared=True)
    years = published(parse_period(answer), scope.as_of) if answer else []
    if not years:
        raise SourceUnavailable(f"no estimate had been published by {scope.as_of}", where=NAME)
    for year in years:
        if (yield from _whole(year, scope)):
            return unpublished(years[0], year) if year < years[0] else ""
    raise SourceUnavailable(f"the estimates of {years[0]} are not published yet", where=NAME, action=_WAIT)


def _whole(year: int, scope: Scope) -> Generator[Request, BinaryIO | None, bool]:
    """Ask for one year; whether there are figures of both the state and municípios."""
    for part, places in (("state", f"N3[{scope.state_code}]"), ("municipalities", f"N6[N3[{scope.state_code}]]")):
        answer = yield Request(
            part=f"population/{part}.json",
            path=f"{PATH}/{year}/variaveis/{VARIABLE}",
            params={"localidades": places},
        )
        if answer is None or not _has_figures(answer, year):
            return False
    return True


def _has_figures(answer: BinaryIO, year: int) -> bool:
    try:
        return parse_population(answer).filter(pl.col("year") == year)["population"].count() > 0
    except SourceUnavailable:
        return False


def published(periods: pl.DataFrame, as_of: date) -> list[int]:
    """The years whose estimates had been published by a date, newest first."""
    years: list[int] = periods.filter(pl.col("modified") <= as_of)["year"].sort(descending=True).to_list()
    return years


def unpublished(newest: int, used: int) -> str:
    """What to tell of a year that is listed and has no figures."""
    return f"no figures of {newest} yet (período {newest} ainda não publicado): the estimates of {used} serve"


def parse_period(stream: BinaryIO) -> pl.DataFrame:
    """The years that exist, each with the day it was last changed (dd/mm/yyyy)."""
    body = from_json(stream, NAME)
    with understood(NAME):
        rows = [
            {
                "year": int(period["id"]),
                "modified": datetime.strptime(period["modificacao"], "%d/%m/%Y").date(),  # noqa: DTZ007 a day
            }
            for period in body
        ]
        return staged(PERIODS, pl.DataFrame(rows, schema=PERIODS.schema), NAME)


def parse_population(stream: BinaryIO) -> pl.DataFrame:
    """Estimates of one or more places and years, as the aggregates API nests them or as SIDRA's flat rows."""
    body = from_json(stream, NAME)
    if not body:
        raise SourceUnavailable("the period is not published yet: an empty answer", where=NAME, action=_WAIT)
    with understood(NAME):
        return _checked(_flat(body) if is_flat(body) else _nested(body))


def parse_dou(stream: BinaryIO) -> pl.DataFrame:
    """The workbook IBGE publishes with the official gazette (`estimativa_dou_*.xls`), placed by hand.

    Its year stands in the title. Codes are text in some rows and numbers in others; notes follow the last row.
    """
    where = f"{NAME} DOU"
    title, states = from_sheet(stream, "BRASIL E UFs", _DOU_STATES, where)
    stream.seek(0)
    _, municipalities = from_sheet(stream, "Municípios", _DOU_MUNICIPALITIES, where)
    year = re.search(r"DE JULHO DE (20\d\d)", title)
    if year is None:
        raise SourceChanged(f"no reference date in the title {title[:120]!r}", where=where)
    name = pl.col("location_name")
    is_state = name.is_in(list(_CODE_OF_NAME))  # the other rows are Brazil, the regions and notes
    is_row = pl.col("uf").is_in(list(BY_UF))
    notes = municipalities.filter(is_row.cum_sum() < is_row.sum(), ~is_row)
    demand(notes, pl.lit(value=False), "rows of no state amid the rows of municípios", ["uf"], where)
    with understood(where):
        rows = pl.concat(
            (
                states.with_columns(without_footnotes(name))
                .filter(is_state)
                .select(
                    pl.lit("N3").alias("level"),
                    name.replace_strict(_CODE_OF_NAME).alias("location_code"),
                    name,
                    "figure",
                ),
                municipalities.filter(is_row).select(
                    pl.lit("N6").alias("level"),
                    (pl.col("state_code") + pl.col("sequence").str.zfill(5)).alias("location_code"),
                    without_footnotes(name),
                    "figure",
                ),
            )
        )
        table = _checked(rows.with_columns(without_footnotes(pl.col("figure")), year=pl.lit(year[1])))
    demand(table, pl.col("level").eq("state").sum() == len(STATES), "not every state", ["location_code"], where)
    return table


def _nested(body: Any) -> pl.DataFrame:
    """The aggregates API: variables, then results, then places, each with a figure a year."""
    _demand_variable({variable["id"] for variable in body})
    rows = [
        (place["nivel"]["id"], place["id"], place["nome"], year, figure)
        for variable in body
        for result in variable["resultados"]
        for series in result["series"]
        for place in (series["localidade"],)
        for year, figure in series["serie"].items()
    ]
    return pl.DataFrame(rows, schema=dict.fromkeys(_FIELDS, pl.String), orient="row", strict=True)


def _flat(body: Any) -> pl.DataFrame:
    """SIDRA: one row a figure, its place under the heading of its level."""
    rows = flat_rows(body, NAME)
    _demand_variable(set(rows["Variável (Código)"]))
    place = "Município" if "Município" in rows.columns else "Unidade da Federação"
    return rows.select(
        ("N" + pl.col("Nível Territorial (Código)")).alias("level"),
        pl.col(f"{place} (Código)").alias("location_code"),
        pl.col(place).alias("location_name"),
        pl.col("Ano").alias("year"),
        pl.col("Valor").alias("figure"),
    )


def _demand_variable(found: set[str]) -> None:
    if found - {VARIABLE}:
        raise SourceChanged(f"variables {sorted(found)} came, {VARIABLE} was asked for", where=NAME)


def _checked(rows: pl.DataFrame) -> pl.DataFrame:
    """Rows of text as the table declares them, if every code is possible at its level."""
    figure = pl.col("figure")
    table = staged(
        POPULATION,
        rows.with_columns(
            pl.col("level").replace_strict(_LEVELS),
            population=count(figure),
            marker=missing_marker(figure),
        ),
        NAME,
    )
    code = pl.col("location_code")
    known = [found for found in table["location_code"] if is_municipality(found) or found in BY_CODE]
    fits = code.is_in(known) & (code.str.len_chars() == pl.when(level="state").then(2).otherwise(7))
    demand(table, fits, "a code that cannot be at its level", ["level", "location_code"], NAME)
    return table


SOURCE = Source(
    name=NAME,
    title="Estimativas da população residente",
    publisher="IBGE",
    home_page="https://sidra.ibge.gov.br/tabela/6579",
    licence="Dados abertos do IBGE, uso livre com citação da fonte",
    cadence="yearly, at the end of August; not in census years",
    stale_after=400,
    base="ibge_api",
    encoding="utf-8",
    conversation=conversation,
    tables=(
        Staged(PERIODS, "periods.json", parse_period),
        Staged(POPULATION, "population/", parse_population),
        Staged(POPULATION, "dou/", parse_dou),
    ),
    dated=(POPULATION, "year"),
    notes="A wrong parameter or too large a question is a bare status 500; an unpublished year an empty list.",
)
