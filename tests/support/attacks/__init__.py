"""Hostile answers and notebooks that are made rather than kept as files."""

from __future__ import annotations

LABS = ("01_why_gpus", "08_coalescing", "11_online_softmax", "12_flash_attention")
