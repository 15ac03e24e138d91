"""The state's tax revenue of the last closed year ("receita estadual de impostos", LC 1/1967 art. 2º, IV).

The law does not define it, so three variants stand side by side and a verdict that differs between them is not given:
gross of what the state passes on (the main one), the same without the income tax it withholds from its own payroll,
and net of FUNDEB and of the municípios' shares. Accounts are found by the code of their era, never by name, and only
the one line "Impostos" counts: summing it with its children would double it. No statement, no row: never zero.
"""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from decimal import Decimal

import polars as pl

from transforms.columns import METHOD, SOURCE, STATE_CODE
from transforms.errors import SourceChanged
from transforms.schema import Column, Kind, Table, Unit
from transforms.sources import Scope
from transforms.sources.siconfi_revenue import DCA, RREO, Statement, delivered_at

TABLE = Table(
    name="core.state_revenue",
    title="Receita estadual de impostos",
    grain="One definition of the state's tax revenue of the last closed year.",
    key=("state_code", "fiscal_year", "variant"),
    columns=(
        STATE_CODE,
        Column("fiscal_year", Kind.INTEGER, "The last closed fiscal year.", "Exercício", Unit.COUNT),
        Column(
            "variant",
            Kind.TEXT,
            "gross of transfers; the same without the income tax withheld (IRRF); or net of FUNDEB and of the "
            "municípios' shares.",
            "Definição",
            values=("gross", "without_irrf", "net"),
        ),
        Column("value", Kind.MONEY, "Tax revenue.", "Valor", Unit.BRL, minimum=Decimal("0.01")),
        Column(
            "statement",
            Kind.TEXT,
            "Annual statement (DCA), or the budget report of the sixth two-month period (RREO).",
            "Demonstrativo",
            values=("DCA", "RREO"),
        ),
        METHOD,
        SOURCE,
        Column("provisional", Kind.BOOLEAN, "Whether the annual statement is still to come.", "Provisório"),
        Column(
            "status_at",
            Kind.TIMESTAMP,
            "Since when the statement stands as delivered; empty for a file placed by hand.",
            "Entregue em",
            nullable=True,
        ),
        Column("warnings", Kind.TEXT, "What in the statement does not add up, joined by |.", "Alertas", nullable=True),
    ),
    may_be_empty=True,  # nothing delivered yet: unknown
)

TOLERANCE = Decimal("1.00")  # R$: between an account and the sum of its children

Cells = Mapping[tuple[str, str], Decimal]  # (account code, column) → amount; an absent cell is absent


@dataclass(frozen=True, slots=True)
class Era:
    """How the DCA's Annex I-C names tax revenue from a year on. The ICMS codes of 2022 changed neither account."""

    first: int
    taxes: str
    irrf: str
    income: str  # parent of IRRF; a state has no other tax on income
    gross: str = "Receitas Brutas Realizadas"
    refunds: str | None = "Outras Deduções da Receita"
    shared: tuple[str, ...] = ("Deduções - FUNDEB", "Deduções - Transferências Constitucionais")


ERAS = (
    Era(2018, "1.1.1.0.00.0.0", "1.1.1.3.03.0.0", "1.1.1.3.00.0.0"),
    Era(2014, "1.1.1.0.00.00.00", "1.1.1.2.04.00.00", "1.1.1.2.04.00.00"),
    Era(2013, "1.1.1.0.00.00.00", "1.1.1.2.04.30.00", "1.1.1.2.04.00.00",
        gross="Receitas Realizadas", refunds=None, shared=("Deduções da Receita",)),
)  # fmt: skip

TWELVE_MONTHS = "TOTAL (ÚLTIMOS 12 MESES)"
ICMS, IPVA, ITCD, IRRF, IPTU, ISS, ITBI = (
    f"{tax}LiquidoExcetoTransferenciasEFUNDEB" for tax in ("ICMS", "IPVA", "ITCD", "IRRF", "IPTU", "ISS", "ITBI")
)
IBS, TAX_REVENUE, OTHER_TAXES = (
    "IBSAnexo3",
    "ReceitaTributariaLiquidaExcetoTransferenciasEFUNDEB",
    "OutrasReceitasTributarias",
)


