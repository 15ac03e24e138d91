"""The dossier: its figures are the release's, its limits agree with pyproj, and what is not known is left blank."""

import csv
import json
import re
import shutil
import subprocess
from datetime import date
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
import shapely
from pyproj import Geod

from flows import rule_files
from flows.cli import call
from tests.assembly import Released, minas, sample
from transforms import geometry
from warehouse.export.csv import assembly
from warehouse.export.dossier.contents import law, long_day
from warehouse.export.dossier.drawing import Free
from warehouse.export.dossier.limits import VERTICES, Limits, azimuth, degrees, limits, scale_at

GEOD = Geod(ellps="GRS80")
ELIGIBLE, UNDETERMINED, GROUP = "320530910", "320320507", "grupo-santa-cruz-praia-grande"
needs_poppler = pytest.mark.skipif(shutil.which("pdftotext") is None, reason="needs pdftotext (poppler-utils)")


@pytest.fixture(scope="module")
def released() -> Released:
    return sample()


def written(released: Released, area: str, folder: Path) -> Path:
    assert call(["dossier", area, "--data", str(released.data.parent), "--sample", "--output", str(folder)]) == 0
    return folder / f"dossie-{area}.pdf"


def retold(released: Released, folder: Path, **said: Any) -> Path:
    """The data folder of a copy of the release whose release.json says otherwise."""
    data = folder / "data"
    shutil.copytree(released.data, data / "sample", symlinks=True, ignore=shutil.ignore_patterns("raw", "staging"))
    path = (data / "sample/current/release.json").resolve()
    path.chmod(0o644)
    path.write_text(json.dumps({**released.manifest, **said}), encoding="utf-8")
    return data


def told(path: Path) -> str:
    """The text of a PDF, each run of white space one space."""
    text = subprocess.run(["pdftotext", "-layout", path, "-"], check=True, capture_output=True).stdout.decode()
    return re.sub(r"\s+", " ", text)


@needs_poppler
@pytest.mark.parametrize("area", [ELIGIBLE, UNDETERMINED, GROUP])
def test_its_figures_are_those_of_requirements_csv(released: Released, area: str, tmp_path: Path) -> None:
    text = told(written(released, area, tmp_path))
    with (released.folder / "export" / "requisitos.csv").open(encoding="utf-8-sig") as file:
        rows = [row for row in csv.DictReader(file, delimiter=";") if row["Área"] == area]
    assert len(rows) == 5
    for row in rows:
        assert row["Artigo"] in text
        for name in ("Mínimo", "Valor", "Máximo", "Limite"):
            if row[name]:
                whole, _, decimals = row[name].partition(",")
                assert f"{int(whole):,}".replace(",", ".") + (f",{decimals}" if decimals else "") in text
    assert released.manifest["contents_hash"] in text


@needs_poppler
def test_it_asks_each_body_and_leaves_blank_what_is_not_known(released: Released, tmp_path: Path) -> None:
    text = told(written(released, UNDETERMINED, tmp_path))
    for body in ("IBGE", "TRE", "Secretaria da Fazenda do Estado"):
        assert f"Minuta de requisição: {body}" in text
    for wanted in (
        "60 dias a contar do recebimento",
        "100 eleitores residentes ou domiciliados na área, com as firmas reconhecidas",
        "voto da maioria absoluta dos eleitores",
        "1º de janeiro de 2027 a 31 de dezembro de 2027, antes da eleição municipal de 2028",
        "Dados simulados.",
        "certidão do número de eleitores inscritos na área",
    ):
        assert wanted in text, wanted
    assert released.manifest["legal_notice"] in text


@needs_poppler
def test_the_quorum_is_more_than_half_of_the_voters(released: Released, tmp_path: Path) -> None:
    (electorate,) = released.rows("mart.eligibility").filter(pl.col("area_id") == ELIGIBLE)["electorate"]
    needed = f"{electorate // 2 + 1:,}".replace(",", ".")
    assert f"segundo a triagem {electorate:,}".replace(",", ".") + f" {needed}" in told(
        written(released, ELIGIBLE, tmp_path)
    )


