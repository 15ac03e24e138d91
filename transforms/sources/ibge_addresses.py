"""CNEFE, the census's address list: every address with its coordinate, by state; SP has 25 million.

Streamed once, and kept as counts by sector and cell of a thousandth of a degree (about 110 m): enough to tell which
houses stand together, a hundredth of the rows. A cell's point is the mean of its houses'. Sector codes end in a
letter of the preliminary mesh, dropped here; some have no equal in the final one. A município that the list lacks
is absent, never zero.
"""

import re
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from itertools import chain, islice
from typing import BinaryIO

import numpy as np
import polars as pl

from transforms.answers import demand, staged, understood
from transforms.delimited import BROKEN_ZIP, LONGEST_LINE, zip_member
from transforms.errors import SourceChanged, SourceUnsound
from transforms.schema import Column, Kind, Table, Unit
from transforms.sources import Conversation, Request, Scope, Source, Staged
from transforms.sources.ibge_census_sectors import SECTOR

NAME = "ibge_addresses"
FOLDER = "/Cadastro_Nacional_de_Enderecos_para_Fins_Estatisticos/Censo_Demografico_2022/Arquivos_CNEFE/CSV/UF"
_HEADER = (
    "COD_UNICO_ENDERECO COD_UF COD_MUNICIPIO COD_DISTRITO COD_SUBDISTRITO COD_SETOR NUM_QUADRA NUM_FACE CEP "
    "DSC_LOCALIDADE NOM_TIPO_SEGLOGR NOM_TITULO_SEGLOGR NOM_SEGLOGR NUM_ENDERECO DSC_MODIFICADOR NOM_COMP_ELEM1 "
    "VAL_COMP_ELEM1 NOM_COMP_ELEM2 VAL_COMP_ELEM2 NOM_COMP_ELEM3 VAL_COMP_ELEM3 NOM_COMP_ELEM4 VAL_COMP_ELEM4 "
    "NOM_COMP_ELEM5 VAL_COMP_ELEM5 LATITUDE LONGITUDE NV_GEO_COORD COD_ESPECIE DSC_ESTABELECIMENTO "
    "COD_INDICADOR_ESTAB_ENDERECO COD_INDICADOR_CONST_ENDERECO COD_INDICADOR_FINALIDADE_CONST"
).split()
_TYPES = ("COD_TIPO_ESPECI", "COD_TIPO_ESPECIE")  # the file cuts the dictionary's name short

READ = {
    "COD_SETOR": "sector_code",
    "LATITUDE": "latitude",
    "LONGITUDE": "longitude",
    "COD_ESPECIE": "species",
    _TYPES[0]: "type",
}
_SCHEMA: dict[str, pl.DataType] = dict.fromkeys([*_HEADER, _TYPES[0]], pl.String()) | {
    "LATITUDE": pl.Float64(),
    "LONGITUDE": pl.Float64(),
    "COD_ESPECIE": pl.Int16(),
    _TYPES[0]: pl.Int16(),
}
# The last latitude and longitude of a line, with the level and the species that follow: each mark is , or .
_PLACED = re.compile(rb';"?-?\d{1,2}([.,])\d+"?;"?-\d{2}([.,])\d+"?;"?\d?"?;"?\d"?;')
DWELLING = 1  # COD_ESPECIE: private dwelling
HOUSE_TYPES = (101, 102)  # house; house in a row or a condominium
ESTABLISHMENTS = (4, 5, 6, 8)  # teaching, health, other purposes, religious
PIECE, PIECES = 2 << 20, 8  # bytes unpacked at a time; how many make a block
CELLS_PER_DEGREE = 1000
MICRO = 1_000_000  # coordinates are summed as whole millionths of a degree: the same in whatever order
COMPACT_ROWS = 2_000_000

