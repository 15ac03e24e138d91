"""Everything index.html says is read out of it and compared with the released tables: nothing missing, nothing more.

What is expected is written here anew, from the tables alone; only the spelling of a figure and of a word is the page's
own, which test_page.py and test_export_portuguese.py hold to exact texts.
"""

import json
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from typing import Any

import polars as pl
import pytest

from tests.assembly import MANIFEST, large_page, minas, sample
from tests.page_lines import Read, lines, read
from transforms.catalog import sources
from transforms.codes import BY_UF
from transforms.marts.name_check import SAME
from transforms.rules.reading import RuleSet
from warehouse.build import Tables
from warehouse.diff import DIFFERENCE
from warehouse.export.contiguity import apart
from warehouse.export.page import CHANGES_SHOWN, page
from warehouse.export.page.atlas import Map
from warehouse.export.page.figures import known, number, percent, sign, span
from warehouse.export.page.sheets import rows
from warehouse.export.page.words import english
from warehouse.export.portuguese import sentence
from warehouse.export.portuguese_checks import CHECKS
from warehouse.release import short_id

Row = dict[str, Any]
OTHERS = ("mg_lc_37_1995", "plp_137_2015")
NBSP = "\u00a0"


@dataclass(frozen=True)
class Published:
    """A page, taken apart, and what it was made from."""

    text: str
    read: Read
    tables: Tables
    manifest: Mapping[str, Any]
    rule_sets: Sequence[RuleSet]
    known: dict[str, list[Row]] = field(default_factory=dict)

    def rows(self, name: str, **wanted: str) -> list[Row]:
        """Rows of a table, as exact texts, with the wanted values."""
        if name not in self.known:
            self.known[name] = rows(self.tables, name)
        return [row for row in self.known[name] if wanted.items() <= row.items()]

    @property
    def several(self) -> bool:
        return len(self.rule_sets) > 1

    def heading(self, rule: RuleSet) -> list[str]:
        return [rule.title] * self.several


def of_sample(*rules: str) -> Published:
    made = sample(*rules)
    text = (made.folder / "export" / "index.html").read_text(encoding="utf-8")
    return Published(text, read(text), made.tables, made.manifest, made.rule_sets)


@cache
def of_sample_with_more() -> Published:
    """The sample with what it has no case of: names that others bear, a stale source, dates that publishers give."""
    made = sample()
    told = {**made.tables}
    name = {"area_id": "320130810", "area_name": "Itaquari", "likeness": SAME, "name": "Itaquari & Cia"}
    same = [
        name | {"kind": "município", "code": "1", "uf": "MT", "municipality_name": "Itaquari & Cia"},
        name | {"kind": "district", "code": "2", "uf": "PA", "municipality_name": "Óbidos"},
    ]
    table, _ = told["mart.name_check"]
    told[table.name] = table, table.frame(same)
    table, fresh = told["meta.source_freshness"]
    late = pl.col("source") == "ibge_estimates"
    day_ = pl.when(late).then(pl.datetime(2025, 8, 28, time_zone="UTC")).alias("published_at")
    told[table.name] = table, fresh.lazy().with_columns(day_, is_stale=late).collect()
    codes = sorted(made.rows("core.district")["district_code"])
    text = page(told, made.manifest, made.rule_sets, Map(9, 9, dict.fromkeys(codes, "M0 0l1 1z"), ""))
    return Published(text, read(text), told, made.manifest, made.rule_sets)


def of_minas(*others: str) -> Published:
    tables, _, rule_sets = minas(*others)
    text = large_page(*others)
    return Published(text, read(text), tables, MANIFEST, rule_sets)


PAGES: Mapping[str, Callable[[], Published]] = {
    "sample": of_sample,
    "sample, three rule sets": lambda: of_sample("lc_1_1967", *OTHERS),
    "sample with more": of_sample_with_more,
    "minas": of_minas,
    "minas, three rule sets, packed": lambda: of_minas(*OTHERS),
}


@pytest.fixture(scope="module", params=PAGES)
def published(request: pytest.FixtureRequest) -> Published:
    return PAGES[request.param]()


def day(iso: str | None) -> str:
    return f"{iso[8:10]}/{iso[5:7]}/{iso[:4]}[{iso[:10]}]" if iso else "–"


