// Starts JupyterLab with the settings of the page, and says how far Python is.
(() => {
  "use strict";
  const place = document.getElementById("jupyter-config-data");
  const state = document.getElementById("state");
  const button = document.getElementById("download");
  // The site may lie in any folder of a server.
  const root = new URL("..", location.href.split(/[?#]/)[0]).pathname;

  // What the site's pages wear, or else what the reader's system does.
  const dark = () => {
    try {
      const chosen = localStorage.getItem("theme");
      if (chosen) return chosen === "dark";
    } catch { /* storage is forbidden */ }
    return matchMedia("(prefers-color-scheme: dark)").matches;
  };

  document.body.classList.toggle("dark", dark());
  if (location.protocol === "file:") {
    const path = new URLSearchParams(location.search).get("path") ?? "";
    const link = document.createElement("a");
    link.href = `../files/${encodeURIComponent(path)}`;
    link.download = path;
    link.textContent = "Download this lab";
    document.querySelector("#bar p").textContent = "Labs run in pages from a web server, and not in pages from a disk.";
    state.textContent = "";
    button.replaceWith(link);
    return;
  }

  const settings = JSON.parse(place.textContent.replaceAll("{root}", root));
  settings.settingsOverrides["@jupyterlab/apputils-extension:themes"] = {
    theme: dark() ? "JupyterLab Dark" : "JupyterLab Light",
  };
  place.textContent = JSON.stringify(settings);

  const app = () => window.jupyterapp;
  const shown = () => app()?.shell.currentWidget;
  const WORDS = { idle: "Python is ready: run the cells from the top", busy: "Python is at work …" };
  const ENDLESS = "Python is at work … A cell that never ends: Kernel > Restart Kernel";
  const LONG = 5_000; // milliseconds of work after which that is said
  let since; // when Python was first seen at work

  const word = () => {
    if (!app()) return "Loading …";
    const session = shown()?.sessionContext;
    const status = session?.session?.kernel?.status;
    since = status === "busy" ? since ?? Date.now() : undefined;
    if (Date.now() - since > LONG) return ENDLESS;
    return session ? WORDS[status] ?? "Python is starting …" : "";
  };

  // JupyterLab takes the lab's name out of the address; with it there, a reload opens the lab again.
  const name = () => {
    const path = shown()?.context?.path;
    const query = path ? `?${new URLSearchParams({ path })}` : location.search;
    if (query !== location.search) history.replaceState(null, "", query);
  };

  // On a phone the list of labs would leave no room for one.
  let narrow = matchMedia("(max-width: 40rem)").matches;
  const makeRoom = () => {
    if (!narrow || !shown()?.context?.isReady) return;
    narrow = false;
    app().shell.collapseLeft();
  };

  const look = () => {
    makeRoom();
    if (state.textContent !== word()) state.textContent = word();
    button.disabled = !app()?.commands.isEnabled("docmanager:download");
    name();
  };

  button.addEventListener("click", async () => {
    await app().commands.execute("docmanager:save");
    await app().commands.execute("docmanager:download");
  });
  setInterval(look, 250);

  // JupyterLite, unlike JupyterLab, takes keys before a widget sees them, and the mark that keeps it from that
  // (see core.js) lies in the widget's shadow, where it does not look.
  addEventListener("keydown", (event) => {
    const host = event.target;
    if (!host.localName?.startsWith("ww-")) return;
    const meant = event.ctrlKey || event.metaKey || event.key === "Escape";
    host.toggleAttribute("data-lm-suppress-shortcuts", !meant);
  }, true);

  const bundle = document.createElement("script");
  bundle.setAttribute("main", "index");
  bundle.src = "../build/lab/bundle.js";
  document.head.append(bundle);
})();
