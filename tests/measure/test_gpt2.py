"""The suite of GPT-2's training step: what it holds right, what it plugs in, and what it counts."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import replace

import numpy as np
import pytest
from support import gpt2_reference
from support.as_on_a_gpu import answer
from support.share import share

from warpwise.devices import H200
from warpwise.gpt2.checkpoint import write_model
from warpwise.gpt2.config import Config, initial
from warpwise.gpt2.model import GPT2
from warpwise.kernels import tensor_products
from warpwise.measure.gpt2 import pieces, reference, torch_peer
from warpwise.measure.gpt2.step import KINDS, UPDATE, Step, plugged, products
from warpwise.measure.place import Place
from warpwise.measure.suites import gpt2
from warpwise.model.transformer import GPT2 as SIZES

PLACE = Place(np, "the simulator", (9, 0), H200.sms, 50 * 2**20, rehearsal=True)
SMALL = Config(positions=32, vocabulary=40, layers=1, heads=2, channels=32, padded=48)
FP32, TF32, BF16, PACKED = KINDS


def batch(config: Config, texts: int = 2) -> np.ndarray:
    return np.random.default_rng(0).integers(0, config.vocabulary, (2, texts, config.positions))


@pytest.fixture(scope="module")
def stepped() -> tuple[Step, tuple[float, np.ndarray]]:
    """Return a small model's step, and the loss and gradient that are right."""
    parameters, (x, y) = initial(SMALL), batch(SMALL)
    step = Step(PLACE, GPT2(SMALL, parameters, len(x), 1), parameters, x, y)
    return step, reference.loss_and_gradient(np, SMALL, parameters.astype(float), x, y)


def test_two_references_that_know_nothing_of_each_other_agree():
    config = Config(positions=16, vocabulary=40, layers=2, heads=2, channels=32, padded=48)
    flat, (x, y) = 2 * initial(config, dtype=np.float64), batch(config, 3)
    loss, gradient = reference.loss_and_gradient(np, config, flat, x, y)
    wanted, known, _ = gpt2_reference.loss_and_gradient(config, flat, x, y)
    assert loss == pytest.approx(wanted, abs=1e-12)
    assert np.abs(gradient - known).max() < 1e-13 * np.abs(known).max() + 1e-15


def test_a_step_is_right_every_time_that_it_begins_anew(stepped):
    step, want = stepped
    for _ in range(2):
        step.again()
        assert not np.isfinite(step.model.flat_gradient.copy_to_host()).any()
        step.run()
        assert step.share(FP32, want)[0] < 0.5


def test_a_step_in_bfloat16_is_right_again_and_its_copy_is_looked_at(stepped):
    parameters, (x, y) = initial(SMALL), batch(SMALL)
    step = Step(PLACE, GPT2(SMALL, parameters, len(x), 1, bf16=True), parameters, x, y)
    for _ in range(2):
        step.run()
        assert 0.01 < step.share(PACKED, stepped[1])[0] < 0.5
    step.run()
    copy = step.model.flat_copy.copy_to_host()
    copy[5] += 1
    step.model.flat_copy.copy_to_device(copy)
    assert step.share(PACKED, stepped[1])[0] > 1


@pytest.mark.parametrize("what", ["loss", "a tensor's gradient", "nothing was run", "the update"])
def test_a_wrong_step_is_found(stepped, what: str):
    step, (loss, gradient) = stepped
    step.again()
    if what != "nothing was run":
        step.run()
    if what == "loss":
        loss += 1e-3
    if what == "a tensor's gradient":
        gradient = gradient.copy()
        gradient[SMALL.places()["ln2b"]] *= 1.001
    if what == "the update":
        wrong = step.model.flat.copy_to_host()
        wrong[7] += np.float32(UPDATE.rate / 10)
        step.model.flat.copy_to_device(wrong)
    assert step.share(FP32, (loss, gradient))[0] > 1


