// The ZeRO widget: a bar for each stage, of weights, gradients and the optimizer's state, against
// the memory of a GPU. The rule is that of model/zero.py.
import { plural, thousands } from "./core.js";
import { is, legend, letters, line, rect, svg, text } from "./draw.js";
import { explore } from "./explore.js";

// Pixels: the column of names, a stage's row, its bar, and the room for numbers behind it.
const LEFT = 58;
const ROW = 34;
const BAR = 20;
const BEHIND = 78;
const TOP = 24;

function kept(parameters, ranks, stage, gradient) {
  return {
    weights: (parameters * 2) / (stage === 3 ? ranks : 1),
    gradients: (parameters * gradient) / (stage >= 2 ? ranks : 1),
    state: (parameters * 12) / (stage >= 1 ? ranks : 1),
  };
}

// Arrays as large as the model that a rank sends in a step.
const sent = (ranks, stage, micro) =>
  ((ranks - 1) / ranks) * ((stage >= 2 ? micro : 1) + (stage === 3 ? 2 * micro : 1));

const gb = (bytes) => {
  const value = bytes / 1e9;
  return `${value < 100 ? +value.toPrecision(3) : thousands(Math.round(value))} GB`;
};

export function show({ billions }, on, width) {
  const parameters = 1e9 * billions[on.model];
  const ranks = 2 ** on.ranks;
  const memory = 1e9 * on.memory;
  const stages = [0, 1, 2, 3].map((stage) => {
    const parts = kept(parameters, ranks, stage, +on.gradient);
    return { stage, parts, total: parts.weights + parts.gradients + parts.state };
  });
  const most = Math.max(stages[0].total, memory);
  const scale = (width - LEFT - BEHIND) / most;
  const high = TOP + ROW * 4;
  const look = { weights: "one", gradients: "two", state: "three" };
  const bar = ({ stage, parts, total }) => {
    let x = LEFT;
    const y = TOP + ROW * stage;
    const shapes = Object.entries(parts).map(([name, bytes]) => {
      const shape = rect(look[name], x, y, bytes * scale, BAR, is(`stage ${stage}, ${name}`, gb(bytes)));
      x += bytes * scale;
      return shape;
    });
    const fits = total <= memory ? "strong" : "";
    return [text("", 0, y + 14, stage ? `stage ${stage}` : "none"), shapes, text(fits, x + 6, y + 14, gb(total))];
  };
  const limit = LEFT + memory * scale;
  const words = `${on.memory} GB`;
  const key = legend(
    [["one", "weights"], ["two", "gradients"], ["three", "optimizer's state"]],
    width,
    high + 8,
  );
  const least = stages.find(({ total }) => total <= memory);
  const arrays = stages.map(({ stage }) => +sent(ranks, stage, on.micro).toFixed(2));
  return {
    picture: svg(width, high + 8 + key.height, `What a rank keeps, by stage of ZeRO`, [
      line("dots", limit, TOP - 6, limit, high - 6),
      text("middle small", Math.min(limit, width - letters(words, 11) / 2), TOP - 10, words),
      stages.map(bar),
      key.shapes,
    ]),
    rows: [
      ["sent without", arrays[0], "arrays"],
      ["stage 1", arrays[1], ""],
      ["stage 2", arrays[2], ""],
      ["stage 3", arrays[3], ""],
    ],
    text:
      `${thousands(billions[on.model])} billion parameters on ${plural(ranks, "rank")}: ${gb(stages[0].total)} each without ZeRO, ${gb(stages[3].total)} with stage 3. ` +
      (least
        ? least.stage
          ? `In ${words} stage ${least.stage} is the first to fit, and a rank sends ${arrays[least.stage]} arrays in place of ${arrays[0]}.`
          : `All of it fits in ${words}.`
        : `None fits in ${words}.`) +
      " A model: activations are left out.",
    outputs: { model: `${thousands(billions[on.model])} billion`, ranks: thousands(ranks) },
  };
}

export default explore("ww-zero", show);
