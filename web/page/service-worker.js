// Keeps the files of the page, so that it works without a network.
const CACHE = 'marquardt /*version*/';
const FILES = [/*files*/];

self.addEventListener('install', event => event.waitUntil((async () => {
  const cache = await caches.open(CACHE);
  await cache.addAll(FILES);
  await self.skipWaiting();
})()));

self.addEventListener('activate', event => event.waitUntil((async () => {
  const names = await caches.keys();
  await Promise.all(names.filter(name => name.startsWith('marquardt ') && name !== CACHE).map(name => caches.delete(name)));
  await self.clients.claim();
})()));

self.addEventListener('fetch', event => {
  if (event.request.method !== 'GET' || new URL(event.request.url).origin !== self.location.origin) return;
  event.respondWith((async () => {
    const cache = await caches.open(CACHE);
    const kept = await cache.match(event.request, { ignoreSearch: true });
    if (kept) return kept;
    const answer = await fetch(event.request);
    // The module for engines without SIMD, where it is asked for.
    if (answer.ok) event.waitUntil(cache.put(event.request, answer.clone()));
    return answer;
  })());
});
