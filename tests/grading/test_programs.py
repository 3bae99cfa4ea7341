"""Programs of a cluster are graded rank by rank in sandboxes: nothing but messages joins them."""

import inspect

import pytest
from support.rank_programs import sum_over

from warpwise.cluster import Communicator
from warpwise.grading import parts, sandbox
from warpwise.grading.host import judge_function
from warpwise.grading.inside.programs import WORDS
from warpwise.grading.record import ENDED, TOO_MUCH_OUTPUT, Finding
from warpwise.labs.exercise import Program, Reason

pytestmark = [pytest.mark.system, pytest.mark.slow]

RING = """
import numpy as np

def total(dist, x):
    rank, ranks = dist.get_rank(), dist.get_world_size()
    found, mine, got = x.copy(), x.copy(), np.empty_like(x)
    for _ in range(ranks - 1):
        work = dist.isend(mine, (rank + 1) % ranks)
        dist.recv(got, (rank - 1) % ranks)
        work.wait()
        found += got
        mine = got.copy()
    return found
"""


@pytest.fixture(scope="module")
def graded():
    """A function that grades a text on cases, in one warm sandbox."""
    mode = sandbox.isolation()
    warm = sandbox.warm(parts.FUNCTIONS, mode)

    def grade(text: str, *cases: Program) -> Finding:
        return judge_function(text, "total", cases, mode, warm=warm)

    yield grade
    warm.close()


def case(ranks: int, **more) -> Program:
    return sum_over(ranks, 8, 10, 99, **more)


def body(*lines: str) -> str:
    return "\n    ".join(["def total(dist, x):", *lines])


@pytest.mark.parametrize(
    "text",
    [
        RING,
        body("dist.all_reduce(x)", "return x"),
        body(
            "work = dist.all_reduce(tensor=x, op='sum', async_op=True)", "work.wait()", "return x"
        ),
        body(
            "import numpy as np",
            "room = [np.empty_like(x) for _ in range(dist.get_world_size())]",
            "dist.all_gather(room, x)",
            "return sum(room)",
        ),
        body(
            "import numpy as np",
            "pieces = np.array_split(x, dist.get_world_size())",
            "if len({piece.size for piece in pieces}) > 1:",
            "    dist.all_reduce(x)",
            "    return x",
            "mine, out = np.empty_like(pieces[0]), np.empty_like(x)",
            "dist.reduce_scatter_tensor(mine, x)",
            "dist.all_gather_into_tensor(out, mine)",
            "return out",
        ),
        body(
            "everyone = dist.new_group(range(dist.get_world_size()))",
            "dist.barrier(everyone)",
            "dist.compute(1e-6, 'adding')",
            "dist.all_reduce(x, group=everyone)",
            "return x",
        ),
    ],
)
def test_right_answers_pass(graded, text: str):
    found = graded(text, case(1), case(2), case(3))
    assert found.passed, (found.reason, found.detail)


def test_a_budget_is_counted_outside(graded):
    ok = {"rounds": 3, "most_bytes_sent_by_a_rank": 96}
    found = graded(RING, case(4, budget=ok))
    assert found.passed and [(one.name, one.value) for one in found.counters] == list(ok.items())
    over = graded(RING, case(4, budget={"rounds": 2}))
    assert over.reason == Reason.OVER_BUDGET + "rounds" and "3" not in over.detail


