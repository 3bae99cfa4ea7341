"""Overlap of rotated boxes: each thread clips one box by the edges of another, corner by corner."""

import math

import numpy as np

from warpwise import cuda

ROOM = 32  # two coordinates of at most 16 corners
N, M = 24, 20


@cuda.jit(device=True)
def corners_of(box, corners):
    half_w, half_h = box[2] / 2, box[3] / 2
    c, s = math.cos(box[4]), math.sin(box[4])
    for k in range(4):
        x = half_w if k == 0 or k == 3 else -half_w
        y = half_h if k < 2 else -half_h
        corners[2 * k] = box[0] + x * c - y * s
        corners[2 * k + 1] = box[1] + x * s + y * c


@cuda.jit(device=True)
def side(ax, ay, bx, by, px, py):
    return (bx - ax) * (py - ay) - (by - ay) * (px - ax)


@cuda.jit(device=True)
def put_crossing(out, count, px, py, qx, qy, p, q):
    t = p / (p - q)
    out[2 * count] = px + t * (qx - px)
    out[2 * count + 1] = py + t * (qy - py)
    return count + 1


@cuda.jit(device=True)
def clipped(polygon, count, ax, ay, bx, by, out):
    kept = 0
    for k in range(count):
        n = k + 1 if k + 1 < count else 0
        px, py = polygon[2 * k], polygon[2 * k + 1]
        qx, qy = polygon[2 * n], polygon[2 * n + 1]
        p, q = side(ax, ay, bx, by, px, py), side(ax, ay, bx, by, qx, qy)
        if p >= 0:
            out[2 * kept] = px
            out[2 * kept + 1] = py
            kept += 1
        if (p > 0 and q < 0) or (p < 0 and q > 0):
            kept = put_crossing(out, kept, px, py, qx, qy, p, q)
    return kept


@cuda.jit(device=True)
def area_of(polygon, count):
    twice = np.float32(0)
    k = 1
    while k + 1 < count:
        twice += side(
            polygon[0],
            polygon[1],
            polygon[2 * k],
            polygon[2 * k + 1],
            polygon[2 * k + 2],
            polygon[2 * k + 3],
        )
        k += 1
    return twice / 2


@cuda.jit(device=True)
def overlap(a, b):
    polygon = cuda.local.array(ROOM, np.float32)
    other = cuda.local.array(ROOM, np.float32)
    edges = cuda.local.array(8, np.float32)
    corners_of(a, polygon)
    corners_of(b, edges)
    count = 4
    for k in range(4):
        n = (k + 1) % 4
        count = clipped(
            polygon, count, edges[2 * k], edges[2 * k + 1], edges[2 * n], edges[2 * n + 1], other
        )
        if count < 3:
            return np.float32(0)
        for c in range(2 * count):
            polygon[c] = other[c]
    return area_of(polygon, count)


@cuda.jit
def rotated_iou(boxes, queries, iou):
    i, j = cuda.grid(2)
    if i < boxes.shape[0] and j < queries.shape[0]:
        shared = overlap(boxes[i], queries[j])
        total = boxes[i, 2] * boxes[i, 3] + queries[j, 2] * queries[j, 3]
        iou[i, j] = shared / (total - shared)


def check():
    rng = np.random.default_rng(5)
    boxes = random_boxes(rng, N)
    queries = np.concatenate([boxes[:2], random_boxes(rng, M - 2)])
    iou = np.zeros((N, M), np.float32)
    rotated_iou[(3, 3), (8, 8)](boxes, queries, iou)
    assert np.allclose(iou[[0, 1], [0, 1]], 1, atol=1e-4)
    inside = np.abs(sampled(boxes, queries) - iou)
    assert inside.max() < 0.05 and (iou > 0.05).sum() > 20


def random_boxes(rng, count):
    centre, size = rng.uniform(0, 4, (count, 2)), rng.uniform(1, 4, (count, 2))
    return np.column_stack([centre, size, rng.uniform(-3, 3, count)]).astype(np.float32)


def sampled(boxes, queries):
    """Estimate the same from the points of a fine lattice that lie in both boxes."""
    axis = np.linspace(-3, 7, 100)
    x, y = np.meshgrid(axis, axis)
    a, b = (np.array([in_box(box, x, y) for box in them]) for them in (boxes, queries))
    both = np.einsum("aij,bij->ab", a, b)
    return both / (a.sum((1, 2))[:, None] + b.sum((1, 2)) - both)


def in_box(box, x, y):
    x, y = x - box[0], y - box[1]
    c, s = np.cos(box[4]), np.sin(box[4])
    return ((abs(x * c + y * s) <= box[2] / 2) & (abs(y * c - x * s) <= box[3] / 2)).astype(float)
