"""What is judged: districts, sets of districts, fusions; and what is refused, with the reason."""

from collections.abc import Mapping
from dataclasses import replace
from datetime import date
from decimal import Decimal

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.states import Invented, rules, screened
from transforms.core.figures import FIGURES, DistrictFigures, figures
from transforms.errors import UsageError
from transforms.rules.procedure import in_federal_territory


def state_of(uf: str, *codes: str) -> Invented:
    state = Invented(uf)
    for code in codes:
        state.district(code, 10_000, voters=4_000, houses=300)
    return state


def areas(frames: Mapping[str, pl.DataFrame]) -> list[str]:
    return frames["mart.eligibility"]["area_id"].sort().to_list()


def test_case_10_the_seat_is_no_candidate_and_counts_for_the_remainder() -> None:
    state = Invented()
    state.district("310620005", 2_000_000, name="Belo Horizonte", voters=1_000_000, houses=5_000)
    state.district("310620010", 30_000, name="Distrito Fictício", voters=9_000, houses=500)
    frames = screened(state)
    assert areas(frames) == ["310620010"]
    rest = frames["mart.origin_result"].filter(pl.col("requirement") == "population")
    assert rest["after_value"].item() == 2_000_000


def test_case_11_only_nine_digits_are_a_district() -> None:
    state = state_of("MG", "310620005", "310620010")
    for code in ("3106200100", "31062001001", "310620010060001"):
        state.rows["staging.inputs_candidates__area"] = []
        state.candidate("longer", "district", [code])
        with pytest.raises(UsageError, match="unknown district") as refused:
            screened(state_copy(state))
        assert code in str(refused.value)


def state_copy(state: Invented) -> Invented:
    """The same state again: `staged` may be asked for once."""
    copy = Invented(state.uf)
    copy.rows = {name: list(rows) for name, rows in state.rows.items()}
    copy._estimates = dict(state._estimates)
    return copy


@pytest.mark.parametrize(
    ("uf", "codes", "kind", "taken", "reason"),
    [
        ("MG", ("310620005", "310620010"), "group", ("310620005", "310620010"), "seat of its município"),
        ("MG", ("310620005", "310620010"), "group", ("310620010", "310620099"), "unknown district"),
        ("MG", ("310620005", "310620010"), "fusion", ("310620005",), "this district is left out"),
        ("SP", ("355030801", "355030896"), "group", ("355030896",), "capital is urban seat"),
        ("PE", ("260545905", "260160305"), "fusion", ("260545905", "260160305"), "not a município"),
        ("PE", ("260545905", "260545910", "260160305"), "district", ("260545910",), "not a município"),
    ],
)
def test_refusals_say_which_district_and_why(
    uf: str, codes: tuple[str, ...], kind: str, taken: tuple[str, ...], reason: str
) -> None:
    state = state_of(uf, *codes)
    state.candidate("asked", kind, taken)
    with pytest.raises(UsageError, match=reason) as refused:
        screened(state)
    assert refused.value.exit_code == 2
    told = str(refused.value)
    assert "area asked, district" in told
    assert "[candidates.csv, line 2, column district_codes]" in told


def test_an_area_may_not_take_a_districts_code() -> None:
    state = state_of("MG", "310620005", "310620010", "310620015")
    state.candidate("310620010", "group", ["310620010", "310620015"])
    with pytest.raises(UsageError, match=r"310620010 is a district's code.*line 2,"):
        screened(state)


def test_a_certificate_must_speak_of_an_area() -> None:
    state = state_of("MG", "310620005", "310620010")
    state.certificate("310620005", "population", "9000")
    with pytest.raises(UsageError, match=r"unknown area: '310620005'.*\[certificates.csv, line 2,"):
        screened(state)


def test_a_certificate_is_of_a_body_of_the_areas_state() -> None:
    state = state_of("MG", "310620005", "310620010")
    state.certificate("310620010", "electorate", "90", body="TRE-MG")
    state.certificate("310620010", "collection", "9000", body="Secretaria da Fazenda do Estado do Rio de Janeiro")
    with pytest.raises(UsageError, match=r"Janeiro' is of RJ, and the place is in MG \[certificates.csv, line 3"):
        screened(state)


def test_municipalities_without_a_candidate_are_named_with_the_reason() -> None:
    frames = screened(state_of("SP", "355030801", "355030896", "350010505", "350020405", "350020410"))
    assert frames["mart.no_candidate"].select("municipality_code", "reason").rows() == [
        ("3500105", "it has a single district, its seat"),
        ("3550308", "every district of São Paulo's capital is urban seat"),
    ]
    assert areas(frames) == ["350020410"]


