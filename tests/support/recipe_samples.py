"""Files that tests write when they follow the recipes of CONTRIBUTING.md."""

from __future__ import annotations

HEADER = """---
jupytext:
  text_representation:
    extension: .md
    format_name: myst
kernelspec:
  display_name: Python 3 (ipykernel)
  language: python
  name: python3
---

"""


def cell(code: str, tags: str = "") -> str:
    """Return a code cell of a page."""
    return f"```{{code-cell}} ipython3\n{tags and f':tags: [{tags}]'}\n{code}\n```\n\n"


def editable(told: str) -> str:
    """Return a code cell that can be edited, with what it says of itself."""
    return f"\n```{{code-cell}} ipython3\n---\ntags: [editable]\n{told}\n---\ndivmod(70, 32)\n```\n"


# --- a chapter ---

WORDS = "A die has faces and a throw shows one of them while nobody knows beforehand which it is.\n"
QUESTION = """::::{{quiz}} dice-{name}
**Which face will the die show?**

- [{first}] Nobody knows

  A throw is a throw.

- [{second}] The first

  That may be so.

- [ ] The last

  That may be so too.
::::

"""
EXERCISE = """```{{exercise}} Throw {name}
:label: dice-{name}

Throw the die.
```

````{{solution-start}} dice-{name}
:class: dropdown
````

```{{code-cell}} ipython3
assert throws
```

````{{solution-end}}
````

"""


def chapter() -> str:
    """Return a chapter about dice in the house's form."""
    main = "".join(
        f"## Throw {name}\n\n" + (WORDS * 7 + "\n" + cell("throws += 1\nthrows")) * 5
        for name in ("one", "two", "three", "four")
    )
    quiz = "".join(
        QUESTION.format(name=name, first=mark, second=other)
        for name, mark, other in zip("abcd", "x x ", " x x", strict=True)
    )
    exercises = "".join(EXERCISE.format(name=name) for name in ("again", "twice", "often"))
    return (
        f"{HEADER}# Chapter 20: Dice\n\n**Which face does a die show?**\n\n"
        "After this chapter we can\n\n- throw a die;\n- tell its faces.\n\n"
        "Reading takes about 40 minutes; the lab takes 60 to 90 more.\n\n"
        + cell("from warpwise.views import burst\n\nthrows = 0\nburst.explorer()")
        + cell("from warpwise.book.keep import keep\n\nkeep(faces=6)", "remove-cell")
        + "A die has {glue:text}`faces` faces.\n\n"
        + f"{main}## Quiz\n\n{quiz}## Exercises\n\n{exercises}"
        + "## What this model leaves out\n\nThe table.\n\n"
        + "## In production you would use\n\nA random number.\n\n## Sources\n\nNone.\n"
    )


CHAPTER_TEST = '''"""Chapter 20: its form, and its claim about faces."""

from support.chapter_form import ChapterForm, run


class TestForm(ChapterForm):
    stem = "20_dice"
    sourced = {}
    chosen = {"40": "minutes", "60": "the lab's minutes", "90": "the lab's minutes"}


def test_a_die_has_six_faces():
    assert run("20_dice").glued["faces"] == "6"
'''


def guide() -> str:
    """Return that chapter's guide for instructors."""
    said = "".join(
        f'- **"Dice remember."**\n  They do not, and a throw says nothing about the next one.\n'
        f"  The question `dice-{name}`.\n"
        for name in "abc"
    )
    return (
        f"{HEADER}# Teaching chapter 20: Dice\n\n## Minutes\n\n"
        "| minutes | what | with |\n|---|---|---|\n"
        "| 30 | Throw | dice |\n| 20 | Count | paper |\n\n"
        "For 25 minutes: throw.\n\n## What students think\n\n"
        f"{said}\n## At the board\n\n"
        + cell('chart(draw_die(), "A die.")', "hide-input")
        + WORDS * 16
        + "\n## Questions to ask\n\n- *Which face?*\n  Nobody knows.\n"
    )


