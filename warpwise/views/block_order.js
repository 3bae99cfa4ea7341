// The block order widget: a product's blocks in the order of their numbers, one wave of them, and
// the panels of A and of B that it reads. The orders are those of model/block_order.py.
import { plural, thousands } from "./core.js";
import { cells, is, legend, n, rect, svg, text, worded } from "./draw.js";
import { explore } from "./explore.js";

// Pixels: the panels' strips, with a gap; above them the words; the widest cell.
const STRIP = 16;
const GAP = 6;
const ABOVE = 24;
const WIDEST = 11;

function inGroups(side, group, number) {
  const first = Math.floor(number / (group * side)) * group;
  const rows = Math.min(group, side - first);
  const within = number - first * side;
  return [first + (within % rows), Math.floor(within / rows)];
}

function alongCurve(side, number) {
  let [row, column] = [0, 0];
  for (let size = 1; size < side; size *= 2) {
    const right = (number >> 1) & 1;
    const down = (number ^ right) & 1;
    if (!down) {
      if (right) [row, column] = [size - 1 - row, size - 1 - column];
      [row, column] = [column, row];
    }
    [row, column] = [row + size * down, column + size * right];
    number >>= 2;
  }
  return [row, column];
}

const places = (side, { order, group }) =>
  Array.from({ length: side * side }, (_, number) =>
    order === "hilbert"
      ? alongCurve(side, number)
      : inGroups(side, order === "grouped" ? group : 1, number),
  );

const distinct = (wave, axis) => [...new Set(wave.map((place) => place[axis]))];
const reads = (wave) => distinct(wave, 0).length + distinct(wave, 1).length;

function waves(all, slots) {
  const found = [];
  for (let first = 0; first < all.length; first += slots)
    found.push(all.slice(first, first + slots));
  return found;
}

export function show({ side }, on, width) {
  const all = places(side, on);
  const cut = waves(all, on.slots);
  const at = Math.min(on.wave, cut.length);
  const now = cut[at - 1];
  const before = all.slice(0, (at - 1) * on.slots);
  const cell = Math.min(WIDEST, Math.floor((width - STRIP - GAP) / side));
  const left = STRIP + GAP;
  const top = ABOVE + STRIP + GAP;
  const room = side * cell;
  const block = (look) => (place) =>
    rect(look, left + place[1] * cell, top + place[0] * cell, cell - 1, cell - 1);
  const ofA = (row) =>
    rect("two", 0, top + row * cell, STRIP, cell - 1, is(`panel ${row} of A`, "read"));
  const ofB = (column) =>
    rect("two", left + column * cell, ABOVE, cell - 1, STRIP, is(`panel ${column} of B`, "read"));
  const rows = distinct(now, 0);
  const columns = distinct(now, 1);
  const least = n(2 * Math.sqrt(now.length));
  const sum = cut.reduce((so, wave) => so + reads(wave), 0);
  const key = legend(
    [
      ["one", "in this wave"],
      ["faint", "done"],
      ["two", "a panel that it reads"],
    ],
    width,
    top + room + 12,
  );
  const numbered = new Map(all.map(([row, column], number) => [row * side + column, number]));
  const words = (k) => {
    const wave = Math.floor(numbered.get(k) / on.slots) + 1;
    const when = wave < at ? "done" : wave === at ? "in this wave" : `in wave ${wave}`;
    return worded(`block ${numbered.get(k)}`, when);
  };
  return {
    picture: svg(width, top + room + 12 + key.height, "Blocks of a product, wave by wave", [
      text("", left, 12, "panels of B"),
      rect("edge", 0.5, top - 0.5, STRIP, room),
      rect("edge", left - 0.5, ABOVE + 0.5, room, STRIP),
      rows.map(ofA),
      columns.map(ofB),
      rect("edge", left - 0.5, top - 0.5, room, room),
      before.map(block("faint")),
      now.map(block("one")),
      key.shapes,
    ]),
    rows: [
      ["panels", thousands(reads(now)), `of at least ${least}`],
      ["in all waves", thousands(sum), plural(cut.length, "wave")],
    ],
    text:
      `Wave ${at} of ${cut.length}: ${plural(now.length, "block")} in ${plural(rows.length, "row")} and ` +
      `${plural(columns.length, "column")} read ${reads(now)} panels of A and B; a square would read ${least}. ` +
      `All waves read ${thousands(sum)}.`,
    limits: { wave: [1, cut.length] },
    disabled: { group: on.order !== "grouped" },
    marks: () => cells(left, top, cell, cell, side, side * side, words),
  };
}

export default explore("ww-block_order", show);
