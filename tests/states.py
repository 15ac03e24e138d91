"""Small invented states for tests of the law: a few districts with given figures, as staging frames."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date
from decimal import Decimal
from importlib.resources import files
from typing import Any

import polars as pl

from transforms.catalog import tables
from transforms.core.figures import FIGURES
from transforms.rules.reading import RuleSet, parse
from transforms.screen import screen
from transforms.sources import Scope

AS_OF = date(2026, 11, 30)


@dataclass
class Invented:
    """A state under construction: `place(...)` adds a district with a population and voters; then `staged()`."""

    uf: str = "MG"
    scope: Scope = field(init=False)
    rows: dict[str, list[dict[str, Any]]] = field(default_factory=dict)
    state_tax: Decimal | None = Decimal("10000000.00")

    def __post_init__(self) -> None:
        self.scope = Scope(self.uf, AS_OF)

    def add(self, table: str, **row: Any) -> None:
        rows = self.rows.setdefault(f"staging.{table}", [])
        rows.append(({"line": len(rows) + 2} if table.startswith("inputs_") else {}) | row)

    def district(
        self,
        code: str,
        population: int | None,
        *,
        estimate: bool = True,
        voters: int | None = None,
        dwellings: int = 5000,
        houses: int | None = None,
        name: str | None = None,
    ) -> None:
        """A census district with its polling place (given by hand), in a município named after its code.

        `houses`: those of its one urban centre, known exactly; without it the census of sectors has nothing.
        """
        municipality, name = code[:7], name or f"Distrito {code[7:]} {code[:7]}"
        common = {
            "district_code": code,
            "district_name": name,
            "municipality_code": municipality,
            "municipality_name": f"Município {municipality}",
        }
        self.add("ibge_localities__district", **common, uf=self.uf)
        self.add(
            "ibge_census_districts__district",
            **common,
            state_code=self.scope.state_code,
            population=population,
            private_dwellings=dwellings,
            occupied_dwellings=dwellings,
        )
        if houses is not None:
            self.sector(code, houses)
        if voters is not None:
            self.polling_place(municipality, str(1000 + int(code[7:])), voters, code)
        if estimate and population is not None:
            self._estimates[municipality] = self._estimates.get(municipality, 0) + population

    _estimates: dict[str, int] = field(default_factory=dict)
    state_estimate: int | None = None

    def sector(self, district: str, houses: int, *, urban: bool = True) -> None:
        """A census sector, in a town or not, all of whose dwellings are occupied houses."""
        code = f"{district}000001"
        situation = "1" if urban and houses else "8"
        counted = {"private_dwellings": houses, "occupied_dwellings": houses}
        self.add(
            "ibge_census_sectors__sector",
            sector_code=code,
            district_code=district,
            situation_code=situation,
            population=houses,
            **counted,
        )
        self.add("ibge_census_sectors__houses", sector_code=code, houses=houses, private_occupied=houses)

    def polling_place(self, municipality: str, place: str, voters: int, district: str | None) -> None:
        self.add(
            "tse_polling_places__section",
            generated_on=date(2026, 11, 1),
            uf=self.uf,
            tse_municipality_code=municipality[2:],
            municipality_name="MUNICIPIO",
            zone="1",
            section=place,
            section_kind="principal",
            place=place,
            place_name="ESCOLA",
            place_kind="conventional",
            place_status="ATIVO",
            voters=voters,
            original_place=place,
            original_place_name="ESCOLA",
        )
        if district is not None:
            self.add(
                "inputs_polling_place_districts__place",
                municipality_code=municipality,
                zone="1",
                place=place,
                district_code=district,
                source="TRE",
            )

    def collection(self, code: str, value: str, *, quality: str = "certificado") -> None:
        """State taxes of a município (7 digits) or district (9), as the treasury states them."""
        self.add(
            "inputs_collections__collection",
            uf=self.uf,
            fiscal_year=self.scope.fiscal_year,
            municipality_code=code[:7],
            district_code=code if len(code) == 9 else None,
            level="distrito" if len(code) == 9 else "municipio",
            sphere="estadual",
            tax="TOTAL_IMPOSTOS",
            value=Decimal(value),
            quality=quality,
        )

    def certificate(self, area: str, requirement: str, value: str, body: str = "IBGE") -> None:
        self.add(
            "inputs_certificates__certificate",
            area_id=area,
            requirement=requirement,
            value=Decimal(value),
            body=body,
            document="ofício 1/2026",
            date=date(2026, 10, 1),
        )

    def candidate(self, area: str, kind: str, districts: Sequence[str]) -> None:
        self.add("inputs_candidates__area", area_id=area, area_name=area, kind=kind, district_codes="|".join(districts))

    def staged(self) -> Mapping[str, pl.LazyFrame]:
        """Every staging table; what no call added to is empty."""
        municipalities = {row["municipality_code"] for row in self.rows["staging.ibge_localities__district"]}
        self.add("ibge_estimates__period", year=2026, modified=date(2026, 8, 30))
        total = self.state_estimate or sum(self._estimates.values())
        known = {self.scope.state_code: total, **self._estimates}
        for code, population in sorted(known.items()):
            level = "state" if len(code) == 2 else "municipality"
            self.add(
                "ibge_estimates__population",
                level=level,
                location_code=code,
                location_name=code,
                year=2026,
                population=population,
            )
        for code in sorted(municipalities):
            self.add(
                "tse_municipalities__municipality",
                tse_municipality_code=code[2:],
                tse_name=code,
                municipality_code=code,
                municipality_name=code,
                state_code=code[:2],
                uf=self.uf,
                generated_on=date(2026, 11, 1),
            )
        if self.state_tax is not None:
            self._tax()
        return {
            name: _frame(table.schema, self.rows.get(name, [])).lazy()
            for name, table in tables().items()
            if table.schema_name == "staging"
        }

    def _tax(self) -> None:
        """A delivered DCA with one tax, so that the three variants are equal."""
        common = {"fiscal_year": self.scope.fiscal_year, "state_code": self.scope.state_code}
        self.add(
            "siconfi_revenue__delivery",
            **common,
            institution="Governo",
            deliverable="Balanço Anual (DCA)",
            period=1,
            periodicity="A",
            status="HO",
        )
        for account in ("RO1.1.1.0.00.0.0", "RO1.1.1.4.50.1.0"):
            self.add(
                "siconfi_revenue__account",
                **common,
                statement="DCA",
                period=0,
                annex="DCA-Anexo I-C",
                heading="Padrão",
                column_name="Receitas Brutas Realizadas",
                account_code=account,
                account_name=account,
                value=self.state_tax,
            )


def unit(**figures: int | None) -> pl.DataFrame:
    """One unit with figures: `population` and `electorate` stand for all their columns, `electorate_low` for one."""
    columns = {column: figures.get(column, figures.get(column.rsplit("_", 1)[0])) for column in FIGURES}
    return pl.DataFrame([columns], schema=dict.fromkeys(FIGURES, pl.Int64))


def rules(name: str = "lc_1_1967") -> RuleSet:
    """A rule set that comes with the program."""
    return parse((files("transforms.rules") / f"{name}.toml").read_text(encoding="utf-8"), f"{name}.toml")


def screened(state: Invented, *rule_sets: RuleSet) -> dict[str, pl.DataFrame]:
    """Every core and mart table of an invented state, under LC 1/1967 unless other rules are given."""
    return screen(state.staged(), state.scope, rule_sets or (rules(),))


def _frame(schema: Mapping[str, pl.DataType], rows: Sequence[Mapping[str, Any]]) -> pl.DataFrame:
    return pl.DataFrame(list(rows), schema=dict(schema))