def test_a_fusion_needs_meet_nothing() -> None:
    state = state_of("MG", "310620005", "310620010", "310630105")
    state.candidate("merged", "fusion", ["310620005", "310620010", "310630105"])
    frames = screened(state)
    row = frames["mart.eligibility"].filter(pl.col("area_id") == "merged").row(0, named=True)
    assert (row["status"], row["kind"], row["population"]) == ("eligible", "fusion", 30_000)
    assert [row[f"requirements_{each}"] for each in ("met", "not_met", "undetermined")] == [0, 0, 0]
    assert (row["smallest_margin"], row["weakest_evidence"], row["origin_status"]) == (None, None, None)
    for name in ("mart.requirement_result", "mart.origin_result"):
        assert "merged" not in frames[name]["area_id"].to_list()


def test_a_rule_set_silent_on_fusions_leaves_them_undetermined() -> None:
    law = rules()
    silent = type(law)(**{name: getattr(law, name) for name in law.__dataclass_fields__} | {"procedure": {}})
    state = state_of("MG", "310620005", "310620010", "310630105")
    state.candidate("merged", "fusion", ["310620005", "310620010", "310630105"])
    row = screened(state, silent)["mart.eligibility"].filter(pl.col("area_id") == "merged").row(0, named=True)
    assert (row["status"], row["likely"]) == ("undetermined", "unknown")


@pytest.mark.parametrize(
    ("uf", "day", "exempt"),
    [("RO", "1981-12-21", True), ("RO", "1981-12-22", False), ("RR", "1990-12-31", True), ("MG", "1970-01-01", False)],
)
def test_federal_territories_are_exempt_while_they_were_one(uf: str, day: str, exempt: bool) -> None:
    assert in_federal_territory(rules(), uf, date.fromisoformat(day)) is exempt


def test_case_29_voters_are_never_copied_to_each_district() -> None:
    state = Invented()
    for code, population in (("310620005", 1_000), ("310620010", 9_000), ("310620015", 9_500)):
        state.district(code, population, houses=10)
    for place, district, voters in (("1031", "310620010", 3_000), ("1040", "310620015", 4_500), ("1058", None, 500)):
        state.polling_place("3106200", place, voters, district)
    frames = screened(state)
    rows = frames["mart.requirement_result"].filter(pl.col("requirement") == "electorate")
    assert rows.select("area_id", "low", "value", "high").rows() == [
        ("310620010", 3_000, 3_000, 3_500),
        ("310620015", 4_500, 4_500, 5_000),
    ]


def test_case_29_without_a_mapping_voters_are_unknown() -> None:
    state = Invented()
    for code in ("310620005", "310620010", "310620015"):
        state.district(code, 9_000, houses=10)
    state.polling_place("3106200", "1031", 8_000, None)
    rows = screened(state)["mart.requirement_result"].filter(pl.col("requirement") == "electorate")
    assert rows.select("low", "value", "high", "status", "indication").unique().rows() == [
        (0, None, 8_000, "undetermined", None)
    ]
    assert "no polling place in the district" in rows["reason"][0]


def test_a_certificate_overrides_every_source_on_both_bases() -> None:
    state = state_of("MG", "310620005", "310620010")
    for requirement, value in (("population", "10001"), ("electorate", "2"), ("urban_houses", "201")):
        state.certificate("310620010", requirement, value)
    state.certificate("310620010", "collection", "50000.00")
    rows = screened(state)["mart.requirement_result"].filter(pl.col("requirement") != "origin")
    assert rows.sort("requirement").select("requirement", "low", "value", "high", "status", "evidence").rows() == [
        ("collection", 50_000, 50_000, 50_000, "met", "certified"),
        ("electorate", 2, 2, 2, "not_met", "certified"),
        ("population", 10_001, 10_001, 10_001, "met", "certified"),
        ("urban_houses", 201, 201, 201, "met", "certified"),
    ]


# How the figures of a set combine: three districts of two municípios, with a flagged place and a crossing cluster.
A, B, C = "310620010", "310620015", "310630110"


