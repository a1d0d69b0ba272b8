// A copied address names what the page shows, also what the lab chose. That makes no entry in the browser's history.

export default function ({ data }) {
  const url = new URL(window.location.href);
  const missing = Object.entries(data.shown).filter(([name]) => !url.searchParams.has(name));
  if (!missing.length) return;
  missing.forEach(([name, value]) => url.searchParams.set(name, value));
  window.history.replaceState(window.history.state, "", url);
}
