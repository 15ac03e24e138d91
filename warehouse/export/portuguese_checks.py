"""The Portuguese of the checks that a published release may not have passed: by name, what each asks and why.

Only warnings are published, and drift that somebody accepted. A check without words here is told by its name.
"""

from collections.abc import Mapping

CHECKS: Mapping[str, str] = {
    "municipality_electorate_within_population": (
        "municípios com mais eleitores que habitantes: real em centenas de cidades pequenas, por isso se mantém; em "
        "muitas de uma vez, sinal de contagem dupla"
    ),
    "districts_listed_and_counted": (
        "o Censo e a lista de localidades não conhecem os mesmos distritos: os dois tipos se mantêm"
    ),
    "tse_codes_of_other_states": (
        "pares de códigos errados em outro Estado, na tabela que serve a todos: os deste Estado não dependem deles"
    ),
    "names_agree_with_the_tse": (
        "nomes de municípios diferem entre o IBGE e o TSE: a ligação é por código, e o nome nada decide"
    ),
    "sections_tell_their_voters": (
        "seções eleitorais sem número de eleitores: o que não se diz não é zero, e o eleitorado é maior do que parece"
    ),
    "statement_adds_up": ("a conta do próprio Estado não fecha: cinco milésimos dela são o limite da arrecadação"),
    "certified_figures_near_census": (
        "população ou eleitorado certificado muito longe da população do Censo 2022 na área: confira com o documento"
    ),
    "certified_houses_within_dwellings": (
        "mais casas certificadas no centro urbano do que domicílios particulares nos distritos, segundo o Censo 2022"
    ),
    "municipalities_known_to_the_tse": "município sem código do TSE não tem eleitorado",
    "municipalities_estimated": "município sem estimativa é julgado só pelo Censo",
    "bounds_are_as_narrow_as_they_could_be": (
        "fonte opcional presente só em parte: onde falta, mínimo e máximo ficam mais afastados"
    ),
    "sources_are_fresh": "fontes desatualizadas: as cifras podem já não ser as que a fonte diz",
    "text_is_clean": "algumas células que a própria fonte escreveu com codificação errada: nenhuma cifra depende delas",
    "candidates_overlap": (
        "duas áreas de candidates.csv com um distrito em comum: não podem sair ambas de seus municípios"
    ),
    "drift_states": "um estado da última publicação já não consta",
    "drift_coverage": "a lista encolheu desde a última publicação, o que foi aceito com justificativa",
    "drift_total": "um total mudou muito desde a última publicação",
    "drift_status": "muitas situações mudaram desde a última publicação, o que foi aceito com justificativa",
    "drift_revenue": "receita antes conhecida já não consta, o que foi aceito com justificativa",
}
