// @ts-check
// How the page looks and speaks: theme, tabs, messages, dialogs, what is under the pointer, the color bar.
import { remember } from "./address.js";
import { h } from "./dom.js";
import { KEYS } from "./keys.js";
import { PHONE } from "./layout.js";
import { barTicks, number, theme } from "./palette.js";
import { describe } from "./painting.js";
import { showTable } from "./table.js";
import { cellTotals } from "./world.js";

const ALERT_MS = 9000;
const TITLES = { four_rooms: "4Rooms", maze: "Maze", ring: "Ring", open_room: "Open room", random_maze: "Random maze" };
const NAMES = { score: "score", stationary: "π₀", distance: "distance", visits: "visits" };

export const lookMethods = {
  setTheme(dark) {
    this.dark = dark;
    this.colors = theme(dark);
    this.ui.root.dataset.theme = dark ? "dark" : "light";
    for (const field of this.world ? this.fields() : []) {
      field.colors = this.colors;
      field.touchAll();
    }
    for (const panel of this.panels) {
      panel.board.colors = this.colors;
      this.showPanelHead(panel);
    }
    this.drawAll();
    if (this.table) showTable(this, this.table);
    if (this.player?.runs) this.player.drawCurve();
  },

  toggleTheme() {
    this.setTheme(!this.dark);
    remember("theme", this.dark ? "dark" : "light");
  },

  // A tap on a tab opens the sheet of a phone; on the one that is open it closes the sheet.
  chooseTab(tab, tapped = false) {
    const { dataset } = this.ui.right;
    dataset.open = !(tapped && tab === this.tab && dataset.open === "true");
    this.setTab(tab);
  },

  setTab(tab) {
    if (!this.ui.bodies[tab] || (tab === "world" && !matchMedia(PHONE).matches)) tab = "options";
    this.tab = tab;
    this.ui.tabs.set(tab);
    if (this.world) this.keep();
    if (tab === "agents") this.player.drawCurve();
    if (tab === "options" && this.world && !this.ui.options.table.querySelector("table")) this.askTable();
  },

  status(text) {
    this.ui.status.textContent = text;
  },

  complain(text) {
    this.alert(text, false);
  },

  tell(text) {
    this.alert(text, true);
  },

  alert(text, plain) {
    const { alert } = this.ui;
    alert.textContent = text;
    alert.classList.toggle("plain", plain);
    alert.hidden = false;
    clearTimeout(this.alertTimer);
    this.alertTimer = setTimeout(() => (alert.hidden = true), plain ? 2500 : ALERT_MS);
  },

  speak(text) {
    this.ui.spoken.textContent = text;
  },

  // What a change led to, once it has come to rest: a screen reader is not told of every tick of a slider.
  announce(text) {
    clearTimeout(this.announceTimer);
    this.announceTimer = setTimeout(() => this.speak(text), 900);
  },

  toggleTour() {
    this.showTour(this.ui.tour.hidden);
    remember("tour", "seen");
  },

  showTour(open) {
    this.ui.tour.hidden = !open;
    this.ui.root.classList.toggle("touring", open);
  },

  dialog(title, body, buttons = []) {
    const dialog = h("dialog", { "aria-label": title }, h("h2", {}, title), body);
    const close = () => dialog.close();
    dialog.append(h("div", { class: "row" }, ...buttons.map(([text, kind, act]) => h("button", { type: "button", class: kind, onclick: () => act(close) }, text)), h("button", { type: "button", onclick: close }, "Close")));
    dialog.addEventListener("close", () => dialog.remove());
    this.ui.root.append(dialog);
    dialog.showModal();
    return dialog;
  },

  help() {
    const single = h("input", { type: "checkbox", id: "single-keys" });
    single.checked = this.singleKeys;
    single.addEventListener("change", () => {
      this.singleKeys = single.checked;
      remember("keys", single.checked ? "on" : "off");
    });
    const keys = h("dl", {}, ...KEYS.flatMap(([key, meaning]) => [h("dt", {}, key), h("dd", {}, meaning)]));
    this.dialog("Keys", h("div", { class: "stack" }, keys, h("label", { class: "check" }, single, "Single keys work anywhere on the page")));
  },

  showText(title, text) {
    const area = h("textarea", { readonly: true, "aria-label": title, id: "taken-text", spellcheck: "false" });
    area.value = text;
    this.dialog(title, area, [["Copy", "strong", () => {
      area.select();
      if (navigator.clipboard) navigator.clipboard.writeText(text).then(() => this.tell("Copied."), () => document.execCommand("copy"));
      else document.execCommand("copy");
    }]]);
  },

  paste() {
    const area = h("textarea", { "aria-label": "Map", id: "pasted-map", spellcheck: "false", placeholder: "########\n#S.....#\n#......#\n#.....G#\n########" });
    const note = h("p", { class: "note" }, "# wall, . floor, S start, G target");
    this.dialog("Paste a map", h("div", { class: "stack" }, area, note), [["Open", "strong", (close) => {
      this.open({ kind: "text", text: area.value, name: "map" }).then(close, (error) => (note.textContent = error.message));
    }]]);
    area.focus();
  },

  // ---- what is under the pointer ---------------------------------------------------------------------------------

  describe(board, hit) {
    return describe(this, board, hit);
  },

  hover(board, hit) {
    this.hovered = [board, hit];
    this.ui.hover.textContent = !this.world ? "" : !board || hit < 0 ? `Colors: ${this.layerTitle()}` : this.describe(board, hit);
  },

  focusBoard(board) {
    if (board.cursor < 0 && this.world) board.cursor = this.painter.moved(-1, 0, 0);
    board.draw();
  },

  layerName() {
    return this.layer === "score" ? `f(t = ${this.scored?.t ?? this.t}) =` : `${NAMES[this.layer]} =`;
  },

  // What the colors show, in words.
  layerTitle() {
    const t = this.scored?.t ?? this.t;
    return { score: `score at t = ${t}`, stationary: "stationary distribution", distance: `diffusion distance from state ${this.from} at t = ${t}`, visits: "visits, on a logarithmic scale" }[this.layer];
  },

  show(value) {
    return this.layer === "visits" ? value.toLocaleString("en-US") : number(value);
  },

  previewBox(ends) {
    for (const panel of this.panels) {
      panel.board.preview = ends;
      panel.board.draw();
    }
  },

  drawAll() {
    for (const panel of this.panels) panel.board.draw();
  },

  zoom(factor) {
    const { board } = this.panels[0];
    if (factor) this.view.zoom(factor, board.width / 2, board.height / 2);
    else board.fit();
    this.moved();
  },

  // The map was zoomed or moved.
  moved() {
    this.drawAll();
    this.showAfar();
    this.keep();
  },

  // ---- the color bar and the header ------------------------------------------------------------------------------

  showScore() {
    const { scored } = this;
    if (this.hovered) this.hover(...this.hovered);
    if (scored.preview) {
      this.ui.solver.textContent = "from neighboring t; being computed …";
      this.ui.solver.title = "Drawn from the scores at t nearby, until this one is computed";
      return this.drawCurve();
    }
    const exact = scored.exact ? "exact" : `to ${number(100 * scored.tolerance)} %`;
    this.ui.solver.textContent = `${scored.solver}, ${exact}, ${number(1000 * scored.seconds)} ms`;
    this.ui.solver.title = scored.reason;
    this.drawCurve();
  },

  // The score at t takes long and nothing is known near it: what is drawn is the last score that was computed.
  showLast(layer) {
    const { computed, scored, t } = this;
    if (scored?.t === t || computed?.version !== this.applied || computed.layer !== layer) return;
    if (scored !== computed) this.setScore(computed);
    this.ui.score.word.textContent = `goals at t = ${computed.t}`;
    this.ui.solver.textContent = `t = ${computed.t} is shown; t = ${t} is being computed …`;
    this.ui.solver.title = "The last score that was computed, until that at t is known";
  },

  showTitle() {
    const { world } = this;
    const kind = [`${world.n.toLocaleString("en-US")} states`];
    if (world.note) kind.push(world.note);
    this.ui.title.textContent = `${TITLES[world.name] ?? world.name} · ${kind.join(" · ")}`;
  },

  showSource() {
    const { source, world } = this;
    const value = { named: `named ${source.name}`, env: `env ${source.id}`, graph: `graph ${source.name}` }[source.kind] ?? source.kind;
    const { preset } = this.ui.world;
    const known = [...preset.options].some((option) => option.value === value);
    preset.value = known ? value : source.kind === "env" ? "env " : "own";
    if (source.kind === "env" && !known) this.ui.world.envName.value = source.id;
    this.showSaved();
    this.showFields(preset.value);
    if (world.drawn === "map") {
      this.ui.world.rows.value = source.rows ?? world.rows;
      this.ui.world.cols.value = source.cols ?? world.cols;
    }
    if (source.seed !== undefined) this.ui.world.seed.value = source.seed;
    if (source.wall !== undefined) this.ui.world.wall.value = source.wall;
    this.showTitle();
  },

  showFields(preset) {
    const { size, maze, byName, make, resize } = this.ui.world;
    const sized = preset === "open_room" || preset === "random_maze";
    const editable = this.world?.editable ?? true;
    size.hidden = !sized && !editable;
    resize.hidden = sized || !editable;
    maze.hidden = preset !== "random_maze";
    byName.hidden = preset !== "env ";
    make.hidden = !sized && preset !== "env ";
  },

  showLayer() {
    if (!this.world || !this.base) return;
    const visits = this.layer === "visits";
    if (this.world.slices?.length && this.world.whole !== visits) {
      this.world.whole = visits;
      this.showSlice();
    }
    for (const panel of this.panels) {
      panel.board.field = visits || panel.field?.known ? panel.field : this.base;
      if (!visits && panel.field?.known && this.base.values) panel.field.show(this.base.values, this.base.low, this.base.high);
    }
    if (visits) this.showVisits();
    else this.showBar(this.base.low, this.base.high, false);
    this.drawAll();
  },

  showBar(low, high, log) {
    const key = `${low} ${high} ${log}`;
    if (this.bar === key) return;
    this.bar = key;
    this.shownBar = { low, high, log };
    this.ui.ticks.replaceChildren(...barTicks(low, high, log).map(([share, text]) => h("span", { style: `left:${(100 * share).toFixed(2)}%` }, text)));
  },

  // Visits of all panels on one scale, so that they can be compared; it is logarithmic: most states are seen a few times, some very often.
  showVisits() {
    const { runs } = this.player;
    const totals = new Map(runs.map((run) => [run.panel, cellTotals(this.world, run.visits)]));
    const high = this.world.shared ? Math.max(1, ...[...totals.values()].map((visits) => visits.reduce((most, count) => Math.max(most, count), 0))) : Math.max(1, ...runs.map((run) => run.most));
    for (const panel of this.panels) {
      const visits = totals.get(panel);
      if (this.layer === "visits") panel.field.show(visits ?? new Float32Array(this.world.n), 0, high, true);
      else if (visits) panel.field.touchAll();
      panel.board.draw();
    }
    if (this.layer === "visits") this.showBar(0, high, true);
    if (this.hovered) this.hover(...this.hovered);
  },
};
