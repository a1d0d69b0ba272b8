// What every component has. This file stands before the component's own, in one module: no imports, no exports.
// A learner's text reaches the page through textContent or a canvas only, never as HTML.

const ARRAYS = { u8: Uint8Array, i8: Int8Array, u16: Uint16Array, i16: Int16Array, u32: Uint32Array, i32: Int32Array, f32: Float32Array };

/** The header of what lab/charts/components/packing.py made, and its arrays by name: {type, shape, values}. */
function unpack(bytes) {
  const size = new DataView(bytes.buffer, bytes.byteOffset).getUint32(0, true);
  const header = JSON.parse(new TextDecoder().decode(bytes.subarray(4, 4 + size)));
  const body = bytes.slice(4 + size).buffer; // a copy: what arrives need not begin at a multiple of 4
  const arrays = {};
  for (const [name, { type, shape, at }] of Object.entries(header.arrays)) {
    const count = shape.reduce((product, side) => product * side, 1);
    arrays[name] = { type, shape, values: new ARRAYS[type](body, at, count) };
  }
  return { header, arrays };
}

const mounted = new WeakMap();

/**
 * Run a component through the reruns of its page.
 *
 * build(root, payload, report) draws into the element `root` and returns {update(payload), restyle(), dispose()}:
 * `update` gets new data, `restyle` says that the page's colours may have changed, `dispose` frees what is outside
 * `root`. Data that is the same as before leaves the component as the reader has it. `report(state, value)` sends a
 * state to Python, which is a rerun. What this returns is what Streamlit wants back.
 */
function keep({ data, parentElement, setStateValue }, build) {
  const known = mounted.get(parentElement);
  const payload = unpack(data);
  if (known) {
    known.send = setStateValue;
    if (known.id === payload.header.id) known.view.restyle();
    else known.view.update(payload);
    known.id = payload.header.id;
    return known.end;
  }
  const root = make("div", { class: "root", translate: "no" }); // tokens and numbers are no words of a page's language
  parentElement.append(root);
  const entry = { id: payload.header.id, send: setStateValue };
  entry.view = build(root, payload, (state, value) => entry.send(state, value));
  entry.end = () => {
    entry.view.dispose();
    root.remove();
    mounted.delete(parentElement);
  };
  mounted.set(parentElement, entry);
  return entry.end;
}

/** An element with attributes and children; strings become text. An attribute that is false or null is left out. */
function make(tag, attributes = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (value !== false && value !== null) element.setAttribute(name, value === true ? "" : value);
  }
  element.append(...children);
  return element;
}

/** A link to a lesson, with `parts` on it: go(id) leads there within the visit, the address is for another tab. */
function door(lesson, go, ...parts) {
  const called = `Lesson ${lesson.number}: ${lesson.title}`;
  const link = make("a", { href: lesson.address, title: called, "aria-label": called, "aria-current": lesson.here && "page" }, ...parts);
  link.addEventListener("click", (event) => {
    if (event.ctrlKey || event.metaKey || event.shiftKey || event.button !== 0) return;
    event.preventDefault();
    if (!lesson.here) go(lesson.id);
  });
  return link;
}

/** The colours and fonts of the page around `root`, as they are now. */
function theme(root) {
  const style = getComputedStyle(root);
  const read = (name) => style.getPropertyValue(`--st-${name}`).trim();
  const list = (name) => read(name).split(",").map((colour) => colour.trim());
  const paper = read("background-color");
  return {
    paper,
    dark: lightness(paper) < 0.5,
    ink: read("text-color"),
    line: read("border-color"),
    panel: read("secondary-background-color"),
    accent: read("primary-color"),
    font: read("font"),
    mono: read("code-font"),
    categorical: list("chart-categorical-colors"),
    sequential: list("chart-sequential-colors"),
    diverging: list("chart-diverging-colors"),
  };
}

/** "#rgb", "#rrggbb" or "rgb(…)" as three numbers from 0 to 255; black where an element that has left has no colour. */
function channels(colour) {
  if (colour.startsWith("#")) {
    const hex = colour.length === 4 ? [...colour.slice(1)].map((digit) => digit + digit).join("") : colour.slice(1);
    return [0, 2, 4].map((at) => parseInt(hex.slice(at, at + 2), 16));
  }
  return (colour.match(/[\d.]+/g) ?? [0, 0, 0]).slice(0, 3).map(Number);
}

/** How light a colour looks, from 0 to 1. */
function lightness(colour) {
  const [red, green, blue] = channels(colour);
  return (0.299 * red + 0.587 * green + 0.114 * blue) / 255;
}

