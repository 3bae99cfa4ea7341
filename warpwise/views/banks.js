// The bank widget: a warp's request to shared memory, wavefront by wavefront. Words stand in rows
// of 32, so that a column is a bank.
import { plural } from "./core.js";
import { is, legend, moves, path, press, rect, svg, text } from "./draw.js";
import { explore } from "./explore.js";

// BYTES: in a word of a bank. LEFT: pixels left of the columns.
const WARP = 32;
const BANKS = 32;
const BYTES = 4;
const LEFT = 44;
// Of all rows of words, and of a row.
const ROOM = 256;
const HIGH = 14;

// [0, 1, 2, 5] as "0 to 2, 5".
const ranges = (list) =>
  list
    .reduce(
      (runs, k) => (runs.at(-1)?.[1] === k - 1 ? (runs.at(-1)[1] = k) : runs.push([k, k]), runs),
      [],
    )
    .map(([a, b]) => (a === b ? a : `${a} to ${b}`))
    .join(", ");

// Whether each lane names the same as its neighbour, or each as the next but one.
const paired = (words) =>
  [1, 2].some((far) =>
    words.every((word, i) => word < 0 || words[i ^ far] < 0 || word === words[i ^ far]),
  );

// Schedule the words that lanes name, -1 for an idle lane. Lanes are served in groups of 32, 16 or
// 8 for up to 4, 8 or 16 bytes, and of twice as many for wide loads in pairs. In a wavefront a bank serves one word to all lanes of the group
// that name it. Elements are aligned: the banks of one serve it together, so its first word stands
// for all of its span. Gives the wavefront of each lane, from 1, the groups and the total.
function serve(words, span, load) {
  const size = (WARP / span) * (load && span > 1 && paired(words) ? 2 : 1);
  const wave = [];
  const groups = [];
  let total = 0;
  for (let first = 0; first < WARP; first += size) {
    const banks = {};
    for (const word of words.slice(first, first + size)) {
      const queue = word < 0 ? [] : (banks[word % BANKS] ??= []);
      const at = queue.indexOf(word);
      wave.push(word < 0 ? 0 : total + (at < 0 ? queue.push(word) : at + 1));
    }
    const most = Math.max(0, ...Object.values(banks).map((queue) => queue.length));
    if (most) groups.push({ banks, most, before: total });
    total += most;
  }
  return { wave, groups, total };
}

// The request that the controls choose: of a trace, or of a strided warp.
function chosen({ itemsizes, lines }, { stride, padding, dtype, line, request }) {
  if (lines) return lines[line][Math.min(request, lines[line].length) - 1];
  const step = ((stride + padding) * itemsizes[dtype]) / BYTES;
  const words = [...Array(WARP).keys()].map((i) => Math.floor(i * step));
  return {
    words,
    span: Math.max(1, itemsizes[dtype] / BYTES),
    load: true,
    lead: `Lane i reads ${dtype} s[(${stride} + ${padding}) * i].`,
  };
}

