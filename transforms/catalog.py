"""Every declared table, found in the modules that make them. A name declared twice is an error, loudly."""

import importlib
import pkgutil
from functools import cache
from types import ModuleType

import transforms.core
import transforms.marts
import transforms.sources
from transforms.schema import Table
from transforms.sources import Source


def _modules(package: ModuleType) -> list[ModuleType]:
    names = sorted(module.name for module in pkgutil.iter_modules(package.__path__))
    return [importlib.import_module(f"{package.__name__}.{name}") for name in names]


@cache
def sources() -> dict[str, Source]:
    """The upstreams, by name."""
    declared = [vars(module)["SOURCE"] for module in _modules(transforms.sources) if "SOURCE" in vars(module)]
    return {source.name: source for source in declared}


@cache
def tables() -> dict[str, Table]:
    """All tables by name: staging, core, mart, each in alphabetical order."""
    found: dict[str, Table] = {}
    for package in (transforms.sources, transforms.core, transforms.marts):
        for module in _modules(package):
            for table in vars(module).values():
                if not isinstance(table, Table):
                    continue
                if found.setdefault(table.name, table) is not table:
                    raise ValueError(f"{table.name} is declared twice, once in {module.__name__}")
    layers = ("staging", "core", "mart")
    return dict(sorted(found.items(), key=lambda item: (layers.index(item[1].schema_name), item[0])))
