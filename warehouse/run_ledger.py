"""The ledgers of runs, refused ones among them, and of the checks that did not pass: they outlive the releases."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields
from datetime import UTC, date, datetime
from pathlib import Path
from typing import Any

import polars as pl

from transforms.columns import CHECKED, FAILING_ROWS, UF
from transforms.schema import Column, Kind, Table, Unit
from warehouse.ledger import Ledger

RUNS, CHECKS = "runs.jsonl", "checks.jsonl"
# What came of a run that was not published, by its exit code; a bug is one without an error of ours.
FAILURES: Mapping[int, str] = {
    1: "failed", 2: "bad_input", 3: "refused", 4: "source_unavailable", 5: "source_changed", 6: "locked",
}  # fmt: skip
OUTCOMES = ("published", "nothing_new", *FAILURES.values(), "bug")

AS_OF = Column("as_of", Kind.DATE, "The date that fixes every period.", "Na data de")
RELEASE_ID = Column("release", Kind.TEXT, "Id of the release.", "Publicação")

RUN = Table(
    name="meta.run",
    title="Execuções",
    grain="One row per run of this data folder, the one that made this file last.",
    key=("run_id",),
    columns=(
        Column("run_id", Kind.TEXT, "When the run started, and its state.", "Execução"),
        Column("started_at", Kind.TIMESTAMP, "When it started.", "Início"),
        Column(
            "finished_at",
            Kind.TIMESTAMP,
            "When it ended; empty for the run that wrote this file.",
            "Fim",
            nullable=True,
        ),
        UF,
        AS_OF,
        Column("outcome", Kind.TEXT, "What came of it.", "Resultado", values=OUTCOMES),
        Column("exit_code", Kind.INTEGER, "Exit code of the command.", "Código de saída", Unit.COUNT),
        RELEASE_ID.but(description="The release it published, or found to be up to date.", nullable=True),
        Column("message", Kind.TEXT, "What it said, or why moved figures were accepted.", "Mensagem"),
        Column("version", Kind.TEXT, "Version of the program.", "Versão"),
    ),
)
CHECK_HISTORY = Table(
    name="meta.check_history",
    title="Verificações não atendidas",
    grain="One row per check that did not pass in a run of this data folder, refused runs among them.",
    key=("run_id", "check_name", "table_name", "column_name"),
    columns=(
        RUN["run_id"],
        *CHECKED,
        Column("severity", Kind.TEXT, "Critical refused the run, a warning was published.", "Gravidade"),
        Column("status", Kind.TEXT, "What came of it.", "Situação", values=("failed", "error")),
        Column("observed", Kind.TEXT, "What was found.", "Encontrado", nullable=True),
        FAILING_ROWS,
    ),
    may_be_empty=True,
)


@dataclass(frozen=True, slots=True)
class Run:
    """One run, as it ended; `finished_at` is None only while it is still writing."""

    started_at: datetime
    finished_at: datetime | None
    uf: str
    as_of: date
    outcome: str
    exit_code: int
    release: str | None
    message: str
    version: str


def record_run(data: Path, run: Run) -> None:
    """Append a run to the data folder's ledger."""
    Ledger(data / RUNS).append(run)


def runs(data: Path, this: Run | None = None) -> pl.DataFrame:
    """meta.run: every run of the ledger, and the one that is writing."""
    rows = [*Ledger(data / RUNS).unread(), *([asdict(this)] if this else [])]
    return RUN.conform(RUN.frame(_run(row) for row in rows).unique(RUN.key, keep="last"))


def run_id(started: datetime, uf: str) -> str:
    """To the microsecond: runs that fail at once may begin in the same second."""
    return f"{started:%Y%m%dT%H%M%S.%fZ}-{uf}"


def _run(row: Mapping[str, Any]) -> dict[str, Any]:
    started, as_of = _moment(row["started_at"]), date.fromisoformat(str(row["as_of"]))
    finished = row["finished_at"] and _moment(row["finished_at"])
    return {**row, "run_id": run_id(started, row["uf"]), "started_at": started, "finished_at": finished, "as_of": as_of}


def _moment(written: str | datetime) -> datetime:
    """A moment read back from a ledger, in UTC; the run that is writing has its own."""
    return (datetime.fromisoformat(written) if isinstance(written, str) else written).astimezone(UTC)


@dataclass(frozen=True, slots=True)
class Unpassed:
    """A check that did not pass, in the run that tried it: a row of CHECK_HISTORY."""

    run_id: str
    check_name: str
    table_name: str
    column_name: str
    severity: str
    status: str
    observed: str | None
    failing_rows: int


def record_checks(data: Path, run: str, results: pl.DataFrame) -> None:
    """Append what did not pass to the data folder's ledger, so that refused runs are remembered too."""
    ledger = Ledger(data / CHECKS)
    names = [field.name for field in fields(Unpassed) if field.name != "run_id"]
    for row in results.filter(pl.col("status") != "passed").select(names).iter_rows(named=True):
        ledger.append(Unpassed(run_id=run, **row))


def check_history(data: Path) -> pl.DataFrame:
    """meta.check_history: every check that did not pass, run by run."""
    rows = CHECK_HISTORY.frame(Ledger(data / CHECKS).unread())
    return CHECK_HISTORY.conform(rows.unique(CHECK_HISTORY.key, keep="last"))
