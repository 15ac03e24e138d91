"""A small sound release to plant defects in: Roraima's fifteen municípios, two of them with a second district."""

from datetime import date
from decimal import Decimal
from typing import Any

import polars as pl

from expectations import certified, coverage, sums
from transforms import catalog
from warehouse.meta import SOURCE_FRESHNESS

Frames = dict[str, pl.DataFrame]
CODES = """1400027 1400050 1400100 1400159 1400175 1400209 1400233 1400282 1400308 1400407 1400456 1400472 1400506
1400605 1400704""".split()  # Roraima's fifteen
NAMES = [f"M{code[4:]}" for code in CODES]
DISTRICTS = sorted([f"{code}05" for code in CODES] + ["140002710", "140005010"])
LAW = ("population", "electorate", "urban_houses", "collection")
AREAS = {"140002710": "district", "140005010": "district", "G": "group", "F": "fusion"}
MEMBERS = {
    "140002710": ["140002710"],
    "140005010": ["140005010"],
    "G": ["140002710", "140005010"],
    "F": ["140010005", "140015905"],
}


def frame(name: str, rows: list[dict[str, Any]]) -> pl.DataFrame:
    return catalog.tables()[name].frame(rows)


def own(code: str) -> list[str]:
    return [district for district in DISTRICTS if district.startswith(code)]


def core() -> Frames:
    """Every district has 1,000 people at the census, 1,100 now, 500 voters; the first município has 50 unassigned."""
    districts = [
        {
            "district_code": code,
            "district_name": f"D{code[-4:]}",
            "municipality_code": code[:7],
            "municipality_name": f"M{code[4:7]}",
            "uf": "RR",
            "is_seat": code.endswith("05"),
            "in_localities": True,
            "in_census": True,
        }
        for code in DISTRICTS
    ]
    counts = {
        "population_census": 1000,
        "population_estimate": 1100,
        "private_dwellings": 400,
        "occupied_dwellings": 300,
    }
    places = [
        {
            "municipality_code": code[:7],
            "zone": "1",
            "place": code[-2:],
            "uf": "RR",
            "place_name": "Escola",
            "voters": 500,
            "sections": 2,
            "district_code": code,
            "method": "coordinates",
            "flags": "",
            "points_to": "",
            "is_sure": True,
        }
        for code in DISTRICTS
    ]
    lost = {**places[0], "place": "99", "voters": 50, "district_code": None, "method": "unassigned", "is_sure": False}
    words = {"evidence": "derived", "method": "stated", "source": "tse_polling_places", "unit": "voters"}
    bounds = {"low": Decimal(400), "value": Decimal(500), "high": Decimal(600)}
    electorate = [{"district_code": code, "measure": "electorate", **bounds, **words} for code in DISTRICTS]
    return {
        "core.state": frame(
            "core.state",
            [
                {
                    "uf": "RR",
                    "state_code": "14",
                    "state_name": "Roraima",
                    "region": "N",
                    "population_census": 17_000,
                    "population_estimate": 18_700,
                    "estimate_year": 2025,
                    "fiscal_year": 2025,
                    "as_of": date(2026, 11, 30),
                }
            ],
        ),
        "core.municipality": frame(
            "core.municipality",
            [
                {
                    "municipality_code": code,
                    "municipality_name": f"M{code[4:]}",
                    "uf": "RR",
                    "tse_municipality_code": "00001",
                    "districts": len(own(code)),
                    "population_census": 1000 * len(own(code)),
                    "population_estimate": 1100 * len(own(code)),
                    "electorate": 500 * len(own(code)) + 50 * (code == CODES[0]),
                    "unassigned": 50 * (code == CODES[0]),
                }
                for code in CODES
            ],
        ),
        "core.municipality_collection": frame("core.municipality_collection", []),
        "core.district": frame("core.district", districts),
        "core.district_population": frame(
            "core.district_population", [{"district_code": c, **counts} for c in DISTRICTS]
        ),
        "core.polling_place": frame("core.polling_place", [*places, lost]),
        "core.district_measure": frame("core.district_measure", electorate),
        "core.district_houses": frame(
            "core.district_houses",
            [
                {
                    "district_code": code,
                    "low": Decimal(0),
                    "method": "no urban sector in the district",
                    "clusters": 0,
                    "clustered": True,
                    "evidence": "derived",
                    "source": "ibge_census_sectors",
                    "establishments": 3,
                }
                for code in DISTRICTS
            ],
        ),
        "core.state_revenue": frame(
            "core.state_revenue",
            [
                {
                    "state_code": "14",
                    "fiscal_year": 2025,
                    "variant": "gross",
                    "value": Decimal(2_000_000_000),
                    "statement": "DCA",
                    "method": "stated",
                    "source": "siconfi_revenue",
                    "provisional": False,
                }
            ],
        ),
        "core.area": frame(
            "core.area",
            [{"area_id": area, "area_name": f"Área {area}", "uf": "RR", "kind": kind} for area, kind in AREAS.items()],
        ),
        "core.area_district": frame(
            "core.area_district",
            [
                {"area_id": area, "district_code": code, "municipality_code": code[:7]}
                for area, codes in MEMBERS.items()
                for code in codes
            ],
        ),
        "core.area_measure": frame(
            "core.area_measure", [{"area_id": area, "measure": "electorate", **bounds, **words} for area in AREAS]
        ),
    }


