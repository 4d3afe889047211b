// What the page shows and what it asks the server: one object with the state, and the methods that change it.
import { readMap, readSource, recall } from "./address.js";
import { View } from "./board.js";
import { changeMethods } from "./changes.js";
import { Field } from "./field.js";
import { layout } from "./layout.js";
import { Link } from "./link.js";
import { lookMethods } from "./looks.js";
import { Painter } from "./painting.js";
import { panelMethods } from "./panels.js";
import { Player } from "./player.js";
import { MOST_STATES, tableMethods } from "./table.js";
import { take } from "./takeaway.js";
import { makeWorld, showHighest } from "./world.js";

const TIMES = [1, 2, 3, 4, 5, 6, 8, 10, 13, 16, 20, 25, 32, 40, 50, 63, 80, 100, 126, 160, 200, 250, 320, 400, 500, 630, 800, 1000];
const MANY_STATES = 6000;
const MOST_PANELS = 4;

export class App {
  constructor(root, settings) {
    this.settings = settings;
    this.t = 4;
    this.layer = "score";
    this.from = -1;
    this.prominence = 0;
    this.nOptions = null;
    this.chance = null;
    this.version = 0;
    this.applied = -1;
    this.world = null;
    this.panels = [];
    this.source = null;
    this.counts = [];
    this.tab = "options";
    this.dark = (recall("theme") ?? (matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light")) === "dark";
    this.view = new View();
    this.painter = new Painter(this);
    const act = Object.fromEntries(["choosePreset", "makePreset", "setLayer", "setProminence", "setNumber", "setChance", "addPanel", "setTab", "toggleTheme", "help", "closeIntro", "upload", "paste", "resize", "setWind"].map((name) => [name, (...args) => this[name](...args)]));
    Object.assign(act, {
      setTool: (tool) => this.painter.setTool(tool), setMaterial: (material) => this.painter.setMaterial(material), undo: () => this.painter.undo(), redo: () => this.painter.redo(),
      setMode: (mode) => this.player.setMode(mode), play: () => this.player.toggle(), step: () => this.player.step(), reset: () => this.player.reset(),
      setSpeed: (value) => (this.player.speed = 10 ** value), take: (what) => take(this, what).catch((error) => this.complain(error.message)), addPanel: () => this.addPanel(),
    });
    this.ui = layout(root, settings, act);
    this.player = new Player(this);
    this.setTheme(this.dark);
    this.ui.world.tools.set("look");
    this.ui.world.materials.set("0");
    this.ui.score.layers.set("score");
    this.ui.agents.mode.set("random");
    this.setTab("options");
    this.painter.showButtons();
    this.listen();
    this.link = new Link(() => this.connected(), () => this.status("The server does not answer; trying again …"));
  }

  // ---- beginning -------------------------------------------------------------------------------------------------

  async connected() {
    this.status("");
    if (this.world) return this.reconnect();
    const parameters = new URLSearchParams(location.hash.slice(1));
    this.ui.intro.hidden = recall("intro") !== null;
    if (!location.hash && !this.settings.world && recall("address")) for (const [name, value] of new URLSearchParams(recall("address"))) parameters.set(name, value);
    await this.begin(parameters);
  }

  async begin(parameters) {
    this.player.stop();
    this.readParameters(parameters);
    // The address is written when the world is there that it names.
    clearTimeout(this.keepTimer);
    try {
      const map = parameters.get("map") ?? (parameters.get("world") === "own" ? recall("map") : null);
      if (map) await this.openMap(map, Number(parameters.get("wind")) || 0);
      else if (parameters.get("world") === "file" && recall("file")) await this.openFile(...JSON.parse(recall("file")));
      else await this.open(readSource(parameters) ?? this.settings.world ?? { kind: "named", name: "four_rooms" });
      this.restore(parameters);
    } catch (error) {
      this.complain(error.message);
      await this.open({ kind: "named", name: "four_rooms" });
    }
  }

  async openMap(text, wind) {
    const { source, cells } = await readMap(text);
    await this.open({ ...source, wind }, { cells });
  }

  readParameters(parameters) {
    this.t = Math.max(1, Math.min(1000, Math.round(Number(parameters.get("t")) || 4)));
    this.nOptions = Number(parameters.get("k")) || null;
    this.chance = Number(parameters.get("p")) || null;
    this.prominence = Number(parameters.get("prominence")) || 0;
    for (const panel of this.panels.splice(0)) this.dropPanel(panel);
    const known = this.settings.methods.map((method) => method.name);
    const methods = (parameters.get("methods") ?? "diffusion").split(",").filter((name) => known.includes(name)).slice(0, MOST_PANELS);
    for (const method of methods.length ? methods : ["diffusion"]) this.addPanel(method, false);
    this.layer = parameters.get("layer") === "stationary" ? "stationary" : "score";
    this.ui.score.layers.set(this.layer);
    this.ui.options.number.set(this.nOptions ?? 0);
    this.ui.options.chance.set(Math.round(100 * (this.chance ?? 0)));
    this.ui.score.prominence.set(Math.round(100 * this.prominence));
    this.setTab(parameters.get("tab") ?? "options");
    this.showTime();
  }

  // What an address says of states and options, once the world is there that they belong to.
  restore(parameters) {
    const from = parameters.has("from") ? Number(parameters.get("from")) : -1;
    if (Number.isInteger(from) && from >= 0 && from < this.world.n) this.setFrom(from);
    if (["distance", "visits"].includes(parameters.get("layer"))) this.setLayer(parameters.get("layer"));
    const view = (parameters.get("view") ?? "").split(",").map(Number);
    if (view.length === 3 && view.every(Number.isFinite) && view[0] > 0) this.panels[0].board.goTo(...view);
    const picked = (parameters.get("options") ?? "").split(",");
    this.panels.forEach((panel, index) => {
      if (/^\d+$/.test(picked[index] ?? "")) panel.wanted = Number(picked[index]);
    });
    const agent = ["learn", "scratch"].find((mode) => mode === parameters.get("agent")) ?? "random";
    if (agent !== this.player.mode) this.player.setMode(agent);
  }

  // The server has forgotten this tab: it is told everything again.
  async reconnect() {
    const { world } = this;
    if (world.editable) await this.open({ kind: "cells", rows: world.rows, cols: world.cols, name: world.name, wind: this.wind }, { cells: world.cells }, true);
    else await this.open(this.source);
  }

  ask(header, arrays, onPart) {
    return this.link.ask({ t: this.t, n_options: this.nOptions, min_prominence: this.leastProminence(), ...header }, arrays, onPart);
  }

  // ---- worlds ----------------------------------------------------------------------------------------------------

  async open(source, arrays = {}, again = false) {
    this.status("Opening the world …");
    try {
      const answer = await this.link.ask({ do: "open", channel: "world", source, version: ++this.version }, arrays);
      this.source = source;
      this.wind = source.wind ?? 0;
      this.setWorld(makeWorld(answer), answer.version, again);
    } finally {
      this.status("");
    }
  }

  async reopen({ rows, cols, cells }) {
    await this.open({ kind: "cells", rows, cols, name: this.world.name, wind: this.wind }, { cells }, true).catch((error) => this.complain(error.message));
  }

  setWorld(world, version, keepHistory = false) {
    this.applied = version;
    this.world = world;
    this.from = -1;
    this.scored = null;
    if (this.layer === "visits" || this.layer === "distance") this.layer = "score";
    this.ui.score.layers.set(this.layer);
    this.ui.options.picked.textContent = "";
    this.hover(null, -1);
    if (!keepHistory) this.painter.clear();
    if (!world.editable) this.painter.setTool("look");
    this.ui.world.paintBox.hidden = !world.editable;
    this.ui.world.wind.set(this.wind);
    this.ui.options.usual.text = world.n > MANY_STATES ? "20" : "all";
    this.ui.options.number.refresh();
    this.view.fitted = true;
    this.base = new Field(world, this.colors);
    // Two wide maps fit better below each other.
    this.ui.panels.dataset.wide = world.cols > 1.3 * world.rows;
    for (const panel of this.panels) {
      this.attach(panel);
      panel.board.fit();
    }
    this.counts = [];
    this.player.reset();
    this.showSource();
    this.refresh();
    this.keep();
  }

  edit(places, codes) {
    for (const panel of this.panels) this.forgetOptions(panel);
    this.source = { kind: "cells", rows: this.world.rows, cols: this.world.cols, wind: this.wind, name: this.world.name };
    this.link.ask({ do: "edit", version: ++this.version, wind: this.wind }, { places, codes })
      .then((answer) => this.edited(answer))
      .catch((error) => this.status(error.message));
    this.showSource();
    this.refresh();
    this.keep();
  }

  edited(answer) {
    const world = makeWorld(answer, this.world);
    this.applied = answer.version;
    Object.assign(this.world, world, { stale: this.version !== answer.version });
    this.counts = [];
    this.player.reset();
    for (const field of this.fields()) field.touchAll();
    this.from = -1;
    this.showTitle();
    this.drawAll();
  }

  painted() {
    this.world.stale = true;
    this.world.version = (this.world.version ?? 0) + 1;
    this.drawAll();
  }

  fields() {
    return [this.base, ...this.panels.map((panel) => panel.field)].filter(Boolean);
  }

  // ---- scores and options ----------------------------------------------------------------------------------------

  refresh() {
    this.askScore();
    for (const panel of this.panels) this.askOptions(panel);
    // Of a large world it is computed beside everything else, and goes on while t is moved.
    if (this.world.n <= MANY_STATES || this.curveVersion !== this.version) {
      clearTimeout(this.curveTimer);
      // The score comes first; the curve goes on where it was when t has come to rest.
      this.link.cancel("curve");
      this.curveVersion = this.version;
      this.curveTimer = setTimeout(() => this.askCurve(), this.world.n > MANY_STATES ? 1500 : 150);
    }
    this.askTable();
  }

  async askScore() {
    const begun = performance.now();
    const layer = this.layer === "visits" ? "score" : this.layer;
    const slow = setTimeout(() => this.status("Computing the score …"), 250);
    try {
      const answer = await this.ask({ do: "score", layer, state: Math.max(0, this.from), prominences: this.prominence > 0 }, {}, (part) => {
        if (part.preview) this.setScore(part);
        else this.status(`Computing the score … ${Math.round(100 * part.progress)} %`);
      });
      this.status("");
      this.setScore(answer);
      this.latency = performance.now() - begun;
    } catch (error) {
      this.status(error.message);
    } finally {
      clearTimeout(slow);
    }
  }

  setScore(answer) {
    if (answer.version !== this.applied) return;
    this.scored = answer;
    showHighest(this.world, answer.values);
    this.base.show(answer.values, answer.low, answer.high);
    if (!answer.preview) this.counts = [...this.counts.filter(([t]) => t !== answer.t), [answer.t, answer.goals.length]];
    this.showScore();
    this.refreshGoals();
    this.showLayer();
  }

  // A share of the highest score.
  leastProminence() {
    return this.prominence && this.scored ? this.prominence * this.scored.high : 0;
  }

  prominentGoals() {
    if (!this.scored) return [];
    const { goals, prominences } = this.scored;
    const least = this.layer === "score" || this.layer === "visits" ? this.leastProminence() : 0;
    return least && prominences.length ? goals.filter((_, index) => prominences[index] >= least) : goals;
  }

  // Options of Algorithm 1 are the goals of the score, and known with it.
  isWhole(panel) {
    return panel.method === "diffusion" && !this.nOptions && this.world.n <= MANY_STATES;
  }

  refreshGoals() {
    for (const panel of this.panels) {
      if (panel.found) continue;
      panel.allShown = this.isWhole(panel) || panel.method !== "diffusion";
      const goals = this.prominentGoals();
      if (this.isWhole(panel)) panel.options = goals;
      panel.shownGoals = panel.method === "diffusion" ? goals : (panel.options ?? []);
      this.selectWanted(panel);
      this.showPanelHead(panel);
      panel.board.draw();
    }
    const count = this.prominentGoals().length;
    this.ui.score.count.textContent = this.scored ? count.toLocaleString("en-US") : "…";
    this.ui.score.bar.querySelector("#goals-word").textContent = count === 1 ? "goal" : "goals";
  }

  async askOptions(panel, wanted = false) {
    this.deselect(panel);
    panel.problem = "";
    clearTimeout(panel.timer);
    if (this.isWhole(panel)) return;
    panel.tooMany = this.world.n > MOST_STATES && !wanted;
    if (panel.tooMany) {
      panel.options = [];
      return this.showPanelHead(panel);
    }
    panel.waiting = true;
    this.showPanelHead(panel);
    panel.timer = setTimeout(async () => {
      const index = this.panels.indexOf(panel);
      try {
        const answer = await this.ask({ do: "options", channel: `options${index}`, method: panel.method });
        if (answer.version !== this.applied) return;
        panel.options = answer.goals;
        panel.waiting = false;
        panel.problem = "";
        this.refreshGoals();
      } catch (error) {
        panel.waiting = false;
        panel.options = [];
        panel.problem = error.message;
        this.refreshGoals();
        this.status(error.message);
      }
    }, this.world.n > MANY_STATES ? 700 : 0);
  }

  askCurve() {
    this.ask({ do: "curve", channel: "curve", ts: TIMES }, {}, (part) => {
      if (part.version !== this.applied || part.t === undefined) return;
      this.counts = [...this.counts.filter(([t]) => t !== part.t), [part.t, part.n_goals]];
      this.drawCurve();
    }).catch((error) => this.status(error.message));
  }
}

Object.assign(App.prototype, panelMethods, lookMethods, changeMethods, tableMethods);