def link(area: str, name: str) -> str:
    return f"{name}[#a-{area}]"


def parts(joined: str | None) -> list[str]:
    return joined.split("|") if joined else []


def word(value: str | None) -> str:
    return sentence(value).replace("|", "; ") if value else ""


def badge(row: Row) -> str:
    return f"‹{row['status']}›{sentence(row['status'])}"


def small(*texts: str | None) -> str:
    return "".join(f" ¦{text}" for text in texts if text)


def cell(text: str = "") -> str:
    return re.sub(r" +", " ", f"| {text}").strip()


def money(row: Row, figure: str | None) -> str:
    return (f"R${NBSP}" if row["unit"] == "BRL" and figure else "") + number(figure)


def named(rule: RuleSet) -> list[str]:
    return [requirement.name for requirement in rule.requirements] + ["origin"] * bool(rule.origin)


def methods(page: Published) -> dict[tuple[str | None, ...], int]:
    """What notes tell, and their numbers: as they are first met in the rankings."""
    found: dict[tuple[str | None, ...], int] = {}
    for rule in page.rule_sets:
        tested = by(page.rows("mart.requirement_result", rule_set=rule.id), "area_id")
        for area in page.rows("mart.eligibility", rule_set=rule.id):
            for row in ordered(tested.get(area["area_id"], []), rule):
                if row["method"]:
                    found.setdefault(method(row), len(found) + 1)
    return found


def method(row: Row) -> tuple[str | None, ...]:
    return row["method"], row["source"], row["reference_period"], row["evidence"]


def ordered(found: Iterable[Row], rule: RuleSet) -> list[Row]:
    return sorted(found, key=lambda row: named(rule).index(row["requirement"]))


def by(found: Iterable[Row], column: str) -> dict[str, list[Row]]:
    groups: dict[str, list[Row]] = {}
    for row in found:
        groups.setdefault(row[column], []).append(row)
    return groups


# ── above the ranking ────────────────────────────────────────────────────────


def test_the_head_tells_the_state_the_date_the_rule_sets_and_the_release(published: Published) -> None:
    head = published.text.partition("<header")[2].partition("</header>")[0]
    told, manifest = lines(f"<header{head}"), published.manifest
    titles = " · ".join(rule.title for rule in published.rule_sets)
    assert told[0] == BY_UF[manifest["uf"]].name
    assert told[3] == f"Dados até {day(manifest['as_of'])} · {titles} · Publicação {short_id(manifest)}"
    assert published.text.count("Dados simulados.</b>") == manifest["simulated"]
    assert published.text.count(f">{manifest['legal_notice']}</span>") == 1


def test_the_tiles_count_the_verdicts_and_what_is_pending(published: Published) -> None:
    for rule in published.rule_sets:
        verdicts = [row["status"] for row in published.rows("mart.eligibility", rule_set=rule.id)]
        words = {
            "eligible": "elegíveis ¦atendem a todos os requisitos",
            "undetermined": "indeterminadas ¦os dados não bastam para decidir",
            "ineligible": "não elegíveis ¦não atendem a um ou mais requisitos",
        }
        counted = [f"‹{name}›{number(str(verdicts.count(name)))} {told}" for name, told in words.items()]
        pending = number(str(len(published.rows("mart.pending", rule_set=rule.id))))
        found = published.read.of_rule("tiles", rule.id, '<div class=tiles data-rule="{rule}".*?</div>')
        expected = [*published.heading(rule), *counted, f"{pending} pendências ¦informações a pedir aos órgãos"]
        assert found == expected


def test_the_map_has_each_district_once_in_the_colour_of_its_status(published: Published) -> None:
    first = published.rule_sets[0].id
    status = {
        row["area_id"]: row["status"]
        for row in published.rows("mart.eligibility", rule_set=first)
        if row["kind"] == "district"
    }
    expected = [
        (row["district_code"], f"‹{status.get(row['district_code'], 'seat')}›", place(row))
        for row in published.rows("core.district")
    ]
    found = re.findall(r"<path id=d(\d+) (class=\w+ )d=\"[^\"]+\"><title>(.*?)</title>", published.text)
    told = [(code, "".join(lines(f"<p {colour}>")), "".join(lines(title))) for code, colour, title in found]
    assert told == sorted(expected)


