// The swizzle widget: a tile as a kernel names it, and as it lies in shared memory, chunk by chunk.
// The rule is that of model/swizzle.py.
import { plural } from "./core.js";
import { is, legend, press, rect, svg, text } from "./draw.js";
import { explore } from "./explore.js";

// BYTES: of a chunk. GROUPS: of four banks, which a line of 128 bytes fills.
const BYTES = 16;
const GROUPS = 8;
// Pixels: of a row; the widest chunk; above the cells; of the numbers beside them; between the parts.
const HIGH = 15;
const WIDEST = 42;
const ABOVE = 40;
const BESIDE = 22;
const BETWEEN = 26;

// The line and the group of banks of a chunk.
function place(row, chunk, { across, bits }) {
  const at = row * across + chunk;
  const line = Math.floor(at / GROUPS);
  return { line, group: (at % GROUPS) ^ (line & bits) };
}

// All chunks, in the order in which they are read.
function chunks({ rows, across }, way) {
  const all = Array.from({ length: rows * across }, (_, k) =>
    way === "down" ? [k % rows, Math.floor(k / rows)] : [Math.floor(k / across), k % across],
  );
  return all.map(([row, chunk], k) => ({ row, chunk, phase: Math.floor(k / 8) + 1 }));
}

// How many of a phase's chunks are in each group of banks, and the wavefront of each chunk.
function serve(phase) {
  const each = Array(GROUPS).fill(0);
  const waves = phase.map(({ group }) => ++each[group]);
  return { each, waves, most: Math.max(...each) };
}

const banks = (group) => `banks ${4 * group} to ${4 * group + 3}`;

// The rule in words: of a row, where that is as long as the swizzle, or else of a line of banks.
function rule(mode, row) {
  if (!mode) return "Without a swizzle chunks lie in their order";
  const into = mode / BYTES;
  const which = row < 128 ? `r div ${128 / row} mod ${into}` : `r mod ${into}`;
  if (mode === row)
    return `A swizzle of ${mode} bytes puts chunk c of row r at place c XOR (${which}) of its row`;
  const short = mode < row ? "; TMA takes no rows longer than that" : "";
  return `A swizzle of ${mode} bytes puts place g of line l at g XOR (l mod ${into})${short}`;
}

export function show({ rows }, { mode, row, way, phase }, width) {
  const across = row / BYTES;
  const bits = Math.max(0, mode / BYTES - 1);
  const tile = { rows, across, bits };
  const all = chunks(tile, way).map((one) => ({ ...one, ...place(one.row, one.chunk, tile) }));
  const phases = all.length / 8;
  const now = Math.min(phase, phases);
  const of = (k) => all.filter((one) => one.phase === k);
  const read = of(now);
  const { each, waves, most } = serve(read);
  const sum = Array.from({ length: phases }, (_, k) => serve(of(k + 1)).most).reduce(
    (a, b) => a + b,
  );
  // Tile and memory stand side by side while there is room.
  const beside = width >= 480;
  const room = beside ? (width - BETWEEN - 2 * BESIDE) / 2 : width - BESIDE;
  const wide = Math.min(WIDEST, Math.floor(room / GROUPS));
  const left = beside ? BESIDE + GROUPS * wide + BETWEEN + BESIDE : BESIDE;
  const low = beside ? 0 : ABOVE + rows * HIGH + 20;
  const lines = (rows * across) / GROUPS;
  const foot = low + ABOVE + lines * HIGH + 24;
  const drawn = all.map((one) => {
    const wave = one.phase === now ? waves[read.indexOf(one)] : 0;
    const look = wave > 1 ? "two" : wave ? "one" : "empty";
    const when = wave ? `wavefront ${wave}` : `phase ${one.phase}`;
    const what = `row ${one.row}, chunk ${one.chunk}`;
    const told = press({ phase: one.phase }) + is(what, `line ${one.line}`, banks(one.group), when);
    const [x, y] = [left + one.group * wide, low + ABOVE + one.line * HIGH];
    return [
      rect(look, BESIDE + one.chunk * wide, ABOVE + one.row * HIGH, wide - 1, HIGH - 1, told),
      rect(look, x, y, wide - 1, HIGH - 1, told),
      text(wave ? "inside" : "middle small", x + wide / 2, y + 11, `${one.row}.${one.chunk}`),
    ];
  });
  const counts = each.map((count, group) => {
    const [x, look] = [left + group * wide, count > 1 ? "two" : count ? "one" : "empty"];
    const told = is(banks(group), `${count} of the 8 chunks`);
    return [
      rect(look, x, foot, wide - 1, HIGH, told),
      text(count ? "inside strong" : "middle small", x + wide / 2, foot + 11.5, count),
    ];
  });
  const numbers = (x, top, count) =>
    Array.from({ length: count }, (_, k) => text("end small", x - 5, top + k * HIGH + 11, k));
  const middles = (x, y, count, said) =>
    Array.from({ length: count }, (_, k) => text("middle small", x + (k + 0.5) * wide, y, said(k)));
  const key = legend(
    [
      ["one", "in the first wavefront"],
      ["two", "in a later one"],
      ["empty", "in another phase"],
    ],
    width,
    Math.max(foot, ABOVE + rows * HIGH) + 30,
  );
  const busy = each.indexOf(most);
  const where =
    most > 1
      ? `${most < 8 ? most : "all"} of them lie in ${banks(busy)}`
      : "each lies in banks of its own";
  const what =
    way === "down"
      ? `chunk ${read[0].chunk} of rows ${read[0].row} to ${read[7].row}`
      : `8 chunks from row ${read[0].row}, chunk ${read[0].chunk} on`;
  return {
    picture: svg(
      width,
      Math.max(foot, ABOVE + rows * HIGH) + 30 + key.height,
      "A tile and its banks",
      [
        text("strong", 0, 13, "The tile: row, chunk"),
        middles(BESIDE, ABOVE - 6, across, (k) => k),
        numbers(BESIDE, ABOVE, rows),
        text("strong", left - BESIDE, low + 13, "Shared memory: line, banks"),
        middles(left, low + ABOVE - 6, GROUPS, (k) => `${4 * k}–${4 * k + 3}`),
        numbers(left, low + ABOVE, lines),
        drawn,
        text("small", left, foot - 6, "chunks of this phase in each"),
        counts,
        key.shapes,
      ],
    ),
    rows: [
      ["wavefronts", most, `for phase ${now}`],
      ["all phases", sum, `of at least ${phases}`],
    ],
    text:
      `${rule(+mode, +row)}. Phase ${now} of ${phases} reads ${what}: ${where}, so it takes ` +
      `${plural(most, "wavefront")}. All phases take ${sum}.`,
    limits: { phase: [1, phases] },
  };
}

export default explore("ww-swizzle", show);
