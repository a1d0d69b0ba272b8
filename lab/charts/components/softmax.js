// One logit moves with a slider, and every probability with it: they share 1. Nothing of that asks Python; a click on
// a word chooses the one whose logit moves, which Python writes out.

const REACH = 6; // how far a logit can be moved either way

const percent = (share) => (share > 0 && share < 0.0005 ? "<0.1 %" : `${(100 * share).toFixed(1)} %`);
const signed = (value) => `${value < 0 ? "−" : "+"}${Math.abs(value).toFixed(1)}`;

/** The probabilities of the words and of all others together, with the logit of one word moved. */
function shares({ header, arrays }, moved) {
  const powers = [...arrays.logits.values].map((logit, i) => Math.exp(logit + (i === header.chosen ? moved : 0)));
  if (header.rest !== null) powers.push(Math.exp(header.rest));
  const total = powers.reduce((sum, power) => sum + power, 0);
  return powers.map((power) => power / total);
}

function build(root, first, report) {
  let payload = first;
  let moved = 0;
  let told = 0;
  const name = make("label", { for: "logit" });
  const slider = make("input", { id: "logit", type: "range", min: -REACH, max: REACH, step: 0.1 });
  const back = make("button", { type: "button" }, "Back");
  const rows = make("div", { class: "rows", role: "group", "aria-label": "Probabilities" });
  const says = make("p", { class: "says", "aria-live": "polite" });
  root.append(make("div", { class: "bar" }, name, slider, back), rows, says);

  slider.addEventListener("input", () => {
    moved = Number(slider.value);
    refresh();
  });
  back.addEventListener("click", () => {
    moved = 0;
    refresh();
  });

  function lay() {
    const { words, others, rest } = payload.header;
    moved = 0;
    const line = (label, i) => {
      const word = i < words.length ? make("button", { type: "button", class: "label" }, label) : make("span", { class: "label" }, label);
      if (i < words.length) word.addEventListener("click", () => report("candidate", [`${Date.now()}.${(told += 1)}`, i]));
      const track = make("span", { class: "track" }, make("span", { class: "before" }), make("span", { class: "fill" }));
      return make("div", { class: "line" }, word, track, make("span", { class: "number" }));
    };
    const rest_ = rest === null ? [] : [`${others.toLocaleString("en")} others`];
    rows.replaceChildren(...[...words, ...rest_].map(line));
    refresh();
  }

  function refresh() {
    const { header, arrays } = payload;
    const word = header.words[header.chosen];
    const before = shares(payload, 0);
    const now = shares(payload, moved);
    slider.value = String(moved);
    name.textContent = `${header.called} of “${word}”: ${(header.largest + arrays.logits.values[header.chosen] + moved).toFixed(2)}`;
    back.disabled = moved === 0;
    [...rows.children].forEach((line, i) => {
      line.classList.toggle("chosen", i === header.chosen);
      line.firstChild.setAttribute?.("aria-pressed", String(i === header.chosen));
      line.querySelector(".before").style.left = `${100 * before[i]}%`;
      line.querySelector(".fill").style.width = `${100 * now[i]}%`;
      line.querySelector(".number").textContent = percent(now[i]);
    });
    const at = header.chosen;
    says.textContent = moved
      ? `${header.called} of one word changed by ${signed(moved)}, and every probability with it: “${word}” from ${percent(before[at])} to ${percent(now[at])}, all others together from ${percent(1 - before[at])} to ${percent(1 - now[at])}. All together they are 1.`
      : `Move the slider: what happens to the other words, whose logits stay as they are?`;
  }

  lay();
  return {
    update(next) {
      payload = next;
      lay();
    },
    restyle: refresh,
    dispose() {},
  };
}

export default function (given) {
  return keep(given, build);
}
