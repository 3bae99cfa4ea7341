"""The bundle for Gradescope, in a bare machine like theirs: root, half a processor, 768 MB.

The machine is this one's system under a new root, without the course, with a docker container's
rights, so without namespaces."""

from __future__ import annotations

import json
import os
import re
import shutil
import signal
import stat
import subprocess
import sys
import threading
import time
import zipfile
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from support import tiny_course
from support.feedback_pages import given
from support.few_wrong_answers import few
from support.paths import ROOT
from support.share import THOROUGH
from typer.testing import CliRunner

from warpwise.cli import app
from warpwise.grading import autograder, extract, hidden, simulate, watch
from warpwise.grading.record import NO_COMPILER, Finding, Record, Result
from warpwise.labs import leaks
from warpwise.labs.budgets import figure
from warpwise.labs.source import load_lab, solved_notebook, student_notebook

LAB = "08_coalescing"
POINTS = {exercise.id: exercise.points for exercise in load_lab(LAB).exercises}
ALL = sum(POINTS.values())
MEMORY_BYTES, SECONDS = 768 << 20, 600  # what a submission gets there
SEED = 987_654_321_012_345
# Rights of root in a container (moby/profiles, default), without mounts and namespaces.
RIGHTS = (
    "CHOWN DAC_OVERRIDE FOWNER FSETID KILL SETGID SETUID SETPCAP NET_BIND_SERVICE NET_RAW "
    "SYS_CHROOT MKNOD AUDIT_WRITE SETFCAP"
).split()
TURN = 0.05  # seconds to run, and then to wait: half a processor
OF_A_TEST = set(
    (
        "score max_score status name name_format number output output_format tags "
        "visibility extra_data"
    ).split()
)
OF_RESULTS = set(
    (
        "score execution_time output output_format test_output_format visibility "
        "stdout_visibility extra_data tests"
    ).split()
)
METADATA = {
    "id": 31,
    "users": [{"email": "a@example.org"}],
    "created_at": "2027-02-01T10:00:00-08:00",
    "assignment": {"title": LAB},
}


@dataclass(frozen=True)
class Ran:
    """A command's run on the machine: what it printed, and the most memory that it held."""

    status: int
    said: str
    seconds: float
    memory_bytes: int


@dataclass(frozen=True)
class Machine:
    """A machine; ``folder`` is its /autograder, ``open`` its /var/tmp.

    Anybody can write in ``open``, and the test can read it."""

    folder: Path
    open: Path

    def command(self, network: bool) -> list[str]:
        made = [
            "bwrap",
            "--die-with-parent",
            "--unshare-pid",
            "--unshare-ipc",
            "--unshare-uts",
            *([] if network else ["--unshare-net"]),
        ]
        made += [
            "--cap-drop",
            "ALL",
            *(word for right in RIGHTS for word in ("--cap-add", f"CAP_{right}")),
        ]
        for path in sorted(Path("/").iterdir()):
            if path.is_symlink():
                made += ["--symlink", os.readlink(path), str(path)]
            elif path.name not in {"autograder", "dev", "proc", "root", "sys", "tmp"}:
                made += ["--ro-bind", str(path), str(path)]
        made += ["--perms", "0755", "--dir", "/root"]
        for path in Path("/root").iterdir():  # where Python and pip's settings may be
            made += ["--ro-bind", str(path), str(path)]
        made += [
            "--proc",
            "/proc",
            "--dev",
            "/dev",
            "--perms",
            "1777",
            "--tmpfs",
            "/tmp",
            "--perms",
            "0000",
            "--tmpfs",
            str(ROOT),
        ]
        return [
            *made,
            "--bind",
            str(self.open),
            "/var/tmp",
            "--bind",
            str(self.folder),
            "/autograder",
            "--chdir",
            "/autograder",
            "--",
        ]

    def run(self, script: str, network: bool = False, half: bool = False) -> Ran:
        """Run a script of the bundle as the platform does, with half a processor if that may
        matter; then the memory is looked at, too."""
        kept = {
            k: v
            for k, v in os.environ.items()
            if k.startswith(("PIP_", "SSL_", "REQUESTS_")) or k.lower().endswith("_proxy")
        }
        path = f"{sys.base_prefix}/bin:/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
        start, most = time.monotonic(), [0]
        process = subprocess.Popen(
            [*self.command(network), f"/autograder/{script}"],
            env=kept | {"PATH": path, "HOME": "/root"},
            text=True,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            preexec_fn=lambda: os.sched_setaffinity(0, {min(os.sched_getaffinity(0))}),
        )
        shared = threading.Thread(target=share, args=(process, most, half), daemon=True)
        shared.start()
        said, _ = process.communicate(timeout=SECONDS)
        shared.join()
        return Ran(process.returncode, said, time.monotonic() - start, most[0])

    def hand_in(self, content: bytes | str | dict, name: str = f"{LAB}.ipynb") -> None:
        """Put one file into a fresh submission, and nothing else."""
        for folder in (self.folder / "submission", self.folder / "results"):
            shutil.rmtree(folder, ignore_errors=True)
            folder.mkdir()
        for path in self.open.iterdir():
            path.unlink()
        (self.folder / "submission_metadata.json").write_text(json.dumps(METADATA))
        content = json.dumps(content) if isinstance(content, dict) else content
        (self.folder / "submission" / name).write_bytes(
            content.encode() if isinstance(content, str) else content
        )

    def graded(self, script: str = "run_autograder", half: bool = False) -> tuple[dict, Ran]:
        """Run the autograder on the submission; return its results and how the run went.

        The results have the platform's form."""
        ran = self.run(script, half=half)
        assert ran.status == 0, ran.said
        assert ran.memory_bytes < MEMORY_BYTES and ran.seconds < SECONDS
        results = json.loads((self.folder / "results/results.json").read_text("utf-8"))
        check_form(results)
        return results, ran


