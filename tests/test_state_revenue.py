"""The state's tax revenue: which line counts, in which year, and when it is unknown."""

import csv
import json
from collections.abc import Mapping
from datetime import UTC, date, datetime
from decimal import Decimal
from io import BytesIO
from pathlib import Path

import polars as pl
import pytest

from flows.cli import call
from transforms.core.state_revenue import TABLE, state_revenue, why_unknown
from transforms.errors import SourceChanged
from transforms.sources import Scope
from transforms.sources.siconfi_revenue import ACCOUNT, DELIVERY, parse_dca, parse_rreo

ES = Scope("ES", date(2026, 11, 30))
GROSS, REFUNDS = "Receitas Brutas Realizadas", "Outras Deduções da Receita"
FUNDEB, SHARES = "Deduções - FUNDEB", "Deduções - Transferências Constitucionais"
TWELVE = "TOTAL (ÚLTIMOS 12 MESES)"
SINCE = datetime(2026, 4, 29, 18, tzinfo=UTC)


def accounts(
    cells: Mapping[tuple[str, str], str], statement: str = "DCA", year: int = 2025, period: int = 0
) -> pl.DataFrame:
    annex = "DCA-Anexo I-C" if statement == "DCA" else "RREO-Anexo 03"
    return ACCOUNT.frame(
        {
            "statement": statement,
            "fiscal_year": year,
            "period": period,
            "state_code": "32",
            "annex": annex,
            "heading": "Padrão",
            "column_name": column,
            "account_code": code,
            "account_name": code,
            "value": Decimal(value),
        }
        for (code, column), value in cells.items()
    )


def deliveries(*listed: tuple[str, int, datetime], year: int = 2025) -> pl.DataFrame:
    return DELIVERY.frame(
        {
            "fiscal_year": year,
            "state_code": "32",
            "institution": "Governo do Estado do Espírito Santo",
            "deliverable": what,
            "period": period,
            "periodicity": "B",
            "status": "HO",
            "status_at": at,
        }
        for what, period, at in listed
    )


DCA_LISTED = ("Balanço Anual (DCA)", 1, SINCE)
RREO_LISTED = ("Relatório Resumido de Execução Orçamentária", 6, datetime(2026, 1, 30, tzinfo=UTC))

TREE = {
    ("RO1.1.0.0.00.0.0", GROSS): "1250.00",  # taxes and fees
    ("RO1.1.1.0.00.0.0", GROSS): "1200.00",
    ("RO1.1.1.0.00.0.0", REFUNDS): "200.00",
    ("RO1.1.1.0.00.0.0", FUNDEB): "150.00",
    ("RO1.1.1.0.00.0.0", SHARES): "250.00",
    ("RO1.1.1.2.00.0.0", GROSS): "300.00",
    ("RO1.1.1.2.00.0.0", SHARES): "100.00",
    ("RO1.1.1.2.51.0.0", GROSS): "300.00",
    ("RO1.1.1.3.00.0.0", GROSS): "110.00",
    ("RO1.1.1.3.00.0.0", REFUNDS): "10.00",
    ("RO1.1.1.3.03.0.0", GROSS): "110.00",
    ("RO1.1.1.3.03.0.0", REFUNDS): "10.00",
    ("RO1.1.1.4.00.0.0", GROSS): "790.00",
    ("RO1.1.1.4.00.0.0", REFUNDS): "190.00",
    ("RO1.1.1.4.00.0.0", FUNDEB): "150.00",
    ("RO1.1.1.4.00.0.0", SHARES): "150.00",
    ("RO1.1.2.0.00.0.0", GROSS): "50.00",  # fees are no taxes
    ("RI1.1.1.0.00.0.0", GROSS): "9999.00",  # between the state's own bodies
}


def amounts(frame: pl.DataFrame) -> dict[str, Decimal]:
    return dict(frame.select("variant", "value").iter_rows())


def test_three_variants_of_the_annual_statement() -> None:
    frame = state_revenue(accounts(TREE), deliveries(DCA_LISTED), ES)
    assert amounts(frame) == {
        "gross": Decimal("1000.00"),
        "without_irrf": Decimal("900.00"),
        "net": Decimal("600.00"),
    }
    assert frame.schema == TABLE.schema
    assert frame.filter(variant="net").row(0, named=True) == {
        "state_code": "32",
        "fiscal_year": 2025,
        "variant": "net",
        "value": Decimal("600.00"),
        "statement": "DCA",
        "method": f"DCA, account 1.1.1.0.00.0.0: {GROSS} − {REFUNDS} − {FUNDEB} − {SHARES}",
        "source": "Siconfi, DCA 2025",
        "provisional": False,
        "status_at": SINCE,
        "warnings": None,
    }


