"""The screen of one state, from staged rows to the ranking: what happens, in order. Pure: frames in, frames out."""

from collections.abc import Mapping, Sequence

import polars as pl

from transforms.core.area import area, area_district
from transforms.core.area_measure import area_figures, area_measure, check_certificates
from transforms.core.district import district
from transforms.core.district_collection import district_collection
from transforms.core.district_electorate import district_electorate
from transforms.core.district_measure import district_figures, district_measure, known_figures
from transforms.core.district_population import district_population
from transforms.core.figures import DistrictFigures
from transforms.core.municipality import municipality
from transforms.core.municipality_collection import municipality_collection
from transforms.core.polling_place import polling_place
from transforms.core.remainder import after, before, parts
from transforms.core.state import latest_estimates, state
from transforms.core.state_revenue import state_revenue
from transforms.marts.conflict import minimal_conflicts, same_origin_conflict
from transforms.marts.eligibility import eligibility
from transforms.marts.no_candidate import no_candidate
from transforms.marts.origin_result import TABLE as ORIGIN_RESULT
from transforms.marts.origin_result import origin_result
from transforms.marts.pending import pending
from transforms.marts.requirement_result import requirement_result
from transforms.rules.evaluator import Reference
from transforms.rules.reading import RuleSet
from transforms.sources import Scope

Frames = dict[str, pl.DataFrame]


def screen(
    staged: Mapping[str, pl.LazyFrame],
    scope: Scope,
    rule_sets: Sequence[RuleSet],
    simulated: frozenset[str] = frozenset(),
) -> Frames:
    """Every core and mart table of a state, by name.

    `staged` has every staging table, empty where its source has nothing; `simulated` names sources that are.
    """
    core, known = entities_and_measures(staged, scope, simulated)
    certificates = staged["staging.inputs_certificates__certificate"].collect()
    marts: dict[str, list[pl.DataFrame]] = {}
    for rule_set in rule_sets:
        for name, frame in judge(rule_set, core, known, certificates, bool(simulated)).items():
            marts.setdefault(name, []).append(frame)
    joined = {name: pl.concat(frames) for name, frames in marts.items()}
    return core | joined | {"mart.no_candidate": no_candidate(core["core.district"])}


def entities_and_measures(
    staged: Mapping[str, pl.LazyFrame], scope: Scope, simulated: frozenset[str]
) -> tuple[Frames, DistrictFigures]:
    """Core: who is who, then each measure by district with its bounds, then by area."""
    census = staged["staging.ibge_census_districts__district"]
    collections = staged["staging.inputs_collections__collection"]
    candidates = staged["staging.inputs_candidates__area"]

    districts = district(staged["staging.ibge_localities__district"], census, scope)
    estimates = latest_estimates(
        staged["staging.ibge_estimates__period"], staged["staging.ibge_estimates__population"], scope
    )
    local = estimates.filter(pl.col("level") == "municipality").rename({"location_code": "municipality_code"})
    population = district_population(districts, census, local)
    states = state(population, estimates, scope)

    crosswalk = staged["staging.tse_municipalities__municipality"].filter(pl.col("uf") == scope.uf).collect()
    sections = staged["staging.tse_polling_places__section"]
    hand = staged["staging.inputs_polling_place_districts__place"].collect()
    previous = staged["staging.tse_polling_places__previous_section"]
    mesh = staged["staging.ibge_district_mesh__district"].collect()
    places = polling_place(sections, previous, crosswalk, districts, hand, None if mesh.is_empty() else mesh, scope)
    electorate = district_electorate(places, districts)
    houses, clusters = urban_houses(staged, districts, population)

    revenue = state_revenue(
        staged["staging.siconfi_revenue__account"].collect(),
        staged["staging.siconfi_revenue__delivery"].collect(),
        scope,
    )
    gross = dict(revenue.select("variant", "value").iter_rows()).get("gross")
    by_municipality = municipality_collection(collections, districts["municipality_code"].unique(), gross, scope)
    weights = population.select("district_code", "occupied_dwellings", "population_census").join(
        houses.select("district_code", "establishments"), on="district_code", validate="1:1"
    )
    collection = district_collection(districts, collections, by_municipality, weights, scope)
    municipalities = municipality(districts, population, local, crosswalk, places, by_municipality)

    wide = district_figures(districts, population, electorate, houses, collection)
    known = known_figures(wide, municipalities, places, clusters)
    measures = district_measure(
        wide,
        houses,
        collection,
        estimate_year=states["estimate_year"].item(),
        electorate_on=sections.select(pl.col("generated_on").max()).collect().item(),
        fiscal_year=scope.fiscal_year,
        simulated=simulated,
    )
    areas = area(districts, candidates)
    members = area_district(districts, candidates)
    certificates = check_certificates(staged["staging.inputs_certificates__certificate"].collect(), areas)
    figures = area_figures(members, known, certificates)
    return {
        "core.state": states,
        "core.state_revenue": revenue,
        "core.municipality": municipalities,
        "core.municipality_collection": by_municipality,
        "core.district": districts,
        "core.district_population": population,
        "core.polling_place": places,
        "core.district_electorate": electorate,
        "core.urban_cluster": clusters,
        "core.district_houses": houses,
        "core.district_collection": collection,
        "core.district_measure": measures,
        "core.area": areas,
        "core.area_district": members,
        "core.area_measure": area_measure(figures, members, measures, certificates, simulated),
    }, known


