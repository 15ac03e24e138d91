"""The plain job's law: the requirements, the origin before and after, the ranking, and what would change it."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd
from pandas import DataFrame as Frame

from tests.benchmarks.plain.districts import ENDS, centres
from tests.benchmarks.plain.reading import VARIANTS, Frames

Totals = Mapping[str, Any]
MET, NOT_MET, UNDETERMINED = STATUSES = ("met", "not_met", "undetermined")
REQUIREMENTS = ("population", "electorate", "urban_houses", "collection")
BASES = ("estimate", "census")


def verdict(met: pd.Series, possible: pd.Series) -> pd.Series:
    """Met for every value within the bounds, not met for none, else undetermined."""
    return pd.Series(np.select([met, ~possible], STATUSES[:2], UNDETERMINED), index=met.index)


def agreed(verdicts: Sequence[pd.Series]) -> pd.Series:
    """All alike, or undetermined; null is no verdict."""
    rows = pd.concat(verdicts, axis=1)
    return rows.bfill(axis=1).iloc[:, 0].where(rows.nunique(axis=1) == 1, UNDETERMINED)


def judged(units: Frame, keys: list[str], totals: Totals) -> Frame:
    """Each unit's four requirements. Whole numbers throughout (money in cents): nothing is rounded."""
    both = units[["population_estimate", "population_census"]]
    fewest, people, most = both.min(axis=1), both.bfill(axis=1).iloc[:, 0], both.max(axis=1)
    figures = {name: [units[f"{name}_{end}"] for end in ENDS] for name in REQUIREMENTS[1:]}
    voters, houses, money = figures.values()
    by_basis, by_variant = [], []
    for basis in BASES:
        own = units[f"population_{basis}"]
        met = (own > 10_000) | (own * 200 >= totals[f"population_{basis}"])
        by_basis.append(verdict(met, met).where(own.notna()))
    for variant in VARIANTS:
        total = totals[f"revenue_{variant}"]
        by_variant.append(verdict(money[0] * 200 >= total, ~(money[2] * 200 < total)))
    easiest, revenue_ = min(10_000, totals["population_estimate"] / 200), totals["revenue_gross"]
    parts = {
        "population": (fewest, people, most, easiest, agreed(by_basis),
                       by_basis[0].fillna(by_basis[1]) == MET),
        "electorate": (*voters, people / 10, verdict(voters[0] * 10 >= most, ~(voters[2] * 10 < fewest)),
                       voters[1] * 10 >= people),
        "urban_houses": (*houses, 200, verdict(houses[0] > 200, ~(houses[2] <= 200)), houses[1] > 200),
        "collection": (*(each / 100 for each in money), revenue_ / 20_000, agreed(by_variant),
                       money[1] * 200 >= revenue_),
    }  # fmt: skip
    found = []
    for requirement, (low, value, high, threshold, status, passes) in parts.items():
        margin = (value / threshold - 1).round(4)
        likely = passes.map({True: "likely_met", False: "likely_not_met"})
        rows = units[keys].assign(requirement=requirement, low=low, value=value, high=high, threshold=threshold)
        indication = likely.where(value.notna() & (status == UNDETERMINED))
        found.append(rows.assign(margin=margin, status=status, indication=indication))
    return pd.concat(found, ignore_index=True)


def remainders(areas: Frame, districts: Frame, municipalities: Frame) -> Frame:
    """What is left of each município of origin: its totals less the area's bounds, and its own largest centre."""
    whole = areas.merge(municipalities, on="municipality_code", suffixes=("", "_whole"), validate="m:1")
    pairs = areas[["district_code", "municipality_code"]].rename(columns={"district_code": "leaving"})
    pairs = pairs.merge(districts, on="municipality_code")
    rest = centres(pairs[pairs["leaving"] != pairs["district_code"]], "leaving")
    left = whole[["district_code", "municipality_code", "municipality_name"]].copy()
    leaves = {f"population_{basis}": f"population_{basis}" for basis in BASES} | {
        f"{measure}_{end}": f"{measure}_{other}"
        for measure in ("electorate", "collection")
        for end, other in zip(ENDS, ENDS[::-1], strict=True)
    }
    for name, other in leaves.items():
        left[name] = (whole[f"{name}_whole"] - whole[other]).clip(lower=0)
    return left.merge(rest, left_on="district_code", right_on="leaving", how="left", validate="1:1")


