
// A component in a file of its own: it gets its data as from Streamlit, and what it asks for is answered from the file,
// or the file says that it has no answer.

const kept = JSON.parse(document.getElementById("kept").textContent);
const ASKS_THE_LAB = "This file has only what was on the page when it was kept. The lab can compute this" + (kept.linked ? ": follow the link below." : ".");

/** The answers that need nothing but the data at hand: a change of the header, or null. */
const OWN = {
  sentence({ header, arrays }, [, query, key]) {
    const chosen = query - header.first;
    if (key >= 0) return { chosen, other: key - header.first };
    if (header.other === null || !header.arcs) return { chosen };
    const row = [...arrays.weights.values.subarray(chosen * header.labels.length, (chosen + 1) * header.labels.length)];
    const most = row.reduce((best, value, to) => (to !== chosen && (best < 0 || value > row[best]) ? to : best), -1);
    return { chosen, other: most < 0 ? null : most };
  },
};

const bytesOf = (text) => Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0));

/** The same arrays under a header with these changes. */
function changed(bytes, changes) {
  const size = new DataView(bytes.buffer, bytes.byteOffset).getUint32(0, true);
  const header = { ...JSON.parse(new TextDecoder().decode(bytes.subarray(4, 4 + size))), ...changes };
  const text = new TextEncoder().encode(JSON.stringify(header));
  const head = new Uint8Array(4 * Math.ceil(text.length / 4)).fill(32);
  head.set(text);
  const whole = new Uint8Array(4 + head.length + bytes.length - 4 - size);
  new DataView(whole.buffer).setUint32(0, head.length, true);
  whole.set(head, 4);
  whole.set(bytes.subarray(4 + size), 4 + head.length);
  return whole;
}

const place = document.getElementById("figure");
const says = document.getElementById("says");
const parentElement = place.attachShadow({ mode: "open" });
parentElement.append(make("style", {}, kept.css));
let state = 0;
let drawn = 0;
let data = null;

function show(bytes, changes = {}) {
  drawn += 1;
  data = changed(bytes, { ...changes, alone: true, id: `kept.${drawn}` });
  mount();
}

function mount() {
  component({ data, parentElement, setStateValue: answer, setTriggerValue: answer });
}

function answer(name, value) {
  const asked = JSON.stringify(Array.isArray(value) ? value.slice(1) : value);
  const next = kept.moves[state]?.[asked];
  says.textContent = "";
  if (next !== undefined) {
    state = next;
    return show(bytesOf(kept.payloads[state]));
  }
  const own = OWN[kept.name]?.(unpack(data), value);
  if (!own) says.textContent = ASKS_THE_LAB;
  show(data, own ?? {}); // again, so that the figure shows what is and not what was asked for
}

show(bytesOf(kept.payloads[0]));
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", mount);
