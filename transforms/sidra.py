"""SIDRA's flat rows (apisidra's /values, and `view=flat` of the aggregates API): a heading, then one row a figure.

The first object holds the headings, and is no data. D1, D2 … follow the order of the question, so columns are
known by their headings only. Figures are text: a number, `-` (zero) or a marker that is kept.
"""

from typing import Any

import polars as pl

from transforms.answers import understood
from transforms.errors import SourceChanged


def is_flat(body: Any) -> bool:
    """Whether an answer is SIDRA's flat rows, not the aggregates API's nested ones."""
    return isinstance(body, list) and bool(body) and isinstance(body[0], dict) and "V" in body[0]


def flat_rows(body: list[dict[str, str]], source: str) -> pl.DataFrame:
    """One row a figure, all text, its columns named by their headings (the figure's is `Valor`)."""
    headings = body[0]
    if headings["V"] != "Valor":
        raise SourceChanged("SIDRA's rows came without their headings", where=source, action="ask with /h/y")
    with understood(source):
        rows = pl.DataFrame(body[1:], schema=dict.fromkeys(headings, pl.String), strict=True)
        return rows.rename(headings)
