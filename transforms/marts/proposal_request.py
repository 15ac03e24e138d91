"""mart.proposal_request: what each competent body was asked for, by when it must answer, and when it did."""

from collections.abc import Sequence

import polars as pl

from transforms.columns import AREA, AREA_NAME, RULE_SET, UF
from transforms.core.proposal import PROPOSAL
from transforms.deadlines import working_day
from transforms.petition import DONE, DUE, OVERDUE, Petition, requests
from transforms.schema import Column, Kind, Table, Unit

CLOSED = "closed"
TABLE = Table(
    name="mart.proposal_request",
    title="Requisições de informações",
    grain="One row per proposal, rule set and request to a body (art. 2º, § 3º)",
    key=("rule_set", "proposal_id", "body", "requested_on"),
    order=("rule_set", "proposal_id", "requested_on", "body"),
    columns=(
        RULE_SET,
        PROPOSAL,
        AREA,
        AREA_NAME,
        UF,
        Column("body", Kind.TEXT, "Body that was asked.", "Órgão"),
        Column("requested_on", Kind.DATE, "Day it received the request: the term counts from it.", "Recebida em"),
        Column("document", Kind.TEXT, "The request.", "Requisição", nullable=True),
        Column("due_on", Kind.DATE, "Last day to answer, in calendar days.", "Prazo"),
        Column("working_day", Kind.DATE, "The deadline, or the next working day.", "Próximo dia útil"),
        Column("answered_on", Kind.DATE, "Day the first certificate came.", "Respondida em", nullable=True),
        Column("answer", Kind.TEXT, "That certificate.", "Certidão", nullable=True),
        Column("status", Kind.TEXT, "Answered, due, overdue; closed where the proposal ended before an answer.",
               "Situação", values=(DONE, DUE, OVERDUE, CLOSED)),
        Column("days_late", Kind.INTEGER, "Days after the deadline: of the answer, or so far.", "Dias de atraso",
               Unit.COUNT, minimum=0),
    ),
    may_be_empty=True,
)  # fmt: skip


def proposal_request(petitions: Sequence[Petition]) -> pl.DataFrame:
    """The requests of every petition, under the rule sets that set a term."""
    rows = []
    for petition in petitions:
        ended = petition.last("withdrawn") or petition.last("rejected")
        for each in requests(petition):
            until = each.answered_on or (ended["date"] if ended else petition.as_of)
            rows.append(
                petition.identity
                | {name: getattr(each, name) for name in each.__slots__}
                | {
                    "working_day": working_day(each.due_on),
                    "status": CLOSED if ended and not each.answered_on else each.status(petition.as_of),
                    "days_late": max(0, (until - each.due_on).days),
                }
            )
    return TABLE.frame(rows)
