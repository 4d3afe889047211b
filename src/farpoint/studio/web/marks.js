// @ts-check
// What lies above the heat map: start, targets, goals, arrows, routes, agents, the cursor.
import { SMALLEST_MARKED } from "./board.js";
import { START, TARGET } from "./map.js";
import { isShown } from "./world.js";

const MOST_MARKS = 6000;

// What seldom changes is drawn once, and copied in every frame while an agent plays.
export class MarkLayer {
  constructor() {
    this.canvas = document.createElement("canvas");
    this.context = this.canvas.getContext("2d");
    this.key = [];
  }
  draw(board, ratio) {
    const { world, panel, view } = board;
    const key = [world, world.version, panel.shownGoals, panel.options, panel.found, panel.option, panel.allShown, panel.arrows, panel.route, panel.path, panel.target, panel.prominent, String(world.shownSlices), world.whole, view.x, view.y, view.scale, board.width, board.height, ratio, board.colors];
    if (key.some((value, index) => value !== this.key[index])) {
      this.key = key;
      [this.canvas.width, this.canvas.height] = [Math.max(1, Math.round(board.width * ratio)), Math.max(1, Math.round(board.height * ratio))];
      this.context.setTransform(ratio, 0, 0, ratio, 0, 0);
      const onBoard = board.context;
      board.context = this.context;
      drawPlaces(board, false);
      if (panel.arrows) drawArrows(board, panel.arrows);
      for (const path of [panel.path, panel.route]) if (path) drawPath(board, path, board.colors.path, 3);
      drawGoals(board);
      if (panel.target !== undefined) drawTarget(board, panel.target);
      drawPlaces(board, true);
      board.context = onBoard;
    }
    board.context.drawImage(this.canvas, 0, 0, board.width, board.height);
  }
}

export function drawMarks(board, ratio, layer) {
  const { world, panel } = board;
  layer.draw(board, ratio);
  if (panel.trail?.length) drawTrail(board, panel.trail);
  if (panel.agent >= 0) drawAgent(board, panel.agent);
  if (board.from >= 0 && board.from < world.n) drawFrom(board, board.from);
  if (board.preview) drawPreview(board);
  if (board.cursor >= 0 && board.byKey && document.activeElement === board.canvas) drawCursor(board);
}

function visible(board, x, y) {
  return x > -20 && y > -20 && x < board.width + 20 && y < board.height + 20;
}

// Targets lie below the goals, the start above them.
function drawPlaces(board, starts) {
  const { context, world, view, colors } = board;
  if (world.drawn === "map" && view.scale < 4) return;
  // Smaller than that an S is a dark spot.
  const radius = Math.max(starts ? 6.5 : 0, Math.min(board.radius, 14));
  const isGoal = starts && [board.panel.shownGoals, board.panel.found ?? board.panel.options].some((goals) => goals?.includes(world.start));
  const draw = (x, y, isStart) => {
    if (!visible(board, x, y)) return;
    if (isStart) {
      context.fillStyle = colors.ring;
      context.strokeStyle = colors.edge;
      context.lineWidth = Math.min(1.5, radius / 7);
      context.beginPath();
      // A start that is a goal too has the goal's circle around its S.
      if (isGoal) {
        context.arc(x, y, radius * 0.86, 0, 2 * Math.PI);
        context.lineWidth = Math.max(radius < 9 ? 1.2 : 2, radius * 0.14);
      } else context.roundRect(x - radius * 0.62, y - radius * 0.62, radius * 1.24, radius * 1.24, radius * 0.3);
      context.fill();
      context.stroke();
      context.fillStyle = colors.edge;
      context.font = `700 ${Math.max(7, radius * 0.95)}px system-ui, sans-serif`;
      context.textAlign = "center";
      context.textBaseline = "middle";
      context.fillText("S", x, y + radius * 0.05);
    } else {
      const size = Math.max(2, radius * 0.36);
      context.beginPath();
      context.moveTo(x, y - size);
      context.lineTo(x + size, y);
      context.lineTo(x, y + size);
      context.lineTo(x - size, y);
      context.closePath();
      context.fillStyle = "rgba(255,255,255,.55)";
      context.fill();
    }
  };
  if (world.drawn === "map" && world.editable) {
    const { first, last } = board.shown;
    if ((last.row - first.row) * (last.col - first.col) > 40000) return;
    for (let row = first.row; row <= last.row; row++)
      for (let col = first.col; col <= last.col; col++) {
        const code = world.cells[row * world.cols + col];
        if (code === (starts ? START : TARGET)) draw(...board.cellPoint(row * world.cols + col), starts);
      }
    return;
  }
  if (!starts) for (const state of world.targets) isShown(world, state) && draw(...board.point(state), false);
  else if (world.start !== null) draw(...board.point(world.start), true);
}

