"""The network client. Polite to each host, patient with what is temporary, final about what is not.

A question is tried until it is answered, refused, or out of time; every try is a row of the ledger. Its outcome:

    new unchanged revised not_modified     an answer (first of its URL, same bytes, other bytes, told so by a 304)
    absent                                 404, 410: nothing there
    blocked                                a firewall or bot check answered: asking again would not help
    not_data truncated corrupt too_large   what came is not what was asked for, or contradicts itself
    timeout unreachable                    silence, a break, no connection, a certificate that does not verify
    refused rate_limited server_error      the host says no, not so fast, or fails
    layout                                 an answer that its source cannot read (flows/fetch.py)
"""

import json
import random
import re
import time
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from email.utils import format_datetime, parsedate_to_datetime
from urllib.parse import urlsplit

import requests
import urllib3

from flows.fetch import NoAnswer, Progress, Question, silent
from flows.settings import Settings
from flows.transport import Session, Turnstile, cut_off
from flows.verify import HEAD, Unusable, barrier, complaint, title, verify
from warehouse.snapshots import Answer, Incoming

CHUNK = 1 << 18
PATIENCE = 5  # a 429 without Retry-After waits this many times longer than a break
ONCE, TWICE, OFTEN = 1, 2, 99  # how often a kind of failure is worth a try, within the settings' `tries`
STATUS = {404: "absent", 410: "absent", 429: "rate_limited"}
LEGACY = "UNSAFE_LEGACY_RENEGOTIATION_DISABLED"


@dataclass(frozen=True, slots=True)
class Reply:
    """What one try came to. `wait` is the host's Retry-After; `evidence` the start of a body that was refused."""

    outcome: str
    message: str = ""
    answer: Answer | None = None
    tries: int = ONCE
    wait: float | None = None
    evidence: bytes = b""


class Web:
    """The upstreams themselves. One for a whole run; threads share it."""

    def __init__(self, settings: Settings, progress: Progress = silent) -> None:
        self._settings, self._progress = settings, progress
        self._session = Session(settings.user_agent)
        self._turnstiles = {
            "ibge_api": Turnstile(settings.connections),
            "ibge_files": Turnstile(settings.connections),
            "tse": Turnstile(settings.connections),
            "siconfi": Turnstile(1, settings.siconfi_pace),
        }

    def get(self, question: Question) -> Answer:
        """Try until answered, refused or out of time; a broken download goes on where it broke, if the host can."""
        turnstile = self._turnstiles[question.source.base]
        failures = furthest = 0
        with question.store.incoming() as part:
            download = _Download(self._session, self._settings, self._progress, question, part)
            while True:
                try:
                    with turnstile.passing(question.until):
                        reply = download.once()
                except TimeoutError:
                    raise NoAnswer("timeout", f"no time left for {download.host}") from None
                if reply.answer:
                    return reply.answer
                if reply.outcome == "rate_limited":
                    turnstile.slow_down()
                failures = 1 if part.size > furthest else failures + 1  # a download that grows is not failing
                furthest = max(furthest, part.size)
                if failures >= min(reply.tries, self._settings.tries):
                    raise NoAnswer(reply.outcome, reply.message)
                self._wait(reply, failures, question)

    def _wait(self, reply: Reply, failures: int, question: Question) -> None:
        pause = self._settings.backoff_seconds
        if reply.wait is not None:
            pause = reply.wait
        elif reply.outcome == "rate_limited":
            pause *= PATIENCE * failures
        else:
            pause *= 2 ** (failures - 1) * random.uniform(0.5, 1.5)  # noqa: S311  to spread, not to hide
        if pause >= question.left:
            raise NoAnswer(reply.outcome, f"{reply.message}; trying again in {pause:.0f} s would be too late")
        time.sleep(pause)


