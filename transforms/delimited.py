"""Delimited text as Brazilian agencies publish it (`;`, Windows-1252), read as a stream, every field as text.

Declared encodings are often wrong and a stray quote may swallow lines, so nothing is guessed or dropped: the
header must be one of the known generations, every line must have as many fields as the header, and there are
as many rows as lines. Numbers, codes and dates are parsed later, by name. Memory is bounded by a block of
some megabytes, whatever the size of the file.
"""

import codecs
import csv
import re
import stat
import struct
import zipfile
import zlib
from collections.abc import Iterator, Mapping, Sequence
from itertools import chain
from typing import BinaryIO, Literal, cast

import numpy as np
import polars as pl

from transforms.errors import SourceChanged

Encoding = Literal["cp1252", "utf-8"]

BLOCK = 8 << 20  # bytes read at a time
LONGEST_LINE = 1 << 20  # bytes; no table of this kind has longer ones

# Windows-1252 leaves five bytes undefined; real files carry them, as latin-1 does: control characters.
_HOLES = frozenset((0x81, 0x8D, 0x8F, 0x90, 0x9D))
_WINDOWS = "".join(bytes((byte,)).decode("latin-1" if byte in _HOLES else "cp1252") for byte in range(256))
_QUOTED = re.compile(rb'"[^"]*"')

# What a damaged archive raises, member or directory.
BROKEN_ZIP = (zipfile.BadZipFile, zlib.error, struct.error, IndexError, EOFError, OSError, ValueError, RuntimeError)


def read(
    stream: BinaryIO,
    *,
    columns: Mapping[str, str],
    generations: Sequence[Sequence[str]],
    source: str,
    encoding: Encoding = "cp1252",
    separator: str = ";",
) -> pl.DataFrame:
    """One row a line, in the file's order: the wanted columns (upstream name → ours), as text."""
    frames = batches(
        stream,
        columns=columns,
        generations=generations,
        source=source,
        encoding=encoding,
        separator=separator,
    )
    return pl.concat([pl.DataFrame(schema=dict.fromkeys(columns.values(), pl.String)), *frames])


def batches(
    stream: BinaryIO,
    *,
    columns: Mapping[str, str],
    generations: Sequence[Sequence[str]],
    source: str,
    encoding: Encoding = "cp1252",
    separator: str = ";",
) -> Iterator[pl.DataFrame]:
    """The same some megabytes at a time, for files larger than memory.

    `generations` are the known headers, their columns in any order; a wanted column that the file's
    generation lacks is null. An unquoted empty field is null, a quoted one is the empty text. Valid UTF-8 is
    read as UTF-8, whatever was declared. Raises SourceChanged on another header, a broken line or a bad byte.
    """
    blocks = _blocks(stream, encoding, source)
    header_line, _, body = next(blocks, b"").partition(b"\n")
    header = _header(header_line, generations, separator, source)
    line = 2
    for block in filter(None, chain([body], blocks)):
        yield _frame(block, header, columns, separator, source, line)
        line += block.count(b"\n")


def first_line(stream: BinaryIO, *, source: str, separator: str = ";") -> list[str]:
    """The names in the header of a file whose columns vary; the stream is rewound. Raises SourceChanged on none."""
    try:
        line = stream.readline(LONGEST_LINE)
        stream.seek(0)
    except BROKEN_ZIP as error:
        raise SourceChanged(f"the file is cut short or corrupt: {error}", where=source) from error
    text = from_windows(line.removeprefix(codecs.BOM_UTF8)).strip()
    return [name.strip('"') for name in text.split(separator)]


def zip_member(stream: BinaryIO, pattern: str, *, source: str, largest: int = 4_000_000_000) -> BinaryIO:
    """The one member whose name (without its folders) matches `pattern` whole, opened for streaming.

    Nothing is unpacked to disk. Raises SourceChanged on no match or several, on names that lead outside,
    links, more than `largest` bytes unpacked, and archives that are not whole.
    """
    try:
        archive = zipfile.ZipFile(stream)
        members = [member for member in archive.infolist() if not member.is_dir()]
        if unsafe := [member.orig_filename for member in members if _is_unsafe(member)]:
            raise SourceChanged(f"the archive has members that lead outside: {unsafe[:3]}", where=source)
        found = [m for m in members if re.fullmatch(pattern, re.split(r"[\\/]", m.filename)[-1], re.IGNORECASE)]
        if len(found) != 1:
            names = sorted(member.filename for member in found or members)[:10]
            raise SourceChanged(
                f"{len(found) or 'no'} members of the archive match {pattern!r}: it holds {names}",
                where=source,
            )
        if found[0].file_size > largest:
            raise SourceChanged(f"{found[0].filename} unpacks to {found[0].file_size} bytes", where=source)
        return cast(BinaryIO, archive.open(found[0]))
    except BROKEN_ZIP as error:
        raise SourceChanged(f"not a whole, readable zip archive: {error}", where=source) from error


def from_windows(raw: bytes) -> str:
    """Windows-1252 as text. Every byte means something, so this never fails; the holes stay control characters."""
    return codecs.charmap_decode(raw, "strict", _WINDOWS)[0]


def _is_unsafe(member: zipfile.ZipInfo) -> bool:
    parts = re.split(r"[\\/]", member.orig_filename)
    return ".." in parts or not parts[0] or ":" in parts[0] or stat.S_ISLNK(member.external_attr >> 16)


