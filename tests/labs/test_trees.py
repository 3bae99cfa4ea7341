import gc
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import pytest

from warpwise.labs.trees import parse

TEXT = "\n".join(f"a{n} = f({n}, [b, c + {n}], key=(d, e))" for n in range(300))


@pytest.fixture
def often_interrupted() -> Iterator[None]:
    """Let another thread go on in the midst of a parse, as a callback of the collector does."""

    def pause(phase: str, info: dict[str, int]) -> None:
        time.sleep(0.0005)

    before = gc.get_threshold()
    gc.callbacks.append(pause)
    gc.set_threshold(50)
    yield
    gc.set_threshold(*before)
    gc.callbacks.remove(pause)


def test_threads_parse_at_the_same_time(often_interrupted: None):
    with ThreadPoolExecutor(4) as threads:
        trees = list(threads.map(parse, [TEXT] * 12))
    assert {len(tree.body) for tree in trees} == {300}


def test_text_that_is_not_python_is_refused_and_the_next_parsed():
    with pytest.raises(SyntaxError):
        parse("a = = 1")
    assert len(parse("a = 1").body) == 1
