"""What the warehouse says of itself: snapshots, attempts, freshness, releases, and every column's meaning.

Runs have their declarations with their ledger (run_ledger), the checks' results with the checks. History is kept beside
the releases, so that it survives them: `meta.*` of the newest release tells all of it.
"""

from collections.abc import Iterable
from dataclasses import asdict
from datetime import datetime
from pathlib import Path

import polars as pl

from transforms.columns import UF
from transforms.schema import Column, Kind, Table, Unit
from transforms.sources import Source
from warehouse import publish
from warehouse.ddl import TYPES
from warehouse.run_ledger import AS_OF, CHECK_HISTORY, RELEASE_ID, RUN
from warehouse.snapshots import Poll

SOURCE_NAME = Column("source", Kind.TEXT, "Name of the source: its module below transforms/sources.", "Fonte")
PART = Column("part", Kind.TEXT, "Which of the source's answers.", "Parte")
URL = Column("url", Kind.TEXT, "Where it was asked for.", "Endereço")
SHA256 = Column("sha256", Kind.TEXT, "SHA-256 of the bytes: the name of the file below raw/blobs.", "SHA-256")
PUBLISHED_AT = Column(
    "published_at", Kind.TIMESTAMP, "The date the upstream gave it.", "Publicado pela fonte em", nullable=True
)

ASKED_FOR = UF.but(description="State asked for; empty if the answer is the same for all.", pattern=None)

SNAPSHOT = Table(
    name="meta.snapshot",
    title="Arquivos de origem",
    grain="One row per answer of a source that this release is made of.",
    key=("source", "uf", "part"),
    columns=(
        SOURCE_NAME,
        ASKED_FOR,
        PART,
        URL,
        SHA256,
        Column("bytes", Kind.INTEGER, "Size of the answer.", "Tamanho", Unit.BYTES, minimum=1),
        Column("fetched_at", Kind.TIMESTAMP, "When the bytes came.", "Baixado em"),
        PUBLISHED_AT,
        Column("polled_at", Kind.TIMESTAMP, "When the source was last asked and had nothing else.", "Conferido em"),
    ),
)
ATTEMPT = Table(
    name="meta.attempt",
    title="Tentativas de coleta",
    grain="One row per try at one question to a source, whatever came of it, in every run of this data folder.",
    key=("attempt",),
    columns=(
        Column("attempt", Kind.INTEGER, "Number of the attempt, in order.", "Tentativa", Unit.COUNT, minimum=1),
        Column("attempted_at", Kind.TIMESTAMP, "When it was tried.", "Momento"),
        SOURCE_NAME,
        ASKED_FOR,
        PART,
        URL,
        Column("status", Kind.INTEGER, "HTTP status.", "Status HTTP", Unit.COUNT, nullable=True),
        Column("bytes", Kind.INTEGER, "Bytes that came.", "Bytes", Unit.BYTES, minimum=0),
        SHA256.but(nullable=True),
        Column("seconds", Kind.FLOAT, "How long it took.", "Duração", Unit.SECONDS),
        Column("outcome", Kind.TEXT, "What came of it, in one word.", "Resultado"),
        Column("message", Kind.TEXT, "The same in a sentence.", "Mensagem"),
    ),
    may_be_empty=True,
)
SOURCE_FRESHNESS = Table(
    name="meta.source_freshness",
    title="Atualidade das fontes",
    grain="One row per source: how it answered last, and how old its last good answer is.",
    key=("source",),
    columns=(
        SOURCE_NAME,
        Column("title", Kind.TEXT, "Title of the source.", "Título"),
        Column("required", Kind.BOOLEAN, "Whether no release can do without it.", "Obrigatória"),
        Column("last_polled_at", Kind.TIMESTAMP, "When it was last asked.", "Última consulta", nullable=True),
        Column("last_good_at", Kind.TIMESTAMP, "When it last answered well.", "Última boa resposta", nullable=True),
        PUBLISHED_AT,
        Column(
            "published_through",
            Kind.DATE,
            "The last day its data speak of, by their own dates or the date in the file's name.",
            "Dados até",
            nullable=True,
        ),
        Column(
            "age_days", Kind.INTEGER, "Days since its last good answer.", "Idade em dias", Unit.COUNT, nullable=True
        ),
        Column("stale_after", Kind.INTEGER, "Days its cadence allows.", "Limite em dias", Unit.COUNT),
        Column("is_stale", Kind.BOOLEAN, "Whether it is older than that, or never answered.", "Desatualizada"),
        Column("last_outcome", Kind.TEXT, "What came of the last poll.", "Último resultado", nullable=True),
        Column("last_message", Kind.TEXT, "The same in a sentence.", "Última mensagem", nullable=True),
        Column(
            "failing_since",
            Kind.TIMESTAMP,
            "First failed poll after the last good one; empty while the source answers.",
            "Falhando desde",
            nullable=True,
        ),
        Column(
            "failed_polls", Kind.INTEGER, "Failed polls since the last good one.", "Consultas sem sucesso", Unit.COUNT
        ),
    ),
)
POLL = Table(
    name="meta.poll",
    title="Consultas às fontes",
    grain="One row per finished conversation with a source, good or failed, in every run of this data folder.",
    key=("poll",),
    columns=(
        Column("poll", Kind.INTEGER, "Number of the poll, in order.", "Número da consulta", Unit.COUNT, minimum=1),
        Column("polled_at", Kind.TIMESTAMP, "When its run began.", "Consultada em"),
        SOURCE_NAME,
        ASKED_FOR,
        AS_OF,
        Column("outcome", Kind.TEXT, "What came of it.", "Resultado", values=("ok", "failed")),
        Column("cause", Kind.TEXT, "What ended a failed one, in one word.", "Causa"),
        Column("message", Kind.TEXT, "The same in a sentence.", "Mensagem"),
    ),
    may_be_empty=True,
)
COLUMN = Table(
    name="meta.column",
    title="Dicionário de dados",
    grain="One row per column of every table and view.",
    key=("table_name", "column_name"),
    order=("table_name", "position", "column_name"),
    columns=(
        Column("table_name", Kind.TEXT, "Table or view, with its schema.", "Tabela"),
        Column("position", Kind.INTEGER, "Place of the column in it.", "Ordem", Unit.COUNT, minimum=1),
        Column("column_name", Kind.TEXT, "Name of the column.", "Coluna"),
        Column("type", Kind.TEXT, "Type in DuckDB.", "Tipo"),
        Column("unit", Kind.TEXT, "Unit of its figures.", "Unidade", nullable=True),
        Column("is_key", Kind.BOOLEAN, "Whether it is part of the key.", "Chave"),
        Column("nullable", Kind.BOOLEAN, "Whether it may be empty.", "Pode faltar"),
        Column("description", Kind.TEXT, "What it holds.", "Descrição"),
        Column("label", Kind.TEXT, "Its heading in the Portuguese exports.", "Título"),
        Column("allowed", Kind.TEXT, "Its only values, joined by |.", "Valores", nullable=True),
        Column("upstream", Kind.TEXT, "The source's own column.", "Coluna na fonte", nullable=True),
    ),
)
RELEASE = Table(
    name="meta.release",
    title="Publicações",
    grain="One row per publication or rollback of this data folder, this release last.",
    key=("event_number",),
    columns=(
        Column("event_number", Kind.INTEGER, "Number of the event, in order.", "Número", Unit.COUNT, minimum=1),
        Column("happened_at", Kind.TIMESTAMP, "When it was done.", "Momento"),
        Column("event", Kind.TEXT, "What was done.", "Evento", values=("published", "rolled_back")),
        RELEASE_ID,
        Column("previous", Kind.TEXT, "What readers saw before.", "Publicação anterior", nullable=True),
        Column("reason", Kind.TEXT, "Why, where someone said.", "Motivo"),
    ),
)
STATE_RELEASE = Table(
    name="meta.state_release",
    title="Estados desta publicação",
    grain="One row per state asked for in a national release: the release of its own that its rows come from.",
    key=("uf",),
    columns=(
        UF,
        RELEASE_ID.but(description="Its release; empty where it has none, and no rows here.", nullable=True),
        AS_OF.but(nullable=True),
        Column("is_current", Kind.BOOLEAN, "Whether this run made or confirmed it; else its last good one.", "Atual"),
        Column("reason", Kind.TEXT, "Why it is not.", "Motivo"),
    ),
    may_be_empty=True,
)
TABLES = (RUN, SNAPSHOT, ATTEMPT, POLL, SOURCE_FRESHNESS, COLUMN, RELEASE, STATE_RELEASE, CHECK_HISTORY)


