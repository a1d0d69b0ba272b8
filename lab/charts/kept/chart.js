// A Vega-Lite chart in a file of its own, in the colours of the reader's system. Vega's expressions are interpreted and
// not compiled, so that the file's policy need not allow scripts made of text.

const kept = JSON.parse(document.getElementById("kept").textContent);
const place = document.getElementById("figure");
const night = matchMedia("(prefers-color-scheme: dark)");
let view = null;

const SAMPLE = "How much each sentence looks at each";
const LETTER = 7.6; // pixels: the titles are broken into lines for letters of 16 pixels that are so wide

/** The size at which the title fits into the lines that Python has made of it, in whatever font this system has. */
function titleSize(font) {
  const context = document.createElement("canvas").getContext("2d");
  context.font = `600 16px ${font}`;
  return Math.min(16, (16 * LETTER * SAMPLE.length) / context.measureText(SAMPLE).width);
}

function look() {
  const style = getComputedStyle(document.documentElement);
  const read = (name) => style.getPropertyValue(`--st-${name}`).trim();
  const ink = read("text-color");
  const line = read("border-color");
  const words = { labelColor: ink, titleColor: ink, labelFontSize: 12, titleFontSize: 12, titleFontWeight: 400, titlePadding: 16 };
  return {
    background: read("background-color"),
    font: read("font"),
    title: { color: ink, fontSize: titleSize(read("font")), fontWeight: 600, subtitleColor: ink },
    axis: { ...words, gridColor: line, domainColor: line, tickColor: line, domain: false, ticks: false },
    header: words,
    legend: words,
    view: { stroke: null },
  };
}

async function draw() {
  const { config = {}, ...spec } = kept.spec;
  const own = look();
  for (const [part, values] of Object.entries(config)) own[part] = { ...own[part], ...values };
  view?.finalize();
  view = await vegaEmbed(place, { ...spec, width: "container", config: own }, {
    ast: true,
    actions: { export: true, source: false, compiled: false, editor: false },
    renderer: spec.usermeta?.embedOptions?.renderer ?? "svg",
    tooltip: { theme: night.matches ? "dark" : "light" },
    downloadFileName: "figure",
  });
  place.querySelector("summary")?.setAttribute("aria-label", "Save the chart as a picture");
}

place.style.maxWidth = kept.width === "stretch" ? "" : `${kept.width}px`;
draw();
night.addEventListener("change", draw);
