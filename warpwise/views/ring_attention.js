// The ring widget: each GPU's work and transfers, step by step, against time. The rule is that of
// model/ring_attention.py; a step's unit is the time of a whole block of scores.
import { percent, thousands } from "./core.js";
import { is, legend, letters, line, moves, n, rect, svg, text } from "./draw.js";
import { explore } from "./explore.js";

// Pixels: the column of names, a GPU's row, its bars.
const LEFT = 48;
const ROW = 34;
const WORK = 15;
const SENT = 7;
const TOP = 34;

const WORKS = {
  none: () => 1,
  causal: (queries, keys) => (keys === queries ? 0.5 : keys < queries ? 1 : 0),
  zigzag: () => 0.5,
};

function model({ from }, { device, link, gpus, tokens, mask }) {
  const transfer = from[device][link] / 2 ** tokens;
  const each = Array.from({ length: gpus }, (_, k) => k);
  const source = (gpu, step) => (gpu - step + gpus) % gpus;
  const work = each.map((gpu) => each.map((step) => WORKS[mask](gpu, source(gpu, step))));
  const slowest = each.map((step) => Math.max(...each.map((gpu) => work[gpu][step])));
  const lengths = slowest.map((most, step) =>
    step === gpus - 1 ? most : Math.max(most, transfer),
  );
  const time = lengths.reduce((so, one) => so + one, 0);
  const done = work.flat().reduce((so, one) => so + one, 0);
  return { each, source, work, lengths, transfer, time, busy: done / gpus / time };
}

export function show(data, on, width) {
  const m = model(data, on);
  const now = Math.min(on.step, on.gpus) - 1;
  const scale = (width - LEFT - 2) / m.time;
  const starts = m.lengths.map((_, k) => m.lengths.slice(0, k).reduce((so, one) => so + one, 0));
  const x = (time) => LEFT + time * scale;
  const high = TOP + ROW * on.gpus;
  const cell = (gpu, step) => {
    const y = TOP + ROW * gpu;
    const from = m.source(gpu, step);
    const wide = m.work[gpu][step] * scale;
    const look = step === now ? "one" : "faint";
    const words = is(
      `GPU ${gpu}, step ${step + 1}`,
      `keys and values of GPU ${from}`,
      m.work[gpu][step] ? "" : "all of them masked",
    );
    return [
      wide ? rect(look, x(starts[step]), y, wide, WORK, words) : "",
      wide > letters(from, 11) + 4
        ? text(
            step === now ? "inside" : "small middle",
            x(starts[step]) + wide / 2,
            y + 11.5,
            from,
          )
        : "",
      step < on.gpus - 1
        ? rect(
            step === now ? "two" : "empty",
            x(starts[step]),
            y + WORK + 2,
            m.transfer * scale,
            SENT,
            is(`to GPU ${(gpu + 1) % on.gpus}`, `keys and values of GPU ${from}`),
          )
        : "",
    ];
  };
  const key = legend(
    [
      ["one", "products, with the keys of GPU ..."],
      ["two", "keys and values sent on"],
    ],
    width,
    high + 10,
  );
  const least = data.from[on.device][on.link];
  const tokens = 2 ** on.tokens;
  const hidden =
    m.transfer <= 1
      ? `a transfer takes ${percent(m.transfer, 1)} of a whole block's products`
      : `a transfer takes ${+m.transfer.toPrecision(3)} times a whole block's products`;
  return {
    picture: svg(width, high + 10 + key.height, `A ring of ${on.gpus} GPUs over time`, [
      m.each.map((step) => [
        line("rule", x(starts[step]), TOP - 8, x(starts[step]), high - 6),
        x(m.lengths[step]) - LEFT > 16 || step === now
          ? text(
              `middle ${step === now ? "strong" : ""}`,
              x(starts[step] + m.lengths[step] / 2),
              TOP - 12,
              step + 1,
            )
          : "",
      ]),
      text("", 0, TOP - 12, "step"),
      m.each.map((gpu) => text("", 0, TOP + ROW * gpu + 12, `GPU ${gpu}`)),
      m.each.map((gpu) => m.each.map((step) => cell(gpu, step))),
      rect(
        "edge",
        x(starts[now]),
        TOP - 5,
        m.lengths[now] * scale,
        ROW * on.gpus,
        moves("step", [x(starts[now]), TOP - 5, m.lengths[now] * scale, ROW * on.gpus]),
      ),
      key.shapes,
    ]),
    rows: [
      ["GPUs busy", percent(m.busy, 1), "of the time"],
      ["tokens in all", thousands(tokens * on.gpus), ""],
      ["hidden from", thousands(Math.ceil(least)), "tokens a GPU, without a mask"],
    ],
    text:
      `${on.gpus} GPUs with ${thousands(tokens)} tokens each: ${hidden}, and the GPUs are busy for ${percent(m.busy, 1)} of ${n(m.time)} such times. ` +
      `In step ${now + 1} GPU 0 has the keys and values of GPU ${m.source(0, now)}.`,
    limits: { step: [1, on.gpus] },
    outputs: { tokens: thousands(tokens) },
  };
}

export default explore("ww-ring_attention", show);
