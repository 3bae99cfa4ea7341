"""Processes that ask Numba's simulator, on this machine, of which Pyodide has none.

They take the place of ``subprocess.Popen``, as far as tests use it. A test that starts any other
process is skipped: what that would test is the Python outside."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Mapping, Sequence
from typing import Any

import host  # of run.mjs
import pytest
from pyodide.ffi import to_js

ASKS = "NUMBA_ENABLE_CUDASIM"
PYTHON = os.environ["WARPWISE_PYTHON"]  #: whose Numba answers


class NumbaProcess:
    """A process with Numba's simulator; with pipes it answers while we go on."""

    def __init__(
        self,
        args: Sequence[str],
        env: Mapping[str, str] | None = None,
        stdin: int | None = None,
        stdout: int | None = None,
        text: bool = False,
        **others: object,
    ):
        if ASKS not in (env or {}):
            pytest.skip("starts a process, which a browser has not")
        command, given = to_js([PYTHON, *args[1:]]), {ASKS: "1", "PYTHONWARNINGS": "ignore"}
        self.args, self.text, self.returncode, self._pipes = args, text, None, None
        if stdin == stdout == subprocess.PIPE:
            self._pipes = host.start(command, to_js(list(given.items())))
            self.stdin = self.stdout = self
        else:
            self.returncode, *self._said = host.run(command, to_js(list(given.items())))

    def __enter__(self) -> NumbaProcess:
        return self

    def __exit__(self, *error: object) -> None:
        pass

    def communicate(self, given: object = None, timeout: float | None = None) -> tuple[Any, ...]:
        said = [data.to_bytes() for data in self._said]
        return tuple(data.decode() for data in said) if self.text else tuple(said)

    def poll(self) -> int | None:
        return self.returncode

    def wait(self, timeout: float | None = None) -> int | None:
        return self.returncode

    def write(self, data: bytes) -> None:
        self._pipes.write(to_js(data))

    def flush(self) -> None:
        pass

    def read(self, count: int) -> bytes:
        return self._pipes.read(count).to_bytes()

    def close(self) -> None:
        self._pipes.close()
