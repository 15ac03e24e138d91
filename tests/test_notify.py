"""One message when somebody must look, and never twice for the same cause."""

import json
import socketserver
from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from email import message_from_bytes
from email.policy import default
from pathlib import Path

import pytest

from flows.notify import Cause, failure, notify, stale, status_changes
from flows.settings import Settings, settings
from tests.hook import Hook, hooked, serving
from transforms.errors import SourceUnavailable, UsageError
from warehouse import diff
from warehouse.export.csv import machine

NOW = datetime(2026, 11, 30, 5, tzinfo=UTC)
DOWN = Cause("stale/ES", "siconfi_revenue", "ES: siconfi_revenue has not answered for longer than 60 days")
SAID = "{}: siconfi_revenue has not answered for longer than 62 days"
FLIP = Cause("status", "lc_1_1967 320500205", "ES: Jacaraípe: undetermined → eligible", "eligible")


@pytest.fixture
def hook() -> Iterator[Hook]:
    with hooked() as found:
        yield found


def at(data: Path, url: str | None = None) -> Settings:
    return settings(data=data, notify_url=url)


def test_one_message_for_all_causes_of_a_run(hook: Hook, tmp_path: Path) -> None:
    assert notify(at(tmp_path, hook.url), [DOWN, FLIP], now=NOW) == [DOWN, FLIP]
    (posted,) = hook.posted
    assert posted["title"] == f"emancipa: {DOWN.text} (and 1 more)"
    assert posted["causes"] == [DOWN.text, FLIP.text]


def test_slack_takes_one_text(hook: Hook, tmp_path: Path) -> None:
    notify(at(tmp_path, f"slack+{hook.url}"), [FLIP], now=NOW)
    assert hook.posted == [{"text": f"*emancipa: {FLIP.text}*\n{FLIP.text}"}]


def test_a_cause_is_told_once_until_it_has_passed(hook: Hook, tmp_path: Path) -> None:
    where = at(tmp_path, hook.url)
    for night, causes in enumerate([[DOWN], [DOWN], [], [DOWN]]):
        notify(where, causes, topics=["stale/ES"], now=NOW + timedelta(days=night))
    assert len(hook.posted) == 2
    events = [json.loads(line)["event"] for line in (tmp_path / "notified.jsonl").read_text().splitlines()]
    assert events == ["told", "passed", "told"]


def test_another_topic_is_left_alone(hook: Hook, tmp_path: Path) -> None:
    where = at(tmp_path, hook.url)
    notify(where, [DOWN], topics=["stale/ES"], now=NOW)
    notify(where, [], topics=["failure/ES", "stale/SE"], now=NOW)
    assert notify(where, [DOWN], topics=["stale/ES"], now=NOW) == []


def test_a_status_is_told_again_only_where_it_is_another(hook: Hook, tmp_path: Path) -> None:
    where, back = (
        at(tmp_path, hook.url),
        replace(FLIP, text="ES: Jacaraípe: eligible → undetermined", value="undetermined"),
    )
    told = [notify(where, [cause], topics=["stale/ES"], now=NOW) for cause in (FLIP, FLIP, back, FLIP)]
    assert told == [[FLIP], [], [back], [FLIP]]


def test_a_source_stale_for_many_states_is_one_text_and_no_news_to_the_country(hook: Hook, tmp_path: Path) -> None:
    where = at(tmp_path, hook.url)
    everywhere = stale("BR", {"ES": ["siconfi_revenue"], "SE": ["siconfi_revenue"]})
    assert notify(where, stale("ES", {"ES": ["siconfi_revenue"]}), now=NOW) == [replace(DOWN, text=SAID.format("ES"))]
    assert [cause.topic for cause in notify(where, everywhere, now=NOW)] == ["stale/SE"]
    assert notify(where, stale("BR", {"ES": ["siconfi_revenue"], "SE": []}), now=NOW) == []
    assert [posted["causes"] for posted in hook.posted] == [[SAID.format("ES")], [SAID.format("BR")]]
    assert {cause.text for cause in stale("BR", {"ES": ["siconfi_revenue"], "SE": []})} == {SAID.format("ES")}


