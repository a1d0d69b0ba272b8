// Head view: two columns of tokens, and a line from each token (left) to those it attends to (right).

const NATURAL = 24; // pixels of a row while there is room
const LEAST = 14; // of a row that can still be read
const TALLEST = 720; // pixels of the figure, or most of a low window; what is longer scrolls, or is fitted in
const MOST_LINES = 10000; // drawn at once; beyond, the weakest are left out, and it says so
const MOVING_LINES = 2000; // while the text scrolls; the others come when it rests
const REST = 120; // milliseconds
const TOLD = 700; // milliseconds after the last change, before the page hears of it
const WIDEST = 860;
const BESIDE = 270; // pixels for the numbers of a token beside the figure, where the page has them
const WIDE = 680; // pixels of such a page
const TABLE_ROWS = 100;
const FILTERS = { all: "All", AA: "A → A", AB: "A → B", BA: "B → A", BB: "B → B" };

export default function (component) {
  return keep(component, (root, payload, report) => new HeadView(root, payload, report));
}

class HeadView {
  constructor(root, payload, report) {
    this.root = root;
    this.report = report;
    this.filter = "all";
    this.hideSpecial = payload.header.hide;
    this.fit = false;
    this.take(payload);
    this.heads = new Set(this.header.start.length ? this.header.start : this.everyHead());
    this.asked = this.header.cover || null; // the share that the reader has chosen
    this.bar = make("div", { class: "bar" });
    this.status = make("p", { class: "status" });
    this.scroller = make("div", {
      class: "scroller",
      tabindex: "0",
      role: "application",
      "aria-roledescription": "head view",
    });
    this.space = make("div", { class: "space" });
    this.canvas = make("canvas", { "aria-hidden": "true" });
    this.space.append(this.canvas);
    this.scroller.append(this.space);
    this.numbers = make("div", { class: "numbers", hidden: true });
    root.append(this.bar, this.scroller, this.status, this.numbers);
    this.tip = tooltip(root);
    this.paint = eachFrame(() => this.draw());
    this.listen();
    this.refresh();
  }

  // --- what Streamlit tells -------------------------------------------------------------------------------

  take({ header, arrays }) {
    this.header = header;
    this.weights = arrays.weights.values;
    [this.count, this.n] = arrays.weights.shape;
    this.special = arrays.special.values;
    this.focus = null; // {side, at}: the token whose lines are drawn alone
    this.locked = false;
    this.partner = null; // {at}: the token at the other end, whose numbers are shown
  }

  update(payload) {
    const before = { usual: this.usualShare(), labels: this.header.labels.join("\n"), focus: this.focus, locked: this.locked };
    this.take(payload);
    this.heads = new Set([...this.heads].filter((head) => head < this.count));
    if (!this.heads.size) this.heads = new Set(this.everyHead());
    if (this.header.second === null) this.filter = "all";
    if (this.header.labels.join("\n") === before.labels) Object.assign(this, { focus: before.focus, locked: before.locked });
    else if (this.usualShare() !== before.usual) this.asked = null;
    this.refresh();
  }

  /** How much of each row is drawn until the reader says otherwise: of many lines, the strongest, or nothing is seen. */
  usualShare() {
    if (this.heads.size > 1) return 30;
    return this.n <= 24 ? 100 : this.n <= 60 ? 70 : 50;
  }

  get share() {
    return this.asked ?? this.usualShare();
  }

  restyle() {
    this.refresh();
  }

  dispose() {
    this.resized.disconnect();
    clearTimeout(this.resting);
    clearTimeout(this.telling);
  }

  // --- which edges ----------------------------------------------------------------------------------------

  everyHead() {
    return Array.from({ length: this.count }, (_, head) => head);
  }

  get chosen() {
    return [...this.heads].sort((a, b) => a - b);
  }

  weight(head, from, to) {
    return this.weights[(head * this.n + from) * this.n + to];
  }

  number(weight) {
    return (weight / this.header.steps).toFixed(4);
  }

  /** The tokens on a side, after the filter and without hidden ones. */
  tokensOn(side) {
    const half = this.filter === "all" ? null : this.filter[side === "left" ? 0 : 1];
    const tokens = [];
    for (let token = 0; token < this.n; token++) {
      const inB = this.header.second !== null && token >= this.header.second;
      if (half && (half === "B") !== inB) continue;
      if (this.hideSpecial && this.special[token]) continue;
      tokens.push(token);
    }
    return tokens;
  }