@needs_poppler
def test_it_tells_where_the_petition_stands(released: Released, tmp_path: Path) -> None:
    text = " ".join(told(written(released, "320530910", tmp_path)).split())
    assert "Andamento da representação P03" in text
    assert "cobrar: TRE" in text
    assert "Andamento da representação" not in told(written(released, "320500220", tmp_path))


def test_equal_inputs_give_equal_bytes(released: Released, tmp_path: Path) -> None:
    (tmp_path / "a").mkdir()
    (tmp_path / "b").mkdir()
    one, other = (written(released, GROUP, tmp_path / name) for name in "ab")
    assert one.read_bytes() == other.read_bytes()
    assert one.read_bytes().startswith(b"%PDF")


def test_an_unknown_area_is_refused_with_the_nearest_names(
    released: Released, capsys: pytest.CaptureFixture[str]
) -> None:
    assert call(["dossier", "Carapinna", "--data", str(released.data.parent), "--sample"]) == 2
    assert "320500215 (Carapina)" in capsys.readouterr().err


def test_a_folder_or_a_rule_set_that_is_not_there_is_said_so(
    released: Released, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ["dossier", ELIGIBLE, "--data", str(released.data.parent), "--sample"]
    assert call([*words, "--output", str(tmp_path / "x" / "y.pdf")]) == 2
    assert f"no such folder: {tmp_path / 'x'}" in capsys.readouterr().err
    for name in ("nope", "plp_137_2015"):
        assert call([*words, "--rules", name]) == 2
        assert "the release's are lc_1_1967" in capsys.readouterr().err


def test_a_source_that_is_no_more_is_passed_over(released: Released, tmp_path: Path) -> None:
    snapshots = released.manifest["snapshots"]
    data = retold(released, tmp_path, snapshots=[*snapshots, {**snapshots[0], "source": "ibge_gazetteer"}])
    target = str(tmp_path / "it.pdf")
    assert call(["dossier", ELIGIBLE, "--data", str(data), "--sample", "--output", target]) == 0


@pytest.mark.parametrize(("asked", "which"), [([], "first "), (["--rules", "meu_estado"], "")])
def test_a_rule_set_of_the_users_own_is_asked_for_by_its_file(
    released: Released, tmp_path: Path, capsys: pytest.CaptureFixture[str], asked: list[str], which: str
) -> None:
    own = {"id": "meu_estado", "sha256": "ab" * 32}
    data = retold(released, tmp_path, rule_sets=[own, *released.manifest["rule_sets"]])
    assert call(["dossier", ELIGIBLE, "--data", str(data), "--sample", *asked]) == 2
    assert capsys.readouterr().err == (
        f"error: the release's {which}rule set, meu_estado, is a file of yours [--rules]\n"
        "  → give it: --rules FILE; or --rules lc_1_1967\n"
    )


@pytest.fixture(scope="module")
def crooked() -> tuple[list[str], Any, Limits]:
    """Two neighbouring districts with long, bent borders: their codes, their outline and its description."""
    _, mesh, _ = minas()
    codes = mesh["district_code"].to_list()[400:402]
    names = {code: code for code in mesh["district_code"]}
    found = limits(mesh, codes, names)
    assert found is not None
    outline = shapely.union_all(geometry.shapes(mesh.filter(pl.col("district_code").is_in(codes))["geometry"]))
    return codes, outline, found


def test_the_perimeter_agrees_with_pyproj_within_a_metre(crooked: tuple[list[str], Any, Limits]) -> None:
    _, outline, found = crooked
    assert abs(found.whole_m - GEOD.geometry_length(shapely.boundary(outline))) < 1
    (ring,) = found.rings
    longitudes = [step.longitude for step in (*ring, ring[0])]
    latitudes = [step.latitude for step in (*ring, ring[0])]
    assert abs(found.perimeter_m - GEOD.line_length(longitudes, latitudes)) < 1
    assert abs(float(found.vertices["metres"].sum()) - found.whole_m) < 1


def test_the_described_line_strays_no_farther_than_it_says(crooked: tuple[list[str], Any, Limits]) -> None:
    _, outline, found = crooked
    (ring,) = found.rings
    scale = scale_at(ring[0].latitude)
    flat = shapely.transform(outline, lambda at: at * scale)
    described = shapely.LinearRing(np.array([[step.longitude, step.latitude] for step in ring]) * scale)
    assert found.tolerance_m > 0
    assert len(ring) <= 60
    vertices = shapely.points(shapely.get_coordinates(shapely.boundary(flat)))
    assert shapely.distance(vertices, described).max() <= found.tolerance_m * 1.01


def test_each_step_leads_to_the_next_clockwise_from_the_north(crooked: tuple[list[str], Any, Limits]) -> None:
    _, _, found = crooked
    (ring,) = found.rings
    assert ring[0].latitude == max(step.latitude for step in ring)
    for step, following in zip(ring, (*ring[1:], ring[0]), strict=True):
        longitude, latitude, _ = GEOD.fwd(step.longitude, step.latitude, step.azimuth, step.metres)
        assert (longitude, latitude) == pytest.approx((following.longitude, following.latitude), abs=1e-9)
    line = shapely.LinearRing([(step.longitude, step.latitude) for step in ring])
    assert not shapely.is_ccw(line)


def test_who_lies_beside_is_a_neighbour(crooked: tuple[list[str], Any, Limits]) -> None:
    codes, _, found = crooked
    beside = {step.beside for ring in found.rings for step in ring}
    assert beside
    assert not beside & {*codes, ""}


def test_every_vertex_is_in_the_csv(crooked: tuple[list[str], Any, Limits]) -> None:
    _, outline, found = crooked
    lines = assembly(VERTICES, found.vertices).decode("utf-8-sig").splitlines()
    assert lines[0] == "Linha;Vértice;Latitude;Longitude;Azimute;Distância"
    assert len(lines) - 1 == shapely.get_num_coordinates(outline) - 1


def test_without_the_mesh_of_a_district_there_are_no_limits() -> None:
    _, mesh, _ = minas()
    assert limits(mesh, [mesh["district_code"][0], "319999905"], {}) is None


def test_degrees_and_directions_are_written_as_memorials_do() -> None:
    assert degrees(-19.803429166, "N", "S") == "19°48'12,345\" S"
    assert degrees(-40.0, "L", "O") == "40°00'00,000\" O"
    assert degrees(2.99999999999, "N", "S") == "3°00'00,000\" N"
    assert [azimuth(value) for value in (0.0, 90.5, 359.99999)] == ["0°00'00\"", "90°30'00\"", "0°00'00\""]


def test_the_words_on_the_map_stand_apart_and_inside_it() -> None:
    free = Free([])
    assert free.take(800, 500, "Bebedouro", 30, middle=True)
    assert not free.take(820, 510, "P1", 25)
    assert free.take(820, 560, "P2", 25)
    assert not free.take(20, 300, "São Rafael", 23, middle=True)


def test_days_are_written_in_words() -> None:
    assert [long_day(date(2027, 1, 1)), long_day(date(2026, 11, 30))] == [
        "1º de janeiro de 2027",
        "30 de novembro de 2026",
    ]


def test_it_cites_the_law_it_was_made_under() -> None:
    lc, mg = (file.rule_set for file in rule_files.read(["lc_1_1967", "mg_lc_37_1995"]))
    assert law(lc) == {
        "basis": "Lei Complementar nº 1, de 9 de novembro de 1967, art. 2º, § 3º",
        "days": 60,
        "origin": "art. 2º, § 1º",
        "limits": "art. 8º",
    }
    assert law(mg) == {
        "basis": "Lei Complementar do Estado de Minas Gerais nº 37, de 18 de janeiro de 1995",
        "days": 0,
        "origin": "",
        "limits": "",
    }
