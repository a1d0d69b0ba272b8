// A browser's place in a room: the seat that the server has signed for it, and the key of a teacher who opened the room
// here. Both live in the browser's own storage for a day and are never part of an address.

const PREFIX = "inside-bert.room.";
const DAY = 24 * 60 * 60 * 1000;
// Where a browser keeps nothing for pages, the place lasts as long as the page.
const spare = (window.insideBertSeats ??= {});
const told = new WeakMap();

function read(name) {
  try {
    return JSON.parse(window.localStorage.getItem(name)) ?? spare[name] ?? null;
  } catch {
    return spare[name] ?? null;
  }
}

function write(name, place) {
  spare[name] = place;
  try {
    window.localStorage.setItem(name, JSON.stringify(place));
  } catch {
    // It is kept in `spare`.
  }
}

/** Rooms of yesterday are gone on the server; so are their places here. */
function tidy() {
  try {
    for (const name of Object.keys(window.localStorage)) {
      if (name.startsWith(PREFIX) && !(Date.now() - (read(name)?.since ?? 0) < DAY)) window.localStorage.removeItem(name);
    }
  } catch {
    // Nothing is kept, so nothing is old.
  }
}

const text = (value) => (typeof value === "string" ? value : "");

/** The rooms that were opened here, the newest first: a teacher comes back to them from the page of rooms. */
function opened() {
  try {
    const names = Object.keys({ ...window.localStorage, ...spare }).filter((name) => name.startsWith(PREFIX));
    const rooms = names.map((name) => [name.slice(PREFIX.length), text(read(name)?.key), read(name)?.since ?? 0]);
    return rooms.filter(([, key]) => key).sort((a, b) => b[2] - a[2]).slice(0, 20).map(([code, key]) => [code, key]);
  } catch {
    return [];
  }
}

/** `data`: the code of the room, the visit's seat in it and its key once it has them, and who the visit is; without a
 * code, the browser tells which rooms it has opened. */
export default function ({ data, parentElement, setStateValue }) {
  const name = PREFIX + data.code;
  tidy();
  if (!data.code) {
    const rooms = opened();
    if (told.get(parentElement) === JSON.stringify(rooms)) return;
    told.set(parentElement, JSON.stringify(rooms));
    if (rooms.length) setStateValue("rooms", rooms);
    return;
  }
  const before = read(name);
  const place = {
    seat: data.seat || text(before?.seat),
    key: data.key || text(before?.key),
    since: before?.since ?? Date.now(),
  };
  if (place.seat !== text(before?.seat) || place.key !== text(before?.key)) write(name, place);
  // A visit is told once; what it learns then holds as long as it lasts.
  const asked = JSON.stringify([data.code, data.by]);
  if (told.get(parentElement) === asked) return;
  told.set(parentElement, asked);
  setStateValue("seat", [data.code, place.seat, place.key, data.by]);
}
