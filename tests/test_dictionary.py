"""The dictionary and the data package: derived from the declarations, whole, and true of the files."""

import csv
import hashlib
import io
import json
from decimal import Decimal
from pathlib import Path

import pytest

from expectations.report import CHECK_RESULT
from tests.rows import row
from transforms.catalog import sources, tables
from transforms.schema import Column, Kind, Table, Unit
from warehouse import dictionary, meta, views
from warehouse.build import Tables
from warehouse.dictionary import ENGLISH, PORTUGUESE, markdown
from warehouse.export import csv as exports
from warehouse.export import datapackage, leia_me

PLACE = Table(
    "core.place",
    "Lugar",
    "One row per place",
    ("place_code",),
    (
        Column("place_code", Kind.CODE, "Code.", "Código do lugar", source="CD"),
        Column("people", Kind.INTEGER, "Residents | all.", "População", Unit.PERSONS, nullable=True),
        Column("verdict", Kind.TEXT, "Verdict.", "Situação", values=("met", "lost")),
    ),
    warnings=("not today's",),
)


def test_english_says_grain_key_warnings_types_and_comments() -> None:
    text = markdown([PLACE], ENGLISH)
    assert "### core.place\n\nOne row per place.\n\nKey: `place_code`.\n\nWarning: not today's.\n" in text
    assert "| `place_code` | VARCHAR |  | Code. Source column: CD. |" in text
    assert "| `people` | BIGINT | yes | Residents \\| all. Unit: persons. |" in text
    assert "| `verdict` | VARCHAR |  | Verdict. One of: met, lost. |" in text


def test_portuguese_has_labels_units_and_values() -> None:
    text = markdown([PLACE], PORTUGUESE)
    assert "### core.place\n\nLugar.\n\nChave: `place_code`.\n" in text
    assert "| `people` | BIGINT | sim | População. Unidade: habitantes. |" in text
    assert "| `verdict` | VARCHAR |  | Situação. Valores: met (atende), lost (perde). |" in text


def test_a_changed_declaration_makes_the_files_stale(tmp_path: Path) -> None:
    assert dictionary.stale([PLACE], tmp_path) == [tmp_path / "dictionary.md", tmp_path / "dicionario.md"]
    dictionary.write([PLACE], tmp_path)
    assert dictionary.stale([PLACE], tmp_path) == []
    assert dictionary.stale([PLACE, meta.POLL], tmp_path) == [tmp_path / "dictionary.md", tmp_path / "dicionario.md"]


def test_the_dictionary_in_the_repository_is_what_the_declarations_say() -> None:
    declared = [*tables().values(), *meta.TABLES, CHECK_RESULT]
    assert dictionary.stale([*declared, *views.declarations(declared)]) == []


