"""The search for groups of districts: every contiguous set up to a size, judged as an area would be, size by size.

What is left out cannot come to anything, so nothing is missed: sets in which a smaller one is already surely
viable; sets whose origin has surely lost what taking more cannot give back; sets that would fail even with the
most that their neighbourhood can add. Everything is sorted: the same state gives the same groups.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import combinations

import polars as pl

from transforms.columns import ENDS, MEASURES_OF
from transforms.core.figures import FIGURES, DistrictFigures, figures
from transforms.core.remainder import KEYS, after
from transforms.marts.origin_result import origin_result, standing
from transforms.rules.evaluator import MET, NOT_MET, UNDETERMINED, evaluate
from transforms.rules.reading import ORIGIN, Requirement, RuleSet
from transforms.rules.reference import Reference

CERTAIN, LIKELY, POSSIBLE, FAILS = 3, 2, 1, 0
_UNKNOWN = 1 << 50  # stands for a figure without a limit
# What one district does to a whole set: lacking a population it leaves the set without, and where it is not known how
# its houses stand together, the centres of the set add up.
_TELLING = {f"_no_{name}": pl.col(name).is_null() for name in MEASURES_OF["population"]} | {
    "_apart": ~pl.col("clustered").fill_null(False)
}


# How sure a requirement is, from its `status` and `by_value`.
_SURE = (
    pl.when(pl.col("status") == MET)
    .then(CERTAIN)
    .when((pl.col("status") == NOT_MET) | (~pl.col("by_value")).fill_null(False))
    .then(FAILS)
    .when("by_value")
    .then(LIKELY)
    .otherwise(POSSIBLE)
)


@dataclass(frozen=True, slots=True)
class Ground:
    """What is searched: districts that may leave (`free`: district_code, municipality_code), which are neighbours
    (`beside`: district_code, neighbour_code, both ways), and what they are judged by (`origin`: FIGURES before).
    """

    rule_set: RuleSet
    free: pl.DataFrame
    beside: pl.DataFrame
    origin: pl.DataFrame
    municipality: pl.DataFrame
    known: DistrictFigures
    reference: Reference


def viable_sets(ground: Ground, largest: int, most: int) -> tuple[pl.DataFrame, bool]:
    """The smallest sets that fail nothing, and whether all were tried. Columns: codes, sure, open (what is
    undetermined), smallest_margin, population.

    `sure`: CERTAIN, LIKELY or POSSIBLE. Listed are those in which no smaller set is as sure. Single districts too.
    """
    sets = ground.free.select(pl.concat_list("district_code").alias("codes")).sort("codes")
    best: dict[frozenset[str], int] = {}
    found, complete = [], True
    hops = _hops(ground, largest)
    for size in range(1, largest + 1):
        judged = _judged(sets, ground)
        listed = [row["codes"] for row in _minimal(judged, best)]
        found.append(judged.filter(pl.col("codes").list.join("|").is_in(["|".join(codes) for codes in listed])))
        going = judged.filter((pl.col("sure") < CERTAIN) & ~pl.col("lost"))
        if size == largest or going.is_empty():
            break
        going = going.filter(_hoped(going, largest - size, hops, ground) > going["sure"])
        sets = _grown(going, ground.beside)
        if sets.height > most:
            sets, complete = _most_populous(sets, most, ground.known), False
    return pl.concat(found).drop("lost", *FIGURES), complete


def _minimal(judged: pl.DataFrame, best: dict[frozenset[str], int]) -> Iterator[dict[str, list[str]]]:
    """Viable sets surer than every smaller set in them; remembered in `best` for the larger ones to come."""
    for row in judged.filter(pl.col("sure") > FAILS).sort("codes").iter_rows(named=True):
        codes = row["codes"]
        inner = (frozenset(part) for size in range(1, len(codes)) for part in combinations(codes, size))
        if all(best.get(part, FAILS) < row["sure"] for part in inner):
            best[frozenset(codes)] = row["sure"]
            yield row


def _numbered(rows: pl.DataFrame) -> pl.DataFrame:
    return rows.with_row_index("area_id").with_columns(pl.col("area_id").cast(pl.Int64))


def _members(sets: pl.DataFrame) -> pl.DataFrame:
    """area_id (a number), district_code, municipality_code."""
    numbered = _numbered(sets.select("codes"))
    long = numbered.explode("codes").rename({"codes": "district_code"})
    return long.with_columns(pl.col("district_code").str.head(7).alias("municipality_code"))


def _judged(sets: pl.DataFrame, ground: Ground) -> pl.DataFrame:
    """`codes`, FIGURES, `sure`, `open` (requirements undetermined), `smallest_margin`, `population`, `lost`."""
    members = _members(sets)
    wide = figures(members, ["area_id"], ground.known).sort("area_id")
    verdicts = [evaluate(each, wide, ground.reference, ["area_id"]) for each in ground.rule_set.requirements]
    rows = pl.concat(
        each.select("area_id", "requirement", "margin", "status", "by_value") for each in verdicts
    ).collect()
    margin = rows.group_by("area_id").agg(pl.col("margin").min().alias("smallest_margin"))
    viable = _sure(rows).filter(pl.col("sure") > FAILS).select("area_id")
    origins = _origins(members.join(viable, on="area_id", how="semi"), ground)
    lost = origins.filter(pl.col("lost")).select("area_id").unique().with_columns(lost=pl.lit(True))
    all_rows = pl.concat([rows.drop("margin"), origins.drop("lost")])
    open_ = pl.col("status") == UNDETERMINED
    opens = (
        all_rows.filter(open_)
        .group_by("area_id")
        .agg(pl.col("requirement").unique().sort().str.join("|").alias("open"))
    )
    judged = wide.with_columns(sets["codes"], pl.coalesce(MEASURES_OF["population"]).alias("population"))
    for other in (_sure(all_rows), margin, opens, lost):
        judged = judged.join(other, on="area_id", how="left", validate="1:1", maintain_order="left")
    return judged.drop("area_id").with_columns(pl.col("lost").fill_null(False))


def _sure(rows: pl.DataFrame) -> pl.DataFrame:
    """area_id, sure: as sure as its least sure requirement."""
    return rows.group_by("area_id").agg(_SURE.min().alias("sure"))


def _origins(members: pl.DataFrame, ground: Ground) -> pl.DataFrame:
    """One row per set, origin and requirement: area_id, requirement (`origin`), status, by_value, lost (for good)."""
    schema = {"area_id": pl.Int64, "requirement": pl.String, "status": pl.String, "by_value": pl.Boolean}
    rule = ground.rule_set.origin
    if rule is None or members.is_empty():
        return pl.DataFrame(schema=schema | {"lost": pl.Boolean})
    taken = figures(members, KEYS, ground.known)
    rest = after(taken, members, ground.origin, ground.known)
    rows = origin_result(ground.rule_set, ground.origin, rest, ground.municipality, ground.reference)
    status = standing(rule.reading).fill_null(MET)
    for_good = [name for name in rule.requirements if not _can_recover(ground.rule_set.requirement(name))]
    return rows.select(
        "area_id",
        pl.lit(ORIGIN).alias("requirement"),
        status.alias("status"),
        pl.col("after_by_value").alias("by_value"),
        ((status == NOT_MET) & pl.col("requirement").is_in(for_good)).alias("lost"),
    )


def _can_recover(requirement: Requirement) -> bool:
    """Whether a remainder that fails may meet it with less: a share of its own population can grow."""
    return any(arm.comparison == "share_of_own" for arm in requirement.arms)


def _hops(ground: Ground, largest: int) -> list[pl.DataFrame]:
    """By number of steps: the most that any district within so many of each one can add to each of FIGURES."""
    ends = {end: f"urban_houses_{end}" for end in ENDS}
    crossing = ground.known.crossings.group_by("district_code").agg(pl.col(ENDS).max()).rename(ends)
    own = (
        ground.known.districts.join(ground.free.select("district_code"), on="district_code", how="semi")
        .join(crossing, on="district_code", how="left", validate="1:1", suffix="_crossing")
        .with_columns(pl.max_horizontal(name, f"{name}_crossing").alias(name) for name in ends.values())
        .with_columns(tells.alias(name) for name, tells in _TELLING.items())
        .select("district_code", *_TELLING, *(pl.col(name).fill_null(_unknown(name)) for name in FIGURES))
    )
    reach = [own]
    for _ in range(largest):
        near = ground.beside.join(reach[-1].rename({"district_code": "neighbour_code"}), on="neighbour_code")
        both = pl.concat([reach[-1], near.select(reach[-1].columns)])
        reach.append(both.group_by("district_code").agg(pl.col(*_TELLING, *FIGURES).max()))
    return reach


def _unknown(figure: str) -> int:
    """What an unknown part may add: to the least there can be nothing, to all else anything."""
    return 0 if figure.endswith("_low") else _UNKNOWN


def _hoped(going: pl.DataFrame, more: int, hops: list[pl.DataFrame], ground: Ground) -> pl.Series:
    """How sure the sets would be at most if each of `more` districts added the most that the neighbourhood has: one
    that is as sure already cannot grow into one that counts.

    Adding people helps where they are counted and harms where a share of them is asked: both ways are tried, and that
    they are not known any more where somebody near has no count.
    """
    members = _members(going)
    near, here = (members.join(hops[far], on="district_code", validate="m:1").group_by("area_id") for far in (more, 0))
    most = near.agg(pl.col(*_TELLING, *FIGURES).max()).join(
        here.agg(_centres=pl.col("urban_houses_high").sum()), on="area_id", validate="1:1"
    )
    units = _numbered(going.select(FIGURES)).join(
        most, on="area_id", suffix="_more", validate="1:1", maintain_order="left"
    )
    units = units.with_columns(urban_houses_high=pl.when("_apart").then("_centres").otherwise("urban_houses_high"))
    own = {name: pl.col(name).fill_null(0) if name.endswith("_low") else pl.col(name) for name in FIGURES}
    added = {name: (own[name] + pl.col(f"{name}_more") * more).alias(name) for name in FIGURES}
    fuller = units.with_columns(added.values())
    denser = units.with_columns(added[name] for name in FIGURES if not name.startswith("population"))
    lacking = [name for name in MEASURES_OF["population"] if units[f"_no_{name}"].any()]
    vaguer = [
        denser.with_columns(pl.when(~pl.col(f"_no_{name}")).then(name).alias(name) for name in names)
        for count in range(1, len(lacking) + 1)
        for names in combinations(lacking, count)
    ]
    sure = [
        pl.max_horizontal(
            evaluate(requirement, frame, ground.reference, []).select(_SURE).collect().to_series()
            for frame in (fuller, denser, *vaguer)
        )
        for requirement in ground.rule_set.requirements
    ]
    return units.select(pl.min_horizontal(sure)).to_series()


def _grown(sets: pl.DataFrame, beside: pl.DataFrame) -> pl.DataFrame:
    """Every set of one neighbour more, once: `codes`, sorted."""
    members = _members(sets)
    wider = members.join(beside, on="district_code").select("area_id", pl.col("neighbour_code").alias("district_code"))
    wider = wider.unique().join(members, on=["area_id", "district_code"], how="anti")
    numbered = _numbered(sets.select("codes"))
    codes = pl.concat_list("codes", pl.concat_list("district_code")).list.sort()
    grown = wider.join(numbered, on="area_id", validate="m:1").select(codes.list.join("|").alias("codes")).unique()
    return grown.sort("codes").select(pl.col("codes").str.split("|"))


def _most_populous(sets: pl.DataFrame, most: int, known: DistrictFigures) -> pl.DataFrame:
    people = known.districts.select("district_code", pl.coalesce(MEASURES_OF["population"]).alias("people"))
    total = (
        _members(sets).join(people, on="district_code", validate="m:1").group_by("area_id").agg(pl.col("people").sum())
    )
    chosen = total.sort("people", "area_id", descending=[True, False]).head(most)["area_id"].sort()
    return sets[chosen]
