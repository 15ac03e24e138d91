"""core.state: the state the run is about, with both populations its thresholds refer to."""

import polars as pl

from transforms.codes import BY_UF
from transforms.columns import STATE_CODE, UF
from transforms.schema import Column, Kind, Table, Unit
from transforms.sources import Scope

TABLE = Table(
    name="core.state",
    title="Estado",
    grain="One row per state of the run",
    key=("uf",),
    columns=(
        UF,
        STATE_CODE,
        Column("state_name", Kind.TEXT, "Name of the state.", "Estado"),
        Column("region", Kind.TEXT, "Region of the country.", "Região", values=("N", "NE", "SE", "S", "CO")),
        Column(
            "population_census",
            Kind.INTEGER,
            "Residents counted by the Census 2022: the sum over its districts.",
            "População (Censo 2022)",
            Unit.PERSONS,
            nullable=True,
            minimum=1,
            source="v0001",
        ),
        Column(
            "population_estimate",
            Kind.INTEGER,
            "IBGE's official estimate, the latest published by the date of the run.",
            "População estimada",
            Unit.PERSONS,
            nullable=True,
            minimum=1,
            source="aggregate 6579, variable 9324",
        ),
        Column("estimate_year", Kind.INTEGER, "Year of the estimate.", "Ano da estimativa", Unit.COUNT, nullable=True),
        Column("fiscal_year", Kind.INTEGER, "Last closed fiscal year (art. 2º, IV).", "Exercício", Unit.COUNT),
        Column("as_of", Kind.DATE, "Date that fixes every period.", "Data de referência"),
        Column(
            "revenue_gap",
            Kind.TEXT,
            "Why the state's tax revenue is not known; empty where it is.",
            "Motivo de não haver receita",
            nullable=True,
        ),
    ),
)


def latest_estimates(periods: pl.LazyFrame, populations: pl.LazyFrame, scope: Scope) -> pl.DataFrame:
    """The state's and its municípios' estimates of the latest year published by the date of the run.

    A year that IBGE's list does not have (yet) came in a file placed by hand: it counts from its 1 July on. A year
    without figures is none, and one that has only the state's or only municípios' gives way to a whole one. Columns:
    level, location_code, year, population. Empty where nothing was published by then.
    """
    listed = periods.collect()
    of_state = pl.col("location_code").str.starts_with(scope.state_code)
    found = populations.filter(of_state).select("level", "location_code", "year", "population").collect()
    unlisted = found.filter(pl.date(pl.col("year"), 7, 1) <= scope.as_of).join(listed, on="year", how="anti")
    published = pl.concat([listed.filter(pl.col("modified") <= scope.as_of).select("year"), unlisted.select("year")])
    known = found.filter(pl.col("population").is_not_null()).join(published, on="year", how="semi")
    years = known.group_by("year").agg(pl.col("level").n_unique().alias("levels")).sort("levels", "year").tail(1)
    return known.join(years, on="year", how="semi", maintain_order="left")


def state(
    district_population: pl.DataFrame, estimates: pl.DataFrame, scope: Scope, revenue_gap: str | None = None
) -> pl.DataFrame:
    """One row. A basis that is not at hand is empty; that parts equal totals is for the gate to judge."""
    facts = BY_UF[scope.uf]
    own = estimates.filter(pl.col("level") == "state")
    row = {
        "uf": facts.uf,
        "state_code": facts.code,
        "state_name": facts.name,
        "region": facts.region,
        "population_census": district_population["population_census"].sum() or None,
        "population_estimate": own["population"].item() if own.height else None,
        "estimate_year": own["year"].item() if own.height else None,
        "fiscal_year": scope.fiscal_year,
        "as_of": scope.as_of,
        "revenue_gap": revenue_gap,
    }
    return TABLE.frame([row])
