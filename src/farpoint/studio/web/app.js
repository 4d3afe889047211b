// @ts-check
// What the page shows and what it asks the server: one object with the state, and the methods that change it.
import { numberOf, readMap, readSource, recall } from "./address.js";
import { View } from "./board.js";
import { changeMethods } from "./changes.js";
import { Field } from "./field.js";
import { layout } from "./layout.js";
import { Link } from "./link.js";
import { lookMethods } from "./looks.js";
import { Painter } from "./painting.js";
import { panelMethods } from "./panels.js";
import { Player } from "./player.js";
import { savedMethods } from "./saved.js";
import { scoreMethods } from "./scores.js";
import { sliceMethods } from "./slices.js";
import { tableMethods } from "./table.js";
import { picture, take } from "./export.js";
import { makeWorld } from "./world.js";


// What the page does stands in files by topic; here they are put together.
const topics = { ...panelMethods, ...lookMethods, ...changeMethods, ...savedMethods, ...scoreMethods, ...sliceMethods, ...tableMethods };
/** @type {new () => typeof topics} */
const Methods = /** @type {any} */ (class {});
Object.assign(Methods.prototype, topics);

export class App extends Methods {
  constructor(root, settings) {
    super();
    this.settings = settings;
    this.colors = null;
    this.keepTimer = this.alertTimer = null;
    this.limits = settings.limits;
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
    this.sourceArrays = {};
    this.savedName = null;
    this.singleKeys = recall("keys") !== "off";
    this.counts = [];
    this.tab = "options";
    this.dark = (recall("theme") ?? (matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light")) === "dark";
    this.view = new View();
    this.painter = new Painter(this);
    const act = Object.fromEntries(["choosePreset", "makePreset", "setLayer", "setProminence", "setNumber", "setChance", "chooseTab", "toggleTheme", "help", "toggleTour", "upload", "paste", "resize", "setWind", "askToSave", "forgetSaved", "cancelOpening"].map((name) => [name, (...args) => this[name](...args)]));
    Object.assign(act, {
      setTool: (tool) => this.painter.setTool(tool), setMaterial: (material) => this.painter.setMaterial(material), undo: () => this.painter.undo(), redo: () => this.painter.redo(),
      setMode: (mode) => this.player.setMode(mode), play: () => this.player.toggle(), playHere: () => this.player.toggleHere(), step: () => this.player.step(), reset: () => this.player.reset(),
      setSpeed: (value) => (this.player.speed = 10 ** value), take: (what) => take(this, what).catch((error) => this.failed(error)), addPanel: () => this.addPanel(),
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
    this.link = new Link(() => this.connected(), (refused) => this.away(refused));
  }

  // ---- beginning -------------------------------------------------------------------------------------------------

  async connected() {
    this.back();
    if (this.world) return this.reconnect();
    const parameters = new URLSearchParams(location.hash.slice(1));
    this.showTour(recall("tour") === null);
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
      const kept = parameters.get("world");
      if (map) await this.openMap(map, Number(parameters.get("wind")) || 0);
      else if (kept === "file" && recall("file")) await this.openFile(...JSON.parse(recall("file")));
      else if (kept === "own" || kept === "file") throw new Error("This link does not carry its world, and this browser has not kept it. Open the map or file that came with it.");
      else await this.open(readSource(parameters) ?? this.settings.world ?? { kind: "named", name: "four_rooms" });
      this.restore(parameters);
    } catch (error) {
      this.failed(error);
      if (error.name === "Error") await this.open({ kind: "named", name: "four_rooms" });
    }
  }

  async openMap(text, wind) {
    const { source, cells } = await readMap(text, this.limits.cells);
    await this.open({ ...source, wind }, { cells });
  }

  readParameters(parameters) {
    this.t = Math.round(numberOf(parameters, "t", 1, this.limits.t)) || 4;
    this.nOptions = Math.round(numberOf(parameters, "k", 1, 40)) || null;
    this.chance = numberOf(parameters, "p", 0.01, 0.9) || null;
    this.prominence = numberOf(parameters, "prominence", 0, 1);
    for (const panel of this.panels.splice(0)) this.dropPanel(panel);
    const known = this.settings.methods.map((method) => method.name);
    const methods = (parameters.get("methods") ?? "diffusion").split(",").filter((name) => known.includes(name)).slice(0, this.limits.panels);
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

  // The server has forgotten this tab: it is told everything again, and the page keeps what can be undone.
  async reconnect() {
    try {
      const { source, arrays } = this.snapshot();
      await this.open(source, arrays, true);
    } catch (error) {
      this.failed(error);
    }
  }

  picture() {
    return picture(this);
  }

  // ---- when something goes wrong -----------------------------------------------------------------------------------

  // A superseded question is no news, and that the server is away is said in one place.
  failed(error, say = (text) => this.complain(text)) {
    if (error.name === "AbortError") return;
    if (error.name === "Offline") this.away();
    else say(error.message);
  }

  away(refused = this.refused) {
    this.refused = refused;
    this.status("");
    this.complain(refused ? "The server was started again. Open the address that it printed in this browser, and this page goes on." : "The server does not answer. This page keeps its world, and goes on when the server is back.");
    clearTimeout(this.alertTimer);
  }

  back() {
    this.refused = false;
    this.status("");
    this.ui.alert.hidden = true;
  }

  ask(header, arrays, onPart) {
    return this.link.ask({ t: this.t, n_options: this.nOptions, min_prominence: this.leastProminence(), ...header }, arrays, onPart);
  }

  // ---- worlds ----------------------------------------------------------------------------------------------------

  // Opens a world in place of the one that is shown, which can be undone; `again`: it is the same world.
  async open(source, arrays = {}, again = false) {
    const before = this.world && !again ? this.snapshot() : null;
    this.status("Opening the world …");
    this.ui.cancel.hidden = !this.world;
    try {
      const answer = await this.link.ask({ do: "open", channel: "world", source, version: ++this.version }, arrays, (part) => this.showOpening(part));
      this.source = source;
      this.sourceArrays = arrays;
      this.wind = source.wind ?? 0;
      this.savedName = again ? this.savedName : null;
      this.setWorld(makeWorld(answer), answer.version);
      if (before) this.painter.opened(before, this.snapshot());
    } finally {
      this.status("");
      this.ui.cancel.hidden = true;
    }
  }

  showOpening(part) {
    if (part.states) this.status(`Opening the world … ${part.states.toLocaleString("en-US")} states found`);
  }

  cancelOpening() {
    this.link.cancel("world");
    this.version = this.applied;
    this.status("");
    this.ui.cancel.hidden = true;
    this.showSource();
    this.tell("Stopped.");
  }

  async reopen({ source, arrays }) {
    return this.open(source, arrays, true).then(() => true, (error) => this.failed(error));
  }

  setWorld(world, version) {
    this.applied = version;
    this.world = world;
    this.from = -1;
    this.held = null;
    this.scored = this.computed = null;
    if (this.layer === "visits" || this.layer === "distance") this.layer = "score";
    this.ui.score.layers.set(this.layer);
    this.ui.options.picked.textContent = "";
    this.hover(null, -1);
    if (!world.editable) this.painter.setTool("look");
    this.ui.world.paintBox.hidden = !world.editable;
    this.ui.world.wind.set(this.wind);
    this.ui.options.usual.text = world.n > this.limits.manyStates ? String(this.limits.optionsOfMany) : "all";
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
    this.showSlices();
    if (world.log) {
      this.setFrom(world.first);
      this.ui.options.picked.textContent = "Click any cell: the goal policy of the log shows its way there from the marked one.";
    }
    this.refresh();
    this.keep();
  }

  edit(places, codes) {
    this.holdPicks();
    this.source = { kind: "cells", rows: this.world.rows, cols: this.world.cols, wind: this.wind, name: this.world.name };
    this.link.ask({ do: "edit", version: ++this.version, wind: this.wind }, { places, codes })
      .then((answer) => this.edited(answer))
      .catch((error) => this.failed(error, (text) => this.status(text)));
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
    if (!this.world.stale) this.restorePicks();
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
}
