"""The data dictionary, from the declarations: `warehouse/dictionary.md`, and `dicionario.md` in Portuguese.

Both are kept in the repository so that they can be read there; `stale` tells which no longer say what the
declarations say, and CI asks it. The same words are in the DuckDB file's comments and in `meta.column`.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from transforms.schema import Column, Table
from warehouse.ddl import TYPES, column_comment, sentence
from warehouse.export.portuguese import VOCABULARY

FOLDER = Path(__file__).parent


@dataclass(frozen=True, slots=True)
class Language:
    """How the dictionary speaks: its file, its fixed words, and what it says of a column."""

    file: str
    title: str
    preface: str
    key: str
    warning: str
    heads: tuple[str, ...]
    empty: str
    describe: Callable[[Column], str]
    introduce: Callable[[Table], str]
    schemas: Mapping[str, str]


def _in_portuguese(column: Column) -> str:
    parts = [sentence(column.label)]
    if column.unit:
        parts.append(f"Unidade: {VOCABULARY[column.unit.value]}.")
    if column.values:
        words = (
            f"{value} ({VOCABULARY[value]})" if VOCABULARY.get(value, value) != value else value
            for value in column.values
        )
        parts.append(f"Valores: {', '.join(word or '(vazio)' for word in words)}.")
    if column.source:
        parts.append(f"Coluna na fonte: {column.source}.")
    return " ".join(parts)


ENGLISH = Language(
    file="dictionary.md",
    title="Data dictionary",
    preface=(
        "Every table and view of `emancipa.duckdb`, written by `emancipa dictionary` from the declarations: change "
        "those, not this file. `mart.*` is the stable contract. Moments are UTC. Codes are text. "
        "Parquet copies have the same columns. A staging table of polygons, or of more than a million rows, is in "
        "neither: release.json names it in `not_published`."
    ),
    key="Key",
    warning="Warning",
    heads=("Column", "Type", "May be empty", "Description"),
    empty="yes",
    describe=column_comment,
    introduce=lambda table: sentence(table.grain),
    schemas={
        "staging": "As the sources have it: one row a source row, of the state only",
        "core": "Entities and measures, with bounds and evidence",
        "mart": "Verdicts and views for readers",
        "meta": "What the warehouse says of itself",
    },
)
PORTUGUESE = Language(
    file="dicionario.md",
    title="Dicionário de dados",
    preface=(
        "Todas as tabelas e visões de `emancipa.duckdb`, escritas por `emancipa dictionary` a partir das declarações: "
        "altere-as, e não este arquivo. `mart.*` é o contrato estável. Momentos em UTC. Códigos são texto. "
        "Uma tabela de staging de polígonos, ou de mais de um milhão de linhas, não entra: release.json a nomeia em "
        "`not_published`. As descrições completas, em inglês, estão em `dictionary.md` e nos comentários do banco."
    ),
    key="Chave",
    warning="Atenção",
    heads=("Coluna", "Tipo", "Pode faltar", "Descrição"),
    empty="sim",
    describe=_in_portuguese,
    introduce=lambda table: sentence(table.title),
    schemas={
        "staging": "Como as fontes trazem: uma linha por linha da fonte, só do estado",
        "core": "Entidades e medidas, com limites e evidência",
        "mart": "Resultados e visões para consulta",
        "meta": "O que o banco diz de si mesmo",
    },
)
LANGUAGES = (ENGLISH, PORTUGUESE)


def markdown(tables: Iterable[Table], language: Language) -> str:
    """The dictionary of these tables and views, schema by schema."""
    by_schema: dict[str, list[Table]] = {schema: [] for schema in language.schemas}
    for table in sorted(tables, key=lambda table: table.name):
        by_schema[table.schema_name].append(table)
    parts = [f"# {language.title}", language.preface]
    for schema, found in by_schema.items():
        if found:
            parts.append(f"## {schema}: {language.schemas[schema]}")
            parts += [_section(table, language) for table in found]
    return "\n\n".join(parts) + "\n"


def _section(table: Table, language: Language) -> str:
    lines = [
        f"### {table.name}",
        language.introduce(table),
        f"{language.key}: {', '.join(f'`{name}`' for name in table.key)}.",
    ]
    if language is ENGLISH:
        lines += [f"{language.warning}: {sentence(warning)}" for warning in table.warnings]
    rows = [language.heads, ("---",) * len(language.heads)]
    rows += [
        (
            f"`{column.name}`",
            TYPES[column.kind],
            language.empty if column.nullable else "",
            language.describe(column),
        )
        for column in table.columns
    ]
    grid = "\n".join("| " + " | ".join(cell.replace("|", "\\|") for cell in row) + " |" for row in rows)
    return "\n\n".join([*lines, grid])


def write(tables: Iterable[Table], folder: Path = FOLDER) -> list[Path]:
    """Both files, anew; returns their paths."""
    tables = list(tables)
    paths = [folder / language.file for language in LANGUAGES]
    for path, language in zip(paths, LANGUAGES, strict=True):
        path.write_text(markdown(tables, language), encoding="utf-8")
    return paths


def stale(tables: Iterable[Table], folder: Path = FOLDER) -> list[Path]:
    """The files that do not say what the declarations say: missing or outdated."""
    tables = list(tables)
    paths = ((folder / language.file, language) for language in LANGUAGES)
    return [
        path
        for path, language in paths
        if not path.exists() or path.read_text(encoding="utf-8") != markdown(tables, language)
    ]
