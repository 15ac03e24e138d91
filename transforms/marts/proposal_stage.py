"""mart.proposal_stage: where each petition stands under each rule set, from art. 1º to art. 8º, and what is due.

Statuses: done · due (the next thing to do, in time) · overdue (its day has passed) · blocked (a condition of the law
is not met, or `waits_for` is not done) · not_applicable. A petition that was withdrawn or rejected waits for nothing.
"""

from collections.abc import Sequence

import polars as pl

from transforms.columns import AREA, AREA_NAME, RULE_SET, UF
from transforms.core.proposal import PROPOSAL
from transforms.deadlines import working_day
from transforms.petition import DONE, DUE, OVERDUE, Petition
from transforms.petition_stages import BLOCKED, NOT_APPLICABLE, current, standings
from transforms.schema import Column, Kind, Table, Unit

STAGES = (
    "representation",
    "requirements",
    "information",
    "plebiscite",
    "fusion",
    "majority",
    "installation",
    "calendar",
    "territory",
    "limits",
)
STATUSES = (DONE, DUE, OVERDUE, BLOCKED, NOT_APPLICABLE)


def _day(name: str, description: str, label: str) -> Column:
    return Column(name, Kind.DATE, description, label, nullable=True)


TABLE = Table(
    name="mart.proposal_stage",
    title="Andamento das propostas por etapa",
    grain="One row per proposal, rule set and stage, in the order of the law's articles",
    key=("rule_set", "proposal_id", "stage"),
    order=("rule_set", "proposal_id", "stage_number", "stage"),
    columns=(
        RULE_SET,
        PROPOSAL,
        AREA,
        AREA_NAME,
        UF,
        Column("stage_number", Kind.INTEGER, "Place of the stage in the law, from 1.", "Etapa nº", Unit.COUNT,
               minimum=1, maximum=len(STAGES)),
        Column("stage", Kind.TEXT, "Stage of the process.", "Etapa", values=STAGES),
        Column("article", Kind.TEXT, "Article that asks for it.", "Artigo", nullable=True),
        Column("status", Kind.TEXT, "Done, due, overdue, blocked, or not applicable.", "Situação", values=STATUSES),
        Column("is_current", Kind.BOOLEAN, "Whether the proposal stands here: one stage at most.", "Etapa atual"),
        _day("done_on", "Day it was done.", "Cumprida em"),
        _day("opens_on", "First day on which it may be done, where the law sets one.", "A partir de"),
        _day("due_on", "Last day to do it, in calendar days, where the law sets one.", "Prazo"),
        _day("working_day", "Of a term counted in days: the deadline, or the next working day (weekends and national "
             "holidays are none).", "Próximo dia útil"),
        Column("days_left", Kind.INTEGER, "Calendar days from the date of the run to the deadline; negative once it "
               "has passed; empty once the stage is done.", "Dias restantes", Unit.COUNT, nullable=True),
        Column("waits_for", Kind.TEXT, "Stage that must be done first, where that is what blocks it.", "Aguarda",
               values=STAGES, nullable=True),
        Column("reason", Kind.TEXT, "Why it has this status.", "Motivo"),
        Column("next_step", Kind.TEXT, "What to do next.", "Próximo passo", nullable=True),
        Column("is_simulated", Kind.BOOLEAN, "Whether it is the bundled sample's.", "Simulado"),
    ),
    may_be_empty=True,
)  # fmt: skip


def proposal_stage(petitions: Sequence[Petition], *, simulated: bool) -> pl.DataFrame:
    """The stages of every petition, each under its rule set."""
    rows = []
    for petition in petitions:
        found = standings(petition)
        here = current(found, STAGES)
        for number, stage in enumerate(STAGES, 1):
            standing = found[stage]
            due = standing.due_on if standing.status != DONE else None
            rows.append(
                petition.identity
                | {name: getattr(standing, name) for name in standing.__slots__}
                | {
                    "stage_number": number,
                    "stage": stage,
                    "article": article(petition, stage),
                    "is_current": stage == here,
                    "due_on": due,
                    "working_day": working_day(due) if due and stage == "information" else None,
                    "days_left": (due - petition.as_of).days if due else None,
                    "is_simulated": simulated,
                }
            )
    return TABLE.frame(rows)


# The table of a rule set, and its key, that names the article of a stage; the first that is there.
ARTICLES = {
    "representation": (("representation", "article"),),
    "information": (("information", "article"),),
    "plebiscite": (("plebiscite", "held_under"), ("plebiscite", "article")),
    "fusion": (("fusion", "article"),),
    "majority": (("plebiscite", "decided_under"), ("plebiscite", "article")),
    "installation": (("installation", "article"),),
    "calendar": (("calendar", "article"),),
    "territory": (("exemptions", "article"),),
    "limits": (("limits", "article"),),
}
OTHERWISE = {"installation": "CF, art. 29, I"}  # all mayors of the country are elected together


def article(petition: Petition, stage: str) -> str | None:
    """The article that a stage rests on; the requirements' is what their articles begin with."""
    if stage == "requirements":
        heads = (requirement.article.split(",")[0] for requirement in petition.rule_set.requirements)
        return ", ".join(dict.fromkeys(heads))
    named = (petition.rule(table).get(key) for table, key in ARTICLES[stage])
    return next(filter(None, named), OTHERWISE.get(stage))
