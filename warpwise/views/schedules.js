// The schedules widget: a row for each stage of a pipeline, a bar for each pass over time. The rule
// is that of model/pipeline_schedule.py, in units of a part's forward pass.
import { percent, plural } from "./core.js";
import { is, legend, letters, rect, svg, text } from "./draw.js";
import { explore } from "./explore.js";

// Pixels: the column of names, a stage's row, a bar, the room for what it holds.
const LEFT = 56;
const ROW = 28;
const BAR = 21;
const HELD = 50;
const TOP = 20;

const LENGTH = { F: 1, I: 1, W: 1, B: 2 };
const LOOK = { F: "one", B: "two", I: "two", W: "three" };
const WORDS = { F: "forward", B: "backward", I: "gradient of inputs", W: "gradient of weights" };

const count = (many, make) => Array.from({ length: many }, (_, k) => make(k));

// A stage's k-th pass: p micro-batches, part by part.
function virtual(k, p, v, back) {
  const chunk = Math.floor((k % (p * v)) / p);
  return [Math.floor(k / (p * v)) * p + (k % p), back ? v - 1 - chunk : chunk];
}

function orderOf(name, stage, p, m, v) {
  if (name === "all forward")
    return [...count(m, (k) => ["F", k, 0]), ...count(m, (k) => ["B", k, 0])];
  const all = [];
  if (name === "zero-bubble") {
    const ahead = Math.min(p - 1 - stage, m);
    all.push(...count(ahead, (k) => ["F", k, 0]));
    for (let k = 0; k < m; k++) {
      if (k + ahead < m) all.push(["F", k + ahead, 0]);
      all.push(["I", k, 0]);
      if (k >= stage) all.push(["W", k - stage, 0]);
    }
    for (let k = Math.max(0, m - stage); k < m; k++) all.push(["W", k, 0]);
    return all;
  }
  const ahead = Math.min(v === 1 ? p - 1 - stage : 2 * (p - 1 - stage) + (v - 1) * p, m * v);
  for (let k = 0; k < m * v + ahead; k++) {
    if (k < m * v) all.push(["F", ...virtual(k, p, v, false)]);
    if (k >= ahead) all.push(["B", ...virtual(k - ahead, p, v, true)]);
  }
  return all;
}

function timesOf(orders, p, v) {
  const ended = new Map();
  const done = orders.map(() => []);
  const need = (kind, micro, layer) =>
    kind === "W"
      ? `I ${micro} ${layer}`
      : kind === "F"
        ? layer && `F ${micro} ${layer - 1}`
        : layer < p * v - 1
          ? `${kind} ${micro} ${layer + 1}`
          : `F ${micro} ${layer}`;
  for (let moved = true; moved; ) {
    moved = false;
    orders.forEach((order, stage) => {
      while (done[stage].length < order.length) {
        const [kind, micro, chunk] = order[done[stage].length];
        const wanted = need(kind, micro, chunk * p + stage);
        if (wanted && !ended.has(wanted)) break;
        const begins = Math.max(done[stage].at(-1)?.ends ?? 0, wanted ? ended.get(wanted) : 0);
        const ends = begins + LENGTH[kind];
        ended.set(`${kind} ${micro} ${chunk * p + stage}`, ends);
        done[stage].push({ kind, micro, chunk, begins, ends });
        moved = true;
      }
    });
  }
  return done;
}

function mostHeld(passes) {
  let held = 0;
  return Math.max(...passes.map(({ kind }) => (held += { F: 1, B: -1, W: -1 }[kind] ?? 0)));
}

export function show(_, on, width) {
  const { name, stages: p } = on;
  const deep = name === "interleaved";
  const v = deep ? on.chunks : 1;
  const m = deep ? Math.ceil(on.micro / p) * p : Math.max(on.micro, p);
  const done = timesOf(count(p, (stage) => orderOf(name, stage, p, m, v)), p, v);
  const total = Math.max(...done.map((passes) => passes.at(-1).ends));
  const held = done.map((passes) => mostHeld(passes) / v);
  const scale = (width - LEFT - HELD) / total;
  const high = TOP + ROW * p;
  const bar = (stage) => ({ kind, micro, chunk, begins, ends }) => {
    const wide = (ends - begins) * scale;
    const x = LEFT + begins * scale;
    const y = TOP + ROW * stage;
    return [
      rect(LOOK[kind], x, y, Math.max(0.5, wide - 1), BAR,
        is(`stage ${stage}, micro-batch ${micro}`, WORDS[kind], v > 1 ? `part ${chunk}` : "", `units ${begins / v} to ${ends / v}`)),
      wide > letters(micro, 11) + 3 ? text("inside", x + (wide - 1) / 2, y + 14.5, micro) : "",
    ];
  };
  const halves = name === "zero-bubble";
  const key = legend(
    halves
      ? [["one", "forward"], ["two", "gradient of inputs"], ["three", "gradient of weights"]]
      : [["one", "forward"], ["two", "backward"]],
    width,
    high + 6,
  );
  const bubble = total - 3 * m * v;
  const short = (value) => +value.toFixed(2);
  return {
    picture: svg(width, high + 6 + key.height, `${name}: ${p} stages over time`, [
      text("end", width, TOP - 7, "holds"),
      done.map((passes, stage) => [
        text("", 0, TOP + ROW * stage + 15, `stage ${stage}`),
        passes.map(bar(stage)),
        text("end", width, TOP + ROW * stage + 15, short(held[stage])),
      ]),
      key.shapes,
    ]),
    rows: [
      ["bubble", percent(bubble, total), "of the time"],
      ["the whole takes", short(total / v), "forward passes"],
      ["stage 0 holds", short(held[0]), "micro-batches"],
    ],
    text:
      `${name}: ${p} stages and ${plural(m, "micro-batch").replace("batchs", "batches")}${deep ? ` in ${v} parts` : ""} take ${short(total / v)} forward passes, of which a stage waits ${short(bubble / v)}. ` +
      `Stage 0 holds ${short(held[0])} micro-batches, all together ${short(held.reduce((so, one) => so + one, 0))}. A model: messages take no time.`,
    limits: { micro: [p, 32] },
    outputs: { micro: String(m) },
    disabled: { chunks: !deep },
  };
}

export default explore("ww-schedules", show);
