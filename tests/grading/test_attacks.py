"""Hostile submissions against the real grader in the real sandbox: none gains a point, reads a
secret, leaves anything or stops a run.

``course/<lab>/attacks/*.py`` are answers to one exercise: their first line says which, and what
must come of it; ``support/attacks/generated.py`` makes more of them,
``support/attacks/notebooks.py`` makes whole notebooks, and ``lay_out_a_hostile_folder`` here what
stands around them. For each lab one run of the grader meets them all, with sound submissions first,
in the middle and last.

To save time a submission holds several attacks, each in the cell of another exercise, and limits
are a fraction of the grader's own. In labs whose kernels take long, exercises that are not attacked
are left undone; in the first lab they are solved, and have to pass."""

from __future__ import annotations

import csv
import json
import os
import re
import secrets
import socket
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from functools import cache, partial
from html.parser import HTMLParser
from pathlib import Path

import pytest
from distributed import Client, LocalCluster
from support import ordinary_user, processes
from support.attacks import LABS, generated, notebooks
from support.pace import pace
from support.paths import ROOT
from support.share import share

from warpwise.grading import cluster, grade, parts, simulate, visible, watch
from warpwise.grading.notebook import Answer
from warpwise.grading.record import SHOWN_PASSED, Record
from warpwise.labs.exercise import Reason
from warpwise.labs.source import load_lab, role, solved_notebook

FIRST = LABS[0]  # whose submissions are graded fastest: notebooks and folders are attacked there
SIMULATION_SECONDS = 3  # ten times what the sound kernels of a notebook take
EXPECT = re.compile(r"# expect: (\w+): (.+)\n")
ALONE = "\n# alone\n"  # binds names that the notebook's other cells need
SOUND = ("Aa_first", "ma_middle", "zz_last")
MARK = "WARPWISE_ATTACKS"  # in the environment of these tests' sandboxes
KEY = "0x50574e44"  # of System V memory that an attack would leave
SEED = 734_201_955


@dataclass(frozen=True)
class Attack:
    """One answer: the exercise that it replaces, and the reason of the finding on it."""

    name: str
    exercise: str
    reason: str
    text: str


@cache
def solved(lab: str) -> str:
    return json.dumps(solved_notebook(load_lab(lab)))


@cache
def undone(lab: str) -> dict[str, str]:
    """The cells of exercises as they are handed out."""
    cells = json.loads((ROOT / f"labs/{lab}.ipynb").read_text("utf-8"))["cells"]
    ours = [(cell["metadata"].get("warpwise", {}).get("id"), cell) for cell in cells]
    return {id: "".join(cell["source"]) for id, cell in ours if id}


@cache
def points(lab: str) -> dict[str, int]:
    """Points of the exercises that sound submissions solve: all, or those that are attacked."""
    asked = {attack.exercise for attack in attacks(lab)}
    exercises = load_lab(lab).exercises
    return {e.id: e.points for e in exercises if lab == FIRST or e.id in asked}


def kinds(lab: str) -> dict[str, str]:
    return {exercise.id: exercise.kind for exercise in load_lab(lab).exercises}


def met(lab: str) -> list[Attack]:
    """The attacks of a run. Kernels are interpreted, outside of any sandbox, so that it matters
    little who runs the grader: where root's run meets them all, an ordinary user's meets a
    share."""
    found = list(attacks(lab))
    if not ordinary_user.again():
        return found
    kernels = [attack for attack in found if kinds(lab)[attack.exercise] == "kernel"]
    kept = share(kernels, 4)
    return [attack for attack in found if attack not in kernels or attack in kept]


def attacks(lab: str) -> Iterator[Attack]:
    for path in sorted((ROOT / "tests/course" / lab / "attacks").glob("*.py")):
        text = path.read_text("utf-8")
        yield Attack(path.stem, *EXPECT.match(text).groups(), text)
    for name, (exercise, reason, text) in generated.TEXTS.items() if lab == generated.LAB else ():
        yield Attack(name, exercise, reason, text)


