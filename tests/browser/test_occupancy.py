"""The occupancy widget in Chromium, against ``warpwise.model.occupancy``."""

from __future__ import annotations

import random
import re

import numpy as np
import pytest
from support.pages import box, move, number, opened

from warpwise import cuda, model, trace
from warpwise.devices import DEVICES, H100, KB, T4, V100, Device, find
from warpwise.views import occupancy

# Sets all controls at once, and reads the screen.
BRING = """states => {
  const root = document.querySelector("ww-occupancy").shadowRoot, form = root.querySelector("form");
  const all = css => [...root.querySelectorAll(css)].map(e => e.textContent);
  return states.map(state => {
    for (const name in state) form.elements[name].value = state[name];
    form.dispatchEvent(new Event("input"));
    return { numbers: all("dl b"), words: all("svg text"), text: all("p.text")[0] };
  });
}"""
NAMES = ("warps", "blocks", "registers", "shared memory")


@cuda.jit
def transpose(src, dst):
    tile = cuda.shared.array((32, 33), "float32")
    x, y = cuda.grid(2)
    tile[cuda.threadIdx.y, cuda.threadIdx.x] = src[y, x]
    cuda.syncthreads()
    dst[x, y] = tile[cuda.threadIdx.x, cuda.threadIdx.y]


def share(part: float) -> str:
    return f"{np.floor(part * 1000 + 0.5) / 10:g} %"


def limits(found: model.Occupancy) -> dict[str, int]:
    return {name: getattr(found, f"blocks_by_{name.replace(' ', '_')}") for name in NAMES}


def bars(found: model.Occupancy) -> list[str]:
    """Return the labels at the ends of the bars."""
    told = []
    for name, blocks in limits(found).items():
        words = "no limit" if blocks > 10**6 else str(blocks)
        told.append(
            words
            + (": the limit" if name == found.limiter else ": as few" * (blocks == found.blocks))
        )
    return told


def states(count: int) -> list[dict]:
    chance = random.Random(13)
    corners = [
        dict(device=d.name, warps=w, registers=r, shared=s)
        for d in DEVICES
        for w in (1, 32)
        for r in (1, 255)
        for s in (0, 227)
    ]
    return corners + [
        {
            "device": chance.choice(DEVICES).name,
            "warps": chance.randint(1, 32),
            "registers": chance.randint(1, 255),
            "shared": chance.choice([0, chance.randint(0, 12), chance.randint(0, 227)]),
        }
        for _ in range(count)
    ]


def test_hundreds_of_states_are_those_of_the_model(browser):
    asked = states(250)
    with opened(browser, occupancy.explorer()._repr_html_()) as page:
        shown = page.evaluate(BRING, asked)
    for state, on_screen in zip(asked, shown, strict=True):
        found = model.occupancy(
            find(state["device"]), 32 * state["warps"], state["registers"], KB * state["shared"]
        )
        assert on_screen["numbers"] == [share(found.fraction), str(found.blocks), found.limiter], (
            state
        )
        words = on_screen["words"]
        at = (
            next(
                i
                for i, word in enumerate(words)
                if word.startswith("Blocks that each resource allows, of ")
            )
            + 1
        )
        assert words[at : at + 8] == [
            word for bar in zip(NAMES, bars(found), strict=True) for word in bar
        ], state


def test_curves_reach_what_the_model_gives_over_all_places_of_a_slider(browser):
    asked = states(10)
    with opened(browser, occupancy.explorer()._repr_html_()) as page:
        shown = page.evaluate(BRING, asked)
    for state, on_screen in zip(asked, shown, strict=True):
        device, warps, registers, shared = state.values()
        device = find(device)
        best = [
            max(
                model.occupancy(device, 32 * w, registers, KB * shared).fraction
                for w in range(1, 33)
            ),
            max(
                model.occupancy(device, 32 * warps, r, KB * shared).fraction for r in range(1, 256)
            ),
            max(
                model.occupancy(device, 32 * warps, registers, KB * s).fraction for s in range(228)
            ),
        ]
        by = (
            f"{share(part)} by {name}"
            for part, name in zip(best, ("threads", "registers", "shared memory"), strict=True)
        )
        assert on_screen["text"].endswith(
            f"With one number changed, occupancy is at most {', '.join(by)}."
        ), state


def steps(page, nth: int) -> list[tuple[float, float]]:
    """Return a curve's steps as (where it ends, height), in pixels."""
    d = page.locator(".ww svg .stroke-one").nth(nth).get_attribute("d").removeprefix("M112 ")
    return [tuple(map(float, reversed(step.split("H")))) for step in d.split("V")]


