"""What pages run on: the list of parts, the slim wheel, the cache. Nothing is fetched here."""

from __future__ import annotations

import base64
import hashlib
import json
import re
import subprocess
import sys
import tomllib
import zipfile
from io import BytesIO
from pathlib import Path

import numpy
import pytest
from support.paths import ROOT
from support.site_pages import PAGES

from warpwise.book.parts import Laid, Manifest, MissingPart
from warpwise.book.parts.__main__ import as_text
from warpwise.book.parts.clients import _reason
from warpwise.book.parts.listed import LIST, LOCK, PACKAGE, Sum, listed
from warpwise.book.parts.slim import ABOVE, ROOTS, WHOLE, closure, imported, slim_wheel
from warpwise.book.parts.store import keep

LOCKED = json.loads(LOCK.read_text("utf-8"))["packages"]
#: What cells of the pages import that needs more than NumPy, or the course's files.
NOT_ON_PAGES = (
    "warpwise.book.",
    "warpwise.toolchain",
    "warpwise.stopwatch",
    "warpwise.grading",
    "warpwise.labs.source",
    "warpwise.measure",
)
BARE = """
import importlib, sys
sys.path[:0] = sys.argv[1:3]
for name in sys.argv[3:]:
    try:
        importlib.import_module(name)
    except ImportError as error:
        print(name, *error.args)
others = {module.split(".")[0] for module in sys.modules} - set(sys.stdlib_module_names)
assert others <= {"warpwise", "numpy", "__main__"}, others
import warpwise.book.keep
warpwise.book.keep.keep(nothing=1)
try:
    from warpwise.stopwatch import time
except ModuleNotFoundError:  # of which ``Trace.time`` makes a TraceError
    pass
else:
    raise AssertionError("a page has no stopwatch")
"""


@pytest.fixture(scope="module")
def modules() -> dict[str, Path]:
    return closure()


def test_the_list_is_as_it_is_written():
    assert as_text(listed()) == LIST.read_text("utf-8")


def test_list_and_lock_name_the_same_versions():
    parts = listed()
    versions = {library.name: library.version for library in parts.libraries}
    versions |= {file.name.split("/")[0]: file.version for file in parts.files}
    locked = {
        name.removeprefix("node_modules/"): package["version"]
        for name, package in LOCKED.items()
        if name and "esbuild" not in name and name != "node_modules/ws"
    }
    assert versions == locked
    assert f"/v{versions['pyodide']}/" in parts.releases.address


def test_lock_has_hashes_and_names_no_registry():
    wanted = json.loads(PACKAGE.read_text("utf-8"))["dependencies"]
    assert {name: LOCKED[f"node_modules/{name}"]["version"] for name in wanted} == wanted
    packages = [package for name, package in LOCKED.items() if name]
    assert all(package["integrity"].startswith("sha512-") for package in packages)
    assert not any("resolved" in package for package in packages)
    assert "http" not in re.sub(r'"url": "[^"]*"', "", LOCK.read_text("utf-8"))


def test_a_part_that_differs_is_refused():
    with pytest.raises(MissingPart, match=r"a.js has 3 bytes .* and not 2 with fb8e20fc2e4c3f248c"):
        Sum.of(b"ab").check("a.js", Sum.of(b"abc"))


@pytest.mark.unix("one of its files is a symbolic link")
def test_sum_of_a_folder_is_that_of_its_files_but_for_npms_notes(tmp_path: Path):
    for name, text in {"a": "1", "b/c": "23", ".bin/d": "4", ".package-lock.json": "5"}.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text)
    (tmp_path / "link").symlink_to("a")
    lines = "".join(
        f"{Sum.of(text).sha256}  {name}\n" for name, text in [("a", b"1"), ("b/c", b"23")]
    )
    assert Sum.of_folder(tmp_path) == Sum(3, Sum.of(lines.encode()).sha256)


def test_layers_above_the_labs_are_left_out(modules):
    contracts = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["tool"]["importlinter"]
    layers = next(one["layers"] for one in contracts["contracts"] if one["type"] == "layers")
    above = layers[: layers.index("labs")]
    names = {name for layer in above for name in layer.split(" | ")}
    assert set(ABOVE) - {"toolchain"} == names - {"playground"} and "playground" in WHOLE
    assert "toolchain" in ABOVE  # labs use it where the compiler is, which no page has
    inside = [name for name in modules if name.split(".")[1:] and name.split(".")[1] in ABOVE]
    roots = {name for name in ROOTS if name.split(".")[1:2] in (["book"], ["gpt2"], ["stopwatch"])}
    assert set(inside) == roots | {"warpwise.book", "warpwise.gpt2", "warpwise.stopwatch"}
    assert "warpwise.book.keep" in roots and "warpwise.stopwatch.clock" not in inside


def test_closure_has_all_that_its_modules_import_but_for_the_layers_above(modules):
    for name, path in modules.items():
        for other in imported(path.read_text("utf-8")):
            if other.startswith("warpwise.") and other.split(".")[1] not in ABOVE:
                is_module = (ROOT / other.replace(".", "/")).with_suffix(".py").exists()
                assert other in modules or not is_module, (name, other)
    whole = {path for package in WHOLE for path in (ROOT / "warpwise" / package).rglob("*.py")}
    assert whole < set(modules.values()) and set(ROOTS) < set(modules)
    assert "warpwise.labs.card" in modules and "warpwise.labs.release" not in modules