def packed(lab: str) -> dict[str, tuple[Attack, ...]]:
    """Submissions by name: in each as many attacks as have different exercises. Those marked alone
    get one of their own.

    By name they are spread among the others, so that no worker gets all of them.
    """
    packs: list[list[Attack]] = []
    for attack in met(lab):
        fitting = (
            p
            for p in packs
            if ALONE not in p[0].text + attack.text
            and attack.exercise not in {a.exercise for a in p}
        )
        pack = next(fitting, None)
        if pack is None:
            packs.append([attack])
        else:
            pack.append(attack)
    return {
        f"{chr(ord('a') + 26 * number // len(packs))}_pack_{number:02}": tuple(pack)
        for number, pack in enumerate(packs)
    }


def submission(lab: str, answers: dict[str, str] | None = None) -> dict:
    """The solved notebook with some exercises' cells replaced; without answers, a sound one."""
    made, left = json.loads(solved(lab)), undone(lab)
    if answers is None:
        answers = {id: text for id, text in left.items() if id not in points(lab)}
    elif lab != FIRST:
        answers = left | answers
    for cell in made["cells"]:
        cell["source"] = answers.get(cell["metadata"].get("warpwise", {}).get("id"), cell["source"])
    return made


# What stands around a submission.

ODD_NAMES = (
    "a,b;c",
    "quo\"te's",
    "new\nline\r",
    "+1+1",
    "@SUM(A1)",
    "-2",
    "<script>alert(1)<",
    " ",
    "%2e%2e%2f",
    "~",
    "$(touch pwned)",
    "`touch pwned`",
    "--help",
    "con",
    "x" * 240,
    "\x1b[2J\x07",
)
# a formula; characters that turn the direction of writing
ODD_AND_GOOD = ("=cmd|'x'!A1", "\u202egnp.b\u2066\u200b")


def lay_out_a_hostile_folder(folder: Path, right: str) -> dict[str, str]:
    """Files and folders that no student of good faith hands in. By file: "" for full points, or a
    part of the problem it must have."""
    mark = str(folder.parent / "pwned")
    pwned = f"import os\nos.system('touch {mark}')\nopen({mark!r}, 'w')\n"
    for name in (
        "conftest",
        "sitecustomize",
        "usercustomize",
        "warpwise",
        "numpy",
        "json",
        "pytest",
        "course",
        "setup",
    ):
        (folder / f"{name}.py").write_text(pwned)
    for name, head in {
        "pytest.ini": "pytest",
        "setup.cfg": "tool:pytest",
        "course.toml": "course",
    }.items():
        (folder / name).write_text(f"[{head}]\naddopts = -p pwned\n")
    (folder / ".git/hooks").mkdir(parents=True)
    (folder / ".git/config").write_text(
        f"[core]\nfsmonitor = touch {folder.parent}/pwned\nhooksPath = .git/hooks\n"
    )
    startup = folder / ".ipython/profile_default/startup"
    startup.mkdir(parents=True)
    (startup / "00.py").write_text(pwned)

    (folder / "to_a_neighbour.ipynb").symlink_to(folder / f"{SOUND[0]}.ipynb")
    (folder / "to_hidden_tests.ipynb").symlink_to(ROOT / f"tests/course/{FIRST}/hidden.py")
    (folder / "to_itself.ipynb").symlink_to(folder / "to_itself.ipynb")
    (folder / "to_a_device.ipynb").symlink_to("/dev/zero")
    (folder / "to_a_folder").symlink_to(ROOT / "solutions")
    os.mkfifo(folder / "a_pipe.ipynb")
    with socket.socket(socket.AF_UNIX) as door:
        before = os.getcwd()
        os.chdir(folder)  # a socket's path is short
        door.bind("a_socket.ipynb")
        os.chdir(before)
    (folder / "a_folder.ipynb").mkdir()
    (folder / "nothing_inside").mkdir()
    (folder / "deep" / "/".join("d" * 100)).mkdir(parents=True)
    (folder / "deep" / "/".join("d" * 100) / f"{FIRST}.ipynb").write_text(right)
    (folder / "many").mkdir()
    for number in range(120):
        (folder / "many" / f"{number}.ipynb").touch()

    names = {f"{name}.ipynb": "empty" for name in ODD_NAMES} | {
        f"{name}.ipynb": "" for name in ODD_AND_GOOD
    }
    for name, problem in names.items():
        (folder / name).write_text("" if problem else right)
    (folder / os.fsdecode(b"bytes\xff\xfe.ipynb")).write_text("")

    (folder / "twice").mkdir()
    for name in (f"{FIRST}.ipynb", f"{FIRST}-Copy1.ipynb", f"{FIRST} (2).ipynb"):
        (folder / "twice" / name).write_text(right)
    linked = {
        f"to_{what}.ipynb": "link" for what in ("a_neighbour", "hidden_tests", "itself", "a_device")
    } | {"to_a_folder": "link"}
    special = {"a_pipe.ipynb": "not a regular file", "a_socket.ipynb": "cannot be opened"}
    special |= dict.fromkeys(("a_folder.ipynb", "nothing_inside"), "handed in nothing")
    special |= {
        "many": "more than 100",
        f"twice/{FIRST}-Copy1.ipynb": "second notebook",
        f"twice/{FIRST} (2).ipynb": "second notebook",
    }
    return (
        names
        | linked
        | special
        | {f"twice/{FIRST}.ipynb": "", f"deep/{'/'.join('d' * 100)}/{FIRST}.ipynb": ""}
    )


