"""Runs of the grader as a whole: killed and started again, in parts, on several processes, on a
cluster; what they keep is the same."""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
import time
import tracemalloc
from contextlib import contextmanager, suppress
from dataclasses import replace
from pathlib import Path

import psutil
import pytest
from support import processes, tiny_course
from support.paths import ROOT
from typer.testing import CliRunner, Result

from warpwise.cli import app
from warpwise.errors import GradingError
from warpwise.grading import grade, store
from warpwise.grading.cluster import local_workers
from warpwise.grading.execution import Execution
from warpwise.grading.regrade import merge, regrade

pytestmark = pytest.mark.usefixtures("kept_sandboxes")

SEED = 20_26
FEW = 10
KILLS = int(os.environ.get("WARPWISE_KILLS", "2"))  #: `make seeds` takes twenty
MANY = 8 + 6 * KILLS


@pytest.fixture(scope="module")
def course(tmp_path_factory) -> Path:
    return tiny_course.course(tmp_path_factory.mktemp("course"))


@pytest.fixture(scope="module")
def few(course, tmp_path_factory) -> Path:
    return tiny_course.submissions(course, tmp_path_factory.mktemp("few") / "submissions", FEW)


@pytest.fixture(scope="module")
def whole(sandbox, course, few, tmp_path_factory) -> Path:
    """One run in one piece, which others are compared with."""
    out = tmp_path_factory.mktemp("whole") / "out"
    made = grade(few, out, seed=SEED, course=course)
    assert [record.points for record in made] == [tiny_course.POINTS[i % 5] for i in range(FEW)]
    return out


def published(out: Path) -> dict[str, bytes]:
    """Return the files that an instructor gives out: the gradebook and the students' pages."""
    return {
        path.relative_to(out).as_posix(): path.read_bytes()
        for path in [out / "grades.csv", *sorted((out / "feedback").iterdir())]
    }


def arguments(submissions: Path, out: Path, course: Path, *more: str) -> list[str]:
    options = ["--out", str(out), "--course", str(course), "--seed", str(SEED), *more]
    return ["grade", str(submissions), *options]


def command(submissions: Path, out: Path, course: Path, *more: str) -> list[str]:
    return [sys.executable, "-m", "warpwise.cli", *arguments(submissions, out, course, *more)]


# Killed and started again.


