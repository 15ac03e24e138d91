"""Files that people download from Siconfi by hand, where the API does not answer: FINBRA (DCA) and RREO as CSV.

Both give text under our column names, decimals with a point; `siconfi_revenue` makes rows of it.
"""

import io
import re
from typing import BinaryIO

import polars as pl

from transforms.delimited import read, zip_member
from transforms.errors import SourceChanged

_FINBRA = {
    "Cod.IBGE": "state_code",
    "Coluna": "column_name",
    "Conta": "account_name",
    "Identificador da Conta": "account_code",
    "Valor": "value",
}
_FINBRA_HEADERS = (
    "Instituição;Cod.IBGE;UF;População;Coluna;Conta;Identificador da Conta;Valor".split(";"),
    "Instituição;Cod.IBGE;UF;População;Coluna;Conta;Valor".split(";"),  # downloaded before 2020
)
_RREO = {
    "exercicio": "fiscal_year",
    "demonstrativo": "statement",
    "periodo": "period",
    "cod_ibge": "state_code",
    "anexo": "annex",
    "rotulo": "heading",
    "coluna": "column_name",
    "cod_conta": "account_code",
    "conta": "account_name",
    "valor": "value",
}
RREO_HEADER = (*list(_RREO)[:3], "periodicidade", "instituicao", "cod_ibge", "uf", "populacao", "anexo", "esfera",
                "rotulo", "coluna", "cod_conta", "conta", "valor")  # fmt: skip


def finbra(stream: BinaryIO) -> pl.DataFrame:
    """The table "Receitas Orçamentárias (Anexo I-C)" of the states, the zip or the CSV in it (Latin-1).

    Lines before the header name the year and the table. The code of an account is its identifier, else the number
    that its name begins with, else (totals) the name. Raises SourceChanged on any other table.
    """
    content = stream.read()
    if content.startswith(b"PK"):
        with zip_member(io.BytesIO(content), r"(?i)finbra.*\.csv", source="FINBRA") as member:
            content = member.read()
    preamble, header, rows = content.partition("Instituição;".encode("cp1252"))
    told = preamble.decode("cp1252", "replace")
    year = re.search(r"Exercício: (20\d\d)\s", told)
    if not header or year is None or "(Anexo I-C)" not in told:
        raise SourceChanged(
            f"not the revenue of an annual statement: it begins {told[:120]!r}",
            where="FINBRA",
            action="download Contas Anuais, Estados/DF, Receitas Orçamentárias (Anexo I-C)",
        )
    text = read(io.BytesIO(header + rows), columns=_FINBRA, generations=_FINBRA_HEADERS, source="FINBRA")
    number = pl.col("account_name").str.extract(r"^(\d+(?:\.\d+)*)")
    return text.with_columns(
        pl.coalesce(pl.col("account_code").str.strip_prefix("siconfi-cor_"), "RO" + number, "account_name").alias(
            "account_code"
        ),
        pl.col("value").str.replace(",", ".", literal=True),
        fiscal_year=pl.lit(year[1]),
        annex=pl.lit("Anexo I-C" if year[1] == "2013" else "DCA-Anexo I-C"),
    )


def rreo(stream: BinaryIO) -> pl.DataFrame:
    """All annexes of a state's report, fields as the API names them (UTF-8)."""
    text = read(stream, columns=_RREO, generations=(RREO_HEADER,), source="RREO", encoding="utf-8")
    return text.with_columns(pl.col("heading").fill_null(""))
