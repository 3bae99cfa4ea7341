"""Hidden tests of lab 10: cases for each exercise, drawn from a secret seed.

The rules are those of the lab. Devices are real ones, and made-up ones with any number of SMs.
Expected values come from ``warpwise.model``, or are worked out here."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from math import ceil

import numpy as np

from warpwise.devices import A100, DEVICES, H100, H100_PCIE, H200, L4, T4, V100, Device
from warpwise.labs import Call, Launch, Out
from warpwise.model import matmul
from warpwise.model.occupancy import occupancy
from warpwise.model.waves import tiles as tiles_of
from warpwise.model.waves import waves as waves_of

SIDES = (64, 96, 128, 192, 256)
OTHERS = 40
BUDGET_FROM = 8  # rows: with fewer, most warps of a block have none, whatever the kernel
CANDIDATES = (
    (64, 64),
    (96, 48),
    (128, 64),
    (64, 128),
    (192, 96),
    (128, 128),
    (256, 64),
    (512, 64),
    (256, 128),
    (128, 256),
    (192, 128),
    (256, 256),
)


def some_device(rng: np.random.Generator) -> Device:
    """Draw a device of the table, with another number of SMs."""
    return replace(DEVICES[rng.integers(len(DEVICES))], sms=int(rng.integers(20, 200)))


def unequal_tile(rng: np.random.Generator) -> tuple[int, int]:
    rows, cols = (int(side) for side in rng.choice(SIDES, 2, replace=False))
    return rows, cols


def tiles(rng: np.random.Generator) -> Iterator[Call]:
    fixed = [
        (1, 1, 128, 128),
        (128, 128, 128, 128),
        (129, 128, 128, 128),
        (128, 129, 128, 128),
        (257, 1000, 256, 128),
    ]
    drawn = [(*(int(n) for n in rng.integers(1, 6000, 2)), *unequal_tile(rng)) for _ in range(12)]
    for rows, cols, tile_rows, tile_cols in fixed + drawn:
        args = rows, cols, tile_rows, tile_cols
        yield Call(
            f"{rows} x {cols} in tiles of {tile_rows} x {tile_cols}",
            args,
            want=tiles_of(*args).count,
        )


def waves(rng: np.random.Generator) -> Iterator[Call]:
    for _ in range(12):
        sms, held, full = (
            int(rng.integers(20, 200)),
            int(rng.integers(2, 9)),
            int(rng.integers(1, 5)),
        )
        for blocks in (full * sms * held, full * sms * held + 1, int(rng.integers(1, 9 * sms))):
            yield Call(
                f"{blocks} blocks, {held} on each of {sms} SMs",
                (blocks, sms, held),
                want=-(-blocks // (sms * held)),
            )


def throughput(rng: np.random.Generator) -> Iterator[Call]:
    for kind in range(16):
        device, (tile_rows, tile_cols), n = (
            some_device(rng),
            unequal_tile(rng),
            int(rng.integers(100, 5000)),
        )
        peak = device.tensor16_flops_per_s
        rounds = waves_of(tiles_of(n, n, tile_rows, tile_cols).count, device).count
        computing = rounds * 2 * tile_rows * tile_cols * n * device.sms / peak
        # On every second device, memory takes longer than the SMs.
        moving = computing * float(rng.uniform(1.5, 4) if kind % 2 else rng.uniform(0.2, 0.9))
        bandwidth = 6 * n * n / moving
        yield Call(
            f"n = {n}, {device.sms} SMs, tiles of {tile_rows} x {tile_cols}",
            (n, device.sms, peak, bandwidth, tile_rows, tile_cols),
            want=2 * n**3 / max(computing, moving),
            rtol=1e-6,
        )


def cliffs(rng: np.random.Generator) -> Iterator[Call]:
    for _ in range(8):
        device, (tile_rows, tile_cols), held = (
            some_device(rng),
            unequal_tile(rng),
            int(rng.integers(1, 4)),
        )
        # The last size needs four waves or more.
        n = np.arange(1, 2 * max(tile_rows, tile_cols) * ceil((held * device.sms) ** 0.5))
        counts = np.ceil(np.ceil(n / tile_rows) * np.ceil(n / tile_cols) / (held * device.sms))
        found = 2 + np.flatnonzero(np.diff(counts))
        edges = [int(n) for n in found[[len(found) // 3, -1]]]  # both ends of the range are cliffs
        for first, last in ((*edges,), (edges[0] + 1, edges[1] - 1), (2, int(found[0]) - 1)):
            want = found[(found >= first) & (found <= last)]
            yield Call(
                (
                    f"{first} to {last}, {held} blocks of {tile_rows} x {tile_cols} on each "
                    f"of {device.sms} SMs"
                ),
                (first, last, device.sms, held, tile_rows, tile_cols),
                want=want,
            )


def pitch_for(rng: np.random.Generator) -> Iterator[Call]:
    fixed = [(64, 2, 32), (65, 2, 32), (100, 12, 32), (7, 3, 16), (1, 16, 128), (33, 5, 64)]
    drawn = [
        (int(rng.integers(1, 60_000)), int(rng.integers(1, 17)), int(2 ** rng.integers(4, 8)))
        for _ in range(20)
    ]
    for cols, itemsize, unit in fixed + drawn:
        want = next(pitch for pitch in range(cols, cols + 2 * unit) if pitch * itemsize % unit == 0)
        yield Call(
            f"{cols} columns of {itemsize} bytes, unit {unit}", (cols, itemsize, unit), want=want
        )


def pad_rows(rng: np.random.Generator) -> Iterator[Launch]:
    drawn = [
        (int(rng.integers(9, 90)), int(rng.integers(33, 300)), 16 * int(rng.integers(0, 5)))
        for _ in range(4)
    ]
    for rows, cols, more in [(1, 1, 0), (5, 16, 0), (3, 31, 64), (40, 128, 0), *drawn]:
        src = rng.standard_normal((rows, cols)).astype(np.float16)
        pitch = ceil(cols / 16) * 16 + more
        want = np.zeros((rows, pitch), np.float16)
        want[:, :cols] = src
        yield Launch(
            f"{rows} x {cols} to a pitch of {pitch}",
            (ceil(pitch / 32), ceil(rows / 8)),
            (32, 8),
            args=(src, Out(want.shape, "float16")),
            want=(want,),
            budget={
                "sectors_per_request_load": 3.1,
                "sectors_per_request_store": 2.1,
                "global_load_requests": rows * ceil(cols / 32),
                "global_store_requests": 2 * rows * ceil(pitch / 32),
                "global_store_bytes": 2 * rows * pitch,
                "most_bytes_stored_by_a_warp": 128,
            }
            if rows >= BUDGET_FROM
            else {},
        )


def limits(device: Device) -> np.ndarray:
    sm = device.sm
    return np.array(
        [
            sm.warps,
            sm.blocks,
            sm.registers,
            sm.registers_unit,
            sm.sub_partitions,
            sm.shared_bytes,
            sm.shared_bytes_reserved,
            sm.shared_bytes_unit,
        ],
        dtype=np.int64,
    )


def made_up(rng: np.random.Generator) -> np.ndarray:
    """Draw an SM that hands out registers and shared memory in unusual units."""
    unit, parts, shared_unit = (
        int(rng.choice(choices)) for choices in ((512, 1024), (2, 8), (512, 2048))
    )
    return np.array(
        [
            64,
            32,
            65536,
            unit,
            parts,
            int(rng.integers(60, 200)) * 1024,
            int(rng.integers(100, 900)),
            shared_unit,
        ]
    )


def held(threads: int, registers: int, shared_bytes: int, sm: np.ndarray) -> int:
    """Count the blocks that fit, one by one.

    Each warp goes to the sub-partition with the most registers left."""
    warps, blocks, all_registers, unit, parts, shared, reserved, shared_unit = sm.tolist()
    free, left, count = [all_registers // parts] * parts, warps, 0
    while count < blocks:
        shared -= -(-(shared_bytes + reserved) // shared_unit) * shared_unit
        for _ in range(-(-threads // 32)):
            left -= 1
            part = max(range(parts), key=free.__getitem__)
            free[part] -= -(-32 * registers // unit) * unit
        if shared < 0 or left < 0 or min(free) < 0:
            break
        count += 1
    return count


def blocks_per_sm(rng: np.random.Generator) -> Iterator[Call]:
    fixed = [
        (V100, 128, 37, 0),
        (V100, 320, 37, 0),
        (T4, 1024, 64, 0),
        (A100, 544, 128, 0),
        (H100, 1024, 90, 0),
        (A100, 64, 20, 5120),
        (H100, 64, 16, 7168),
        (L4, 96, 16, 8192),
        (T4, 64, 20, 0),
        (L4, 48, 255, 0),
        (A100, 64, 16, 7366),
        (A100, 32, 16, 0),  # the number of blocks is the limit
        (H100, 31, 24, 100),
        (A100, 65, 16, 0),
        (V100, 97, 16, 0),
        (T4, 20, 16, 0),
    ]
    drawn = [
        (
            DEVICES[rng.integers(len(DEVICES))],
            int(rng.integers(1, 1025)),
            int(rng.integers(16, 256)),
            int(rng.integers(0, 60_000)),
        )
        for _ in range(40)
    ]
    for device, threads, registers, shared_bytes in fixed + drawn:
        yield Call(
            f"{device.name}: {threads} threads, {registers} registers, {shared_bytes} bytes",
            (threads, registers, shared_bytes, limits(device)),
            want=occupancy(device, threads, registers, shared_bytes).blocks,
        )
    # Registers decide every second one, shared memory the others.
    for turn in range(20):
        sm, threads = made_up(rng), int(rng.integers(33, 97))
        registers = 16 * int(rng.integers(4, 9)) + int(rng.integers(1, 8)) if turn % 2 else 16
        shared_bytes = 0 if turn % 2 else int(rng.integers(4000, 12_000))
        yield Call(
            (
                f"made-up SM {sm.tolist()}: {threads} threads, {registers} registers, "
                f"{shared_bytes} bytes"
            ),
            (threads, registers, shared_bytes, sm),
            want=held(threads, registers, shared_bytes, sm),
        )
    # What the system takes is all that a block has of the shared memory, and it is the limit.
    for _ in range(3):
        sm = made_up(rng)
        sm[5] = int(rng.integers(6, 12)) * 1024
        threads, registers = int(rng.integers(1, 65)), 16
        yield Call(
            f"made-up SM {sm.tolist()}: {threads} threads, {registers} registers, 0 bytes",
            (threads, registers, 0, sm),
            want=held(threads, registers, 0, sm),
        )


def best_of(
    candidates: np.ndarray, device: Device, threads: int, step: int, stages: int
) -> tuple[int, int, int]:
    merits = []
    for place, (rows, cols) in enumerate(candidates.tolist()):
        registers, shared_bytes = rows * cols // threads + OTHERS, (rows + cols) * step * 2 * stages
        if registers <= 255:
            blocks = occupancy(device, threads, registers, shared_bytes).blocks
            if blocks:
                merits.append((rows * cols / (rows + cols), blocks, -place, rows, cols))
    return (*max(merits)[3:], max(merits)[1]) if merits else (0, 0, 0)


def best_tile(rng: np.random.Generator) -> Iterator[Call]:
    # Of equal intensities the first has fewer blocks; of equal areas the first has less intensity;
    # 255 registers are not too many, 256 are.
    ordered = [
        (A100, 128, 32, 2, [(96, 48), (192, 96), (128, 128), (256, 256)]),
        (H100, 256, 32, 3, [(512, 64), (256, 128), (64, 64)]),
        (A100, 128, 16, 2, [(128, 128), (172, 160)]),
        (A100, 128, 16, 2, [(128, 128), (216, 128)]),
        (A100, 128, 16, 2, [(1, 1)]),
    ]
    for device, threads, step, stages, listed in ordered:
        candidates = np.array(listed)
        yield Call(
            f"{device.name}: {threads} threads, step {step}, {stages} stages, of {listed}",
            (candidates, threads, step, stages, limits(device)),
            want=best_of(candidates, device, threads, step, stages),
        )
    # The rest of the shared memory decides, then the registers of a block, then nothing fits, then
    # equals stand in either order.
    fixed = [
        (T4, 256, 64, 3),
        (A100, 512, 32, 2),
        (T4, 64, 128, 4),
        (H100, 256, 64, 4),
        (A100, 256, 64, 4),
        (L4, 128, 32, 2),
    ]
    drawn = [
        (
            DEVICES[rng.integers(len(DEVICES))],
            int(2 ** rng.integers(6, 10)),
            int(2 ** rng.integers(4, 8)),
            int(rng.integers(2, 6)),
        )
        for _ in range(10)
    ]
    for device, threads, step, stages in fixed + drawn:
        candidates = rng.permutation(np.array(CANDIDATES))[: int(rng.integers(6, 11))]
        yield Call(
            (
                f"{device.name}: {threads} threads, step {step}, {stages} stages, "
                f"of {candidates.tolist()}"
            ),
            (candidates, threads, step, stages, limits(device)),
            want=best_of(candidates, device, threads, step, stages),
        )


def gains(n: int, device: Device) -> list[float]:
    now = matmul.product(n, device).seconds
    return [
        now / matmul.product(n, device, tuple(c for c in matmul.CAUSES if c != cause)).seconds
        for cause in matmul.CAUSES
    ]


def clear(n: int, device: Device) -> bool:
    """Return whether rounding leaves no doubt about the cause that is named."""
    first, second = sorted(gains(n, device), reverse=True)[:2]
    return first > 1 + 1e-6 and first / second > 1 + 1e-6


def explain(rng: np.random.Generator) -> Iterator[Call]:
    devices = (A100, H100, H100_PCIE, H200)
    for turn in range(6):
        device = devices[turn % 4]
        sizes = [1793, 2049, 2304][turn % 3 : turn % 3 + 1]
        while len(sizes) < 5:
            n = int(rng.integers(64, 4000)) // (1, 2, 8)[len(sizes) % 3] * (1, 2, 8)[len(sizes) % 3]
            if clear(n, device) and n not in sizes:
                sizes.append(n)
        sizes = [n for n in sizes if clear(n, device)]
        found = [gains(n, device) for n in sizes]
        yield Call(
            f"{device.name}: {sizes}",
            (
                np.array(sizes),
                np.array(
                    [
                        device.sms,
                        device.tensor16_flops_per_s,
                        device.dram_bytes_per_s,
                        device.clock_hz,
                    ]
                ),
            ),
            want=(np.array([int(np.argmax(g)) for g in found]), np.array([max(g) for g in found])),
            rtol=1e-9,
        )
    # Memory takes over as soon as tiles, waves or alignment are gone: the first of the three is
    # named.
    for device, n in ((A100, 1793), (H100, 2049)):
        part = float(rng.uniform(0.7, 0.95))
        bandwidth = 6 * n * n / (part * matmul.product(n, device).seconds)
        yield Call(
            f"{device.name} with {bandwidth / 1e9:.1f} GB/s: [{n}]",
            (
                np.array([n]),
                np.array([device.sms, device.tensor16_flops_per_s, bandwidth, device.clock_hz]),
            ),
            want=(np.array([1]), np.array([1 / part])),
            rtol=1e-9,
        )
    # Two GPUs of 8 SMs, whose waves are all full at multiples of 512: one lacks nothing, one lacks
    # bandwidth.
    peak, clock = 1e12 * int(rng.integers(50, 400)), 1.5e9
    sizes = np.sort(rng.choice(np.arange(1, 8), 5, replace=False)) * 512
    for bandwidth in (1e15, float(rng.integers(1, 5)) * 1e9):
        factors = np.maximum(1.0, 3 * peak / (sizes * bandwidth))
        yield Call(
            f"8 SMs, {peak / 1e12:.0f} TFLOP/s, {bandwidth / 1e9:.0f} GB/s: {sizes.tolist()}",
            (sizes, np.array([8, peak, bandwidth, clock])),
            want=(np.where(factors > 1, 0, -1), factors),
            rtol=1e-9,
        )
