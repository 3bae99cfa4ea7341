"""The table of GPUs: figures that agree with one another, and lookup by name."""

from __future__ import annotations

import re
from dataclasses import FrozenInstanceError, replace

import pytest
from support.paths import ROOT

from warpwise.devices import (
    A100,
    DEVICES,
    H100,
    H100_PCIE,
    KB,
    MEASURED,
    MULTIPROCESSORS,
    NVLINK,
    OF_DRIVER,
    RTX_4090,
    T4,
    V100,
    Device,
    Figure,
    find,
    known,
    of_driver,
)
from warpwise.errors import LaunchError

# Boost clocks in MHz from the products' whitepapers, none of which are in the table.
BOOST = {
    "T4": 1590,
    "V100 SXM2": 1530,
    "A100 40 GB SXM": 1410,
    "A100 80 GB SXM": 1410,
    "RTX 3090": 1695,
    "L4": 2040,
    "RTX 4090": 2520,
    "H100 PCIe": 1755,
    "H100 SXM": 1980,
    "H200 SXM": 1980,
    "B200": 1980,
}


@pytest.mark.parametrize("device", DEVICES, ids=lambda device: device.name)
def test_the_clock_that_follows_from_the_peak_is_the_boost_clock(device):
    assert device.clock_hz == pytest.approx(1e6 * BOOST[device.name], rel=0.01)


@pytest.mark.parametrize(
    ("device", "tflops"),
    [(V100, 7.8), (A100, 9.7), (H100, 34), (H100_PCIE, 26), (RTX_4090, 1.29), (T4, 0.25)],
)
def test_the_float64_peak_is_that_of_the_datasheet(device, tflops):
    assert device.fp64_tflops == pytest.approx(tflops, rel=0.03)


#: NVLinks of a GPU and GB/s of one, one way, from the architectures' whitepapers.
LINKS = {"V100": (6, 25), "A100": (12, 25), "H100": (18, 25), "H200": (18, 25), "B200": (18, 50)}


@pytest.mark.parametrize("name", NVLINK)
def test_nvlinks_rate_is_that_of_its_links(name):
    links, gb_per_s = LINKS[find(name).name.split()[0]]
    assert NVLINK[name].gb_per_s == links * gb_per_s and NVLINK[name].source


@pytest.mark.parametrize("cc", MULTIPROCESSORS)
def test_the_largest_block_fits_on_its_multiprocessor(cc):
    """The largest block and the system's reserve fill the shared memory."""
    sm = MULTIPROCESSORS[cc]
    assert sm.shared_bytes_per_block + sm.shared_bytes_reserved == sm.shared_bytes
    assert sm.warps >= 1024 // 32
    assert sm.shared_bytes % sm.shared_bytes_unit == 0
    assert sm.registers_per_thread * 32 <= sm.registers // sm.sub_partitions


def test_l1_and_shared_memory_deliver_a_wavefront_in_a_clock_but_on_turing_in_two():
    """GA102 whitepaper: 128 bytes a clock and SM, against 64 on Turing."""
    found = {
        cc: (sm.l1_bytes_per_clock, sm.shared_wavefronts) for cc, sm in MULTIPROCESSORS.items()
    }
    assert found.pop((7, 5)) == (64, 0.5)
    assert set(found.values()) == {(128, 1)}


def test_static_shared_memory_is_48_kb_everywhere():
    assert {device.shared_bytes_per_block for device in DEVICES} == {48 * KB}


@pytest.mark.parametrize("device", DEVICES, ids=lambda device: device.name)
def test_a_name_finds_its_device_however_it_is_written(device):
    for name in (
        device.name,
        device.name.lower(),
        device.name.replace(" ", ""),
        device.name.replace(" ", "-"),
        f" {device.name}\t",
    ):
        assert find(name) is device


@pytest.mark.parametrize(
    ("name", "device"),
    [("4090", RTX_4090), ("v100", V100), ("80 GB", A100), ("h100 pci", H100_PCIE)],
)
def test_a_part_that_only_one_device_has_is_enough(name, device):
    assert find(name) is device


