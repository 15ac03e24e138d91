"""Everything index.html says is read out of it and compared with the released tables: nothing missing, nothing more.

What is expected is written here and in page_sheets.py anew, from the tables alone.
"""

import json
import re
from collections.abc import Sequence

import pytest

from tests.assembly import sample
from tests.page_lines import lines, read
from tests.page_published import PAGES, Published, Row, badge, by, cell, day, link, methods, named, parts, small, word
from tests.page_sheets import sheets
from transforms.catalog import sources
from transforms.codes import BY_UF
from warehouse.diff import DIFFERENCE
from warehouse.export.page import CHANGES_SHOWN, page
from warehouse.export.page.figures import number, percent
from warehouse.export.page.words import english
from warehouse.export.portuguese import sentence
from warehouse.export.portuguese_checks import CHECKS
from warehouse.release import short_id


@pytest.fixture(scope="module", params=PAGES)
def published(request: pytest.FixtureRequest) -> Published:
    return PAGES[request.param]()


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
