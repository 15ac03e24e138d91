"""TSE's answers: sections and the places they vote at (simulated), and the official TSE–IBGE codes.

Forty-one columns as TSE publishes them since 2016: cp1252, CRLF, `;`, text in quotes and integers bare. Coordinates
have a comma and no leading zero in the current file, a point in the 2024 one. Every voter, name, address and point is
simulated; names of places say so.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from warehouse.sample.facts import Facts
from warehouse.sample.files import zipped
from warehouse.sample.polling_places import Place

LEIAME = b"%PDF-1.4\n% SIMULATED: the sample's stand-in for TSE's leiame.pdf\n%%EOF\n"
_COLUMNS = (
    "DT_GERACAO HH_GERACAO AA_ELEICAO DT_ELEICAO DS_ELEICAO NR_TURNO SG_UF CD_MUNICIPIO NM_MUNICIPIO NR_ZONA NR_SECAO "
    "CD_TIPO_SECAO_AGREGADA DS_TIPO_SECAO_AGREGADA NR_SECAO_PRINCIPAL NR_LOCAL_VOTACAO NM_LOCAL_VOTACAO CD_TIPO_LOCAL "
    "DS_TIPO_LOCAL DS_ENDERECO NM_BAIRRO NR_CEP NR_TELEFONE_LOCAL NR_LATITUDE NR_LONGITUDE CD_SITU_LOCAL_VOTACAO "
    "DS_SITU_LOCAL_VOTACAO CD_SITU_ZONA DS_SITU_ZONA CD_SITU_SECAO DS_SITU_SECAO CD_SITU_LOCALIDADE DS_SITU_LOCALIDADE "
    "CD_SITU_SECAO_ACESSIBILIDADE DS_SITU_SECAO_ACESSIBILIDADE QT_ELEITOR_SECAO QT_ELEITOR_ELEICAO_FEDERAL "
    "QT_ELEITOR_ELEICAO_ESTADUAL QT_ELEITOR_ELEICAO_MUNICIPAL NR_LOCAL_VOTACAO_ORIGINAL NM_LOCAL_VOTACAO_ORIGINAL "
    "DS_ENDERECO_LOCVT_ORIGINAL"
).split()
PLACE_HEADER = ";".join(f'"{column}"' for column in _COLUMNS) + "\r\n"
_MUNICIPALITY_COLUMNS = (
    "DT_GERACAO HH_GERACAO CD_UF_TSE CD_UF_IBGE SG_UF NM_UF CD_MUNICIPIO_TSE NM_MUNICIPIO_TSE CD_MUNICIPIO_IBGE "
    "NM_MUNICIPIO_IBGE"
).split()
MUNICIPALITY_HEADER = ";".join(f'"{column}"' for column in _MUNICIPALITY_COLUMNS) + "\r\n"
_TSE_STATES = {"ES": 14}  # TSE numbers states its own way; the others do not matter here

_KINDS = {1: "Convencional", 2: "Voto em trânsito", 3: "Preso provisório"}


@dataclass(frozen=True, slots=True)
class Round:
    """The columns that say which publication a row belongs to."""

    generated: str
    year: int
    day: str
    number: int
    is_municipal: bool
    decimal: str


CURRENT = Round('"05/10/2026";"06:29:34"', 2026, "04/10/2026", 1, False, ",")
FIRST_2024 = Round('"29/10/2024";"02:00:30"', 2024, "06/10/2024", 1, True, ".")
SECOND_2024 = Round('"29/10/2024";"02:00:30"', 2024, "27/10/2024", 2, True, ".")


def coordinate(degrees: float | None, decimal: str) -> str:
    """A coordinate as TSE writes it: `-22,8471023`, `,0436565` (comma: no leading zero), `-23.6181607`, `-1`."""
    if degrees is None:
        return "-1"
    text = f"{degrees:.7f}".rstrip("0").rstrip(".")
    return text if decimal == "." else text.replace(".", ",").replace("-0,", "-,").removeprefix("0")


def _quote(text: str) -> str:
    return '"' + text.replace('"', '""') + '"'


def _rows(place: Place, publication: Round) -> Iterator[str]:
    """The rows of a place's sections, as one publication has them."""
    for index, (section, count) in enumerate(place.sections):
        used = place.moved_to if place.moved_to and index < 2 and not publication.is_municipal else place
        joined = place.joins_sections and index == 1
        voting = 0 if joined else count
        if place.joins_sections and index == 0:
            voting += place.sections[1][1]
        kind, principal = ('2;"Agregada"', place.sections[0][0]) if joined else ('1;"Principal"', -1)
        point = used.point_2024 if publication.is_municipal else used.point
        longitude, latitude = point or (None, None)
        turns = f"0;0;{voting}" if publication.is_municipal else f"{voting};{voting};0"
        accessible = '"1";"Com acessibilidade"' if section % 3 else '"0";"Sem acessibilidade"'
        phone = "-1" if used.number % 4 else "27" + str(30000000 + used.zone * 1000 + used.number)
        yield (
            f'{publication.generated};{publication.year};"{publication.day}";"{publication.number}º Turno";'
            f'{publication.number};"{place.uf}";"{place.tse_code}";{_quote(place.municipality_name)};{place.zone};'
            f"{section};{kind};{principal};{used.number};{_quote(used.name)};{used.kind};"
            f'"{_KINDS[used.kind]}";{_quote(used.address)};{_quote(used.bairro)};"29{used.zone:03}000";"{phone}";'
            f'"{coordinate(latitude, publication.decimal)}";"{coordinate(longitude, publication.decimal)}";'
            f'{"5;" if used.is_blocked else "1;"}{_quote("BLOQUEADO" if used.is_blocked else "ATIVO")};-1;"ATIVO";'
            f'1;"ATIVO";1;"Ativo";{accessible};{count};{turns};'
            f"{place.number};{_quote(place.name)};{_quote(place.address)}\r\n"
        )


