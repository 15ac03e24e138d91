"""The screen of one state, from staged rows to the ranking: what happens, in order. Pure: frames in, frames out."""

from collections.abc import Mapping, Sequence
from decimal import Decimal

import polars as pl

from transforms.codes import in_state
from transforms.core.area import area, area_district
from transforms.core.area_measure import area_figures, area_measure
from transforms.core.certificate import checked, counted
from transforms.core.district import district
from transforms.core.district_collection import district_collection
from transforms.core.district_electorate import district_electorate
from transforms.core.district_houses import district_houses
from transforms.core.district_measure import district_figures, district_measure, known_figures
from transforms.core.district_population import district_population
from transforms.core.figures import DistrictFigures
from transforms.core.left_out import left_out
from transforms.core.municipality import municipality
from transforms.core.municipality_collection import municipality_collection, stated
from transforms.core.neighbour import neighbour
from transforms.core.polling_place import polling_place
from transforms.core.state import latest_estimates, state
from transforms.core.state_revenue import state_revenue, why_unknown
from transforms.core.urban_cluster import urban_cluster
from transforms.core.urban_cluster_district import urban_cluster_district
from transforms.judgement import judge
from transforms.marts.name_check import name_check
from transforms.marts.no_candidate import no_candidate
from transforms.register import register
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
    certificates = counted(staged["staging.inputs_certificates__certificate"], scope)
    areas, figures = areas_and_figures(staged["staging.inputs_candidates__area"], core, known, certificates, simulated)
    core |= areas
    marts: dict[str, list[pl.DataFrame]] = {}
    for rule_set in rule_sets:
        for name, frame in judge(rule_set, core, known, figures, certificates, bool(simulated)).items():
            marts.setdefault(name, []).append(frame)
    joined = {name: pl.concat(frames) for name, frames in marts.items()}
    named = name_check(core["core.area"], core["core.area_district"], staged["staging.ibge_census_districts__district"])
    unruled = {"mart.no_candidate": no_candidate(core["core.district"]), "mart.name_check": named}
    found = core | joined | unruled
    return found | register(staged, found, scope, rule_sets, simulated=bool(simulated))


def entities_and_measures(
    staged: Mapping[str, pl.LazyFrame], scope: Scope, simulated: frozenset[str]
) -> tuple[Frames, DistrictFigures]:
    """The core tables but those of areas; and the figures that any set of districts has."""
    core = entities(staged, scope)
    by_district, known = measures(staged, core, scope, simulated)
    return core | by_district, known


def entities(staged: Mapping[str, pl.LazyFrame], scope: Scope) -> Frames:
    """Who is who: the state, its municípios, districts and polling places, with the totals that are known of them."""
    census = staged["staging.ibge_census_districts__district"].filter(in_state("district_code", scope.state_code))
    districts = district(staged["staging.ibge_localities__district"], census, scope)
    estimates = latest_estimates(
        staged["staging.ibge_estimates__period"], staged["staging.ibge_estimates__population"], scope
    )
    local = estimates.filter(pl.col("level") == "municipality").rename({"location_code": "municipality_code"})
    population = district_population(districts, census, local)

    crosswalk = staged["staging.tse_municipalities__municipality"].filter(pl.col("uf") == scope.uf).collect()
    sections = staged["staging.tse_polling_places__section"]
    hand = staged["staging.inputs_polling_place_districts__place"].collect()
    previous = staged["staging.tse_polling_places__previous_section"]
    mesh = staged["staging.ibge_district_mesh__district"].collect()
    places = polling_place(sections, previous, crosswalk, districts, hand, None if mesh.is_empty() else mesh, scope)

    accounts = staged["staging.siconfi_revenue__account"].collect()
    deliveries = staged["staging.siconfi_revenue__delivery"].collect()
    revenue = state_revenue(accounts, deliveries, scope)
    gap = why_unknown(accounts, deliveries, scope) if revenue.is_empty() else None
    said = stated(staged["staging.inputs_collections__collection"], scope)
    collected = municipality_collection(said, districts["municipality_code"].unique(), _gross(revenue), scope)
    return {
        "core.state": state(population, estimates, scope, gap),
        "core.state_revenue": revenue,
        "core.municipality": municipality(districts, population, local, crosswalk, places, collected),
        "core.municipality_collection": collected,
        "core.district": districts,
        "core.district_population": population,
        "core.polling_place": places,
        "core.left_out": left_out(staged, places, scope),
        "core.neighbour": neighbour(mesh),
    }


def measures(
    staged: Mapping[str, pl.LazyFrame], core: Frames, scope: Scope, simulated: frozenset[str]
) -> tuple[Frames, DistrictFigures]:
    """Each measure by district with its bounds, from the `entities`; and what `figures` of any set is made of."""
    districts, population, places = core["core.district"], core["core.district_population"], core["core.polling_place"]
    electorate = district_electorate(places, districts)
    of_sectors = (staged[f"staging.ibge_census_sectors__{name}"] for name in ("sector", "houses"))
    sectors, in_sectors = (rows.filter(in_state("sector_code", scope.state_code)).collect() for rows in of_sectors)
    addresses, mesh = staged["staging.ibge_addresses__cell"], staged["staging.ibge_district_mesh__sector"]
    centres = urban_cluster_district(sectors, in_sectors, addresses, mesh, districts)
    houses = district_houses(centres, sectors, addresses, population, districts)
    weights = population.select("district_code", "occupied_dwellings", "population_census").join(
        houses.select("district_code", "establishments"), on="district_code", validate="1:1"
    )
    said = stated(staged["staging.inputs_collections__collection"], scope)
    collection = district_collection(districts, said, core["core.municipality_collection"], weights, scope)

    wide = district_figures(districts, population, electorate, houses, collection)
    sections = staged["staging.tse_polling_places__section"]
    measured = district_measure(
        wide,
        houses,
        collection,
        estimate_year=core["core.state"]["estimate_year"].item(),
        electorate_on=sections.select(pl.col("generated_on").max()).collect().item(),
        fiscal_year=scope.fiscal_year,
        simulated=simulated,
    )
    return {
        "core.district_electorate": electorate,
        "core.urban_cluster_district": centres,
        "core.urban_cluster": urban_cluster(centres),
        "core.district_houses": houses,
        "core.district_collection": collection,
        "core.district_measure": measured,
    }, known_figures(wide, core["core.municipality"], places, centres)


def areas_and_figures(
    candidates: pl.LazyFrame,
    core: Frames,
    known: DistrictFigures,
    certificates: pl.DataFrame,
    simulated: frozenset[str],
) -> tuple[Frames, pl.DataFrame]:
    """What is judged: the areas, their districts, and their measures, certificates before all else; and the figures
    that the measures show.
    """
    districts, municipalities = core["core.district"], core["core.municipality"]
    areas = area(districts, candidates)
    members = area_district(districts, candidates)
    gross = _gross(core["core.state_revenue"])
    certified = checked(certificates, members, municipalities, core["core.municipality_collection"], gross)
    figures = area_figures(members, known, certified)
    return {
        "core.area": areas,
        "core.area_district": members,
        "core.area_measure": area_measure(figures, members, core["core.district_measure"], certified, simulated),
    }, figures


def _gross(revenue: pl.DataFrame) -> Decimal | None:
    """The state's tax revenue by its main definition; None where it is not known."""
    found: Decimal | None = dict(revenue.select("variant", "value").iter_rows()).get("gross")
    return found
