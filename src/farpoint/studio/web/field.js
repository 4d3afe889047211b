// One number per state as a picture: of a map in tiles, each drawn again only when something in it has changed.
import { PIXELS, shade } from "./palette.js";

export const TILE = 128;

export class Field {
  constructor(world, colors) {
    this.world = world;
    this.colors = colors;
    this.values = null;
    this.low = 0;
    this.high = 1;
    this.known = null;
    this.goals = null;
    this.marked = null;
    this.tiles = new Map();
    this.across = Math.ceil((world.cols || 1) / TILE);
  }

  show(values, low, high) {
    this.values = values;
    this.low = low;
    this.high = high;
    this.touchAll();
  }

  touchAll() {
    for (const tile of this.tiles.values()) tile.dirty = true;
  }

  // Goals as pixels of the picture itself, for maps whose cells are smaller than a mark.
  markGoals(goals) {
    if (goals === this.goals) return;
    this.goals = goals;
    this.marked = null;
    if (goals) {
      this.marked = new Uint8Array(this.world.n);
      for (const state of goals) this.marked[state] = 1;
    }
    this.touchAll();
  }

  touch(cell) {
    const { cols } = this.world;
    const tile = this.tiles.get(Math.floor(Math.floor(cell / cols) / TILE) * this.across + Math.floor((cell % cols) / TILE));
    if (tile) tile.dirty = true;
  }

  shadeOf(state) {
    return shade(this.values[state], this.low, this.high);
  }

  // The picture of one tile, one pixel per cell.
  tile(across, down) {
    const key = down * this.across + across;
    let tile = this.tiles.get(key);
    const { rows, cols } = this.world;
    if (!tile) {
      const canvas = document.createElement("canvas");
      canvas.width = Math.min(TILE, cols - across * TILE);
      canvas.height = Math.min(TILE, rows - down * TILE);
      tile = { canvas, context: canvas.getContext("2d"), dirty: true };
      tile.image = tile.context.createImageData(canvas.width, canvas.height);
      tile.pixels = new Uint32Array(tile.image.data.buffer);
      this.tiles.set(key, tile);
    }
    if (tile.dirty) {
      this.paint(tile, across * TILE, down * TILE);
      tile.dirty = false;
    }
    return tile.canvas;
  }

  paint(tile, left, top) {
    const { cols, cells, cellState } = this.world;
    const { wall, floor, cut, unknown } = this.colors.pixels;
    const { values, low, known, marked } = this;
    const { width, height } = tile.canvas;
    const factor = this.high > low ? 255 / (this.high - low) : 0;
    const offset = factor ? 0 : 128;
    for (let row = 0; row < height; row++) {
      let cell = (top + row) * cols + left;
      let at = row * width;
      for (let col = 0; col < width; col++, cell++, at++) {
        const state = cellState[cell];
        if (cells[cell] === 0) tile.pixels[at] = wall;
        else if (state < 0) tile.pixels[at] = this.world.stale ? floor : cut;
        else if (known && !known[state]) tile.pixels[at] = unknown;
        else if (!values || state >= values.length) tile.pixels[at] = floor;
        else if (marked && marked[state]) tile.pixels[at] = 0xffffffff;
        else {
          const index = ((values[state] - low) * factor + offset) | 0;
          tile.pixels[at] = PIXELS[index < 0 ? 0 : index > 255 ? 255 : index];
        }
      }
    }
    tile.context.putImageData(tile.image, 0, 0);
  }
}
