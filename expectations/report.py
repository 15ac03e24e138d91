"""What the gate found, for people: `meta.check_result`, a text to read first, a CSV, and GX Data Docs.

The Data Docs load nothing from anywhere: Great Expectations' pages call seven CDNs and a tracker, so only their
sections are kept, and the index and the stylesheet are ours. Failures come first everywhere.
"""

import html
import re
from collections.abc import Mapping
from pathlib import Path

import polars as pl

from transforms.columns import CHECKED, FAILING_ROWS
from transforms.errors import ChecksRefused
from transforms.schema import Column, Kind, Table

CHECK_RESULT = Table(
    name="meta.check_result",
    title="Resultados das verificações",
    grain="One check of one table or column in this release's gate",
    key=("check_name", "table_name", "column_name"),
    columns=(
        *CHECKED,
        Column(
            "severity",
            Kind.TEXT,
            "Critical stops publication, a warning is published; a check that errors is critical.",
            "Gravidade",
            values=("critical", "warning"),
        ),
        Column("status", Kind.TEXT, "What came of it.", "Situação", values=("passed", "failed", "error")),
        Column("observed", Kind.TEXT, "What was found, where it failed.", "Encontrado", nullable=True),
        Column("expected", Kind.TEXT, "What should have been found.", "Esperado"),
        FAILING_ROWS,
        Column("first_keys", Kind.TEXT, "The first failing rows, by key.", "Primeiras chaves", nullable=True),
        Column("reason", Kind.TEXT, "Why it must hold.", "Motivo"),
        Column("next_step", Kind.TEXT, "What to do when it fails.", "Próximo passo"),
    ),
)

STYLE = """
:root { color-scheme: light dark; font: 15px/1.5 system-ui, sans-serif }
body { margin: 2rem auto; max-width: 90rem; padding: 0 1rem }
h4, h5, h6 { font-size: 1.1rem; margin: 1.5rem 0 .5rem }
table { border-collapse: collapse; width: 100% }
th, td { border: 1px solid #8886; padding: .35rem .5rem; text-align: left; vertical-align: top }
td { overflow-wrap: break-word }
th, .badge { background: #8882 }
tr.critical td:first-child { border-left: 4px solid #c33 }
tr.warning td:first-child { border-left: 4px solid #c90 }
.fa-check-circle::before { content: "✓" }
.fa-times::before { content: "✗" }
.fa-exclamation-triangle::before { content: "!" }
"""

_LOADED = re.compile(
    r"<(script|style)\b.*?</\1\s*>|<(?:link|img|iframe|source|object|embed)\b[^>]*>", re.DOTALL | re.IGNORECASE
)
_LINK = re.compile(r"</?a\b[^>]*>", re.IGNORECASE)
_SECTION = re.compile(r'<div id="section-\d+".*?(?=<footer\b|</body>)', re.DOTALL)


def refused(results: pl.DataFrame) -> pl.DataFrame:
    """The results that stop publication."""
    return results.filter((pl.col("severity") == "critical") & (pl.col("status") != "passed"))


def published_with(results: pl.DataFrame) -> list[str]:
    """What did not pass and yet is published, a line each."""
    failed = results.filter((pl.col("severity") == "warning") & (pl.col("status") != "passed")).sort(CHECK_RESULT.key)
    return [f"{row['check_name']}: {row['observed'] or row['first_keys']} (checks.txt)" for row in failed.to_dicts()]


def require(results: pl.DataFrame, folder: Path | None = None) -> None:
    """Raise ChecksRefused where a critical check did not pass, naming the first ones and where the report is."""
    stopping = refused(results)
    if stopping.is_empty():
        return
    first = "; ".join(f"{row['check_name']} {_where(row)}: {row['observed']}" for row in stopping.head(3).to_dicts())
    raise ChecksRefused(
        f"{stopping.height} critical check{'s' if stopping.height > 1 else ''} did not pass: {first}",
        where=str(folder / "checks.txt") if folder else "",
        action="nothing was published; checks.txt lists each failure with its rows and the next step",
    )


