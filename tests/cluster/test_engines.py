"""Engines: programs on real processes give what simulated ranks give, and mistakes end there too.

MPI's tests run wherever it is installed, as under CI; gloo's where PyTorch is, which CI lacks: its
wheel has 500 MB."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
import time
from importlib import util
from pathlib import Path

import numpy as np
import pytest
from support.paths import ROOT

from warpwise import cluster, cuda
from warpwise.cluster.engines import start
from warpwise.errors import BufferInUseError, ClusterError, DeadlockError, LaunchError

pytestmark = [
    pytest.mark.slow,
    pytest.mark.threads,
    pytest.mark.unix("PyPI has no MPICH for it"),
]
ENGINES = ["mpi", *(["gloo"] if util.find_spec("torch") else [])]


@pytest.fixture(params=ENGINES)
def engine(request) -> str:
    """An engine that is installed."""
    missing = [name for name in start.NEEDS[request.param] if not util.find_spec(name)]
    if missing:
        pytest.skip(f"needs {' and '.join(missing)}: pip install 'warpwise[{request.param}]'")
    return request.param


@cuda.jit
def double(x):
    i = cuda.grid(1)
    if i < x.size:
        x[i] *= 2


def of_every_kind(dist, x, own):
    """Use every call once, on sums that round."""
    rank, p = dist.get_rank(), dist.get_world_size()
    rng = np.random.default_rng(rank)
    reduced, halves = (rng.standard_normal(4 * p + 1).astype("f4") for _ in range(2))
    room, part = np.zeros(3), np.zeros(4, "f4")
    works = [
        dist.all_reduce(reduced, async_op=True),
        dist.isend(np.full(3, rank, float), (rank + 1) % p, tag=7),
        dist.irecv(room, (rank - 1) % p, tag=7),
    ]
    double[1, 32](x)
    for work in reversed(works):
        work.wait()
    if rank:
        dist.recv(x, rank - 1)
    double[1, 32](x)
    if rank < p - 1:
        dist.send(x, rank + 1)
    dist.reduce_scatter_tensor(part, halves[: 4 * p])
    whole = np.zeros(4 * p, "f4")
    dist.all_gather_into_tensor(whole, part)
    pieces = [np.array([rank, to], "i4") for to in range(p)]
    swapped = [np.zeros(2, "i4") for _ in range(p)]
    dist.all_to_all(swapped, pieces)
    pair = dist.new_group([rank // 2 * 2, rank // 2 * 2 + 1])
    most = np.array([rank])
    dist.all_reduce(most, cluster.ReduceOp.MAX, group=pair)
    told = np.full(2, rank + 1j)
    dist.broadcast(told, src=p - 1)
    dist.barrier()
    dist.check_replicas({"reduced": reduced})
    return [x, reduced, room, part, whole, np.array(swapped), most, told, np.array(own)]


@pytest.mark.parametrize("ranks", [2, 4])
def test_results_are_those_of_the_simulated_cluster_bit_by_bit(engine, ranks: int):
    x, each = np.ones(6, "f4"), [[rank] for rank in range(ranks)]
    one = cluster.run(of_every_kind, ranks, x, each=each)
    other = cluster.run(of_every_kind, ranks, x, each=each, engine=engine)
    assert len(other.results) == ranks and (x == 1).all()
    for mine, theirs in zip(one.results, other.results, strict=True):
        assert [a.tobytes() for a in mine] == [a.tobytes() for a in theirs]
        assert [a.dtype for a in mine] == [a.dtype for a in theirs]


def test_each_rank_is_a_process_and_what_it_prints_is_shown(engine, capsys, monkeypatch):
    monkeypatch.setenv("PYTHONUNBUFFERED", "1")  # print writes a line in pieces then

    def program(dist):
        for _ in range(50):
            print("here", "is", "rank", dist.get_rank())
        return os.getpid()

    outcome = cluster.run(program, 2, engine=engine)
    assert len({os.getpid(), *outcome.results}) == 3
    lines = ["here is rank 0"] * 50 + ["here is rank 1"] * 50
    assert sorted(capsys.readouterr().out.splitlines()) == lines
    assert repr(outcome).startswith(f"<2 ranks over {engine}: ")


# --- mistakes ---


def both_send(dist):
    x, y, other = np.zeros(3), np.zeros(3), 1 - dist.get_rank()
    dist.send(x, other)
    dist.recv(y, other)


def test_a_deadlock_ends_with_a_line_that_names_each_rank(engine):
    begin = time.monotonic()
    with pytest.raises(DeadlockError) as caught:
        cluster.run(both_send, 2, engine=engine, timeout=0.5)
    here = both_send.__code__.co_firstlineno + 2
    assert str(caught.value) == (
        f"deadlock: nothing came for 0.5 s, and rank 0 waits at test_engines.py:{here} for its "
        f"send to rank 1; rank 1 waits at test_engines.py:{here} for its send to rank 0"
    )
    assert time.monotonic() - begin < 60


def test_an_error_of_a_program_comes_through_with_its_rank(engine):
    def program(dist):
        if dist.get_rank() == 1:
            raise KeyError("mine")
        dist.barrier()

    with pytest.raises(KeyError, match="mine") as caught:
        cluster.run(program, 2, engine=engine)
    assert caught.value.__notes__ == ["in rank 1 of a cluster"]
    assert 'raise KeyError("mine")' in str(caught.value.__cause__)


def test_an_error_of_the_cluster_has_no_rank_beside_its_own_and_numpy_is_quiet(engine, capfd):
    def program(dist):
        x = np.zeros(3)
        work = dist.all_reduce(x, async_op=True)
        x += 1
        work.wait()

    with pytest.raises(BufferInUseError) as caught:
        cluster.run(program, 2, engine=engine)
    assert not hasattr(caught.value, "__notes__")
    assert "Warning" not in capfd.readouterr().err


def test_a_process_that_is_gone_is_noticed(engine):
    def program(dist):
        if dist.get_rank() == 1:
            os._exit(3)
        dist.barrier()

    with pytest.raises(ClusterError, match="ended without a result, with exit status 3"):
        cluster.run(program, 2, engine=engine)


def test_what_cannot_be_sent_is_said(engine):
    lock = threading.Lock()
    with pytest.raises(LaunchError, match="the program and its arguments cannot be sent: "):
        cluster.run(lambda dist: lock, 2, engine=engine)
    with pytest.raises(TypeError, match=r"rank \d leaves a lock, which cannot be sent: "):
        cluster.run(lambda dist: threading.Lock(), 2, engine=engine)


def test_no_process_is_left_behind(engine):
    def program(dist):
        dist.check_replicas({"pid": np.array([0])})
        if dist.get_rank() == 1:
            raise ValueError(os.getppid(), os.getpid())
        dist.recv(np.zeros(1), 1)

    with pytest.raises(ValueError, match=r"\d") as caught:
        cluster.run(program, 2, engine=engine)
    for process in caught.value.args:
        if process != os.getpid():  # gloo's are our own children
            until = time.monotonic() + 20
            while alive(process) and time.monotonic() < until:
                time.sleep(0.05)
            assert not alive(process)


def alive(process: int) -> bool:
    try:
        state = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0]
    except OSError:
        return False
    return state != "Z"  # in a container nobody may reap it


# --- launchers ---

SCRIPT = """
import sys
import numpy as np
from warpwise import cluster, cuda

