// A list of sentences with a button for either label. A click tells Python, which learns and says what it expects of the
// others. The learner's own sentences stay in the browser's storage for the next visit.

const KEPT = "inside-bert.sentences";

const percent = (share) => `${Math.round(100 * share)} %`;

function stored() {
  try {
    return window.localStorage.getItem(KEPT) ?? "";
  } catch {
    return ""; // a browser that keeps nothing: the sentences last as long as the visit
  }
}

function store(text) {
  try {
    window.localStorage.setItem(KEPT, text);
  } catch {
    // as above
  }
}

/** What the classifier says of a sentence without a label: a label, how sure it is, and whether that is wrong. */
function said(labels, [, mark, says, truth]) {
  if (mark >= 0 || says === null) return make("span", { class: "says" });
  const first = says > 0.5;
  const wrong = truth >= 0 && (truth === 1) !== first;
  const text = `${labels[first ? 0 : 1]} ${percent(first ? says : 1 - says)}`;
  return make("span", { class: `says ${first ? "first" : "second"} ${wrong ? "wrong" : ""}`, title: wrong ? "This is wrong." : null }, text, ...(wrong ? [make("span", { class: "hidden" }, " (wrong)")] : []));
}

function build(root, first, report) {
  let payload = first;
  let told = 0;
  const list = make("ol", { "aria-label": "Sentences" });
  root.append(list);

  const act = (...what) => report("act", [`${Date.now()}.${(told += 1)}`, ...what]);

  function line(row, place) {
    const [text, mark] = row;
    const { labels, drops } = payload.header;
    const buttons = labels.map((label, which) => {
      const on = mark === (which === 0 ? 1 : 0);
      const button = make("button", { type: "button", class: `label ${which === 0 ? "first" : "second"}`, "aria-pressed": String(on), "aria-label": `${label}: ${text}` }, label);
      button.addEventListener("click", () => act(on ? "clear" : which === 0 ? "first" : "second", place));
      return button;
    });
    const drop = make("button", { type: "button", class: "drop", "aria-label": `Take out: ${text}`, title: "Take out" }, "×");
    drop.addEventListener("click", () => act("drop", place));
    return make("li", {}, make("span", { class: "text", dir: "auto" }, text), said(labels, row), make("span", { class: "labels" }, ...buttons, ...(drops ? [drop] : [])));
  }

  function lay() {
    const { rows, kept, asks } = payload.header;
    const at = list.scrollTop;
    const focused = [...list.querySelectorAll("button")].indexOf(root.getRootNode().activeElement);
    list.replaceChildren(...rows.map(line));
    list.scrollTop = at;
    if (focused >= 0) list.querySelectorAll("button")[focused]?.focus({ preventScroll: true });
    if (kept) store(kept);
    if (asks) report("kept", [`${Date.now()}`, stored()]);
  }

  lay();
  return {
    update(next) {
      payload = next;
      lay();
    },
    restyle() {},
    dispose() {},
  };
}

export default function (given) {
  return keep(given, build);
}
