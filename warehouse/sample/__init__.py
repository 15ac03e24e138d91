"""The bundled sample: Espírito Santo as it would be downloaded, so that a run needs no network.

Codes, names, census counts and estimates are real (facts/, with their sources); polling places, mesh, sectors,
addresses, revenue, collections and certificates are simulated in the upstreams' exact formats, and say so. A reader
must never take a simulated figure for a real one: whatever is built from here is marked to the last export.
"""

from collections.abc import Mapping
from datetime import date
from functools import cache
from pathlib import Path

from warehouse.sample import generate
from warehouse.sample.facts import espirito_santo
from warehouse.sample.generate import Answer

AS_OF = date(2026, 11, 30)
UF = "ES"
SIMULATED = frozenset(
    {
        "ibge_addresses",
        "ibge_census_sectors",
        "ibge_district_mesh",
        "inputs_certificates",
        "inputs_collections",
        "inputs_polling_place_districts",
        "inputs_proposals",
        "siconfi_revenue",
        "tse_polling_places",
    }
)  # the sources whose figures are invented here

__all__ = ["AS_OF", "SIMULATED", "UF", "Answer", "answers", "inputs"]


def inputs() -> Path:
    """The folder of hand-supplied files that go with the sample."""
    return Path(__file__).parent / "inputs"


@cache
def _world() -> generate.World:
    return generate.World({UF: espirito_santo()})


def answers(base: str, path: str, params: Mapping[str, str]) -> Answer | None:
    """What an upstream answers: `base` is ibge_api, ibge_files, tse or siconfi, `path` is below it. None is a 404."""
    return generate.answer(_world(), base, path, params)
