"""Drift against the last release: partial sources shrink lists, and a lost factor of a thousand passes every type.

Pure: the frames of both releases in, checks out. Tolerances are per measure, and wide enough for a year's real
change. What is over them may be right (a new census): `accept` lets it through as a warning, with the reason given.
"""

from collections.abc import Iterable, Mapping
from dataclasses import replace
from decimal import Decimal

import polars as pl

from expectations.check import Frames, Severity, Violation

SHRINK_PERCENT = 5
# What is counted from one release to the next: its name in a sentence, and its key.
COVERED = {
    "core.municipality": ("municípios", ("municipality_code",)),
    "core.district": ("districts", ("district_code",)),
    "core.polling_place": ("polling places", ("municipality_code", "zone", "place")),
    "core.area": ("areas", ("area_id",)),
    "mart.requirement_result": ("requirement results", ("rule_set", "area_id", "requirement")),
}
# By how many percent a state's total may move. A new year begins without any collection: that only warns.
TOLERANCES: Mapping[str, tuple[int, Severity]] = {
    "population_census": (1, "critical"),
    "population_estimate": (5, "critical"),
    "electorate": (15, "critical"),
    "urban_houses": (15, "critical"),
    "collection_brl": (40, "warning"),
}
# Hand-supplied areas and rule sets may be taken away at will: only districts' own areas, under rule sets both have.
OWN_AREAS = pl.col("area_id").str.contains(r"^\d{9}$")
PLACES = ("state_code", "municipality_code", "district_code", "area_id")  # each begins with its state
FLIPS_PERCENT, FLIPS = 10, 5  # areas whose status may change; fewer than so many are never refused
_NEXT = "compare both releases with `emancipa diff`; if the change is right, run again with --accept-drift REASON"


def violations(
    before: Mapping[str, pl.DataFrame | pl.LazyFrame],
    after: Mapping[str, pl.DataFrame | pl.LazyFrame],
    accept: str = "",
) -> list[Violation]:
    """Every comparison of the last release with this one, over the states that both have; without any, all pass."""
    whole, now = ({name: frame.lazy() for name, frame in frames.items()} for frames in (before, after))
    old, new = _shared((whole, now))
    found = [
        _left(whole, now),
        *(_shrink(table, old, new) for table in COVERED),
        *(_moved(measure, old, new) for measure in TOLERANCES),
        _flips(old, new),
        _revenue(old, new),
    ]
    return [_accepted(one, accept) for one in found] if accept else found


def _accepted(one: Violation, reason: str) -> Violation:
    if one.rows.is_empty():
        return one
    return replace(one, severity="warning", observed=f"{one.observed}; accepted: {reason}")


def _shared(releases: Iterable[Frames]) -> tuple[Frames, Frames]:
    """Both releases without the states that one of them lacks: a country may be screened state by state."""
    old, new = releases
    had, has = (_states(frames) for frames in (old, new))
    both = had.items() & has.items()
    if had == has or not had or not has:
        return old, new
    return (_of_states(old, dict(both)), _of_states(new, dict(both))) if both else ({}, new)


def _states(frames: Frames) -> dict[str, str]:
    """UF by code."""
    if "core.state" not in frames:
        return {}
    return dict(frames["core.state"].select("state_code", "uf").collect().iter_rows())


def _of_states(frames: Frames, states: Mapping[str, str]) -> Frames:
    found = {}
    for name, frame in frames.items():
        names = frame.collect_schema().names()
        place = next((column for column in PLACES if column in names), None)
        if "uf" in names:
            found[name] = frame.filter(pl.col("uf").is_in(states.values()))
        else:
            found[name] = frame.filter(pl.col(place).str.head(2).is_in(states)) if place else frame
    return found


def _left(old: Frames, new: Frames) -> Violation:
    has = _states(new)
    gone = {code: uf for code, uf in _states(old).items() if code not in has}
    return Violation(
        name="drift_states",
        table="core.state",
        severity="warning",
        reason="a country without a state looks whole: its districts are missed by nobody",
        next_step="see meta.state_release and the last runs (emancipa status) for what became of it",
        expected="every state of the last release",
        observed=f"the last release had {', '.join(sorted(gone.values()))} too" if gone else "",
        rows=pl.DataFrame({"state_code": sorted(gone)}) if gone else pl.DataFrame(),
    )


