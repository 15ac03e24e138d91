"""Tesouro Nacional, Siconfi: the annual statement (DCA) and the budget report (RREO) that a state declares.

The list of deliveries is asked first: it says what was delivered and since when, which an empty answer, that is no
zero, does not. A rectified statement replaces the one before it, under the same name. Files downloaded by hand
(siconfi_files) give the same rows.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from decimal import Decimal
from typing import Any, BinaryIO

import polars as pl

from transforms.answers import demand, staged
from transforms.codes import BY_CODE
from transforms.columns import STATE_CODE
from transforms.errors import SourceChanged
from transforms.ords import Item, page, pages
from transforms.schema import Column, Kind, Table, Unit
from transforms.sources import Conversation, Scope, Source, Staged, siconfi_files

NAME = "siconfi_revenue"
CENT, LARGEST = Decimal("0.01"), Decimal(10) ** 16  # R$: what Decimal(18, 2) holds

_FISCAL_YEAR = Column(
    "fiscal_year", Kind.INTEGER, "Fiscal year of the statement.", "Exercício", Unit.COUNT, source="exercicio"
)
_PERIOD = Column(
    "period",
    Kind.INTEGER,
    "Two-month period of the RREO, 1 to 6; 0 for the annual statement.",
    "Período",
    Unit.COUNT,
    minimum=0,
    source="periodo",
)
_STATE = STATE_CODE.but(source="cod_ibge")

ACCOUNT = Table(
    name="staging.siconfi_revenue__account",
    title="Siconfi: células da DCA (Anexo I-C) e do RREO (Anexo 3)",
    grain="One cell of a statement: an account in a column.",
    key=("state_code", "statement", "fiscal_year", "period", "annex", "heading", "account_code", "column_name"),
    columns=(
        Column("statement", Kind.TEXT, "Annual statement (DCA) or budget report (RREO).", "Demonstrativo",
               values=("DCA", "RREO"), source="demonstrativo"),
        _FISCAL_YEAR,
        _PERIOD,
        _STATE,
        Column("annex", Kind.TEXT, "Annex of the statement.", "Anexo", source="anexo"),
        Column("heading", Kind.TEXT, "Heading of the annex's block.", "Rótulo", source="rotulo"),
        Column("column_name", Kind.TEXT, "Column of the annex.", "Coluna", source="coluna"),
        Column("account_code", Kind.TEXT, "Code of the account: RO budgetary, RI between the state's own bodies; "
               "the RREO uses words.", "Código da conta", source="cod_conta"),
        Column("account_name", Kind.TEXT, "Name of the account; spelling varies by year.", "Conta", source="conta"),
        Column("value", Kind.MONEY, "Amount of the cell, in reais; null where the source wrote none.", "Valor",
               Unit.BRL, nullable=True, source="valor"),
    ),
    may_be_empty=True,
)  # fmt: skip

DELIVERY = Table(
    name="staging.siconfi_revenue__delivery",
    title="Siconfi: extrato de entregas",
    grain="One delivery of a body of the state; a rectified one replaces the one before it.",
    key=("state_code", "fiscal_year", "institution", "deliverable", "periodicity", "period"),
    columns=(
        _FISCAL_YEAR,
        _STATE,
        Column("institution", Kind.TEXT, "Body that delivered.", "Instituição", source="instituicao"),
        Column("deliverable", Kind.TEXT, "What was delivered.", "Entregável", source="entregavel"),
        _PERIOD,
        Column("periodicity", Kind.TEXT, "A annual, B two-monthly, Q four-monthly, M monthly.", "Periodicidade",
               source="periodicidade"),
        Column("status", Kind.TEXT, "HO accepted, RE rectified; empty where the source says none.", "Situação",
               nullable=True, source="status_relatorio"),
        Column("status_at", Kind.TIMESTAMP, "Since when.", "Data da situação", nullable=True, source="data_status"),
    ),
    may_be_empty=True,
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Statement:
    """A kind of statement: its name, what the list of deliveries calls it, and the period that closes a year."""

    name: str
    deliverable: str
    period: int | None

    def annex(self, year: int) -> str:
        """The annex that holds tax revenue. In 2013 the DCA's had no prefix."""
        if self.name == "RREO":
            return "RREO-Anexo 03"
        return "Anexo I-C" if year == 2013 else "DCA-Anexo I-C"


