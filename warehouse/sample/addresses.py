"""CNEFE, the census's address list: simulated addresses for some municípios, in the true file's 34 columns.

Dwellings of a sector become addresses of species 1, houses 101 and 102, flats 103, rooms 104; towns are grids of a few
tens of metres, so that a cluster by distance finds them whole. Establishments follow the dwellings. Sector codes end in
the `P` of the preliminary mesh, the header's last name is cut as IBGE's is, coordinates have a point.
"""

import math
import random
from collections.abc import Iterator, Mapping, Sequence

from warehouse.sample.facts import Facts
from warehouse.sample.files import zipped
from warehouse.sample.sectors import Sector, share

COLUMNS = (
    "COD_UNICO_ENDERECO COD_UF COD_MUNICIPIO COD_DISTRITO COD_SUBDISTRITO COD_SETOR NUM_QUADRA NUM_FACE CEP "
    "DSC_LOCALIDADE NOM_TIPO_SEGLOGR NOM_TITULO_SEGLOGR NOM_SEGLOGR NUM_ENDERECO DSC_MODIFICADOR NOM_COMP_ELEM1 "
    "VAL_COMP_ELEM1 NOM_COMP_ELEM2 VAL_COMP_ELEM2 NOM_COMP_ELEM3 VAL_COMP_ELEM3 NOM_COMP_ELEM4 VAL_COMP_ELEM4 "
    "NOM_COMP_ELEM5 VAL_COMP_ELEM5 LATITUDE LONGITUDE NV_GEO_COORD COD_ESPECIE DSC_ESTABELECIMENTO "
    "COD_INDICADOR_ESTAB_ENDERECO COD_INDICADOR_CONST_ENDERECO COD_INDICADOR_FINALIDADE_CONST COD_TIPO_ESPECI"
).split()
_TYPES = {47: "101", 48: "102", 49: "103", 50: "104"}  # V00047.. to COD_TIPO_ESPECI
_URBAN = (("6", 0.08), ("4", 0.004), ("5", 0.004), ("8", 0.008), ("7", 0.02))  # species and how many to a dwelling
_RURAL = (("3", 0.35), ("6", 0.03), ("4", 0.004), ("8", 0.006))


def _species(sector: Sector) -> list[tuple[str, str]]:
    """Species and type of each address of a sector: every private dwelling, lived in or not, and establishments."""
    private = int(sector.counts[2])
    types = share(private, [sector.dwellings[variable] or 1e-9 for variable in _TYPES])
    dwellings = [("1", kind) for kind, count in zip(_TYPES.values(), types, strict=True) for _ in range(count)]
    others = _URBAN if sector.situation_code in "12" else _RURAL
    return dwellings + [(species, "") for species, rate in others for _ in range(round(private * rate))]


def _points(sector: Sector, count: int, chance: random.Random) -> Iterator[tuple[float, float]]:
    """A grid in town, scattered in the country."""
    box = sector.box
    if sector.situation_code not in "12":
        for _ in range(count):
            yield box.point(chance.random(), chance.random(), 0.05)
        return
    wide = (box.east - box.west) / (box.north - box.south)
    columns = max(1, math.ceil(math.sqrt(count * wide)))
    rows = math.ceil(count / columns)
    for number in range(count):
        across, up = (number % columns + 0.5) / columns, (number // columns + 0.5) / rows
        yield box.point(across, up, 0.0)


def _lines(facts: Facts, sectors: Mapping[str, Sequence[Sector]]) -> Iterator[str]:
    chance, serial = random.Random(f"{facts.state.uf} addresses"), 0  # noqa: S311 (a simulation: the same every time)
    for district, parts in sectors.items():
        municipality = district[:7]
        if municipality not in facts.story.addresses:
            continue
        for sector in parts:
            kinds = _species(sector)
            start = f"{facts.state.code};{municipality};{district};{district}00;"
            for (species, kind), (x, y) in zip(kinds, _points(sector, len(kinds), chance), strict=True):
                serial += 1
                odd = municipality in facts.story.odd_addresses and serial % 40 == 0
                code = f"{sector.code[:-4]}9{sector.code[-3:]}P" if odd else f"{sector.code}P"
                name = "" if species == "1" else "ESTABELECIMENTO SIMULADO"
                level = "1" if sector.situation_code in "12" else "4"
                purpose = "1" if species == "7" else ""
                yield (
                    f"{serial};{start}{code};1;1;29000000;LOCALIDADE SIMULADA;RUA;;SIMULADA;{serial % 900 + 1};;"
                    f";;;;;;;;;;{y:.6f};{x:.6f};{level};{species};{name};;{purpose};;{kind}\n"
                )


def addresses(facts: Facts, sectors: Mapping[str, Sequence[Sector]]) -> bytes:
    """`{code}_{UF}.zip`: UTF-8, `;`, no quotes."""
    text = ";".join(COLUMNS) + "\n" + "".join(_lines(facts, sectors))
    return zipped({f"{facts.state.code}_{facts.state.uf}.csv": text.encode()})
