"""What the sheets of a page should say, line by line, written anew from the tables alone."""

from collections.abc import Mapping, Sequence

from tests.page_published import (
    NBSP,
    Published,
    Row,
    badge,
    by,
    cell,
    link,
    method,
    methods,
    money,
    ordered,
    parts,
    small,
    word,
)
from warehouse.export.contiguity import apart
from warehouse.export.page.figures import known, number, percent, sign, span


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
