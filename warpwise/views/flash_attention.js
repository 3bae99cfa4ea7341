// The FlashAttention widget: a block's tile of queries against tiles of keys, its memory on the
// chip, and the bytes that all blocks move. Tiles and bytes follow model/attention.py.
import { binary, thousands } from "./core.js";
import { cells, is, legend, letters, moves, n, path } from "./draw.js";
import { press, rect, svg, text, worded } from "./draw.js";
import { explore } from "./explore.js";

const figures = (x) => x.toPrecision(3);
const total = (counts) => counts.reduce((sum, one) => sum + one);

// Maximum and sum of a row's first scores, from those of each 16.
const running = (chunks, scores) =>
  chunks.slice(0, scores / 16).reduce(
    ([m, sum], [top, part]) => {
      const most = Math.max(m, top);
      return [most, sum * Math.exp(m - most) + part * Math.exp(top - most)];
    },
    [-Infinity, 0],
  );

// From so many tiles on, none says by itself what it is.
const EACH = 4096;

// The tiles of scores, between Q on the left, K and V on top, and O on the right. meets: how many
// tiles of keys each tile of queries meets.
function grid(meets, across, query, key, side) {
  const x = 30;
  const y = 44;
  const h = side / meets.length;
  const w = side / across;
  const row = y + h * (query - 1);
  const column = x + w * (key - 1);
  const shapes = [];
  const tile = (look, x, y, w, h, words, key) =>
    rect(look, x, y, Math.max(w, 2), Math.max(h, 2), is(...words) + (key ? moves(key) : ""));
  let stairs = `M${x + side} ${y}`;
  meets.forEach((tiles, i) => {
    stairs += `L${n(x + tiles * w)} ${n(y + i * h)}v${n(h)}`;
    // Tiles can be pressed where they are large enough.
    for (let k = 0; k < tiles && h * w > 144; k++)
      shapes.push(rect("empty", x + k * w, y + i * h, w, h, press({ query: i + 1, key: k + 1 })));
  });
  // A tile of keys slides on, and leaves scores that are done.
  const count = across * meets.length;
  const all = (words) => (count > EACH ? is("scores", words) : "");
  const drawn = [
    rect("empty", x, y, side, side, all(`${meets.length} × ${across} tiles`)),
    path("hatched", `${stairs}H${x + side}Z`, all("skipped")),
    shapes,
    tile(
      "one done",
      x,
      row,
      column - x,
      h,
      [`query tile ${query}`, `${key - 1} key tiles done`],
      "done",
    ),
    tile("two", column, row, w, h, ["S", `query tile ${query}`, `key tile ${key}`], "S"),
    rect("empty", x, y - 16, side, 12, is("K and V", `${across} tiles`)),
    tile("three", column, y - 16, w, 12, ["K and V", `key tile ${key}`], "K"),
    text("", 0, y - 6, "K, V"),
    [
      ["Q", x - 16, 0],
      ["O", x + side + 4, x + side + 20],
    ].map(([name, left, at]) => [
      rect("empty", left, y, 12, side, is(name, `${meets.length} tiles`)),
      tile("one", left, row, 12, h, [name, `query tile ${query}`]),
      text("", at, y + 11, name),
    ]),
  ];
  const words = (k) => {
    const [i, j] = [Math.floor(k / across), k % across];
    const when =
      j >= meets[i] ? "skipped" : i < query - 1 || (i < query && j < key - 1) ? "done" : "";
    return worded("scores", `query tile ${i + 1}`, `key tile ${j + 1}`, when);
  };
  return { drawn, marks: () => (count > EACH ? [] : cells(x, y, w, h, across, count, words)) };
}

// Bars of bytes: end to end in a box as long as the memory is large, or all from the same place
// where there is no limit.
function bars([title, parts, most, limit], x, y, left, width) {
  const scale = (width - left - 2) / Math.max(most, limit);
  let from = x + left;
  const head = text("strong", x, y, title);
  // A title that says "too much" is drawn narrower where there is little room.
  const squeezed = `<text textLength="${width}" lengthAdjust="spacingAndGlyphs"`;
  return [
    letters(title, 16) > width ? head.replace("<text", squeezed) : head,
    limit
      ? rect("empty", from, y + 8, limit * scale, parts.length * 18 + 4, is("limit", binary(limit)))
      : "",
    parts.map(([name, bytes, look], i) => {
      const top = y + 12 + 18 * i;
      const bar = rect(look, from, top, Math.max(bytes * scale, 1), 14, is(name, binary(bytes)));
      if (limit) from += bytes * scale;
      return [text("", x, top + 11, `${name} ${binary(bytes)}`), bar];
    }),
  ];
}

