"""What goes out of the plain job: every table checked, then written; and how far its verdicts are the product's."""

import re
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import duckdb
import great_expectations as gx
import pandas as pd
from great_expectations.data_context.types.base import ProgressBarsConfig
from pandas import DataFrame as Frame

from tests.benchmarks.plain.law import REQUIREMENTS, STATUSES, UNDETERMINED
from tests.benchmarks.plain.reading import PLACE, Frames

gxe: Any = gx.expectations
KEYS = {
    "staging.census_district": ["CD_DIST"], "staging.locality": ["district_code"], "staging.sector": ["CD_SETOR"],
    "staging.houses": ["CD_SETOR"], "staging.section": ["CD_MUNICIPIO", "NR_ZONA", "NR_SECAO"],
    "staging.previous_section": ["CD_MUNICIPIO", "NR_ZONA", "NR_SECAO"], "staging.estimate": ["code", "year"],
    "staging.municipality_code": ["CD_MUNICIPIO_IBGE"], "core.state": ["uf"],
    "staging.account": ["cod_ibge", "rotulo", "coluna", "cod_conta"], "core.municipality": ["municipality_code"],
    "core.district": ["district_code"], "core.polling_place": PLACE, "core.neighbour": ["district_code",
    "neighbour_code"], "mart.requirement_result": ["district_code", "requirement"],
    "mart.origin_result": ["district_code", "municipality_code", "requirement"],
    "mart.eligibility": ["district_code"], "mart.pending": ["district_code", "requirement"],
    "mart.no_candidate": ["municipality_code"], "mart.sensitivity": ["district_code"],
}  # fmt: skip
WORDS = {
    "level": ["N3", "N6"], "CD_SIT": list("12356789"), "NR_TURNO": ["1"], "CD_TIPO_LOCAL": list("1234"),
    "CD_TIPO_SECAO_AGREGADA": list("123"), "status": [*STATUSES, "eligible", "ineligible"],
    "method": ["single_district", "coordinates", "previous_coordinates", "name", "unassigned"],
    "requirement": [*REQUIREMENTS, "origin"], "binding_requirement": REQUIREMENTS, "origin_status": STATUSES,
    "verdict": ["kept", "lost", "never_had", UNDETERMINED], "indication": ["likely_met", "likely_not_met"],
    "likely": ["likely_eligible", "unknown", "likely_ineligible"], "direction": ["increase", "decrease"],
}  # fmt: skip
MAY_BE_NULL = (
    r"core\.polling_place\.district_code|mart\.sensitivity\.(requirement|municipality_code)|.*\.(v000\d|V000\d\d|"
    r"AREA_KM2|population.*|(private|occupied)_dwellings|NR_L.*TUDE.*|NM_BAIRRO|DS_ENDERECO|CD_TIPO.*|valor|likely|"
    r"QT_ELEITOR_SECAO|(electorate|urban_houses|collection|low|value|high|threshold|margin|indication)(_.*)?|share|"
    r"border_distance_m|smallest_margin|binding_requirement|direction|amount)"
)
MAY_BE_NEGATIVE = r"NR_L.*TUDE.*|.*margin.*|valor"
SHEETS = {
    "Elegibilidade": "mart.eligibility", "Requisitos": "mart.requirement_result", "Origem": "mart.origin_result",
    "Pendências": "mart.pending",
}  # fmt: skip


def write(folder: Path, tables: Frames) -> None:
    """Check every table, then DuckDB, Parquet, CSV and the workbook."""
    check(tables)
    (folder / "parquet").mkdir(parents=True)
    with duckdb.connect(str(folder / "emancipa.duckdb")) as database:
        for schema in ("staging", "core", "mart"):
            database.execute(f"CREATE SCHEMA {schema}")
        for name, frame in tables.items():
            database.register("frame", frame)
            database.execute(f"CREATE TABLE {name} AS SELECT * FROM frame")
            database.unregister("frame")
            frame.to_parquet(folder / "parquet" / f"{name}.parquet", index=False)
            if name.startswith("mart"):
                frame.to_csv(folder / f"{name}.csv", index=False)
    with pd.ExcelWriter(folder / "elegibilidade.xlsx", engine="xlsxwriter") as book:
        for sheet, name in SHEETS.items():
            tables[name].to_excel(book, sheet_name=sheet, index=False)


def check(tables: Frames) -> None:
    """A suite of Great Expectations over each table; the first that fails stops the job."""
    context = gx.get_context(mode="ephemeral")
    context.variables.progress_bars = ProgressBarsConfig(globally=False)
    source = context.data_sources.add_pandas("frames")
    for name, frame in tables.items():
        whole = source.add_dataframe_asset(name).add_batch_definition_whole_dataframe("whole")
        suite = gx.ExpectationSuite(name, expectations=list(expectations(name, frame)))
        result = whole.get_batch({"dataframe": frame}).validate(suite)
        if not result.success:
            raise ValueError(f"{name}: {[one.expectation_config for one in result.results if not one.success]}")


def expectations(name: str, frame: Frame) -> Iterable[Any]:
    """A unique key, no nulls, known words, and numbers that are not negative."""
    key = KEYS[name]
    yield (
        gxe.ExpectCompoundColumnsToBeUnique(column_list=key)
        if len(key) > 1
        else gxe.ExpectColumnValuesToBeUnique(column=key[0])
    )
    for column in frame.columns:
        if column in key or not re.fullmatch(MAY_BE_NULL, f"{name}.{column}"):
            yield gxe.ExpectColumnValuesToNotBeNull(column=column)
        if column in WORDS:
            yield gxe.ExpectColumnValuesToBeInSet(column=column, value_set=list(WORDS[column]))
        if frame[column].dtype.kind in "iuf" and not re.fullmatch(MAY_BE_NEGATIVE, column):
            yield gxe.ExpectColumnValuesToBeBetween(column=column, min_value=0)


def agreement(folder: Path) -> str:
    """By requirement, how many of the product's verdicts (the release in `folder`) this job comes to as well."""
    ours, theirs = (
        pd.read_parquet(folder / place / "parquet/mart.requirement_result.parquet") for place in ("plain/BR", "current")
    )
    ours = ours.rename(columns={"district_code": "area_id"})
    both = theirs.merge(ours, on=["area_id", "requirement"], how="outer", validate="1:1")
    both["same"] = both["status_x"] == both["status_y"]
    lines = [f"{name}: {same.sum()} of {len(same)}" for name, same in both.groupby("requirement")["same"]]
    return "; ".join([f"verdicts as the product's: {both['same'].sum()} of {len(both)}", *lines])