def known(**changes: Mapping[str, object]) -> DistrictFigures:
    rows = []
    for code in (A, B, C):
        row: dict[str, object] = dict.fromkeys(FIGURES)
        row |= {"district_code": code, "municipality_code": code[:7], "places": 1, "clustered": True}
        row |= {"population_census": 100, "population_estimate": 110, "collection_stated": False}
        row |= {"electorate_low": 40, "electorate_value": 50, "electorate_high": 75}
        row |= {"urban_houses_low": 10, "urban_houses_value": 15, "urban_houses_high": 20}
        row |= {"collection_low": 0, "collection_value": 300, "collection_high": 1_000}
        rows.append(row | dict(changes.get(f"d{code}", {})))
    schema: dict[str, pl.DataType | type[pl.DataType]] = {"district_code": pl.String, "municipality_code": pl.String}
    schema |= {"places": pl.Int64, "clustered": pl.Boolean, "collection_stated": pl.Boolean}
    return DistrictFigures(
        pl.DataFrame(rows, schema=schema | dict.fromkeys(FIGURES, pl.Int64)),
        pl.DataFrame(
            {
                "municipality_code": ["3106200", "3106301"],
                "electorate": [200, 90],
                "unassigned": [7, 5],
                "collection": [1_000, 400],
            }
        ),
        # A place of A with 10 voters that may be in B or C; one of C with 4 that may be in A.
        pl.DataFrame(
            [("p", "3106200", A, 10, B), ("p", "3106200", A, 10, C), ("q", "3106301", C, 4, A)],
            schema=["place_id", "municipality_code", "district_code", "voters", "points_to"],
            orient="row",
        ),
        pl.DataFrame(
            [("town", A, 18, 26, 17), ("town", C, 18, 26, 16)],
            schema=["cluster_id", "district_code", "low", "value", "high"],
            orient="row",
        ),
    )


def of(districts: str, about: DistrictFigures | None = None) -> dict[str, int | None]:
    members = pl.DataFrame({"area_id": "x", "district_code": [{"A": A, "B": B, "C": C}[name] for name in districts]})
    return figures(members, ["area_id"], about or known()).drop("area_id").row(0, named=True)


@pytest.mark.parametrize(
    ("districts", "low", "value", "high"),
    [
        ("A", 40, 50, 50 + 7 + 4),
        ("B", 40, 50, 50 + 7 + 10),
        ("C", 40, 50, 50 + 5 + 10),
        ("AB", 80, 100, 100 + 7 + 4),  # the place of A that may be in B is inside already
        ("AC", 80, 100, 100 + 7 + 5),
        ("BC", 80, 100, 100 + 7 + 5 + 10),  # it may be in either, but counts once
        ("ABC", 120, 150, 150 + 7 + 5),
    ],
)
def test_voters_of_a_set(districts: str, low: int, value: int, high: int) -> None:
    found = of(districts)
    assert (found["electorate_low"], found["electorate_value"], found["electorate_high"]) == (low, value, high)


def test_voters_of_a_set_with_a_district_without_places() -> None:
    placeless = {"places": 0, "electorate_low": 0, "electorate_value": None, "electorate_high": 200}
    found = of("AB", known(**{f"d{B}": placeless}))
    # The whole of the município, and the place of C that may be in A.
    assert (found["electorate_low"], found["electorate_value"], found["electorate_high"]) == (40, None, 200 + 4)


def test_population_of_a_set_adds_up_on_each_basis() -> None:
    assert [of("AC")[f"population_{basis}"] for basis in ("census", "estimate")] == [200, 220]
    assert of("AC", known(**{f"d{C}": {"population_census": None}}))["population_census"] is None


@pytest.mark.parametrize(
    ("districts", "houses"), [("A", (10, 15, 20)), ("AB", (10, 15, 20)), ("AC", (18, 26, 33)), ("BC", (10, 15, 20))]
)
def test_houses_of_a_set_are_its_largest_centres(districts: str, houses: tuple[int, int, int]) -> None:
    assert tuple(of(districts)[f"urban_houses_{end}"] for end in ("low", "value", "high")) == houses


def test_of_a_centre_that_goes_on_outside_a_set_has_no_more_than_its_parts() -> None:
    city = [("city", code, 500, 600, part) for code, part in ((A, 25), (B, 30), (C, 900))]
    about = replace(known(), crossings=pl.DataFrame(city, schema=known().crossings.schema, orient="row"))
    assert [of("AB", about)[f"urban_houses_{end}"] for end in ("low", "value", "high")] == [10, 15, 25 + 30]
    assert [of("ABC", about)[f"urban_houses_{end}"] for end in ("low", "value", "high")] == [500, 600, 955]


def test_houses_of_a_set_without_centres_told_apart_may_be_the_sum() -> None:
    apart = {"clustered": False}
    found = of("AB", known(**{f"d{B}": apart}))
    assert (found["urban_houses_low"], found["urban_houses_value"], found["urban_houses_high"]) == (10, 15, 40)
    unknown = of("AB", known(**{f"d{B}": {"urban_houses_high": None}}))
    assert unknown["urban_houses_high"] is None


