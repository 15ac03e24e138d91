"""The views of sql/marts/*.sql, declared like tables so that they are commented and documented like tables.

A view's header says what its SQL cannot: `-- title:` (Portuguese), `-- grain:`, `-- key:`, `-- warning:`, and
`-- column NAME: label | description | unit` for a column that no table it reads declares. Every other column
keeps the declaration it has in those tables; one without a declaration, or with two, stops the build.
"""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from importlib.resources import files

import duckdb

from transforms.schema import Column, Kind, Table, Unit
from warehouse.ddl import TYPES, create_table, quoted

HEADER = re.compile(r"^-- (title|grain|key|warning|column (?P<name>\w+)): (?P<text>.+)$")
READS = re.compile(r"\b((?:staging|core|mart|meta)\.\w+)\b")
KINDS = {duck: kind for kind, duck in TYPES.items() if kind is not Kind.CODE}


@dataclass(frozen=True, slots=True)
class View:
    """One file of sql/marts: its name, its SELECT, and what its header says."""

    name: str
    select: str
    header: Mapping[str, tuple[str, ...]] = field(hash=False)
    columns: Mapping[str, Column] = field(hash=False)

    @property
    def reads(self) -> list[str]:
        return sorted(set(READS.findall(self.select)))

    @property
    def statement(self) -> str:
        return f"CREATE VIEW {quoted(*self.name.split('.'))} AS\n{self.select}"


def published() -> list[View]:
    """Every view of sql/marts, by name."""
    folder = files("sql") / "marts"
    found = sorted((path for path in folder.iterdir() if path.name.endswith(".sql")), key=lambda path: path.name)
    return [read(f"mart.{path.name.removesuffix('.sql')}", path.read_text(encoding="utf-8")) for path in found]


def read(name: str, text: str) -> View:
    """One view from its file's text."""
    header: dict[str, tuple[str, ...]] = {}
    columns: dict[str, Column] = {}
    body: list[str] = []
    for line in text.strip().splitlines():
        match = HEADER.match(line) if not body else None
        if match is None:
            body.append(line)
        elif column := match["name"]:
            label, description, *unit = (part.strip() for part in match["text"].split("|"))
            columns[column] = Column(
                column, Kind.TEXT, description, label, Unit(unit[0]) if unit else None, nullable=True
            )
        else:
            header[match[1]] = (*header.get(match[1], ()), match["text"].strip())
    if missing := {"title", "grain", "key"} - header.keys():
        raise ValueError(f"sql/marts: {name} says nothing of its {', '.join(sorted(missing))}")
    return View(name, "\n".join(body).strip(), header, columns)


def create(database: duckdb.DuckDBPyConnection, views: Iterable[View], tables: Iterable[Table]) -> list[Table]:
    """Make the views where the tables already stand. Returns their declarations."""
    known = {table.name: table for table in tables}
    made = []
    for view in views:
        database.execute(view.statement)
        described = database.execute(f"DESCRIBE {quoted(*view.name.split('.'))}").fetchall()
        made.append(declaration(view, {name: type_ for name, type_, *_ in described}, known))
    return made


def declarations(tables: Iterable[Table], views: Iterable[View] | None = None) -> list[Table]:
    """The declarations of the views over empty tables: what the dictionary and the checks need of them."""
    tables = list(tables)
    with duckdb.connect() as database:
        for schema in sorted({"mart", *(table.schema_name for table in tables)}):
            database.execute(f"CREATE SCHEMA {quoted(schema)}")
        for table in tables:
            database.execute(create_table(table))
        return create(database, published() if views is None else views, tables)


def declaration(view: View, types: Mapping[str, str], known: Mapping[str, Table]) -> Table:
    """A view's declaration from its header and the tables it reads. Raises on a column nobody declares."""
    return Table(
        name=view.name,
        title=view.header["title"][0],
        grain=view.header["grain"][0],
        key=tuple(name.strip() for name in view.header["key"][0].split(",")),
        columns=tuple(_column(view, name, type_, known) for name, type_ in types.items()),
        warnings=view.header.get("warning", ()),
        may_be_empty=True,
    )


def _column(view: View, name: str, type_: str, known: Mapping[str, Table]) -> Column:
    if type_ not in KINDS:
        raise ValueError(f"{view.name}.{name} is {type_}: cast it to one of {', '.join(KINDS)}")
    if own := view.columns.get(name):
        return own.but(kind=KINDS[type_])
    # Bounds and vocabulary may differ from table to table; what a column is and is called may not.
    found = {
        (column.description, column.label, column.unit): column
        for table in (known[read] for read in view.reads if read in known)
        for column in table.columns
        if column.name == name and TYPES[column.kind] == type_
    }
    if len(found) != 1:
        raise ValueError(
            f"{view.name}.{name} ({type_}) is declared {len(found)} times in {', '.join(view.reads)}: "
            f"say what it is in a header line `-- column {name}: label | description | unit`"
        )
    return next(iter(found.values())).but(nullable=True)
