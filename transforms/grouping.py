"""The search for groups of districts: every contiguous set up to a size, judged as an area would be, size by size.

What is left out cannot come to anything, so nothing is missed. A set comes to its end that is surely viable, whose
origin has surely lost what taking more cannot give back, or that even with the most that its neighbourhood can add
would be no surer than it is or than a set inside it: none that contains it is tried. Everything is sorted: the same
state gives the same groups.
"""

from dataclasses import dataclass
from itertools import combinations
from typing import TypeAlias

import numpy as np
import polars as pl
from numpy.typing import NDArray

from transforms.columns import ENDS, MEASURES_OF
from transforms.core.figures import FIGURES, DistrictFigures, figures
from transforms.core.remainder import KEYS, after
from transforms.marts.origin_result import asked_of_origins, origin_verdicts, standing
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
_REACHED = (*_TELLING, *FIGURES)  # the columns of what is within so many steps

Sets: TypeAlias = NDArray[np.int64]  # a row per set: where its districts stand in Ground.free, ascending
Grades: TypeAlias = NDArray[np.int64]  # how sure each set is


# How sure a requirement is, from its `status` and `by_value`.
_SURE = (
    pl.when(pl.col("status") == MET)
    .then(CERTAIN)
    .when((pl.col("status") == NOT_MET) | (~pl.col("by_value")).fill_null(False))
    .then(FAILS)
    .when("by_value")
    .then(LIKELY)
    .otherwise(POSSIBLE)
    .cast(pl.Int64)
)


@dataclass(frozen=True, slots=True)
class Ground:
    """What is searched: districts that may leave (`free`: district_code, municipality_code; sorted), which are
    neighbours (`beside`: district_code, neighbour_code, both ways), and what they are judged by (`origin`: FIGURES
    before; `had`: what they came to).
    """

    rule_set: RuleSet
    free: pl.DataFrame
    beside: pl.DataFrame
    origin: pl.DataFrame
    had: pl.DataFrame
    known: DistrictFigures
    reference: Reference


def viable_sets(ground: Ground, largest: int, most: int) -> tuple[pl.DataFrame, bool]:
    """The smallest sets that fail nothing, and whether all were tried. Columns: codes, sure, open (what is
    undetermined), smallest_margin, population.

    `sure`: CERTAIN, LIKELY or POSSIBLE. Listed are those in which no smaller set is as sure. Single districts too.
    """
    sets, inside = np.arange(ground.free.height)[:, None], np.full(ground.free.height, FAILS)
    blocked, best = sets[:0], list[pl.DataFrame]()
    found, complete = [], True
    beside = _places(ground)
    hops = _hops(ground, beside, largest)
    for size in range(1, largest + 1):
        judged = _judged(sets, inside if size == largest else None, ground)
        sure = judged["sure"].to_numpy()
        listed = _minimal(sets, sure, inside, best)
        codes = ground.free["district_code"].gather(sets[listed].ravel()).reshape((-1, size)).arr.to_list()
        found.append(judged.filter(listed).with_columns(codes.alias("codes")))
        if size == largest:
            break
        surest = np.maximum(sure, inside)
        going = (surest < CERTAIN) & ~(judged["lost"].to_numpy() & ~_vague(sets, largest - size, hops))
        going[going] = _hoped(sets[going], judged.filter(going), largest - size, hops, ground) > surest[going]
        ended = np.concatenate([blocked, sets[~going]])
        sets, inside, blocked = _grown(sets[going], surest[going], ended, beside)
        if not len(sets):
            break
        if len(sets) > most:
            chosen = _most_populous(sets, most, ground)
            sets, inside, complete = sets[chosen], inside[chosen], False
    every = pl.concat(found)
    return every.with_columns(smallest_margin=_smallest_margin(every, ground)).drop("lost", *FIGURES), complete


def _smallest_margin(rows: pl.DataFrame, ground: Ground) -> pl.Expr:
    """Of all requirements. `rows`: FIGURES and `sure`, asked for too: a margin that nobody has is a single null."""
    asked = [evaluate(each, rows, ground.reference, ["sure"], ("margin",)) for each in ground.rule_set.requirements]
    return pl.min_horizontal(each["margin"] for each in asked)


def _minimal(sets: Sets, sure: Grades, inside: Grades, best: list[pl.DataFrame]) -> NDArray[np.bool]:
    """Which are surer than every smaller set in them; remembered in `best`, by size, for the larger ones to come.

    `inside` is as sure as the surest smaller set that the search came by: most need no other look.
    """
    surer: NDArray[np.bool] = sure > inside
    for smaller in best:
        left, places = np.flatnonzero(surer), smaller.columns[:-1]
        within = list(combinations(range(sets.shape[1]), len(places)))
        parts = _frame(np.concatenate([sets[left][:, part] for part in within]))
        found = parts.join(smaller, on=places, how="left", validate="m:1", maintain_order="left")["sure"]
        surer[left] = found.fill_null(FAILS).to_numpy().reshape(len(within), len(left)).max(axis=0) < sure[left]
    best.append(_frame(sets[surer]).with_columns(pl.Series("sure", sure[surer])))
    return surer


