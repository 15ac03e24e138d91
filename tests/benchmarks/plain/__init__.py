"""The screen of the country as a competent analyst would write it: pandas, geopandas, DuckDB, Great Expectations.

The same job as the product's from the same snapshots, state by state, then the country; neither slowed nor tuned:
whole columns where pandas has them, a loop over groups for the largest remainder, national files read once. It is
here to be measured against; `agreement` holds its verdicts against the product's.

What it leaves out, so that the ratio errs against the product: groups of districts under search; joint departures
and their conflicts; the register of petitions and plebiscites; homonyms; the page with its map, the Portuguese
files, dictionary, lineage, Data Docs and diff; evidence, sources and reasons in words; input files but collections;
CNEFE addresses and clusters; the RREO; checks of layouts and totals, and drift; hashes, caching, locks, publication.
Names are matched whole only, and of sensitivity only what an increase mends or a decrease undoes.
"""

import shutil
from collections.abc import Sequence
from pathlib import Path

import pandas as pd

from tests.benchmarks.plain import reading
from tests.benchmarks.plain.districts import centres, collection, entities, population, urban_houses
from tests.benchmarks.plain.law import marts, ranked
from tests.benchmarks.plain.output import agreement, write
from tests.benchmarks.plain.places import electorate, neighbours, polling_places, registered
from tests.benchmarks.plain.reading import Frames
from warehouse.snapshots import Store

__all__ = ["agreement", "country"]


def country(folder: Path, ufs: Sequence[str]) -> None:
    """Every state's files and the country's, in folder/plain."""
    shutil.rmtree(folder / "plain", ignore_errors=True)
    store = Store(folder / "raw")
    shared, states = reading.national_files(store), []
    for uf in ufs:
        states.append(state(store, shared, folder / "inputs/collections.csv", uf))
        write(folder / "plain" / uf, states[-1])
    together = {name: pd.concat([tables[name] for tables in states], ignore_index=True) for name in states[0]}
    together["mart.eligibility"] = ranked(together["mart.eligibility"])
    write(folder / "plain/BR", together)


def state(store: Store, shared: Frames, collections: Path, uf: str) -> Frames:
    """Every table of one state."""
    listed, estimated = reading.localities(store, uf), reading.estimates(store, uf)
    cells = pd.DataFrame(reading.answer(store, "siconfi_revenue", "dca", uf)["items"])
    code = listed["district_code"].iloc[0][:2]
    census, sectors = (shared[name][shared[name]["CD_UF"] == code] for name in ("census", "sectors"))
    houses = shared["houses"][shared["houses"]["CD_SETOR"].str[:2] == code]
    crosswalk, current, before = (
        shared[name][shared[name]["SG_UF"] == uf] for name in ("crosswalk", "sections", "previous")
    )
    mesh = reading.district_mesh(store, uf)

    official = estimated[estimated["level"] == "N6"].set_index("code")["population"]
    districts = urban_houses(population(entities(listed, census, uf), official), sectors, houses)
    beside = neighbours(mesh)
    places, pointers = polling_places(registered(current, before, crosswalk), districts, mesh, beside)
    districts, municipalities = electorate(districts, places, pointers)
    collection(districts, municipalities, collections)
    municipalities["population_estimate"] = municipalities["municipality_code"].map(official)
    municipalities = municipalities.merge(centres(districts, "municipality_code"), on="municipality_code")
    totals = {
        "population_census": districts["population_census"].sum(),
        "population_estimate": estimated.loc[estimated["level"] == "N3", "population"].iloc[0],
        **reading.revenue(cells),
    }
    return {
        "staging.census_district": census, "staging.locality": listed, "staging.estimate": estimated,
        "staging.sector": sectors, "staging.houses": houses, "staging.section": current,
        "staging.previous_section": before, "staging.municipality_code": crosswalk, "staging.account": cells,
        "core.state": pd.DataFrame([{"uf": uf, **totals}]), "core.municipality": municipalities,
        "core.district": districts, "core.polling_place": places, "core.neighbour": beside,
        **marts(districts, municipalities, totals),
    }  # fmt: skip
