// The sentence is the control. A click on a token chooses it, Shift or a second click the one that it looks at; a
// pointer or an arrow key shows what another token looks at. Only a choice asks Python for another run of the page.

const NAME = 16; // pixels from the name of a relation to another below it
const LEAST = 0.02; // shares below are not drawn
const MANY = 60; // arcs of all tokens at once: the widest
const NUMBERED = 0.1; // shares from here have their number above the arc
const EDGE = 40; // pixels from a scrolled row's edge to the chosen word, which the fading edge does not cover then
const SIZES = [28, 25, 22, 19, 17, 15, 13, 12]; // of the words, in pixels: the largest that fits, else the row scrolls
const WRAPPED = 17; // pixels: a row without arcs has no smaller words; it goes on in the next line instead
const SVG = "http://www.w3.org/2000/svg";
const WAITING = "Now click the word that it looks at.";

function shape(tag, attributes) {
  const node = document.createElementNS(SVG, tag);
  for (const [name, value] of Object.entries(attributes)) node.setAttribute(name, value);
  return node;
}

const share = (value) => (value > 0 && value < 0.005 ? "<.01" : value.toFixed(2));

function build(root, first, report) {
  let payload = first;
  let chosen = 0; // the token whose arcs are drawn when nothing is previewed
  let other = null;
  let preview = null;
  let quiet = null; // the token just clicked: below a pointer that rests there, what was chosen is seen
  let waiting = false; // the next click chooses the other token
  let told = 0;
  let tokens = [];
  const lines = []; // one path a token, so that a change of head moves them

  const above = shape("svg", { class: "above", "aria-hidden": "true" });
  const below = shape("svg", { class: "below", "aria-hidden": "true" });
  const row = make("div", { class: "row", role: "toolbar" });
  const inner = make("div", { class: "inner" });
  const scroll = make("div", { class: "scroll" }, inner);
  const hint = make("p", { class: "hint" });
  const spoken = make("p", { class: "spoken", "aria-live": "polite" });
  inner.append(above, row, below);
  root.append(hint, scroll, spoken);

  const size = () => payload.header.labels.length;
  const both = () => payload.header.other !== null;
  const at = () => preview ?? chosen;
  const weight = (from, to) => payload.arrays.weights.values[from * size() + to];
  const middle = (place) => tokens[place].offsetLeft + tokens[place].offsetWidth / 2;

  function choose(query, key) {
    chosen = query;
    other = key;
    waiting = false;
    preview = null; // what was chosen is seen at once, also below the pointer
    const { first: start } = payload.header;
    report("choice", [`${Date.now()}.${(told += 1)}`, query + start, key === null ? -1 : key + start]);
    draw();
  }

  function press(place, shift) {
    quiet = place;
    if (both() && (shift || waiting)) return choose(chosen, place);
    if (both() && place === chosen) {
      waiting = true;
      return draw();
    }
    // Whoever looks from another word looks at where most of its attention goes: Python knows which that is.
    choose(place, null);
  }

  function lay() {
    const { header } = payload;
    chosen = header.chosen;
    other = header.other;
    preview = null;
    waiting = false;
    root.classList.toggle("arcs", header.arcs);
    scroll.dir = header.direction; // the row begins at this side, and scrolls from it
    row.setAttribute("aria-label", "The sentence. Arrow keys go from word to word, Enter chooses one.");
    tokens = header.labels.map((label, place) => {
      const kinds = ["token", header.special[place] && "special", header.hidden[place] && "hidden", place >= header.read && "later"];
      const token = make(
        "button",
        { type: "button", class: kinds.filter(Boolean).join(" "), "data-word": label },
        // The dashed frame of a hidden token is its blank already.
        make("span", { class: "word" }, header.hidden[place] && label === "▢" ? "\u2003" : label),
        make("span", { class: "share" }),
      );
      token.addEventListener("click", (event) => press(place, event.shiftKey));
      token.addEventListener("pointermove", (event) => moved(event) && point(place));
      token.addEventListener("focus", () => token.matches(":focus-visible") && show(place));
      token.addEventListener("blur", () => show(null));
      return token;
    });
    const before = header.first;
    const after = header.count - header.first - header.labels.length;
    const rest = (count, where) => (count ? [make("span", { class: "rest" }, `${count} more ${where}`)] : []);
    row.replaceChildren(...rest(before, "before"), ...tokens, ...rest(after, "after"));
    lines.splice(0, lines.length, ...tokens.map(() => shape("path", { class: "arc" })));
    above.replaceChildren(...lines);
    fit();
    draw();
    reveal();
  }

  function point(place) {
    if (place === quiet) return;
    quiet = null;
    show(place);
  }

  function show(place) {
    if (preview === place) return;
    preview = place;
    draw();
  }

  /** The largest size at which the whole row is on screen; a long row without arcs has several lines. */
  function fit() {
    const { arcs, relations } = payload.header;
    let lines = false;
    root.classList.remove("lines");
    for (const pixels of SIZES) {
      row.style.fontSize = `${pixels}px`;
      if (row.scrollWidth <= scroll.clientWidth) break;
      lines = !arcs && !relations.length && pixels <= WRAPPED;
      if (lines) break;
    }
    root.classList.toggle("lines", lines);
    (root.getRootNode().host ?? root).toggleAttribute("data-lines", lines); // look.css asks: several lines scroll away
    edges();
  }

  /** A row fades at an edge beyond which it goes on. */
  function edges() {
    const left = Math.abs(scroll.scrollLeft); // negative where one reads from the right
    const most = scroll.scrollWidth - scroll.clientWidth - 1;
    const [before, after] = [left > 1, left < most];
    const turned = payload.header.direction === "rtl";
    scroll.classList.toggle("before", turned ? after : before);
    scroll.classList.toggle("after", turned ? before : after);
  }

  /** A row that scrolls begins with its first word, or goes on only as far as the chosen word is seen. */
  function reveal() {
    const turned = payload.header.direction === "rtl";
    const { offsetLeft, offsetWidth } = tokens[chosen];
    const end = turned ? inner.offsetWidth - offsetLeft : offsetLeft + offsetWidth; // from the row's beginning
    const beyond = Math.max(0, end + EDGE - scroll.clientWidth);
    scroll.scrollLeft = turned ? -beyond : beyond;
    edges();
  }

  function draw() {
    const { header } = payload;
    const from = at();
    const open = header.arcs;
    const row_ = open ? tokens.map((_, to) => weight(from, to)) : [];
    const most = open ? row_.reduce((best, value, to) => (to !== from && (best < 0 || value > row_[best]) ? to : best), -1) : -1;
    const target = from === chosen && other !== null ? other : both() || open ? most : -1;
    tokens.forEach((token, place) => {
      token.classList.toggle("from", place === from);
      token.classList.toggle("to", place === target && open);
      token.tabIndex = place === chosen ? 0 : -1;
      token.setAttribute("aria-pressed", String(place === chosen));
      const number = open ? share(row_[place]) : "";
      token.querySelector(".share").textContent = number;
      const unseen = header.hidden[place] ? ", hidden" : "";
      token.setAttribute("aria-label", `${header.labels[place]}, token ${place + header.first + 1}${unseen}`);
    });
    const all = header.across && preview === null;
    if (all) tokens.forEach((token) => token.classList.remove("from", "to"));
    drawAcross(all);
    drawArcs(from, all ? [] : row_, target, all);
    drawRelations();
    hint.textContent = waiting ? WAITING : (matchMedia("(pointer: coarse)").matches && header.touched) || header.hint;
    spoken.textContent = all ? saidAcross() : open ? said(from, row_) : "";
  }

  function said(from, shares) {
    const { labels, count, place } = payload.header;
    const order = shares.map((value, to) => [value, to]).sort((a, b) => b[0] - a[0]);
    const told = order.filter(([value]) => value >= LEAST).map(([value, to]) => `${to === from ? "itself" : labels[to]} ${share(value)}`);
    const gone = 1 - shares.reduce((sum, value) => sum + value, 0);
    const rest = count > labels.length && gone >= 0.005 ? ` ${share(gone)} goes to tokens that are not drawn.` : "";
    return `${labels[from]} looks at ${told.join(", ")} (${place}).${rest}`;
  }

  /** The heaviest arcs of all tokens, [weight, from, to], the heaviest first. */
  function heaviest() {
    const found = [];
    payload.arrays.weights.values.forEach((value, i) => value > 0 && found.push([value, Math.floor(i / size()), i % size()]));
    return found.sort((a, b) => b[0] - a[0]).slice(0, MANY);
  }

  function saidAcross() {
    const { labels, place } = payload.header;
    const told = heaviest().slice(0, 5).map(([value, from, to]) => `${labels[from]} looks at ${labels[to]} ${share(value)}`);
    return `${told.join(", ")} (${place}).`;
  }

  function drawAcross(shown) {
    above.querySelectorAll(".across").forEach((each) => each.remove());
    if (!shown) return;
    const height = above.clientHeight || 150;
    const found = heaviest();
    for (const [value, from, to] of found) {
      const line = shape("path", { class: "arc across", d: path(middle(from), middle(to), height, from === to) });
      const strength = value / found[0][0];
      line.style.strokeWidth = 0.5 + 7 * strength;
      line.style.opacity = 0.08 + 0.8 * strength ** 1.5;
      above.append(line);
    }
  }

  function drawArcs(from, shares, target, hidden) {
    above.querySelectorAll("text").forEach((each) => each.remove());
    lines.forEach((line) => line.classList.toggle("gone", hidden));
    if (!payload.header.arcs || hidden) return;
    const { across } = payload.header;
    const most = across ? Math.max(...payload.arrays.weights.values) : 1;
    const height = above.clientHeight || 150;
    const start = middle(from);
    const numbers = [];
    lines.forEach((line, to) => {
      const value = shares[to];
      line.setAttribute("d", path(start, middle(to), height, to === from));
      const strength = value / most;
      line.style.strokeWidth = 1 + (across ? 7 : 15) * strength;
      line.style.opacity = strength < LEAST ? 0 : 0.25 + 0.7 * strength;
      if (strength >= NUMBERED || (to === target && strength >= LEAST)) numbers.push([value, to]);
    });
    place(numbers.sort((a, b) => b[0] - a[0]).slice(0, 4), start, from, height);
  }

  /** Numbers at the tops of the arcs, the largest first; one that would cover another moves up or is left to the hover. */
  function place(numbers, start, from, height) {
    const taken = [];
    for (const [value, to] of numbers) {
      const x = to === from ? start : (start + middle(to)) / 2;
      let y = Math.max(12, height - rise(Math.abs(middle(to) - start), height, to === from) * 0.75 - 8 - 7.5 * value);
      for (let tries = 0; tries < 3 && taken.some(([a, b]) => Math.abs(a - x) < 36 && Math.abs(b - y) < 16); tries += 1) y -= 16;
      if (y < 12 || taken.some(([a, b]) => Math.abs(a - x) < 36 && Math.abs(b - y) < 16)) continue;
      taken.push([x, y]);
      const text = shape("text", { x, y, class: "number" });
      text.textContent = share(value);
      above.append(text);
    }
  }

  function rise(apart, height, self) {
    return self ? 42 : Math.min((height - 26) / 0.75, 34 + apart * 0.4);
  }

  function path(a, b, height, self) {
    const up = height - rise(Math.abs(a - b), height, self);
    if (self) return `M${a - 5} ${height}C${a - 22} ${up} ${a + 22} ${up} ${a + 5} ${height}`;
    return `M${a} ${height}C${a} ${up} ${b} ${up} ${b} ${height}`;
  }

  function drawRelations() {
    const { relations } = payload.header;
    below.replaceChildren();
    below.style.height = relations.length ? "" : "0";
    const height = below.clientHeight;
    const names = []; // no arc crosses a name
    for (const [head, dependent, name] of relations) {
      const [a, b] = [middle(head), middle(dependent)];
      const down = Math.min((height - 18) / 0.75, 14 + Math.abs(a - b) * 0.3);
      below.append(shape("path", { d: `M${a} 0C${a} ${down} ${b} ${down} ${b} 0`, class: "relation" }));
      const text = shape("text", { x: (a + b) / 2, y: down * 0.75 + 13, class: "name" });
      text.textContent = name;
      names.push(text);
    }
    below.append(...names);
    if (names.length) below.style.height = `${Math.max(height, apart(names) + 6)}px`;
  }

  /** Move names down that would lie on others; returns where the lowest one is. */
  function apart(names) {
    const placed = [];
    for (const text of names) {
      const [x, half] = [Number(text.getAttribute("x")), text.getComputedTextLength() / 2 + 3];
      let y = Number(text.getAttribute("y"));
      while (placed.some((other) => Math.abs(other.x - x) < other.half + half && Math.abs(other.y - y) < NAME)) y += 2;
      text.setAttribute("y", y);
      placed.push({ x, y, half });
    }
    return Math.max(...placed.map(({ y }) => y));
  }

  row.addEventListener("pointerleave", () => {
    quiet = null;
    show(null);
  });
  scroll.addEventListener("scroll", edges, { passive: true });
  const move = (step) => {
    const next = Math.max(0, Math.min(size() - 1, tokens.indexOf(root.getRootNode().activeElement) + step));
    tokens[next].focus();
    show(next);
  };
  const way = () => (payload.header.direction === "rtl" ? -1 : 1);
  onKeys(row, {
    ArrowRight: () => move(way()),
    ArrowLeft: () => move(-way()),
    Home: () => move(-size()),
    End: () => move(size()),
  });

  lay();
  const watch = new ResizeObserver(() => {
    fit();
    draw();
  });
  watch.observe(scroll);
  return {
    update(next) {
      const focused = tokens.indexOf(root.getRootNode().activeElement);
      const still = waiting && next.header.first + next.header.chosen === payload.header.first + chosen;
      payload = next;
      lay();
      if (still) {
        waiting = true; // a second click was faster than Python
        draw();
      }
      if (focused >= 0) tokens[Math.min(focused, size() - 1)].focus({ preventScroll: true });
    },
    restyle: draw,
    dispose: () => watch.disconnect(),
  };
}

export default function (given) {
  return keep(given, build);
}