def test_case_33_parent_and_children_summed(shared: Path) -> None:
    with (shared / "cases/33-parent-and-children-summed/dca.csv").open(encoding="utf-8") as lines:
        trap = list(csv.DictReader(lines, delimiter=";"))
    codes = {
        "RO1.1.0.0": "RO1.1.0.0.00.0.0",
        "RO1.1.1.0": "RO1.1.1.0.00.0.0",
        "RO1.1.1.A": "RO1.1.1.4.00.0.0",
        "RO1.1.1.B": "RO1.1.1.2.00.0.0",
        "RO1.1.2.0": "RO1.1.2.0.00.0.0",
    }
    cells = {(codes[row["cod_conta"]], row["coluna"]): row["valor"].replace(",", ".") for row in trap}
    frame = state_revenue(accounts(cells), deliveries(DCA_LISTED), ES)
    assert amounts(frame)["gross"] == Decimal("1000.00")
    assert amounts(frame)["net"] == Decimal("750.00")
    assert "Impostos is 250.00, its parts add up to 0" in frame["warnings"][0]  # the trap has no FUNDEB below it
    del cells["RO1.1.1.2.00.0.0", GROSS]
    short = state_revenue(accounts(cells), deliveries(DCA_LISTED), ES)
    assert f"{GROSS}: Impostos is 1000.00, its parts add up to 700.00" in short["warnings"][0]
    assert amounts(short)["gross"] == Decimal("1000.00")


def test_children_may_differ_by_a_real() -> None:
    frame = state_revenue(accounts(TREE | {("RO1.1.1.4.00.0.0", GROSS): "791.00"}), deliveries(DCA_LISTED), ES)
    assert frame["warnings"].to_list() == [None] * 3
    frame = state_revenue(accounts(TREE | {("RO1.1.1.4.00.0.0", GROSS): "791.01"}), deliveries(DCA_LISTED), ES)
    assert "1201.01" in frame["warnings"][0]


def test_deductions_count_by_their_size() -> None:
    negative = {key: value if key[1] == GROSS else f"-{value}" for key, value in TREE.items()}
    frame = state_revenue(accounts(negative), deliveries(DCA_LISTED), ES)
    assert amounts(frame)["net"] == Decimal("600.00")
    assert frame["warnings"].to_list() == [None] * 3
    mixed = TREE | {("RO1.1.1.0.00.0.0", FUNDEB): "-150.00", ("RO1.1.1.4.00.0.0", FUNDEB): "-150.00"}
    frame = state_revenue(accounts(mixed), deliveries(DCA_LISTED), ES)
    assert amounts(frame)["net"] == Decimal("600.00")
    assert frame["warnings"][0] == "deductions with both signs: taken by their size"


ERA_CODES = [
    (2013, "1.1.1.0.00.00.00", "1.1.1.2.04.30.00"),
    (2013, "RO1.1.1.0.00.00.00", "RO1.1.1.2.04.30.00"),
    (2014, "RO1.1.1.0.00.00.00", "RO1.1.1.2.04.00.00"),
    (2017, "RO1.1.1.0.00.00.00", "RO1.1.1.2.04.00.00"),
    (2018, "RO1.1.1.0.00.0.0", "RO1.1.1.3.03.0.0"),
    (2021, "RO1.1.1.0.00.0.0", "RO1.1.1.3.03.0.0"),
    (2022, "RO1.1.1.0.00.0.0", "RO1.1.1.3.03.0.0"),
    (2030, "RO1.1.1.0.00.0.0", "RO1.1.1.3.03.0.0"),
]


@pytest.mark.parametrize(("year", "taxes", "irrf"), ERA_CODES)
def test_accounts_by_the_code_of_their_era(year: int, taxes: str, irrf: str) -> None:
    gross = "Receitas Realizadas" if year == 2013 else GROSS
    frame = state_revenue(
        accounts({(taxes, gross): "100.00", (irrf, gross): "30.00"}, year=year),
        deliveries(("Balanço Anual (DCA)", 1, datetime(year + 1, 4, 29, tzinfo=UTC)), year=year),
        Scope("ES", date(year + 1, 11, 30)),
    )
    assert amounts(frame)["gross"] == Decimal("100.00")
    assert amounts(frame)["without_irrf"] == Decimal("70.00")


def test_2013_cannot_tell_refunds_from_shares() -> None:
    cells = {("1.1.1.0.00.00.00", "Receitas Realizadas"): "100.00", ("1.1.1.0.00.00.00", "Deduções da Receita"): "40"}
    frame = state_revenue(accounts(cells, year=2013), deliveries(year=2013), Scope("ES", date(2014, 11, 30)))
    assert (amounts(frame)["gross"], amounts(frame)["net"]) == (Decimal("100.00"), Decimal("60.00"))
    assert "gross is before both" in frame["warnings"][0]


