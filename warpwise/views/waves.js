// The waves widget: blocks on SMs, one wave of them, and the share of the peak against the size.
// The rule is that of model/waves.py.
import { percent, plural, thousands } from "./core.js";
import { cells, circle, is, legend, line, moves, n } from "./draw.js";
import { path, rect, svg, text, worded } from "./draw.js";
import { explore } from "./explore.js";

// Pixels: of the curve; of an SM.
const TOP = 28;
const FOOT = 122;
const LEFT = 44;
const RIGHT = 20;
const WIDE = 30;
const HIGH = 22;

// The tiles of a result, each a block, or the blocks of a launch; their waves, and the share of
// these that is used.
function model({ sms, held, launch }, { device, tile = "1x1" }, size) {
  const slots = sms[device] * held[device];
  const [rows, columns] = tile.split("x").map(Number);
  const down = Math.ceil(size / rows);
  const across = Math.ceil(size / columns);
  const blocks = launch ? size : down * across;
  const count = Math.ceil(blocks / slots);
  return {
    slots,
    rows,
    columns,
    down,
    across,
    blocks,
    count,
    useful: (launch ? size : (size * size) / rows / columns) / count / slots,
  };
}

function curve(data, on, width) {
  const { most, against } = data;
  const x = (s) => LEFT + ((width - LEFT - RIGHT) * s) / most;
  const y = (s) => FOOT - (FOOT - TOP) * model(data, on, s).useful;
  // It falls after multiples of a tile, which all are multiples of 16.
  const by = data.launch ? Math.ceil(most / 512) : 16;
  const points = [];
  const at = (s) => points.push(`${n(x(s))} ${n(y(s))}`);
  const here = x(on.size);
  for (let s = by; s < most; s += by) (at(s), at(s + 1));
  const axes = [0, 50, 100].map((part) => [
    text("end", LEFT - 6, FOOT + 4 - (part / 100) * (FOOT - TOP), `${part} %`),
    line(
      "rule",
      LEFT,
      FOOT - (part / 100) * (FOOT - TOP),
      width - RIGHT,
      FOOT - (part / 100) * (FOOT - TOP),
    ),
  ]);
  const ticks = [1, 2, 3, 4]
    .map((part) => (part * most) / 4)
    .map((s) => text("middle", x(s), FOOT + 17, thousands(Math.floor(s))));
  return [
    text("", 0, 12, `share ${data.of}, against the ${against}`),
    axes,
    ticks,
    path("stroke-one", `M${points.join("L")}`),
    line("edge", here, y(on.size), here, FOOT),
    circle(
      "two",
      here,
      y(on.size),
      5,
      is(
        `${against} ${thousands(on.size)}`,
        `${percent(model(data, on, on.size).useful, 1)} ${data.of}`,
      ),
    ),
  ];
}

// The curve at each two pixels, for a pointer.
function points(data, on, width) {
  const count = Math.floor((width - LEFT - RIGHT) / 2);
  const told = (k) => {
    const size = Math.max(1, Math.round((data.most * (k + 0.5)) / count));
    const share = percent(model(data, on, size).useful, 1);
    return worded(`${data.against} ${thousands(size)}`, `${share} ${data.of}`);
  };
  return cells(LEFT, TOP, 2, FOOT - TOP, count, count, told, true);
}

// The result and its tiles, which may hang over its edge: those of this wave, from first to last,
// and those done, as runs along rows.
function result({ rows, columns, down, across }, size, first, last, top, room) {
  const unit = room / Math.max(down * rows, across * columns);
  const w = columns * unit;
  const h = rows * unit;
  const shapes = [];
  for (let i = 0; i < down; i++)
    for (const [look, from, to] of [
      ["faint", 0, first],
      ["one", first, last],
    ]) {
      const a = Math.max(from - i * across, 0);
      const b = Math.min(to - i * across, across);
      if (b > a) shapes.push(rect(look, a * w, top + i * h, (b - a) * w, h));
    }
  const words = (k) =>
    worded(`tile ${k}`, k < first ? "done" : k < last ? "in this wave" : "waits");
  for (let i = 0; i <= down; i++)
    shapes.push(line("rule", 0, top + i * h, across * w, top + i * h));
  for (let i = 0; i <= across; i++) shapes.push(line("rule", i * w, top, i * w, top + down * h));
  return {
    shapes: [
      shapes,
      rect("edge", 0.8, top, size * unit, size * unit),
      text("strong", 0, top - 12, "The result and its tiles"),
    ],
    marks: () => cells(0, top, w, h, across, down * across, words),
  };
}