def text(results: pl.DataFrame) -> str:
    """The report to read first: a line of totals, each failure with its rows and next step, then what passed."""
    parts = [_totals(results)]
    failures = _worst_first(results).filter(pl.col("status") != "passed")
    for row in failures.to_dicts():
        parts.append(
            f"{row['severity'].upper()} {row['status']}: {row['check_name']} {_where(row)}\n"
            f"  expected   {row['expected']}\n"
            f"  observed   {row['observed'] or ''}\n"
            f"  first rows {row['first_keys'] or '-'}\n"
            f"  why        {row['reason']}\n"
            f"  next step  {row['next_step']}"
        )
    passed = results.filter(status="passed")
    parts.append("\n".join(["Passed", *(f"  {row['check_name']} {_where(row)}".rstrip() for row in passed.to_dicts())]))
    return "\n\n".join(parts) + "\n"


def write(folder: Path, results: pl.DataFrame, pages: Mapping[str, str] | None = None) -> None:
    """`checks.txt` and `checks.csv` into a folder, and Data Docs below `docs/` where raw pages are given."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "checks.txt").write_text(text(results), encoding="utf-8")
    results.write_csv(folder / "checks.csv")
    if pages:
        docs = folder / "docs"
        docs.mkdir(exist_ok=True)
        for name, page in site(results, pages).items():
            (docs / name).write_text(page, encoding="utf-8")


def site(results: pl.DataFrame, pages: Mapping[str, str]) -> dict[str, str]:
    """File names and HTML of a small site: an index of every result, and a page a suite. It loads nothing."""
    suites = "".join(f'<li><a href="{html.escape(name)}.html">{html.escape(name)}</a></li>' for name in sorted(pages))
    failures = _worst_first(results).filter(pl.col("status") != "passed")
    passed = results.filter(status="passed").select("check_name", "table_name", "column_name", "expected")
    index = (
        f"<h1>Checks</h1><p>{html.escape(_totals(results))}</p>"
        f"<h2>Did not pass</h2>{_table(failures)}<h2>Passed</h2>{_table(passed)}"
        f"<h2>Suites, as Great Expectations shows them</h2><ul>{suites}</ul>"
    )
    back = '<p><a href="index.html">All checks</a></p>'
    return {"index.html": _document("Checks", index)} | {
        f"{name}.html": _document(name, f"{back}<h1>{html.escape(name)}</h1>{_body(raw)}")
        for name, raw in pages.items()
    }


def _table(rows: pl.DataFrame) -> str:
    head = "".join(f"<th>{name.replace('_', ' ')}</th>" for name in rows.columns)
    body = "".join(
        f'<tr class="{row.get("severity", "")}">'
        + "".join(f"<td>{html.escape(str('' if cell is None else cell))}</td>" for cell in row.values())
        + "</tr>"
        for row in rows.to_dicts()
    )
    return f"<table><tr>{head}</tr>{body}</table>" if rows.height else "<p>None.</p>"


def _body(raw: str) -> str:
    """The sections of a Great Expectations page, without anything that loads or leads elsewhere."""
    found = _SECTION.search(_LOADED.sub("", raw))
    return _LINK.sub("", found[0]) if found else ""


def _document(title: str, body: str) -> str:
    return (
        '<!DOCTYPE html>\n<html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<title>{html.escape(title)}</title><style>{STYLE}</style></head><body>{body}</body></html>\n"
    )


def _totals(results: pl.DataFrame) -> str:
    counts = ", ".join(f"{results.filter(status=status).height} {status}" for status in ("passed", "failed", "error"))
    stopping = refused(results).height
    verdict = f"{stopping} critical: nothing may be published" if stopping else "none critical: may be published"
    return f"{results.height} checks: {counts}; {verdict}"


def _worst_first(results: pl.DataFrame) -> pl.DataFrame:
    return results.sort(pl.col("status") == "passed", "severity", *CHECK_RESULT.key)


def _where(row: Mapping[str, str]) -> str:
    return ".".join(part for part in (row["table_name"], row["column_name"]) if part)
