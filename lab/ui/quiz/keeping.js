// A learner's progress in the browser's own storage: what this visit has done is written there, what another visit wrote
// is told to the server first. The server reads it as it reads a file that anybody may have sent.

const NAME = "inside-bert.progress";
const told = new WeakMap();

const LATEST = 1e15; // milliseconds since 1970; whoever wrote a later time is not the lab

function read() {
  try {
    const kept = JSON.parse(window.localStorage.getItem(NAME));
    if (typeof kept?.stamp !== "string" || typeof kept?.progress !== "string") return null;
    const began = Number.isInteger(kept.afresh) && kept.afresh >= 0 && kept.afresh < LATEST;
    return { ...kept, afresh: began ? kept.afresh : 0 };
  } catch {
    return null; // nothing, or nothing of ours
  }
}

function write(kept) {
  try {
    window.localStorage.setItem(NAME, JSON.stringify(kept));
  } catch {
    // A browser that keeps nothing: the progress lasts as long as the visit.
  }
}

/** A cookie says whether there is something to wait for: it comes with the connection, before anything is drawn. */
function mark(cookie, keeps) {
  document.cookie = `${cookie}=1; path=/; SameSite=Lax; max-age=${keeps ? 31536000 : 0}`;
}

/**
 * `data`: who this visit is, the stamp of the last record that it was told of, its progress, when the learner started
 * afresh for the last time (0: never), how much may be kept, the cookie's name, and whether the page waits for an answer.
 *
 * A record says, too, when the learner started afresh: so a visit in another tab forgets what it has from before, in
 * place of writing it again.
 */
export default function ({ data, parentElement, setStateValue }) {
  const kept = read();
  const fits = kept !== null && kept.progress.length <= data.most;
  if (data.waits && !fits) {
    mark(data.cookie, false);
    setStateValue("kept", ["", "", 0]);
    return;
  }
  if (fits && kept.by !== data.by && kept.stamp !== data.heard && kept.afresh >= data.afresh) {
    if (told.get(parentElement) === kept.stamp) return;
    told.set(parentElement, kept.stamp);
    mark(data.cookie, Boolean(kept.progress));
    setStateValue("kept", [kept.stamp, kept.progress, kept.afresh]);
    return;
  }
  const forgets = data.afresh > (kept?.afresh ?? 0);
  const keeps = Boolean(data.progress) && data.progress.length <= data.most;
  // A record that is too long for this lab is another version's: only a learner who starts afresh deletes it.
  const mayWrite = keeps && kept?.progress !== data.progress && (kept === null || fits);
  if (!forgets && !mayWrite) return;
  const stamp = `${data.by}.${Date.now()}`;
  write({ by: data.by, stamp, progress: keeps ? data.progress : "", afresh: data.afresh });
  mark(data.cookie, keeps);
}
