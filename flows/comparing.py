"""`emancipa diff` and `emancipa dictionary`: what changed between releases, and what every column means."""

import re
from pathlib import Path

import polars as pl

import warehouse
from flows import terminal
from flows.releasing import every_table
from transforms.errors import UsageError
from warehouse import dictionary as words
from warehouse import diff as differences
from warehouse import publish

HASH = re.compile(r"[0-9a-f]{64}")


def diff(data: Path, before: str | None, after: str | None, *, as_json: bool) -> None:
    """Two releases by id; the current one where `after` is not given, its state's one before where `before` is not."""
    at_hand = publish.releases(data)
    newer = after or publish.current(data)
    if newer is None:
        raise warehouse.unpublished(data)
    older = before or _before(data, newer, at_hand)
    for name in (older, newer):
        if name is not None and name not in at_hand:
            raise UsageError(f"no release {name}", where="diff", action=f"releases at hand: {', '.join(at_hand)}")
    if older is None:
        uf = publish.manifest(data, newer)["uf"]
        terminal.as_json([]) if as_json else terminal.line(f"{newer} is the first release of {uf}")
        return
    a, b = (differences.read(data / publish.RELEASES / name) for name in (older, newer))
    found = differences.differences(a, b)
    terminal.as_json(found.to_dicts()) if as_json else _tell(found, a, b)


def _tell(found: pl.DataFrame, before: differences.Release, after: differences.Release) -> None:
    """As the release's diff.md says it, but to fit a terminal. Its diff.csv is of it and its predecessor alone."""
    older, newer = before.manifest["id"], after.manifest["id"]
    terminal.paragraph(f"What changed in {newer}, compared with {older}")
    is_own = after.manifest.get("predecessor") == older
    rest = f"see {after.folder / 'diff.csv'}" if is_own else f"emancipa diff {older} {newer} --json prints all"
    for section in differences.sections(found, rest):
        terminal.heading(section.title)
        if section.rows:
            rows = [row | {end: _shortened(row[end]) for end in ("Before", "After")} for row in section.rows]
            terminal.table(rows, {name: name.lower() for name in differences.HEADS})
        for note in section.notes:
            terminal.paragraph(note)


def _shortened(value: str) -> str:
    """A hash by its first letters: enough to see that it is another."""
    return f"{value[:8]}…" if HASH.fullmatch(value) else value


def _before(data: Path, release: str, at_hand: list[str]) -> str | None:
    state = publish.manifest(data, release)["uf"]
    earlier = [name for name in at_hand if name < release and publish.manifest(data, name)["uf"] == state]
    return earlier[-1] if earlier else None


def dictionary(*, check: bool, as_json: bool) -> None:
    """Write both files, or raise UsageError where they do not say what the declarations say."""
    tables = every_table()
    if check:
        if stale := words.stale(tables):
            raise UsageError(
                f"the dictionary is out of date: {', '.join(path.name for path in stale)}",
                where="dictionary",
                action="emancipa dictionary",
            )
        terminal.as_json({"stale": []}) if as_json else terminal.line("the dictionary is up to date")
        return
    paths = [str(path) for path in words.write(tables)]
    terminal.as_json({"written": paths}) if as_json else terminal.line("\n".join(paths))