# --- an exercise ---

KERNEL = "@cuda.jit\ndef negate(x, out):\n"
BODY = "    i = cuda.grid(1)\n    if i < x.size:\n        out[i] = -x[i]\n"
TASK = f"""## 9. Negate

**Objective.** Change the sign of each element.

**Budget.** Each element is loaded once and stored once.

| counter | at most |
|---|---|
| `global_load_requests` | `ceil(n / 32)` |
| `global_store_requests` | `ceil(n / 32)` |
| `most_bytes_stored_by_a_warp` | `256` |

<details><summary>Hint 1</summary>One thread an element.</details>
<details><summary>Hint 2</summary>A guard.</details>

```{{code-cell}} ipython3
---
tags: [exercise]
warpwise: {{id: negate, points: 2, kind: kernel, name: negate}}
---
{KERNEL}    ### BEGIN SOLUTION
{BODY}    ### END SOLUTION
```

```{{code-cell}} ipython3
---
tags: [check]
warpwise: {{check: negate}}
---
x = np.arange(40, dtype=np.float32)
once = {{"global_load_requests": 2, "global_store_requests": 2, "most_bytes_stored_by_a_warp": 256}}
check("negate", [Launch("40 elements", 2, 32, (x, Out(40)), (-x,), once)])
```

"""
HIDDEN = """

def negate(rng: np.random.Generator) -> Iterator[Launch]:
    for n in (1, 31, 64, 65, *map(int, rng.integers(100, 900, 2))):
        x = floats(rng, n)
        once = dict.fromkeys(("global_load_requests", "global_store_requests"), up(n, 32))
        once["most_bytes_stored_by_a_warp"] = 256
        yield Launch(f"{n} elements", up(n, 32), 32, (x, Out(n)), (-x,), once)
"""
AUDIT = """
[negate]
names = { n = "x.size" }
global = "global_load_requests"
output = "global_store_requests"
atomic = "global_load_requests"
"""
RIGHT = f"\n\n{KERNEL}{BODY}"
WRONG = """
# The sign stays.
[negate.keeps_the_sign]
expect = "wrong result"
replace = "-x[i]"
by = "x[i]"
"""

# --- a widget ---

SCRIPT = """// The ruler widget: a mark for each lane.
import { plural } from "./core.js";
import { is, rect, svg } from "./draw.js";
import { explore } from "./explore.js";

export const show = ({ gap }, { lanes }, width) => {
  const mark = (i) => rect("ruler-mark", gap * i, 10, 4, 20, is(`lane ${i}`));
  const marks = [...Array(lanes).keys()].map(mark);
  return { picture: svg(width, 40, "A ruler", marks), text: `${plural(lanes, "lane")}.` };
};

export default explore("ww-ruler", show);
"""
VIEW = '''"""The ruler widget: a mark for each lane of a warp. Nothing in it is modelled."""

from __future__ import annotations

from warpwise.views.controls import Slider
from warpwise.views.view import View


def explorer(lanes: int = 32) -> View:
    """Show so many lanes."""
    return View("ruler", {"gap": 8}, (Slider("lanes", "lanes", 1, 32, lanes),))
'''
STYLE = ".ww-svg .ruler-mark { fill: currentColor; }\n"
CALL = "from warpwise.views import ruler\n\nruler.explorer(lanes=8)"
GALLERY = f"\n## A ruler\n\n{cell(CALL)}"
VIEW_TEST = '''"""The ruler widget has a mark for each lane."""

from warpwise.views import ruler


def test_ruler_has_a_mark_for_each_lane():
    view = ruler.explorer(5)
    assert view.svg().count('class="ruler-mark"') == 5 and str(view) == "5 lanes."
    assert "ruler-mark {" in view._repr_html_()
'''

# --- a function of CUDA ---

