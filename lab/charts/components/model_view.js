// Model view: every head of a model as a small map, or as lines; a row for each layer, a column for each head.

const LEAST = 26; // pixels of a thumbnail's side; a narrower page scrolls
const MOST = 80;
const GAP = 5;
const FRAME = 4; // pixels of a frame whose colour is a value
const LEFT = 44; // pixels for the numbers of the layers
const TOP = 38; // for those of the heads
const CAPTION = 14; // above each thumbnail, once they are not in the order of the layers
const LEGEND = 46;
const JOB = 6; // pixels of the mark of a head that has a job
const LEVELS = 64; // of colour among the lines of a head; a line of the lowest level has the paper's colour
const MASKED = [128, 132, 149, 77]; // cells that do not exist, as lab/charts/base/colour.py has them

export default function (component) {
  return keep(component, (root, payload, report) => new ModelView(root, payload, report));
}

class ModelView {
  constructor(root, payload, report) {
    this.root = root;
    this.report = report;
    this.own = false; // each head on its own scale
    this.sorted = false;
    this.lined = false; // each head as lines from the tokens that look to those that are looked at
    this.take(payload);
    this.bar = make("div", { class: "bar" });
    this.scroller = make("div", { class: "scroller", tabindex: "0", role: "application", "aria-roledescription": "model view" });
    this.space = make("div", { class: "space" });
    this.canvas = make("canvas", { "aria-hidden": "true" });
    this.openMark = make("div", { class: "mark opened" });
    this.mark = make("div", { class: "mark", hidden: true });
    this.space.append(this.canvas, this.openMark, this.mark);
    this.scroller.append(this.space);
    root.append(this.bar, this.scroller);
    this.tip = tooltip(root);
    this.listen();
    this.refresh();
  }

  // --- what Streamlit tells -------------------------------------------------------------------------------

  take({ header, arrays }) {
    const told = this.header?.told;
    this.header = header;
    [this.layers, this.heads, this.cells] = arrays.maps.shape;
    this.count = this.layers * this.heads;
    this.maps = arrays.maps.values;
    this.values = arrays.values?.values ?? null;
    this.images = null;
    this.at = null; // the head hovered or stepped on, counted through all layers
    this.cell = null; // {q, k}: the cell hovered
    if (header.told !== told || this.opened >= this.count) this.opened = header.opened[0] * this.heads + header.opened[1];
  }

  update(payload) {
    this.take(payload);
    this.tip.hide();
    this.refresh();
  }

  restyle() {
    this.refresh();
  }

  dispose() {
    this.resized.disconnect();
  }

  // --- numbers --------------------------------------------------------------------------------------------

  weight(head, q, k) {
    return this.maps[(head * this.cells + q) * this.cells + k];
  }

  /** Cells above the diagonal of a causal model do not exist. */
  exists(q, k) {
    return !this.header.causal || k <= q;
  }

  /** The cell with the largest weight of a head. */
  strongest(head) {
    const size = this.cells * this.cells;
    const map = this.maps.subarray(head * size, (head + 1) * size);
    let best = 0;
    for (let place = 1; place < size; place++) if (map[place] > map[best]) best = place;
    return { q: Math.floor(best / this.cells), k: best % this.cells };
  }

  /** The heads in the order they are drawn: by layer, or by value from the highest down, those without one last. */
  order() {
    const heads = Array.from({ length: this.count }, (_, head) => head);
    if (!this.byValue) return heads;
    const value = (head) => (Number.isNaN(this.values[head]) ? -Infinity : this.values[head]);
    return heads.sort((a, b) => value(b) - value(a) || a - b);
  }

  get byValue() {
    return this.sorted && this.values !== null;
  }

  /** [least, largest] of the values on screen; null without any. */
  range() {
    const known = this.values ? [...this.values].filter((value) => !Number.isNaN(value)) : [];
    return known.length ? [Math.min(...known), Math.max(...known)] : null;
  }

