"""The built site and a server for it, as the fixtures and ``tools/photograph.py`` use them."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

from support.paths import ROOT

# Keep Chromium from talking to anyone but the site.
CHROMIUM_FLAGS = (
    "--headless --no-sandbox --disable-gpu --disable-quic --no-first-run "
    "--disable-background-networking --disable-component-update --disable-sync"
).split()


#: Where the workers of one test run share the site: set by ``conftest.py`` if a test needs it.
FOLDER = "WARPWISE_TEST_SITE"
#: Whether any test of this run needs the site; then chapters are read from its build.
wanted = False


@dataclass(frozen=True)
class Site:
    """The built book and the address that serves it."""

    folder: Path
    url: str


@dataclass(frozen=True)
class Build:
    """A clean build: its exit status and log, the site, and the executed pages as notebooks."""

    status: int
    log: str
    site: Path
    executed: Path

    @property
    def complaints(self) -> list[str]:
        """The lines of the log that say what is wrong."""
        words = ("WARNING", "ERROR", "Error")
        return [line for line in self.log.splitlines() if any(word in line for word in words)]


def build_once(output: Path) -> Build:
    """Build the book below ``output``, with warnings as errors, unless that was done.

    Processes that ask at the same time wait for the first of them.
    """
    import fcntl  # not on Windows, where no test asks for the site

    output.mkdir(parents=True, exist_ok=True)
    record, executed = output / "built.json", output / "executed"
    with open(output / "lock", "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not record.exists():
            program = Path(sys.executable).parent / "jupyter-book"
            done = subprocess.run(
                [program, "build", ROOT, "--path-output", output, "-W", "--keep-going"],
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                text=True,
                env=os.environ | {"WARPWISE_EXECUTED": str(executed)},
            )
            record.write_text(json.dumps({"status": done.returncode, "log": done.stdout}))
    return Build(**json.loads(record.read_text()), site=output / "_build/html", executed=executed)


@contextmanager
def served(folder: Path) -> Iterator[str]:
    """Serve a folder over HTTP on a free port of 127.0.0.1."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), partial(Quiet, directory=str(folder)))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        server.server_close()


class Quiet(SimpleHTTPRequestHandler):
    """Serves files without a line on stderr for each."""

    def log_message(self, format, *args):
        pass