def test_a_run_that_is_killed_goes_on_and_its_gradebook_is_that_of_one_in_one_piece(
    sandbox, course, tmp_path
):
    """Several times, at moments drawn at random; nothing that was graded is graded again, and no
    process stays."""
    submissions = tiny_course.submissions(course, tmp_path / "submissions", MANY)
    drawn, mark = random.Random(7), f"MARK={os.getpid()}"
    name, _, value = mark.partition("=")
    out, kept = tmp_path / "out", 0
    for killed in range(KILLS + 1):
        with open(tmp_path / "errors.txt", "w+") as errors:
            run = subprocess.Popen(
                command(submissions, out, course),
                env=os.environ | {name: value},
                start_new_session=True,
                stdout=subprocess.DEVNULL,
                stderr=errors,
            )
            if killed == KILLS:
                assert run.wait() == 0, (tmp_path / "errors.txt").read_text()[-3000:]
                break
            most = kept + drawn.randint(0, MANY // (2 * KILLS))
            while run.poll() is None and recorded(out) < most:
                time.sleep(0.02)
            time.sleep(drawn.uniform(0, 1))
            assert run.poll() is None, (tmp_path / "errors.txt").read_text()[-3000:]
            run.send_signal(signal.SIGKILL)
            run.wait()
        assert recorded(out) >= kept
        kept = recorded(out)
    assert kept > 0
    grade(submissions, tmp_path / "piece", seed=SEED, course=course)
    assert published(out) == published(tmp_path / "piece")
    until = time.monotonic() + 100
    while processes.carrying(mark) and time.monotonic() < until:
        time.sleep(0.1)
    assert processes.carrying(mark) == []


def recorded(out: Path) -> int:
    """Count the submissions that a run has kept so far."""
    return len(list((out / "records").glob("*.json")))


def test_what_is_graded_already_is_not_graded_again(course, few, whole):
    before = {path: path.stat().st_mtime_ns for path in (whole / "records").iterdir()}
    seen, pages = [], published(whole)
    grade(few, whole, course=course, progress=lambda done, all, record: seen.append(record))
    assert seen == []
    assert {path: path.stat().st_mtime_ns for path in (whole / "records").iterdir()} == before
    assert published(whole) == pages


def test_only_what_has_changed_is_graded_again(sandbox, course, few, whole, tmp_path):
    subprocess.run(["cp", "-r", str(few), str(whole), str(tmp_path)], check=True)
    submissions, out, seen = tmp_path / few.name, tmp_path / whole.name, []
    (submissions / "student001.ipynb").write_bytes((submissions / "student000.ipynb").read_bytes())
    grade(
        submissions,
        out,
        course=course,
        progress=lambda done, all, record: seen.append((done, all, record.student, record.points)),
    )
    assert seen == [(FEW, FEW, "student001", 5)]
    hidden = course / f"tests/course/{tiny_course.STEM}/hidden.py"
    hidden.write_text(hidden.read_text() + "\n# another version\n")
    grade(
        submissions,
        out,
        course=course,
        progress=lambda done, all, record: seen.append(record.student),
    )
    hidden.write_text(tiny_course.HIDDEN)
    assert len(seen) == 1 + FEW


def test_what_the_platform_says_later_is_kept_without_grading_again(sandbox, course, few, tmp_path):
    """When a notebook was handed in, in the file that nbgrader puts beside it."""
    submissions, out, seen = tmp_path / "submitted", tmp_path / "out", []
    folder = submissions / "ada/hw1"
    folder.mkdir(parents=True)
    answer = (few / "student000.ipynb").read_bytes()
    (folder / f"{tiny_course.STEM}.ipynb").write_bytes(answer)
    grade(submissions, out, seed=SEED, course=course)
    (folder / "timestamp.txt").write_text("2026-02-03 12:00:00 UTC")
    (told,) = grade(submissions, out, course=course, progress=lambda *it: seen.append(it))
    (kept,) = store.load(out).records
    assert seen == [] and kept == told and kept.submitted == "2026-02-03T12:00:00+00:00"


def test_the_layout_is_said_and_kept(sandbox, course, few, tmp_path):
    """What is nobody's stops a run before it begins; what was chosen once needs no second word."""
    submissions, out = tmp_path / "class", tmp_path / "out"
    submissions.mkdir()
    for number in (11, 12):
        copy = submissions / f"ada_{number}_9{number}_{tiny_course.STEM}.ipynb"
        copy.write_bytes((few / "student000.ipynb").read_bytes())
    (submissions / "cyd.ipynb").write_bytes((few / "student001.ipynb").read_bytes())

    def run(*more: str) -> Result:
        return CliRunner().invoke(app, arguments(submissions, out, course, *more))

    stopped = run()
    assert stopped.exit_code == 2 and not out.exists()
    said = f"{submissions} is taken for Canvas's download, where 'cyd.ipynb' would be nobody's"
    assert said in stopped.stderr and "--layout: plain, moodle" in stopped.stderr
    assert "3 submissions graded" in run("--layout", "plain").stdout
    again = run()
    assert "3 submissions graded" in again.stdout and "laid out" not in again.stderr
    assert store.about(out)["layouts"] == {"": "plain"}
    assert len(regrade(out, lambda record: record.student == "cyd")) == 1
    (submissions / "cyd.ipynb").rename(submissions / f"cyd_13_913_{tiny_course.STEM}.ipynb")
    out = tmp_path / "another"
    assert f"{submissions} is laid out as Canvas's download (3 of 3 names)" in run().stderr


def test_regrading_says_what_was_and_what_is(sandbox, course, few, whole, tmp_path):
    subprocess.run(["cp", "-r", str(whole), str(tmp_path)], check=True)
    out = tmp_path / whole.name
    path = store.path(out, "student000.ipynb", tiny_course.STEM)
    path.write_text(path.read_text().replace('"passed": true', '"passed": false'))
    assert [r.points for r in store.load(out).records if r.student == "student000"] == [0]
    pairs = regrade(out, lambda record: record.student in ("student000", "student001"))
    assert [(before.points, after.points) for before, after in pairs] == [(0, 5), (2, 2)]
    pages, others = published(out), published(whole)
    changed = {"feedback/student000.html", "feedback/student000.txt"}  # which tell of both grades
    assert {name for name in pages if pages[name] != others[name]} == changed
    with pytest.raises(GradingError, match="no such record"):
        regrade(out, lambda record: record.student == "nobody")


# In parts, in any order, on several processes.


def test_shards_joined_are_the_whole(sandbox, course, few, whole, tmp_path):
    parts = [tmp_path / f"part{i}" for i in (1, 2, 3)]
    sizes = [
        len(grade(few, part, seed=SEED, course=course, execution=Execution(shard=(i, 3))))
        for i, part in enumerate(parts, 1)
    ]
    assert sum(sizes) == FEW and max(sizes) < FEW
    assert len(merge(tmp_path / "joined", parts[::-1])) == FEW
    assert published(tmp_path / "joined") == published(whole)
    assert store.load(tmp_path / "joined").about["seed"] == SEED


def test_parts_that_do_not_fit_are_refused_and_nothing_is_written(
    sandbox, course, few, whole, tmp_path
):
    grade(
        few, tmp_path / "other", seed=SEED + 1, course=course, execution=Execution(shard=(1, FEW))
    )
    with pytest.raises(GradingError, match="different seed"):
        merge(tmp_path / "joined", [whole, tmp_path / "other"])
    with pytest.raises(GradingError, match="no run of the grader"):
        merge(tmp_path / "joined", [whole, tmp_path / "nothing"])
    assert not (tmp_path / "joined").exists()
    with pytest.raises(GradingError, match="one --seed"):
        grade(few, tmp_path / "joined", course=course, execution=Execution(shard=(2, 3)))
    with pytest.raises(GradingError, match="no shard 4/3"):
        Execution(shard=(4, 3))


def test_order_and_processes_make_no_difference(sandbox, course, few, whole, tmp_path):
    other = tmp_path / "submissions"
    other.mkdir()
    for path in sorted(few.iterdir(), reverse=True):
        (other / path.name).write_bytes(path.read_bytes())
    grade(other, tmp_path / "out", seed=SEED, course=course, jobs=2)
    assert published(tmp_path / "out") == published(whole)


# On a cluster.


@contextmanager
def cluster(folder: Path, workers: int):
    """A scheduler and workers, started as an administrator would, that speak TLS with keys of their
    own."""
    from distributed import Security

    made, files = Security.temporary(), []
    for name, option in (
        ("tls_ca_file", "--tls-ca-file"),
        ("tls_client_cert", "--tls-cert"),
        ("tls_client_key", "--tls-key"),
    ):
        (folder / name).write_text(getattr(made, name))
        files += [option, str(folder / name)]
    environment = os.environ | {
        "DASK_DISTRIBUTED__COMM__REQUIRE_ENCRYPTION": "true",
        "PYTHONPATH": str(ROOT),
    }
    quiet = {
        "env": environment,
        "stdout": subprocess.DEVNULL,
        "stderr": subprocess.DEVNULL,
        "cwd": folder,
    }
    dask, about = str(Path(sys.executable).parent / "dask"), folder / "scheduler.json"
    local = ["--protocol", "tls", "--host", "127.0.0.1", "--no-dashboard", *files]
    started = [
        subprocess.Popen(
            [dask, "scheduler", *local, "--port", "0", "--scheduler-file", str(about)], **quiet
        )
    ]
    until = time.monotonic() + 300
    while not (about.exists() and about.read_text()) and time.monotonic() < until:
        time.sleep(0.1)
    address = json.loads(about.read_text())["address"]
    started += [
        subprocess.Popen([dask, "worker", address, *local, "--nthreads", "1"], **quiet)
        for _ in range(workers)
    ]
    try:
        yield address, files[1::2]
    finally:
        for process in started[::-1]:
            process.terminate()
        for process in started:
            process.wait(300)


def grading_workers() -> list[int]:
    """The processes of Dask workers that have a warm process of the grader below them."""
    found = []
    for process in psutil.Process().children(recursive=True):
        with suppress(psutil.NoSuchProcess):
            if any("warpwise.grading.simulate" in word for word in process.cmdline()):
                found.append(process.ppid())
    return found


def test_a_cluster_with_tls_gives_the_same_and_a_worker_that_is_killed_costs_nothing(
    sandbox, course, few, whole, tmp_path
):
    with cluster(tmp_path, 2) as (address, (ca, cert, key)):
        tls = ["--scheduler", address, "--tls-ca", ca, "--tls-cert", cert, "--tls-key", key]
        run = subprocess.Popen(
            command(few, tmp_path / "out", course, *tls),
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            text=True,
        )
        until, killed = time.monotonic() + 300, []
        while not killed and run.poll() is None and time.monotonic() < until:
            killed = grading_workers()[:1]
            time.sleep(0.1)
        assert killed, "no worker was seen at work"
        os.kill(killed[0], signal.SIGKILL)
        assert run.wait(1000) == 0, run.stderr.read()
        run.stderr.close()
        assert published(tmp_path / "out") == published(whole)
        (tmp_path / "wrong").write_text("no key")
        wrong = command(few, tmp_path / "out2", course, *tls[:-1], str(tmp_path / "wrong"))
        refused = subprocess.run(wrong, capture_output=True, text=True)
        assert refused.returncode == 2 and "Traceback" not in refused.stderr
        assert (
            len([line for line in refused.stderr.splitlines() if "no worker answers at" in line])
            == 1
        )


# Large.


def test_a_class_twenty_times_as_large_takes_no_more_memory(sandbox, course, few, whole, tmp_path):
    """One submission under many names, kept already, with a picture of 200 kB in each record."""
    peaks = [peak_bytes(course, few, whole, tmp_path / str(count), count) for count in (10, 200)]
    assert peaks[1] < peaks[0] + 20e6, "190 records of 200 kB are 38 MB"


def test_what_was_sent_to_workers_is_forgotten():
    with local_workers(1) as client:
        client.submit(len, b"").result()
        tracemalloc.start()
        try:
            for _ in range(100):
                client.submit(len, os.urandom(200_000), pure=False).result()
            held, _ = tracemalloc.get_traced_memory()
        finally:
            tracemalloc.stop()
    assert held < 10e6, "100 messages of 200 kB are 20 MB"


def peak_bytes(course: Path, few: Path, whole: Path, folder: Path, count: int) -> int:
    """Return the most memory of a run that finds every record and writes gradebook and pages."""
    submissions, out = folder / "submissions", folder / "out"
    submissions.mkdir(parents=True)
    (out / "records").mkdir(parents=True)
    for number in range(count):
        name = f"student{number:04}"
        (submissions / f"{name}.ipynb").hardlink_to(few / "student001.ipynb")
        kept = store.read(store.path(whole, "student001.ipynb", tiny_course.STEM))
        results = tuple(
            replace(r, finding=replace(r.finding, picture=f"<p>{number}</p>" + 200_000 * "-"))
            for r in kept.record.results
        )
        record = replace(kept.record, student=name, file=f"{name}.ipynb", results=results[:1])
        store.keep(out, replace(kept, record=record))
    (out / "run.json").write_bytes((whole / "run.json").read_bytes())
    before = {path: path.stat().st_mtime_ns for path in (out / "records").iterdir()}
    run = subprocess.Popen(command(submissions, out, course), stdout=subprocess.DEVNULL)
    _, status, used = os.wait4(run.pid, 0)
    run.returncode = status
    assert status == 0 and len(list((out / "feedback").glob("*.html"))) == count
    assert {path: path.stat().st_mtime_ns for path in (out / "records").iterdir()} == before
    return 1024 * used.ru_maxrss


# What goes wrong.


def test_a_full_disk_is_one_line_and_what_was_graded_is_kept(sandbox, course, few, tmp_path):
    """A file system of 192 kB, in a namespace of its own."""
    small = tmp_path / "small"
    small.mkdir()
    line = " ".join(f"'{word}'" for word in command(few, small / "out", course))
    script = (
        f"mount -t tmpfs -o size=192k tmpfs {small} && {line}; status=$?; "
        f"ls {small}/out/records | wc -l; exit $status"
    )
    done = subprocess.run(
        ["unshare", "--mount", "--map-root-user", "sh", "-c", script],
        capture_output=True,
        text=True,
    )
    assert done.returncode == 2, done.stderr
    said = [line for line in done.stderr.splitlines() if line.startswith("warpwise:")]
    assert len(said) == 1 and "No space left" in said[0] and "same command again" in said[0]
    assert int(done.stdout.split()[-1]) > 0
    assert "Traceback" not in done.stderr


def test_a_damaged_record_is_named(course, few, whole, tmp_path):
    subprocess.run(["cp", "-r", str(whole), str(tmp_path)], check=True)
    out = tmp_path / whole.name
    path = store.path(out, "student000.ipynb", tiny_course.STEM)
    path.write_text(path.read_text()[:100])
    with pytest.raises(GradingError, match=r"is damaged .* delete it and grade again"):
        grade(few, out, course=course)


def test_what_tells_the_seed_or_holds_the_answers_is_for_the_instructor_alone(whole):
    for path in [whole / "run.json", *(whole / "records").iterdir()]:
        assert path.stat().st_mode & 0o077 == 0, path


def test_another_seed_needs_another_folder(course, few, whole):
    with pytest.raises(GradingError, match="another seed"):
        grade(few, whole, seed=SEED + 1, course=course)
