"""Finish the built pages: repair what accessibility tools report, and make the site small.

The site would carry three things whole of which a page uses little: MathJax (24 MB, of which one
script and its fonts are loaded), the theme's icon font (1.5 MB of script with two thousand icons,
of which pages show a dozen) and source maps. Each widget also brings its script and style sheets,
which a page needs only once.
"""

from __future__ import annotations

import re
import shutil
from html import escape
from pathlib import Path

from sphinx.application import Sphinx

# A deprecated role that is not allowed on its element, in a list whose items lack the right one.
ROLES = {'role="doc-biblioentry"': 'role="listitem"'}
# tex-chtml.js loads nothing but its fonts when it runs.
MATHJAX_KEPT = ("tex-chtml.js", "output/chtml/fonts")
# One icon in the theme's script: name:[width,height,[aliases],"code point","outline"].
ICON = re.compile(
    r'(?:"([\w-]+)"|([A-Za-z_$][\w$]*))'
    r':\[\d+,\d+,\[([^\]]*)\],"[0-9a-f]+",(?:"[^"]*"|\[[^\]]*\])\],?'
)
ICON_NAME = re.compile(r"\bfa-([a-z0-9-]+)")
# A formula in a line, and the signs right behind it.
FORMULA = re.compile(r'(<span class="math notranslate nohighlight">[^<]*</span>)([.,;:?!)]+)')
WIDGET_SCRIPT = re.compile(r'<script type="module">.*?</script>', re.DOTALL)
# A style sheet; scripts, which may write one, are passed over.
STYLE = re.compile(rf"<style>.*?</style>|{WIDGET_SCRIPT.pattern}", re.DOTALL)
FRONT_PAGE = (
    '<!doctype html>\n<html lang="{language}"><head><meta charset="utf-8"><title>{title}</title>'
    '<link rel="icon" href="{icon}">\n<meta http-equiv="refresh" content="0; url={first}"></head>'
    '<body><p><a href="{first}">{title}</a></p></body></html>\n'
)


def hold_points(app: Sphinx, body: str) -> str:
    """Keep a point behind a formula in its line, where a browser would begin a new one with it."""
    return FORMULA.sub(r'<span class="ww-whole">\1\2</span>', body)


def repair_roles(app: Sphinx, body: str) -> str:
    """Replace the ARIA roles that axe reports in a page's body."""
    for old, new in ROLES.items():
        body = body.replace(old, new)
    return body


def share_scripts(app: Sphinx, body: str) -> str:
    """Keep one of each widget's script, at the end of a page's body.

    Modules run once the whole page has been read, so one finds all its elements. One after the
    other, compression finds what they share: the page of all widgets takes half the bytes.
    """
    scripts = dict.fromkeys(WIDGET_SCRIPT.findall(body))
    return WIDGET_SCRIPT.sub("", body) + "".join(scripts)


def share_styles(app: Sphinx, body: str) -> str:
    """Keep the first of each style sheet in a page's body: it holds for the whole page."""
    seen: set[str] = set()

    def first(found: re.Match[str]) -> str:
        repeated = found[0] in seen
        if found[0].startswith("<style>"):
            seen.add(found[0])
        return "" if repeated else found[0]

    return STYLE.sub(first, body)


def write_front(app: Sphinx, error: Exception | None) -> None:
    """Write ``index.html``, which redirects to the first page if that has another name.

    sphinx_external_toc would write one without an icon, and a browser would then ask for an icon at
    the server's root, which is not part of the site.
    """
    config = app.config
    if error is not None or app.builder.format != "html" or config.root_doc == "index":
        return
    page = FRONT_PAGE.format(
        language=config.language,
        title=escape(config.html_title),
        icon=f"_static/{Path(config.html_favicon).name}" if config.html_favicon else "data:,",
        first=app.builder.get_target_uri(config.root_doc),
    )
    (Path(app.outdir) / "index.html").write_text(page, "utf-8")


def make_light(app: Sphinx, error: Exception | None) -> None:
    """Remove from a built HTML site the files and icons that no page loads."""
    if error is not None or app.builder.format != "html":
        return
    static = Path(app.outdir) / "_static"
    prune(static / "mathjax", MATHJAX_KEPT)
    for source_map in static.rglob("*.map"):
        source_map.unlink()
    script = static / "scripts" / "fontawesome.js"
    if script.exists():
        pages = [*Path(app.outdir).rglob("*.html"), *static.rglob("*.js")]
        shown = [page for page in pages if page != script and "runtime" not in page.parts]
        used = icons_used(shown)
        script.write_text(keep_icons(script.read_text("utf-8"), used), "utf-8")


def prune(folder: Path, kept: tuple[str, ...]) -> None:
    """Delete files in ``folder`` unless ``kept`` names them or a folder that holds them."""
    for path in sorted(folder.rglob("*"), reverse=True):
        inside = path.relative_to(folder).as_posix()
        if not any(f"{inside}/".startswith(f"{k}/") or k.startswith(f"{inside}/") for k in kept):
            shutil.rmtree(path) if path.is_dir() else path.unlink()


def icons_used(files: list[Path]) -> set[str]:
    """Return the names of all icons that pages or scripts request by a class such as fa-moon."""
    return {name for file in files for name in ICON_NAME.findall(file.read_text("utf-8"))}


def keep_icons(script: str, used: set[str]) -> str:
    """Return the icon script without icons that neither name nor alias puts in ``used``."""

    def kept(icon: re.Match[str]) -> str:
        names = {icon[1] or icon[2], *re.findall(r'"([\w-]+)"', icon[3])}
        return icon[0] if names & used else ""

    return ICON.sub(kept, script)