def marts(districts: Frame, municipalities: Frame, totals: Totals) -> Frames:
    """The law's requirements, the origin before and after, the ranking, what is pending and what would change it."""
    areas = districts[districts["is_candidate"]].reset_index(drop=True)
    rest = remainders(areas, districts, municipalities)
    before = judged(municipalities, ["municipality_code"], totals)
    origins = judged(rest, ["district_code", "municipality_code", "municipality_name"], totals).merge(
        before, on=["municipality_code", "requirement"], suffixes=("_after", "_before"), validate="m:1"
    )
    had, keeps = origins["status_before"], origins["status_after"]
    conditions = [had == NOT_MET, keeps == MET, (had == MET) & (keeps == NOT_MET)]
    origins["verdict"] = np.select(conditions, ["never_had", "kept", "lost"], UNDETERMINED)
    results = pd.concat([judged(areas, ["district_code"], totals), of_origin(origins)], ignore_index=True)
    ranking = eligibility(areas, results)
    asked = results[(results["status"] == UNDETERMINED) & (results["requirement"] != "origin")]
    open_ = ranking.loc[ranking["status"] != "ineligible", ["district_code", "district_name"]]
    none = districts[~districts.groupby("municipality_code")["is_candidate"].transform("any")]
    return {
        "mart.requirement_result": results,
        "mart.origin_result": origins,
        "mart.eligibility": ranking,
        "mart.pending": open_.merge(asked[["district_code", "requirement", *ENDS]], on="district_code"),
        "mart.no_candidate": none[["uf", "municipality_code", "municipality_name"]].drop_duplicates(),
        "mart.sensitivity": sensitivity(areas, rest, results, origins, ranking, totals),
    }


def of_origin(origins: Frame) -> Frame:
    """The fifth requirement of each area: that its origin loses nothing."""
    open_, likely, keeps = origins["verdict"] == UNDETERMINED, origins["indication_after"], origins["status_after"]
    fails = (keeps == NOT_MET) | (likely == "likely_not_met")
    unknown = (keeps == UNDETERMINED) & likely.isna()
    facts = {"lost": origins["verdict"] == "lost", "open": open_, "unlikely": open_ & fails, "unknown": open_ & unknown}
    rows = origins[["district_code"]].assign(**facts).groupby("district_code").any().reset_index()
    status = np.select([rows["lost"], rows["open"]], [NOT_MET, UNDETERMINED], MET)
    indication = pd.Series(np.where(rows["unlikely"], "likely_not_met", "likely_met"))
    indication = indication.where((status == UNDETERMINED) & (rows["unlikely"] | ~rows["unknown"]))
    return rows[["district_code"]].assign(requirement="origin", status=status, indication=indication)


def eligibility(areas: Frame, results: Frame) -> Frame:
    """Each area's status, likelihood, counts and binding requirement, in rank order."""
    names = ["district_code", "district_name", "municipality_code", "municipality_name", "uf"]
    found = areas[[*names, *(f"{measure}_value" for measure in REQUIREMENTS[1:])]]
    found = found.assign(population=areas["population_estimate"].fillna(areas["population_census"]))
    counts = pd.crosstab(results["district_code"], results["status"]).reindex(columns=STATUSES, fill_value=0)
    found = found.merge(counts.add_prefix("requirements_").reset_index(), on="district_code", validate="1:1")
    closest = results.dropna(subset="margin").sort_values("margin", kind="stable").drop_duplicates("district_code")
    closest = closest.set_index("district_code")[["requirement", "margin"]]
    closest.columns = ["binding_requirement", "smallest_margin"]
    found = found.join(closest, on="district_code")
    fails, open_ = found["requirements_not_met"] > 0, found["requirements_undetermined"] > 0
    found["status"] = np.select([fails, open_], ["ineligible", UNDETERMINED], "eligible")
    unlikely = results[results["indication"] == "likely_not_met"]["district_code"]
    unknown = results[(results["status"] == UNDETERMINED) & results["indication"].isna()]["district_code"]
    cases = [found["district_code"].isin(unlikely), found["district_code"].isin(unknown)]
    likely = pd.Series(np.select(cases, ["likely_ineligible", "unknown"], "likely_eligible"))
    found["likely"] = likely.where(found["status"] == UNDETERMINED)
    origin = results[results["requirement"] == "origin"].set_index("district_code")["status"]
    return ranked(found.assign(origin_status=found["district_code"].map(origin)))


