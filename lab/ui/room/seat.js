// A browser's place in a room: what tells this participant from others, and the key of a teacher who opened the room here.
// Both live in the browser's own storage for a day and are never part of an address.

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

function write(name, seat) {
  spare[name] = seat;
  try {
    window.localStorage.setItem(name, JSON.stringify(seat));
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

/** 128 random bits. */
function secret() {
  return Array.from(crypto.getRandomValues(new Uint8Array(16)), (byte) => byte.toString(16).padStart(2, "0")).join("");
}

export default function ({ data, parentElement, setStateValue }) {
  const name = PREFIX + data.code;
  tidy();
  const before = read(name);
  const seat = { who: before?.who ?? secret(), key: data.key || before?.key || "", since: before?.since ?? Date.now() };
  write(name, seat);
  const saying = JSON.stringify([data.code, seat.who, seat.key]);
  if (told.get(parentElement) === saying) return;
  told.set(parentElement, saying);
  setStateValue("seat", [data.code, seat.who, seat.key]);
}
