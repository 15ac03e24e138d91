"""`certificates.csv`: figures that the competent body certified for an area (LC 1/1967 art. 2º § 2º).

A certificate overrides every other source for its area and requirement, so each names its document and date, and
its body is the competent one. A renewed certificate is a row of its own: the newest counts (core/certificate.py).
"""

from collections.abc import Iterator

from transforms.bodies import incompetent
from transforms.columns import AREA, MEASURES_OF
from transforms.schema import Column, Kind, Table, Unit
from transforms.sources.inputs import LINE, Form, Row, source

CERTIFICATES = Table(
    name="staging.inputs_certificates__certificate",
    title="Certidões dos órgãos competentes",
    grain="One certificate of an area and requirement; of several, the newest counts.",
    key=("area_id", "requirement", "date"),
    columns=(
        AREA,
        Column("requirement", Kind.TEXT, "Requirement that the figure is for.", "Requisito", values=tuple(MEASURES_OF)),
        Column("value", Kind.EXACT, "Figure certified: people, voters, houses, or R$.", "Valor", Unit.VARIES,
               minimum=0),
        Column("body", Kind.TEXT, "Body that certifies: IBGE, TRE, state treasury.", "Órgão"),
        Column("document", Kind.TEXT, "Number or name of the document.", "Documento"),
        Column("date", Kind.DATE, "Date of the document.", "Data"),
        Column("note", Kind.TEXT, "Note.", "Observação", nullable=True),
        LINE,
    ),
    may_be_empty=True,
)  # fmt: skip


def _faults(row: Row) -> Iterator[tuple[str, str]]:
    places = 2 if row["requirement"] == "collection" else 0
    if row["value"] != round(row["value"], places):
        unit = "R$ with two decimals" if places else "a whole number"
        yield "value", f"{row['value']} is not {unit}, as {row['requirement']} is"
    if why := incompetent(row["body"], row["requirement"]):
        yield "body", why


FORM = Form("certificates.csv", CERTIFICATES, rule=_faults, version=2)
SOURCE = source(
    FORM,
    name="inputs_certificates",
    title="Certidões dos órgãos competentes (certificates.csv)",
    cadence="whenever a certificate is received",
    stale_after=3650,
)
