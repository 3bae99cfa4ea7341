// The paged cache widget: requests with their places in the cache, step by step. The rule is that
// of model/paged.py. Data: requests as [prompt, answer, arrives], and the longest that is allowed.
import { percent, plural, thousands } from "./core.js";
import { is, legend, letters, rect, svg, text } from "./draw.js";
import { explore } from "./explore.js";

// Pixels: a request's row, its bar, and what stands above.
const ROW = 44;
const BAR = 20;
const TOP = 16;

const cached = ([prompt, answer, arrives], step) => {
  const age = step - arrives;
  return age >= 0 && age <= answer ? prompt + age : 0;
};

// The blocks of each request after a step, in its order: free ones again first, smallest first.
function paged(requests, step, block, prefix) {
  const shared = Math.floor(prefix / block);
  const front = Array.from({ length: shared }, (_, k) => k);
  const tables = requests.map(() => []);
  let free = [];
  let fresh = shared;
  for (let now = 0; now <= step; now++) {
    const needs = requests.map((one) => Math.ceil(cached(one, now) / block));
    tables.forEach((table, i) => needs[i] || (free.push(...table.slice(shared)), (table.length = 0)));
    free.sort((a, b) => a - b);
    tables.forEach((table, i) => {
      if (needs[i] && !table.length) table.push(...front);
      while (table.length < needs[i]) table.push(free.length ? free.shift() : fresh++);
    });
  }
  return { tables, shared };
}

// Places held, and those of them with a token; a shared one counts once.
function count({ requests, longest }, { step, prefix }, way, block) {
  const there = requests.map((one) => cached(one, step));
  const tokens = there.reduce((so, one) => so + one, 0);
  const live = there.filter(Boolean).length;
  if (way === "reserved") return { held: live * longest, used: tokens };
  const { tables, shared } = paged(requests, step, block, prefix);
  const twice = Math.max(live - 1, 0) * shared * block;
  return { held: new Set(tables.flat()).size * block, used: tokens - twice };
}

const wasted = ({ held, used }) => (held ? percent(held - used, held) : "0 %");

export function show(data, on, width) {
  const { requests, longest } = data;
  const block = +on.block;
  const inBlocks = on.way === "paged";
  const { tables, shared } = paged(requests, on.step, block, on.prefix);
  const scale = (width - 2) / (Math.ceil(longest / block) * block);
  const part = (look, from, to, y, words) =>
    to > from ? rect(look, 1 + from * scale, y, (to - from) * scale, BAR, words) : "";
  const row = (request, i) => {
    const y = TOP + ROW * i;
    const tokens = cached(request, on.step);
    const name = `request ${i + 1}`;
    const state =
      tokens > 0 ? plural(tokens, "token") : on.step < request[2] ? "not there yet" : "ended";
    const blocks = tables[i].map((number, k) => {
      const at = k * block;
      const ours = k >= shared;
      const words = is(`block ${number}`, ours ? name : "shared by all");
      const wide = block * scale;
      const middle = at + block / 2;
      const room = letters(number, 11) + 4;
      const astride = Math.abs(middle - tokens) * scale < room / 2;
      return [
        part("faint", at, at + block, y + 6, words),
        part(ours ? "one" : "two", at, Math.min(at + block, tokens), y + 6, words),
        wide > room && !astride
          ? text(middle < tokens ? "inside" : "small middle", 1 + middle * scale, y + 20, number)
          : "",
      ];
    });
    const one = [
      part("faint", 0, longest, y + 6, is(name, "reserved")),
      part("one", 0, tokens, y + 6, is(name, state)),
    ];
    return [text("", 1, y, `${name}: ${state}`), tokens ? (inBlocks ? blocks : one) : ""];
  };
  const end = TOP + ROW * requests.length - 4;
  const key = legend(
    [
      ["one", "a token"],
      ...(inBlocks && shared ? [["two", "a token of all"]] : []),
      ["faint", "held, and empty"],
    ],
    width,
    end,
  );
  const now = count(data, on, on.way, block);
  const other = count(data, on, inBlocks ? "reserved" : "paged", block);
  const words = inBlocks ? `in blocks of ${block}` : `reserved for ${longest} tokens each`;
  return {
    picture: svg(width, end + key.height, "Requests and their places in the cache", [
      requests.map(row),
      key.shapes,
    ]),
    rows: [
      ["places held", thousands(now.held), `${thousands(other.held)} ${inBlocks ? "if reserved" : "in blocks"}`],
      ["with a token", thousands(now.used), ""],
      ["empty", wasted(now), `${wasted(other)} ${inBlocks ? "if reserved" : "in blocks"}`],
    ],
    text:
      `After step ${on.step}, ${words}: ${thousands(now.held)} places are held and ${thousands(now.used)} have a token, ` +
      `so ${wasted(now)} are empty; ${inBlocks ? "reserved, it would be" : `in blocks of ${block} it would be`} ${wasted(other)}.`,
    disabled: { prefix: !inBlocks },
  };
}

export default explore("ww-paged_cache", show);
