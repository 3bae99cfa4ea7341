// The planner widget: a mark for each mesh, by memory and MFU; below, what the chosen one's step
// goes to. The rule is that of model/planner.py.
import { percent, thousands } from "./core.js";
import { circle, is, legend, letters, line, press, rect, svg, text } from "./draw.js";
import { explore } from "./explore.js";

// Pixels: left of, above and below the marks, their field, and the bar.
const LEFT = 44;
const TOP = 14;
const HIGH = 210;
const BELOW = 36;
const BAR = 20;

const PARTS = {
  products: ["one", "products"],
  memory: ["three", "memory"],
  parallel: ["two", "collectives in sight"],
  bubble: ["grey", "bubble"],
  rest: ["faint", "vocabulary, optimizer"],
};
const powersTo = (most) => Array.from({ length: most }, (_, k) => 2 ** k);

function ringOf(on, halves, p, reach, nbytes, alone = false) {
  const { latency, rate } = reach <= on.domain ? on.inside : on.network;
  const alike = alone ? 1 : Math.max(1, Math.floor((on.domain * p) / reach));
  const shared = reach <= on.domain ? rate : Math.min(on.inside.rate, alike * rate);
  return halves * (p - 1) * (latency + nbytes / p / shared);
}

function layerOf(model, on, { tp, ep, cp, zero, full }) {
  const tokens = model.tokens / cp;
  const rate = on.products * on.gpu.flops;
  const redone = full || !model.flash ? 4 : 3;
  const passes = 3 + full;
  const scores = (tokens * redone * model.score_flops) / tp / rate;
  const moved = (passes * (model.outer_bytes + model.inner_bytes) + redone * model.score_bytes) / tp;
  const keys = ((4 * tokens * model.kv_width) / tp) * cp;
  const around = cp > 1 ? Math.max(0, 3 * ringOf(on, 1, cp, tp * cp, keys, true) - scores) : 0;
  const turns = 2 * (2 + full);
  const there = (2 * tokens * model.width * model.active) / tp;
  return {
    products: (tokens * passes * model.product_flops) / tp / rate + scores,
    memory: (tokens * moved) / on.gpu.dram,
    parallel:
      turns * ringOf(on, 2, tp, tp, 2 * tokens * model.width) +
      turns * ringOf(on, 1, ep, tp * ep, there, true) +
      around,
  };
}

function stateBytes(parameters, ranks, zero) {
  const [w, g, s] = [zero === 3, zero >= 2, zero >= 1].map((cut) => (cut ? ranks : 1));
  return parameters * (2 / w + 2 / g + 12 / s);
}

function planOf(model, on, mesh, sequences) {
  const { dp, tp, pp, ep, cp, zero, full, chunks } = mesh;
  const m = sequences / dp;
  const layer = layerOf(model, on, mesh);
  const sum = layer.products + layer.memory + layer.parallel;
  const tokens = model.tokens / cp;
  const head = (3 * tokens * model.head_flops) / tp / (on.products * on.gpu.flops);
  const even = Math.ceil(model.layers / pp);
  const last = (even - (even * pp > model.layers)) * sum + head;
  const usual = even * sum;
  const slowest = Math.max(pp > 1 ? usual : 0, last);
  const replicas = dp * cp;
  const experts = (even * model.experts * model.mlp_parameters) / ep / tp;
  const ends = model.embedding_parameters / (pp === 1 || model.tied ? 1 : 2);
  const all = (even * model.attention_parameters + ends) / tp + experts;
  const apart = model.experts > 1 ? experts : 0;
  const half = ringOf(on, 1, replicas, tp * replicas, 2 * all);
  const share = half / even;
  const [forth, back] = [slowest / 3, (2 / 3) * slowest];
  const data = {
    0: Math.max(2 * share, 2 * half - back),
    1: Math.max(share, half - back) + Math.max(share, half - forth),
    2: Math.max(share, m * (half - back)) + Math.max(share, half - forth),
    3: Math.max(2 * share, m * (3 * half - slowest)),
  }[zero];
  const optimizer = ((all / (zero ? replicas : 1)) * on.optimizer) / on.gpu.dram;
  const parts = {
    products: m * even * layer.products,
    memory: m * even * layer.memory,
    parallel: m * even * layer.parallel + data,
    bubble: ((pp - 1) / chunks) * usual,
    rest: optimizer + m * (pp > 1 ? Math.max(0, slowest - usual) : head),
  };
  const seconds = Object.values(parts).reduce((so, one) => so + one, 0);
  const kept = (model.outer_kept + model.inner_kept) / tp;
  const ahead = Math.min(m, chunks > 1 ? pp * (1 + (pp - 1) / pp / chunks) : pp);
  const logits = (4 * tokens * model.vocabulary) / tp;
  const activations = full
    ? tokens * ((ahead * even * 2 * model.width) / tp + kept + model.scores_kept / tp) + logits
    : tokens * ahead * even * kept + (pp === 1 ? logits : 0);
  const bytes =
    activations +
    stateBytes(all - apart, replicas, zero) +
    stateBytes(apart, Math.max(1, Math.floor(replicas / ep)), zero);
  const mfu = (model.flops_per_token * sequences * model.tokens) / seconds / on.gpus / on.gpu.flops;
  return { mesh, seconds, parts, bytes, mfu, fits: bytes <= on.gpu.memory };
}

