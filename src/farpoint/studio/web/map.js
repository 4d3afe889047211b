// @ts-check
// The map as the page keeps it: one code per cell, edits that can be undone, and the tools that make them.

export const WALL = 0, FLOOR = 1, START = 2, TARGET = 3;
export const MATERIALS = ["Wall", "Floor", "Start", "Target"];
const MOST_UNDO = 200;

// An edit is {places, before, after}: one entry per cell, so that undoing it is an edit too.
export class History {
  constructor() {
    this.done = [];
    this.undone = [];
  }
  add(edit) {
    this.done.push(edit);
    if (this.done.length > MOST_UNDO) this.done.shift();
    this.undone = [];
  }
  undo() {
    const edit = this.done.pop();
    if (edit) this.undone.push(edit);
    return edit;
  }
  redo() {
    const edit = this.undone.pop();
    if (edit) this.done.push(edit);
    return edit;
  }
}

export class Stroke {
  constructor(cells) {
    this.cells = cells;
    this.changes = new Map();
  }
  // Paints one cell and returns the cells that changed; there is only one start.
  paint(cell, code) {
    const changed = [];
    if (code === START) {
      const old = this.cells.indexOf(START);
      if (old >= 0 && old !== cell) changed.push(...this.set(old, FLOOR));
    }
    changed.push(...this.set(cell, code));
    return changed;
  }
  set(cell, code) {
    if (this.cells[cell] === code) return [];
    if (!this.changes.has(cell)) this.changes.set(cell, this.cells[cell]);
    this.cells[cell] = code;
    return [cell];
  }
  edit() {
    const places = [...this.changes.keys()].filter((cell) => this.changes.get(cell) !== this.cells[cell]);
    return {
      places: Int32Array.from(places),
      before: Uint8Array.from(places, (cell) => this.changes.get(cell)),
      after: Uint8Array.from(places, (cell) => this.cells[cell]),
    };
  }
}

export function rectangle(cols, from, to) {
  const [top, bottom] = [from, to].map((cell) => Math.floor(cell / cols)).sort((a, b) => a - b);
  const [left, right] = [from, to].map((cell) => cell % cols).sort((a, b) => a - b);
  const cells = [];
  for (let row = top; row <= bottom; row++) for (let col = left; col <= right; col++) cells.push(row * cols + col);
  return cells;
}

// The cells between two, so that a quick stroke has no gaps.
export function line(cols, from, to) {
  const [row0, col0, row1, col1] = [Math.floor(from / cols), from % cols, Math.floor(to / cols), to % cols];
  const length = Math.max(Math.abs(row1 - row0), Math.abs(col1 - col0), 1);
  return Array.from({ length: length + 1 }, (_, step) =>
    Math.round(row0 + ((row1 - row0) * step) / length) * cols + Math.round(col0 + ((col1 - col0) * step) / length));
}

export function region(cells, rows, cols, from) {
  const wanted = cells[from];
  const seen = new Uint8Array(cells.length);
  const found = [from];
  seen[from] = 1;
  for (let next = 0; next < found.length; next++) {
    const cell = found[next];
    const col = cell % cols;
    for (const [other, inside] of [[cell - cols, cell >= cols], [cell + cols, cell < cells.length - cols], [cell - 1, col > 0], [cell + 1, col < cols - 1]]) {
      if (inside && !seen[other] && cells[other] === wanted) {
        seen[other] = 1;
        found.push(other);
      }
    }
  }
  return found;
}

export function resized(cells, rows, cols, newRows, newCols) {
  const result = new Uint8Array(newRows * newCols).fill(WALL);
  for (let row = 0; row < Math.min(rows, newRows); row++)
    for (let col = 0; col < Math.min(cols, newCols); col++) result[row * newCols + col] = cells[row * cols + col];
  // What is new inside is floor, with a wall around.
  for (let row = 1; row < newRows - 1; row++)
    for (let col = 1; col < newCols - 1; col++)
      if (row >= rows - 1 || col >= cols - 1) if (row >= rows || col >= cols || result[row * newCols + col] === WALL) result[row * newCols + col] = FLOOR;
  for (let row = 0; row < newRows; row++)
    for (let col = 0; col < newCols; col++)
      if (row === 0 || col === 0 || row === newRows - 1 || col === newCols - 1) result[row * newCols + col] = WALL;
  return result;
}