# The runs.


@dataclass(frozen=True)
class Run:
    """One run of the grader over one lab's attacks, and what there was to find afterwards."""

    lab: str
    records: dict[str, Record]  #: by file
    packs: dict[str, tuple[Attack, ...]]
    notebooks: dict[str, str]  #: what must come of those of ``attacks/notebooks.py``, by name
    folder: dict[str, str]  #: what must come of a hostile folder, by file
    out: Path
    secrets: dict[str, str]  #: by where they were
    connections: int
    left: list[str]


@pytest.fixture(scope="module", params=LABS)
def run(request, sandbox, tmp_path_factory) -> Iterator[Run]:
    with pytest.MonkeyPatch.context() as patch:
        yield attacked(request.param, tmp_path_factory.mktemp(request.param), patch)


def attacked(lab: str, base: Path, patch: pytest.MonkeyPatch) -> Run:
    planted = {
        place: f"canary-is-{secrets.token_hex(8)}"
        for place in ("environment", "hidden tests", "neighbour", "home")
    }
    submissions, home, course = (
        base / "submissions",
        base / "home",
        course_with(base / "course", lab, planted["hidden tests"]),
    )
    submissions.mkdir()
    home.mkdir()
    (home / "notes.txt").write_text(planted["home"])
    patch.setenv("SECRET", planted["environment"])
    patch.setenv("HOME", str(home))
    patch.setitem(parts.ENVIRONMENT, MARK, secrets.token_hex(8))
    shorter_limits(patch, lab)
    packs, made, around = packed(lab), {}, {}
    with socket.create_server(("127.0.0.1", 0)) as listener:
        listener.settimeout(0)
        filled = {
            "@PORT@": str(listener.getsockname()[1]),
            "@ROOT@": str(ROOT),
            "@SUBMISSIONS@": str(submissions),
        }
        filled |= {"@COURSE@": str(course), "@HOME@": str(home)}
        for name in SOUND:
            hand_in(
                submissions / f"{name}.ipynb",
                with_secret(submission(lab), planted["neighbour"]),
                {},
            )
        for name, pack in packs.items():
            hand_in(
                submissions / f"{name}.ipynb",
                submission(lab, {a.exercise: a.text for a in pack}),
                filled,
            )
        if lab == FIRST:
            around = lay_out_a_hostile_folder(submissions, solved(lab))
            made = notebooks.made(submission(lab))
            for name, (content, _) in made.items():
                hand_in(submissions / f"{name}.ipynb", content, filled)
        before = listing(submissions)
        patch.chdir(submissions)  # an instructor may well stand there
        records = grade(submissions, base / "out", lab=lab, seed=SEED, jobs=2, course=course)
        patch.chdir(ROOT)
        found = connections(listener)
    left = [*leftovers(base), *(f"changed: {path}" for path in before ^ listing(submissions))]
    expected = {name: said for name, (_, said) in made.items()}
    return Run(
        lab,
        {r.file: r for r in records},
        packs,
        expected,
        around,
        base / "out",
        planted,
        found,
        left,
    )