def place(district: Row) -> str:
    return f"{district['district_name']} · {district['municipality_name']}"


# ── the ranking ──────────────────────────────────────────────────────────────


def test_every_cell_of_the_ranking_is_the_marts(published: Published) -> None:
    for at, rule in enumerate(published.rule_sets):
        tested = by(published.rows("mart.requirement_result", rule_set=rule.id), "area_id")
        expected = []
        for area in published.rows("mart.eligibility", rule_set=rule.id):
            of = {row["requirement"]: row for row in tested.get(area["area_id"], [])}
            names = parts(area["municipality_names"])
            expected.append([
                cell(area["rank"]),
                cell(link(area["area_id"], area["area_name"]) + small(" · ".join(names))),
                cell(badge(area) + small(word(area["likely"]))),
                *(cell(ranked(name, of.get(name), area)) for name in named(rule)),
                cell(percent(area["smallest_margin"])),
            ])  # fmt: skip
        assert published.read.rows(rule.id, at) == expected


def ranked(name: str, row: Row | None, area: Row) -> str:
    """A requirement in the ranking; where none was tested, the area's own figure."""
    if row is None:
        return number(area.get("collection_brl" if name == "collection" else name))
    figure = "" if name == "origin" else f" {number(row['value'])}"
    return f"‹{row['status']}› ¦{sentence(row['status'])}{figure}"


# ── the sheets ───────────────────────────────────────────────────────────────


def test_every_line_of_the_sheets_is_the_marts(published: Published) -> None:
    expected = sheets(published)
    found = published.read.sheets()
    assert found.keys() == expected.keys()
    for area, told in expected.items():
        assert found[area] == told


def sheets(page: Published) -> dict[str, list[str]]:
    """By area: identity, then each rule set's verdict, then what concerns the area under any."""
    numbers, around, districts = methods(page), surroundings(page), page.rows("core.district")
    pieces = apart(page.tables)
    names = {row["area_id"]: row["area_name"] for row in page.rows("core.area")}
    labels = {row["district_code"]: f"{row['district_name']} ({row['district_code']})" for row in districts}
    of_area: dict[str, list[str]] = {}
    for rule in page.rule_sets:
        verdicts = page.rows("mart.eligibility", rule_set=rule.id)
        tables = {
            name: by(page.rows(name, rule_set=rule.id), "area_id")
            for name in ("mart.requirement_result", "mart.origin_result", "mart.pending", "mart.sensitivity")
        }
        together = page.rows("mart.joint_departure", rule_set=rule.id)
        for area in verdicts:
            told = of_area.setdefault(area["area_id"], identity(area, labels, area["area_id"] in pieces))
            likely = f" {word(area['likely'])}" if area["likely"] else ""
            told += page.heading(rule)
            told.append(f"{badge(area)}{likely} · posição {area['rank']}/{len(verdicts)}")
            if others := parts(area["same_origin_conflict"]):
                told.append(f"‹conflict›Não pode sair junto com: {', '.join(link(id_, names[id_]) for id_ in others)}")
            here = {name: found.get(area["area_id"], []) for name, found in tables.items()}
            told += requirements(ordered(here["mart.requirement_result"], rule), numbers) or exempt(area)
            for found in by(ordered(here["mart.origin_result"], rule), "municipality_code").values():
                told += origin(found)
            told += ["A pedir"] * bool(here["mart.pending"]) + [word(row["ask"]) for row in here["mart.pending"]]
            if area["status"] != "undetermined":
                told += [sensitivity(row, page) for row in here["mart.sensitivity"]]
            sets = [row for row in together if row["areas"] != "1" and area["area_id"] in parts(row["area_ids"])]
            if sets:
                told.append(f"Pode sair junto com: {'; '.join(company(row, area['area_id'], names) for row in sets)}")
    return {area: told + around.get(area, []) for area, told in of_area.items()}


def identity(area: Row, labels: Mapping[str, str], in_pieces: bool) -> list[str]:
    told = ["‹conflict›Partes não contíguas: nem todos os distritos se ligam por divisa comum."] * in_pieces
    if area["kind"] == "district":
        return told
    codes = parts(area["district_codes"])
    return [*told, f"{word(area['kind'])}. Distritos: {', '.join(labels[code] for code in codes)}"]