def snapshots(polls: Iterable[tuple[Source, Poll]]) -> pl.DataFrame:
    """meta.snapshot: the answers a release is made of."""
    return SNAPSHOT.frame(
        {
            "source": source.name,
            "uf": poll.uf,
            "part": answer.part,
            "url": answer.url,
            "sha256": answer.sha256,
            "bytes": answer.size,
            "fetched_at": answer.fetched_at,
            "published_at": answer.published_at,
            "polled_at": poll.polled_at,
        }
        for source, poll in polls
        for answer in poll.answers
    )


def attempts(ledger: pl.DataFrame) -> pl.DataFrame:
    """meta.attempt, from the store's ledger in the order made."""
    return ATTEMPT.conform(ledger.rename({"at": "attempted_at"}).with_row_index("attempt", offset=1))


def polls(ledger: pl.DataFrame, uf: str | None) -> pl.DataFrame:
    """meta.poll, from the store's ledger in the order made: a state's with those shared by all, or all of them."""
    numbered = ledger.with_row_index("poll", offset=1)
    return POLL.conform(numbered if uf is None else numbered.filter(pl.col("uf").is_in([uf, ""])))


def columns(tables: Iterable[Table]) -> pl.DataFrame:
    """meta.column: every column of these tables and views."""
    return COLUMN.frame(
        {
            "table_name": table.name,
            "position": position,
            "column_name": column.name,
            "type": TYPES[column.kind],
            "unit": column.unit and column.unit.value,
            "is_key": column.name in table.key,
            "nullable": column.nullable,
            "description": column.description,
            "label": column.label,
            "allowed": "|".join(column.values) if column.values else None,
            "upstream": column.source,
        }
        for table in tables
        for position, column in enumerate(table.columns, 1)
    )


def releases(data: Path, this: str | None = None, *, at: datetime | None = None, reason: str = "") -> pl.DataFrame:
    """meta.release: the history of what readers saw, with the release that is being written as its last event."""
    events = publish.history(data)
    if this and at:
        events.append(publish.Event(at, "published", this, publish.current(data), reason))
    return RELEASE.frame(
        {"event_number": number, "happened_at": event.at, **asdict(event)} for number, event in enumerate(events, 1)
    )
