"""The names of CUDA's vector types: ``float32x4``, and ``float4`` as CUDA C++ calls it."""

from __future__ import annotations

SIZES = (1, 2, 3, 4)
SCALARS = ("int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64", "float32", "float64")
ALIASES = {
    "char": "int8", "short": "int16", "int": "int32", "long": "int64", "longlong": "int64", "uchar": "uint8", "ushort": "uint16",
    "uint": "uint32", "ulong": "uint64", "ulonglong": "uint64", "float": "float32", "double": "float64",
}  # fmt: skip


def vector_names() -> dict[str, tuple[str, int]]:
    """Each name below ``cuda`` -> the type of its parts, and how many there are."""
    names = {f"{name}x{n}": (name, n) for name in SCALARS for n in SIZES}
    return names | {f"{alias}{n}": (name, n) for alias, name in ALIASES.items() for n in SIZES}
