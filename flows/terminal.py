"""What commands print: tables that fit 80 columns, colours only on a terminal, JSON when asked for.

Results go to standard output; progress, warnings and errors to standard error.
"""

import json
import os
import sys
from collections.abc import Mapping, Sequence
from contextlib import suppress
from decimal import Decimal
from textwrap import TextWrapper
from typing import Any

from rich.console import Console
from rich.markup import escape
from rich.measure import Measurement
from rich.table import Table

from flows.progress import Bars

COLOURS = {
    "eligible": "green",
    "met": "green",
    "kept": "green",
    "ineligible": "red",
    "not_met": "red",
    "lost": "red",
    "undetermined": "yellow",
    "done": "green",
    "overdue": "red",
    "due": "yellow",
}
WIDTH = 80
Row = Mapping[str, Any]


class _Console(Console):
    """A reader that has had enough (`| head`) is for the command line to end on, not for a library to exit."""

    def on_broken_pipe(self) -> None:
        raise  # noqa: PLE0704  called by rich where it caught the error


def _console(*, stderr: bool = False) -> Console:
    """As wide as the terminal; 80 columns where there is none, so that what is piped does not depend on where."""
    stream = sys.stderr if stderr else sys.stdout
    columns = os.environ.get("COLUMNS", "")
    wide = None if stream.isatty() else int(columns) if columns.isdecimal() and int(columns) else WIDTH
    return _Console(stderr=stderr, width=wide, highlight=False, soft_wrap=False)


BARS = Bars(Console(stderr=True))


def say(line: str) -> None:
    """One line of progress, on standard error. Where nobody reads it any more, the work goes on all the same."""
    with suppress(OSError):
        if not BARS.say(line):
            sys.stderr.write(f"{line}\n")
            sys.stderr.flush()


def as_json(value: Any) -> None:
    """The result for a program: one JSON document on standard output."""
    sys.stdout.write(json.dumps(value, ensure_ascii=False, indent=2, default=_plain) + "\n")


def _plain(value: Any) -> Any:
    """Decimals as plain numbers of text (never floats), dates as ISO text."""
    return f"{value.normalize():f}" if isinstance(value, Decimal) else str(value)


def table(
    rows: Sequence[Row],
    columns: Mapping[str, str],
    *,
    title: str = "",
    narrow: Sequence[str] = (),
    right: Sequence[str] = (),
    whole: bool = False,
) -> None:
    """Rows as a table; `columns` maps their names to headings, `narrow` names those that must not wrap, `right` those
    of figures already written out.

    `whole`: no cell is cut or wrapped, however wide the table gets.
    """
    printed = Table(title=title or None, title_justify="left", title_style="bold", box=None, pad_edge=False)
    numbers = {name for name in columns if any(isinstance(row[name], int | float | Decimal) for row in rows)} | {*right}
    for name, heading in columns.items():
        printed.add_column(
            heading, justify="right" if name in numbers else "left", no_wrap=whole or name in narrow or name in numbers
        )
    for row in rows:
        printed.add_row(*(_cell(row[name]) for name in columns))
    console = _console()
    if whole:
        unbounded = console.options.update(max_width=1_000_000)
        console.width = max(console.width, Measurement.get(console, unbounded, printed).maximum)
    console.print(printed, soft_wrap=whole)


def _cell(value: Any) -> str:
    text = shown(value)
    colour = COLOURS.get(text)
    return f"[{colour}]{text}[/{colour}]" if colour else escape(text)


def shown(value: Any) -> str:
    """A value as it stands, so that it can be copied."""
    if value is None:
        return "–"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, Decimal):
        plain = f"{value:f}"
        return plain.rstrip("0").rstrip(".") if "." in plain else plain
    return str(value)


def figure(value: Decimal | int | None, unit: str | None = None) -> str:
    """A figure to be read: thousands grouped, money to the cent."""
    if value is None:
        return "–"
    return f"{value:,.2f}" if unit == "BRL" else f"{Decimal(value).normalize():,f}"


def percent(value: Decimal | None) -> str | None:
    """A margin as people say it: +12.3 %."""
    return None if value is None else f"{value * 100:+.1f}%"


def line(text: str = "") -> None:
    """A line of the result, on standard output; never broken in two, so that a path can be copied."""
    _console().print(text, markup=False, soft_wrap=True)


def paragraph(text: str, indent: int = 0) -> None:
    """Words of the result, wrapped at the terminal's width; what has no space in it (a path, a hash) stays whole."""
    margin = " " * indent
    words = TextWrapper(
        _console().width,
        initial_indent=margin,
        subsequent_indent=f"{margin}  ",
        break_long_words=False,
        break_on_hyphens=False,
    )
    line(words.fill(text))


def heading(text: str) -> None:
    """A heading of the result."""
    _console().print(f"\n{text}", style="bold", markup=False)
