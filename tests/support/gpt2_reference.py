"""The same step in NumPy, in any precision: what the kernels are held against.

A name such as ``dqkv`` is the gradient of the loss with respect to ``qkv``. ``keep`` is what memory
makes of an array: ``exact``, or ``as_bfloat16``, which rounds whatever a kernel stores in bfloat16.
"""

from __future__ import annotations

import math

import numpy as np

from warpwise.gpt2.config import Config
from warpwise.kernels.bfloat16 import from_bfloat16, to_bfloat16

ROOT, CUBIC = math.sqrt(2 / math.pi), 0.044715


def exact(array):
    return array


def as_bfloat16(array):
    return from_bfloat16(to_bfloat16(array.astype(np.float32))).astype(array.dtype)


def layernorm(x, weight, bias, keep=exact):
    """Return the result, and what the backward pass needs: of x what is kept."""
    mean = x.mean(-1, keepdims=True)
    far = x - mean
    rstd = 1 / np.sqrt((far * far).mean(-1, keepdims=True) + 1e-5)
    return keep(far * rstd * weight + bias), ((keep(x) - mean) * rstd, rstd)


def layernorm_backward(dout, kept, weight):
    """Return the gradients of x, weight and bias."""
    norm, rstd = kept
    dnorm = dout * weight
    inner = dnorm - dnorm.mean(-1, keepdims=True) - norm * (dnorm * norm).mean(-1, keepdims=True)
    return inner * rstd, (dout * norm).sum(0), dout.sum(0)


def gelu(x):
    return 0.5 * x * (1 + np.tanh(ROOT * (x + CUBIC * x * x * x)))


def gelu_slope(x):
    t = np.tanh(ROOT * (x + CUBIC * x * x * x))
    return 0.5 * (1 + t) + 0.5 * x * (1 - t * t) * ROOT * (1 + 3 * CUBIC * x * x)


def heads_of(config: Config, rows, batch):
    """Return rows of C channels as (batch, head, position, width)."""
    shape = batch, -1, config.heads, config.head_width
    return rows.reshape(shape).transpose(0, 2, 1, 3)


def rows_of(heads):
    """Undo ``heads_of``."""
    batch, count, positions, width = heads.shape
    return heads.transpose(0, 2, 1, 3).reshape(batch * positions, count * width)


def attention(config: Config, qkv, batch):
    q, k, v = (heads_of(config, part, batch) for part in np.split(qkv, 3, axis=1))
    scores = q @ k.swapaxes(2, 3) / math.sqrt(config.head_width)
    scores[..., np.triu(np.ones(scores.shape[2:], bool), 1)] = -np.inf
    p = np.exp(scores - scores.max(-1, keepdims=True))
    p /= p.sum(-1, keepdims=True)
    return rows_of(p @ v), (q, k, v, p)


def attention_backward(config: Config, dout, out, kept):
    q, k, v, p = kept
    do, o = (heads_of(config, rows, len(q)) for rows in (dout, out))
    dp = do @ v.swapaxes(2, 3)
    ds = p * (dp - (do * o).sum(-1, keepdims=True)) / math.sqrt(config.head_width)
    parts = ds @ k, ds.swapaxes(2, 3) @ q, p.swapaxes(2, 3) @ do
    return np.concatenate(list(map(rows_of, parts)), axis=1)


