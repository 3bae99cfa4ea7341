// What there is to choose from: the examples, which are data of the site, and what the reader has kept.

import { asProgram } from "./programs.js";
import { element } from "./shown.js";

const group = (label) => element("optgroup", { label });
const text = (value) => (typeof value === "string" ? value : "");

// The list, and offer(programs), which puts the reader's own at its top. chosen() is given { name, told, start }.
export async function choice(address, chosen) {
  const answer = await fetch(address);
  if (!answer.ok) throw new Error(`${answer.url} answers ${answer.status}`);
  const examples = await answer.json();
  const list = element("select", { class: "ww-edit", "aria-label": "Examples" }, element("option", { value: "" }, "Examples"));
  const offered = new Map(); // value of an option -> what it stands for
  const option = (one, value) => {
    offered.set(value, one);
    return element("option", { value }, one.name);
  };
  const topics = new Map();
  examples.forEach(({ topic, title, told, ...texts }, i) => {
    if (!topics.has(topic)) topics.set(topic, group(topic));
    topics.get(topic).append(option({ name: text(title), told: text(told), start: asProgram(texts) }, `${i}`));
  });
  const own = group("Kept in this browser");
  list.append(...topics.values());
  list.addEventListener("change", () => offered.has(list.value) && chosen(offered.get(list.value)));
  const offer = (programs) => {
    own.replaceChildren(...programs.map((one, i) => option(one, `own ${i}`)));
    if (programs.length) list.firstElementChild.after(own);
    else own.remove();
  };
  return { list, offer };
}
