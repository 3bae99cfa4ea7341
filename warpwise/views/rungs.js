// The rungs widget: of each version of a kernel a bar for every resource, in clocks, on an axis of
// powers of two. Behind them stand those of the version before.
import { is, legend, line, moves, rect, svg, text } from "./draw.js";
import { explore } from "./explore.js";

// Pixels: a bar, from one to the next; above all bars; beside them.
const HIGH = 20;
const APART = 32;
const ABOVE = 34;
const BESIDE = 108;
const RIGHT = 18;

// Three figures are enough, and no zeros behind them.
const threeFigures = (clocks) => String(+clocks.toPrecision(3));
const inClocks = (clocks) => `${threeFigures(clocks)} clock${clocks === 1 ? "" : "s"}`;

export function show({ work, least, resources, rungs }, { step }, width) {
  const { name, takes, measured } = rungs[step - 1];
  const before = rungs[step - 2];
  const most = Math.max(...rungs.map((one) => Math.max(one.measured, ...one.takes)));
  const octaves = Math.ceil(Math.log2(most / least));
  const room = width - BESIDE - RIGHT;
  const x = (clocks) =>
    BESIDE + (room * Math.max(0, Math.log2(Math.max(clocks, least) / least))) / octaves;
  const y = (row) => ABOVE + row * APART;
  const foot = y(resources.length);
  const longest = Math.max(...takes);
  const scarce = resources[takes.indexOf(longest)];
  const bar = (clocks, row) => [
    text("end", BESIDE - 8, y(row) + 14, resources[row]),
    before && before.takes[row]
      ? rect("faint", BESIDE, y(row) - 3, x(before.takes[row]) - BESIDE, HIGH + 6)
      : "",
    clocks
      ? rect(
          clocks === longest ? "two" : "one",
          BESIDE,
          y(row),
          Math.max(1, x(clocks) - BESIDE),
          HIGH,
          is(resources[row], inClocks(clocks)) + moves(`bar ${row}`),
        )
      : "",
  ];
  const ticks = Array.from({ length: octaves + 1 }, (_, k) => least * 2 ** k)
    .filter((clocks) => Number.isInteger(Math.log2(clocks) / 2))
    .map((clocks) => [
      line("rule", x(clocks), ABOVE - 6, x(clocks), foot),
      text("middle", x(clocks), foot + 16, clocks < 1 ? `1/${1 / clocks}` : clocks),
    ]);
  const key = legend(
    [
      ["two", "the scarcest"],
      ["one", "the others"],
      ...(step > 1 ? [["faint", "a step before"]] : []),
    ],
    width,
    foot + 30,
  );
  const found = measured ? ` Measured: ${threeFigures(measured)}.` : "";
  return {
    picture: svg(width, foot + 30 + key.height, `Step ${step}: ${name}`, [
      text("strong", 0, 14, `${step}: ${name}`),
      ticks,
      takes.map(bar),
      measured
        ? [
            line("edge", x(measured), ABOVE - 8, x(measured), foot),
            text("end", x(measured) - 4, foot - 1, "measured"),
          ]
        : "",
      key.shapes,
    ]),
    rows: [
      ["scarce", scarce, ""],
      ["it takes", threeFigures(longest), `clocks for a ${work}`],
      ["measured", measured ? threeFigures(measured) : "nothing", measured ? "clocks" : ""],
    ],
    text: `Step ${step} of ${rungs.length}, ${name}. Scarcest: ${scarce}, with ${inClocks(longest)} for a warp's ${work}.${found}`,
  };
}

export default explore("ww-rungs", show);
