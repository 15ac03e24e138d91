"""core.polling_place: every polling place of the state, the district it was assigned to, and how surely.

Voters count where they are registered (the ORIGINAL place of a relocated section). The order of evidence: a
município of one district; the hand-supplied table; the place's current coordinate; another year's coordinate of
the same place; a district's name in its text; else unassigned, never silently the seat.

Only the first three can be sure, and a coordinate only without a flag. Assumptions, broken only at the reader's
risk: a hand-supplied row is right; a current coordinate inside its município is right to within 500 m; a name
names the district it says. The mesh of one state knows no border with a neighbouring state's district.
"""

import polars as pl

from transforms.codes import BY_UF
from transforms.columns import DISTRICT, MUNICIPALITY, UF
from transforms.errors import SourceChanged
from transforms.place_coordinates import located
from transforms.place_names import evidence
from transforms.schema import Column, Kind, Table, Unit
from transforms.sources import Scope
from transforms.sources.inputs import Fault, refusal
from transforms.sources.inputs_polling_place_districts import FORM

BORDER_M = 500
METHODS = ("single_district", "hand", "coordinates", "previous_coordinates", "name", "unassigned")
SURE = ("single_district", "hand", "coordinates")
FLAGS = ("border", "conflict", "outside", "mesh_incomplete")

ZONE = Column("zone", Kind.CODE, "Electoral zone, no leading zeros.", "Zona", source="NR_ZONA")
PLACE = Column(
    "place",
    Kind.CODE,
    "Number of the polling place where the voters are registered; unique in its município and zone only.",
    "Local de votação",
    source="NR_LOCAL_VOTACAO_ORIGINAL",
)

TABLE = Table(
    name="core.polling_place",
    title="Locais de votação",
    grain="One row per polling place (município, zone, place) with registered sections",
    key=("municipality_code", "zone", "place"),
    columns=(
        MUNICIPALITY,
        ZONE,
        PLACE,
        UF,
        Column("place_name", Kind.TEXT, "Name of the place.", "Nome do local", source="NM_LOCAL_VOTACAO"),
        Column("address", Kind.TEXT, "Its address.", "Endereço", nullable=True, source="DS_ENDERECO"),
        Column(
            "neighbourhood",
            Kind.TEXT,
            "Its neighbourhood; null where no section votes where it is registered.",
            "Bairro",
            nullable=True,
            source="NM_BAIRRO",
        ),
        Column(
            "latitude", Kind.FLOAT, "Latitude of the register.", "Latitude", Unit.DEGREES, True, source="NR_LATITUDE"
        ),
        Column(
            "longitude",
            Kind.FLOAT,
            "Longitude of the register.",
            "Longitude",
            Unit.DEGREES,
            True,
            source="NR_LONGITUDE",
        ),
        Column(
            "voters",
            Kind.INTEGER,
            "Voters registered at the place, principal and aggregated sections.",
            "Eleitores",
            Unit.VOTERS,
            minimum=0,
            source="QT_ELEITOR_SECAO",
        ),
        Column("sections", Kind.INTEGER, "Sections registered there.", "Seções", Unit.COUNT, minimum=1),
        DISTRICT.but(description="District the place was assigned to; null where unassigned.", nullable=True),
        Column(
            "method",
            Kind.TEXT,
            "What the assignment rests on: the município has one district, the hand-supplied table, the current "
            "coordinate, another year's coordinate, a district's name in the text, or nothing.",
            "Método",
            values=METHODS,
        ),
        Column(
            "border_distance_m",
            Kind.FLOAT,
            "Metres from the coordinate used to the nearest other district of the mesh, up to 64 km; null without a "
            "coordinate inside the município.",
            "Distância da divisa (m)",
            Unit.METRES,
            True,
            minimum=0,
        ),
        Column(
            "flags",
            Kind.TEXT,
            "Doubts, joined by |: border (another district within 500 m), conflict (the text names another district), "
            "outside (the current coordinate is outside the município, not used), mesh_incomplete (a district of the "
            "município is not in the mesh); empty when none.",
            "Ressalvas",
        ),
        Column(
            "points_to",
            Kind.TEXT,
            "The other districts that the flags point to, joined by |; empty when none.",
            "Outros distritos possíveis",
        ),
        Column("is_sure", Kind.BOOLEAN, "Whether its voters count in the district's low figure.", "Conta no mínimo"),
        Column(
            "evidence_name",
            Kind.TEXT,
            "What the text says: the district's name found in it, or the neighbourhood that means the seat.",
            "Nome encontrado",
            nullable=True,
        ),
    ),
)


def polling_place(
    sections: pl.LazyFrame,
    previous: pl.LazyFrame,
    crosswalk: pl.DataFrame,
    districts: pl.DataFrame,
    hand: pl.DataFrame,
    mesh: pl.DataFrame | None,
    scope: Scope,
) -> pl.DataFrame:
    """The register's places with their district. `mesh` is staging.ibge_district_mesh__district, or None.

    Raises SourceChanged on a município without IBGE code, UsageError on a hand-supplied district that is not
    of the place's município.
    """
    places = _registered(sections, previous, crosswalk, scope).with_row_index()
    places = places.join(_single(districts), on="municipality_code", how="left", validate="m:1")
    places = places.join(_by_hand(hand, districts), on=list(TABLE.key), how="left", validate="1:1")
    places = places.join(evidence(places, districts), on="index", how="left", validate="1:1")
    places = places.join(located(places, mesh, districts, BORDER_M), on="index", how="left", validate="1:1")
    return TABLE.conform(_assigned(places))