def _frame(sets: Sets) -> pl.DataFrame:
    """A column for each place."""
    return pl.DataFrame(sets, schema=[f"place_{n}" for n in range(sets.shape[1])], orient="row")


def _places(ground: Ground) -> pl.DataFrame:
    """`beside` as places in `free`: place, other."""
    place = pl.lit(ground.free["district_code"]).search_sorted
    return ground.beside.select(
        place(pl.col(code)).cast(pl.Int64).alias(name)
        for name, code in (("place", "district_code"), ("other", "neighbour_code"))
    )


def _members(sets: Sets, ground: Ground) -> pl.DataFrame:
    """area_id (the number of the set), district_code, municipality_code."""
    number = pl.Series("area_id", np.repeat(np.arange(len(sets)), sets.shape[1]))
    return ground.free[sets.ravel()].with_columns(number)


def _judged(sets: Sets, inside: Grades | None, ground: Ground) -> pl.DataFrame:
    """FIGURES, `population`, `sure`, `open` (requirements undetermined), `lost`; a row per set.

    With `inside`, none grows any more, and origins are asked only of those that without them are surer than that.
    """
    members = _members(sets, ground)
    wide = figures(members, ["area_id"], ground.known).sort("area_id")
    verdicts = [
        evaluate(each, wide, ground.reference, [], only=("status", "by_value")).select(
            _SURE.alias(f"sure_{each.name}"), (pl.col("status") == UNDETERMINED).alias(f"open_{each.name}")
        )
        for each in ground.rule_set.requirements
    ]
    own = pl.concat([wide, *verdicts], how="horizontal")
    asked = own.filter(pl.min_horizontal("^sure_.*$") > (FAILS if inside is None else pl.Series(inside)))
    origins = _origins(members.join(asked, on="area_id", how="semi"), ground)
    whole = own.join(origins, on="area_id", how="left", validate="1:1", maintain_order="left")
    names = sorted([ORIGIN, *(each.name for each in ground.rule_set.requirements)])
    open_ = [pl.when(f"open_{name}").then(pl.lit(name)) for name in names]
    return whole.select(
        *FIGURES,
        pl.coalesce(MEASURES_OF["population"]).alias("population"),
        pl.min_horizontal("^sure_.*$").alias("sure"),
        pl.concat_str(open_, separator="|", ignore_nulls=True).replace("", None).alias("open"),
        pl.col("lost").fill_null(value=False),
    )


def _origins(members: pl.DataFrame, ground: Ground) -> pl.DataFrame:
    """What their origins come to, by set: area_id, sure_origin, open_origin, lost (for good)."""
    schema = {"area_id": pl.Int64, f"sure_{ORIGIN}": pl.Int64, f"open_{ORIGIN}": pl.Boolean, "lost": pl.Boolean}
    rule = ground.rule_set.origin
    if rule is None or members.is_empty():
        return pl.DataFrame(schema=schema)
    taken = figures(members, KEYS, ground.known)
    rest = after(taken, members, ground.origin, ground.known)
    for_good = [each.name for each in asked_of_origins(ground.rule_set) if not _can_recover(each)]
    status = pl.col("status")
    lost = (status == NOT_MET) & pl.col("requirement").is_in(for_good)
    rows = origin_verdicts(ground.rule_set, ground.had, rest, ground.reference).select(
        "area_id", "requirement", standing(rule.reading).fill_null(MET).alias("status"), by_value="after_by_value"
    )
    return rows.group_by("area_id").agg(
        _SURE.min().alias(f"sure_{ORIGIN}"),
        (status == UNDETERMINED).any().alias(f"open_{ORIGIN}"),
        lost.any().alias("lost"),
    )


def _can_recover(requirement: Requirement) -> bool:
    """Whether a remainder that fails may meet it with less: a share of its own population can grow."""
    return any(arm.comparison == "share_of_own" for arm in requirement.arms)


