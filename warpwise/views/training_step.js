// The training step widget: the kernels of a step of GPT-2 by their least time, and what fusions
// change. Kernels, with bytes and FLOP for no text and for each more, are those of
// model/training_step.py. Data: devices, kernels, positions, each.
import { thousands } from "./core.js";
import { is, legend, letters, line, moves, rect, svg, text } from "./draw.js";
import { explore } from "./explore.js";

// Pixels: a row and its bar, what stands left and right of it, and where rows begin.
const ROW = 21;
const BAR = 15;
const LEFT = 140;
const RIGHT = 46;
const TOP = 86;
const TIMES = ["forward", "backward", "update"];
const KINDS = [
  "product",
  "attention",
  "LayerNorm",
  "residual",
  "bias",
  "GELU",
  "classifier",
  "LayerNorm backward",
  "bias gradient",
  "encoder",
  "norm",
  "AdamW",
];
const BINDS = { products: "one", bytes: "two", lanes: "three" };
const WORDS = {
  products: "bound by tensor cores",
  bytes: "bound by bytes",
  lanes: "bound by lanes",
};

// The kernels of a step, with seconds in all and what binds them.
function timed({ devices, kernels }, on, fused) {
  const [bytes, lanes, tensor] = devices[on.device];
  const { same, fusions } = kernels[on.itemsize];
  const chosen = Object.entries(fusions).flatMap(([name, both]) => both[+fused(name)]);
  return [...same, ...chosen].map(
    ([name, kind, part, launches, helpers, moved, more, flops, others]) => {
      const onTensor = kind === "product" || kind === "attention";
      const rate = onTensor ? (tensor * 2) / on.itemsize : lanes;
      const move = (moved + more * on.batch) / bytes;
      const count = (flops + others * on.batch) / rate;
      const binds = move >= count ? "bytes" : onTensor ? "products" : "lanes";
      const seconds = launches * Math.max(move, count);
      return { name, kind, part, launches: launches * (1 + helpers), seconds, binds };
    },
  );
}

const all = (some, of) => some.reduce((so, one) => so + of(one), 0);
const time = (some) => all(some, (one) => one.seconds);
const ms = (seconds) => seconds === 0 ? "0" : (seconds * 1e3).toFixed(seconds < 0.01 ? 2 : 1);

export function show(data, on, width) {
  const now = timed(data, on, (name) => on[name]);
  const apart = timed(data, on, () => false);
  const seconds = time(now);
  const scale = (width - 2) / Math.max(time(apart), seconds);
  let x = 1;
  const stack = TIMES.map((part) => {
    const first = x;
    const bars = now
      .filter((one) => one.part === part)
      .map((one) => {
        const words = is(`${one.name}, ${part}`, `${ms(one.seconds)} ms`, WORDS[one.binds]);
        const bar = rect(
          BINDS[one.binds],
          x,
          22,
          one.seconds * scale,
          20,
          words + moves(`${one.name} ${part}`, [x, 22, 0, 20]),
        );
        x += one.seconds * scale;
        return bar;
      });
    const fits = letters(part) < x - first;
    return [
      bars,
      line("edge", first, 20, first, 46),
      fits ? text("", first + 3, 57, part) : "",
    ];
  });
  const of = (some, kind) => some.filter((one) => one.kind === kind);
  const longest = Math.max(...KINDS.map((kind) => Math.max(time(of(now, kind)), time(of(apart, kind)))));
  const long = (width - LEFT - RIGHT) / longest;
  const rows = KINDS.map((kind, i) => {
    const y = TOP + ROW * i;
    const alone = time(of(apart, kind));
    let at = LEFT;
    const bars = Object.keys(BINDS).map((binds) => {
      const some = of(now, kind).filter((one) => one.binds === binds);
      const wide = time(some) * long;
      const launches = thousands(all(some, (one) => one.launches));
      const words = is(kind, `${ms(time(some))} ms`, `${launches} launches`, WORDS[binds]);
      const bar = wide ? rect(BINDS[binds], at, y, wide, BAR, words + moves(`${kind} ${binds}`, [at, y, 0, BAR])) : "";
      at += wide;
      return bar;
    });
    const before = is(kind, `${ms(alone)} ms with no fusion`);
    return [
      text("", 1, y + 12, kind),
      alone ? rect("empty", LEFT, y, alone * long, BAR, before) : "",
      bars,
      text("end", width - 1, y + 12, ms(time(of(now, kind)))),
    ];
  });
  const end = TOP + ROW * KINDS.length + 8;
  const key = legend(
    [
      ["one", "tensor cores bind"],
      ["two", "bytes bind"],
      ["three", "lanes bind"],
      ["empty", "with no fusion"],
    ],
    width,
    end,
  );
  const launches = all(now, (one) => one.launches);
  const tokens = on.batch * data.positions;
  const share = (binds) => ms(time(now.filter((one) => one.binds === binds)));
  return {
    picture: svg(width, end + key.height, `Kernels of a training step on ${on.device}`, [
      text("strong", 1, 13, `One step, ${ms(seconds)} ms at least`),
      stack,
      text("strong", 1, TOP - 9, "By kind, ms"),
      rows,
      key.shapes,
    ]),
    rows: [
      ["least time", `${ms(seconds)} ms`, `${ms(time(apart))} unfused`],
      ["tokens a second", thousands(Math.round(tokens / seconds)), "at most"],
      ["launches", thousands(launches), `${ms(launches * data.each)} ms of a CPU`],
    ],
    text:
      `A step of GPT-2, 124M, on ${on.device} with ${thousands(tokens)} tokens: at least ${ms(seconds)} ms, ` +
      `of which ${share("products")} are bound by tensor cores and ${share("bytes")} by bytes; ` +
      `${thousands(launches)} launches. With no fusion it would be ${ms(time(apart))} ms. Modelled: every kernel at a peak.`,
  };
}

export default explore("ww-training_step", show);
