"""Areas in separate pieces: a warning for readers, since whether they may be one município is for the assembly to say.

Told only where the mesh knows a neighbour of each of the area's districts: without it, nothing is said.
"""

from collections.abc import Mapping, Set

import polars as pl

from warehouse.build import Tables


def apart(tables: Tables) -> dict[str, str]:
    """Id → name of the areas whose districts are not all joined by common borders, directly or through each other."""
    if not {"core.neighbour", "core.area_district", "core.area"} <= tables.keys():
        return {}
    pairs = tables["core.neighbour"][1].lazy().filter(pl.col("border_m") > 0)
    beside = dict(pairs.group_by("district_code").agg("neighbour_code").collect().iter_rows())
    districts = tables["core.area_district"][1].lazy().group_by("area_id").agg("district_code")
    areas = tables["core.area"][1].lazy().join(districts, on="area_id", validate="1:1").sort("area_id")
    return {
        area: name
        for area, name, codes in areas.select("area_id", "area_name", "district_code").collect().iter_rows()
        if beside.keys() >= set(codes) and _reached(codes[0], set(codes), beside) != set(codes)
    }


def _reached(start: str, within: Set[str], beside: Mapping[str, list[str]]) -> set[str]:
    """The districts one can walk to from the first without leaving the area."""
    found, edge = {start}, [start]
    while edge:
        new = (within & set(beside[edge.pop()])) - found
        found |= new
        edge += new
    return found