export function goalRadius(board) {
  return Math.max(1.6, Math.min(7, board.radius * 0.42));
}

function drawGoals(board) {
  const { context, panel, colors } = board;
  const radius = goalRadius(board);
  const dots = panel.shownGoals ?? [];
  const picked = panel.found ?? panel.options ?? [];
  // Of several states in one cell one circle is seen.
  const seen = new Set();
  const circle = (state, size, fill, width) => {
    const [x, y] = board.point(state);
    const key = board.world.shared ? `${size} ${board.world.stateCell[state]}` : null;
    if (!visible(board, x, y) || seen.has(key) || !isShown(board.world, state)) return false;
    if (key) seen.add(key);
    context.beginPath();
    context.arc(x, y, size, 0, 2 * Math.PI);
    context.fillStyle = fill;
    context.fill();
    context.lineWidth = width;
    context.stroke();
    return true;
  };
  context.strokeStyle = colors.edge;
  // On a map so large that circles would cover it, goals are pixels of its picture, and the most prominent ones circles.
  if (board.world.drawn === "map" && board.view.scale < SMALLEST_MARKED) for (const state of panel.prominent ?? []) circle(state, 4.5, colors.ring, 1.6);
  else {
    let drawn = 0;
    for (const state of dots) if (circle(state, radius * (picked.length && !panel.allShown ? 0.6 : 1), colors.ring, Math.max(1, radius * 0.28)) && ++drawn > MOST_MARKS) break;
  }
  if (!panel.allShown) for (const state of picked) circle(state, Math.max(radius, 3.5), colors.ring, 1.6);
  if (panel.option >= 0 && picked[panel.option] !== undefined) {
    circle(picked[panel.option], Math.max(radius * 1.25, 4.5), colors.accent, 2);
  }
}

// Where an agent learns to go.
function drawTarget(board, state) {
  const { context, colors } = board;
  const [x, y] = board.point(state);
  const radius = Math.max(5, Math.min(12, board.radius * 0.7));
  for (const [size, fill] of [[radius, colors.edge], [radius - 1.5, colors.ring], [radius * 0.62, colors.accent], [radius * 0.28, colors.ring]]) {
    context.beginPath();
    context.arc(x, y, size, 0, 2 * Math.PI);
    context.fillStyle = fill;
    context.fill();
  }
}

