"""`emancipa dossier AREA`: the PDF of one area for its file, from the current release and its snapshots."""

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import polars as pl

import warehouse
from flows import rule_files, terminal
from flows.asking import named, rows
from flows.settings import Settings
from transforms.catalog import sources, tables
from transforms.errors import UsageError
from transforms.rules.reading import RuleSet
from transforms.sources import ibge_district_mesh
from warehouse import publish
from warehouse.build import Tables
from warehouse.export import dossier as document
from warehouse.export.dossier.contents import Dossier
from warehouse.release import PARQUET
from warehouse.snapshots import Store


def dossier(settings: Settings, area: str, output: Path | None, rules: str | None, *, as_json: bool) -> None:
    """Raises UsageError where there is no such area, or the rule set at hand is not the release's."""
    data = settings.data
    with warehouse.connect(data) as database:
        area_id = named(database, "area", area)
        (uf,) = {row["uf"] for row in rows(database, "SELECT uf FROM mart.eligibility WHERE area_id = $1", area_id)}
    folder = (data / publish.CURRENT).resolve()
    manifest = publish.manifest(data, folder.name)
    # An older program's release may name a source that this one does not know any more.
    manifest["snapshots"] = [file for file in manifest["snapshots"] if file["source"] in sources()]
    this = Dossier(
        area_id=area_id,
        rule_set=_rule_set(manifest, rules),
        tables=_published(folder),
        manifest=manifest,
        mesh=_mesh(Store(settings.raw), manifest, uf),
    )
    name = "dossie-" + re.sub(r"[^\w.-]+", "-", area_id) + ".pdf"
    target = output or Path(name)
    if target.is_dir():
        target /= name
    if not target.parent.is_dir():
        raise UsageError(
            f"no such folder: {target.parent}", where="--output", action="make it first, or name one that exists"
        )
    try:
        written = document.write(this, target)
    except OSError as error:
        raise UsageError(
            f"cannot write: {error.strerror}", where=str(target), action="close it, or --output PATH"
        ) from None
    if as_json:
        terminal.as_json({"files": written})
        return
    for path in written:
        terminal.line(str(path))


def _rule_set(manifest: Mapping[str, Any], name: str | None) -> RuleSet:
    """The rule set the release was made with: its first, or the one named (a user's own file by its path)."""
    made_with = {each["id"]: each["sha256"] for each in manifest["rule_sets"]}
    asked = name or next(iter(made_with))
    action = f"the release's are {', '.join(made_with)} (one of your own by its file); or run again with --rules"
    shipped = rule_files.shipped()
    if asked not in shipped and Path(asked).suffix != ".toml":
        if asked not in made_with:
            raise UsageError(f"the release was not made with {asked!r}", where="--rules", action=action)
        # The release keeps the name and the hash of a user's own rule set, not its text.
        raise UsageError(
            f"the release's {'' if name else 'first '}rule set, {asked}, is a file of yours",
            where="--rules",
            action="; or ".join(
                ["give it: --rules FILE", *(f"--rules {each}" for each in made_with if each in shipped)]
            ),
        )
    (file,) = rule_files.read([asked])
    if made_with.get(file.rule_set.id) != file.sha256:
        raise UsageError(
            f"the release was not made with this rule set: {file.rule_set.id}", where="--rules", action=action
        )
    return file.rule_set


def _published(folder: Path) -> Tables:
    """The marts and core tables of a release, from its Parquet copies."""
    declared = tables()
    paths = sorted(path for kind in ("core", "mart") for path in (folder / PARQUET).glob(f"{kind}.*.parquet"))
    return {path.stem: (declared[path.stem], pl.read_parquet(path)) for path in paths if path.stem in declared}


def _mesh(store: Store, manifest: Mapping[str, Any], uf: str) -> pl.DataFrame:
    """The districts' outlines, from the very snapshot the release was made of; none where it had none."""
    (staged, _) = ibge_district_mesh.SOURCE.tables
    for file in manifest["snapshots"]:
        mine = file["source"] == ibge_district_mesh.NAME and file["uf"] in {uf, ""}
        if mine and file["part"].startswith(staged.part) and store.has(file["sha256"]):
            with store.open(file["sha256"]) as stream:
                return staged.table.conform(staged.parse(stream))
    return staged.table.frame()