HOSTILE = {
    # Ranks that share anything in their process, or in a file, would need no message.
    "a module as a mailbox": body(
        "import math",
        "box = math.__dict__.setdefault('box', {})",
        "box[dist.get_rank()] = x.copy()",
        "return sum(box.values())",
    ),
    "a file as a mailbox": body(
        "import numpy as np, os",
        "np.save(f'/dev/shm/{dist.get_rank()}.npy', x)",
        "names = [n for n in os.listdir('/dev/shm') if n.endswith('.npy')]",
        "return sum(np.load('/dev/shm/' + n) for n in names)",
    ),
    "its own counts": body(
        "dist._posted = dist._known = 10 ** 6", "dist.all_reduce(x)", "return x"
    ),
    "what has not come": body(
        "dist._received = [[{'dtype': 'float32', 'shape': [8], 'data': [0] * 8}]] * 9",
        "dist.all_reduce(x)",
        "return x",
    ),
    "frames that lie about their length": body(
        "dist._result.write(b'o' + b'\\xff' * 8 + b'{}')", "dist._result.flush()", "return x"
    ),
    "a header that is no header": body("dist.say(b'o', b'\\x02' + bytes(7) + b'[]')", "return x"),
    "an array beyond memory": body(
        "import json",
        "head = json.dumps({'word': 'all_reduce', 'args': {'tensor': {'array': 0}},"
        " 'arrays': [['float64', [1 << 60]]]}).encode()",
        "dist.say(b'o', len(head).to_bytes(8, 'little') + head)",
        "return x",
    ),
    "a word that is none of its": body(
        "import json",
        "head = json.dumps({'word': '_take', 'args': {}, 'arrays': []}).encode()",
        "dist.say(b'o', len(head).to_bytes(8, 'little') + head)",
        "return x",
    ),
    "a wait for nothing": body("dist.say(b'w', (99).to_bytes(8, 'little'))", "return x"),
}


@pytest.mark.parametrize("name", HOSTILE)
def test_a_hostile_program_is_refused(graded, name: str):
    found = graded(HOSTILE[name], case(2))
    assert not found.passed and found.reason, found


@pytest.mark.parametrize(
    ("text", "reason", "says"),
    [
        (body("dist.send(x, 1 - dist.get_rank())"), Reason.DEADLOCK, "`dist.send(x, 1"),
        (
            body("dist.all_reduce(x[dist.get_rank():].copy())"),
            Reason.MISMATCH,
            "all_reduce",
        ),
        (
            body("w = dist.isend(x, 1 - dist.get_rank())", "x[0] = 0", "y = x.copy()")
            + "\n    dist.recv(y, 1 - dist.get_rank())\n    w.wait()",
            Reason.IN_USE,
            "changes an array",
        ),
        (body("dist.irecv(x, 1 - dist.get_rank())", "return x"), Reason.RANKS, "has not waited"),
        (body("dist.compute('long')", "return x"), Reason.RANKS, "other arguments"),
        (body("dist.compute(float('inf'))", "return x"), Reason.RANKS, "takes 0 seconds or more"),
        (body("return x / 0 if dist.shrug() else x"), Reason.RAISED, "AttributeError"),
        (body("return x"), Reason.WRONG_RESULT, ""),
        (body("return 'x'"), Reason.WRONG_TYPE, "str"),
        (body("import os", "os._exit(0)"), ENDED, ""),
        (
            body("while True:", "    dist.isend(x, 1 - dist.get_rank())"),
            TOO_MUCH_OUTPUT,
            "sends too much",
        ),
    ],
)
def test_a_mistake_is_named_and_tells_nothing_of_the_case(graded, text, reason: str, says: str):
    found = graded(text, case(2))
    assert (found.passed, found.reason) == (False, reason), found
    assert says in found.detail
    numbers = {str(int(x)) for args in case(2).each for x in args[0]}
    assert not any(number in found.detail for number in numbers)


def test_a_sum_that_is_not_returned_is_told_by_its_call(graded):
    found = graded(body("return dist.all_reduce(x)"), case(2))
    assert (found.passed, found.reason) == (False, Reason.WRONG_TYPE), found
    assert "into x, in place, and returns None" in found.advice


def test_a_rank_says_what_the_cluster_s_does():
    for word, (names, _) in WORDS.items():
        own = list(inspect.signature(getattr(Communicator, word)).parameters)
        assert own == ["self", *names], word
    left_out = {"check_replicas", "check_gradients", "get_rank", "get_world_size", "new_group"}
    assert {name for name in vars(Communicator) if name[0] != "_"} == {*WORDS} | left_out
