// The neuron view: one query against its keys, a row a key, from q and k to what the key adds through W_O.
// A strip has a cell for each dimension, orange below zero and blue above. A row opens to its written-out sum.

const NUMBER = 66;
const LABEL = 112;
const TALL = 18;
const NARROW = 700; // pixels: below, headings and numbers are shorter, so that a teacher's 1024 hold all columns
const SHADES = 200;
const STRIPS = ["keys", "products", "values", "weighted"];

function readRow({ header, arrays }) {
  const row = { ...header };
  for (const [name, { values }] of Object.entries(arrays)) row[name] = values;
  row.count = row.labels.length;
  row.wide = row.query.length;
  // Products of two float32 rounded to float32: what Python has.
  row.products = row.keys.map((value, i) => value * row.query[i % row.wide]);
  row.weighted = row.values.map((value, i) => value * row.weights[Math.floor(i / row.wide)]);
  row.length = Math.hypot(...row.contribution);
  row.limits = { query: largest(row.query), context: largest(row.context), contribution: largest(row.contribution) };
  for (const name of STRIPS) row.limits[name] = largest(row[name]);
  row.longest = Math.max(...row.lengths, 1e-12);
  return row;
}

function largest(values) {
  return values.reduce((most, value) => Math.max(most, Math.abs(value)), 1e-12);
}

function masked(row, key) {
  return row.scaled[key] === -Infinity;
}

function part(row, name, key) {
  return row[name].subarray(key * row.wide, (key + 1) * row.wide);
}

