// You are here: the stops from text to word in one line. A click goes to a lesson within the visit; the addresses are
// for whoever opens one in another tab.

/**
 * A stop: its name and its lessons' numbers; the whole is the link where there is one lesson only. `shape` is null where
 * no stop has one.
 */
function stop({ name, shape, lit, lessons }, report) {
  const title = make("span", { class: "name" }, name);
  const go = (id) => report("lesson", id);
  const number = (lesson) => make("span", { class: "number" }, String(lesson.number));
  const doors =
    lessons.length === 1
      ? [door(lessons[0], go, title, number(lessons[0]))]
      : [title, ...lessons.map((lesson) => door(lesson, go, number(lesson)))];
  const item = make("li", {}, make("span", { class: "names" }, ...doors));
  if (shape !== null) item.append(make("span", { class: "shape" }, shape || "\u00a0"));
  item.className = lit ? "stop lit" : "stop";
  if (lit) item.setAttribute("aria-current", "step");
  return item;
}

/** On a phone the sidebar is closed: this opens it. */
function opener() {
  const button = make("button", { class: "open", type: "button" }, "Text, model, head");
  button.addEventListener("click", () => document.querySelector('[data-testid="stExpandSidebarButton"]')?.click());
  return button;
}

function draw(root, { stops, layers }, report) {
  const list = make("ol", {});
  const shaped = stops.some(({ shape }) => shape);
  for (const each of stops) list.append(stop(shaped ? each : { ...each, shape: null }, report));
  // Without a model there is no number of layers, and so nothing to put between brackets.
  const inLayer = [...list.children].filter((_, place) => layers !== null && stops[place].repeats);
  inLayer[0]?.classList.add("first");
  inLayer.at(-1)?.classList.add("last");
  inLayer.at(-1)?.append(make("span", { class: "times" }, `× ${layers}`));
  root.replaceChildren(make("nav", { "aria-label": "The way from text to word" }, list), opener());
  const lit = root.querySelector(".lit");
  if (lit && list.scrollWidth > list.clientWidth) list.scrollLeft = lit.offsetLeft - 60;
}

function build(root, payload, report) {
  draw(root, payload.header, report);
  return { update: (next) => draw(root, next.header, report), restyle() {}, dispose() {} };
}

export default function (given) {
  return keep({ ...given, setStateValue: given.setTriggerValue }, build);
}
