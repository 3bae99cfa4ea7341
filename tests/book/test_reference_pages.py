"""The small pages of the reference: changelog and notation."""

import re

import yaml
from support.paths import ROOT

import warpwise

CHANGELOG = (ROOT / "chapters/changelog.md").read_text("utf-8")
NOTATION = (ROOT / "chapters/notation.md").read_text("utf-8")
# Keep a Changelog 1.1.0
TITLES = ("Added", "Changed", "Deprecated", "Removed", "Fixed", "Security")


def test_newest_version_is_the_packages():
    versions = re.findall(r"^## (\d+\.\d+\.\d+)", CHANGELOG, flags=re.MULTILINE)
    assert versions[0] == warpwise.__version__
    assert versions == sorted(versions, key=lambda v: tuple(map(int, v.split("."))), reverse=True)


def test_versions_have_a_date_or_say_that_they_have_none():
    heads = re.findall(r"^## (.*)$", CHANGELOG, flags=re.MULTILINE)
    assert [
        head
        for head in heads
        if not re.fullmatch(r"\d+\.\d+\.\d+(, not released yet| - \d{4}-\d\d-\d\d)", head)
    ] == []


def test_changes_stand_under_the_usual_titles():
    assert set(re.findall(r"^### (.*)$", CHANGELOG, flags=re.MULTILINE)) <= set(TITLES)


def test_pages_of_the_reference_are_in_the_contents():
    toc = yaml.safe_load((ROOT / "_toc.yml").read_text("utf-8"))
    listed = {page["file"] for part in toc["parts"] for page in part["chapters"]}
    assert {
        f"chapters/{path.stem}" for path in (ROOT / "chapters").glob("reference_*.md")
    } <= listed


def test_every_letter_of_the_models_formulas_is_explained():
    pages = [(ROOT / f"chapters/{name}.md").read_text("utf-8") for name in ("reference_metrics",)]
    letters = {letter for page in pages for letter in re.findall(r"\$([A-Zsw])\$", page)}
    assert letters and letters <= set(re.findall(r"\$(\w)\$", NOTATION))
