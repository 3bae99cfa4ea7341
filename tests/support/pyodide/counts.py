"""How many tests passed under Pyodide, beside how many there are."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from xml.etree import ElementTree

PASSED, SKIPPED, FAILED = "passed", "skipped", "failed"
Counts = Counter[tuple[str, str]]  #: by folder below tests, and outcome


def outcomes(results: Path) -> Counts:
    """Count the tests of a file that pytest's ``--junitxml`` wrote; a module can be one, too."""
    counts: Counts = Counter()
    for case in ElementTree.parse(results).iter("testcase"):
        tags = {child.tag for child in case}
        name = case.get("classname") or case.get("name") or ""
        outcome = (
            FAILED if tags & {"failure", "error"} else SKIPPED if "skipped" in tags else PASSED
        )
        counts[name.removeprefix("tests.").partition(".")[0], outcome] += 1
    return counts


def collected(listing: str) -> Counter[str]:
    """Count the tests that ``pytest --collect-only -q`` lists, by folder."""
    ids = [line for line in listing.splitlines() if line.startswith("tests/") and "::" in line]
    return Counter(line.split("/")[1] for line in ids)


def table(counts: Counts, there: Counter[str]) -> Iterator[str]:
    """Yield the lines of the table."""
    yield f"\n{'tests':12}{'here':>8}{PASSED:>8}{SKIPPED:>9}{FAILED:>8}"
    folders = sorted({folder for folder, _ in counts} | set(there))
    for folder in [*folders, ""]:
        some = folders if folder == "" else [folder]
        row = [sum(counts[one, kind] for one in some) for kind in (PASSED, SKIPPED, FAILED)]
        total = sum(there[one] for one in some)
        yield f"{folder or 'all':12}{total:8}{row[0]:8}{row[1]:9}{row[2]:8}"
