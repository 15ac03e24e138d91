"""What the sample is made to show, district by district. README.md tells the same as a table for readers.

Codes are IBGE's: the people, dwellings and areas behind them are real, what happens here is simulated.
"""

# Districts that show one thing each in the electorate.
WITHOUT_PLACES = frozenset({"320490630"})  # Nestor Gomes (São Mateus): its voters vote at the seat
NAMED_ELSEWHERE = frozenset({"320320507"})  # Bebedouro (Linhares): points in the seat, "BEBEDOURO-DISTRITO" in the bairro
NEAR_BORDERS = frozenset({"320520025"})  # São Torquato (Vila Velha): every place within 300 m of another district
NAMED_ONLY = frozenset({"320060712"})  # Jacupemba (Aracruz): no coordinates in any year, the bairro says where
LAST_ELECTION_ONLY = frozenset({"320280109"})  # Itaipava (Itapemirim): half its places have coordinates in 2024 only
HAND_SUPPLIED = frozenset({"320190210"})  # Aracê (Domingos Martins): nothing but inputs/polling_place_districts.csv says
PARENTHESES = frozenset({"320220713"})  # Praia Grande (Fundão): bairro "CENTRO (PRAIA GRANDE)"

# Municípios that show one thing each; the seat's last place does it.
UNASSIGNED = frozenset({"3201506", "3201209", "3200102"})  # a place with no coordinates and no name to go by
OUTSIDE = frozenset({"3200409", "3204302"})  # a point in the sea, its bairro "CENTRO"
RELOCATED = "3205309"  # Vitória: two sections used another place; voters stay where they are registered
AGGREGATED = "3205002"  # Serra: one section votes with another
SECOND_ROUND_2024 = "3205002"  # Serra: two rounds in the previous election's file
PRISON = "3205101"  # Viana
TRANSIT = "3205309"  # Vitória: a place for voters in transit, with none registered
BLOCKED = "3201308"  # Cariacica: a blocked place still has its voters
ODD_NAMES = "3201001"  # Boa Esperança: a quotation mark and a curly apostrophe (0x92) in the names of places

# Houses.
URBAN_SHARE = {"320455915": 0.06, "320160507": 0.6, "320190235": 0.15, "320190230": 0.15}
TINY_TOWN_SECTORS = {"320455915": 24}  # Garrafão: most of the village lies in sectors IBGE would not publish
CNEFE = (  # municípios with addresses; elsewhere sectors serve
    *("3202801", "3203320", "3201605", "3201902", "3202207", "3204005", "3205036", "3203056"),
    *("3203502", "3203601", "3204252", "3204708"),
)
ODD_ADDRESSES = "3202207"  # Fundão: some sector codes of the preliminary mesh that the final one lacks