  name(head) {
    const job = this.header.jobs[head];
    return `Layer ${Math.floor(head / this.heads) + 1}, head ${(head % this.heads) + 1}${job ? `: ${job}` : ""}`;
  }

  /** The tokens of a cell's row or column: "cat (5)", or from where to where. */
  tokens(cell) {
    const { block, labels } = this.header;
    const [first, last] = [cell * block, Math.min((cell + 1) * block, labels.length) - 1];
    const label = (token) => `${labels[token]} (${token + 1})`;
    return first === last ? label(first) : `${label(first)} … ${label(last)}`;
  }

  // --- where things stand ---------------------------------------------------------------------------------

  measure() {
    this.drawnAt = this.root.clientWidth;
    const between = GAP + (this.values ? 2 * FRAME : 0);
    const room = (this.drawnAt - LEFT - this.heads * between) / this.heads;
    const side = Math.floor(Math.min(Math.max(room, LEAST), MOST));
    const step = side + between;
    const down = step + (this.byValue ? CAPTION : 0);
    const bottom = TOP + this.layers * down;
    this.place = { side, step, down, bottom, width: Math.max(LEFT + this.heads * step, Math.min(this.drawnAt, 340)), height: bottom + LEGEND * (this.values ? 2 : 1) };
    this.drawn = this.order();
    this.slot = new Map(this.drawn.map((head, slot) => [head, slot]));
  }

  /** The upper left corner of a head's thumbnail. */
  corner(head) {
    const slot = this.slot.get(head);
    const { step, down } = this.place;
    const inset = this.values ? FRAME : 0;
    return { x: LEFT + (slot % this.heads) * step + inset, y: TOP + Math.floor(slot / this.heads) * down + inset + (this.byValue ? CAPTION : 0) };
  }

  // --- drawing --------------------------------------------------------------------------------------------

  refresh() {
    const colours = theme(this.root);
    const look = JSON.stringify(colours);
    if (look !== this.look) this.images = null;
    Object.assign(this, { colours, look });
    this.measure();
    this.controls();
    this.images ??= Array.from({ length: this.count }, (_, head) => (this.lined ? this.lines(head) : this.image(head)));
    const { width, height } = this.place;
    const context = sized(this.canvas, width, height);
    this.space.style.width = `${width}px`;
    this.space.style.height = `${height}px`;
    this.drawAll(canvasPen(context));
    this.point();
  }

  /** The colours of the frames: the warm half of the diverging ones, as the weights are blue. */
  warm() {
    const { diverging } = this.colours;
    return diverging.slice(0, Math.ceil(diverging.length / 2)).reverse();
  }

  /** One head's map, a pixel a cell. */
  image(head) {
    const canvas = make("canvas", { width: this.cells, height: this.cells });
    const context = canvas.getContext("2d");
    const picture = context.createImageData(this.cells, this.cells);
    const { q, k } = this.strongest(head);
    const most = this.own ? this.weight(head, q, k) || 1 : this.header.steps;
    const ramp = this.ramp();
    for (let row = 0, at = 0; row < this.cells; row++) {
      for (let column = 0; column < this.cells; column++, at += 4) {
        const pixel = this.exists(row, column) ? ramp[Math.round((255 * this.weight(head, row, column)) / most)] : MASKED;
        picture.data.set(pixel, at);
      }
    }
    context.putImageData(picture, 0, 0);
    return canvas;
  }