def share(process: subprocess.Popen, most: list[int], half: bool) -> None:
    """Let a process and its descendants run half of the time; note their most memory."""
    while process.poll() is None:
        if half:
            stopped = signalled(process.pid, signal.SIGSTOP)
            most[0] = max(most[0], sum(map(resident, stopped)))
            time.sleep(TURN)
            for pid in stopped:
                with suppress(OSError):
                    os.kill(pid, signal.SIGCONT)
        time.sleep(TURN)


def signalled(pid: int, number: int) -> list[int]:
    """Signal the descendants of a process, but not itself: nobody could wait for it."""
    found = list(watch.tree(pid))[1:]
    for one in found:
        with suppress(OSError):
            os.kill(one, number)
    return found


def resident(pid: int) -> int:
    with suppress(OSError, IndexError):
        return int(Path(f"/proc/{pid}/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")
    return 0


def check_form(results: dict[str, Any]) -> None:
    """Check the fields that Gradescope's documentation names, and their kinds.

    No test is hidden, since that hides the total."""
    assert (
        set(results) <= OF_RESULTS
        and isinstance(results["score"], (int, float))
        and results["output"]
    )
    assert results.get("visibility", "visible") == "visible"
    for test in results.get("tests", ()):
        assert set(test) <= OF_A_TEST
        assert test["visibility"] == "visible" and test["name"] and test["output_format"] == "html"
        assert ("score" in test) == ("max_score" in test) and test.get("status", "passed") in (
            "passed",
            "failed",
        )


@pytest.fixture(scope="module")
def bundle(tmp_path_factory) -> Path:
    target = tmp_path_factory.mktemp("packed") / f"{LAB}.zip"
    done = CliRunner().invoke(app, ["bundle", "gradescope", str(target), "--seed", str(SEED)])
    assert done.exit_code == 0, done.output
    assert (
        f"{LAB}, version {load_lab(LAB).version}, {len(POINTS)} exercises, {ALL} points"
        in done.output
    )
    return target


@pytest.fixture(scope="module")
def machine(bundle, tmp_path_factory, sandbox) -> Iterator[Machine]:
    """A machine on which setup.sh has run."""
    if os.geteuid() != 0:
        pytest.skip("needs root, as Gradescope's containers give it")
    base = tmp_path_factory.mktemp("gradescope")
    made = Machine(base / "autograder", base / "open")
    (made.folder / "source").mkdir(parents=True)
    made.open.mkdir()
    made.open.chmod(0o1777)
    unpack(bundle, made.folder)
    shutil.copy(made.folder / "source/run_autograder", made.folder / "run_autograder")
    (made.folder / "setup.sh").write_text("#!/bin/sh\nexec /autograder/source/setup.sh\n")
    (made.folder / "setup.sh").chmod(0o755)
    ran = made.run("setup.sh", network=True)
    assert ran.status == 0, ran.said
    yield made
    shutil.rmtree(base, ignore_errors=True)


def unpack(bundle: Path, folder: Path) -> None:
    """Unpack with the members' permissions, as the platform does."""
    with zipfile.ZipFile(bundle) as archive:
        for member in archive.infolist():
            Path(archive.extract(member, folder / "source")).chmod(
                member.external_attr >> 16 & 0o777
            )


def solved(**answers: str) -> dict:
    """Return the solved notebook, with some exercises' cells replaced."""
    made = json.loads(json.dumps(solved_notebook(load_lab(LAB))))
    for cell in made["cells"]:
        cell["source"] = answers.get(cell["metadata"].get("warpwise", {}).get("id"), cell["source"])
    return made


# The zip.


@pytest.mark.slow
def test_the_zip_has_what_the_platform_asks_for_and_no_solution(bundle):
    with zipfile.ZipFile(bundle) as archive:
        names = set(archive.namelist())
        for script in ("setup.sh", "run_autograder"):
            member = archive.getinfo(script)
            assert stat.S_IMODE(member.external_attr >> 16) == 0o755
            text = archive.read(script)
            assert text.startswith(b"#!/usr/bin/env bash\n") and b"\r" not in text
        [wheel] = [name for name in names if name.endswith(".whl")]
        assert names == {
            "setup.sh",
            "run_autograder",
            "requirements.txt",
            "lab.json",
            f"tests/course/{LAB}/hidden.py",
            wheel,
        }
        about = json.loads(archive.read("lab.json"))
        assert f"./{wheel}" in archive.read("requirements.txt").decode()
    assert (about["seed"], about["stem"]) == (SEED, LAB)
    secrets = {
        secret: what for secret, what in leaks.secrets(ROOT).items() if "hidden.py" not in what
    }
    assert leaks.find(bundle.parent, secrets) == ()


def test_a_new_seed_is_drawn_for_every_zip(tmp_path):
    seeds = set()
    for name in ("a.zip", "b.zip"):
        done = CliRunner().invoke(app, ["bundle", "gradescope", str(tmp_path / name), "--lab", LAB])
        assert done.exit_code == 0, done.output
        with zipfile.ZipFile(tmp_path / name) as archive:
            seeds.add(json.loads(archive.read("lab.json"))["seed"])
    assert len(seeds) == 2


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["out.txt"], "out.txt is not the name of a zip"),
        (
            ["08_coalesing.zip"],
            "there is no lab '08_coalesing' with hidden tests; did you mean 08_coalescing?",
        ),
        (["there.zip", "--lab", LAB], "there.zip is there already"),
        (["x.zip", "--lab", LAB, "--course", "nowhere"], "nowhere is not the course's folder"),
    ],
)
def test_mistakes_in_the_command_are_one_line_and_lose_nothing(
    arguments, told, tmp_path, monkeypatch
):
    monkeypatch.chdir(tmp_path)
    Path("there.zip").write_text("mine")
    done = CliRunner().invoke(app, ["bundle", "gradescope", *arguments])
    assert done.exit_code == 2 and told in done.output and done.output.count("\n") == 1
    assert [path.name for path in tmp_path.iterdir()] == ["there.zip"] and Path(
        "there.zip"
    ).read_text() == "mine"