  /** For each chosen head and row, the least weight that is drawn: the strongest edges until the share is covered. */
  leastWeights(left, right) {
    const least = new Map();
    const row = new Uint16Array(right.length);
    for (const head of this.chosen) {
      const cuts = new Uint16Array(this.n);
      for (const from of left) {
        let filled = 0;
        let total = 0;
        for (const to of right) {
          const weight = this.weight(head, from, to);
          if (weight) row[filled++] = weight;
          total += weight;
        }
        cuts[from] = 1;
        if (this.share === 100) continue;
        const sorted = row.subarray(0, filled).sort();
        let covered = 0;
        for (let at = filled - 1; at >= 0; at--) {
          covered += sorted[at];
          cuts[from] = sorted[at];
          if (covered * 100 >= total * this.share) break;
        }
      }
      least.set(head, cuts);
    }
    return least;
  }

  /** Choose the edges anew and count what they carry. An edge is (head · n + from) · n + to. */
  select() {
    this.left = this.tokensOn("left");
    this.right = this.tokensOn("right");
    const left = Uint32Array.from(this.left);
    const right = Uint32Array.from(this.right);
    this.least = this.leastWeights(left, right);
    const counts = new Uint32Array(this.header.steps + 1);
    let mass = 0;
    let edges = 0;
    for (const head of this.chosen) {
      const cuts = this.least.get(head);
      for (const from of left) {
        const start = (head * this.n + from) * this.n;
        for (const to of right) {
          const weight = this.weights[start + to];
          if (weight < cuts[from]) continue;
          counts[weight]++;
          mass += weight;
          edges++;
        }
      }
    }
    this.total = { edges, mass };
    this.edges = this.strongest(left, right, counts);
    if (this.focus && !(this.focus.side === "left" ? this.left : this.right).includes(this.focus.at)) this.free();
  }

  /** The strongest edges, at most so many as can be drawn at once; weakest first, so that strong lines lie on top. */
  strongest(left, right, counts) {
    let cut = this.header.steps + 1;
    let kept = 0;
    while (cut > 1 && kept + counts[cut - 1] <= MOST_LINES) kept += counts[--cut];
    const edges = new Uint32Array(kept);
    let filled = 0;
    for (const head of this.chosen) {
      const cuts = this.least.get(head);
      for (const from of left) {
        const start = (head * this.n + from) * this.n;
        const least = Math.max(cut, cuts[from]);
        for (const to of right) if (this.weights[start + to] >= least) edges[filled++] = start + to;
      }
    }
    return edges.sort((a, b) => this.weights[a] - this.weights[b]);
  }

  parts(edge) {
    const to = edge % this.n;
    const row = (edge - to) / this.n;
    return { head: Math.floor(row / this.n), from: row % this.n, to };
  }

  /** The edges of the token in focus, weakest first. */
  focused() {
    const { side, at } = this.focus;
    const edges = [];
    for (const head of this.chosen) {
      const cuts = this.least.get(head);
      for (const other of side === "left" ? this.right : this.left) {
        const [from, to] = side === "left" ? [at, other] : [other, at];
        if (this.weight(head, from, to) >= cuts[from]) edges.push((head * this.n + from) * this.n + to);
      }
    }
    return edges.sort((a, b) => this.weights[a] - this.weights[b]);
  }

  get drawn() {
    return this.focus ? this.focused() : this.edges;
  }

  // --- where things stand ---------------------------------------------------------------------------------

