// The online softmax widget: a running maximum m and the sum d of exp(x - m), corrected when a
// value raises m.
import { circle, is, legend, line, moves, n, path, press, rect, svg, text } from "./draw.js";
import { explore } from "./explore.js";

// How often each way reads an element: for the maximum, the sum and the output; for both and the
// output; once. Each writes it once.
const READS = { "safe softmax": 3, "online softmax": 2, "row kept on chip": 1 };
const word = (digits) => digits.replace("-", "−").replace("Infinity", "∞");
const signed = (x) => word(x.toFixed(2));
const figures = (x) => word(x && (x < 1e-4 || x > 1e5) ? x.toExponential(3) : x.toPrecision(4));

// The state after each value. fix multiplies the sum so far; plain is the float32 sum of exp(x),
// with nothing subtracted.
function stream(row) {
  const states = [{ m: -Infinity, d: 0, plain: 0, fix: 1 }];
  for (const x of row) {
    const { m: before, d, plain } = states.at(-1);
    const m = Math.max(before, x);
    const fix = Math.exp(before - m);
    const term = Math.exp(x - m);
    states.push({
      before,
      m,
      fix,
      term,
      d: d * fix + term,
      plain: Math.fround(plain + Math.fround(Math.exp(x))),
    });
  }
  return states;
}

function dots(row, states, step, pitch) {
  const low = Math.min(...row);
  const span = Math.max(...row) - low || 1;
  const up = (x) => 94 - ((x - low) / span) * 52;
  return [
    path(
      "stroke-two",
      states
        .slice(1, step + 1)
        .map(({ m }, i) => `${i ? "L" : "M"}${n(i * pitch)} ${n(up(m))}h${n(pitch)}`)
        .join(""),
    ),
    row.map((x, i) => {
      const middle = (i + 0.5) * pitch;
      const y = up(x);
      const latest = i === step - 1;
      const under = i >= step || x < states[step].m;
      return [
        `<g${press({ step: i + 1 })}>`,
        rect("press", i * pitch, 24, pitch, 90),
        circle(
          i < step ? "one" : "empty",
          middle,
          y,
          latest ? 6 : 4.5,
          is(
            `value ${i + 1}`,
            signed(x),
            i < step ? `maximum by then ${signed(states[i + 1].m)}` : "to come",
          ),
        ),
        pitch > 33 || latest
          ? text(
              "middle small",
              Math.min(Math.max(middle, 23), pitch * row.length - 23),
              y + (under ? 18 : -9),
              signed(x),
            )
          : "",
        "</g>",
      ];
    }),
  ];
}

// Each term's bar at its present size; hatched above it, what this step's correction has taken
// away.
function terms(row, { m, before }, step, pitch, floor) {
  const wide = Math.min(pitch - 4, 30);
  return row.slice(0, step).map((x, i) => {
    const left = (i + 0.5) * pitch - wide / 2;
    const now = Math.exp(x - m);
    const bar = (name, low, high, words, key) =>
      rect(
        name,
        left,
        floor - 80 * high,
        wide,
        80 * (high - low),
        is(`term ${i + 1}`, words) + key,
      );
    // A correction shrinks the terms before it; a new term rises.
    const corrected = i < step - 1 && before < m;
    return [
      corrected
        ? bar("hatched", now, Math.exp(x - before), `was ${figures(Math.exp(x - before))}`, "")
        : "",
      bar("one", 0, now, figures(now), moves(`term ${i}`, [left, floor, wide, 0])),
    ];
  });
}

function ways(share, width, y) {
  const pitch = Math.min(90, (width - 126) / 4);
  const left = 112;
  return Object.entries(READS).map(([name, reads], k) => {
    const top = y + 28 * k;
    const cells = [];
    for (let i = 0; i <= reads; i++)
      cells.push(
        rect(
          i < reads ? "faint" : "empty",
          left + pitch * i,
          top,
          pitch - 3,
          22,
          is(name, `access ${i + 1} of ${reads + 1}`, i < reads ? "read" : "write"),
        ),
        text("middle small", left + pitch * (i + 0.5) - 2, top + 15, i < reads ? "read" : "write"),
      );
    const bar = rect("one", left, top + 22, (pitch - 3) * share, 3, is(name, "read so far"));
    return [
      text("", 0, top + 15, name),
      cells,
      bar,
      text("strong", left + 3 + pitch * (reads + 1), top + 15, reads + 1),
    ];
  });
}

function told(row, step, { m, d, fix, term, before, plain }) {
  if (!step) return "No value has been seen: the maximum is −∞, and the sum is 0.";
  const x = row[step - 1];
  const how =
    m > before
      ? `raises the maximum from ${signed(before)} to ${signed(m)}: ` +
        `the sum so far is multiplied by exp(${signed(before - m)}) = ${figures(fix)}, and 1 is added`
      : `leaves the maximum at ${signed(m)}: exp(${signed(x - m)}) = ${figures(term)} is added`;
  const float = plain === Infinity ? "over" : plain ? "" : "under";
  const end =
    step < row.length
      ? ""
      : " One read of each value has given both; a safe softmax has only the maximum by now.";
  return (
    `Value ${step} of ${row.length}, ${signed(x)}, ${how}. The sum is now ${figures(d)}.` +
    (float && ` A plain float32 sum of exp(x) has ${float}flowed.`) +
    end
  );
}

export function show({ inputs }, { input, seed, step }, width) {
  const rows = inputs[input];
  const row = rows[seed % rows.length];
  const count = row.length;
  const states = stream(row);
  const now = states[(step = Math.min(step, count))];
  const { m, d, fix, term, plain } = now;
  const pitch = Math.min(56, width / count);
  const maximum = signed(m);
  const key = legend(
    [
      ["one", "seen"],
      ["empty", "to come"],
      ["hatched", "taken away by the correction"],
    ],
    width,
    246,
  );
  const y = 264 + key.height;
  const sum = step
    ? `${figures(states[step - 1].d)} × ${figures(fix)} + ${figures(term)} = ${figures(d)}`
    : 0;
  return {
    picture: svg(width, y + 94, "Values, terms and accesses", [
      text("strong", 0, 12, `Values x; line: maximum m = ${maximum}`),
      dots(row, states, step, pitch),
      text("strong", 0, 130, "Terms exp(x − m) and their sum"),
      text("", 0, 147, `d = ${sum}`),
      terms(row, now, step, pitch, 238),
      line("rule", 0, 238, pitch * count, 238),
      key.shapes,
      text("strong", 0, y, "Accesses to memory for each element"),
      ways(step / count, width, y + 10),
    ]),
    rows: [
      ["running maximum m", maximum, `after value ${step}`],
      ["correction", figures(fix), "times the sum before"],
      ["corrected sum d", figures(d), "of exp(x − m)"],
      ["plain float32 sum", figures(plain), "of exp(x)"],
    ],
    text: told(row, step, now),
    limits: { step: [0, count] },
    disabled: { seed: input !== "random" },
  };
}

export default explore("ww-online_softmax", show);
