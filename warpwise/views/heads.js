// The heads widget: query heads, their heads of keys and values, the reads between them, and a tile
// of scores. The rule is that of model/heads.py.
import { percent, plural, thousands } from "./core.js";
import { is, legend, line, n, rect, svg, text } from "./draw.js";
import { explore } from "./explore.js";

// Pixels: rows of the picture, heads, a row of the tile.
const KV = 20;
const QUERY = 92;
const HIGH = 20;
const TILE = 160;
const CELL = 9;

function model({ rows: least, item, mla }, { heads, group, packed, queries }) {
  const all = group === "all" || group === "mla";
  const each = all ? +heads : Math.min(+group, +heads);
  const kv = +heads / each;
  const rows = queries * (packed ? each : 1);
  const [key, value] = group === "mla" ? mla : [1, 1];
  const read = group === "mla" ? key : key + value;
  return {
    kv,
    each,
    reads: packed ? kv : +heads,
    rows,
    tile: Math.ceil(rows / least) * least,
    intensity: (2 * rows * (key + value)) / (read * item),
  };
}

export function show(data, on, width) {
  const m = model(data, on);
  const count = +on.heads;
  const wide = (width - 2) / count;
  const gap = wide > 6 ? 2 : 0.5;
  const middle = (first, many) => 1 + (first + many / 2) * wide;
  const ofGroup = (k) => k * m.each;
  const shared = on.group === "mla" ? "keys, which hold the values" : "keys and values";
  const readers = Array.from({ length: m.reads }, (_, k) => {
    const first = on.packed ? ofGroup(k) : k;
    const many = on.packed ? m.each : 1;
    const owner = Math.floor(first / m.each);
    return [
      line("rule", middle(first, many), QUERY - 5, middle(ofGroup(owner), m.each), KV + HIGH + 3),
      rect("edge", 1 + first * wide, QUERY - 4, many * wide - gap / 2, HIGH + 8),
    ];
  });
  const filled = Math.min(m.rows, m.tile);
  const shown = Math.min(m.tile, 32);
  const columns = Math.min(24, Math.floor((width - 2) / CELL));
  const tile = Array.from({ length: shown }, (_, row) => [
    rect(
      row < filled ? "one" : "faint",
      1,
      TILE + CELL * row,
      columns * CELL,
      CELL - 1.5,
      is(`row ${row}`, row < filled ? "a query" : "empty"),
    ),
  ]);
  const end = TILE + CELL * shown + 12;
  const key = legend(
    [
      ["two", `a head of ${shared}`],
      ["one", "a query head"],
      ["edge", "what reads together"],
      ["faint", "an empty row"],
    ],
    width,
    end,
  );
  const ridge = data.ridges[on.device];
  const share = Math.min(1, m.intensity / ridge);
  const more = m.tile > shown ? `, ${shown} of ${m.tile}` : "";
  return {
    picture: svg(width, end + key.height, "Query heads, and the keys and values they read", [
      text("strong", 1, KV - 7, `${plural(m.kv, "head")} of ${shared}`),
      Array.from({ length: m.kv }, (_, k) =>
        rect(
          "two",
          1 + ofGroup(k) * wide,
          KV,
          m.each * wide - gap,
          HIGH,
          is(`keys and values ${k}`, `read ${plural(on.packed ? 1 : m.each, "time")}`),
        ),
      ),
      readers,
      Array.from({ length: count }, (_, k) =>
        rect("one", 1 + k * wide, QUERY, wide - gap, HIGH, is(`query head ${k}`)),
      ),
      text("", 1, QUERY + HIGH + 20, plural(count, "query head")),
      text("strong", 1, TILE - 8, `Rows of a tile of scores${more}`),
      tile,
      key.shapes,
    ]),
    rows: [
      ["reads of a head's keys and values", thousands(m.reads), `of at least ${m.kv}`],
      ["rows with a query", percent(m.rows, m.tile), `${m.rows} of ${m.tile}`],
      ["FLOP per byte", n(m.intensity), `the ridge of ${on.device}: ${Math.round(ridge)}`],
    ],
    text:
      `${plural(count, "query head")} in groups of ${m.each} read ${shared} ${plural(m.reads, "time")}${m.reads > m.kv ? `; ${plural(m.kv, "time")} would do` : ", the least"}. ` +
      `Each byte read is worth ${n(m.intensity)} FLOP, so DRAM allows at most ${percent(share, 1)} of the products' peak on ${on.device}.`,
    disabled: { packed: m.each === 1 },
  };
}

export default explore("ww-heads", show);