  measure() {
    const rows = Math.max(this.left.length, this.right.length, 1);
    const tallest = Math.min(TALLEST, 0.8 * window.innerHeight);
    const row = rows * NATURAL <= tallest ? NATURAL : this.fit ? tallest / rows : Math.max(LEAST, tallest / rows);
    this.long = rows * LEAST > tallest;
    const size = row >= 20 ? 14 : row >= LEAST ? 12 : 11;
    this.drawnAt = this.root.clientWidth;
    const slider = rows * row > tallest + 1 ? 14 : 0; // the scroller's own, in pixels
    const width = Math.min(this.drawnAt - (this.drawnAt >= WIDE ? BESIDE : 2) - slider, WIDEST);
    const pad = Math.max(0, (size + 4 - row) / 2);
    const colours = theme(this.root);
    const context = this.canvas.getContext("2d");
    context.font = `600 ${size}px ${colours.font}`;
    const most = width * 0.3;
    this.short = new Map();
    let widest = 0;
    for (const token of new Set([...this.left, ...this.right])) {
      const label = shortened(context, this.header.labels[token], most);
      this.short.set(token, label);
      widest = Math.max(widest, context.measureText(label).width);
    }
    const gutter = Math.min(36, Math.max(6, 4 * this.heads.size));
    const edge = Math.ceil(widest) + 10 + gutter;
    const height = Math.ceil(rows * row + 2 * pad);
    this.place = { row, pad, size, width, height, gutter, from: edge, to: width - edge, shown: Math.min(height, Math.ceil(tallest + 2 * pad)) };
    this.rank = { left: new Map(this.left.map((t, i) => [t, i])), right: new Map(this.right.map((t, i) => [t, i])) };
    this.space.style.height = `${height}px`;
    this.scroller.style.height = `${this.place.shown + 2}px`;
    this.scroller.style.width = `${width + slider + 2}px`;
    this.colours = colours;
    this.hues = colours.dark ? this.header.colours.dark : this.header.colours.light;
  }

  y(side, token) {
    return this.place.pad + (this.rank[side].get(token) + 0.5) * this.place.row;
  }

  // --- drawing --------------------------------------------------------------------------------------------

  refresh() {
    this.select();
    this.measure();
    this.controls();
    this.say();
    this.draw();
    if (!this.numbers.hidden) this.listNumbers();
  }

  draw() {
    const { width, shown } = this.place;
    const context = sized(this.canvas, width, shown);
    const top = this.scroller.scrollTop;
    context.translate(0, -top);
    this.drawPart(canvasPen(context), top, top + shown);
    const at = this.focus;
    this.scroller.setAttribute("aria-label", at ? this.describe().map((line) => [line].flat().map(words).join(" ")).join("; ") : this.alt());
  }

  /** What lies between two heights of the figure. */
  drawPart(pen, top, bottom) {
    const { row } = this.place;
    if (this.focus) this.drawFocus(pen);
    const inside = (y) => y > top - row && y < bottom + row;
    for (const edge of this.moving ? this.drawn.slice(-MOVING_LINES) : this.drawn) {
      const { head, from, to } = this.parts(edge);
      const y1 = this.y("left", from);
      const y2 = this.y("right", to);
      if (!inside(y1) && !inside(y2)) continue;
      const opacity = this.weights[edge] / this.header.steps;
      pen.line(this.place.from, y1, this.place.to, y2, { stroke: this.hues[head], width: this.focus ? 2 : 1.5, opacity });
    }
    for (const side of ["left", "right"]) this.drawLabels(pen, side, inside);
  }

  /** A band behind the token in focus; at the tokens of the other side a stripe a head, as opaque as its weight. */
  drawFocus(pen) {
    const { row, width, from, to, gutter } = this.place;
    const band = (side, token) => {
      const x = side === "left" ? 0 : to + gutter;
      pen.rect(x, this.y(side, token) - row / 2, side === "left" ? from - gutter : width - x, row, { fill: this.colours.panel });
    };
    const other = this.focus.side === "left" ? "right" : "left";
    band(this.focus.side, this.focus.at);
    if (this.partner) band(other, this.partner.at);
    const stripe = gutter / this.heads.size;
    const x = other === "left" ? from - gutter : to;
    for (const edge of this.focused()) {
      const parts = this.parts(edge);
      const y = this.y(other, other === "left" ? parts.from : parts.to);
      const place = x + this.chosen.indexOf(parts.head) * stripe;
      pen.rect(place, y - row / 2, stripe, row, { fill: this.hues[parts.head], opacity: this.weights[edge] / this.header.steps });
    }
  }

  drawLabels(pen, side, inside) {
    const { from, to, gutter, size } = this.place;
    const { font, ink } = this.colours;
    const x = side === "left" ? from - gutter - 6 : to + gutter + 6;
    for (const token of this.legible(side)) {
      const y = this.y(side, token);
      const near = this.focus?.side === side ? this.focus.at === token : this.partner?.at === token;
      if (inside(y)) pen.text(this.short.get(token), x, y, { fill: ink, font, size, weight: near ? 600 : 400, align: side === "left" ? "end" : "start" });
    }
  }

