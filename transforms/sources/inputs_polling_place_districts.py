"""`polling_place_districts.csv`: the district of a polling place, where somebody knows it.

As good as a current coordinate. `emancipa places --unassigned` writes it with the district to fill in. Numbers of
places repeat between zones and municípios, so all three make the key.
"""

from collections.abc import Iterator

from transforms.columns import DISTRICT, MUNICIPALITY
from transforms.schema import Column, Kind, Table
from transforms.sources.inputs import LINE, Form, Row, source

PLACES = Table(
    name="staging.inputs_polling_place_districts__place",
    title="Distritos dos locais de votação, informados",
    grain="One row per polling place whose district is handed in.",
    key=("municipality_code", "zone", "place"),
    columns=(
        MUNICIPALITY,
        Column("zone", Kind.CODE, "Electoral zone, without leading zeros.", "Zona", pattern=r"^[1-9]\d{0,3}$"),
        Column("place", Kind.CODE, "Number of the polling place (NR_LOCAL_VOTACAO), without leading zeros.",
               "Local de votação", pattern=r"^[1-9]\d{0,4}$"),
        DISTRICT,
        Column("source", Kind.TEXT, "Who says so: document, person, map.", "Fonte"),
        Column("note", Kind.TEXT, "For whoever fills the file in; not used.", "Observação", nullable=True),
        LINE,
    ),
    may_be_empty=True,
)  # fmt: skip


def _faults(row: Row) -> Iterator[tuple[str, str]]:
    if not row["district_code"].startswith(row["municipality_code"]):
        yield "district_code", f"{row['district_code']} is no district of {row['municipality_code']}"


def _bare(number: str) -> str:
    return number.lstrip("0")


FORM = Form(
    "polling_place_districts.csv",
    PLACES,
    rule=_faults,
    clean=dict.fromkeys(("zone", "place"), _bare),
    to_fill="district_code",
)
SOURCE = source(
    FORM,
    name="inputs_polling_place_districts",
    title="Distritos dos locais de votação, informados (polling_place_districts.csv)",
    cadence="when polling places open or move, at each election",
    stale_after=800,
)
