"""GPT-2's loss and its gradient by an array library's functions, in float64: what is right.

NumPy's arrays are taken without a GPU and CuPy's on one; ``xp`` is the library. The kernels' parts
are here by themselves as well, since each is compared alone. A name such as ``d_scores`` is the
gradient of the loss with respect to ``scores``.
"""

from __future__ import annotations

import math
from typing import Any

from warpwise.gpt2.config import Config

ROOT, CUBIC, EPSILON = math.sqrt(2 / math.pi), 0.044715, 1e-5


# --- parts ---


def normalised(xp: Any, x: Any) -> tuple[Any, Any]:
    """Return rows with mean 0 and variance 1, and what they were multiplied by."""
    centred = x - x.mean(axis=1, keepdims=True)
    scale = 1 / xp.sqrt((centred**2).mean(axis=1, keepdims=True) + EPSILON)
    return centred * scale, scale


def of_normalised(unit: Any, scale: Any, d_unit: Any) -> Any:
    """Return the gradient of the rows that were normalised."""
    along = (d_unit * unit).mean(axis=1, keepdims=True)
    return (d_unit - d_unit.mean(axis=1, keepdims=True) - unit * along) * scale


def gelu(xp: Any, x: Any) -> tuple[Any, Any]:
    """Return GELU in its tanh form, and its slope."""
    bent = xp.tanh(ROOT * (x + CUBIC * x**3))
    slope = (1 + bent) / 2 + x / 2 * (1 - bent**2) * ROOT * (1 + 3 * CUBIC * x**2)
    return x / 2 * (1 + bent), slope


