"""From a folder that ``grade`` wrote to the report on a class, and to its files."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from warpwise.errors import GradingError, LabError
from warpwise.grading import store
from warpwise.grading.cohort import page as class_page
from warpwise.grading.cohort import text as class_text
from warpwise.grading.cohort.overview import LabOverview, overview
from warpwise.grading.cohort.similar import Pair, pairs
from warpwise.grading.scoring import sheet
from warpwise.labs.source import Lab, load_lab


@dataclass(frozen=True)
class ClassReport:
    """What there is to say about a class. ``unknown`` are the labs whose source was not found."""

    labs: tuple[LabOverview, ...]
    pairs: tuple[Pair, ...]
    unknown: tuple[str, ...]


def class_report(folder: str | Path, course: str | Path | None = None) -> ClassReport:
    """The report on a graded folder. Raises GradingError if it is none; labs that are not found are only said less about."""
    records = store.load(folder).records
    stems = sorted({record.lab for record in records if record.lab})
    labs = _labs(stems, course)
    return ClassReport(overview(records, labs), pairs(records, labs), tuple(stem for stem in stems if stem not in labs))


def write(report: ClassReport, page: Path | None, tables: Path | None) -> list[Path]:
    """Write the page, and the CSV files below ``tables``, where these are given. Raises GradingError if that cannot be done."""
    texts = {page: class_page.page(report.labs, report.pairs, report.unknown)} if page else {}
    if tables:
        texts[tables / "exercises.csv"] = sheet.written(class_text.exercise_rows(report.labs))
        texts[tables / "similar.csv"] = sheet.written(class_text.pair_rows(report.pairs))
    for path, text in texts.items():
        try:
            store.whole(path, text, private=True)
        except OSError as error:
            raise GradingError(f"{path} cannot be written: {error.strerror}") from error
    return list(texts)


def _labs(stems: list[str], course: str | Path | None) -> Mapping[str, Lab]:
    found = {}
    for stem in stems:
        try:
            found[stem] = load_lab(Path(course) / "solutions" / f"{stem}.md" if course else stem)
        except LabError:
            continue
    return found
