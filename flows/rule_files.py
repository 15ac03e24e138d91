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


def read(names: Sequence[str], *, proven: bool = False) -> list[RuleFile]:
    """The rule sets asked for, the default one if none is. Two of one id would be told apart by nobody: refused.

    With `proven`, a user's own must keep its worked examples; those of the shipped ones are tested with the program.
    """
    found = [_read(name) for name in names or [DEFAULT]]
    for name, file in zip(names, found, strict=False) if proven else ():
        if name not in shipped():
            prove(file.rule_set, name)
    ids = [file.rule_set.id for file in found]
    if twice := sorted({id_ for id_ in ids if ids.count(id_) > 1}):
        raise UsageError(f"rule set given twice: {twice}", where="--rules", action="give each file its own `id`")
    return found


def prove(rule_set: RuleSet, where: str) -> None:
    """Raises UsageError, naming them, where worked examples come out otherwise than they say."""
    from transforms.rules.examples import wrong_examples  # noqa: PLC0415  few bring their own

    if wrong := wrong_examples(rule_set):
        raise UsageError(
            f"worked examples that do not hold: {'; '.join(wrong)}",
            where=where,
            action="correct the requirement or the example",
        )


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
    rule_set = parse(text, where)
    if rule_set.id in shipped() and data != (_folder() / f"{rule_set.id}.toml").read_bytes():
        raise UsageError(
            f"the id {rule_set.id!r} is that of a rule set that comes with the program, and this file says otherwise",
            where=where,
            action="give the file an `id` of its own",
        )
    return RuleFile(rule_set, hashlib.sha256(data).hexdigest())
