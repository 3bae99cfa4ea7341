"""Says what this machine has of what the course can use, and what to do about the rest.

It imports nothing but the standard library at the top, so that it can also speak where the installation is broken:
``python -m warpwise.doctor`` needs no command-line library, and ``python warpwise/doctor`` not even NumPy. It changes nothing on the
machine. ``gpu`` has what there is to say of a GPU, its driver and its wheels.
"""

from __future__ import annotations

import os
import platform
import shutil
import subprocess
import sys
from collections.abc import Iterable
from importlib import import_module

from . import gpu  # relative: see __main__
from .finding import AROUND, MISSING, OK, SECONDS, WARN, Finding, answer, install, installed

__all__ = ["Finding", "examine", "healthy"]
PYTHON_NEEDED = (3, 11)
CONSTRAINTS = AROUND / "constraints.txt"
TOOLCHAIN = ("nvidia-cuda-nvcc", "nvidia-nvvm", "nvidia-cuda-nvrtc", "nvidia-cuda-nvdisasm")
SANDBOX = ("--ro-bind", "/", "/", "--unshare-all", "--die-with-parent", "true")


def examine() -> tuple[Finding, ...]:
    """Look at everything, in the order in which it is needed."""
    m = gpu.look()
    return (
        python(), numpy(), numba(m), toolchain(), gpu.gpu(m), gpu.wheels(m), backend(m), chromium(), bubblewrap(), versions(),
    )  # fmt: skip


def healthy(findings: Iterable[Finding]) -> bool:
    """Whether nothing that the course needs is missing."""
    return all(finding.status != MISSING for finding in findings)


def python() -> Finding:
    found = f"{platform.python_version()} ({sys.executable})"
    if sys.version_info >= PYTHON_NEEDED:
        return Finding("Python", OK, found)
    return Finding("Python", MISSING, found, f"install Python {'.'.join(map(str, PYTHON_NEEDED))} or newer, and make .venv anew with it")


def numpy() -> Finding:
    try:
        return Finding("NumPy", OK, import_module("numpy").__version__)
    except ImportError as error:
        return Finding("NumPy", MISSING, str(error), "the simulator runs on it: python -m pip install numpy")


def numba(machine: gpu.Machine) -> Finding:
    found = installed("numba-cuda")
    if found:
        return Finding("Numba CUDA", OK, found)
    return Finding("Numba CUDA", OK, "not installed; the simulator needs none", f"for a GPU: {gpu.swap([], machine.extra)}")


def toolchain() -> Finding:
    """The wheels of CUDA's compiler; a toolkit installed by other means may do as well, and is not looked for."""
    lacking = [name for name in TOOLCHAIN if not installed(name)]
    if not lacking:
        return Finding("Toolchain", OK, f"CUDA's compiler, {installed(TOOLCHAIN[0])}, for `warpwise compile`")
    found = f"no {', '.join(lacking)}; only `warpwise compile` needs it"
    return Finding("Toolchain", OK, found, f"for registers and machine code: {install('toolchain')}")


def backend(machine: gpu.Machine) -> Finding:
    """What ``from warpwise import cuda`` stands for here. WARPWISE_BACKEND decides where it is set."""
    wanted = os.environ.get("WARPWISE_BACKEND", "")
    why = f"WARPWISE_BACKEND={wanted}" if wanted else "chosen by whether there is a GPU"
    try:
        name = import_module("warpwise.cuda").backend()
    except Exception as error:  # whatever a broken installation raises is the finding
        return Finding("Backend", MISSING, f"{error} ({why})", "unset WARPWISE_BACKEND, or install what is named here")
    if name == "gpu" and machine.trouble:
        told = f"gpu ({why}), and Numba sees no GPU: {machine.trouble}"
        return Finding("Backend", MISSING, told, "unset WARPWISE_BACKEND to use the simulator")
    return Finding("Backend", OK, f"{name} ({why})")


def chromium() -> Finding:
    found = [shutil.which(name) for name in ("chromium", "chromedriver")]
    if all(found):
        return Finding("Chromium", OK, answer(found[0], "--version") or found[0])
    return Finding("Chromium", WARN, "not found", "the browser tests are skipped without it: apt-get install chromium chromium-driver")


def bubblewrap() -> Finding:
    """Starts a sandbox as the grader does: the program may be there and the system still forbid it."""
    path = shutil.which("bwrap")
    if path is None:
        return Finding("bubblewrap", WARN, "not found", "grading refuses to run without it: apt-get install bubblewrap")
    try:
        done = subprocess.run([path, *SANDBOX], capture_output=True, text=True, timeout=SECONDS)
    except (OSError, subprocess.TimeoutExpired) as error:
        return Finding("bubblewrap", WARN, str(error), "grading refuses to run without a sandbox")
    if done.returncode == 0:
        return Finding("bubblewrap", OK, f"{answer(path, '--version')}, starts a sandbox")
    reason = done.stderr.strip() or f"exit status {done.returncode}"
    return Finding("bubblewrap", WARN, f"starts no sandbox: {reason}", "allow unprivileged user namespaces, or grade on another machine")


def versions() -> Finding:
    """Installed packages against ``constraints.txt``, where this is a checkout."""
    if not CONSTRAINTS.exists():
        return Finding("Versions", OK, "not compared: no constraints.txt beside the package")
    differing = tuple(differences(CONSTRAINTS.read_text("utf-8")))
    if not differing:
        return Finding("Versions", OK, "as in constraints.txt")
    return Finding("Versions", WARN, ", ".join(differing), "python -m pip install -c constraints.txt -e '.[dev]'")


def differences(constraints: str) -> Iterable[str]:
    """A phrase for every package that is installed in another version than ``name==version`` lines say."""
    for line in constraints.split():
        name, _, wanted = line.partition("==")
        found = installed(name)
        if found and found != wanted:
            yield f"{name} {found} instead of {wanted}"


def main() -> int:
    findings = examine()
    print("\n".join(map(str, findings)))
    return 0 if healthy(findings) else 1
