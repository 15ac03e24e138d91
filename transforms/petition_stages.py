"""What each stage of the law comes to for a petition under a rule set: its status, why, and what to do next.

A stage is judged by what the register and the screen say, never by what usually happens. Where the facts have
overtaken it (a plebiscite ordered before every certificate came), it is done and the reason says so. Reasons and next
steps are sentences joined by "; ", each of which has its Portuguese in warehouse/export/portuguese.py.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date
from fractions import Fraction
from math import ceil
from typing import Any

from transforms.deadlines import inauguration, municipal_election_after
from transforms.petition import DONE, DUE, OVERDUE, Petition, decisions, requests
from transforms.rules.procedure import fusion_exempt, in_federal_territory, window

BLOCKED, NOT_APPLICABLE = "blocked", "not_applicable"
SETTLED = (DONE, NOT_APPLICABLE)
SILENT = "the rule set says nothing of it"


@dataclass(frozen=True, slots=True)
class Standing:
    """One stage: see the columns of mart.proposal_stage."""

    status: str
    reason: str
    next_step: str | None = None
    done_on: date | None = None
    opens_on: date | None = None
    due_on: date | None = None
    waits_for: str | None = None


Before = Mapping[str, Standing]


def standings(petition: Petition) -> dict[str, Standing]:
    """Every stage of the petition."""
    found: dict[str, Standing] = {}
    for stage, judge in JUDGES.items():
        found[stage] = judge(petition, found)
    ended = petition.last("withdrawn") or petition.last("rejected")
    if ended is None:
        return found
    over = Standing(NOT_APPLICABLE, f"{ended['event']} on {ended['date']}")
    return {stage: each if each.status in SETTLED else over for stage, each in found.items()}


def current(found: Before, order: Sequence[str]) -> str | None:
    """Where the proposal stands: what is overdue, else due, else the first thing that blocks it by itself."""
    by_urgency = (
        [stage for stage in order if found[stage].status == OVERDUE],
        [stage for stage in order if found[stage].status == DUE],
        [stage for stage in order if found[stage].status == BLOCKED and not found[stage].waits_for],
    )
    return next((stages[0] for stages in by_urgency if stages), None)


def _waiting(before: Before, *stages: str) -> Standing | None:
    """Blocked by the first of those stages that is not settled; None where all are."""
    wait = next((stage for stage in stages if before[stage].status not in SETTLED), None)
    return Standing(BLOCKED, f"waits for: {wait}", waits_for=wait) if wait else None


# The stages, each in a function of the petition and of the stages before it.


def representation(petition: Petition, _before: Before) -> Standing:
    """Art. 1º: enough signatures, with recognised firms where the rule set wants them, of voters of the area."""
    rule, received = petition.rule("representation"), petition.of("representation_received")[0]
    if not rule:
        return Standing(NOT_APPLICABLE, SILENT)
    kind = "recognised" if rule.get("notarised") else "claimed"
    if received[kind] is None:
        return Standing(DUE, f"not told: {kind}", "enter the number of signatures")
    signed = min(count for count in (received[kind], received["residents"]) if count is not None)
    least, most = _signatures_needed(petition, rule)
    if most is not None and signed >= most:
        return Standing(DONE, f"{signed} valid signatures, {most} needed", done_on=received["date"])
    if signed < least:
        return Standing(BLOCKED, f"{signed} valid signatures, {least} needed", f"{least - signed} more signatures")
    told = f"{signed} valid signatures, a share of the voters is needed; the electorate is not known for sure"
    return Standing(DUE, told, "certify the electorate of the area")


def _signatures_needed(petition: Petition, rule: Mapping[str, Any]) -> tuple[int, int | None]:
    """The fewest signatures that may do, and how many surely do (None where the electorate has no upper bound)."""
    fixed, share = rule.get("signatures", 1), rule.get("share_of_voters")
    if petition.kind == "fusion":
        share = petition.rule("fusion").get("share_of_voters", share)
    if share is None:
        return fixed, fixed
    low, high = petition.screened.electorate
    most = None if high is None else max(fixed, ceil(Fraction(share) * high))
    return max(fixed, ceil(Fraction(share) * (low or 0))), most


def territory(petition: Petition, _before: Before) -> Standing:
    """Art. 7º: federal territories are exempt."""
    if not petition.rule("exemptions").get("federal_territories"):
        return Standing(NOT_APPLICABLE, SILENT)
    if in_federal_territory(petition.rule_set, petition.uf, petition.as_of):
        return Standing(DONE, "a federal territory: exempt from the requirements")
    return Standing(NOT_APPLICABLE, "not a federal territory")


def information(petition: Petition, before: Before) -> Standing:
    """Art. 2º, § 3º: every competent body is asked, and answers within the term."""
    if not petition.rule("information"):
        return Standing(NOT_APPLICABLE, SILENT)
    if petition.is_exempt:
        return Standing(NOT_APPLICABLE, "exempt from the requirements")
    asked = requests(petition)
    unasked = [body for body in petition.bodies if body not in {each.body for each in asked}]
    if not asked and (waits := _waiting(before, "representation")):
        return waits
    told = [each.words(petition.as_of) for each in asked] + [f"{body}: not asked" for body in unasked]
    reason, ask = "; ".join(told), "; ".join(f"request from {body}" for body in unasked)
    open_ = [each for each in asked if not each.answered_on]
    if open_:
        first = min(open_, key=lambda each: each.due_on)
        claim = "; ".join(f"press {each.body}" for each in open_ if each.status(petition.as_of) == OVERDUE)
        steps = "; ".join(filter(None, (claim, ask))) or "await the answers"
        return Standing(first.status(petition.as_of), reason, steps, due_on=first.due_on)
    if unasked:
        return Standing(DUE, reason, ask)
    return Standing(DONE, reason, done_on=max(each.answered_on for each in asked if each.answered_on))


def requirements(petition: Petition, before: Before) -> Standing:
    """Art. 2º: what the screen says as of the date, and whether the bodies have answered."""
    if petition.is_exempt:
        return Standing(NOT_APPLICABLE, "exempt from the requirements")
    screened, law, ordered = petition.screened, petition.last("law"), petition.last("plebiscite_ordered")
    answered = {each["competent_body"]: each["date"] for each in petition.of("certificate_received")}
    missing = [body for body in petition.bodies if body not in answered]
    told = "; ".join([f"screen as of {petition.as_of}: {screened.status}", *(f"{b}: no certificate" for b in missing)])
    if screened.status == "ineligible" and not law:
        failed = "; ".join(f"not met: {name}" for name in screened.not_met)
        return Standing(BLOCKED, f"{told}; {failed}", "reject it, redraw the area, or certify other figures")
    if overtaken := ordered or law:
        return Standing(
            DONE, f"{overtaken['event'].replace('_', ' ')} on {overtaken['date']}; {told}", done_on=overtaken["date"]
        )
    if waits := _waiting(before, "representation", "information"):
        return Standing(BLOCKED, f"{told}; {waits.reason}", waits_for=waits.waits_for)
    if screened.status == "eligible" and not missing:
        return Standing(DONE, told, done_on=max(answered.values(), default=None))
    open_ = [f"undetermined: {name}" for name in screened.undetermined]
    ask = "; ".join(f"request from {body}" for body in missing)
    return Standing(DUE, "; ".join([told, *open_]), ask or "enter the certified figures in certificates.csv")


def plebiscite(petition: Petition, before: Before) -> Standing:
    """Art. 3º: ordered by the assembly, and held."""
    rule, ordered, held = petition.rule("plebiscite"), petition.last("plebiscite_ordered"), petition.round
    if not rule:
        return Standing(NOT_APPLICABLE, SILENT)
    if ordered is None:
        order = Standing(DUE, "not ordered", "order the plebiscite")
        return _waiting(before, "representation", "information", "requirements") or order
    if held and not petition.unheard:
        return Standing(DONE, f"held on {held[-1]['date']}", done_on=held[-1]["date"])
    years = rule.get("residence_years")
    who = f" (voters resident for more than {years} year{'s' * (years > 1)}, ballot Sim or Não)" if years else ""
    told = [f"ordered on {ordered['date']}", *(f"no result of {name}" for name in petition.unheard)]
    return Standing(DUE, "; ".join(told), f"hold the plebiscite{who}")


def majority(petition: Petition, before: Before) -> Standing:
    """Art. 5º: in favour, by the rule set's quorum, in every area voted."""
    if not petition.rule("plebiscite"):
        return Standing(NOT_APPLICABLE, SILENT)
    found = decisions(petition, petition.round)
    names = petition.municipalities
    told = []
    for held, decision in found:
        place = f"{names.get(held['area_voted'], held['area_voted'])}: " if len(found) > 1 else ""
        told += [f"{place}{part}" for part in decision.reason.split("; ")]
    reason = "; ".join(told)
    if any(decision.passes is False for _, decision in found):
        return Standing(BLOCKED, reason, "no law can be made: reject it, or order another plebiscite")
    if waits := _waiting(before, "plebiscite"):
        return waits
    if any(decision.passes is None for _, decision in found):
        return Standing(DUE, reason, "enter the count of the plebiscite")
    return Standing(DONE, reason, done_on=max(held["date"] for held, _ in found))