@dataclass(slots=True)
class Revenue:
    """Variant → amount and method, and what does not add up."""

    amounts: dict[str, tuple[Decimal, str]] = field(default_factory=dict)
    warnings: list[str] = field(default_factory=list)


def state_revenue(accounts: pl.DataFrame, deliveries: pl.DataFrame, scope: Scope) -> pl.DataFrame:
    """The variants of the state's tax revenue of the last closed year, reais with cents; no row where unknown.

    From the DCA, else from the sixth RREO (provisional, without the net variant); neither if delivered after
    `as_of`. Raises SourceChanged where a statement lacks the line "Impostos" or gives nothing.
    """
    for statement in (DCA, RREO):
        cells = _cells(accounts, statement, scope)
        since = delivered_at(deliveries, statement, scope)
        if cells and (since is None or since.date() <= scope.as_of):
            revenue = annual(cells, scope.fiscal_year) if statement is DCA else twelve_months(cells)
            if since is None:
                revenue.warnings.append("date of delivery unknown")
            return TABLE.frame(_rows(revenue, statement, since, scope))
    return TABLE.frame()


def why_unknown(accounts: pl.DataFrame, deliveries: pl.DataFrame, scope: Scope) -> str:
    """Why `state_revenue` has no row: a sentence for the reader."""
    year, reasons = scope.fiscal_year, list[str]()
    for statement in (DCA, RREO):
        since = delivered_at(deliveries, statement, scope)
        if since and since.date() > scope.as_of:
            reasons.append(f"{statement.name} {year} was delivered on {since.date()}, after {scope.as_of}")
        elif since:
            reasons.append(f"{statement.name} {year} is listed as delivered on {since.date()} but was not served")
    if not accounts.filter(pl.col("state_code") == scope.state_code).is_empty() and not reasons:
        reasons.append("a report of part of a year is no fiscal year")
    return f"no annual statement (DCA) nor closing report (RREO 6) of {year} delivered by {scope.as_of}" + (
        f": {'; '.join(reasons)}" if reasons else ""
    )


def _cells(accounts: pl.DataFrame, statement: Statement, scope: Scope) -> Cells:
    """The state's cells of the statement that closes the year, without those between its own bodies (RI…)."""
    found = accounts.filter(
        pl.col("state_code") == scope.state_code,
        pl.col("fiscal_year") == scope.fiscal_year,
        pl.col("statement") == statement.name,
        statement.period is None or pl.col("period") == statement.period,
        ~pl.col("account_code").str.starts_with("RI"),
    )
    return cells_of(found)


def cells_of(accounts: pl.DataFrame) -> Cells:
    """Cells of one statement by code (2013's come with and without the prefix RO) and column."""
    rows = accounts.drop_nulls("value").select(pl.col("account_code").str.replace("^RO", ""), "column_name", "value")
    return {(code, column): value for code, column, value in rows.iter_rows()}


def annual(cells: Cells, year: int) -> Revenue:
    """From the DCA: gross receipts − |other deductions| of "Impostos"; IRRF likewise; net also without |shares|."""
    era = next((era for era in ERAS if era.first <= year), None)
    if era is None or (era.taxes, era.gross) not in cells:
        raise SourceChanged(
            f"no account {era.taxes if era else 'known'} (Impostos) in the DCA of {year}",
            where="siconfi_revenue, DCA Anexo I-C",
            action="the Treasury's account codes have changed: look for Impostos and add the era",
        )
    gross = _received(cells, era, era.taxes)
    shared = sum((abs(cells.get((era.taxes, column), Decimal(0))) for column in era.shared), Decimal(0))
    irrf, warnings = _income_tax(cells, era)
    base = f"DCA, account {era.taxes}: {era.gross}" + (f" − {era.refunds}" if era.refunds else "")
    revenue = Revenue(warnings=[*warnings, *_oddities(cells, era)])
    revenue.amounts["gross"] = gross, base
    revenue.amounts["without_irrf"] = gross - irrf, f"{base}; without IRRF (account {era.irrf})"
    revenue.amounts["net"] = gross - shared, " − ".join([base, *era.shared])
    return revenue


def _received(cells: Cells, era: Era, code: str) -> Decimal:
    refunds = cells.get((code, era.refunds), Decimal(0)) if era.refunds else Decimal(0)
    return cells.get((code, era.gross), Decimal(0)) - abs(refunds)


