"""One rule set applied to a state: from figures to requirements, origins, joint effects, and the ranking."""

from collections.abc import Sequence

import polars as pl

from transforms.core.figures import DistrictFigures
from transforms.core.remainder import after, before, parts
from transforms.marts.conflict import joint_departures, same_origin_conflict
from transforms.marts.eligibility import eligibility
from transforms.marts.joint_departure import joint_departure
from transforms.marts.origin_result import TABLE as ORIGIN_RESULT
from transforms.marts.origin_result import had_before, origin_result
from transforms.marts.pending import pending
from transforms.marts.requirement_result import requirement_result
from transforms.marts.rule_arm import rule_arm
from transforms.marts.sensitivity import sensitivity
from transforms.marts.viable_group import viable_group
from transforms.rules.evaluator import NOT_MET, UNDETERMINED
from transforms.rules.procedure import fusion_exempt, in_federal_territory
from transforms.rules.reading import ORIGIN, RuleSet
from transforms.rules.reference import Reference, reference

Frames = dict[str, pl.DataFrame]


def reference_of(core: Frames, origin: pl.DataFrame, rule_sets: Sequence[RuleSet]) -> Reference:
    """What the areas of the state are compared with, under these rule sets. `origin`: core.remainder.before."""
    row = core["core.state"].row(0, named=True)
    population = {basis: row[f"population_{basis}"] for basis in ("estimate", "census")}
    return reference(row["region"], population, core["core.state_revenue"], origin, rule_sets, row["revenue_gap"] or "")


def exempt_areas(rule_set: RuleSet, core: Frames) -> pl.DataFrame:
    """area_id of the areas that need meet no requirement: fusions (art. 4º), federal territories (art. 7º)."""
    areas, state = core["core.area"], core["core.state"].row(0, named=True)
    if in_federal_territory(rule_set, state["uf"], state["as_of"]):
        return areas.select("area_id")
    return areas.filter((pl.col("kind") == "fusion") & pl.lit(fusion_exempt(rule_set))).select("area_id")


def judge(
    rule_set: RuleSet,
    core: Frames,
    known: DistrictFigures,
    figures: pl.DataFrame,
    certificates: pl.DataFrame,
    simulated: bool,
) -> Frames:
    """The marts of one rule set; `figures`: area_figures of all areas. A fusion has no origin that could lose anything,
    and no requirement rows.
    """
    areas, municipalities = core["core.area"], core["core.municipality"]
    origin = before(municipalities, known)
    versus = reference_of(core, origin, [rule_set])
    had = had_before(rule_set, origin, versus)
    exempt = exempt_areas(rule_set, core)
    fusions = areas.filter(pl.col("kind") == "fusion").select("area_id")
    spared = pl.concat([exempt, fusions]).unique()
    members, own = (rows.join(spared, on="area_id", how="anti") for rows in (core["core.area_district"], figures))

    taken = parts(members, known, certificates)
    remainder = after(taken, members, origin, known)
    origins = origin_result(rule_set, had, remainder, municipalities, versus)
    requirements = requirement_result(rule_set, own, core["core.area_measure"], origins, versus)

    viable = _viable(taken, requirements)
    joint = joint_departures(rule_set, viable, taken, members, origin, had, known, versus)
    conflicts = same_origin_conflict(joint)
    ranking = eligibility(rule_set, core, figures, requirements, conflicts, exempt, any_simulated=simulated)
    return {
        "mart.rule_arm": rule_arm(rule_set),
        "mart.requirement_result": requirements,
        "mart.origin_result": ORIGIN_RESULT.conform(origins),
        "mart.eligibility": ranking,
        "mart.pending": pending(rule_set, requirements, ranking),
        "mart.joint_departure": joint_departure(rule_set, joint, viable, areas, municipalities),
        "mart.viable_group": viable_group(rule_set, core, known, origin, had, versus, simulated=simulated),
        "mart.sensitivity": sensitivity(rule_set, ranking, requirements, origins, own, remainder, versus),
    }


def _viable(taken: pl.DataFrame, requirements: pl.DataFrame) -> pl.DataFrame:
    """One row per município of origin and area that fails nothing alone: municipality_code, area_id, and whether it is
    `undetermined` that the area may leave it by itself.
    """
    status = pl.col("status")
    alone = requirements.filter(pl.col("requirement") == ORIGIN).select("area_id", undetermined=status == UNDETERMINED)
    left = taken.select("municipality_code", "area_id").join(alone, on="area_id", validate="m:1")
    failed = requirements.filter(status == NOT_MET)
    return left.join(failed, on="area_id", how="anti").sort("municipality_code", "area_id")
