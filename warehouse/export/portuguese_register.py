"""The Portuguese of the register of petitions: what transforms/petition_stages.py says, sentence by sentence."""

import re
from collections.abc import Mapping

REGISTER: Mapping[str, str] = {
    # stages
    "representation": "representação",
    "requirements": "requisitos",
    "information": "informações dos órgãos",
    "plebiscite": "plebiscito",
    "majority": "maioria no plebiscito",
    "installation": "instalação",
    "calendar": "período da lei",
    "territory": "território federal",
    "limits": "limites",
    # statuses
    "done": "cumprida",
    "due": "a cumprir",
    "overdue": "vencida",
    "blocked": "impedida",
    "not_applicable": "não se aplica",
    # reasons
    "the rule set says nothing of it": "a regra não trata disso",
    "waits for": "aguarda",
    "not told": "não informado",
    "not met": "não atende",
    "recognised": "firmas reconhecidas",
    "claimed": "assinaturas",
    "turnout": "comparecimento",
    "yes": "votos Sim",
    "no": "votos Não",
    "the electorate is not known for sure": "o eleitorado não é conhecido com certeza",
    "a federal territory: exempt from the requirements": "território federal: dispensado dos requisitos",
    "not a federal territory": "não é território federal",
    "exempt from the requirements": "dispensada dos requisitos",
    "not asked": "não requisitado",
    "no certificate": "sem certidão",
    "not ordered": "não determinado",
    "not a fusion": "não é fusão",
    "requirements waived": "requisitos dispensados",
    "the plebiscite asks about the fusion and the seat": "o plebiscito consulta sobre a fusão e a sede",
    "outside the window": "fora do período",
    "another law fixes the period": "outra lei fixa o período",
    "no law yet": "ainda sem lei",
    "not told whether the law draws the limits": "não se informou se a lei define os limites",
    # outcomes
    "open": "em andamento",
    "withdrawn": "retirada",
    "rejected": "rejeitada",
    "installed": "município instalado",
    # next steps
    "enter the number of signatures": "informar o número de assinaturas",
    "certify the electorate of the area": "obter certidão do eleitorado da área",
    "await the answers": "aguardar as respostas",
    "reject it, redraw the area, or certify other figures": "rejeitar, redesenhar a área ou certificar outros dados",
    "enter the certified figures in certificates.csv": "registrar os dados certificados em certificates.csv",
    "order the plebiscite": "determinar o plebiscito",
    "hold the plebiscite": "realizar o plebiscito",
    "no law can be made: reject it, or order another plebiscite": (
        "não cabe lei: rejeitar, ou determinar novo plebiscito"
    ),
    "enter the count of the plebiscite": "registrar a apuração do plebiscito",
    "present the bill": "apresentar o projeto de lei",
    "pass the law": "votar a lei",
    "draw the limits in the bill": "definir os limites no projeto de lei",
    "enter limits=yes or limits=no": "informar limits=yes ou limits=no",
    "draw the limits in a law": "definir os limites em lei",
    "elect mayor and council with the others": "eleger Prefeito e Vereadores com os demais municípios",
    "install the município": "instalar o município",
}

_DAY = r"(?P<day>\d{4}-\d\d-\d\d)"
SENTENCES: tuple[tuple[re.Pattern[str], str], ...] = tuple(
    (re.compile(english), portuguese)
    for english, portuguese in (
        (
            r"(?P<count>\d+) valid signatures, a share of the voters is needed",
            "{count} assinaturas válidas; é preciso uma parte dos eleitores",
        ),
        (r"(?P<count>\d+) valid signatures, (?P<least>\d+) needed", "{count} assinaturas válidas, mínimo de {least}"),
        (r"(?P<count>\d+) more signatures", "faltam {count} assinaturas"),
        (rf"answered on {_DAY}, (?P<late>\d+) days late", "respondido em {day}, com {late} dias de atraso"),
        (rf"answered on {_DAY}", "respondido em {day}"),
        (rf"due on {_DAY}, (?P<late>\d+) days overdue", "prazo em {day}, vencido há {late} dias"),
        (rf"due on {_DAY}", "prazo em {day}"),
        (r"request from (?P<word>.+)", "requisitar: {word}"),
        (r"press (?P<word>.+)", "cobrar: {word}"),
        (rf"screen as of {_DAY}: (?P<word>.+)", "triagem em {day}: {word}"),
        (rf"(?:law of|law on) {_DAY}", "lei de {day}"),
        (rf"bill of {_DAY}", "projeto de {day}"),
        (rf"(?:plebiscite )?ordered on {_DAY}", "plebiscito determinado em {day}"),
        (rf"held on {_DAY}", "realizado em {day}"),
        (r"no result of (?P<name>.+)", "sem resultado de {name}"),
        (
            r"hold the plebiscite \(voters resident for more than (?P<years>\d+) years?, ballot Sim or Não\)",
            "realizar o plebiscito (votam residentes há mais de {years} anos, com cédula Sim ou Não)",
        ),
        (
            r"turnout (?P<came>\d+) of (?P<all>\d+), (?P<least>\d+) needed",
            "comparecimento de {came} de {all}, mínimo de {least}",
        ),
        (r"(?P<yes>\d+) yes, at least (?P<least>\d+) needed", "{yes} votos Sim, ao menos {least} necessários"),
        (r"(?P<yes>\d+) yes, (?P<least>\d+) needed", "{yes} votos Sim, {least} necessários"),
        (r"(?P<place>[^:]+): (?P<word>\d+ yes, .+|turnout \d.+|not told: .+)", "{place}: {word}"),
        (rf"closed until {_DAY}", "fechado até {day}"),
        (rf"wait until {_DAY}", "aguardar até {day}"),
        (rf"open until {_DAY}", "aberto até {day}"),
        (rf"drawn by the law of {_DAY}", "definidos pela lei de {day}"),
        (rf"not drawn by the law of {_DAY}", "não definidos pela lei de {day}"),
        (rf"installed on {_DAY}", "instalado em {day}"),
        (rf"municipal election on {_DAY}", "eleição municipal em {day}"),
        (rf"the election of {_DAY} was no municipal election", "a eleição de {day} não foi municipal"),
        (rf"elected on {_DAY}", "eleitos em {day}"),
        (rf"withdrawn on {_DAY}", "retirada em {day}"),
        (rf"rejected on {_DAY}", "rejeitada em {day}"),
    )
)
