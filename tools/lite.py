"""Run every solved lab whole in the browser: ``make lite`` prints a table of them.

A row says how many cells of code ran without an error, how many checks passed, and the seconds
from the click until Python was ready, until the first output, and until the last cell was done.
Each lab has a browser of its own, with nothing in its cache."""

from __future__ import annotations

import time
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Annotated

import nbformat
import typer
from playwright.sync_api import Browser, sync_playwright
from support.lite_lab import LiteLab
from support.paths import ROOT
from support.served_site import CHROMIUM_FLAGS, served

from warpwise import doctor
from warpwise.book import lite, parts
from warpwise.labs.source import load_lab, solved_notebook

HEAD = "lab                      cells  checks   ready   first  whole"


@dataclass(frozen=True)
class Ran:
    """How a lab went. Times are in seconds from the click."""

    cells: str
    checks: str
    ready: float
    first: float
    whole: float
    problems: tuple[str, ...]


def main(
    only: Annotated[str, typer.Option(help="Only labs whose name has this in it.")] = "",
    seconds: Annotated[float, typer.Option(help="The most that a lab may take.")] = 900,
) -> None:
    """Run the solved labs in Chromium, and print the table."""
    chromium = doctor.browser()
    if chromium is None:
        raise SystemExit("needs Chromium (apt-get install chromium-headless-shell)")
    stems = [path.stem for path in sorted((ROOT / "solutions").glob("*.md")) if only in path.stem]
    with TemporaryDirectory() as folder, sync_playwright() as playwright:
        lay(Path(folder), stems)
        print(HEAD)
        with served(Path(folder)) as url:
            rows = []
            for stem in stems:
                browser = playwright.chromium.launch(executable_path=chromium, args=CHROMIUM_FLAGS)
                rows.append(run(browser, f"{url}/{lite.address(f'{stem}.ipynb')}", seconds))
                browser.close()
                print(row(stem, rows[-1]), flush=True)
    raise SystemExit(any(ran.problems for ran in rows))


def lay(site: Path, stems: list[str]) -> None:
    """Lay the runtime and JupyterLite, with solved labs, into a folder."""
    labs = [site / f"{stem}.ipynb" for stem in stems]
    for lab in labs:
        nbformat.write(solved_notebook(load_lab(lab.stem)), lab)
    if parts.lay(site) is None:
        raise SystemExit("the parts of the labs cannot be had")
    lite.lay(site, lite.fetched(print), labs)


def run(browser: Browser, address: str, seconds: float) -> Ran:
    """Run all cells of a lab."""
    page = browser.new_page(viewport={"width": 1280, "height": 1000})
    begun = time.monotonic()
    page.goto(address)
    lab = LiteLab(page)
    lab.wait(seconds)
    ready = time.monotonic() - begun
    lab.begin()
    lab.wait_for_output(seconds)
    first = time.monotonic() - begun
    lab.wait_for_end(seconds)
    return judged(lab.notebook(), ready, first, time.monotonic() - begun)


def judged(notebook: dict, ready: float, first: float, whole: float) -> Ran:
    """Return what became of a notebook's cells and checks."""
    cells = [cell for cell in notebook["cells"] if cell["cell_type"] == "code"]
    checks = {cell["id"]: said(cell) for cell in cells if cell["id"].startswith("check-")}
    wrong = {name: words for name, words in checks.items() if ": passed" not in words[:80]}
    ran = [cell for cell in cells if cell["execution_count"] and "error" not in kinds(cell)]
    failed = tuple(cell["id"] for cell in cells if cell not in ran)
    problems = (*failed, *(f"{name}: {words[:300]}" for name, words in wrong.items()))
    right = len(checks) - len(wrong)
    return Ran(f"{len(ran)}/{len(cells)}", f"{right}/{len(checks)}", ready, first, whole, problems)


def kinds(cell: dict) -> set[str]:
    return {output["output_type"] for output in cell["outputs"]}


def said(cell: dict) -> str:
    """Return the first output of a cell as text."""
    texts = ["".join(output.get("data", {}).get("text/plain", "")) for output in cell["outputs"]]
    return next(filter(None, texts), "")


def row(stem: str, ran: Ran) -> str:
    """Return a lab's line of the table, and its problems below."""
    times = f"{ran.ready:8.1f}{ran.first:8.1f}{ran.whole:7.1f}"
    return "\n  ".join([f"{stem:24}{ran.cells:>6}{ran.checks:>8}{times}", *ran.problems])


if __name__ == "__main__":
    typer.run(main)
