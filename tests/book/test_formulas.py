"""A formula in a line keeps the point behind it."""

from __future__ import annotations

import pytest

from warpwise.book.postprocess import hold_points

MATH = r'<span class="math notranslate nohighlight">\(a &lt; b\)</span>'


@pytest.mark.parametrize(
    ("behind", "held"), [(". Next", "."), (").", ")."), (" and", ""), ("", "")]
)
def test_a_point_stays_with_the_formula_before_it(behind, held):
    whole = f'<span class="ww-whole">{MATH}{held}</span>' if held else MATH
    assert hold_points(None, f"<p>{MATH}{behind}</p>") == f"<p>{whole}{behind[len(held) :]}</p>"
