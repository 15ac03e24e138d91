"""One module per upstream: what to ask it and how to read its answer's bytes. No I/O happens here.

A source's `conversation` is a generator: it yields `Request`s and is sent each answer as an open binary file
(seekable, read only). Whoever drives it (flows/fetch.py) does the asking, verifies what came and keeps it as a
snapshot. Asking for a part again puts the new answer in place of the one before. What a conversation returns, if
anything, is a line to tell of how it went. A source's `tables` read one answer into rows of a staging table.
"""

from collections.abc import Callable, Generator, Mapping
from dataclasses import dataclass, field
from datetime import date
from typing import Any, BinaryIO, Literal

import polars as pl

from transforms.codes import BY_UF
from transforms.schema import Table

Base = Literal["ibge_api", "ibge_files", "tse", "siconfi", "inputs"]
Media = Literal["json", "zip", "html", "gpkg", "csv", "spreadsheet"]


@dataclass(frozen=True, slots=True)
class Scope:
    """What a run asks for: one state, as of a date (which fixes every period)."""

    uf: str
    as_of: date

    @property
    def state_code(self) -> str:
        return BY_UF[self.uf].code

    @property
    def fiscal_year(self) -> int:
        """The last closed fiscal year ("último exercício", LC 1/1967 art. 2º, IV)."""
        return self.as_of.year - 1


@dataclass(frozen=True, slots=True)
class Request:
    """One question to an upstream. `part` names the answer within its source, the same run after run.

    `shared` answers are the same for every state, and are asked once. `optional` ones may be absent (404, not
    yet published): the conversation is then sent None.
    """

    part: str
    path: str
    params: Mapping[str, str] = field(default_factory=dict)
    media: Media = "json"
    shared: bool = False
    optional: bool = False


Conversation = Generator[Request, BinaryIO | None, Any]


@dataclass(frozen=True, slots=True)
class Staged:
    """How answers whose part starts with `part` become rows of a staging table.

    `parse` reads one answer (an open binary file). Raise `version` whenever its output would change: parsing is
    cached by snapshot, version and declaration.
    """

    table: Table
    part: str
    parse: Callable[[BinaryIO], pl.DataFrame]
    version: int = 1


@dataclass(frozen=True, slots=True)
class Source:
    """Everything about one upstream. `name` is its module; `stale_after` is in days, judged against `cadence`."""

    name: str
    title: str
    publisher: str
    home_page: str
    licence: str
    cadence: str
    stale_after: int
    base: Base
    encoding: str
    conversation: Callable[[Scope], Conversation]
    tables: tuple[Staged, ...]
    dated: tuple[Table, str] | None = None  # the column that says through which day its data speak
    required: bool = True
    smallest: int = 2  # bytes; a shorter answer cannot be whole
    largest: int = 4_000_000_000  # bytes, unpacked
    notes: str = ""
