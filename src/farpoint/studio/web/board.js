// @ts-check
// One panel's canvas: the world, its heat map, goals, arrows, a route and an agent, and what the pointer does there.
import { TILE } from "./field.js";
import { css } from "./palette.js";
import { drawMarks, MarkLayer } from "./marks.js";

const MOST_ZOOM = 120;
// Cells of fewer pixels have no circles.
export const SMALLEST_MARKED = 3;

// And below this no grid.
const SMALLEST_GRIDDED = 9;

const MARGIN = 10;

function fittingScale(width, height, cols, rows) {
  return Math.min((width - 2 * MARGIN) / cols, (height - 2 * MARGIN) / rows, 64);
}

// Where the world lies on the canvas; all panels share one.
export class View {
  constructor() {
    this.scale = 0;
    this.x = 0;
    this.y = 0;
    this.fitted = true;
    this.wanted = null;
  }
  fit(width, height, cols, rows) {
    this.scale = fittingScale(width, height, cols, rows);
    this.x = (width - this.scale * cols) / 2;
    this.y = (height - this.scale * rows) / 2;
    this.fitted = true;
  }
  zoom(factor, atX, atY) {
    const scale = Math.max(0.2, Math.min(MOST_ZOOM, this.scale * factor));
    this.x = atX - ((atX - this.x) * scale) / this.scale;
    this.y = atY - ((atY - this.y) * scale) / this.scale;
    this.scale = scale;
    this.fitted = false;
  }
}

export class Board {
  constructor(canvas, view, handlers) {
    this.canvas = canvas;
    this.context = canvas.getContext("2d");
    this.view = view;
    this.handlers = handlers;
    this.world = null;
    this.field = null;
    this.colors = null;
    this.panel = null;
    this.cursor = -1;
    this.preview = null;
    this.pending = false;
    this.layer = new MarkLayer();
    this.pointers = new Map();
    this.listen();
    this.observer = new ResizeObserver(() => this.resize());
    this.observer.observe(canvas);
  }

  destroy() {
    this.observer.disconnect();
  }

  resize() {
    const ratio = window.devicePixelRatio || 1;
    const box = this.canvas.getBoundingClientRect();
    this.width = box.width;
    this.height = box.height;
    this.canvas.width = Math.max(1, Math.round(box.width * ratio));
    this.canvas.height = Math.max(1, Math.round(box.height * ratio));
    if (this.view.wanted && this.world && this.width) this.goTo(...this.view.wanted);
    if (this.view.fitted) this.fit();
    this.paint();
  }

  fit() {
    if (this.world && this.width) this.view.fit(this.width, this.height, this.world.cols, this.world.rows);
  }

  // How much larger than fitting the map is, and which of its columns and rows is in the middle: for any size of screen.
  whereabouts() {
    const { view, world, width, height } = this;
    const zoom = view.scale / fittingScale(width, height, world.cols, world.rows);
    return [zoom, (width / 2 - view.x) / view.scale, (height / 2 - view.y) / view.scale].map((value) => Number(value.toFixed(3)));
  }

  // Asked before the page is laid out, it is done as soon as that is.
  goTo(zoom, col, row) {
    const { view, world, width, height } = this;
    view.wanted = width ? null : [zoom, col, row];
    if (!width) return;
    this.fit();
    view.zoom(zoom, 0, 0);
    view.x = width / 2 - Math.max(0, Math.min(world.cols, col)) * view.scale;
    view.y = height / 2 - Math.max(0, Math.min(world.rows, row)) * view.scale;
    this.handlers.moved();
  }

  draw() {
    if (this.pending) return;
    this.pending = true;
    requestAnimationFrame(() => {
      this.pending = false;
      this.paint();
    });
  }

  paint() {
    this.render(this.context, window.devicePixelRatio || 1, this.layer);
  }

  // Draws everything on a canvas whose pixels are `ratio` times as many as those of the page.
  render(context, ratio, layer) {
    if (!this.width || !this.height) return;
    const own = this.context;
    this.context = context;
    context.setTransform(ratio, 0, 0, ratio, 0, 0);
    context.fillStyle = this.colors.back;
    context.fillRect(0, 0, this.width, this.height);
    if (this.world && this.field) {
      if (this.world.drawn === "map") this.paintMap(ratio);
      else this.paintGraph();
      drawMarks(this, ratio, layer);
    }
    this.context = own;
  }