// The SMs: on each the number of its block, or how many it has of those that it can hold. A wave
// fills them from below.
const machine = (sms, held, blocks, first, left, top, across, word) =>
  Array.from({ length: sms }, (_, i) => {
    const x = left + (i % across) * WIDE;
    const y = top + Math.floor(i / across) * HIGH;
    const has = Math.max(0, Math.ceil((blocks - i) / sms));
    const h = (19 * has) / held;
    const told = is(
      `SM ${i}`,
      has ? (held > 1 ? `${has} of ${plural(held, word)}` : `${word} ${first + i}`) : "idle",
    );
    return [
      rect("empty", x, y, 27, 19, told),
      has
        ? rect("one", x, y + 19 - h, 27, h, told + moves(`${first} ${i}`, [x, y + 19, 27, 0])) +
          text("inside", x + 13.5, y + 13.5, held > 1 ? has : first + i)
        : "",
    ];
  });

export function show(data, on, width) {
  const { device, tile, size } = on;
  const { launch, word } = data;
  const sms = data.sms[device];
  const held = data.held[device];
  const m = model(data, on, size);
  const next = model(data, on, size + 1);
  const wave = Math.min(on.wave, m.count);
  const first = (wave - 1) * m.slots;
  const now = Math.min(m.blocks - first, m.slots);
  const room = launch ? 0 : Math.min(190, width);
  const beside = width > 480;
  const left = beside && room && room + 28;
  const top = FOOT + 60;
  const low = beside || launch ? top : top + room + 40;
  const across = Math.floor((width - left) / WIDE);
  const end = Math.max(top + room, low + HIGH * Math.ceil(sms / across));
  const key = legend(
    [
      ["one", "in this wave"],
      ["faint", "done"],
      ["empty", "an idle SM"],
    ],
    width,
    end + 12,
  );
  const share = percent(m.useful, 1);
  const whole = launch ? undefined : result(m, size, first, first + now, top, room);
  const what = launch
    ? "The launch"
    : `${thousands(size)} × ${thousands(size)} in tiles of ${tile.replace("x", " × ")}`;
  const waves = (m) => plural(m.count, "wave");
  return {
    picture: svg(width, end + 12 + key.height, `Waves of blocks on ${device}`, [
      curve(data, on, width),
      whole?.shapes ?? "",
      text("strong", left, low - 12, `Wave ${wave} on ${sms} SMs`),
      machine(sms, held, now, first, left, low, across, word),
      key.shapes,
    ]),
    rows: [
      [word + "s", thousands(m.blocks), `of ${thousands(m.slots)} at a time`],
      ["waves", thousands(m.count), ""],
      ["share " + data.of, share, "at most"],
    ],
    text:
      `${what} on ${device}: ${plural(m.blocks, word)}, ${waves(m)} of up to ${thousands(m.slots)}, at most ${share} ${data.of}. ` +
      `Wave ${wave} has ${plural(now, word)}. At ${thousands(size + 1)}: ${waves(next)}, ${percent(next.useful, 1)}.`,
    limits: { wave: [1, m.count] },
    outputs: { size: thousands(size) },
    marks: () => [...points(data, on, width), ...(whole?.marks() ?? [])],
  };
}

const drag = ({ most }, x, y, width) =>
  y < FOOT + 20 && { size: Math.round(((x - LEFT) * most) / (width - LEFT - RIGHT)) };

export default explore("ww-waves", show, drag);
