"""The labs in the browser out of what PyPI has: whole, known by their digests, laid once."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
from pathlib import Path

import pytest
from support.books import SETTINGS, build_book
from support.paths import ROOT

from warpwise.book import lite, parts
from warpwise.book.lite.kernel import LOCK, PACKAGES
from warpwise.book.parts.laying import VARIABLE
from warpwise.book.parts.listed import Sum, listed
from warpwise.labs import leaks

pytestmark = [pytest.mark.slow, pytest.mark.system]
EXTENSIONS = ["myst_parser", "warpwise.book.parts.build", "warpwise.book.lite.build"]


@pytest.fixture(scope="module")
def site(tmp_path_factory) -> Path:
    """A site of one page and the labs of students, as the book's extension lays them."""
    folder = tmp_path_factory.mktemp("lite")
    (folder / "labs").symlink_to(ROOT / "labs")
    with pytest.MonkeyPatch.context() as patch:
        if os.environ.get("CI"):
            patch.setenv(VARIABLE, "required")
        book = build_book(folder, {"index": "# One\n"}, **SETTINGS | {"extensions": EXTENSIONS})
    if not lite.is_in(book.folder):
        pytest.skip("the parts cannot be had: is there a network?")
    return book.folder


def test_the_lock_names_files_that_are_there_and_whole(site: Path):
    lock = json.loads((site / "lite/kernel" / LOCK).read_text("utf-8"))
    named = {entry["name"] for entry in lock["packages"].values()}
    assert {name.replace("_", "-") for name in PACKAGES} <= named
    for entry in lock["packages"].values():
        path = site / parts.RUNTIME / "pyodide" / entry["file_name"]
        assert hashlib.sha256(path.read_bytes()).hexdigest() == entry["sha256"]


def test_the_list_has_the_digests_of_the_folders(site: Path):
    found = {name: Sum.of_folder(site / "lite" / name).sha256 for name in listed().laid}
    assert found == listed().laid


def test_a_release_looks_into_nothing_but_what_is_its_own(site: Path):
    secret = {"functionloadScript(": "a line of JupyterLab", "LabCorner": "a line of a lab"}
    own = site / "lite/files/mine.txt"
    own.write_text("Lab Corner")
    found = leaks.find(site, secret)
    own.unlink()
    assert [leak.file for leak in found] == ["lite/files/mine.txt"]


def test_a_folder_that_holds_more_is_looked_into(site: Path, tmp_path: Path):
    shutil.copytree(site / "lite/extensions", tmp_path / "lite/extensions")
    secret = {"LabCorner": "a line of a lab"}
    assert leaks.find(tmp_path, secret) == ()
    (tmp_path / "lite/extensions/added.js").write_text("Lab Corner")
    assert [leak.file for leak in leaks.find(tmp_path, secret)] == ["lite/extensions/added.js"]


def test_what_lies_there_stays_until_a_lab_changes(site: Path):
    stays = site / "lite/stays.txt"
    stays.touch()
    build_book(site.parent, {"index": "# One\n"}, **SETTINGS | {"extensions": EXTENSIONS})
    assert stays.exists() and (site / "lite/files/01_why_gpus.ipynb").is_file()