# The machine.


def test_little_is_installed(machine):
    assert sum(path.lstat().st_size for path in (machine.folder / "python").rglob("*")) < 120 << 20


def test_a_right_submission_gets_all_points(machine):
    machine.hand_in(solved())
    results, ran = machine.graded(half=True)
    assert results["score"] == ALL and ran.memory_bytes > 50 << 20
    assert {test["name"] for test in results["tests"]} == {
        asked["title"] for asked in exercises(machine)
    }
    assert [(test["score"], test["max_score"], test["status"]) for test in results["tests"]] == [
        (points, points, "passed") for points in POINTS.values()
    ]
    seeds = {ran.said, machine.graded()[1].said}
    assert len(seeds) == 1, "the same submission draws the same cases when it is run again"
    about = machine.folder / "submission_metadata.json"
    about.write_text(json.dumps(METADATA | {"id": 32}))
    seeds.add(machine.graded()[1].said)
    assert len(seeds) == 2, "another submission draws others"
    assert all(re.fullmatch(r"hidden cases of this submission: --seed \d+\n", s) for s in seeds)
    assert not any(str(SEED) in said for said in seeds)


def exercises(machine: Machine) -> list[dict]:
    return json.loads((machine.folder / "source/lab.json").read_text())["exercises"]


HOSTILE = """
def sectors_for(*args):
    import ctypes, glob, os, signal, subprocess, sys, time
    done = []

    def attempt(name, attack):
        try:
            if attack():
                done.append(name)
        except BaseException:
            pass

    def forge(path):
        with open(path, "r+") as file:  # which asks for no new file
            file.write('{"score": 1000}')
        return True

    def owner(pid):
        with open(f"/proc/{pid}/status") as file:
            return int(file.read().partition("Uid:")[2].split()[0])

    pids = [int(name) for name in os.listdir("/proc") if name.isdigit()]
    others = [pid for pid in pids if owner(pid) != os.getuid()]
    attempt("listed the source", lambda: os.listdir("/autograder/source"))
    attempt("read the seed", lambda: open("/autograder/source/lab.json").read())
    tests = "/autograder/source/tests/course"
    attempt("read a hidden test", lambda: open(f"{tests}/08_coalescing/hidden.py").read())
    attempt("read who handed in", lambda: open("/autograder/submission_metadata.json").read())
    attempt("wrote results", lambda: forge("/autograder/results/results.json"))
    results = "/autograder/results"
    attempt("moved the results away", lambda: os.rename(results, "/autograder/r") or True)
    attempt("changed the grader", lambda: forge(sys.modules["start"].__file__))
    attempt("changed the command", lambda: forge("/autograder/run_autograder"))
    attempt("became root", lambda: os.setuid(0) or True)
    attempt("made a namespace", lambda: ctypes.CDLL(None).unshare(0x10000000) == 0)
    attempt("opened a socket", lambda: __import__("socket").socket())
    for pid in others:
        attempt("killed a process", lambda: os.kill(pid, signal.SIGKILL) or True)
        attempt("read an environment", lambda: open(f"/proc/{pid}/environ").read())
        attempt("opened memory", lambda: open(f"/proc/{pid}/mem", "rb"))
        attempt("saw the seed", lambda: "987654321012345" in open(f"/proc/{pid}/cmdline").read())
        files = f"/proc/{pid}/fd"
        attempt("opened a file of it", lambda: [open(f"{files}/{n}") for n in os.listdir(files)])
    if os.fork() == 0:  # what stays behind
        os.setsid()
        ctypes.CDLL(None).prctl(4, 0, 0, 0, 0)
        if os.fork() == 0:
            os.closerange(0, 256)
            while not os.path.exists("/var/tmp/ended"):
                time.sleep(0.02)
            open("/var/tmp/late", "r+").write("still here")
        os._exit(0)
    attempt("made a file", lambda: open("/var/tmp/made", "w"))
    attempt("made a file without a name", lambda: os.open("/var/tmp", os.O_TMPFILE | os.O_RDWR))
    open("/var/tmp/evidence", "r+").write(repr((os.getuid() != 0, len(others) > 2, done)))
    return 0
"""


