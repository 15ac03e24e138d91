"""IBGE's GeoPackages of districts and sectors, with the sample's rectangles for polygons.

A GeoPackage is an SQLite file; this writes the little of it that readers need: EPSG:4674, one layer of multipolygons in
column `geom`, and the census table's columns. As in the true mesh, a district may come in several features, and a ring
may be invalid.
"""

import sqlite3
import struct
from collections.abc import Iterable, Iterator, Mapping, Sequence

from warehouse.sample.facts import Facts
from warehouse.sample.ibge import DISTRICT_COLUMNS, SECTOR_COLUMNS, district_rows, sector_rows
from warehouse.sample.layout import Box
from warehouse.sample.sectors import Sector

_SRS = 4674
_SIRGAS_2000 = (
    'GEOGCS["SIRGAS 2000",DATUM["Sistema_de_Referencia_Geocentrico_para_las_AmericaS_2000",SPHEROID["GRS 1980",6378137,'
    '298.257222101,AUTHORITY["EPSG","7019"]],AUTHORITY["EPSG","6674"]],PRIMEM["Greenwich",0,AUTHORITY["EPSG","8901"]],'
    'UNIT["degree",0.0174532925199433,AUTHORITY["EPSG","9122"]],AUTHORITY["EPSG","4674"]]'
)
_TABLES = """
PRAGMA application_id = 0x47504B47;
PRAGMA user_version = 10300;
CREATE TABLE gpkg_spatial_ref_sys (
  srs_name TEXT NOT NULL, srs_id INTEGER PRIMARY KEY, organization TEXT NOT NULL,
  organization_coordsys_id INTEGER NOT NULL, definition TEXT NOT NULL, description TEXT);
CREATE TABLE gpkg_contents (
  table_name TEXT PRIMARY KEY, data_type TEXT NOT NULL, identifier TEXT UNIQUE, description TEXT DEFAULT '',
  last_change DATETIME NOT NULL, min_x DOUBLE, min_y DOUBLE, max_x DOUBLE, max_y DOUBLE, srs_id INTEGER);
CREATE TABLE gpkg_geometry_columns (
  table_name TEXT NOT NULL, column_name TEXT NOT NULL, geometry_type_name TEXT NOT NULL, srs_id INTEGER NOT NULL,
  z TINYINT NOT NULL, m TINYINT NOT NULL, PRIMARY KEY (table_name, column_name));
INSERT INTO gpkg_spatial_ref_sys VALUES
  ('Undefined cartesian SRS', -1, 'NONE', -1, 'undefined', NULL),
  ('Undefined geographic SRS', 0, 'NONE', 0, 'undefined', NULL);
"""
Ring = Sequence[tuple[float, float]]


def _ring(box: Box, spiked: bool = False) -> Ring:
    """A closed ring round a box; `spiked`: it runs into the box and back, which is not valid and adds no area."""
    middle = ((box.west + box.east) / 2, box.north)
    spike = [middle, box.centre, middle] if spiked else []
    corners = [(box.west, box.south), (box.east, box.south), (box.east, box.north), *spike, (box.west, box.north)]
    return [*corners, corners[0]]


def _blob(ring: Ring) -> bytes:
    """A GeoPackage geometry: header without envelope, then a little-endian multipolygon of one ring."""
    points = b"".join(struct.pack("<dd", *point) for point in ring)
    polygon = struct.pack("<BIII", 1, 3, 1, len(ring)) + points
    return struct.pack("<2sBBi", b"GP", 0, 1, _SRS) + struct.pack("<BII", 1, 6, 1) + polygon


def _value(column: str, text: str) -> object:
    if column == "AREA_KM2" or column.startswith("v000"):
        return None if text == "." else float(text.replace(",", "."))
    return text


def _geopackage(layer: str, columns: Sequence[str], features: Iterable[tuple[Sequence[str], Ring]]) -> bytes:
    with sqlite3.connect(":memory:") as database:
        database.executescript(_TABLES)
        kinds = ("REAL" if _value(column, "0") == 0 else "TEXT" for column in columns)
        fields = ", ".join(f"{column} {kind}" for column, kind in zip(columns, kinds, strict=True))
        database.execute(f'CREATE TABLE "{layer}" (fid INTEGER PRIMARY KEY, geom BLOB, {fields})')
        places = ", ".join("?" * (len(columns) + 1))
        rows = (
            (_blob(ring), *(_value(column, text) for column, text in zip(columns, row, strict=True)))
            for row, ring in features
        )
        database.executemany(f'INSERT INTO "{layer}" (geom, {", ".join(columns)}) VALUES ({places})', rows)
        srs = ("SIRGAS 2000", _SRS, "EPSG", _SRS, _SIRGAS_2000, None)
        database.execute("INSERT INTO gpkg_spatial_ref_sys VALUES (?, ?, ?, ?, ?, ?)", srs)
        contents = (layer, "features", layer, "", "2026-05-20T12:00:00.000Z", -74.0, -34.0, -28.0, 6.0, _SRS)
        database.execute("INSERT INTO gpkg_contents VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)", contents)
        geometry = (layer, "geom", "MULTIPOLYGON", _SRS, 0, 0)
        database.execute("INSERT INTO gpkg_geometry_columns VALUES (?, ?, ?, ?, ?, ?)", geometry)
        database.commit()
        return database.serialize()


def districts(facts: Facts, boxes: Mapping[str, Box]) -> bytes:
    """`{UF}_distritos_CD2022.gpkg`: v0001..v0007, as in IBGE's folder of meshes with attributes."""

    def features() -> Iterator[tuple[Sequence[str], Ring]]:
        for row in district_rows(facts):
            box, attributes = boxes[row[0]], row[:-2]
            if row[0] not in facts.story.split_polygons:
                yield attributes, _ring(box)
                continue
            middle = box.centre[0]
            yield attributes, _ring(Box(box.west, box.south, middle, box.north))
            yield attributes, _ring(Box(middle, box.south, box.east, box.north), spiked=True)

    return _geopackage(f"{facts.state.uf}_distritos_CD2022", DISTRICT_COLUMNS[:-2], features())


def sectors(facts: Facts, parts: Mapping[str, Sequence[Sector]]) -> bytes:
    """`{UF}_setores_CD2022.gpkg`."""
    boxes = (sector.box for of_district in parts.values() for sector in of_district)
    features = ((row[:-2], _ring(box)) for row, box in zip(sector_rows(facts, parts), boxes, strict=True))
    return _geopackage(f"{facts.state.uf}_setores_CD2022", SECTOR_COLUMNS[:-2], features)