def ranked(found: Frame) -> Frame:
    """Status, likelihood, requirements met, smallest margin, population, code; equal but for the code share a rank."""
    keys = found[["requirements_met", "smallest_margin", "population"]].mul(-1)
    keys.insert(0, "likely", found["likely"].map({"likely_eligible": 0, "unknown": 1, "likely_ineligible": 2}))
    keys.insert(0, "status", found["status"].map({"eligible": 0, UNDETERMINED: 1, "ineligible": 2}))
    order = keys.assign(code=found["district_code"]).sort_values([*keys, "code"])
    place = pd.Series(np.arange(1, len(order) + 1), index=order.index)
    rank = place.where(~order.duplicated(list(keys))).ffill().astype(int)
    return found.assign(rank=rank).loc[order.index].reset_index(drop=True)


def steps(units: Frame, keys: list[str], totals: Totals) -> Frame:
    """By requirement: how far its figure must rise to be no longer surely failed, or fall to be no longer surely met;
    `harm`: the rise at which the voters become too few.
    """
    people = units[["population_estimate", "population_census"]]
    least, most = people.min(axis=1), people.max(axis=1)
    arms = np.minimum(10_001, np.ceil([totals["population_estimate"] / 200, totals["population_census"] / 200]))
    money = [np.ceil(totals[f"revenue_{variant}"] / 200) for variant in VARIANTS]
    limits = {
        "electorate": (np.ceil(least / 10), np.ceil(most / 10)),
        "urban_houses": (201, 201),
        "collection": (min(money), max(money)),
    }
    found = [units[keys].assign(
        requirement="population", figure=most, increase=(arms - people).min(axis=1),
        decrease=(people - arms + 1).min(axis=1), harm=units["electorate_high"] * 10 - least + 1,
    )]  # fmt: skip
    for requirement, (low, high) in limits.items():
        figure = units[f"{requirement}_high"]
        fall = units[f"{requirement}_low"] - high + 1
        found.append(units[keys].assign(requirement=requirement, figure=figure, increase=low - figure, decrease=fall))
    return pd.concat(found, ignore_index=True)


def sensitivity(areas: Frame, rest: Frame, results: Frame, origins: Frame, ranking: Frame, totals: Totals) -> Frame:
    """The smallest change that undoes an eligible area, or mends one that fails in a single thing."""
    own, left = ["district_code", "requirement"], ["district_code", "municipality_code", "requirement"]
    stands = origins["verdict"].map({"kept": MET, "lost": NOT_MET, UNDETERMINED: UNDETERMINED})
    of_area = steps(areas, own[:1], totals).merge(results[[*own, "status"]], on=own, validate="1:1")
    of_rest = steps(rest, left[:2], totals).merge(origins[left].assign(status=stands), on=left, validate="1:1")
    both = pd.concat([of_area, of_rest], ignore_index=True)
    failed, code = both["status"] == NOT_MET, both["district_code"]
    once = code.map(both[failed].groupby("district_code").size()) == 1
    eligible = code.map(ranking.set_index("district_code")["status"]) == "eligible"
    mends = failed & once & ~(both["increase"] >= both["harm"]) & (both["increase"] > 0)
    undoes = eligible & (both["status"] == MET) & (both["decrease"] > 0)
    both["direction"] = pd.Series(np.where(mends, "increase", "decrease")).where(mends | undoes)
    both["amount"] = both["increase"].where(mends, both["decrease"].where(undoes))
    both["share"] = both["amount"] / both["figure"].where(both["figure"] > 0)
    chosen = both.dropna(subset="amount").sort_values("share").drop_duplicates("district_code")
    chosen = chosen[[*left, "direction", "amount", "share"]]
    return ranking[["district_code", "status"]].merge(chosen, on="district_code", how="left", validate="1:1")
