"""Brazilian place names, for comparison only: what is shown is always the name as its publisher writes it.

Sources differ in case, accents (composed or not), apostrophes, hyphens and spellings that changed over the years.
Places are joined by code; a name is used only where no code exists, within one state or município, and never
guessed by likeness: what does not match is listed as unmatched, what matches twice is refused.
"""

from collections.abc import Sequence

import polars as pl

from transforms.errors import UsageError

# State, a spelling still found in other registers, and IBGE's in the Census 2022. Edition 2026-11.
_ALIASES = """
BA|Muquém de São Francisco|Muquém do São Francisco
BA|Santa Teresinha|Santa Terezinha
BA|Una|Unas
CE|Itapagé|Itapajé
GO|Bom Jesus|Bom Jesus de Goiás
MG|Barão de Monte Alto|Barão do Monte Alto
MG|Brasópolis|Brazópolis
MG|Dona Eusébia|Dona Euzébia
MG|São Thomé das Letras|São Tomé das Letras
MT|Poxoréo|Poxoréu
MT|Santo Antônio do Leverger|Santo Antônio de Leverger
PA|Eldorado dos Carajás|Eldorado do Carajás
PA|Santa Isabel do Pará|Santa Izabel do Pará
PB|Campo de Santana|Tacima
PE|Belém de São Francisco|Belém do São Francisco
PE|São Caetano|São Caitano
PR|Munhoz de Mello|Munhoz de Melo
RJ|Parati|Paraty
RN|Arez|Arês
RN|Assú|Açu
RN|Augusto Severo|Campo Grande
RN|Boa Saúde|Januário Cicco
RN|Presidente Juscelino|Serra Caiada
RO|Alvorada do Oeste|Alvorada D'Oeste
RO|Espigão do Oeste|Espigão D'Oeste
SE|Amparo de São Francisco|Amparo do São Francisco
SE|Gracho Cardoso|Graccho Cardoso
SP|Embu|Embu das Artes
SP|Florínia|Florínea
SP|Moji Mirim|Mogi Mirim
SP|São Luís do Paraitinga|São Luiz do Paraitinga
TO|Fortaleza do Tabocão|Tabocão
"""
ALIASES = tuple(tuple(line.split("|")) for line in _ALIASES.strip().splitlines())  # uf, old, IBGE's


def comparable(name: pl.Expr) -> pl.Expr:
    """A name in the form in which sources agree: lower case, no accents, single spaces, `D'Oeste` as `doeste`."""
    return (
        name.str.normalize("NFD")
        .str.replace_all(r"\p{M}", "")
        .str.to_lowercase()
        .str.replace_all(r"['’‘`´ʼ′]", "'")
        .str.replace_all(r"[^\w']+", " ")
        .str.replace_all(r"\bd[' ]+([aeiouh])", "d$1")
        .str.replace_all("'", "", literal=True)
        .str.replace_all(r"\s+", " ")
        .str.strip_chars()
    )


def current(name: pl.Expr, uf: pl.Expr) -> pl.Expr:
    """A município's comparable name, old spellings replaced by IBGE's of that state."""
    table = pl.DataFrame(ALIASES, schema=["uf", "old", "official"], orient="row").select(
        (pl.col("uf") + " " + comparable(pl.col("old"))).alias("old"), comparable(pl.col("official"))
    )
    plain = comparable(name)
    return (uf + " " + plain).replace_strict(table["old"], table["official"], default=plain)


def matched(places: pl.DataFrame, official: pl.DataFrame, code: str, within: Sequence[str]) -> pl.DataFrame:
    """`places` (columns `within`, uf and name) with the official code, null where no official name is equal.

    One row in, one row out. Raises UsageError where a name has several codes: a name is no key.
    """
    keys = [*within, "_name"]
    wanted = places.with_columns(_name=current(pl.col("name"), pl.col("uf")))
    named = official.select(*within, code, _name=current(pl.col("name"), pl.col("uf"))).join(
        wanted, on=keys, how="semi"
    )
    twice = named.filter(pl.struct(keys).is_duplicated()).sort(*keys, code)
    if not twice.is_empty():
        name, codes = twice["_name"][0], twice.filter(pl.struct(keys) == pl.struct(keys).first())[code]
        raise UsageError(
            f"ambiguous key: {name!r} ({len(codes)}) is the name of {', '.join(codes)}",
            action="use codes, or names within their município",
        )
    return wanted.join(named, on=keys, how="left", validate="m:1", maintain_order="left").drop("_name")
