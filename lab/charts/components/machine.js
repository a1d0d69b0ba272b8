// The whole model in one picture: a column for each part, a row for each token, the layers one after the other.
// Layer, watched token and chosen part stay in the browser. Python is asked for what is not here: a door, another model,
// a layer of a large model, the matrices of a head, the words at another token.

const PACE = 900; // milliseconds that a layer stays while it is played
const NARROW = 700; // pixels: a narrower machine has its parts below one another, one open at a time
const PADDING = 9; // pixels above and below the rows of a part
const SVG = "http://www.w3.org/2000/svg";
const INSIDE = "The heads add to each vector what they collect from other tokens; the feed-forward network adds a part of its own.";
const BATCH = " In code each shape has one dimension more, the batch: how many texts are read at once.";
// The residual lines: from where a vector goes on to where the part's result is added to it.
const AROUND = [["vectors", "add_1"], ["add_1", "add_2"]];
let toldBatch = false; // it is said once

function shape(tag, attributes, text) {
  const node = document.createElementNS(SVG, tag);
  for (const [name, value] of Object.entries(attributes)) node.setAttribute(name, value);
  if (text !== undefined) node.textContent = text;
  return node;
}

/** An offscreen canvas with a pixel for each number; colour(value) is [red, green, blue]. */
function pixels(values, rows, columns, colour) {
  const canvas = document.createElement("canvas");
  canvas.width = columns;
  canvas.height = rows;
  const image = new ImageData(columns, rows);
  for (let i = 0; i < rows * columns; i += 1) image.data.set([...colour(values[i]), 255], 4 * i);
  canvas.getContext("2d").putImageData(image, 0, 0);
  return canvas;
}

/** colour(value) for numbers from -most to most (or from 0), looked up in a table. */
function colours(stops, least, most) {
  const table = [...Array(256).keys()].map((i) => channels(along(stops, i / 255)));
  return (value) => table[Math.round((255 * (Math.min(Math.max(value, least), most) - least)) / (most - least))];
}

/** As many columns of squares as make the squares largest; returns [columns, side]. */
function squares(count, width, height, gap) {
  const side = (columns) => Math.min((width + gap) / columns, (height + gap) / Math.ceil(count / columns)) - gap;
  const columns = [...Array(count).keys()].map((i) => i + 1).reduce((best, each) => (side(each) > side(best) + 0.5 ? each : best), 1);
  return [columns, Math.max(4, Math.min(130, side(columns)))];
}

