"""A worksheet whose table is written whole, by Polars: cell by cell, as xlsxwriter does it, takes seven times as long.

xlsxwriter makes all else: headings, formats, widths, filters, colours, print setup, the file. Of its insides we lean on
where a sheet writes its rows, and on the numbers by which a cell refers to its text and its format. pyproject.toml lets
in the versions for which that holds; test_xlsx reads every cell back.
"""

from collections.abc import Mapping
from typing import TypeAlias

import polars as pl
from xlsxwriter.format import Format
from xlsxwriter.utility import xl_col_to_name
from xlsxwriter.worksheet import Worksheet

Styles: TypeAlias = Mapping[str, Format | Mapping[int, Format]]


class Sheet(Worksheet):  # type: ignore[misc]  # xlsxwriter has no types
    """A sheet of one table below a row of headings."""

    def __init__(self) -> None:
        super().__init__()
        self.rows = ""  # of the table, as XML

    def write_table(self, cells: pl.DataFrame, styles: Styles) -> None:
        """Cells from their texts, by column; a null is no cell. A column of one format holds texts, to the letter,
        whatever they begin with; one of a format for each number of decimals holds exact figures.
        """
        row = pl.int_range(2, pl.len() + 2)
        texts = cells.select(name for name, style in styles.items() if isinstance(style, Format))
        shared = cells.with_columns(self._shared(texts))
        told = (_cells(place, row, pl.col(name), style) for place, (name, style) in enumerate(styles.items()))
        rows = pl.concat_str(pl.format('<row r="{}">', row), *told, pl.lit("</row>"), ignore_nulls=True)
        self.rows = shared.select(rows.str.join("")).item()
        self.dim_rowmax, self.dim_colmax = cells.height, cells.width - 1

    def _shared(self, texts: pl.DataFrame) -> pl.DataFrame:
        """Texts as their numbers in the workbook's one list of them."""
        told = texts.unpivot()["value"].drop_nulls()
        distinct = told.unique(maintain_order=True)
        numbers = pl.Series([self.str_table._get_shared_string_index(text) for text in distinct], dtype=pl.Int64)
        self.str_table.count += told.len() - distinct.len()  # of those that stand more than once
        return texts.select(pl.all().replace_strict(distinct, numbers, default=None))

    def _write_rows(self) -> None:
        """Where xlsxwriter writes the rows it knows of, which are the headings."""
        super()._write_rows()
        self.fh.write(self.rows)


def _cells(place: int, row: pl.Expr, value: pl.Expr, style: Format | Mapping[int, Format]) -> pl.Expr:
    """A column's cells as XML: a text by its number, a figure as it is written."""
    at = f'<c r="{xl_col_to_name(place)}{{}}"'
    if isinstance(style, Format):
        return pl.format(f'{at} s="{style._get_xf_index()}" t="s"><v>{{}}</v></c>', row, value)
    formats = {decimals: each._get_xf_index() for decimals, each in style.items()}
    decimals = value.str.extract(r"^[^.]*\.?(\d*)$").str.len_chars()
    return pl.format(f'{at} s="{{}}"><v>{{}}</v></c>', row, decimals.replace_strict(formats), value)
