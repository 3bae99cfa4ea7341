"""Releases for students: they work alone, and nothing secret is in them, however wrapped."""

from __future__ import annotations

import base64
import gzip
import hashlib
import html
import json
import os
import re
import shutil
import subprocess
import sys
import sysconfig
import zipfile
import zlib
from datetime import date
from functools import partial
from importlib import import_module
from pathlib import Path

import pytest
import yaml
from support.paths import ROOT
from support.wrong_answers import wrong_answer
from typer.testing import CliRunner

from warpwise.cli import app
from warpwise.errors import LabError
from warpwise.labs import leaks
from warpwise.labs.release import RECORD, build_wheel, release
from warpwise.labs.source import load_lab, role, unmarked
from warpwise.labs.student_book import copy_book

FIRST, SECOND = "01_why_gpus", "02_simt"
TERM = "Spring 2027"
# Solutions that a chapter shows whole: the lab asks to write down what the chapter has explained.
SHOWN_IN_THE_BOOK = {
    "07_recomputation/lean_forward",
    "09_tiling/matmul_coalesced",
    "10_matmul_mystery/tiles",
}


@pytest.fixture(scope="module")
def bundle(tmp_path_factory) -> Path:
    """The whole course, released by the command."""
    target = tmp_path_factory.mktemp("handed") / "out"
    done = CliRunner().invoke(app, ["release", "--student", str(target), "--term", TERM])
    assert done.exit_code == 0, done.output
    return target


@pytest.fixture(scope="module")
def secrets() -> dict[str, str]:
    return leaks.secrets(ROOT)


@pytest.fixture(scope="module")
def wheels(tmp_path_factory) -> Path:
    """A folder for the wheels that were built, by what they were built of."""
    return tmp_path_factory.mktemp("wheels")


def wheel_once(wheels: Path, root: Path, out: Path) -> str:
    """Build a course's wheel, unless one was built of the same files."""
    paths = [*root.iterdir(), *(root / "warpwise").rglob("*")]
    files = [(p.relative_to(root).as_posix(), p.read_bytes()) for p in paths if p.is_file()]
    kept = wheels / hashlib.sha256(repr(sorted(files)).encode()).hexdigest()
    if not kept.exists():
        build_wheel(root, kept)
    shutil.copytree(kept, out, dirs_exist_ok=True)
    return next(kept.glob("*.whl")).name


@pytest.fixture
def course(tmp_path, wheels, monkeypatch) -> Path:
    """A small course that is released quickly: one lab, two pages, and the whole package."""
    module = import_module("warpwise.labs.release")
    monkeypatch.setattr(module, "build_wheel", partial(wheel_once, wheels))
    root = tmp_path / "course"
    shutil.copytree(
        ROOT / "warpwise", root / "warpwise", ignore=shutil.ignore_patterns("__pycache__")
    )
    for path in [
        f"solutions/{FIRST}.md",
        f"labs/{FIRST}.ipynb",
        f"tests/course/{FIRST}/hidden.py",
        "_config.yml",
        "constraints.txt",
    ]:
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(ROOT / path, root / path)
    for path in (
        "pyproject.toml",
        "README.md",
        "LICENSE",
        "LICENSE-text",
        "chapters/teaching/capstone.md",
    ):
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(ROOT / path, root / path)
    (root / "chapters/index.md").write_text(
        "# A book\n"
        "\n"
        "See [the first chapter](01_why_gpus.md) and [its guide](teaching/capstone.md).\n"
    )
    (root / f"chapters/{FIRST}.md").write_text("# Why GPUs\n\nThey are fast.\n")
    (root / "chapters/references.bib").touch()
    parts = [
        {"chapters": [{"file": f"chapters/{FIRST}"}]},
        {"caption": "For instructors", "chapters": [{"file": "chapters/teaching/capstone"}]},
    ]
    (root / "_toc.yml").write_text(
        yaml.safe_dump({"format": "jb-book", "root": "chapters/index", "parts": parts})
    )
    return root


def solution(stem: str, exercise: str) -> str:
    return next(region for id, region in leaks.regions(load_lab(stem)) if id == exercise)


# The bundle of the whole course.


