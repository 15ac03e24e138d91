"""What a run shows in Prefect: the ranking, what changed, what is pending, the checks.

Small tables and short texts: whoever wants all of it opens the release, whose path is on each of them.
"""

from pathlib import Path

import polars as pl
from prefect.artifacts import create_markdown_artifact, create_table_artifact

from flows.run import Outcome, Run
from warehouse import publish

ROWS = 100
RANKING = ["rank", "area_id", "area_name", "uf", "municipality_names", "status", "likely", "requirements_met"]
LONGEST = 50_000  # characters of a text


def of_release(this: Run, outcome: Outcome) -> None:
    """Of a run that ended well, also where nothing was new."""
    uf, where = this.scope.uf.lower(), str(outcome.folder)
    ranking = pl.read_csv(outcome.folder / "export" / "eligibility.csv", infer_schema=False)
    pending = pl.read_csv(outcome.folder / "export" / "pending.csv", infer_schema=False)
    create_table_artifact(_rows(ranking.select(["rule_set", *RANKING])), key=f"ranking-{uf}", description=where)
    create_table_artifact(_rows(pending), key=f"pending-{uf}", description=where)
    changed = outcome.folder / "diff.md" if outcome.is_new else None
    create_markdown_artifact(
        _text(changed) if changed else f"Nothing new: readers keep {outcome.release}.", key=f"changes-{uf}"
    )
    create_markdown_artifact(_checks(outcome.folder), key=f"checks-{uf}", description=where)


def of_refusal(this: Run) -> None:
    """Of a run whose checks refused: their report, which stays beside the releases until the next run."""
    for folder in sorted((this.data / publish.BUILDING).glob("*")):
        create_markdown_artifact(_checks(folder), key=f"checks-{this.scope.uf.lower()}", description=str(folder))


def _rows(frame: pl.DataFrame) -> list[dict[str, str | None]]:
    return frame.head(ROWS).to_dicts()


def _checks(folder: Path) -> str:
    return f"```\n{_text(folder / 'checks' / 'checks.txt')}\n```"


def _text(path: Path) -> str:
    text = path.read_text(encoding="utf-8")
    return text if len(text) <= LONGEST else f"{text[:LONGEST]}\n… the rest is in {path}"
