"""Every reader of every source, given the sample's answers with damage: rows as declared, or one of our errors.

Damage is done to what is sent, and to what is inside an archive and packed anew: the former is what broken downloads
look like (and what flows/verify.py refuses first), the latter what publishers do.
"""

import io
import zipfile
from collections.abc import Iterator

import polars as pl
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.damage import damaged
from transforms.catalog import sources
from transforms.errors import EmancipaError
from transforms.sources import Scope, Staged
from warehouse import sample

LONGEST = 40_000  # bytes of a text that is damaged: the whole register would take a second each time


def spoken(name: str) -> Iterator[tuple[str, bytes]]:
    """The parts of a conversation with the sample, and the bytes it answers."""
    source = sources()[name]
    talk = source.conversation(Scope(sample.UF, sample.AS_OF))
    request = next(talk)
    while True:
        found = sample.answers(source.base, request.path, request.params)
        if found:
            yield request.part, found.body
        try:
            request = talk.send(io.BytesIO(found.body) if found else None)
        except StopIteration:
            return


def readers() -> dict[str, tuple[Staged, bytes]]:
    """By name, a reader and an answer that it reads, shortened."""
    return {
        f"{source.name}-{staged.part}": (staged, shortened(body))
        for source in sources().values()
        if source.base != "inputs"
        for part, body in spoken(source.name)
        for staged in source.tables
        if part.startswith(staged.part)
    }


def shortened(body: bytes) -> bytes:
    """An archive whose texts are only as long as damage needs."""
    if not body.startswith(b"PK"):
        return body
    return packed({name: text[: text.rfind(b"\n", 0, LONGEST) + 1] for name, text in members(body).items()})


def members(body: bytes) -> dict[str, bytes]:
    with zipfile.ZipFile(io.BytesIO(body)) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def packed(texts: dict[str, bytes]) -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as archive:
        for name, text in texts.items():
            archive.writestr(name, text)
    return out.getvalue()


READERS = readers()


class Damaged(io.BytesIO):
    """A damaged answer, that does not fill the screen when it is the counter-example."""

    def __repr__(self) -> str:
        return f"Damaged({self.getbuffer().nbytes} bytes)"


@st.composite
def answers(draw: st.DrawFn, good: bytes) -> Damaged:
    if not good.startswith(b"PK") or draw(st.integers(0, 3)) == 0:
        return Damaged(draw(damaged(good)))
    texts = members(good)
    name = draw(st.sampled_from(sorted(texts)))
    return Damaged(packed(texts | {name: draw(damaged(texts[name]))}))


def test_every_reader_of_an_upstream_is_tried_here() -> None:
    by_hand = {"dtb/", "dou/", "finbra/", "rreo_csv/", "rreo/"}  # tests/test_sources_*.py damage their files
    every = {f"{s.name}-{t.part}" for s in sources().values() if s.base != "inputs" for t in s.tables}
    assert {name for name in every - READERS.keys() if name.split("-")[1] not in by_hand} <= {"tse_plebiscite-ballots"}


@pytest.mark.parametrize("name", READERS)
def test_the_undamaged_answer_has_rows(name: str) -> None:
    staged, good = READERS[name]
    assert staged.table.conform(staged.parse(io.BytesIO(good))).height


@pytest.mark.parametrize("name", READERS)
@settings(max_examples=12, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large])
@given(data=st.data())
def test_damage_gives_rows_as_declared_or_one_of_our_errors(name: str, data: st.DataObject) -> None:
    staged, good = READERS[name]
    try:
        rows = staged.table.conform(staged.parse(data.draw(answers(good))))
    except EmancipaError:
        return
    assert isinstance(rows, pl.DataFrame)
