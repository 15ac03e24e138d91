"""IBGE's answers: localities, estimates, and the census tables of districts and sectors, in their published forms."""

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence

from warehouse.sample.facts import Facts, Municipality, estimate_periods
from warehouse.sample.files import quoted, zipped
from warehouse.sample.sectors import Sector

REGIONS = {"N": (1, "Norte"), "NE": (2, "Nordeste"), "SE": (3, "Sudeste"), "S": (4, "Sul"), "CO": (5, "Centro-Oeste")}
_PARENT_KIND = {"microregion": "mesoregion", "immediate": "intermediate"}
_JSON_NAMES = {
    "microregion": ("microrregiao", "mesorregiao"),
    "immediate": ("regiao-imediata", "regiao-intermediaria"),
}
_REGION_COLUMNS = ("CD_RGINT", "NM_RGINT", "CD_RGI", "NM_RGI", "CD_CONCURB", "NM_CONCURB")
DISTRICT_COLUMNS = (
    *("CD_DIST", "NM_DIST", "CD_REGIAO", "NM_REGIAO", "CD_UF", "NM_UF", "CD_MUN", "NM_MUN"),
    *("CD_NU", "NM_NU", "CD_AGLOM", "NM_AGLOM"),
    *_REGION_COLUMNS,
    *("AREA_KM2", "v0001", "v0002", "v0003", "v0004", "v0005", "v0006", "v0007", "v0008", "v0009"),
)
SECTOR_COLUMNS = (
    *("CD_SETOR", "SITUACAO", "CD_SIT", "CD_TIPO", "AREA_KM2", "CD_REGIAO", "NM_REGIAO", "CD_UF", "NM_UF"),
    *("CD_MUN", "NM_MUN", "CD_DIST", "NM_DIST", "CD_SUBDIST", "NM_SUBDIST", "CD_BAIRRO", "NM_BAIRRO"),
    *("CD_NU", "NM_NU", "CD_FCU", "NM_FCU", "CD_AGLOM", "NM_AGLOM"),
    *_REGION_COLUMNS,
    *("v0001", "v0002", "v0003", "v0004", "v0005", "v0006", "v0007", "v0008", "v0009"),
)
DWELLING_COLUMNS = ("CD_SETOR", *(f"V{n:05}" for n in range(1, 90)))


def compact_json(value: object) -> bytes:
    """JSON as the public APIs send it: UTF-8, no spaces."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode()


def localities(facts: Facts) -> bytes:
    """`/v1/localidades/estados/{UF}/distritos`: nested objects, ids as integers."""
    region, region_name = REGIONS[facts.state.region]
    state = {
        "id": int(facts.state.code),
        "sigla": facts.state.uf,
        "nome": facts.state.name,
        "regiao": {"id": region, "sigla": facts.state.region, "nome": region_name},
    }

    def nested(kind: str, code: str) -> object:
        if not code:
            return None
        name, parent = facts.regions[kind, code]
        parent_name, _ = facts.regions[_PARENT_KIND[kind], parent]
        above = {"id": int(parent), "nome": parent_name, "UF": state}
        return {"id": int(code), "nome": name, _JSON_NAMES[kind][1]: above}

    def municipality(place: Municipality) -> object:
        return {
            "id": int(place.code),
            "nome": place.name,
            "microrregiao": nested("microregion", place.microregion),
            "regiao-imediata": nested("immediate", place.immediate_region),
        }

    return compact_json(
        [
            {"id": int(d.code), "nome": d.name, "municipio": municipality(facts.municipalities[d.municipality])}
            for d in sorted(facts.districts.values(), key=lambda d: (d.name, d.code))
        ]
    )


def periods() -> bytes:
    """`/v3/agregados/6579/periodos`."""
    return compact_json([{"id": y, "literals": [y], "modificacao": day} for y, day in estimate_periods()])


def estimates(facts: Facts, year: int, level: str) -> bytes:
    """`…/periodos/{year}/variaveis/9324` for `N3` (the state) or `N6` (its municípios); a year not at hand gives []."""
    values = facts.estimates.get(year)
    if not values:
        return b"[]"
    if level == "N3":
        level_name, series = "Unidade da Federação", [(facts.state.code, facts.state.name, sum(values.values()))]
    else:
        level_name = "Município"
        series = [(m.code, f"{m.name} ({facts.state.uf})", values[m.code]) for m in facts.municipalities.values()]
    return compact_json(
        [
            {
                "id": "9324",
                "variavel": "População residente estimada",
                "unidade": "Pessoas",
                "resultados": [
                    {
                        "classificacoes": [],
                        "series": [
                            {
                                "localidade": {"id": code, "nivel": {"id": level, "nome": level_name}, "nome": name},
                                "serie": {str(year): str(value)},
                            }
                            for code, name, value in series
                        ],
                    }
                ],
            }
        ]
    )


def _regions_of(facts: Facts, code: str) -> tuple[str, ...]:
    immediate = facts.municipalities[code].immediate_region
    if not immediate:
        return (".", "", ".", "", ".", "")
    name, intermediate = facts.regions["immediate", immediate]
    return (intermediate, facts.regions["intermediate", intermediate][0], immediate, name, ".", "")


def _counts(values: Sequence[str]) -> tuple[str, ...]:
    return tuple(value.replace(".", ",") or "." for value in values)


def _state_columns(facts: Facts) -> tuple[str, ...]:
    region, region_name = REGIONS[facts.state.region]
    return (str(region), region_name, facts.state.code, facts.state.name)


def district_rows(facts: Facts) -> Iterator[tuple[str, ...]]:
    """The rows of a state's districts, under DISTRICT_COLUMNS."""
    state = _state_columns(facts)
    for district in facts.districts.values():
        place = facts.municipalities[district.municipality]
        yield (
            *(district.code, district.name, *state, place.code, place.name, ".", "", ".", ""),
            *_regions_of(facts, place.code),
            *(district.area_km2.replace(".", ","), *_counts(district.counts)),
        )


