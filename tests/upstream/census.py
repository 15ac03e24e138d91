"""The whole country around a real census file: what IBGE and TSE would say of every state in it.

The district file is served byte for byte; localities, estimates and codes follow from it, and each district gets one
simulated polling place and a simulated mesh.
"""

import csv
import io
from collections.abc import Iterator, Mapping
from pathlib import Path

from transforms.codes import BY_CODE
from warehouse.sample.facts import COUNTS, District, Facts, Municipality
from warehouse.sample.files import zipped
from warehouse.sample.generate import CENSUS, ZIP, Answer, World


def _rows(path: Path) -> Iterator[dict[str, str]]:
    text = path.read_bytes().decode("cp1252")
    yield from csv.DictReader(io.StringIO(text, newline=""), delimiter=";")


def _number(text: str) -> str:
    return "" if text == "." else text.replace(",", ".")


def _tse_codes(crosswalk: Path | None) -> dict[str, str]:
    """TSE's code of each município, from the official table."""
    if not crosswalk:
        return {}
    return {row["CD_MUNICIPIO_IBGE"]: row["CD_MUNICIPIO_TSE"].zfill(5) for row in _rows(crosswalk)}


def country(
    census: Path,
    crosswalk: Path | None,
    estimates: Mapping[int, Mapping[str, int]] | None,
    page_limit: int,
) -> tuple[World, dict[str, Answer]]:
    """The states of the file, and the answers that are other files as they are.

    Without a crosswalk, TSE's codes are made up; without estimates, the census counts stand for 2025.
    """
    codes = _tse_codes(crosswalk)
    facts: dict[str, Facts] = {}
    for row in _rows(census):
        state = BY_CODE[row["CD_UF"]]
        here = facts.setdefault(state.uf, Facts(state, {}, {}, {}, {}))
        district = District(
            *(row["CD_DIST"], row["NM_DIST"], row["CD_MUN"], _number(row["AREA_KM2"]) or "1"),
            tuple(_number(row.get(count, "")) for count in COUNTS),
        )
        here.districts[district.code] = district  # type: ignore[index]
        made_up = f"{int(row['CD_UF']) * 1000 + len(here.municipalities):05}"
        tse = codes.get(row["CD_MUN"], made_up)
        place = Municipality(row["CD_MUN"], row["NM_MUN"], tse, "", row["CD_RGI"])
        here.municipalities.setdefault(place.code, place)  # type: ignore[attr-defined]
        here.regions["immediate", row["CD_RGI"]] = (row["NM_RGI"], row["CD_RGINT"])  # type: ignore[index]
        here.regions["intermediate", row["CD_RGINT"]] = (row["NM_RGINT"], "")  # type: ignore[index]
    for here in facts.values():
        counted = {code: sum(part.population for part in parts) for code, parts in here.by_municipality.items()}
        for year, values in (estimates or {2025: counted}).items():
            here.estimates[year] = {code: values.get(code, counted[code]) for code in counted}  # type: ignore[index]
    placed = {
        f"/ftp{CENSUS}/Agregados_por_Distrito_csv/Agregados_por_distritos_basico_BR_20260520.zip": Answer(
            zipped({"Agregados_por_distritos_basico_BR_20260520.csv": census.read_bytes()}), ZIP
        )
    }
    if crosswalk:
        placed["/odsele/municipio_tse_ibge/municipio_tse_ibge.zip"] = Answer(
            zipped({"municipio_tse_ibge.csv": crosswalk.read_bytes()}), ZIP
        )
    return World(facts, place_voters=10**9, section_voters=100_000, page_limit=page_limit), placed