function buildNeurons(root, payload) {
  let row = readRow(payload);
  let open = new Set();
  let current = 0;
  let dimension = null;
  let cell = 4;
  let shades = [];
  let strips = []; // of the keys: [canvas, values, limit]

  const heading = make("div", { class: "title" });
  const bar = make("div", { class: "bar" });
  const scroller = make("div", { class: "scroller" });
  const table = make("table", {});
  const whole = make("div", { class: "whole" });
  const close = make("button", { type: "button" }, "Collapse all");
  close.addEventListener("click", () => {
    open.clear();
    build();
  });
  const scale = make("span", { class: "scale", "aria-hidden": "true" });
  bar.append(make("span", {}, "−"), scale, make("span", {}, "+"), make("span", { class: "gap" }), close, ...exportButtons("neuron-view", root, size, drawWith));
  scroller.append(table);
  root.append(heading, bar, scroller, whole);
  const tip = tooltip(root);

  /** [heading, name of the strip or of the number] for each column. */
  function columns() {
    return [
      ["key k", "keys"],
      ["q ∘ k", "products"],
      ["q · k", "scores"],
      [row.root ? `÷ √${row.root}` : "not scaled", "scaled"],
      [narrow() ? "α" : "softmax α", "weights"],
      ["value v", "values"],
      ["α v", "weighted"],
      ["‖α v W_O‖", "lengths"],
    ];
  }

  function shade(value, limit) {
    return shades[Math.round((0.5 + value / limit / 2) * SHADES)];
  }

  function learnColours() {
    const { diverging, paper } = theme(root);
    const middle = diverging.length / 2;
    const stops = [...diverging.slice(0, middle), paper, ...diverging.slice(middle)];
    shades = Array.from({ length: SHADES + 1 }, (_, i) => along(stops, i / SHADES));
    scale.style.background = `linear-gradient(to right, ${stops.join(",")})`;
  }

  function paint(canvas, values, limit, width = cell, tall = TALL) {
    const context = sized(canvas, values.length * width, tall);
    values.forEach((value, i) => {
      context.fillStyle = shade(value, limit);
      context.fillRect(i * width, 0, width, tall);
    });
  }

  function strip(values, limit, key, name) {
    const canvas = make("canvas", { "aria-hidden": "true" });
    const holder = make("div", { class: "strip", "data-strip": name }, canvas);
    strips.push([canvas, values, limit]);
    holder.addEventListener("pointermove", (event) => {
      const at = Math.floor((event.clientX - canvas.getBoundingClientRect().left) / cell);
      probe(key, Math.min(Math.max(at, 0), row.wide - 1), event);
    });
    holder.addEventListener("pointerleave", forget);
    return holder;
  }

  function forget() {
    tip.hide();
    dimension = null;
    table.classList.remove("probing");
  }

  /** Tell the numbers of one dimension of a key; "query" and "sum" have fewer. */
  function probe(key, at, event) {
    dimension = at;
    table.style.setProperty("--at", at);
    table.classList.add("probing");
    const six = (value) => fixed(value, 6);
    const named = typeof key === "number" ? `${row.labels[key]} (${row.places[key]})` : key === "sum" ? "Sum over all keys" : `Query ${row.query_label}`;
    const pairs = {
      query: () => [["q", six(row.query[at])]],
      sum: () => [["Σ α v, the context", six(row.context[at])]],
    };
    const both = () => [["q", six(row.query[at])], ...STRIPS.map((name, i) => [["k", "q × k", "v", "α × v"][i], six(part(row, name, key)[at])])];
    tip.show([`${named}, dimension ${at + 1}`, ...(pairs[key] || both)()], ...place(event));
  }

  function place({ clientX, clientY }) {
    const box = root.getBoundingClientRect();
    return [clientX - box.left, clientY - box.top];
  }

  function narrow() {
    return scroller.clientWidth < NARROW;
  }

  function number(key, name, digits = 4) {
    if (name === "scaled" && masked(row, key)) return "−∞";
    return fixed(row[name][key], digits);
  }

  function numberCell(key, name) {
    const cellElement = make("td", { class: "number" }, number(key, name, narrow() ? (name === "weights" ? 3 : 2) : 4));
    if (name === "weights" || name === "lengths") {
      const share = name === "weights" ? row.weights[key] : row.lengths[key] / row.longest;
      cellElement.style.setProperty("--share", `${share * 100}%`);
      cellElement.classList.add("filled");
    }
    return cellElement;
  }

  function keyRow(key) {
    const opened = open.has(key);
    const name = `${row.labels[key]}, key ${row.places[key]}, weight ${number(key, "weights")}`;
    const button = make("button", { type: "button", "aria-expanded": String(opened), "aria-label": name, tabindex: key === current ? 0 : -1, "data-key": key }, make("span", { class: "place" }, String(row.places[key])), make("bdi", {}, row.labels[key]));
    button.addEventListener("focus", () => (current = key));
    button.addEventListener("blur", forget);
    const cells = columns().map(([, strip_]) => (STRIPS.includes(strip_) ? make("td", {}, strip(part(row, strip_, key), row.limits[strip_], key, strip_)) : numberCell(key, strip_)));
    const element = make("tr", { class: masked(row, key) ? "key masked" : "key" }, make("th", { scope: "row" }, button), ...cells);
    element.addEventListener("click", () => toggle(key));
    return element;
  }

  /** The sum behind one score, term by term, and what becomes of it. */
  function sumRow(key) {
    const terms = Array.from(part(row, "products", key), (product, at) => {
      const q = fixed(row.query[at], 3);
      const k = fixed(part(row, "keys", key)[at], 3);
      const term = make("span", { class: "term" }, make("b", {}, String(at + 1)), ` ${q} × ${k} = ${fixed(product, 4)}`);
      term.style.borderColor = shade(product, row.limits.products);
      return term;
    });
    const score = fixed(row.scores[key], 4);
    const scaled = fixed(row.scaled[key], 4);
    const after = masked(row, key)
      ? [`They add up to ${score}. Masked: the query may not see what stands after it, so the weight is 0.`]
      : [
          `They add up to q · k = ${score}. `,
          row.root ? `${score} ÷ √${row.root} = ${scaled}. ` : "This model does not divide by √d_k. ",
          `exp(${scaled}) ÷ Σ exp = exp(${scaled} − ${fixed(row.logsum, 4)}) = ${row.weights[key].toFixed(4)} = α. `,
          `The vector α v W_O has the length ${row.lengths[key].toFixed(4)}.`,
        ];
    const panel = make("div", { class: "written" }, make("div", { class: "terms" }, ...terms), make("div", {}, ...after));
    panel.style.width = `${scroller.clientWidth - 24}px`;
    return make("tr", { class: "sum" }, make("td", { colspan: 9 }, panel));
  }

  function head() {
    const names = columns().map(([title, name]) => make("th", { scope: "col", class: STRIPS.includes(name) ? null : "right" }, title, STRIPS.includes(name) ? make("small", {}, `±${row.limits[name].toPrecision(3)}`) : ""));
    const query = make("td", {}, strip(row.query, row.limits.query, "query", "query"));
    const titles = make("tr", {}, make("th", { scope: "col" }, "Key"), ...names);
    const label = make("th", { scope: "row" }, make("span", { class: "place" }, String(row.place)), make("bdi", {}, row.query_label), make("small", {}, `query q, ±${row.limits.query.toPrecision(3)}`));
    return make("thead", {}, make("tr", {}, label, query, make("td", { colspan: 7 })), titles);
  }

  function foot() {
    const cells = columns().map(([, name]) => {
      if (name === "weights") return make("td", { class: "number" }, "1");
      if (name === "weighted") return make("td", {}, strip(row.context, row.limits.context, "sum", "context"));
      return name === "lengths" ? make("td", { class: "number" }, row.length.toFixed(narrow() ? 2 : 4)) : make("td", {});
    });
    const label = make("th", { scope: "row" }, `Sum of ${row.total} keys`, make("small", {}, `context, ±${row.limits.context.toPrecision(3)}`));
    return make("tfoot", {}, make("tr", {}, label, ...cells));
  }

  function build() {
    strips = [];
    const focused = root.getRootNode().activeElement;
    const again = table.contains(focused);
    heading.textContent = row.title;
    root.setAttribute("role", "group");
    root.setAttribute("aria-label", row.alt);
    close.disabled = open.size === 0;
    const rows = row.labels.flatMap((_, key) => (open.has(key) ? [keyRow(key), sumRow(key)] : [keyRow(key)]));
    table.classList.toggle("narrow", narrow());
    table.replaceChildren(head(), make("tbody", {}, ...rows), foot());
    buildWhole();
    draw();
    if (again) focus(current);
  }

  let wholeCanvas;
  let wholeAt = 0;
  function buildWhole() {
    wholeCanvas = make("canvas", { tabindex: 0, role: "img", "aria-label": `The contribution's ${row.contribution.length} dimensions; left and right arrows tell their numbers` });
    const step = () => (scroller.clientWidth - 4) / row.contribution.length;
    const tell = (at, event) => {
      wholeAt = Math.min(Math.max(at, 0), row.contribution.length - 1);
      tip.show([`Contribution, dimension ${wholeAt + 1}`, ["Σ α v W_O", fixed(row.contribution[wholeAt], 6)]], ...place(event));
    };
    const move = (by) => {
      const box = wholeCanvas.getBoundingClientRect();
      tell(wholeAt + by, { clientX: box.left + (wholeAt + by + 0.5) * step(), clientY: box.top });
    };
    wholeCanvas.addEventListener("pointermove", (event) => tell(Math.floor((event.clientX - wholeCanvas.getBoundingClientRect().left) / step()), event));
    wholeCanvas.addEventListener("pointerleave", forget);
    wholeCanvas.addEventListener("blur", forget);
    onKeys(wholeCanvas, { ArrowLeft: () => move(-1), ArrowRight: () => move(1), Escape: forget });
    const text = `Contribution, Σ α v W_O: ${row.contribution.length} dimensions, ±${row.limits.contribution.toPrecision(3)}, length ${row.length.toFixed(4)}`;
    whole.replaceChildren(make("div", {}, text), wholeCanvas);
  }

  function draw() {
    learnColours();
    for (const [canvas, values, limit] of strips) paint(canvas, values, limit);
    table.style.width = "auto"; // what it needs, not the whole page that it takes
    const room = scroller.clientWidth - (table.offsetWidth - 4 * row.wide * cell);
    table.style.width = "";
    const fitting = Math.min(Math.max(Math.floor(room / (4 * row.wide)), 2), 9); // 2 at least: a finger has to hit it
    if (fitting !== cell) {
      cell = fitting;
      for (const [canvas, values, limit] of strips) paint(canvas, values, limit);
    }
    table.style.setProperty("--cell", `${cell}px`);
    paint(wholeCanvas, row.contribution, row.limits.contribution, Math.max(0.2, (scroller.clientWidth - 4) / row.contribution.length), 24);
  }

  function toggle(key) {
    if (!open.delete(key)) open.add(key);
    current = key;
    build();
  }

  function focus(key) {
    current = Math.min(Math.max(key, 0), row.count - 1);
    for (const button of table.querySelectorAll("[data-key]")) button.tabIndex = Number(button.dataset.key) === current ? 0 : -1;
    table.querySelector(`[data-key="${current}"]`).focus();
  }

  function step(by) {
    const at = dimension === null ? (by > 0 ? 0 : row.wide - 1) : Math.min(Math.max(dimension + by, 0), row.wide - 1);
    const canvas = table.querySelector(`[data-key="${current}"]`).closest("tr").querySelector("[data-strip=products]");
    const box = canvas.getBoundingClientRect();
    probe(current, at, { clientX: box.left + (at + 0.5) * cell, clientY: box.top });
  }

  onKeys(table, {
    ArrowDown: () => focus(current + 1),
    ArrowUp: () => focus(current - 1),
    ArrowRight: () => step(1),
    ArrowLeft: () => step(-1),
    Enter: () => toggle(current),
    " ": () => toggle(current),
    Home: () => focus(0),
    End: () => focus(row.count - 1),
    Escape: forget,
  });

  // The picture: the same columns, rows closed.
  function layout() {
    let x = LABEL;
    return columns().map(([title, name]) => {
      const width = STRIPS.includes(name) ? row.wide * cell : NUMBER;
      const found = { title, name, x, width };
      x += width + 12;
      return found;
    });
  }

  function size() {
    const last = layout().at(-1);
    return [last.x + last.width + 12, (row.count + 2) * (TALL + 4) + 130];
  }

  function drawWith(pen) {
    const { ink, font } = theme(root);
    const write = (words, x, y, more = {}) => pen.text(words, x, y, { fill: ink, font, ...more });
    const cells = (values, limit, x, y, width = cell) => values.forEach((value, i) => pen.rect(x + i * width, y - TALL / 2, width, TALL, { fill: shade(value, limit) }));
    const at = (index) => 70 + index * (TALL + 4);
    write(row.title, 4, 16, { size: 15, weight: 600 });
    write(`${row.place} ${row.query_label}`, 4, 44, { most: LABEL - 8, weight: 600 });
    for (const { title, name, x, width } of layout()) {
      write(title, x, at(0), { size: 12, weight: 600 });
      if (name === "keys") cells(row.query, row.limits.query, x, 44);
      row.labels.forEach((_, key) => {
        if (STRIPS.includes(name)) cells(part(row, name, key), row.limits[name], x, at(key + 1));
        else write(number(key, name), x + width - 4, at(key + 1), { align: "end", size: 12 });
      });
      if (name === "weighted") cells(row.context, row.limits.context, x, at(row.count + 1));
      if (name === "lengths") write(row.length.toFixed(4), x + width - 4, at(row.count + 1), { align: "end", size: 12 });
    }
    row.labels.forEach((label, key) => write(`${row.places[key]} ${label}`, 4, at(key + 1), { most: LABEL - 8, size: 12 }));
    write(`Sum of ${row.total} keys`, 4, at(row.count + 1), { weight: 600, most: LABEL - 8 });
    const below = at(row.count + 2) + 8;
    write(`Contribution, ${row.contribution.length} dimensions`, 4, below, { size: 12 });
    cells(row.contribution, row.limits.contribution, 4, below + 20, (size()[0] - 16) / row.contribution.length);
  }

  let width = 0;
  const resized = new ResizeObserver(
    eachFrame(() => {
      if (scroller.clientWidth !== width) {
        width = scroller.clientWidth;
        build();
      }
    }),
  );
  resized.observe(scroller);
  build();
  return {
    update(next) {
      row = readRow(next);
      open = new Set();
      current = 0;
      forget();
      build();
    },
    restyle: draw,
    dispose: () => resized.disconnect(),
  };
}

export default function (component) {
  return keep(component, buildNeurons);
}
