// @ts-check
// One number per state as a picture: of a map in tiles, each drawn again only when something in it has changed.
import { css, PIXELS, shade } from "./palette.js";

export const TILE = 128;

export class Field {
  constructor(world, colors) {
    this.world = world;
    this.colors = colors;
    this.values = null;
    this.low = 0;
    this.high = 1;
    this.log = false;
    this.known = null;
    this.goals = null;
    this.marked = null;
    this.tiles = new Map();
    this.across = Math.ceil((world.cols || 1) / TILE);
  }

  show(values, low, high, log = false) {
    Object.assign(this, { values, low, high, log });
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

  cssOf(index) {
    return css(index);
  }

  shadeOf(state) {
    return shade(this.values[state], this.low, this.high, this.log);
  }

  // The picture of one tile: a pixel per cell or, of a map seen from afar, per block of so many cells across and down.
  tile(across, down, block = 1) {
    const key = down * this.across + across;
    let tile = this.tiles.get(key);
    const { rows, cols } = this.world;
    if (tile?.block !== block) {
      const canvas = document.createElement("canvas");
      canvas.width = Math.ceil(Math.min(TILE, cols - across * TILE) / block);
      canvas.height = Math.ceil(Math.min(TILE, rows - down * TILE) / block);
      tile = { canvas, context: canvas.getContext("2d"), block, dirty: true };
      tile.image = tile.context.createImageData(canvas.width, canvas.height);
      tile.pixels = new Uint32Array(tile.image.data.buffer);
      this.tiles.set(key, tile);
    }
    if (tile.dirty) {
      if (block === 1) this.paint(tile, across * TILE, down * TILE);
      else this.paintMeans(tile, across * TILE, down * TILE);
      tile.context.putImageData(tile.image, 0, 0);
      tile.dirty = false;
    }
    return tile.canvas;
  }

  get range() {
    return this.log ? Math.log1p(this.high - this.low) : this.high - this.low;
  }

  paint(tile, left, top) {
    const { cols, cells, cellState } = this.world;
    const { wall, floor, cut, unknown } = this.colors.pixels;
    const { values, low, known, marked, log, range } = this;
    const { width, height } = tile.canvas;
    const factor = range > 0 ? 255 / range : 0;
    const offset = factor ? 0 : 128;
    for (let row = 0; row < height; row++) {
      let cell = (top + row) * cols + left;
      let at = row * width;
      for (let col = 0; col < width; col++, cell++, at++) {
        const state = cellState[cell];
        if (cells[cell] === 0) tile.pixels[at] = wall;
        else if (state < 0) tile.pixels[at] = this.world.stale || this.world.shared ? floor : cut;
        else if (known && !known[state]) tile.pixels[at] = unknown;
        else if (!values || state >= values.length) tile.pixels[at] = floor;
        else if (marked && marked[state]) tile.pixels[at] = 0xffffffff;
        else {
          const above = values[state] - low;
          const index = ((log ? Math.log1p(above) : above) * factor + offset) | 0;
          tile.pixels[at] = PIXELS[index < 0 ? 0 : index > 255 ? 255 : index];
        }
      }
    }
  }

  // The mean over the states of each block; a block of walls alone is a wall.
  paintMeans(tile, left, top) {
    const { cols, rows, cells, cellState } = this.world;
    const { wall, floor, unknown } = this.colors.pixels;
    const { values, low, known, log, range } = this;
    const { width, height } = tile.canvas;
    const { block } = tile;
    for (let at = 0; at < width * height; at++) {
      const [row, col] = [top + Math.floor(at / width) * block, left + (at % width) * block];
      const [lastRow, lastCol] = [Math.min(rows, row + block), Math.min(cols, col + block)];
      let [sum, count, open] = [0, 0, 0];
      for (let y = row; y < lastRow; y++) {
        for (let x = col, cell = y * cols + col; x < lastCol; x++, cell++) {
          const state = cellState[cell];
          if (cells[cell] === 0 || state < 0) continue;
          open++;
          if (!values || state >= values.length || (known && !known[state])) continue;
          sum += log ? Math.log1p(values[state] - low) : values[state] - low;
          count++;
        }
      }
      const index = range > 0 ? Math.floor((255 * sum) / count / range) : 128;
      tile.pixels[at] = count ? PIXELS[Math.max(0, Math.min(255, index))] : open ? (values ? unknown : floor) : wall;
    }
  }
}