@cuda.jit
def double(x):
    x[cuda.grid(1)] *= 2

def program(dist, x):
    double[1, 3](x)
    dist.all_reduce(x)
    if len(sys.argv) > 2 and dist.get_rank():
        dist.recv(x, 0)
    return float(x[0])

run = cluster.run(program, 2, np.full(3, 0.5), engine=sys.argv[1], timeout=1)
sys.stdout.write(f"{run.results}\\n")  # one write: the ranks share a stream
"""


def launched(folder: Path, *command: str) -> subprocess.CompletedProcess[str]:
    (folder / "ring.py").write_text(SCRIPT)
    return subprocess.run(
        command,
        cwd=folder,
        env={**os.environ, "PYTHONPATH": os.pathsep.join([str(ROOT), *filter(None, sys.path)])},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=120,
    )


def by_launcher(engine: str, ranks: int) -> list[str]:
    if engine == "mpi":
        beside = Path(sys.executable).parent / "mpiexec"
        command = [str(beside) if beside.exists() else "mpiexec", "-n", str(ranks), sys.executable]
    else:
        command = [sys.executable, "-m", "torch.distributed.run", f"--nproc-per-node={ranks}"]
    return [*command, "ring.py", engine]


def test_a_script_starts_its_ranks_or_is_started_by_a_launcher(engine, tmp_path):
    alone = launched(tmp_path, sys.executable, "ring.py", engine)
    assert alone.stdout == "(2.0, 2.0)\n", alone.stderr
    joined = launched(tmp_path, *by_launcher(engine, 2))
    assert joined.stdout == "(2.0, 2.0)\n" * 2, joined.stderr


def test_a_launcher_of_another_number_of_processes_is_refused(engine, tmp_path):
    done = launched(tmp_path, *by_launcher(engine, 3))
    assert "the launcher has started 3 processes, and 2 ranks run" in done.stderr + done.stdout


def test_a_deadlock_ends_what_a_launcher_has_started(engine, tmp_path):
    done = launched(tmp_path, *by_launcher(engine, 2), "stuck")
    assert done.returncode and "DeadlockError: deadlock: " in done.stderr


# --- without an engine ---


def test_an_engine_that_is_not_known_or_not_installed_is_said_in_a_line(monkeypatch):
    with pytest.raises(LaunchError, match=r"^engine is one of mpi, gloo, not 'nccl'$"):
        cluster.run(both_send, 2, engine="nccl")
    monkeypatch.setattr(start, "find_spec", lambda name: None)
    wanted = r"^engine 'mpi' needs mpi4py and cloudpickle: pip install 'warpwise\[mpi\]'$"
    with pytest.raises(LaunchError, match=wanted):
        cluster.run(both_send, 2, engine="mpi")


def test_a_missing_launcher_is_said_in_a_line(monkeypatch):
    monkeypatch.setattr(start.shutil, "which", lambda name, path: None)
    with pytest.raises(LaunchError, match=r"needs mpiexec: pip install 'warpwise\[mpi\]'$"):
        start._commands("mpi", 2, Path("."))
