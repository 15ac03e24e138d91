"""Bars of long downloads, as a terminal shows them."""

import io

from rich.console import Console

from flows.progress import LONG, Bars

PLACES = "tse_polling_places sections"


def bars(*, terminal: bool) -> tuple[Bars, io.StringIO]:
    written = io.StringIO()
    return Bars(Console(file=written, force_terminal=terminal, width=100)), written


def test_a_long_download_has_a_bar_until_it_is_done() -> None:
    shown, written = bars(terminal=True)
    shown(PLACES, LONG, 4 * LONG)
    assert shown.say("ibge_localities: ok")
    shown(PLACES, 4 * LONG, 4 * LONG)
    assert PLACES in written.getvalue()
    assert "5.0/20.0 MB" in written.getvalue()
    assert "ibge_localities: ok\n" in written.getvalue()
    assert not shown.say("it is over: plain lines again")


def test_a_download_that_failed_takes_its_bar_away() -> None:
    shown, written = bars(terminal=True)
    shown(PLACES, LONG, 4 * LONG)
    assert shown.say("tse_polling_places: failed, the connection broke off")
    assert "broke off" in written.getvalue()
    assert not shown.say("nothing new")


def test_short_downloads_unknown_lengths_and_pipes_have_no_bar() -> None:
    shown, written = bars(terminal=True)
    shown(PLACES, 1, LONG - 1)
    shown(PLACES, LONG, None)
    piped, file = bars(terminal=False)
    piped(PLACES, LONG, 4 * LONG)
    assert not piped.say("ok")
    assert written.getvalue() == file.getvalue() == ""