  // The panel as a picture of its own, sharp at any size.
  picture(ratio) {
    const canvas = document.createElement("canvas");
    [canvas.width, canvas.height] = [Math.round(this.width * ratio), Math.round(this.height * ratio)];
    this.render(canvas.getContext("2d"), ratio, new MarkLayer());
    return canvas;
  }

  paintMap(ratio) {
    const { context, view, world, block } = this;
    const { scale, x, y } = view;
    context.imageSmoothingEnabled = scale * block * ratio < 1;
    this.field.markGoals(block === 1 && scale < SMALLEST_MARKED && this.panel.shownGoals?.length ? this.panel.shownGoals : null);
    const first = { col: Math.max(0, Math.floor(-x / scale)), row: Math.max(0, Math.floor(-y / scale)) };
    const last = {
      col: Math.min(world.cols - 1, Math.floor((this.width - x) / scale)),
      row: Math.min(world.rows - 1, Math.floor((this.height - y) / scale)),
    };
    this.shown = { first, last };
    // Small cells on whole pixels of the screen: two tiles that both cover a part of one would leave a seam. Where there is a grid, its lines cover that.
    const gridded = scale >= SMALLEST_GRIDDED;
    const snap = gridded ? (place) => place : (place) => Math.round(place * ratio) / ratio;
    for (let down = Math.floor(first.row / TILE); down * TILE <= last.row; down++)
      for (let across = Math.floor(first.col / TILE); across * TILE <= last.col; across++) {
        const tile = this.field.tile(across, down, block);
        const [left, right] = [across * TILE, across * TILE + tile.width * block].map((col) => snap(x + col * scale));
        const [top, bottom] = [down * TILE, down * TILE + tile.height * block].map((row) => snap(y + row * scale));
        context.drawImage(tile, left, top, right - left, bottom - top);
      }
    if (gridded) this.paintGrid(first, last);
  }

  paintGrid(first, last) {
    const { context, view } = this;
    context.strokeStyle = this.colors.grid;
    context.lineWidth = 1;
    context.beginPath();
    const at = (offset, index) => Math.round(offset + index * view.scale) + 0.5;
    for (let col = first.col; col <= last.col + 1; col++) {
      context.moveTo(at(view.x, col), at(view.y, first.row));
      context.lineTo(at(view.x, col), at(view.y, last.row + 1));
    }
    for (let row = first.row; row <= last.row + 1; row++) {
      context.moveTo(at(view.x, first.col), at(view.y, row));
      context.lineTo(at(view.x, last.col + 1), at(view.y, row));
    }
    context.stroke();
  }

  paintGraph() {
    const { context, world, field } = this;
    context.strokeStyle = this.colors.line;
    context.globalAlpha = Math.max(0.12, Math.min(0.8, 400 / (world.links.length / 2)));
    context.lineWidth = 1;
    context.beginPath();
    for (let link = 0; link < world.links.length; link += 2) {
      const [x0, y0] = this.point(world.links[link]);
      const [x1, y1] = this.point(world.links[link + 1]);
      context.moveTo(x0, y0);
      context.lineTo(x1, y1);
    }
    context.stroke();
    context.globalAlpha = 1;
    const radius = this.radius;
    for (let state = 0; state < world.n; state++) {
      const [x, y] = this.point(state);
      context.beginPath();
      context.arc(x, y, radius, 0, 2 * Math.PI);
      const hidden = field.known && !field.known[state];
      context.fillStyle = !field.values ? this.colors.floor : hidden ? this.colors.unknown : css(field.shadeOf(state));
      context.fill();
      context.strokeStyle = this.colors.back;
      context.stroke();
    }
  }

  // Seen from afar a pixel is the mean of a block of so many cells across and down.
  get block() {
    return Math.min(TILE, 2 ** Math.max(0, Math.ceil(Math.log2(1 / this.view.scale) - 1e-9)));
  }

  get radius() {
    const { world, view } = this;
    if (world.drawn === "map") return view.scale / 2;
    return Math.max(2, Math.min(11, 0.24 * view.scale * Math.sqrt((world.cols * world.rows) / world.n)));
  }

  // The middle of a state on the canvas.
  point(state) {
    const { world, view } = this;
    if (world.drawn === "map") {
      const cell = world.stateCell[state];
      return [view.x + ((cell % world.cols) + 0.5) * view.scale, view.y + (Math.floor(cell / world.cols) + 0.5) * view.scale];
    }
    return [view.x + world.places[2 * state] * view.scale, view.y + world.places[2 * state + 1] * view.scale];
  }

