"""Settings: where they come from, which wins, and that nothing wrong passes for a default."""

import re
from pathlib import Path

import pytest

from flows.settings import settings
from transforms.errors import UsageError


def test_the_defaults_are_the_real_upstreams() -> None:
    found = settings()
    assert found.ibge_api == "https://servicodados.ibge.gov.br/api"
    assert found.ibge_files == "https://ftp.ibge.gov.br"
    assert found.tse == "https://cdn.tse.jus.br/estatistica/sead/odsele"
    assert found.siconfi == "https://apidatalake.tesouro.gov.br/ords/siconfi/tt"
    assert (found.connect_seconds, found.read_seconds, found.siconfi_pace) == (10, 60, 1.5)
    assert (found.data, found.uf) == (Path("warehouse/data"), None)
    assert found.inputs_folder == Path("warehouse/data/inputs")
    assert found.raw == Path("warehouse/data/raw")


def test_arguments_win_over_the_environment_and_that_over_the_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / ".env").write_text("EMANCIPA_UF=es\nEMANCIPA_DATA=/file\nEMANCIPA_TRIES=2\nOTHER=1\n", encoding="utf-8")
    monkeypatch.setenv("EMANCIPA_DATA", "/environment")
    monkeypatch.setenv("EMANCIPA_TRIES", "3")
    found = settings(data=Path("/argument"), uf=None)
    assert (found.data, found.tries, found.uf) == (Path("/argument"), 3, "ES")


def test_an_empty_variable_is_not_set(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("EMANCIPA_UF", "")
    assert settings().uf is None


@pytest.mark.parametrize(
    ("name", "value", "words"),
    [
        ("UF", "XX", "unknown state 'XX'"),
        ("UF", "DF", "cannot be divided"),
        ("TSE", "cdn.tse.jus.br", "should match pattern"),
        ("TSE", "file:///etc/passwd", "should match pattern"),
        ("READ_SECONDS", "0", "greater than 0"),
        ("READ_SECONDS", "inf", "finite number"),
        ("DEADLINE_SECONDS", "soon", "valid number"),
        ("TRIES", "0", "greater than or equal to 1"),
        ("CONTACT", "a\nb", "should match pattern"),
    ],
)
def test_a_wrong_value_is_named_with_its_variable(
    name: str, value: str, words: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(f"EMANCIPA_{name}", value)
    with pytest.raises(UsageError, match=rf"EMANCIPA_{name}={re.escape(repr(value))}: .*{words}") as error:
        settings()
    assert error.value.exit_code == 2


def test_the_client_says_who_it_is_and_whom_to_ask() -> None:
    assert re.fullmatch(
        r"Mozilla/5\.0 \(compatible; emancipa/[\w.]+; \+dados@example\.org\)",
        settings(contact="dados@example.org").user_agent,
    )


def test_a_base_needs_no_slash_at_its_end() -> None:
    assert settings(tse="http://127.0.0.1:8000/odsele/").base("tse") == "http://127.0.0.1:8000/odsele"
