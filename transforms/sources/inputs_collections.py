"""`collections.csv`: the state treasury's file of what was collected in districts and municípios, and its contract.

R$ of the year, nominal. An empty value is "no data", never zero; negatives are refunds. A figure after transfers to
the municípios is another measure and is refused, for it would understate what the law compares. A total beside its
parts must be their sum. Whether places exist, and sums against the state, are judged in core.
"""

from collections import defaultdict
from collections.abc import Iterator, Sequence
from decimal import Decimal

from transforms.bodies import incompetent, of_another_state
from transforms.codes import BY_UF
from transforms.columns import DISTRICT, DISTRICT_NAME, MUNICIPALITY, UF
from transforms.schema import Column, Kind, Table, Unit
from transforms.sources.inputs import LINE, Fault, Form, Row, source

TAXES = ("ICMS", "IPVA", "ITCMD", "IRRF", "OUTROS_IMPOSTOS", "IPTU", "ISS", "ITBI")
TOTAL = "TOTAL_IMPOSTOS"
QUALITIES = ("certificado", "declarado", "estimado")  # from the strongest to the weakest
# Whose a tax is (CF arts. 155 and 156); the Distrito Federal levies both (art. 147).
WHOSE = {"ICMS": "estadual", "IPVA": "estadual", "ITCMD": "estadual", "IPTU": "municipal", "ISS": "municipal",
         "ITBI": "municipal"}  # fmt: skip
GROSS, AFTER_TRANSFERS = "bruta_liquida_restituicoes", "liquida_repasses"
BASES = ("estabelecimento", "domicilio", "licenciamento", "situacao_imovel", "nao_informada")
_CENT = Decimal("0.01")


def _text(name: str, description: str, label: str, heading: str, kind: Kind = Kind.TEXT) -> Column:
    return Column(name, kind, description, label, nullable=True, source=heading)


COLLECTIONS = Table(
    name="staging.inputs_collections__collection",
    title="Arrecadação informada pelo órgão fazendário",
    grain="One row per year, place, collecting sphere and tax.",
    key=("fiscal_year", "place_code", "sphere", "tax"),
    columns=(
        UF.but(values=tuple(sorted(BY_UF)), pattern=None, source="uf"),
        Column("fiscal_year", Kind.INTEGER, "Fiscal year.", "Exercício", Unit.COUNT, minimum=1990, maximum=2100,
               source="exercicio"),
        Column("place_code", Kind.CODE, "Code of the place at its level: district 9, município 7, state 2 digits.",
               "Código do lugar", pattern=r"^\d{2}(\d{5}(\d\d)?)?$"),
        MUNICIPALITY.but(source="cod_municipio", nullable=True),
        DISTRICT.but(source="cod_distrito", nullable=True),
        DISTRICT_NAME.but(source="nome_distrito", nullable=True),
        Column("level", Kind.TEXT, "Whether the row is of a district, a município or the state.", "Nível",
               values=("distrito", "municipio", "estado"), source="nivel"),
        Column("sphere", Kind.TEXT, "Who collects: the state or the município.", "Esfera arrecadadora",
               values=("estadual", "municipal"), source="esfera_arrecadadora"),
        Column("tax", Kind.TEXT, "Tax, or the total of all.", "Tributo", values=(*TAXES, TOTAL), source="tributo"),
        Column("value", Kind.MONEY, "R$ collected; null is no data.", "Valor", Unit.BRL, nullable=True,
               source="valor"),
        Column("regime", Kind.TEXT, "Gross but for refunds, the only regime that is judged.", "Regime",
               values=(GROSS, AFTER_TRANSFERS), source="regime"),
        Column("territorial_basis", Kind.TEXT, "What places a payment.", "Base territorial", values=BASES,
               source="base_territorial"),
        Column("quality", Kind.TEXT, "Certified, declared or estimated.", "Qualidade",
               values=QUALITIES, source="qualidade"),
        _text("document", "Number or name of the document.", "Documento", "documento"),
        _text("body", "Body that says so.", "Órgão", "orgao"),
        _text("document_date", "Date of the document.", "Data do documento", "data_documento", Kind.DATE),
        _text("extracted_on", "Day the figures were taken.", "Data da extração", "data_extracao", Kind.DATE),
        _text("method", "Method of an estimate.", "Método", "metodo"),
        _text("note", "Note.", "Observação", "observacao"),
        LINE,
    ),
    may_be_empty=True,
)  # fmt: skip


def _faults(row: Row) -> Iterator[tuple[str, str]]:
    municipality, district, level = row["municipality_code"], row["district_code"], row["level"]
    if (municipality is None) != (level == "estado"):
        yield "cod_municipio", f"a row of level {level} {'has none' if municipality else 'needs one'}"
    if (district is None) != (level != "distrito"):
        yield "cod_distrito", f"a row of level {level} {'has none' if district else 'needs one'}"
    if municipality and municipality[:2] != BY_UF[row["uf"]].code:
        yield "cod_municipio", f"{municipality} is not in {row['uf']}"
    if municipality and district and district[:7] != municipality:
        yield "cod_distrito", f"{district} is no district of {municipality}"
    if row["uf"] != "DF" and (whose := WHOSE.get(row["tax"], row["sphere"])) != row["sphere"]:
        yield "esfera_arrecadadora", f"{row['tax']} is a tax of esfera {whose}, not {row['sphere']}: correct either"
    if row["regime"] == AFTER_TRANSFERS:
        yield "regime", f"figures after transfers to the municípios are not judged: hand in {GROSS}"
    if row["quality"] == "certificado":
        for name in ("document", "body", "document_date", "extracted_on"):
            if row[name] is None:
                yield str(COLLECTIONS[name].source), "empty: what is certified needs it"
        body = row["body"] if row["sphere"] == "estadual" else None
        if body and (why := incompetent(body, "collection") or of_another_state(body, row["uf"])):
            yield "orgao", why
    if row["quality"] == "estimado" and row["method"] is None:
        yield "metodo", "empty: an estimate needs its method"


def _totals(rows: Sequence[Row]) -> Iterator[Fault]:
    """Totals that stand beside their parts and are not their sum, to a cent a part. Unknown parts are not zero."""
    parts, totals = defaultdict[tuple[object, ...], list[Row]](list), dict[tuple[object, ...], Row]()
    for row in rows:
        key = tuple(row[name] for name in ("fiscal_year", "place_code", "sphere"))
        if row["tax"] == TOTAL:
            totals[key] = row
        else:
            parts[key].append(row)
    for key, total in totals.items():
        values = [part["value"] for part in parts[key]]
        if values and None not in values and total["value"] is not None:
            known = sum(values, Decimal(0))
            if abs(total["value"] - known) > _CENT * len(values):
                yield Fault(total["line"], "valor", f"the total is {total['value']}, its parts add up to {known}")


FORM = Form(
    "collections.csv",
    COLLECTIONS,
    version=4,
    rule=_faults,
    whole=_totals,
    defaults={"regime": GROSS, "territorial_basis": "nao_informada"},
    derived={"place_code": lambda row: row["district_code"] or row["municipality_code"] or BY_UF[row["uf"]].code},
)
SOURCE = source(
    FORM,
    name="inputs_collections",
    title="Arrecadação informada pelo órgão fazendário (collections.csv)",
    cadence="yearly, after the fiscal year closes",
    stale_after=400,
)
