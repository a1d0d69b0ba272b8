// The influence tree: root on the left, targets to the right of the token that attends to them. Where levels have
// names (after which layer a token stands), a row of names stands above.
// Edge width is the weight, colour the depth. A click, Enter or Space folds a node's targets away.

const ROW = 25;
const ROWS_AT_FIRST = 27;
const WIDEST = 11;
const NODE_HEIGHT = 22;
const LEVEL_HEIGHT = 24;

/** The nodes to draw, in reading order, with their row; a leaf takes a row, a parent stands amid its targets. */
function laidOut(tree, folded) {
  const order = [];
  const rows = new Float32Array(tree.parent.length);
  let next = 0;
  const visit = (node) => {
    order.push(node);
    const below = folded.has(node) ? [] : tree.children[node];
    for (const child of below) visit(child);
    rows[node] = below.length ? (rows[below[0]] + rows[below[below.length - 1]]) / 2 : next++;
  };
  visit(0);
  return { order, rows, count: next };
}

function readTree({ header, arrays }) {
  const tree = { ...header };
  for (const name of ["token", "parent", "depth", "weight", "product"]) tree[name] = arrays[name].values;
  tree.rolled = arrays.rolled?.values;
  tree.children = Array.from(tree.parent, () => []);
  tree.parent.forEach((parent, node) => parent >= 0 && tree.children[parent].push(node));
  tree.deepest = Math.max(...tree.depth);
  tree.largest = Math.max(...tree.weight.subarray(1), 1e-9);
  return tree;
}

/** The nodes that have targets, from the depth `least` on. */
function parents(tree, least) {
  return new Set([...tree.children.keys()].filter((node) => tree.depth[node] >= least && tree.children[node].length));
}

/** What is folded at first: the deepest levels of a tree with more rows than one can look through. */
function foldedAtFirst(tree) {
  let level = tree.deepest;
  while (level > 1 && laidOut(tree, parents(tree, level)).count > ROWS_AT_FIRST) level--;
  return parents(tree, level);
}

