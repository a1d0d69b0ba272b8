// A technical word explains itself where it is: a touch, a click or Enter shows its link's title below it, a second one,
// Escape or a click elsewhere takes it away. Whoever opens the link in a new tab gets the glossary.

const TERM = 'a[href*="Glossary?look_up="]';
const state = (window.insideBertTerms ??= { box: null, of: null });

function close() {
  state.box?.remove();
  state.of?.removeAttribute("aria-describedby");
  if (state.of) state.of.title = state.of.dataset.meaning;
  state.box = state.of = null;
}

/** The meaning in a box below the word, within the page; the title would stand beside it, so it waits. */
function open(link) {
  const box = document.createElement("div");
  box.className = "term-meaning";
  box.id = "term-meaning";
  box.setAttribute("role", "status");
  const word = document.createElement("b");
  word.textContent = link.textContent;
  box.append(word, ` ${link.title}`);
  const main = document.querySelector('[data-testid="stMain"]') ?? document.body;
  main.append(box);
  const [at, around] = [link.getBoundingClientRect(), main.getBoundingClientRect()];
  const left = Math.max(8, Math.min(at.left - around.left, main.clientWidth - box.offsetWidth - 8));
  box.style.left = `${left}px`;
  box.style.top = `${at.bottom - around.top + main.scrollTop + 6}px`;
  link.dataset.meaning = link.title;
  link.removeAttribute("title");
  link.setAttribute("aria-describedby", box.id);
  Object.assign(state, { box, of: link });
}

function onClick(event) {
  const link = event.target.closest?.(TERM);
  const same = link && link === state.of;
  if (!state.box?.contains(event.target)) close();
  if (!link || event.ctrlKey || event.metaKey || event.shiftKey) return;
  event.preventDefault();
  event.stopPropagation();
  if (!same) open(link);
}

export default function () {
  if (state.installed) return;
  state.installed = true;
  document.addEventListener("click", onClick, true);
  document.addEventListener("keydown", (event) => event.key === "Escape" && close());
}
