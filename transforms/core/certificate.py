"""Which certificates count, and what none can say: a part is never more than its whole.

A certificate overrides every other source for its area and requirement (art. 2º, § 2º), so one that cannot be true
stops the run, with its line in the file. Of several for one area and requirement the newest counts; one dated after
the day of the run does not count yet. For houses there is no total as new as a certificate: the gate warns of those,
and of figures far from the census (expectations/certified.py).
"""

from collections.abc import Iterator
from decimal import Decimal

import polars as pl

from transforms.bodies import of_another_state
from transforms.codes import DISTRICT_CODE, UF_OF_CODE
from transforms.core.district_collection import EVIDENCE_OF
from transforms.core.figures import total
from transforms.sources import Scope
from transforms.sources.inputs import Fault, refusal
from transforms.sources.inputs_certificates import FORM

UNKNOWN = "use a district's 9-digit code or an area_id of candidates.csv; seats are not areas"
IMPOSSIBLE = "a part cannot exceed its whole: compare the row with the document, or leave it out"
_WHOLES = {
    "population": "inhabitants of {}, by the larger official figure",
    "electorate": "voters registered in {}",
    "collection": "stated for {} in collections.csv",
    "tax_revenue": "of the state's tax revenue",
}


def counted(certificates: pl.LazyFrame, scope: Scope) -> pl.DataFrame:
    """One per area and requirement: the newest dated by the day of the run."""
    return newest(certificates, pl.lit(scope.as_of)).collect()


def newest(certificates: pl.LazyFrame, as_of: pl.Expr) -> pl.LazyFrame:
    """Of the certificates dated by a day, the newest of each area and requirement."""
    dated = certificates.filter(pl.col("date") <= as_of)
    return dated.filter(pl.col("date") == pl.col("date").max().over("area_id", "requirement"))


def checked(
    certificates: pl.DataFrame,
    area_district: pl.DataFrame,
    municipality: pl.DataFrame,
    municipality_collection: pl.DataFrame,
    tax_revenue: Decimal | None,
) -> pl.DataFrame:
    """The certificates, if each speaks of an area and says what can be. Raises UsageError with every fault."""
    if certificates.is_empty():
        return certificates
    unknown = certificates.join(area_district, on="area_id", how="anti").select("line", "area_id")
    faults = [
        Fault(line, "area_id", f"certificate for an unknown area: {area!r}: {UNKNOWN}")
        for line, area in unknown.iter_rows()
    ]
    faults += _of_another_state(certificates, area_district)
    stated = municipality_collection.filter(pl.col("quality").is_in(list(EVIDENCE_OF)))
    wholes = municipality.select(
        "municipality_code",
        "municipality_name",
        "population_census",
        "population_estimate",
        pl.when(pl.col("electorate") > 0).then("electorate").alias("electorate"),
    ).join(stated.select("municipality_code", collection="value"), on="municipality_code", how="left", validate="1:1")
    single = certificates.select("area_id", "line", "requirement", "value")
    origins = area_district.select("area_id", "municipality_code").unique()
    faults += _too_large(single, origins, wholes, tax_revenue)
    if not faults:
        faults += _too_large(*_together(single, origins), wholes, tax_revenue)
    if faults:
        raise refusal(faults, FORM.file)
    return certificates


def _of_another_state(certificates: pl.DataFrame, area_district: pl.DataFrame) -> Iterator[Fault]:
    """Certificates whose body is of a state that the area does not lie in."""
    lies = dict(area_district.select("area_id", pl.col("municipality_code").str.head(2)).iter_rows())
    for line, area, body in certificates.select("line", "area_id", "body").iter_rows():
        if area in lies and (why := of_another_state(body, UF_OF_CODE[lies[area]])):
            yield Fault(line, "body", f"area {area}: {why}")


def _together(single: pl.DataFrame, origins: pl.DataFrame) -> tuple[pl.DataFrame, pl.DataFrame]:
    """What is certified of several districts of one município, added up: none of it counts twice."""
    districts = single.filter(pl.col("area_id").str.contains(DISTRICT_CODE))
    sums = (
        districts.join(origins, on="area_id")
        .group_by("municipality_code", "requirement")
        .agg(pl.col("area_id").sort().str.join(" + "), pl.col("line").max(), pl.col("value").sum(), pl.len())
        .filter(pl.col("len") > 1)
    )
    return sums.select(single.columns), sums.select("area_id", "municipality_code").unique()


def _too_large(
    claims: pl.DataFrame, origins: pl.DataFrame, wholes: pl.DataFrame, tax_revenue: Decimal | None
) -> Iterator[Fault]:
    """Claims (area_id, line, requirement, value) above what their municípios have together. Unknown is no limit."""
    limits = (
        origins.join(wholes, on="municipality_code", how="left", validate="m:1")
        .group_by("area_id")
        .agg(
            pl.col("municipality_name").sort().str.join(", ").alias("names"),
            pl.max_horizontal(total("population_census"), total("population_estimate")).alias("population"),
            total("electorate"),
            total("collection"),
        )
    )
    for row in claims.join(limits, on="area_id", validate="m:1").sort("line").iter_rows(named=True):
        name, value = row["requirement"], row["value"]
        whole, of = row.get(name), name
        if name == "collection" and whole is None:
            whole, of = tax_revenue, "tax_revenue"
        if whole is not None and value > whole:
            told, most = (f"R$ {each:.2f}" if name == "collection" else f"{each:.0f}" for each in (value, whole))
            what = _WHOLES[of].format(row["names"])
            reason = f"area {row['area_id']}: {name} certified is {told}, more than the {most} {what}: {IMPOSSIBLE}"
            yield Fault(row["line"], "value", reason)
