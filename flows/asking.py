"""What the reading verbs ask of a release: rows as dictionaries, of a state that is in it."""

from typing import TYPE_CHECKING, Any

from transforms.errors import UsageError

if TYPE_CHECKING:
    from warehouse import DuckDBPyConnection

Rows = list[dict[str, Any]]


def rows(database: "DuckDBPyConnection", sql: str, *values: object) -> Rows:
    """The answer to a query, a dictionary a row; `values` stand for $1, $2 …"""
    cursor = database.execute(sql, values)
    names = [column[0] for column in cursor.description or []]
    return [dict(zip(names, row, strict=True)) for row in cursor.fetchall()]


def require_state(database: "DuckDBPyConnection", uf: str | None) -> None:
    """Raises UsageError where a state is asked for that the release does not have."""
    states = [row["uf"] for row in rows(database, "SELECT uf FROM core.state ORDER BY uf")]
    if uf is not None and uf not in states:
        raise UsageError(
            f"the current release has no {uf}, only {', '.join(states)}", where="--uf", action=f"emancipa run --uf {uf}"
        )
