"""The page that opens a lab: JupyterLab's settings, and a line above it.

``{root}`` in an address stands for the folder of JupyterLite, which the page's script knows."""

from __future__ import annotations

import json
import shutil
from importlib.resources import files
from pathlib import Path
from string import Template
from typing import Any

from warpwise.book.lite.kernel import LOCK, PACKAGES
from warpwise.book.lite.scripts import EXTENSION
from warpwise.book.parts import RUNTIME

# Python has no files in common with JupyterLab, so that no service worker has to answer for them;
# nothing can be shared by an address, as there is no server.
WITHOUT = (
    "@jupyterlite/application-extension:service-worker-manager",
    "@jupyterlite/application-extension:share-file",
)
KERNEL = {
    "pyodideUrl": f"{{root}}../{RUNTIME}/pyodide/pyodide.js",
    "disablePyPIFallback": True,
    # addresses here begin at the root by themselves
    "loadPyodideOptions": {"packages": PACKAGES, "lockFileURL": f"kernel/{LOCK}"},
}
PREFERENCES = {
    "@jupyterlab/docmanager-extension:plugin": {"autosaveInterval": 10},  # seconds
    "@jupyterlab/filebrowser-extension:browser": {"showLastModifiedColumn": False},
}


def lay(out: Path, script: str) -> None:
    """Write the page and its files; ``script`` starts the extension with the kernel."""
    out.mkdir(parents=True)
    own = files("warpwise.book.lite")
    for name in ("start.js", "bar.css"):
        (out / name).write_bytes((own / name).read_bytes())
    text = Template((own / "index.html").read_text("utf-8"))
    packed = json.dumps(settings(script)).replace("<", "\\u003c")
    (out / "index.html").write_text(text.substitute(settings=packed), "utf-8")
    shutil.copyfile(Path(__file__).parents[1] / "static" / "favicon.svg", out / "favicon.svg")


def settings(script: str) -> dict[str, Any]:
    """Return what JupyterLab reads when it starts."""
    kernel = {"name": EXTENSION, "load": script, "extension": "./extension", "liteExtension": True}
    return {
        "appName": "Labs",
        "appUrl": "{root}lab",
        "appVersion": "",
        "baseUrl": "{root}",
        "defaultKernelName": "python",
        "disabledExtensions": WITHOUT,
        "exposeAppInBrowser": True,  # to the line above it
        "faviconUrl": "{root}lab/favicon.svg",
        "federated_extensions": [kernel],
        "fullLabextensionsUrl": "{root}extensions",
        "fullStaticUrl": "{root}build",
        "litePluginSettings": {f"{EXTENSION}:kernel": KERNEL},
        "settingsOverrides": PREFERENCES,
        "settingsUrl": "../build/schemas",
        "themesUrl": "build/themes",
    }
