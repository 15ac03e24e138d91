"""The Portuguese of every value that exports show: one table of words, one of sentences with a part that varies.

A value of a closed vocabulary without a word here stops the export. Free text (reasons, methods) is translated
sentence by sentence, and stands as it is where a sentence is unknown: `untranslated` lists those, for tests.
"""

import re
from collections.abc import Iterator, Mapping

import polars as pl

from transforms.schema import Column, Kind, Table

# Columns of words without a closed vocabulary: a rule set names its requirements, a source its methods.
PHRASED = ("requirement", "binding_requirement", "reason", "ask", "method", "source", "competent_body")

VOCABULARY: Mapping[str, str] = {
    "": "",
    # requirements and measures
    "population": "população",
    "population_census": "população (Censo 2022)",
    "population_estimate": "população (estimativa)",
    "electorate": "eleitorado",
    "urban_houses": "casas no centro urbano",
    "collection": "arrecadação",
    "collection_brl": "arrecadação",
    "origin": "município de origem",
    # verdicts
    "met": "atende",
    "not_met": "não atende",
    "undetermined": "indeterminado",
    "likely_met": "provavelmente atende",
    "likely_not_met": "provavelmente não atende",
    "eligible": "elegível",
    "ineligible": "não elegível",
    "likely_eligible": "provavelmente elegível",
    "likely_ineligible": "provavelmente não elegível",
    "unknown": "sem indicação",
    "kept": "mantém",
    "lost": "perde",
    "never_had": "já não atendia",
    # comparisons, in the law's own words
    ">": "superior a",
    ">=": "não inferior a",
    "more_than": "superior a",
    "at_least": "não inferior a",
    # evidence
    "certified": "certificado",
    "official": "oficial",
    "derived": "derivado",
    "simulated": "simulado",
    "missing": "sem dado",
    # units
    "persons": "habitantes",
    "voters": "eleitores",
    "houses": "casas",
    "dwellings": "domicílios",
    "BRL": "R$",
    "share": "proporção",
    "count": "quantidade",
    "degrees": "graus",
    "seconds": "segundos",
    "km²": "km²",
    "m": "m",
    "bytes": "bytes",
    "see column unit": "ver coluna Unidade",
    # kinds of area
    "district": "distrito",
    "group": "conjunto de distritos",
    "fusion": "fusão",
    # bodies
    "IBGE": "IBGE",
    "TRE": "TRE",
    "state treasury": "Secretaria da Fazenda do Estado",
    "assembly": "Assembleia Legislativa",
    # types of column, for the dictionary
    "text": "texto",
    "code": "código (texto)",
    "integer": "inteiro",
    "money": "dinheiro (2 decimais)",
    "exact": "número exato",
    "ratio": "razão (4 decimais)",
    "float": "número aproximado",
    "boolean": "sim/não",
    "date": "data",
    "timestamp": "momento (UTC)",
    "binary": "binário",
    # sources
    "ibge_localities": "IBGE, localidades",
    "ibge_estimates": "IBGE, estimativas da população",
    "ibge_census_districts": "IBGE, Censo 2022 por distrito",
    "ibge_census_sectors": "IBGE, Censo 2022 por setor",
    "ibge_district_mesh": "IBGE, malha de distritos 2022",
    "ibge_addresses": "IBGE, CNEFE 2022",
    "tse_polling_places": "TSE, eleitorado por local de votação",
    "tse_municipalities": "TSE, municípios",
    "siconfi_revenue": "Tesouro Nacional, Siconfi",
    "inputs_candidates": "relação de áreas entregue",
    "inputs_certificates": "certidões entregues",
    "inputs_collections": "arquivo da Fazenda estadual",
    "inputs_polling_place_districts": "locais de votação por distrito, entregue",
    "inputs_proposals": "registro de representações",
    # reasons
    "census and estimate disagree": "Censo e estimativa divergem",
    "depends on the definition of revenue": "depende da definição de receita de impostos",
    "no polling place in the district, the TRE must say": "sem local de votação no distrito: o TRE deve informar",
    "no figure": "sem dado",
}

PATTERNS: tuple[tuple[re.Pattern[str], str], ...] = ((re.compile(r"certificate of (.+): (.+)"), r"certidão de \1: \2"),)
SEPARATORS = re.compile(r"(; |\|)")


def in_portuguese(table: Table, rows: pl.DataFrame) -> pl.DataFrame:
    """The columns of a table whose values are words, in Portuguese; booleans as sim and não. Same rows, same order."""
    return rows.select(translated(rows[column.name], column) for column in table.columns if is_worded(column))


def is_worded(column: Column) -> bool:
    """Whether the column holds words to translate, and not names, codes or figures."""
    return column.kind is Kind.BOOLEAN or column.values is not None or column.name in PHRASED


def translated(cells: pl.Series, column: Column) -> pl.Series:
    """One column in Portuguese. Raises on a value of a closed vocabulary that has no word here."""
    if column.kind is Kind.BOOLEAN:
        words = {True: "sim", False: "não"}
        return cells.replace_strict(words, return_dtype=pl.String)
    if column.values is not None and (missing := set(cells.drop_nulls()) - VOCABULARY.keys()):
        raise ValueError(f"{column.name} has no Portuguese for {sorted(missing)}: add it to {__name__}")
    values = cells.drop_nulls().unique()
    return cells.replace_strict({value: sentence(value) for value in values}, return_dtype=pl.String, default=None)


def sentence(text: str) -> str:
    """A text in Portuguese, part by part; an unknown part stands as it is."""
    return "".join(_part(part) or part for part in SEPARATORS.split(text))


def untranslated(table: Table, rows: pl.DataFrame) -> Iterator[str]:
    """The parts of free text that have no Portuguese here."""
    for column in table.columns:
        if is_worded(column) and column.kind is not Kind.BOOLEAN:
            for text in rows[column.name].drop_nulls().unique().sort():
                parts = SEPARATORS.split(text)
                yield from (f"{column.name}: {part}" for part in parts[::2] if _part(part) is None)


def _part(text: str) -> str | None:
    if text in VOCABULARY:
        return VOCABULARY[text]
    matches = ((pattern.fullmatch(text), words) for pattern, words in PATTERNS)
    return next((match.expand(words) for match, words in matches if match), None)
