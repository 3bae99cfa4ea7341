// What a run shows, in the place of the cell's output: text as text, HTML in a sandboxed frame.

import { frame, resultPage } from "./frame.js";

const TALLEST = 20_000; // pixels

const block = (kind, text) => {
  const pre = document.createElement("pre");
  pre.textContent = text;
  const made = document.createElement("div");
  made.className = `output ${kind}`;
  made.append(pre);
  return made;
};

export class Outputs {
  constructor(cell) {
    this.original = cell.querySelector(".cell_output");
    this.place = document.createElement("div");
    this.place.className = "cell_output docutils container ww-shown";
    this.place.hidden = true;
    (this.original ?? cell.querySelector(".ww-bar")).after(this.place);
    addEventListener("message", (event) => this.hear(event));
    new MutationObserver(() => this.tell()).observe(document.documentElement, { attributes: true, attributeFilter: ["data-theme"] });
  }

  // Show a result; a picture takes the place of the last one when it is drawn.
  show({ printed, html, value, error }) {
    if (this.original) this.original.hidden = true;
    const old = this.picture;
    this.picture = html ? frame("Result", resultPage(html)) : undefined;
    const texts = [printed && block("stream", printed), value && block("text_plain", value), error && block("ww-error", error)];
    for (const one of [...this.place.children]) if (one !== old || !html) one.remove();
    this.place.prepend(...texts.filter(Boolean));
    if (this.picture) {
      this.picture.className = "ww-coming";
      this.place.append(this.picture);
      this.replaced = old;
    }
    this.place.hidden = false;
  }

  reset() {
    this.place.replaceChildren();
    this.place.hidden = true;
    this.picture = undefined;
    if (this.original) this.original.hidden = false;
  }

  hear({ source, data }) {
    if (!this.picture || source !== this.picture.contentWindow || data?.kind !== "height") return;
    const height = Math.min(TALLEST, Math.max(0, Number(data.height) || 0));
    if (!this.picture.dataset.told) this.tell();
    this.picture.dataset.told = "yes";
    this.picture.className = "ww-result";
    this.picture.style.height = `${height}px`;
    this.replaced?.remove();
    this.replaced = undefined;
  }

  // The frame wears the page's theme.
  tell() {
    if (!this.picture) return;
    const { color, fontSize, fontFamily } = getComputedStyle(this.place);
    const theme = document.documentElement.dataset.theme === "dark" ? "dark" : "light";
    this.picture.style.colorScheme = theme;
    this.picture.contentWindow?.postMessage({ kind: "theme", theme, ink: color, font: `${fontSize} ${fontFamily}` }, "*");
  }
}