DCA = Statement("DCA", "Balanço Anual (DCA)", None)
RREO = Statement("RREO", "Relatório Resumido de Execução Orçamentária", 6)


def delivered_at(deliveries: pl.DataFrame, statement: Statement, scope: Scope) -> datetime | None:
    """Since when the statement that closes the scope's fiscal year stands as delivered, be it after `as_of`."""
    found = deliveries.filter(
        pl.col("state_code") == scope.state_code,
        pl.col("fiscal_year") == scope.fiscal_year,
        pl.col("deliverable") == statement.deliverable,
        pl.col("status").is_in(["HO", "RE"]),
        statement.period is None or pl.col("period") == statement.period,
    )
    latest = found["status_at"].max()
    return latest if isinstance(latest, datetime) else None


def conversation(scope: Scope) -> Conversation:
    """Deliveries of the last closed year; then its DCA, else its sixth RREO, each only if delivered by `as_of`.

    An annual statement that is listed but not served yet leaves the word to the RREO.
    """
    year, ente = str(scope.fiscal_year), scope.state_code
    whose = {"exercicio": year, "cod_ibge": ente}
    asked = {"an_referencia": year, "id_ente": ente}
    listed = yield from pages(f"deliveries/{year}", "/extrato_entregas", asked, whose, source=NAME)
    deliveries = _deliveries(listed)
    for statement in (DCA, RREO):
        since = delivered_at(deliveries, statement, scope)
        if since is None or since.date() > scope.as_of:
            continue
        annex, name = statement.annex(scope.fiscal_year), statement.name.lower()
        asked = {"an_exercicio": year, "id_ente": ente, "no_anexo": annex}
        echo = {**whose, "anexo": annex}
        if statement is RREO:
            asked |= {"nr_periodo": "6", "co_tipo_demonstrativo": "RREO"}
            echo |= {"periodo": "6", "demonstrativo": "RREO"}
        if (yield from pages(f"{name}/{year}", f"/{name}", asked, echo, source=NAME)):
            return


def _field(item: Item, name: str) -> Any:
    if name not in item:
        raise SourceChanged(f"a row without {name}: it has {sorted(item)}", where=NAME)
    return item[name]


def _text(item: Item, name: str, *, nullable: bool = False) -> str | None:
    value = _field(item, name)
    if value is None and nullable:
        return None
    if not isinstance(value, str) or value != value.encode("utf-8", "ignore").decode():  # no lone surrogates
        raise SourceChanged(f"{name} is {value!r}, not text", where=NAME)
    return value.strip()


def _whole(item: Item, name: str) -> int:
    value = _field(item, name)
    if not isinstance(value, int) or isinstance(value, bool) or not 0 <= value < 10**7:
        raise SourceChanged(f"{name} is {value!r}, not a small whole number", where=NAME)
    return value


def _state_code(item: Item) -> str:
    code = str(_whole(item, "cod_ibge"))
    if code not in BY_CODE:
        raise SourceChanged(f"cod_ibge {code} is no state", where=NAME)
    return code


def _money(item: Item) -> Decimal | None:
    value = _field(item, "valor")
    if value is None:
        return None
    if not isinstance(value, int | Decimal) or isinstance(value, bool):
        raise SourceChanged(f"valor is {value!r}, not a number", where=NAME)
    amount = Decimal(value)
    if abs(amount) >= LARGEST or amount != amount.quantize(CENT):
        raise SourceChanged(f"valor {value} is not an amount in reais and cents", where=NAME)
    return amount.quantize(CENT)


def _moment(item: Item, name: str) -> datetime | None:
    text = _text(item, name, nullable=True)
    try:
        moment = datetime.fromisoformat(text) if text else None
        return moment and (moment.astimezone(UTC) if moment.tzinfo else moment.replace(tzinfo=UTC))
    except (ValueError, OverflowError) as error:
        raise SourceChanged(f"{name} is {text!r}, not a moment", where=NAME) from error


def _deliveries(items: Sequence[Item]) -> pl.DataFrame:
    rows = [
        {
            "fiscal_year": _whole(item, "exercicio"),
            "state_code": _state_code(item),
            "institution": _text(item, "instituicao"),
            "deliverable": _text(item, "entregavel"),
            "period": _whole(item, "periodo") if item.get("periodo") is not None else 0,
            "periodicity": _text(item, "periodicidade"),
            "status": _text(item, "status_relatorio", nullable=True),
            "status_at": _moment(item, "data_status"),
        }
        for item in items
    ]
    newest_last = DELIVERY.frame(rows).sort("status_at", nulls_last=False, maintain_order=True)
    return DELIVERY.conform(newest_last.unique(DELIVERY.key, keep="last", maintain_order=True))


