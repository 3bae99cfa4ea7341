"""Build the report on a class from a folder that ``grade`` wrote, and write its files."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from warpwise.errors import GradingError, LabError
from warpwise.grading import store, unfinished
from warpwise.grading.class_report import page as class_page
from warpwise.grading.class_report import text as class_text
from warpwise.grading.class_report.overview import LabOverview, overview
from warpwise.grading.class_report.similar import Pair, pairs
from warpwise.grading.record import Record
from warpwise.grading.scoring import sheet
from warpwise.labs.source import Lab, load_lab
from warpwise.labs.whole import whole


@dataclass(frozen=True)
class ClassReport:
    """The labs and similar pairs of a class. ``unknown`` are labs whose source was not found.

    ``unfinished`` says what is not graded yet; it is empty once everything is."""

    labs: tuple[LabOverview, ...]
    pairs: tuple[Pair, ...]
    unknown: tuple[str, ...]
    unfinished: str = ""


def class_report(folder: str | Path, course: str | Path | None = None) -> ClassReport:
    """Return the report on a graded folder; of labs whose source is not found it says less.

    Raises GradingError for any other folder."""
    run = unfinished.current(store.load(folder))
    records = tuple(map(_without_pictures, run.records))
    stems = sorted({record.lab for record in records if record.lab})
    labs = _labs(stems, course)
    return ClassReport(
        overview(records, labs),
        pairs(records, labs),
        tuple(stem for stem in stems if stem not in labs),
        unfinished.said(Path(folder)),
    )


def write(report: ClassReport, page: Path | None, tables: Path | None) -> list[Path]:
    """Write the page, and CSV files into the folder ``tables``, if given; return their paths.

    Raises GradingError if that cannot be done."""
    shown = (report.labs, report.pairs, report.unknown, report.unfinished)
    texts = {page: class_page.page(*shown)} if page else {}
    if tables:
        texts[tables / "exercises.csv"] = sheet.written(class_text.exercise_rows(report.labs))
        texts[tables / "similar.csv"] = sheet.written(class_text.pair_rows(report.pairs))
    for path, text in texts.items():
        try:
            whole(path, text, private=True)
        except OSError as error:
            raise GradingError(f"{path} cannot be written: {error.strerror}") from error
    return list(texts)


def _without_pictures(record: Record) -> Record:
    """Leave out what the report does not show, and most of a record's memory is."""
    results = (replace(r, finding=replace(r.finding, picture="")) for r in record.results)
    return replace(record, results=tuple(results))


def _labs(stems: list[str], course: str | Path | None) -> Mapping[str, Lab]:
    found: dict[str, Lab] = {}
    for stem in stems:
        try:
            found[stem] = load_lab(Path(course) / "solutions" / f"{stem}.md" if course else stem)
        except LabError:
            continue
    return found