def test_imports_are_found_in_functions_and_not_where_they_are_for_types():
    text = (
        "import a.b\n"
        "def f():\n    from c import d\n"
        "if TYPE_CHECKING:\n    import e\n"
        "try:\n    import g\nexcept ImportError:\n    pass\n"
    )
    assert imported(text) == ("a", "a.b", "c", "c.d", "g")


def test_all_that_chapters_import_is_in_the_wheel(modules):
    cells = [
        cell
        for page in PAGES
        for cell in re.findall(
            r"^```\{code-cell\}.*?\n(?:---\n.*?^---\n)?(.*?)^```",
            (ROOT / f"{page}.md").read_text("utf-8"),
            re.M | re.S,
        )
    ]
    names = {
        line.split()[1]
        for cell in cells
        for line in cell.splitlines()
        if "import" in line.split()
        if line.startswith(("from warpwise", "import warpwise"))
    }
    missing = {name for name in names if name not in modules}
    assert len(names) > 20 and not [name for name in missing if not name.startswith(NOT_ON_PAGES)]


@pytest.mark.slow
def test_two_wheels_are_the_same_and_record_what_they_hold():
    name, content = slim_wheel()
    assert (name, content) == slim_wheel()
    with zipfile.ZipFile(BytesIO(content)) as wheel:
        (record,) = [path for path in wheel.namelist() if path.endswith("RECORD")]
        lines = [line.split(",") for line in wheel.read(record).decode().splitlines()]
        for path, digest, size in lines[:-1]:
            held = wheel.read(path)
            sha256 = base64.urlsafe_b64encode(hashlib.sha256(held).digest()).decode().rstrip("=")
            assert (digest, size) == (f"sha256={sha256}", str(len(held)))
        assert [path for path, *_ in lines] == wheel.namelist()
        assert {info.date_time[0] for info in wheel.infolist()} == {1980}
        assert {"warpwise/views/burst.js", "warpwise/labs/card.css"} < set(wheel.namelist())
    assert len(content) < 1_000_000


@pytest.mark.slow
@pytest.mark.unix("its packages are symbolic links")
def test_the_wheel_imports_with_nothing_but_numpy(tmp_path: Path, modules):
    """Two modules say what they need; no other module needs more, loaded or not."""
    name, content = slim_wheel()
    (tmp_path / name).write_bytes(content)
    zipfile.ZipFile(tmp_path / name).extractall(tmp_path / "wheel")
    (tmp_path / "site").mkdir()
    for package in Path(numpy.__file__).parents[1].glob("numpy*"):
        (tmp_path / "site" / package.name).symlink_to(package)
    folders = [str(tmp_path / "wheel"), str(tmp_path / "site")]
    command = [sys.executable, "-S", "-I", "-c", BARE, *folders, *modules]
    done = subprocess.run(command, capture_output=True, text=True, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    said = dict(line.split(" ", 1) for line in done.stdout.splitlines())
    assert set(said) == {"warpwise.views.chart", "warpwise.views.lab"}
    assert "matplotlib" in said["warpwise.views.chart"] and "pip" in said["warpwise.views.lab"]


def whole(path: Path) -> bool:
    return path.is_file() and path.read_text() == "whole"


def test_of_two_builds_the_first_keeps_its_file(tmp_path: Path):
    place = tmp_path / "place"
    for scratch in ("one", "two"):
        (tmp_path / scratch).mkdir()
        (tmp_path / scratch / "made").write_text("whole")
        keep(tmp_path / scratch / "made", place, whole)
    assert whole(place) and (tmp_path / "two/made").exists()
    assert not (tmp_path / "one/made").exists()


def test_a_broken_file_gives_way(tmp_path: Path):
    place, made = tmp_path / "place", tmp_path / "new/made"
    made.parent.mkdir()
    made.write_text("whole")
    place.write_text("hal")
    keep(made, place, whole)
    assert whole(place)


def test_manifest_is_read_back_and_misses_what_is_gone(tmp_path: Path):
    assert Manifest.read(tmp_path) is None
    (tmp_path / "manifest.json").write_text('{"version": "1", "sources": "2", "files": 3}')
    assert Manifest.read(tmp_path) is None
    file = {"url": "a.js", "bytes": 2, "sha256": "3"}
    data = {"version": "1", "sources": "2", "files": {"a.js": file}}
    (tmp_path / "manifest.json").write_text(json.dumps(data))
    manifest = Manifest.read(tmp_path)
    assert manifest == Manifest("1", "2", {"a.js": Laid("a.js", 2, "3")})
    assert not manifest.is_in(tmp_path)
    (tmp_path / "a.js").write_text("ab")
    assert manifest.is_in(tmp_path)


@pytest.mark.parametrize(
    ("said", "reason"),
    [
        ("npm error code E404\nnpm error 404 Not Found - GET http://a/b - not found\n", "404 Not"),
        ("WARNING: x\nERROR: from versions: none\nERROR: No matching b\n", "No matching b"),
        (
            "WARNING: Retrying (Retry(total=0)) after connection broken by 'ReadTimeoutError(\""
            "HTTPSConnectionPool(host='a', port=443): Read timed out. (read timeout=15)\")': /b/\n"
            "ERROR: No matching b\n",
            "No matching b (Read timed out.)",
        ),
        ("", "it failed without a word"),
    ],
)
def test_a_reason_is_one_line(said: str, reason: str):
    assert _reason("client", said).startswith(f"client: {reason}")
    assert "\n" not in _reason("client", said)