  /** One head's weights as lines, the queries on the left and the keys on the right; strong lines lie on weak ones. */
  lines(head) {
    const size = 2 * MOST;
    const canvas = make("canvas", { width: size, height: size });
    const context = canvas.getContext("2d");
    const { q, k } = this.strongest(head);
    const most = this.own ? this.weight(head, q, k) || 1 : this.header.steps;
    const levels = Array.from({ length: LEVELS + 1 }, () => new Path2D());
    const height = (cell) => ((cell + 0.5) * size) / this.cells;
    for (let row = 0; row < this.cells; row++) {
      for (let column = 0; column < this.cells; column++) {
        if (!this.exists(row, column)) continue;
        const path = levels[Math.round((LEVELS * this.weight(head, row, column)) / most)];
        path.moveTo(0, height(row));
        path.lineTo(size, height(column));
      }
    }
    context.lineWidth = Math.max(1.5, Math.min(3, size / this.cells / 4));
    for (let level = 1; level <= LEVELS; level++) {
      context.strokeStyle = along(this.colours.sequential, level / LEVELS);
      context.stroke(levels[level]);
    }
    return canvas;
  }

  /** 256 colours of the weights, made once for each look of the page. */
  ramp() {
    if (this.ramped?.look !== this.look) {
      const colours = Array.from({ length: 256 }, (_, i) => [...channels(along(this.colours.sequential, i / 255)), 255]);
      this.ramped = { look: this.look, colours };
    }
    return this.ramped.colours;
  }

  drawAll(pen) {
    const { side, step, down, bottom } = this.place;
    const { font, ink, line } = this.colours;
    const small = { fill: ink, font, size: 12, align: "middle" };
    const range = this.range();
    if (!this.byValue) {
      pen.text("Head", LEFT, 10, { ...small, align: "start" });
      for (let head = 0; head < this.heads; head++) pen.text(String(head + 1), LEFT + head * step + step / 2 - GAP / 2, 27, small);
      pen.text("Layer", 0, 27, { ...small, align: "start" });
      for (let layer = 0; layer < this.layers; layer++) pen.text(String(layer + 1), LEFT - 10, TOP + (layer + 0.5) * down - GAP / 2, { ...small, align: "end" });
    } else pen.text("Layer·head, highest value first", LEFT, 18, { ...small, align: "start" });
    const crisp = !this.lined && this.cells <= side;
    for (let head = 0; head < this.count; head++) {
      const { x, y } = this.corner(head);
      if (this.values) {
        pen.rect(x - FRAME, y - FRAME, side + 2 * FRAME, side + 2 * FRAME, { fill: this.frameColour(head, range) });
        pen.rect(x, y, side, side, { fill: this.colours.paper });
      }
      pen.image(this.images[head], x, y, side, side, crisp);
      const edge = this.values ? FRAME : 0;
      outline(pen, x - edge, y - edge, side + 2 * edge, line);
      if (this.header.jobs[head]) pen.rect(x + side - JOB - 1, y + 1, JOB, JOB, { fill: ink });
      if (this.byValue) {
        const [layer, own] = [Math.floor(head / this.heads) + 1, (head % this.heads) + 1];
        pen.text(`${layer}·${own}`, x + side / 2, y - FRAME - CAPTION / 2 + 1, { ...small, size: 11, most: step });
      }
    }
    const weights = this.own ? ["0", "the head’s largest"] : ["0", "1"];
    this.legend(pen, bottom, this.header.block > 1 ? "Weight, largest of a block" : "Weight", this.colours.sequential, weights);
    if (this.values) {
      const { name, unit } = this.header.frames;
      this.legend(pen, bottom + LEGEND, `Frame: ${name} (${unit})`, this.warm(), range ? range.map(short) : null);
    }
  }

  frameColour(head, range) {
    const value = this.values[head];
    if (Number.isNaN(value)) return this.colours.paper;
    const [least, most] = range;
    return along(this.warm(), most > least ? (value - least) / (most - least) : 0.5);
  }