def requirements(found: Sequence[Row], numbers: Mapping[tuple[str | None, ...], int]) -> list[str]:
    heads = ["Requisito", "Valor", "Entre", "Limite", "Folga", "Resultado"]
    told = ["Requisitos", *map(cell, heads)] if found else []
    for row in found:
        note = f" {numbers[method(row)]}[#n{numbers[method(row)]}]" if row["method"] else ""
        evidence = f"{word(row['evidence'])}{note}" if row["evidence"] else None
        limit = (sign(row["comparison"]) if row["threshold"] else "") + number(row["threshold"])
        figures = [money(row, row["value"]), span(row["low"], row["high"]), limit, percent(row["margin"])]
        if row["requirement"] == "origin":
            figures = ["ver abaixo o que tem e o que lhe restaria"]
        result = word(row["status"]) + small(word(row["indication"]), evidence)
        told += [f"‹{row['status']}›", cell(word(row["requirement"]) + small(row["article"]))]
        told += [cell(text) for text in [*figures, result]]
        told += [cell(word(row["reason"]))] * bool(row["reason"] and row["requirement"] != "origin")
    return told


def exempt(area: Row) -> list[str]:
    figures = {
        "população": number(area["population"]),
        "eleitorado": number(area["electorate"]),
        "casas no centro urbano": number(area["urban_houses"]),
        "arrecadação": money({"unit": "BRL"}, area["collection_brl"]),
    }
    told = "; ".join(f"{name}: {figure}" for name, figure in figures.items())
    return ["Dispensada da verificação dos requisitos.", told]


def origin(found: Sequence[Row]) -> list[str]:
    heads = ["Requisito", "Hoje", "O que restaria", "Limite", "Resultado"]
    told = [f"Município de origem: {found[0]['municipality_name']}", *map(cell, heads)]
    for row in found:
        before, after = (
            known(*(row[f"{when}_{end}"] for end in ("low", "value", "high"))).replace(" – ", f"{NBSP}–\u2060{NBSP}")
            for when in ("before", "after")
        )
        figures = [before, after, number(row["threshold"]), word(row["verdict"])]
        told += [f"‹{row['verdict']}›", *map(cell, [word(row["requirement"]), *figures])]
    return told


def sensitivity(row: Row, page: Published) -> str:
    told = "Menor mudança que alteraria a situação: "
    if row["note"]:
        return told + word(row["note"])
    if row["municipality_code"]:
        (name, *_) = page.rows("core.municipality", municipality_code=row["municipality_code"])
        told += f"{word(row['measure'])} do que restaria a {name['municipality_name']} "
    else:
        told += f"{word(row['measure'])} "
    told += ("+" if row["direction"] == "increase" else "−") + money(row, row["amount"])
    told += "" if row["unit"] == "BRL" else f" {word(row['unit'])}"
    told += f" ({percent(row['share']).lstrip('+')}): ‹{row['becomes']}›{word(row['becomes'])}"
    sure = row["sure_amount"]
    return told + (f" (resultado certo com {money(row, sure)})" if sure and sure != row["amount"] else "")


def company(row: Row, area: str, names: Mapping[str, str]) -> str:
    others = [link(id_, names[id_]) for id_ in parts(row["area_ids"]) if id_ != area]
    return " + ".join(others) + small(word(row["verdict"]))


def surroundings(page: Published) -> dict[str, list[str]]:
    """By area: groups it could be in, names it would share, its polling places and urban centres."""
    found: dict[str, list[str]] = {}
    members = by(page.rows("core.area_district"), "district_code")
    groups = page.rows("mart.viable_group", rule_set=page.rule_sets[0].id)
    homonyms = by(page.rows("mart.name_check"), "area_id")
    for area in page.rows("core.area"):
        id_ = area["area_id"]
        districts = {code for code, rows_ in members.items() if any(row["area_id"] == id_ for row in rows_)}
        told = found.setdefault(id_, [])
        with_it = [row for row in groups if id_ in parts(row["district_codes"])][:3]
        if with_it:
            listed = "; ".join(" + ".join(parts(row["district_names"])) + small(likeliest(row)) for row in with_it)
            told.append(f"Com que vizinhos formaria área que não falha em nada: {listed}")
        if id_ in homonyms:
            listed = "; ".join(f"{row['name']} ({homonym(row)})" for row in homonyms[id_])
            told.append(f"Já têm este nome, ou quase: {listed}")
        places = [(row, own) for row in page.rows("core.polling_place") if (own := owned(row, districts)) is not None]
        if places:
            told.append(f"Locais de votação, seus eleitores e como foram situados ({len(places)})")
        for row, own in places:
            how = word(row["method"]) if own else "talvez desta área"
            told.append(f"¦{row['place_name']} {number(row['voters'])}{small(how, *map(word, parts(row['flags'])))}")
        clusters = [row for row in page.rows("core.urban_cluster") if districts & set(parts(row["district_codes"]))]
        if clusters:
            told.append(f"Centros urbanos, suas casas e como foram contadas ({len(clusters)})")
        for row in clusters:
            figures = known(row["low"], row["value"], row["high"])
            told.append(f"¦{row['cluster_id']} {figures}{small(word(row['method']))}")
    return found


