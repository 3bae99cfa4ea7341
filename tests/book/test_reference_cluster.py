"""The page of the cluster: its cells hold, and it shows what the package has."""

from __future__ import annotations

import contextlib
import inspect
import io
import re
import runpy

import pytest
from support.paths import ROOT

from warpwise import cluster, errors
from warpwise.book.signatures import call_lines

SOURCE = (ROOT / "chapters/reference_cluster.md").read_text("utf-8")
CELLS = re.findall(r"^```\{code-cell\} ipython3\n(.*?)^```$", SOURCE, re.MULTILINE | re.DOTALL)


@pytest.fixture(scope="module")
def said(tmp_path_factory) -> str:
    """What the page's cells print, run as one file."""
    path = tmp_path_factory.mktemp("page") / "page.py"
    path.write_text("\n".join(CELLS), "utf-8")
    with contextlib.redirect_stdout(io.StringIO()) as out:
        runpy.run_path(str(path))
    return out.getvalue()


@pytest.mark.slow
def test_its_programs_make_each_mistake_that_it_speaks_of(said: str):
    kinds = ("DeadlockError", "BufferInUseError", "ReplicaError")
    told = re.findall(r"^(\w+Error): .*page\.py:\d+", said, re.MULTILINE)
    assert told == ["DeadlockError", *kinds] and all(hasattr(errors, kind) for kind in kinds)


@pytest.mark.slow
def test_its_table_is_that_of_the_collectives(said: str):
    assert "reduce_scatter   ring" in said and said.count("log p (a + S/W)") == 3


@pytest.mark.slow
def test_small_arrays_want_few_steps_and_large_ones_few_bytes(said: str):
    times = re.findall(r"([\d,]+) bytes +(ring|tree|doubling) +([\d.]+) us", said)
    fastest = {}
    for size, way, us in times:
        fastest[size] = min(fastest.get(size, (float("inf"), "")), (float(us), way))
    assert [way for _, way in fastest.values()] == ["doubling", "ring"]


@pytest.mark.parametrize("name", sorted({*cluster.__all__} - {"Topology", "Link", "Group"}))
def test_what_the_package_exports_is_on_the_page(name: str):
    assert f"cluster.{name}" in SOURCE


def test_every_argument_of_a_run_is_explained():
    lines = call_lines(cluster.run)
    for name in inspect.signature(cluster.run).parameters:
        (at,) = [i for i, line in enumerate(lines) if re.match(rf"`\*?{name}\b", line)]
        assert len(lines[at + 1].split()) > 2


@pytest.mark.parametrize("name", [name for name in vars(cluster.Communicator) if name[0] != "_"])
def test_what_a_rank_can_say_has_a_docstring_for_the_page(name: str):
    method = getattr(cluster.Communicator, name)
    assert len((method.__doc__ or "").split()) >= 4
