"""Who certifies what (LC 1/1967 art. 2º, § 2º), by the names that people write."""

from importlib.resources import files

import pytest

from tests.states import rules
from transforms.bodies import COMPETENT, WRITTEN, competent, incompetent, of_another_state, state_of
from transforms.columns import MEASURES_OF

RULES = files("transforms.rules")
PEOPLE_WRITE = {
    "IBGE": "IBGE|FIBGE|I.B.G.E.|ibge/ES|Fundação IBGE|Instituto Brasileiro de Geografia e Estatística",
    "TRE": "TRE|TRE-ES|TRE/ES|tre_es|T.R.E.|TSE|Tribunal Regional Eleitoral do Amapá|Tribunal Superior Eleitoral|"
    "Justiça Eleitoral|JUSTICA ELEITORAL DO ESPIRITO SANTO",
    "state treasury": "Sefaz|SEFAZ-ES|SEFAZ-ES (SIMULADO)|SEF/MG|SEFA-PR|SEFIN/RO|Secretaria da Fazenda|"
    "Secretaria de Estado da Fazenda|Sec. da Fazenda|Secretaria da Fazenda e Planejamento|Receita Estadual|"
    "Secretaria de Estado da Economia de Goiás|Secretaria de Estado de Finanças|Fazenda estadual|Fazenda/ES|"
    "Fazenda Pública Estadual|Fazenda do Estado|órgão fazendário estadual|Tesouro do Estado|State Treasury",
}
NOBODY = (
    "Padaria do Zé|Cartório Trevo|Trebeschi|Fazenda Santa Rita|Secretaria Municipal da Fazenda|Prefeitura de Amapá|"
    "Secretaria da Receita Federal|Tesouro Nacional|Ministério da Fazenda|Assembleia Legislativa|-"
)


@pytest.mark.parametrize(("name", "body"), [(n, body) for n, all_ in PEOPLE_WRITE.items() for body in all_.split("|")])
def test_competent_bodies_are_known_by_the_names_people_write(name: str, body: str) -> None:
    assert competent(body) == name
    assert {each for each in COMPETENT if incompetent(body, each) is None} == {
        requirement for requirement, by in COMPETENT.items() if by == name
    }


@pytest.mark.parametrize("body", NOBODY.split("|"))
def test_other_bodies_certify_nothing_and_keep_their_name(body: str) -> None:
    assert competent(f" {body} ") == body
    assert all(incompetent(body, each) for each in COMPETENT)


def test_the_refusal_says_whose_it_is_and_names_that_are_accepted() -> None:
    assert incompetent("IBGE", "electorate") == (
        "'IBGE' does not certify electorate: its body is TRE (art. 2º, § 2º), "
        "as in TRE, TRE-ES, TSE, Tribunal Regional Eleitoral, Justiça Eleitoral"
    )
    assert all(competent(each) == name for name, written in WRITTEN.items() for each in written.split(", "))


NAMING = {
    "BA": "TRE-BA|T.R.E./BA, 12ª Zona|SEFAZ/BA|Fazenda BA|Tribunal Regional Eleitoral da Bahia",
    "MS": "Secretaria da Fazenda do Estado de Mato Grosso do Sul",
    "MT": "Secretaria da Fazenda do Estado de Mato Grosso",
    "PA": "SEFA-PA (SIMULADO)|Receita Estadual do Pará",
    "RN": "Justiça Eleitoral do Rio Grande do Norte",
    None: "TRE|TSE|IBGE/RJ|IBGE, Rio de Janeiro|Sefaz|Tesouro do Estado|state treasury|Sefaz, para fins de certidão",
}


@pytest.mark.parametrize(("uf", "body"), [(uf, body) for uf, all_ in NAMING.items() for body in all_.split("|")])
def test_a_body_of_a_state_certifies_nothing_of_another(uf: str | None, body: str) -> None:
    assert state_of(body) == uf
    assert of_another_state(body, uf or "ES") is None
    assert of_another_state(body, "ES") == (f"{body!r} is of {uf}, and the place is in ES" if uf else None)


@pytest.mark.parametrize("name", sorted(each.name[:-5] for each in RULES.iterdir() if each.name.endswith(".toml")))
def test_rule_sets_name_the_same_bodies_for_what_certificates_say(name: str) -> None:
    told = {each.measure: each.body.split(" and ") for each in rules(name).requirements}
    certified = told.keys() & COMPETENT.keys()
    assert certified
    assert all(COMPETENT[measure] in told[measure] for measure in certified)


def test_every_requirement_of_certificates_has_its_body() -> None:
    assert COMPETENT.keys() == MEASURES_OF.keys()
