"""The Portuguese of the screen: requirements, figures and how they are known, verdicts, reasons, what to ask."""

import re
from collections.abc import Mapping

SCREEN: Mapping[str, str] = {
    "": "",
    # requirements and measures
    "population": "população",
    "population_census": "população (Censo 2022)",
    "population_estimate": "população (estimativa)",
    "electorate": "eleitorado",
    "urban_houses": "casas no centro urbano",
    "collection": "arrecadação",
    "collection_brl": "arrecadação",
    "origin": "município de origem",
    # what other laws ask for, and no source tells
    "buildings": "imóveis",
    "distance": "distância",
    "distance_m": "distância entre perímetros urbanos",
    "houses_of_all_nuclei": "casas de todos os núcleos urbanos",
    "own_revenue": "arrecadação própria",
    "origin_revenue": "receita do município de origem",
    "origin_revenue_kept": "receita que resta ao município de origem",
    # verdicts
    "met": "atende",
    "not_met": "não atende",
    "undetermined": "indeterminado",
    "likely_met": "provavelmente atende",
    "likely_not_met": "provavelmente não atende",
    "eligible": "elegível",
    "ineligible": "não elegível",
    "likely_eligible": "provavelmente elegível",
    "likely_ineligible": "provavelmente não elegível",
    "unknown": "sem indicação",
    "kept": "mantém",
    "lost": "perde",
    "never_had": "já não atendia",
    # comparisons, in the law's own words
    ">": "superior a",
    ">=": "não inferior a",
    "more_than": "superior a",
    "at_least": "não inferior a",
    # evidence
    "certified": "certificado",
    "official": "oficial",
    "derived": "derivado",
    "simulated": "simulado",
    "missing": "sem dado",
    # units
    "persons": "habitantes",
    "voters": "eleitores",
    "houses": "casas",
    "dwellings": "domicílios",
    "BRL": "R$",
    "share": "proporção",
    "count": "quantidade",
    "degrees": "graus",
    "seconds": "segundos",
    "km²": "km²",
    "m": "m",
    "bytes": "bytes",
    "see column unit": "ver coluna Unidade",
    # kinds of area
    "district": "distrito",
    "group": "conjunto de distritos",
    "fusion": "fusão",
    "increase": "aumento",
    "decrease": "redução",
    # bodies
    "IBGE": "IBGE",
    "TRE": "TRE",
    "IBGE and TRE": "IBGE e TRE",
    "state treasury": "Secretaria da Fazenda do Estado",
    "assembly": "Assembleia Legislativa",
    # types of column, for the dictionary
    "text": "texto",
    "code": "código (texto)",
    "integer": "inteiro",
    "money": "dinheiro (2 decimais)",
    "exact": "número exato",
    "ratio": "razão (4 decimais)",
    "float": "número aproximado",
    "boolean": "sim/não",
    "date": "data",
    "timestamp": "momento (UTC)",
    "binary": "binário",
    "handed in by the user": "entregue pelo usuário",
    "as stated by the document each row names": "a do documento que cada linha cita",
    # reasons
    "census": "Censo",
    "estimate": "estimativa",
    "census and estimate disagree": "Censo e estimativa divergem",
    "depends on the definition of revenue": "depende da definição de receita de impostos",
    "no polling place in the district, the TRE must say": "sem local de votação no distrito: o TRE deve informar",
    "no figure": "sem dado",
    "no state total to compare with": "sem o total do Estado para comparar",
    "a report of part of a year is no fiscal year": "relatório de parte do ano não é exercício",
    "the bounds lie on both sides of the threshold": "o limite está entre o mínimo e o máximo",
    "voters near a border, or at places that no district could be found for, may or may not be the area's": (
        "eleitores perto de divisa, ou de locais sem distrito conhecido, podem ou não ser da área"
    ),
    "no count of houses in the urban centre, only the dwellings of the district": (
        "sem contagem de casas no centro urbano, só os domicílios do distrito"
    ),
    "suppressed, vacant or untyped dwellings of the urban centre may or may not be houses": (
        "domicílios omitidos, vagos ou sem tipo no centro urbano podem ou não ser casas"
    ),
    "no file or certificate of the state treasury": "sem arquivo ou certidão da Fazenda estadual",
    "only the município's collection is known, not the area's": (
        "só se conhece a arrecadação do município, não a da área"
    ),
    "it has a single district, its seat": "tem um só distrito, a sede",
    "seat of its município": "sede do município",
    "every district of São Paulo's capital is urban seat": "na capital de São Paulo todo distrito é sede",
    "Fernando de Noronha is a state district, not a município": "Fernando de Noronha é distrito estadual",
    # methods
    "Census 2022 count": "contagem do Censo 2022",
    "the município's official estimate by census population, largest remainder": (
        "estimativa oficial do município, repartida pela população do Censo (maiores restos)"
    ),
    "voters of the polling places assigned to the district": "eleitores dos locais de votação situados no distrito",
    "stated by the state treasury": "informado pela Fazenda estadual",
    "the município's collection by establishments": "arrecadação do município, repartida por estabelecimentos",
    "the município's collection by occupied dwellings": "arrecadação do município, repartida por domicílios ocupados",
    "the município's collection by population": "arrecadação do município, repartida pela população",
    "occupied houses of the largest group of touching urban sectors": (
        "casas ocupadas do maior conjunto de setores urbanos contíguos"
    ),
    "occupied houses of all urban sectors of the district, as one centre": (
        "casas ocupadas de todos os setores urbanos do distrito, como um só centro"
    ),
    "no urban sector in the district": "sem setor urbano no distrito",
    "private dwellings of the district": "domicílios particulares do distrito",
    # definitions of the state's tax revenue
    "gross": "bruta de transferências",
    "without_irrf": "sem o imposto de renda retido na fonte (IRRF)",
    "net": "líquida do FUNDEB e das cotas dos municípios",
    # how a polling place was located, and what is doubtful about it
    "single_district": "o município só tem este distrito",
    "hand": "tabela fornecida",
    "coordinates": "coordenadas",
    "previous_coordinates": "coordenadas de outra eleição",
    "name": "nome do distrito no endereço",
    "unassigned": "não localizado",
    "border": "a menos de 500 m de divisa",
    "conflict": "o nome indica outro distrito",
    "outside": "coordenada fora do município",
    "mesh_incomplete": "falta distrito na malha",
    # how an urban centre was found
    "addresses": "endereços",
    "touching sectors": "setores contíguos",
    "sectors": "setores",
    # what a change of one figure would do
    "missing data decide, not a change: see what is pending": "depende de dados que faltam: ver as pendências",
    "exempt from requirements: no figure changes it": "dispensada dos requisitos: nenhuma cifra a altera",
    "no change of a single figure changes it": "nenhuma mudança de uma só cifra a altera",
    # why something differs from the last release
    "changed program": "programa alterado",
    "later date": "data posterior",
    "other areas moved": "outras áreas mudaram de posição",
    "unexplained": "sem explicação",
    # rule sets
    "in_force": "em vigor",
    "superseded": "não vigente",
    "bill": "projeto",
    "vetoed": "vetado",
    # what to ask
    "the population of the area, certified": "certidão da população da área",
    "the population of the area, and its voters, certified": "certidão da população e dos eleitores da área",
    "the number of voters registered in the area, certified": "certidão do número de eleitores inscritos na área",
    "the number of houses in the urban centre": "número de casas no centro urbano",
    "the number of houses of the urban nuclei": "número de casas dos núcleos urbanos",
    "the number of buildings in the area": "número de imóveis na área",
    "the number of buildings or dwellings that the law counts in the urban centre": (
        "número de prédios ou moradias que a lei conta no centro urbano"
    ),
    "whether the area has an urban centre": "se a área tem centro urbano constituído",
    "the distance between the urban perimeters": "distância entre os perímetros urbanos",
    "the municipal revenue of the area": "arrecadação municipal da área",
    "the revenue of the area and of its município": "receita da área e do município de origem",
    "the population of the area, certified (art. 2º, §§ 2º and 3º)": (
        "certidão da população da área (art. 2º, §§ 2º e 3º)"
    ),
    "the number of voters registered in the area, certified (art. 2º, §§ 2º and 3º)": (
        "certidão do número de eleitores inscritos na área (art. 2º, §§ 2º e 3º)"
    ),
    "the number of houses in the area's urban centre, certified (art. 2º, §§ 2º and 3º)": (
        "certidão do número de casas no centro urbano da área (art. 2º, §§ 2º e 3º)"
    ),
    "the state's tax revenue by the definition that counts (gross, without IRRF, or net)": (
        "a receita estadual de impostos segundo a definição que vale (bruta, sem IRRF ou líquida)"
    ),
    "the state's annual accounts (DCA), or those of the sixth two months (RREO)": (
        "as contas anuais do Estado (DCA), ou o RREO do sexto bimestre"
    ),
    "the state taxes collected in the area in the last closed fiscal year, certified (art. 2º, §§ 2º and 3º)": (
        "certidão dos impostos estaduais arrecadados na área no último exercício (art. 2º, §§ 2º e 3º)"
    ),
}