FUNCTION = """\
    Function(
        "libdevice.double2hiint",
        1,
        lambda x: typed(lambda bits: bits >> 32, "i4")(x.view(np.int64)),
        one_of("i4(f8)"),
        op_class="conversion",
    ),
"""
HANDLER = """\
def lane_hiint(c: Context, node: ast.Call) -> Code:
    exactly(c, node)
    c.cost.add("integer")
    return Code(lambda f, m: (m.group.lane >> 4).astype(UINT32), UINT32)


"""
ENTRY = """\
    _gives("lane_hiint", "()", warp_calls.lane_hiint, ""),
"""
FUNCTION_TEST = """

def test_hiint_is_the_upper_half_of_a_double_and_of_a_lane_number():
    of_bits = computed("cuda.libdevice.double2hiint(a)", np.int32, np.array([1.0, -2.0, 0.0, 3.0]))
    assert of_bits.tolist() == [0x3FF << 20, -(1 << 30), 0, 0x4008 << 16]
    of_lanes = computed("cuda.lane_hiint() + 0 * a", np.uint32, np.arange(32, dtype=np.uint32))
    assert of_lanes.tolist() == [0] * 16 + [1] * 16
"""

# --- a counter ---

FIELD = """\
    barrier_threads: int = counter(
        "Threads that arrive at barriers, those of a ragged warp one by one.",
        unit="threads",
        group="control",
        nsight="smsp__thread_inst_executed_op_barrier.sum",
        agrees=True,
    )
"""
COUNTED = "        self.counts[site.line].barrier_threads += mask.threads\n"
COUNT_TEST = """

@cuda.jit
def meet(out):
    cuda.syncthreads()
    out[cuda.grid(1)] = 1


def test_barrier_threads_are_those_that_arrive():
    t = trace(meet, 3, 40, np.zeros(120))
    line = line_of(meet, "syncthreads")
    assert (t.metrics.barrier_threads, t.metrics.barriers) == (120, 6)
    assert t.by_line[line].barrier_threads == 120
"""

# --- an observer ---

OBSERVER = '''"""The most instructions that a warp issues between two barriers."""

from __future__ import annotations

from warpwise.simt.lanes.counting import Work
from warpwise.simt.lanes.masks import Mask
from warpwise.simt.machine.observer import Observer, Scope
from warpwise.simt.machine.site import Site


class LongestWait(Observer):
    """Counts ``slots`` since the last barrier; ``longest`` is the most."""

    def __init__(self) -> None:
        self.slots = self.longest = 0

    def issue(self, work: Work, mask: Mask) -> None:
        self.slots += work.slots
        self.longest = max(self.longest, self.slots)

    def barrier(self, scope: Scope, mask: Mask, site: Site) -> None:
        self.slots = 0
'''
OBSERVER_TEST = '''"""The observer of waits."""

import numpy as np
from numba import cuda

from warpwise import trace
from warpwise.simt.observers.longest_wait import LongestWait


@cuda.jit
def meet(out):
    out[cuda.grid(1)] = 1
    cuda.syncthreads()


def test_longest_wait_is_the_most_instructions_between_barriers():
    wait = LongestWait()
    t = trace(meet, 1, 32, np.zeros(32), observers=[wait])
    assert 0 < wait.longest == t.metrics.warp_instructions
'''

# --- a mistake ---

FAULTY = '''"""Only the first half of the block waits."""

import numpy as np
from numba import cuda


@cuda.jit
def reversed_in_blocks(x, out):
    s = cuda.shared.array(64, np.float32)
    t, i = cuda.threadIdx.x, cuda.grid(1)
    s[t] = x[i]
    if t < 32:
        cuda.syncthreads()  # expect: BarrierError
    out[i] = s[63 - t]


def launch(rng):
    x = rng.standard_normal(128).astype(np.float32)
    return reversed_in_blocks, 2, 64, (x, np.zeros_like(x))
'''
CORRECT = (
    FAULTY.replace("Only the first half of the block waits.", "The whole block waits.").replace(
        "    if t < 32:\n        cuda.syncthreads()  # expect: BarrierError\n",
        "    cuda.syncthreads()\n",
    )
    + "\n\ndef expected(x, out):\n    return x.reshape(2, 64)[:, ::-1].ravel()\n"
)

