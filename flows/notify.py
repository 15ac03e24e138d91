"""One message when somebody must look: a failure, a source gone stale, an area whose status changed.

    EMANCIPA_NOTIFY_URL=https://example.org/hook            JSON: title, text, causes
    EMANCIPA_NOTIFY_URL=slack+https://example.org/hook      {"text": …}, as Slack, Mattermost and Rocket.Chat take it
    EMANCIPA_NOTIFY_URL=smtp://user:password@host:587?from=a@example.org&to=b@example.org,c@example.org
    nothing                                                 the log, on standard error

A cause is told once in a data folder, whichever run meets it, of a state or of the country. `data/notified.jsonl`
holds what was told and what has passed since: a source that is down for ten nights makes one message, and one more if
it comes back and goes down again. A message that cannot be delivered is not recorded, so the next run tells it; it
never fails a run.
"""

import smtplib
import ssl
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from email.message import EmailMessage
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import parse_qs, unquote, urlsplit

import polars as pl

from flows.settings import Settings
from flows.terminal import say
from transforms.catalog import sources
from transforms.errors import EmancipaError, Locked, UsageError
from warehouse.ledger import Ledger

if TYPE_CHECKING:
    from flows.run import Outcome, Run

LEDGER = "notified.jsonl"
SECONDS = 20  # a hook that hangs must not hold up the night
SLACK_HOSTS = ("hooks.slack.com",)
SHOWN = 20  # causes spelt out in one message


@dataclass(frozen=True, slots=True)
class Cause:
    """Why somebody should look. `topic/key` is what makes it the same cause tomorrow, and to a run of another scope:
    keep what varies out of it. `value` is what came of it: another one is news.
    """

    topic: str  # failure/ES, stale/ES, deadline/ES: of a state, whatever run sees it; status
    key: str
    text: str
    value: str = ""


@dataclass(frozen=True, slots=True)
class Told:
    """A line of the ledger: a cause that was told, or one that has passed."""

    at: datetime
    topic: str
    key: str
    event: str  # told, passed
    text: str = ""
    value: str = ""


def notify(settings: Settings, causes: Sequence[Cause], *, topics: Sequence[str] = (), now: datetime) -> list[Cause]:
    """Tell the causes that were not told yet, in one message; returns them, or nothing if it could not be delivered.

    `topics` are those this call knows all about: what was told of them and is no longer among `causes` has passed.
    """
    ledger = Ledger(settings.data / LEDGER)
    standing = _standing(ledger)
    present = {(cause.topic, cause.key): cause for cause in causes}
    for topic, key in standing.keys() - present.keys():
        if topic in topics:
            _note(ledger, Told(now, topic, key, "passed"))
    new = [cause for name, cause in present.items() if standing.get(name) != cause.value]
    if not new:
        return []
    try:
        texts = list(dict.fromkeys(cause.text for cause in new))
        _deliver(settings.notify_url, title(texts), texts)
    except Exception as error:  # noqa: BLE001 whatever a hook or a mail server does, the run goes on
        say(f"notify: not delivered, told again next time: {type(error).__name__}: {error}")
        return []
    for cause in new:
        _note(ledger, Told(now, cause.topic, cause.key, "told", cause.text, cause.value))
    return new


def _note(ledger: Ledger, told: Told) -> None:
    """What cannot be noted (a full disk, a folder that is read only) is told again next time, and hides no error."""
    try:
        ledger.append(told)
    except OSError as error:
        say(f"notify: not noted, told again next time: {error}")


def _standing(ledger: Ledger) -> dict[tuple[str, str], str]:
    """Causes told that have not passed, with what came of them."""
    try:
        events = {(row["topic"], row["key"]): row for row in ledger.unread()}
    except OSError:  # a data folder that cannot be read: the run has said so
        return {}
    return {name: row.get("value", "") for name, row in events.items() if row["event"] == "told"}


def title(texts: Sequence[str]) -> str:
    """The first line of a message."""
    first = texts[0].splitlines()[0]
    return f"emancipa: {first}" if len(texts) == 1 else f"emancipa: {first} (and {len(texts) - 1} more)"


