// The tiles widget: one step of a tiled matrix product, the tiles in shared memory, and the sectors
// that A's tile takes.
import { plural, thousands } from "./core.js";
import { cells, is, legend, line, moves, rect, svg, text, worded } from "./draw.js";
import { explore } from "./explore.js";

// Rows of a tile that are drawn.
const SHOWN = 8;

// Rows, or columns, that lie inside the matrix, of a tile at place i along a side.
const inside = (i, tile, n) => Math.min(tile, n - i * tile);

// Elements that steps 1 to last read from A and B, and what as many multiply-adds read where every
// thread fetches its own.
function reads(n, tile, last) {
  const side = Math.ceil(n / tile);
  let tiled = 0;
  let naive = 0;
  for (let s = 0; s < last; s++) {
    const [row, column, k] = place(s, side).map((i) => inside(i, tile, n));
    tiled += row * k + k * column;
    naive += 2 * row * column * k;
  }
  return { tiled, naive };
}

// A step's place: row and column of the block's tile in C, and the tile along k.
const place = (s, side) => [Math.floor(s / side / side), Math.floor(s / side) % side, s % side];

// Sectors of each row of A's tile, and of each request: a warp has one row of a tile of 32, two of
// a tile of 16.
function sectors([row, , k], n, tile, pitch, { item, sector, warp }) {
  const rows = [];
  const requests = [];
  const high = inside(row, tile, n);
  const wide = inside(k, tile, n);
  for (let r = 0; r < high; r++) {
    const first = ((row * tile + r) * pitch + k * tile) * item;
    const from = Math.floor(first / sector);
    const to = Math.floor((first + wide * item - 1) / sector);
    rows.push({ first, from, count: to - from + 1 });
    const request = (requests[Math.floor((r * tile) / warp)] ??= new Set());
    for (let s = from; s <= to; s++) request.add(s);
  }
  return {
    rows,
    wide,
    total: requests.reduce((sum, set) => sum + set.size, 0),
    requests: requests.length,
  };
}

// A matrix cut into tiles; the one at row i and column j has the look. Of C, those before it are
// done.
function matrix(name, x, y, size, n, tile, look, i, j) {
  const unit = size / n;
  const pitch = unit * tile;
  const high = unit * inside(i, tile, n);
  const top = y + i * pitch;
  const shapes = [];
  if (name === "C")
    shapes.push(rect("faint", x, y, size, i * pitch), rect("faint", x, top, j * pitch, high));
  for (let at = pitch; at < size - 0.01; at += pitch)
    shapes.push(
      line("rule", x + at, y, x + at, y + size),
      line("rule", x, y + at, x + size, y + at),
    );
  return [
    shapes,
    rect(look, x + j * pitch, top, unit * inside(j, tile, n), high, moves(name)),
    rect("edge", x, y, size, size),
    text("strong middle", x + size / 2, y - 7, name),
  ];
}

// The tiles of a matrix in words; of C, those before the one under way are done.
const named = (name, x, y, pitch, side, i, j) =>
  cells(x, y, pitch, pitch, side, side * side, (k) => {
    const now = k === i * side + j ? "under way" : name === "C" && k < i * side + j ? "done" : "";
    return worded(`tile ${Math.floor(k / side)}, ${k % side} of ${name}`, now);
  });

// Rows of A's tile in memory: the sectors that move, and the part of them that is used.
function memory({ rows, wide }, { item, sector }, x, y, width) {
  const left = x + 46;
  const unit = Math.min(56, (width - x - 66) / Math.max(...rows.map((row) => row.count)));
  const end = y + 20 * Math.min(rows.length, SHOWN);
  const more =
    rows.length > SHOWN ? text("", left, end + 14, `and ${rows.length - SHOWN} rows more`) : "";
  return [
    text("strong", x, y - 11, "Tile of A in memory, by sectors"),
    more,
    rows.slice(0, SHOWN).map(({ first, from, count }, i) => {
      const top = y + 20 * i;
      const shapes = [
        text("", x, top + 12, `row ${i}`),
        text("", left + unit * count + 8, top + 12, count),
      ];
      const strip = (look, words) =>
        [...Array(count).keys()].map((s) =>
          rect(look, left + s * unit, top, unit, 15, words ? words(s) : ""),
        );
      const used = (s) =>
        Math.min(first + wide * item, (from + s + 1) * sector) -
        Math.max(first, (from + s) * sector);
      return [
        shapes,
        strip("hatched"),
        rect("one", left + unit * (first / sector - from), top, (unit * wide * item) / sector, 15),
        strip("tiles-sector", (s) =>
          is(`sector ${from + s}, row ${i}`, `${used(s)} of ${sector} bytes used`),
        ),
      ];
    }),
  ];
}