CELLS = Table(
    name="staging.ibge_addresses__cell",
    title="CNEFE 2022: casas e estabelecimentos por setor e célula",
    grain="One row per census sector and cell of 0.001 degree with a house or an establishment.",
    key=("sector_code", "cell_y", "cell_x"),
    columns=(
        SECTOR.but(description="Census sector, without the letter of the preliminary mesh.", source="COD_SETOR"),
        Column(
            "cell_y",
            Kind.INTEGER,
            "Latitude in whole thousandths of a degree, towards the south; 0 without coordinates.",
            "Célula (latitude)",
            Unit.COUNT,
            source="LATITUDE",
        ),
        Column(
            "cell_x", Kind.INTEGER, "The same of the longitude.", "Célula (longitude)", Unit.COUNT, source="LONGITUDE"
        ),
        Column(
            "houses",
            Kind.INTEGER,
            "Private dwellings (species 1) that are houses (types 101 and 102), lived in or not.",
            "Casas",
            Unit.HOUSES,
            minimum=0,
        ),
        Column(
            "establishments",
            Kind.INTEGER,
            "Establishments (species 4, 5, 6 and 8).",
            "Estabelecimentos",
            Unit.COUNT,
            minimum=0,
        ),
        Column("latitude", Kind.FLOAT, "Mean latitude of the cell's houses.", "Latitude", Unit.DEGREES, nullable=True),
        Column(
            "longitude", Kind.FLOAT, "Mean longitude of the cell's houses.", "Longitude", Unit.DEGREES, nullable=True
        ),
    ),
    may_be_empty=True,
)


def conversation(scope: Scope) -> Conversation:
    """The state's file, one request."""
    yield Request("addresses.zip", f"{FOLDER}/{scope.state_code}_{scope.uf}.zip", media="zip", optional=True)


def parse_cell(stream: BinaryIO) -> pl.DataFrame:
    """A state's addresses, counted by sector and cell, in memory bounded by the cells."""
    with zip_member(stream, r".+\.csv", source=NAME, largest=20_000_000_000) as member:
        rows = _summed(_counted(block) for block in _blocks(member))
    mean = [
        (pl.when(pl.col("_placed") > 0).then(pl.col(total)) / pl.col("_placed") / MICRO).round(6).alias(name)
        for name, total in (("latitude", "_y"), ("longitude", "_x"))
    ]
    rows = rows.sort(CELLS.key)  # while sectors are numbers: the table's own sort, of text, then has nothing to do
    return staged(CELLS, rows.with_columns(pl.col("sector_code").cast(pl.String), *mean), NAME)


def _blocks(member: BinaryIO) -> Iterator[pl.DataFrame]:
    """The columns of READ, some hundred thousand addresses at a time.

    The other columns are passed over unread: their accents and quotes can do no harm. That a line was whole shows in
    what is read of it (`_counted`), not in a count of its fields.
    """
    blocks = _ahead(_lines(member))
    first, _, rest = next(blocks, b"").partition(b"\n")
    header = first.decode("utf-8-sig", errors="replace").strip().replace('"', "").split(";")
    if header[:-1] != _HEADER or header[-1] not in _TYPES:
        raise SourceChanged(f"unknown header of {len(header)} columns: {header[:60]}", where=f"{NAME}, line 1")
    line, mark = 2, b""
    for lines in chain([rest], blocks):
        if lines and not lines.isspace():
            if not mark and (placed := _PLACED.search(lines)):
                mark = placed[1]
            frame = _read(lines, line, mark)
            line += frame.height
            yield frame


def _lines(member: BinaryIO) -> Iterator[bytes]:
    """Whole lines, PIECES × PIECE bytes at a time, without the end of the last.

    Small pieces, joined once and let go: what is larger, or more at a time, the allocator hands back to the system,
    and fetching the pages anew costs half as much as unpacking.
    """
    left = b""
    while pieces := list(islice(iter(lambda: member.read(PIECE), b""), PIECES)):
        whole, end, rest = pieces[-1].rpartition(b"\n")
        lines = b"".join([left, *pieces[:-1], whole])
        pieces.clear()
        if end:
            yield lines
        left = rest if end else lines + rest
        if len(rest) > LONGEST_LINE:
            raise SourceChanged(f"a line of more than {LONGEST_LINE} bytes: not delimited text", where=NAME)
    if left:
        yield left


def _ahead(blocks: Iterator[bytes]) -> Iterator[bytes]:
    """The same blocks; the next one unpacks while the last is worked on."""
    with ThreadPoolExecutor(1) as ahead:
        waiting = ahead.submit(next, blocks, None)
        try:
            while (block := waiting.result()) is not None:
                waiting = ahead.submit(next, blocks, None)
                yield block
        except BROKEN_ZIP as error:
            raise SourceChanged(f"the file is cut short or corrupt: {error}", where=NAME) from error


