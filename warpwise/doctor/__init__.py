"""Report what is installed of what the course can use, and what to do about the rest.

It imports nothing but the standard library at the top, so that it can also report where the
installation is broken: ``python -m warpwise.doctor`` needs no command-line library, and ``python
warpwise/doctor`` not even NumPy. It changes nothing on the machine. GPU, driver and wheels are in
``gpu``."""

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
    machine = gpu.look()
    return (
        python(),
        numpy(),
        numba(machine),
        toolchain(),
        gpu.gpu(machine),
        gpu.wheels(machine),
        backend(machine),
        chromium(),
        bubblewrap(),
        versions(),
    )


def healthy(findings: Iterable[Finding]) -> bool:
    """True if nothing that the course needs is missing."""
    return all(finding.status != MISSING for finding in findings)


def python() -> Finding:
    found = f"{platform.python_version()} ({sys.executable})"
    if sys.version_info >= PYTHON_NEEDED:
        return Finding("Python", OK, found)
    needed = ".".join(map(str, PYTHON_NEEDED))
    advice = f"install Python {needed} or newer, and recreate .venv with it"
    return Finding("Python", MISSING, found, advice)


def numpy() -> Finding:
    try:
        return Finding("NumPy", OK, import_module("numpy").__version__)
    except ImportError as error:
        advice = "the simulator runs on it: python -m pip install numpy"
        return Finding("NumPy", MISSING, str(error), advice)


def numba(machine: gpu.Machine) -> Finding:
    """Find out which package compiles kernels for a GPU."""
    here = [name for name in gpu.NUMBAS if installed(name)]
    used = os.environ.get("WARPWISE_NUMBA") or next(iter(here), "")
    if not used:
        found, advice = "not installed; the simulator does not need it", gpu.swap([], machine.extra)
        return Finding("Numba CUDA", OK, found, f"for a GPU: {advice}")
    if used not in here:
        found = f"WARPWISE_NUMBA={used}, which is not installed"
        advice = f"unset it, or set it to {' or '.join(here)}" if here else "unset it"
        return Finding("Numba CUDA", WARN, found, advice)
    others = "".join(f"; {n} {installed(n)} is here too" for n in here if n != used)
    chosen = f"{others}, and WARPWISE_NUMBA chooses" if others else ""
    return Finding("Numba CUDA", OK, f"{used} {installed(used)} compiles for a GPU{chosen}")


def toolchain() -> Finding:
    """Look for the wheels of CUDA's compiler.

    A toolkit installed by other means may do as well, and is not looked for."""
    lacking = [name for name in TOOLCHAIN if not installed(name)]
    if not lacking:
        found = f"CUDA's compiler, {installed(TOOLCHAIN[0])}, for `warpwise compile`"
        return Finding("Toolchain", OK, found)
    found = f"no {', '.join(lacking)}; only `warpwise compile` needs it"
    advice = f"for registers and machine code: {install('toolchain')}"
    return Finding("Toolchain", OK, found, advice)


def backend(machine: gpu.Machine) -> Finding:
    """Find out which backend ``from warpwise import cuda`` selects.

    WARPWISE_BACKEND decides where it is set."""
    wanted = os.environ.get("WARPWISE_BACKEND", "")
    why = f"WARPWISE_BACKEND={wanted}" if wanted else "chosen by whether there is a GPU"
    try:
        name = import_module("warpwise.cuda").backend()
    except Exception as error:  # whatever a broken installation raises is the finding
        advice = "unset WARPWISE_BACKEND, or install what is named here"
        return Finding("Backend", MISSING, f"{error} ({why})", advice)
    if name == "gpu" and machine.trouble:
        found = f"gpu ({why}), and Numba sees no GPU: {machine.trouble}"
        return Finding("Backend", MISSING, found, "unset WARPWISE_BACKEND to use the simulator")
    return Finding("Backend", OK, f"{name} ({why})")


def browser() -> str | None:
    """Return the path of Chromium, of its lighter build without windows if there is one."""
    return shutil.which("chromium-headless-shell") or shutil.which("chromium")


def chromium() -> Finding:
    if path := browser():
        return Finding("Chromium", OK, answer(path, "--version") or path)
    skipped = "the browser tests are skipped without it"
    return Finding(
        "Chromium", WARN, "not found", f"{skipped}: apt-get install chromium-headless-shell"
    )


def bubblewrap() -> Finding:
    """Start a sandbox as the grader does: the system may forbid it even if the program is there."""
    path = shutil.which("bwrap")
    if path is None:
        advice = "grading refuses to run without it: apt-get install bubblewrap"
        return Finding("bubblewrap", WARN, "not found", advice)
    try:
        done = subprocess.run([path, *SANDBOX], capture_output=True, text=True, timeout=SECONDS)
    except (OSError, subprocess.TimeoutExpired) as error:
        return Finding("bubblewrap", WARN, str(error), "grading refuses to run without a sandbox")
    if done.returncode == 0:
        return Finding("bubblewrap", OK, f"{answer(path, '--version')}, starts a sandbox")
    reason = done.stderr.strip() or f"exit status {done.returncode}"
    advice = "allow unprivileged user namespaces, or grade on another machine"
    return Finding("bubblewrap", WARN, f"cannot start a sandbox: {reason}", advice)


def versions() -> Finding:
    """Compare installed packages with ``constraints.txt``, where this is a checkout."""
    if not CONSTRAINTS.exists():
        return Finding("Versions", OK, "not compared: no constraints.txt beside the package")
    differing = tuple(differences(CONSTRAINTS.read_text("utf-8")))
    if not differing:
        return Finding("Versions", OK, "as in constraints.txt")
    advice = "python -m pip install -c constraints.txt -e '.[dev]'"
    return Finding("Versions", WARN, ", ".join(differing), advice)


def differences(constraints: str) -> Iterable[str]:
    """Yield a phrase for every installed package that differs from its ``name==version`` line."""
    for line in constraints.split():
        name, _, wanted = line.partition("==")
        found = installed(name)
        if found and found != wanted:
            yield f"{name} {found} instead of {wanted}"


def main() -> int:
    findings = examine()
    print("\n".join(map(str, findings)))
    return 0 if healthy(findings) else 1
