"""Digests of exercises: they change with what an answer depends on, and with nothing else."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from support.paths import ROOT

from warpwise.grading.older import changed
from warpwise.labs.source import Lab, load_lab, student_notebook
from warpwise.labs.versions import KEY, digests, stamp

LAB = "08_coalescing"
SOURCE = (ROOT / f"solutions/{LAB}.md").read_text("utf-8")


def lab(folder: Path, old: str, new: str) -> Lab:
    """The lab with one place of its source changed."""
    assert old in SOURCE
    (folder / f"{LAB}.md").write_text(SOURCE.replace(old, new), "utf-8")
    return load_lab(folder / f"{LAB}.md")


@pytest.mark.parametrize(
    ("old", "new", "differ"),
    [
        ("**Objective.** Give neighbouring", "**Objective.** Hand neighbouring", set()),
        ("id: copy_matrix, points: 2", "id: copy_matrix, points: 3", set()),
        ("    col, row = cuda.grid(2)\n", "    col, row = cuda.grid(2)\n\n    # both\n", set()),
        ("def copy_launch(", "# of any shape\ndef copy_launch(", set()),
        ('"""dst = src, for float32', '"""dst = src + 1, for float32', {"copy_matrix"}),
        ("def copy_matrix(src, dst)", "def copy_matrix(dst, src)", {"copy_matrix"}),
        ('"global_store_bytes": src.nbytes,', '"global_store_bytes": 9 * src.nbytes,', None),
        ("return src.copy()", "return src.T.copy()", None),  # given, which a check uses
        ("src[offset + stride * lane]", "src[stride * lane]", {"sectors_for"}),  # two calls away
        ("kind: kernel, name: copy_matrix", "kind: kernel, name: copy_matrix, choice: a", set()),
    ],
)
def test_what_changes_a_digest(tmp_path, old: str, new: str, differ: set[str] | None):
    found = changed(digests(load_lab(LAB)), digests(lab(tmp_path, old, new)))
    assert found == differ if differ is not None else "copy_matrix" in found


def test_a_new_exercise_and_one_with_another_id_differ(tmp_path):
    made = lab(tmp_path, "copy_matrix", "copy_all")
    assert "copy_all" in changed(digests(load_lab(LAB)), digests(made))
    known = digests(load_lab(LAB))
    del known["transpose"]
    assert changed(known, digests(load_lab(LAB))) == {"transpose"}


def test_nothing_is_known_of_a_notebook_without_digests():
    assert changed({}, digests(load_lab(LAB))) == frozenset()


@pytest.mark.parametrize("path", sorted((ROOT / "labs").glob("*.ipynb")), ids=lambda p: p.stem)
def test_each_lab_carries_its_digests(path: Path):
    carried = json.loads(path.read_text("utf-8"))["metadata"]["warpwise"][KEY]
    assert carried == digests(load_lab(path.stem))
    assert len(set(carried.values())) == len(carried)


def test_a_built_notebook_is_stamped():
    lab = load_lab(LAB)
    made = stamp(student_notebook(lab), lab)
    assert made.metadata["warpwise"][KEY] == digests(lab)