def urban_houses(
    staged: Mapping[str, pl.LazyFrame], districts: pl.DataFrame, population: pl.DataFrame
) -> tuple[pl.DataFrame, pl.DataFrame]:
    houses = (
        districts.select("district_code")
        .join(population, on="district_code")
        .select(
            "district_code",
            pl.lit(0, dtype=pl.Int64).alias("low"),
            pl.lit(None, dtype=pl.Int64).alias("value"),
            pl.col("private_dwellings").alias("high"),
            pl.lit(False).alias("clustered"),
            pl.lit("private dwellings of the district").alias("method"),
            pl.lit("derived").alias("evidence"),
            pl.lit("ibge_census_districts").alias("source"),
            pl.lit(None, dtype=pl.Int64).alias("establishments"),
        )
    )
    clusters = pl.DataFrame(
        schema={
            "cluster_id": pl.String,
            "district_codes": pl.String,
            "low": pl.Int64,
            "value": pl.Int64,
            "high": pl.Int64,
        }
    )
    return houses, clusters


def reference_of(core: Frames) -> Reference:
    """The state's totals that thresholds refer to, in whole numbers (money in cents), by basis."""
    row = core["core.state"].row(0, named=True)
    bases = {basis: row[f"population_{basis}"] for basis in ("census", "estimate")}
    revenue = core["core.state_revenue"].select("variant", "value").iter_rows()
    return Reference(
        region=row["region"],
        population={basis: total for basis, total in bases.items() if total is not None},
        tax_revenue={variant: int(value * 100) for variant, value in revenue},
    )


def judge(
    rule_set: RuleSet, core: Frames, known: DistrictFigures, certificates: pl.DataFrame, simulated: bool
) -> Frames:
    """The marts of one rule set: requirement by requirement, origins, joint effects, the ranking, what to ask."""
    reference = reference_of(core)
    areas, municipalities = core["core.area"], core["core.municipality"]
    exempt = areas.filter(pl.col("kind") == "fusion") if "fusion" in rule_set.procedure else areas.clear()
    judged = core["core.area_district"].join(exempt, on="area_id", how="anti")
    figures = area_figures(judged, known, certificates)

    origin = before(municipalities, known)
    taken = parts(judged, known, certificates)
    remainder = after(taken, judged, origin, known)
    origins = origin_result(rule_set, origin, remainder, municipalities, reference)
    requirements = requirement_result(rule_set, figures, core["core.area_measure"], origins, reference)

    refused = requirements.filter(pl.col("status") == "not_met")
    viable = judged.select("area_id").unique().join(refused, on="area_id", how="anti")
    conflicts = minimal_conflicts(rule_set, viable, taken, judged, origin, municipalities, known, reference)
    ranking = eligibility(
        rule_set,
        areas,
        core["core.area_district"],
        area_figures(core["core.area_district"], known, certificates),
        municipalities,
        requirements,
        same_origin_conflict(conflicts),
        any_simulated=simulated,
    )
    return {
        "mart.requirement_result": requirements,
        "mart.origin_result": ORIGIN_RESULT.conform(origins),
        "mart.eligibility": ranking,
        "mart.pending": pending(rule_set, requirements, ranking),
    }