@pytest.fixture(scope="module")
def export(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder: Path = tmp_path_factory.mktemp("release") / "export"
    marts: Tables = {
        name: (table, table.frame(_rows(table))) for name, table in tables().items() if name.startswith("mart.")
    }
    exports.write(folder, marts)
    datapackage.write(folder, marts, sources().values(), "Triagem técnica.")
    return folder


def _rows(table: Table) -> list[dict[str, object]]:
    given = {
        "municipality_code": "3200102", "uf": "ES", "area_id": "320010210", "requirement": "population",
        "threshold": Decimal("19168.56"), "unit": "persons", "margin": Decimal("0.25"),
        "collection_brl": Decimal("1.5"),
    }  # fmt: skip
    return [row(table, **{name: value for name, value in given.items() if name in table.names})]


def test_the_data_package_describes_every_csv_file_as_it_is(export: Path) -> None:
    package = json.loads((export / "datapackage.json").read_text(encoding="utf-8"))
    assert package["profile"] == "data-package"
    assert package["description"] == "Triagem técnica."
    resources = {resource["path"]: resource for resource in package["resources"]}
    assert sorted(resources) == sorted(path.name for path in export.glob("*.csv"))
    for name, resource in resources.items():
        content = (export / name).read_bytes()
        assert resource["hash"] == f"sha256:{hashlib.sha256(content).hexdigest()}"
        assert resource["bytes"] == len(content)
        text = content.decode(resource["encoding"])
        (heads, *rows) = csv.reader(io.StringIO(text, newline=""), delimiter=resource["dialect"]["delimiter"])
        fields = {field["name"]: field for field in resource["schema"]["fields"]}
        assert heads == list(fields)
        assert set(resource["schema"]["primaryKey"]) <= set(heads)
        assert len(rows) == 1
        for (head, field), cell in zip(fields.items(), rows[0], strict=True):
            constraints = field.get("constraints", {})
            assert cell or not constraints.get("required"), (name, head)
            assert cell == "" or cell in constraints.get("enum", [cell]), (name, head)
            if cell and field["type"] == "number":
                Decimal(cell.replace(field.get("decimalChar", "."), "."))


def test_leia_me_names_release_sources_dates_and_notice(tmp_path: Path) -> None:
    manifest = {
        "id": "20261130T050000Z-ab12cd34",
        "uf": "ES",
        "as_of": "2026-11-30",
        "contents_hash": "ab12cd34" * 8,
        "simulated": False,
        "legal_notice": "Triagem técnica.",
        "rule_sets": [{"title": "Lei Complementar nº 1/1967"}],
        "snapshots": [{"source": "ibge_estimates", "fetched_at": "2026-11-30T02:00:00Z"}],
    }
    (tmp_path / "pendencias.csv").touch()
    leia_me.write(tmp_path, manifest, {})
    content = (tmp_path / "LEIA-ME.txt").read_bytes()
    assert content.startswith(b"\xef\xbb\xbf")
    lines = content.decode("utf-8-sig").split("\r\n")
    assert lines[1] == (
        "Publicação 20261130T050000Z-ab12cd34 (ES-ab12cd34 na planilha e nos dossiês), dados até 30/11/2026"
    )
    assert "  IBGE: Estimativas da população residente; recebido em 29/11/2026" in lines
    assert "Triagem técnica." in lines
    assert lines[lines.index("ARQUIVOS") + 1 :][:2] == ["  pendencias.csv  o que falta saber, e a quem pedir", ""]
    assert lines[0] == "Triagem de áreas para criação de municípios: ES"
    assert "(ES-ab12cd34 na página, na planilha e nos dossiês)" in leia_me.lines(manifest, {}, ["index.html"])[1]
    assert "ESTADOS" not in lines
    assert not any("SIMULADOS" in line for line in lines)
    assert any("SIMULADOS" in line for line in leia_me.lines({**manifest, "simulated": True}, {}, ()))
    assert "  Vila e Serra (g): nem todos os distritos se ligam por divisa comum" in leia_me.lines(
        manifest, {"g": "Vila e Serra"}, ()
    )
    states = [
        {"uf": "AP", "release": None, "as_of": None, "is_current": False, "reason": "no answer\n  → run again"},
        {"uf": "ES", "release": "e1", "as_of": "2026-11-30", "is_current": True, "reason": ""},
        {"uf": "SE", "release": "s0", "as_of": "2026-10-31", "is_current": False, "reason": "checks refused"},
    ]
    told = leia_me.lines({**manifest, "uf": "BR", "states": states}, {}, ())
    assert told[0] == "Triagem de áreas para criação de municípios: ES, SE (2 de 3 Estados pedidos)"
    assert told[told.index("ESTADOS") + 1 :][:3] == [
        "  AP  FALTA: nenhum dado deste Estado está aqui (mensagem do programa: no answer → run again)",
        "  ES  dados até 30/11/2026, publicação e1",
        "  SE  PUBLICAÇÃO ANTERIOR, dados até 31/10/2026, publicação s0; a nova falhou "
        "(mensagem do programa: checks refused)",
    ]
