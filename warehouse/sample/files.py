"""The shapes publishers wrap their answers in: quoted CSV, zip, Apache's folder index. The same bytes every time."""

import html
import io
import zipfile
from collections.abc import Iterable, Mapping, Sequence

_MOMENT = (2026, 5, 20, 9, 0, 0)  # every member's date: a clock would make each run a new snapshot


def quoted(rows: Iterable[Sequence[str]], newline: str = "\n") -> str:
    """Rows as IBGE writes them: every field in quotes, `;` between."""
    return "".join('"' + '";"'.join(row) + f'"{newline}' for row in rows)


def zipped(members: Mapping[str, bytes]) -> bytes:
    """A zip of `members`, in order."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED, compresslevel=3) as archive:
        for name, body in members.items():
            archive.writestr(zipfile.ZipInfo(name, _MOMENT), body, zipfile.ZIP_DEFLATED, 3)
    return buffer.getvalue()


def index(path: str, names: Sequence[str]) -> bytes:
    """A folder's page as ftp.ibge.gov.br serves it: Apache, ISO-8859-1."""
    rows = "".join(
        f'<tr><td valign="top"><img src="/icons/compressed.gif" alt="[   ]"></td><td>'
        f'<a href="{html.escape(name)}">{html.escape(name)}</a></td>'
        f'<td align="right">2026-05-20 09:00  </td><td align="right"> 15M</td><td>&nbsp;</td></tr>\n'
        for name in sorted(names)
    )
    parent = path.rstrip("/").rsplit("/", 1)[0] + "/"
    return (
        '<!DOCTYPE HTML PUBLIC "-//W3C//DTD HTML 3.2 Final//EN">\n<html>\n <head>\n'
        f"  <title>Index of {path.rstrip('/')}</title>\n </head>\n <body>\n<h1>Index of {path.rstrip('/')}</h1>\n"
        '  <table>\n   <tr><th valign="top"><img src="/icons/blank.gif" alt="[ICO]"></th>'
        '<th><a href="?C=N;O=D">Name</a></th><th><a href="?C=M;O=A">Last modified</a></th>'
        '<th><a href="?C=S;O=A">Size</a></th><th><a href="?C=D;O=A">Description</a></th></tr>\n'
        '   <tr><th colspan="5"><hr></th></tr>\n'
        f'<tr><td valign="top"><img src="/icons/back.gif" alt="[PARENTDIR]"></td><td><a href="{parent}">'
        'Parent Directory</a></td><td>&nbsp;</td><td align="right">  - </td><td>&nbsp;</td></tr>\n'
        f'{rows}   <tr><th colspan="5"><hr></th></tr>\n</table>\n</body></html>\n'
    ).encode("iso-8859-1")
