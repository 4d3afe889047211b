// @ts-check
// What a visitor changes: layers, numbers, worlds, files; and the address that shows the same.
import { fromBase64, remember, toBase64, writeMap, writeSource } from "./address.js";
import { drawGoalCurve, timeAt } from "./charts.js";
import { listenToKeys, stepped } from "./keys.js";
import { resized } from "./map.js";

// Half the width of the slider's thumb.
const INSET = 8;

export const changeMethods = {
  setLayer(layer) {
    this.layer = layer;
    this.ui.score.layers.set(layer);
    if (layer === "distance" && this.from < 0) {
      this.setFrom(this.world.first);
      this.tell("Distance from the start. Click any cell to measure from there.");
    } else if (layer === "visits") this.showLayer();
    else this.askScore();
    this.keep();
  },

  setProminence(percent) {
    this.prominence = percent / 100;
    if (percent && this.scored && !this.scored.prominences.length) this.askScore();
    this.refreshGoals();
    clearTimeout(this.prominenceTimer);
    this.prominenceTimer = setTimeout(() => {
      for (const panel of this.panels) this.askOptions(panel);
      this.askTable();
    }, 250);
    this.keep();
  },

  setNumber(number) {
    this.nOptions = number || null;
    this.player.reset();
    this.refreshGoals();
    for (const panel of this.panels) this.askOptions(panel);
    this.askTable();
    this.keep();
  },

  setChance(percent) {
    this.chance = percent ? percent / 100 : null;
    this.player.reset();
    this.askTable();
    this.keep();
  },

  choosePreset(value) {
    this.showFields(value);
    const [kind, name] = [value.split(" ")[0], value.slice(value.indexOf(" ") + 1)];
    if (kind === "saved") return this.openSaved(name);
    if (value === "env ") return this.ui.world.envName.focus();
    if (kind === "open_room" || kind === "random_maze") {
      const [rows, cols] = kind === "open_room" ? [12, 12] : [40, 60];
      this.ui.world.rows.value = rows;
      this.ui.world.cols.value = cols;
      return this.makePreset();
    }
    const source = kind === "named" ? { kind, name } : kind === "env" ? { kind, id: name } : { kind, name };
    return this.openOr(source);
  },

  makePreset() {
    const { preset, rows, cols, seed, wall, envName } = this.ui.world;
    if (preset.value === "env ") return this.openOr({ kind: "env", id: envName.value.trim() });
    const size = { rows: Number(rows.value), cols: Number(cols.value) };
    if (preset.value === "open_room") return this.openOr({ kind: "open_room", ...size });
    return this.openOr({ kind: "random_maze", ...size, seed: Number(seed.value), wall: Number(wall.value) });
  },

  openOr(source, arrays) {
    return this.open(source, arrays).catch((error) => {
      this.failed(error);
      const { preset, envName } = this.ui.world;
      // A name with a slip of the finger is corrected, not typed again.
      if (preset.value === "env " && source.kind === "env") return envName.select();
      this.showSource();
    });
  },

  resize() {
    const { world } = this;
    const [rows, cols] = [Number(this.ui.world.rows.value), Number(this.ui.world.cols.value)];
    if (!(rows >= 1 && cols >= 1 && rows * cols <= this.limits.cells)) return this.complain(`Rows and columns must be at least 1, and ${this.limits.cells.toLocaleString("en-US")} cells at most.`);
    const cells = resized(world.cells, world.rows, world.cols, rows, cols);
    return this.openOr({ kind: "cells", rows, cols, name: world.name, wind: this.wind }, { cells });
  },

  setWind(wind) {
    clearTimeout(this.windTimer);
    this.windTimer = setTimeout(() => {
      const { kind } = this.source;
      const { rows, cols, cells, name } = this.world;
      this.wind = wind;
      const painted = kind === "cells" || kind === "text" || kind === "file";
      const source = painted ? { kind: "cells", rows, cols, name, wind } : { ...this.source, wind };
      this.open(source, painted ? { cells } : {}, true).catch((error) => this.failed(error));
    }, 200);
  },

  async upload(file) {
    if (!file) return;
    const most = this.limits.fileBytes;
    if (file.size > most) return this.complain(`A file must have at most ${most / 2 ** 20} MiB; this one has ${(file.size / 2 ** 20).toFixed(1)}.`);
    const content = new Uint8Array(await file.arrayBuffer());
    this.ui.world.file.value = "";
    await this.openFile(file.name, content).catch((error) => this.failed(error));
  },

  async openFile(name, content) {
    const bytes = typeof content === "string" ? fromBase64(content) : content;
    await this.open({ kind: "file", name }, { content: bytes });
    // A graph cannot be written into the address; a small one is kept in the browser.
    const kept = !this.world.editable && bytes.length < 500000;
    remember("file", kept ? JSON.stringify([name, toBase64(bytes)]) : "");
  },

  // ---- the address -----------------------------------------------------------------------------------------------

  keep() {
    clearTimeout(this.keepTimer);
    this.keepTimer = setTimeout(() => this.writeAddress(), 300);
  },

  async writeAddress() {
    if (!this.world || !this.source) return;
    const parameters = new URLSearchParams();
    const { world, source } = this;
    let map = null;
    if (world.editable && ["cells", "text", "file"].includes(source.kind)) {
      map = await writeMap(world.rows, world.cols, world.cells);
      if (map.length <= 8000) parameters.set("map", map);
      else parameters.set("world", "own");
      if (this.wind) parameters.set("wind", this.wind);
    } else writeSource({ ...source, wind: this.wind }, parameters);
    parameters.set("t", this.t);
    parameters.set("methods", this.panels.map((panel) => panel.method).join(","));
    if (this.nOptions) parameters.set("k", this.nOptions);
    if (this.chance) parameters.set("p", this.chance);
    if (this.prominence) parameters.set("prominence", this.prominence);
    if (this.layer !== "score") parameters.set("layer", this.layer);
    if (!this.view.fitted) parameters.set("view", this.panels[0].board.whereabouts().join(","));
    if (this.from >= 0) parameters.set("from", this.from);
    const picked = this.panels.map((panel) => panel.wanted ?? (panel.option >= 0 ? panel.option : "")).join(",");
    if (/\d/.test(picked)) parameters.set("options", picked);
    if (this.tab !== "options") parameters.set("tab", this.tab);
    if (this.player.mode !== "random") parameters.set("agent", this.player.mode);
    history.replaceState(history.state, "", `#${parameters}`);
    const kept = { own: "This map is too large for a link: take it as text and send that with the link.", file: "A link cannot carry an opened file: send the file with the link." };
    this.linkLacks = kept[parameters.get("world")] ?? "";
    remember("address", parameters.toString());
    if (map) remember("map", map);
  },

  // ---- time and events ---------------------------------------------------------------------------------------------

  drawCurve() {
    drawGoalCurve(this.ui.score.curve, this.counts, this.t, INSET);
  },

  setTime(t) {
    t = Math.max(1, Math.min(this.limits.t, Math.round(t) || 1));
    if (t === this.t) return;
    this.t = t;
    this.showTime();
    this.refresh();
    this.keep();
  },

  showTime() {
    this.ui.score.time.value = Math.log10(this.t);
    this.ui.score.time.setAttribute("aria-valuetext", `t = ${this.t}`);
    if (document.activeElement !== this.ui.score.exact) this.ui.score.exact.value = this.t;
    this.drawCurve();
  },

  listen() {
    const { time, exact, curve } = this.ui.score;
    time.addEventListener("input", () => this.setTime(10 ** Number(time.value)));
    time.addEventListener("keydown", (event) => {
      const direction = { ArrowRight: 1, ArrowUp: 1, ArrowLeft: -1, ArrowDown: -1, PageUp: 5, PageDown: -5 }[event.key];
      if (!direction) return;
      event.preventDefault();
      this.setTime(stepped(this.t, direction));
    });
    exact.addEventListener("change", () => {
      this.setTime(Number(exact.value));
      exact.value = this.t;
    });
    curve.addEventListener("click", (event) => this.setTime(timeAt(curve, event, INSET)));
    new ResizeObserver(() => this.drawCurve()).observe(curve);
    listenToKeys(this, this.ui.root);
    // Another link, opened in the same tab.
    window.addEventListener("hashchange", () => this.begin(new URLSearchParams(location.hash.slice(1))));
    const { root } = this.ui;
    root.addEventListener("dragover", (event) => {
      event.preventDefault();
      root.classList.add("dropping");
    });
    root.addEventListener("dragleave", (event) => event.relatedTarget || root.classList.remove("dropping"));
    root.addEventListener("drop", (event) => {
      event.preventDefault();
      root.classList.remove("dropping");
      this.upload(event.dataTransfer.files[0]);
    });
  },
};
