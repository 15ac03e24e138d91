"""`emancipa places`: the polling places of a state with the district each was given, and the table to fill in."""

import csv
import sys
from itertools import groupby
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
WIDTH = 24  # of a place's name, so that it fits a line with all else
UNASSIGNED = f"SELECT * FROM ({PLACES}) WHERE district_code IS NULL"


def places(data: Path, uf: str | None, *, unassigned: bool, as_json: bool) -> None:
    """A line a place; with `unassigned`, the CSV that polling_place_districts.csv takes.

    Its district and source are to be filled in; rows left unfilled are passed over when it is read.
    """
    with warehouse.connect(data) as database:
        require_state(database, uf)
        found = rows(database, UNASSIGNED if unassigned else PLACES)
    if as_json:
        terminal.as_json(found)
    elif unassigned:
        _template(found)
    else:
        _list(found)


def _list(found: Rows) -> None:
    """A line a place, município by município."""
    columns = {"zone": "zone", "place": "place", "name": "name", "voters": "voters", "district_code": "district"}
    for (code, name), own in groupby(found, key=lambda row: (row["municipality_code"], row["municipality_name"])):
        told = [
            row
            | {
                "name": _cut(row["place_name"] or "").ljust(WIDTH),
                "how": ", ".join(filter(None, [row["method"], *(row["flags"] or "").split("|")])),
            }
            for row in own
        ]
        terminal.heading(f"{name} ({code})")
        terminal.table(told, columns | {"how": "how"}, narrow=[*columns])
    nowhere = sum(row["district_code"] is None for row in found)
    terminal.line()
    terminal.paragraph(
        f"{len(found)} polling places, {nowhere} in no district yet (emancipa places --unassigned: the table to fill "
        "in); with address and neighbourhood: --json"
    )


def _cut(name: str) -> str:
    return name if len(name) <= WIDTH else f"{name[: WIDTH - 1]}…"


def _template(unassigned: Rows) -> None:
    writer = csv.DictWriter(sys.stdout, [*FORM.columns], delimiter=";", lineterminator="\n", extrasaction="ignore")
    writer.writeheader()
    for row in unassigned:
        told = (row["municipality_name"], row["place_name"], row["neighbourhood"], row["address"])
        writer.writerow(
            row | {"district_code": "", "note": ", ".join(filter(None, told)) + f" ({row['voters']} voters)"}
        )