AND_WAIT = (
    "#!/bin/sh\n"
    "/autograder/run_autograder\n"
    "status=$?\n"
    "touch /var/tmp/ended\n"
    "sleep 1\n"
    "exit $status\n"
)


def test_a_hostile_submission_gains_nothing(machine):
    machine.hand_in(solved(sectors_for=HOSTILE))
    (machine.folder / "and_wait").write_text(AND_WAIT)
    (machine.folder / "and_wait").chmod(0o755)
    for name in ("evidence", "late"):
        (machine.open / name).touch()
        (machine.open / name).chmod(0o666)
    results, _ = machine.graded("and_wait")
    assert (machine.open / "evidence").read_text() == "(True, True, [])"
    assert (machine.open / "ended").exists() and not (machine.open / "late").read_text()
    assert results["score"] == ALL - POINTS["sectors_for"]
    [failed] = [test for test in results["tests"] if test["status"] == "failed"]
    assert failed["score"] == 0 and "Wrong" in failed["output"]
    assert str(SEED) not in json.dumps(results)


GREEDY = """
def sectors_for(*args):
    import os
    for _ in range(4):
        os.fork()
    held = []
    while True:
        held.append(bytearray(os.urandom(1 << 20)) * 32)
"""


def test_a_greedy_submission_is_ended_within_the_container(machine):
    machine.hand_in(solved(sectors_for=GREEDY))
    results, _ = machine.graded(half=True)  # which looks at memory and time
    assert results["score"] == ALL - POINTS["sectors_for"]


