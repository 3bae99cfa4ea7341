"""The page of the trace format: the contents of a file, and a reader without Warpwise."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from dataclasses import fields

import numpy as np
import pytest
from bs4 import BeautifulSoup
from support.paths import ROOT

from warpwise import cuda, trace
from warpwise.races import Access, Race
from warpwise.trace_file import FORMAT
from warpwise.traces import KINDS, ArrayInfo, Event, Function, Note, Records, Trace

SOURCE = (ROOT / "chapters/reference_trace.md").read_text("utf-8")
READER = re.search(
    r"## Reading it without Warpwise.*?```\{code-cell\} ipython3\n(.*?)^```$",
    SOURCE,
    re.DOTALL | re.MULTILINE,
)[1]


@cuda.jit
def every_other(x, y):
    i = cuda.grid(1)
    if 2 * i < x.size:
        y[i] = x[2 * i]


@pytest.fixture
def saved(tmp_path):
    path = tmp_path / "one.npz"
    t = trace(every_other, 2, 48, np.ones(160, np.float32), np.zeros(96, np.float32), record=(0, 1))
    t.save(path)
    return path, t


@pytest.fixture(scope="module")
def page(site) -> BeautifulSoup:
    return BeautifulSoup(
        (site.folder / "chapters/reference_trace.html").read_text("utf-8"), "html.parser"
    ).select_one("article")


def section(page, name: str) -> str:
    return page.select_one(f"#{name}").get_text(" ")


def test_the_reader_needs_numpy_only_and_counts_what_we_count(saved):
    path, t = saved
    assert "warpwise" not in READER
    program = f"import numpy as np\npath = {str(path)!r}\n{READER}"
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    assert sum(map(int, re.findall(r"sectors (\d+)", done.stdout))) == t.metrics.global_load_sectors


def test_the_reader_is_about_ten_lines():
    assert len([line for line in READER.splitlines() if line.strip()]) <= 12


def test_header_fields_are_on_the_page_and_are_those_of_a_trace(page, saved):
    with np.load(saved[0], allow_pickle=False) as file:
        header = json.loads(file["header"].tobytes())
        columns = set(file.files) - {"header"}
    assert set(header) - {"format"} <= {f.name for f in fields(Trace)}
    assert all(f"'{name}'" in section(page, "header") for name in header)
    assert columns == {f.name for f in fields(Records)}


def test_the_formats_number_is_computed(page):
    outputs = [out.get_text(strip=True) for out in page.select("#header .cell_output")]
    assert str(FORMAT) in outputs and f"format {FORMAT}" not in SOURCE


RECORDS = {
    ArrayInfo: "arrays",
    Race: "races",
    Access: "races",
    Function: "functions",
    Note: "notes",
    Records: "columns",
    Event: "events",
}


@pytest.mark.parametrize(("record", "where"), RECORDS.items())
def test_every_field_is_listed(page, record, where):
    listed = {code.get_text() for code in page.select(f"#{where} li code")}
    assert {f.name for f in fields(record)} <= listed


def test_comments_say_the_types_that_columns_have(saved, page):
    columns = section(page, "columns")
    for name in (f.name for f in fields(Records)):
        kind = getattr(saved[1].records, name).dtype
        assert re.search(rf"'{name}': \('{kind}'", columns)


def test_the_kind_that_the_reader_looks_for_is_a_load():
    assert KINDS[int(re.search(r'columns\["kind"\] == (\d)', READER)[1])] == "load"