def requirement(
    area: str, name: str, status: str = "met", indication: str | None = None, **other: Any
) -> dict[str, Any]:
    bounds = {
        "met": {"low": Decimal(11), "value": Decimal(12), "high": Decimal(13)},
        "not_met": {"low": Decimal(1), "value": Decimal(2), "high": Decimal(10)},
        "undetermined": {"low": Decimal(1), "value": Decimal(11), "high": Decimal(13)},
    }[status]
    figures = {**bounds, "threshold": Decimal(10), "comparison": ">", "unit": "persons"} if name != "origin" else {}
    said = {
        "status": status,
        "indication": indication,
        "evidence": "derived",
        "article": "art. 2º",
        "competent_body": "IBGE",
    }
    return {"rule_set": "lc_1_1967", "area_id": area, "requirement": name, **figures, **said, **other}


def verdict(
    rank: int, area: str, status: str, met: int, not_met: int, undetermined: int, **other: Any
) -> dict[str, Any]:
    counts = {"requirements_met": met, "requirements_not_met": not_met, "requirements_undetermined": undetermined}
    return {
        "rule_set": "lc_1_1967",
        "rank": rank,
        "area_id": area,
        "area_name": area,
        "kind": AREAS.get(area, "district"),
        "uf": "RR",
        "municipality_codes": "",
        "municipality_names": "",
        "district_codes": "",
        "status": status,
        "is_simulated": False,
        **counts,
        **other,
    }


