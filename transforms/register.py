"""The register of petitions: from proposals.csv and the screen to where each petition stands. Pure, like the screen."""

from collections.abc import Mapping, Sequence

import polars as pl

from transforms.core.proposal import proposal, proposal_event
from transforms.marts.plebiscite_result import plebiscite_result
from transforms.marts.proposal_request import proposal_request
from transforms.marts.proposal_stage import proposal_stage
from transforms.petition import Petition, Screened
from transforms.rules.reading import RuleSet
from transforms.sources import Scope

Frames = dict[str, pl.DataFrame]


def register(
    staged: Mapping[str, pl.LazyFrame], screened: Frames, scope: Scope, rule_sets: Sequence[RuleSet], *, simulated: bool
) -> Frames:
    """The tables of the register. `screened`: the core and mart tables of the screen of these rule sets."""
    areas = screened["core.area"]
    events = proposal_event(
        staged["staging.inputs_proposals__event"].collect(),
        staged["staging.tse_plebiscite__section"].collect(),
        areas,
        screened["core.area_district"],
        screened["core.municipality"],
        screened["core.district"],
        scope,
    )
    proposals = proposal(events, areas)
    petitions = petitions_of(proposals, events, screened, scope, rule_sets)
    return {
        "core.proposal": proposals,
        "core.proposal_event": events,
        "mart.proposal_stage": proposal_stage(petitions, simulated=simulated),
        "mart.proposal_request": proposal_request(petitions),
        "mart.plebiscite_result": plebiscite_result(petitions),
    }


def petitions_of(
    proposals: pl.DataFrame, events: pl.DataFrame, screened: Frames, scope: Scope, rule_sets: Sequence[RuleSet]
) -> list[Petition]:
    """Every proposal under every rule set, with its events by the date of the run."""
    counted = events.filter("is_counted").rows_by_key("proposal_id", named=True)
    names = screened["core.municipality"].select("municipality_code", "municipality_name")
    inside = screened["core.area_district"].select("area_id", "municipality_code").unique()
    places = inside.join(names, on="municipality_code", validate="m:1").sort("area_id", "municipality_code")
    municipalities = {key: dict(rows) for key, rows in places.rows_by_key("area_id").items()}
    said = screens(screened, proposals["area_id"])
    return [
        Petition(
            rule_set=rule_set,
            as_of=scope.as_of,
            municipalities=municipalities[row["area_id"]],
            events=counted[row["proposal_id"]],
            screened=said[rule_set.id, row["area_id"]],
            **{name: row[name] for name in ("proposal_id", "area_id", "area_name", "uf", "kind")},
        )
        for rule_set in rule_sets
        for row in proposals.iter_rows(named=True)
    ]


def screens(screened: Frames, areas: pl.Series) -> dict[tuple[str, str], Screened]:
    """What the screen says of those areas, by rule set and area."""
    of_areas = pl.col("area_id").is_in(areas.unique().to_list())
    results = screened["mart.requirement_result"].filter(of_areas)
    voters = screened["core.area_measure"].filter(of_areas & (pl.col("measure") == "electorate"))
    ends = voters.select("area_id", pl.col("low", "high").cast(pl.Int64))
    bounds = {area: (low, high) for area, low, high in ends.iter_rows()}
    by_status = {
        key: tuple(name for (name,) in rows)
        for key, rows in results.select("rule_set", "area_id", "status", "requirement")
        .rows_by_key(["rule_set", "area_id", "status"])
        .items()
    }
    return {
        (rule_set, area): Screened(
            status,
            by_status.get((rule_set, area, "not_met"), ()),
            by_status.get((rule_set, area, "undetermined"), ()),
            bounds[area],
        )
        for rule_set, area, status in screened["mart.eligibility"]
        .filter(of_areas)
        .select("rule_set", "area_id", "status")
        .iter_rows()
    }
