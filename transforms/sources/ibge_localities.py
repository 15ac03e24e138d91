"""IBGE's list of localities: the districts of a state, with the município each belongs to.

The list is the official reference for names; it lags the census by some districts and leads it by others, so core
takes the union of both. Municípios made after 2017 have no micro-region: the state comes from the immediate
region or from the code, never from a walk through `microrregiao`.
"""

from typing import Any, BinaryIO

import polars as pl

from transforms.answers import demand, demand_codes, from_json, from_sheet, staged, understood
from transforms.codes import BY_CODE, UF_OF_CODE
from transforms.columns import DISTRICT, DISTRICT_NAME, MUNICIPALITY, MUNICIPALITY_NAME, UF
from transforms.errors import SourceUnavailable
from transforms.schema import Table
from transforms.sources import Conversation, Request, Scope, Source, Staged

NAME = "ibge_localities"

DISTRICTS = Table(
    name="staging.ibge_localities__district",
    title="Distritos segundo o cadastro de localidades do IBGE",
    grain="One row per district of IBGE's list of localities.",
    key=("district_code",),
    columns=(
        DISTRICT.but(source="id"),
        DISTRICT_NAME.but(source="nome"),
        MUNICIPALITY.but(source="municipio.id"),
        MUNICIPALITY_NAME.but(source="municipio.nome"),
        UF.but(source="municipio.regiao-imediata.regiao-intermediaria.UF.sigla"),
    ),
)

_DTB = {
    "Código de Distrito Completo": "district_code",
    "Nome_Distrito": "district_name",
    "Código Município Completo": "municipality_code",
    "Nome_Município": "municipality_name",
    "UF": "uf",
}


def conversation(scope: Scope) -> Conversation:
    """One question: the districts of the state. An empty list is a failure of the source, not an empty state."""
    answer = yield Request(part="districts.json", path=f"/v1/localidades/estados/{scope.uf}/distritos")
    if answer is None or not from_json(answer, NAME):
        raise SourceUnavailable(f"IBGE lists no district of {scope.uf}", where=NAME, action="try again later")


def parse_district(stream: BinaryIO) -> pl.DataFrame:
    """The API's answer: a list of districts, one district alone, or none."""
    body = from_json(stream, NAME)
    with understood(NAME):
        rows = [_district(found) for found in (body if isinstance(body, list) else [body])]
        return _checked(pl.DataFrame(rows, schema=DISTRICTS.schema, strict=True))


def parse_dtb(stream: BinaryIO) -> pl.DataFrame:
    """The same list as a spreadsheet (Divisão Territorial Brasileira, `RELATORIO_DTB_BRASIL_DISTRITO_*.xls`).

    Placed by hand where the API does not answer.
    """
    _, rows = from_sheet(stream, r"DTB.*distrito", _DTB, f"{NAME} DTB")
    with understood(NAME):
        return _checked(rows.with_columns(uf=pl.col("uf").replace_strict(UF_OF_CODE)))


def _district(found: Any) -> dict[str, str]:
    municipality = found["municipio"]
    region = (municipality.get("regiao-imediata") or {}).get("regiao-intermediaria") or {}
    code = str(municipality["id"])
    return {
        "district_code": str(found["id"]),
        "district_name": found["nome"],
        "municipality_code": code,
        "municipality_name": municipality["nome"],
        "uf": region["UF"]["sigla"] if region.get("UF") else BY_CODE[code[:2]].uf,
    }


def _checked(rows: pl.DataFrame) -> pl.DataFrame:
    """The rows as declared, if each district is of its município and each município of its state."""
    table = staged(DISTRICTS, rows, NAME)
    demand_codes(table, NAME)
    of_state = pl.col("municipality_code").str.head(2).replace_strict(UF_OF_CODE) == pl.col("uf")
    demand(table, of_state, "a município of another state", ["municipality_code", "uf"], NAME)
    return table


SOURCE = Source(
    name=NAME,
    title="Localidades: distritos e municípios",
    publisher="IBGE",
    home_page="https://servicodados.ibge.gov.br/api/docs/localidades",
    licence="Dados abertos do IBGE, uso livre com citação da fonte",
    cadence="when districts or municípios change, a few times a year",
    stale_after=180,
    base="ibge_api",
    encoding="utf-8",
    conversation=conversation,
    tables=(Staged(DISTRICTS, "districts.json", parse_district), Staged(DISTRICTS, "dtb/", parse_dtb)),
    notes="GET only. Ids are numbers here and text in the aggregates API. An unknown state is an empty list.",
)
