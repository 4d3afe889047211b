// How the page looks and speaks: theme, tabs, messages, dialogs, what is under the pointer, the color bar.
import { remember } from "./address.js";
import { h } from "./dom.js";
import { KEYS } from "./keys.js";
import { number, theme } from "./palette.js";
import { describe } from "./painting.js";
import { showTable } from "./table.js";

const ALERT_MS = 9000;
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

  setTab(tab) {
    if (!this.ui.bodies[tab]) tab = "options";
    this.tab = tab;
    this.ui.tabs.set(tab);
    for (const [name, body] of Object.entries(this.ui.bodies)) body.hidden = name !== tab;
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

  closeIntro() {
    this.ui.intro.hidden = true;
    remember("intro", "closed");
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
    this.dialog("Keys", h("dl", {}, ...KEYS.flatMap(([key, meaning]) => [h("dt", {}, key), h("dd", {}, meaning)])));
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
    if (!this.world || !board || hit < 0) {
      this.ui.hover.textContent = "";
      return;
    }
    this.ui.hover.textContent = this.describe(board, hit);
  },

  focusBoard(board) {
    if (board.cursor < 0 && this.world) board.cursor = this.painter.moved(-1, 0, 0);
    board.draw();
  },

  layerName() {
    return this.layer === "score" ? `f(t = ${this.t}) =` : `${NAMES[this.layer]} =`;
  },

  show(value) {
    return number(this.layer === "visits" ? Math.round(value) : value);
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
    this.keep();
  },

  // ---- the color bar and the header ------------------------------------------------------------------------------

  showScore() {
    const { scored } = this;
    if (this.hovered) this.hover(...this.hovered);
    if (scored.preview) {
      const [text, title] = {
        between: ["from neighboring t; being computed …", "Drawn from the scores at t nearby, until this one is computed"],
        estimated: ["estimated; being computed …", "To about a hundredth, until the score itself is computed"],
      }[scored.preview];
      this.ui.solver.textContent = text;
      this.ui.solver.title = title;
      return this.drawCurve();
    }
    const exact = scored.tolerance === null || scored.tolerance < 1e-6 ? "exact" : `to ${number(100 * scored.tolerance)} %`;
    this.ui.solver.textContent = `${scored.solver}, ${exact}, ${number(1000 * scored.seconds)} ms`;
    this.ui.solver.title = scored.reason;
    this.drawCurve();
  },

  showTitle() {
    const { world } = this;
    const titles = { four_rooms: "4Rooms", maze: "Maze", ring: "Ring", open_room: "Open room", random_maze: "Random maze" };
    const kind = [`${world.n.toLocaleString("en-US")} states`];
    if (world.note) kind.push(world.note);
    this.ui.title.textContent = `${titles[world.name] ?? world.name} · ${kind.join(" · ")}`;
  },

  showSource() {
    const { source, world } = this;
    const value = { named: `named ${source.name}`, env: `env ${source.id}`, graph: `graph ${source.name}` }[source.kind] ?? source.kind;
    const { preset } = this.ui.world;
    const known = [...preset.options].some((option) => option.value === value);
    preset.value = known ? value : source.kind === "env" ? "env " : "own";
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
    for (const panel of this.panels) {
      panel.board.field = visits || panel.field?.known ? panel.field : this.base;
      if (visits && this.player.runs.length === 0) panel.field.show(new Float32Array(this.world.n), 0, 1);
      if (!visits && panel.field?.known && this.base.values) panel.field.show(this.base.values, this.base.low, this.base.high);
    }
    const run = this.player.runs[0];
    const [low, high] = visits ? [0, Math.max(1, ...this.player.runs.map((one) => one.most))] : [this.base.low, this.base.high];
    this.ui.low.textContent = number(low);
    this.ui.high.textContent = number(high);
    this.highest = null;
    if (visits && run) for (const one of this.player.runs) this.showVisits(one.panel, one);
    this.drawAll();
  },

  // Visits on a logarithmic scale: most states are seen a few times, some very often.
  showVisits(panel, run) {
    if (this.layer !== "visits") {
      panel.field.touchAll();
      panel.board.draw();
      return;
    }
    const shown = (run.shown ??= new Float32Array(this.world.n));
    const scale = 1 / Math.log1p(Math.max(1, run.most));
    const { visits } = run;
    for (let state = 0; state < shown.length; state++) shown[state] = Math.log1p(visits[state]) * scale;
    panel.field.show(shown, 0, 1);
    if (this.highest !== run.most) this.ui.high.textContent = number((this.highest = run.most));
    panel.board.draw();
  },
};
