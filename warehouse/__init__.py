"""Storage: raw snapshots, the DuckDB file, releases and exports.

Everything written to disk is written here, aside first and then switched in one step, so that a reader always
finds a whole release. It alone may import duckdb; it knows the declarations in transforms/, and no checks.
"""

import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

from transforms.errors import UsageError

if TYPE_CHECKING:
    import polars as pl
    from duckdb import DuckDBPyConnection as DuckDBPyConnection

DATABASE = "emancipa.duckdb"
DEFAULT_DATA = Path(__file__).parent / "data"


def connect(data: str | Path | None = None, release: str | None = None) -> "DuckDBPyConnection":
    """The published DuckDB file, read only; also while a run is going on. Each call opens the newest release.

    `data` is the data folder (default EMANCIPA_DATA, else warehouse/data), `release` an older release's id.
    """
    import duckdb  # noqa: PLC0415  what only needs the data folder starts light

    folder = Path(data or os.environ.get("EMANCIPA_DATA") or DEFAULT_DATA)
    path = (folder / "releases" / release if release else folder / "current") / DATABASE
    if release and not path.exists():
        at_hand = ", ".join(sorted(found.name for found in (folder / "releases").glob("*")))
        raise UsageError(f"no release {release}", where=str(path), action=f"releases at hand: {at_hand or 'none'}")
    if not path.exists():
        raise unpublished(folder)
    # The real path differs from release to release: within a process, DuckDB would otherwise hand out the file
    # it already holds under the name `current`.
    return duckdb.connect(str(path.resolve()), read_only=True)


def unpublished(data: Path) -> UsageError:
    """What to tell of a folder without a release."""
    has_sample = (data / "sample" / "current").exists()
    return UsageError(
        "nothing has been published here yet",
        where=str(data),
        action="run `emancipa run --uf UF` first, or name the data folder"
        + ("; for the sample that is here, add --sample" if has_sample else ""),
    )


def ask(data: Path, sql: str) -> "pl.DataFrame":
    """The answer of the current release to a query. Raises UsageError, in DuckDB's words, where it is none."""
    import duckdb  # noqa: PLC0415
    import polars as pl  # noqa: PLC0415

    with connect(data) as database:
        try:
            answer: Any = database.sql(sql)  # None for a statement that answers nothing
            frame: pl.DataFrame = pl.DataFrame() if answer is None else answer.pl()
        except duckdb.Error as error:
            raise UsageError(str(error).strip(), where="query", action="see `emancipa tables`") from None
        return frame
