"""`datapackage.json`: the CSV files described for any tool that reads Frictionless data packages (specs v1)."""

import hashlib
import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from transforms.schema import Column, Kind, Table
from transforms.sources import Source
from warehouse.build import Tables
from warehouse.ddl import column_comment, table_comment
from warehouse.export.csv import ASSEMBLY, MACHINE, is_number
from warehouse.export.naming import named
from warehouse.export.portuguese import VOCABULARY, is_worded

FILE = "datapackage.json"
TYPES: Mapping[Kind, str] = {
    Kind.TEXT: "string",
    Kind.CODE: "string",
    Kind.INTEGER: "integer",
    Kind.MONEY: "number",
    Kind.EXACT: "number",
    Kind.RATIO: "number",
    Kind.FLOAT: "number",
    Kind.BOOLEAN: "boolean",
    Kind.DATE: "date",
    Kind.TIMESTAMP: "datetime",
    Kind.BINARY: "string",
}


def write(folder: Path, tables: Tables, sources: Iterable[Source], notice: str) -> None:
    """Describe the CSV files that stand in the export folder."""
    package = {
        "profile": "data-package",
        "name": "emancipa",
        "title": "Triagem de áreas para criação de municípios",
        "description": notice,
        "sources": [
            {"title": f"{source.publisher}: {source.title}", "path": source.home_page}
            for source in sorted(sources, key=lambda source: source.name)
            if source.home_page
        ],
        "resources": [
            *(_resource(folder / file, tables[name][0], brazilian=False) for name, file in MACHINE.items()),
            *(_resource(folder / file, named(tables, name)[0], brazilian=True) for name, file in ASSEMBLY.items()),
        ],
    }
    text = json.dumps(package, ensure_ascii=False, indent=2)
    (folder / FILE).write_text(text + "\n", encoding="utf-8")


def _resource(path: Path, table: Table, *, brazilian: bool) -> dict[str, Any]:
    content = path.read_bytes()
    return {
        "profile": "tabular-data-resource",
        "name": path.stem.replace("_", "-"),
        "path": path.name,
        "title": table.title,
        "description": table_comment(table),
        "format": "csv",
        "mediatype": "text/csv",
        "encoding": "utf-8-sig" if brazilian else "utf-8",
        "bytes": len(content),
        "hash": f"sha256:{hashlib.sha256(content).hexdigest()}",
        "dialect": {
            "delimiter": ";" if brazilian else ",",
            "lineTerminator": "\r\n" if brazilian else "\n",
            "quoteChar": '"',
            "doubleQuote": True,
            "header": True,
        },
        "schema": {
            "fields": [_field(column, brazilian=brazilian) for column in table.columns],
            "primaryKey": [table[name].label if brazilian else name for name in table.key],
            "missingValues": [""],
        },
    }


def _field(column: Column, *, brazilian: bool) -> dict[str, Any]:
    field: dict[str, Any] = {
        "name": column.label if brazilian else column.name,
        "type": TYPES[column.kind],
        "title": column.name if brazilian else column.label,
        "description": column_comment(column),
    }
    if brazilian and is_number(column) and column.kind is not Kind.INTEGER:
        field["decimalChar"] = ","
    if brazilian and column.kind is Kind.DATE:
        field["format"] = "%d/%m/%Y"
    if column.kind is Kind.BOOLEAN:
        field |= {"trueValues": ["sim" if brazilian else "true"], "falseValues": ["não" if brazilian else "false"]}
    if constraints := _constraints(column, translated=brazilian and is_worded(column)):
        field["constraints"] = constraints
    return field


def _constraints(column: Column, *, translated: bool) -> dict[str, Any]:
    values = column.values and [VOCABULARY[value] if translated else value for value in column.values if value]
    # An empty text is written as an empty cell, which a required field may not be.
    required = not column.nullable and column.kind is not Kind.TEXT
    found = {
        "required": required or None,
        "pattern": column.pattern,
        "minimum": None if column.minimum is None else float(column.minimum),
        "maximum": None if column.maximum is None else float(column.maximum),
        "enum": values,
    }
    return {name: value for name, value in found.items() if value is not None}
