"""What a dossier says, gathered from a release's tables as texts: the template only lays it out."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date
from decimal import Decimal
from typing import Any

import polars as pl

from transforms.catalog import sources
from transforms.codes import BY_UF
from transforms.rules.procedure import ABSOLUTE, Votes, quorum, window
from transforms.rules.reading import ORIGIN, RuleSet
from warehouse.build import Tables
from warehouse.export.contiguity import apart
from warehouse.export.dossier import limits
from warehouse.export.dossier.limits import Limits
from warehouse.export.page import figures
from warehouse.export.page.sheets import Notes, Row, parts, rankings, rows
from warehouse.export.portuguese import VOCABULARY, days_told, sentence
from warehouse.release import short_id

MONTHS = "janeiro fevereiro março abril maio junho julho agosto setembro outubro novembro dezembro".split()


@dataclass(frozen=True, slots=True)
class Dossier:
    """What a dossier is made of. `tables`: the release's; `mesh`: the state's districts, empty where there is none."""

    area_id: str
    rule_set: RuleSet
    tables: Tables
    manifest: Mapping[str, Any]
    mesh: pl.DataFrame


def area_of(this: Dossier) -> Row:
    """The area's verdict with all that bears on it, and of how many it is."""
    (ranking,) = rankings(this.tables, [this.rule_set], Notes())
    area = next(area for area in ranking.areas if area["area_id"] == this.area_id)
    return area | {"of_how_many": str(len(ranking.areas))}


def limits_of(this: Dossier) -> Limits | None:
    """The area's limits; who lies beside is called by district and município."""
    if this.mesh.is_empty():
        return None
    named = {
        row["district_code"]: f"{row['district_name']} ({row['municipality_name']})"
        for row in rows(this.tables, "core.district")
    }
    known = this.mesh.filter(pl.col("district_code").is_in(list(named)))
    codes = [row["district_code"] for row in rows(this.tables, "core.area_district") if row["area_id"] == this.area_id]
    return limits.limits(known, codes, named)


def contents(this: Dossier, area: Row, found: Limits | None) -> dict[str, Any]:
    """Everything the template writes, as texts."""
    manifest, rule_set = this.manifest, this.rule_set
    as_of = date.fromisoformat(manifest["as_of"])
    districts = {row["district_code"]: row for row in rows(this.tables, "core.district")}
    return {
        "year": as_of.year,
        "month": as_of.month,
        "day": as_of.day,
        "as_of": long_day(as_of),
        "uf": area["uf"],
        "state": BY_UF[area["uf"]].name,
        "simulated": manifest["simulated"],
        "release": short_id(manifest),
        "notice": rule_set.notice,
        "area": {
            "id": area["area_id"],
            "name": area["area_name"],
            "kind": VOCABULARY[area["kind"]],
            "apart": area["area_id"] in apart(this.tables),
            "municipalities": parts(area["municipality_names"]),
            "districts": [
                f"{districts[code]['district_name']} (código IBGE {code}), município de "
                f"{districts[code]['municipality_name']}"
                for code in parts(area["district_codes"])
            ],
            "status": VOCABULARY[area["status"]],
            "likely": sentence(area["likely"] or ""),
            "rank": area["rank"],
            "of": area["of_how_many"],
            "conflicts": [_name(this, id_) for id_ in parts(area["same_origin_conflict"])],
        },
        "rule": {"title": rule_set.title, "citation": rule_set.citation},
        "law": law(rule_set),
        "requirements": [_requirement(row, rule_set) for row in area["requirements"]],
        "origins": [
            {"name": key[1], "code": key[0], "rows": [_origin(row) for row in told]} for key, told in area["origins"]
        ],
        "certificates": [
            {
                "requirement": sentence(row["requirement"]),
                "method": sentence(row["method"]),
                "on": days_told(row["reference_period"] or ""),
            }
            for row in area["requirements"]
            if "inputs_certificates" in (row["source"] or "")
        ],
        "pending": [{"ask": sentence(row["ask"]), "reason": sentence(row["reason"])} for row in area["pending"]],
        "homonyms": [
            f"{row['name']} ({VOCABULARY.get(row['kind'], row['kind'])}, {row['municipality_name']}, {row['uf']})"
            for row in rows(this.tables, "mart.name_check")
            if row["area_id"] == area["area_id"]
        ],
        "petitions": petitions(this),
        "requests": requests(area, rule_set),
        "limits": None if found is None else _limits_told(found),
        "procedure": procedure(area, rule_set, as_of),
        "files": [
            {
                "source": sources()[file["source"]].title,
                "part": file["url"] or file["part"],
                "on": days_told(str(file["fetched_at"])[:10]),
                "sha256": file["sha256"],
            }
            for file in manifest["snapshots"]
        ],
        "hashes": {
            "Conteúdo da publicação": manifest["contents_hash"],
            "Entradas": manifest["fingerprint"],
            "Programa": manifest["code"],
            **{f"Regra {each['id']}": each["sha256"] for each in manifest["rule_sets"] if each["id"] == rule_set.id},
        },
    }