  /** A title, and below it a ramp with what stands at its ends; without ends there is no value to show. */
  legend(pen, y, title, stops, ends) {
    const { font, ink, line } = this.colours;
    const look = { fill: ink, font, size: 12 };
    pen.text(title, LEFT, y + 12, { ...look, most: this.place.width - LEFT });
    if (!ends) return pen.text("No head has a value on this text.", LEFT, y + 30, look);
    const parts = 40;
    const start = LEFT + 7 * ends[0].length + 8;
    for (let i = 0; i < parts; i++) pen.rect(start + i * 3, y + 24, 3.2, 12, { fill: along(stops, i / (parts - 1)) });
    for (const edge of [24, 36]) pen.line(start, y + edge, start + parts * 3, y + edge, { stroke: line });
    pen.text(ends[0], start - 6, y + 30, { ...look, align: "end" });
    pen.text(ends[1], start + parts * 3 + 6, y + 30, look);
  }

  /** Put the marks where they belong, and say what is under the second one. */
  point() {
    const { side } = this.place;
    const edge = this.values ? FRAME : 0;
    const put = (mark, head) => {
      const { x, y } = this.corner(head);
      Object.assign(mark.style, { left: `${x - edge}px`, top: `${y - edge}px`, width: `${side + 2 * edge}px`, height: `${side + 2 * edge}px` });
    };
    put(this.openMark, this.opened);
    this.mark.hidden = this.at === null;
    if (this.at !== null) put(this.mark, this.at);
    const told = this.at === null ? [this.alt()] : this.describe().map((each) => [each].flat().join(" "));
    this.scroller.setAttribute("aria-label", told.join("; "));
  }

  alt() {
    return `${this.layers} layers of ${this.heads} heads of ${this.header.model}, ${this.lined ? "lines for" : "a map of"} each head’s attention weights. Open: ${this.name(this.opened).toLowerCase()}. Arrow keys move over the heads, Enter opens one.`;
  }

  describe() {
    const { q, k } = this.cell ?? this.strongest(this.at);
    const lines = [this.name(this.at)];
    if (this.values) {
      const value = this.values[this.at];
      lines.push([this.header.frames.name, Number.isNaN(value) ? "no value" : short(value)]);
    }
    lines.push(["query", this.tokens(q)], ["key", this.tokens(k)]);
    if (!this.exists(q, k)) return [...lines, ["weight", "masked: in the future"]];
    const what = this.header.block > 1 ? "largest weight" : this.cell ? "weight" : "its largest weight";
    return [...lines, [what, (this.weight(this.at, q, k) / this.header.steps).toFixed(4)]];
  }

  // --- pointer and keyboard -------------------------------------------------------------------------------

  listen() {
    this.resized = new ResizeObserver(() => this.root.clientWidth && this.root.clientWidth !== this.drawnAt && this.refresh());
    this.resized.observe(this.root);
    this.space.addEventListener("pointermove", (event) => moved(event) && this.lookAt(this.under(event)));
    this.space.addEventListener("pointerleave", () => this.lookAt(null));
    this.space.addEventListener("click", (event) => {
      // What the tooltip says is what opens: a click's place is rounded to pixels, and several cells share one.
      const found = this.cell ? { head: this.at, cell: this.cell } : this.under(event);
      if (found) this.open(found.head, this.lined ? null : found.cell);
    });
    this.scroller.addEventListener("scroll", () => this.showTip());
    onKeys(this.scroller, {
      ArrowRight: () => this.move(1),
      ArrowLeft: () => this.move(-1),
      ArrowDown: () => this.move(this.heads),
      ArrowUp: () => this.move(-this.heads),
      Home: () => this.move(-Infinity),
      End: () => this.move(Infinity),
      Enter: () => this.at !== null && this.open(this.at, null),
      " ": () => this.at !== null && this.open(this.at, null),
      Escape: () => this.lookAt(null),
    });
  }

  /** The head and the cell under the pointer; null between the thumbnails. */
  under(event) {
    const box = this.canvas.getBoundingClientRect();
    const { side, step, down } = this.place;
    const [x, y] = [event.clientX - box.left, event.clientY - box.top];
    const [column, row] = [Math.floor((x - LEFT) / step), Math.floor((y - TOP) / down)];
    if (column < 0 || column >= this.heads || row < 0 || row >= this.layers) return null;
    const head = this.drawn[row * this.heads + column];
    const corner = this.corner(head);
    const [k, q] = [x - corner.x, y - corner.y].map((part) => Math.floor((part / side) * this.cells));
    const inside = [q, k].every((cell) => cell >= 0 && cell < this.cells);
    return inside ? { head, cell: { q, k } } : null;
  }

