// Shared by all widgets: reading controls, numbers, light or dark, keyboard, and the two front
// ends. Python writes the controls (data.body); a widget is a function start(ui, data) that wires
// them and sets ui.draw(width).

export const escape = (text) => text.replace(/[&<>"']/g, (c) => `&#${c.charCodeAt()};`);
export const thousands = (value) => String(value).replace(/\B(?=(\d{3})+$)/g, ",");
export const plural = (count, word) => `${thousands(count)} ${word}${count === 1 ? "" : "s"}`;
export const percent = (part, whole) => `${Math.floor((part / whole) * 1000 + 0.5) / 10} %`;

// Data holds long rows of addresses as steps from one to the next.
export const undelta = (deltas, at = 0) => deltas.map((d) => (at += d));
// 1,000 KiB are 0.977 MiB: never more than three digits.
export const binary = (bytes, k = Math.min(3, Math.floor(Math.log2(bytes * 1.024) / 10))) =>
  `${+(bytes / 1024 ** k).toPrecision(3)} ${["bytes", "KiB", "MiB", "GiB"][k]}`;

// The values of a form's controls, by name; updates the number beside each slider.
export function read(form) {
  const values = {};
  for (const { name, value, type, checked } of form.elements) {
    values[name] = type === "range" ? +value : type === "checkbox" ? checked : value;
    if (type === "range") form.querySelector(`output[for=${name}]`).value = value;
  }
  return values;
}

// Rows of [term, big number, meaning].
export const numbers = (rows) =>
  rows
    .map(([term, value, note]) => `<div><dt>${term}</dt><dd><b>${value}</b> ${note}</dd></div>`)
    .join("");

// Tell dark from light by the colour of the text around the widget, not by a host's theme names.
function shade(host) {
  const colour = getComputedStyle(host.parentElement).color || "rgb(0, 0, 0)";
  const [r, g, b] = colour.match(/[\d.]+/g);
  host.toggleAttribute(
    "data-dark",
    0.2126 * r + 0.7152 * g + 0.0722 * b > (colour.startsWith("rgb") ? 115 : 0.45),
  );
}

// Put a widget into a host element, and return a function that removes it. model keeps a lab's
// values; a page has none.
function mount(host, start, data, model) {
  const root = host.shadowRoot ?? host.attachShadow({ mode: "open" });
  root.innerHTML = `<style>${data.style}</style><div class="ww" data-lm-suppress-shortcuts="true">${data.body}</div>`;
  const body = root.lastChild;
  const ends = [];
  const ui = {
    body,
    find: (css) => body.querySelector(css),
    width: () => Math.max(280, (ui.find(".picture") ?? body).clientWidth),
    redraw: () => ui.draw?.(ui.width()),
    end: (what) => ends.push(what),
    tell: (name, value) => model && (model.set(name, value), model.save_changes()),
    hear(name, told) {
      const heard = () => told(model.get(name));
      model?.on(`change:${name}`, heard);
      ends.push(() => model?.off(`change:${name}`, heard));
    },
  };
  // JupyterLab would take the arrow keys for itself.
  body.addEventListener(
    "keydown",
    (e) => e.ctrlKey || e.metaKey || e.key === "Escape" || e.stopPropagation(),
  );
  start(ui, data);
  // Drawn anew for another width alone: what moves would stop.
  let wide = 0;
  const size = new ResizeObserver(() => {
    shade(host);
    if (wide !== (wide = ui.width())) ui.redraw();
  });
  const theme = new MutationObserver(() => setTimeout(shade, 50, host));
  size.observe(body);
  for (const node of [document.documentElement, document.body])
    theme.observe(node, { attributes: true });
  shade(host);
  ui.redraw();
  return () => [() => size.disconnect(), () => theme.disconnect(), ...ends].forEach((end) => end());
}

// The custom element for pages, defined once however many copies of this script a page has, and the
// render function for labs.
export function widget(tag, start) {
  if (!customElements.get(tag))
    customElements.define(
      tag,
      class extends HTMLElement {
        connectedCallback() {
          this.leave = mount(
            this,
            start,
            JSON.parse(this.querySelector("[type='application/json']").textContent),
          );
        }
        disconnectedCallback() {
          this.leave();
        }
      },
    );
  return {
    render({ model, el }) {
      const host = el.appendChild(document.createElement("div"));
      let leave = () => {};
      const again = () => (leave(), (leave = mount(host, start, model.get("data"), model)));
      model.on("change:data", again);
      again();
      return () => (model.off("change:data", again), leave());
    },
  };
}
