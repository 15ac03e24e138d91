"""Two truths over whatever tables there are: bounds in order, and text in the encoding it was written in."""

from collections.abc import Mapping

import polars as pl

# UTF-8 read as Windows-1252 or Latin-1 (an accented letter becomes "Ã" or "Â" and a second character), and U+FFFD.
GARBLED = "\ufffd|Ã[\u0080-\u00bf‚ƒ„…†‡ˆ‰Š‹ŒŽ‘’“•–—˜™š›œžŸ€]|Â[\u0080-\u00bf ]"
TOLERATED = 1000  # upstreams hold a few such cells of their own, fewer than one row in so many


def misread(frames: Mapping[str, pl.LazyFrame]) -> pl.LazyFrame:
    """Columns garbled throughout: their file was read in the wrong encoding."""
    return _garbled(frames).filter(pl.col("rows") * TOLERATED > pl.col("of"))


def mistyped(frames: Mapping[str, pl.LazyFrame]) -> pl.LazyFrame:
    """Columns with a few garbled cells: their publisher wrote them so."""
    return _garbled(frames).filter(pl.col("rows") * TOLERATED <= pl.col("of"))


def _garbled(frames: Mapping[str, pl.LazyFrame]) -> pl.LazyFrame:
    """One row per text column with garbled cells: table, column, rows, of, first."""
    found = []
    for table, frame in frames.items():
        bad = {
            name: pl.col(name).str.contains(GARBLED)
            for name, dtype in frame.collect_schema().items()
            if dtype == pl.String
        }
        sums = (expression.sum().cast(pl.Int64).alias(name) for name, expression in bad.items())
        counts = frame.select(pl.len().cast(pl.Int64).alias(""), *sums).collect(engine="streaming").row(0, named=True)
        of = counts.pop("")
        for name, rows in counts.items():
            if rows:
                first = frame.filter(bad[name]).select(name).first().collect().item()
                found.append({"table": table, "column": name, "rows": rows, "of": of, "first": first})
    schema = {"table": pl.String, "column": pl.String, "rows": pl.Int64, "of": pl.Int64, "first": pl.String}
    return pl.LazyFrame(found, schema=schema)


def unordered(frames: Mapping[str, pl.LazyFrame]) -> pl.LazyFrame:
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
