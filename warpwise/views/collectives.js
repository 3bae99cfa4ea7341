// The collectives widget: a row for each rank, a column for each piece, and what arrived in this
// round. The rule is that of model/collectives.py.
import { binary, percent, plural } from "./core.js";
import { is, legend, line, moves, n, rect, svg, text } from "./draw.js";
import { explore } from "./explore.js";
import { timed } from "./timed.js";

// Pixels: the column of names, a row, the most of a cell, and above the rows.
const LEFT = 58;
const ROW = 24;
const WIDEST = 64;
const TOP = 22;

const range = (count, from = 0) => Array.from({ length: count }, (_, k) => from + k);

// Seconds below are pairs: latencies, and bytes over the link.
// The messages of each round, as [source, target, piece]; piece -1 is the whole array.
function roundsOf(way, p) {
  const at = (k) => ((k % p) + p) % p;
  const ranks = range(p);
  const scatter = range(p - 1, 1).map((k) => ranks.map((r) => [r, at(r + 1), at(r - k)]));
  const gather = range(p - 1).map((k) => ranks.map((r) => [r, at(r + 1), at(r - k)]));
  const exchange = range(p - 1, 1).map((k) => ranks.map((r) => [r, at(r + k), at(r + k)]));
  const reaches = range(Math.ceil(Math.log2(p))).map((k) => 2 ** k);
  const up = reaches.map((reach) =>
    ranks.filter((r) => r % (2 * reach) === reach).map((r) => [r, r - reach, -1]),
  );
  const down = reaches.map((reach) =>
    range(Math.min(reach, p - reach)).map((r) => [r, r + reach, -1]),
  );
  return {
    "ring all-reduce": [...scatter, ...gather],
    "tree all-reduce": [...up, ...down],
    "reduce-scatter": scatter,
    "all-gather": gather,
    "all-to-all": exchange,
    broadcast: down,
  }[way];
}

// By rank and column, the ranks whose terms are there, as bits.
function begins(way, p) {
  const all = way.endsWith("reduce") || way === "reduce-scatter";
  return range(p).map((r) =>
    range(p).map((c) => (all ? 1 << r : way === "broadcast" ? (r ? 0 : 1) : r === c ? 1 : 0)),
  );
}

// What a message of one round brings: [rank, column] of each cell.
function arrive(way, p, [source, target, piece]) {
  if (way === "all-to-all") return [[target, source, 1]];
  return (piece < 0 ? range(p) : [piece]).map((c) => [target, c]);
}

function after(way, p, rounds) {
  let held = begins(way, p);
  for (const each of rounds) {
    const next = held.map((row) => [...row]);
    for (const one of each)
      for (const [r, c, whole] of arrive(way, p, one)) next[r][c] |= whole ?? held[one[0]][c];
    held = next;
  }
  return held;
}

function secondsOf(each, p, nbytes, { latency, rate, ring }) {
  const size = (piece) => (piece < 0 ? nbytes : nbytes / p);
  if (!ring) return [latency, size(each[0][2]) / rate];
  const loads = {};
  let most = 0;
  for (const [source, target, piece] of each) {
    const up = (target - source + p) % p;
    const [step, hops] = up <= p - up ? [1, up] : [-1, p - up];
    most = Math.max(most, hops);
    for (let k = 0; k < hops; k++) {
      const link = `${(source + k * step + p * k) % p} ${step}`;
      loads[link] = (loads[link] ?? 0) + size(piece);
    }
  }
  return [most * latency, Math.max(...Object.values(loads)) / rate];
}

const bits = (mask) => range(16).filter((r) => (mask >> r) & 1);

