"""Rule sets by name (shipped with the program) or by path (a user's own TOML file)."""

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from importlib.resources import files
from importlib.resources.abc import Traversable
from pathlib import Path

from transforms.errors import UsageError
from transforms.rules.reading import RuleSet, parse

DEFAULT = "lc_1_1967"


@dataclass(frozen=True, slots=True)
class RuleFile:
    """A rule set and the hash of the very file it was read from."""

    rule_set: RuleSet
    sha256: str


def shipped() -> list[str]:
    """Names of the rule sets that come with the program."""
    return sorted(path.name.removesuffix(".toml") for path in _folder().iterdir() if path.name.endswith(".toml"))


def read(names: Sequence[str]) -> list[RuleFile]:
    """The rule sets asked for, the default one if none is. Two of one id would be told apart by nobody: refused."""
    found = [_read(name) for name in names or [DEFAULT]]
    ids = [file.rule_set.id for file in found]
    if twice := sorted({id_ for id_ in ids if ids.count(id_) > 1}):
        raise UsageError(f"rule set given twice: {twice}", where="--rules", action="give each file its own `id`")
    return found


def _folder() -> Traversable:
    return files("transforms.rules")


def _read(name: str) -> RuleFile:
    if name in shipped():
        data, where = (_folder() / f"{name}.toml").read_bytes(), f"{name}.toml"
    elif Path(name).suffix == ".toml" and Path(name).is_file():
        data, where = Path(name).read_bytes(), name
    else:
        raise UsageError(
            f"no rule set {name!r}", where="--rules", action=f"a .toml file, or one of: {', '.join(shipped())}"
        )
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError:
        raise UsageError("not UTF-8 text", where=where, action="save the file as UTF-8") from None
    return RuleFile(parse(text, where), hashlib.sha256(data).hexdigest())
