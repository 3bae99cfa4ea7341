"""Film the site's first kernel being changed, for README.md, and draw the picture of shared links.

The built site is opened in Chromium, a line is edited in the first cell, and its picture is drawn
anew by the simulator, in the page. Waiting for Python to start is cut out."""

from __future__ import annotations

import io
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated

import typer
from PIL import Image
from playwright.sync_api import Browser, expect, sync_playwright
from support.editors import Editor, editor
from support.paths import ROOT
from support.served_site import CHROMIUM_FLAGS, served

from warpwise import doctor
from warpwise.views import burst, html

PAGE = "chapters/index.html"
WINDOW = {"width": 820, "height": 1400}
LINE, BEFORE, TYPED = "i = cuda.grid(1)", "i = ", "8 * "
READ, KEY, WAIT, LOOK = 2500, 300, 800, 4500  #: milliseconds that a picture stands
EDGE = 16  #: pixels around the cell
Frame = tuple[Image.Image, int]
CARD = ROOT / "warpwise/book/static/card.png"
CARD_SIZE = {"width": 1200, "height": 630}  #: what sites that show a link's picture ask for
CARD_PAGE = """<style>body {{ margin: 0; padding: 56px 72px; color: #14181d;
font: 30px/1.4 'DejaVu Sans', sans-serif }} h1 {{ margin: 0 0 12px; font-size: 62px }}
p {{ margin: 0 0 44px }}</style><body>
<h1>GPUs without the magic</h1>
<p>Write CUDA kernels in Python, see every byte your warps move,
<br>and reach FlashAttention. No GPU needed.</p>
<style>:root {{ --mark: #0b69ad; --one: #0b69ad; --two: #b4560a; --inside: #fff }}{style}</style>
{picture}
</body>"""


def main(
    site: Annotated[Path, typer.Option(help="The built site.")] = ROOT / "_build/html",
    out: Annotated[Path, typer.Option(help="Where the films go.")] = ROOT / "chapters/images",
) -> None:
    """Film the home page's first kernel while it is changed: edit-light.webp and edit-dark.webp."""
    chromium = doctor.browser()
    if chromium is None or not (site / "_static/runtime").is_dir():
        raise SystemExit("needs Chromium, and a site with editors: make book")
    out.mkdir(parents=True, exist_ok=True)
    with served(site) as url, sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium, args=CHROMIUM_FLAGS)
        for scheme in ("light", "dark"):
            path = out / f"edit-{scheme}.webp"
            write(path, list(frames(browser, f"{url}/{PAGE}", scheme)))
            print(f"{path}: {path.stat().st_size / 1e6:.2f} MB")
        draw_card(browser)
        browser.close()


def draw_card(browser: Browser) -> None:
    """Draw the picture that a shared link shows: the course's promise, and a strided load."""
    page = browser.new_page(viewport=CARD_SIZE)
    view = burst.explorer(4)
    picture = view.svg(CARD_SIZE["width"] - 2 * 72)
    page.set_content(CARD_PAGE.format(style=html.picture_style(view.name), picture=picture))
    page.screenshot(path=CARD)


def frames(browser: Browser, address: str, scheme: str) -> Iterator[Frame]:
    """Yield pictures of the cell while its line is edited, with the time that each stands."""
    context = browser.new_context(viewport=WINDOW, color_scheme=scheme)
    page = context.new_page()
    page.goto(address, wait_until="networkidle")
    opened = editor(page)
    opened.touch()
    line = opened.cell.locator(".cm-line", has_text=LINE)
    line.click()
    page.keyboard.press("Home")
    for _ in BEFORE:
        page.keyboard.press("ArrowRight")
    yield shot(opened), READ
    before = opened.picture.locator("p.text").inner_text()
    for key in TYPED:
        page.keyboard.type(key)
        yield shot(opened), KEY
    yield shot(opened), WAIT
    expect(opened.picture.locator("p.text")).not_to_have_text(before)
    page.wait_for_timeout(1000)  # until the frame has its new height
    yield shot(opened), LOOK
    context.close()


def shot(opened: Editor) -> Image.Image:
    """Return a picture of the cell."""
    return Image.open(io.BytesIO(opened.cell.screenshot())).convert("RGB")


def write(path: Path, taken: list[Frame]) -> None:
    """Write a film that begins again at its end, on a ground as large as its largest picture."""
    size = max(p.width for p, _ in taken) + 2 * EDGE, max(p.height for p, _ in taken) + 2 * EDGE
    pictures = []
    for picture, _ in taken:
        ground = Image.new("RGB", size, picture.getpixel((0, 0)))
        ground.paste(picture, (EDGE, EDGE))
        pictures.append(ground)
    times = [time for _, time in taken]
    pictures[0].save(
        path, save_all=True, append_images=pictures[1:], duration=times, loop=0, lossless=True
    )


if __name__ == "__main__":
    typer.run(main)