def law(rule_set: RuleSet) -> dict[str, Any]:
    """By what law the assembly asks, within how many days (0: it does not say), and the articles cited ("": none)."""
    information, limits_ = (rule_set.procedure.get(name, {}) for name in ("information", "limits"))
    return {
        "basis": ", ".join(filter(None, [rule_set.citation, information.get("article")])),
        "days": information.get("days", 0),
        "origin": rule_set.origin.article if rule_set.origin else "",
        "limits": limits_.get("article", ""),
    }


def _name(this: Dossier, area_id: str) -> str:
    names = (row["area_name"] for row in rows(this.tables, "core.area") if row["area_id"] == area_id)
    return next(names, area_id)


def _requirement(row: Row, rule_set: RuleSet) -> dict[str, str]:
    """A row of the table of requirements, with the law's words."""
    if row["requirement"] == ORIGIN:
        quote = rule_set.origin.quote if rule_set.origin else ""
    else:
        quote = rule_set.requirement(row["requirement"]).quote
    unit = "R$\u00a0" if row["unit"] == "BRL" else ""
    return {
        "name": sentence(row["requirement"]),
        "is_origin": row["requirement"] == ORIGIN,
        "article": row["article"],
        "quote": quote,
        "value": unit + figures.number(row["value"]) if row["value"] else "",
        "span": figures.span(row["low"], row["high"]) if row["low"] or row["high"] else "",
        "threshold": f"{sentence(row['comparison'] or '')} {unit}{figures.number(row['threshold'])}"
        if row["threshold"]
        else "",
        "margin": figures.percent(row["margin"]) if row["margin"] else "",
        "status": VOCABULARY[row["status"]],
        "kind": row["status"],
        "indication": sentence(row["indication"] or ""),
        "evidence": sentence(row["evidence"] or ""),
        "method": sentence(row["method"] or "").replace("|", "; "),
        "source": sentence(row["source"] or "").replace("|", "; "),
        "period": days_told(row["reference_period"] or "").replace("|", ", "),
        "reason": sentence(row["reason"] or ""),
        "body": sentence(row["competent_body"]).replace("|", ", "),
    }


def _origin(row: Row) -> dict[str, str]:
    return {
        "name": sentence(row["requirement"]),
        "before": figures.known(row["before_low"], row["before_value"], row["before_high"]),
        "after": figures.known(row["after_low"], row["after_value"], row["after_high"]),
        "threshold": figures.number(row["threshold"]),
        "verdict": VOCABULARY[row["verdict"]],
        "kind": row["verdict"],
    }


