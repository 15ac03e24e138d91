"""`emancipa places`: the polling places of a state with the district each was given, and the table to fill in."""

import csv
import sys
from pathlib import Path

import warehouse
from flows import terminal
from flows.asking import Rows, require_state, rows
from transforms.sources.inputs_polling_place_districts import FORM

PLACES = """
    SELECT p.municipality_code, m.municipality_name, zone, place, place_name, neighbourhood, address, p.uf,
        voters, district_code, method, flags, border_distance_m
    FROM core.polling_place p JOIN core.municipality m USING (municipality_code)
    ORDER BY p.municipality_code, TRY_CAST(zone AS INTEGER), TRY_CAST(place AS INTEGER)"""
UNASSIGNED = f"SELECT * FROM ({PLACES}) WHERE district_code IS NULL"


def places(data: Path, uf: str | None, *, unassigned: bool, as_json: bool) -> None:
    """A table; with `unassigned`, the CSV that polling_place_districts.csv takes, its district and source to fill in.

    Rows left unfilled are passed over when it is read.
    """
    with warehouse.connect(data) as database:
        require_state(database, uf)
        found = rows(database, UNASSIGNED if unassigned else PLACES)
    if as_json:
        terminal.as_json(found)
    elif unassigned:
        _template(found)
    else:
        terminal.table(
            found,
            {
                "municipality_name": "município",
                "zone": "zone",
                "place": "place",
                "place_name": "name",
                "voters": "voters",
                "district_code": "district",
                "method": "method",
                "flags": "flags",
            },
            narrow=["district_code", "zone", "place"],
        )


def _template(unassigned: Rows) -> None:
    writer = csv.DictWriter(sys.stdout, [*FORM.columns], delimiter=";", lineterminator="\n", extrasaction="ignore")
    writer.writeheader()
    for row in unassigned:
        told = (row["municipality_name"], row["place_name"], row["neighbourhood"], row["address"])
        writer.writerow(
            row | {"district_code": "", "note": ", ".join(filter(None, told)) + f" ({row['voters']} voters)"}
        )