export function show({ links }, on, width) {
  const { way, p } = on;
  const rounds = roundsOf(way, p);
  const step = Math.min(on.step, rounds.length);
  const held = after(way, p, rounds.slice(0, step));
  const now = step ? rounds[step - 1] : [];
  const nbytes = 2 ** on.size;
  const spent = rounds.map((each) => secondsOf(each, p, nbytes, links[on.links]));
  const lasts = spent.map(([waits, moves]) => waits + moves);
  const all = lasts.reduce((so, one) => so + one, 0);
  const latency = spent.reduce((so, [waits]) => so + waits, 0);
  const sent = range(p).map((r) =>
    rounds.flat().reduce((so, [source, , piece]) =>
      source === r ? so + (piece < 0 ? nbytes : nbytes / p) : so, 0),
  );
  const most = Math.max(...sent);
  const full = way.endsWith("reduce") || way === "reduce-scatter" ? 2 ** p - 1 : 1;
  const wide = Math.min(WIDEST, (width - LEFT - 2) / p);
  const x = (c) => LEFT + wide * c;
  const y = (r) => TOP + ROW * r;
  const came = new Map();
  for (const one of now)
    for (const [r, c] of arrive(way, p, one)) came.set(`${r} ${c}`, one[0]);
  const cell = (r, c) => {
    const mask = held[r][c];
    const from = came.get(`${r} ${c}`);
    const part = bits(mask).length / bits(full).length;
    const words = is(
      `rank ${r}, ${way === "all-to-all" ? `from rank ${c}` : `piece ${c}`}`,
      !mask ? "not here" : full === 1 ? "here" : mask === full ? "the whole sum" : `terms of ${bits(mask).join(", ")}`,
      from === undefined ? "" : `came from rank ${from}`,
    );
    const high = (ROW - 6) * part;
    return [
      rect("empty", x(c) + 1, y(r) + 1, wide - 2, ROW - 4, words),
      mask ? rect(mask === full ? "two" : "one", x(c) + 2, y(r) + ROW - 4 - high, wide - 4, high) : "",
      from === undefined
        ? ""
        : rect("edge", x(c) + 1, y(r) + 1, wide - 2, ROW - 4,
            moves(`${r} ${c}`, [x(c) + 1, y(from) + 1, wide - 2, ROW - 4])),
    ];
  };
  const high = TOP + ROW * p + 14;
  const scale = (width - LEFT - 2) / all;
  const starts = lasts.map((_, k) => lasts.slice(0, k).reduce((so, one) => so + one, 0));
  const key = legend(
    [
      full === 1 ? ["two", "here"] : ["one", "part of a sum"],
      ...(full === 1 ? [] : [["two", "the whole sum"]]),
      ["edge", "came in this round"],
    ],
    width,
    high + 30,
  );
  const names = way === "all-to-all" ? "from" : "piece";
  return {
    picture: svg(width, high + 30 + key.height, `${way} of ${p} ranks after round ${step}`, [
      text("", 0, TOP - 8, names),
      range(p).map((c) => text("middle", x(c) + wide / 2, TOP - 8, c)),
      range(p).map((r) => text("", 0, y(r) + 16, `rank ${r}`)),
      range(p).map((r) => range(p).map((c) => cell(r, c))),
      text("", 0, high + 11, "time"),
      lasts.map((one, k) =>
        rect(k === step - 1 ? "one" : k < step ? "grey" : "faint", LEFT + starts[k] * scale, high,
          Math.max(1, one * scale - 1), 14, is(`round ${k + 1}`, timed(one)))),
      line("rule", LEFT, high + 17, LEFT + all * scale, high + 17),
      key.shapes,
    ]),
    rows: [
      ["rounds", rounds.length, ""],
      ["sent by the busiest rank", n(most / nbytes * 100) / 100, "times its array"],
      ["time", timed(all), ""],
      ["of it latency", percent(Math.min(1, latency / all), 1), ""],
    ],
    text:
      `${way} of ${plural(p, "rank")} with ${binary(nbytes)} each, over ${links[on.links].name}: ${plural(rounds.length, "round")}, ${timed(all)} by the alpha-beta model. ` +
      (step
        ? `Round ${step} has ${plural(now.length, "message")} of ${binary(now[0][2] < 0 ? nbytes : nbytes / p)}.`
        : "Nothing has been sent yet."),
    limits: { step: [0, rounds.length] },
    outputs: { size: binary(nbytes) },
  };
}

export default explore("ww-collectives", show);
