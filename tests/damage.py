"""Damaged files for fuzz tests: any bytes at all, and good files with some bytes lost, added or changed."""

from hypothesis import strategies as st


@st.composite
def damaged(draw: st.DrawFn, good: bytes) -> bytes:
    """A good file with up to three stretches replaced, or cut short, or not that file at all."""
    if draw(st.booleans()) and draw(st.booleans()):
        return draw(st.binary(max_size=300))
    body = bytearray(good)
    for _ in range(draw(st.integers(1, 3))):
        start = draw(st.integers(0, len(body)))
        length = draw(st.sampled_from([0, 1, 2, 9, len(body)]))
        body[start : start + length] = draw(st.one_of(st.binary(max_size=9), st.sampled_from(TROUBLE)))
    return bytes(body)


TROUBLE = (
    *(
        text.encode()
        for text in ('"', ";", ",", "|", "\n", "\r", "\ufeff", "\ufffd", ".", "..", "...", "X", "-", "-1", "null", "[]")
    ),
    *(b"{}", b"[[", b"1e999", b"NaN", b"99999999999999999999", b"\x00", b"\xff", b"\x81", b'"\\ud800"'),
)
