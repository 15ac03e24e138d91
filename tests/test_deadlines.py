"""Days of the law: terms, weekends, year ends, leap years, elections; wherever and whenever the machine stands."""

import os
import subprocess
import sys
from datetime import date, timedelta
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from transforms.deadlines import deadline, inauguration, is_working, municipal_election_after, working_day

DAYS = st.dates(date(1967, 11, 9), date(2099, 12, 31))


@pytest.mark.parametrize(
    ("received", "last", "shown"),
    [
        (date(2026, 3, 10), date(2026, 5, 9), date(2026, 5, 11)),  # Saturday → Monday
        (date(2026, 8, 10), date(2026, 10, 9), date(2026, 10, 9)),  # Friday
        (date(2026, 8, 12), date(2026, 10, 11), date(2026, 10, 13)),  # Sunday, and Monday 12 October is a holiday
        (date(2026, 11, 10), date(2027, 1, 9), date(2027, 1, 11)),  # over the end of the year
        (date(2026, 11, 2), date(2027, 1, 1), date(2027, 1, 4)),  # New Year, a Friday
        (date(2027, 12, 31), date(2028, 2, 29), date(2028, 2, 29)),  # a leap day
        (date(2026, 12, 31), date(2027, 3, 1), date(2027, 3, 1)),  # no leap day
        (date(2028, 2, 29), date(2028, 4, 29), date(2028, 5, 2)),  # Saturday, Sunday, and Labour Day
        (date(2099, 12, 31), date(2100, 3, 1), date(2100, 3, 1)),  # 2100 is no leap year
    ],
)
def test_sixty_days_are_calendar_days_and_the_day_of_receipt_is_none_of_them(
    received: date, last: date, shown: date
) -> None:
    assert deadline(received, 60) == last
    assert working_day(last) == shown


@given(received=DAYS, days=st.integers(1, 400))
def test_the_next_working_day_is_the_first_one_not_before_the_term(received: date, days: int) -> None:
    last = deadline(received, days)
    found = working_day(last)
    assert (last - received).days == days
    assert is_working(found)
    assert not any(is_working(last + timedelta(days=passed)) for passed in range((found - last).days))
    assert 0 <= (found - last).days <= 4


@pytest.mark.parametrize(
    ("day", "works"),
    [
        (date(2026, 9, 7), False),
        (date(2026, 11, 20), False),  # national since 2024
        (date(2023, 11, 20), True),
        (date(2024, 2, 29), True),
        (date(2026, 12, 25), False),
        (date(2026, 12, 24), True),
    ],
)
def test_national_holidays_count_from_the_year_of_their_law(day: date, works: bool) -> None:
    assert is_working(day) is works


@pytest.mark.parametrize(
    ("law", "election"),
    [
        (date(2023, 8, 14), date(2024, 10, 6)),
        (date(2024, 10, 5), date(2024, 10, 6)),
        (date(2024, 10, 6), date(2028, 10, 1)),  # on the very day it is too late
        (date(2024, 12, 31), date(2028, 10, 1)),
        (date(2027, 12, 31), date(2028, 10, 1)),
        (date(2029, 1, 1), date(2032, 10, 3)),
    ],
)
def test_the_next_municipal_election_is_the_first_later_than_the_law(law: date, election: date) -> None:
    assert municipal_election_after(law) == election
    assert inauguration(election) == date(election.year + 1, 1, 1)


@given(DAYS)
def test_municipal_elections_are_first_sundays_of_october_every_four_years(day: date) -> None:
    election = municipal_election_after(day)
    assert day < election <= day + timedelta(days=4 * 366 + 7)
    assert (election.year % 4, election.month, election.isoweekday()) == (0, 10, 7)
    assert election.day <= 7


@pytest.mark.parametrize("zone", ["Pacific/Kiritimati", "America/Noronha", "Etc/GMT+12"])
def test_deadlines_are_the_same_in_every_time_zone(zone: str) -> None:
    program = "from datetime import date; from transforms.deadlines import *; print(deadline(date(2026, 11, 10), 60))"
    environment = os.environ | {"TZ": zone, "PYTHONPATH": str(Path(__file__).parents[1])}
    command = [sys.executable, "-c", program]
    there = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
    assert there.stdout.strip() == "2027-01-09"