  /** The tokens of a side with room for their names: all of them, or in a fitted text those that matter first. */
  legible(side) {
    const tokens = side === "left" ? this.left : this.right;
    const { row, size } = this.place;
    const gap = Math.ceil((size + 2) / row);
    if (gap <= 1) return tokens;
    const wanted = [];
    if (this.focus) {
      wanted.push(side === this.focus.side ? this.focus.at : this.partner?.at);
      if (side !== this.focus.side) for (const edge of this.focused().reverse()) wanted.push(this.parts(edge)[side === "left" ? "from" : "to"]);
    }
    const free = new Uint8Array(tokens.length + gap).fill(1);
    const chosen = [];
    for (const token of [...wanted, ...tokens]) {
      const at = this.rank[side].get(token);
      if (at === undefined || !free[at]) continue;
      chosen.push(token);
      free.fill(0, Math.max(0, at - gap + 1), at + gap);
    }
    return chosen;
  }

  // --- in words -------------------------------------------------------------------------------------------

  alt() {
    const heads = this.chosen.map((head) => head + 1).join(", ");
    return `Attention of layer ${this.header.layer + 1}, heads ${heads}, between ${this.n} tokens. Arrow keys choose a token, Enter locks it, Escape frees it. The button Numbers lists the edges.`;
  }

  say() {
    const rows = this.left.length * this.heads.size * this.header.steps;
    const percent = (mass) => `${((100 * mass) / rows).toFixed(1)} %`;
    const parts = [];
    if (rows) {
      const of = `${this.left.length === this.n ? "all" : this.left.length} rows in ${this.heads.size} ${this.heads.size === 1 ? "head" : "heads"}`;
      // The share is a floor: a single strong edge may cover far more of its row.
      if (this.share < 100) parts.push(`Each row has the fewest edges that cover at least ${this.share} % of ${this.right.length < this.n ? "what is not hidden" : "it"}.`);
      parts.push(`The ${this.total.edges.toLocaleString("en")} edges carry ${percent(this.total.mass)} of the attention of ${of}.`);
      const hidden = this.hiddenMass();
      if (this.hideSpecial) parts.push(`Hidden: ${percent(hidden)} goes to special tokens.`);
      if (this.edges.length < this.total.edges) parts.push(`The ${this.edges.length.toLocaleString("en")} strongest are drawn; at a token, all of its own.`);
    } else parts.push("No tokens are left to draw.");
    this.status.textContent = parts.join(" ");
  }

  hiddenMass() {
    let mass = 0;
    for (const head of this.chosen) {
      for (const from of this.left) for (let to = 0; to < this.n; to++) if (this.special[to]) mass += this.weight(head, from, to);
    }
    return mass;
  }

  label(token) {
    return `${this.header.labels[token]} (${token + 1})`;
  }

  /** The token in focus in numbers: with its partner, the weight in every chosen head; alone, where each head leads. */
  describe() {
    const { side, at } = this.focus;
    const ends = (other) => (side === "left" ? [at, other] : [other, at]);
    if (this.partner) {
      const [from, to] = ends(this.partner.at);
      const head = `${this.label(from)} → ${this.label(to)}`;
      if (this.header.causal && to > from) return [head, "Masked: it lies in the future."];
      return [head, ...this.chosen.map((each) => [this.badge(each), this.number(this.weight(each, from, to))])];
    }
    const others = side === "left" ? this.right : this.left;
    const best = [];
    for (const head of this.chosen) {
      for (const other of others) {
        const weight = this.weight(head, ...ends(other));
        if (weight) best.push({ head, other, weight });
      }
    }
    best.sort((a, b) => b.weight - a.weight);
    const one = this.heads.size === 1;
    const shown = one ? best.slice(0, 8) : this.chosen.map((head) => best.find((edge) => edge.head === head)).filter(Boolean);
    const title = side === "left" ? `${this.label(at)} attends to` : `${this.label(at)} is attended to by`;
    return [title, ...shown.map(({ head, other, weight }) => [...(one ? [] : [this.badge(head)]), this.label(other), this.number(weight)])];
  }