  lookAt(found) {
    this.at = found ? found.head : null;
    this.cell = found && !this.lined ? found.cell : null; // a place among lines is no pair of tokens
    this.showTip();
    this.point();
  }

  move(by) {
    const now = this.at ?? (Number.isFinite(by) ? null : this.opened);
    const slot = now === null ? this.slot.get(this.opened) : this.slot.get(now) + by;
    this.at = this.drawn[Math.min(Math.max(slot, 0), this.count - 1)];
    this.cell = null;
    this.point();
    this.bringIntoView();
    this.showTip();
  }

  bringIntoView() {
    const { x } = this.corner(this.at);
    const { scrollLeft, clientWidth } = this.scroller;
    if (x < scrollLeft + LEFT) this.scroller.scrollLeft = x - LEFT;
    else if (x + this.place.step > scrollLeft + clientWidth) this.scroller.scrollLeft = x + this.place.step - clientWidth;
    this.mark.scrollIntoView({ block: "nearest", inline: "nearest" });
  }

  showTip() {
    if (this.at === null) return this.tip.hide();
    const { x, y } = this.corner(this.at);
    const { side } = this.place;
    this.tip.show(this.describe(), this.scroller.offsetLeft + x + side / 2 - this.scroller.scrollLeft, 0);
    // Below the thumbnail, so that it hides neither that nor its row.
    this.tip.box.style.top = `${this.scroller.offsetTop + y + side + 2 * FRAME}px`;
  }

  /** Ask for a head's exact weights, around a cell or around its strongest one. The time makes each click another. */
  open(head, cell) {
    const { q, k } = cell && this.exists(cell.q, cell.k) ? cell : this.strongest(head);
    const { block } = this.header;
    this.opened = head;
    this.point();
    if (!this.header.alone) this.report("opened", [Math.floor(head / this.heads) + 1, (head % this.heads) + 1, q * block + 1, k * block + 1, Date.now()].join("."));
  }

  // --- controls -------------------------------------------------------------------------------------------

  controls() {
    const framed = this.values !== null;
    if (this.bar.dataset.framed === String(framed)) return;
    this.bar.dataset.framed = String(framed);
    const own = this.check("Each head on its own scale", "own", () => (this.images = null));
    const lined = this.check("As lines", "lined", () => (this.images = null));
    const sort = framed ? [this.check("Highest value first", "sorted", () => {})] : [];
    const exports = exportButtons("model-view", this.root, () => [this.place.width, this.place.height + 28], (pen) => this.exportDraw(pen));
    this.bar.replaceChildren(...sort, own, lined, ...exports);
  }

  check(text, field, change) {
    const box = make("input", { type: "checkbox" });
    box.checked = this[field];
    box.addEventListener("change", () => {
      this[field] = box.checked;
      change();
      this.lookAt(null);
      this.refresh();
    });
    return make("label", {}, box, ` ${text}`);
  }

  exportDraw(pen) {
    const { font, ink } = this.colours;
    this.drawAll(pen);
    pen.text(`${this.header.model}, ${this.header.labels.length} tokens`, LEFT, this.place.height + 12, { fill: ink, font, size: 12 });
  }
}

function outline(pen, x, y, side, stroke) {
  pen.line(x, y, x + side, y, { stroke });
  pen.line(x, y + side, x + side, y + side, { stroke });
  pen.line(x, y, x, y + side, { stroke });
  pen.line(x + side, y, x + side, y + side, { stroke });
}

/** A value in four digits. */
function short(value) {
  return value !== 0 && Math.abs(value) < 0.0001 ? value.toExponential(2) : String(Number(value.toPrecision(4)));
}