def _read(lines: bytes, line: int, mark: bytes) -> pl.DataFrame:
    """Whole lines, the first of which is `line` of the file. `mark` is the decimal mark of the first coordinates."""
    where = f"{NAME}, from line {line}"
    if mark == b",":
        _one_mark(lines, line, mark)  # Polars would read points as well
    try:
        rows = pl.scan_csv(
            lines,
            has_header=False,
            separator=";",
            quote_char='"' if b'"' in lines else None,
            decimal_comma=mark == b",",
            schema=_SCHEMA,
        )
        frame = rows.select(pl.col(theirs).alias(ours) for theirs, ours in READ.items()).collect()
    except pl.exceptions.PolarsError as error:
        _one_mark(lines, line, mark)
        raise SourceChanged(f"lines that cannot be read: {str(error).splitlines()[0]}", where=where) from error
    ends = np.count_nonzero(np.frombuffer(lines, np.uint8) == ord("\n"))  # 4 times the speed of bytes.count
    if frame.height != ends + 1:
        raise SourceChanged("rows and lines do not agree: a stray quote, or an empty line", where=where)
    return frame


def _one_mark(lines: bytes, line: int, mark: bytes) -> None:
    """Refuse coordinates with another decimal mark than the file's first, naming their line."""
    other = next((placed for placed in _PLACED.finditer(lines) if {placed[1], placed[2]} != {mark}), None)
    if mark and other:
        at = line + lines.count(b"\n", 0, other.start())
        raise SourceChanged("decimal points and decimal commas in one file", where=f"{NAME}, line {at}")


def _counted(block: pl.DataFrame) -> pl.DataFrame:
    """Houses and establishments of some addresses by sector (a number here: quicker) and cell."""
    possible = (
        pl.col("species").is_between(1, 8)
        & pl.col("type").is_between(101, 104).fill_null(value=True)
        & pl.col("latitude").is_between(-34, 6).fill_null(value=True)
        & pl.col("longitude").is_between(-75, -28).fill_null(value=True)
    )
    demand(block, possible, "an address that cannot be", list(READ.values()), NAME)
    house = (pl.col("species") == DWELLING) & pl.col("type").is_in(HOUSE_TYPES).fill_null(value=False)
    establishment = pl.col("species").is_in(ESTABLISHMENTS)
    micro = [
        (pl.col(name) * MICRO).round().cast(pl.Int64).alias(axis)
        for axis, name in (("_y", "latitude"), ("_x", "longitude"))
    ]
    placed = pl.col("house") & pl.col("_y").is_not_null() & pl.col("_x").is_not_null()
    cell = [(pl.col(f"_{axis}") // (MICRO // CELLS_PER_DEGREE)).fill_null(0).alias(f"cell_{axis}") for axis in "yx"]
    counts = (
        block.lazy()
        .filter(house | establishment)
        .select(pl.col("sector_code").str.head(15).cast(pl.Int64), *micro, house=house, other=establishment)
        .select(
            "sector_code",
            *cell,
            pl.col("house").cast(pl.Int64).alias("houses"),
            pl.col("other").cast(pl.Int64).alias("establishments"),
            *(pl.when(placed).then(axis).otherwise(0).alias(axis) for axis in ("_y", "_x")),
            placed.cast(pl.Int64).alias("_placed"),
        )
    )
    with understood(NAME):
        return _by_cell(counts)


def _summed(frames: Iterator[pl.DataFrame]) -> pl.DataFrame:
    """The counts of all batches, summed as they come: what waits is bounded."""
    waiting: list[pl.DataFrame] = []
    held = 0
    for frame in frames:
        waiting.append(frame)
        held += frame.height
        if held > COMPACT_ROWS:
            waiting = [_sum(waiting)]
            held = 0
    if not waiting:
        raise SourceUnsound("no address", where=NAME, action="the file is empty at its source: try later")
    return _sum(waiting)


def _sum(frames: list[pl.DataFrame]) -> pl.DataFrame:
    return _by_cell(pl.concat(frames).lazy())


def _by_cell(counts: pl.LazyFrame) -> pl.DataFrame:
    """One row a cell. Lazy: a third of the time of the same on a frame."""
    return counts.group_by(CELLS.key).agg(pl.all().sum()).collect()


SOURCE = Source(
    name=NAME,
    title="Cadastro Nacional de Endereços para Fins Estatísticos (CNEFE), Censo 2022",
    publisher="IBGE",
    home_page="https://www.ibge.gov.br/estatisticas/sociais/populacao/38734-cadastro-nacional-de-enderecos.html",
    licence="Dados abertos do IBGE, uso livre com citação da fonte",
    cadence="once a census",
    stale_after=1500,
    base="ibge_files",
    encoding="utf-8",
    conversation=conversation,
    tables=(Staged(CELLS, "addresses", parse_cell),),
    required=False,
    smallest=200,
    largest=20_000_000_000,
    notes="Coordinates of levels 5 and 6 (locality, sector) are not the address's own.",
)