/** The colour at `share` (0 to 1) of the way along `stops`. */
function along(stops, share) {
  const at = Math.min(Math.max(share, 0), 1) * (stops.length - 1);
  const low = channels(stops[Math.floor(at)]);
  const high = channels(stops[Math.ceil(at)]);
  return `rgb(${low.map((value, i) => Math.round(value + (high[i] - value) * (at % 1))).join(",")})`;
}

/** Size a canvas in CSS pixels, sharp on this screen; returns its context, in which one unit is one CSS pixel. */
function sized(canvas, width, height, ratio = window.devicePixelRatio || 1) {
  canvas.width = Math.round(width * ratio);
  canvas.height = Math.round(height * ratio);
  canvas.style.width = `${width}px`;
  canvas.style.height = `${height}px`;
  const context = canvas.getContext("2d");
  context.setTransform(ratio, 0, 0, ratio, 0, 0);
  return context;
}

// A drawing is made with a pen, on a canvas or as SVG: line, rectangle, image, text.

function canvasPen(context) {
  return {
    line(x1, y1, x2, y2, { stroke, width = 1, opacity = 1 }) {
      context.globalAlpha = opacity;
      context.strokeStyle = stroke;
      context.lineWidth = width;
      context.beginPath();
      context.moveTo(x1, y1);
      context.lineTo(x2, y2);
      context.stroke();
      context.globalAlpha = 1;
    },
    rect(x, y, width, height, { fill, opacity = 1 }) {
      context.globalAlpha = opacity;
      context.fillStyle = fill;
      context.fillRect(x, y, width, height);
      context.globalAlpha = 1;
    },
    // A canvas drawn into a rectangle; crisp: its pixels stay squares.
    image(source, x, y, width, height, crisp) {
      context.imageSmoothingEnabled = !crisp;
      context.drawImage(source, x, y, width, height);
    },
    // align: "start", "middle" or "end"; y is the middle of the line; a text longer than `most` pixels is squeezed.
    text(words, x, y, { fill, font, size = 13, weight = 400, align = "start", most }) {
      context.fillStyle = fill;
      context.font = `${weight} ${size}px ${font}`;
      context.direction = "ltr";
      context.textAlign = { start: "left", middle: "center", end: "right" }[align];
      context.textBaseline = "middle";
      if (most === undefined) context.fillText(words, x, y);
      else context.fillText(words, x, y, most);
    },
  };
}

function svgPen(width, height, paper) {
  const space = "http://www.w3.org/2000/svg";
  const add = (tag, attributes) => {
    const node = document.createElementNS(space, tag);
    for (const [name, value] of Object.entries(attributes)) node.setAttribute(name, value);
    return node;
  };
  const round = (value) => Math.round(value * 100) / 100;
  const root = add("svg", { xmlns: space, width, height, viewBox: `0 0 ${width} ${height}` });
  root.append(add("rect", { width: "100%", height: "100%", fill: paper }));
  return {
    root,
    line(x1, y1, x2, y2, { stroke, width: thick = 1, opacity = 1 }) {
      root.append(add("line", { x1: round(x1), y1: round(y1), x2: round(x2), y2: round(y2), stroke, "stroke-width": thick, "stroke-opacity": round(opacity) }));
    },
    rect(x, y, w, h, { fill, opacity = 1 }) {
      root.append(add("rect", { x: round(x), y: round(y), width: round(w), height: round(h), fill, "fill-opacity": round(opacity) }));
    },
    image(source, x, y, width, height, crisp) {
      const style = crisp ? "image-rendering: pixelated" : "";
      root.append(add("image", { x: round(x), y: round(y), width: round(width), height: round(height), href: source.toDataURL(), preserveAspectRatio: "none", style }));
    },
    text(words, x, y, { fill, font, size = 13, weight = 400, align = "start" }) {
      const node = add("text", { x: round(x), y: round(y), fill, "font-family": font, "font-size": size, "font-weight": weight, "text-anchor": align, "dominant-baseline": "central", direction: "ltr", "xml:space": "preserve" });
      node.textContent = words;
      root.append(node);
    },
  };
}