  badge(head) {
    const badge = make("span", { class: "badge" }, `head ${head + 1}`);
    badge.style.setProperty("--hue", this.hues[head]);
    return badge;
  }

  // --- pointer and keyboard -------------------------------------------------------------------------------

  listen() {
    this.resized = new ResizeObserver(() => this.root.clientWidth && this.root.clientWidth !== this.drawnAt && this.resize());
    this.resized.observe(this.root);
    this.scroller.addEventListener("scroll", () => this.scrolled());
    this.scroller.addEventListener("pointermove", (event) => moved(event) && this.hover(event));
    this.scroller.addEventListener("pointerleave", () => this.leave());
    this.scroller.addEventListener("click", (event) => this.press(event));
    onKeys(this.scroller, {
      ArrowDown: () => this.move(1),
      ArrowUp: () => this.move(-1),
      PageDown: () => this.move(10),
      PageUp: () => this.move(-10),
      Home: () => this.move(-this.n),
      End: () => this.move(this.n),
      ArrowLeft: () => this.turn("left"),
      ArrowRight: () => this.turn("right"),
      Enter: () => this.lock(),
      " ": () => this.lock(),
      Escape: () => this.leave(true),
    });
  }

  scrolled() {
    clearTimeout(this.resting);
    this.moving = true;
    this.paint();
    this.resting = setTimeout(() => {
      this.moving = false;
      this.paint();
    }, REST);
  }

  resize() {
    this.measure();
    this.draw();
  }

  /** The token under the pointer, or null between the columns. */
  under(event) {
    const box = this.canvas.getBoundingClientRect();
    const x = event.clientX - box.left;
    const y = event.clientY - box.top + this.scroller.scrollTop;
    const side = x < this.place.from ? "left" : x > this.place.to ? "right" : null;
    if (!side || x > this.place.width) return null;
    const at = (side === "left" ? this.left : this.right)[Math.floor((y - this.place.pad) / this.place.row)];
    return at === undefined ? null : { side, at };
  }

  hover(event) {
    const found = this.under(event);
    this.scroller.style.cursor = found ? "pointer" : "default";
    const before = [this.focus?.side, this.focus?.at, this.partner?.at].join();
    if (!this.locked) this.focus = found;
    else this.partner = found && found.side !== this.focus.side ? { at: found.at } : null;
    if (before === [this.focus?.side, this.focus?.at, this.partner?.at].join()) return;
    this.showTip();
    this.paint();
  }

  press(event) {
    const found = this.under(event);
    if (!found) this.free();
    else if (this.locked && found.side !== this.focus.side && event.pointerType !== "mouse") this.partner = { at: found.at };
    else if (this.locked && found.side === this.focus.side && found.at === this.focus.at) this.free(found);
    else Object.assign(this, { focus: found, locked: true, partner: null });
    this.showTip();
    this.after();
  }

  leave(always = false) {
    if (always) this.free(this.locked ? this.focus : null);
    else if (!this.locked) this.free();
    else this.partner = null;
    if (always && this.focus) this.showTip();
    else this.tip.hide();
    this.after();
  }

  free(focus = null) {
    Object.assign(this, { focus, locked: false, partner: null });
  }

  after() {
    this.scroller.classList.toggle("locked", this.locked);
    if (!this.numbers.hidden) this.listNumbers();
    this.paint();
  }

  lock() {
    if (!this.focus) return;
    if (this.locked) this.free(this.focus);
    else this.locked = true;
    this.showTip();
    this.after();
  }

  /** Up and down: the token in focus, or once it is locked the one at the other end. */
  move(step) {
    const side = this.focus ? (this.locked ? other(this.focus.side) : this.focus.side) : "left";
    const tokens = side === "left" ? this.left : this.right;
    if (!tokens.length) return;
    const now = this.locked ? this.partner?.at : this.focus?.at;
    const at = now === undefined ? (step > 0 ? 0 : tokens.length - 1) : this.rank[side].get(now) + step;
    const token = tokens[Math.min(Math.max(at, 0), tokens.length - 1)];
    if (this.locked) this.partner = { at: token };
    else this.focus = { side, at: token };
    this.bringIntoView(side, token);
    this.showTip();
    this.paint();
  }