def _shrink(table: str, old: Frames, new: Frames) -> Violation:
    noun, key = COVERED[table]
    had, has = (_covered(frames[table], key) if table in frames else None for frames in (old, new))
    if had is not None and has is not None and "rule_set" in key:
        had = had.join(has, on="rule_set", how="semi")
    rows, observed = pl.DataFrame(), ""
    if had is not None:
        left = 0 if has is None else has.height
        if (had.height - left) * 100 > had.height * SHRINK_PERCENT:
            rows = had if has is None else had.join(has, on=key, how="anti", nulls_equal=True).sort(key)
            observed = f"{noun} fell from {had.height} to {left} (limit {SHRINK_PERCENT} %)"
    return Violation(
        name="drift_coverage",
        table=table,
        severity="critical",
        reason="a partial source makes the list shrink, and the short list would replace the good one",
        next_step=_NEXT,
        expected=f"at most {SHRINK_PERCENT} % fewer than in the last release",
        observed=observed,
        rows=rows,
    )


def _covered(frame: pl.LazyFrame, key: tuple[str, ...]) -> pl.DataFrame:
    rows = frame.select(key)
    return (rows.filter(OWN_AREAS) if "area_id" in key else rows).collect()


def _moved(measure: str, old: Frames, new: Frames) -> Violation:
    percent, severity = TOLERANCES[measure]
    had, has = _total(measure, old), _total(measure, new)
    over = had is not None and (has is None or abs(has - had) * 100 > had * percent)
    now = "unknown" if has is None else f"{has}"
    return Violation(
        name="drift_total",
        table=_table_of(measure),
        column=measure,
        severity=severity,
        reason="a total does not jump from one release to the next unless a factor or half a source got lost",
        next_step=_NEXT,
        expected=f"within {percent} % of the last release",
        observed=f"{measure} went from {had} to {now} (limit {percent} %)" if over else "",
        rows=pl.DataFrame({"before": [str(had)], "after": [now]}) if over else pl.DataFrame(),
    )


def _table_of(measure: str) -> str:
    return "core.district_measure" if measure == "urban_houses" else "core.municipality"


def _total(measure: str, frames: Frames) -> Decimal | None:
    """The total of what is known, exactly; null where nothing is."""
    table = _table_of(measure)
    figure = pl.col(measure) if table == "core.municipality" else pl.when(measure=measure).then("value")
    if table not in frames:
        return None
    known, total = frames[table].select(figure.count().alias("known"), figure.sum().alias("total")).collect().row(0)
    return Decimal(total) if known else None


def _revenue(old: Frames, new: Frames) -> Violation:
    """What a state declared of a year does not vanish: an empty answer says that something else is wrong.

    A run as of an earlier day than the last one knows less, and that is right.
    """
    rows, name = pl.DataFrame(), "core.state_revenue"
    if {name, "core.state"} <= old.keys() & new.keys():
        year = ["state_code", "fiscal_year"]
        asked = old["core.state"].select("state_code", before="as_of")
        now = new["core.state"].join(asked, on="state_code").filter(pl.col("as_of") >= pl.col("before")).select(year)
        had, has = (frames[name].select(year).unique() for frames in (old, new))
        rows = had.join(now, on=year, how="semi").join(has, on=year, how="anti").sort(year).collect()
    return Violation(
        name="drift_revenue",
        table=name,
        severity="critical",
        reason="statements are rectified, not withdrawn: an empty list of them is no news",
        next_step=_NEXT,
        expected="known for every year that it was known for in the last release",
        observed=f"the tax revenue of {rows['fiscal_year'][0]} was known and is not any more" if rows.height else "",
        rows=rows,
    )


def _flips(old: Frames, new: Frames) -> Violation:
    flips = pl.DataFrame()
    observed = ""
    if "mart.eligibility" in old and "mart.eligibility" in new:
        key = ["rule_set", "area_id"]
        was, now = (frames["mart.eligibility"].select(*key, "status").collect() for frames in (old, new))
        both = was.join(now, on=key, suffix="_now", validate="1:1")
        changed = both.filter(pl.col("status") != pl.col("status_now")).sort(key)
        if changed.height >= FLIPS and changed.height * 100 > both.height * FLIPS_PERCENT:
            flips = changed
            observed = f"{changed.height} of {both.height} areas changed their status (limit {FLIPS_PERCENT} %)"
    return Violation(
        name="drift_status",
        table="mart.eligibility",
        column="status",
        severity="critical",
        reason="many verdicts that change at once have one cause: it must be known before they are cited",
        next_step=_NEXT,
        expected=f"at most {FLIPS_PERCENT} % of the areas change their status",
        observed=observed,
        rows=flips,
    )
