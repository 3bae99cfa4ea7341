"""Tests of every widget: each is on a page of the gallery, and there it is moved through states
drawn at random, in Chromium.

What each widget says, and that its numbers are Python's, is tested for each by itself.
"""

from __future__ import annotations

import gzip
import re

import pytest
from support.gallery import GALLERIES, MOVE, NAMES, address, gallery_of, hosts, places, shown_on
from support.pages import OF_COLOUR, OPEN_MORE, SETTLED, Watch, box, violations

from warpwise.views import html

# What cannot be right in a picture: letters too small, letters over letters, letters or shapes
# outside.
FAULTS = """(host) => {
    const found = [], picture = host.shadowRoot.querySelector('.picture');
    const svg = picture?.querySelector('svg');
    if (!svg) return found;
    const room = svg.getBoundingClientRect();
    const shared = (a, b, from, to) => Math.min(a[to], b[to]) - Math.max(a[from], b[from]);
    const near = (a, b) => shared(a, b, 'left', 'right') > 2 && shared(a, b, 'top', 'bottom') > 4;
    if (room.right > picture.getBoundingClientRect().right + 2)
        found.push(`the picture is ${room.width} wide`);
    const texts = [...svg.querySelectorAll('text')].filter((e) => e.textContent.trim());
    const letters = texts.map((e) => [e, e.getBoundingClientRect()]);
    letters.forEach(([e, box], i) => {
        if (parseFloat(getComputedStyle(e).fontSize) < 11) found.push(`small: ${e.textContent}`);
        const aside = box.left < room.left - 3 || box.right > room.right + 3;
        const out = aside || box.top < room.top - 3 || box.bottom > room.bottom + 3;
        if (out) found.push(`outside: ${e.textContent}`);
        for (const [other, there] of letters.slice(i + 1))
            if (near(box, there))
                found.push(`over one another: ${e.textContent} | ${other.textContent}`);
    });
    return found;
}"""
SAID = """(host) => [...host.shadowRoot.querySelectorAll('[aria-live] p')]
    .map((p) => p.textContent).join(' ').trim()"""
SEEN = """({ shadowRoot: root }) =>
    root.querySelector('.picture').innerHTML + root.querySelector('dl').textContent"""
SHOW = f"""(host, states) => states.map((state) => {{
    ({MOVE})(host, state);
    return [({SEEN})(host), ({SAID})(host), ({FAULTS})(host)];
}})"""
TWO_FRAMES = """() => new Promise(
    done => requestAnimationFrame(() => requestAnimationFrame(done)))"""
CONTROLS = "form:not(.source) :is(input:not([type=hidden]), select)"
MOVABLE = """control => !control.matches(':disabled')
    && !(control.type === 'range' && control.min === control.max)"""
TOLD = f"host => ({SEEN})(host) + ({SAID})(host)"
CHANGED = f"(host, before) => ({TOLD})(host) !== before"
# Of each widget its name, whether it asks a question as explorers do, and how tall it is.
DRAWN = """names => names.every((name) =>
    [...document.querySelectorAll(`ww-${name}`)].every((host) => host.shadowRoot))"""
HEIGHTS = """names => names.flatMap((name) =>
    [...document.querySelectorAll(`ww-${name}:not(ww-tabs *)`)].map((host) =>
        [name, !!host.shadowRoot.querySelector('.asks'), host.getBoundingClientRect().height]))"""
#: Pixels: of an explorer, and of a traced kernel, which has its lines as well; a line of text is in
#: reserve for other fonts.
EXPLORER, TRACED = 745, 790
NONSENSE = re.compile(r"\b(NaN|undefined|null|Infinity|\[object)\b")


def go_to_gallery(page, site, stem: str, scripts: bool = True) -> None:
    """Open a page of the gallery, and wait until each widget is drawn where scripts run."""
    page.goto(f"{site.url}/{address(stem)}", wait_until="networkidle")
    if scripts:
        page.wait_for_function(DRAWN, arg=shown_on(stem))


# Windows: one in which hands move widgets; one in which players play, from where widgets begin;
# one for drawn states, as wide as a test makes it; one in which nothing is moved; and one without
# scripts.
HANDS = {"reduced_motion": "reduce"}
PLAYED = HANDS | {"viewport": {"width": 1280, "height": 800}}
STATES_OF = {"viewport": {"width": 1280, "height": 900}}
UNMOVED = {"viewport": {"width": 700, "height": 1000}, "color_scheme": "dark"}
PLAIN = {"java_script_enabled": False}


def resize(page, width: int, height: int) -> None:
    """Give a page this size, and widgets the time to draw themselves anew."""
    page.set_viewport_size({"width": width, "height": height})
    page.evaluate(TWO_FRAMES)


@pytest.fixture(scope="module")
def gallery(site, browser):
    """Open the page that shows a widget with the settings of a context, once for each; no page may
    complain of anything in the meantime."""
    opened = {}

    def open_gallery(name, **settings):
        stem = gallery_of(name)
        key = repr((stem, sorted(settings.items())))
        if key not in opened:
            page = browser.new_context(**settings).new_page()
            watch = Watch().over(page)
            go_to_gallery(page, site, stem, settings.get("java_script_enabled", True))
            page.evaluate(OPEN_MORE)
            opened[key] = page, watch
        return opened[key][0]

    yield open_gallery
    for page, watch in opened.values():
        page.context.close()
        watch.check(site.url)