def fusion(petition: Petition, before: Before) -> Standing:
    """Art. 4º: a fusion is spared the requirements; every município votes on it, and on the seat."""
    if petition.kind != "fusion":
        return Standing(NOT_APPLICABLE, "not a fusion")
    if not fusion_exempt(petition.rule_set):
        return Standing(NOT_APPLICABLE, SILENT)
    told = "requirements waived; the plebiscite asks about the fusion and the seat"
    if waits := _waiting(before, "plebiscite"):
        return Standing(BLOCKED, f"{told}; {waits.reason}", waits_for=waits.waits_for)
    return Standing(DONE, told, done_on=before["plebiscite"].done_on)


def calendar(petition: Petition, before: Before) -> Standing:
    """Art. 6º: the law is made while the window is open."""
    law, bill = petition.last("law"), petition.last("bill")
    if law:
        outside = window(petition.rule_set, law["date"]).is_open is False
        told = f"law of {law['date']}"
        return (
            Standing(BLOCKED, f"{told}; outside the window") if outside else Standing(DONE, told, done_on=law["date"])
        )
    now = window(petition.rule_set, petition.as_of)
    found = _waiting(before, "representation", "information", "requirements", "plebiscite", "majority")
    if found is None and now.is_open is False:
        found = Standing(BLOCKED, f"closed until {now.opens}", f"wait until {now.opens}")
    if found is None:
        reason = f"open until {now.closes}" if now.is_open else "another law fixes the period"
        reason += f"; bill of {bill['date']}" if bill else ""
        found = Standing(DUE, reason, "pass the law" if bill else "present the bill")
    return replace(found, opens_on=now.opens, due_on=now.closes)


