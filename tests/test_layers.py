"""The layers, read off the imports: who knows whom, where each library lives, that transforms/ is pure."""

import ast
import subprocess
import sys
from collections.abc import Iterator
from fnmatch import fnmatch
from functools import cache
from pathlib import Path

import pytest

PROJECT = Path(__file__).resolve().parent.parent

# sql is data: whoever runs it may read it, and it imports nothing.
MAY_IMPORT = {
    "flows": {"warehouse", "expectations", "transforms", "sql"},
    "warehouse": {"transforms", "sql"},
    "expectations": {"transforms", "sql"},
    "transforms": set[str](),
    "sql": set[str](),
}

GEOMETRY = (
    "transforms/geometry.py",
    "transforms/borders.py",
    "transforms/sources/*",
    "warehouse/export/*",
    "warehouse/sample/*",
)
HOMES = {
    "prefect": ("flows/*",),
    "prefect_dask": ("flows/*",),
    "requests": ("flows/*",),
    "urllib3": ("flows/*",),
    "duckdb": ("warehouse/*",),
    "fsspec": ("warehouse/share.py",),
    "great_expectations": ("expectations/gx.py",),
    "pandas": ("expectations/*",),
    "xlsxwriter": ("warehouse/export/*",),
    "typst": ("warehouse/export/*",),
    "jinja2": ("warehouse/export/*",),
    "shapely": GEOMETRY,
    "pyproj": GEOMETRY,
    "pyogrio": GEOMETRY,
}

# What transforms/ may not touch: environment, clock, files. Opening a zip member held in memory is fine.
IMPURE_MODULES = {"os", "time", "random", "secrets", "shutil", "socket", "subprocess", "tempfile", "uuid"}
IMPURE_NAMES = {"open", "input", "print"}
IMPURE_CALLS = {"datetime.now", "datetime.utcnow", "datetime.today", "date.today", "io.open"}
PATH_METHODS = {
    "exists", "expanduser", "glob", "is_file", "iterdir", "mkdir", "read_bytes", "read_text",
    "resolve", "rglob", "rmdir", "stat", "touch", "unlink", "write_bytes", "write_text",
}  # fmt: skip
RULES = "transforms/rules/"  # where the law ships as TOML files of the package, which may be read
PACKAGE_DATA = {"iterdir", "read_bytes", "read_text"}

EMPTY_NAMES = {"utils", "util", "helpers", "helper", "manager", "base", "common", "misc"}
SLOW_TO_IMPORT = {"great_expectations", "prefect", "prefect_dask", "pyogrio", "typst", "xlsxwriter"}


@cache
def modules() -> dict[str, ast.Module]:
    """Every module of the five packages, by its path in the project."""
    found = (path for package in MAY_IMPORT for path in sorted((PROJECT / package).rglob("*.py")))
    return {str(path.relative_to(PROJECT)): ast.parse(path.read_bytes()) for path in found}


def imports(tree: ast.Module) -> Iterator[tuple[int, str]]:
    """The line and dotted name of each import, wherever it stands in the module."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from ((node.lineno, alias.name) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield node.lineno, node.module or "."


def all_imports() -> Iterator[tuple[str, int, str, str]]:
    """Path, line, name and top-level package of every import of the project."""
    for path, tree in modules().items():
        for line, name in imports(tree):
            yield path, line, name, name.partition(".")[0]


def impurities(path: str, tree: ast.Module) -> Iterator[str]:
    """What a module does that a pure one may not, with its line."""
    for line, name in imports(tree):
        if name.partition(".")[0] in IMPURE_MODULES:
            yield f"{path}:{line} imports {name}"
    for node in ast.walk(tree):
        if not isinstance(node, ast.Call):
            continue
        called = ast.unparse(node.func)
        method = called.rpartition(".")[2]
        is_path_method = isinstance(node.func, ast.Attribute) and method in PATH_METHODS
        if (
            called in IMPURE_NAMES
            or any(called == call or called.endswith(f".{call}") for call in IMPURE_CALLS)
            or (is_path_method and not (path.startswith(RULES) and method in PACKAGE_DATA))
        ):
            yield f"{path}:{node.lineno} calls {called}()"


def test_every_package_is_looked_at() -> None:
    assert {path.partition("/")[0] for path in modules()} == set(MAY_IMPORT)


def test_imports_point_inward() -> None:
    wrong = [
        f"{path}:{line} imports {name}"
        for path, line, name, package in all_imports()
        if package in MAY_IMPORT and package != (own := path.partition("/")[0]) and package not in MAY_IMPORT[own]
    ]
    assert wrong == []


def test_tests_are_not_imported() -> None:
    assert [f"{path}:{line}" for path, line, _, package in all_imports() if package == "tests"] == []


def test_each_library_has_one_home() -> None:
    wrong = [
        f"{path}:{line} imports {name}, which lives in {', '.join(HOMES[package])}"
        for path, line, name, package in all_imports()
        if package in HOMES and not any(fnmatch(path, home) for home in HOMES[package])
    ]
    assert wrong == []


def test_transforms_are_pure() -> None:
    found = [
        impurity
        for path, tree in modules().items()
        if path.startswith("transforms/")
        for impurity in impurities(path, tree)
    ]
    assert found == []


@pytest.mark.parametrize(
    "source",
    [
        "import os",
        "from time import monotonic",
        "def f():\n    import random",
        "open('x')",
        "io.open('x')",
        "path.read_text()",
        "Path('x').write_bytes(b'')",
        "datetime.now(UTC)",
        "datetime.date.today()",
    ],
)
def test_impurity_is_seen(source: str) -> None:
    assert len(list(impurities("transforms/x.py", ast.parse(source)))) == 1


@pytest.mark.parametrize("source", ["archive.open('a.csv')", "member.is_dir()", "datetime.fromisoformat(x)"])
def test_purity_is_left_alone(source: str) -> None:
    assert list(impurities("transforms/x.py", ast.parse(source))) == []


def test_names_say_what_is_inside() -> None:
    assert [path for path in modules() if EMPTY_NAMES & set(Path(path).with_suffix("").parts)] == []


def test_the_command_line_starts_light() -> None:
    listing = "import sys, flows.cli; print(*{name.partition('.')[0] for name in sys.modules})"
    start = subprocess.run([sys.executable, "-c", listing], capture_output=True, text=True, check=False)
    assert start.returncode == 0, start.stderr
    assert SLOW_TO_IMPORT & set(start.stdout.split()) == set()
