// A copied address names what the page shows, also what the lab chose, and nothing else. That makes no entry in the
// browser's history.

export default function ({ data }) {
  const url = new URL(window.location.href);
  const missing = Object.entries(data.shown).filter(([name]) => !url.searchParams.has(name));
  const stale = data.stale.filter((name) => url.searchParams.has(name));
  if (!missing.length && !stale.length) return;
  missing.forEach(([name, value]) => url.searchParams.set(name, value));
  stale.forEach((name) => url.searchParams.delete(name));
  window.history.replaceState(window.history.state, "", url);
}
