// Offers to edit the page's editable cells. The editor and Python are loaded when a reader touches one; until then this is all.
(() => {
  "use strict";
  const RUNTIME = new URL("_static/runtime/", new URL(document.documentElement.dataset.content_root, location.href));
  const make = (tag, attributes = {}, ...children) => {
    const element = document.createElement(tag);
    for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
    element.append(...children);
    return element;
  };

  const kept = (cell) => {
    try {
      const found = JSON.parse(localStorage.getItem(`warpwise.cell.${location.pathname}.${cell.dataset.at}`));
      return found?.version === cell.dataset.version;
    } catch {
      return false;
    }
  };

  const offer = (cell) => {
    const code = cell.querySelector(".cell_input pre");
    const button = make("button", { type: "button", class: "ww-edit" }, kept(cell) ? "Go on editing" : "Edit and run");
    const status = make("p", { class: "ww-status", role: "status" });
    const bar = make("div", { class: "ww-bar" }, make("p", { class: "ww-prompt" }, cell.dataset.prompt), button, status);
    cell.querySelector(".cell_input").after(bar);
    code.tabIndex = 0;
    code.setAttribute("role", "group");
    code.setAttribute("aria-label", "Code. Enter edits it.");
    let touched = false;
    const touch = async (shared = "") => {
      if (touched) return;
      if (location.protocol === "file:") {
        status.textContent = "Running code takes a page from a web server: make serve shows the book from one.";
        return;
      }
      touched = true;
      status.textContent = "Loading the editor.";
      try {
        const editor = await import(new URL("editor.js", RUNTIME));
        await editor.open({ cell, bar, status, runtime: RUNTIME.href, shared });
      } catch (error) {
        touched = false;
        status.textContent = `The editor could not be loaded: ${error.message}`;
      }
    };
    button.addEventListener("click", () => touch());
    code.addEventListener("click", () => String(getSelection()) || touch());
    code.addEventListener("keydown", (event) => event.key === "Enter" && (event.preventDefault(), touch()));
    return touch;
  };

  // A shared link holds its text behind #; it is shown, and runs when the reader says so.
  const open = () => {
    const [, at, packed] = /^#cell-(\d+)=([\w-]+)$/.exec(location.hash) ?? [];
    const target = document.querySelector(`.ww-editable[data-at="${at}"]`);
    if (!target) return;
    target.scrollIntoView();
    touches.get(target)(packed);
  };
  const touches = new Map([...document.querySelectorAll(".ww-editable")].map((cell) => [cell, offer(cell)]));
  addEventListener("hashchange", open);
  open();
})();