export function show(data, values, width) {
  if (data.nothing) return { picture: "", text: data.nothing };
  const { words, span, load, lead, limits, outputs } = chosen(data, values);
  const { wave, groups, total } = serve(words, span, load);
  const { lane } = values;
  const at = Math.min(values.wavefront, total);
  const { banks, most } = groups.findLast(({ before }) => before < at);
  const cell = Math.min(22, (width - LEFT) / BANKS);
  const wide = span * cell;
  const out = [];
  const left = (k) => LEFT + (k % BANKS) * cell;
  const whose = (list, k) => [...list.keys()].filter((i) => list[i] === k);
  const label = (x, y, what) => out.push(text("middle small", x, y, what));
  const box = (k, x, y, wide, high, i, more) => {
    out.push(
      rect(
        k === at ? "one" : k > at ? "empty" : k ? "faint" : "bank-idle",
        x + 0.5,
        y + 0.5,
        wide - 1,
        high - 1,
        press({ lane: i }) + more,
      ),
    );
    if (wide >= 16 && high > 12)
      out.push(text(k === at ? "inside strong" : "middle small", x + wide / 2, y + 11, i));
    if (i === lane) out.push(rect("edge", x + 0.75, y + 0.75, wide - 1.5, high - 1.5));
  };
  const upto = (k) => (span > 1 ? `${k} to ${k + span - 1}` : k);
  const when = (k) => (k === at ? "served now" : k < at ? "served before" : "waits");
  const place = (word) => [
    `word${span > 1 ? "s" : ""} ${upto(word)}`,
    `bank ${upto(word % BANKS)}`,
  ];

  wave.forEach((k, i) =>
    box(
      k,
      left(i),
      1,
      cell,
      HIGH,
      i,
      k ? is(`lane ${i}`, ...place(words[i]), when(k)) : is(`lane ${i}`, "not active"),
    ),
  );
  for (let k = 0; k < BANKS; k += cell < 16 ? 4 : 1) label(left(k) + cell / 2, 36, k);
  const all = [...new Set(words)].filter((word) => word >= 0).sort((a, b) => a - b);
  const rows = new Set(all.map((word) => Math.floor(word / BANKS))).size;
  const high = Math.max(8, Math.min(HIGH, ROOM / rows));
  const every = Math.ceil(11 / high);
  let y = 41 - high;
  let row;
  let many;
  let count = 0;
  for (const word of all) {
    const first = word - (word % BANKS);
    const lanes = whose(words, word);
    const waves = lanes.map((i) => wave[i]);
    if (first !== row) {
      // Rows that nobody names are left out.
      y += first > row + BANKS ? high + 4 : high;
      if (count++ % every === 0) out.push(text("end small", LEFT - 6, y + high / 2 + 4, first));
      out.push(rect("grid", LEFT, y, BANKS * cell, high));
      row = first;
    }
    const turn = waves.includes(at) ? at : Math.max(...waves);
    const whom = `lane${lanes[1] ? "s" : ""} ${ranges(lanes)}`;
    // What is served now travels from the lanes to its word.
    const travels = turn === at ? moves(`${word} ${at}`, [left(lanes[0]), 1, cell, HIGH]) : "";
    box(
      turn,
      left(word),
      y,
      wide,
      high,
      lanes.includes(lane) ? lane : lanes[0],
      is(...place(word), whom, when(turn)) + travels,
    );
    if (lanes[1])
      out.push(
        rect((many = "two"), left(word) + 1, y + high - 2.5, wide - 2, 2, is(...place(word), whom)),
      );
  }
  const grid = words.map((_, k) => `M${left(k)} 41V${y + high}`);
  const base = y + high + 40;

  // How many words of this group each bank has to serve; the most is the group's wavefronts.
  out.push(
    path("grid", grid.join("")),
    text("small", 0, 12, "lane"),
    text("small", 0, 36, "bank"),
    text("small", 0, base, "words"),
  );
  for (const [bank, { length }] of Object.entries(banks)) {
    const tall = (26 * length) / most;
    out.push(
      rect(
        length > 1 && length === most ? "hatched" : "faint",
        left(bank) + 1,
        base - tall,
        wide - 2,
        tall,
        is(`bank ${upto(+bank)}`, plural(length, "word") + " to serve"),
      ),
    );
    if (wide >= 14) label(left(bank) + wide / 2, base - tall - 3, length);
  }
  const looks = [
    ["one", "served now"],
    ["faint", "before"],
    ["empty", "waits"],
    ["edge", `lane ${lane}`],
    ["hatched", "most words"],
  ];
  if (many) looks.push([many, "several lanes"]);
  const key = legend(looks, width, base + 12);

  const named = plural(all.length * span, "word");
  const used = plural(new Set(all.map((word) => word % BANKS)).size * span, "bank");
  const conflicts = total - groups.length;
  const word = words[lane];
  const now = whose(wave, at);
  const followed = wave[lane]
    ? `word ${upto(word)}, bank ${upto(word % BANKS)}, wavefront ${wave[lane]}`
    : "not active";
  return {
    picture: svg(width, base + 14 + key.height, "Words that a warp names, by bank", [
      out,
      key.shapes,
    ]),
    rows: [
      ["wavefronts", total, `${groups.length} at least`],
      ["bank conflicts", conflicts, "wavefronts more"],
      ["named", named, `in ${used}`],
    ],
    text:
      `${lead} It names ${named} in ${used} and takes ${plural(total, "wavefront")}: ` +
      `${plural(conflicts, "bank conflict")}. Wavefront ${at} serves ` +
      `${plural(now.length, "lane")}: ${ranges(now)}. Lane ${lane}: ${followed}.`,
    limits: { ...limits, wavefront: [1, total] },
    outputs: { ...outputs, wavefront: `${at} of ${total}` },
  };
}

export default explore("ww-banks", show);