def likeliest(group: Row) -> str:
    return word(group["likely"] or group["status"])


def owned(polling_place: Row, districts: set[str]) -> bool | None:
    """Whether a polling place is in one of the districts, or may be; None where it is not said to be."""
    if polling_place["district_code"] in districts:
        return True
    return False if districts & set(parts(polling_place["points_to"])) else None


def homonym(row: Row) -> str:
    return f"{row['municipality_name']}, {row['uf']}" if row["kind"] == "district" else row["uf"]


# ── below the ranking ────────────────────────────────────────────────────────


PENDING = r'<section id=pending>(?:(?!</section>).)*?<div data-rule="{rule}">(?:(?!<div data-rule|</section>).)*'


def test_each_pending_fact_stands_under_what_is_to_be_asked(published: Published) -> None:
    for rule in published.rule_sets:
        verdicts = [row["area_id"] for row in published.rows("mart.eligibility", rule_set=rule.id)]
        pending = published.rows("mart.pending", rule_set=rule.id)
        pending.sort(key=lambda row: (row["requirement"], row["ask"], verdicts.index(row["area_id"])))
        expected, asked = published.heading(rule), None
        for row in pending:
            expected += [word(row["ask"])] * (asked != (row["requirement"], row["ask"]))
            asked = row["requirement"], row["ask"]
            expected.append(link(row["area_id"], row["area_name"]) + small(word(row["reason"])))
        found = published.read.of_rule("asked", rule.id, PENDING)
        start = found.index(expected[0]) if pending else 0
        assert found[start:] == (expected if pending else [*expected, "Nada pendente."])


def test_each_set_that_can_leave_together_is_told(published: Published) -> None:
    expected = []
    for row in published.rows("mart.joint_departure"):
        pairs = zip(parts(row["area_ids"]), parts(row["area_names"]), strict=True)
        told = [
            row["municipality_name"],
            " + ".join(link(*pair) for pair in pairs),
            f"{row['areas']} / {row['viable_areas']}",
            f"‹{row['verdict']}›{word(row['verdict'])}",
            "todos os conjuntos" if row["is_exact"] == "true" else "só pares",
        ]
        expected += [cell(text) for text in told] if row["areas"] != "1" else []
    assert published.read.section("together")[5:] == expected


def test_the_comparison_has_each_area_on_which_rule_sets_differ(published: Published) -> None:
    if not published.several:
        assert published.read.section("comparison") == []
        return
    verdicts = [by(published.rows("mart.eligibility", rule_set=rule.id), "area_id") for rule in published.rule_sets]
    expected = {}
    for id_, (area,) in verdicts[0].items():
        said = [each[id_][0] for each in verdicts]
        if len({row["status"] for row in said}) > 1:
            told = link(id_, area["area_name"]) + small(" · ".join(parts(area["municipality_names"])))
            expected[told] = [cell(badge(row) + small(word(row["likely"]))) for row in said]
    wide = len(published.rule_sets)
    section = published.read.section("comparison")
    assert section[: wide + 1] == [cell("Área"), *(cell(rule.title) for rule in published.rule_sets)]
    found: dict[str, list[str]] = {}
    for alike in re.split(r"(?m)^\|$", "\n".join(section[wide + 1 :]))[1:]:
        told_lines = alike.strip().split("\n")
        areas = [line for line in told_lines if "[#a-" in line]
        assert told_lines[: -len(areas) - wide] == [f"{len(areas)} áreas"] * (len(areas) > 3)
        found |= dict.fromkeys(areas, told_lines[-wide:])
    assert found == expected


