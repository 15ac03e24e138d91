"""The treasury's answers (SICONFI): a state's annual accounts, budget report and deliveries, in the ORDS envelope.

Amounts are simulated, of the real order of magnitude. What must hold, holds: a parent account is the sum of its
children, and ICMS of the DCA less `Outras Deduções`, plus the poverty fund, is ICMS of the RREO's Anexo 03 to the cent.
"""

import json
from collections.abc import Mapping, Sequence
from decimal import Decimal
from urllib.parse import urlencode

from transforms.codes import State

_INSIDE = "https://host-5hrds-scan.prosubnet.vcndados.oraclevcn.com/ords/cdwhprd/siconfi"
GROSS, FUNDEB = "Receitas Brutas Realizadas", "Deduções - FUNDEB"
TRANSFERS, OTHER = "Deduções - Transferências Constitucionais", "Outras Deduções da Receita"
_OF_YEAR = {2024: Decimal("0.93"), 2025: Decimal(1)}  # the years with accounts, relative to 2025
_PEOPLE = 4126854  # `populacao` of the envelope's rows; nobody should use it

_ICMS = (
    "Imposto sobre Operações Relativas à Circulação de Mercadorias e sobre Prestações de Serviços de Transporte "
    "Interestadual e Intermunicipal e de Comunicação"
)
# Leaves of 1.1.1.0 (2022 onwards): gross and other deductions of 2025 in R$, shares for FUNDEB and for municípios.
_TAXES = (
    (
        "1.1.1.2.51.0.0",
        "Imposto sobre a Propriedade de Veículos Automotores",
        "1361204880.15",
        "1204880.15",
        "0.1",
        "0.5",
    ),
    ("1.1.1.2.52.0.0", "Imposto sobre Transmissão Causa Mortis e Doação", "246118300.4", "118300.4", "0.2", "0"),
    ("1.1.1.3.03.0.0", "Imposto sobre a Renda - Retido na Fonte", "1612450330.77", "450330.77", "0", "0"),
    ("1.1.1.4.50.1.0", _ICMS, "22509245678.9", "9245678.9", "0.15", "0.25"),
    ("1.1.1.4.50.2.0", "Adicional ICMS - Fundo Estadual de Combate à Pobreza", "105300000", "300000", "0.2", "0"),
)
_PARENTS = {
    "1.1.1.0.00.0.0": ("Impostos", "1.1.1."),
    "1.1.1.2.00.0.0": ("Impostos sobre o Patrimônio", "1.1.1.2."),
    "1.1.1.3.00.0.0": ("Impostos sobre a Renda e Proventos de Qualquer Natureza", "1.1.1.3."),
    "1.1.1.4.00.0.0": ("Impostos sobre a Produção, Circulação de Mercadorias e Serviços", "1.1.1.4."),
    "1.1.1.4.50.0.0": (_ICMS, "1.1.1.4.50."),
}
_RREO_TAXES = {
    "ICMS": ("1.1.1.4.50.1.0", "1.1.1.4.50.2.0"),
    "IPVA": ("1.1.1.2.51.0.0",),
    "ITCD": ("1.1.1.2.52.0.0",),
    "IRRF": ("1.1.1.3.03.0.0",),
}
_MONTHS = (
    "<MR-11>",
    "<MR-10>",
    "<MR-9>",
    "<MR-8>",
    "<MR-7>",
    "<MR-6>",
    "<MR-5>",
    "<MR-4>",
    "<MR-3>",
    "<MR-2>",
    "<MR-1>",
    "<MR>",
)
_LAST_12 = "TOTAL (ÚLTIMOS 12 MESES)"
_CENT = Decimal("0.01")

Item = dict[str, object]


def accounts(year: int, scale: Decimal = Decimal(1)) -> dict[str, dict[str, Decimal]]:
    """Every account of 1.1.1.0, parents included, by code: the amount of each column. Empty for other years."""
    factor = _OF_YEAR.get(year, Decimal(0)) * scale
    if not factor:
        return {}
    found: dict[str, dict[str, Decimal]] = {}
    for code, _, gross, other, fundeb, transfers in _TAXES:
        less = (Decimal(other) * factor).quantize(_CENT)
        total = (Decimal(gross) * factor).quantize(_CENT)
        base = total - less
        found[code] = {
            GROSS: total,
            FUNDEB: (base * Decimal(fundeb)).quantize(_CENT),
            TRANSFERS: (base * Decimal(transfers)).quantize(_CENT),
            OTHER: less,
        }
    leaves = tuple(found.items())
    for parent, (_, prefix) in _PARENTS.items():
        below = [amounts for code, amounts in leaves if code.startswith(prefix)]
        found[parent] = {column: sum((each[column] for each in below), Decimal(0)) for column in below[0]}
    return dict(sorted(found.items()))


def dca(state: State, year: int, scale: Decimal = Decimal(1)) -> list[Item]:
    """`/dca`, `DCA-Anexo I-C`: one item per account and column that has an amount."""
    names = {code: name for code, name, *_ in _TAXES} | {code: name for code, (name, _) in _PARENTS.items()}
    return [
        {
            "exercicio": year,
            "instituicao": f"Governo do Estado do {state.name}",
            "cod_ibge": int(state.code),
            "uf": state.uf,
            "anexo": "DCA-Anexo I-C",
            "rotulo": "Padrão",
            "coluna": column,
            "cod_conta": f"RO{code}",
            "conta": f"{code} - {names[code]}",
            "valor": amount,
            "populacao": _PEOPLE,
        }
        for code, columns in accounts(year, scale).items()
        for column, amount in columns.items()
        if amount
    ]