def _blocks(stream: BinaryIO, encoding: Encoding, source: str) -> Iterator[bytes]:
    """The stream as UTF-8 with LF, in pieces of whole lines. A byte order mark says nothing: some precede cp1252."""
    known: Encoding | None = None  # decided at the first bytes that are not ASCII
    line = 1
    for raw in _lines(stream, source):
        block = raw.removeprefix(codecs.BOM_UTF8) if line == 1 else raw
        if not block.isascii():
            known = known or ("utf-8" if _is_utf8(block) else encoding)
            yield _utf8(block, known, source, line).replace(b"\r\n", b"\n")
        else:
            yield block.replace(b"\r\n", b"\n")
        line += block.count(b"\n")


def _lines(stream: BinaryIO, source: str) -> Iterator[bytes]:
    """The stream's bytes in pieces of whole lines. Blank lines at the end of the file fall away."""
    rest = b""
    while chunk := _chunk(stream, source):
        rest += chunk
        cut = rest.rfind(b"\n", 0, len(rest.rstrip(b"\r\n"))) + 1  # the last line waits for what follows it
        if len(rest) - cut > LONGEST_LINE:
            raise SourceChanged(f"a line of more than {LONGEST_LINE} bytes: not delimited text", where=source)
        if cut:
            yield rest[:cut]
        rest = rest[cut:]
    if rest := rest.rstrip(b"\r\n"):
        yield rest + b"\n"


def _chunk(stream: BinaryIO, source: str) -> bytes:
    try:
        return stream.read(BLOCK)
    except BROKEN_ZIP as error:
        raise SourceChanged(f"the file is cut short or corrupt: {error}", where=source) from error


def _is_utf8(block: bytes) -> bool:
    try:
        block.decode()
    except UnicodeDecodeError:
        return False
    return True


def _utf8(block: bytes, encoding: Encoding, source: str, line: int) -> bytes:
    if encoding == "cp1252":
        return from_windows(block).encode()
    try:
        block.decode()
    except UnicodeDecodeError as error:
        at = line + block.count(b"\n", 0, error.start)
        raise SourceChanged(f"not valid UTF-8: {error}", where=f"{source}, line {at}") from error
    return block


def wrong_columns(missing: Sequence[str], unexpected: Sequence[str], repeated: Sequence[str]) -> str:
    """What is wrong with the columns of a file, in words; of what there is none, nothing."""
    found = {"missing": missing, "unexpected": unexpected, "repeated": repeated}
    return ", ".join(f"{word} {list(names)}" for word, names in found.items() if names)


def _header(line: bytes, generations: Sequence[Sequence[str]], separator: str, source: str) -> Sequence[str]:
    """The columns of a header line, in its order; they must be those of one generation."""
    try:
        names = [name.strip() for name in next(csv.reader([line.decode()], delimiter=separator), [])]
    except csv.Error as error:
        raise SourceChanged(f"the header cannot be read: {error}", where=f"{source}, line 1") from error
    if any(sorted(names) == sorted(generation) for generation in generations):
        return names
    nearest = min(generations, key=lambda generation: len({*generation} ^ {*names}))
    missing = [name for name in nearest if name not in names]
    unexpected = [name for name in names if name not in nearest]
    repeated = sorted({name for name in names if names.count(name) > 1})
    raise SourceChanged(
        f"unknown header: {len(nearest)} columns expected, {len(names)} read; "
        + wrong_columns(missing, unexpected[:20], repeated),
        where=f"{source}, line 1",
        action="the publisher changed the layout: its reader must learn the new one",
    )


def _frame(
    block: bytes, header: Sequence[str], columns: Mapping[str, str], separator: str, source: str, line: int
) -> pl.DataFrame:
    """One block of whole lines as a frame of the wanted columns."""
    _check_widths(block, len(header), separator, source, line)
    position = {name: f"c{index}" for index, name in enumerate(header)}
    try:
        frame = pl.read_csv(
            separator.join(position.values()).encode() + b"\n" + block,
            separator=separator,
            columns=[position[name] for name in columns if name in position],
            infer_schema=False,
        )
    except pl.exceptions.PolarsError as error:
        raise _swallowed(block, source, line) from error
    if frame.height != block.count(b"\n"):
        raise _swallowed(block, source, line)
    return frame.select(
        (pl.col(position[name]) if name in position else pl.lit(None, pl.String)).alias(ours)
        for name, ours in columns.items()
    )


def _check_widths(block: bytes, width: int, separator: str, source: str, line: int) -> None:
    """Every line must have `width` fields: a projection would hide short and long ones."""
    data = np.frombuffer(block, np.uint8)
    ends = np.flatnonzero(data == ord("\n"))
    until = np.searchsorted(np.flatnonzero(data == ord(separator)), ends)
    for index in np.flatnonzero(np.diff(until, prepend=0) != width - 1):
        text = block[ends[index - 1] + 1 if index else 0 : ends[index]]
        fields = _QUOTED.sub(b"", text).count(separator.encode()) + 1  # separators inside quotes are text
        if fields != width:
            raise SourceChanged(
                f"{width} fields expected, {fields} read: {text[:80].decode(errors='replace')!r}",
                where=f"{source}, line {line + int(index)}",
            )


def _swallowed(block: bytes, source: str, line: int) -> SourceChanged:
    """The error for a block whose rows are not its lines: a quote that spans lines, or is not closed."""
    lines = block.split(b"\n")
    index = next((index for index, text in enumerate(lines) if text.count(b'"') % 2), 0)
    return SourceChanged(
        f"rows and lines do not agree: a stray quote in {lines[index][:80].decode(errors='replace')!r}",
        where=f"{source}, line {line + index}",
    )