def by_head(rows: Any, texts: int, heads: int) -> Any:
    """Return rows of all heads as (text, head, position, channel)."""
    return rows.reshape(texts, len(rows) // texts, heads, -1).swapaxes(1, 2)


def by_row(parts: Any) -> Any:
    """Undo ``by_head``."""
    texts, heads, positions, width = parts.shape
    return parts.swapaxes(1, 2).reshape(texts * positions, heads * width)


def thirds(xp: Any, qkv: Any, texts: int, heads: int) -> list[Any]:
    """Return queries, keys and values by head."""
    return [by_head(third, texts, heads) for third in xp.split(qkv, 3, axis=1)]


def scores(xp: Any, q: Any, k: Any) -> Any:
    """Return causal scores: a later key has minus infinity."""
    found = q @ k.swapaxes(2, 3) / math.sqrt(q.shape[3])
    later = xp.triu(xp.ones(found.shape[2:], bool), 1)
    return xp.where(later, -xp.inf, found)


def attention(xp: Any, qkv: Any, texts: int, heads: int) -> tuple[Any, Any]:
    """Return the sums of values, by row, and the logarithm of each row's sum of exponentials."""
    q, k, v = thirds(xp, qkv, texts, heads)
    found = scores(xp, q, k)
    most = found.max(axis=3, keepdims=True)
    log_sums = most + xp.log(xp.exp(found - most).sum(axis=3, keepdims=True))
    return by_row(xp.exp(found - log_sums) @ v), by_row(log_sums)


def of_attention(xp: Any, qkv: Any, d_out: Any, log_sums: Any, deltas: Any, texts: int) -> Any:
    """Return the gradient of queries, keys and values from what the forward pass has kept.

    ``log_sums``, ``deltas``: a number for each row and head, the second the sum of dO times O.
    """
    heads = log_sums.shape[1]
    q, k, v = thirds(xp, qkv, texts, heads)
    d_sums = by_head(d_out, texts, heads)
    weights = xp.exp(scores(xp, q, k) - by_head(log_sums, texts, heads))
    d_scores = weights * (d_sums @ v.swapaxes(2, 3) - by_head(deltas, texts, heads))
    d_scores /= math.sqrt(q.shape[3])
    d_values = weights.swapaxes(2, 3) @ d_sums
    parts = (d_scores @ k, d_scores.swapaxes(2, 3) @ q, d_values)
    return xp.concatenate([by_row(part) for part in parts], axis=1)


def classified(xp: Any, logits: Any, targets: Any, words: int) -> tuple[Any, Any]:
    """Return each row's loss, and the gradient of the mean loss: 0 from column ``words`` on."""
    shifted = logits[:, :words] - logits[:, :words].max(axis=1, keepdims=True)
    logs = shifted - xp.log(xp.exp(shifted).sum(axis=1, keepdims=True))
    rows = xp.arange(len(logits), dtype="int64")
    gradient = xp.zeros(logits.shape, logits.dtype)
    gradient[:, :words] = xp.exp(logs)
    gradient[rows, targets] -= 1
    gradient /= len(logits)
    return -logs[rows, targets], gradient


# --- the model ---


def loss_and_gradient(xp: Any, config: Config, flat: Any, x: Any, y: Any) -> tuple[float, Any]:
    """Return the mean loss of tokens ``x``, (texts, positions), with targets ``y``; and the
    gradient, in the order of the parameters ``flat``, which are float64."""
    gradient = xp.zeros_like(flat)
    p, to, tokens = config.tensors(flat), config.tensors(gradient), x.reshape(-1)
    stream, kept = p["wte"][tokens] + xp.tile(p["wpe"][: x.shape[1]], (len(x), 1)), []
    for layer in range(config.layers):
        stream, block = _block(xp, config, p, layer, stream, len(x))
        kept.append(block)
    unit, scale = normalised(xp, stream)
    last = unit * p["lnfw"] + p["lnfb"]
    losses, d_logits = classified(xp, last @ p["wte"].T, y.reshape(-1), config.vocabulary)

    to["wte"][:] = d_logits.T @ last
    d_last = d_logits @ p["wte"]
    to["lnfw"][:], to["lnfb"][:] = (d_last * unit).sum(axis=0), d_last.sum(axis=0)
    d_stream = of_normalised(unit, scale, d_last * p["lnfw"])
    for layer in reversed(range(config.layers)):
        d_stream = _of_block(xp, p, to, layer, d_stream, kept.pop(), len(x))
    xp.add.at(to["wte"], tokens, d_stream)
    to["wpe"][: x.shape[1]] = d_stream.reshape(len(x), x.shape[1], -1).sum(axis=0)
    return float(losses.mean()), gradient


def _block(xp: Any, config: Config, p: Any, i: int, x: Any, texts: int) -> tuple[Any, Any]:
    unit1, scale1 = normalised(xp, x)
    ln1 = unit1 * p["ln1w"][i] + p["ln1b"][i]
    qkv = ln1 @ p["qkvw"][i].T + p["qkvb"][i]
    atty, log_sums = attention(xp, qkv, texts, config.heads)
    x = x + atty @ p["attprojw"][i].T + p["attprojb"][i]
    unit2, scale2 = normalised(xp, x)
    ln2 = unit2 * p["ln2w"][i] + p["ln2b"][i]
    active, slope = gelu(xp, ln2 @ p["fcw"][i].T + p["fcb"][i])
    kept = (unit1, scale1, ln1, qkv, atty, log_sums, unit2, scale2, ln2, active, slope)
    return x + active @ p["fcprojw"][i].T + p["fcprojb"][i], kept


def _of_block(xp: Any, p: Any, to: Any, i: int, d_x: Any, kept: Any, texts: int) -> Any:
    unit1, scale1, ln1, qkv, atty, log_sums, unit2, scale2, ln2, active, slope = kept
    d_wide = _of_linear(p, to, "fcproj", i, d_x, active) * slope
    d_ln2 = _of_linear(p, to, "fc", i, d_wide, ln2)
    d_x = d_x + _of_norm(p, to, "ln2", i, d_ln2, unit2, scale2)
    d_atty = _of_linear(p, to, "attproj", i, d_x, atty)
    deltas = dots(d_atty, atty, log_sums.shape[1])
    d_qkv = of_attention(xp, qkv, d_atty, log_sums, deltas, texts)
    d_ln1 = _of_linear(p, to, "qkv", i, d_qkv, ln1)
    return d_x + _of_norm(p, to, "ln1", i, d_ln1, unit1, scale1)


def dots(a: Any, b: Any, heads: int) -> Any:
    """Return the dots of rows, head by head."""
    return (a * b).reshape(len(a), heads, -1).sum(axis=2)


def _of_linear(p: Any, to: Any, name: str, i: int, d_out: Any, x: Any) -> Any:
    to[f"{name}w"][i], to[f"{name}b"][i] = d_out.T @ x, d_out.sum(axis=0)
    return d_out @ p[f"{name}w"][i]


def _of_norm(p: Any, to: Any, name: str, i: int, d_out: Any, unit: Any, scale: Any) -> Any:
    to[f"{name}w"][i], to[f"{name}b"][i] = (d_out * unit).sum(axis=0), d_out.sum(axis=0)
    return of_normalised(unit, scale, d_out * p[f"{name}w"][i])


def improved(xp: Any, flat: Any, gradient: Any, decays: Any, by: Any) -> Any:
    """Return the parameters after the first step of AdamW ``by``, all float64.

    ``decays``: 1 where the parameter is of a matrix. The means are then the gradient's own."""
    clipped = gradient * min(1.0, by.clip / float(xp.sqrt((gradient**2).sum())))
    kept = flat * (1 - by.rate * by.decay * decays)
    return kept - by.rate * clipped / (xp.abs(clipped) + by.epsilon)