@pytest.mark.parametrize("name", NAMES)
def test_widget_is_in_the_gallery(gallery, name):
    assert hosts(gallery(name, **HANDS), name)


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("width", [1280, 360])  # one after the other: all widgets are drawn anew
def test_every_state_is_drawn_and_said_in_readable_letters(gallery, name, width):
    page = gallery(name, **STATES_OF)
    if page.viewport_size["width"] != width:
        resize(page, width, 900)
    for host in hosts(page, name):
        states = places(name)
        for state, (seen, said, faults) in zip(states, host.evaluate(SHOW, states), strict=True):
            assert not NONSENSE.search(seen + said), state
            assert said.endswith((".", "!", "?", ")")), state
            assert faults == [], state


@pytest.mark.parametrize("stem", GALLERIES)
def test_no_widget_is_taller_than_the_screen_of_a_laptop(site, browser, stem):
    """As a page opens: with what is under "More" closed."""
    page = browser.new_page()
    go_to_gallery(page, site, stem)
    for size in ((1440, 900), (1024, 768)):
        resize(page, *size)
        found = page.evaluate(HEIGHTS, NAMES)
        assert {name for name, _, _ in found} == set(shown_on(stem))
        assert [one for one in found if one[2] > (EXPLORER if one[1] else TRACED)] == [], size
    page.close()


@pytest.mark.parametrize("name", NAMES)
def test_keyboard_reaches_and_moves_every_control(gallery, name):
    """Each control gets focus, and some key on it changes what is seen or said, unless it is
    disabled or has but one place."""
    for host in hosts(gallery(name, **HANDS), name):
        widget = host.element_handle()
        for control in widget.query_selector_all(CONTROLS):
            if not control.evaluate(MOVABLE):
                continue
            control.focus()
            before = widget.evaluate_handle(TOLD)
            assert any(
                control.press(key) or widget.evaluate(CHANGED, before) for key in keys(control)
            ), control.get_attribute("name")


def keys(control) -> list[str]:
    """Return the keys of which some must move a control."""
    ticked = control.get_attribute("type") == "checkbox"
    return ["Space"] if ticked else ["Home", "End", "ArrowUp", "ArrowDown"]


@pytest.mark.parametrize("name", NAMES)
def test_player_plays_to_its_end_without_talking_and_stops(gallery, name):
    page = gallery(name, **PLAYED)
    for host in hosts(page, name):
        for player in host.locator(".player").all():
            slider, live = player.get_by_role("slider"), host.locator("[aria-live]").first
            back, play, on = player.get_by_role("button").all()
            slider.press("Home")
            assert back.is_disabled() and not on.is_disabled()
            slider.press("End")
            slider.press("ArrowLeft")
            play.click()
            assert (play.inner_text(), live.get_attribute("aria-live")) == ("Pause", "off")
            page.wait_for_function(
                "button => button.textContent === 'Play'", arg=play.element_handle()
            )
            assert slider.input_value() == slider.get_attribute("max") and on.is_disabled()
            assert live.get_attribute("aria-live") == "polite"
    assert page.evaluate("document.getAnimations().length") == 0


@pytest.mark.parametrize("name", NAMES)
def test_without_scripts_there_is_a_picture_and_a_sentence(gallery, name):
    for host in hosts(gallery(name, **PLAIN), name):
        assert host.locator("svg, table").first.is_visible()
        assert host.locator("p").last.inner_text().endswith(".")


@pytest.mark.parametrize("name", NAMES)
def test_first_sentence_is_the_same_with_and_without_scripts(gallery, name):
    said = [host.evaluate(SAID) for host in hosts(gallery(name, **UNMOVED), name)]
    assert said == [
        host.locator("p").last.inner_text() for host in hosts(gallery(name, **PLAIN), name)
    ]


@pytest.mark.parametrize("name", NAMES)
def test_on_paper_controls_go_and_the_picture_fits(gallery, name):
    page = gallery(name, **UNMOVED)
    page.emulate_media(media="print")
    for host in hosts(page, name):
        assert not host.locator("form:not(.source)").first.is_visible()
        assert box(host.locator(".picture").first)["width"] <= 700
        assert host.evaluate("host => getComputedStyle(host).color") == "rgb(0, 0, 0)"


@pytest.mark.parametrize("name", NAMES)
def test_script_and_data_keep_to_their_budgets(gallery, name):
    assert len(gzip.compress(html.script(name).encode())) <= html.SCRIPT_BUDGET
    for host in hosts(gallery(name, **HANDS), name):
        data = host.evaluate(
            "host => host.querySelector('[type=\"application/json\"]').textContent"
        )
        assert len(gzip.compress(data.encode())) <= html.DATA_BUDGET


@pytest.mark.parametrize("stem", GALLERIES)
def test_axe_finds_nothing_after_controls_were_moved(site, browser, stem):
    """In the dark only colours can differ. In a page of its own, for axe fetches style sheets anew,
    with errors that are not the page's."""
    page = browser.new_page(color_scheme="light")
    go_to_gallery(page, site, stem)
    for name in shown_on(stem):
        for host in hosts(page, name):
            host.evaluate(MOVE, places(name)[3])
    assert violations(page) == []
    page.emulate_media(color_scheme="dark")
    page.wait_for_function(SETTLED, arg="dark")
    assert violations(page, **OF_COLOUR) == []
    page.close()


@pytest.mark.parametrize("stem", GALLERIES)
def test_phone_is_not_pushed_sideways(gallery, stem):
    page = gallery(shown_on(stem)[0], **UNMOVED)
    page.emulate_media(media="screen")
    resize(page, 320, 740)
    assert page.evaluate("document.documentElement.scrollWidth") == 320
