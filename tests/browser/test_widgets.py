"""Tests of every widget: each is on a page of the gallery, and there it is moved through states
drawn at random, in Chromium.

What each widget says, and that its numbers are Python's, is tested for each by itself.
"""

from __future__ import annotations

import gzip
import re

import pytest
from support.gallery import GALLERIES, MOVE, NAMES, address, gallery_of, hosts, places, shown_on
from support.pages import OPEN_MORE, Watch, box, violations

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
    assert hosts(gallery(name), name)


@pytest.mark.parametrize("width", [1280, 360])
@pytest.mark.parametrize("name", NAMES)
def test_every_state_is_drawn_and_said_in_readable_letters(gallery, name, width):
    for host in hosts(gallery(name, viewport={"width": width, "height": 900}), name):
        states = places(name)
        for state, (seen, said, faults) in zip(states, host.evaluate(SHOW, states), strict=True):
            assert not NONSENSE.search(seen + said), state
            assert said.endswith((".", "!", "?", ")")), state
            assert faults == [], state


@pytest.mark.parametrize("stem", GALLERIES)
@pytest.mark.parametrize("width, height", [(1440, 900), (1024, 768)])
def test_no_widget_is_taller_than_the_screen_of_a_laptop(site, browser, stem, width, height):
    """As a page opens: with what is under "More" closed."""
    page = browser.new_page(viewport={"width": width, "height": height})
    go_to_gallery(page, site, stem)
    found = page.evaluate(HEIGHTS, NAMES)
    page.close()
    assert {name for name, _, _ in found} == set(shown_on(stem))
    assert [one for one in found if one[2] > (EXPLORER if one[1] else TRACED)] == []


@pytest.mark.parametrize("name", NAMES)
def test_keyboard_reaches_and_moves_every_control(gallery, name):
    """Each control gets focus, and some key on it changes what is seen or said, unless it is
    disabled or has but one place."""
    for host in hosts(gallery(name), name):
        controls = host.locator("form:not(.source) :is(input:not([type=hidden]), select)").all()
        for control in controls:
            if control.is_disabled() or control.evaluate(
                "c => c.type === 'range' && c.min === c.max"
            ):
                continue
            control.focus()
            before = host.evaluate(SEEN) + host.evaluate(SAID)
            keys = (
                ["Space"]
                if control.get_attribute("type") == "checkbox"
                else ["Home", "End", "ArrowUp", "ArrowDown"]
            )
            assert any(pressed(control, key, host) != before for key in keys), (
                control.get_attribute("name")
            )


def pressed(control, key: str, host) -> str:
    control.press(key)
    return host.evaluate(SEEN) + host.evaluate(SAID)


@pytest.mark.parametrize("name", NAMES)
def test_player_plays_to_its_end_without_talking_and_stops(gallery, name):
    page = gallery(name, reduced_motion="reduce")
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
    for host in hosts(gallery(name, java_script_enabled=False), name):
        assert host.locator("svg, table").first.is_visible()
        assert host.locator("p").last.inner_text().endswith(".")


@pytest.mark.parametrize("name", NAMES)
def test_first_sentence_is_the_same_with_and_without_scripts(gallery, name):
    """In a window that no other test has, for there nothing has been moved."""
    said = [
        host.evaluate(SAID)
        for host in hosts(gallery(name, viewport={"width": 1100, "height": 900}), name)
    ]
    assert said == [
        host.locator("p").last.inner_text()
        for host in hosts(gallery(name, java_script_enabled=False), name)
    ]


@pytest.mark.parametrize("name", NAMES)
def test_on_paper_controls_go_and_the_picture_fits(gallery, name):
    page = gallery(name, viewport={"width": 700, "height": 1000}, color_scheme="dark")
    page.emulate_media(media="print")
    for host in hosts(page, name):
        assert not host.locator("form:not(.source)").first.is_visible()
        assert box(host.locator(".picture").first)["width"] <= 700
        assert host.evaluate("host => getComputedStyle(host).color") == "rgb(0, 0, 0)"


@pytest.mark.parametrize("name", NAMES)
def test_script_and_data_keep_to_their_budgets(gallery, name):
    assert len(gzip.compress(html.script(name).encode())) <= html.SCRIPT_BUDGET
    for host in hosts(gallery(name), name):
        data = host.evaluate(
            "host => host.querySelector('[type=\"application/json\"]').textContent"
        )
        assert len(gzip.compress(data.encode())) <= html.DATA_BUDGET


@pytest.mark.parametrize("stem", GALLERIES)
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_axe_finds_nothing_after_controls_were_moved(site, browser, stem, scheme):
    """In a page of its own, for axe fetches style sheets anew, with errors that are not the
    page's."""
    page = browser.new_context(color_scheme=scheme).new_page()
    go_to_gallery(page, site, stem)
    for name in shown_on(stem):
        for host in hosts(page, name):
            host.evaluate(MOVE, places(name)[3])
    found = violations(page)
    page.context.close()
    assert found == []


@pytest.mark.parametrize("stem", GALLERIES)
def test_phone_is_not_pushed_sideways(gallery, stem):
    page = gallery(shown_on(stem)[0], viewport={"width": 320, "height": 740})
    assert page.evaluate("document.documentElement.scrollWidth") == 320