def test_each_petition_tells_its_stages(published: Published) -> None:
    ended = {row["proposal_id"]: row for row in published.rows("core.proposal") if row["outcome"] != "open"}
    expected = []
    for rule in published.rule_sets:
        for id_, stages in by(published.rows("mart.proposal_stage", rule_set=rule.id), "proposal_id").items():
            expected.append(petition(stages, ended.get(id_)))
            expected += map(cell, ["Etapa", "Situação", "Motivo", "Prazo", "Próximo passo"])
            for row in stages:
                status = f"‹{row['status']}›{word(row['status'])}"
                told = [word(row["stage"]) + small(row["article"]), status, word(row["reason"]), day(row["due_on"])]
                expected += map(cell, [*told, word(row["next_step"]) or "–"])
            expected.append(link(stages[0]["area_id"], stages[0]["area_name"]))
    assert published.read.section("proposals") == expected


def petition(stages: Sequence[Row], ended: Row | None) -> str:
    """Which it is, a box for each stage, where it stands, and how it ended."""
    track = "".join(f" ¦‹{row['status']}›" for row in stages)
    told = f"{stages[0]['proposal_id']} {stages[0]['area_name']}{track}"
    for row in [row for row in stages if row["is_current"] == "true"][:1]:
        told += f" {word(row['stage'])} ‹{row['status']}›{word(row['status'])}"
        told += f" prazo {day(row['due_on'])}" if row["due_on"] else ""
        told += small(word(row["next_step"]))
    if ended:
        colour = "‹done›" if ended["outcome"] == "installed" else ""
        told += f" {colour}{word(ended['outcome'])} {day(ended['last_event_on'])}"
    return told


def test_municipalities_without_candidates_are_named(published: Published) -> None:
    expected = []
    for reason, found in by(published.rows("mart.no_candidate"), "reason").items():
        expected += [f"{word(reason)}: {len(found)}", ", ".join(row["municipality_name"] for row in found)]
    assert published.read.section("without") == expected


def test_each_source_tells_its_dates_and_whether_it_is_stale(published: Published) -> None:
    known_sources = sources()
    fresh = [
        row for row in published.rows("meta.source_freshness") if row["source"] in known_sources and row["last_good_at"]
    ]
    dated = any(row["published_at"] for row in fresh)
    heads = ["Fonte", "Órgão", "Dados até", *["Publicada em"] * dated, "Conferida em", "Situação", "Licença"]
    expected = [cell(text) for text in heads]
    for row in fresh:
        source = known_sources[row["source"]]
        state = "‹lost›desatualizada" if row["is_stale"] == "true" else "‹kept›em dia"
        days = [row["published_through"], *[row["published_at"]] * dated, row["last_good_at"]]
        told = [source.title, word(source.publisher), *map(day, days), state, small(word(source.licence))]
        expected += [cell(text) for text in told]
    expected += [*revenue(published), "Arquivos de origem e seus SHA-256"]
    expected += map(cell, ["Arquivo", "Baixado em", "SHA-256"])
    for row in published.rows("meta.snapshot"):
        expected += map(cell, [row["url"] or row["part"], day(row["fetched_at"]), row["sha256"]])
    assert published.read.section("sources") == expected


def revenue(page: Published) -> list[str]:
    told = []
    for row in page.rows("core.state_revenue"):
        how = small(word(row["method"]), f"({row['source']})")
        told += [cell(text) for text in (word(row["variant"]), row["fiscal_year"], number(row["value"]), how)]
    heads = ["Receita de impostos do Estado", *map(cell, ["Definição", "Exercício", "R$", "Como se apura"])]
    return heads + told if told else []