function build(root, first, report) {
  let payload = first;
  let layer = 0; // the layer on screen, from 0
  let watched = 0; // the row that is watched
  let ended = true; // whether the words are shown
  let timer = null;
  let chosen = null; // the id of the part that is explained
  let unfolded = "attention"; // on a telephone: the id of the part that is open
  let wanted = null; // the layer that Python was asked for
  let told = 0;

  const play = make("button", { type: "button", class: "play" });
  const twin = make("button", { type: "button", class: "twin" }, "Untrained weights");
  const others = make("span", { class: "others" });
  const wires = shape("svg", { class: "wires", "aria-hidden": "true" });
  const frame = make("div", { class: "frame", "aria-hidden": "true" });
  const stage = make("div", { class: "machine", role: "group", tabindex: "0" });
  const layers = make("div", { class: "layers", role: "group", "aria-label": "Layer" });
  const say = make("p", { class: "caption", "aria-live": "polite" });
  const doors = make("div", { class: "doors" });
  const matrices = make("div", { class: "matrices", role: "group" });
  const head = make("div", { class: "bar" }, play, twin, others);
  root.append(head, stage, layers, say, doors, matrices);

  const act = (...what) => report("act", [`${Date.now()}.${(told += 1)}`, ...what]);
  const part = (id) => payload.header.parts.find((each) => each.id === id);
  const name = (row) => (payload.header.blank[row] ? "▢" : payload.header.tokens[row]);
  const count = () => payload.header.tokens.length;
  const here = (at) => at >= payload.header.first && at < payload.header.first + payload.arrays.maps.shape[0];
  const narrow = () => stage.clientWidth < NARROW;

  /** The numbers of an array in the layer on screen, or `later` layers on. */
  function numbers(id, later = 0) {
    const { values, shape: [, ...sides] } = payload.arrays[id];
    const size = sides.reduce((product, side) => product * side, 1);
    const at = layer - payload.header.first + later;
    return { values: values.subarray(at * size, (at + 1) * size), columns: sides.at(-1) };
  }
  const strip = (id) => (id === "vectors" ? numbers("states") : id === "add_2" ? numbers("states", 1) : numbers(id));

  // What happens in the browser: the layers, the watched token, the chosen part.

  function stop() {
    clearInterval(timer);
    timer = null;
  }
  function go(at, last = at === payload.header.layers - 1) {
    const next = Math.max(0, Math.min(payload.header.layers - 1, at));
    if (!here(next)) {
      wanted = next;
      return act("layer", next);
    }
    layer = next;
    ended = last;
    refresh();
  }
  function start() {
    stop();
    choose(null);
    if (calm()) return go(payload.header.layers - 1);
    go(0, false);
    timer = setInterval(() => {
      if (wanted !== null) return; // a layer is on its way
      if (layer < payload.header.layers - 1) return go(layer + 1, false);
      stop();
      go(layer);
    }, PACE);
    refresh();
  }
  function watch(row) {
    if (row === watched) return;
    stop();
    watched = row;
    ended = layer === payload.header.layers - 1;
    if ((payload.header.nextWords || payload.header.blank[row]) && row !== payload.header.watched) act("watch", row);
    refresh();
  }
  function choose(id) {
    chosen = id;
    if (narrow() && id) unfolded = id;
    refresh();
  }
  play.addEventListener("click", () => (timer ? (stop(), go(layer)) : start()));
  twin.addEventListener("click", () => (stop(), act("twin", payload.header.twin ? 0 : 1)));
  stage.addEventListener("keydown", (event) => {
    if (event.target !== stage || event.ctrlKey || event.metaKey || event.altKey) return;
    const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
    const row = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (event.key === " ") play.click();
    else if (step) (stop(), go(layer + step));
    else if (row) watch(Math.max(0, Math.min(count() - 1, watched + row)));
    else if (event.key === "Escape") choose(null);
    else return;
    event.preventDefault();
  });

  // What is drawn: the parts are made once for a text, the numbers in them for each layer.

  let painted = []; // one function for each part on screen: it draws the part's numbers

  function lay() {
    const { header } = payload;
    const wide = !narrow();
    root.classList.toggle("narrow", !wide);
    root.classList.toggle("tight", wide && stage.clientWidth < (header.parts.length > 7 ? 1300 : 1080));
    const height = Math.max(14, Math.min(30, 336 / count()));
    root.style.setProperty("--row", `${height}px`);
    stage.style.setProperty("--rows", String(count()));
    painted = [];
    stage.replaceChildren(wires, frame, ...header.parts.map((each) => section(each, wide)));
    stage.setAttribute("aria-label", `${header.alt} Space plays, the arrows left and right go from layer to layer, up and down choose a token.`);
    if (wide) connect();
    layers.replaceChildren(
      make("span", {}, "layer"),
      ...[...Array(header.layers).keys()].map((at) => {
        const button = make("button", { type: "button", "aria-label": `Layer ${at + 1}` }, String(at + 1));
        button.addEventListener("click", () => (stop(), go(at)));
        return button;
      }),
      make("span", { class: "same" }, header.layers > 1 ? "the same parts each time, with other weights" : ""),
    );
    rove([...layers.querySelectorAll("button")], () => layer);
    others.textContent = header.others ? `${header.others} more tokens are not drawn.` : "";
    twin.hidden = header.twin === null;
    twin.setAttribute("aria-pressed", String(Boolean(header.twin)));
    matrices.replaceChildren(...(header.opened ? opened() : []));
    matrices.hidden = !header.opened;
  }

  function section(each, wide) {
    const open = wide || each.id === unfolded;
    const title = make("button", { type: "button", class: "name", "aria-expanded": wide ? false : String(open) }, each.name);
    title.addEventListener("click", () => {
      if (wide) {
        choose(chosen === each.id ? null : each.id);
        (doors.hidden ? say : doors).scrollIntoView({ block: "nearest" }); // the explanation may be below the screen
        return;
      }
      unfolded = open ? null : each.id;
      chosen = open ? null : each.id;
      lay();
      refresh();
    });
    const links = each.doors.map((lesson) => way(lesson, String(lesson.number), "number"));
    const body = make("div", { class: "body" });
    if (open) fillPart(each, body, wide);
    const whole = make(
      "section",
      { class: `part ${each.id}${each.id === payload.header.marked ? " marked" : ""}`, "data-id": each.id },
      make("header", {}, make("span", { class: "names" }, ...links, title), make("span", { class: "shape" }, each.shape)),
      ...(open ? [body] : []),
    );
    whole.addEventListener("pointermove", (event) => {
      if (!moved(event)) return;
      if (event.target.dataset.head) sayHead(Number(event.target.dataset.head));
      else describe(each.id);
    });
    whole.addEventListener("pointerleave", () => describe(chosen));
    title.addEventListener("focus", () => describe(each.id));
    return whole;
  }

  function fillPart(each, body, wide) {
    if (each.id === "tokens") body.append(...tokens());
    else if (each.id === "attention") maps(body, wide);
    else if (each.id === "word") words(body);
    else strips(each.id, body, wide);
  }

  function tokenButton(row) {
    const { header } = payload;
    const kind = `token${header.special[row] ? " special" : ""}`;
    const button = make("button", { type: "button", class: kind, "data-row": String(row), title: header.blank[row] ? "the blank" : header.tokens[row] }, make("bdi", {}, name(row)));
    button.addEventListener("click", () => watch(row));
    return button;
  }
  function tokens() {
    const buttons = payload.header.ids.map((_, row) => tokenButton(row));
    rove(buttons, () => watched);
    return payload.header.ids.map((id, row) => make("div", { class: "row" }, buttons[row], make("span", { class: "id" }, String(id))));
  }

  function strips(id, body, wide) {
    const canvas = make("canvas", { "aria-hidden": "true" });
    if (!wide) {
      const buttons = payload.header.tokens.map((_, row) => tokenButton(row));
      rove(buttons, () => watched);
      body.append(make("div", { class: "beside" }, ...buttons.map((button) => make("div", { class: "row" }, button))));
    }
    body.append(canvas);
    painted.push((look) => {
      const height = canvas.parentElement.clientHeight - 2 * PADDING;
      const width = canvas.clientWidth;
      const context = sized(canvas, width, height);
      canvas.style.width = "";
      const { values, columns } = strip(id);
      const image = pixels(values, count(), columns, look.signed);
      const row = height / count();
      const tall = Math.max(6, Math.min(18, row - 6));
      context.imageSmoothingEnabled = false;
      for (let i = 0; i < count(); i += 1) context.drawImage(image, 0, i, columns, 1, 0, i * row + (row - tall) / 2, width, tall);
    });
  }

  function maps(body, wide) {
    const { shape: [, heads, n] } = payload.arrays.maps;
    const canvas = make("canvas", { "aria-hidden": "true" });
    const buttons = [...Array(heads).keys()].map((at) => {
      const button = make("button", { type: "button", class: "head", "data-head": String(at) });
      button.addEventListener("click", () => act("open", layer, at));
      button.addEventListener("focus", () => sayHead(at));
      return button;
    });
    body.append(canvas, ...buttons);
    rove(buttons, () => payload.header.opened?.[1] ?? 0);
    painted.push((look) => {
      const width = body.clientWidth - 16;
      const gap = 6;
      const [columns, side] = wide ? squares(heads, width, body.clientHeight - 16, gap) : squares(heads, width, 300, gap);
      const rows = Math.ceil(heads / columns);
      const height = wide ? body.clientHeight : rows * (side + gap) + 10;
      if (!wide) body.style.height = `${height}px`;
      const context = sized(canvas, body.clientWidth, height);
      const left = (body.clientWidth - columns * (side + gap) + gap) / 2;
      const top = (height - rows * (side + gap) + gap) / 2;
      const { values } = numbers("maps");
      context.imageSmoothingEnabled = false;
      buttons.forEach((button, at) => {
        const [x, y] = [left + (at % columns) * (side + gap), top + Math.floor(at / columns) * (side + gap)];
        context.drawImage(pixels(values.subarray(at * n * n, (at + 1) * n * n), n, n, look.weight), x, y, side, side);
        context.strokeStyle = look.line;
        context.lineWidth = 1;
        context.strokeRect(x - 0.5, y - 0.5, side + 1, side + 1);
        context.strokeStyle = look.orange;
        context.lineWidth = 1.5;
        context.strokeRect(x - 0.5, y + (watched * side) / n - 0.5, side + 1, side / n + 1);
        Object.assign(button.style, { left: `${x - 3}px`, top: `${y - 3}px`, width: `${side + 6}px`, height: `${side + 6}px` });
        const isOpen = payload.header.opened?.[0] === layer && payload.header.opened?.[1] === at;
        button.classList.toggle("on", isOpen);
        button.setAttribute("aria-label", `${headSays(at)} Open it`);
      });
    });
  }

  function headSays(at) {
    const row = numbers("most").values[at * count() + watched];
    const where = row < count() ? `looks most at “${name(row)}”` : "looks most at a token that is not drawn";
    return `Head ${at + 1} of layer ${layer + 1}: “${name(watched)}” ${row === watched ? "looks most at itself" : where}.`;
  }
  const sayHead = (at) => say.replaceChildren(headSays(at), make("span", { class: "more" }, " Click it to see its matrices."));

  function words(body) {
    const list = make("ul", {});
    body.append(list);
    painted.push(() => {
      const { header } = payload;
      const known = ended && watched === header.watched && header.words.length;
      list.replaceChildren(...(known ? header.words.map(bar) : [make("li", { class: "none" }, silence())]), ...hiding(), ...otherExit());
    });
  }
  /** Why no words are shown. */
  function silence() {
    const { header } = payload;
    if (header.waits) return "Guess above first.";
    if (!header.nextWords && !header.blank[watched]) return header.unread;
    if (header.alone && ended) return `This file has only the words at “${name(header.watched)}”.`;
    return ended ? "…" : `The word comes after layer ${header.layers}.`; // those of another token are on their way
  }
  /** The button that hides the watched token, so that the model guesses it, or that shows it again. */
  function hiding() {
    const { header } = payload;
    const again = header.hidden && watched === header.watched;
    if (header.waits || !header.hides || (header.blank[watched] && !again) || header.special[watched]) return [];
    const button = make("button", { type: "button" }, again ? "Show the token again" : `Hide “${header.tokens[watched]}”`);
    button.addEventListener("click", () => act(...(again ? ["show"] : ["hide", watched])));
    return [make("li", { class: "none" }, button)];
  }
  /** The other way out of the model: a task that is read from the vector of one token. */
  function otherExit() {
    const { exit, exitFrom } = payload.header;
    if (!exit) return [];
    return [make("li", { class: "none other" }, make("bdi", {}, exitFrom), " → ", way(exit, `${exit.number} ${exit.title}`, "lesson"))];
  }
  const bar = ([word, probability]) =>
    make(
      "li",
      {},
      make("bdi", { class: "word" }, word),
      make("span", { class: "bar" }, make("i", { style: `width:${(100 * probability).toFixed(1)}%` })),
      make("span", { class: "amount" }, probability < 0.01 ? "<.01" : probability.toFixed(2).replace(/^0/, "")),
    );

  /** The lines behind the parts: one for each token, the two ways around, the frame of a layer. */
  function connect() {
    const box = stage.getBoundingClientRect();
    const place = (id) => {
      const body = stage.querySelector(`.part.${id} .body`)?.getBoundingClientRect();
      return body && { left: body.left - box.left, right: body.right - box.left, top: body.top - box.top, bottom: body.bottom - box.top };
    };
    const [from, to] = [place("tokens"), place("add_2")];
    const word = place("word");
    wires.setAttribute("viewBox", `0 0 ${box.width} ${box.height}`);
    const row = (to.bottom - to.top - 2 * PADDING) / count();
    const height = (at) => to.top + PADDING + (at + 0.5) * row;
    const lines = [...Array(count()).keys()].map((at) => shape("path", { class: "wire", "data-row": at, d: `M${from.right - 6} ${height(at)}H${to.right + 10}` }));
    const exit = shape("path", { class: "exit", d: "" });
    exit.dataset.to = JSON.stringify([to.right, word.left, word.top + 22, height(0), row]);
    const heading = stage.querySelector(".part header").offsetHeight;
    const arcs = AROUND.map(([start, end]) => {
      const [a, b] = [place(start), place(end)];
      const top = a.top - heading - 2;
      return shape("path", { class: "around", d: `M${a.right - 4} ${a.top}V${top + 6}q0 -6 6 -6H${b.left + 8}q6 0 6 6V${top + 12}`, "marker-end": "url(#machine-arrow)" });
    });
    const marker = shape("marker", { id: "machine-arrow", viewBox: "0 0 6 6", refX: 5, refY: 3, markerWidth: 6, markerHeight: 6, orient: "auto" });
    marker.append(shape("path", { d: "M0 0L6 3L0 6z" }));
    const defs = shape("defs", {});
    defs.append(marker);
    const [a, b] = [place("vectors"), place("add_1")];
    const label = shape("text", { class: "label", x: (a.right + b.left) / 2, y: a.top - heading - 7, "text-anchor": "middle" }, "residual: the vector itself goes on");
    wires.replaceChildren(defs, ...lines, exit, ...arcs, label);
    const inside = place(payload.header.parts[2].id);
    Object.assign(frame.style, { left: `${inside.left - 16}px`, width: `${to.right - inside.left + 32}px` });
  }

  /** What happens to the vectors that leave the layer. */
  const next = () => (layer + 1 < payload.header.layers ? `Layer ${layer + 2} begins with the vectors that come out.` : "The word is read from the vectors that come out.");

  function describe(id) {
    const { header } = payload;
    const each = id && part(id);
    if (each) {
      const batch = each.shape.includes("×") && !toldBatch;
      toldBatch ||= batch;
      say.replaceChildren(make("b", {}, `${each.name}. `), each.says, batch ? BATCH : "");
    } else if (ended && watched === header.watched && header.ending.length) {
      say.replaceChildren(...header.ending.map(([text, kind]) => (kind ? make("span", { class: kind }, text) : text)));
    } else if (ended && !header.waits) {
      say.replaceChildren(silence());
    } else {
      say.replaceChildren(header.waits && ended ? "Play it, choose a layer, click a token, point at a part." : `Layer ${layer + 1} of ${header.layers}. ${INSIDE} ${next()}`);
    }
  }

  function refresh() {
    const style = theme(root);
    const half = style.diverging.length / 2; // between the two halves, 0 has the page's own colour
    const look = {
      signed: colours([...style.diverging.slice(0, half), style.paper, ...style.diverging.slice(half)], -127, 127),
      weight: colours([style.paper, ...style.sequential.slice(1)], 0, 255),
      part: colours([style.paper, ...style.sequential.slice(1)], 0, 1),
      line: style.line,
      orange: getComputedStyle(root.querySelector(".probe") ?? root.appendChild(make("i", { class: "probe" }))).color,
    };
    for (const paint of painted) paint(look);
    play.textContent = timer ? "❚❚ Stop" : "▶ Play";
    play.setAttribute("aria-label", `${timer ? "Stop" : "Play"} the machine`);
    for (const [at, button] of [...layers.querySelectorAll("button")].entries()) button.setAttribute("aria-pressed", String(at === layer));
    for (const button of stage.querySelectorAll(".token")) {
      const mine = Number(button.dataset.row) === watched;
      button.classList.toggle("watched", mine);
      button.setAttribute("aria-pressed", String(mine));
    }
    for (const line of wires.querySelectorAll(".wire")) line.classList.toggle("watched", Number(line.dataset.row) === watched);
    const exit = wires.querySelector(".exit");
    if (exit && !narrow()) {
      const [right, left, top, first_, row] = JSON.parse(exit.dataset.to);
      const y = first_ + watched * row;
      exit.setAttribute("d", `M${right + 8} ${y}C${(right + left) / 2} ${y} ${(right + left) / 2} ${top + 30} ${left} ${top + 30}`);
    }
    for (const each of stage.querySelectorAll(".part")) each.classList.toggle("chosen", each.dataset.id === chosen);
    doors.replaceChildren(...leads());
    doors.hidden = !doors.childElementCount;
    describe(chosen);
  }

  /** What a chosen part offers: its lessons, what was found there, its numbers on this page. */
  function leads() {
    const each = chosen && part(chosen);
    if (!each) return [];
    const found = each.found.length ? [make("ul", { class: "found" }, ...each.found.map((text) => make("li", {}, text)))] : [];
    const numbers_ = payload.header.leads ? [make("button", { type: "button" }, payload.header.leads)] : [];
    numbers_[0]?.addEventListener("click", () => act("part", each.id));
    return [...found, ...each.doors.map((lesson) => way(lesson, `Lesson ${lesson.number}: ${lesson.title}`, "way")), ...numbers_];
  }

  function way(lesson, text, kind) {
    const link = door(lesson, (id) => act("door", id), text);
    link.className = kind;
    return link;
  }

  /** The matrices of the head that is open: query times key gives the weights; weights times values, what it collects. */
  function opened() {
    const { header, arrays } = payload;
    const [at, which] = header.opened;
    const n = part("tokens").shape.split(" ")[0];
    const [, wide] = arrays.open_query.shape;
    const close = make("button", { type: "button", class: "close", "aria-label": "Close" }, "×");
    close.addEventListener("click", () => act("close"));
    const matrix = (id, title, size, rows, columns, weight, turned) => {
      const canvas = make("canvas", { role: "img", "aria-label": `${title}, ${size}` });
      painted.push((look) => {
        const values = arrays[id].values;
        const side = Math.max(7, Math.min(16, 200 / count()));
        const thin = weight ? side : Math.max(2, Math.min(5, 130 / wide));
        const [across, down] = turned ? [side * columns, thin * rows] : [thin * columns, side * rows];
        const context = sized(canvas, across, down);
        const turn = turned ? Float32Array.from({ length: rows * columns }, (_, i) => values[(i % columns) * rows + Math.floor(i / columns)]) : values;
        context.imageSmoothingEnabled = false;
        context.drawImage(pixels(turn, rows, columns, weight ? look.part : look.signed), 0, 0, across, down);
        if (turned || id === "open_value") return; // it collects from all rows of the values
        context.strokeStyle = look.orange;
        context.lineWidth = 1.5;
        context.strokeRect(0.75, watched * side + 0.75, across - 1.5, side - 1.5);
      });
      if (weight) canvas.addEventListener("pointermove", (event) => sayWeight(event, canvas));
      return make("figure", {}, make("figcaption", {}, make("b", {}, title), ` ${size}`), canvas);
    };
    const sign = (text) => make("span", { class: "sign" }, text);
    const m = count();
    return [
      make("p", { class: "title" }, `Head ${which + 1} of layer ${at + 1}`),
      close,
      make(
        "div",
        { class: "chain" },
        matrix("open_query", "Q", `${n} × ${wide}`, m, wide),
        sign("·"),
        matrix("open_key", "Kᵀ", `${wide} × ${n}`, wide, m, false, true),
        sign(`→ ÷ √${wide}, softmax →`),
        matrix("open_attention", "weights", `${n} × ${n}`, m, m, true),
        sign("·"),
        matrix("open_value", "V", `${n} × ${wide}`, m, wide),
        sign("="),
        matrix("open_context", "context", `${n} × ${wide}`, m, wide),
      ),
      make("p", { class: "weight", "aria-live": "polite" }, "Point at a weight to read it."),
    ];
  }
  function sayWeight(event, canvas) {
    const box = canvas.getBoundingClientRect();
    const at = (along_, size) => Math.max(0, Math.min(count() - 1, Math.floor((along_ / size) * count())));
    const [row, column] = [at(event.clientY - box.top, box.height), at(event.clientX - box.left, box.width)];
    const weight = payload.arrays.open_attention.values[row * count() + column];
    matrices.querySelector(".weight").textContent = `“${name(row)}” gives “${name(column)}” ${weight.toFixed(3)} of its attention.`;
  }

  function show(fresh) {
    const { header } = payload;
    const again = fresh && fresh.text === header.text && fresh.layers === header.layers;
    if (!again || watched >= count()) watched = header.watched;
    if (wanted !== null && here(wanted)) {
      layer = wanted;
      ended = !timer && layer === header.layers - 1;
    } else if (!again || fresh.layer !== header.layer || !here(layer)) {
      layer = header.layer;
      ended = layer === header.layers - 1;
    }
    wanted = null;
    lay();
    refresh();
  }

  show(null);
  let width = stage.clientWidth;
  const resized = new ResizeObserver(
    eachFrame(() => {
      if (stage.clientWidth === width) return;
      width = stage.clientWidth;
      lay();
      refresh();
    }),
  );
  resized.observe(stage);
  return {
    update(fresh) {
      const before = payload.header;
      payload = fresh;
      show(before);
      if (fresh.header.opened && JSON.stringify(fresh.header.opened) !== JSON.stringify(before.opened)) matrices.scrollIntoView({ block: "nearest", behavior: calm() ? "auto" : "smooth" });
    },
    restyle() {
      lay();
      refresh();
    },
    dispose() {
      stop();
      resized.disconnect();
    },
  };
}

export default function (given) {
  return keep(given, build);
}
