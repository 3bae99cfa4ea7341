"""Pages for the browser tests: what a widget's HTML is put into, and a record of everything that a
page asked for or complained of."""

from __future__ import annotations

from contextlib import contextmanager
from dataclasses import dataclass, field

import numpy as np
from axe_playwright_python.sync_playwright import Axe

from support.view_kernels import copy_strided
from warpwise import trace
from warpwise.metrics import Metrics

# nothing listens there: what is not answered here is a request that left the page
ADDRESS = "http://127.0.0.1"
TEMPLATE = """<!doctype html><html lang="en"><head><meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<title>Widgets</title><link rel="icon" href="data:,"><style>
body {{ margin: 16px; max-width: 760px; background: #fff; color: #1f2328; }}
html.dark body {{ background: #14181e; color: #d8dee6; }}
</style></head><body><main><h1>Widgets</h1>{body}</main></body></html>"""


@dataclass
class Watch:
    """A record of a page's requests and complaints."""

    requests: list[str] = field(default_factory=list)
    complaints: list[str] = field(default_factory=list)

    def over(self, page) -> Watch:
        page.on("request", lambda request: self.requests.append(request.url))
        page.on(
            "console",
            lambda message: (
                self.complaints.append(message.text)
                if message.type in ("error", "warning")
                else None
            ),
        )
        page.on("pageerror", lambda error: self.complaints.append(str(error)))
        return self

    def check(self, *prefixes: str) -> None:
        """Every address that the page asked for begins with one of these, and it complained of
        nothing."""
        foreign = [
            url for url in self.requests if not url.startswith((*prefixes, "data:", "blob:"))
        ]
        assert foreign == [], foreign
        assert self.complaints == [], self.complaints


# What frames say of what they are forbidden.
FORBIDDEN = ("Content Security Policy", "sandboxed", "Refused", "violates", "cross-origin frame")


@contextmanager
def read(browser, base: str, name: str, watch: Watch, viewport: dict[str, int]):
    """A page of the site at ``base``, in the browser of one reader; it asks for nothing else, and
    only what its frames are forbidden is complained of."""
    context = browser.new_context(viewport=viewport)
    page = context.new_page()
    watch.over(page)
    page.goto(base + name, wait_until="networkidle")
    yield page
    context.close()
    ours = [line for line in watch.complaints if not any(word in line for word in FORBIDDEN)]
    assert ours == []
    watch.complaints.clear()
    watch.check(base)


#: Opens what widgets keep under "More", so that every control can be reached.
OPEN_MORE = """() => document.querySelectorAll('*').forEach((host) =>
    host.shadowRoot?.querySelectorAll('details.more').forEach((one) => { one.open = true; }))"""
#: The theme is worn, and no colour is on its way to another.
SETTLED = """theme => document.documentElement.dataset.theme === theme
    && !document.getAnimations().some(animation => animation.playState === 'running')"""
#: Rules of axe about colours, and the options with which it checks nothing else.
COLOURS = ["color-contrast", "link-in-text-block"]
OF_COLOUR = {"runOnly": COLOURS}


@contextmanager
def opened(browser, body: str, **settings):
    """A page with ``body``, answered from memory. It must ask for nothing else, and complain of
    nothing."""
    context = browser.new_context(**{"viewport": {"width": 800, "height": 900}, **settings})
    page = context.new_page()
    watch = Watch().over(page)
    context.route("**/*", lambda route: _answer(route, TEMPLATE.format(body=body)))
    page.goto(f"{ADDRESS}/page.html")
    page.evaluate(OPEN_MORE)
    try:
        yield page
        watch.check(f"{ADDRESS}/page.html")
    finally:
        context.close()


def violations(page, context=None, **options) -> list[tuple[str, list[str]]]:
    """Return the rules of axe that a page, or a part of it, breaks, and the elements that do. The
    part is a selector, or a handle of elements.

    axe fetches style sheets anew, with errors that are not the page's."""
    page.evaluate(Axe().axe_script)
    wanted = {"resultTypes": ["violations"], **options}
    found = page.evaluate(
        "([part, wanted]) => axe.run(part ?? document, wanted)", [context, wanted]
    )
    return [(rule["id"], [node["html"] for node in rule["nodes"]]) for rule in found["violations"]]


def box(locator) -> dict[str, float]:
    """Where an element stands. One that is drawn anew at the moment of asking is asked for
    again."""
    for _ in range(100):
        if found := locator.bounding_box():
            return found
        locator.page.wait_for_timeout(50)
    raise AssertionError(f"{locator} is nowhere to be seen")


def _answer(route, document: str) -> None:
    if route.request.url == f"{ADDRESS}/page.html":
        route.fulfill(body=document, content_type="text/html")
    else:
        route.abort()


def load_metrics(stride: int, offset: int, dtype: str = "float32") -> Metrics:
    """Count a warp that reads ``x[offset + stride * i]``, and writes one aligned element a
    lane."""
    x = np.zeros(offset + 31 * stride + 1, dtype)
    return trace(copy_strided, 1, 32, x, np.zeros(32, dtype), stride, offset).metrics


def number(page, term: str, nth: int = 0) -> str:
    """The big number beside a term, as it stands on the screen."""
    return page.locator(".ww dl > div", has_text=term).nth(nth).locator("b").inner_text()


def move(part, name: str, value: int) -> None:
    """Bring a slider to a value with the arrow keys."""
    slider = part.get_by_role("slider", name=name).element_handle()
    while (now := int(slider.input_value())) != value:
        slider.press("ArrowRight" if now < value else "ArrowLeft")
