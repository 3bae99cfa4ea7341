"""The planner widget without a browser, against the model; and refusals."""

from __future__ import annotations

import re

import pytest
from support.drawn_marks import Script

from warpwise import devices
from warpwise.errors import LaunchError
from warpwise.model.planner import GB, cluster, search
from warpwise.views import planner

MARK = re.compile(r'data-is="data (\d+), tensor (\d+), pipeline (\d+)([^"]*?): ([^"]*)"')
CASES = [
    ("Llama 3 70B", "H100 SXM", 512, "50", 512),
    ("Llama 3 8B", "A100 80 GB SXM", 16, "25", 64),
    ("8 x 22B, two experts", "H100 SXM", 64, "50", 256),
    ("GPT 175B", "A100 80 GB SXM", 64, "25", 64),
    ("Llama 3 70B, 131,072 tokens", "B200", 256, "12.5", 16),
    ("Llama 3 405B", "H100 SXM", 4096, "50", 2048),
    ("Llama 3 405B", "H100 SXM", 16, "50", 8),
]


@pytest.fixture(scope="module")
def script() -> Script:
    return Script("planner")


def named(mesh) -> str:
    more = f", context {mesh.cp}" * (mesh.cp > 1) + f", experts {mesh.ep}" * (mesh.ep > 1)
    full = ", recomputed" * (mesh.recompute == "full")
    return f"data {mesh.dp}, tensor {mesh.tp}, pipeline {mesh.pp}{more}, ZeRO {mesh.zero}{full}"


def value(text: str) -> float:
    return float(re.match(r"[\d.,]+", text)[0].replace(",", ""))


@pytest.mark.parametrize("case", CASES, ids=str)
def test_every_mesh_has_the_model_s_bytes_seconds_and_mfu(script, case):
    model, device, gpus, network, sequences = case
    view = planner.explorer(model, device, gpus, network, sequences)
    made = script.shown(view.data, view.values, 620)
    known = devices.known(device)
    on = cluster(known, gpus, planner.MEMORY[known], float(network))
    found = search(planner.MODELS[model], on, sequences, planner.CHUNKS)
    told = {}
    for dp, tp, pp, more, facts in MARK.findall(made["picture"]):
        told[f"data {dp}, tensor {tp}, pipeline {pp}{more}"] = facts.rsplit(", ", 2)
    assert set(told) == {named(one.mesh) for one in found} and len(told) == len(found) > 10
    for one in found:
        nbytes, seconds, mfu = told[named(one.mesh)]
        assert value(nbytes) == pytest.approx(one.bytes / GB, rel=0.006)
        assert value(seconds) == pytest.approx(one.seconds, rel=0.006)
        assert value(mfu) == pytest.approx(100 * one.mfu, abs=0.0501)
    best = found[0]
    assert made["rows"][0] == ["meshes", len(found), f"of which {sum(p.fits for p in found)} fit"]
    assert value(made["rows"][1][1]) == pytest.approx(best.seconds, rel=0.006)
    said = f"meshes is {named(best.mesh)}." if best.fits else "meshes fits."
    assert said in made["text"]


def test_a_mesh_can_be_chosen(script):
    view = planner.explorer()
    mesh = "data 8, tensor 8, pipeline 8, ZeRO 1"
    made = script.shown(view.data, view.values | {"mesh": mesh}, 620)
    assert f"Chosen is {mesh}, which takes" in made["text"]


def test_fewer_sequences_than_replicas_leave_no_mesh(script):
    view = planner.explorer(model="Llama 3 8B", gpus=16_384, sequences=1)
    assert "No mesh can be" in script.shown(view.data, view.values, 620)["text"]


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"model": "GPT-5"}, "model is 'GPT-5'; it can be Llama 3 8B"),
        ({"device": "T4"}, "device is 'T4'; it can be A100 80 GB SXM, H100 SXM, B200"),
        ({"gpus": 12}, "gpus is 12; it can be 16, 32"),
        ({"network": "10"}, "network is '10'; it can be 12.5"),
        ({"sequences": 3}, "sequences is 3; it can be 1, 2"),
    ],
)
def test_what_cannot_be_is_refused(wrong, message):
    with pytest.raises(LaunchError) as caught:
        planner.explorer(**wrong)
    assert message in str(caught.value)
