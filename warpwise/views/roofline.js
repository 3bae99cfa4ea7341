// The roofline widget: a device's roofs, and on one of them a point or a kernel's stretch. Peaks
// and intensities come from Python.
import { escape } from "./core.js";
import { cells, circle, is, line, n, path, press, rect, svg, text, worded } from "./draw.js";
import { explore } from "./explore.js";

// Pixels; and steps of the slider in an octave.
const LEFT = 42;
const TOP = 20;
const FOOT = 244;
const ROWS = 310;
const ROW = 26;
const STEPS = 8;

const three = (v) => `${+v.toPrecision(3)}`;
// 67 T. A number that would be rounded to 1,000 takes the next letter.
const rate = (v) => {
  const k = Math.floor(Math.log10(v * 1.0005) / 3);
  return `${three(v / 1000 ** k)} ${" kMGTPE"[k]}`;
};
const flops = (v) => rate(v) + "FLOP/s";
const span = ([a, b], words) => (words(a) === words(b) ? words(a) : `${words(a)} to ${words(b)}`);

// A least (ring) and a most (disc) intensity, each at its x and y.
const marks = (name, [[x, y], [X, Y]], r, more, [least, most]) => [
  circle(`ring ${name}`, x, y, r, more + least),
  circle(`ink ${name}`, X, Y, r, more + most),
];
// A kernel's two ends, or a point, in words.
const ends = ({ name, flops_per_byte: [a, b] }, reach) =>
  [
    [a, reach[0], a < b && "no cache helps"],
    [b, reach[1], a < b && "every byte moves once"],
  ].map(([v, most, why]) => is(name, `${three(v)} FLOP per byte`, `at most ${flops(most)}`, why));

// Scales of intensities and rates, both logarithmic, and the rate under a device's roof with a
// peak.
function under({ octaves: [least, most], decades: [low, high], devices }, device, width) {
  const { bytes } = devices[device];
  const right = width - 8;
  const x = (v) => LEFT + ((right - LEFT) * (Math.log2(v) - least)) / (most - least);
  const y = (v) => FOOT - ((FOOT - TOP) * (Math.log10(v) - low)) / (high - low);
  const reach = (all, peak) => all.map((v) => Math.min(peak, v * bytes));
  const at = (all, peak) => reach(all, peak).map((v, i) => [x(all[i]), y(v)]);
  const roof = (name, [a, b], peak) =>
    path(
      name,
      "M" +
        at([a, Math.min(Math.max(peak / bytes, a), b), b], peak)
          .map((p) => p.map(n))
          .join("L"),
    );
  // The roof at each two pixels, for a pointer.
  const count = Math.floor((right - LEFT) / 2);
  const along = (peak, work) =>
    cells(
      LEFT,
      TOP,
      2,
      FOOT - TOP,
      count,
      count,
      (k) => {
        const v = 2 ** (least + ((most - least) * (k + 0.5)) / count);
        return worded(work, `${three(v)} FLOP per byte`, `at most ${flops(reach([v], peak)[0])}`);
      },
      true,
    );
  return { bytes, right, x, y, reach, at, roof, along };
}

const axes = ({ ticks: [along, up] }, { x, y, right }) => [
  text("small", 0, 11, "FLOP/s"),
  text("small end", right, FOOT + 33, "FLOP per byte of DRAM"),
  along.map((v) => [
    line("grid", x(v), TOP, x(v), FOOT),
    text("small middle", x(v), FOOT + 15, three(v)),
  ]),
  up.map((v) => [
    line("grid", LEFT, y(v), right, y(v)),
    text("small end", LEFT - 5, y(v) + 4, rate(v)),
  ]),
];