@contextmanager
def two_workers(jobs: int) -> Iterator[Client]:
    """The workers of ``cluster.local_workers``, as threads of this process: there the limits hold
    that are set here."""
    settings = {
        "n_workers": jobs,
        "threads_per_worker": 1,
        "dashboard_address": ":0",
        "memory_limit": 0,
        "processes": False,
    }
    with LocalCluster(**settings, silence_logs=50) as workers, Client(workers) as client:
        yield client


def shorter_limits(patch: pytest.MonkeyPatch, lab: str) -> None:
    """Less than most of the grader's, through the same code: many attacks run into one."""
    patch.setattr(cluster, "local_workers", two_workers)
    for name, cpu, wall in (("FUNCTIONS", 3, 12), ("NOTEBOOK", 5, 25)):  # seconds
        part = getattr(parts, name)
        # A parent and its child may be seen at once; which case has too much is said by its budget.
        memory = part.limits.memory_bytes * (2 if lab == LABS[-1] else 1)
        cpu = min(cpu * pace(), part.limits.cpu_seconds)  # beyond it the system's own limit ends it
        patch.setattr(
            parts,
            name,
            replace(
                part,
                limits=replace(
                    part.limits, cpu_seconds=cpu, patience=wall * pace() / cpu, memory_bytes=memory
                ),
            ),
        )
    seconds = min(pace() * SIMULATION_SECONDS, simulate.LIMITS.cpu_seconds)
    patch.setattr(
        simulate,
        "simulate",
        partial(simulate.simulate, limits=replace(simulate.LIMITS, cpu_seconds=seconds)),
    )
    patch.setattr(visible, "CELL_SECONDS", 2 * pace())


def course_with(folder: Path, lab: str, secret: str) -> Path:
    """A course of this lab alone, whose hidden tests hold a secret in a comment."""
    hidden = folder / f"tests/course/{lab}/hidden.py"
    for path in (folder / f"solutions/{lab}.md", folder / f"labs/{lab}.ipynb", hidden):
        path.parent.mkdir(parents=True)
        path.write_text((ROOT / path.relative_to(folder)).read_text("utf-8"), "utf-8")
    hidden.write_text(f"{hidden.read_text('utf-8')}\n# {secret}\n", "utf-8")
    return folder


def with_secret(made: dict, secret: str) -> dict:
    next(cell for cell in made["cells"] if "id" in cell["metadata"].get("warpwise", {}))[
        "source"
    ] += f"\n# {secret}\n"
    return made


def hand_in(path: Path, content: dict | str | bytes | int, marks: dict[str, str]) -> None:
    """Write a submission; a number is the size of a file that is a hole."""
    if isinstance(content, int):
        with open(path, "wb") as file:
            file.truncate(content)
        return
    text = content if isinstance(content, str | bytes) else json.dumps(content)
    for mark, value in marks.items() if isinstance(text, str) else ():
        text = text.replace(mark, value)
    path.write_bytes(text if isinstance(text, bytes) else text.encode())


def listing(folder: Path) -> set[tuple[str, int, int]]:
    """Every file below a folder with its size and the time of its last change."""
    found = [
        os.path.join(here, name)
        for here, folders, files in os.walk(folder)
        for name in (*folders, *files)
    ]
    return {
        (path, about.st_size, about.st_mtime_ns) for path in found for about in [os.lstat(path)]
    }


def connections(listener: socket.socket) -> int:
    count = 0
    with suppress(BlockingIOError):
        while True:
            listener.accept()[0].close()
            count += 1
    return count


