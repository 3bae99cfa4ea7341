// The divergence widget: a warp's steps over its issue slots, above by source line, below by lane.
// The data says what happened.
import { escape, percent, plural, thousands } from "./core.js";
import { cells, is, legend, line, moves, oblong, path } from "./draw.js";
import { press, rect, svg, text, worded } from "./draw.js";
import { explore } from "./explore.js";

// Pixels: of a lane, of a slot at least and at most, and of a letter of code.
const LANE = 5;
const LEAST = 10;
const MOST = 40;
const LETTER = 7.25;

// steps: those of one warp; now: the one that is looked at. Slots are grouped in pages, so that the
// picture stands still while it plays.
function drawn(lines, key, { all, threads }, steps, now, width) {
  const narrow = width < 480;
  const longest = Math.max(...lines.map(([, indent, code]) => indent + code.length));
  const left = narrow ? 44 : Math.min(Math.max(190, 52 + longest * LETTER), width / 2);
  const room = width - left - 2;
  const most = Math.floor(room / LEAST);
  const page = ({ first }) => Math.floor(first / most);
  const shown = steps.filter((step) => page(step) === page(now));
  const { first } = shown[0];
  const last = shown.at(-1).slots;
  const pitch = Math.min(MOST, room / Math.max(last - first, Math.min(all, most)));
  const at = (slot) => left + (slot - first) * pitch;
  const high = narrow ? 38 : 21;
  const track = (row) => 38 + row * high + (narrow ? 18 : 2);
  const middle = track(lines.length) + 8;
  const grid = middle + 22;
  const end = grid + 32 * LANE;
  const low = (narrow ? end : grid) + 12;
  // Where code stands above its slots, the column of the step leaves it free.
  const over = narrow ? middle - 2 : 18;
  const means = legend(
    [
      ["wd-run", "active lane"],
      ["wd-idle", "masked lane"],
      ...key.map((words) => ["press", words]),
    ],
    narrow ? width : 60,
    low,
  );
  const shapes = [
    text(
      "strong",
      left,
      12,
      `Issue slots ${thousands(first + 1)} to ${thousands(last)} of ${thousands(all)}`,
    ),
    means.shapes,
    rect("faint", 0, track(now.row) + 18 - high, width, high, moves("line")),
    rect("faint wd-now", at(now.first) - 0.5, over, now.wide * pitch, end - over + 2, moves("now")),
    text("", 0, middle + (narrow ? -6 : 10), "active lanes"),
  ];
  for (let slot = first; slot < last; slot += pitch < 16 ? 10 : 5)
    shapes.push(text("small middle", at(slot + 0.5), 31, slot + 1));
  lines.forEach(([number, indent, code], row) => {
    const y = 52.5 + row * high;
    const x = 36 + indent * LETTER;
    const fits = ((narrow ? width : left - 8) - x) / LETTER;
    shapes.push(
      text("small end", 28, y, number),
      text(
        row === now.row ? "wd-code strong" : "wd-code",
        x,
        y,
        escape(code.length > fits ? `${code.slice(0, fits - 1)}…` : code),
      ),
    );
  });
  for (const lane of [0, 8, 16, 24, 31])
    shapes.push(text("small end", left - 8, grid + lane * LANE + 6, lane || "lane 0"));
  // Steps up to now, and steps to come.
  const groups = ["", ""];
  let from = first;
  shown.forEach(({ step, row, wide, mask, mark, first, slots }, i) => {
    const x = at(first);
    const w = wide * pitch - 1;
    let on = oblong(x, track(row), w, 16);
    let off = "";
    let marks = "";
    for (let lane = 0; lane < threads; lane++) {
      if ((mask[2] >>> lane) & 1) on += oblong(x, grid + lane * LANE, w, 4);
      else off += oblong(x, grid + lane * LANE + 2, w + 1, 1);
    }
    for (const [place, what] of mark[1])
      marks += text(
        place === row ? "inside strong" : "middle",
        x + w / 2,
        track(place) + 12.5,
        what,
      );
    // The last step that runs under this mask.
    if (shown[i + 1]?.mask !== mask) {
      if ((slots - from) * pitch > 15)
        shapes.push(text("middle", at((from + slots) / 2), middle + 10, mask[0]));
      shapes.push(line("edge", at(from), middle + 15, at(slots) - 2, middle + 15));
      from = slots;
    }
    groups[+(step > now.step)] +=
      path("wd-idle", off) +
      path("wd-run", on) +
      marks +
      rect("press", x, 18, w + 1, end - 18, press({ step }));
  });
  const picture = svg(
    width,
    Math.max(end, low + means.height) + 4,
    "A warp's steps by source line and by lane",
    [shapes, groups[0], `<g class="wd-later">${groups[1]}</g>`],
  );
  // Each step says its line and lanes, and each of its lanes what it does.
  const said = ({ step, row, wide, mask, first }) => {
    const x = at(first);
    const w = wide * pitch;
    const of = `step ${step}`;
    const slots = `${wide > 1 ? "slots" : "slot"} ${first + 1}${wide > 1 ? ` to ${first + wide}` : ""}`;
    const lane = (k) =>
      worded(
        `lane ${k}`,
        of,
        k >= threads ? "no thread" : (mask[2] >>> k) & 1 ? "active" : "masked",
      );
    return [
      [
        x,
        18,
        w,
        middle - 20,
        worded(of, `line ${lines[row][0]}`, slots, plural(mask[0], "active lane")),
      ],
      ...cells(x, grid, w, LANE, 1, 32, lane),
    ];
  };
  const band = [
    0,
    track(now.row) + 18 - high,
    left,
    high,
    worded(`line ${lines[now.row][0]}`, `step ${now.step}`),
  ];
  return { picture, marks: () => [band, ...shown.flatMap(said)] };
}

export function show({ kernels }, { kernel = 0, block = 0, ...values }, width) {
  const { lines, masks, marks, key, blocks } = kernels[kernel];
  const warps = blocks[block];
  const warp = warps[Math.min(values.warp ?? 0, warps.length - 1)];
  let slots = 0;
  let lanes = 0;
  const steps = warp.steps.map(([row, wide, mask, mark], i) => ({
    step: i + 1,
    row,
    wide,
    mask: masks[mask],
    mark: marks[mark],
    first: slots,
    slots: (slots += wide),
    lanes: (lanes += wide * masks[mask][0]),
  }));
  const now = steps[Math.min(values.step, steps.length) - 1];
  const [, , code, where] = lines[now.row];
  const [active, who] = now.mask;
  const efficiency = percent(now.lanes, 32 * now.slots);
  return {
    ...drawn(lines, key, warp, steps, now, width),
    rows: [
      ["active lanes", active, "of 32"],
      ["issue slots so far", thousands(now.slots), `of ${thousands(warp.all)}`],
      ["warp efficiency so far", efficiency, ""],
      ["at the end", percent(warp.lanes, 32 * warp.all), ""],
    ],
    text:
      `${warp.name}, step ${now.step}. ${where} (${code}) takes ${plural(now.wide, "issue slot")} with ` +
      `${who}${now.mark[0]}. Warp efficiency so far: ${efficiency}.${warp.note}`,
    limits: { step: [1, steps.length], ...("warp" in values && { warp: [0, warps.length - 1] }) },
  };
}

export default explore("ww-divergence", show);
