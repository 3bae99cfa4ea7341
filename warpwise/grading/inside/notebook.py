"""Re-run a notebook through nbval and report for each cell whether it passed.

The grader shows this as "visible checks"; it never decides points. Cells are identified by their
metadata, not by nbval's names for them, which change between releases. A kernel that ends in the
middle of a cell is noticed at once: nbval alone would wait for the cell's whole time limit. A cell
that uses up its processor time and cannot be interrupted ends the notebook."""

from __future__ import annotations

import ctypes
import json
import os
import pkgutil
import signal
import sys
import threading
import time
from contextlib import suppress
from functools import lru_cache
from importlib import import_module
from io import FileIO
from pathlib import Path
from queue import Empty
from typing import Any

# Importing nbformat reads a grammar of web addresses with this package if it is there, which takes
# as long as all the rest together.
sys.modules["rfc3987_syntax"] = None  # type: ignore[assignment]  # cannot be imported then

import nbformat  # noqa: E402
import nbval.kernel  # noqa: E402
import nbval.plugin  # noqa: E402
import pytest  # noqa: E402
from _pytest import config  # noqa: E402
from ipykernel.kernelapp import IPKernelApp  # noqa: E402
from jupyter_client.manager import KernelManager  # noqa: E402
from jupyter_client.provisioning import local_provisioner  # noqa: E402
from jupyter_client.provisioning.factory import KernelProvisionerFactory  # noqa: E402
from serve import die_with_parent  # noqa: E402
from traitlets.config import Config  # noqa: E402

from warpwise.labs.cell_time import CellTime  # noqa: E402

REASON_CHARACTERS = 200
#: for what a cell has put out to arrive, once it has ended; five in nbval, few on a busy machine
OUTPUT_SECONDS = 60
GREETING_SECONDS = 1
INTERRUPTED_SECONDS = 2  #: of processor time, in which a cell over its limit has to end
RECONNECT_MILLISECONDS = 5  #: until the kernel listens; 100 by itself
# prctl(2), PR_SET_DUMPABLE: if it is off, the notebook's kernel, of the same user, cannot open this
# process's files
DUMPABLE = 4
WORK = Path("work")
KERNEL_SETTINGS = Config(HistoryManager={"enabled": False})
#: parts of pytest that notebooks do not need, and that take time for each of them
UNUSED = """
    cacheprovider debugging doctest faulthandler junitxml logging monkeypatch pastebin recwarn
    setuponly setupplan stepwise threadexception tmpdir unittest unraisableexception warnings
""".split()
#: Modules that kernels and notebooks import beside ``warpwise.views``; ``warm`` does it beforehand.
USUAL = (
    "IPython.core.completerlib",
    "IPython.core.debugger",
    "IPython.core.logger",
    "IPython.core.oinspect",
    "IPython.extensions.storemagic",
    "faulthandler",
    "ipykernel.debugger",
    "ipykernel.ipkernel",
    "ipykernel.zmqshell",
    "numpy.random",
    "tornado.platform.asyncio",
    "psutil",
    "anywidget",
    "quickjs",
    "warpwise.cuda",
    "warpwise.labs.check",
    "warpwise.show",
)


def answer(job: dict[str, Any], result: FileIO) -> None:
    """Write a JSON line per code cell of ``job["notebook"]``.

    It has the ``warpwise`` entry of its metadata, whether it passed, and why not."""
    session = nbval_session()
    settings = session.config
    WORK.mkdir(exist_ok=True)  # in a room, nothing is there yet
    os.chdir(WORK)
    vars(local_provisioner)["launch_kernel"] = Kernel(result).launch
    vars(nbval.plugin)["RunningKernel"] = Connection
    ctypes.CDLL(None).prctl(DUMPABLE, 0, 0, 0, 0)
    Path("lab.ipynb").write_text(json.dumps(job["notebook"]))
    settings.option.nbval_cell_timeout = job["wall_seconds"]
    limit = CellTime(job["cell_seconds"], INTERRUPTED_SECONDS)
    settings.pluginmanager.register(Reporter(result, limit, job["over_cpu"]))
    settings.hook.pytest_collection(session=session)
    settings.hook.pytest_runtestloop(session=session)


def warm() -> None:
    """Do what is the same for all notebooks: begin pytest's session, import what most will import.

    The folder is this process's own: each room has another in its place."""
    nbval_session()
    KernelProvisionerFactory.instance()  # looks through all installed packages
    nbformat.validate(nbformat.v4.new_notebook())  # compiles the schema
    views = import_module("warpwise.views")
    drawn = (module.name for module in pkgutil.iter_modules(views.__path__, "warpwise.views."))
    for name in (*USUAL, *drawn):
        import_module(name)


@lru_cache(maxsize=1)
def nbval_session() -> pytest.Session:
    """Begin pytest's session for a notebook in the folder WORK, which is made.

    That is what pytest's command does before it looks for tests; it goes through all plugins."""
    settings = _settings()
    session = pytest.Session.from_config(settings)
    settings._do_configure()
    settings.hook.pytest_sessionstart(session=session)
    return session


def _settings() -> pytest.Config:
    WORK.mkdir()
    os.environ["PYTEST_DISABLE_PLUGIN_AUTOLOAD"] = "1"
    alone = ["--noconftest", "-c", "/dev/null", "--rootdir", str(WORK)]
    unused = [word for name in UNUSED for word in ("-p", f"no:{name}")]
    quiet = ["-qs", "--color=no", "--assert=plain"]
    options = ["-p", "nbval.plugin", "--nbval-lax", "--nbval-current-env", *quiet]
    args = [*alone, *unused, *options, f"{WORK}/lab.ipynb"]
    manager = config.get_config(args).pluginmanager
    settings: pytest.Config = manager.hook.pytest_cmdline_parse(pluginmanager=manager, args=args)
    return settings