def limits(petition: Petition, before: Before) -> Standing:
    """Art. 8º: the law draws the limits."""
    law = petition.last("law")
    if not petition.rule("limits"):
        return Standing(NOT_APPLICABLE, SILENT)
    if law is None:
        can_be_made = before["calendar"].status in (*SETTLED, DUE)
        drawn = Standing(DUE, "no law yet", "draw the limits in the bill")
        return drawn if can_be_made else _waiting(before, "majority", "calendar") or drawn
    if law["has_limits"] is None:
        return Standing(DUE, "not told whether the law draws the limits", "enter limits=yes or limits=no")
    if law["has_limits"]:
        return Standing(DONE, f"drawn by the law of {law['date']}", done_on=law["date"])
    return Standing(BLOCKED, f"not drawn by the law of {law['date']}", "draw the limits in a law")


def installation(petition: Petition, before: Before) -> Standing:
    """Art. 5º, § 1º: with the mayor and council elected in the next municipal election."""
    law, election, installed = (petition.last(name) for name in ("law", "election", "installation"))
    if installed:
        return Standing(DONE, f"installed on {installed['date']}", done_on=installed["date"])
    if law is None:
        return _waiting(before, "majority", "calendar") or Standing(DUE, "no law yet", "pass the law")
    if election is None:
        due = municipal_election_after(law["date"])
        return _by(petition, due, f"municipal election on {due}", "elect mayor and council with the others")
    if municipal_election_after(date(election["date"].year, 1, 1)).year != election["date"].year:
        told = f"the election of {election['date']} was no municipal election"
        return Standing(BLOCKED, told, "elect mayor and council with the others")
    due = inauguration(election["date"])
    return _by(petition, due, f"elected on {election['date']}", "install the município")


def _by(petition: Petition, due: date, reason: str, step: str) -> Standing:
    return Standing(OVERDUE if petition.as_of > due else DUE, reason, step, due_on=due)


# In the order of what each leans on.
JUDGES: Mapping[str, Callable[[Petition, Before], Standing]] = {
    judge.__name__: judge
    for judge in (
        territory, representation, information, requirements, plebiscite, fusion, majority, calendar, limits,
        installation,
    )
}  # fmt: skip