export function show({ limits, chunks }, values, width) {
  const { device, causal, registers } = values;
  const [N, d, rows, columns] = ["n", "d", "rows", "columns"].map((name) => 2 ** values[name]);
  const meets = [];
  for (let end = rows; end <= N; end += rows) meets.push(Math.ceil((causal ? end : N) / columns));
  const down = meets.length;
  const across = N / columns;
  const tiles = down * across;
  const query = Math.min(values.query, down);
  const last = meets[query - 1];
  const key = Math.min(values.key, last);

  // Bytes: elements take two, running sums four.
  const once = 8 * N * d;
  const standard = once + 8 * N * N;
  const tiled = once / 2 + 4 * d * total(meets.map((count) => Math.min(N, count * columns)));
  const q = rows * d * 2;
  const kv = columns * d * 2;
  const parts = [
    ["Q", q, "one"],
    ["K", kv, "three"],
    ["V", kv, "three"],
    ["S", rows * columns * 4, "two"],
    ["O", 2 * q, "one"],
  ];
  const both = [
    ["Shared memory", parts.splice(0, registers ? 3 : 5)],
    ["Registers", parts],
  ];
  const held = both.slice(0, 1 + registers).map(([name, list], i) => {
    const used = total(list.map((part) => part[1]));
    const limit = limits[device][i];
    return [
      `${name}: ${binary(used)} of ${binary(limit)}${used > limit ? ", too much" : ""}`,
      list,
      used,
      limit,
    ];
  });
  const [before] = running(chunks, (key - 1) * columns);
  const [m, sum] = running(chunks, Math.min(key * columns, causal ? query * rows : N));

  const side = Math.min(width > 600 ? 300 : 270, width - 66);
  const [x, y] = width > 600 ? [386, 12] : [0, side + 112];
  const scores = grid(meets, across, query, key, side);
  const end = y + 196;
  const gain = standard / tiled;
  const than = `${gain < 1 ? "more" : "less"} than standard`;
  const times = figures(Math.max(gain, 1 / gain));
  return {
    picture: svg(width, Math.max(end, side) + 72, "Tiles, memory and traffic", [
      text("strong", 0, 12, `Scores: ${down} × ${across} tiles`),
      scores.drawn,
      legend(
        [
          ["two", "S now"],
          ["one done", "done"],
          ["hatched", "skipped"],
        ],
        width,
        side + 56,
      ).shapes,
      held.map((one, i) => bars(one, x, y + 98 * i, 72, width - x)),
      bars(
        [
          "Global memory, all blocks",
          [
            ["standard", standard, "faint"],
            ["FlashAttention", tiled, "one"],
            ["each matrix once", once, "empty"],
          ],
          Math.max(tiled, standard),
          0,
        ],
        x,
        end,
        164,
        width - x,
      ),
    ]),
    rows: [
      ["bytes moved", `${times}×`, than],
      ["tiles skipped", thousands(tiles - total(meets)), `of ${thousands(tiles)}`],
      ["running maximum", m.toFixed(2), `so sum and O × ${figures(Math.exp(before - m))}`],
      ["running sum", figures(sum), "of its last row"],
    ],
    text:
      `Query tile ${query} of ${down} meets key tile ${key} of ${last} on ${device}. ${held.map((one) => one[0]).join(". ")}. ` +
      `The maximum of its last row is ${m.toFixed(2)}, the sum ${figures(sum)}. ` +
      `All blocks move ${binary(tiled)}, ${times} times ${than} attention.`,
    limits: { query: [1, down], key: [1, last] },
    outputs: { n: N, d, rows, columns },
    marks: scores.marks,
  };
}

export default explore("ww-flash_attention", show);
