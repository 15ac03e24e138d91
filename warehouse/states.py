"""The releases of many states as the tables of one: what a national run publishes.

    data/states/<UF>/         a state's own releases, `current`, history and lock, as in a data folder of its own
    data/{raw,staging}/       snapshots and parsed answers, shared: what is the same for every state is there once
    data/{releases,current}   the national releases, made of the Parquet copies of the states' current ones

Rows of different states never share a key, but for sources that speak of the whole country: there each row is taken
once. Nothing is computed anew but the ranking, for an area's verdict rests on its own state alone.
"""

from collections.abc import Mapping
from datetime import date
from pathlib import Path

import duckdb
import polars as pl

from transforms.marts.eligibility import TABLE as ELIGIBILITY
from transforms.marts.eligibility import ranked
from transforms.schema import Table
from warehouse import DATABASE, meta
from warehouse.build import SETTINGS, Tables
from warehouse.ddl import literal, quoted
from warehouse.release import PARQUET
from warehouse.staging import LARGEST, is_by_place

STATES = Path("states")
COUNTRY = "BR"


def together(releases: Mapping[str, Path], declared: Mapping[str, Table]) -> tuple[Tables, list[str]]:
    """Every table over all the states (folders of releases by UF), and which of staging is too large to publish."""
    tables: dict[str, tuple[Table, pl.DataFrame | pl.LazyFrame]] = {}
    left_out = []
    for name, table in declared.items():
        files = [path for folder in releases.values() if (path := folder / PARQUET / f"{name}.parquet").exists()]
        if table.schema_name != "staging":
            tables[name] = table, table.conform(_rows(files, table).collect())
        elif len(files) < len(releases) or sum(_height(file) for file in files) > LARGEST:
            left_out.append(name)
        else:
            tables[name] = table, _rows(files, table)
    tables[ELIGIBILITY.name] = ELIGIBILITY, overall(tables[ELIGIBILITY.name][1].lazy().collect())
    return tables, left_out


def _rows(files: list[Path], table: Table) -> pl.LazyFrame:
    if not files:
        return table.frame().lazy()
    rows = pl.scan_parquet(files).select(pl.col(name).cast(dtype) for name, dtype in table.schema.items())
    # What is said of no state is in each state's release. Equal rows are one; a key with two contents is refused.
    return rows if is_by_place(table) else rows.unique()


def _height(file: Path) -> int:
    height: int = pl.scan_parquet(file).select(pl.len()).collect().item()
    return height


def overall(eligibility: pl.DataFrame) -> pl.DataFrame:
    """mart.eligibility with one ranking over all the states; within a state, its order is the state's own."""
    parts = eligibility.drop("rank").partition_by("rule_set")
    return ELIGIBILITY.conform(pl.concat([ranked(part) for part in parts])) if parts else eligibility


def sources(releases: Mapping[str, Path]) -> tuple[pl.DataFrame, dict[str, date]]:
    """meta.snapshot over all the states, and through which day each source's data speak in all of them.

    Of a file that two states have in different versions, both are kept; of different days, the earliest.
    """
    with duckdb.connect(config=dict(SETTINGS)) as database:
        for uf, folder in releases.items():
            database.execute(f"ATTACH {literal(str(folder / DATABASE))} AS {quoted(uf)} (READ_ONLY)")
        everywhere = {
            table.name: " UNION ALL BY NAME ".join(
                f"SELECT {literal(uf)} AS _state, * FROM {quoted(uf, table.schema_name, table.short_name)}"
                for uf in releases
            )
            for table in (meta.SNAPSHOT, meta.SOURCE_FRESHNESS)
        }
        snapshots = database.sql(everywhere[meta.SNAPSHOT.name]).pl()
        through = database.sql(everywhere[meta.SOURCE_FRESHNESS.name])
        days = through.filter("published_through IS NOT NULL").aggregate("source, min(published_through)").fetchall()
    versions = pl.col("sha256").n_unique().over("source", "uf", "part")
    own = pl.when((pl.col("uf") == "") & (versions > 1)).then(pl.col("_state")).otherwise(pl.col("uf"))
    rows = snapshots.with_columns(own.alias("uf")).sort("polled_at").unique(meta.SNAPSHOT.key, keep="last")
    return meta.SNAPSHOT.conform(rows), dict(days)
