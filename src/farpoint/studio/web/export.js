// @ts-check
// What a visitor takes away: pictures, files, Python, a link.
import { save } from "./dom.js";
import { barTicks, css, SCALE } from "./palette.js";
import { columnsOf } from "./table.js";
import { isShown, placeOf } from "./world.js";
import { goalRadius } from "./marks.js";

const TITLE = 26;
const GAP = 12;
// A drawing of more cells is a picture inside the SVG.
const MOST_RECTANGLES = 40000;

function escape(text) {
  return text.replace(/[&<>"]/g, (symbol) => ({ "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;" })[symbol]);
}

function arrangement(panels) {
  const across = panels.length === 1 ? 1 : 2;
  const [width, height] = [panels[0].board.width, panels[0].board.height];
  return panels.map((panel, index) => ({ panel, x: (index % across) * (width + GAP), y: Math.floor(index / across) * (height + TITLE + GAP), width, height }));
}

function extent(placed) {
  return [Math.max(...placed.map((one) => one.x + one.width)), Math.max(...placed.map((one) => one.y + one.height + TITLE))];
}

const BAR = { width: 240, height: 12, room: 56 };
const PNG_RATIO = 2;

function drawBar(context, app, top) {
  const { low, high, log } = app.shownBar;
  for (let at = 0; at < BAR.width; at++) {
    context.fillStyle = css(Math.round((at / (BAR.width - 1)) * (SCALE.length - 1)));
    context.fillRect(20 + at, top, 1.5, BAR.height);
  }
  context.fillStyle = app.colors.text;
  context.font = "12px system-ui, sans-serif";
  context.textAlign = "center";
  for (const [share, text] of barTicks(low, high, log)) context.fillText(text, 20 + share * BAR.width, top + BAR.height + 15);
  context.textAlign = "left";
  context.fillText(app.layerTitle(), 20 + BAR.width + 24, top + BAR.height - 1);
}

// The panels as they are seen, at double size, with their titles and the color bar.
export function picture(app) {
  const placed = arrangement(app.panels);
  const [width, height] = extent(placed);
  const canvas = document.createElement("canvas");
  [canvas.width, canvas.height] = [width * PNG_RATIO, (height + BAR.room) * PNG_RATIO].map(Math.round);
  const context = canvas.getContext("2d");
  context.scale(PNG_RATIO, PNG_RATIO);
  context.fillStyle = app.colors.back;
  context.fillRect(0, 0, width, height + BAR.room);
  for (const { panel, x, y } of placed) {
    context.fillStyle = app.colors.text;
    context.font = "600 14px system-ui, sans-serif";
    context.fillText(app.captionOf(panel), x + 4, y + 18);
    context.drawImage(panel.board.picture(PNG_RATIO), x, y + TITLE, panel.board.width, panel.board.height);
  }
  drawBar(context, app, height + 14);
  return canvas;
}

async function savePng(app) {
  const blob = await new Promise((resolve) => picture(app).toBlob(resolve, "image/png"));
  save(`${app.world.name}.png`, blob, "image/png");
}

function csv(rows) {
  const quoted = (value) => (/[",\n]/.test(value) ? `"${String(value).replaceAll('"', '""')}"` : value);
  return `${rows.map((row) => row.map((value) => quoted(value ?? "")).join(",")).join("\n")  }\n`;
}

// A row per state: its place, what the map shows of it, and whether it is a goal of each panel's options.
export function statesCsv(app) {
  const { world, scored } = app;
  const layers = app.layer === "visits" ? [] : [[`${scored.layer}${scored.layer === "stationary" ? "" : ` (t = ${scored.t})`}`, (state) => Number(scored.values[state].toPrecision(7))]];
  const visits = app.player.runs.map((run) => [`visits (${app.titleOf(run.panel.method)})`, (state) => run.visits[state]]);
  const goals = app.panels.filter((panel) => panel.method !== "none").map((panel) => {
    const found = new Set(panel.found ?? panel.options);
    return [`goal (${app.titleOf(panel.method)})`, (state) => Number(found.has(state))];
  });
  const columns = [...layers, ...visits, ...goals];
  const head = ["state", ...(world.drawn === "map" ? ["row", "column"] : ["node"]), ...columns.map(([name]) => name)];
  return csv([head, ...Array.from({ length: world.n }, (_, state) => [state, ...placeOf(world, state), ...columns.map(([, value]) => value(state))])]);
}

export function tableCsv(app) {
  const rows = app.table?.rows ?? [];
  if (!rows.length || rows.length < app.tableMethodsShown().length) throw new Error("The table must be computed first; it is not. Open the tab Options.");
  const columns = columnsOf(rows);
  return csv([["method", "options", "option probability", ...columns], ...rows.map((row) => [app.titleOf(row.method), row.n_options, row.probability, ...columns.map((column) => row[column])])]);
}

function cellsOf(board, app) {
  const { world, view } = board;
  if (world.rows * world.cols > MOST_RECTANGLES) {
    const url = board.canvas.toDataURL("image/png");
    return `<image href="${url}" width="${board.width}" height="${board.height}"/>`;
  }
  const color = (cell) => {
    if (world.cells[cell] === 0) return app.colors.wall;
    const state = world.cellState[cell];
    if (state < 0) return world.shared ? app.colors.floor : app.colors.cut;
    return board.field.values ? css(board.field.shadeOf(state)) : app.colors.floor;
  };
  const parts = [];
  for (let row = 0; row < world.rows; row++)
    for (let col = 0; col < world.cols; ) {
      const fill = color(row * world.cols + col);
      let end = col + 1;
      while (end < world.cols && color(row * world.cols + end) === fill) end++;
      parts.push(`<rect x="${col}" y="${row}" width="${end - col}" height="1" fill="${fill}"/>`);
      col = end;
    }
  return `<g transform="translate(${view.x} ${view.y}) scale(${view.scale})" shape-rendering="crispEdges">${parts.join("")}</g>`;
}

function graphOf(board, app) {
  const { world } = board;
  const parts = [];
  for (let link = 0; link < world.links.length; link += 2) {
    const [[x0, y0], [x1, y1]] = [board.point(world.links[link]), board.point(world.links[link + 1])];
    parts.push(`<line x1="${x0.toFixed(1)}" y1="${y0.toFixed(1)}" x2="${x1.toFixed(1)}" y2="${y1.toFixed(1)}" stroke="${app.colors.line}"/>`);
  }
  for (let state = 0; state < world.n; state++) {
    const [x, y] = board.point(state);
    parts.push(`<circle cx="${x.toFixed(1)}" cy="${y.toFixed(1)}" r="${board.radius.toFixed(1)}" fill="${css(board.field.shadeOf(state))}"/>`);
  }
  return parts.join("");
}

function pathOf(board, states, color) {
  if (!states || states.length < 2) return "";
  const points = Array.from(states, (state) => board.point(state).map((value) => value.toFixed(1)).join(",")).join(" ");
  return `<polyline points="${points}" fill="none" stroke="${color}" stroke-width="3" stroke-linejoin="round"/>`;
}

export function svgText(app) {
  const placed = arrangement(app.panels);
  const [width, height] = extent(placed);
  const parts = placed.map(({ panel, x, y }) => {
    const { board } = panel;
    const body = board.world.drawn === "map" ? cellsOf(board, app) : graphOf(board, app);
    const goals = Array.from(panel.shownGoals ?? []).filter((state) => isShown(board.world, state)).slice(0, 20000).map((state) => {
      const [cx, cy] = board.point(state);
      return `<circle cx="${cx.toFixed(1)}" cy="${cy.toFixed(1)}" r="${goalRadius(board).toFixed(1)}" fill="${app.colors.ring}" stroke="${app.colors.edge}" stroke-width="1.4"/>`;
    });
    const lines = pathOf(board, panel.route, app.colors.path) + pathOf(board, panel.path, app.colors.path);
    return `<g transform="translate(${x} ${y})"><text x="4" y="18" font-family="sans-serif" font-size="14" font-weight="600" fill="${app.colors.text}">${escape(app.captionOf(panel))}</text>` +
      `<g transform="translate(0 ${TITLE})">${body}${goals.join("")}${lines}</g></g>`;
  });
  return `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" viewBox="0 0 ${width} ${height}"><rect width="100%" height="100%" fill="${app.colors.back}"/>${parts.join("")}</svg>`;
}

async function copy(app, text, what) {
  try {
    await navigator.clipboard.writeText(text);
    app.tell(`${what} copied.`);
  } catch {
    app.showText(what, text);
  }
}

export async function take(app, what) {
  if (what === "png") return savePng(app);
  if (what === "svg") return save(`${app.world.name}.svg`, svgText(app), "image/svg+xml");
  if (what === "link") {
    await app.writeAddress();
    if (app.linkLacks) return app.showText("A link without its world", `${app.linkLacks}\n\n${location.href}`);
    return copy(app, location.href, "Link");
  }
  if (what === "states") return save(`${app.world.name}.csv`, statesCsv(app), "text/csv");
  if (what === "table") return save(`${app.world.name}-steps.csv`, tableCsv(app), "text/csv");
  const answer = await app.ask({ do: "take", what, method: app.panels[0].method, panels: app.panelList() });
  if (what === "npz") return save("options.npz", answer.file, "application/octet-stream");
  if (what === "text") return save("map.txt", answer.text, "text/plain");
  return app.showText("Python", answer.text);
}
