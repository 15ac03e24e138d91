"""What the sample is made to show, district by district. README.md tells the same as a table for readers.

Codes are IBGE's: the people, dwellings and areas behind them are real, what happens here is simulated. A country
around a real census file has the empty story.
"""

from collections.abc import Mapping, Set
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class Story:
    """Who shows what: districts by their code, and municípios, whose seat's first or last place does it."""

    without_places: Set[str] = frozenset()  # its voters vote at the seat
    named_elsewhere: Set[str] = frozenset()  # points in the seat, "X-DISTRITO" in the bairro
    near_borders: Set[str] = frozenset()  # every place within 300 m of another district
    named_only: Set[str] = frozenset()  # no coordinates in any year, the bairro says where
    last_election_only: Set[str] = frozenset()  # half its places have coordinates in 2024 only
    hand_supplied: Set[str] = frozenset()  # nothing but inputs/polling_place_districts.csv says
    parentheses: Set[str] = frozenset()  # bairro "CENTRO (X)"

    unassigned: Set[str] = frozenset()  # a place with no coordinates and no name to go by
    outside: Set[str] = frozenset()  # a point in the sea, its bairro "CENTRO"
    relocated: Set[str] = frozenset()  # two sections used another place; voters stay where they are registered
    aggregated: Set[str] = frozenset()  # one section votes with another
    second_round_2024: Set[str] = frozenset()  # two rounds in the previous election's file
    prison: Set[str] = frozenset()
    transit: Set[str] = frozenset()  # a place for voters in transit, with none registered
    blocked: Set[str] = frozenset()  # a blocked place still has its voters
    odd_names: Set[str] = frozenset()  # a quotation mark and a curly apostrophe (0x92) in the names of places

    urban_share: Mapping[str, float] = field(default_factory=dict)  # of the people, where it is not the usual
    tiny_town_sectors: Mapping[str, int] = field(default_factory=dict)  # sectors that IBGE would not publish
    addresses: Set[str] = frozenset()  # municípios that CNEFE covers; elsewhere sectors serve
    odd_addresses: Set[str] = frozenset()  # some sector codes of the preliminary mesh that the final one lacks
    split_polygons: Set[str] = frozenset()  # two features in the mesh, one with a ring that crosses itself


NOTHING = Story()
ESPIRITO_SANTO = Story(
    without_places={"320490630"},  # Nestor Gomes (São Mateus)
    named_elsewhere={"320320507"},  # Bebedouro (Linhares)
    near_borders={"320520025"},  # São Torquato (Vila Velha)
    named_only={"320060712"},  # Jacupemba (Aracruz)
    last_election_only={"320280109"},  # Itaipava (Itapemirim)
    hand_supplied={"320190210"},  # Aracê (Domingos Martins)
    parentheses={"320220713"},  # Praia Grande (Fundão)
    unassigned={"3201506", "3201209", "3200102"},  # Colatina, Cachoeiro de Itapemirim, Afonso Cláudio
    outside={"3200409", "3204302"},  # Anchieta, Presidente Kennedy
    relocated={"3205309"},  # Vitória
    aggregated={"3205002"},  # Serra
    second_round_2024={"3205002"},  # Serra
    prison={"3205101"},  # Viana
    transit={"3205309"},  # Vitória
    blocked={"3201308"},  # Cariacica
    odd_names={"3201001"},  # Boa Esperança
    urban_share={
        "320455915": 0.06,  # Garrafão (Santa Maria de Jetibá): a village
        "320160507": 0.6,  # Braço do Rio (Conceição da Barra)
        "320190235": 0.15,  # Paraju (Domingos Martins)
        "320190230": 0.15,  # Melgaço (Domingos Martins)
    },
    tiny_town_sectors={"320455915": 24},  # most of Garrafão's village lies in sectors too small to publish
    addresses=frozenset("3202801 3201605 3201902 3202207 3204005 3203056 3203601 3204252".split()),
    odd_addresses={"3202207"},  # Fundão
    split_polygons={"320010213"},  # Fazenda Guandu (Afonso Cláudio)
)
