// The mystery: the modelled speed of n x n matrix products against n, in lines. The rule is that of
// model/matmul.py.
import { percent, plural, thousands } from "./core.js";
import { circle, is, line, n, path, svg, text, worded } from "./draw.js";
import { explore } from "./explore.js";

// Pixels. A row of data.lines has its name, its first size after the least, and the look of its
// points: class, and shape about the middle.
const TOP = 44;
const FOOT = 286;
const LEFT = 36;
const RIGHT = 20;
const TERA = 1e12;
const spot = ([, x, y]) => `M${n(x)} ${n(y)}`;

// The model for n with the causes that are on: bytes of a load, tiles, rounds of the SMs,
// operations in a second.
function model(n, on, { item, widest, tile: [rows, columns], copy, turns, units, devices }) {
  const { sms, peak, memory, clock } = devices[on.device];
  let width = widest;
  while ((item * n) % width) width /= 2;
  const tiles = on.tiles
    ? Math.ceil(n / rows) * Math.ceil(n / columns)
    : (n * n) / (rows * columns);
  const rounds = on.waves ? Math.ceil(Math.ceil(tiles) / sms) : tiles / sms;
  const narrow = on.alignment && width < copy;
  const extra = narrow ? (turns * (rows + columns)) / units / clock : 0;
  const compute = rounds * n * ((2 * rows * columns * sms) / peak + extra);
  const seconds = on.memory ? Math.max(compute, (3 * item * n * n) / memory) : compute;
  return { width, tiles, rounds, rate: (2 * n ** 3) / seconds };
}

// The cause without which it is fastest, and how many times as fast.
function limiter(n, on, data) {
  const now = model(n, on, data).rate;
  const gain = (cause) => [cause, model(n, { ...on, [cause]: 0 }, data).rate / now];
  return data.causes.map(gain).reduce((a, b) => (b[1] > a[1] ? b : a), ["", 1 + 1e-9]);
}

// The scales of sizes and speeds, and the points of all lines: [n, x, y] of each. A narrow picture
// has half of them.
function plot(data, on, width) {
  const [least, most] = data.span;
  const { peak } = data.devices[on.device];
  const x = (n) => LEFT + ((width - LEFT - RIGHT) * (n - least)) / (most - least);
  const y = (rate) => FOOT - ((FOOT - TOP) * rate) / peak;
  const lines = data.lines.map(([, first]) => {
    const points = [];
    for (let n = least + first; n <= most; n += width < 480 ? 32 : 16)
      points.push([n, x(n), y(model(n, on, data).rate)]);
    return points;
  });
  return { x, y, lines };
}

function axes({ x, y }, { peak, memory }, { item, span: [least, most] }, width, slope) {
  const knee = (1.5 * item * peak) / memory;
  const end = width - RIGHT;
  const shapes = [
    text("", 0, 12, "TFLOP/s, modelled"),
    text("end", end, TOP - 7, `peak ${peak / TERA}`),
    line("dots", LEFT, TOP, end, TOP),
    line("rule", LEFT, FOOT, end, FOOT),
  ];
  for (let rate = 0; rate < peak * 0.93; rate += peak > 5e14 ? 2e14 : 1e14)
    shapes.push(
      text("end", LEFT - 6, y(rate) + 4, rate / TERA),
      line("grid", LEFT, y(rate), end, y(rate)),
    );
  for (let n = 512; n <= most; n += 512)
    shapes.push(
      line("rule", x(n), FOOT, x(n), FOOT + 5),
      n % 1024 ? "" : text("middle", x(n), FOOT + 18, thousands(n)),
    );
  if (slope)
    shapes.push(
      line("dots", x(least), y((peak * least) / knee), x(knee), TOP),
      text("", x(knee) - 4, TOP - 7, "memory limit"),
    );
  return shapes;
}

export function show(data, on, width) {
  const { device, n } = on;
  const gpu = data.devices[device];
  const to = plot(data, on, width);
  const now = model(n, on, data);
  const next = model(n + 1, on, data).rate;
  const [cause, gain] = limiter(n, on, data);
  const at = to.x(n);
  const key = data.lines.map(([name, , look, shape], i) => {
    const x = LEFT + 54 + 62 * i;
    return path(look, spot([n, x, FOOT + 38]) + shape) + text("", x + 9, FOOT + 42, name);
  });
  const points = to.lines.map((line, i) => {
    const [, , look, shape] = data.lines[i];
    return path(look, line.map((at) => spot(at) + shape).join(""));
  });
  const [speed, then] = [now.rate, next].map((rate) => (rate / TERA).toPrecision(3));
  const rings = [
    line("edge", at, to.y(now.rate), at, to.y(next)),
    circle("edge", at, to.y(now.rate), 6, is(`n ${thousands(n)}`, `${speed} TFLOP/s`)),
    circle("edge", at, to.y(next), 3, is(`n ${thousands(n + 1)}`, `${then} TFLOP/s`)),
  ];
  const words = (size) =>
    worded(`n ${thousands(size)}`, `${(model(size, on, data).rate / TERA).toPrecision(3)} TFLOP/s`);
  const square = (k) => `${thousands(k)} × ${thousands(k)}`;
  const part = percent(now.rate, gpu.peak);
  const waves = on.waves ? plural(now.rounds, "wave") : "shared out evenly";
  const tiles = plural(Math.ceil(now.tiles), "tile");
  const costs = cause
    ? `What costs most: ${data.words[cause]}. Without it the speed is ${gain < 100 ? gain.toFixed(2) : thousands(Math.round(gain))} times as high.`
    : "Nothing holds it back.";
  return {
    picture: svg(width, FOOT + 50, "Modelled speed of matrix products against their size", [
      axes(to, gpu, data, width, on.memory),
      points.reverse(),
      rings,
      text("", LEFT, FOOT + 42, "size n:"),
      '<g class="key">',
      key,
      "</g>",
    ]),
    rows: [
      [square(n), speed, `TFLOP/s, ${part} of the peak`],
      [
        "one size up, " + square(n + 1),
        then,
        `TFLOP/s, ${(next / now.rate).toFixed(2)} times as fast`,
      ],
    ],
    text:
      `${square(n)} on ${device}: ${speed} TFLOP/s, ${part} of the peak (modelled). ${tiles} for ${gpu.sms} SMs, ${waves}, loads of ` +
      `${now.width} bytes. ${costs} One size up: ${then} TFLOP/s.`,
    outputs: { n: thousands(n) },
    marks: () => to.lines.flat().map(([size, x, y]) => [x - 3, y - 3, 6, 6, words(size)]),
  };
}

// The point nearest to the pointer.
function drag(data, x, y, width, on) {
  const far = ([, a, b]) => (a - x) ** 2 + (b - y) ** 2;
  return {
    n: plot(data, on, width)
      .lines.flat()
      .reduce((a, b) => (far(b) < far(a) ? b : a))[0],
  };
}

export default explore("ww-mystery", show, drag);