@pytest.mark.parametrize(
    ("content", "name", "told"),
    [
        (
            b'{"cells": [',
            f"{LAB}.ipynb",
            "This could not be graded:</strong> the file is not a notebook: its JSON breaks off",
        ),
        (b"%PDF", "essay.pdf", f"there is no notebook in this submission; hand in {LAB}.ipynb"),
    ],
)
def test_a_malformed_submission_is_told_why(machine, content, name, told):
    machine.hand_in(content, name)
    results, _ = machine.graded()
    assert results["score"] == 0 and told in results["output"]
    assert [test["score"] for test in results["tests"]] == [0] * len(POINTS)
    assert all("Not graded" in test["output"] for test in results["tests"])


def test_a_failure_of_the_grader_is_said(machine):
    machine.hand_in(json.loads(json.dumps(student_notebook(load_lab(LAB)))))
    lab = machine.folder / "source/lab.json"
    whole = lab.read_bytes()
    try:
        lab.parent.chmod(0o755)
        results, ran = machine.graded()
        assert (
            results["output"] == autograder.FAILED
            and "/autograder/source is open to it" in ran.said
        )
        lab.parent.chmod(0o700)
        lab.write_bytes(whole[:100])
        results, ran = machine.graded()
        assert (
            results["score"] == 0
            and results["output"] == autograder.FAILED
            and "lab.json is damaged" in ran.said
        )
        (machine.folder / "python").rename(machine.folder / "gone")
        results, _ = machine.graded()
        assert results["score"] == 0 and results["output"].startswith("The grader itself failed")
    finally:
        lab.parent.chmod(0o700)
        lab.write_bytes(whole)
        if (machine.folder / "gone").exists():
            (machine.folder / "gone").rename(machine.folder / "python")


# Its parts, here.


def test_which_notebook_is_graded(tmp_path):
    for names, wanted in (
        (["a/x.ipynb"], "a/x.ipynb"),
        (["x.ipynb", f"{LAB}.ipynb", f"old {LAB}.ipynb"], f"{LAB}.ipynb"),
        (
            ["x.ipynb", f"{LAB} (1).ipynb", "__MACOSX/y.ipynb", ".ipynb_checkpoints/z.ipynb"],
            f"{LAB} (1).ipynb",
        ),
    ):
        folder = tmp_path / str(len(names)) / wanted.replace("/", "_")
        for name in names:
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            (folder / name).touch()
        assert autograder.find_notebook(folder, LAB) == folder / wanted
    (tmp_path / "two").mkdir()
    for name in ("x.ipynb", "y.ipynb"):
        (tmp_path / "two" / name).touch()
    with pytest.raises(
        autograder.GradingError,
        match=rf"there are 2 notebooks in this submission; hand in one, called {LAB}\.ipynb",
    ):
        autograder.find_notebook(tmp_path / "two", LAB)


def test_of_a_choice_only_the_best_counts():
    chosen = tuple(
        autograder.Exercise(id, 4, "kernel", id, "project", id.title())
        for id in ("one", "two", "three")
    )
    lab = autograder.Packed(Path(), "14", "Fourteen", "v", 1, (), chosen)
    findings = [
        Finding(False, "wrong result", "<b>x</b>"),
        Finding(True, "passed"),
        Finding(False, "not done yet"),
    ]
    results = tuple(
        Result(e.id, 4, finding, choice="project")
        for e, finding in zip(chosen, findings, strict=True)
    )
    made = autograder.report(lab, Record("", "", "14", results))
    check_form(made)
    assert made["score"] == 4
    assert [test.get("score") for test in made["tests"]] == [None, 4, None]
    assert (
        "does not count" in made["tests"][0]["output"] and "&lt;b&gt;" in made["tests"][0]["output"]
    )
    assert made["tests"][2]["output"] == "<p>Not chosen.</p>"


