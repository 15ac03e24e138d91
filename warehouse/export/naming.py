"""The assembly's tables with names beside ids: nobody there knows an area by its number.

The marts' own columns are a contract with programs and stay as they are; what is added here is for readers only.
"""

from dataclasses import replace

from transforms.schema import Table
from warehouse.build import Frame, Tables

AREA, NAME, OF = "area_id", "area_name", "municipality_names"
ELIGIBILITY = "mart.eligibility"


def named(tables: Tables, name: str) -> tuple[Table, Frame]:
    """A table with the area's name right after its id, and its municípios' names after that, where it lacks them."""
    table, frame = tables[name]
    lacking = [column for column in (NAME, OF) if column not in table.names]
    if OF in lacking and "municipality_name" in table.names:
        lacking.remove(OF)
    if AREA not in table.names or ELIGIBILITY not in tables or not lacking:
        return table, frame
    declared, verdicts = tables[ELIGIBILITY]
    names = verdicts.lazy().select(AREA, *lacking).unique(AREA)
    place = table.names.index(NAME if NAME in table.names else AREA) + 1
    added = tuple(declared[column].but(nullable=True) for column in lacking)
    columns = (*table.columns[:place], *added, *table.columns[place:])
    return replace(table, columns=columns), frame.lazy().join(names, on=AREA, how="left", validate="m:1")