def _hops(ground: Ground, beside: pl.DataFrame, largest: int) -> list[Sets]:
    """By number of steps: the most that any district within so many of each one can add. Rows as `free`, _REACHED."""
    ends = {end: f"urban_houses_{end}" for end in ENDS}
    crossing = ground.known.crossings.group_by("district_code").agg(pl.col(ENDS).max()).rename(ends)
    own = (
        ground.free.select("district_code")
        .join(ground.known.districts, on="district_code", validate="1:1", maintain_order="left")
        .join(crossing, on="district_code", how="left", validate="1:1", maintain_order="left", suffix="_crossing")
        .with_columns(pl.max_horizontal(name, f"{name}_crossing").alias(name) for name in ends.values())
        .with_columns(tells.alias(name) for name, tells in _TELLING.items())
        .select(*_TELLING, *(pl.col(name).fill_null(_unknown(name)) for name in FIGURES))
    )
    reach = [own.cast(pl.Int64).to_numpy()]
    for _ in range(largest):
        further = reach[-1].copy()
        np.maximum.at(further, beside["place"].to_numpy(), reach[-1][beside["other"].to_numpy()])
        reach.append(further)
    return reach


def _unknown(figure: str) -> int:
    """What an unknown part may add: to the least there can be nothing, to all else anything."""
    return 0 if figure.endswith("_low") else _UNKNOWN


def _vague(sets: Sets, more: int, hops: list[Sets]) -> NDArray[np.bool]:
    """Which can take in a district without a count of its people: then nobody knows what the origin has lost."""
    near = np.maximum.reduce([hops[more][places] for places in sets.T])
    places = [_REACHED.index(f"_no_{name}") for name in MEASURES_OF["population"]]
    lacking: NDArray[np.bool] = (near[:, places] > 0).any(axis=1)
    return lacking


def _hoped(sets: Sets, going: pl.DataFrame, more: int, hops: list[Sets], ground: Ground) -> Grades:
    """How sure the sets would be at most if each of `more` districts added the most that the neighbourhood has: one
    that is as sure already cannot grow into one that counts.

    Adding people helps where they are counted and harms where a share of them is asked: both ways are tried, and that
    they are not known any more where somebody near has no count.
    """
    near = np.maximum.reduce([hops[more][places] for places in sets.T])
    most = pl.DataFrame(near, schema=[*_TELLING, *(f"{name}_more" for name in FIGURES)], orient="row")
    centres = pl.Series(hops[0][:, _REACHED.index("urban_houses_high")][sets].sum(axis=1))
    units = pl.concat([going.select(FIGURES), most], how="horizontal").with_columns(
        pl.col(*_TELLING).cast(pl.Boolean),
        pl.when(pl.Series(most["_apart"] > 0)).then(centres).otherwise("urban_houses_high").alias("urban_houses_high"),
    )
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
    ways = pl.concat([fuller, denser, *vaguer])
    asked = [
        evaluate(each, ways, ground.reference, [], ("status", "by_value")) for each in ground.rule_set.requirements
    ]
    sure = [each.select(_SURE).to_series().to_numpy() for each in asked]
    at_most: Grades = np.min([each.reshape(2 + len(vaguer), len(sets)).max(axis=0) for each in sure], axis=0)
    return at_most


def _grown(going: Sets, surest: Grades, ended: Sets, beside: pl.DataFrame) -> tuple[Sets, Grades, Sets]:
    """Every set of one neighbour more, once and sorted, with the grade of the surest of those it grew from; apart from
    those, the sets that have one inside that `ended`.
    """
    wider, blocked = _wider(going, beside), _wider(ended, beside)
    places = [name for name in wider.columns if name != "grew"]
    graded = wider.with_columns(pl.Series("inside", surest[wider["grew"]]))
    grown = graded.group_by(places).agg(pl.col("inside").max())
    free = grown.join(blocked, on=places, how="anti").sort(places)
    rest = grown.join(blocked, on=places, how="semi")
    return free.select(places).to_numpy(), free["inside"].to_numpy(), rest.select(places).to_numpy()


def _wider(sets: Sets, beside: pl.DataFrame) -> pl.DataFrame:
    """Each set with each of its neighbours: the places in order, a column each, and the number of the set that grew."""
    member = pl.DataFrame({"grew": np.repeat(np.arange(len(sets)), sets.shape[1]), "place": sets.ravel()})
    grew, _, other = member.join(beside, on="place").get_columns()
    places = np.sort(np.column_stack([sets[grew], other]), axis=1)
    is_new = pl.Series((np.diff(places, axis=1) > 0).all(axis=1))
    return _frame(places).with_columns(grew).filter(is_new)


def _most_populous(sets: Sets, most: int, ground: Ground) -> Sets:
    """Which to go on with, in order."""
    people = ground.known.districts.select("district_code", pl.coalesce(MEASURES_OF["population"]).alias("people"))
    own = ground.free.join(people, on="district_code", how="left", validate="1:1", maintain_order="left")["people"]
    total = own.fill_null(0).to_numpy()[sets].sum(axis=1)
    return np.sort(np.argsort(-total, kind="stable")[:most])