def test_curve_of_registers_steps_where_the_model_steps(browser):
    with opened(browser, occupancy.explorer(V100, 320)._repr_html_()) as page:
        heights = [y for _, y in steps(page, 1)]
        at = 264 + 64
        expected = [at + 44 - 40 * model.occupancy(V100, 320, r).fraction for r in range(1, 256)]
        assert heights == pytest.approx(expected, abs=0.051)


@pytest.mark.parametrize("device", [T4, H100], ids=lambda d: d.name)
def test_keyboard_moves_every_control(browser, device: Device):
    with opened(browser, occupancy.explorer()._repr_html_()) as page:
        page.get_by_label("device").select_option(device.name)
        for name, place in (
            ("threads per block", 10),
            ("registers per thread", 37),
            ("shared memory", 8),
        ):
            move(page, name, place)
        found = model.occupancy(device, 320, 37, 8 * KB)
        assert number(page, "occupancy") == share(found.fraction)
        assert number(page, "blocks per SM") == str(found.blocks)
        assert number(page, "limited by") == found.limiter
        assert [
            page.locator(f"output[for={name}]").inner_text()
            for name in ("warps", "registers", "shared")
        ] == ["320", "37", "8 KiB"]


def test_sentence_after_moves_is_that_of_a_view_made_so(browser):
    view = occupancy.explorer(T4, 512, 64, 20 * KB)
    with opened(browser, occupancy.explorer(T4)._repr_html_()) as page:
        for name, place in (
            ("threads per block", 16),
            ("registers per thread", 64),
            ("shared memory", 20),
        ):
            move(page, name, place)
        assert page.locator("[aria-live=polite] p.text").inner_text() == view.sentence


def test_picture_holds_as_many_warps_as_the_model_says(browser):
    found = model.occupancy(V100, 96, 40)
    with opened(browser, occupancy.explorer(V100, 96, 40)._repr_html_()) as page:
        places = page.locator(".ww svg rect[height='19']")
        classes = [places.nth(k).get_attribute("class") for k in range(places.count())]
        assert (
            len(classes) == V100.sm.warps and classes.count("empty") == V100.sm.warps - found.warps
        )
        # A block's warps are neighbours in the order in which they were dealt.
        assert classes[:9] == ["one"] * 3 + ["three"] * 3 + ["one"] * 3
        assert page.locator(".ww svg .inside").count() == found.warps


def test_mouse_drags_the_point_of_a_curve(browser):
    with opened(browser, occupancy.explorer(H100)._repr_html_()) as page:
        for nth, name in (
            (1, "registers per thread"),
            (2, "shared memory"),
            (0, "threads per block"),
        ):
            slider, point = (
                page.get_by_role("slider", name=name),
                page.locator(".ww svg circle").nth(nth),
            )
            before, at = int(slider.input_value()), box(point)
            x, y = at["x"] + 5, at["y"] + 5
            page.mouse.move(x, y)
            page.mouse.down()
            assert abs(int(slider.input_value()) - before) <= 1
            page.mouse.move(x + 150, y, steps=5)
            page.mouse.up()
            after = int(slider.input_value())
            assert after > before
            assert abs(box(point)["x"] + 5 - (x + 150)) < 12
        names = "threads per block", "registers per thread", "shared memory"
        sliders = (page.get_by_role("slider", name=name) for name in names)
        values = [int(slider.input_value()) for slider in sliders]
        found = model.occupancy(H100, 32 * values[0], values[1], KB * values[2])
        assert number(page, "occupancy") == share(found.fraction)


def test_a_trace_opens_at_its_own_numbers_and_not_at_rounded_ones(browser):
    t = trace(
        transpose, 1, (32, 32), np.zeros((32, 32), np.float32), np.zeros((32, 32), np.float32)
    )
    assert t.shared_bytes_per_block == 32 * 33 * 4
    with opened(browser, occupancy.of_trace(t, "L4", 20)._repr_html_()) as page:
        text = page.locator("p.text").inner_text()
        assert text.startswith(
            "Blocks of 1,024 threads with 20 registers each and 4.125 KiB of shared memory: "
            "an SM of L4"
        )
        found = model.occupancy(find("L4"), 1024, 20, t.shared_bytes_per_block)
        allowed = page.locator(
            ".ww svg text", has_text=re.compile(r"^\d+(: .*)?$")
        ).all_text_contents()
        assert str(found.blocks_by_shared_memory) in allowed
        assert (
            found.blocks_by_shared_memory
            != model.occupancy(find("L4"), 1024, 20, 5 * KB).blocks_by_shared_memory
        )