  turn(side) {
    if (this.locked) return;
    const tokens = side === "left" ? this.left : this.right;
    const row = this.focus ? this.rank[this.focus.side].get(this.focus.at) : 0;
    if (tokens.length) this.focus = { side, at: tokens[Math.min(row, tokens.length - 1)] };
    this.showTip();
    this.paint();
  }

  bringIntoView(side, token) {
    const y = this.y(side, token);
    const { row, shown } = this.place;
    if (y - row < this.scroller.scrollTop) this.scroller.scrollTop = y - row;
    else if (y + row > this.scroller.scrollTop + shown) this.scroller.scrollTop = y + row - shown;
  }

  showTip() {
    if (!this.focus) return this.tip.hide();
    const side = this.partner ? other(this.focus.side) : this.focus.side;
    const token = this.partner ? this.partner.at : this.focus.at;
    const y = this.scroller.offsetTop + this.y(side, token) - this.scroller.scrollTop;
    // Beside the figure; on a narrow page between the columns, so that it covers no token.
    const x = this.drawnAt >= WIDE ? this.scroller.offsetWidth : side === "left" ? this.place.from : this.place.to;
    this.tip.show(this.describe(), x, y);
  }

  // --- controls -------------------------------------------------------------------------------------------

  controls() {
    const name = `head-view-layer-${this.header.layer + 1}`;
    if (this.bar.dataset.drawn !== this.barKey()) {
      const keep = this.root.getRootNode().activeElement?.dataset?.name;
      const exports = exportButtons(name, this.root, () => this.exportSize(), (pen) => this.exportDraw(pen));
      const table = button("Numbers", "numbers", () => this.toggleNumbers());
      this.bar.replaceChildren(this.chips(), this.choices(), make("div", { class: "group" }, table, ...exports));
      this.bar.dataset.drawn = this.barKey();
      if (keep) this.bar.querySelector(`[data-name="${keep}"]`)?.focus();
    }
    for (const chip of this.bar.querySelectorAll(".chip")) {
      chip.setAttribute("aria-pressed", String(this.heads.has(Number(chip.dataset.head))));
    }
    this.bar.querySelector("[data-name=share]").value = this.share;
    this.bar.querySelector("output").textContent = `${this.share} %`;
  }

  /** What makes the controls others; everything else is set on those that stand there. */
  barKey() {
    return JSON.stringify([this.count, this.header.layer, this.header.second !== null, this.special.some(Boolean), this.long, this.hues]);
  }

  chips() {
    const chips = this.everyHead().map((head) => {
      const chip = button(String(head + 1), `head-${head}`, () => this.toggle(head));
      chip.className = "chip";
      chip.dataset.head = head;
      chip.title = "Click: on or off. Double click, or i: this head alone.";
      chip.setAttribute("aria-label", `Head ${head + 1}`);
      chip.style.setProperty("--hue", this.hues[head]);
      chip.addEventListener("dblclick", () => this.isolate(head));
      onKeys(chip, { i: () => this.isolate(head) });
      return chip;
    });
    const all = button("All", "all", () => this.setHeads(this.everyHead()));
    return make("div", { class: "group", role: "group", "aria-label": "Heads" }, make("span", {}, "Heads"), ...chips, all);
  }

  choices() {
    const group = make("div", { class: "group" });
    if (this.header.second !== null) {
      const select = make("select", { "data-name": "filter" }, ...Object.entries(FILTERS).map(([value, text]) => make("option", { value }, text)));
      select.value = this.filter;
      select.addEventListener("change", () => this.set({ filter: select.value }));
      group.append(make("label", {}, "Sentences ", select));
    }
    if (this.special.some(Boolean)) group.append(this.check("Hide special tokens", "hideSpecial"));
    const share = make("input", { type: "range", min: 10, max: 100, step: 5, value: this.share, "data-name": "share" });
    const later = eachFrame(() => this.set({ asked: Number(share.value) }));
    share.addEventListener("input", later);
    group.append(make("label", { title: "Of each row, the strongest edges until they cover this much of what is not hidden." }, "Strongest edges covering at least ", share, make("output", {})));
    if (this.long) group.append(this.check("Whole text at once", "fit"));
    return group;
  }

  check(text, field) {
    const box = make("input", { type: "checkbox", "data-name": field });
    box.checked = this[field];
    box.addEventListener("change", () => this.set({ [field]: box.checked }));
    return make("label", {}, box, ` ${text}`);
  }