# --- a reference kernel ---

MODULE = '''"""Changing the sign of an array."""

from __future__ import annotations

import numpy as np

from warpwise import cuda
from warpwise.kernels.step import Built, Step

THREADS = 256


@cuda.jit
def negation_1_plain(source, target, n):
    i = np.uint32(cuda.grid(1))
    if i < n:
        target[i] = -source[i]


def run_1_plain(source, target) -> None:
    blocks = -(-source.size // THREADS)
    negation_1_plain[blocks, THREADS](source, target, np.uint32(source.size))


TYPES = "float32[::1], float32[::1], uint32"
BUILT = Built(negation_1_plain, TYPES, THREADS, 8, opcodes=("LDG", "STG"))
STEPS = (Step("negation_1_plain", "one element a thread", run_1_plain, (BUILT,)),)
'''
KERNEL_TEST = '''"""The negation of arrays, against NumPy."""

import numpy as np
import pytest

from warpwise.kernels import negation


@pytest.mark.parametrize("n", [1, 255, 256, 1000])
def test_negation_is_numpys(n):
    x = np.random.default_rng(n).normal(size=n).astype(np.float32)
    for step in negation.STEPS:
        y = np.full_like(x, np.nan)
        step.run(x, y)
        assert np.array_equal(y, -x)
'''
LADDER = "\n### Negation\n\n```{kernel-ladder} negation\n```\n"

# --- a measured record ---

SUITE = '''"""Copies of one size."""

from __future__ import annotations

from collections.abc import Iterator

from warpwise.kernels import copy
from warpwise.measure.case import Case, ours
from warpwise.measure.place import Place

TITLE = "Copies of one size"


def cases(place: Place) -> Iterator[Case]:
    n = place.pick(full=2**28, quick=2**24, rehearsal=2**10)
    source, target = place.random(n), place.empty(n)
    arrays = place.given(source), place.given(target)
    yield Case(
        f"copy of {n}",
        ours(copy.STEPS, arrays, lambda: target),
        want=lambda: place.host(source),
        bytes=8 * n,
        parameters={"n": n},
    )
'''
PLOT = """

TWO_COPIES = Plot(
    "Bandwidth of two copies",
    "",
    GB_PER_S,
    (
        Line("plain", ("copy_1_*",), model.dram_gb_per_s()),
        Line("16 bytes", ("copy_2_*",), model.dram_gb_per_s()),
    ),
)
"""
RECORD = {
    "suite": "two_copies",
    "title": "Copies of one size",
    "device": "NVIDIA Test 9000",
    "date": "2026-11-22",
    "quick": False,
    "rows": [
        {
            "case": "copy of 268435456",
            "variant": variant,
            "by": "numba",
            "parameters": {"n": 2**28},
            "samples_ms": [1.0],
            "median_ms": 1.0,
            "GB_per_s": rate,
        }
        for variant, rate in (("copy_1_plain", 2001.0), ("copy_2_wide", 2147.0))
    ],
}
KIND = """

class Sides(Private):
    \"\"\"The sides of a block.\"\"\"

    generic = "its sides"
"""
KNOWN_KIND = '    (messages.Sides("4 by 4"), "4 by 4", "its sides"),\n'
ERROR = """    if threads < 129:
        from warpwise.messages import Sides

        sides = Sides(" by ".join(map(str, block)))
        small = message(
            "a block of {sides} is small[[: it has {threads} threads]]",
            sides=sides,
            threads=Size(threads),
        )
        raise LaunchError(small)
"""
