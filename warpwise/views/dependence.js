// The dependence widget: inputs as cells, by what an element of the result does with them, and one
// that is chosen.
import { escape, plural, thousands } from "./core.js";
import { cells, letters, n, oblong, path, rect, svg, text, worded } from "./draw.js";
import { explore } from "./explore.js";

// Pixels: between inputs, above one for its name, and the largest cell.
const GAP = 22;
const HEAD = 20;
const LARGE = 13;
// A sign for each of the words of dependence.py, in a cell at x, y of a size: class and path.
const SIGNS = [
  ["grey", (x, y, s) => oblong(x + s / 2 - 0.9, y + s / 2 - 0.9, 1.8, 1.8)],
  ["grid", (x, y, s) => oblong(x + 0.5, y + 0.5, s - 1, s - 1)],
  ["one", (x, y, s) => oblong(x + 0.3, y + 0.3, s - 0.6, s - 0.6)],
  [
    "stroke-two",
    (x, y, s) =>
      oblong(x + 1, y + 1, s - 2, s - 2) + `M${n(x + 0.28 * s)} ${n(y + s / 2)}h${n(0.44 * s)}`,
  ],
  [
    "edge",
    (x, y, s) =>
      `M${n(x + 1)} ${n(y + 1)}l${n(s - 2)} ${n(s - 2)}M${n(x + s - 1)} ${n(y + 1)}l${n(2 - s)} ${n(s - 2)}`,
  ],
];
const WORDS = ["not tried", "not used", "used, as it should be", "missing", "too many"];

// Where each input is drawn: one beside the other while there is room; from: its first cell.
function placed(parts, width) {
  let [x, y, low, from] = [2, 0, 0, 0];
  return parts.map((part) => {
    const s = Math.min(LARGE, (width - 4) / part.rows[0].length);
    const wide = Math.max(part.rows[0].length * s, letters(title(part)) + 8);
    if (x > 2 && x + wide > width) [x, y] = [2, low + GAP];
    const here = { ...part, x, y: y + HEAD, s, from };
    low = Math.max(low, here.y + part.rows.length * s);
    x += wide + GAP;
    from += part.rows.reduce((sum, row) => sum + row.length, 0);
    return { ...here, to: from, low };
  });
}

const whole = ({ shape, rows }) =>
  shape.reduce((a, b) => a * b, 1) === rows.reduce((sum, row) => sum + row.length, 0);
const title = (part) =>
  part.name +
  (part.shape.length ? ` (${part.shape.join(", ")})${whole(part) ? "" : ", a part"}` : "");

// The cell of a number: its input, row and column there, and what is known of it.
function chosen(parts, number) {
  const part = parts.find(({ to }) => number < to);
  const row = Math.floor((number - part.from) / part.rows[0].length);
  const column = (number - part.from) % part.rows[0].length;
  return { part, row, column, use: +part.rows[row][column] };
}

// An input as Python writes it.
function named({ part, row, column }) {
  let flat = (part.first[0] + row) * part.width + part.first[1] + column;
  const index = [...part.shape].reverse().map((size) => {
    const at = flat % size;
    flat = Math.floor(flat / size);
    return at;
  });
  return part.name + (index.length ? `[${index.reverse().join(", ")}]` : "");
}

const drawn = (part) => [
  text("strong", part.x, part.y - 7, escape(title(part))),
  SIGNS.map(([look, sign], use) => {
    const marks = part.rows.flatMap((row, i) =>
      [...row].map((code, j) =>
        +code === use ? sign(part.x + j * part.s, part.y + i * part.s, part.s) : "",
      ),
    );
    return path(look, marks.join(""));
  }),
];

function key(counts, width, top) {
  let [x, y] = [2, top];
  const shapes = [2, 3, 4, 1, 0].map((use) => {
    if (!counts[use]) return "";
    const wide = 42 + letters(WORDS[use]);
    if (x > 2 && x + wide - 18 > width) [x, y] = [2, y + 20];
    const shape = [
      path(SIGNS[use][0], SIGNS[use][1](x, y, 12)),
      text("", x + 19, y + 10.5, WORDS[use]),
    ];
    x += wide;
    return shape;
  });
  return { shapes: ['<g class="key">', shapes, "</g>"], low: y + 20 };
}

export function show({ element, parts, counts }, { cell }, width) {
  const here = placed(parts, width);
  const at = chosen(here, cell);
  const { part, row, column, use } = at;
  const input = named(at);
  const legend = key(counts, width, here.at(-1).low + 16);
  const told = [
    `It was not tried whether ${element} depends on ${input}.`,
    `${element} does not depend on ${input}, and need not.`,
    `${element} depends on ${input}, as it should.`,
    `${element} should depend on ${input} and does not.`,
    `${element} depends on ${input}, and should not.`,
  ];
  const [untried, , used, missing, extra] = counts;
  return {
    picture: svg(width, legend.low, `Inputs that ${element} depends on`, [
      here.map(drawn),
      rect("edge", part.x + column * part.s - 1, part.y + row * part.s - 1, part.s + 2, part.s + 2),
      legend.shapes,
    ]),
    rows: [
      ["used", thousands(used), "as they should be"],
      ["missing", thousands(missing), "should be used"],
      ["too many", thousands(extra), "should not be used"],
    ],
    text:
      `${told[use]} In all: ${plural(used, "input")} used as they should be, ` +
      `${thousands(missing)} missing, ${thousands(extra)} too many` +
      `${untried ? `; ${thousands(untried)} not tried` : ""}.`,
    outputs: { cell: input },
    marks: () =>
      here.flatMap((one) =>
        cells(one.x, one.y, one.s, one.s, one.rows[0].length, one.to - one.from, (k) => {
          const cell = chosen(here, one.from + k);
          return worded(named(cell), WORDS[cell.use]);
        }),
      ),
  };
}

// The cell under the pointer.
function drag({ parts }, x, y, width) {
  for (const { rows, x: left, y: top, s, from } of placed(parts, width)) {
    const i = Math.floor((y - top) / s);
    const j = Math.floor((x - left) / s);
    if (rows[i]?.[j]) return { cell: from + i * rows[0].length + j };
  }
}

export default explore("ww-dependence", show, drag);
