"""What is declared is found; a module that is wrong is named."""

import importlib
from pathlib import Path
from types import ModuleType

import pytest

from transforms import catalog
from transforms.errors import EmancipaError


def test_a_module_that_cannot_be_imported_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    package = tmp_path / "gazetteers"
    package.mkdir()
    (package / "__init__.py").touch()
    (package / "torn.py").write_text("import no_such_module\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    with pytest.raises(EmancipaError, match="ModuleNotFoundError: No module named 'no_such_module'") as told:
        catalog._modules(importlib.import_module("gazetteers"))
    assert told.value.where == "gazetteers.torn"


def test_a_source_declared_wrongly_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    (sound,) = [source for source in catalog.sources().values() if source.name == "ibge_localities"]
    for declared, what in (("a text", "SOURCE is a str"), (sound, "SOURCE is named 'ibge_localities'")):
        module = ModuleType("transforms.sources.gazetteer")
        module.SOURCE = declared  # type: ignore[attr-defined]
        monkeypatch.setattr(catalog, "_modules", lambda _, module=module: [module])
        with pytest.raises(EmancipaError, match=what) as told:
            catalog.sources.__wrapped__()
        assert told.value.where == "transforms.sources.gazetteer"
        assert "'gazetteer'" in told.value.action
