// A word forms: a lane for each token, a column for each layer, links as wide as what they bring to the watched token.
// A click on a token, or on a link's button, asks Python for another run; all else happens here.

const LINK = { least: 0.03, faint: 0.16, widest: 24 }; // shares below are not drawn; the faint ones lead to other tokens
const PACE = 1100; // milliseconds that a layer stays while it is played
const KEY = "The wider a link, the more it brings. To find out whether that matters, cut a token off: click it on the left. The larger a circle, the more the layer adds by itself. Click a link or a circle to look inside.";
const WAITS = "Guess first, or press “Show me”. Then the picture plays.";
// The ways in which a token can be cut off, by their sign in a link: what its button says, and what that means.
const WAYS = {
  "": ["directly", (name, at) => `${at} does not hear ${name}; other tokens do.`],
  "~": ["around", (name, at) => `Only ${at} hears ${name}: the ways through other tokens are cut.`],
  "*": ["both ways", (name) => `No other token hears ${name}.`],
  "!": ["other words", (name) => `${name} is heard, but it says what it says in another sentence.`],
};
const CUTS = "The bars show this word after three cuts: of the direct link alone, of all detours through other tokens alone, and of both. Click one.";
// What a heading says when it is touched.
const EXPLAINS = {
  tokens: () => "Tokens: the pieces of your text that the model reads. A click on one cuts it off.",
  vectors: () => "Vectors: each token begins as a row of numbers, which knows its word and its place, but no other token.",
  layer: (heads, at) => `Layer ${at + 1}: ${heads} ${heads === 1 ? "head brings" : "heads bring"} something from other tokens; then a network works on each token alone.`,
  words: () => "The words that fit the token’s vector best, each with the probability that the model gives it.",
};
// The signs of a cut token, and what they say, in the order of CUT_TOKENS (word_forms.py).
const SIGNS = ["", "✂", "✂", "✂✂", "⇄"];
const SVG = "http://www.w3.org/2000/svg";

const shownShare = (share) => (share > 0 && share < 0.005 ? "<1%" : `${Math.round(100 * share)}%`);

function shape(tag, attributes) {
  const node = document.createElementNS(SVG, tag);
  for (const [name, value] of Object.entries(attributes)) node.setAttribute(name, value);
  return node;
}

/** Where everything is, in pixels, for a stage of this width. */
function layout({ header, arrays }, width) {
  const layers = arrays.parts.shape[0];
  const lanes = header.lanes.length;
  const names = Math.min(width < 520 ? 76 : 140, 34 + 8.2 * Math.max(...header.lanes.map((token) => header.tokens[token].length)));
  const lane = lanes <= 9 ? 31 : lanes <= 14 ? 25 : 22;
  const begin = width < 520 ? 20 : 52; // on a telephone there is no heading over the lanes' beginnings
  const step = (width - names - begin - 14) / layers;
  return {
    layers, lanes, names, lane, step, width, begin,
    height: 14 + lanes * lane,
    y: (at) => 14 + at * lane,
    x: (state) => names + begin + state * step,
  };
}