class Kernel:
    """The notebook's kernel: a fork of this process, made before pytest starts.

    It has already imported what a new kernel would. To Jupyter it is the process that it would have
    started itself."""

    stdin = stdout = stderr = None

    def __init__(self, result: FileIO):
        read, self.told = os.pipe()
        self.status: int | None = None
        self.pid = os.fork()
        if self.pid == 0:
            os.close(self.told)
            result.close()
            self._be(read)
        os.close(read)

    def launch(self, command: list[str], **_: Any) -> Kernel:
        """Start a kernel for Jupyter: the connection file is the command's last word."""
        os.write(self.told, command[-1].encode())
        os.close(self.told)
        return self

    def poll(self) -> int | None:
        if self.status is None:
            pid, status = os.waitpid(self.pid, os.WNOHANG)
            self.status = os.waitstatus_to_exitcode(status) if pid else None
        return self.status

    def wait(self, timeout: float | None = None) -> int | None:
        until = None if timeout is None else time.monotonic() + timeout
        while self.poll() is None and (until is None or time.monotonic() < until):
            time.sleep(0.05)
        return self.status

    def send_signal(self, number: int) -> None:
        if self.poll() is None:
            os.kill(self.pid, number)

    def terminate(self) -> None:
        self.send_signal(signal.SIGTERM)

    def kill(self) -> None:
        self.send_signal(signal.SIGKILL)

    def _be(self, told: int) -> None:
        """In the fork: wait for the connection file, then be an ordinary kernel."""
        try:
            die_with_parent()  # in a sandbox that happens anyway
            os.setsid()
            os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
            path = os.read(told, 4096).decode()
            os.close(told)
            if path:
                sys.path[:1] = [""]  # instead of the sandbox's own modules
                sys.argv = ["kernel", "-f", path]
                KernelApp.launch_instance(connection_file=path, config=KERNEL_SETTINGS)
        finally:
            os._exit(0)


class KernelApp(IPKernelApp):
    """A kernel that is given its settings: to read them as a command's options takes time."""

    def parse_command_line(self, argv: list[str] | None = None) -> None:
        """Read nothing."""


class Connection(nbval.kernel.RunningKernel):  # type: ignore[misc]  # nbval has no types
    """Nbval's connection to the kernel, less what takes time and tells nothing.

    It waits for the kernel's own greeting, not until nothing has come for a while, and it does not
    format each message for a log that nobody keeps. It needs files, and none of the ports that all
    notebooks in a sandbox share."""

    def __init__(self, kernel_name: str, cwd: str, startup_timeout: float):
        specs = nbval.kernel.NbvalKernelspecManager()
        self.km = KernelManager(kernel_name=kernel_name, kernel_spec_manager=specs, transport="ipc")
        self.km.context.reconnect_ivl = RECONNECT_MILLISECONDS
        self.km.start_kernel(cwd=cwd)
        self.kc = self.km.client()
        self.kc.start_channels()
        with suppress(Empty):  # an older ipykernel does not greet
            self.get_message("iopub", timeout=GREETING_SECONDS)
        self._ensure_iopub_up()

    def get_message(self, stream: str, timeout: float | None = None) -> dict[str, Any]:
        """Return the next message of a channel. Raises Empty if none comes in time."""
        channel = self.kc.iopub_channel if stream == "iopub" else self.kc.shell_channel
        message: dict[str, Any] = channel.get_msg(timeout=timeout)
        return message


class Reporter:
    """A pytest plugin: one line for each cell that ran."""

    def __init__(self, result: FileIO, time: CellTime, over_cpu: int):
        self.result, self.time, self.over_cpu = result, time, over_cpu
        self.item: Any = None

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_call(self, item: Any) -> None:
        if self.item is None:
            kernel = item.parent.kernel
            threading.Thread(target=self._leave_with, args=(kernel,), daemon=True).start()
        self.item = item
        item.output_timeout = OUTPUT_SECONDS
        self.time.begin(item.parent.kernel.km.provisioner.pid)

    def pytest_runtest_makereport(self, item: Any, call: pytest.CallInfo[None]) -> None:
        if call.when != "call" and not call.excinfo:
            return
        self.time.end()
        why = str(call.excinfo.value)[:REASON_CHARACTERS] or "it failed" if call.excinfo else ""
        self._say(item, why)
        if call.excinfo and not isinstance(call.excinfo.value, nbval.plugin.NbCellError):
            self._leave()  # the connection broke: the cells after this would each wait in vain

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_teardown(self, nextitem: object) -> None:
        if nextitem is None:
            os._exit(0)  # the sandbox ends the kernel faster than asking it to shut down

    def _say(self, item: Any, why: str) -> None:
        about = item.cell.metadata.get("warpwise", {})
        if self.time.late:  # whether or not the interrupt, or the one after it, left an error
            why = f"it used more than {self.time.seconds:g} s of processor time"
        line = {"cell": item.cell_num, "about": about, "passed": not why, "why": why}
        self.result.write(json.dumps(line).encode() + b"\n")

    def _leave_with(self, kernel: Any) -> None:
        """End this process with the notebook's kernel: no cell can run on without it."""
        while kernel.is_alive():
            time.sleep(0.1)
        if self.time.late:
            self._say(self.item, "the kernel was ended")
        self._leave()

    def _leave(self) -> None:
        os._exit(self.over_cpu if self.time.late else 1)