def leftovers(base: Path) -> list[str]:
    """Processes, files, shared memory and sockets that an attack left."""
    found = [
        f"process {text}"
        for text in (*children(), *processes.carrying(f"{MARK}={parts.ENVIRONMENT[MARK]}"))
    ]
    places = (
        "/tmp",
        "/var/tmp",
        "/dev/shm",
        ROOT,
        ROOT / "tests",
        base,
        base / "home",
        base / "course",
    )
    for folder in map(Path, places):
        found += [str(path) for path in folder.glob("*pwned*")]
        found += [
            str(path)
            for name in ("sitecustomize.py", "usercustomize.py", "numpy.py")
            if (path := folder / name).exists()
        ]
    found += [
        name for name in ("shm", "sem", "msg") if int(KEY, 16) in keys(Path("/proc/sysvipc") / name)
    ]
    return found + [
        line for line in Path("/proc/net/unix").read_text().splitlines() if "pwned" in line
    ]


def keys(table: Path) -> set[int]:
    return (
        {int(line.split()[0]) for line in table.read_text().splitlines()[1:]}
        if table.exists()
        else set()
    )


def children() -> Iterator[str]:
    for pid in list(watch.tree(os.getpid()))[1:]:
        with suppress(OSError):
            if command := Path(f"/proc/{pid}/cmdline").read_bytes():
                yield command.replace(b"\0", b" ").decode("utf-8", "replace")


# What came of them.


def reasons(record: Record) -> dict[str, str]:
    return {result.exercise: result.finding.reason for result in record.results}


def differences(found: dict, expected: dict) -> dict:
    return {
        name: {"found": found[name], "expected": expected[name]}
        for name in expected
        if found[name] != expected[name]
    }


def test_there_are_attacks_enough():
    cells = [attack.name for lab in LABS for attack in attacks(lab)]
    assert len(cells) >= 90 and len(set(cells)) == len(cells)
    assert len(notebooks.made(json.loads(solved(FIRST)))) >= 35


def test_sound_submissions_among_them_get_their_points(run: Run):
    for name in SOUND:
        found = run.records[f"{name}.ipynb"]
        assert (found.points, found.problem) == (sum(points(run.lab).values()), ""), [
            r.finding for r in found.results
        ]
        shown = {r.exercise: r.visible.outcome for r in found.results}
        assert {id: shown[id] for id in points(run.lab)} == dict.fromkeys(
            points(run.lab), SHOWN_PASSED
        )
        assert found.results == run.records[f"{SOUND[0]}.ipynb"].results


def test_no_answer_gains_a_point(run: Run):
    expected, found = {}, {}
    for name, pack in run.packs.items():
        record = run.records[f"{name}.ipynb"]
        told, given = reasons(record), {result.exercise: result.points for result in record.results}
        for attack in pack:
            worth = points(run.lab)[attack.exercise] if attack.reason == "passed" else 0
            expected[attack.name] = (attack.reason, worth)
            found[attack.name] = (
                told.get(attack.exercise, record.problem),
                given.get(attack.exercise, 0),
            )
        others = (
            points(run.lab).keys() - {attack.exercise for attack in pack}
            if ALONE not in pack[0].text
            else ()
        )
        expected[name] = dict.fromkeys(others, "passed" if run.lab == FIRST else Reason.NOT_DONE)
        found[name] = {exercise: told.get(exercise) for exercise in others}
    assert differences(found, expected) == {}


def test_no_notebook_gains_a_point(run: Run):
    expected, found = {}, {}
    for name, said in run.notebooks.items():
        record = run.records[f"{name}.ipynb"]
        kind, rest = said.split(":")[0].strip(), said.split(":")[1].strip()
        if kind == "problem":
            expected[name], found[name] = (
                (0, True),
                (record.points, bool(record.problem) and rest in record.problem),
            )
        else:
            lost = {} if kind == "full" else {kind: rest}
            expected[name] = ("", dict.fromkeys(points(run.lab), "passed") | lost)
            found[name] = (record.problem, reasons(record))
    assert differences(found, expected) == {}


