// A page that the browser translates keeps the tokens, the model's words, the numbers of figures and the code: they are
// marked translate="no". Streamlit's own document says that the page is in English.
//
// A translation puts <font> elements in the place of texts. Streamlit (React) does not know them, and a page that draws
// itself anew would end in an error (facebook/react, issue 11538). So what React does to a text is done to what stands in
// its place. A translation is another world than this script: it meets none of what is changed here.

const KEPT = [
  "code, pre, .katex, textarea",
  '[data-testid="stVegaLiteChart"], [data-testid="stPlotlyChart"], [data-testid="stDataFrame"], [data-testid="stTable"]',
  ".blank-sentence, .st-key-_first_guess, .st-key-_first_picked",
  '.st-key-model [data-baseweb="select"], .st-key-other_model [data-baseweb="select"]',
].join(", ");
const TEXTS = '[data-testid="stMarkdownContainer"]';
// A token in a sentence of the lab, as lab/course/words.py quotes it.
const QUOTED = /(“?\u2068[^\u2069]*\u2069”?)/;
// Where nobody is likely to have the page translated, Streamlit's texts are not split.
const foreign = !navigator.language.startsWith("en");
const state = (window.insideBertTranslation ??= { observer: null });
const { removeChild, insertBefore } = Node.prototype;
const pieces = new WeakMap(); // a text that was split -> the pieces behind it
const translations = new WeakMap(); // a text that was translated -> what stands in its place

/** Mark what is kept in `node` and below it. */
function mark(node) {
  if (node.nodeType === Node.TEXT_NODE) split(node);
  if (node.nodeType !== Node.ELEMENT_NODE) return;
  if (node.matches(KEPT)) node.translate = false;
  for (const kept of node.querySelectorAll(KEPT)) kept.translate = false;
  if (!foreign) return;
  const walk = document.createTreeWalker(node, NodeFilter.SHOW_TEXT);
  const texts = [];
  while (walk.nextNode()) texts.push(walk.currentNode);
  texts.forEach(split);
}

/** Give each token in a text an element of its own. */
function split(text) {
  const parent = text.parentElement;
  if (!foreign || !text.data.includes("\u2068") || !parent?.closest(TEXTS) || parent.closest('[translate="no"]')) return;
  const [first, ...rest] = text.data.split(QUOTED);
  const behind = rest.map((part, place) => {
    if (place % 2) return document.createTextNode(part);
    const token = document.createElement("span");
    token.translate = false;
    token.textContent = part;
    return token;
  });
  text.data = first;
  text.after(...behind);
  pieces.set(text, behind);
  follow(text, parent);
}

/** The child of `parent` that is `node`, stands in its place, or holds it. */
function standing(node, parent) {
  const there = translations.get(node) ?? node;
  for (let at = there; at; at = at.parentNode) if (at.parentNode === parent) return at;
  return node;
}

/** Take away the pieces behind a text. */
function join(text, parent) {
  for (const piece of pieces.get(text) ?? []) standing(piece, parent).remove();
  pieces.delete(text);
}

/** When React writes a text anew, it is whole again, and in its place. */
function follow(text, parent) {
  Object.defineProperty(text, "nodeValue", {
    configurable: true,
    get: () => text.data,
    set: (value) => {
      join(text, parent);
      const there = standing(text, parent);
      if (there !== text) there.replaceWith(text);
      translations.delete(text);
      delete text.nodeValue;
      text.nodeValue = value;
      split(text);
    },
  });
}

function look(records) {
  for (const { target, addedNodes, removedNodes, previousSibling, nextSibling } of records) {
    for (const node of removedNodes) {
      const font = [...addedNodes, previousSibling, nextSibling].find((each) => each?.nodeName === "FONT");
      if (node.nodeType !== Node.TEXT_NODE || !font) continue;
      translations.set(node, font);
      follow(node, target);
    }
    addedNodes.forEach(mark);
  }
}

export default function () {
  if (state.observer) return;
  state.observer = new MutationObserver(look);
  Node.prototype.removeChild = function (child) {
    if (pieces.has(child)) join(child, this);
    removeChild.call(this, standing(child, this));
    return child;
  };
  Node.prototype.insertBefore = function (node, before) {
    return insertBefore.call(this, node, before && standing(before, this));
  };
  mark(document.body);
  state.observer.observe(document.body, { subtree: true, childList: true });
}
