"""Both languages of the page: Portuguese is what is written, English what the switch puts in its place.

Whatever is said through a `Words` is remembered, so that the page carries one pair for each phrase it shows and the
switch needs no second copy of anything. Names and codes are marked `translate="no"` in the page and stand as they are.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field

from transforms.catalog import sources
from warehouse.export.portuguese import sentence

# English of values whose machine name does not read well; the others are their name without underscores.
ENGLISH: Mapping[str, str] = {
    "urban_houses": "houses in the urban centre",
    "collection": "tax collection",
    "collection_brl": "tax collection",
    "origin": "município of origin",
    "never_had": "did not meet it before",
    "persons": "residents",
    "BRL": "R$",
    "missing": "no data",
    "unknown": "no indication",
    "group": "group of districts",
    "fusion": "merger",
    "gross": "gross of transfers",
    "without_irrf": "without income tax withheld (IRRF)",
    "net": "net of FUNDEB and of the municípios’ shares",
    "single_district": "the município has this district only",
    "hand": "table handed in",
    "previous_coordinates": "coordinates of another election",
    "name": "district’s name in the address",
    "unassigned": "not located",
    "border": "within 500 m of a border",
    "conflict": "the name says another district",
    "outside": "coordinate outside the município",
    "mesh_incomplete": "a district is not in the mesh",
    "superseded": "no longer in force",
    "due": "to do",
}


@dataclass(frozen=True, slots=True)
class Words:
    """Every phrase said so far, Portuguese → English."""

    pairs: dict[str, str] = field(default_factory=dict)
    values: dict[str, str] = field(default_factory=dict)

    def say(self, portuguese: str, english: str) -> str:
        """A phrase of the page itself."""
        if portuguese != english:
            self.pairs.setdefault(portuguese, english)
        return portuguese

    def value(self, value: str | None) -> str:
        """A value of a table, word or sentence; nothing for none."""
        if not value:
            return ""
        if value not in self.values:
            self.values[value] = self.say(sentence(value).replace("|", "; "), english(value).replace("|", "; "))
        return self.values[value]


def english(value: str) -> str:
    """A value as English readers read it. Sentences of the tables are English already."""
    if value in ENGLISH or " " in value:
        return ENGLISH.get(value, value)
    known = sources()
    told = [f"{known[name].publisher}: {known[name].title}" if name in known else name for name in value.split("|")]
    return "|".join(told) if known.keys() & set(value.split("|")) else value.replace("_", " ")