def test_products_are_exchanged_and_nothing_else():
    config = replace(SMALL, positions=64, channels=128, padded=128)
    parameters = initial(config)
    plain = GPT2(config, parameters, 2, 1)
    for kind in (TF32, BF16, PACKED):
        model = plugged(GPT2(config, parameters, 2, 1, kind.packed), kind)
        for old, new in zip(
            [*plain.forward, *plain.backward], [*model.forward, *model.backward], strict=True
        ):
            assert old.name == new.name
            if old.kernel not in products(1):
                assert new.kernel is old.kernel and new.blocks == old.blocks
                continue
            assert new.kernel is kind.make(*products(1)[old.kernel])
            a, b, *_, depth = new.args
            assert a.ndim == b.ndim == 1 and int(depth) == old.args[-1]
            assert a.size * (1 + kind.packed) == old.args[0].size
            side = tensor_products.SIDE
            assert new.blocks == (old.args[2].shape[1] // side, old.args[2].shape[0] // side)
    exchanged = [one for one in (*plain.forward, *plain.backward) if one.kernel in products(1)]
    assert len(exchanged) == 3 * (4 * config.layers + 1)


def test_a_piece_that_leaves_wrong_numbers_is_found(stepped):
    step, _ = stepped
    step.again()
    for name in ("ln2", "fc", "attention dQ", "classifier"):
        named = {one.name: one for one in step.launches}
        made = pieces.case(PLACE, step.model, named[name], pieces.PIECES[name], step.run)
        want = made.want()
        made.variants[0].run()
        assert worst_of(made) < 1 and not want.any()
        made.want()  # wipes what is only written, and nothing runs
        assert worst_of(made) > 1


def worst_of(case) -> float:
    return float(case.variants[0].result()[0])


def test_bytes_are_those_of_llm_c_s_table():
    """N tokens of C channels, 4 bytes each: two readings and two writings of a sum's norm, and so
    on."""
    config = Config(64, 200, layers=1, heads=2, channels=128, padded=256)
    parameters, (x, y) = initial(config), batch(config)
    step = Step(PLACE, GPT2(config, parameters, 2, 1), parameters, x, y)
    found = {
        case.parameters["piece"]: case
        for case in pieces.cases(PLACE, step.model, step.launches, lambda: None)
    }
    n, c, v, p = 128, 128, 256, config.parameters
    assert found["ln2"].bytes == 4 * (4 * n * c + 2 * c)
    assert found["ln2 dX"].bytes == 4 * (4 * n * c + c)
    assert found["classifier"].bytes == 4 * (2 * n * v + 2 * n)
    assert found["fc db"].bytes == 4 * (4 * n * c + 4 * c)
    assert found["encoder"].bytes == 4 * (2 * n * c + 64 * c)
    assert found["norm"].bytes == 4 * (p + 64)
    assert found["adamw fcw"].bytes == 28 * 4 * c * c
    assert found["wte"].bytes == 4 * (n * c + 2 * np.unique(x).size * c)
    assert found["attention dQ"].bytes == 4 * (4 * n * c + 2 * n * 2 + n * c)
    assert found["head"].flops == 2 * n * c * v and found["attention"].flops == 2 * n * 64 * c
    packed = GPT2(config, parameters, 2, 1, bf16=True)
    found = {
        case.parameters["piece"]: case
        for case in pieces.cases(
            PLACE, packed, Step(PLACE, packed, parameters, x, y).launches, lambda: None
        )
    }
    assert found["ln2 in bf16"].bytes == 2 * (4 * n * c + 2 * c)
    assert found["classifier in bf16"].bytes == 2 * 2 * n * v + 4 * 2 * n
    assert found["norm in bf16"].bytes == 2 * p + 4 * 64
    assert found["adamw fcw in bf16"].bytes == 28 * 4 * c * c
    assert found["wte in bf16"].bytes == 2 * (n * c + 2 * np.unique(x).size * c)
    assert SIZES["124M"].step_flops(1024) / 1024 == pytest.approx(797.6e6, rel=1e-3)


def test_a_file_of_llm_c_s_begins_a_measurement(tmp_path, monkeypatch):
    path, flat = tmp_path / "model.bin", initial(SMALL)
    write_model(path, SMALL, flat)
    monkeypatch.setenv(gpt2.FILE, str(path))
    config, parameters = gpt2.start(replace(PLACE, rehearsal=False))
    assert config == SMALL and np.array_equal(parameters, flat)
    assert gpt2.start(PLACE)[0] == gpt2.SMALL
    monkeypatch.delenv(gpt2.FILE)
    assert gpt2.start(PLACE)[0] == gpt2.SMALL


def test_without_pytorch_there_is_no_peer():
    x, y = batch(SMALL)
    made = torch_peer.variants(PLACE, SMALL, initial(SMALL), x, y, FP32, lambda: None)
    assert made == []
    names = torch_peer.by_layer(SMALL, initial(SMALL))
    assert sum(one.size for one in names.values()) == SMALL.parameters and "fcw0" in names


# In a process where nobody puts Numba's names for ours, as on a GPU: the launches of one layer of
# GPT-2 124M in few rows, over arrays of NumPy's. Sizes that kernels are made for are the real ones.
PROGRAM = """
import pickle, sys
import numpy as np
from warpwise.gpt2 import model
from warpwise.gpt2.config import Config, initial

class Array(np.ndarray):
    def copy_to_device(self, values):
        self[...] = values

model.cuda = type("cuda", (), {"to_device": staticmethod(lambda values: values.view(Array))})
from support.share import share
from warpwise.measure.gpt2.step import UPDATE
from warpwise.toolchain import compilation

compilation.for_numba = lambda kernel: kernel.function
config = Config(128, 200, layers=1, heads=12, channels=768, padded=256)
both = [model.GPT2(config, initial(config), 1, 8, bf16) for bf16 in (False, True)]
x = np.zeros((1, 128), np.int32)
for made in both:
    made.set_batch(x, x)
launches = [one for m in both for one in (*m.forward, *m.backward, *m.update(UPDATE))]

def kind(value):
    if isinstance(value, np.ndarray):
        return f"{value.dtype}[{':, ' * (value.ndim - 1)}::1]"
    return str(value.dtype) if isinstance(value, np.generic) else "int64"

unlike = {}
for one in launches:
    unlike.setdefault((id(one.kernel), ", ".join(map(kind, one.args))), one)
found = []
for capability, asked in (((9, 0), [*unlike.items()]), ((8, 0), share(unlike.items(), 4))):
    for (_, types), one in asked:
        code = compilation.compile_kernel(one.kernel, types, capability)
        found.append((capability, one.name, int(np.prod(one.threads)), code))
sys.stdout.buffer.write(pickle.dumps(found))
"""


@pytest.mark.slow
def test_every_kernel_of_a_step_is_compiled_for_two_gpus_at_its_real_sizes():
    compiled = answer(PROGRAM)
    counted = Counter(capability for capability, *_ in compiled)
    assert counted[9, 0] >= 2 * 19 and counted[8, 0] >= len(share(range(counted[9, 0]), 4))
    for capability, name, threads, code in compiled:
        told = capability, name, code.registers
        assert (code.spill_load_bytes, code.spill_store_bytes, code.stack_bytes) == (0, 0, 0), told
        assert code.occupancy(threads).blocks >= 1, told
        assert not re.search(r"\b(fma|mul)\.\S*f64", code.ptx), told
