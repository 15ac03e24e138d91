"""What the plain job reads: the snapshots of each source, as frames."""

import json
import zipfile
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import geopandas as gpd  # type: ignore[import-untyped]  # the benchmark's alone
import numpy as np
import pandas as pd
from pandas import DataFrame as Frame

from warehouse.snapshots import Store

Frames = dict[str, Frame]
VARIANTS = ("gross", "without_irrf", "net")
SAO_PAULO, NORONHA = "3550308", "2605459"
CODES = dict.fromkeys(("CD_DIST", "CD_MUN", "CD_UF", "CD_SETOR", "CD_SIT"), "str")
NUMBERS: Mapping[str, Any] = {"decimal": ",", "na_values": [".", "X"], "dtype": CODES}
CENSUS = {
    "CD_DIST": "district_code", "NM_DIST": "district_name", "CD_MUN": "municipality_code",
    "NM_MUN": "municipality_name", "v0001": "population_census", "v0003": "private_dwellings",
    "v0007": "occupied_dwellings",
}  # fmt: skip
PLACE = ["CD_MUNICIPIO", "NR_ZONA", "NR_LOCAL_VOTACAO"]
TEXT = ["NM_BAIRRO", "DS_ENDERECO", "NM_LOCAL_VOTACAO"]
POINT = ["NR_LATITUDE", "NR_LONGITUDE"]
SECTION = [
    *PLACE, *TEXT, *POINT, "NR_SECAO", "DT_GERACAO", "NR_TURNO", "SG_UF", "NM_MUNICIPIO", "CD_TIPO_SECAO_AGREGADA",
    "CD_TIPO_LOCAL", "DS_SITU_LOCAL_VOTACAO", "QT_ELEITOR_SECAO", "NR_LOCAL_VOTACAO_ORIGINAL",
    "NM_LOCAL_VOTACAO_ORIGINAL", "DS_ENDERECO_LOCVT_ORIGINAL",
]  # fmt: skip


def path(store: Store, source: str, part: str, uf: str = "") -> Path:
    """The snapshot of one part of a source's last good answer."""
    poll = store.last_good(source, uf)
    assert poll, source
    return next(store.path(answer.sha256) for answer in poll.answers if answer.part.startswith(part))


def table(store: Store, source: str, part: str, columns: Iterable[str], **options: Any) -> Frame:
    """The CSV in a zip."""
    with zipfile.ZipFile(path(store, source, part)) as archive:
        member = next(name for name in archive.namelist() if name.endswith(".csv"))
        return pd.read_csv(archive.open(member), sep=";", encoding="cp1252", usecols=list(columns), **options)


def national_files(store: Store) -> Frames:
    """What all states share, read once."""
    sectors = ["CD_SETOR", "CD_DIST", "CD_SIT", "CD_UF", "AREA_KM2", "v0001", "v0003", "v0007"]
    houses = ["CD_SETOR", "V00001", "V00047", "V00048"]
    crosswalk = ["SG_UF", "CD_MUNICIPIO_TSE", "NM_MUNICIPIO_TSE", "CD_MUNICIPIO_IBGE"]
    return {
        "census": table(
            store, "ibge_census_districts", "basico", [*CENSUS, "CD_UF", "AREA_KM2", "v0002"], **NUMBERS
        ),
        "sectors": table(store, "ibge_census_sectors", "basico", sectors, **NUMBERS),
        "houses": table(store, "ibge_census_sectors", "domicilio1", houses, **NUMBERS),
        "sections": sections(store, "sections"),
        "previous": sections(store, "previous"),
        "crosswalk": table(store, "tse_municipalities", "municipalities", crosswalk, dtype=str),
    }  # fmt: skip


def sections(store: Store, part: str) -> Frame:
    """One row a section: first round, newest row; a pair of coordinates is missing where its longitude is."""
    rows = table(store, "tse_polling_places", part, SECTION, dtype=str, na_values=["#NULO", "#NE"])
    rows["QT_ELEITOR_SECAO"] = pd.to_numeric(rows["QT_ELEITOR_SECAO"])
    for name in POINT:
        rows[name] = pd.to_numeric(rows[name].str.replace(",", "."))
    rows.loc[rows["NR_LONGITUDE"].isin([-1, -3, -4]), POINT] = np.nan
    rows["CD_MUNICIPIO"] = rows["CD_MUNICIPIO"].str.zfill(5)
    rows["DT_GERACAO"] = pd.to_datetime(rows["DT_GERACAO"], format="%d/%m/%Y")
    original = rows["NR_LOCAL_VOTACAO_ORIGINAL"]
    rows["NR_LOCAL_VOTACAO_ORIGINAL"] = original.where(original != "-1").fillna(rows["NR_LOCAL_VOTACAO"])
    first = rows[rows["NR_TURNO"] == "1"].sort_values("DT_GERACAO")
    return first.drop_duplicates(["CD_MUNICIPIO", "NR_ZONA", "NR_SECAO"], keep="last")


def answer(store: Store, source: str, part: str, uf: str) -> Any:
    """What an API said."""
    return json.loads(path(store, source, part, uf).read_bytes())


def estimates(store: Store, uf: str) -> Frame:
    """The official estimates of a state and its municípios."""
    rows = [
        (series["localidade"]["nivel"]["id"], series["localidade"]["id"], int(year), figure)
        for part in ("population/state", "population/municipalities")
        for series in answer(store, "ibge_estimates", part, uf)[0]["resultados"][0]["series"]
        for year, figure in series["serie"].items()
    ]
    frame = pd.DataFrame(rows, columns=["level", "code", "year", "population"])
    return frame.assign(population=pd.to_numeric(frame["population"], errors="coerce"))


def localities(store: Store, uf: str) -> Frame:
    """The districts on IBGE's list."""
    found = answer(store, "ibge_localities", "districts.json", uf)
    rows = [(str(one["id"]), one["nome"], str(one["municipio"]["id"]), one["municipio"]["nome"]) for one in found]
    return pd.DataFrame(rows, columns=list(CENSUS.values())[:4])


def district_mesh(store: Store, uf: str) -> gpd.GeoDataFrame:
    """The districts' shapes, mended where they cross themselves."""
    mesh = gpd.read_file(path(store, "ibge_district_mesh", "districts.gpkg", uf))
    mesh["geometry"] = mesh.make_valid(method="structure", keep_collapsed=False)
    return mesh


def revenue(cells: Frame) -> dict[str, int]:
    """The state's tax revenue (cents) by its definitions: account "Impostos" of the annual statement."""
    by_cell = cells.set_index(["cod_conta", "coluna"])["valor"]

    def received(account: str) -> float:
        refunds = by_cell.get((account, "Outras Deduções da Receita"), 0)
        return float(by_cell[account, "Receitas Brutas Realizadas"] - abs(refunds))

    taxes = "RO1.1.1.0.00.0.0"
    shares = ("Deduções - FUNDEB", "Deduções - Transferências Constitucionais")
    passed_on = sum(abs(by_cell.get((taxes, share), 0)) for share in shares)
    gross = received(taxes)
    amounts = gross, gross - received("RO1.1.1.3.03.0.0"), gross - passed_on
    return {f"revenue_{name}": round(amount * 100) for name, amount in zip(VARIANTS, amounts, strict=True)}