export function show(data, { n, tile: words, wider, step }, width) {
  const tile = +words;
  const side = Math.ceil(n / tile);
  const steps = side ** 3;
  const s = Math.min(step, steps);
  const at = place(s - 1, side);
  const [row, column, k] = at;
  const far = reads(n, tile, s);
  const taken = sectors(at, n, tile, n + wider, data);
  const big = width > 560;
  const size = big ? 150 : Math.min(170, (width - 26) / 2);
  const right = size + 24;
  const low = size + 52;
  const end = low + size;
  const [x, y] = big ? [2 * size + 56, 34] : [0, end + 50];
  const foot = big ? end : y + 185;
  const key = legend(
    [
      ["two", "under way"],
      ["faint", "done"],
      ["hatched", "moved, not used"],
    ],
    width,
    foot + 18,
  );
  // Elements read by the tiled and by the naive kernel: so far, and in all.
  const bars = [
    ["tiled", far.tiled, 2 * n * n * side],
    ["naive", far.naive, 2 * n ** 3],
  ];
  const bar = (look, top, count, name, now) =>
    rect(
      look,
      x + 46,
      top,
      ((width - x - 50) * count) / bars[1][2],
      15,
      is(name, `${thousands(now)} elements read`),
    );
  const drawn = bars.map(([name, now, all], i) => [
    text("", x, y + 220 + 22 * i, name),
    bar("empty", y + 208 + 22 * i, all, name, now),
    bar("tiles-read", y + 208 + 22 * i, now, name, now),
  ]);
  // Where each matrix stands, and the row and column of its tile.
  const pitch = (size / n) * tile;
  const stands = [
    ["B", right, 20, k, column],
    ["A", 1, low, row, k],
    ["C", right, low, row, column],
  ];
  // Each tile is copied from its matrix to shared memory.
  const copy = (look, name, i, [, x, y, a, b]) =>
    rect(
      look,
      1 + 48 * i,
      58,
      42,
      42,
      is(`tile ${a}, ${b} of ${name}`, "in shared memory") +
        moves(`${name} ${a} ${b}`, [x + b * pitch, y + a * pitch, pitch, pitch]),
    );
  const shapes = [
    text("strong", 1, 48, "Shared memory"),
    copy("one", "A", 0, stands[1]),
    copy("three", "B", 1, stands[0]),
    text("", 1, 120, `${thousands(2 * tile * tile * data.item)} bytes`),
    stands.map(([name, x, y, i, j]) =>
      matrix(name, x, y, size, n, tile, { A: "one", B: "three", C: "two" }[name], i, j),
    ),
    memory(taken, data, x, y, width),
    big ? [text("strong", x, y + 198, "Elements read"), drawn] : "",
    key.shapes,
  ];
  const less = +(far.naive / far.tiled).toFixed(1);
  const each = plural(taken.requests, "request");
  return {
    picture: svg(width, foot + 18 + key.height, "A matrix product in tiles", shapes),
    rows: [
      ...bars.map(([name, now, all]) => [
        `elements read, ${name}`,
        thousands(now),
        `of ${thousands(all)}`,
      ]),
      ["sectors of this tile of A", taken.total, `in ${each}`],
    ],
    text:
      `Step ${thousands(s)} of ${thousands(steps)}: tile ${row}, ${k} of A and ${k}, ${column} of B are in shared memory, for ${row}, ${column} of C. ` +
      `${thousands(far.tiled)} elements read so far, by a naive kernel ${less} times as many. This tile of A takes ${plural(taken.total, "sector")} in ${each}.`,
    limits: { n: [tile, data.most * tile], step: [1, steps] },
    marks: () => stands.flatMap(([name, x, y, i, j]) => named(name, x, y, pitch, side, i, j)),
  };
}

export default explore("ww-tiles", show);
