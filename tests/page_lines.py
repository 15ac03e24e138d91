"""A page as lines of text, so that all it says can be compared with what it should say: nothing missing, nothing more.

A line is what stands in one block. Marks in it: `|` begins a cell, `‹met›` is the status a block or badge is coloured
by, `¦` begins small print, `[#a-1]` is where the link before it leads, `[2026-11-30]` the day that a date stands for.
"""

import re
import zlib
from base64 import b64decode
from collections.abc import Mapping
from dataclasses import dataclass
from html.parser import HTMLParser

BLOCKS = frozenset(
    "article caption dd details div dl dt h1 h2 h3 h4 header li nav p path section summary svg table tbody td th thead "
    "title tr ul ol".split()
)
COLOURS = frozenset(
    "met not_met undetermined eligible ineligible kept lost never_had seat done due overdue blocked not_applicable "
    "conflict".split()
)


class Lines(HTMLParser):
    """The lines of a piece of a page."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.found: list[str] = [""]
        self.links: list[str] = []
        self.day = ""
        self.feed(html)

    @property
    def told(self) -> list[str]:
        shut = (re.sub(r"[ \n]+", " ", line).strip() for line in self.found)
        return [line for line in shut if line]

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = {name: value or "" for name, value in attrs}
        if tag in BLOCKS or "tile" in given.get("class", "").split():
            self.found.append("| " if tag in {"td", "th"} else "")
        if tag in {"small", "i"}:
            self.found[-1] += " ¦"
        self.found[-1] += "".join(f"‹{word}›" for word in given.get("class", "").split() if word in COLOURS)
        if tag == "a":
            self.links.append(given["href"])
        if tag == "time":
            self.day = given["datetime"]

    def handle_endtag(self, tag: str) -> None:
        if tag == "a" and (to := self.links.pop()) not in {"#ranking", "#pending"}:
            self.found[-1] += f"[{to}]"
        if tag == "time":
            self.found[-1] += f"[{self.day}]"
        if tag in BLOCKS:
            self.found.append("")

    def handle_data(self, data: str) -> None:
        self.found[-1] += data


def lines(html: str) -> list[str]:
    return Lines(html).told


@dataclass(frozen=True)
class Read:
    """A page's readable HTML and, by name, the parts that only its script reads: none unless it is large."""

    html: str
    parts: Mapping[str, str]

    def section(self, name: str) -> list[str]:
        """The lines of a section after its heading and its introduction in small print; none without the section."""
        _, found, rest = self.html.partition(f"<section id={name}>")
        section = rest.partition("<noscript id=sheets>" if name == "checks" else "</section>")[0]
        return lines(re.sub(r"<h2>.*?</h2>|<p class=small>[^<]*</p>", "", section)) if found else []

    def of_rule(self, part: str, rule: str, pattern: str) -> list[str]:
        """The lines of what is said of a rule set, wherever it stands."""
        if f"{part} {rule}" in self.parts:
            return lines(self.parts[f"{part} {rule}"])
        found = re.search(pattern.format(rule=re.escape(rule)), self.html, flags=re.DOTALL)
        assert found, (part, rule)
        return lines(found[0])

    def sheets(self) -> dict[str, list[str]]:
        """Each area's sheet, whole as page.js puts it together."""
        found = {}
        for area, text in re.findall(r'<article id="a-([^"]+)"[^>]*>(.*?)</article>', self.html, flags=re.DOTALL):
            origins, more = (self.parts.get(f"{part} {area}", "") for part in ("origins", "sheet"))
            head, table, rest = text.partition("</table>")
            found[area] = lines(head + table + origins + rest + more)
        return found

    def rows(self, rule: str, place: int) -> list[list[str]]:
        """The ranking of a rule set, the `place`th, as cells."""
        if f"listed {rule}" in self.parts:
            named = sorted((name[5:], text) for name, text in self.parts.items() if name.startswith("rows "))
            found = [text.split("<tr>")[place] for _, text in named]
            found.sort(key=lambda row: int(re.findall(r"^<td>(\d+)", row)[0]))
        else:
            box = self.html.partition(f'<div class=scroll data-rule="{rule}"')[2].partition("</table>")[0]
            found = box.partition("<tbody>")[2].split("<tr>")[1:]
        return [lines(row) for row in found]


def read(text: str) -> Read:
    packed = re.search(r"<script[^>]* id=packed>(.*?)</script>", text, flags=re.DOTALL)
    if not packed:
        return Read(text, {})
    pieces = re.split(r"<!--(.*?)-->", zlib.decompress(b64decode(packed[1])).decode())
    return Read(text, dict(zip(pieces[1::2], pieces[2::2], strict=True)))