  set(change) {
    Object.assign(this, change);
    this.tip.hide();
    this.refresh();
    clearTimeout(this.telling);
    if (!this.header.alone) this.telling = setTimeout(() => this.tell(), TOLD);
  }

  /** Tell the page what is drawn, for its address and its files; the figure itself needs no answer. */
  tell() {
    const heads = this.chosen.length === this.count ? "all" : this.chosen.map((head) => head + 1).join(".");
    this.report("view", [heads, this.hideSpecial, this.asked ?? 0]);
  }

  setHeads(heads) {
    this.set({ heads: new Set(heads) });
  }

  toggle(head) {
    const heads = new Set(this.heads);
    if (!heads.delete(head)) heads.add(head);
    if (heads.size) this.setHeads(heads);
  }

  /** One head alone; if it was alone already, all of them. A double click has toggled it twice before. */
  isolate(head) {
    this.setHeads(this.heads.size === 1 && this.heads.has(head) ? this.everyHead() : [head]);
  }

  // --- take it with you -----------------------------------------------------------------------------------

  exportSize() {
    return [this.place.width, this.place.height + 56];
  }

  exportDraw(pen) {
    const { font, ink } = this.colours;
    pen.text(`${this.header.model}, layer ${this.header.layer + 1}`, 8, 18, { fill: ink, font, size: 14, weight: 600 });
    pen.text("head", 8, 40, { fill: ink, font, size: 12 });
    this.chosen.forEach((head, at) => {
      pen.rect(44 + at * 34, 34, 10, 12, { fill: this.hues[head] });
      pen.text(String(head + 1), 58 + at * 34, 40, { fill: ink, font, size: 12 });
    });
    this.drawPart(lowered(pen, 56), 0, this.place.height);
  }

  toggleNumbers() {
    this.numbers.hidden = !this.numbers.hidden;
    if (!this.numbers.hidden) this.listNumbers();
  }

  rows() {
    return [...this.drawn].reverse().map((edge) => {
      const { head, from, to } = this.parts(edge);
      return [this.header.layer + 1, head + 1, from + 1, this.header.labels[from], to + 1, this.header.labels[to], this.number(this.weights[edge])];
    });
  }

  listNumbers() {
    const names = ["layer", "head", "query", "query token", "key", "key token", "weight"];
    const rows = this.rows();
    const download = button("CSV", "csv", () => save(csv([names, ...this.rows()]), `head-view-layer-${this.header.layer + 1}.csv`));
    const line = (cells, tag) => make("tr", {}, ...cells.map((cell) => make(tag, tag === "th" ? { scope: "col" } : {}, String(cell))));
    const note = rows.length > TABLE_ROWS ? `The strongest ${TABLE_ROWS} of ${rows.length.toLocaleString("en")} edges; the CSV has all.` : `${rows.length} edges.`;
    this.numbers.replaceChildren(
      make("div", { class: "group" }, make("span", {}, note), download),
      make("table", {}, make("thead", {}, line(names, "th")), make("tbody", {}, ...rows.slice(0, TABLE_ROWS).map((row) => line(row, "td")))),
    );
  }
}

function other(side) {
  return side === "left" ? "right" : "left";
}

function words(part) {
  return part instanceof Node ? part.textContent : part;
}

function button(text, name, action) {
  const made = make("button", { type: "button", "data-name": name }, text);
  made.addEventListener("click", action);
  return made;
}

/** The longest beginning of a text that fits into `most` pixels, cut between characters as a reader sees them. */
function shortened(context, text, most) {
  if (context.measureText(text).width <= most) return text;
  const signs = [...new Intl.Segmenter().segment(text)].map((part) => part.segment);
  while (signs.length > 1 && context.measureText(`${signs.join("")}…`).width > most) signs.pop();
  return `${signs.join("")}…`;
}

/** A pen that draws everything `by` pixels lower. */
function lowered(pen, by) {
  return {
    line: (x1, y1, x2, y2, look) => pen.line(x1, y1 + by, x2, y2 + by, look),
    rect: (x, y, width, height, look) => pen.rect(x, y + by, width, height, look),
    text: (words, x, y, look) => pen.text(words, x, y + by, look),
  };
}