function meshesOf(model, on, sequences, deep) {
  const found = [];
  for (const tp of powersTo(5))
    for (const pp of powersTo(7))
      for (const cp of powersTo(5))
        for (const ep of powersTo(8)) {
          const ranks = tp * pp * cp;
          const dp = on.gpus / ranks;
          if (dp < 1 || sequences % dp || model.heads % tp || pp > model.layers) continue;
          if (model.experts % ep || (dp * cp) % ep) continue;
          const rounds = Math.ceil(model.layers / pp) % deep === 0 && (sequences / dp) % pp === 0;
          const chunks = pp > 1 && rounds ? deep : 1;
          for (const zero of pp === 1 ? [0, 1, 2, 3] : [0, 1])
            for (const full of [0, 1]) found.push({ dp, tp, pp, ep, cp, zero, full, chunks });
        }
  return found;
}

const named = ({ dp, tp, pp, ep, cp, zero, full }) =>
  `data ${dp}, tensor ${tp}, pipeline ${pp}` +
  `${cp > 1 ? `, context ${cp}` : ""}${ep > 1 ? `, experts ${ep}` : ""}, ZeRO ${zero}${full ? ", recomputed" : ""}`;
const digits = (value) => (value < 100 ? +value.toPrecision(3) : thousands(Math.round(value)));

export function show(data, values, width) {
  const model = data.models[values.model];
  const gpu = data.devices[values.device];
  const network = { latency: data.latency, rate: 1e9 * values.network };
  const on = { ...data, gpu, inside: gpu, network, gpus: 2 ** values.gpus };
  const sequences = 2 ** values.batch;
  const plans = meshesOf(model, on, sequences, data.chunks).map((mesh) =>
    planOf(model, on, mesh, sequences),
  );
  plans.sort((a, b) => b.fits - a.fits || a.seconds - b.seconds);
  const best = plans[0];
  const chosen = plans.find(({ mesh }) => named(mesh) === values.mesh) ?? best;
  const fit = plans.filter(({ fits }) => fits).length;
  if (!best)
    return {
      picture: svg(width, 40, "No mesh", [text("", 0, 24, "No mesh: fewer sequences than replicas.")]),
      text: "No mesh can be: a step has fewer sequences than there are replicas.",
      outputs: { gpus: thousands(on.gpus), batch: thousands(sequences) },
    };
  const memory = gpu.memory / 1e9;
  const [low, high] = [memory / 16, memory * 8];
  const x = (gb) =>
    LEFT + ((width - LEFT - 10) * Math.log(Math.min(high, Math.max(low, gb)) / low)) / Math.log(high / low);
  const y = (mfu) => TOP + HIGH * (1 - Math.min(1, mfu / 0.7));
  const mark = (plan) =>
    circle(
      plan === best && plan.fits ? "three" : plan.fits ? "one" : "grey",
      x(plan.bytes / 1e9),
      y(plan.mfu),
      plan === best && plan.fits ? 6 : 3,
      is(named(plan.mesh), `${digits(plan.bytes / 1e9)} GB`, `${digits(plan.seconds)} s`, percent(plan.mfu, 1)) +
        press({ mesh: named(plan.mesh) }),
    );
  const bottom = TOP + HIGH + BELOW;
  let from = LEFT;
  const bars = Object.entries(chosen.parts).map(([name, seconds]) => {
    const wide = ((width - LEFT - 10) * seconds) / chosen.seconds;
    const shape = rect(PARTS[name][0], from, bottom, wide, BAR, is(PARTS[name][1], `${digits(seconds)} s`, percent(seconds, chosen.seconds)));
    from += wide;
    return shape;
  });
  const key = legend(Object.values(PARTS), width, bottom + BAR + 8);
  const limit = `${memory} GB`;
  return {
    picture: svg(width, bottom + BAR + 8 + key.height, "Meshes by memory and MFU", [
      [0, 0.2, 0.4, 0.6].map((mfu) => [
        line("grid", LEFT, y(mfu), width - 10, y(mfu)),
        text("end small", LEFT - 6, y(mfu) + 4, `${100 * mfu} %`),
      ]),
      line("dots", x(memory), TOP, x(memory), TOP + HIGH),
      text("middle small", Math.min(x(memory), width - letters(limit, 11)), TOP + HIGH + 15, limit),
      text("small", LEFT, TOP + HIGH + 30, "to the right: memory of a GPU; up: MFU"),
      [...plans].reverse().map(mark),
      circle("edge", x(chosen.bytes / 1e9), y(chosen.mfu), 9),
      text("small", 0, bottom + 14, "a step"),
      bars,
      key.shapes,
    ]),
    rows: [
      ["meshes", plans.length, `of which ${fit} fit`],
      ["a step", `${digits(chosen.seconds)} s`, ""],
      ["memory", `${digits(chosen.bytes / 1e9)} GB`, `of ${memory}`],
      ["MFU", percent(chosen.mfu, 1), ""],
    ],
    text:
      `${values.model} on ${thousands(on.gpus)} GPUs, ${thousands(sequences)} sequences a step: ` +
      (fit ? `the best of ${plans.length} meshes is ${named(best.mesh)}. ` : `none of ${plans.length} meshes fits. `) +
      `${chosen === best ? "It" : `Chosen is ${named(chosen.mesh)}, which`} takes ${digits(chosen.seconds)} s and ${digits(chosen.bytes / 1e9)} GB of a GPU, ${percent(chosen.mfu, 1)} MFU, modelled.`,
    outputs: { gpus: thousands(on.gpus), batch: thousands(sequences) },
  };
}

export default explore("ww-planner", show);
