"""The same step in NumPy, in any precision: what the kernels are held against.

A name such as ``dqkv`` is the gradient of the loss with respect to ``qkv``.
"""

from __future__ import annotations

import math

import numpy as np

from warpwise.gpt2.config import Config

ROOT, CUBIC = math.sqrt(2 / math.pi), 0.044715


def layernorm(x, weight, bias):
    """Return the result, and what the backward pass needs."""
    far = x - x.mean(-1, keepdims=True)
    rstd = 1 / np.sqrt((far * far).mean(-1, keepdims=True) + 1e-5)
    return far * rstd * weight + bias, (far * rstd, rstd)


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


def attention_backward(config: Config, dout, kept):
    q, k, v, p = kept
    do = heads_of(config, dout, len(q))
    dp = do @ v.swapaxes(2, 3)
    ds = p * (dp - (dp * p).sum(-1, keepdims=True)) / math.sqrt(config.head_width)
    parts = ds @ k, ds.swapaxes(2, 3) @ q, p.swapaxes(2, 3) @ do
    return np.concatenate(list(map(rows_of, parts)), axis=1)


def forward(config: Config, p, x):
    """Return the logits of tokens ``x``, (batch, positions), and what the backward pass needs.

    ``p``: the parameters by name."""
    (batch, length), kept = x.shape, []
    residual = p["wte"][x.ravel()] + np.tile(p["wpe"][:length], (batch, 1))
    for i in range(config.layers):
        ln1, k1 = layernorm(residual, p["ln1w"][i], p["ln1b"][i])
        atty, ka = attention(config, ln1 @ p["qkvw"][i].T + p["qkvb"][i], batch)
        residual = residual + atty @ p["attprojw"][i].T + p["attprojb"][i]
        ln2, k2 = layernorm(residual, p["ln2w"][i], p["ln2b"][i])
        fch = ln2 @ p["fcw"][i].T + p["fcb"][i]
        act = gelu(fch)
        residual = residual + act @ p["fcprojw"][i].T + p["fcprojb"][i]
        kept.append((ln1, k1, atty, ka, ln2, k2, fch, act))
    lnf, kf = layernorm(residual, p["lnfw"], p["lnfb"])
    return (lnf @ p["wte"].T)[:, : config.vocabulary], (kept, lnf, kf)


def losses_of(logits, y):
    """Return each token's loss, and the logarithms of probabilities."""
    least = logits - logits.max(1, keepdims=True)
    logs = least - np.log(np.exp(least).sum(1, keepdims=True))
    return -logs[np.arange(y.size, dtype=np.intp), y.ravel()], logs


def loss_of(config: Config, flat, x, y):
    """Return the mean loss alone."""
    return losses_of(forward(config, config.tensors(flat), x)[0], y)[0].mean()


def loss_and_gradient(config: Config, flat, x, y):
    """Return the mean loss of tokens ``x``, (batch, positions), the gradient, and the logits.

    The gradient is one array, in the order of the parameters.
    """
    p, gradient = config.tensors(flat), np.zeros_like(flat)
    d, (batch, length) = config.tensors(gradient), x.shape
    logits, (kept, lnf, kf) = forward(config, p, x)
    losses, logs = losses_of(logits, y)

    dlogits = np.exp(logs)
    dlogits[np.arange(y.size, dtype=np.intp), y.ravel()] -= 1
    dlogits /= x.size
    d["wte"][: config.vocabulary] = dlogits.T @ lnf
    dlnf = dlogits @ p["wte"][: config.vocabulary]
    dres, d["lnfw"][:], d["lnfb"][:] = layernorm_backward(dlnf, kf, p["lnfw"])
    for i in reversed(range(config.layers)):
        ln1, k1, atty, ka, ln2, k2, fch, act = kept[i]
        d["fcprojb"][i], d["fcprojw"][i] = dres.sum(0), dres.T @ act
        dfch = dres @ p["fcprojw"][i] * gelu_slope(fch)
        d["fcb"][i], d["fcw"][i] = dfch.sum(0), dfch.T @ ln2
        more, d["ln2w"][i], d["ln2b"][i] = layernorm_backward(dfch @ p["fcw"][i], k2, p["ln2w"][i])
        dres = dres + more
        d["attprojb"][i], d["attprojw"][i] = dres.sum(0), dres.T @ atty
        dqkv = attention_backward(config, dres @ p["attprojw"][i], ka)
        d["qkvb"][i], d["qkvw"][i] = dqkv.sum(0), dqkv.T @ ln1
        more, d["ln1w"][i], d["ln1b"][i] = layernorm_backward(dqkv @ p["qkvw"][i], k1, p["ln1w"][i])
        dres = dres + more
    np.add.at(d["wte"], x.ravel(), dres)
    d["wpe"][:length] = dres.reshape(batch, length, -1).sum(0)
    return losses.mean(), gradient, logits


def adamw(parameters, gradient, mean, square, step, rate=3e-3, beta1=0.9, beta2=0.999):
    """Update the parameters in place, without decay; ``step`` counts from 1."""
    mean += (1 - beta1) * (gradient - mean)
    square += (1 - beta2) * (gradient * gradient - square)
    root = np.sqrt(square / (1 - beta2**step))
    parameters -= rate / (1 - beta1**step) * mean / (root + 1e-8)