class _Download:
    """One question's tries: what is asked, what has come so far, and what may be asked of the rest."""

    def __init__(
        self, session: Session, settings: Settings, progress: Progress, question: Question, part: Incoming
    ) -> None:
        self._session, self._settings, self._progress = session, settings, progress
        self._question, self._part = question, part
        request = question.request
        address = settings.base(question.source.base) + request.path
        self._url = str(requests.Request("GET", address, params=dict(request.params)).prepare().url)
        self.host = urlsplit(self._url).netloc
        known = question.known(self._url)
        self._known = known if known and question.store.has(known.sha256) else None
        self._validator: str | None = None  # says whether the rest still belongs to what has come
        self._total: int | None = None
        self._status: int | None = None
        self._received = 0

    def once(self) -> Reply:
        """One try, recorded. Whatever the network does becomes a Reply."""
        since = time.monotonic()
        self._status, self._received = None, 0
        try:
            reply = self._try()
        except (requests.RequestException, urllib3.exceptions.HTTPError) as error:
            reply = self._broken(error)
        store = self._question.store
        sha256 = reply.answer.sha256 if reply.answer else store.put(reply.evidence) if reply.evidence else None
        self._question.record(
            self._url,
            reply.outcome,
            since=since,
            status=self._status,
            received=self._received,
            sha256=sha256,
            message=reply.message,
        )
        return reply

    def _try(self) -> Reply:
        left = max(0.001, self._question.left)
        limits = (min(self._settings.connect_seconds, left), min(self._settings.read_seconds, left))
        headers = self._conditions()
        with self._session.get(self._url, headers=headers, stream=True, timeout=limits) as response:
            self._status = response.status_code
            with cut_off(response, self._question.left):
                if response.status_code in {200, 206}:
                    return self._receive(response)
                if response.status_code == 304 and self._known and "Range" not in headers:
                    return Reply("not_modified", answer=self._known)
                return self._refusal(response)

    def _conditions(self) -> dict[str, str]:
        """Only what is new (If-None-Match), or only the rest of what broke off (Range)."""
        if self._part.size and self._validator:
            return {"Range": f"bytes={self._part.size}-", "If-Range": self._validator}
        headers = {}
        if self._known and self._known.etag:
            headers["If-None-Match"] = self._known.etag
        if self._known and self._known.published_at:
            headers["If-Modified-Since"] = format_datetime(self._known.published_at, usegmt=True)
        return headers

    def _receive(self, response: requests.Response) -> Reply:
        largest = self._question.source.largest
        if response.status_code == 206 and not self._continues(response.headers):
            self._validator = None
            return Reply("truncated", f"{self.host} resumed the download at another place", tries=OFTEN)
        total = self._begin(response.headers) if response.status_code == 200 else self._total
        if total is not None and total > largest:
            return Reply("too_large", f"{self.host} announces {total:,} bytes, more than {largest:,}")
        label = f"{self._question.source.name} {self._question.request.part}"
        while data := response.raw.read1(CHUNK, decode_content=True):
            self._part.write(data)
            self._received += len(data)
            if self._part.size > largest:
                return Reply("too_large", f"{self.host} sent more than {largest:,} bytes")
            self._progress(label, self._part.size, total)
        if self._question.left <= 0:
            return self._late()
        if total is not None and self._part.size != total:
            return Reply("truncated", f"{self._part.size:,} of {total:,} bytes from {self.host}", tries=OFTEN)
        return self._judge(response)

    def _begin(self, headers: Mapping[str, str]) -> int | None:
        """Start from nothing; the size the whole answer will have, if told."""
        self._part.reset()
        encoded = headers.get("Content-Encoding", "identity") != "identity"
        etag, length = headers.get("ETag", ""), headers.get("Content-Length", "")
        strong = etag if etag and not etag.startswith("W/") else headers.get("Last-Modified")
        self._validator = None if encoded or headers.get("Accept-Ranges") == "none" else strong
        self._total = int(length) if length.isdigit() and not encoded else None
        return self._total

    def _continues(self, headers: Mapping[str, str]) -> bool:
        """Whether a 206 is the very rest of what has come: same file, same size, next byte."""
        spot = re.fullmatch(r"bytes (\d+)-\d+/(\d+)", headers.get("Content-Range", ""))
        if spot is None or self._validator is None or int(spot[1]) != self._part.size:
            return False
        same = self._validator in {headers.get("ETag", self._validator), headers.get("Last-Modified")}
        self._total = self._total or int(spot[2])
        return same and self._total == int(spot[2])

    def _judge(self, response: requests.Response) -> Reply:
        """A whole body: kept if it is what was asked for, else refused with its first bytes as evidence."""
        question, source = self._question, self._question.source
        self._validator = None  # whatever is wrong with it now, more of it would not help
        path = self._part.flush().path
        with path.open("rb") as file:
            head = file.read(HEAD)
        if wall := barrier(head, response.headers):
            return Reply("blocked", f"{wall} at {self._url}; {question.by_hand}", evidence=head)
        try:
            verify(path, question.request.media, smallest=source.smallest, largest=source.largest)
        except Unusable as fault:
            kind = response.headers.get("Content-Type", "no type")
            words = f"{fault.message} ({kind}) from {self._url}"
            return Reply(fault.outcome, words, tries=ONCE if fault.outcome == "too_large" else TWICE, evidence=head)
        size, sha256 = self._part.size, question.store.keep(self._part)
        published_at, etag = _moment(response.headers.get("Last-Modified")), response.headers.get("ETag")
        answer, news = question.answered(self._url, sha256, size, published_at, etag)
        return Reply(news, answer=answer)

    def _refusal(self, response: requests.Response) -> Reply:
        """A status that brings no data. Only 429 and 502 to 504 pass by themselves."""
        status, head = response.status_code, self._head(response)
        if status == 416:
            self._validator = None
            return Reply("truncated", f"{self.host} does not resume the download", tries=OFTEN)
        wall = None if status in {404, 410, 429} else barrier(head, response.headers)
        if wall:
            return Reply("blocked", f"{wall} at {self._url}; {self._question.by_hand}", evidence=head)
        outcome = STATUS.get(status, "server_error" if status >= 500 else "refused")
        message = f"HTTP {status} from {self._url}{_words(head)}"
        if status in {401, 403}:
            message += f"; {self._question.by_hand}"
        temporary = status in {429, 502, 503, 504}
        wait = _retry_after(response.headers.get("Retry-After")) if temporary else None
        return Reply(
            outcome,
            message,
            tries=OFTEN if temporary else ONCE,
            wait=wait,
            evidence=b"" if outcome == "absent" else head,
        )

    def _head(self, response: requests.Response) -> bytes:
        head = b""
        with suppress(urllib3.exceptions.HTTPError):  # the status has said what matters
            while len(head) < HEAD and (data := response.raw.read1(HEAD - len(head), decode_content=True)):
                head += data
        self._received = len(head)
        return head

    def _broken(self, error: Exception) -> Reply:
        """What the network's own errors mean."""
        cause = _innermost(error)
        if self._question.left <= 0:
            return self._late()
        if isinstance(error, (requests.Timeout, urllib3.exceptions.TimeoutError)):
            return Reply("timeout", f"{self.host} went silent", tries=OFTEN)
        if self._status is not None:
            return Reply("truncated", f"the download from {self.host} broke off: {cause}", tries=OFTEN)
        if isinstance(error, requests.exceptions.SSLError) and "EOF" not in cause:
            return self._unsafe(cause)
        if isinstance(error, (requests.ConnectionError, urllib3.exceptions.HTTPError)):
            return Reply("unreachable", f"{self.host} cannot be reached: {cause}", tries=OFTEN)
        return Reply("refused", f"{self.host}: {cause}")  # where it redirects to, or what it calls a reply

    def _unsafe(self, cause: str) -> Reply:
        """No connection that can be trusted: final, but for the one handshake that may be older."""
        if LEGACY in cause:
            news = self._session.allow_older_handshake(self._url)
            words = f"{self.host} has no secure renegotiation (RFC 5746): the older handshake is allowed for it"
            return Reply("unreachable", words, tries=OFTEN if news else ONCE, wait=0.0)
        what = "its certificate does not verify" if "CERTIFICATE_VERIFY_FAILED" in cause else "the handshake failed"
        return Reply("unreachable", f"no safe connection to {self.host}, {what}: {cause}")

    def _late(self) -> Reply:
        return Reply("timeout", f"{self.host} was too slow: {self._part.size:,} bytes when the time was up")


def _innermost(error: BaseException) -> str:
    """The cause at the bottom of the wrappers of requests and urllib3."""
    while inner := error.__cause__ or error.__context__:
        error = inner
    return str(error) or type(error).__name__


def _words(head: bytes) -> str:
    """What an error's body says, in a few words."""
    try:
        said = json.loads(head)
    except (ValueError, RecursionError):
        text = "" if b"<" in head[:64] else " ".join(head[:200].decode("utf-8", "replace").split())
        return title(head) or (text and f": {text!r}")
    return f": {complaint(said)}" if isinstance(said, dict) else ""


def _moment(http_date: str | None) -> datetime | None:
    try:
        return parsedate_to_datetime(http_date).astimezone(UTC) if http_date else None
    except ValueError:
        return None


def _retry_after(value: str | None) -> float | None:
    """Seconds to wait, from either form of Retry-After."""
    try:
        return urllib3.Retry().parse_retry_after(value) if value else None
    except urllib3.exceptions.InvalidHeader:
        return None
