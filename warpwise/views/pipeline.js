// The pipeline widget: over time, each stage with the copies into it and the products that use it,
// and the tensor cores with their gaps. The rule is that of model/pipeline.py.
import { percent, plural } from "./core.js";
import { is, legend, letters, line, n, rect, svg, text } from "./draw.js";
import { explore } from "./explore.js";

// Pixels: of a row, and of a bar; beside and above the rows; from which width on a bar has a number.
const ROW = 30;
const BAR = 21;
const LEFT = 84;
const RIGHT = 14;
const TOP = 22;
const NUMBERED = 13;

// When the copy and the product of each tile begin and end.
function trips({ tiles, stages, copy, product, path }) {
  const all = [];
  for (let k = 0; k < tiles; k++) {
    const last = all[k - 1];
    const free = k < stages ? 0 : all[k - stages].ends;
    const copies = Math.max(free, last ? last.copies + path : 0);
    const comes = copies + copy;
    const begins = Math.max(comes, last ? last.ends : 0);
    all.push({ k, stage: k % stages, copies, comes, begins, ends: begins + product });
  }
  return all;
}

// Ticks at round numbers, not more than the width has room for.
function ticks(most, room) {
  const least = (most * 34) / room;
  const by = [1, 2, 5, 10, 20, 50, 100, 200].find((one) => one >= least) ?? 500;
  return Array.from({ length: Math.floor(most / by) + 1 }, (_, k) => k * by);
}

// What sets the pace in the long run: [units for a tile, in words], the longest.
const paces = ({ stages, copy, product, path }) => [
  [product, "the products"],
  [path, "the path from memory"],
  [(copy + product) / stages, "the stages, for copies wait until one is free"],
];
const slowest = (all) => all.reduce((a, b) => (b[0] > a[0] ? b : a));

export function show(_, on, width) {
  const { tiles, stages, copy, product } = on;
  const all = trips({ ...on, path: Math.min(on.path, copy) });
  const total = all.at(-1).ends;
  const alone = tiles * (copy + product);
  const room = width - LEFT - RIGHT;
  const x = (units) => LEFT + (units * room) / alone;
  const y = (row) => TOP + row * ROW;
  const bar = (look, row, from, to, ...told) =>
    to > from
      ? rect(look, x(from), y(row), Math.max(1, x(to) - x(from) - 1), BAR, is(...told))
      : "";
  const during = (from, to) => `units ${from} to ${to}`;
  const number = (row, from, to, k, look) =>
    x(to) - x(from) < NUMBERED ? "" : text(look, (x(from) + x(to)) / 2, y(row) + 15, k);
  const rows = all.map(({ k, stage, copies, comes, begins, ends }) => [
    bar("one", stage, copies, comes, `tile ${k}`, "on its way", during(copies, comes)),
    number(stage, copies, comes, k, "inside"),
    bar(
      "faint",
      stage,
      comes,
      begins,
      `tile ${k}`,
      "there, and not yet used",
      during(comes, begins),
    ),
    bar("three", stage, begins, ends, `tile ${k}`, "in use", during(begins, ends)),
    number(stage, begins, ends, k, "inside"),
    bar("three", stages, begins, ends, `product ${k}`, during(begins, ends)),
    number(stages, begins, ends, k, "inside"),
  ]);
  const gaps = all
    .map(({ begins }, k) => [k ? all[k - 1].ends : 0, begins])
    .filter(([from, to]) => to > from);
  const waits = gaps.reduce((sum, [from, to]) => sum + to - from, 0);
  const foot = y(stages + 1);
  const [pace, why] = slowest(paces(on));
  const said = plural(total, "unit");
  const after = x(total) + 6 + letters(said, 13) < width;
  const key = legend(
    [
      ["one", "a copy, under way"],
      ["faint", "waits for its product"],
      ["three", "a product"],
      ["hatched", "tensor cores wait"],
    ],
    width,
    foot + 28,
  );
  const share = percent(tiles * product, total);
  return {
    picture: svg(width, foot + 28 + key.height, "Copies and products over time", [
      ticks(alone, room).map((units) => [
        line("rule", x(units), TOP - 4, x(units), foot),
        text("middle", x(units), foot + 15, units),
      ]),
      Array.from({ length: stages }, (_, k) => text("end", LEFT - 8, y(k) + 15, `stage ${k}`)),
      text("end", LEFT - 8, y(stages) + 15, "tensor cores"),
      rows,
      gaps.map(([from, to]) =>
        bar("hatched", stages, from, to, "tensor cores", "wait", during(from, to)),
      ),
      line("edge", x(total), TOP - 8, x(total), foot),
      text(after ? "strong" : "end strong", x(total) + (after ? 4 : -4), TOP - 10, said),
      key.shapes,
    ]),
    rows: [
      ["total", total, `units; ${alone} with one stage`],
      ["tensor cores work", share, "of the time"],
      ["they wait", waits, waits === 1 ? "unit" : "units"],
    ],
    text:
      `${tiles} tiles in ${plural(stages, "stage")} take ${said}; the tensor cores work ${share} of them. ` +
      `In the long run a tile takes ${plural(n(pace), "unit")}, set by ${why}. ` +
      "A model, in units that stand for no clock: nothing was measured.",
    limits: { path: [1, copy] },
  };
}

export default explore("ww-pipeline", show);
