"""`candidates.csv`: areas to screen beside the single districts: groups of districts, fusions of municípios.

A district that is not a seat is a candidate of its own, under its code; only other areas need a row here. Whether
the districts exist, and are no seats, is judged against the district list in core.
"""

import re
from collections.abc import Iterator

from transforms.codes import DISTRICT_CODE, is_municipality
from transforms.columns import AREA, AREA_KIND, AREA_NAME
from transforms.schema import Column, Kind, Table
from transforms.sources.inputs import LINE, Form, Row, source

AREAS = Table(
    name="staging.inputs_candidates__area",
    title="Áreas candidatas informadas",
    grain="One row per area handed in.",
    key=("area_id",),
    columns=(
        AREA.but(description="Id of the area, up to 64 characters; a district's own code is taken already."),
        AREA_NAME,
        AREA_KIND.but(description="One district, a group of districts, or a fusion of whole municípios (art. 4º)."),
        Column("district_codes", Kind.TEXT, "Codes of its districts, 9 digits each, | between.", "Distritos"),
        Column("note", Kind.TEXT, "Note.", "Observação", nullable=True),
        LINE,
    ),
    may_be_empty=True,
)  # fmt: skip


def _faults(row: Row) -> Iterator[tuple[str, str]]:
    if re.fullmatch(DISTRICT_CODE, row["area_id"]):
        yield "area_id", "a district is a candidate of its own under its code: write another id, or no row"
    if not re.fullmatch(r"[^|;/\\\n]{1,64}", row["area_id"]):
        yield "area_id", "up to 64 characters, none of them | ; / \\"
    codes = row["district_codes"].split("|")
    for code in codes:
        if not re.fullmatch(DISTRICT_CODE, code, re.ASCII):
            yield "district_codes", f"{code!r} ({len(code)} characters) is no district code: 9 digits, | between"
        elif not is_municipality(code[:7]):
            yield "district_codes", f"{code!r} is of no município: its check digit is wrong"
    if len(set(codes)) != len(codes):
        yield "district_codes", "a district twice"
    if len({code[:2] for code in codes}) > 1:
        yield "district_codes", "districts of several states: an area lies in one"
    if row["kind"] == "district" and len(codes) != 1:
        yield "kind", f"a district is one code, not {len(codes)}: a group?"
    if row["kind"] == "group" and len(codes) < 2:
        yield "kind", "a group has two districts or more: a district?"
    if row["kind"] == "fusion" and len({code[:7] for code in codes}) < 2:
        yield "kind", "a fusion joins all districts of two municípios or more"


def _sorted(codes: str) -> str:
    return "|".join(sorted(code.strip() for code in codes.split("|")))


FORM = Form("candidates.csv", AREAS, rule=_faults, clean={"district_codes": _sorted})
SOURCE = source(
    FORM,
    name="inputs_candidates",
    title="Áreas candidatas informadas (candidates.csv)",
    cadence="whenever an area is proposed",
    stale_after=3650,
)
