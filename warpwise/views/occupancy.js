// The occupancy widget: the warps that one SM holds, and the resource that allows no more. The rule is model/occupancy.py's.
import { percent, plural } from "./core.js";
import { legend, rect, svg, text } from "./draw.js";
import { explore } from "./explore.js";

const WARP = 32, KB = 1024, NAMES = ["warps", "blocks", "registers", "shared memory"];
const up = (amount, unit) => Math.ceil(amount / unit) * unit;

// The most blocks that each resource alone would allow, in the order of NAMES.
function limits(sm, unlimited, { warps, registers, shared }) {
  const perWarp = up(registers * WARP, sm.registers_unit), perPart = sm.registers / sm.sub_partitions;
  const fits = perWarp * Math.ceil(warps / sm.sub_partitions) <= perPart;
  const taken = up(shared * KB + sm.shared_bytes_reserved, sm.shared_bytes_unit);
  return [
    Math.floor(sm.warps / warps),
    sm.blocks,
    fits ? Math.floor((sm.sub_partitions * Math.floor(perPart / perWarp)) / warps) : 0,
    taken ? Math.floor(sm.shared_bytes / taken) : unlimited,
  ];
}

// The places for warps, a row for each sub-partition: warps are dealt to them in turn, and neighbouring blocks look different.
function places(sm, warps, blocks, width) {
  const rows = sm.sub_partitions, columns = sm.warps / rows, left = 112, pitch = Math.min(34, (width - left) / columns), shapes = [];
  for (let k = 0; k < sm.warps; k++) {
    const block = Math.floor(k / warps), x = left + Math.floor(k / rows) * pitch, y = 26 + (k % rows) * 24;
    shapes.push(rect(block < blocks ? ["one", "three"][block % 2] : "empty", x + 1, y, pitch - 2, 20));
    if (block < blocks && pitch >= 19) shapes.push(text("middle number", x + pitch / 2, y + 14.5, block));
  }
  for (let row = 0; row < rows; row++) shapes.push(text("", 0, 40.5 + row * 24, `sub-partition ${row}`));
  return shapes;
}

function bars(allowed, blocks, limiter, y, width) {
  const left = 112, most = Math.max(...allowed.filter((count) => count < 1e6)), scale = (width - left - 150) / most;
  return allowed.map((count, i) => {
    const top = y + 24 * i, unlimited = count > 1e6, wide = unlimited ? width - left - 150 : count * scale, sets = i === limiter;
    const words = unlimited ? "no limit" : plural(count, "block") + (sets ? ": the limit" : "");
    return [
      text(sets ? "strong" : "", 0, top + 13, NAMES[i]),
      rect(sets ? "hatched" : "faint", left, top, Math.max(wide, 1), 17),
      text(sets ? "strong" : "", left + wide + 6, top + 13, words),
    ];
  });
}

export function show({ sms, unlimited }, values, width) {
  const { device, warps, registers, shared } = values, sm = sms[device], allowed = limits(sm, unlimited, values);
  const blocks = Math.min(...allowed), limiter = allowed.indexOf(blocks), active = blocks * warps;
  const key = legend([["one", "warps of even blocks"], ["three", "of odd blocks"], ["empty", "free"]], width, 126);
  const y = 140 + key.height, shapes = [
    text("strong", 0, 12, `${sm.warps} places for warps on an SM of ${device}`), places(sm, warps, blocks, width), key.shapes,
    text("strong", 0, y + 8, "Blocks that each resource allows"), bars(allowed, blocks, limiter, y + 20, width),
  ];
  const kernel = `Blocks of ${warps * WARP} threads with ${registers} registers each and ${shared} KB of shared memory`;
  const held = blocks ? `${plural(blocks, "block")}, ${plural(active, "warp")} of ${sm.warps}, occupancy ${percent(active, sm.warps)}` : "no block";
  return {
    picture: svg(width, y + 118, `The warps of one SM of ${device}`, shapes),
    rows: [["occupancy", percent(active, sm.warps), `${active} of ${sm.warps} warps`], ["blocks per SM", blocks, ""], ["limited by", NAMES[limiter], ""]],
    text: `${kernel}: an SM of ${device} holds ${held}. The limit is set by ${NAMES[limiter]}.`,
    outputs: { warps: warps * WARP, shared: `${shared} KB` },
  };
}

export default explore("ww-occupancy", show);
