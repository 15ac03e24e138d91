"""What the reading verbs ask of a release: rows as dictionaries, of a state that is in it, of a place by its name."""

from typing import TYPE_CHECKING, Any

from transforms.errors import UsageError

if TYPE_CHECKING:
    from warehouse import DuckDBPyConnection

Rows = list[dict[str, Any]]
NEAR = 0.8  # Jaro-Winkler: what resembles the words less is no suggestion
# What a user may name: its id, its name, the município that tells those of one name apart, and why it can be no area.
NAMED = {
    "area": "SELECT DISTINCT area_id AS id, area_name AS name, municipality_names AS lies_in FROM mart.eligibility",
    "district": "SELECT district_code AS id, district_name AS name, municipality_name AS lies_in FROM core.district",
}
FOLDED = "lower(strip_accents({}))"


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


def named(database: "DuckDBPyConnection", kind: str, words: str) -> str:
    """The id of the area or district so named, by id or by exact name (accents and case apart).

    Raises UsageError with all that have the name where several do, with the nearest ones where none does.
    """
    name, given = FOLDED.format("name"), FOLDED.format("$1")
    same = f"SELECT * FROM ({NAMED[kind]}) WHERE id = $1 OR {name} = {given} ORDER BY id <> $1, id"
    found = rows(database, same, words)
    if found and (len(found) == 1 or found[0]["id"] == words):
        return str(found[0]["id"])
    if found:
        told = ", ".join(f"{row['id']} ({row['lies_in'].replace('|', ' + ')})" for row in found)
        raise UsageError(f"{len(found)} {kind}s are named {words!r}", where=kind, action=f"name one by its id: {told}")
    raise UsageError(f"no {kind} {words!r}", where=kind, action=_meant(database, kind, words))


def _meant(database: "DuckDBPyConnection", kind: str, words: str) -> str:
    """What the user may have meant: a known district that is no area, or what has a name like the words."""
    name, given = FOLDED.format("district_name"), FOLDED.format("$1")
    refused = rows(
        database,
        f"SELECT * FROM core.district WHERE refusal <> '' AND (district_code = $1 OR {name} = {given}) LIMIT 1",
        words,
    )
    if refused:
        return "{district_name} ({district_code}) cannot be an area: {refusal}".format(**refused[0])
    near = rows(
        database,
        f"""SELECT id, name, jaro_winkler_similarity({FOLDED.format("name")}, {given}) AS near
        FROM ({NAMED[kind]}) WHERE near > {NEAR} ORDER BY near DESC, id LIMIT 3""",
        words,
    )
    if near:
        return "did you mean " + ", ".join(f"{row['id']} ({row['name']})" for row in near) + "?"
    return 'no name is like it; all of them: emancipa query "SELECT area_id, area_name FROM mart.ranking"'
