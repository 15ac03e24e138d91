"""What the page says of each area and rule set, gathered from the marts: the ranking's rows and the areas' sheets.

Figures stay the exact texts of the CSVs until the template writes them as Brazil does: the page computes nothing.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

from transforms.rules.reading import ORIGIN, RuleSet
from warehouse.build import Tables
from warehouse.ddl import stored
from warehouse.export.csv import as_text

Row = dict[str, Any]
GROUPS_SHOWN = 3
MUNICIPALITY = ("municipality_code", "municipality_name")
FIGURES = ("population", "electorate", "urban_houses", "collection_brl")  # mart.eligibility's own, told of every area
METHOD = ("method", "source", "reference_period", "evidence")  # what a note of the page tells


def rows(tables: Tables, name: str) -> list[Row]:
    """A table's rows as exact texts; none where the release has no such table."""
    if name not in tables:
        return []
    table, frame = tables[name]
    return as_text(table, stored(table, frame)).to_dicts()


def grouped(found: Iterable[Row], *keys: str) -> dict[tuple[str, ...], list[Row]]:
    """Rows by the values of some columns, in their order."""
    groups: dict[tuple[str, ...], list[Row]] = {}
    for row in found:
        groups.setdefault(tuple(row[key] or "" for key in keys), []).append(row)
    return groups


def parts(joined: str | None) -> list[str]:
    """The items of a list joined by |."""
    return joined.split("|") if joined else []


@dataclass(frozen=True, slots=True)
class Notes:
    """The distinct methods and sources behind figures, numbered as they are first met: what a sheet refers to."""

    numbers: dict[tuple[str | None, ...], int] = field(default_factory=dict)

    def number(self, row: Row) -> int | None:
        key = tuple(row[name] for name in METHOD)
        return self.numbers.setdefault(key, len(self.numbers) + 1) if row["method"] else None

    @property
    def listed(self) -> list[Row]:
        return [{"number": number, **dict(zip(METHOD, key, strict=True))} for key, number in self.numbers.items()]


@dataclass(frozen=True, slots=True)
class Ranking:
    """One rule set's verdicts, in rank order; `requirements` names the columns between verdict and margin."""

    rule_set: RuleSet
    requirements: tuple[str, ...]
    areas: tuple[Row, ...]

    @property
    def counts(self) -> dict[str, int]:
        found: dict[str, int] = {}
        for area in self.areas:
            for word in filter(None, (area["status"], area["likely"])):
                found[word] = found.get(word, 0) + 1
        return found

    @property
    def pending(self) -> int:
        return sum(len(area["pending"]) for area in self.areas)


def rankings(tables: Tables, rule_sets: Sequence[RuleSet], notes: Notes) -> list[Ranking]:
    """Every verdict with all that bears on it."""
    requirements, origins, pending, changes = (
        grouped(rows(tables, name), "rule_set", "area_id")
        for name in ("mart.requirement_result", "mart.origin_result", "mart.pending", "mart.sensitivity")
    )
    verdicts = grouped(rows(tables, "mart.eligibility"), "rule_set")
    together = _together(rows(tables, "mart.joint_departure"))
    found = []
    for rule_set in rule_sets:
        named = tuple(requirement.name for requirement in rule_set.requirements)
        names = (*named, *([ORIGIN] if rule_set.origin else []))
        areas = []
        for verdict in verdicts.get((rule_set.id,), []):
            key = (rule_set.id, verdict["area_id"])
            tested, judged = (
                sorted(of_area.get(key, []), key=lambda row: names.index(row["requirement"]))
                for of_area in (requirements, origins)
            )
            bearing = {
                "requirements": [row | {"note": notes.number(row)} for row in tested],
                "of": {row["requirement"]: row for row in tested},
                "figures": {name.removesuffix("_brl"): verdict[name] for name in FIGURES},
                "origins": list(grouped(judged, *MUNICIPALITY).items()),
                "pending": pending.get(key, []),
                "change": next(iter(changes.get(key, [])), None),
                "together": together.get(key, []),
            }
            areas.append(verdict | bearing)
        found.append(Ranking(rule_set, names, tuple(areas)))
    return found


def _together(sets: Iterable[Row]) -> dict[tuple[str, str], list[Row]]:
    """The sets of areas that can leave together, by rule set and each area in them; alone is no set."""
    found: dict[tuple[str, str], list[Row]] = {}
    for row in sets:
        for area in parts(row["area_ids"]):
            if row["areas"] != "1":
                found.setdefault((row["rule_set"], area), []).append(row)
    return found


def evidence(tables: Tables) -> tuple[dict[str, list[Row]], dict[str, list[Row]]]:
    """Polling places and urban centres by area: of its districts, and places that may be theirs."""
    members = grouped(rows(tables, "core.area_district"), "district_code")
    places: dict[str, list[Row]] = {}
    for place in rows(tables, "core.polling_place"):
        own = place["district_code"]
        is_own: dict[str, bool] = {}  # by area; of its own districts and of those near, its own come first
        for code in [own, *parts(place["points_to"])]:
            for member in members.get((code,), []):
                is_own.setdefault(member["area_id"], code == own)
        for area, own_place in is_own.items():
            places.setdefault(area, []).append(place | {"own": own_place})
    clusters: dict[str, list[Row]] = {}
    for cluster in rows(tables, "core.urban_cluster"):
        found = (member for code in parts(cluster["district_codes"]) for member in members.get((code,), []))
        for area in dict.fromkeys(member["area_id"] for member in found):
            clusters.setdefault(area, []).append(cluster)
    return places, clusters


def groups(tables: Tables, rule_set: str) -> dict[str, list[Row]]:
    """The best groups that each district is in, by district: with whom it would make it under the first rule set."""
    found: dict[str, list[Row]] = {}
    for row in rows(tables, "mart.viable_group"):
        for code in parts(row["district_codes"]):
            listed = found.setdefault(code, [])
            if row["rule_set"] == rule_set and len(listed) < GROUPS_SHOWN:
                listed.append(row)
    return found


def compared(found: Sequence[Ranking]) -> list[Row]:
    """Areas on which rule sets differ, those with equal verdicts together, in the order of the first rule set."""
    by_area = [{area["area_id"]: area for area in ranking.areas} for ranking in found]
    alike: dict[tuple[tuple[str | None, ...], ...], Row] = {}
    for area in found[0].areas:
        verdicts = [each.get(area["area_id"]) for each in by_area]
        said = tuple((verdict["status"], verdict["likely"]) if verdict else () for verdict in verdicts)
        if len({each[:1] for each in said}) > 1:
            alike.setdefault(said, {"areas": [], "verdicts": verdicts})["areas"].append(area)
    return list(alike.values())


def by_request(ranking: Ranking) -> list[tuple[str, list[Row]]]:
    """What is pending, by what is to be asked: one request names all its areas."""
    asked: dict[tuple[str, str], list[Row]] = {}
    for area in ranking.areas:
        for row in area["pending"]:
            asked.setdefault((row["requirement"], row["ask"]), []).append(row)
    return [(ask, found) for (_, ask), found in sorted(asked.items())]
