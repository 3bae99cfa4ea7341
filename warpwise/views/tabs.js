// Panels as tabs, after the tabs pattern of the ARIA Authoring Practices: arrow keys, Home and End
// go from one to the next, Tab goes in. Each panel has a heading, which gives its tab the words;
// without this script the panels stand one below the other.
let made = 0;

class Tabs extends HTMLElement {
  connectedCallback() {
    // JupyterLab removes an output and brings it back.
    if (this.querySelector("[role=tablist]")) return;
    const list = document.createElement("div");
    const name = `ww-tabs-${++made}`;
    const panels = [...this.children].filter((child) => child.matches(".panel"));
    const tabs = panels.map((panel, i) => {
      const tab = document.createElement("button");
      const heading = panel.querySelector("h3");
      Object.assign(tab, {
        type: "button",
        role: "tab",
        id: `${name}-${i}`,
        textContent: heading.textContent,
        onclick: () => choose(i),
      });
      tab.setAttribute("aria-controls", `${name}-panel-${i}`);
      Object.assign(panel, { role: "tabpanel", id: `${name}-panel-${i}`, tabIndex: 0 });
      panel.setAttribute("aria-labelledby", tab.id);
      return tab;
    });
    const choose = (chosen) =>
      tabs.forEach((tab, i) => {
        tab.ariaSelected = i === chosen;
        tab.tabIndex = i === chosen ? 0 : -1;
        panels[i].hidden = i !== chosen;
      });
    list.onkeydown = (e) => {
      if (e.ctrlKey || e.metaKey || e.key === "Escape") return;
      // JupyterLab would take the arrow keys for itself.
      e.stopPropagation();
      const at = tabs.indexOf(e.target);
      const last = tabs.length - 1;
      const to = {
        ArrowRight: at === last ? 0 : at + 1,
        ArrowLeft: at ? at - 1 : last,
        Home: 0,
        End: last,
      }[e.key];
      if (to === undefined) return;
      e.preventDefault();
      choose(to);
      tabs[to].focus();
    };
    Object.assign(list, { role: "tablist", ariaLabel: this.dataset.label });
    list.append(...tabs);
    this.prepend(list);
    choose(0);
  }
}

if (!customElements.get("ww-tabs")) customElements.define("ww-tabs", Tabs);