@pytest.mark.parametrize("districts", ["AB", "AC"])  # C shares a town with A, which is as large as it is
def test_houses_of_a_set_are_unknown_where_those_of_a_part_are(districts: str) -> None:
    nothing = {"urban_houses_low": 0, "urban_houses_value": None, "urban_houses_high": None}
    other = {"AB": B, "AC": C}[districts]
    found = of(districts, known(**{f"d{other}": nothing}))
    low = {"AB": 10, "AC": 18}[districts]
    assert [found[f"urban_houses_{end}"] for end in ("low", "value", "high")] == [low, None, None]


@pytest.mark.parametrize(
    ("districts", "stated", "money"),
    [
        ("A", "", (0, 300, 1_000)),
        ("AB", "", (0, 600, 1_000)),  # the município's whole, once
        ("AC", "", (0, 600, 1_400)),
        ("A", "A", (250, 250, 250)),
        ("AB", "A", (250, 550, 1_000)),
        ("AB", "AB", (500, 500, 500)),
        ("AC", "A", (250, 550, 250 + 400)),
    ],
)
def test_money_of_a_set(districts: str, stated: str, money: tuple[int, int, int]) -> None:
    own = {"collection_stated": True} | {f"collection_{end}": 250 for end in ("low", "value", "high")}
    codes = {"A": A, "B": B, "C": C}
    found = of(districts, known(**{f"d{codes[name]}": own for name in stated}))
    assert tuple(found[f"collection_{end}"] for end in ("low", "value", "high")) == money


def test_money_of_a_set_of_which_part_is_unknown_is_at_least_the_known() -> None:
    own = {"collection_stated": True} | {f"collection_{end}": 250 for end in ("low", "value", "high")}
    nothing: dict[str, object] = {f"collection_{end}": None for end in ("low", "value", "high")}
    about = known(**{f"d{A}": own}, **{f"d{C}": nothing})
    about.municipalities[1, "collection"] = None
    assert [of("AC", about)[f"collection_{end}"] for end in ("low", "value", "high")] == [250, None, None]
    assert [of("C", about)[f"collection_{end}"] for end in ("low", "value", "high")] == [None, None, None]


counts = st.integers(0, 50)


@given(st.data(), st.sampled_from(["A", "B", "C", "AB", "AC", "BC"]))
def test_a_wider_area_never_has_less_of_anything(data: st.DataObject, districts: str) -> None:
    changes = {}
    for code in (A, B, C):
        low, between, above = (data.draw(counts) for _ in range(3))
        row: dict[str, object] = {"population_census": data.draw(counts), "population_estimate": data.draw(counts)}
        placeless = data.draw(st.booleans())
        row |= {"electorate_low": 0, "electorate_value": None, "places": 0} if placeless else {}
        for measure in ("urban_houses", "collection"):
            row |= {f"{measure}_low": low, f"{measure}_value": low + between, f"{measure}_high": low + between + above}
        row |= {"clustered": data.draw(st.booleans()), "collection_stated": False, "collection_low": 0}
        changes[f"d{code}"] = row
    about = known(**changes)
    less = of(districts, about)
    for wider in {"".join(sorted({*districts, other})) for other in "ABC"}:
        greater = of(wider, about)
        for name, value in less.items():
            more = greater[name]
            if value is None or more is None:  # what is not known of a part is not known of the whole
                assert more is None or not name.endswith("_high")
            else:
                assert more >= value, name


@given(st.randoms(use_true_random=False), st.sampled_from(["AB", "ABC"]))
def test_the_order_of_rows_changes_no_figure(random: object, districts: str) -> None:
    about = known()
    mixed = DistrictFigures(
        *(
            frame.sample(fraction=1, shuffle=True, seed=random.randrange(2**32))  # type: ignore[attr-defined]
            for frame in (about.districts, about.municipalities, about.pointers, about.crossings)
        )
    )
    assert of(districts, mixed) == of(districts, about)


def test_group_figures_reach_the_marts() -> None:
    state = state_of("MG", "310620005", "310620010", "310620015")
    state.collection("310620010", "250.00")
    state.collection("3106200", "6000000.00")
    state.district("310630105", 1_000_000)
    state.candidate("both", "group", ["310620010", "310620015"])
    row = screened(state)["mart.eligibility"].filter(pl.col("area_id") == "both").row(0, named=True)
    assert (row["population"], row["electorate"], row["urban_houses"]) == (20_000, 8_000, 300)
    assert row["district_codes"] == "310620010|310620015"
    assert row["collection_brl"] is not None
    assert row["collection_brl"] > Decimal(250)