function drawArrows(board, { begins, leads }) {
  const { context, colors, panel } = board;
  // Below a circle only the tip of an arrow would be seen.
  const covered = new Set(panel.shownGoals ?? []);
  const radius = board.world.drawn === "map" ? board.radius : Math.max(board.radius, 8);
  if (radius < 4) return;
  context.lineCap = "round";
  const stroke = (color, width) => {
    context.strokeStyle = color;
    context.lineWidth = width;
    context.beginPath();
    for (let index = 0; index < begins.length; index++) {
      const [x0, y0] = board.point(begins[index]);
      if (!visible(board, x0, y0) || (covered.has(begins[index]) && board.world.drawn === "map")) continue;
      const [x1, y1] = board.point(leads[index]);
      const length = Math.hypot(x1 - x0, y1 - y0) || 1;
      const [dx, dy] = [(x1 - x0) / length, (y1 - y0) / length];
      const reach = board.world.drawn === "map" ? radius * 0.62 : Math.min(length * 0.5, radius * 2.2);
      const begin = board.world.drawn === "map" ? -radius * 0.15 : radius * 0.9;
      const [tx, ty] = [x0 + dx * reach, y0 + dy * reach];
      const head = Math.max(2, radius * 0.26);
      context.moveTo(x0 + dx * begin, y0 + dy * begin);
      context.lineTo(tx, ty);
      context.moveTo(tx - (dx + dy) * head, ty - (dy - dx) * head);
      context.lineTo(tx, ty);
      context.lineTo(tx - (dx - dy) * head, ty - (dy + dx) * head);
    }
    context.stroke();
  };
  if (board.world.drawn !== "map") {
    stroke(colors.text, 1.4);
    return;
  }
  if (radius > 13) stroke(colors.edge, radius * 0.2);
  stroke("rgba(255,255,255,.95)", Math.max(1, radius * 0.1));
}

function drawPath(board, states, color, width) {
  const { context } = board;
  if (states.length < 2) return;
  context.lineJoin = context.lineCap = "round";
  const trace = () => {
    context.beginPath();
    states.forEach((state, index) => context[index ? "lineTo" : "moveTo"](...board.point(state)));
    context.stroke();
  };
  context.strokeStyle = board.colors.edge;
  context.lineWidth = width + 2.5;
  trace();
  context.strokeStyle = color;
  context.lineWidth = width;
  trace();
}

function drawTrail(board, trail) {
  const { context } = board;
  context.lineJoin = context.lineCap = "round";
  context.lineWidth = Math.max(1.5, Math.min(4, board.radius * 0.3));
  for (let index = 1; index < trail.length; index++) {
    if (trail[index - 1] < 0 || trail[index] < 0) continue;
    context.strokeStyle = `rgba(255,122,80,${((0.7 * index) / trail.length).toFixed(3)})`;
    context.beginPath();
    context.moveTo(...board.point(trail[index - 1]));
    context.lineTo(...board.point(trail[index]));
    context.stroke();
  }
}

function drawAgent(board, state) {
  const { context, colors } = board;
  const [x, y] = board.point(state);
  const radius = Math.max(3.5, Math.min(9, board.radius * 0.55));
  context.beginPath();
  context.arc(x, y, radius, 0, 2 * Math.PI);
  context.fillStyle = colors.accent;
  context.fill();
  context.lineWidth = 2;
  context.strokeStyle = colors.ring;
  context.stroke();
}

function drawFrom(board, state) {
  const { context, colors } = board;
  const [x, y] = board.point(state);
  const radius = Math.max(4, board.radius * 0.8);
  context.lineWidth = 2;
  // Dark and white in turn: seen on every color.
  for (const [dash, color] of [[[], colors.edge], [[3, 3], colors.ring]]) {
    context.setLineDash(dash);
    context.strokeStyle = color;
    context.strokeRect(x - radius, y - radius, 2 * radius, 2 * radius);
  }
  context.setLineDash([]);
}

function drawPreview(board) {
  const { context, view } = board;
  const [x0, y0] = board.cellPoint(board.preview[0]);
  const [x1, y1] = board.cellPoint(board.preview[1]);
  context.strokeStyle = board.colors.accent;
  context.lineWidth = 2;
  context.strokeRect(Math.min(x0, x1) - view.scale / 2, Math.min(y0, y1) - view.scale / 2, Math.abs(x1 - x0) + view.scale, Math.abs(y1 - y0) + view.scale);
}

function drawCursor(board) {
  const { context, colors, world, view } = board;
  const [x, y] = world.drawn === "map" ? board.cellPoint(board.cursor) : board.point(board.cursor);
  const radius = world.drawn === "map" ? view.scale / 2 : board.radius + 4;
  context.lineWidth = 2.5;
  context.strokeStyle = colors.accent;
  context.strokeRect(x - radius, y - radius, 2 * radius, 2 * radius);
}