def rreo(state: State, year: int, period: int, scale: Decimal = Decimal(1)) -> list[Item]:
    """`/rreo`, `RREO-Anexo 03` of the sixth bimester: twelve months and their total, per tax. Others: nothing."""
    codes = accounts(year, scale)
    if period != 6 or not codes:
        return []
    totals = {
        f"{tax}LiquidoExcetoTransferenciasEFUNDEB": (
            tax,
            sum((codes[c][GROSS] - codes[c][OTHER] for c in parts), Decimal(0)),
        )
        for tax, parts in _RREO_TAXES.items()
    }
    fees = (Decimal("1295140811.39") * scale).quantize(_CENT)
    taxes = sum((amount for _, amount in totals.values()), Decimal(0)) + fees
    lines = {
        "ReceitaTributariaLiquidaExcetoTransferenciasEFUNDEB": ("Impostos, Taxas e Contribuições de Melhoria", taxes),
        **totals,
        "OutrasReceitasTributarias": ("Outros Impostos, Taxas e Contribuições de Melhoria", fees),
        "ReceitaDeTransferenciasConstitucionaisELegais": (
            "Transferências Constitucionais e Legais",
            codes["1.1.1.0.00.0.0"][TRANSFERS],
        ),
        "DeducaoDeReceitaParaFormacaoDoFUNDEB": (
            "Dedução de Receita para Formação do FUNDEB",
            codes["1.1.1.0.00.0.0"][FUNDEB],
        ),
    }
    return [
        {
            "exercicio": year,
            "demonstrativo": "RREO",
            "periodo": period,
            "periodicidade": "B",
            "instituicao": f"Governo do Estado do {state.name}",
            "cod_ibge": int(state.code),
            "uf": state.uf,
            "populacao": _PEOPLE,
            "anexo": "RREO-Anexo 03",
            "esfera": "E",
            "rotulo": "Padrão",
            "coluna": column,
            "cod_conta": code,
            "conta": name,
            "valor": amount,
        }
        for code, (name, total) in lines.items()
        for column, amount in _columns(total, year).items()
    ]


def _columns(total: Decimal, year: int) -> dict[str, Decimal]:
    month = (total / 12).quantize(_CENT)
    months = dict.fromkeys(_MONTHS[:-1], month) | {"<MR>": total - 11 * month}
    return months | {_LAST_12: total, f"PREVISÃO ATUALIZADA {year}": (total * Decimal("0.98")).quantize(_CENT)}


def deliveries(state: State, year: int) -> list[Item]:
    """`/extrato_entregas`: what the state delivered for a year, when, and whether rectified (`RE`)."""
    if year not in _OF_YEAR:
        return []
    budget = "Relatório Resumido de Execução Orçamentária"
    then = year + 1
    rows: list[tuple[str, int, str, str | None, str, str, str | None]] = [
        ("Balanço Anual (DCA)", 1, "A", "HO", f"{then}-04-28T18:12:40Z", "M", None),
        *((budget, n, "B", "HO", f"{year}-{2 * n + 1:02}-29T19:30:11Z", "M", "P") for n in range(1, 6)),
        (budget, 6, "B", "RE", f"{then}-04-16T14:05:02Z", "M", "P"),
        *(
            ("Relatório de Gestão Fiscal", n, "Q", "HO", f"{year}-{4 * n + 1:02}-29T20:01:33Z", "M", "P")
            for n in (1, 2)
        ),
        ("Relatório de Gestão Fiscal", 3, "Q", "HO", f"{then}-01-29T20:01:33Z", "M", "P"),
        ("MSC Agregada", 1, "M", None, f"{year}-02-28T16:07:24Z", "XML", None),
    ]
    return [
        {
            "exercicio": year,
            "cod_ibge": int(state.code),
            "populacao": _PEOPLE,
            "instituicao": f"Governo do Estado do {state.name}",
            "entregavel": report,
            "periodo": period,
            "periodicidade": cycle,
            "status_relatorio": status,
            "data_status": moment,
            "forma_envio": sent,
            "tipo_relatorio": kind,
        }
        for report, period, cycle, status, moment, sent, kind in rows
    ]


def _number(value: object) -> object:
    """Amounts as the API prints them: as few decimals as needed (`39754264807`, `85194032709.7`)."""
    if not isinstance(value, Decimal):
        return value
    return int(value) if value == value.to_integral() else float(value)


def page(items: Sequence[Item], route: str, params: Mapping[str, str], largest: int = 5000) -> bytes:
    """One page in the envelope. `count` is of the page; links lead to a host inside the treasury, as they do there."""
    limit, offset = min(int(params.get("limit", largest)), largest), int(params.get("offset", 0))
    shown = items[offset : offset + limit]
    here = f"{_INSIDE}/tt/{route}?{urlencode(params)}"
    links = [
        {"rel": "self", "href": here},
        {"rel": "describedby", "href": f"{_INSIDE}/metadata-catalog/tt/item"},
        {"rel": "first", "href": here},
    ]
    more = offset + limit < len(items)
    if more:
        links.append({"rel": "next", "href": f"{here}&offset={offset + limit}"})
    body = {
        "items": [{name: _number(value) for name, value in item.items()} for item in shown],
        "hasMore": more,
        "limit": limit,
        "offset": offset,
        "count": len(shown),
        "links": links,
    }
    return json.dumps(body, ensure_ascii=False, separators=(",", ":")).encode()
