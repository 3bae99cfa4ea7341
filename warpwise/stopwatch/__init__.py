"""A stopwatch without a GPU: how long a traced kernel takes on a device, modelled, with a range.

The compiler's machine code is read (``opcodes``, ``sass``, ``flow``), and the trace's counts say
how often a warp runs each part of it (``evidence``, ``trips``, ``walk``, ``program``). What an
access costs follows from the recorded addresses (``accesses``, ``l1``, ``traffic``, ``tables``),
what a device can do from published figures (``cards``). ``engine`` runs blocks on one SM clock by
clock, ``predict`` makes a launch of it, ``report`` an ``Estimate``. Its range comes from published
times of kernels that were replayed (``families``, ``published``).

Left out: power and clocks that fall under load, other work on the GPU, the instruction cache,
banks of registers, and how much DRAM slows down under many streams."""

from warpwise.stopwatch.cards import CARDS, Card, find
from warpwise.stopwatch.clock import time
from warpwise.stopwatch.estimate import Estimate, Share

__all__ = ["CARDS", "Card", "Estimate", "Share", "find", "time"]