def _table(found: Iterable[Place], rounds: Sequence[Round]) -> bytes:
    rows = (row for place in found for turn in rounds for row in _rows(place, turn))
    return (PLACE_HEADER + "".join(rows)).encode("cp1252")


def current_places(found: Sequence[Place]) -> bytes:
    """`eleitorado_local_votacao_ATUAL.zip`: one national file."""
    return zipped({"eleitorado_local_votacao_ATUAL.csv": _table(found, [CURRENT]), "leiame.pdf": LEIAME})


def places_2026(found: Sequence[Place]) -> bytes:
    """`eleitorado_local_votacao_2026.zip`: a file per state, abroad, and `_BRASIL`, which repeats them all."""
    name = "eleitorado_local_votacao_2026_{}.csv"
    states = sorted({place.uf for place in found})
    members = {name.format(uf): _table((p for p in found if p.uf == uf), [CURRENT]) for uf in states}
    return zipped(members | {name.format("BRASIL"): _table(found, [CURRENT]), "leiame.pdf": LEIAME})


def places_2024(found: Sequence[Place]) -> bytes:
    """`eleitorado_local_votacao_2024.zip`: the election before, with a second round where there was one.

    Slightly fewer voters, and coordinates of places that have none today.
    """
    fewer = [
        replace(place, moved_to=None, sections=tuple((n, count - count // 40) for n, count in place.sections))
        for place in found
        if place.uf != "ZZ"
    ]
    rows = "".join(
        row
        for place in fewer
        for turn in ((FIRST_2024, SECOND_2024) if place.has_second_round else (FIRST_2024,))
        for row in _rows(place, turn)
    )
    table = (PLACE_HEADER + rows).encode("cp1252")
    return zipped({"eleitorado_local_votacao_2024.csv": table, "leiame.pdf": LEIAME})


def municipalities(states: Iterable[Facts]) -> bytes:
    """`municipio_tse_ibge.zip`: TSE's codes unpadded in quotes, IBGE's bare, names in Title Case."""
    rows = "".join(
        f'"29/11/2026";"09:00:07";{_TSE_STATES.get(facts.state.uf, 0)};{facts.state.code};"{facts.state.uf}";'
        f'"{facts.state.name}";"{int(place.tse_code)}";"{place.name.title()}";{place.code};"{place.name.title()}"\r\n'
        for facts in states
        for place in facts.municipalities.values()
    )
    return zipped({"municipio_tse_ibge.csv": (MUNICIPALITY_HEADER + rows).encode("cp1252"), "leiame.pdf": LEIAME})
