"""A course's settings in words: points, due times and late policy, for students and instructors.

Extensions are a student's own and are in none of these."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import datetime
from zoneinfo import ZoneInfo

from warpwise.grading.scoring.course import Course, LabSettings, LatePolicy
from warpwise.grading.scoring.lateness import days
from warpwise.labs.source import Lab
from warpwise.labs.student_readme import Plan


def plan(course: Course, labs: Mapping[str, Lab]) -> Plan:
    """Return what the README of a handout says of a course's labs."""
    settings = {stem: course.lab(stem) for stem in labs}
    due = {stem: moment(lab.due) for stem, lab in settings.items() if lab.due}
    columns = {"points": {stem: f"{points(settings[stem], lab):g}" for stem, lab in labs.items()}}
    if len({lab.weight for lab in settings.values()}) > 1:
        columns["weight"] = {stem: f"{lab.weight:g}" for stem, lab in settings.items()}
    if due:
        columns["due"] = due
    return Plan(columns, tuple(_rules(course, due)))


def points(settings: LabSettings, lab: Lab) -> float:
    """Return what a lab is worth in the course: its setting, or the points of its exercises."""
    own: dict[tuple[str, str], float] = {}
    for exercise in lab.exercises:
        group = (exercise.choice, "" if exercise.choice else exercise.id)
        own[group] = max(exercise.points, own.get(group, 0))
    return sum(own.values()) if settings.points is None else settings.points


def moment(due: datetime) -> str:
    """Write a time as its zone's clocks show it: "Friday, 12 March 2027, 23:59 (Europe/Berlin)"."""
    zone = due.tzinfo.key if isinstance(due.tzinfo, ZoneInfo) else f"UTC{due:%z}"
    seconds = f":{due:%S}" if due.second else ""
    return f"{due:%A}, {due.day} {due:%B %Y}, {due:%H:%M}{seconds} ({zone})"


def late(policy: LatePolicy) -> str:
    """Return what a late submission costs, as a sentence."""
    if not policy.percent_per_day and policy.days is None:
        return "Late work loses no points."
    said = []
    if policy.percent_per_day:
        each = "each day (24 hours) that has begun"
        said.append(
            f"loses {policy.percent_per_day:g} % of its points for {each} after the due time"
        )
    if policy.days is not None:
        said.append(
            f"counts nothing after {days(policy.days)}" if policy.days else "counts nothing"
        )
    grace = f" The first {policy.grace_minutes:g} minutes are free." if policy.grace_minutes else ""
    return f"Late work {', and '.join(said)}.{grace}"


def _rules(course: Course, due: Iterable[str]) -> Iterable[str]:
    """Yield a paragraph for each late policy of labs that have a due time."""
    by_policy: dict[LatePolicy, list[str]] = {}
    for stem in due:
        by_policy.setdefault(course.lab(stem).late, []).append(stem)
    common = max(by_policy, key=lambda policy: len(by_policy[policy]), default=None)
    if common is not None:
        yield late(common)
    for policy, stems in by_policy.items():
        if policy != common:
            named = ", ".join(f"`labs/{stem}.ipynb`" for stem in stems)
            yield f"For {named}: {late(policy)}"