def test_each_method_is_told_once_under_its_number(published: Published) -> None:
    section = published.read.section("methods")
    expected = []
    for (how, source, periods, evidence), _ in methods(published).items():
        days = ", ".join(day(period) if len(period) == len("2026-11-30") else period for period in parts(periods))
        told = f"{word(how)}. {word(source)}. Referência: {days or '–'}. Evidência: {word(evidence)}"
        expected.append(re.sub(r" +", " ", told))
    reading = section.index("Como ler")
    assert section[:reading] == expected
    numbers = re.findall(r"<li id=n(\d+) value=(\d+)>", published.text)
    assert numbers == [(str(at), str(at)) for at in range(1, len(expected) + 1)]
    law = ["Regras"]
    for rule in published.rule_sets:
        law += [rule.title, f"{rule.citation}. {rule.notice}"]
        law += [text for each in rule.requirements for text in (each.article, each.quote)]
        law += [rule.origin.article, rule.origin.quote] if rule.origin else []
    assert section[section.index("Regras") :] == [re.sub(r"\s+", " ", text).strip() for text in law]


def test_the_checks_are_counted_and_those_with_reservations_named(published: Published) -> None:
    results, manifest = published.rows("meta.check_result"), published.manifest
    failed = [row for row in results if row["status"] != "passed"]
    passed = number(str(len(results) - len(failed)))
    expected = [f"Verificações que passaram: {passed}. Com ressalva: {len(failed)}."]
    for row in failed:
        told = f"{CHECKS[row['check_name']]} " if row["check_name"] in CHECKS else ""
        expected.append(f"{row['check_name']}: {told}(linhas: {number(row['failing_rows'])})")
    hashes = f"Conteúdo (SHA-256): {manifest['contents_hash']}Entradas (SHA-256): {manifest['fingerprint']}"
    intro = ["Cada uma, com suas linhas, está em checks/checks.txt, ao lado desta pasta (em inglês)."]
    assert published.read.section("checks") == [*expected, *intro * bool(failed), hashes]


@pytest.mark.parametrize("count", [0, 2, CHANGES_SHOWN + 3])
def test_what_changed_is_the_verdicts_of_diff_csv(count: int) -> None:
    made = sample()
    row = {"section": "verdict", "table_name": "mart.requirement_result", "name": "", "rule_set": "lc_1_1967"}
    row |= {"detail": "population", "field": "status", "before": "undetermined", "after": "met", "cause": "unexplained"}
    found = [row | {"item": f"{320000000 + at}"} for at in range(count)]
    if count:
        found[1] |= {"table_name": "mart.eligibility", "name": "Ibes", "detail": "", "before": "", "after": "eligible"}
    left_out = [row | {"item": "9", "field": "rank"}, row | {"item": "9", "section": "figure"}]
    changes = DIFFERENCE.frame([*found, *left_out])
    text = page(made.tables, made.manifest, made.rule_sets, None, changes)
    expected = []
    found.sort(key=lambda row: row["table_name"] != "mart.eligibility")
    for each in found[:CHANGES_SHOWN]:
        what = f"{word(each['detail'])}: " * bool(each["detail"]) + word(each["field"])
        told = [each["name"] or each["item"], what, word(each["before"]) or "–", word(each["after"]) or "–"]
        expected += [cell(text) for text in (*told, word(each["cause"]))]
    heads = [cell(text) for text in ("Área", "O quê", "Antes", "Depois", "Causa")]
    shown = [*heads, *expected] if count else ["Nenhuma situação mudou."]
    assert read(text).section("changes") == shown + ["Outras em diff.csv: 3"] * (count > CHANGES_SHOWN)


# ── the other language ───────────────────────────────────────────────────────


def test_each_word_of_the_tables_has_its_english(published: Published) -> None:
    """The only data that the page carries for its script alone are one pair of texts for each phrase."""
    (text,) = re.findall(r'<script type="application/json" id=words>(.*?)</script>', published.text, flags=re.DOTALL)
    pairs = json.loads(text)
    columns = {
        "mart.requirement_result": ("requirement", "status", "indication", "evidence", "reason", "method", "source"),
        "mart.origin_result": ("requirement", "verdict"),
        "mart.eligibility": ("status", "likely"),
        "mart.pending": ("ask", "reason"),
        "mart.proposal_stage": ("stage", "status", "reason", "next_step"),
        "core.polling_place": ("method",),
    }
    said = published.text.partition("<script type")[0]
    meant: dict[str, set[str]] = {}
    for name, worded in columns.items():
        for value in {row[column] for row in published.rows(name) for column in worded} - {None, ""}:
            meant.setdefault(word(value), set()).add(english(value).replace("|", "; "))
    for portuguese, others in meant.items():
        if portuguese in said and portuguese not in others:
            assert pairs[portuguese] in others


