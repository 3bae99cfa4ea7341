// The exponentials widget: clocks of an SM for a tile of scores on its tensor cores, its
// special-function unit and its float32 lanes. The rule is that of model/exponentials.py.
import { percent, thousands } from "./core.js";
import { is, legend, line, moves, rect, svg, text } from "./draw.js";
import { explore } from "./explore.js";

// Pixels: a bar, and from one to the next.
const HIGH = 20;
const STEP = 46;
const UNITS = ["products", "exponentials", "lanes"];
const LOOKS = ["one", "two", "three"];
const WORDS = [
  "tensor cores: products",
  "special functions: powers of 2",
  "float32 lanes: the rest",
];

function units({ scores, devices }, { device, d, bits }, part) {
  const of = devices[device];
  return {
    products: (scores * of.product * +d * +bits) / 16,
    exponentials: scores * of.exponential * (1 - part),
    lanes: scores * (of.softmax + of.polynomial * part),
  };
}

const sum = (of) => UNITS.reduce((so, unit) => so + of[unit], 0);
const longest = (of) => Math.max(...UNITS.map((unit) => of[unit]));
const whole = (clocks) => thousands(Math.round(clocks));

// The share, in percent, of powers of 2 on the lanes with which all units end soonest.
function best(data, on) {
  const shares = Array.from({ length: data.most + 1 }, (_, k) => k);
  const time = (k) => longest(units(data, on, k / 100));
  return shares.reduce((so, k) => (time(k) < time(so) - 1e-9 ? k : so), 0);
}

export function show(data, on, width) {
  const now = units(data, on, on.polynomial / 100);
  const most = Math.max(
    sum(units(data, on, 0)),
    sum(units(data, on, data.most / 100)),
  );
  const scale = (width - 2) / most;
  const scarce = UNITS.reduce((so, unit) => (now[unit] > now[so] ? unit : so));
  const bar = (unit, x, y) => {
    const words = is(unit, `${whole(now[unit])} clocks`);
    const key = moves(`${unit} ${y}`, [x, y, 0, HIGH]);
    return rect(LOOKS[UNITS.indexOf(unit)], x, y, now[unit] * scale, HIGH, words + key);
  };
  let x = 1;
  const turns = UNITS.map((unit) => {
    const shape = bar(unit, x, 22);
    x += now[unit] * scale;
    return shape;
  });
  const top = 82;
  const mark = 1 + longest(now) * scale;
  const rows = UNITS.map((unit, i) => [
    text("", 1, top + STEP * i + 12, `${WORDS[i]}, ${whole(now[unit])} clocks`),
    bar(unit, 1, top + STEP * i + 18),
    line("edge", mark, top + STEP * i + 17, mark, top + STEP * i + 19 + HIGH),
  ]);
  const end = top + STEP * UNITS.length + 4;
  const key = legend(
    [
      ["one", "products"],
      ["two", "powers of 2"],
      ["three", "lanes"],
    ],
    width,
    end + 10,
  );
  const idle = now.products / longest(now);
  const share = best(data, on);
  const least = longest(units(data, on, share / 100));
  return {
    picture: svg(width, end + 10 + key.height, `Clocks of a tile of scores on ${on.device}`, [
      text("strong", 1, 13, "One after another"),
      turns,
      text("strong", 1, 70, "At the same time"),
      rows,
      key.shapes,
    ]),
    rows: [
      ["one after another", whole(sum(now)), "clocks"],
      ["at the same time", whole(longest(now)), `clocks, bound by ${scarce}`],
      ["tensor cores busy", percent(idle, 1), "at most"],
      ["best share on the lanes", `${share} %`, `${whole(least)} clocks`],
    ],
    text:
      `A tile of 128 × 128 scores on ${on.device}, d = ${on.d}, ${on.bits} bits: products ${whole(now.products)} clocks, ` +
      `powers of 2 ${whole(now.exponentials)}, lanes ${whole(now.lanes)}. ` +
      `One after another ${whole(sum(now))}; at the same time ${whole(longest(now))}, ` +
      `with the tensor cores busy for at most ${percent(idle, 1)}.`,
  };
}

export default explore("ww-exponentials", show);