function build(root, first, report) {
  let payload = first;
  let place;
  let at = 0; // the state on screen: 0 before the first layer
  let timer = null;
  let chosen = null; // {kind: "link" or "dot", layer, row, lane}
  let told = 0;
  const links = new Map();

  const tip = tooltip(root);
  const svg = shape("svg", { "aria-hidden": "true" });
  const heads = make("div", { class: "heads" });
  const labels = make("div", { class: "labels", role: "group" });
  const stage = make("div", { class: "stage", tabindex: "0", role: "group" }, heads, labels);
  stage.append(svg);
  const bars = make("div", { class: "words" });
  const key = make("p", { class: "key" }, "");
  const say = make("p", { class: "say", "aria-live": "polite" });
  const play = make("button", { type: "button", class: "play" });
  const back = make("button", { type: "button", "aria-label": "One layer back" }, "◀");
  const next = make("button", { type: "button", "aria-label": "One layer on" }, "▶");
  const dots = make("span", { class: "dots", "aria-hidden": "true" });
  const heal = make("button", { type: "button", class: "heal" }, "Heal all");
  const extra = make("span", { class: "extra" });
  const panel = make("div", { class: "panel", role: "group", "aria-label": "The chosen part" });
  const hint = make("p", { class: "hint" });
  const reply = make("p", { class: "reply", "aria-live": "polite" });
  const text = make("ol", { class: "spoken", start: "0" });
  root.append(
    make("div", { class: "picture" }, stage, make("div", { class: "beside" }, bars, key)),
    say,
    reply,
    make("div", { class: "controls" }, play, back, next, dots, heal, hint, extra),
    panel,
    text,
  );

  const last = () => place.layers;
  const act = (...what) => report("act", [`${Date.now()}.${(told += 1)}`, ...what]);
  const token = (lane) => payload.header.lanes[lane];
  const name = (lane) => (lane === payload.header.watched && payload.header.blank ? "the blank" : `“${payload.header.tokens[token(lane)]}”`);

  function stop() {
    clearInterval(timer);
    timer = null;
  }
  function go(state) {
    at = Math.max(0, Math.min(last(), state));
    refresh();
  }
  function start() {
    stop();
    if (calm()) return go(last());
    go(0);
    timer = setInterval(() => (at < last() ? go(at + 1) : (stop(), refresh())), PACE);
    refresh();
  }
  play.addEventListener("click", () => (timer ? (stop(), refresh()) : start()));
  back.addEventListener("click", () => (stop(), go(at - 1)));
  next.addEventListener("click", () => (stop(), go(at + 1)));
  heal.addEventListener("click", () => act("heal"));
  stage.addEventListener("keydown", (event) => {
    if (event.target !== stage || event.ctrlKey || event.metaKey || event.altKey) return;
    const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
    const along = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (event.key === " ") play.click();
    else if (step) (stop(), go(at + step));
    else if (along) chooseNext(along);
    else if (event.key === "Escape") choose(null);
    else return;
    event.preventDefault();
  });

  /** The next link to the watched token in this layer, in the order of the lanes. */
  function chooseNext(along) {
    const layer = Math.max(0, at - 1);
    const row = payload.header.rows.indexOf(payload.header.watched);
    const lanes = payload.header.lanes.map((_, lane) => lane).filter((lane) => lane !== payload.header.watched && (share(layer, row, lane) >= LINK.least || isCut(layer, row, lane)));
    if (!lanes.length) return;
    const now = chosen?.kind === "link" && chosen.layer === layer ? lanes.indexOf(chosen.lane) : along > 0 ? -1 : lanes.length;
    choose({ kind: "link", layer, row, lane: lanes[(now + along + lanes.length) % lanes.length] });
  }

  const cell = (array, ...where) => array.values[where.reduce((sum, index, axis) => sum * array.shape[axis] + index, 0)];
  const share = (layer, row, lane) => cell(payload.arrays.share, layer, row, lane);
  const isCut = (layer, row, lane) => cell(payload.arrays.cut_links, layer, row, lane) > 0;

  function lay() {
    const { header, arrays } = payload;
    place = layout(payload, stage.clientWidth || 640);
    svg.setAttribute("viewBox", `0 0 ${place.width} ${place.height}`);
    svg.style.height = `${place.height}px`;
    stage.setAttribute("aria-label", `${header.alt} Space plays, the arrows left and right go from layer to layer, up and down choose a link.`);
    layHeads();
    layLabels();
    svg.replaceChildren();
    links.clear();
    const colours = shape("g", {});
    const others = shape("g", {});
    const lanes = shape("g", {});
    svg.append(others, lanes, colours);
    for (let lane = 0; lane < place.lanes; lane += 1) {
      const mine = lane === header.watched;
      lanes.append(shape("line", { x1: place.names + 4, x2: place.x(place.layers) + 12, y1: place.y(lane), y2: place.y(lane), class: mine ? "lane watched" : "lane" }));
    }
    for (let layer = 0; layer < place.layers; layer += 1) {
      header.rows.forEach((query, row) => {
        for (let lane = 0; lane < place.lanes; lane += 1) {
          if (lane !== query) drawLink(query === header.watched ? colours : others, layer, row, query, lane);
        }
      });
      header.rows.forEach((lane, row) => drawDot(colours, layer, row, lane));
    }
  }

  function drawLink(group, layer, row, query, lane) {
    const part = share(layer, row, lane);
    const mine = query === payload.header.watched;
    const cut = isCut(layer, row, lane);
    if (!cut && part < (mine ? LINK.least : LINK.faint)) return;
    const [x1, x2, y1, y2] = [place.x(layer) + 7, place.x(layer + 1) - 12, place.y(lane), place.y(query)];
    const middle = (x1 + x2) / 2;
    const strength = Math.min(1, cell(payload.arrays.strength, layer, row));
    const path = shape("path", {
      d: `M${x1} ${y1}C${middle} ${y1} ${middle} ${y2} ${x2} ${y2}`,
      class: `link${mine ? " mine" : ""}${cut ? " cut" : ""}`,
      pathLength: "1",
    });
    path.style.strokeWidth = cut ? "1.5" : String(Math.max(1, part * (mine ? LINK.widest : LINK.widest / 2)));
    path.style.setProperty("--strength", String(0.35 + 0.65 * strength));
    // A thin link needs something that a finger can hit.
    const wide = shape("path", { d: path.getAttribute("d"), class: "touch" });
    const title = `Layer ${layer + 1}: ${name(lane)} → ${name(query)}, ${cut ? "cut" : shownShare(part)}`;
    wide.addEventListener("pointermove", (event) => {
      const box = root.getBoundingClientRect();
      tip.show([title], event.clientX - box.left, event.clientY - box.top);
    });
    wide.addEventListener("pointerleave", () => tip.hide());
    wide.addEventListener("click", () => choose({ kind: "link", layer, row, lane }));
    group.append(path, wide);
    links.set(`${layer}.${row}.${lane}`, { path, layer, mine });
  }

  function drawDot(group, layer, row, lane) {
    const written = cell(payload.arrays.written, layer, row);
    const dot = shape("circle", {
      cx: place.x(layer + 1) - 2, cy: place.y(lane), r: Math.max(2.5, Math.min(10, 3.2 * Math.sqrt(written), place.lane / 2 - 2)),
      class: lane === payload.header.watched ? "dot watched" : "dot", "data-layer": layer,
    });
    dot.addEventListener("click", () => choose({ kind: "dot", layer, row, lane }));
    group.append(dot);
  }

  /** The headings over the columns, which explain themselves. */
  function layHeads() {
    const short = place.step < 54;
    const heading = (door, words, left, width, layer) => {
      const attributes = { class: "over", style: `left:${left}px;width:${width}px`, "data-layer": layer ?? false };
      const button = make("button", { type: "button", ...attributes, "aria-label": `${words}: what is it?` }, words);
      button.addEventListener("click", () => explain(door, layer ?? 0));
      return button;
    };
    const layers = [...Array(place.layers).keys()].map((layer) =>
      heading("layer", short ? `${layer + 1}` : `layer ${layer + 1}`, place.x(layer) + 4, place.step - 8, layer),
    );
    const vectors = place.begin > 50 ? [heading("vectors", "vectors", place.names + 4, place.begin)] : [];
    heads.replaceChildren(heading("tokens", "tokens", 0, place.names - 6), ...vectors, ...layers);
  }

  function layLabels() {
    const { header } = payload;
    labels.style.width = `${place.names}px`;
    labels.setAttribute("aria-label", "The tokens; a click cuts one off");
    labels.replaceChildren(
      ...header.lanes.map((_, lane) => {
        const state = header.cutTokens[lane];
        const mine = lane === header.watched;
        const kind = `token${mine ? " watched" : ""}${header.special[lane] ? " special" : ""}${state && SIGNS[state] !== "⇄" ? " cut" : ""}`;
        const words = mine && header.blank ? "▢" : header.tokens[token(lane)];
        const style = `top:${place.y(lane) - place.lane / 2 + 26}px;height:${place.lane}px`;
        if (mine) return make("span", { class: kind, style, "aria-label": `${name(lane)}, watched` }, words);
        const at = name(header.watched);
        const said = ["heard", `not heard by ${at}`, `heard only by ${at}`, "heard by no other token", "says something else"][state];
        const label = make("span", { class: "word" }, words);
        const sign = state ? [make("span", { class: "sign", "aria-hidden": "true" }, SIGNS[state])] : [];
        const button = make("button", { type: "button", class: kind, style, "aria-label": `${words}: ${said}. Cut or heal` }, ...sign, label);
        button.addEventListener("click", () => {
          stop();
          button.classList.toggle("cut", !state); // the answer takes a moment
          act("token", token(lane));
        });
        return button;
      }),
    );
  }

  function refresh() {
    const { header } = payload;
    root.classList.toggle("waits", header.waits);
    const looked = chosen?.kind === "link" ? `${chosen.layer}.${chosen.row}.${chosen.lane}` : "";
    for (const [where, { path, layer, mine }] of links) {
      path.classList.toggle("chosen", where === looked);
      path.classList.toggle("past", mine && layer + 1 < at);
      path.classList.toggle("now", mine && layer + 1 === at);
      path.classList.toggle("moving", Boolean(timer) && mine && layer + 1 === at);
      path.classList.toggle("coming", mine && layer + 1 > at);
    }
    for (const dot of svg.querySelectorAll(".dot")) dot.classList.toggle("now", Number(dot.dataset.layer) + 1 === at);
    for (const head of heads.children) head.classList.toggle("on", head.dataset.layer !== undefined && Number(head.dataset.layer) + 1 === at);
    const spans = header.story[at].map(([words, kind]) => (kind ? make("span", { class: kind }, words) : words));
    say.replaceChildren(...spans);
    text.replaceChildren(...header.story.map((line) => make("li", {}, line.map(([words]) => words).join(""))));
    hint.textContent = timer || at < last() || header.alone ? "" : header.hint; // when the picture has played
    reply.textContent = timer || at < last() || header.cut ? "" : header.reply; // not before the picture has shown it
    key.textContent = header.waits ? WAITS : KEY;
    play.textContent = timer ? "❚❚ Stop" : "▶ Play";
    back.disabled = at === 0;
    next.disabled = at === last();
    dots.replaceChildren(...[...Array(last() + 1).keys()].map((state) => make("i", { class: state === at ? "on" : false })));
    heal.hidden = !header.cut;
    drawWords();
    fill();
  }

  function drawWords() {
    const { header } = payload;
    const words = (at > 0 && header.words[at]) || []; // before the first layer nothing was heard yet
    bars.hidden = !header.words.length;
    const unsure = words.length > 0 && words[0][1] < header.leads;
    const row = ([word, probability]) =>
      make(
        "li",
        {},
        make("span", { class: "word" }, word),
        make("span", { class: "bar" }, make("i", { style: `width:${(100 * probability).toFixed(1)}%` })),
        make("span", { class: "number" }, probability < 0.01 ? "<.01" : probability.toFixed(2).replace(/^0/, "")),
      );
    const heading = make("button", { class: "heading", type: "button" }, header.headings[at]);
    heading.addEventListener("click", () => explain("words", 0));
    const unread = at > 0 && header.words.length && !words.length ? [make("p", { class: "unread" }, "The lens cannot read a word yet: here, it is no better than a guess without context.")] : [];
    const before = !header.cutWord && header.before.length && at === last() ? [make("h3", { class: "heading" }, "Without the cut"), make("ul", { class: "before" }, ...header.before.slice(0, 2).map(row))] : [];
    key.hidden = before.length > 0 || header.ways.length > 0; // there is room for one of them
    bars.replaceChildren(heading, make("ul", { class: unsure ? "unsure" : false }, ...words.map(row)), ...unread, ...before, ...header.ways.flatMap(aboutWays));
  }

  /** The ways in which a cut token can be cut, each with what the word that was the best one keeps. */
  function aboutWays(cut) {
    const { header } = payload;
    const [word, was] = header.cutWord ?? [];
    const row = (label, title, chosen, share, pressed) => {
      const bar = share === undefined ? [] : [make("span", { class: "bar" }, make("i", { style: `width:${(100 * share).toFixed(1)}%` })), make("span", { class: "number" }, share < 0.01 ? "<.01" : share.toFixed(2).replace(/^0/, ""))];
      const button = make("button", { type: "button", title, "aria-pressed": String(chosen) }, make("span", { class: "way" }, label), ...bar);
      button.addEventListener("click", pressed);
      return make("li", {}, button);
    };
    const rows = cut.offered.map((way, i) => row(WAYS[way][0], WAYS[way][1](cut.name, name(header.watched)), way === cut.way, cut.kept[i], () => act("way", cut.token, way)));
    const healed = row("not cut", `Every token hears ${cut.name}.`, false, was, () => act("token", cut.token));
    const heading = word === undefined ? `${cut.name} is cut off` : `“${word}” with ${cut.name} cut off`;
    return [make("h3", { class: "heading" }, heading), make("ul", { class: `ways${cut.kept.length ? "" : " bare"}`, "aria-label": heading }, healed, ...rows), ...(cut.kept.length ? [make("p", { class: "unread" }, CUTS)] : [])];
  }

  /** The page's own blank, outside of this figure, becomes the best word so far. */
  function fill() {
    const { header } = payload;
    const gap = header.fills ? document.querySelector(header.fills) : null;
    if (!gap || !header.blank) return;
    const [word, probability] = (at > 0 && header.words[at]?.[0]) || ["?", 0];
    const leads = probability >= header.leads;
    gap.textContent = leads ? word : "?";
    // An improbable word is pale, but only while the picture plays: what stays must be legible.
    gap.style.opacity = leads && timer ? String(0.45 + 0.55 * Math.min(1, 1.4 * probability)) : "1";
  }

  function choose(part) {
    chosen = part;
    refresh();
    const about = { link: aboutLink, dot: aboutDot, heading: aboutHeading };
    panel.replaceChildren(...(part === null ? [] : about[part.kind](part)));
    panel.hidden = part === null;
    if (part !== null) panel.scrollIntoView({ block: "nearest", behavior: calm() ? "auto" : "smooth" });
  }

  const closing = () => {
    const button = make("button", { type: "button", class: "close", "aria-label": "Close" }, "×");
    button.addEventListener("click", () => choose(null));
    return button;
  };

  function aboutLink({ layer, row, lane }) {
    const { header, arrays } = payload;
    const query = header.rows[row];
    const cut = isCut(layer, row, lane);
    const share_ = share(layer, row, lane);
    const words = cut
      ? `Layer ${layer + 1}: ${name(query)} does not hear ${name(lane)} here.`
      : `Layer ${layer + 1}: ${name(lane)} brings ${shownShare(share_)} of what arrives at ${name(query)}, by length.`;
    const one = make("button", { type: "button" }, cut ? "Heal this link" : "Cut this link");
    one.addEventListener("click", () => act("link", layer, token(query), token(lane)));
    // What a whole token's cut has taken away is healed at the token.
    one.hidden = cut && header.cutTokens[lane] > 0;
    const parts = query === header.watched ? [...Array(arrays.parts.shape[1]).keys()].map((head) => [head, cell(arrays.parts, layer, head, lane), cell(arrays.cut_heads, layer, head, lane)]) : [];
    const best = parts.length ? parts.reduce((most, each) => (each[1] > most[1] ? each : most))[0] : 0;
    const door = doorButton("link", [layer, best, token(query), token(lane)]);
    const byHead = parts.length && !cut ? [make("p", { class: "small" }, `A layer listens through ${parts.length} heads at once. Each one’s part of this link; a click cuts it:`), headBars(parts, layer, query, lane)] : [];
    return [make("p", { class: "about" }, words), ...byHead, make("div", { class: "actions" }, one, ...door), closing()];
  }

  function headBars(parts, layer, query, lane) {
    const most = Math.max(...parts.map(([, part]) => Math.abs(part)), 0.5); // one scale before and after a cut
    return make(
      "div",
      { class: "parts" },
      ...parts.map(([head, part, cut]) => {
        const height = (100 * Math.abs(part)) / most;
        const bar = make("i", { class: part < 0 ? "below" : false, style: `height:${height.toFixed(0)}%` });
        const label = `Head ${layer + 1}-${head + 1}: ${cut ? "cut" : fixed(part, 2)}`;
        const button = make("button", { type: "button", class: cut ? "cut" : false, title: label, "aria-label": `${label}. Cut or heal` }, make("span", { class: "rod" }, bar), make("span", {}, String(head + 1)));
        button.addEventListener("click", () => act("head", layer, head, token(query), token(lane)));
        return button;
      }),
    );
  }

  function aboutDot({ layer, row, lane }) {
    const written = cell(payload.arrays.written, layer, row);
    const words = `Layer ${layer + 1}: after the heads, the feed-forward network works on each token alone. What it adds to ${name(lane)} is ${written.toFixed(1)} times as long as what was there.`;
    return [make("p", { class: "about" }, words), make("div", { class: "actions" }, ...doorButton("dot", [layer, token(lane)])), closing()];
  }

  /** Explain a heading, or close its explanation. */
  function explain(door, layer) {
    choose(chosen?.kind === "heading" && chosen.door === door && chosen.layer === layer ? null : { kind: "heading", door, layer });
  }

  function aboutHeading({ door, layer }) {
    const words = EXPLAINS[door](payload.arrays.parts.shape[1], layer);
    return [make("p", { class: "about" }, words), make("div", { class: "actions" }, ...doorButton(door, [layer])), closing()];
  }

  function doorButton(door, where) {
    const leads = payload.header.doors[door];
    if (!leads) return [];
    const button = make("button", { type: "button", class: "door" }, leads);
    button.addEventListener("click", () => act("door", door, ...where));
    return [button];
  }

  /** What else is chosen: the watched token, and the lens where there are two. */
  function layExtra() {
    const { header } = payload;
    const watch = make("select", { "aria-label": "Watched token" }, ...header.tokens.map((words, i) => make("option", { value: String(i), selected: i === header.lanes[header.watched] }, `${i + 1} · ${i === header.lanes[header.watched] && header.blank ? "▢" : words}`)));
    watch.addEventListener("change", () => act("watch", Number(watch.value)));
    const lens = header.lenses.length > 1 ? [make("label", { title: "How the words of early layers are read. The fitted lens first turns a layer’s vector into a guess of the last vector; the plain lens takes it as it is. See lesson 9." }, "Read with ", selectOf(header.lenses, header.lens, (value) => act("lens", value)))] : header.lens ? [make("span", {}, `Read with: ${header.lens}`)] : [];
    extra.replaceChildren(...(header.alone ? [] : [make("label", {}, "Watch ", watch)]), ...lens);
  }

  function selectOf(options, now, then) {
    const menu = make("select", {}, ...options.map((each) => make("option", { value: each, selected: each === now }, each)));
    menu.addEventListener("change", () => then(menu.value));
    return menu;
  }

  function show(fresh) {
    lay();
    layExtra();
    panel.hidden = true;
    if (payload.header.play && payload.header.play !== fresh) return start();
    at = payload.header.waits ? 0 : last();
    if (chosen) return choose(links.has(`${chosen.layer}.${chosen.row}.${chosen.lane}`) || chosen.kind !== "link" ? chosen : null);
    refresh();
  }

  show(null);
  let width = stage.clientWidth;
  const watch = new ResizeObserver(
    eachFrame(() => {
      if (stage.clientWidth === width) return;
      width = stage.clientWidth;
      lay();
      refresh();
    }),
  );
  watch.observe(stage);
  return {
    update(fresh) {
      const before = payload;
      const top = stage.getBoundingClientRect().top;
      const same = JSON.stringify([before.header.tokens, before.header.watched]) === JSON.stringify([fresh.header.tokens, fresh.header.watched]);
      stop();
      payload = fresh;
      if (!same) chosen = null;
      show(before.header.play);
      // A longer sentence above the picture must not move the token away from under the finger.
      document.querySelector('[data-testid="stMain"]')?.scrollBy({ top: stage.getBoundingClientRect().top - top, behavior: "instant" });
    },
    restyle: refresh,
    dispose() {
      stop();
      watch.disconnect();
    },
  };
}

export default function (given) {
  return keep(given, build);
}