@pytest.mark.slow
def test_the_bundle_has_what_a_student_needs(bundle):
    assert {path.name for path in (bundle / "labs").iterdir()} == {
        path.name for path in (ROOT / "labs").glob("*.ipynb")
    }
    [wheel] = (bundle / "dist").iterdir()
    assert f"./dist/{wheel.name}[labs]" in (bundle / "requirements.txt").read_text()
    pages = re.findall(r"file: (\S+)", (bundle / "_toc.yml").read_text())
    assert "chapters/08_coalescing" in pages and all(
        (bundle / f"{page}.md").is_file() for page in pages
    )
    assert (
        bundle / yaml.safe_load((bundle / "_config.yml").read_text())["html"]["favicon"]
    ).is_file()
    for page in (bundle / "chapters").glob("*.md"):
        assert "](teaching/" not in page.read_text("utf-8")
    readme = (bundle / "README.md").read_text("utf-8")
    for name in re.findall(r"`((?:labs|chapters|site)/[^`]*)`", readme):
        assert (bundle / name).exists()
    assert TERM in readme and load_lab(FIRST).version in readme


@pytest.mark.slow
def test_nothing_of_the_instructors_is_in_it(bundle):
    assert {path.name for path in bundle.iterdir()} == {
        "LICENSE",
        "LICENSE-text",
        "README.md",
        "_config.yml",
        "_toc.yml",
        "chapters",
        "constraints.txt",
        "dist",
        "favicon.svg",
        "labs",
        "measurements",
        "release.json",
        "requirements.txt",
    }
    assert not (bundle / "chapters/teaching").exists()
    assert sorted((bundle / "chapters/mistakes").glob("*/*")) == [
        bundle / path.relative_to(ROOT) for path in sorted(leaks.mistakes(ROOT))
    ]
    [wheel] = (bundle / "dist").iterdir()
    with zipfile.ZipFile(wheel) as archive:
        tops = {name.partition("/")[0] for name in archive.namelist()}
    assert tops == {"warpwise", f"{wheel.name.split('-py3')[0]}.dist-info"}


@pytest.mark.slow
def test_no_secret_is_in_it(bundle, secrets):
    kinds = " ".join(secrets.values())
    for kind in (
        "the solution of 19_capstone/alibi",
        "tests/course/02_simt/hidden.py",
        "/wrong/",
        "/wrong.toml",
        "chapters/teaching/capstone.md",
    ):
        assert kind in kinds
    assert leaks.find(bundle, secrets) == ()


def test_every_solution_is_searched_for(secrets):
    """Each exercise is searched for by a line of its own, or by its whole text.

    The three that the book shows are not."""
    labs = [load_lab(path) for path in sorted((ROOT / "solutions").glob("*.md"))]
    known = set(secrets.values())
    missing = {
        f"{lab.stem}/{e.id}"
        for lab in labs
        for e in lab.exercises
        if f"the solution of {lab.stem}/{e.id}" not in known
    }
    assert missing <= SHOWN_IN_THE_BOOK


def test_chapters_show_no_solution_of_a_lab():
    pages = leaks.squeezed(
        "\n".join(page.read_text("utf-8") for page in (ROOT / "chapters").glob("*.md"))
    )
    labs = [load_lab(path) for path in sorted((ROOT / "solutions").glob("*.md"))]
    shown = {
        f"{lab.stem}/{id}"
        for lab in labs
        for id, region in leaks.regions(lab)
        if leaks.squeezed(region) in pages
    }
    assert shown == SHOWN_IN_THE_BOOK


@pytest.mark.slow
def test_labs_are_stamped_and_still_known_to_the_grader(bundle):
    for path in (bundle / "labs").iterdir():
        released, ours = (
            json.loads(file.read_text("utf-8")) for file in (path, ROOT / "labs" / path.name)
        )
        stamps = {"term": TERM, "released": date.today().isoformat()}
        assert released["metadata"]["warpwise"] == ours["metadata"]["warpwise"] | stamps
        assert released["metadata"]["warpwise"]["version"] == load_lab(path.stem).version
        assert released["cells"] == ours["cells"]


