// @ts-check
// Painting with the pointer or the keyboard, undo and redo; edits go up in batches.
import { History, line, rectangle, region, START, Stroke } from "./map.js";
import { placeName, stateAt, towards } from "./world.js";

const BATCH_MS = 45;

export class Painter {
  constructor(app) {
    this.app = app;
    this.tool = "look";
    this.material = 0;
    this.history = new History();
    this.stroke = null;
    this.queue = new Map();
    this.timer = null;
  }

  // Another world was opened; what is painted on the way to the server belongs to the one before.
  opened(before, after) {
    this.history.add({ open: true, before, after });
    this.showButtons();
  }

  setTool(tool) {
    if (tool !== "look" && !this.app.world?.editable) {
      this.app.tell("Only maps can be painted; this world is fixed.");
      tool = "look";
    }
    this.tool = tool;
    this.app.ui.world.tools.set(tool);
    for (const panel of this.app.panels) panel.board.canvas.dataset.tool = tool;
  }

  setMaterial(material) {
    this.material = material;
    this.app.ui.world.materials.set(String(material));
    if (this.tool === "look") this.setTool("brush");
  }

  down(board, hit) {
    const { app } = this;
    if (hit < 0) return;
    if (this.tool === "look") return app.click(board, hit);
    this.stroke = new Stroke(app.world.cells);
    this.from = this.last = hit;
    if (this.tool === "brush") this.paint([hit]);
    else if (this.tool === "fill") {
      this.paint(this.material === START ? [hit] : region(app.world.cells, app.world.rows, app.world.cols, hit));
      this.finish();
    } else this.preview(hit);
  }

  move(board, hit, pressed) {
    this.app.hover(board, hit);
    if (!pressed || !this.stroke || hit < 0) return;
    if (this.tool === "brush") {
      this.paint(line(this.app.world.cols, this.last, hit));
      this.last = hit;
    } else if (this.tool === "box") this.preview(hit);
  }

  up(board, hit) {
    if (!this.stroke) return;
    if (this.tool === "box") this.paint(rectangle(this.app.world.cols, this.from, hit < 0 ? this.last : hit));
    this.finish();
  }

  // A second finger begins to zoom: what the first has painted is taken back.
  abort() {
    if (!this.stroke) return;
    const edit = this.stroke.edit();
    this.stroke = null;
    this.apply(edit.places, edit.before);
    this.app.previewBox(null);
  }

  preview(hit) {
    this.last = hit;
    this.app.previewBox([this.from, hit]);
  }

  paint(cells) {
    const changed = [];
    // There is one start: the last of them.
    if (this.material === START) cells = cells.slice(-1);
    for (const cell of cells) changed.push(...this.stroke.paint(cell, this.material));
    this.send(changed);
  }

  finish() {
    const edit = this.stroke.edit();
    this.stroke = null;
    this.app.previewBox(null);
    if (edit.places.length) this.history.add(edit);
    this.showButtons();
    this.flush();
  }

  // Shown at once; sent with what else is painted in the next moment.
  send(changed) {
    if (!changed.length) return;
    const { app } = this;
    for (const cell of changed) {
      this.queue.set(cell, app.world.cells[cell]);
      for (const field of app.fields()) field.touch(cell);
    }
    app.painted();
    this.timer ??= setTimeout(() => this.flush(), BATCH_MS);
  }

  flush() {
    clearTimeout(this.timer);
    this.timer = null;
    if (!this.queue.size) return;
    const places = Int32Array.from(this.queue.keys());
    const codes = Uint8Array.from(this.queue.values());
    this.queue.clear();
    this.app.edit(places, codes);
  }

  apply(places, codes) {
    places.forEach((cell, index) => (this.app.world.cells[cell] = codes[index]));
    this.send([...places]);
    this.flush();
  }

  undo() {
    if (!this.reopening) this.goTo(this.history.undo(), "before");
  }

  redo() {
    if (!this.reopening) this.goTo(this.history.redo(), "after");
  }

  // Strokes belong to the world they were painted on, so the next one waits until that is open again.
  async goTo(edit, side) {
    if (edit?.open) {
      this.reopening = true;
      const opened = await this.app.reopen(edit[side]);
      this.reopening = false;
      // The server is away: it can be tried again.
      if (!opened) this.history[side === "before" ? "redo" : "undo"]();
    } else if (edit) this.apply(edit.places, edit[side]);
    this.showButtons();
  }

  showButtons() {
    this.app.ui.world.undo.disabled = !this.history.done.length;
    this.app.ui.world.redo.disabled = !this.history.undone.length;
  }

  // Keys on a panel: arrows move a cursor, Enter clicks or paints there.
  key(board, event) {
    const { world } = this.app;
    const step = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] }[event.key];
    if (step && world) {
      event.preventDefault();
      event.stopPropagation();
      board.cursor = this.moved(board.cursor, ...step);
      board.reveal(board.cursor);
      if (this.stroke) this.preview(board.cursor);
      this.app.hover(board, board.cursor);
      this.app.speak(this.app.describe(board, board.cursor));
      board.draw();
    } else if (event.key === "Enter" && board.cursor >= 0) {
      event.preventDefault();
      // A box has two corners, with an Enter each.
      const corner = this.tool === "box" && !this.stroke;
      if (!this.stroke) this.down(board, board.cursor);
      if (!corner) this.up(board, board.cursor);
      this.app.speak(corner ? "One corner of the box; Enter on the other paints it, Escape does not." : this.app.describe(board, board.cursor));
    } else if (event.key === "Escape" && this.stroke) {
      event.preventDefault();
      this.abort();
    }
  }

  moved(cursor, dx, dy) {
    const { world } = this.app;
    if (cursor < 0) {
      const first = world.first;
      return world.drawn === "map" ? world.stateCell[first] : first;
    }
    if (world.drawn !== "map") return towards(world, cursor, dx, dy);
    const col = Math.max(0, Math.min(world.cols - 1, (cursor % world.cols) + dx));
    const row = Math.max(0, Math.min(world.rows - 1, Math.floor(cursor / world.cols) + dy));
    return row * world.cols + col;
  }
}

export function describe(app, board, hit) {
  const { world } = app;
  const state = stateAt(world, hit);
  const place = placeName(world, hit);
  if (world.drawn === "map" && !world.cells[hit]) return `${place}: wall`;
  if (state < 0) return `${place}: ${world.shared ? "no state like this" : world.stale ? "floor" : "floor that is cut off"}`;
  const value = board.field?.values?.[state];
  const parts = [place, `state ${state}`, ...(world.whole ? [] : (world.slices ?? [])).map(({ name, values }, index) => `${name}: ${values[world.sliceOf[index][state]]}`)];
  if (value !== undefined) parts.push(`${app.layerName()} ${app.show(value)}`);
  const option = Array.from(board.panel.found ?? board.panel.options ?? []).indexOf(state);
  // Numbers of options count once the score is computed.
  if (option >= 0) parts.push(app.scored?.preview ? "goal" : `goal of option ${option}`);
  if (state === world.start) parts.push("start");
  return parts.join(" · ");
}
