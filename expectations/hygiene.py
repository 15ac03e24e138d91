"""Two truths over whatever tables there are: bounds in order, and text in the encoding it was written in."""

import polars as pl
import polars.selectors as cs

from expectations.check import Frames

# UTF-8 read as Windows-1252 or Latin-1 (an accented letter becomes "Ã" or "Â" and a second character), and U+FFFD.
GARBLED = "\ufffd|Ã[\u0080-\u00bf‚ƒ„…†‡ˆ‰Š‹ŒŽ‘’“•–—˜™š›œžŸ€]|Â[\u0080-\u00bf ]"
GARBLED_COLUMN = {"table": pl.String, "column": pl.String, "rows": pl.Int64, "of": pl.Int64, "first": pl.String}
TOLERATED = 1000  # upstreams hold a few such cells of their own, fewer than one row in so many
# Of garbled columns: those whose file was read in the wrong encoding; in the others the publisher wrote a few so.
THROUGHOUT = pl.col("rows") * TOLERATED > pl.col("of")


def garbled(frames: Frames) -> pl.LazyFrame:
    """One row per text column with garbled cells: table, column, rows, of, first.

    Rows are looked at whole first, for nearly always there is nothing to find.
    """
    texts = {table: frame.select(cs.string()) for table, frame in frames.items()}
    texts = {table: frame for table, frame in texts.items() if frame.collect_schema()}
    rows = pl.concat_str(pl.all(), separator="\n", ignore_nulls=True)
    asked = [frame.select(rows.str.contains(GARBLED).any()) for frame in texts.values()]
    answers = zip(texts, pl.collect_all(asked, engine="streaming"), strict=True)
    columns = [_garbled(table, texts[table]) for table, answer in answers if answer.item()]
    return pl.concat([pl.LazyFrame(schema=GARBLED_COLUMN), *columns])


def _garbled(table: str, texts: pl.LazyFrame) -> pl.LazyFrame:
    """The same of one table."""
    bad = pl.all().str.contains(GARBLED)
    rows = texts.select(bad.sum().cast(pl.Int64)).unpivot(variable_name="column", value_name="rows")
    first = texts.select(pl.all().filter(bad).first()).unpivot(variable_name="column", value_name="first")
    return (
        rows.filter(pl.col("rows") > 0)
        .join(first, on="column", validate="1:1", maintain_order="left")
        .join(texts.select(pl.len().cast(pl.Int64).alias("of")), how="cross")
        .select(pl.lit(table).alias("table"), "column", "rows", "of", "first")
    )


def unordered(frames: Frames) -> pl.LazyFrame:
    """Rows whose bounds cross, wherever three columns are named low, value and high: table, figure, key, bounds.

    `figure` is the prefix of the columns, if any; `key` the row's first four columns.
    """
    found = [pl.LazyFrame(schema=dict.fromkeys(("table", "figure", "key", "low", "value", "high"), pl.String))]
    for table, frame in frames.items():
        names = frame.collect_schema().names()
        key = pl.concat_str(pl.col(names[:4]).cast(pl.String), separator=" ", ignore_nulls=True)
        for prefix in (name.removesuffix("low") for name in names if name.endswith("low")):
            low, value, high = (f"{prefix}{end}" for end in ("low", "value", "high"))
            if not {value, high} <= set(names):
                continue
            crossed = [pl.col(a) > pl.col(b) for a, b in ((low, value), (value, high), (low, high))]
            figures = (pl.col(name).cast(pl.String).alias(name.removeprefix(prefix)) for name in (low, value, high))
            said = (pl.lit(table).alias("table"), pl.lit(prefix.rstrip("_")).alias("figure"), key.alias("key"))
            found.append(frame.filter(pl.any_horizontal(crossed)).select(*said, *figures))
    return pl.concat(found)