def test_a_part_of_several_names_says_which_they_are():
    with pytest.raises(LaunchError, match=r"^'H100' can be H100 PCIe, H100 SXM: say which$"):
        find("H100")


@pytest.mark.parametrize("name", ["GTX 1080", "", "  "])
def test_an_unknown_name_lists_what_there_is(name):
    with pytest.raises(LaunchError, match=r"^no device is called") as caught:
        find(name)
    assert all(device.name in str(caught.value) for device in DEVICES)


def test_a_device_of_the_table_is_known_by_itself_and_by_name_and_no_other():
    assert known(A100) is A100 and known("4090") is RTX_4090
    for unknown in (replace(A100, sms=1), Device("mine", (9, 0), 10, 10, 10, 10, 1), None):
        with pytest.raises(LaunchError, match=r"^no device is called"):
            known(unknown)


def test_a_compute_capability_without_limits_is_refused_in_one_line():
    with pytest.raises(
        LaunchError,
        match=r"^GTX 1080 has compute capability 6\.1; limits are known for 7\.0, 7\.5, .*12\.0$",
    ):
        _ = Device("GTX 1080", (6, 1), 20, 8.9, 0, 320, 2 * KB).sm


def test_a_device_cannot_be_changed():
    with pytest.raises(FrozenInstanceError):
        H100.sms = 1


@pytest.mark.parametrize("name", MEASURED)
def test_what_was_measured_is_in_the_order_of_the_hierarchy(name):
    """Each level is slower than the one before.

    L2 delivers more than DRAM, and less than all L1 caches together."""
    device, seen = find(name), MEASURED[name]
    clocks = [
        one.value
        for one in (
            seen.register_clocks,
            seen.shared_clocks,
            seen.l1_clocks,
            seen.l2_clocks,
            seen.dram_clocks,
        )
        if one
    ]
    assert clocks == sorted(set(clocks)) and len(clocks) >= 4
    l1_gb_per_s = device.sms * device.sm.l1_bytes_per_clock * device.clock_hz / 1e9
    assert device.dram_gb_per_s < seen.l2_gb_per_s.value < l1_gb_per_s
    assert seen.unified_bytes > device.sm.shared_bytes


@pytest.mark.parametrize("name", MEASURED)
def test_each_measured_figure_names_a_source_of_the_bibliography(name):
    keys = set(
        re.findall(
            r"^@\w+\{(\w+),",
            (ROOT / "chapters" / "references.bib").read_text("utf-8"),
            re.MULTILINE,
        )
    )
    figures = [value for value in vars(MEASURED[name]).values() if isinstance(value, Figure)]
    assert len(figures) >= 5 and {figure.source for figure in figures} <= keys
    assert all(figure.how for figure in figures)


@pytest.mark.parametrize(
    ("told", "known"),
    [
        ("NVIDIA H200", "H200 SXM"),
        ("NVIDIA H100 80GB HBM3", "H100 SXM"),
        ("NVIDIA H100 PCIe", "H100 PCIe"),
        ("Tesla T4", "T4"),
        ("NVIDIA A100-SXM4-40GB", "A100 40 GB SXM"),
        ("NVIDIA A100-SXM4-80GB", "A100 80 GB SXM"),
        ("Tesla V100-SXM2-16GB", "V100 SXM2"),
        ("NVIDIA GeForce RTX 4090", "RTX 4090"),
        ("NVIDIA GeForce RTX 4090 Laptop GPU", None),
        ("NVIDIA GeForce RTX 3090 Ti", None),
        ("NVIDIA L4", "L4"),
        ("NVIDIA L40S", None),
        ("NVIDIA H100 NVL", None),
        ("Quadro T400", None),
        ("", None),
        ("NVIDIA A100-SXM4-40GB MIG 1g.5gb", None),
    ],
)
def test_a_driver_s_name_for_a_device_is_understood(told, known):
    found = of_driver(told)
    assert (found and found.name) == known


def test_every_device_has_a_drivers_name():
    assert list(OF_DRIVER.values()) == list(DEVICES)
