"""The folder of the labs in the browser: its lock file, what is left out, the list of labs."""

from __future__ import annotations

import json
from pathlib import Path
from zipfile import ZipFile

import nbformat
import pytest
from support.paths import ROOT

from warpwise.book.lite import address, contents, kernel, page, scripts

LOCK = {
    "ipython": {"depends": ["prompt_toolkit", "six"]},
    "prompt-toolkit": {"depends": ["wcwidth"]},
    "six": {"depends": []},
    "unused": {"depends": ["six"]},
    "wcwidth": {"depends": []},
}


def wheel(path: Path, *names: str) -> Path:
    """Write an archive with files of these names, each of which holds its own name."""
    with ZipFile(path, "w") as archive:
        for name in names:
            archive.writestr(name, name)
    return path


def test_a_lock_holds_what_is_named_and_needed_by_the_names_of_the_lock():
    assert list(kernel.closure(LOCK, ["ipython"])) == [
        "ipython",
        "prompt-toolkit",
        "six",
        "wcwidth",
    ]


def test_a_package_that_no_lock_has_is_an_error():
    with pytest.raises(KeyError, match="comm"):
        kernel.closure(LOCK, ["comm"])


def test_a_wheel_is_described_by_its_file_name_and_its_bytes(tmp_path: Path):
    (tmp_path / "pyodide_kernel-0.6.1-py3-none-any.whl").write_bytes(b"")
    entry = kernel.entry(tmp_path / "pyodide_kernel-0.6.1-py3-none-any.whl")
    assert (entry["name"], entry["version"]) == ("pyodide-kernel", "0.6.1")
    assert entry["imports"] == ["pyodide_kernel"] and "ipython" in entry["depends"]
    assert entry["sha256"].startswith("e3b0c442")  # of nothing


def test_pyodide_finds_wheels_from_where_it_lies(tmp_path: Path):
    runtime, out = tmp_path / "_static/runtime", tmp_path / "lite/kernel"
    for folder, name in ((runtime, "numpy.whl"), (out, "comm.whl")):
        folder.mkdir(parents=True)
        (folder / name).touch()
    assert kernel.place("numpy.whl", runtime, out) == "../numpy.whl"
    assert kernel.place("comm.whl", runtime, out) == "../../../lite/kernel/comm.whl"
    with pytest.raises(FileNotFoundError, match=r"needs six\.whl"):
        kernel.place("six.whl", runtime, out)


def test_of_the_kernels_own_wheels_those_for_ipywidgets_stay_out(tmp_path: Path):
    inside = ("pypi/piplite-1-py3-none-any.whl", "pypi/widgetsnbextension-4-py3-none-any.whl")
    kernel.unpack(wheel(tmp_path / "own.whl", *inside), tmp_path)
    assert [path.name for path in tmp_path.glob("*-none-any.whl")] == ["piplite-1-py3-none-any.whl"]


@pytest.mark.parametrize(
    ("name", "unused"),
    [
        ("build/lab/bundle.js", False),
        ("build/repl/bundle.js", True),
        ("build/123.abc.js.map", True),
        ("build/fa-solid-900.woff", True),
        ("build/fa-solid-900.woff2", False),
        ("build/schemas/all.json", False),
        ("build/schemas/@jupyterlab/toc-extension/package.json", True),
    ],
)
def test_files_that_no_browser_asks_for_are_left_out(name: str, unused: bool):
    assert bool(scripts.UNUSED.search(name)) == unused


def test_of_a_wheel_only_the_extension_is_laid(tmp_path: Path):
    data = "a-1.data/data/share/jupyter/labextensions/"
    made = wheel(tmp_path / "a.whl", "a/app.py", f"{data}x/package.json", f"{data}x/pypi/b.whl")
    assert list(scripts.extension(made)) == [
        ("extensions/x/package.json", f"{data}x/package.json".encode())
    ]


def test_labs_are_copied_and_listed(tmp_path: Path):
    lab = ROOT / "labs/08_coalescing.ipynb"
    contents.lay(tmp_path / "lite", [lab])
    listed = json.loads((tmp_path / "lite/api/contents/all.json").read_text())
    assert [(one["path"], one["type"]) for one in listed["content"]] == [(lab.name, "notebook")]
    laid = tmp_path / "lite/files" / lab.name
    assert nbformat.read(laid, as_version=4) == nbformat.read(lab, as_version=4)
    cells = json.loads(laid.read_text("utf-8"))["cells"]
    outputs = [output["data"] for cell in cells for output in cell.get("outputs", [])]
    assert outputs
    assert all(type(text) is str for data in outputs for text in data.values())


def test_the_page_names_no_address_but_the_sites_own(tmp_path: Path):
    page.lay(tmp_path / "lab", "static/entry.js")
    text = (tmp_path / "lab/index.html").read_text("utf-8")
    assert "http" not in text and '="/' not in text and "static/entry.js" in text
    assert {path.name for path in (tmp_path / "lab").iterdir()} == {
        *("index.html", "start.js", "bar.css", "favicon.svg")
    }


def test_an_address_opens_a_lab_by_its_notebook():
    assert address("08 a&b.ipynb") == "lite/lab/index.html?path=08+a%26b.ipynb"
