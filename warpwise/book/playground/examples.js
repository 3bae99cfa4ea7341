// The list of examples: data of the site, loaded when the playground is opened.

import { element } from "./shown.js";

// A list to choose from; chosen() is given the example.
export async function choice(address, chosen) {
  const answer = await fetch(address);
  if (!answer.ok) throw new Error(`${answer.url} answers ${answer.status}`);
  const examples = await answer.json();
  const list = element("select", { class: "ww-edit", "aria-label": "Examples" }, element("option", { value: "" }, "Examples"));
  const topics = new Map();
  examples.forEach(({ topic, title }, i) => {
    if (!topics.has(topic)) topics.set(topic, element("optgroup", { label: topic }));
    topics.get(topic).append(element("option", { value: String(i) }, title));
  });
  list.append(...topics.values());
  list.addEventListener("change", () => list.value && chosen(examples[Number(list.value)]));
  return list;
}
