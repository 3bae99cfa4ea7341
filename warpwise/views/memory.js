// The memory widget: a load's way down to its value and back, and the levels' figures as bars to
// scale. Data: levels, ways, and for each device its clock, rows of [size, clocks, bandwidth] as
// [figure, number of its source], and the sources.
import { binary, escape } from "./core.js";
import { circle, is, legend, line, moves, rect, svg, text } from "./draw.js";
import { explore } from "./explore.js";

// Pixels: left of the bars, right of them, and of a row.
const LEFT = 140;
const RIGHT = 88;
const HIGH = 23;
const TALL = 26 + 5 * HIGH;

const brief = (value) => Number(value.toPrecision(3));
const clocks = (value) => `${Math.round(value)} clocks`;
const speed = (value) => `${brief(value / 1e12)} TB/s`;
const said = (figure, words) => (figure ? words(figure[0]) : "not known");

// Place in a row of figures, title, words for a figure, and the axis: start, end and the factor
// between its lines if it is logarithmic, and its end if it is linear.
const PANELS = [
  [1, "Latency in clocks", Math.round, 1, 1000, 10, 700],
  [2, "Bandwidth", speed, 1e11, 1e15, 10, 3.2e14],
  [0, "Size", binary, 2 ** 20, 2 ** 40, 1024, 80 * 2 ** 30],
];

function panel(
  [place, title, words, from, to, factor, most],
  { levels },
  rows,
  { scale, found },
  marks,
  left,
  top,
  width,
) {
  const log = scale === "log";
  // What a load passes stands beside the names of the first panel.
  const start = left + (place === 1 ? LEFT : LEFT - 38);
  const room = left + width - start - RIGHT;
  const end = top + 26 + HIGH * levels.length;
  const long = (value) =>
    room * (log ? Math.log(value / from) / Math.log(to / from) : value / most);
  const ticks = log ? [] : [0, most / 2, most];
  for (let at = from; log && at <= to; at *= factor) ticks.push(at);
  return [
    text(
      "strong",
      left,
      top + 12,
      `${title} from ${log ? `${words(from)}, ×${factor}` : `0, ${words(most / 2)}`} a line`,
    ),
    ticks.map((at) => line("grid", start + long(at), top + 22, start + long(at), end)),
    levels.map((name, i) => {
      const y = top + 26 + HIGH * i;
      const figure = rows[i][place];
      const wide = figure ? Math.max(1, long(figure[0])) : 0;
      const look = name === found ? "strong" : "";
      const kind = title.replace(/ in .*/, "").toLowerCase();
      const told = is(name, `${kind} ${said(figure, place === 1 ? clocks : words)}`);
      const bar = figure
        ? rect(look ? "one" : "grey", start, y + 2, wide, HIGH - 7, told)
        : line("dots", start, y + 10, start + 22, y + 10);
      return [
        text(look, left, y + 14, name),
        bar,
        text(look, start + (figure ? wide : 22) + 5, y + 14, said(figure, words) + marks[i]),
      ];
    }),
  ];
}

// The steps of a way: the level of each, true on the way back, and what happens.
function walk(data, { device, found }) {
  const way = data.ways[found];
  const { rows } = data.devices[device];
  const all = said(rows[way.at(-1)][1], clocks);
  const steps = way.map((at) => {
    const name = data.levels[at];
    return name === found
      ? [at, `${name} ${at ? "is asked and has the value" : "hold the value: no load is needed"}`]
      : [
          at,
          `${name} is asked and does not have the value; from here it would take ${said(rows[at][1], clocks)}`,
        ];
  });
  for (const at of way.slice(0, -1).reverse())
    steps.push([at, `the value comes back, and ${data.levels[at]} keeps a copy of its sector`]);
  return [
    ...steps,
    [
      0,
      way[0]
        ? `the value is in a register: ${all} since the load was issued`
        : `the result of the instruction is there: ${all}`,
    ],
  ];
}

export function show(data, values, width) {
  const { device, found } = values;
  const { rows, sources, hz } = data.devices[device];
  const way = data.ways[found];
  const steps = walk(data, values);
  const [holds, wait, rate] = rows[way.at(-1)];
  const step = Math.min(values.step, steps.length);
  const [now, event] = steps[step - 1];
  const asked = way.slice(0, step);
  const last = asked.at(-1);
  const back = step > way.length;
  const y = (at) => 36 + HIGH * at;
  const marks = data.levels.map((name, i) =>
    asked.includes(i) && i ? (name === found ? ", found" : ", miss") : "",
  );
  // The load travels down, and what it found travels up.
  const lane = (look, left, from, to, key, words, start) =>
    rect(look, left, from, 5, to - from, is("load", words) + moves(key, [left, start, 5, 0]));
  const drawn = [
    last ? lane("one", LEFT - 36, y(0), y(last), "asks", "asks", y(0)) : "",
    back && last
      ? lane("two", LEFT - 22, y(now), y(last), "returns", "the value comes back", y(last))
      : "",
    asked.map((at) => circle("one", LEFT - 33.5, y(at), 5, is(data.levels[at], "asked"))),
    circle(
      back ? "two" : "one",
      LEFT - (back ? 19.5 : 33.5),
      y(now),
      8,
      is(`step ${step}`, event) + moves("load"),
    ),
  ];
  const key = legend(
    [
      ["one", "asks"],
      ["two", "the value comes back"],
    ],
    width,
    TALL + 8,
  );
  // The two other panels stand side by side where there is room.
  const beside = width > 620;
  const half = beside ? (width - 20) / 2 : width;
  const low = TALL + 44;
  const shapes = [drawn, key.shapes];
  PANELS.forEach((one, i) => {
    const left = beside && i === 2 ? half + 20 : 0;
    const top = i && low + (beside ? 0 : (TALL + 16) * (i - 1));
    shapes.push(
      panel(one, data, rows, values, i ? Array(9).fill("") : marks, left, top, i ? half : width),
    );
  });
  const cell = (figure, words) =>
    `<td>${figure ? `${words(figure[0])}<small>[${figure[1]}]</small>` : "not known"}</td>`;
  const table = data.levels
    .map(
      (name, i) =>
        `<tr><th>${name}</th>${PANELS.map(([place, , words]) => cell(rows[i][place], words)).join("")}</tr>`,
    )
    .join("");
  const busy = wait && rate ? binary((wait[0] / hz) * rate[0]) : "not known";
  return {
    picture:
      svg(width, low + TALL + (beside ? 0 : TALL + 16), `Memories of ${device}`, shapes) +
      `<details class="more wm"><summary>All figures, with their sources</summary>` +
      `<table><tr><th>Memory</th>${PANELS.map(([, title]) => `<th>${title}</th>`).join("")}</tr>${table}</table>` +
      `<ol>${sources.map((source) => `<li>${escape(source)}</li>`).join("")}</ol></details>`,
    rows: [
      ["latency", said(wait, clocks), found],
      ["bandwidth", said(rate, speed), found],
      ["bytes under way", busy, "keep it busy: latency × bandwidth"],
    ],
    text:
      `${device}, step ${step} of ${steps.length}: ${event}. ${found === "registers" ? "Registers" : found} of the whole GPU: latency ${said(wait, clocks)}, ` +
      `bandwidth ${said(rate, speed)}, size ${said(holds, binary)}.`,
    limits: { step: [1, steps.length] },
  };
}

export default explore("ww-memory", show);