@pytest.mark.parametrize(("year", "code"), [(2025, "RO1.1.1.0.00.00.00"), (2017, "RO1.1.1.0.00.0.0"), (2012, "1")])
def test_another_eras_code_is_never_taken(year: int, code: str) -> None:
    scope = Scope("ES", date(year + 1, 11, 30))
    with pytest.raises(SourceChanged, match="Impostos"):
        state_revenue(accounts({(code, GROSS): "100.00"}, year=year), deliveries(), scope)


def test_irrf_booked_under_another_tax_on_income() -> None:
    cells = {key: value for key, value in TREE.items() if not key[0].startswith("RO1.1.1.3.03")}
    frame = state_revenue(accounts(cells), deliveries(DCA_LISTED), ES)
    assert amounts(frame)["without_irrf"] == Decimal("900.00")
    assert frame["warnings"][0] == "no account 1.1.1.3.03.0.0 (IRRF): 1.1.1.3.00.0.0 taken for it"


def test_refunds_weigh_in_a_real_state(shared: Path) -> None:
    """Mato Grosso 2024: of 33.2 thousand million of ICMS, 10.1 are refunds; the fixture has no parent line."""
    fixture = shared / "data/siconfi/fixture_ords_dca_ic_mt_2024_PARCIAL_so_celulas_reais_icms.json"
    body = json.loads(fixture.read_bytes())
    sums: dict[str, Decimal] = {}
    for item in body["items"]:
        sums[item["coluna"]] = sums.get(item["coluna"], Decimal(0)) + Decimal(str(item["valor"]))
    for column, total in sums.items():
        for code in ("RO1.1.1.0.00.0.0", "RO1.1.1.4.00.0.0"):
            body["items"].append(body["items"][0] | {"cod_conta": code, "coluna": column, "valor": float(total)})
    body["count"] = len(body["items"])
    cells = parse_dca(BytesIO(json.dumps(body).encode()))
    listed = deliveries(DCA_LISTED, year=2024).with_columns(state_code=pl.lit("51"))
    frame = state_revenue(cells, listed, Scope("MT", date(2025, 12, 31)))
    assert frame.is_empty()  # delivered in 2026
    frame = state_revenue(cells, listed.clear(), Scope("MT", date(2025, 12, 31)))
    icms, fecp = Decimal("33003111069.92") - Decimal("10114156108.92"), Decimal("197933515.69") - Decimal("5554.23")
    assert amounts(frame)["gross"] == icms + fecp
    assert frame["warnings"][0].endswith("date of delivery unknown")


def report(**taxes: str) -> dict[tuple[str, str], str]:
    names = {name: f"{name}LiquidoExcetoTransferenciasEFUNDEB" for name in ("ICMS", "IPVA", "ITCD", "IRRF", "IPTU")}
    names |= {
        "IBS": "IBSAnexo3",
        "OTHER": "OutrasReceitasTributarias",
        "TOTAL": "ReceitaTributariaLiquidaExcetoTransferenciasEFUNDEB",
    }
    return {(names[name], TWELVE): value for name, value in taxes.items()} | {(names["ICMS"], "<MR>"): "1.00"}


def test_the_sixth_report_until_the_annual_statement_comes() -> None:
    cells = report(ICMS="700.00", IPVA="100.00", ITCD="20.00", IRRF="180.00", OTHER="50.00", TOTAL="1050.00")
    march = Scope("ES", date(2026, 3, 1))
    frame = state_revenue(accounts(cells, "RREO", period=6), deliveries(DCA_LISTED, RREO_LISTED), march)
    assert amounts(frame) == {"gross": Decimal("1000.00"), "without_irrf": Decimal("820.00")}
    assert frame.select("statement", "provisional", "status_at", "warnings").unique().rows() == [
        ("RREO", True, datetime(2026, 1, 30, tzinfo=UTC), None)
    ]


def test_ibs_counts_and_irrf_booked_under_it_is_told() -> None:
    both = report(ICMS="700.00", IPVA="100.00", ITCD="20.00", IRRF="180.00", IBS="5.00")
    frame = state_revenue(accounts(both, "RREO", period=6), deliveries(RREO_LISTED), ES)
    assert amounts(frame) == {"gross": Decimal("1005.00"), "without_irrf": Decimal("825.00")}
    wrong = report(ICMS="700.00", IPVA="100.00", ITCD="20.00", IBS="180.00", TOTAL="900.00")
    frame = state_revenue(accounts(wrong, "RREO", period=6), deliveries(RREO_LISTED), ES)
    assert amounts(frame) == {"gross": Decimal("1000.00"), "without_irrf": Decimal("820.00")}
    assert frame["warnings"][0] == (
        "no IRRF line while IBS is 180.00: that is taken for it|tax revenue is 900.00, its parts add up to 1000.00"
    )


