"""Types of complex numbers, against Numba's typing context for CUDA, which needs no GPU."""

import itertools
import operator

import pytest
from numba.cuda import types as numba_types
from numba.cuda.descriptor import cuda_target

from warpwise.simt import types

THEIRS = {
    t: numba_types.boolean if t == types.BOOL else getattr(numba_types, t.name)
    for t in types.ELEMENTS
}
OURS = {theirs: ours for ours, theirs in THEIRS.items()}
COMPLEX = (types.COMPLEX64, types.COMPLEX128)
RULES = {
    operator.add: types.arithmetic,
    operator.mul: types.arithmetic,
    operator.truediv: types.division,
    operator.pow: types.power,
}


@pytest.mark.parametrize("function", RULES, ids=lambda f: f.__name__)
def test_complex_numbers_have_numbas_types(function):
    context = cuda_target.typing_context
    context.refresh()
    for pair in itertools.product(types.ELEMENTS, COMPLEX):
        for a, b in (pair, pair[::-1]):
            found = context.resolve_function_type(function, (THEIRS[a], THEIRS[b]), {}).return_type
            assert RULES[function](a, b) == OURS[found], (a, b)


def test_a_variable_that_becomes_complex_has_numbas_type():
    context = cuda_target.typing_context
    context.refresh()
    for a, b in itertools.product(types.ELEMENTS, COMPLEX):
        assert types.unify(a, b) == OURS[context.unify_types(THEIRS[a], THEIRS[b])], (a, b)
