"""The bodies that LC 1/1967 makes competent (art. 2º, § 2º), by the names that rule sets and people give them.

IBGE certifies population and houses, the electoral justice (the state's TRE) the electorate, the state's treasury the
collection, whatever a state calls it. A município's treasury, or the Union's, is not the state's.
"""

import re
import unicodedata
from collections.abc import Mapping

from transforms.codes import BY_UF

# The body by the name of rule sets: words of its names, lower case and without accents, and words of another's.
_NAMES: Mapping[str, tuple[str, str]] = {
    "IBGE": (r"\bf?ibge\b|instituto brasileiro de geografia", ""),
    "TRE": (r"\bt[rs]e\b|tribunal (regional|superior) eleitoral|justica eleitoral", ""),
    "state treasury": (
        r"\bsef(a|az|in)?\b|\bsec\w* .*\b(fazenda|economia|receita)\b|secretaria de estado d\w+ financas"
        r"|\bfazenda (publica )?(estadual|do estado)\b|^fazenda( [a-z]{2})?$|\bfazendario estadual\b"
        r"|receita estadual|tesouro|\bstate treasury\b",
        r"municip|prefeitura|federal|nacional|ministerio",
    ),
}
COMPETENT: Mapping[str, str] = {
    "population": "IBGE", "electorate": "TRE", "urban_houses": "IBGE", "collection": "state treasury",
}  # fmt: skip
# How each may be written, as examples for whoever wrote another.
WRITTEN: Mapping[str, str] = {
    "IBGE": "IBGE, FIBGE, Instituto Brasileiro de Geografia e Estatística",
    "TRE": "TRE, TRE-ES, TSE, Tribunal Regional Eleitoral, Justiça Eleitoral",
    "state treasury": "SEFAZ, SEFAZ-ES, Secretaria da Fazenda, Fazenda estadual, Receita Estadual, Tesouro do Estado, "
    "state treasury",
}


def _words(text: str) -> str:
    """Lower case, without accents and marks, single spaces: `T.R.E./ES` is `tre es`."""
    decomposed = unicodedata.normalize("NFD", text.casefold().replace(".", ""))
    return re.sub(r"[\W_]+", " ", re.sub(r"[\u0300-\u036f]", "", decomposed)).strip()


# A state as the names of its bodies go on: `TRE-PA`, `SEFA/PA`, `do Pará`; longer names first, for MS holds MT's.
_STATES: Mapping[str, re.Pattern[str]] = {
    state.uf: re.compile(rf"\b(tre|sef\w*|fazenda|estadual) {state.uf.lower()}\b|\bd[aeo] {_words(state.name)}\b")
    for state in sorted(BY_UF.values(), key=lambda state: -len(state.name))
}


def competent(body: str | None) -> str | None:
    """The competent body that a text names, by the name rule sets use; another body as it is written."""
    if body is None:
        return None
    words = _words(body)
    for name, (own, other) in _NAMES.items():
        if re.search(own, words) and not (other and re.search(other, words)):
            return name
    return body.strip()


def state_of(body: str) -> str | None:
    """The state whose body a text names; None where it names none. IBGE's offices all speak for the same body."""
    if competent(body) == "IBGE":
        return None
    words = _words(body)
    return next((uf for uf, named in _STATES.items() if named.search(words)), None)


def of_another_state(body: str, uf: str) -> str | None:
    """Why a body does not speak for a place in the state `uf`; None where it may."""
    own = state_of(body)
    return None if own in {None, uf} else f"{body!r} is of {own}, and the place is in {uf}"


def incompetent(body: str, requirement: str) -> str | None:
    """Why a body cannot certify a requirement; None where it can."""
    name = COMPETENT[requirement]
    if competent(body) == name:
        return None
    return f"{body!r} does not certify {requirement}: its body is {name} (art. 2º, § 2º), as in {WRITTEN[name]}"