def _income_tax(cells: Cells, era: Era) -> tuple[Decimal, list[str]]:
    """IRRF; where a state booked it under another tax on income, that group."""
    irrf, group = _received(cells, era, era.irrf), _received(cells, era, era.income)
    if (era.irrf, era.gross) in cells:
        odd = abs(group - irrf) > TOLERANCE and (era.income, era.gross) in cells
        return irrf, [f"taxes on income ({group}) are more than IRRF ({irrf})"] if odd else []
    return group, [f"no account {era.irrf} (IRRF): {era.income} taken for it"]


def _oddities(cells: Cells, era: Era) -> Iterable[str]:
    """Where the line "Impostos" is not its children's sum, and where deductions carry both signs."""
    child = re.compile(rf"{re.escape(era.taxes[:6])}[1-9]{re.escape(era.taxes[7:])}")
    for column in (era.gross, *([era.refunds] if era.refunds else []), *era.shared):
        children = [value for (code, name), value in cells.items() if name == column and child.fullmatch(code)]
        parent, total = cells.get((era.taxes, column), Decimal(0)), sum(children, Decimal(0))
        if abs(parent - total) > TOLERANCE:
            yield f"{column}: Impostos is {parent}, its parts add up to {total}"
    deductions = [value for (code, name), value in cells.items() if name != era.gross and code.startswith("1.1.1.")]
    if min(deductions, default=0) < 0 < max(deductions, default=0):
        yield "deductions with both signs: taken by their size"
    if era.refunds is None:
        yield "refunds are not told apart from shares: gross is before both"


def twelve_months(cells: Cells) -> Revenue:
    """From the RREO's Annex 3, whatever its window of twelve months: the state's own taxes, gross of transfers.

    Only the sixth period's window is a fiscal year: the caller chooses. There is no net variant.
    """
    told = {code: value for (code, column), value in cells.items() if column == TWELVE_MONTHS}
    if absent := [code for code in (ICMS, IPVA, ITCD) if code not in told]:
        raise SourceChanged(f"no {', '.join(absent)} in the twelve months", where="siconfi_revenue, RREO Anexo 3")
    own = [told.get(code, Decimal(0)) for code in (ICMS, IPVA, ITCD, IRRF, IBS)]
    gross = sum(own, Decimal(0))
    irrf, warnings = told.get(IRRF), list[str]()
    if irrf is None:
        irrf = told.get(IBS, Decimal(0))
        warnings.append(f"no IRRF line{f' while IBS is {irrf}: that is taken for it' if irrf > 0 else ''}")
    if TAX_REVENUE in told:
        others = sum((told.get(code, Decimal(0)) for code in (OTHER_TAXES, IPTU, ISS, ITBI)), Decimal(0))
        if abs(told[TAX_REVENUE] - others - gross) > TOLERANCE:
            warnings.append(f"tax revenue is {told[TAX_REVENUE]}, its parts add up to {gross + others}")
    base = "RREO Anexo 3, last 12 months: ICMS + IPVA + ITCD"
    revenue = Revenue(warnings=warnings)
    revenue.amounts["gross"] = gross, f"{base} + IRRF" + (" + IBS" if IBS in told else "")
    revenue.amounts["without_irrf"] = gross - irrf, base + (" + IBS" if IBS in told and IRRF in told else "")
    return revenue


def _rows(
    revenue: Revenue, statement: Statement, since: datetime | None, scope: Scope
) -> Iterable[Mapping[str, object]]:
    for variant, (value, method) in revenue.amounts.items():
        if value <= 0:
            raise SourceChanged(
                f"tax revenue {scope.uf} {scope.fiscal_year} ({variant}) is {value}: it cannot be",
                where=f"siconfi_revenue, {statement.name}",
            )
        yield {
            "state_code": scope.state_code,
            "fiscal_year": scope.fiscal_year,
            "variant": variant,
            "value": value,
            "statement": statement.name,
            "method": method,
            "source": f"Siconfi, {statement.name} {scope.fiscal_year}",
            "provisional": statement is RREO,
            "status_at": since,
            "warnings": "|".join(revenue.warnings) or None,
        }
