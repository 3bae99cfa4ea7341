// The backward pass of attention in tiles: the square of scores, what a tile reads on its left and
// above, and on its right and below the sums, which stay with a block or are added to memory.
import { plural } from "./core.js";
import { cells, is, legend, moves, oblong, path, press, rect, svg, text, worded } from "./draw.js";
import { explore } from "./explore.js";

// Pixels: of what is read; of sums; left of the square and above it; from the square to a strip.
const THIN = 14;
const WIDE = 22;
const LEFT = 78;
const TOP = 44;
const GAP = 7;
const LINE = 20; // of the list of what is computed

// What is computed in a tile, and of which sums it is a part.
const DOES = [
  ["P = exp(τ Q Kᵀ − L)", ""],
  ["dV += Pᵀ dO", "keys"],
  ["dP = dO Vᵀ", ""],
  ["dS = P (dP − Δ)", ""],
  ["dK += τ dSᵀ Q", "keys"],
  ["dQ += τ dS K", "queries"],
];

// Where the block is: of its own tile, and of the other side's.
function place({ owner, tiles, step }) {
  const [own, other] = [Math.floor((step - 1) / tiles), (step - 1) % tiles];
  const ofKeys = owner === "keys";
  return { own, other, ofKeys, i: ofKeys ? other : own, j: ofKeys ? own : other };
}

// A strip of sums beside the square: along(k) is where tile k stands, and a bar grows with the
// parts that are in it. The block's own go to memory once, when they are whole.
function sums(name, tiles, along, kept, { own, other }) {
  return Array.from({ length: tiles }, (_, k) => {
    const parts = kept ? (k < own ? tiles : k > own ? 0 : other + 1) : own + (k <= other);
    const { x, y, w, h, grow, at } = along(k, parts / tiles);
    const where = kept && parts < tiles ? "in registers" : parts ? "in memory" : "";
    const look = kept ? (parts < tiles ? "one done" : "one") : "two";
    return [
      rect("empty", x, y, w, h, is(`${name} ${k + 1}`, `${parts} of ${tiles} parts`, where)),
      parts ? rect(look, ...grow) : "",
      text("middle small", ...at, parts),
    ];
  });
}

// What the tile at i, j reads: a part of the strip above the square, and one of that on its left.
function reads(tiles, side, i, j) {
  const size = side / tiles;
  const [top, left] = [TOP - GAP - THIN, LEFT - GAP - THIN];
  const [above, beside] = ["K and V", "Q, dO, L and Δ"];
  const all = plural(tiles, "tile");
  return [
    rect("empty", LEFT, top, side, THIN, is(above, all)),
    rect("three", LEFT + size * j, top, size, THIN, is(above, `tile ${j + 1}`) + moves("K")),
    text("end", LEFT - 6, top + 11, "K, V"),
    rect("empty", left, TOP, THIN, side, is(beside, all)),
    rect("three", left, TOP + size * i, THIN, size, is(beside, `tile ${i + 1}`) + moves("Q")),
    text("", 0, TOP + 12, "Q, dO,"),
    text("", 0, TOP + 28, "L, Δ"),
  ];
}

export function show(data, values, width) {
  const { tiles } = values;
  const step = Math.min(values.step, tiles * tiles);
  const at = place({ ...values, step });
  const { own, other, ofKeys, i, j } = at;
  const side = Math.min(280, width - LEFT - 60);
  const size = side / tiles;
  const x = (k) => LEFT + size * k;
  const y = (k) => TOP + size * k;
  const right = LEFT + side + GAP;
  const below = TOP + side + GAP;
  const across = (k, share) => ({
    ...{ x: right, y: y(k), w: WIDE, h: size, at: [right + WIDE + 9, y(k) + size / 2 + 4] },
    grow: [right, y(k), WIDE * share, size],
  });
  const down = (k, share) => ({
    ...{ x: x(k), y: below, w: size, h: WIDE, at: [x(k) + size / 2, below + WIDE + 13] },
    grow: [x(k), below, size, WIDE * share],
  });
  let done = "";
  const squares = Array.from({ length: tiles * tiles }, (_, k) => {
    const [row, column] = [Math.floor(k / tiles), k % tiles];
    const turn = ofKeys ? column * tiles + row : k;
    if (turn < step - 1) done += oblong(x(column), y(row), size, size);
    return rect("empty", x(column), y(row), size, size, press({ step: turn + 1 }));
  });
  const said = (k) => {
    const [row, column] = [Math.floor(k / tiles), k % tiles];
    const turn = (ofKeys ? column * tiles + row : k) + 1;
    const what = turn < step ? "made, used and forgotten" : turn > step ? "" : "P and dS are here";
    return worded(`query tile ${row + 1}`, `key tile ${column + 1}`, what);
  };
  const look = legend(
    [
      ["two", "P and dS; added to memory"],
      ["three", "read"],
      ["one", "sums that the block keeps"],
      ["faint", "forgotten"],
    ],
    width,
    below + WIDE + 26,
  );
  const foot = below + WIDE + 34 + look.height;
  const [listX, listY] = width > 560 ? [right + 88, TOP + 12] : [0, foot + 18];
  const list = DOES.map(([what, whose], k) => {
    const top = listY + 12 + LINE * k;
    const mark = whose && (whose === values.owner ? "one" : "two");
    return [mark ? rect(mark, listX, top, 12, 12) : "", text("", listX + 20, top + 10.5, what)];
  });
  const added = (ofKeys ? 1 : 2) * step;
  const whole = own + (other === tiles - 1);
  const kept = (ofKeys ? 2 : 1) * whole;
  const [mine, stay, others, are] = ofKeys
    ? ["dK and dV", "stay", "dQ", "part of dQ is"]
    : ["dQ", "stays", "dK and dV", "parts of dK and dV are"];
  return {
    picture: svg(width, listX ? foot : listY + 14 + 6 * LINE, "The backward pass in tiles", [
      text("strong", 0, 12, `Scores: ${tiles} × ${tiles} tiles`),
      path("faint", done),
      squares,
      rect("two", x(j), y(i), size, size, moves("P")),
      reads(tiles, side, i, j),
      sums("dQ", tiles, across, !ofKeys, at),
      text("", right, TOP - GAP - 3, "dQ"),
      sums("dK and dV", tiles, down, ofKeys, at),
      text("end", LEFT - 6, below + 15, "dK, dV"),
      look.shapes,
      text("strong", listX, listY, "In each tile"),
      `<g class="key">${list.flat().join("")}</g>`,
    ]),
    rows: [
      ["tiles of P at a time", 1, `of ${tiles * tiles}`],
      ["tiles added to memory", added, `parts of ${others}`],
      ["tiles written once", kept, `of ${mine}, whole`],
    ],
    text:
      `Tile ${step} of ${tiles * tiles}: queries ${i + 1}, keys ${j + 1}. ` +
      "P is recomputed, dS is made from it, and both are forgotten. " +
      `${mine} of this block ${stay} with it; its ${are} added to memory, ` +
      `${plural(added, "tile")} so far.`,
    limits: { step: [1, tiles * tiles] },
    marks: () => cells(LEFT, TOP, size, size, tiles, tiles * tiles, said),
  };
}

export default explore("ww-flash_backward", show);