def beyond_the_states(sections: pl.LazyFrame) -> pl.DataFrame:
    """What no state's electorate holds: voters abroad (ZZ) and in transit (VT). Columns uf, sections, voters."""
    return (
        sections.filter(~pl.col("uf").is_in(list(BY_UF)))
        .group_by("uf")
        .agg(pl.len().cast(pl.Int64).alias("sections"), pl.col("voters").sum())
        .sort("uf")
        .collect()
    )


def _registered(sections: pl.LazyFrame, previous: pl.LazyFrame, crosswalk: pl.DataFrame, scope: Scope) -> pl.DataFrame:
    """Voters by the place of registration, with its text and coordinates from a section that votes there."""
    place = ["tse_municipality_code", "zone", "place"]
    order = [pl.col("latitude").is_null(), pl.col("section").cast(pl.Int64, strict=False), "section"]
    text = ["place_name", "address", "neighbourhood"]

    def of_state(frame: pl.LazyFrame) -> pl.DataFrame:
        return frame.filter(pl.col("uf") == scope.uf).collect().sort(order, maintain_order=True)

    current = of_state(sections)
    if current.is_empty():
        raise SourceChanged(
            f"the electoral register has no section of {scope.uf}",
            where="tse_polling_places",
            action="the file is not whole: fetch it again, or place it by hand",
        )
    used = current.unique(place, keep="first", maintain_order=True).select(*place, *text, "latitude", "longitude")
    before = of_state(previous).unique(place, keep="first", maintain_order=True)
    registered = current.group_by(
        "tse_municipality_code", "zone", pl.coalesce("original_place", "place").alias("place")
    ).agg(
        pl.col("uf").first(),
        pl.col("voters").sum(),
        pl.len().alias("sections"),
        pl.col("original_place_name", "original_address").sort_by("section").first(),
    )
    codes = crosswalk.select("tse_municipality_code", "municipality_code")
    places = (
        registered.join(used, on=place, how="left", validate="1:1")
        .join(
            before.select(*place, pl.col("latitude", "longitude").name.prefix("previous_")),
            on=place,
            how="left",
            validate="1:1",
        )
        .join(codes, on="tse_municipality_code", how="left", validate="m:1")
        .with_columns(
            pl.coalesce("place_name", "original_place_name", pl.lit("")).alias("place_name"),
            pl.coalesce("address", "original_address").alias("address"),
        )
    )
    unknown = places.filter(pl.col("municipality_code").is_null())["tse_municipality_code"].unique().sort()
    if not unknown.is_empty():
        raise SourceChanged(
            f"municípios of the electoral register without an IBGE code: {unknown.to_list()[:10]}",
            where="tse_municipalities",
            action="fetch the TSE–IBGE table again: it is regenerated every week",
        )
    return places.sort(TABLE.key)


def _single(districts: pl.DataFrame) -> pl.DataFrame:
    """The district of each município that has one only."""
    return districts.unique("municipality_code", keep="none").select(
        "municipality_code", single_district="district_code"
    )


def _by_hand(hand: pl.DataFrame, districts: pl.DataFrame) -> pl.DataFrame:
    """The hand-supplied districts of this state's places; each must be a district of the place's município."""
    rows = hand.join(districts.select("municipality_code").unique(), on="municipality_code", how="semi")
    wrong = rows.join(districts, on=["municipality_code", "district_code"], how="anti").sort(TABLE.key)
    if not wrong.is_empty():
        told = "is not a district of município {}: give the 9-digit code of one of its districts"
        faults = wrong.select("line", "district_code", pl.format(told, "municipality_code")).iter_rows()
        raise refusal([Fault(line, "district_code", f"{code} {why}") for line, code, why in faults], FORM.file)
    return rows.select(*TABLE.key, hand_district="district_code")


def _assigned(places: pl.DataFrame) -> pl.DataFrame:
    """Adds district, method, flags and what they point to, by the order of evidence."""
    order = dict(
        zip(
            METHODS,
            ("single_district", "hand_district", "current_district", "previous_district", "name_district"),
            strict=False,
        )
    )
    method = pl.coalesce(
        *(pl.when(pl.col(column).is_not_null()).then(pl.lit(method)) for method, column in order.items()),
        pl.lit(METHODS[-1]),
    )
    places = places.with_columns(method.alias("method"), pl.coalesce(*order.values()).alias("district_code"))
    by_coordinate = pl.col("method").is_in(["coordinates", "previous_coordinates"])
    known = pl.col("method").is_in(["single_district", "hand"])
    located = pl.col("latitude").is_not_null() & pl.col("longitude").is_not_null()
    other_name = pl.col("name_district") != pl.col("district_code")
    doubts = {
        "border": (by_coordinate, pl.col("near")),
        "conflict": (by_coordinate & other_name, pl.concat_list("name_district")),
        "outside": (~known & located & pl.col("current_district").is_null() & pl.col("is_meshed"), None),
        "mesh_incomplete": (by_coordinate, pl.col("unmeshed")),
    }
    places = places.with_columns(
        pl.when(when if towards is None else when & (towards.list.len() > 0)).then(pl.lit(flag)).alias(flag)
        for flag, (when, towards) in doubts.items()
    )
    pointed = pl.concat_list(
        pl.when(pl.col(flag).is_not_null()).then(towards).otherwise(pl.lit([], pl.List(pl.String)))
        for flag, (_, towards) in doubts.items()
        if towards is not None
    )
    flags = pl.concat_str(FLAGS, separator="|", ignore_nulls=True)
    return places.with_columns(
        flags.alias("flags"),
        pointed.list.unique().list.sort().list.join("|").alias("points_to"),
        (pl.col("method").is_in(SURE) & (flags == "")).alias("is_sure"),
    )