def census_districts(states: Iterable[Facts]) -> bytes:
    """The newest basic table of districts (2026-05-20): cp1252, `;`, all quoted, decimal comma, LF, 28 columns."""
    rows = [DISTRICT_COLUMNS, *(row for facts in states for row in district_rows(facts))]
    return zipped({"Agregados_por_distritos_basico_BR_20260520.csv": quoted(rows).encode("cp1252")})


def census_districts_2025(states: Iterable[Facts]) -> bytes:
    """The table before it (2025-04-17), which lingers in the folder: CRLF, without v0008 and v0009."""
    rows = [DISTRICT_COLUMNS[:-2], *(row[:-2] for facts in states for row in district_rows(facts))]
    return zipped({"Agregados_por_distritos_basico_BR.csv": quoted(rows, "\r\n").encode("cp1252")})


def sector_rows(facts: Facts, sectors: Mapping[str, Sequence[Sector]]) -> Iterator[tuple[str, ...]]:
    """The rows of a state's sectors, under SECTOR_COLUMNS."""
    state = _state_columns(facts)
    for code, parts in sectors.items():
        district = facts.districts[code]
        place = facts.municipalities[district.municipality]
        regions = _regions_of(facts, place.code)
        for sector in parts:
            yield (
                *(sector.code, sector.situation, sector.situation_code, "0"),
                *(f"{sector.box.area_km2:.7f}".replace(".", ","), *state, place.code, place.name),
                *(code, district.name, f"{code}00", "", ".", "", ".", "", ".", "", ".", ""),
                *regions,
                *_counts(sector.counts),
            )


def census_sectors(states: Mapping[str, Facts], sectors: Mapping[str, Mapping[str, Sequence[Sector]]]) -> bytes:
    """The basic table of sectors: 38 columns, never suppressed."""
    rows = [SECTOR_COLUMNS, *(row for uf, facts in states.items() for row in sector_rows(facts, sectors[uf]))]
    return zipped({"Agregados_por_setores_basico_BR_20260520.csv": quoted(rows).encode("cp1252")})


def census_dwellings(sectors: Mapping[str, Mapping[str, Sequence[Sector]]]) -> bytes:
    """Dwellings of sectors, part 1: V00001..V00089, with `X` where IBGE would suppress.

    The sample fills what houses need: V00001, V00002, V00047..V00050; the others are 0. In a sector of fewer than
    five private dwellings every cell is X; elsewhere a cell of 1 or 2 is.
    """
    rows: list[Sequence[str]] = [DWELLING_COLUMNS]
    for sector in (sector for of_state in sectors.values() for parts in of_state.values() for sector in parts):
        cells = ["X" if sector.is_suppressed else "0"] * 89
        for variable, value in sector.dwellings.items():
            if not sector.is_suppressed:
                cells[variable - 1] = "X" if value in (1, 2) else str(value)
        rows.append((sector.code, *cells))
    name = "Agregados_por_setores_caracteristicas_domicilio1_BR.csv"
    return zipped({name: quoted(rows).encode("cp1252")})
