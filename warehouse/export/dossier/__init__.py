"""The dossier of one area as a PDF for its file: findings, drafts of the requests, limits, and the steps of the law.

Nothing in it is invented: figures are the release's own, and what is not known is a line to fill in. Equal inputs give
equal bytes: the document is dated by its data.
"""

import json
from importlib.resources import files
from pathlib import Path
from tempfile import TemporaryDirectory

import typst

from warehouse.export.csv import assembly
from warehouse.export.dossier import drawing, limits
from warehouse.export.dossier.contents import Dossier, area_of, contents, limits_of
from warehouse.export.page.sheets import parts, rows

TEMPLATE = "dossier.typ"


def write(this: Dossier, target: Path) -> list[Path]:
    """The PDF, and beside it the CSV of every vertex where the outline is known. Returns what was written."""
    area, found = area_of(this), limits_of(this)
    with TemporaryDirectory() as folder:
        root = Path(folder)
        (root / TEMPLATE).write_bytes((files(__name__) / TEMPLATE).read_bytes())
        (root / "data.json").write_text(json.dumps(contents(this, area, found), ensure_ascii=False), encoding="utf-8")
        if found is not None:
            names = {row["district_code"]: row["district_name"] for row in rows(this.tables, "core.district")}
            drawn = drawing.drawn(this.mesh, parts(area["district_codes"]), names, found)
            (root / "map.svg").write_text(drawn, encoding="utf-8")
        target.write_bytes(typst.compile(root / TEMPLATE, format="pdf", root=root, ignore_system_fonts=True))
    if found is None:
        return [target]
    vertices = target.with_name(f"{target.stem}-limites.csv")
    vertices.write_bytes(assembly(limits.VERTICES, found.vertices))
    return [target, vertices]
