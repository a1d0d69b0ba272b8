// A row of attention in four stages. The bars move from one stage to the next where the system allows motion; every
// number is also there as text, and the stage in words is announced.

const PAUSE = 1800; // milliseconds a stage stays while it is played
const CELL = 16; // height of a strip

const shown = (value) => value.toFixed(2).replace("-", "−");
const share = (value) => (value > 0 && value < 0.005 ? "<.01" : shown(value)); // as under the arcs

function stages({ query, root, width, rest }, strongest) {
  const divisor = root === 1 ? "1" : `√${width} ≈ ${root.toFixed(2)}`;
  const more = rest ? ` ${rest} keys with less weight are not drawn; the sums have them.` : "";
  return [
    ["Scores", `The query of “${query}” times each key, number by number, added up: one score for each token.${more}`],
    ["÷ √d", `Each score is divided by ${divisor}. The order stays, the differences shrink.${more}`],
    ["Softmax", `e (about 2.72) to the power of each number, divided by the sum of all. Now they are shares: together they are 1.${more}`],
    ["× values", `Each token’s value, times its weight: blue numbers are positive, orange ones negative, and the strongest colour in this row is ${strongest}. Their sum is the context: what this head brings to “${query}”.${more}`],
  ];
}

/** The numbers of a stage, what they are written as, and the range that the bars are drawn in. */
function numbersOf({ header, arrays }, stage) {
  const { root } = header;
  const scores = [...arrays.scores.values];
  const weights = [...arrays.weights.values];
  if (stage >= 2) return { numbers: weights, range: [0, 1] };
  const numbers = scores.map((score, i) => (stage === 0 ? score : arrays.hidden.values[i] ? 0 : score / root));
  return { numbers, range: [Math.min(0, ...scores), Math.max(0, ...scores)] };
}

function drawStrip(canvas, values, most, strength, look) {
  const context = sized(canvas, canvas.parentElement.clientWidth || 200, CELL);
  const cell = canvas.clientWidth / values.length;
  values.forEach((value, i) => {
    context.globalAlpha = Math.min(1, (Math.abs(value) / most) * strength);
    context.fillStyle = value > 0 ? look.diverging.at(-2) : look.diverging[1];
    context.fillRect(i * cell, 0, Math.max(cell - 0.5, 0.5), CELL);
  });
}

function build(root, first, report) {
  let payload = first;
  let stage = 0;
  let timer = null;
  const buttons = make("div", { class: "stages", role: "group", "aria-label": "Stage" });
  const play = make("button", { type: "button", class: "play" }, "Play");
  const told = make("p", { class: "told", "aria-live": "polite" });
  const rows = make("div", { class: "rows", role: "table", "aria-label": "The row, key by key" });
  const means = make("p", { class: "means", "aria-live": "polite" });
  root.append(make("div", { class: "bar" }, buttons, play), told, rows, means);

  const stop = () => {
    clearInterval(timer);
    timer = null;
    play.textContent = "Play";
  };
  const go = (next) => {
    stage = next;
    refresh();
  };
  play.addEventListener("click", () => {
    if (timer) return stop();
    play.textContent = "Stop";
    go(0);
    timer = setInterval(() => (stage < 3 ? go(stage + 1) : stop()), PAUSE);
  });
  buttons.addEventListener("keydown", (event) => {
    const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
    if (!step) return;
    event.preventDefault();
    stop();
    go(Math.min(3, Math.max(0, stage + step)));
    buttons.children[stage].focus();
  });

  function lay() {
    const { header, arrays } = payload;
    stop();
    buttons.replaceChildren(
      ...stages(header, "").map(([name], i) => {
        const button = make("button", { type: "button" }, `${i + 1} ${name}`);
        button.addEventListener("click", () => (stop(), go(i)));
        return button;
      }),
    );
    const line = (label, extra) =>
      make(
        "div",
        { class: `line ${extra}`, role: "row" },
        make("span", { class: "label", role: "rowheader" }, label),
        make("span", { class: "track", role: "presentation" }, make("span", { class: "fill" }), make("canvas", {})),
        make("span", { class: "number", role: "cell" }),
      );
    rows.replaceChildren(...header.labels.map((label) => line(label, "key")), line("", "sum"));
    const weighted = arrays.values.values.map((value, i) => Math.abs(value * arrays.weights.values[Math.floor(i / header.width)]));
    rows.dataset.most = String(Math.max(...weighted, ...arrays.context.values.map(Math.abs), 1e-9));
  }

  function refresh() {
    const { header, arrays } = payload;
    const { numbers, range } = numbersOf(payload, stage);
    const span = range[1] - range[0] || 1;
    const at = (value) => ((value - range[0]) / span) * 100;
    const look = theme(root);
    const most = Number(rows.dataset.most);
    root.dataset.stage = String(stage);
    [...buttons.children].forEach((button, i) => button.setAttribute("aria-pressed", String(i === stage)));
    told.textContent = stages(header, `±${shown(most)}`)[stage][1];
    means.hidden = !header.means.length;
    means.replaceChildren(make("strong", {}, "What this means. "), header.means[stage] ?? "");
    [...rows.querySelectorAll(".key")].forEach((line, i) => {
      const fill = line.querySelector(".fill");
      const [from, to] = [Math.min(0, numbers[i]), Math.max(0, numbers[i])];
      fill.style.left = `${at(from)}%`;
      fill.style.width = `${at(to) - at(from)}%`;
      fill.classList.toggle("below", numbers[i] < 0);
      const hidden = stage === 1 && arrays.hidden.values[i];
      line.querySelector(".number").textContent = hidden ? "hidden" : stage < 2 ? shown(numbers[i]) : share(numbers[i]);
      const value = [...arrays.values.values.slice(i * header.width, (i + 1) * header.width)];
      if (stage === 3) drawStrip(line.querySelector("canvas"), value, most, arrays.weights.values[i], look);
    });
    const sum = rows.querySelector(".sum");
    sum.hidden = stage < 2;
    sum.querySelector(".label").textContent = stage === 3 ? "context" : "all weights";
    sum.querySelector(".number").textContent = stage === 2 ? shown(header.total) : "";
    const fill = sum.querySelector(".fill");
    fill.style.left = "0%";
    fill.style.width = "100%";
    if (stage === 3) {
      const context = [...arrays.context.values];
      drawStrip(sum.querySelector("canvas"), context, most, 1, look);
    }
  }

  lay();
  refresh();
  const watch = new ResizeObserver(() => stage === 3 && refresh());
  watch.observe(rows);
  return {
    update(next) {
      payload = next;
      lay();
      refresh();
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
