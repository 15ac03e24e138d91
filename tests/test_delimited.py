"""The reader of delimited upstream text: every line accounted for, whatever the block size or the encoding."""

import csv
import io
import zipfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.damage import damaged
from transforms import delimited
from transforms.delimited import batches, read, zip_member
from transforms.errors import EmancipaError, SourceChanged
from transforms.numbers import IBGE_MISSING, TSE_MISSING, count, missing_marker

HEADER = ("code", "name", "value")
WHOLE = {name: name for name in HEADER}


def table(raw: bytes, columns: dict[str, str] | None = None, **changes: Any) -> pl.DataFrame:
    wanted = {"columns": columns or WHOLE, "generations": [HEADER], "source": "test"} | changes
    return read(io.BytesIO(raw), **wanted)


def archive(**members: bytes) -> io.BytesIO:
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as file:
        for name, content in members.items():
            file.writestr(name, content)
    packed.seek(0)
    return packed


def written(rows: Sequence[Sequence[str]], line_end: str) -> str:
    text = io.StringIO()
    csv.writer(text, delimiter=";", quoting=csv.QUOTE_ALL, lineterminator=line_end).writerows(rows)
    return text.getvalue()


def test_wanted_columns_come_as_text_under_our_names_in_the_files_order() -> None:
    found = table(b'code;name;value\n"02";b;"2,5"\n01;a;1\n', {"value": "figure", "code": "id"})
    assert found.to_dict(as_series=False) == {"figure": ["2,5", "1"], "id": ["02", "01"]}
    assert found.dtypes == [pl.String, pl.String]


def test_a_column_the_generation_lacks_is_null_and_columns_may_come_in_any_order() -> None:
    found = table(b"name;code\na;1\n", generations=[HEADER, ("code", "name")])
    assert found.rows() == [("1", "a", None)]


def test_an_unquoted_empty_field_is_null_and_a_quoted_one_is_the_empty_text() -> None:
    assert table(b'code;name;value\n;"";x\n').rows() == [(None, "", "x")]


def test_separators_and_doubled_quotes_inside_quotes_are_text() -> None:
    assert table(b'code;name;value\n1;"a;b;""c""";2\n').rows() == [("1", 'a;b;"c"', "2")]


@pytest.mark.parametrize(
    ("raw", "name"),
    [
        pytest.param("Pau D’Arco".encode("cp1252"), "Pau D’Arco", id="windows-1252"),
        pytest.param(b"a\x81\x8d\x8f\x90\x9db\xe3", "a\x81\x8d\x8f\x90\x9dbã", id="the-five-holes"),
        pytest.param("São João".encode(), "São João", id="utf-8-declared-wrong"),
    ],
)
def test_names_are_read_exactly(raw: bytes, name: str) -> None:
    assert table(b"code;name;value\n1;" + raw + b";2\n")["name"].to_list() == [name]


def test_a_byte_order_mark_is_no_part_of_the_first_heading() -> None:
    assert table(b"\xef\xbb\xbfcode;name;value\n1;\xc3\xa3;2\n").rows() == [("1", "ã", "2")]
    assert table(b"\xef\xbb\xbfcode;name;value\n1;\xe3;2\n").rows() == [("1", "ã", "2")]  # TSE's, at times


def test_bytes_that_are_not_the_declared_utf8_are_refused_with_their_line() -> None:
    with pytest.raises(SourceChanged, match=r"not valid UTF-8.*\[test, line 3\]"):
        table(b"code;name;value\n1;a;2\n2;\xe3;3\n", encoding="utf-8")


# Latin-1 without 80–BF, the continuation bytes of UTF-8: what these spell in Windows-1252 is never valid UTF-8.
LETTERS = st.characters(max_codepoint=0xFF, exclude_characters=["\r", "\n", *map(chr, range(0x80, 0xC0))])


@given(
    rows=st.lists(
        st.lists(st.text(LETTERS, max_size=9), min_size=3, max_size=3),
        max_size=9,
    ),
    encoding=st.sampled_from(["cp1252", "utf-8"]),
    line_end=st.sampled_from(["\n", "\r\n"]),
    block=st.integers(1, 60),
)
def test_what_was_written_is_read_whatever_the_blocks(
    rows: list[list[str]], encoding: str, line_end: str, block: int
) -> None:
    raw = written([HEADER, *rows], line_end).encode(encoding)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(delimited, "BLOCK", block)
        assert table(raw).rows() == [*map(tuple, rows)]


