// Has the browser keep a page that runs Python, and what is visited from then on, for when there is no
// network.

// files: what was fetched of the runtime, [address, Blob]; base: the address of the runtime.
export async function keepForOffline(base, version, files) {
  const scope = new URL("../../", base).href;
  const script = `${scope}service.js?${version}`;
  const { serviceWorker } = navigator;
  if (!serviceWorker || serviceWorker.controller?.scriptURL === script) return; // which kept all that was loaded
  try {
    const cache = await caches.open(`warpwise ${scope} ${version}`);
    for (const [address, content] of files) await cache.put(address, new Response(content));
    const loaded = performance.getEntriesByType("resource").map(({ name }) => name);
    const here = [location.href.split("#")[0], new URL("manifest.json", base).href, ...loaded];
    const addresses = new Set(here.filter((name) => name.startsWith(scope) && !files.some(([address]) => address === name)));
    await Promise.allSettled([...addresses].map((address) => cache.add(address)));
    await serviceWorker.register(script, { scope });
  } catch { /* where the browser keeps nothing, all is as it was */ }
}
