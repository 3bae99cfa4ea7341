// A reader's text: kept in this browser for each cell and version of its original, and packed into
// the part of a link that no server sees.

const LONGEST = 100_000; // characters of a text from a link

const key = (cell) => `warpwise.cell.${location.pathname}.${cell.dataset.at}`;

export function kept(cell) {
  try {
    const found = JSON.parse(localStorage.getItem(key(cell)));
    return found.version === cell.dataset.version && typeof found.text === "string" ? found.text : undefined;
  } catch {
    return undefined;
  }
}

export function keep(cell, text) {
  try {
    localStorage.setItem(key(cell), JSON.stringify({ version: cell.dataset.version, text }));
  } catch { /* storage is full or forbidden */ }
}

export function forget(cell) {
  try {
    localStorage.removeItem(key(cell));
  } catch { /* as above */ }
}

// The address without what it holds behind #, where that is a text; ``state`` is for who comes back.
export function clearAddress(state = null) {
  const { pathname, search, hash } = location;
  history.replaceState(state, "", pathname + search + (hash.includes("=") ? "" : hash));
}

// Put a link into the address bar, and onto the clipboard if that is allowed; return what was done.
export async function copied(address) {
  history.replaceState(null, "", address);
  try {
    await navigator.clipboard.writeText(address);
    return "The link is copied.";
  } catch {
    return "The link stands in the address bar.";
  }
}

// A text as letters that may stand in an address.
export async function packed(text) {
  const stream = new Blob([text]).stream().pipeThrough(new CompressionStream("deflate-raw"));
  const bytes = new Uint8Array(await new Response(stream).arrayBuffer());
  const letters = Array.from(bytes, (byte) => String.fromCharCode(byte)).join("");
  return btoa(letters).replaceAll("+", "-").replaceAll("/", "_").replace(/=+$/, "");
}

export async function link(cell, text) {
  return `${location.href.split("#")[0]}#cell-${cell.dataset.at}=${await packed(text)}`;
}

export async function unpacked(letters) {
  const plain = atob(letters.replaceAll("-", "+").replaceAll("_", "/"));
  const bytes = Uint8Array.from(plain, (letter) => letter.charCodeAt());
  const reader = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate-raw")).pipeThrough(new TextDecoderStream()).getReader();
  let text = "";
  for (let part; !(part = await reader.read()).done; ) {
    text += part.value;
    if (text.length > LONGEST) throw new Error("the text in this link is too long");
  }
  return text;
}
