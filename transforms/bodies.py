"""The bodies that LC 1/1967 makes competent (art. 2º, § 2º), by the names that rule sets and people give them.

IBGE certifies population and houses, the electoral justice (the state's TRE) the electorate, the state's treasury the
collection, whatever a state calls it. A município's treasury, or the Union's, is not the state's.
"""

import re
import unicodedata
from collections.abc import Mapping

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


def competent(body: str | None) -> str | None:
    """The competent body that a text names, by the name rule sets use; another body as it is written."""
    if body is None:
        return None
    decomposed = unicodedata.normalize("NFD", body.casefold().replace(".", ""))
    words = re.sub(r"[\W_]+", " ", re.sub(r"[\u0300-\u036f]", "", decomposed)).strip()
    for name, (own, other) in _NAMES.items():
        if re.search(own, words) and not (other and re.search(other, words)):
            return name
    return body.strip()


def incompetent(body: str, requirement: str) -> str | None:
    """Why a body cannot certify a requirement; None where it can."""
    name = COMPETENT[requirement]
    if competent(body) == name:
        return None
    return f"{body!r} does not certify {requirement}: its body is {name} (art. 2º, § 2º), as in {WRITTEN[name]}"
