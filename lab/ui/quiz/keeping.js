// A learner's progress in the browser's own storage: what this visit has done is written there, what another visit wrote
// is told to the server first. The server reads it as it reads a file that anybody may have sent.

const NAME = "inside-bert.progress";
const told = new WeakMap();

function read() {
  try {
    const kept = JSON.parse(window.localStorage.getItem(NAME));
    return typeof kept?.stamp === "string" && typeof kept?.progress === "string" ? kept : null;
  } catch {
    return null; // nothing, or nothing of ours
  }
}

function write(kept) {
  try {
    if (kept === null) window.localStorage.removeItem(NAME);
    else window.localStorage.setItem(NAME, JSON.stringify(kept));
  } catch {
    // A browser that keeps nothing: the progress lasts as long as the visit.
  }
}

/** A cookie says whether there is something to wait for: it comes with the connection, before anything is drawn. */
function mark(cookie, keeps) {
  document.cookie = `${cookie}=1; path=/; SameSite=Lax; max-age=${keeps ? 31536000 : 0}`;
}

/**
 * `data`: who this visit is, the stamp of the last record that it was told of, its progress, how much may be kept, the
 * cookie's name, and whether the page waits for an answer.
 */
export default function ({ data, parentElement, setStateValue }) {
  const kept = read();
  if (data.waits && (kept === null || kept.progress.length > data.most)) {
    mark(data.cookie, false);
    setStateValue("kept", ["", ""]);
    return;
  }
  if (kept === null || kept.by === data.by || kept.stamp === data.heard || kept.progress.length > data.most) {
    if (kept?.by === data.by && kept.progress === data.progress) return;
    const stamp = `${data.by}.${Date.now()}`;
    const keeps = Boolean(data.progress) && data.progress.length <= data.most;
    write(keeps ? { by: data.by, stamp, progress: data.progress } : null);
    mark(data.cookie, keeps);
  } else if (told.get(parentElement) !== kept.stamp) {
    told.set(parentElement, kept.stamp);
    mark(data.cookie, true);
    setStateValue("kept", [kept.stamp, kept.progress]);
  }
}
