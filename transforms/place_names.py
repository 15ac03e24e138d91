"""Which district an address names: text evidence, for places that have no usable coordinate and to check those
that have one.

Only a name the text says counts; nothing is guessed by likeness. Looked for in the neighbourhood, then in the
address, then in the name of the place, whole names before names within a longer one, and only where one district
of the município fits. A name that itself has a parenthesis ("Nova Esperança (Pequizeiro)") goes before what stands in
it. The seat is never assumed: it takes an explicit SEDE or CENTRO and no other district's name anywhere ("CENTRO
(CAUCAIA DO ALTO)" is Caucaia do Alto). Real lists: 626 and more of Ceará's 708 districts.
"""

import polars as pl

from transforms.names import comparable

FIELDS = ("neighbourhood", "address", "place_name")

# What a name may follow: a kind of settlement, perhaps several ("DIST. DE VILA X").
KINDS = (
    r"\b(?:(?:distrito|distr?\b\.?|povoado|pov\b\.?|vila|vl\b\.?|vilarejo|localidade|comunidade|bairro|aldeia|sede"
    r"|zona rural|zona urbana|area rural|nucleo urbano|sitio|fazenda|faz\b\.?|assentamento|agrovila|serra)"
    r"(?: +d[eoa]s?\b)?(?: +|$|\b))+"
)
# What says nothing of the district: no number, kilometre, road number.
NOISE = r"\bs *[/.]? *n\b\.?(?: *[o.º°])?|\b(?:km|[a-z]{2}) *-? *[0-9]+"
PARENTHESES = r"[()\[\]]"
BREAKS = r'[,;:"|]|[./-] | [-–—/]| {2,}'
HOUSE_NUMBER = r", *(?:n[o.º° ]*)?([0-9])"  # "PADRE CICERO, 133" is a street, numbered
# A name inside what begins so is a street's, or a neighbourhood's that was called after it.
STREETS = (
    r"^(?:r|rua|av|avenida|tv|trav|travessa|pc|pca|praca|rod|rodovia|est|estr|estrada|al|alameda|largo|beco|via|qd"
    r"|quadra|jd|jardim|pq|parque|conj|conjunto|res|residencial|lot|loteamento|cidade|novo|nova|santo|santa|sao)\b"
)
SEAT = r"^(?:(?:b|bairro|distrito|zona urbana) )?centro$|(?:^| )sede$"
CONNECTIVES = r"\b(?:d[eoa]s?|e) |s\b"  # and plural endings: lists do not agree on either


def evidence(places: pl.DataFrame, districts: pl.DataFrame) -> pl.DataFrame:
    """The district each place's text names: columns index, name_district, evidence_name; places without are absent.

    `places` has index, municipality_code and FIELDS; `districts` the columns of core.district.
    """
    named = _named(places, districts)
    seats = districts.filter("is_seat").unique("municipality_code", keep="none")
    seat_name = comparable(pl.col("district_name"))
    neighbourhood = comparable(pl.col("neighbourhood")).str.strip_prefix(seat_name).str.strip_suffix(seat_name)
    in_seat = (
        places.join(named, on="index", how="anti")
        .join(seats, on="municipality_code", validate="m:1")
        .filter(neighbourhood.str.strip_chars().str.contains(SEAT))
        .select("index", name_district="district_code", evidence_name="neighbourhood")
    )
    return pl.concat([named, in_seat]).sort("index")


def _named(places: pl.DataFrame, districts: pl.DataFrame) -> pl.DataFrame:
    """Places whose text names one district that is not a seat."""
    names = districts.select("municipality_code", "district_code", "district_name", "is_seat").with_columns(
        pl.concat_list(
            _loose(comparable(pl.col("district_name"))),
            _loose(comparable(_folded(pl.col("district_name")).str.replace(f"^{KINDS}", ""))),
        )
        .list.unique(maintain_order=True)
        .alias("name")
    )
    names = names.explode("name").filter(pl.col("name") != "")
    words = pl.format(" {} ", "loose").str.contains(pl.format(" {} ", "name"), literal=True)
    numbered = (pl.col("field") > 0) & pl.col("segment").str.contains("[0-9]")
    partial = (pl.col("field") < 2) & words & ~pl.col("segment").str.contains(STREETS) & ~numbered
    whole = pl.col("loose") == pl.col("name")
    entire = pl.col("district_name").str.contains(PARENTHESES)  # text whose parentheses stand is read for these alone
    length = pl.col("name").str.len_chars()
    return (
        _segments(places)
        .join(names, on="municipality_code")
        .filter(whole | partial, entire | ~pl.col("unbroken"))
        .filter(length == length.max().over("index", "field", "segment"))  # the longest name wins
        .filter(pl.col("unbroken") | ~pl.col("unbroken").any().over("index", "field"))
        .filter(~pl.col("is_seat"))
        .group_by("index", whole.alias("whole"), "field")
        .agg(
            pl.col("district_code").n_unique().alias("districts"),
            pl.col("district_code").min().alias("name_district"),
            pl.col("district_name").min().alias("evidence_name"),
        )
        .filter(pl.col("districts") == 1)
        .sort("index", "whole", "field", descending=[False, True, False])
        .unique("index", keep="first", maintain_order=True)
        .select("index", "name_district", "evidence_name")
    )


def _segments(places: pl.DataFrame) -> pl.DataFrame:
    """The parts of each text that may be a name, with and without their kind: index, field, segment, loose; and
    `unbroken`: whether it runs on over a parenthesis.
    """
    fields = []
    for number, field in enumerate(FIELDS):
        text = _folded(pl.col(field)).str.replace_all(NOISE, "|")
        texts = [text, text.str.replace_all(r"[-/]", "|")] if field == "neighbourhood" else [text]
        texts += [text.str.replace_all(KINDS, "|") for text in texts]
        for unbroken, breaks in ((False, f"{BREAKS}|{PARENTHESES}"), (True, BREAKS)):
            parts = (
                text.str.replace_all(HOUSE_NUMBER, " $1").str.replace_all(breaks, "|").str.split("|") for text in texts
            )
            fields.append(
                places.select(
                    "index",
                    "municipality_code",
                    pl.lit(number).alias("field"),
                    pl.lit(unbroken).alias("unbroken"),
                    pl.concat_list(parts).alias("segment"),
                )
            )
    return (
        pl.concat(fields)
        .explode("segment")
        .filter(~pl.col("unbroken") | pl.col("segment").str.contains(PARENTHESES))
        .with_columns(comparable(pl.col("segment")))
        .with_columns(_loose(pl.col("segment")).alias("loose"))
        .filter(pl.col("loose") != "")
        .unique()
    )


def _folded(text: pl.Expr) -> pl.Expr:
    """Lower case without accents; punctuation stays."""
    return text.str.normalize("NFKD").str.replace_all(r"\p{M}", "").str.to_lowercase()


def _loose(key: pl.Expr) -> pl.Expr:
    return key.str.replace_all(CONNECTIVES, "").str.strip_chars()
