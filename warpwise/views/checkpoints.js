// The checkpoints widget: the share of useful time against the interval, and its best. The formulas
// are those of model/checkpoints.py.
import { percent, thousands } from "./core.js";
import { circle, is, line, n, path, svg, text } from "./draw.js";
import { explore } from "./explore.js";

// Pixels: left of, below and above the curve, and its height.
const LEFT = 44;
const BELOW = 34;
const TOP = 16;
const HIGH = 190;
const MOST = 240; // minutes

const useful = (interval, write, between, restart) =>
  interval / (between * Math.exp(restart / between) * Math.expm1((interval + write) / between));

// Where (1 - interval / between) exp((interval + write) / between) is 1.
function daly(write, between) {
  let [low, high] = [0, between];
  for (let k = 0; k < 200; k++) {
    const middle = (low + high) / 2;
    if ((1 - middle / between) * Math.exp((middle + write) / between) > 1) low = middle;
    else high = middle;
  }
  return (low + high) / 2;
}

const across = (minutes, width) => LEFT + (Math.log(minutes) / Math.log(MOST)) * (width - LEFT - 8);
const span = (s) =>
  s < 90 ? `${+s.toPrecision(3)} s` : s < 5400 ? `${+(s / 60).toPrecision(3)} min` : `${+(s / 3600).toPrecision(3)} h`;

export function show({ writes }, on, width) {
  const gpus = 2 ** on.gpus;
  const write = writes[on.write];
  const restart = 60 * on.restart;
  const between = (on.years * 365 * 86400) / gpus;
  const share = (seconds) => useful(seconds, write, between, restart);
  const best = daly(write, between);
  const young = Math.sqrt(2 * write * between);
  const x = (seconds) => across(Math.min(MOST, Math.max(1, seconds / 60)), width);
  const y = (part) => TOP + HIGH * (1 - part);
  const points = Array.from({ length: 121 }, (_, k) => 60 * MOST ** (k / 120));
  const curve = points.map((s, k) => `${k ? "L" : "M"}${n(x(s))} ${n(y(share(s)))}`).join("");
  const now = 60 * on.interval;
  const lost = 1 - share(now);
  const inside = best >= 60 && best <= 60 * MOST;
  return {
    picture: svg(width, TOP + HIGH + BELOW, "Useful time against the interval", [
      [0, 0.25, 0.5, 0.75, 1].map((part) => [
        line("grid", LEFT, y(part), width - 8, y(part)),
        text("end small", LEFT - 6, y(part) + 4, `${100 * part} %`),
      ]),
      [1, 5, 20, 60, 240].map((minutes) => [
        line("grid", across(minutes, width), TOP, across(minutes, width), TOP + HIGH),
        text("middle small", Math.min(across(minutes, width), width - 14), TOP + HIGH + 15, minutes),
      ]),
      text("end small", width - 8, TOP + HIGH + 30, "minutes between two checkpoints"),
      path("stroke-one", curve),
      inside
        ? [
            line("dots", x(best), TOP, x(best), TOP + HIGH),
            circle("three", x(best), y(share(best)), 5, is("the best interval", span(best), percent(share(best), 1))),
          ]
        : "",
      circle("two", x(now), y(share(now)), 5, is("this interval", span(now), percent(share(now), 1))),
    ]),
    rows: [
      ["an interruption every", span(between), ""],
      ["useful", percent(share(now), 1), "of the time"],
      ["the best interval", span(best), `useful ${percent(share(best), 1)}`],
      ["Young's formula", span(young), ""],
    ],
    text:
      `${thousands(gpus)} GPUs are interrupted every ${span(between)} on average. Saved every ${span(now)}, ${percent(share(now), 1)} of the time is work that lasts, and ${percent(lost, 1)} is lost to writing, to work done again and to restarts; ` +
      `best is every ${span(best)}, with ${percent(share(best), 1)}. A model: interruptions come at random, one by one.`,
    outputs: { gpus: thousands(gpus), write: span(write), interval: `${on.interval} min` },
  };
}

const chosen = (_, x, y, width) => ({
  interval: Math.round(Math.min(MOST, Math.max(1, MOST ** ((x - LEFT) / (width - LEFT - 8))))),
});

export default explore("ww-checkpoints", show, chosen);