def forward(config: Config, p, x, keep=exact):
    """Return the logits of tokens ``x``, (batch, positions), and what the backward pass needs.

    ``p``: the parameters by name."""
    (batch, length), kept = x.shape, []
    total = keep(p["wte"][x.ravel()] + np.tile(p["wpe"][:length], (batch, 1)))
    for i in range(config.layers):
        ln1, k1 = layernorm(total, p["ln1w"][i], p["ln1b"][i], keep)
        qkv = keep(ln1 @ p["qkvw"][i].T + p["qkvb"][i])
        atty, ka = attention(config, qkv, batch)
        atty = keep(atty)
        total = keep(total) + keep(atty @ p["attprojw"][i].T + p["attprojb"][i])
        ln2, k2 = layernorm(total, p["ln2w"][i], p["ln2b"][i], keep)
        fch = ln2 @ p["fcw"][i].T + p["fcb"][i]
        act = keep(gelu(fch))
        total = keep(total) + keep(act @ p["fcprojw"][i].T + p["fcprojb"][i])
        kept.append((ln1, k1, atty, ka, ln2, k2, keep(fch), act))
    lnf, kf = layernorm(total, p["lnfw"], p["lnfb"], keep)
    return keep(lnf @ p["wte"].T)[:, : config.vocabulary], (kept, lnf, kf)


def losses_of(logits, y):
    """Return each token's loss, and the logarithms of probabilities."""
    least = logits - logits.max(1, keepdims=True)
    logs = least - np.log(np.exp(least).sum(1, keepdims=True))
    return -logs[np.arange(y.size, dtype=np.intp), y.ravel()], logs


def loss_of(config: Config, flat, x, y):
    """Return the mean loss alone."""
    return losses_of(forward(config, config.tensors(flat), x)[0], y)[0].mean()


def loss_and_gradient(config: Config, flat, x, y, keep=exact):
    """Return the mean loss of tokens ``x``, (batch, positions), the gradient, and the logits.

    The gradient is one array, in the order of the parameters.
    """
    p, gradient = config.tensors(keep(flat)), np.zeros_like(flat)
    d, (batch, length) = config.tensors(gradient), x.shape
    logits, (kept, lnf, kf) = forward(config, p, x, keep)
    losses, logs = losses_of(logits, y)

    dlogits = np.exp(logs)
    dlogits[np.arange(y.size, dtype=np.intp), y.ravel()] -= 1
    dlogits = keep(dlogits / x.size)
    d["wte"][: config.vocabulary] = keep(dlogits.T @ lnf)
    dlnf = keep(dlogits @ p["wte"][: config.vocabulary])
    more, d["lnfw"][:], d["lnfb"][:] = layernorm_backward(dlnf, kf, p["lnfw"])
    dres = keep(more)
    for i in reversed(range(config.layers)):
        ln1, k1, atty, ka, ln2, k2, fch, act = kept[i]
        d["fcprojb"][i], d["fcprojw"][i] = dres.sum(0), dres.T @ act
        dfch = keep(dres @ p["fcprojw"][i] * gelu_slope(fch))
        d["fcb"][i], d["fcw"][i] = dfch.sum(0), dfch.T @ ln2
        dln2 = keep(dfch @ p["fcw"][i])
        more, d["ln2w"][i], d["ln2b"][i] = layernorm_backward(dln2, k2, p["ln2w"][i])
        dres = keep(dres + more)
        d["attprojb"][i], d["attprojw"][i] = dres.sum(0), dres.T @ atty
        dqkv = keep(attention_backward(config, keep(dres @ p["attprojw"][i]), atty, ka))
        d["qkvb"][i], d["qkvw"][i] = dqkv.sum(0), dqkv.T @ ln1
        dln1 = keep(dqkv @ p["qkvw"][i])
        more, d["ln1w"][i], d["ln1b"][i] = layernorm_backward(dln1, k1, p["ln1w"][i])
        dres = keep(dres + more)
    np.add.at(d["wte"], x.ravel(), dres)
    d["wpe"][:length] = dres.reshape(batch, length, -1).sum(0)
    return losses.mean(), keep(gradient), logits


def adamw(parameters, gradient, mean, square, step, rate=3e-3, beta1=0.9, beta2=0.999):
    """Update the parameters in place, without decay; ``step`` counts from 1."""
    mean += (1 - beta1) * (gradient - mean)
    square += (1 - beta2) * (gradient * gradient - square)
    root = np.sqrt(square / (1 - beta2**step))
    parameters -= rate / (1 - beta1**step) * mean / (root + 1e-8)
