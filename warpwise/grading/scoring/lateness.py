"""When something was handed in, how late that is, and what it costs."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime, timedelta

from warpwise.grading.record import Record
from warpwise.grading.scoring.course import LatePolicy
from warpwise.grading.scoring.toml_values import YEARS


def submitted(record: Record) -> tuple[datetime | None, str]:
    """Return the time at which a record was handed in, or a note if it cannot be read."""
    if not record.submitted:
        return None, ""
    try:
        moment = datetime.fromisoformat(record.submitted)
    except ValueError:
        moment = None
    if moment is None or moment.tzinfo is None or moment.year not in YEARS:
        return None, f"the time {record.submitted!r} cannot be read"
    return moment, ""


def late_days(handed_in: datetime, due: datetime, late: LatePolicy) -> int:
    """Count the days that have begun since the due time and its grace."""
    after = handed_in - due - timedelta(minutes=late.grace_minutes)
    return max(0, -(-after // timedelta(days=1)))


def share_lost(days_late: int, late: LatePolicy) -> float:
    """Return the share of its points that a submission so late loses."""
    if late.days is not None and days_late > late.days:
        return 1.0
    return min(1.0, days_late * late.percent_per_day / 100)


def notes(
    record: Record | None,
    handed_in: datetime | None,
    due: datetime | None,
    extended: datetime | None,
    days_late: int,
    late: LatePolicy,
) -> Iterator[str]:
    """Yield notes on lateness, or why there is no penalty."""
    if extended:
        yield "extension"
    if days_late:
        yield f"{days(days_late)} late"
        if late.days is not None and days_late > late.days:
            yield f"nothing counts after {days(late.days)}"
    elif record and due and not handed_in:
        if record.late:
            yield "late according to the platform, but the time is not known: no penalty"
        else:
            yield "time of submission not known: taken as on time"
    elif record and record.late and not due:
        yield "late according to the platform, but no due time is set: no penalty"


def days(count: int) -> str:
    """Count days, as in "2 days"."""
    return f"{count} day" if count == 1 else f"{count} days"
