"""Makes the built site small: a page should weigh what is on it.

Three things come along whole though a page uses little of them: MathJax (24 MB, of which one script and its fonts are
loaded), the theme's icon font (1.5 MB of script with two thousand icons, of which a page shows a dozen) and source maps. And each
widget brings its script, though a page needs it once for all widgets of a kind.
"""

from __future__ import annotations

import re
import shutil
from pathlib import Path

from docutils import nodes
from sphinx.application import Sphinx

# What tex-chtml.js loads when it runs: nothing but its fonts.
MATHJAX_KEPT = ("tex-chtml.js", "output/chtml/fonts")
# One icon in the theme's script: name:[width,height,[aliases],"code point","outline"].
ICON = re.compile(r'(?:"([\w-]+)"|([A-Za-z_$][\w$]*)):\[\d+,\d+,\[([^\]]*)\],"[0-9a-f]+",(?:"[^"]*"|\[[^\]]*\])\],?')
WIDGET_SCRIPT = re.compile(r'<script type="module">.*?</script>', re.DOTALL)
ICON_NAME = re.compile(r"\bfa-([a-z0-9-]+)")


def make_light(app: Sphinx, error: Exception | None) -> None:
    """Remove from a built HTML site what no page of it loads."""
    if error is not None or app.builder.format != "html":
        return
    static = Path(app.outdir) / "_static"
    prune(static / "mathjax", MATHJAX_KEPT)
    for source_map in static.rglob("*.map"):
        source_map.unlink()
    script = static / "scripts" / "fontawesome.js"
    if script.exists():
        used = icons_used([*Path(app.outdir).rglob("*.html"), *static.rglob("*.js")], leave_out=script)
        script.write_text(keep_icons(script.read_text("utf-8"), used), "utf-8")


def share_scripts(app: Sphinx, pagename: str, templatename: str, context: dict, doctree: nodes.document | None) -> None:
    """Keep the first of equal widget scripts in a page's body: modules run once the page is read, and find all their elements."""
    seen: set[str] = set()

    def first(script: re.Match) -> str:
        repeated = script[0] in seen
        seen.add(script[0])
        return "" if repeated else script[0]

    context["body"] = WIDGET_SCRIPT.sub(first, context.get("body", ""))


def prune(folder: Path, kept: tuple[str, ...]) -> None:
    """Delete the files in ``folder`` that are neither named in ``kept`` nor below a folder named there."""
    for path in sorted(folder.rglob("*"), reverse=True):
        inside = path.relative_to(folder).as_posix()
        if any(inside == name or inside.startswith(f"{name}/") or name.startswith(f"{inside}/") for name in kept):
            continue
        shutil.rmtree(path) if path.is_dir() else path.unlink()


def icons_used(files: list[Path], leave_out: Path) -> set[str]:
    """The names of all icons that pages or scripts ask for by a class such as ``fa-moon``."""
    return {name for file in files if file != leave_out for name in ICON_NAME.findall(file.read_text("utf-8"))}


def keep_icons(script: str, used: set[str]) -> str:
    """The icon script without the outlines of icons that are not in ``used`` under their name or an alias."""

    def kept(icon: re.Match) -> str:
        names = {icon[1] or icon[2], *re.findall(r'"([\w-]+)"', icon[3])}
        return icon[0] if names & used else ""

    return ICON.sub(kept, script)