@pytest.mark.slow
def test_a_student_can_check_a_lab_where_nothing_else_of_the_course_is(bundle, tmp_path):
    """The wheel in an environment of its own, with this one's libraries.

    One exercise is done, the others are as handed out."""
    home = tmp_path / "home"
    shutil.copytree(bundle, home)
    python = own_environment(tmp_path / "env", next((home / "dist").iterdir()))
    fill(home / f"labs/{FIRST}.ipynb", "square")
    env = {k: v for k, v in os.environ.items() if not k.startswith(("PYTHON", "WARPWISE"))} | {
        "HOME": str(tmp_path)
    }
    where = subprocess.run(
        [python, "-c", "import warpwise; print(warpwise.__file__)"],
        cwd=home,
        env=env,
        capture_output=True,
        text=True,
    )
    assert where.stdout.startswith(str(tmp_path / "env"))
    command = [python.with_name("warpwise"), "check", f"labs/{FIRST}.ipynb"]
    done = subprocess.run(command, cwd=home, env=env, capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (1, "")
    *lines, total, following = done.stdout.splitlines()[1:]
    rows = {line.split()[0]: line for line in lines}
    assert set(rows) == {exercise.id for exercise in load_lab(FIRST).exercises}
    assert total.startswith(f"1 of {len(rows)} exercises pass") and following == "Next: place"
    assert "passed" in rows.pop("square")
    assert all("not done yet" in row for row in rows.values())


def own_environment(folder: Path, wheel: Path) -> Path:
    """Make an environment with a wheel and this one's libraries, but not its warpwise."""
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", folder], check=True)
    python = folder / ("Scripts/python.exe" if sys.platform == "win32" else "bin/python")
    pip = [
        sys.executable,
        "-m",
        "pip",
        "--python",
        python,
        "install",
        "--quiet",
        "--no-deps",
        "--no-index",
        wheel,
    ]
    subprocess.run(pip, check=True)
    [site] = folder.glob("[Ll]ib/**/site-packages")
    (site / "libraries.pth").write_text(sysconfig.get_path("purelib") + "\n")
    return python


def fill(path: Path, exercise: str) -> None:
    """Write the solution of one exercise into a notebook."""
    notebook = json.loads(path.read_text("utf-8"))
    for cell in load_lab(path.stem).cells:
        if role(cell) == "exercise" and cell.metadata["warpwise"]["id"] == exercise:
            [own] = [c for c in notebook["cells"] if c["id"] == f"exercise-{exercise}"]
            own["source"] = unmarked(cell.source)
    path.write_text(json.dumps(notebook), "utf-8")


# Planted secrets, all of which are found.

LINE = "    return np.array([blocks, idle, i // threads, i % threads])"
HIGHLIGHTED = (
    html.escape(LINE)
    .replace("return", '<span class="k">return</span>')
    .replace("np", '<span class="n">np</span>')
)
STATE = {
    "state": {
        "a1": {
            "model_name": "AnyModel",
            "state": {"_esm": "x", "frames": base64.b64encode(LINE.encode()).decode()},
        }
    }
}


def output(**data: str) -> dict:
    return {
        "output_type": "display_data",
        "metadata": {},
        "data": {name.replace("_", "/", 1): text for name, text in data.items()},
    }


def packed(pack) -> str:
    return base64.b64encode(pack(f"# a kernel\n{LINE}\n".encode())).decode()


PLANTS = {
    "a line of a cell": lambda notebook: notebook["cells"][3].update(
        source=["# mine\n", f"{LINE}\n"]
    ),
    "a cell's metadata": lambda notebook: notebook["cells"][3]["metadata"].update(
        nbgrader={"old": LINE}
    ),
    "the notebook's metadata": lambda notebook: notebook["metadata"].update(
        backup=[{"cell": LINE}]
    ),
    "what was printed": lambda notebook: add_output(
        notebook, {"output_type": "stream", "name": "stdout", "text": [LINE, "\n"]}
    ),
    "a traceback": lambda notebook: add_output(
        notebook, {"output_type": "error", "ename": "E", "evalue": "", "traceback": ["----", LINE]}
    ),
    "a highlighted listing": lambda notebook: add_output(
        notebook, output(text_html=f"<pre>{HIGHLIGHTED}</pre>")
    ),
    "a string in a script": lambda notebook: add_output(
        notebook, output(text_html=f"<script>{json.dumps(json.dumps([LINE]))}</script>")
    ),
    "base64 in a page": lambda notebook: add_output(
        notebook, output(text_html=f"<img src='data:x;base64,{packed(bytes)}'>")
    ),
    "compressed base64": lambda notebook: add_output(
        notebook, output(text_html=f"<i data-x='{packed(gzip.compress)}'></i>")
    ),
    "deflated base64": lambda notebook: add_output(
        notebook, output(text_plain=packed(zlib.compress))
    ),
    "a widget's state": lambda notebook: notebook["metadata"].update(
        widgets={"application/vnd.jupyter.widget-state+json": STATE}
    ),
}


def add_output(notebook: dict, made: dict) -> None:
    next(cell for cell in notebook["cells"] if cell["cell_type"] == "code")["outputs"] = [made]


@pytest.mark.parametrize("place", PLANTS)
def test_a_solution_in_a_notebook_is_found(place, tmp_path, secrets):
    notebook = json.loads((ROOT / f"labs/{FIRST}.ipynb").read_text("utf-8"))
    (tmp_path / "lab.ipynb").write_text(json.dumps(notebook))
    assert leaks.find(tmp_path, secrets) == ()
    PLANTS[place](notebook)
    (tmp_path / "lab.ipynb").write_text(json.dumps(notebook))
    assert {leak.what for leak in leaks.find(tmp_path, secrets)} == {
        f"the solution of {FIRST}/place"
    }


HIDDEN = (
    (ROOT / f"tests/course/{FIRST}/hidden.py").read_text("utf-8").partition("def choose_launch")[2]
)
GUIDE = (ROOT / "chapters/teaching/capstone.md").read_text("utf-8").splitlines()
ELSEWHERE = {
    "a short solution, whole, in a module of the wheel": (
        "warpwise/more.py",
        solution(FIRST, "square"),
        "the solution of",
    ),
    "a hidden test in a module of the wheel": (
        "warpwise/more.py",
        HIDDEN,
        f"a line of tests/course/{FIRST}/hidden.py",
    ),
    "a guide in the wheel's description": (
        "warpwise.dist-info/METADATA",
        max(GUIDE, key=len),
        "a line of chapters/teaching/capstone.md",
    ),
    "an answer that must fail": (
        "more.txt",
        wrong_answer("08_coalescing", "one_lane_does_it_all").text,
        "a line of tests/course/08_coalescing/wrong.toml",
    ),
    "an answer that must fail, in a file of its own": (
        "more.txt",
        wrong_answer("09_tiling", "deep_tiles").text,
        "a line of tests/course/09_tiling/wrong/",
    ),
    "a run of the grader": (
        "warpwise/grading/run.json",
        '{"seed": 1}',
        "a file of the instructor's",
    ),
    "settings": ("course.toml", "", "a file of the instructor's"),
    "a source": ("solved.ipynb", "### BEGIN SOLUTION", "a marked solution"),
}


@pytest.mark.parametrize("place", ELSEWHERE)
def test_secrets_are_found_in_archives_and_beside_them(place, tmp_path, secrets):
    name, text, what = ELSEWHERE[place]
    with zipfile.ZipFile(tmp_path / "a.whl", "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr(name, text)
    assert [
        leak
        for leak in leaks.find(tmp_path, secrets)
        if what in leak.what and leak.file == f"a.whl/{name}"
    ]
    (tmp_path / "a.whl").rename(tmp_path / "inner.zip")
    with zipfile.ZipFile(tmp_path / "outer.zip", "w") as archive:
        archive.write(tmp_path / "inner.zip", "inner.zip")
    (tmp_path / "inner.zip").unlink()
    assert [leak for leak in leaks.find(tmp_path, secrets) if what in leak.what]
    (tmp_path / "outer.zip").unlink()
    (tmp_path / Path(name).name).write_text(text)
    assert [
        leak
        for leak in leaks.find(tmp_path, secrets)
        if what in leak.what and leak.file == Path(name).name
    ]


def test_a_file_that_only_ends_like_an_archive_is_read_as_text(tmp_path):
    end = b"PK\5\6" + bytes(8) + (10**6).to_bytes(4, "little") + bytes(6)
    (tmp_path / "a.pyc").write_bytes(b"the secret" + end)
    assert leaks.find(tmp_path, {"thesecret": "a line"}) == (leaks.Leak("a.pyc", "a line"),)


# A small course: refusals, by which nothing is lost.


@pytest.mark.slow
@pytest.mark.parametrize(
    ("path", "planted", "told"),
    [
        (
            "warpwise/labs/answers.py",
            LINE,
            "warpwise/labs/answers.py holds the solution of 01_why_gpus/place",
        ),
        (
            f"labs/{FIRST}.ipynb",
            LINE,
            f"labs/{FIRST}.ipynb holds the solution of 01_why_gpus/place",
        ),
        ("chapters/notes.txt", LINE, "chapters/notes.txt holds the solution of 01_why_gpus/place"),
        ("warpwise/run.json", "{}", "warpwise/run.json holds a file of the instructor's"),
        (
            "chapters/log.txt",
            "drawn from 123456789012",
            "chapters/log.txt holds the seed of GRADES/run.json",
        ),
    ],
)
def test_a_course_with_a_secret_in_the_wrong_place_is_not_released(
    course, tmp_path, path, planted, told
):
    (course / "GRADES").mkdir()
    (course / "GRADES/run.json").write_text('{"seed": 123456789012}')
    if path.endswith(".ipynb"):
        notebook = json.loads((course / path).read_text())
        notebook["cells"][-1]["metadata"]["copy"] = planted
        planted = json.dumps(notebook)
    (course / path).write_text(planted)
    target = tmp_path / "out"
    with pytest.raises(LabError, match=re.escape(told)):
        release(target, course)
    assert not target.exists() and sorted(p.name for p in tmp_path.iterdir()) == ["course"]


def test_a_target_in_use_stays_as_it_is(course, tmp_path):
    used = tmp_path / "used"
    used.mkdir()
    (used / "thesis.tex").write_text("chapter 1")
    for force in (False, True):
        with pytest.raises(LabError, match=r"used is not empty|used was not made by this command"):
            release(used, course, force=force)
    (tmp_path / "file").write_text("text")
    with pytest.raises(LabError, match=r"file is not a folder"):
        release(tmp_path / "file", course, force=True)
    assert (used / "thesis.tex").read_text() == "chapter 1" and (
        tmp_path / "file"
    ).read_text() == "text"
    assert sorted(p.name for p in tmp_path.iterdir()) == ["course", "file", "used"]


def test_force_replaces_a_release_that_nobody_worked_in(course, tmp_path):
    target = tmp_path / "out"
    target.mkdir()  # an empty folder will do
    release(target, course)
    release(target, course, term=TERM, force=True)
    assert json.loads((target / RECORD).read_text())["term"] == TERM
    fill(target / f"labs/{FIRST}.ipynb", "square")
    with pytest.raises(
        LabError, match=rf"out is not as it was released, see labs/{FIRST}\.ipynb: move it away"
    ):
        release(target, course, force=True)
    (course / f"solutions/{FIRST}.md").write_text("no lab")
    shutil.rmtree(target)
    with pytest.raises(LabError):
        release(target, course)
    assert sorted(p.name for p in tmp_path.iterdir()) == ["course"]


def test_a_lab_that_is_not_made_from_its_source_is_not_released(course, tmp_path):
    source = course / f"solutions/{FIRST}.md"
    source.write_text(source.read_text("utf-8") + "\nOne more word.\n", "utf-8")
    with pytest.raises(
        LabError, match=r"is not what .*01_why_gpus\.md says now: run `warpwise labs build`"
    ):
        release(tmp_path / "out", course)
    (course / f"labs/{FIRST}.ipynb").write_text("{")
    with pytest.raises(LabError, match=r"01_why_gpus\.ipynb is missing or damaged"):
        release(tmp_path / "out", course)


def second_lab(course: Path) -> None:
    """Give the small course another lab, with settings of its own."""
    for path in (
        f"solutions/{SECOND}.md",
        f"labs/{SECOND}.ipynb",
        f"tests/course/{SECOND}/hidden.py",
    ):
        (course / path).parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(ROOT / path, course / path)
    (course / "course.toml").write_text(
        'timezone = "Europe/Zurich"\n[late]\npercent_per_day = 10\ndays = 3\ngrace_minutes = 15\n'
        f"[labs.{SECOND}]\npoints = 20\ndue = 2027-03-12T23:59:00\n"
        f"[labs.{FIRST}]\ndue = 2027-03-05T12:00:00Z\nlate = {{ percent_per_day = 50 }}\n"
        f'[extensions."ada@example.edu"]\n{SECOND} = 2027-03-19T23:59:00\n'
    )


def run_release(*arguments: object) -> tuple[int, str]:
    done = CliRunner().invoke(app, ["release", *map(str, arguments)])
    return done.exit_code, done.output


@pytest.mark.slow
def test_labs_are_added_week_by_week(course, tmp_path):
    second_lab(course)
    out, into = tmp_path / "out", ("--student", tmp_path / "out", "--course", course)
    status, said = run_release(*into, "--lab", "1", "--term", TERM)
    assert status == 0 and said.startswith("1 lab, ")
    assert [path.name for path in (out / "labs").iterdir()] == [f"{FIRST}.ipynb"]
    handed = (out / f"labs/{FIRST}.ipynb").read_bytes()
    # the instructor's own files, and a repository
    (out / ".git/refs/tags").mkdir(parents=True)
    (out / "notes.txt").write_text("Week 1")
    (out / "labs/data.csv").write_text("1,2")
    # the first lab changes after it was handed out
    source = course / f"solutions/{FIRST}.md"
    source.write_text(source.read_text("utf-8") + "\nOne more word.\n", "utf-8")

    status, said = run_release(*into, "--lab", "simt")
    assert status == 0, said
    assert f"handed out now: {SECOND}; as they were: {FIRST}" in said
    assert f"{FIRST} has changed since it was handed out: --lab {FIRST} hands out the new" in said
    assert (out / f"labs/{FIRST}.ipynb").read_bytes() == handed
    assert (out / f"labs/{SECOND}.ipynb").is_file() and (out / ".git/refs/tags").is_dir()
    assert (out / "notes.txt").read_text() == "Week 1" and (out / "labs/data.csv").is_file()
    record = json.loads((out / RECORD).read_text())
    assert list(record["labs"]) == [FIRST, SECOND] and record["term"] == TERM
    assert "notes.txt" not in record["files"]
    # a change of a file that was handed out stops it, and nothing is lost
    fill(out / f"labs/{FIRST}.ipynb", "square")
    before = {path: path.read_bytes() for path in out.rglob("*") if path.is_file()}
    for more in ((), ("--force",)):
        status, said = run_release(*into, "--lab", "2", *more)
        assert status == 2 and f"is not as it was released, see labs/{FIRST}.ipynb" in said
    assert {path: path.read_bytes() for path in out.rglob("*") if path.is_file()} == before


@pytest.mark.slow
def test_the_readme_says_points_due_times_and_the_late_policy(course, tmp_path):
    second_lab(course)
    status, said = run_release("--student", tmp_path / "out", "--course", course)
    assert status == 0, said
    readme = (tmp_path / "out/README.md").read_text("utf-8")
    rows = [line for line in readme.splitlines() if line.startswith("|")]
    due = "Friday, 12 March 2027, 23:59 (Europe/Zurich)"
    assert rows[0] == "| lab | points | due | version |"
    assert rows[3].startswith(f"| `labs/{SECOND}.ipynb` | 20 | {due} | ")
    lost = "of its points for each day (24 hours) that has begun after the due time"
    ends = "counts nothing after 3 days. The first 15 minutes are free."
    assert f"For `labs/{SECOND}.ipynb`: Late work loses 10 % {lost}, and {ends}" in readme
    assert f"\nLate work loses 50 % {lost}, and {ends}" in readme
    assert "ada" not in readme and "warpwise labs update" in readme


@pytest.mark.parametrize(
    ("lab", "told"),
    [
        ("01_why_gpu_s", f"there is no lab '01_why_gpu_s'; did you mean {FIRST}?"),
        ("7", f"there is no lab '7'; there are {FIRST}"),
        ("", "there is no lab ''"),
    ],
)
def test_a_lab_that_is_none_is_one_line_and_nothing_is_written(course, tmp_path, lab, told):
    status, said = run_release("--student", tmp_path / "out", "--course", course, "--lab", lab)
    assert status == 2 and told in said and not (tmp_path / "out").exists()


@pytest.mark.slow
def test_pages_for_instructors_and_lines_that_link_to_them_are_left_out(course, tmp_path):
    (course / "chapters/running.md").write_text("# Running the course\n")
    index = course / "chapters/index.md"
    more = "One.\nSee [how](running.md#handing-out), please.\nTwo.\n- [Run](running.md) it\n"
    more += "```{button-ref} running\n:ref-type: doc\nTeach\n```\n"
    index.write_text(index.read_text() + more)
    contents = yaml.safe_load((course / "_toc.yml").read_text())
    contents["parts"][1]["chapters"].insert(0, {"file": "chapters/running"})
    (course / "_toc.yml").write_text(yaml.safe_dump(contents))
    release(tmp_path / "out", course)
    page = (tmp_path / "out/chapters/index.md").read_text()
    assert page.endswith("its guide.\nOne.\nTwo.\n")
    assert not (tmp_path / "out/chapters/running.md").exists()
    assert "running" not in (tmp_path / "out/_toc.yml").read_text()


def test_no_page_of_the_students_book_links_to_one_that_is_left_out(tmp_path):
    copy_book(ROOT, tmp_path)
    pages = {path.name: path.read_text("utf-8") for path in (tmp_path / "chapters").glob("*.md")}
    assert "running_a_course.md" not in pages and "08_coalescing.md" in pages
    for name, text in pages.items():
        linked = re.findall(r"\]\(([\w/]+\.md)(?:#[^)]*)?\)", text)
        assert not [page for page in linked if not (tmp_path / "chapters" / page).is_file()], name
        assert "running_a_course" not in text


@pytest.mark.slow
def test_the_site_is_built_without_the_guides(course, tmp_path):
    [said] = release(tmp_path / "out", course, site=True)
    pages = {
        path.relative_to(tmp_path / "out/site").as_posix()
        for path in (tmp_path / "out/site").rglob("*.html")
    }
    assert f"chapters/{FIRST}.html" in pages and not [page for page in pages if "teaching" in page]
    assert "its guide" in (tmp_path / "out/site/chapters/index.html").read_text("utf-8")
    assert "`site/index.html`" in (tmp_path / "out/README.md").read_text("utf-8")

    # the same sources: the site that was built before, whose mark shows it
    [kept] = (course / "_build/students").iterdir()
    (kept / "mark.txt").write_text("built before")
    lines = release(tmp_path / "again", course, site=True, term=TERM)
    assert "built before, from the same sources" in lines[-1] and "built before" not in said
    assert (tmp_path / "again/site/mark.txt").is_file()
    lab = json.loads((tmp_path / f"again/site/labs/{FIRST}.ipynb").read_text("utf-8"))
    assert lab["metadata"]["warpwise"]["term"] == TERM
    # a page that changes is built
    page = course / f"chapters/{FIRST}.md"
    page.write_text(page.read_text() + "\nVery fast.\n")
    release(tmp_path / "third", course, site=True)
    assert "Very fast" in (tmp_path / f"third/site/chapters/{FIRST}.html").read_text("utf-8")
    assert not (tmp_path / "third/site/mark.txt").exists()


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        ([], "say where to: --student DIR, --nbgrader DIR, or both"),
        (["--student", "out", "--course", "nowhere"], "nowhere is not the course's folder"),
        (["--student", "out", "--term", "a\nb"], "--term is one line"),
        (["--nbgrader", "out", "--site"], "--site goes with --student"),
    ],
)
def test_mistakes_in_the_command_are_one_line(arguments, told, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    done = CliRunner().invoke(app, ["release", *arguments])
    assert done.exit_code == 2 and told in done.output and done.output.count("\n") == 1
    assert list(tmp_path.iterdir()) == []
