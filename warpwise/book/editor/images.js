// The image of Python that this browser keeps for the next visit: one, of this version of the site and
// of this browser. See image.js.

const STORE = "images";

const opened = () =>
  new Promise((found, failed) => {
    const asked = indexedDB.open("warpwise", 1);
    asked.onupgradeneeded = () => asked.result.createObjectStore(STORE);
    asked.onsuccess = () => found(asked.result);
    asked.onerror = () => failed(asked.error);
  });

// What act() asks of the store; undefined where this browser keeps nothing.
async function stored(mode, act) {
  try {
    const base = await opened();
    const transaction = base.transaction(STORE, mode);
    const asked = act(transaction.objectStore(STORE));
    await new Promise((done, failed) => Object.assign(transaction, { oncomplete: done, onerror: failed, onabort: failed }));
    base.close();
    return asked.result;
  } catch {
    return undefined;
  }
}

const key = (version) => `${version} ${navigator.userAgent}`;

export const keptImage = (version) => stored("readonly", (store) => store.get(key(version)));
export const forgetImages = () => stored("readwrite", (store) => store.clear());
export const keepImage = (version, image) => stored("readwrite", (store) => (store.clear(), store.put(image, key(version))));