def mart() -> Frames:
    """One area eligible, one likely so, one (the group) ineligible, one fusion."""
    rows = [requirement(area, name) for area in ("140002710", "140005010", "G") for name in (*LAW, "origin")]
    changed = [
        requirement("140005010", "population", "undetermined", "likely_met"),
        requirement("G", "urban_houses", "not_met"),
    ]
    ids = {(row["area_id"], row["requirement"]) for row in changed}
    rows = [row for row in rows if (row["area_id"], row["requirement"]) not in ids] + changed
    figures = {
        "before_low": 20,
        "before_value": 20,
        "before_high": 20,
        "after_low": 11,
        "after_value": 12,
        "after_high": 13,
    }
    origins = [
        {
            "rule_set": "lc_1_1967",
            "area_id": area,
            "municipality_code": code[:7],
            "municipality_name": "M",
            "requirement": name,
            **{key: Decimal(value) for key, value in figures.items()},
            "threshold": Decimal(10),
            "verdict": "kept",
        }
        for area, codes in MEMBERS.items()
        if area != "F"
        for code in codes
        for name in LAW
    ]
    return {
        "mart.requirement_result": frame("mart.requirement_result", rows),
        "mart.origin_result": frame("mart.origin_result", origins),
        "mart.eligibility": frame(
            "mart.eligibility",
            [
                verdict(1, "140002710", "eligible", 5, 0, 0, smallest_margin=Decimal("0.2"), population=1100),
                verdict(2, "F", "eligible", 0, 0, 0),
                verdict(3, "140005010", "undetermined", 4, 0, 1, likely="likely_eligible"),
                verdict(4, "G", "ineligible", 4, 1, 0),
            ],
        ),
        "mart.pending": frame(
            "mart.pending",
            [
                {
                    "rule_set": "lc_1_1967",
                    "area_id": "140005010",
                    "area_name": "a",
                    "requirement": "population",
                    "reason": "r",
                    "ask": "IBGE",
                }
            ],
        ),
        "mart.rule_arm": frame(
            "mart.rule_arm",
            [
                {
                    "rule_set": "lc_1_1967",
                    "requirement": name,
                    "arm": 1,
                    "region": "",
                    "measured": name,
                    "test": "more_than",
                    "limit_as_written": "10",
                }
                for name in LAW
            ],
        ),
        "mart.no_candidate": frame(
            "mart.no_candidate",
            [
                {"uf": "RR", "municipality_code": code, "municipality_name": "M", "reason": "single"}
                for code in CODES
                if len(own(code)) == 1
            ],
        ),
    }


def staging() -> Frames:
    dwellings = {
        "dwellings": 410,
        "private_dwellings": 400,
        "collective_dwellings": 10,
        "occupied_dwellings": 300,
        "occasional_dwellings": 40,
        "vacant_dwellings": 60,
    }
    return {
        sums.CENSUS: pl.DataFrame({"district_code": DISTRICTS}).with_columns(
            **{k: pl.lit(v) for k, v in dwellings.items()}
        ),
        sums.SECTIONS: pl.DataFrame(
            {"uf": ["RR", "RR", "ZZ"], "tse_municipality_code": ["00000", "00000", "29000"], "voters": [8500, 50, 77]}
        ),
        certified.CERTIFICATES: frame(
            certified.CERTIFICATES,
            [
                {
                    "area_id": "G",
                    "requirement": name,
                    "value": Decimal(1000 if name == "population" else 500),
                    "body": body,
                    "document": "1",
                    "date": date(2026, 5, 4),
                    "line": line,
                }
                for line, (name, body) in enumerate(
                    zip(LAW, ("IBGE", "TRE-RR", "I.B.G.E./IBGE", "SEFAZ/RR"), strict=True), 2
                )
            ],
        ),
        coverage.LOCALITIES: pl.DataFrame(
            {
                "district_code": DISTRICTS,
                "municipality_code": [c[:7] for c in DISTRICTS],
                "municipality_name": [f"M{c[4:7]}" for c in DISTRICTS],
            }
        ),
        coverage.CROSSWALK: pl.DataFrame(
            {
                "municipality_code": [*CODES, "3200102"],
                "municipality_name": [*NAMES, "Afonso Cláudio"],
                "tse_municipality_code": [f"{number:05}" for number in range(16)],
                "tse_name": [*(name.upper() for name in NAMES), "AFONSO CLÁUDIO"],
                "uf": [*["RR"] * 15, "ES"],
            }
        ),
        coverage.ESTIMATES: pl.DataFrame(
            {"level": "municipality", "location_code": CODES, "year": 2025, "population": 1}
        ),
        coverage.FRESHNESS: SOURCE_FRESHNESS.frame(
            [
                {
                    "source": "ibge_estimates",
                    "title": "t",
                    "required": True,
                    "age_days": 3,
                    "stale_after": 40,
                    "is_stale": False,
                }
            ]
        ),
    }


def release() -> Frames:
    return core() | mart() | staging()