def _accounts(items: Sequence[Item], statement: Statement) -> pl.DataFrame:
    rows = ACCOUNT.frame(
        {
            "statement": statement.name,
            "fiscal_year": _whole(item, "exercicio"),
            "period": _whole(item, "periodo") if statement is RREO else 0,
            "state_code": _state_code(item),
            "annex": _text(item, "anexo"),
            "heading": _text(item, "rotulo", nullable=True) or "",
            "column_name": _text(item, "coluna"),
            "account_code": _text(item, "cod_conta"),
            "account_name": _text(item, "conta"),
            "value": _money(item),
        }
        for item in items
    )
    return staged(ACCOUNT, rows, NAME)


def parse_delivery(stream: BinaryIO) -> pl.DataFrame:
    """`/extrato_entregas`: one row a delivery; where one is listed twice, the newest status stands."""
    return _deliveries(page(stream, source=NAME)[0])


def parse_dca(stream: BinaryIO) -> pl.DataFrame:
    """One page of `/dca`: one row a cell, reais with cents."""
    return _accounts(page(stream, source=NAME)[0], DCA)


def parse_rreo(stream: BinaryIO) -> pl.DataFrame:
    """One page of `/rreo`: one row a cell, reais with cents."""
    return _accounts(page(stream, source=NAME)[0], RREO)


_AS_TEXT = {
    "statement": "DCA|RREO",
    "fiscal_year": "20[0-9][0-9]",
    "period": "[0-6]",
    "state_code": "|".join(BY_CODE),
    "value": r"-?[0-9]{1,16}(\.[0-9]{1,2})?",
}


def parse_finbra(stream: BinaryIO) -> pl.DataFrame:
    """FINBRA's file of the states' revenue: cells of the DCA."""
    text = siconfi_files.finbra(stream)
    constant = {"statement": DCA.name, "period": "0", "heading": "Padrão"}
    return _from_text(text.with_columns(pl.lit(value).alias(name) for name, value in constant.items()))


def parse_rreo_csv(stream: BinaryIO) -> pl.DataFrame:
    """A state's RREO as CSV: the cells of Annex 3."""
    return _from_text(siconfi_files.rreo(stream).filter(pl.col("annex") == RREO.annex(0)))


def _from_text(text: pl.DataFrame) -> pl.DataFrame:
    """Raises SourceChanged on what is no code or no amount in reais and cents, and where there is no row."""
    for name, pattern in _AS_TEXT.items():
        demand(text, pl.col(name).str.contains(f"^(?:{pattern})$"), f"{name} is not understood", [name], NAME)
    if text.is_empty():
        raise SourceChanged("no row of tax revenue", where=NAME)
    return staged(ACCOUNT, text, NAME)


SOURCE = Source(
    name=NAME,
    title="Siconfi: contas anuais (DCA) e relatórios de execução (RREO) dos estados",
    publisher="Secretaria do Tesouro Nacional",
    home_page="https://siconfi.tesouro.gov.br",
    licence="Dados públicos (Lei 12.527/2011, Decreto 8.777/2016): uso livre com citação da fonte",
    cadence="RREO two-monthly, DCA yearly (due 30 April); both rectified at any time",
    stale_after=62,
    base="siconfi",
    encoding="utf-8",
    conversation=conversation,
    tables=(
        Staged(DELIVERY, "deliveries/", parse_delivery),
        Staged(ACCOUNT, "dca/", parse_dca),
        Staged(ACCOUNT, "rreo/", parse_rreo),
        Staged(ACCOUNT, "finbra/", parse_finbra),
        Staged(ACCOUNT, "rreo_csv/", parse_rreo_csv),
    ),
    dated=(DELIVERY, "status_at"),
    largest=200_000_000,
    notes="At most a request each 1.5 s: the service answers 429, without Retry-After, to faster ones. By hand: "
    "FINBRA's CSV or zip as part finbra/<name>, an RREO as CSV as part rreo_csv/<name>.",
)
