// A program: the texts of a kernel, of its launch, and of another kernel or "". Where it is kept, and
// how a link holds it: behind the #, which no server sees.

import { packed, unpacked } from "../editor/kept.js";

export const PARTS = ["kernel", "other", "launch"];
const KEY = "warpwise.programs";
const MOST = 12; // programs that are kept
const LONGEST = 30_000; // letters of a link, which browsers and forums pass on
const FRAGMENT = /^#program=(.*)$/;

// A program of what is said to be one: three texts.
export function asProgram(data) {
  return Object.fromEntries(PARTS.map((part) => [part, typeof data?.[part] === "string" ? data[part].trimEnd() : ""]));
}

export const same = (one, other) => PARTS.every((part) => one[part] === other[part]);

// The page's address, from any page of the site; undefined where the site has none.
export const playgroundPage = () => document.querySelector('a[href*="playground.html"]')?.href.split("#")[0];

export async function programLink(page, program) {
  const made = `${page}#program=${await packed(JSON.stringify(program))}`;
  if (made.length > LONGEST) throw new Error("This program is too long for a link. Download it instead.");
  return made;
}

// The program of the address; undefined if it holds none. Throws an error that says what is wrong.
export async function linked(address) {
  const [, letters] = FRAGMENT.exec(new URL(address).hash) ?? [];
  if (letters === undefined) return undefined;
  if (letters.length > LONGEST) throw new Error("The program in this link is too long to open.");
  try {
    const program = asProgram(JSON.parse(await unpacked(letters)));
    if (program.kernel || program.launch) return program;
  } catch { /* said below */ }
  throw new Error("This link is broken: it holds no program. Here is the example instead.");
}

// What the reader has changed, the last first, each with what it was made of: { name, told, start, program }.
export function kept() {
  try {
    return JSON.parse(localStorage.getItem(KEY)).map(({ name, told, start, program }) => ({
      name: String(name), told: String(told), start: asProgram(start), program: asProgram(program),
    }));
  } catch {
    return [];
  }
}

// Keep a program in the place of another that was made of the same; without one, forget that.
export function keep({ name, told, start }, program) {
  const others = kept().filter((one) => !same(one.start, start));
  const all = program ? [{ name, told, start, program }, ...others] : others;
  try {
    localStorage.setItem(KEY, JSON.stringify(all.slice(0, MOST)));
  } catch { /* storage is full or forbidden */ }
}
