"""core.left_out: what was read and counts in no figure, so that nothing is dropped in silence.

Each kind of row has its reason in the sources' own rules (what the TSE says of its files). A row here is no
error by itself: voters abroad are voters of no state. A number that grows from one release to the next is worth a look.
"""

from collections.abc import Iterator, Mapping

import polars as pl

from transforms.core.certificate import counted
from transforms.core.polling_place import beyond_the_states
from transforms.schema import Column, Kind, Table, Unit
from transforms.sources import Scope

TABLE = Table(
    name="core.left_out",
    title="Linhas lidas e não usadas",
    grain="One kind of rows of a source that count in no figure of the state.",
    key=("source", "what"),
    columns=(
        Column("source", Kind.TEXT, "Source of the rows.", "Fonte"),
        Column("what", Kind.TEXT, "What they are, and why they do not count.", "O que são"),
        Column("rows", Kind.INTEGER, "How many.", "Linhas", Unit.COUNT, minimum=1),
        Column("voters", Kind.INTEGER, "Voters in them, where rows are sections.", "Eleitores", Unit.VOTERS,
               nullable=True, minimum=0),
    ),
    may_be_empty=True,
)  # fmt: skip
SECTIONS, HAND = "tse_polling_places", "inputs_polling_place_districts"
BEYOND = {"ZZ": "voters abroad (ZZ)", "VT": "voters in transit (VT)"}


def left_out(staged: Mapping[str, pl.LazyFrame], places: pl.DataFrame, scope: Scope) -> pl.DataFrame:
    """From the staging tables and core.polling_place. The register abroad is the country's, the rest the state's."""
    certificates = staged["staging.inputs_certificates__certificate"].collect()
    collections = staged["staging.inputs_collections__collection"].collect()
    own = (pl.col("uf") == scope.uf) & (pl.col("fiscal_year") == scope.fiscal_year)
    kinds = [
        *_sections(staged["staging.tse_polling_places__section"], scope),
        (HAND, "districts given by hand to polling places that the register does not have", _unplaced(staged, places)),
        (
            "inputs_collections",
            f"rows of another state or year than {scope.uf} {scope.fiscal_year}",
            collections.filter(~own).height,
        ),
        (
            "inputs_collections",
            "rows of taxes that municípios collect themselves (esfera municipal)",
            collections.filter(own & (pl.col("sphere") == "municipal")).height,
        ),
        (
            "inputs_certificates",
            f"certificates dated later than {scope.as_of}",
            certificates.filter(pl.col("date") > scope.as_of).height,
        ),
        (
            "inputs_certificates",
            "certificates with a newer one of the same area and requirement",
            certificates.filter(pl.col("date") <= scope.as_of).height - counted(certificates.lazy(), scope).height,
        ),
        (
            "inputs_proposals",
            f"events of petitions later than {scope.as_of}",
            staged["staging.inputs_proposals__event"].filter(pl.col("date") > scope.as_of).collect().height,
        ),
    ]
    return TABLE.frame(
        {"source": source, "what": what, "rows": rows, "voters": (*voters, None)[0]}
        for source, what, rows, *voters in kinds
        if rows
    )


def _sections(sections: pl.LazyFrame, scope: Scope) -> Iterator[tuple[str, str, int, int] | tuple[str, str, int]]:
    for uf, rows, voters in beyond_the_states(sections).iter_rows():
        yield SECTIONS, BEYOND[uf], rows, voters
    again, untold = (
        sections.filter(pl.col("uf") == scope.uf)
        .select((pl.col("lines") - 1).sum(), pl.col("voters").is_null().sum().alias("untold"))
        .collect()
        .row(0)
    )
    yield SECTIONS, "lines that repeat a section (second round, later generation, another election)", again
    yield SECTIONS, "sections that do not tell their voters", untold


def _unplaced(staged: Mapping[str, pl.LazyFrame], places: pl.DataFrame) -> int:
    """Rows given by hand, of this state's municípios, that name no polling place of the register."""
    hand = staged["staging.inputs_polling_place_districts__place"].collect()
    ours = hand.join(places.select("municipality_code").unique(), on="municipality_code", how="semi")
    return ours.join(places, on=["municipality_code", "zone", "place"], how="anti").height


def sentences(table: pl.DataFrame) -> list[str]:
    """One line a row, for whoever runs it."""
    return [
        f"{source}: left out: {what}: {rows} rows{'' if voters is None else f', {voters} voters'}"
        for source, what, rows, voters in table.iter_rows()
    ]
