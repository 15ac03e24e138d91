"""Truths about the domain, written by hand, each with its reason: what no declaration of one table can say.

A truth reads frames and returns the rows that break it. Frames may hold one state or several. A truth whose
tables are not at hand, or that raises, is an error and stops publication: not tried is not true. Nulls are
unknown, never equal and never zero; shares are of all rows (Great Expectations' `mostly` leaves nulls out).
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache

import polars as pl

from expectations import agreement, certified, coverage, hygiene, sums
from expectations.check import Frames, Severity, Violation


@dataclass(frozen=True, slots=True)
class Truth:
    """One truth. `reads` are the tables it needs (none: all there are); `says` is filled from the first failing row.

    Truths that differ in severity alone share `broken`, which is then asked once: of its rows, those of `which`.
    """

    name: str
    severity: Severity
    reads: tuple[str, ...]
    broken: Callable[[Frames], pl.LazyFrame]
    says: str
    reason: str
    next_step: str
    which: pl.Expr | None = None


def violations(
    frames: Mapping[str, pl.DataFrame | pl.LazyFrame], truths: Sequence[Truth] | None = None
) -> list[Violation]:
    """Every truth tried on the tables at hand, by name."""
    lazy = {name: frame.lazy() for name, frame in frames.items()}
    rows_of = cache(lambda broken: broken(lazy).collect())
    return [_tried(truth, lazy, rows_of) for truth in (TRUTHS if truths is None else truths)]


def _tried(truth: Truth, frames: Frames, rows_of: Callable[..., pl.DataFrame]) -> Violation:
    rows, error = pl.DataFrame(), ""
    if absent := [name for name in truth.reads if name not in frames]:
        error = f"tables absent: {', '.join(absent)}"
    else:
        try:
            found = rows_of(truth.broken)
            rows = found if truth.which is None else found.filter(truth.which)
        except Exception as raised:  # noqa: BLE001 a truth that cannot be tried is not true
            error = f"{type(raised).__name__}: {raised}"
    return Violation(
        name=truth.name,
        severity=truth.severity,
        reason=truth.reason,
        next_step=truth.next_step,
        rows=rows,
        table=truth.reads[0] if truth.reads else "",
        observed=truth.says.format(**rows.row(0, named=True)) if rows.height else "",
        error=error,
    )


_SUMS = "the transform of the parts, or the source of the whole, changed: compare both for the first key"
TRUTHS = (
    *(
        Truth(
            f"districts_make_municipality_{basis}",
            "critical",
            ("core.district_population", "core.district", "core.municipality"),
            sums.districts_and_municipality(f"population_{basis}"),
            "the districts of {municipality_code} have {parts} inhabitants, the município {whole}",
            "parts equal totals: a district's figure that does not add up to the official one cannot be defended",
            _SUMS,
        )
        for basis in ("census", "estimate")
    ),
    *(
        Truth(
            f"municipalities_make_state_{basis}",
            "critical",
            ("core.municipality", "core.state"),
            sums.municipalities_and_state(f"population_{basis}"),
            "the municípios of state {state_code} have {parts} inhabitants, the state {whole}",
            "five thousandths of the state is a threshold: a wrong total moves every verdict",
            _SUMS,
        )
        for basis in ("census", "estimate")
    ),
    Truth(
        "electorate_is_assigned_or_unassigned",
        "critical",
        ("core.municipality", "core.district_measure", "core.district"),
        sums.assigned_and_unassigned,
        "{municipality_code}: {parts} voters assigned or unassigned, {whole} registered",
        "no voter may vanish or count twice between the município and its districts",
        "see the polling places of the município in core.polling_place",
    ),
    Truth(
        "every_voter_has_a_place",
        "critical",
        ("core.polling_place", "core.state", sums.SECTIONS),
        sums.registered_and_placed,
        "{uf}: {parts} voters at polling places, {whole} in the TSE's sections",
        "sections lost in a join would make every district look smaller",
        "compare the sections of the state with core.polling_place",
    ),
    Truth(
        "census_dwellings",
        "critical",
        (sums.CENSUS,),
        sums.census_identity("dwellings", "private_dwellings", "collective_dwellings"),
        "{district_code}: v0002 is {dwellings}, v0003 + v0004 is {parts}",
        "the census file's own identity (all 10,698 districts of 2026-05-20 keep it): else columns were swapped",
        "compare the header of the file with the columns its reader takes",
    ),
    Truth(
        "census_private_dwellings",
        "critical",
        (sums.CENSUS,),
        sums.census_identity("private_dwellings", "occupied_dwellings", "occasional_dwellings", "vacant_dwellings"),
        "{district_code}: v0003 is {private_dwellings}, v0007 + v0008 + v0009 is {parts}",
        "the census file's own identity (all 10,698 districts of 2026-05-20 keep it): else columns were swapped",
        "compare the header of the file with the columns its reader takes",
    ),
    Truth(
        "state_electorate_within_population",
        "critical",
        ("core.state", "core.municipality"),
        sums.double_counted,
        "probable double counting: {electorate} voters, {population} inhabitants in {uf}",
        "a small town may have more voters than people; a whole state cannot",
        "look for sections that the TSE's file holds twice (two rounds, two generation dates)",
    ),
    Truth(
        "municipality_electorate_within_population",
        "warning",
        ("core.municipality",),
        sums.more_voters_than_people,
        "{municipality_name} has {electorate} voters and {population} inhabitants",
        "real in hundreds of small towns, so it is kept; in many at once it is a sign of double counting",
        "nothing, unless the list is longer than in the last release",
    ),
    Truth(
        "districts_listed_and_counted",
        "warning",
        ("core.district",),
        coverage.listed_and_counted,
        "{district_code} {district_name} is only in {only_in}",
        "the census and the list of localities do not know the same districts: both kinds are kept",
        "read the figures of these districts with their gaps in mind",
    ),
    Truth(
        "tse_codes_of_the_state",
        "critical",
        (coverage.CROSSWALK, coverage.LOCALITIES, "core.state"),
        agreement.wrong_codes,
        "TSE {tse_municipality_code} stands beside {municipality_code}: {fault}",
        "voters would be counted in another município, or in none",
        "fetch the TSE–IBGE table again: it is regenerated every week; or place the one before by hand",
    ),
    Truth(
        "tse_codes_of_other_states",
        "warning",
        (coverage.CROSSWALK, coverage.LOCALITIES, "core.state"),
        agreement.wrong_codes_elsewhere,
        "{uf}: TSE {tse_municipality_code} stands beside {municipality_code}: {fault}",
        "the same table serves every state: a state with a wrong pair is refused when it is screened",
        "tell the TSE; this state's figures do not depend on it",
    ),
    Truth(
        "names_agree_with_the_tse",
        "warning",
        (coverage.CROSSWALK, coverage.LOCALITIES),
        agreement.other_names,
        "{municipality_code} is {municipality_name} to IBGE, {tse_name} to the TSE",
        "places are joined by code, so a name decides nothing; two codes exchanged would show here",
        "look whether it is a new name or another município; known spellings stand in transforms/names.py",
    ),
    Truth(
        "sections_tell_their_voters",
        "warning",
        (agreement.SECTIONS, "core.state"),
        agreement.untold_voters,
        "{uf}: {sections} sections of TSE {tse_municipality_code} do not tell their voters",
        "what is not told is not zero: the electorate is larger than it looks",
        "look for the sections in the next file of the TSE",
    ),
    Truth(
        "statement_adds_up",
        "warning",
        (agreement.REVENUE,),
        agreement.accounts_that_do_not_add_up,
        "{warnings}",
        "the state's own statement does not add up: five thousandths of it is a threshold",
        "compare the account with its parts in the state's statement; ask the treasury",
    ),
    Truth(
        "certified_figures_near_census",
        "warning",
        (certified.CERTIFICATES, "core.state", "core.area_district", "core.district_population"),
        certified.far_from_census,
        "certificates.csv, line {line}: {requirement} of {area_id} is certified as {figure}, "
        "its districts have {census} inhabitants in the Census 2022",
        "a figure far from the census is more often a slip of the pen, as ten for ten thousand, than a change",
        "compare the row with the document",
    ),
    Truth(
        "certified_houses_within_dwellings",
        "warning",
        (certified.CERTIFICATES, "core.state", "core.area_district", "core.district_population"),
        certified.more_houses_than_dwellings,
        "certificates.csv, line {line}: {area_id} has {houses} houses certified, its districts {dwellings} dwellings",
        "an urban centre has no more houses than its districts have private dwellings, if few were built since 2022",
        "compare the row with the document",
    ),
    Truth(
        "municipalities_known_to_the_tse",
        "warning",
        ("core.municipality", "core.state", coverage.CROSSWALK),
        coverage.crosswalk,
        "{municipality_code} is only in {only_in}",
        "a município without a TSE code has no electorate",
        "fetch the TSE–IBGE table again: it is regenerated every week",
    ),
    Truth(
        "municipalities_estimated",
        "warning",
        ("core.municipality", "core.state", coverage.ESTIMATES),
        coverage.estimated,
        "{municipality_code} is only in {only_in}",
        "a município without an estimate is judged on the census alone",
        "see whether IBGE has published an estimate for it",
    ),
    Truth(
        "every_municipality_is_there",
        "critical",
        ("core.municipality", "core.state", coverage.LOCALITIES),
        coverage.too_few_municipalities,
        "{uf}: {screened} municípios, at least {expected} expected",
        "a partial source makes the list shrink without an error (none was extinguished since the census)",
        "see which municípios the localities list or the census lacks",
    ),
    Truth(
        "sources_cover_the_municipalities",
        "critical",
        ("core.municipality",),
        coverage.below_floors,
        f"{{known}} of {{of}} municípios have {{what}} (at least {coverage.FLOOR_PERCENT} %)",
        "a truncated source looks like a state where nobody lives or votes",
        "compare the snapshot with the one before; fetch again",
    ),
    Truth(
        "bounds_are_as_narrow_as_they_could_be",
        "warning",
        ("core.district_houses", "core.district", "core.polling_place"),
        coverage.partly_covered,
        f"only {{known}} of {{of}} {{what}} (at least {coverage.FLOOR_PERCENT} %)",
        "an optional source that is there in part: bounds are wider where it is not",
        "fetch it again; what it lacks may be missing at its publisher",
    ),
    Truth(
        "sources_are_fresh",
        "warning",
        (coverage.FRESHNESS,),
        coverage.stale,
        "{source} {answered} (stale after {stale_after} days)",
        "the figures may no longer be what the source says",
        "emancipa status tells what it answered; emancipa fetch tries again",
    ),
    Truth(
        "bounds_are_ordered",
        "critical",
        (),
        hygiene.unordered,
        "{table}: {key} has {figure} low {low}, value {value}, high {high}",
        "a verdict rests on low ≤ value ≤ high: bounds that cross decide for both sides",
        "follow the first key's figure to the transform that bounds it",
    ),
    Truth(
        "text_is_readable",
        "critical",
        (),
        hygiene.garbled,
        "{table}.{column}: {rows} of {of} rows, first {first}",
        "text read in the wrong encoding breaks every join by name and every document",
        "the source changed its encoding: see its snapshot, then its reader",
        which=hygiene.THROUGHOUT,
    ),
    Truth(
        "text_is_clean",
        "warning",
        (),
        hygiene.garbled,
        "{table}.{column}: {rows} of {of} rows, first {first}",
        "a few cells that the publisher itself wrote in the wrong encoding",
        "tell the publisher; no figure depends on them",
        which=~hygiene.THROUGHOUT,
    ),
)
