// Keeps the pages that a reader visits, for when there is no network: asked first is always the network.
// A page registers it once Python has started there, as service.js?VERSION (offline.js).

const OURS = `warpwise ${registration.scope} `;
const CACHE = OURS + location.search.slice(1);
const LITE = `${registration.scope}lite/`; // looks after itself
const HASHED = /\/_static\/runtime\/[^?]+\?[0-9a-f]{8}$/; // never differ, so the network need not be asked

addEventListener("install", () => skipWaiting());
addEventListener("activate", (event) => event.waitUntil(Promise.all([clients.claim(), tidy()])));
addEventListener("fetch", (event) => isOurs(event.request) && event.respondWith(answer(event)));

async function tidy() {
  const others = (await caches.keys()).filter((name) => name.startsWith(OURS) && name !== CACHE);
  await Promise.all(others.map((name) => caches.delete(name)));
}

const isOurs = ({ method, url }) => method === "GET" && url.startsWith(registration.scope) && !url.startsWith(LITE);

async function answer(event) {
  const { request } = event;
  const cache = await caches.open(CACHE);
  const kept = await cache.match(request);
  if (kept && HASHED.test(request.url)) return kept;
  try {
    const fresh = await fetch(request);
    if (fresh.status === 200) event.waitUntil(cache.put(request, fresh.clone()));
    return fresh;
  } catch (error) {
    return kept ?? Promise.reject(error);
  }
}
