"""Days of the law, counted on dates alone: no clock and no time zone enters here.

"60 (sessenta) dias, a contar da data do recebimento" (art. 2º, § 3º): the law does not say what happens on a weekend,
so days are calendar days (dias corridos), the day of receipt is not counted and the last day is. A deadline on a day
off stands as it is; the next working day is told beside it. Days off are weekends and the national holidays of fixed
date: Good Friday and the holidays of states and municípios are not known here.
"""

from datetime import date, timedelta

from transforms.rules.procedure import election_year, first_sunday_of_october

# Month, day, and the first year of each (Leis nº 662/1949, 6.802/1980, 10.607/2002 and 14.759/2023).
HOLIDAYS = {
    (1, 1): 1949,
    (4, 21): 1949,
    (5, 1): 1949,
    (9, 7): 1949,
    (10, 12): 1980,
    (11, 2): 1949,
    (11, 15): 1949,
    (11, 20): 2024,
    (12, 25): 1949,
}
SATURDAY = 6


def deadline(received: date, days: int) -> date:
    """The last day of a term of so many calendar days; what is done on it is in time."""
    return received + timedelta(days=days)


def is_working(day: date) -> bool:
    """Neither on a weekend nor on a national holiday of fixed date."""
    return day.isoweekday() < SATURDAY and day.year < HOLIDAYS.get((day.month, day.day), 9999)


def working_day(day: date) -> date:
    """The day itself if it is a working day, else the next one."""
    while not is_working(day):
        day += timedelta(days=1)
    return day


def municipal_election_after(day: date) -> date:
    """The first municipal election later than a day: first Sunday of October, every four years (2024, 2028 …)."""
    year = election_year(day)
    return next(found for each in (year, year + 4) if (found := first_sunday_of_october(each)) > day)


def inauguration(election: date) -> date:
    """When those elected take office: 1 January after the election (CF art. 29, III)."""
    return date(election.year + 1, 1, 1)