# ── and the comparison can fail ──────────────────────────────────────────────

# Table → what compares it, what of it is shown, and of which of its rows one is altered.
SHOWN: Mapping[str, tuple[Callable[[Published], None], str, Mapping[str, str]]] = {
    "mart.requirement_result": (
        test_every_line_of_the_sheets_is_the_marts,
        "article low value high threshold margin status indication evidence method source reason",
        {"requirement": "collection"},
    ),
    "mart.origin_result": (
        test_every_line_of_the_sheets_is_the_marts,
        "municipality_name before_low before_value before_high after_low after_value after_high threshold verdict",
        {"requirement": "population"},
    ),
    "mart.eligibility": (
        test_every_cell_of_the_ranking_is_the_marts,
        "rank area_name municipality_names status likely smallest_margin",
        {},
    ),
    "mart.sensitivity": (
        test_every_line_of_the_sheets_is_the_marts,
        "measure direction amount unit share becomes sure_amount note",
        {"status": "eligible"},
    ),
    "mart.pending": (test_each_pending_fact_stands_under_what_is_to_be_asked, "area_id area_name reason ask", {}),
    "mart.joint_departure": (
        test_each_set_that_can_leave_together_is_told,
        "municipality_name area_names viable_areas verdict is_exact",
        {"areas": "2"},
    ),
    "mart.viable_group": (test_every_line_of_the_sheets_is_the_marts, "district_names likely", {}),
    "mart.name_check": (test_every_line_of_the_sheets_is_the_marts, "name uf municipality_name", {"kind": "district"}),
    "mart.proposal_stage": (
        test_each_petition_tells_its_stages,
        "area_name stage article status due_on reason next_step",
        {},
    ),
    "mart.no_candidate": (test_municipalities_without_candidates_are_named, "municipality_name reason", {}),
    "core.polling_place": (
        test_every_line_of_the_sheets_is_the_marts,
        "place_name voters method flags",
        {"district_code": "320332010", "flags": "border"},
    ),
    "core.urban_cluster": (
        test_every_line_of_the_sheets_is_the_marts,
        "cluster_id low value high method",
        {"district_codes": "320495525"},
    ),
    "core.district": (
        test_the_map_has_each_district_once_in_the_colour_of_its_status,
        "district_code district_name municipality_name",
        {},
    ),
    "core.proposal": (test_each_petition_tells_its_stages, "outcome last_event_on", {"outcome": "rejected"}),
    "core.state_revenue": (
        test_each_source_tells_its_dates_and_whether_it_is_stale,
        "fiscal_year variant value method source",
        {},
    ),
    "meta.source_freshness": (
        test_each_source_tells_its_dates_and_whether_it_is_stale,
        "published_through last_good_at is_stale",
        {"source": "ibge_estimates"},
    ),
    "meta.snapshot": (test_each_source_tells_its_dates_and_whether_it_is_stale, "url sha256 fetched_at", {}),
    "meta.check_result": (
        test_the_checks_are_counted_and_those_with_reservations_named,
        "check_name failing_rows",
        {"status": "failed"},
    ),
}


@pytest.mark.parametrize("name", SHOWN)
def test_one_altered_cell_of_a_table_is_noticed(name: str) -> None:
    compare, columns, wanted = SHOWN[name]
    whole = of_sample_with_more()
    for column in columns.split():
        altered = replace(whole, known={**whole.known})
        found = [dict(row) for row in altered.rows(name)]
        one = next(row for row in found if row[column] and wanted.items() <= row.items())
        one[column] = other(one[column])
        altered.known[name] = found
        with pytest.raises((AssertionError, KeyError, IndexError, ValueError)):
            compare(altered)


def other(text: str) -> str:
    """The last digit another one (of a moment, that of its day), else a letter more."""
    opposite = {"true": "false", "false": "true", "decrease": "increase", "increase": "decrease"}
    if text in opposite:
        return opposite[text]
    last = re.search(r"\d(?=T\d\d:|[^\d]*$)", text)
    return f"{text[: last.start()]}{(int(last[0]) + 1) % 10}{text[last.end() :]}" if last else f"{text}x"