  cellPoint(cell) {
    const { world, view } = this;
    return [view.x + ((cell % world.cols) + 0.5) * view.scale, view.y + (Math.floor(cell / world.cols) + 0.5) * view.scale];
  }

  // The cell (or, of a graph, the state) under a place of the canvas; -1 for none.
  hit(x, y) {
    const { world, view } = this;
    if (!world) return -1;
    if (world.drawn === "map") {
      const [col, row] = [Math.floor((x - view.x) / view.scale), Math.floor((y - view.y) / view.scale)];
      return col >= 0 && row >= 0 && col < world.cols && row < world.rows ? row * world.cols + col : -1;
    }
    let [best, nearest] = [-1, (this.radius + 6) ** 2];
    for (let state = 0; state < world.n; state++) {
      const [px, py] = this.point(state);
      const distance = (px - x) ** 2 + (py - y) ** 2;
      if (distance < nearest) [best, nearest] = [state, distance];
    }
    return best;
  }

  // Moves the map so far that a cell or node is on the canvas.
  reveal(hit) {
    const [x, y] = this.world.drawn === "map" ? this.cellPoint(hit) : this.point(hit);
    const margin = Math.min(40, this.width / 4, this.height / 4);
    const dx = Math.max(margin - x, Math.min(0, this.width - margin - x));
    const dy = Math.max(margin - y, Math.min(0, this.height - margin - y));
    if (this.view.fitted || (!dx && !dy)) return;
    this.view.x += dx;
    this.view.y += dy;
    this.handlers.moved();
  }

  place(event) {
    const box = this.canvas.getBoundingClientRect();
    return [event.clientX - box.left, event.clientY - box.top];
  }

  listen() {
    const { canvas, handlers } = this;
    canvas.addEventListener("pointerdown", (event) => {
      canvas.setPointerCapture(event.pointerId);
      this.pointers.set(event.pointerId, this.place(event));
      this.byKey = false;
      if (this.pointers.size === 2) {
        handlers.abort(this);
        this.pinch = this.spread();
        return;
      }
      if (event.button === 1 || event.shiftKey) {
        this.dragging = this.place(event);
        event.preventDefault();
        return;
      }
      if (event.button === 0) handlers.down(this, this.hit(...this.place(event)), event);
    });
    canvas.addEventListener("pointermove", (event) => {
      const place = this.place(event);
      if (this.pointers.has(event.pointerId)) this.pointers.set(event.pointerId, place);
      if (this.pinch && this.pointers.size === 2) {
        const now = this.spread();
        this.view.zoom(now.length / this.pinch.length, ...now.middle);
        this.view.x += now.middle[0] - this.pinch.middle[0];
        this.view.y += now.middle[1] - this.pinch.middle[1];
        this.pinch = now;
        handlers.moved();
      } else if (this.dragging) {
        this.view.x += place[0] - this.dragging[0];
        this.view.y += place[1] - this.dragging[1];
        this.view.fitted = false;
        this.dragging = place;
        handlers.moved();
      } else handlers.move(this, this.hit(...place), event.buttons & 1);
    });
    const release = (event) => {
      this.pointers.delete(event.pointerId);
      if (this.pointers.size < 2) this.pinch = null;
      this.dragging = null;
      handlers.up(this, this.hit(...this.place(event)));
    };
    canvas.addEventListener("pointerup", release);
    canvas.addEventListener("pointercancel", release);
    canvas.addEventListener("pointerleave", () => handlers.leave(this));
    canvas.addEventListener("wheel", (event) => {
      event.preventDefault();
      this.view.zoom(Math.exp(-event.deltaY * 0.0015), ...this.place(event));
      handlers.moved();
    }, { passive: false });
    canvas.addEventListener("dblclick", (event) => {
      if (handlers.looking()) {
        this.fit();
        handlers.moved();
        event.preventDefault();
      }
    });
    canvas.addEventListener("keydown", (event) => {
      this.byKey = true;
      handlers.key(this, event);
    });
    canvas.addEventListener("focus", () => handlers.focus(this));
    canvas.addEventListener("blur", () => this.draw());
  }

  spread() {
    const [a, b] = [...this.pointers.values()];
    return { length: Math.hypot(a[0] - b[0], a[1] - b[1]) || 1, middle: [(a[0] + b[0]) / 2, (a[1] + b[1]) / 2] };
  }
}
