// Fragments: the matrices A, B and C of a product on tensor cores, each element with its lane.
import { plural } from "./core.js";
import { is, legend, press, rect, svg, text } from "./draw.js";
import { explore } from "./explore.js";

const ROWS = 16;
const COLUMNS = 8;
const GAP = 18;
const TOP = 16;

// The lane, the register and the place in it of an element. pair: elements of a register. Along k,
// four lanes hold neighbours, and the next register goes on behind them.
const along = (k, pair) => ({
  q: Math.floor(k / pair) % 4,
  on: Math.floor(k / pair / 4),
  half: k % pair,
});
export function ofA(row, k, pair) {
  const { q, on, half } = along(k, pair);
  return { lane: (row % 8) * 4 + q, register: 2 * on + (row >> 3), half };
}
export function ofB(k, column, pair) {
  const { q, on, half } = along(k, pair);
  return { lane: column * 4 + q, register: on, half };
}
export const ofC = (row, column) => ({
  lane: (row % 8) * 4 + (column >> 1),
  register: 2 * (row >> 3) + (column & 1),
  half: 0,
});

export function show({ shapes }, { shape, lane }, width) {
  const [deep, pair] = shapes[shape];
  const cell = Math.min(20, (width - 2 * GAP) / (deep + 2 * COLUMNS));
  const halves = pair > 1 ? [", lower half", ", upper half"] : [""];
  const second = deep * cell + GAP;
  const third = second + COLUMNS * cell + GAP;
  const matrices = [
    ["A", 0, ROWS, deep, (i, j) => ofA(i, j, pair), halves],
    ["B", second, deep, COLUMNS, (i, j) => ofB(i, j, pair), halves],
    ["C", third, ROWS, COLUMNS, ofC, [""]],
  ];
  const held = {};
  const drawn = matrices.map(([name, x, rows, columns, of, parts]) => {
    held[name] = [];
    const squares = [];
    for (let i = 0; i < rows; i++)
      for (let j = 0; j < columns; j++) {
        const { lane: whose, register, half } = of(i, j);
        const own = whose === lane;
        const place = `${name.toLowerCase()}${register}`;
        if (own) held[name].push([place + (parts[1] ? `.${half}` : ""), i, j]);
        const words = is(`${name}[${i}, ${j}]`, `lane ${whose}`, place + parts[half]);
        const middle = TOP + (i + 0.5) * cell + 4;
        const look = own ? "one" : whose >> 2 === lane >> 2 ? "faint" : "empty";
        squares.push(
          rect(look, x + j * cell, TOP + i * cell, cell, cell, press({ lane: whose }) + words),
          cell < 15 ? "" : text(own ? "inside" : "middle small", x + (j + 0.5) * cell, middle, whose),
        );
      }
    return [text("strong", x, TOP - 4, name), squares];
  });
  const key = legend(
    [
      ["one", `lane ${lane}`],
      ["faint", `lanes ${lane & ~3} to ${lane | 3}`],
      ["empty", "other lanes"],
    ],
    width,
    TOP + ROWS * cell + 14,
  );
  const listed = (name) => {
    const all = held[name].sort(([a], [b]) => (a < b ? -1 : 1));
    return all.map(([, i, j]) => `${name}[${i}, ${j}]`).join(", ");
  };
  return {
    picture: svg(width, TOP + ROWS * cell + 16 + key.height, "Fragments", [drawn, key.shapes]),
    rows: Object.entries(held).map(([name, all]) => [
      `of ${name}`,
      all.length,
      `in ${plural(new Set(all.map(([place]) => place.split(".")[0])).size, "register")}`,
    ]),
    text:
      `The 32 lanes of a warp add A (16 by ${deep}) times B (${deep} by 8) to C (16 by 8). ` +
      `Lane ${lane} holds, register by register, ${["A", "B", "C"].map(listed).join("; ")}.`,
  };
}

export default explore("ww-fragments", show);
