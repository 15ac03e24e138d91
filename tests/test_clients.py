"""Others' tools on a release, in an environment of their own: an older DuckDB, its command line, a validator."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from flows.cli import call

# None of them is a dependency: a lock of ours would bind the tools that readers use to those that we use.
TOOLS = ("duckdb==1.4.*", "duckdb-cli", "frictionless>=5,<6")
EVERYTHING = """
import duckdb, sys
database = duckdb.connect(sys.argv[1], read_only=True)
named = "SELECT schema_name || '.' || table_name FROM duckdb_tables() WHERE NOT internal"
views = "SELECT schema_name || '.' || view_name FROM duckdb_views() WHERE NOT internal"
names = [name for (name,) in database.execute(f"{named} UNION ALL {views}").fetchall()]
rows = {name: len(database.execute(f"FROM {name}").fetchall()) for name in names}
print(duckdb.__version__, len(rows), rows["mart.ranking"])
"""


@pytest.fixture(scope="module")
def release(tmp_path_factory: pytest.TempPathFactory) -> Path:
    data = tmp_path_factory.mktemp("clients")
    assert call(["run", "--sample", "--data", str(data)]) == 0
    return data / "sample/current"


@pytest.fixture(scope="module")
def tools(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of the commands of an environment with these tools; skips where they cannot be installed."""
    folder = tmp_path_factory.mktemp("tools") / "venv"
    uv = str(Path(sys.executable).with_name("uv"))
    try:
        subprocess.run([uv, "venv", "--quiet", str(folder)], check=True, capture_output=True, text=True)
        install = [uv, "pip", "install", "--quiet", "--python", str(folder / "bin/python"), *TOOLS]
        subprocess.run(install, check=True, capture_output=True, text=True, timeout=300)
    except (OSError, subprocess.SubprocessError) as error:
        pytest.skip(f"needs a package registry: {getattr(error, 'stderr', None) or error}")
    return folder / "bin"


def told(*command: object) -> str:
    done = subprocess.run(list(map(str, command)), check=False, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr + done.stdout
    return done.stdout


def test_duckdb_1_4_opens_every_table_and_view(release: Path, tools: Path) -> None:
    version, names, ranked = told(tools / "python", "-c", EVERYTHING, release / "emancipa.duckdb").split()
    assert version.startswith("1.4.")
    assert int(names) > 50
    assert ranked == "204"


def test_the_duckdb_command_line_reads_release_parquet_and_ledgers(release: Path, tools: Path) -> None:
    """As README.md has it: the file, a Parquet copy for other programs, and what the sources answer right now."""
    duckdb = (tools / "duckdb", "-json")
    (top,) = json.loads(told(*duckdb, "-readonly", release / "emancipa.duckdb", "-c", "FROM mart.ranking LIMIT 1"))
    assert top["rank"] == 1
    parquet = f"SELECT count(*) AS n FROM '{release}/parquet/mart.eligibility.parquet'"
    assert json.loads(told(*duckdb, "-c", parquet)) == [{"n": 204}]
    polls = release.parent / "raw/polls.jsonl"
    failing = f"SELECT source, max(polled_at) AS last FROM '{polls}' WHERE outcome = 'ok' GROUP BY source ORDER BY last"
    assert len(json.loads(told(*duckdb, "-c", failing))) == 15


def test_the_data_package_is_valid_by_its_own_validator(release: Path, tools: Path) -> None:
    report = json.loads(told(tools / "frictionless", "validate", "--json", release / "export/datapackage.json"))
    assert report["valid"], report
    assert {task["type"] for task in report["tasks"]} == {"table"}
    assert len(report["tasks"]) >= 9