def test_what_was_not_delivered_is_told_next_time(
    hook: Hook, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    hook.status = 500
    assert notify(at(tmp_path, hook.url), [DOWN], now=NOW) == []
    assert "not delivered" in capsys.readouterr().err
    hook.status = 200
    assert notify(at(tmp_path, hook.url), [DOWN], now=NOW) == [DOWN]


def test_an_address_that_is_gone_fails_no_run(tmp_path: Path) -> None:
    assert notify(at(tmp_path, "http://127.0.0.1:9/hook"), [DOWN], now=NOW) == []


def test_without_an_address_it_goes_to_the_log(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert notify(at(tmp_path), [FLIP], now=NOW) == [FLIP]
    assert FLIP.text in capsys.readouterr().err


class Mailbox(socketserver.StreamRequestHandler):
    """As much of SMTP as a message needs; no TLS."""

    messages: list[bytes]

    def handle(self) -> None:
        self.say("220 here")
        while line := self.rfile.readline().strip().upper():
            if line.startswith(b"DATA"):
                self.say("354 go on")
                self.messages.append(b"".join(iter(self.rfile.readline, b".\r\n")))
            self.say("250 here" if not line.startswith(b"QUIT") else "221 bye")

    def say(self, line: str) -> None:
        self.wfile.write(f"{line}\r\n".encode())


def test_by_mail(tmp_path: Path) -> None:
    Mailbox.messages = []
    with serving(socketserver.TCPServer(("127.0.0.1", 0), Mailbox)) as server:
        url = (
            f"smtp://127.0.0.1:{server.server_address[1]}?from=emancipa@example.org&to=ana@example.org,rui@example.org"
        )
        assert notify(at(tmp_path, url), [FLIP], now=NOW) == [FLIP]
        # A password does not travel in the clear.
        assert notify(at(tmp_path, url.replace("smtp://", "smtp://ana:secret@")), [DOWN], now=NOW) == []
    (sent,) = Mailbox.messages
    message = message_from_bytes(sent, policy=default)
    assert message["To"] == "ana@example.org, rui@example.org"
    assert message["Subject"] == f"emancipa: {FLIP.text}"
    assert FLIP.text in message.get_content()


@pytest.mark.parametrize("url", ["ftp://host/x", "https://", "smtp://host", "smtp://host?to=a@example.org", "hook"])
def test_a_wrong_address_is_told_at_once(tmp_path: Path, url: str) -> None:
    with pytest.raises(UsageError, match="EMANCIPA_NOTIFY_URL"):
        at(tmp_path, url)


def test_the_same_failure_is_the_same_cause_whatever_it_says() -> None:
    first, second = (
        failure("ES", SourceUnavailable(f"no answer after {seconds} s", where="siconfi_revenue", action="run again"))
        for seconds in (30, 31)
    )
    assert (first.topic, first.key) == (second.topic, second.key) == ("failure/ES", "SourceUnavailable siconfi_revenue")
    assert "run again" in first.text


def test_a_changed_status_is_told_with_its_cause(tmp_path: Path) -> None:
    row = {
        "section": "verdict", "table_name": "mart.eligibility", "item": "320500205", "name": "Jacaraípe",
        "rule_set": "lc_1_1967", "detail": "", "field": "status", "before": "undetermined", "after": "eligible",
        "cause": "source ibge_estimates",
    }  # fmt: skip
    rows = [row, row | {"field": "rank", "before": "4", "after": "1"}]
    (tmp_path / "diff.csv").write_bytes(machine(diff.DIFFERENCE, diff.DIFFERENCE.frame(rows)))
    (cause,) = status_changes("ES", tmp_path)
    assert (cause.topic, cause.key, cause.value) == ("status", "lc_1_1967 320500205", "eligible")
    assert cause.text == (
        "ES: Jacaraípe (320500205, lc_1_1967): undetermined → eligible, because of source ibge_estimates"
    )