/** Two buttons that save what `draw(pen)` draws as `<name>.png` and `<name>.svg`; size() is its [width, height]. */
function exportButtons(name, root, size, draw) {
  const png = make("button", { type: "button" }, "PNG");
  const svg = make("button", { type: "button" }, "SVG");
  png.addEventListener("click", () => {
    const [width, height] = size();
    const canvas = document.createElement("canvas");
    const context = sized(canvas, width, height, Math.min(2, 16000 / Math.max(width, height)));
    context.fillStyle = theme(root).paper;
    context.fillRect(0, 0, width, height);
    draw(canvasPen(context));
    canvas.toBlob((blob) => save(blob, `${name}.png`));
  });
  svg.addEventListener("click", () => {
    const pen = svgPen(...size(), theme(root).paper);
    draw(pen);
    save(new Blob([new XMLSerializer().serializeToString(pen.root)], { type: "image/svg+xml" }), `${name}.svg`);
  });
  return [png, svg];
}

function save(blob, name) {
  const link = make("a", { href: URL.createObjectURL(blob), download: name });
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10000);
}

/** Rows of strings and numbers as CSV, made as lab/charts/base/chart_table.py makes it: no cell begins a formula. */
function csv(rows) {
  const harmless = (cell) => (typeof cell === "string" && /^[=+\-@\t\r\n＝＋－＠]/.test(cell) ? `'${cell}` : String(cell));
  const quoted = (cell) => (/[",\r\n]/.test(cell) ? `"${cell.replaceAll('"', '""')}"` : cell);
  const lines = rows.map((row) => row.map((cell) => quoted(harmless(cell))).join(","));
  return new Blob(["\ufeff", ...lines.map((line) => `${line}\r\n`)], { type: "text/csv" });
}

/** A box that follows the pointer inside `root`: show([["term", "value"] or "text", …], x, y) and hide(). */
function tooltip(root) {
  const box = make("div", { class: "tooltip", role: "status", hidden: true });
  root.append(box);
  return {
    box,
    show(lines, x, y) {
      box.replaceChildren(
        ...lines.map((line) =>
          typeof line === "string"
            ? make("div", { class: "head" }, line)
            : make("div", { class: "pair" }, ...line.map((part) => (part instanceof Node ? part : make("span", {}, part)))),
        ),
      );
      box.hidden = false;
      const left = x + 14 + box.offsetWidth > root.clientWidth ? x - 14 - box.offsetWidth : x + 14;
      box.style.left = `${Math.max(0, Math.min(left, root.clientWidth - box.offsetWidth))}px`;
      box.style.top = `${Math.max(0, y - box.offsetHeight / 2)}px`;
    },
    hide() {
      box.hidden = true;
    },
  };
}

// Where the pointer is, for all components of the page, and whether the last report has moved it.
const pointer = (window.insideBertPointer ??= followPointer());

function followPointer() {
  const now = { x: null, y: null, moved: false };
  const note = ({ clientX, clientY }) => Object.assign(now, { moved: clientX !== now.x || clientY !== now.y, x: clientX, y: clientY });
  for (const kind of ["pointermove", "pointerdown"]) document.addEventListener(kind, note, true);
  return now;
}

/** Whether a mouse has moved: the browser also reports a pointer that rests while the page moves under it. */
function moved(event) {
  return event.pointerType === "mouse" && pointer.moved;
}

/**
 * Make one stop of the Tab key out of several buttons, among which the arrow keys go on; `at()` is the place of the button
 * to begin with.
 */
function rove(buttons, at) {
  const turn = (place) => buttons.forEach((button, i) => (button.tabIndex = i === place ? 0 : -1));
  turn(at());
  buttons.forEach((button, place) => {
    button.addEventListener("focus", () => turn(place));
    onKeys(button, Object.fromEntries(Object.entries({ ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 }).map(([key, step]) => [key, () => buttons[(place + step + buttons.length) % buttons.length].focus()])));
  });
}

/** Call handlers[key](event) for keys pressed on `element`; the page does not scroll with them. */
function onKeys(element, handlers) {
  element.addEventListener("keydown", (event) => {
    const handler = handlers[event.key];
    if (!handler || event.ctrlKey || event.metaKey || event.altKey) return;
    event.preventDefault();
    handler(event);
  });
}

/** `value` with so many decimals; what is rounded to 0 has no minus. */
function fixed(value, digits) {
  const text = value.toFixed(digits);
  return Number(text) === 0 ? text.replace("-", "") : text;
}

/** `task` at most once a frame. */
function eachFrame(task) {
  let waiting = 0;
  return () => {
    if (!waiting) {
      waiting = requestAnimationFrame(() => {
        waiting = 0;
        task();
      });
    }
  };
}

function calm() {
  return matchMedia("(prefers-reduced-motion: reduce)").matches;
}