SENTENCES: tuple[tuple[re.Pattern[str], str], ...] = tuple(
    (re.compile(english), portuguese)
    for english, portuguese in (
        (r"certificate of (?P<body>.+?): (?P<document>.+)", "certidão ({body}): {document}"),
        (
            r"houses of the address list in the largest urban centre \(each within (?P<reach>\d+) m of the next\)",
            "casas do cadastro de endereços no maior centro urbano (cada uma a até {reach} m da seguinte)",
        ),
        (r"no figure for (?P<word>.+)", "sem dado de {word}"),
        (r"no data for (?P<words>.+)", "sem dado de {words}"),
        (
            r"(?P<count>\d+) requirements fail: no change of a single figure mends them",
            "{count} requisitos não atendidos: nenhuma mudança de uma só cifra basta",
        ),
        (r"without IRRF \(account (?P<account>[\d.]+)\)", "sem o IRRF (conta {account})"),
        (r"DCA, account (?P<rest>.+)", "DCA, conta {rest}"),
        (r"RREO Anexo 3, last 12 months: (?P<rest>.+)", "RREO, Anexo 3, últimos 12 meses: {rest}"),
        (r"rests on the (?P<word>.+) alone", "baseia-se só em: {word}"),
        (r"met by its (?P<words>.+)", "atendido por: {words}"),
        (
            r"no annual statement \(DCA\) nor closing report \(RREO 6\) of (?P<year>\d+) delivered by (?P<day>[\d-]+)",
            "sem DCA nem RREO do 6º bimestre de {year} entregues até {day}",
        ),
        (
            r"(?P<statement>DCA|RREO) (?P<year>\d+) was delivered on (?P<day>[\d-]+), after (?P<as_of>[\d-]+)",
            "{statement} de {year} entregue em {day}, depois de {as_of}",
        ),
        (
            r"(?P<name>DCA|RREO) (?P<year>\d+) is listed as delivered on (?P<day>[\d-]+) but was not served",
            "{name} de {year} consta como entregue em {day}, mas não foi servida",
        ),
        (r"(?P<name>.+) \((?P<word_1>\w+): (?P<word_2>\w+)\)", "{name} ({word_1}: {word_2})"),
        (r"changed rule: (?P<rule>.+)", "regra alterada: {rule}"),
        (r"new reference period: (?P<periods>.+)", "nova referência: {periods}"),
        (r"revised source: (?P<words>.+)", "fonte revista: {words}"),
        (r"(?P<word_1>[^:]+): (?P<word_2>.+)", "{word_1}: {word_2}"),
    )
)