def test_no_folder_gains_a_point(run: Run):
    expected, found = {}, {}
    for file, problem in run.folder.items():
        record = run.records[file]
        expected[file] = (0 if problem else sum(points(run.lab).values()), True)
        found[file] = (
            record.points,
            problem in record.problem and bool(problem) == bool(record.problem),
        )
    assert differences(found, expected) == {}


def test_every_file_has_a_record_and_a_page(run: Run):
    students = {record.student for record in run.records.values()}
    pages = {path.name for path in (run.out / "feedback").iterdir()}
    assert len(pages) >= len(students)
    assert all(re.fullmatch(r"[\w-][\w.-]*", name) for name in pages)
    assert not any(
        record.problem.startswith("the grader failed") for record in run.records.values()
    )


def test_no_secret_is_told(run: Run):
    """Neither what was planted nor the seed; a page of the student who holds a secret may quote
    it."""
    for path in [run.out / "grades.csv", *(run.out / "feedback").rglob("*")]:
        text = path.read_text("utf-8") if path.is_file() else ""
        told = [place for place, secret in run.secrets.items() if secret in text]
        assert told == [] or (told == ["neighbour"] and path.name.startswith(SOUND)), path
        assert str(SEED) not in text, path


class Running(HTMLParser):
    """The parts of a page that a browser would run or fetch."""

    def __init__(self, text: str):
        super().__init__()
        self.found: list[tuple] = []
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        if tag in ("script", "iframe", "object", "embed", "link", "base", "form", "foreignobject"):
            self.found.append((tag, attributes))
        for name, value in attributes:
            fetched = name in ("src", "href", "action", "xlink:href") and not (
                value or ""
            ).startswith(("#", "data:image/"))
            if name.startswith("on") or fetched:
                self.found.append((tag, name, value))


def test_pages_run_nothing_and_fetch_nothing(run: Run):
    for path in (run.out / "feedback").rglob("*.html"):
        assert Running(path.read_text("utf-8")).found == [], path


def test_no_cell_is_a_formula_and_no_text_moves_a_terminal(run: Run):
    with open(run.out / "grades.csv", newline="", encoding="utf-8") as file:
        cells = [cell for row in csv.reader(file) for cell in row]
    assert not [cell for cell in cells if cell.startswith(("=", "+", "-", "@", "\t", "\r", "\n"))]
    texts = list((run.out / "feedback").rglob("*.txt"))
    assert texts
    for path in texts:
        assert not re.search(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f]", path.read_text("utf-8")), path


def test_nothing_stays_behind(run: Run):
    assert run.left == []
    assert run.connections == 0


def test_what_one_left_another_does_not_find(run: Run):
    """The notebook's re-run lets sockets be opened and files be written; a later one sees none of
    it."""
    for name, pack in run.packs.items():
        for attack in pack if any(a.name == "reads_what_others_left" for a in pack) else ():
            shown = {
                result.exercise: result.visible for result in run.records[f"{name}.ipynb"].results
            }
            assert (
                attack.name != "reads_what_others_left"
                or shown[attack.exercise].outcome == SHOWN_PASSED
            ), shown


def test_nobody_waits_longer_than_the_limits(run: Run):
    """Two thirds of a minute is what the limits above let the slowest take; a second try and other
    work on the machine may take as much twice again."""
    assert max(record.seconds for record in run.records.values()) < 120 * pace()


def test_an_error_carries_no_input_out():
    """The error of ``carries_inputs_out`` would name a number of ten digits; a host function's own
    names are not passed on."""
    text = next(
        attack.text
        for attack in attacks("11_online_softmax")
        if attack.name == "carries_inputs_out"
    )
    lab = load_lab("11_online_softmax")
    given = tuple(cell.source for cell in lab.cells if role(cell) == "given")
    answer = Answer("cross_entropy", "kernel", "cross_entropy", text)
    found = simulate.simulate(ROOT, lab.stem, SEED, [answer], given)["cross_entropy"].finding
    assert found.reason == "out of bounds"
    assert not re.search(r"\d{5}", found.detail + found.advice + found.behaviour), found