def test_a_report_without_a_tax_is_refused() -> None:
    with pytest.raises(SourceChanged, match="IPVA"):
        state_revenue(accounts(report(ICMS="7", ITCD="2"), "RREO", period=6), deliveries(RREO_LISTED), ES)


@pytest.mark.parametrize("refunds", ["1200.00", "1300.00"])
def test_revenue_of_nothing_is_refused(refunds: str) -> None:
    with pytest.raises(SourceChanged, match="it cannot be"):
        state_revenue(accounts(TREE | {("RO1.1.1.0.00.0.0", REFUNDS): refunds}), deliveries(DCA_LISTED), ES)


def test_case_31_empty_items_is_not_zero(shared: Path) -> None:
    with (shared / "cases/31-empty-items-is-not-zero/resposta.json").open("rb") as body:
        nothing = parse_dca(body)
    assert state_revenue(nothing, deliveries(), ES).is_empty()
    assert why_unknown(nothing, deliveries(), ES) == (
        "no annual statement (DCA) nor closing report (RREO 6) of 2025 delivered by 2026-11-30"
    )
    assert why_unknown(nothing, deliveries(DCA_LISTED), ES).endswith(
        "DCA 2025 is listed as delivered on 2026-04-29 but was not served"
    )
    assert why_unknown(nothing, deliveries(DCA_LISTED), Scope("ES", date(2026, 1, 15))).endswith(
        "DCA 2025 was delivered on 2026-04-29, after 2026-01-15"
    )


def test_why_it_is_not_known_reaches_whoever_has_to_ask(tmp_path: Path) -> None:
    """In January no statement of the year just closed is delivered: the run goes on, and says so in every row."""
    assert call(["run", "--sample", "--as-of", "2026-01-15", "--data", str(tmp_path)]) == 0
    export = tmp_path / "sample/current/export"
    said = "no annual statement (DCA) nor closing report (RREO 6) of 2025 delivered by 2026-01-15"
    for name in ("requirements.csv", "pending.csv"):
        rows = pl.read_csv(export / name, infer_schema=False).filter(requirement="collection")
        reasons = rows.filter(pl.col("reason").is_not_null())["reason"].unique().to_list()
        assert rows.height
        assert all(reason.startswith(said) for reason in reasons)
    assert "sem DCA nem RREO do 6º bimestre de 2025" in (export / "pendencias.csv").read_text(encoding="utf-8-sig")


def test_case_34_partial_year(shared: Path) -> None:
    with (shared / "cases/34-partial-year/receita.csv").open(encoding="utf-8") as lines:
        rreo, dca = csv.DictReader(lines, delimiter=";")
    part = report(ICMS=rreo["impostos"].replace(",", "."), IPVA="0.00", ITCD="0.00", IRRF="0.00")
    partial = accounts(part, "RREO", int(rreo["exercicio"]), int(rreo["periodo"]))
    assert state_revenue(partial, deliveries(), ES).is_empty()
    assert why_unknown(partial, deliveries(), ES).endswith("a report of part of a year is no fiscal year")
    for period in range(1, 6):
        assert state_revenue(accounts(part, "RREO", 2025, period), deliveries(RREO_LISTED), ES).is_empty()
    whole = accounts({("RO1.1.1.0.00.0.0", GROSS): dca["impostos"].replace(",", ".")})
    frame = state_revenue(pl.concat([partial, whole]), deliveries(DCA_LISTED), ES)
    assert frame.filter(variant="gross").select("fiscal_year", "value").rows() == [(2025, Decimal("1000.00"))]
    assert frame["source"].unique().to_list() == ["Siconfi, DCA 2025"]


def test_real_sixth_report_of_the_federal_district(shared: Path) -> None:
    """Its own taxes as a state: the municipal ones that the DF also levies are left out."""
    rows = pl.read_parquet(shared / "data/siconfi/rreo_DF_2024_6.parquet").filter(anexo="RREO-Anexo 03")
    items = rows.select(pl.exclude("^_.*$")).to_dicts()
    cells = parse_rreo(BytesIO(json.dumps({"items": items, "hasMore": False}).encode()))
    frame = state_revenue(cells, deliveries(), Scope("DF", date(2025, 3, 1)))
    assert amounts(frame) == {"gross": Decimal("18799992824.05"), "without_irrf": Decimal("13869084306.53")}
    assert frame["warnings"].unique().to_list() == ["date of delivery unknown"]
