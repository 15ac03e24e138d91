"""Every declared table, found in the modules that make them. A name declared twice is an error, loudly."""

import importlib
import pkgutil
from functools import cache
from types import ModuleType

import transforms.core
import transforms.marts
import transforms.sources
from transforms.errors import EmancipaError
from transforms.schema import Table
from transforms.sources import Source


def _modules(package: ModuleType) -> list[ModuleType]:
    """The modules of a package. Raises EmancipaError, naming it, on one that cannot be imported."""
    found = []
    for name in sorted(module.name for module in pkgutil.iter_modules(package.__path__)):
        try:
            found.append(importlib.import_module(f"{package.__name__}.{name}"))
        except Exception as error:
            raise EmancipaError(
                f"the module cannot be imported: {type(error).__name__}: {error}",
                where=f"{package.__name__}.{name}",
                action="correct the module, or take it away",
            ) from error
    return found


@cache
def sources() -> dict[str, Source]:
    """The upstreams, by name."""
    found = {}
    for module in _modules(transforms.sources):
        source, name = vars(module).get("SOURCE"), module.__name__.rpartition(".")[2]
        if source is None:
            continue
        if not isinstance(source, Source) or source.name != name:
            what = f"named {source.name!r}" if isinstance(source, Source) else f"a {type(source).__name__}"
            raise EmancipaError(
                f"SOURCE is {what}", where=module.__name__, action=f"declare a Source whose name is {name!r}"
            )
        found[name] = source
    return found


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