// The roofs of all precisions, and the chosen one with its knee.
function roofs({ octaves, precisions }, peaks, peak, knee, point, { x, y, right, roof }) {
  const all = octaves.map((e) => 2 ** e);
  const shapes = Object.entries(peaks).map(([name, most]) => {
    const words = precisions[name] + (right < 392 ? "" : " " + rate(most));
    const below = name === "float64" ? 12 : -4;
    return [
      roof("rule", all, most),
      text("small end" + (most === peak ? " strong" : ""), right, y(most) + below, words),
    ];
  });
  const over = x(knee);
  const top = y(peak);
  // Beside its line, away from the point's.
  const aside = point < over && over + 70 < right ? 5 : -5;
  return [
    shapes,
    roof("roof", all, peak),
    line("dots", over, top, over, FOOT),
    text(aside > 0 ? "" : "end", over + aside, FOOT - 7, `knee ${three(knee)}`),
  ];
}

// Each kernel under its own roof, and in a row below the axis.
const listed = (kernels, chosen, device, { x, right, at, reach }) =>
  kernels.map((one, i) => {
    const top = ROWS + ROW * i;
    const [a, b] = one.flops_per_byte.map(x);
    const row = top + 19;
    const here = one === chosen;
    const set = press({ kernel: i });
    const said = ends(one, reach(one.flops_per_byte, one.peaks[device]));
    return [
      marks("", at(one.flops_per_byte, one.peaks[device]), 4, set, said),
      rect(
        here ? "faint" : "press",
        0,
        top,
        right + 8,
        ROW - 2,
        set + is(one.name, `${span(one.flops_per_byte, three)} FLOP per byte`),
      ),
      text(here ? "strong" : "", 6, top + 12, escape(one.name)),
      line("grid", LEFT, row, right, row),
      line("edge", a, row, b, row),
      marks(
        "",
        [
          [a, row],
          [b, row],
        ],
        4,
        "",
        said,
      ),
    ];
  });

export function show(data, { device, precision, kernel, intensity }, width) {
  const { kernels, precisions, key } = data;
  const { peaks } = data.devices[device];
  const chosen = kernels[kernel];
  const off = !!chosen;
  const hand = 2 ** (intensity / STEPS);
  const by = chosen ?? {
    name: "A point",
    work: precisions[precision],
    flops_per_byte: [hand, hand],
  };
  const its = under(data, device, width);
  const [from, to] = by.flops_per_byte;
  const peak = chosen ? chosen.peaks[device] : peaks[precision];
  const knee = peak / its.bytes;
  const reach = its.reach([from, to], peak);
  const stands = its.at([from, to], peak);
  const side = to < knee ? "memory" : from < knee ? "memory or arithmetic" : "arithmetic";
  const part = span(reach, (v) => `${three((100 * v) / peak)} %`);
  const most = span(reach, flops);
  const where = span([from, to], three);
  const rise = `${three(knee)} FLOP per byte`;
  return {
    picture: svg(width, ROWS + (key ? ROW * kernels.length : -32), `The roofline of ${device}`, [
      axes(data, its),
      roofs(data, peaks, peak, knee, its.x(from), its),
      text("", 0, ROWS - 8, key),
      listed(kernels, chosen, device, its),
      its.roof("stretch", [from, to], peak),
      stands.map(([x, y]) => line("stroke-one", x, y, x, FOOT)),
      marks("chosen", stands, 6, "", ends(by, reach)),
    ]),
    rows: [
      ["at most", most, `${part} of the peak`],
      ["limited by", side, `knee at ${rise}`],
    ],
    text:
      `${by.name} at ${where} FLOP per byte of DRAM, in ${by.work}: ${device} can do at most ${most}, ${part} of its peak ` +
      `of ${flops(peak)}. The limit is ${side}, for the knee is at ${rise}.`,
    marks: () => its.along(peak, by.work),
    outputs: { intensity: chosen ? "-" : where },
    disabled: { precision: off, intensity: off },
  };
}

export function drag({ octaves: [least, most], kernels }, x, y, width) {
  const row = Math.floor((y - ROWS) / ROW);
  const octave = least + ((most - least) * (x - LEFT)) / (width - LEFT - 8);
  return kernels[row] ? { kernel: row } : { kernel: "", intensity: Math.round(octave * STEPS) };
}

export default explore("ww-roofline", show, drag);