def attended(
    this: "Run", work: Callable[["Run"], "Outcome"], *, states: Sequence[str] = (), said: bool = False
) -> "Outcome":
    """Do the work of a run, and tell what came of it if somebody must look. A held lock or Ctrl-C is no failure, and
    of a process that is made to end whoever made it tells.

    `states`: of a national run, each of which may fail alone. `said`: whoever called says a failure on standard error,
    where the log would only say it again.
    """
    uf, settings, now = this.scope.uf, this.settings, this.now
    failures_too = bool(settings.notify_url) or not said
    try:
        outcome = work(this)
    except (Locked, KeyboardInterrupt, SystemExit):
        raise
    except BaseException as error:
        if failures_too:
            notify(settings, [failure(uf, error)], topics=[f"failure/{uf}"], now=now)
        raise
    from flows.proposals import overdue  # noqa: PLC0415  which takes its causes from here

    failed = [failure(state, error) for state, error in outcome.failed.items() if failures_too]
    changes = status_changes(uf, outcome.folder) if outcome.is_new else []
    stale_in = outcome.stale_in if states else {uf: outcome.stale}
    causes = [*failed, *stale(uf, stale_in), *changes, *overdue(outcome.folder)]
    known = [f"failure/{state}" for state in (uf, *states)]  # of a state that failed, nothing else is known
    known += [f"{topic}/{state}" for topic in ("stale", "deadline") for state in stale_in]
    notify(settings, causes, topics=known, now=now)
    return outcome


def failure(uf: str, error: BaseException) -> Cause:
    """A run that failed: the same cause as long as the same thing fails in the same place."""
    what = type(error).__name__
    place, said = (
        (error.where, str(error)) if isinstance(error, EmancipaError) else (str(error), f"a bug: {what}: {error}")
    )
    return Cause(f"failure/{uf}", f"{what} {place}", f"{uf}: {said}")


def stale(uf: str, names_in: Mapping[str, Iterable[str]]) -> list[Cause]:
    """Sources whose last good answer is older than their cadence allows: a cause for each state (`names_in`) that one
    is stale for, a text for all of them.
    """
    states: dict[str, list[str]] = {}
    for state, names in names_in.items():
        for name in names:
            states.setdefault(name, []).append(state)
    return [
        Cause(
            f"stale/{state}",
            name,
            f"{uf if len(those) == len(names_in) else ', '.join(those)}: {name} has not answered for longer than "
            f"{sources()[name].stale_after} days",
        )
        for name, those in sorted(states.items())
        for state in those
    ]


def status_changes(uf: str, release: Path) -> list[Cause]:
    """Areas whose status is not what it was in the release before."""
    rows = pl.read_csv(release / "diff.csv", infer_schema=False).filter(
        section="verdict", table_name="mart.eligibility", field="status"
    )
    return [
        Cause(
            "status",
            f"{row['rule_set']} {row['item']}",
            f"{uf}: {row['name'] or row['item']} ({row['item']}, {row['rule_set']}): "
            f"{row['before'] or 'not screened'} → {row['after'] or 'no longer screened'}"
            + (f", because of {row['cause']}" if row["cause"] else ""),
            row["after"] or "none",
        )
        for row in rows.iter_rows(named=True)
    ]


# delivery


def _deliver(url: str | None, subject: str, texts: Sequence[str]) -> None:
    if not url:
        _log(subject, texts)
    elif urlsplit(url).scheme in {"smtp", "smtps"}:
        _mail(url, subject, texts)
    else:
        _post(url, subject, texts)


def _log(subject: str, texts: Sequence[str]) -> None:
    say("\n".join([subject, *(f"  {line}" for text in texts for line in text.splitlines())]))


def _body(texts: Sequence[str]) -> str:
    hidden = len(texts) - SHOWN
    return "\n".join([*texts[:SHOWN], *([f"… and {hidden} more"] if hidden > 0 else [])])


def _post(url: str, subject: str, texts: Sequence[str]) -> None:
    import requests  # noqa: PLC0415  only where there is something to tell

    address = url.removeprefix("slack+")
    is_slack = address != url or urlsplit(url).hostname in SLACK_HOSTS
    said = {"text": f"*{subject}*\n{_body(texts)}"} if is_slack else {}
    answer = requests.post(
        address, json=said or {"title": subject, "text": _body(texts), "causes": list(texts)}, timeout=SECONDS
    )
    answer.raise_for_status()


def _mail(url: str, subject: str, texts: Sequence[str]) -> None:
    """TLS from the start with smtps, else as soon as the server offers it; a password never travels without it."""
    parts, query = urlsplit(url), parse_qs(urlsplit(url).query)
    message = EmailMessage()
    message["Subject"], message["From"], message["To"] = subject, query["from"][0], ", ".join(query["to"])
    message.set_content(_body(texts))
    host, secure = parts.hostname or "", ssl.create_default_context()
    server = (
        smtplib.SMTP_SSL(host, parts.port or 465, timeout=SECONDS, context=secure)
        if parts.scheme == "smtps"
        else smtplib.SMTP(host, parts.port or 587, timeout=SECONDS)
    )
    with server:
        if parts.scheme == "smtp":
            server.ehlo()
            if server.has_extn("starttls"):
                server.starttls(context=secure)
            elif parts.password:
                raise UsageError("the mail server offers no TLS, and a password is set", where=host)
        if parts.username:
            server.login(unquote(parts.username), unquote(parts.password or ""))
        server.send_message(message)
