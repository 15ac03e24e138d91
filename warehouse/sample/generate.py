"""Every question the upstreams are asked, answered from a state's facts. Pure and seeded: the same bytes every time.

`ROUTES` is the whole of it: base, path, and the function that makes the body. Bodies are made when asked for.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from functools import cached_property

from transforms.codes import BY_CODE
from warehouse.sample import addresses, ibge, layout, mesh, polling_places, sectors, siconfi, tse
from warehouse.sample.facts import Facts
from warehouse.sample.files import index
from warehouse.sample.layout import Box

CENSUS = "/Censos/Censo_Demografico_2022/Agregados_por_Setores_Censitarios"
CNEFE = "/Cadastro_Nacional_de_Enderecos_para_Fins_Estatisticos/Censo_Demografico_2022/Arquivos_CNEFE/CSV/UF"
JSON, ZIP, HTML = "application/json; charset=utf-8", "application/zip", "text/html;charset=ISO-8859-1"
GEOPACKAGE = "application/octet-stream"  # Apache knows no better


@dataclass(frozen=True, slots=True)
class Answer:
    """What an upstream sends back."""

    body: bytes
    content_type: str
    status: int = 200


@dataclass(frozen=True)
class World:
    """The states an upstream knows, by UF, and how coarse the simulated polling places are."""

    states: Mapping[str, Facts]
    place_voters: int = 1600
    section_voters: int = 380
    page_limit: int = 5000

    @cached_property
    def boxes(self) -> Mapping[str, dict[str, Box]]:
        return {uf: layout.districts(facts) for uf, facts in self.states.items()}

    @cached_property
    def sectors(self) -> Mapping[str, dict[str, list[sectors.Sector]]]:
        return {uf: sectors.sectors(facts, self.boxes[uf]) for uf, facts in self.states.items()}

    @cached_property
    def places(self) -> Sequence[polling_places.Place]:
        """The polling places of every state, then a few from elsewhere."""
        found = [
            place
            for uf, facts in self.states.items()
            for place in polling_places.places(facts, self.boxes[uf], self.place_voters, self.section_voters)
        ]
        return found + [place for place in polling_places.elsewhere() if place.uf not in self.states]

    def by_code(self, code: str) -> Facts | None:
        return next((facts for facts in self.states.values() if facts.state.code == code), None)

    def scale(self, facts: Facts) -> Decimal:
        """How large a state's tax revenue is, next to the sample's: as its people are."""
        return Decimal(1) if facts.state.uf == "ES" else Decimal(sum(facts.estimates[2025].values())) / 4126854


Handler = Callable[[World, re.Match[str], Mapping[str, str]], Answer | None]

_DISTRICT_FILES = ("Agregados_por_distritos_basico_BR_20260520.zip", "Agregados_por_distritos_basico_BR_20250417.zip")
_SECTOR_FILES = (
    "Agregados_por_setores_basico_BR_20260520.zip",
    "Agregados_por_setores_caracteristicas_domicilio1_BR.zip",
)
_ERROR_400 = """{
    "code": "BadRequest",
    "title": "Bad Request",
    "message": "Invalid value provided for parameter %s. The detailed error message: Character %s is neither a decimal \
digit number, decimal point, nor \\"e\\" notation exponential mark..",
    "type": "tag:oracle.com,2020:error/BadRequest",
    "instance": "tag:oracle.com,2020:ecid/SIMULATED"
}
"""


def _state(world: World, key: str) -> Facts | None:
    return world.states.get(key.upper()) or world.by_code(key)


def _localities(world: World, match: re.Match[str], params: Mapping[str, str]) -> Answer | None:
    found = [_state(world, key) for key in match["uf"].split("|")]
    known = [facts for facts in found if facts]
    return Answer(ibge.localities(known[0]) if known else b"[]", JSON)


def _estimates(world: World, match: re.Match[str], params: Mapping[str, str]) -> Answer | None:
    wanted = re.fullmatch(r"N3\[(\d\d)\]|N6\[N3\[(\d\d)\]\]", params.get("localidades", ""))
    if not wanted or (code := wanted[1] or wanted[2]) not in BY_CODE:  # any bad parameter is a bare 500 there
        return Answer(b'{"statusCode":500,"message":"Internal server error"}', JSON, 500)
    if (facts := world.by_code(code)) is None:  # a state that this world does not have
        return None
    return Answer(ibge.estimates(facts, int(match["year"]), "N3" if wanted[1] else "N6"), JSON)


def _district_mesh(world: World, match: re.Match[str], params: Mapping[str, str]) -> Answer | None:
    facts = world.states.get(match["uf"])
    return Answer(mesh.districts(facts, world.boxes[match["uf"]]), GEOPACKAGE) if facts else None


def _sector_mesh(world: World, match: re.Match[str], params: Mapping[str, str]) -> Answer | None:
    facts = world.states.get(match["uf"])
    return Answer(mesh.sectors(facts, world.sectors[match["uf"]]), GEOPACKAGE) if facts else None


def _addresses(world: World, match: re.Match[str], params: Mapping[str, str]) -> Answer | None:
    facts = world.states.get(match["uf"])
    if not facts or facts.state.code != match["code"] or not facts.story.addresses:
        return None
    return Answer(addresses.addresses(facts, world.sectors[match["uf"]]), ZIP)


def _siconfi(world: World, match: re.Match[str], params: Mapping[str, str]) -> Answer | None:
    for name in ("an_exercicio", "an_referencia", "nr_periodo", "id_ente", "limit", "offset"):
        if not params.get(name, "0").isdigit():
            bad = next(character for character in params[name] if not character.isdigit())
            return Answer((_ERROR_400 % (name, bad)).encode(), "application/problem+json", 400)
    facts, route = world.by_code(params.get("id_ente", "")), match["route"]
    items: list[siconfi.Item] = []
    if facts and route == "dca" and params.get("no_anexo", "DCA-Anexo I-C") == "DCA-Anexo I-C":
        items = siconfi.dca(facts.state, int(params.get("an_exercicio", 0)), world.scale(facts))
    is_full = params.get("co_tipo_demonstrativo") == "RREO"
    if facts and route == "rreo" and is_full and params.get("no_anexo", "RREO-Anexo 03") == "RREO-Anexo 03":
        year, period = int(params.get("an_exercicio", 0)), int(params.get("nr_periodo", 0))
        items = siconfi.rreo(facts.state, year, period, world.scale(facts))
    if facts and route == "extrato_entregas":
        items = siconfi.deliveries(facts.state, int(params.get("an_referencia", 0)))
    return Answer(siconfi.page(items, route, params, world.page_limit), "application/json")


def _folder(name: str, files: Sequence[str]) -> tuple[str, str, Handler]:
    path = f"{CENSUS}/{name}/"
    return ("ibge_files", re.escape(path), lambda *_: Answer(index(path, files), HTML))


ROUTES: tuple[tuple[str, str, Handler], ...] = (
    ("ibge_api", r"/v1/localidades/estados/(?P<uf>[\w|]+)/distritos", _localities),
    ("ibge_api", r"/v3/agregados/6579/periodos", lambda *_: Answer(ibge.periods(), JSON)),
    ("ibge_api", r"/v3/agregados/6579/periodos/(?P<year>\d{4})/variaveis/9324", _estimates),
    _folder("Agregados_por_Distrito_csv", _DISTRICT_FILES),
    _folder("Agregados_por_Setor_csv", _SECTOR_FILES),
    (
        "ibge_files",
        rf"{CENSUS}/Agregados_por_Distrito_csv/{_DISTRICT_FILES[0]}",
        lambda world, *_: Answer(ibge.census_districts(world.states.values()), ZIP),
    ),
    (
        "ibge_files",
        rf"{CENSUS}/Agregados_por_Distrito_csv/{_DISTRICT_FILES[1]}",
        lambda world, *_: Answer(ibge.census_districts_2025(world.states.values()), ZIP),
    ),
    (
        "ibge_files",
        rf"{CENSUS}/Agregados_por_Setor_csv/{_SECTOR_FILES[0]}",
        lambda world, *_: Answer(ibge.census_sectors(world.states, world.sectors), ZIP),
    ),
    (
        "ibge_files",
        rf"{CENSUS}/Agregados_por_Setor_csv/{_SECTOR_FILES[1]}",
        lambda world, *_: Answer(ibge.census_dwellings(world.sectors), ZIP),
    ),
    (
        "ibge_files",
        rf"{CENSUS}/malha_com_atributos/distritos/gpkg/UF/(?P<uf>[A-Z]{{2}})/(?P=uf)_distritos_CD2022\.gpkg",
        _district_mesh,
    ),
    (
        "ibge_files",
        rf"{CENSUS}/malha_com_atributos/setores/gpkg/UF/(?P<uf>[A-Z]{{2}})/(?P=uf)_setores_CD2022\.gpkg",
        _sector_mesh,
    ),
    ("ibge_files", rf"{CNEFE}/(?P<code>\d\d)_(?P<uf>[A-Z]{{2}})\.zip", _addresses),
    (
        "tse",
        r"/perfil_eleitorado/eleitorado_local_votacao_ATUAL\.zip",
        lambda world, *_: Answer(tse.current_places(world.places), ZIP),
    ),
    (
        "tse",
        r"/eleitorado_locais_votacao/eleitorado_local_votacao_2026\.zip",
        lambda world, *_: Answer(tse.places_2026(world.places), ZIP),
    ),
    (
        "tse",
        r"/eleitorado_locais_votacao/eleitorado_local_votacao_2024\.zip",
        lambda world, *_: Answer(tse.places_2024(world.places), ZIP),
    ),
    (
        "tse",
        r"/municipio_tse_ibge/municipio_tse_ibge\.zip",
        lambda world, *_: Answer(tse.municipalities(world.states.values()), ZIP),
    ),
    ("siconfi", r"/(?P<route>dca|rreo|extrato_entregas)", _siconfi),
)


def answer(world: World, base: str, path: str, params: Mapping[str, str]) -> Answer | None:
    """What `path` below `base` answers, or None where the upstream has nothing of that name."""
    for at, pattern, handler in ROUTES:
        if at == base and (match := re.fullmatch(pattern, path)):
            return handler(world, match, params)
    return None
