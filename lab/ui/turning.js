// What Streamlit leaves to the browser, on every page: where a new step begins, what Back goes back to, and the keys.

const MAIN = '[data-testid="stMain"]';
const STEPS = ".st-key-step";
const TURN = {
  PageUp: '.st-key-_previous_step button, .st-key-_previous_page button, [class*="st-key-_short_back"] button',
  PageDown: '.st-key-_next_step button, .st-key-_next_page button, [class*="st-key-_short_next"] button',
};
const TRY = ".st-key-_try button";
const TRY_BACK = ".st-key-_try_back button";
const RUNNING = '[data-testid="stApp"]:not([data-test-script-state="notRunning"])';
const GROUP = '[role="radiogroup"]';

// One listener for the life of the page, however often the component is drawn.
const state = (window.insideBert ??= { teaching: false, installed: false, pushed: false });

/** The page and the step that an address names. */
function placeOf(address) {
  const url = new URL(address, window.location.href);
  return { page: url.pathname, step: url.searchParams.get("step") ?? "" };
}

/** A new step or page begins at its top, with its name in sight among the steps. */
function toTop() {
  document.querySelector(MAIN)?.scrollTo({ top: 0, behavior: "instant" });
}

function showChosenStep() {
  const row = document.querySelector(STEPS + ' [role="radiogroup"]');
  const chosen = row?.querySelector('[aria-checked="true"], [data-selected="true"]');
  if (chosen && row.scrollWidth > row.clientWidth) {
    row.scrollLeft = chosen.offsetLeft - (row.clientWidth - chosen.offsetWidth) / 2;
  }
}

/**
 * The history gets one entry a step. Streamlit makes one for every parameter that Python writes, and, on the way to
 * another page, one for the old page without its parameters: the first are merged into the entry of their step, the
 * second gives its place to the page. It is the second if it was made since the visitor last did something.
 */
function mendHistory() {
  const push = window.history.pushState.bind(window.history);
  const replace = window.history.replaceState.bind(window.history);
  window.history.pushState = (data, unused, address) => {
    const here = placeOf(window.location.href);
    const there = placeOf(address ?? window.location.href);
    const same = here.page === there.page && here.step === there.step;
    const leaving = here.page !== there.page && state.pushed;
    (same || leaving ? replace : push)(data, unused, address);
    if (!same) {
      state.pushed = !leaving;
      toTop();
      setTimeout(showChosenStep, 300);
    }
  };
  state.addEntry = () => push(window.history.state, "", window.location.href);
}

/** What "Try" changes within a step gets an entry of its own, so that Back takes it back and does not leave the page. */
function tried(event) {
  if (!event.target.closest?.(TRY)) return;
  state.beforeTry = window.location.href;
  state.addEntry();
}

/**
 * Back to the entry before "Try". Streamlit runs the page with the widgets as the address names them; the button takes
 * back what no widget holds, once that run has ended: two runs at a time would leave a list with nothing chosen.
 */
function takeBack() {
  if (window.location.href !== state.beforeTry) return;
  const afterTheRun = () => {
    if (document.querySelector(RUNNING)) setTimeout(afterTheRun, 50);
    else document.querySelector(TRY_BACK)?.click();
  };
  setTimeout(afterTheRun, 50);
}

/** The field that `event` types into, unless it has a list open. */
function typing(event) {
  const field = event.target.closest?.("input, textarea, [contenteditable=true]");
  const kinds = ["radio", "checkbox", "button", "range"];
  return field && !kinds.includes(field.type) && field.getAttribute("aria-expanded") !== "true" ? field : null;
}

/** Before a class: the keys of a presenter's remote also leave the sentence box, and its text is run. */
function turn(event) {
  const field = typing(event);
  const button = document.querySelector(TURN[event.key] ?? ":not(*)");
  if (!state.teaching || !field || !button) return;
  event.preventDefault();
  event.stopImmediatePropagation();
  field.blur();
  // The text goes out first.
  setTimeout(() => document.querySelector(TURN[event.key])?.click(), 50);
}

/** A to D choose an option of the question that has the focus; elsewhere letters belong to the browser (WCAG 2.1.4). */
function choose(event) {
  if (!/^[a-h]$/i.test(event.key) || typing(event)) return;
  const focused = document.activeElement?.closest?.('[class*="st-key-_predict"], [class*="st-key-_check"]');
  const group = focused?.querySelector(GROUP);
  const option = group?.querySelectorAll('input[type="radio"]')[event.key.toLowerCase().charCodeAt(0) - 97];
  if (!option) return;
  event.preventDefault();
  event.stopImmediatePropagation();
  option.click();
  option.focus();
}

function install() {
  if (state.installed) return;
  state.installed = true;
  mendHistory();
  const onKey = (event) => {
    if (event.ctrlKey || event.altKey || event.metaKey || event.shiftKey) return;
    turn(event);
    choose(event);
  };
  for (const gesture of ["pointerdown", "keydown", "popstate"]) {
    window.addEventListener(gesture, () => (state.pushed = false), true);
  }
  window.addEventListener("keydown", onKey, true);
  window.addEventListener("click", tried, true);
  window.addEventListener("popstate", takeBack);
  window.addEventListener("popstate", toTop);
}

export default function ({ data }) {
  state.teaching = Boolean(data.teaching);
  install();
  requestAnimationFrame(showChosenStep);
}