def petitions(this: Dossier) -> list[dict[str, Any]]:
    """Where each petition for the area stands, stage by stage, under the dossier's rule set."""
    own = [
        row
        for row in rows(this.tables, "mart.proposal_stage")
        if (row["area_id"], row["rule_set"]) == (this.area_id, this.rule_set.id)
    ]
    return [
        {
            "id": proposal,
            "stages": [
                {
                    "stage": sentence(row["stage"]),
                    "article": row["article"] or "",
                    "status": sentence(row["status"]),
                    "day": days_told(row["done_on"] or row["due_on"] or ""),
                    "next": sentence(row["next_step"] or row["reason"]),
                }
                for row in own
                if row["proposal_id"] == proposal and row["status"] != "not_applicable"
            ],
        }
        for proposal in dict.fromkeys(row["proposal_id"] for row in own)
    ]


def requests(area: Row, rule_set: RuleSet) -> list[dict[str, Any]]:
    """A draft for each competent body: what the assembly asks of it, about the area and about what would remain."""
    asked: dict[str, list[str]] = {}
    tested = {row["requirement"] for row in area["requirements"]}
    for requirement in rule_set.requirements:
        if requirement.name in tested:
            asked.setdefault(sentence(requirement.body), []).append(
                f"{sentence(requirement.ask)}: {requirement.article}"
            )
    return [{"body": body, "asks": asks} for body, asks in asked.items()]


def _limits_told(found: Limits) -> dict[str, Any]:
    def metres(value: float) -> str:
        return figures.number(f"{value:.2f}")

    return {
        "tolerance": found.tolerance_m,
        "points": sum(map(len, found.rings)),
        "perimeter": metres(found.perimeter_m),
        "whole": metres(found.whole_m),
        "vertices": figures.number(str(found.vertices.height)),
        "area": figures.number(f"{found.area_km2:.3f}"),
        "rings": [
            [
                {
                    "name": step.name,
                    "latitude": limits.degrees(step.latitude, "N", "S"),
                    "longitude": limits.degrees(step.longitude, "L", "O"),
                    "azimuth": limits.azimuth(step.azimuth),
                    "metres": metres(step.metres),
                    "beside": step.beside,
                    "next": ring[(place + 1) % len(ring)].name,
                }
                for place, step in enumerate(ring)
            ]
            for ring in found.rings
        ],
    }


def procedure(area: Row, rule_set: RuleSet, as_of: date) -> dict[str, Any]:
    """What the law asks beyond the requirements: signatures, plebiscite, calendar; null where the rules are silent."""
    told: dict[str, Any] = {"signatures": None, "plebiscite": None, "calendar": None}
    if rule := rule_set.procedure.get("representation"):
        told["signatures"] = {**rule, "electorate": figures.number(area["electorate"])}
    if rule := rule_set.procedure.get("plebiscite"):
        told["plebiscite"] = {
            **rule,
            "electorate": figures.number(area["electorate"]),
            "bounds": _quorum(area, rule_set),
        }
    if rule := rule_set.procedure.get("calendar"):
        found = window(rule_set, as_of)
        told["calendar"] = {
            **rule,
            "open": found.is_open,
            "opens": long_day(found.opens) if found.opens else "",
            "closes": long_day(found.closes) if found.closes else "",
            "election": found.election,
        }
    return told


def _quorum(area: Row, rule_set: RuleSet) -> list[dict[str, str]]:
    """The least "Sim" if all voters count, for each figure the electorate may have; none where it is not known."""
    row = area["of"].get("electorate", {})
    if rule_set.procedure["plebiscite"]["majority"] != ABSOLUTE:
        return []
    named = {"segundo a triagem": row.get("value") or area["electorate"]}
    if row.get("low") != row.get("high"):
        named |= {"no mínimo": row.get("low"), "no máximo": row.get("high")}
    found = []
    for name, figure in named.items():
        if voters := int(Decimal(figure or 0)):
            yes = quorum(rule_set, Votes(registered=voters, voted=voters, yes=0, no=0))[1]
            found.append({"name": name, "electorate": figures.number(figure), "yes": figures.number(str(yes))})
    return found


def long_day(day: date) -> str:
    """A date in words, as documents write it."""
    number = "1º" if day.day == 1 else str(day.day)
    return f"{number} de {MONTHS[day.month - 1]} de {day.year}"