function buildTree(root, payload) {
  let tree = readTree(payload);
  let folded = foldedAtFirst(tree);
  let current = 0;
  let drawn = null;

  const heading = make("div", { class: "title" });
  const bar = make("div", { class: "bar" });
  const scroller = make("div", { class: "scroller" });
  const levelNames = make("div", { class: "levels", "aria-hidden": "true" });
  const space = make("div", { class: "space", role: "tree" });
  scroller.append(levelNames, space);
  const tip = tooltip(root);
  const unfoldAll = make("button", { type: "button" }, "Expand all");
  const foldAll = make("button", { type: "button" }, "Collapse all");
  unfoldAll.addEventListener("click", () => fold(new Set()));
  foldAll.addEventListener("click", () => fold(parents(tree, 0)));
  bar.append(unfoldAll, foldAll, make("span", { class: "gap" }), ...exportButtons("influence-tree", root, () => [drawn.width, drawn.height + above()], drawWith));
  root.prepend(heading, bar, scroller);

  /** The height of what an exported picture has above the tree: its title, the names of the levels. */
  function above() {
    return 34 + (tree.levels.length ? LEVEL_HEIGHT : 0);
  }

  function fold(nodes) {
    folded = nodes;
    current = 0;
    draw();
  }

  function toggle(node) {
    if (!tree.children[node].length) return;
    if (!folded.delete(node)) folded.add(node);
    current = node;
    draw();
    focus(node);
  }

  function focus(node) {
    const items = space.querySelectorAll("[role=treeitem]");
    for (const item of items) item.tabIndex = Number(item.dataset.node) === node ? 0 : -1;
    current = node;
    space.querySelector(`[data-node="${node}"]`).focus();
  }

  function colour(depth) {
    return along(theme(root).sequential.slice(3), tree.deepest > 1 ? (depth - 1) / (tree.deepest - 1) : 0.5);
  }

  function path(node) {
    const names = [];
    for (let at = node; at >= 0; at = tree.parent[at]) names.unshift(`${tree.labels[at]} (${tree.token[at] + 1})`);
    return names.join(" → ");
  }

  function explain(node, x, y) {
    if (node === 0) {
      tip.show([`${tree.labels[0]} (${tree.token[0] + 1})`, "The root"], x, y);
      return;
    }
    const pairs = [[tree.value, tree.weight[node].toFixed(4)], ["Product along the path", short(tree.product[node])]];
    if (tree.rolled) pairs.push(["Rollout: all paths to here", short(tree.rolled[node])]);
    pairs.push(tree.levels.length ? ["Target", tree.levels[tree.depth[node]]] : ["Depth", String(tree.depth[node])]);
    tip.show([path(node), ...pairs], x, y);
  }

  function short(number) {
    return Number(number.toPrecision(4)).toString();
  }

  function at(event) {
    const box = root.getBoundingClientRect();
    return [event.clientX - box.left, event.clientY - box.top];
  }

  function listen(element, node) {
    element.addEventListener("pointermove", (event) => explain(node, ...at(event)));
    element.addEventListener("pointerleave", () => tip.hide());
  }

  function item(node, step) {
    const count = tree.children[node].length;
    const closed = folded.has(node);
    const name = node ? `${tree.labels[node]}, ${tree.value.toLowerCase()} ${tree.weight[node].toFixed(4)}` : `${tree.labels[0]}, the root`;
    const element = make("div", { class: count ? "node parent" : "node", role: "treeitem", tabindex: node === current ? 0 : -1, "data-node": node, "aria-level": tree.depth[node] + 1, "aria-label": name, "aria-expanded": count ? String(!closed) : null });
    element.append(make("bdi", {}, tree.labels[node]));
    if (count) element.append(make("span", { class: "count", "aria-hidden": "true" }, closed ? `+${count}` : "−"));
    element.style.left = `${drawn.x(node)}px`;
    element.style.top = `${drawn.y(node) - NODE_HEIGHT / 2}px`;
    element.style.maxWidth = `${step - 36}px`;
    if (node) element.style.borderColor = colour(tree.depth[node]);
    element.addEventListener("click", () => toggle(node));
    element.addEventListener("focus", () => {
      if (!element.matches(":focus-visible")) return;
      const box = element.getBoundingClientRect();
      explain(node, ...at({ clientX: box.right, clientY: box.top + box.height / 2 }));
    });
    element.addEventListener("blur", () => tip.hide());
    listen(element, node);
    return element;
  }

  /** From the end of the parent to the beginning of the node: four numbers, and how wide. */
  function edge(node) {
    const from = drawn.ends.get(tree.parent[node]);
    return [from, drawn.y(tree.parent[node]), drawn.x(node), drawn.y(node), Math.max(0.75, (WIDEST * tree.weight[node]) / tree.largest)];
  }

  function edgeElements(node) {
    const [x1, y1, x2, y2, width] = edge(node);
    const middle = (x1 + x2) / 2;
    return [["edge", width], ["reach", Math.max(width, 12)]].map(([kind, thick]) => {
      const line = document.createElementNS("http://www.w3.org/2000/svg", "path");
      line.setAttribute("class", kind);
      line.setAttribute("d", `M${x1},${y1}C${middle},${y1} ${middle},${y2} ${x2},${y2}`);
      line.setAttribute("stroke-width", thick);
      line.setAttribute("stroke", kind === "edge" ? colour(tree.depth[node]) : "transparent");
      if (kind === "reach") listen(line, node);
      return line;
    });
  }

  function draw() {
    tip.hide();
    heading.textContent = tree.title;
    space.setAttribute("aria-label", tree.alt);
    const { order, rows, count } = laidOut(tree, folded);
    const levels = Math.max(...order.map((node) => tree.depth[node])) + 1;
    const step = Math.min(Math.max(scroller.clientWidth / levels, 118), 240);
    drawn = { order, step, width: Math.max(step * levels, scroller.clientWidth), height: count * ROW + 12, ends: new Map() };
    drawn.x = (node) => tree.depth[node] * step + 2;
    drawn.y = (node) => (rows[node] + 0.5) * ROW + 6;
    space.style.width = `${step * levels}px`;
    space.style.height = `${drawn.height}px`;
    levelNames.hidden = !tree.levels.length;
    levelNames.style.width = `${step * levels}px`;
    levelNames.replaceChildren(...tree.levels.slice(0, levels).map((name, depth) => {
      const element = make("span", {}, name);
      element.style.left = `${depth * step + 2}px`;
      return element;
    }));
    const items = order.map((node) => item(node, step));
    const lines = document.createElementNS("http://www.w3.org/2000/svg", "svg");
    lines.setAttribute("width", step * levels);
    lines.setAttribute("height", drawn.height);
    lines.setAttribute("aria-hidden", "true");
    space.replaceChildren(lines, ...items);
    order.forEach((node, place) => drawn.ends.set(node, drawn.x(node) + items[place].offsetWidth));
    lines.append(...order.filter((node) => node > 0).flatMap(edgeElements));
  }

  function drawWith(pen) {
    const { ink, font } = theme(root);
    const top = above();
    pen.text(tree.title, 2, 14, { fill: ink, font, size: 15, weight: 600 });
    const shown = Math.max(...drawn.order.map((node) => tree.depth[node])) + 1;
    tree.levels.slice(0, shown).forEach((name, depth) => pen.text(name, depth * drawn.step + 2, 44, { fill: ink, font, size: 13, most: drawn.step - 8 }));
    for (const node of drawn.order.filter((each) => each > 0)) {
      const [x1, y1, x2, y2, width] = edge(node);
      const curve = (t) => [x1 + (x2 - x1) * (1.5 * t * (1 - t) + t * t * t), y1 + (y2 - y1) * t * t * (3 - 2 * t)];
      for (let part = 0; part < 16; part++) {
        const [a, b] = [curve(part / 16), curve((part + 1) / 16)];
        pen.line(a[0], a[1] + top, b[0], b[1] + top, { stroke: colour(tree.depth[node]), width });
      }
    }
    for (const node of drawn.order) {
      pen.text(tree.labels[node], drawn.x(node) + 8, drawn.y(node) + top, { fill: ink, font, size: 14, most: drawn.step - 52 });
    }
  }

  onKeys(space, {
    ArrowDown: () => focus(drawn.order[Math.min(drawn.order.indexOf(current) + 1, drawn.order.length - 1)]),
    ArrowUp: () => focus(drawn.order[Math.max(drawn.order.indexOf(current) - 1, 0)]),
    ArrowRight: () => {
      if (folded.has(current)) toggle(current);
      else if (tree.children[current].length) focus(tree.children[current][0]);
    },
    ArrowLeft: () => {
      if (tree.children[current].length && !folded.has(current)) toggle(current);
      else if (current) focus(tree.parent[current]);
    },
    Enter: () => toggle(current),
    " ": () => toggle(current),
    Home: () => focus(0),
    End: () => focus(drawn.order[drawn.order.length - 1]),
    Escape: () => tip.hide(),
  });

  let width = 0;
  const resized = new ResizeObserver(
    eachFrame(() => {
      if (scroller.clientWidth !== width) {
        width = scroller.clientWidth;
        draw();
      }
    }),
  );
  resized.observe(scroller);
  draw();
  return {
    update(next) {
      tree = readTree(next);
      folded = foldedAtFirst(tree);
      current = 0;
      draw();
    },
    restyle: draw,
    dispose: () => resized.disconnect(),
  };
}

export default function (component) {
  return keep(component, buildTree);
}
