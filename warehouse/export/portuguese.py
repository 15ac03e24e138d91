"""The Portuguese of every value that exports show: one table of words, one of sentences with a part that varies.

Both are written in portuguese_screen.py and portuguese_register.py, and put to use here. A value of a closed
vocabulary without a word stops the export. Free text (reasons, methods) is translated sentence by sentence, and
stands as it is where a sentence is unknown: `untranslated` lists those, for tests.
"""

import re
from collections.abc import Iterator, Mapping

import polars as pl

from transforms.catalog import sources
from transforms.schema import Column, Kind, Table
from warehouse.export import portuguese_register as register
from warehouse.export import portuguese_screen as screen

# Columns of words without a closed vocabulary: a rule set names its requirements, a source its methods.
PHRASED = (
    "requirement",
    "binding_requirement",
    "measure",
    "reason",
    "ask",
    "method",
    "source",
    "competent_body",
    "note",
    "next_step",
)

PERIOD = "reference_period"  # a year or a day as text, or several joined by |

VOCABULARY: Mapping[str, str] = {**register.REGISTER, **screen.SCREEN}
# Sentences with a part that varies: groups named `word…` are translated in turn (`words` is a list), others stand.
# The first that fits is taken, and the screen's last ones fit much: they come last.
PATTERNS = (*register.SENTENCES, *screen.SENTENCES)
SEPARATORS = re.compile(r"(; |\|| / )")
ISO_DAY = re.compile(r"\b(\d{4})-(\d\d)-(\d\d)\b")
ONE = re.compile(r"(?<!\d)1 (ano|dia)s\b")
# Parts of a sentence that others wrote, which stand to the letter.
QUOTED = ("document", "name", "place")


def in_portuguese(table: Table, rows: pl.DataFrame) -> pl.DataFrame:
    """The columns of a table whose values are words, in Portuguese; booleans as sim and não. Same rows, same order.

    Raises on a value of a closed vocabulary that has no word.
    """
    return rows.select(_worded(column, rows[column.name]) for column in table.columns if is_worded(column))


def is_worded(column: Column) -> bool:
    """Whether the column holds words to translate, and not names, codes or figures."""
    return column.kind is Kind.BOOLEAN or column.values is not None or column.name in (*PHRASED, PERIOD)


def _worded(column: Column, cells: pl.Series) -> pl.Expr:
    """One column in Portuguese, by the distinct values of its cells."""
    cell = pl.col(column.name)
    if column.name == PERIOD:
        return pl.when(cell != "").then(cell.str.replace_all(ISO_DAY.pattern, "$3/$2/$1"))
    if column.kind is Kind.BOOLEAN:
        return pl.when(cell).then(pl.lit("sim")).when(~cell).then(pl.lit("não")).alias(column.name)
    values = cells.unique().drop_nulls().to_list()
    if column.values is not None and (missing := set(values) - VOCABULARY.keys()):
        raise ValueError(f"{column.name} has no Portuguese for {sorted(missing)}: add it to {screen.__name__}")
    words = {value: sentence(value) for value in values if value}
    return cell.replace_strict(words, return_dtype=pl.String, default=None)


def sentence(text: str) -> str:
    """A text in Portuguese, part by part; an unknown part stands as it is."""
    return "".join(_part(part) or part for part in SEPARATORS.split(text))


def untranslated(table: Table, rows: pl.DataFrame) -> Iterator[str]:
    """The parts of free text that have no Portuguese here."""
    for column in table.columns:
        if is_worded(column) and column.kind is not Kind.BOOLEAN and column.name != PERIOD:
            for text in rows[column.name].drop_nulls().unique().sort():
                parts = SEPARATORS.split(text)
                yield from (f"{column.name}: {part}" for part in parts[::2] if _part(part) is None)


def days_told(text: str) -> str:
    """The days in a text as Brazil writes them: 30/11/2026."""
    return ISO_DAY.sub(r"\3/\2/\1", text)


def _part(text: str) -> str | None:
    if text in VOCABULARY:
        return VOCABULARY[text]
    if source := sources().get(text):
        return f"{sentence(source.publisher)}: {source.title}"
    for pattern, words in PATTERNS:
        if match := pattern.fullmatch(text):
            found = {name: _translated(name, group) for name, group in match.groupdict().items()}
            return None if None in found.values() else ONE.sub(r"1 \1", words.format(**found))
    return None


def _translated(name: str, group: str) -> str | None:
    if not name.startswith("word"):
        return group if name in QUOTED else days_told(group)
    parts = [_part(part) for part in (group.split(", ") if name == "words" else [group])]
    return None if None in parts else ", ".join(part for part in parts if part is not None)
