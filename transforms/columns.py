"""Columns that several tables share, declared once so that equal names mean equal things."""

from collections.abc import Sequence

import polars as pl

from transforms.codes import DISTRICT_CODE, MUNICIPALITY_CODE, UF_CODE
from transforms.schema import Column, Kind, Unit

UF = Column("uf", Kind.TEXT, "Abbreviation of the state.", "UF", pattern=r"^[A-Z]{2}$")
STATE_CODE = Column("state_code", Kind.CODE, "IBGE code of the state, 2 digits.", "Código da UF", pattern=UF_CODE)
MUNICIPALITY = Column(
    "municipality_code",
    Kind.CODE,
    "IBGE code of the município, 7 digits with check digit.",
    "Código do município",
    pattern=MUNICIPALITY_CODE,
)
MUNICIPALITY_NAME = Column("municipality_name", Kind.TEXT, "Name of the município, as IBGE writes it.", "Município")
DISTRICT = Column(
    "district_code",
    Kind.CODE,
    "IBGE code of the district, 9 digits: the município's 7 and 2 more (05 is the seat).",
    "Código do distrito",
    pattern=DISTRICT_CODE,
)
DISTRICT_NAME = Column("district_name", Kind.TEXT, "Name of the district, as IBGE writes it.", "Distrito")
MARKER = Column(
    "marker",
    Kind.TEXT,
    "What the source wrote instead of a number: X suppressed, .. not applicable, ... not available, . no data.",
    "Marca de ausência",
    nullable=True,
)

EVIDENCE_LEVELS = ("certified", "official", "derived", "simulated", "missing")  # from the strongest to the weakest
MEASURES = ("population_census", "population_estimate", "electorate", "urban_houses", "collection_brl")
# What a requirement may be about, and the measures of it; of several, the first is the one to show.
MEASURES_OF = {
    "population": ("population_estimate", "population_census"),
    "electorate": ("electorate",),
    "urban_houses": ("urban_houses",),
    "collection": ("collection_brl",),
}
ENDS = ("low", "value", "high")

AREA = Column("area_id", Kind.TEXT, "The area: a district's 9-digit code, or the id given in candidates.csv.", "Área")
AREA_NAME = Column("area_name", Kind.TEXT, "Name of the area.", "Nome da área")
AREA_KIND = Column(
    "kind",
    Kind.TEXT,
    "District, group of districts, or fusion of whole municípios.",
    "Tipo",
    values=("district", "group", "fusion"),
)
RULE_SET = Column("rule_set", Kind.TEXT, "Id of the rule set applied.", "Regra")
MEASURE = Column("measure", Kind.TEXT, "What is measured.", "Medida", values=MEASURES)
LOW = Column("low", Kind.EXACT, "The least the figure can be, given the data.", "Mínimo", Unit.VARIES, nullable=True)
VALUE = Column("value", Kind.EXACT, "The figure itself, or its best estimate.", "Valor", Unit.VARIES, nullable=True)
HIGH = Column("high", Kind.EXACT, "The most the figure can be, given the data.", "Máximo", Unit.VARIES, nullable=True)
UNIT = Column(
    "unit", Kind.TEXT, "Unit of the figures of the row.", "Unidade", values=("persons", "voters", "houses", "BRL")
)
EVIDENCE = Column(
    "evidence",
    Kind.TEXT,
    "How the figure is known: certified by the competent body, official for this very area, derived by a stated "
    "method, simulated (bundled sample), or missing.",
    "Evidência",
    values=EVIDENCE_LEVELS,
)
METHOD = Column("method", Kind.TEXT, "How the figure was obtained.", "Método")
SOURCE = Column("source", Kind.TEXT, "Where the figure comes from; several are joined by |.", "Fonte")
REFERENCE_PERIOD = Column(
    "reference_period", Kind.TEXT, "The date or year the figure speaks of.", "Referência", nullable=True
)

# Of a check: what it is, and what it looks at.
CHECKED = (
    Column("check_name", Kind.TEXT, "Name of the check.", "Verificação"),
    Column("table_name", Kind.TEXT, "Table checked; empty where several are.", "Tabela"),
    Column("column_name", Kind.TEXT, "Column checked; empty where the whole table is.", "Coluna"),
)
FAILING_ROWS = Column("failing_rows", Kind.INTEGER, "Rows that fail.", "Linhas com falha", Unit.COUNT, minimum=0)


def weakest(grade: pl.Expr, grades: Sequence[str] = EVIDENCE_LEVELS) -> pl.Expr:
    """The weakest of a group of rows; `grades` go from the strongest to the weakest."""
    return grade.cast(pl.Enum(grades)).max().cast(pl.String)
