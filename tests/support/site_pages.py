"""The pages of the built site, as in its contents, and the addresses in a page."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from html.parser import HTMLParser
from pathlib import Path

import yaml

from support.paths import ROOT

TOC = yaml.safe_load((ROOT / "_toc.yml").read_text("utf-8"))
PAGES = [TOC["root"], *(page["file"] for part in TOC["parts"] for page in part["chapters"])]
# Attributes whose address a browser fetches by itself; only the reader follows an <a>.
LOADS = {
    "script": "src",
    "img": "src",
    "iframe": "src",
    "source": "src",
    "video": "src",
    "audio": "src",
    "embed": "src",
    "object": "data",
}
LOADING_RELS = {
    "stylesheet",
    "preload",
    "modulepreload",
    "icon",
    "shortcut",
    "manifest",
    "prefetch",
    "preconnect",
    "dns-prefetch",
}


@dataclass
class Page(HTMLParser):
    """The addresses in a page: its links, what it loads, and the anchors that it offers."""

    text: str
    links: list[str] = field(default_factory=list)
    loads: list[str] = field(default_factory=list)
    anchors: set[str] = field(default_factory=set)

    def __post_init__(self):
        super().__init__()
        self.feed(self.text)

    def handle_starttag(self, tag, attrs):
        found = {name: value or "" for name, value in attrs}
        self.anchors |= {found[name] for name in ("id", "name") if found.get(name)}
        if tag == "a" and "href" in found:
            self.links.append(found["href"])
        if tag == "link" and LOADING_RELS & set(found.get("rel", "").split()):
            self.loads.append(found["href"])
        if LOADS.get(tag) in found:
            self.loads.append(found[LOADS[tag]])
        self.loads += re.findall(r"url\(['\"]?([^'\")]+)", found.get("style", ""))


def html_pages(folder: Path) -> list[Path]:
    """Return the pages of a site, without the theme's templates in ``_static``."""
    return [path for path in folder.rglob("*.html") if "_static" not in path.parts]
