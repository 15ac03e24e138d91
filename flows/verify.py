"""Whether what came is what was asked for: judged by its bytes, whatever the headers say.

Upstreams answer errors with 200, firewalls answer for them, downloads break and zips arrive without their end. What
is refused here never becomes a snapshot to build from. The words of `Unusable` are those of the ledger.
"""

import json
import lzma
import re
import stat
import struct
import subprocess
import sys
import zipfile
import zlib
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import BinaryIO

from transforms.sources import Media

HEAD = 1 << 16  # enough of an answer to recognise a page by
LARGEST_TEXT = 500_000_000  # JSON and pages are read whole: an answer beyond this is a mistake or an attack
UNPACKED_CHUNK = 1 << 20
# All that zipfile raises on damage: a wrong structure, an unknown method or password, a stream that does not unpack.
UNREADABLE = (zipfile.BadZipFile, EOFError, OSError, ValueError, RuntimeError, struct.error, zlib.error, lzma.LZMAError)

WORKBOOK_MEMORY, WORKBOOK_SECONDS = 2 << 30, 60
_WORKBOOK = """
import resource, sys, fastexcel
resource.setrlimit(resource.RLIMIT_AS, (int(sys.argv[2]),) * 2)
with open(sys.argv[1], "rb") as file:
    workbook = fastexcel.read_excel(file.read())
for name in workbook.sheet_names:
    workbook.load_sheet(name, header_row=None, dtypes="string")
"""

# Who stands in the way, how its page is known, and how the support line finds the case again.
_BARRIERS: tuple[tuple[str, re.Pattern[bytes], re.Pattern[bytes] | None], ...] = (
    (
        "a firewall rejected the request",
        re.compile(rb"requested URL was rejected", re.I),
        re.compile(rb"support ID is:?\s*(?:<[^>]*>\s*)*([\w-]+)", re.I),
    ),
    (
        "Cloudflare asks for a browser",
        re.compile(rb"cf-chl|challenge-platform|cf_chl_|Attention Required! \| Cloudflare|<title>Just a moment", re.I),
        re.compile(rb"Ray ID:?\s*(?:<[^>]*>\s*)*([0-9a-f]{8,})", re.I),
    ),
    (
        "Akamai denied access",
        re.compile(rb"<title>\s*Access Denied|errors\.edgesuite\.net", re.I),
        re.compile(rb"Reference\s*(?:&#32;|\s)*(?:#|&#35;)\s*((?:[0-9a-f]+|\.|&#46;)+)", re.I),
    ),
    (
        "Imperva asks for a browser",
        re.compile(rb"_Incapsula_Resource|Incapsula incident", re.I),
        re.compile(rb"incident ID:?\s*([\d-]+)", re.I),
    ),
)


class Unusable(Exception):
    """An answer that cannot be kept: `outcome` is the ledger's word for it."""

    def __init__(self, outcome: str, message: str) -> None:
        super().__init__(message)
        self.outcome, self.message = outcome, message


def barrier(head: bytes, headers: Mapping[str, str]) -> str | None:
    """Which firewall or bot check answered instead of the site, with the id its support asks for; None if none did."""
    ray = headers.get("cf-ray")
    if "challenge" in headers.get("cf-mitigated", ""):
        return f"Cloudflare asks for a browser (ray id {ray or 'unknown'})"
    if not _is_markup(head):
        return None
    for who, mark, number in _BARRIERS:
        if mark.search(head):
            found = number and number.search(head)
            case = found.group(1).decode("ascii", "replace").replace("&#46;", ".") if found else ray
            return f"{who} (support id {case})" if case else who
    return None


def verify(path: Path, media: Media, *, smallest: int = 1, largest: int = LARGEST_TEXT) -> None:
    """Raises Unusable unless the file is what `media` says, whole, and at most `largest` bytes unpacked."""
    size = path.stat().st_size
    if not size:
        raise Unusable("not_data", "an empty answer")
    if size > (min(largest, LARGEST_TEXT) if media in {"json", "html"} else largest):
        raise Unusable("too_large", f"{size:,} bytes are more than such an answer can have")
    with path.open("rb") as file:
        head = file.read(HEAD)
        file.seek(0)
        if media != "html" and _is_markup(head):
            raise Unusable("not_data", f"a page instead of {media}{title(head)}")
        _CHECKS[media](file, head, largest)
    if size < smallest:
        raise Unusable("truncated", f"{size} bytes came, and a whole answer has at least {smallest}")


def _is_markup(head: bytes) -> bool:
    return head.removeprefix(b"\xef\xbb\xbf").lstrip()[:1] == b"<"


def title(head: bytes) -> str:
    """A page's title or first heading, to quote after a message."""
    found = re.search(rb"<(title|h1)[^>]*>\s*([^<]{1,120})", head, re.I)
    return f": {' '.join(found.group(2).decode('utf-8', 'replace').split())!r}" if found else ""


def _json(file: BinaryIO, _head: bytes, _largest: int) -> None:
    """A value, and not an error in the shape of one."""
    try:
        value = json.loads(file.read())
    except (ValueError, RecursionError) as error:
        raise Unusable("not_data", f"not JSON: {error}") from None
    if message := error_message(value):
        raise Unusable("not_data", f"an error instead of data: {message}")


