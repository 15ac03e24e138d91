"""The file list of a web server (Apache's index page): which of its files is the newest of a kind.

IBGE renames files with each revision (`…_20250417.zip`, `…_20260520.zip`) and leaves old ones beside the new, so
a name is looked up in the list, never written down.
"""

import re
from html import unescape
from typing import BinaryIO
from urllib.parse import unquote

from transforms.errors import SourceChanged


def newest(index: BinaryIO, pattern: str, source: str) -> str:
    """The link to the file whose decoded name matches `pattern` whole; of several, the one with the latest date.

    The date is the pattern's first group (YYYYMMDD; a name without one is the oldest). The link comes as the
    server wrote it, percent-encoded, without folders. Raises SourceChanged where nothing matches.
    """
    page = index.read().decode("latin-1")
    links = [unescape(link) for link in re.findall(r"""href\s*=\s*["'](?:[^"'?#]*/)?([^"'?#/]+)["']""", page, re.I)]
    dated = [(found[1] or "", link) for link in links if (found := re.fullmatch(pattern, unquote(link)))]
    if not dated:
        raise SourceChanged(
            f"no file {pattern!r} in the list of {len(links)}: {links[:10]}",
            where=source,
            action="look at the folder: was the file renamed or moved?",
        )
    return max(dated)[1]
