// Offers to edit the playground's program. The editor and Python are loaded when a reader asks for them, or opens a shared program.
(() => {
  "use strict";
  const root = document.querySelector(".ww-playground");
  const SITE = new URL(document.documentElement.dataset.content_root, location.href);
  const make = (tag, attributes, ...children) => {
    const element = document.createElement(tag);
    for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
    element.append(...children);
    return element;
  };
  const button = make("button", { type: "button", class: "ww-edit" }, "Edit and run");
  const status = make("p", { class: "ww-status", role: "status" });
  const bar = make("div", { class: "ww-bar" }, button, status);
  root.prepend(bar);
  let touched = false;
  const touch = async () => {
    if (touched) return;
    if (location.protocol === "file:") {
      status.textContent = "Running code takes a page from a web server: make serve shows the book from one.";
      return;
    }
    touched = true;
    status.textContent = "Loading the editor.";
    const runtime = new URL("_static/runtime/", SITE).href;
    try {
      const { playground } = await import(`${runtime}editor.js`);
      await playground({ root, bar, status, runtime, examples: new URL("_static/playground/examples.json", SITE).href });
    } catch (error) {
      touched = false;
      status.textContent = `The editor could not be loaded: ${error.message}`;
    }
  };
  button.addEventListener("click", touch);
  for (const code of root.querySelectorAll(".cell_input pre")) {
    code.tabIndex = 0;
    code.setAttribute("role", "group");
    code.setAttribute("aria-label", "Code. Enter edits it.");
    code.addEventListener("click", () => String(getSelection()) || touch());
    code.addEventListener("keydown", (event) => event.key === "Enter" && (event.preventDefault(), touch()));
  }
  const opened = () => location.hash.startsWith("#program=") && touch();
  addEventListener("hashchange", opened);
  opened();
})();