def error_message(value: object) -> str | None:
    """What an error object says ({"error": …}, {"statusCode": 500, …}, problem+json); None for data."""
    if not isinstance(value, dict):
        return None
    status = value.get("statusCode", value.get("status"))
    failed = bool(value.get("error")) or (isinstance(status, int) and status >= 400)
    return complaint(value) if failed else None


def complaint(value: Mapping[str, object]) -> str:
    """The words of an error object, on one line."""
    words = (value.get(key) for key in ("message", "detail", "title", "error", "statusCode", "status"))
    return " ".join(str(next(filter(None, words), "")).split())[:200]


def _zip(file: BinaryIO, head: bytes, largest: int) -> None:
    """Every member named safely, small enough unpacked, and read to its CRC."""
    if not head.startswith(b"PK"):
        raise Unusable("not_data", f"not a zip: it begins with {head[:16]!r}")
    try:
        with zipfile.ZipFile(file) as archive:
            _members(archive, largest)
            broken = next(filter(None, (_damage(archive, member) for member in archive.infolist())), None)
    except UNREADABLE as error:
        cut = "not a zip file" in str(error)  # the directory, at the end, is what makes a zip
        raise Unusable("truncated" if cut else "corrupt", f"the zip cannot be read: {error}") from None
    if broken:
        raise Unusable("corrupt", broken)


def _damage(archive: zipfile.ZipFile, member: zipfile.ZipInfo) -> str | None:
    """What is wrong with a member: zipfile checks its CRC on the way, but not that all of it was there."""
    with archive.open(member) as file:
        size = sum(map(len, iter(lambda: file.read(UNPACKED_CHUNK), b"")))
    wrong = size != member.file_size
    return f"{member.filename!r} in the zip holds {size:,} bytes, not {member.file_size:,}" if wrong else None


def _members(archive: zipfile.ZipFile, largest: int) -> None:
    members = archive.infolist()
    if not members:
        raise Unusable("not_data", "the zip is empty")
    for member in members:
        name = member.orig_filename.replace("\\", "/")
        outside = name.startswith("/") or ".." in name.split("/") or re.match(r"[A-Za-z]:", name) or "\0" in name
        if outside or stat.S_ISLNK(member.external_attr >> 16):
            raise Unusable("not_data", f"the zip has a member that points outside it: {name!r}")
    if (unpacked := sum(member.file_size for member in members)) > largest:
        raise Unusable("too_large", f"the zip unpacks to {unpacked:,} bytes, more than {largest:,}")


def _gpkg(file: BinaryIO, head: bytes, _largest: int) -> None:
    """SQLite's magic, and as many pages as its header counts."""
    if not head.startswith(b"SQLite format 3\0"):
        raise Unusable("not_data", f"not a GeoPackage: it begins with {head[:16]!r}")
    page = int.from_bytes(head[16:18], "big")
    whole = (65536 if page == 1 else page) * int.from_bytes(head[28:32], "big")
    if (size := file.seek(0, 2)) < whole:
        raise Unusable("truncated", f"{size:,} bytes of a GeoPackage of {whole:,}")


def _html(_file: BinaryIO, head: bytes, _largest: int) -> None:
    if not _is_markup(head):
        raise Unusable("not_data", f"not a page: it begins with {head[:16]!r}")


def _csv(_file: BinaryIO, head: bytes, _largest: int) -> None:
    if b"\0" in head:
        raise Unusable("not_data", "not text: it holds zero bytes")


def _spreadsheet(file: BinaryIO, head: bytes, largest: int) -> None:
    """Read once in a process of its own: some damaged workbooks make their reader ask for tens of gigabytes."""
    if not head.startswith(b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"):  # .xls; .xlsx is a zip
        _zip(file, head, largest)
    command = [sys.executable, "-c", _WORKBOOK, file.name, str(WORKBOOK_MEMORY)]
    try:
        subprocess.run(command, check=True, capture_output=True, timeout=WORKBOOK_SECONDS)  # noqa: S603  our own words
    except (subprocess.SubprocessError, OSError):
        raise Unusable("corrupt", "the workbook cannot be read") from None


_CHECKS: Mapping[Media, Callable[[BinaryIO, bytes, int], None]] = {
    "json": _json,
    "zip": _zip,
    "html": _html,
    "gpkg": _gpkg,
    "csv": _csv,
    "spreadsheet": _spreadsheet,
}


def media_of(path: Path) -> Media:
    """What a file supplied by hand is, by its first bytes."""
    with path.open("rb") as file:
        head = file.read(16)
    if head.startswith(b"PK"):
        return "spreadsheet" if path.suffix.lower() == ".xlsx" else "zip"
    if head.startswith(b"\xd0\xcf\x11\xe0"):
        return "spreadsheet"
    if head.startswith(b"SQLite format 3\0"):
        return "gpkg"
    return "json" if head.removeprefix(b"\xef\xbb\xbf").lstrip()[:1] in {b"{", b"["} else "csv"