# What a student learns of hidden cases.


def test_each_submission_draws_cases_of_its_own_and_the_same_again():
    seeds = {
        autograder.seed_for(number, texts, secret)
        for number in (None, 7, 8)
        for texts in (["a", "b"], ["ab", ""], ["a", "c"])
        for secret in (SEED, SEED + 1)
    }
    assert len(seeds) == 18 and all(seed >= 0 for seed in seeds)
    assert autograder.seed_for(7, ["a", "b"], SEED) in seeds


def test_the_platforms_number_of_a_submission_is_read_and_nothing_else(tmp_path):
    about = tmp_path / "submission_metadata.json"
    assert autograder.number_of(about) is None
    for text, number in (("{", None), ("[1]", None), ("{}", None), ('{"id": 12, "a": 1}', 12)):
        about.write_text(text)
        assert autograder.number_of(about) == number


SHARE = re.compile(r"(about [\d.]+%? (times|of)|\d+ times the budget or more|exactly what).*?(?=<)")
NUMBER = re.compile(r"(?<![\w.#&])\d[\d,]*(?:\.\d+)?(?!\w)")


@pytest.mark.slow
@pytest.mark.parametrize("stem", ["01_why_gpus", "02_simt", "08_coalescing"])
def test_two_hidden_cases_of_other_sizes_look_alike_to_students(stem):
    """Each wrong answer, on the cases of some seeds: the same text wherever the reason and what
    sets the case apart are the same, but for coarse shares of budgets."""
    exercises, tests = {e.id: e for e in load_lab(stem).exercises}, hidden.load(ROOT, stem)
    compared = 0
    for answer in few(stem, 4):
        exercise = exercises[answer.exercise]
        if exercise.kind == "host":
            continue
        kernel = extract.kernel(answer.text, exercise.name, (), given(stem))
        seen: dict[tuple, set[str]] = {}
        for seed in range(4 if THOROUGH else 2):
            cases = hidden.cases(tests, exercise.id, seed)
            found = simulate.finding(kernel, cases)
            packed = autograder.Exercise(exercise.id, 1, "kernel", exercise.name)
            told = "".join(autograder.explain(packed, Result(exercise.id, 1, found)))
            assert not set(NUMBER.findall(SHARE.sub("", told))) & figures(found), told
            alike = (found.reason, found.behaviour, found.detail)
            seen.setdefault(alike, set()).add(SHARE.sub("", told))
            compared += 1
        assert all(len(texts) == 1 for texts in seen.values()), (answer.name, seen)
    assert compared > 10


@pytest.mark.parametrize("budget", [{}, {"flops_per_issue_slot": 1}])
def test_a_kernel_that_no_compiler_has_looked_at_has_a_line_about_it(budget, tmp_path):
    made = tiny_course.course(tmp_path)
    path = made / "tests/course" / tiny_course.STEM / "hidden.py"
    path.write_text(path.read_text().replace("(2 * x,))", f"(2 * x,), compiled={budget})"))
    tests = hidden.load(made, tiny_course.STEM)
    exercise = autograder.Exercise("double", 1, "kernel", "double")
    lab = autograder.Packed(made, tiny_course.STEM, "", "", 5, (), (exercise,))
    for passed in (True, False):
        finding = Finding(passed, "passed" if passed else "wrong result")
        said = autograder._of_compiler(lab, tests, exercise, finding)
        assert said == (NO_COMPILER if passed and budget else "")
        told = "".join(autograder.explain(exercise, Result("double", 1, finding, compiler=said)))
        assert ("no CUDA compiler, so registers" in told) == bool(said)


def figures(found: Finding) -> set[str]:
    """The raw numbers of counters and budgets, as they used to be written."""
    values = [number for c in found.counters for number in (c.value, c.limit)]
    return {figure(value) for value in values if value > 32}
