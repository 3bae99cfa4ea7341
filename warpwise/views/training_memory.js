// The training memory widget: buffers of a step, their sum beside the memory of a GPU, and the
// largest batch that fits. Buffers, with bytes for no text and for each more, are those of
// model/training_memory.py. Data: places, most, buffers.
import { percent, plural } from "./core.js";
import { is, legend, line, moves, rect, svg, text } from "./draw.js";
import { explore } from "./explore.js";

// Pixels: a row and its bar, what stands left and right of it, and where rows begin.
const ROW = 21;
const BAR = 15;
const LEFT = 162;
const RIGHT = 48;
const TOP = 80;
const GIB = 2 ** 30;
const LOOKS = { state: "three", layers: "one", once: "two" };
const WORDS = {
  state: "of the parameters",
  layers: "kept for every layer",
  once: "once for all layers",
};

const kept = ({ buffers }, on) =>
  buffers[`${on.size} ${on.itemsize} ${on.recomputed} ${+on.flash}`].map(
    ([name, place, fixed, more]) => ({ name, place, fixed, more, bytes: fixed + more * on.batch }),
  );
const all = (some, of) => some.reduce((so, one) => so + of(one), 0);
const size = (some) => all(some, (one) => one.bytes);
const gib = (bytes) => (bytes / GIB).toFixed(bytes < 100 * GIB ? 2 : 1);

// The largest batch that fits into so many GiB.
const fitting = (some, room) => {
  const left = room * GIB - all(some, (one) => one.fixed);
  return Math.max(0, Math.floor(left / all(some, (one) => one.more)));
};

export function show(data, on, width) {
  const now = kept(data, on);
  const sum = size(now);
  const room = +on.gib * GIB;
  const scale = (width - 4) / Math.max(sum, room);
  let x = 1;
  const stack = data.places.map((place) =>
    now
      .filter((one) => one.place === place)
      .map((one) => {
        const words = is(one.name, `${gib(one.bytes)} GiB`, WORDS[place]);
        const wide = one.bytes * scale;
        const bar = rect(LOOKS[place], x, 24, wide, 20, words + moves(one.name, [x, 24, 0, 20]));
        x += wide;
        return bar;
      }),
  );
  const edge = 1 + room * scale;
  const longest = Math.max(...now.map((one) => one.bytes));
  const long = (width - LEFT - RIGHT) / longest;
  const rows = now.map((one, i) => {
    const y = TOP + ROW * i;
    const words = is(one.name, `${gib(one.bytes)} GiB`, WORDS[one.place]);
    const key = moves(`row ${one.name}`, [LEFT, y, 0, BAR]);
    return [
      text("", 1, y + 12, one.name),
      rect(LOOKS[one.place], LEFT, y, one.bytes * long, BAR, words + key),
      text("end", width - 1, y + 12, gib(one.bytes)),
    ];
  });
  const end = TOP + ROW * now.length + 8;
  const key = legend(
    [
      ["three", "parameters, gradients, Adam"],
      ["one", "activations of layers"],
      ["two", "once for all layers"],
    ],
    width,
    end,
  );
  const most = fitting(now, +on.gib);
  const state = size(now.filter((one) => one.place === "state"));
  const fits = sum <= room ? "fits" : "does not fit";
  return {
    picture: svg(width, end + key.height, "Memory of a training step", [
      text("strong", 1, 13, `${gib(sum)} of ${on.gib} GiB`),
      rect("empty", 1, 24, room * scale, 20, is("memory of the GPU", `${on.gib} GiB`)),
      stack,
      line("edge", edge, 20, edge, 48),
      text("strong", 1, TOP - 12, "Buffer by buffer, GiB"),
      rows,
      key.shapes,
    ]),
    rows: [
      ["in all", `${gib(sum)} GiB`, fits],
      ["activations", `${gib(sum - state)} GiB`, percent(sum - state, sum)],
      ["largest batch", most, `in ${on.gib} GiB`],
    ],
    text:
      `Training GPT-2, ${on.size}, on ${plural(on.batch, "text")} takes ${gib(sum)} GiB: ` +
      `${gib(state)} for parameters, gradients and Adam, and ${gib(sum - state)} for activations. ` +
      `It ${fits} into ${on.gib} GiB, where the largest batch has ${plural(most, "text")}.`,
  };
}

export default explore("ww-training_memory", show);