def test_large_files_come_in_batches_that_together_hold_every_line(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(delimited, "BLOCK", 1000)
    raw = b"code;name;value\n" + b"".join(b"%d;name;1\n" % number for number in range(1000))
    frames = list(batches(io.BytesIO(raw), columns={"code": "code"}, generations=[HEADER], source="test"))
    assert len(frames) > 10
    assert pl.concat(frames)["code"].to_list() == [str(number) for number in range(1000)]


@pytest.mark.parametrize("end", [b"", b"\n", b"\r\n\r\n", b"\n\n\n"])
def test_the_end_of_the_file_is_no_row(end: bytes) -> None:
    assert table(b"code;name;value\n1;a;2\n2;b;3" + end).height == 2


def test_a_header_alone_is_an_empty_table() -> None:
    assert table(b"code;name;value\n").shape == (0, 3)


@pytest.mark.parametrize(
    ("raw", "told"),
    [
        pytest.param(b"", "3 columns expected, 0 read", id="empty-file"),
        pytest.param(b"code;name;value;value\n", r"read; repeated \['value'\]", id="repeated-heading"),
        pytest.param(
            b"code;name;value\n1;a;2\n2;b\n", r"3 fields expected, 2 read: '2;b' \[test, line 3\]", id="short"
        ),
        pytest.param(b"code;name;value\n1;a;2;\n", r"3 fields expected, 4 read.*line 2", id="long"),
        pytest.param(b"code;name;value\n1;a;2;3\n2;b\n", "4 read.*line 2", id="long-and-short"),
        pytest.param(b"code;name;value\n1;a;2\n\n3;c;4\n", "1 read.*line 3", id="blank-line-between"),
        pytest.param(b'code;name;value\n1;a;2\n2;"b;3\n3;c";4;5\n', "line 3", id="quote-across-lines"),
        pytest.param(b'code;name;value\n1;a;"2\n', "line 2", id="quote-not-closed"),
    ],
)
def test_a_broken_line_is_refused_with_its_number_though_its_column_is_not_wanted(raw: bytes, told: str) -> None:
    with pytest.raises(SourceChanged, match=told):
        table(raw, {"code": "code"})


def test_text_after_a_closing_quote_is_refused_where_it_is_wanted() -> None:
    with pytest.raises(SourceChanged, match="rows and lines do not agree"):
        table(b'code;name;value\n1;"a"b;2\n3;c;4\n')


def test_a_line_without_end_is_refused_before_it_fills_memory() -> None:
    class Endless(io.RawIOBase):
        given = 0

        def read(self, size: int = -1) -> bytes:
            self.given += size
            return b"x" * size

    stream = Endless()
    with pytest.raises(SourceChanged, match="not delimited text"):
        read(stream, columns=WHOLE, generations=[HEADER], source="test")  # type: ignore[arg-type]
    assert stream.given <= 2 * delimited.BLOCK


def test_case_17_latin1(shared: Path) -> None:
    header = "DT_GERACAO;SG_UF;CD_MUNICIPIO;NM_MUNICIPIO;QT_ELEITORES".split(";")
    with (shared / "cases/17-latin1-file/eleitorado_latin1.csv").open("rb") as file:
        found = read(file, columns={name: name for name in header}, generations=[header], source="TSE")
    assert found["NM_MUNICIPIO"].to_list() == ["SÃO JOÃO D'ALIANÇA"]
    assert found.select(count(pl.col("QT_ELEITORES"))).item() == 8123


def test_case_19_sentinels_are_not_values(shared: Path) -> None:
    header = ("CD_MUNICIPIO", "NM_BAIRRO", "QT_ELEITORES")
    with (shared / "cases/19-sentinels-as-values/eleitorado.csv").open("rb") as file:
        found = read(file, columns={name: name for name in header}, generations=[header], source="TSE")
    voters = found.select(voters=count(pl.col("QT_ELEITORES"), TSE_MISSING))["voters"]
    assert (voters.sum(), voters.null_count()) == (150, 1)
    assert found["CD_MUNICIPIO"].to_list() == ["01457"] * 3
    assert found.select(missing_marker(pl.col("NM_BAIRRO"), TSE_MISSING)).to_series().to_list() == [
        None,
        "#NULO#",
        "#NE#",
    ]


def test_case_23_a_changed_layout_names_what_is_missing_and_what_is_new(shared: Path) -> None:
    known = ("ANO", "SG_UF", "CD_MUNICIPIO", "NR_ZONA", "QT_ELEITORES")
    folder = shared / "cases/23-layout-changed"
    wanted = {name: name for name in known}
    assert table((folder / "e2022.csv").read_bytes(), wanted, generations=[known]).rows() == [
        ("2022", "MG", "41238", "30", "500")
    ]
    told = r"missing \['QT_ELEITORES'\], unexpected \['CD_GENERO', 'QT_ELEITOR'\]"
    with pytest.raises(SourceChanged, match=told):
        table((folder / "e2026.csv").read_bytes(), wanted, generations=[known])


def test_case_63_a_title_above_the_header_is_not_guessed_around(shared: Path) -> None:
    with (shared / "cases/63-csv-sniffer-wrong-delimiter/extracao.csv").open("rb") as file:
        with pytest.raises(SourceChanged, match="3 columns expected, 1 read"):
            read(file, columns={"cod": "cod"}, generations=[("cod", "nome", "valor")], source="test")
        file.seek(0)
        file.readline()
        found = read(file, columns={"cod": "a", "valor": "b"}, generations=[("cod", "nome", "valor")], source="test")
    assert found.rows() == [("1", "10,5"), ("2", "20,1")]


def test_case_64_a_marker_in_the_last_row_stays_a_marker(shared: Path) -> None:
    with (shared / "cases/64-schema-inferred-from-first-rows/valores.csv").open("rb") as file:
        found = read(file, columns={"cod": "cod", "v": "v"}, generations=[("cod", "v")], source="test")
    typed = found.select(value=count(pl.col("v")), marker=missing_marker(pl.col("v"), IBGE_MISSING))
    assert typed.height == 151
    assert typed.row(-1) == (None, "...")
    assert typed["value"].sum() == sum(range(10, 1510, 10))


def test_case_88_an_archive_that_leads_outside_is_refused(shared: Path) -> None:
    with (
        (shared / "cases/88-zip-slip/malicioso.zip").open("rb") as file,
        pytest.raises(SourceChanged, match=r"lead outside: \['../../fora.txt'\]"),
    ):
        zip_member(file, r"dados\.csv", source="test")


def test_the_one_member_is_found_in_any_folder_and_case() -> None:
    packed = archive(**{"leiame.pdf": b"%PDF", "2026/Dados_BR.CSV": b"hello"})
    with zip_member(packed, r"dados_br\.csv", source="test") as member:
        assert member.read() == b"hello"


@pytest.mark.parametrize("names", [(), ("other.csv",), ("a/data.csv", "b/data.csv")])
def test_no_member_or_several_are_refused(names: tuple[str, ...]) -> None:
    with pytest.raises(SourceChanged, match="members of the archive match"):
        zip_member(archive(**dict.fromkeys(names, b"")), r"data\.csv", source="test")


@pytest.mark.parametrize("name", ["/etc/x", "a/../x", "C:\\x", "..\\x"])
def test_members_that_lead_outside_are_refused(name: str) -> None:
    with pytest.raises(SourceChanged, match="lead outside"):
        zip_member(archive(**{name: b"", "data.csv": b""}), r"data\.csv", source="test")


def test_links_in_an_archive_are_refused() -> None:
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as file:
        link = zipfile.ZipInfo("data.csv")
        link.external_attr = 0o120777 << 16
        file.writestr(link, "/etc/passwd")
    with pytest.raises(SourceChanged, match="lead outside"):
        zip_member(packed, r"data\.csv", source="test")


def test_a_member_larger_than_the_limit_is_not_unpacked() -> None:
    with pytest.raises(SourceChanged, match="unpacks to 1000000 bytes"):
        zip_member(archive(**{"data.csv": b"0" * 1_000_000}), r"data\.csv", source="test", largest=999_999)


def test_a_corrupt_member_is_refused_not_read_in_part() -> None:
    raw = bytearray(archive(**{"data.csv": b"code;name;value\n" + b"1;a;2\n" * 5000}).getvalue())
    raw[60] ^= 0xFF
    with (
        pytest.raises(SourceChanged, match=r"corrupt|whole"),
        zip_member(io.BytesIO(bytes(raw)), r"data\.csv", source="test") as member,
    ):
        read(member, columns=WHOLE, generations=[HEADER], source="test")


GOOD = b'code;name;value\r\n"1";"S\xe3o Jo\xe3o";"2,5"\r\n2;b;-\r\n3;"c;d";...\r\n'


@given(raw=damaged(GOOD), block=st.sampled_from([3, 1 << 20]), encoding=st.sampled_from(["cp1252", "utf-8"]))
def test_any_bytes_give_every_line_or_one_of_our_errors(raw: bytes, block: int, encoding: str) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(delimited, "BLOCK", block)
        try:
            found = table(raw, {"code": "code"}, encoding=encoding)
        except EmancipaError:
            return
    assert found.height == raw.rstrip(b"\r\n").count(b"\n")


@given(raw=damaged(archive(**{"data.csv": GOOD, "readme.txt": b"x"}).getvalue()))
def test_any_archive_is_read_or_refused(raw: bytes) -> None:
    try:
        with zip_member(io.BytesIO(raw), r"data\.csv", source="test") as member:
            assert read(member, columns=WHOLE, generations=[HEADER], source="test").height == 3
    except EmancipaError:
        pass
