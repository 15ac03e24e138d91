"""mart.proposal_stage: where each petition stands under each rule set, from art. 1º to art. 8º, and what is due.

Statuses: done · due (the next thing to do, in time) · overdue (its day has passed) · blocked (a condition of the law
is not met, or `waits_for` is not done) · not_applicable. A petition that was withdrawn or rejected waits for nothing.
"""

from transforms.columns import AREA, AREA_NAME, RULE_SET, UF
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
STATUSES = ("done", "due", "overdue", "blocked", "not_applicable")


def _day(name: str, description: str, label: str) -> Column:
    return Column(name, Kind.DATE, description, label, nullable=True)


TABLE = Table(
    name="mart.proposal_stage",
    title="Andamento das propostas por etapa",
    grain="one row per proposal, rule set and stage, in the order of the law's articles",
    key=("rule_set", "proposal_id", "stage"),
    order=("rule_set", "proposal_id", "stage_number", "stage"),
    columns=(
        RULE_SET,
        Column("proposal_id", Kind.TEXT, "Id of the proposal.", "Proposta"),
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
        _day("working_day", "The deadline, or the next working day (weekends and national holidays are none).",
             "Próximo dia útil"),
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
