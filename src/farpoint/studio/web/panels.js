// @ts-check
// Panels: one method each, side by side on the same world, and the option that was clicked in each.
import { Board } from "./board.js";
import { h } from "./dom.js";
import { Field } from "./field.js";
import { seenOn } from "./palette.js";
import { isShown, placeName, stateAt } from "./world.js";

export const panelMethods = {
  methodOf(name) {
    return this.settings.methods.find((method) => method.name === name) ?? { title: name, color: "#888888" };
  },

  titleOf(name) {
    return this.methodOf(name).title;
  },

  colorOf(name) {
    return seenOn(this.colors.back, this.methodOf(name).color);
  },

  captionOf(panel) {
    const preview = this.scored?.preview ? " (from neighboring t)" : "";
    return `${this.titleOf(panel.method)}, ${this.world.name}, t = ${this.scored?.t ?? this.t}${preview}`;
  },

  panelList() {
    return this.panels.map((panel) => ({ method: panel.method }));
  },

  addPanel(method = null, ask = true) {
    if (this.panels.length >= this.limits.panels) return;
    const used = this.panels.map((panel) => panel.method);
    const next = method ?? this.settings.methods.map((one) => one.name).find((name) => !used.includes(name)) ?? "diffusion";
    const panel = { method: next, option: -1, agent: -1, shownGoals: [], options: [], waiting: false };
    const { painter } = this;
    const canvas = h("canvas", { tabindex: 0, role: "application", "data-tool": painter.tool });
    panel.dot = h("i", {});
    panel.select = h("select", { "aria-label": "Method of this panel", onchange: () => this.setMethod(panel, panel.select.value) },
      ...this.settings.methods.map(({ name, title }) => h("option", { value: name }, title)));
    panel.count = h("span", {});
    panel.finder = h("button", { type: "button", hidden: true, title: "Discover 20 options in this large world", onclick: () => this.askOptions(panel, true) }, "Discover");
    panel.closer = h("button", { type: "button", class: "icon", title: "Close this panel", "aria-label": "Close this panel", onclick: () => this.removePanel(panel) }, "×");
    panel.covered = h("p", { class: "covered", hidden: true });
    panel.element = h("article", { class: "panel" }, h("div", { class: "panel-head" }, panel.dot, panel.select, panel.count, panel.finder, panel.closer), canvas, panel.covered);
    panel.board = new Board(canvas, this.view, {
      down: (board, hit) => painter.down(board, hit), move: (board, hit, pressed) => painter.move(board, hit, pressed), up: (board, hit) => painter.up(board, hit),
      abort: () => painter.abort(), leave: () => this.hover(null, -1), moved: () => this.moved(), key: (board, event) => painter.key(board, event),
      focus: (board) => this.focusBoard(board), looking: () => painter.tool === "look",
    });
    panel.board.panel = panel;
    panel.board.colors = this.colors;
    this.panels.push(panel);
    this.ui.panels.append(panel.element);
    this.arrange();
    if (this.world) this.attach(panel);
    if (ask && this.world) {
      if (method === null) this.player.reset();
      this.askOptions(panel);
      this.refreshGoals();
      this.askTable();
      this.keep();
    }
  },

  dropPanel(panel) {
    clearTimeout(panel.timer);
    panel.board.destroy();
    panel.element.remove();
  },

  removePanel(panel) {
    if (this.panels.length === 1) return;
    this.panels.splice(this.panels.indexOf(panel), 1);
    this.dropPanel(panel);
    this.arrange();
    this.player.reset();
    // Channels are named by places, which have moved.
    for (const other of this.panels) this.askOptions(other);
    this.askTable();
    this.keep();
  },

  setMethod(panel, method) {
    panel.method = method;
    panel.options = [];
    panel.found = null;
    this.player.reset();
    this.askOptions(panel);
    this.refreshGoals();
    this.askTable();
    this.keep();
  },

  arrange() {
    this.ui.panels.dataset.count = this.panels.length;
    for (const panel of this.panels) {
      panel.closer.hidden = this.panels.length === 1;
      panel.select.value = panel.method;
      this.showPanelHead(panel);
    }
    this.ui.options.add.disabled = this.panels.length >= this.limits.panels;
  },

  attach(panel) {
    panel.field = new Field(this.world, this.colors);
    Object.assign(panel, { options: [], shownGoals: [], problem: "", option: -1, arrows: null, route: null, path: null, agent: -1, trail: null, found: null, target: undefined, wanted: undefined, wantedCell: undefined });
    Object.assign(panel.board, { world: this.world, field: this.base, colors: this.colors, cursor: -1, from: -1 });
    if (panel.board.width) panel.board.fit();
    this.showPanelHead(panel);
  },

  showPanelHead(panel) {
    panel.select.value = panel.method;
    panel.dot.style.background = this.colorOf(panel.method);
    const count = (panel.found ?? panel.options ?? []).length;
    panel.count.textContent = panel.covered.textContent ? "" : panel.problem ? "not here" : panel.waiting ? "…" : panel.method === "none" ? "no options" : `${count.toLocaleString("en-US")} ${count === 1 ? "option" : "options"}`;
    panel.count.title = panel.problem ?? "";
    panel.finder.hidden = !panel.tooMany || panel.method === "none";
    if (panel.tooMany) panel.count.textContent = "";
    const size = this.world ? `${this.world.name}, ${this.world.n} states` : "";
    panel.board.canvas.setAttribute("aria-label", `${this.titleOf(panel.method)} on ${size}. Arrow keys move, Enter clicks or paints.`);
  },

  // Says over a panel's map why nothing is shown on it.
  cover(panel, text) {
    panel.covered.textContent = text;
    panel.covered.hidden = !text;
    this.showPanelHead(panel);
  },

  // A click with the Look tool: on a goal it chooses the option, elsewhere the state to begin from.
  click(board, hit) {
    const state = stateAt(this.world, hit);
    if (state < 0) return this.clearPick();
    const { panel } = board;
    const goals = this.isSettled(panel) ? Array.from(panel.options ?? []) : [];
    const cell = this.world.drawn === "map" ? this.world.stateCell[state] : state;
    const option = goals.findIndex((goal) => isShown(this.world, goal) && (this.world.drawn === "map" ? this.world.stateCell[goal] === cell : goal === state));
    if (this.world.log) this.askWay(state);
    else if (option >= 0) this.pick(panel, option);
    else this.setFrom(state);
  },

  // In a log every state is a goal: the way there, from the start or from where the last way was told to end.
  async askWay(goal) {
    const from = this.from >= 0 ? this.from : this.world.first;
    try {
      const answer = await this.ask({ do: "goal", channel: "goal", state: from, goal });
      if (answer.version !== this.applied) return;
      for (const panel of this.panels) {
        Object.assign(panel, { option: -1, arrows: null, route: answer.states, target: goal });
      }
      const text = `To ${placeName(this.world, goal)}: ${answer.states.length} cells, by the goal policy of the log. Click another goal. `;
      const begin = h("button", { type: "button", onclick: () => this.setFrom(goal) }, "Begin there");
      this.ui.options.picked.replaceChildren(text, begin);
      this.setTab("options");
      this.drawAll();
    } catch (error) {
      this.failed(error);
    }
  },

  setFrom(state) {
    this.from = state;
    for (const panel of this.panels) {
      panel.board.from = state;
      if (panel.option >= 0) this.askRoute(panel);
    }
    if (this.layer === "distance") this.askScore();
    this.askPicture(state);
    this.drawAll();
    this.keep();
  },

  clearPick() {
    this.from = -1;
    for (const panel of this.panels) {
      panel.board.from = -1;
      this.deselect(panel);
      if (this.world.log) panel.target = undefined;
    }
    this.ui.options.picked.textContent = "";
    this.drawAll();
    this.keep();
  },

  deselect(panel) {
    Object.assign(panel, { option: -1, arrows: null, route: null });
  },

  // The numbers of states mean others once a cell was painted: what was clicked is remembered by its cell.
  holdPicks() {
    const cellOf = (state) => (state >= 0 ? this.world.stateCell[state] : -1);
    this.held ??= { from: cellOf(this.from), goals: new Map(this.panels.map((panel) => [panel, cellOf(panel.options?.[panel.option] ?? -1)])) };
    this.from = -1;
    for (const panel of this.panels) {
      this.deselect(panel);
      panel.board.from = -1;
      Object.assign(panel, { options: [], shownGoals: [], wanted: undefined });
    }
    this.ui.options.picked.textContent = "";
  },

  // Shows again what was clicked, where its cell is still a state and its goal still a goal.
  restorePicks() {
    const { from, goals } = this.held ?? { from: -1, goals: new Map() };
    this.held = null;
    for (const [panel, cell] of goals) if (cell >= 0) panel.wantedCell = cell;
    if (from >= 0 && this.world.cellState[from] >= 0) this.setFrom(this.world.cellState[from]);
    else if (this.layer === "distance") this.setFrom(this.world.first);
  },

  pick(panel, option) {
    this.setTab("options");
    this.select(panel, option);
    this.keep();
  },

  select(panel, option) {
    panel.option = option;
    panel.arrows = panel.route = null;
    this.askPolicy(panel);
    this.askRoute(panel);
    this.drawAll();
  },

  // An address names options by their numbers, which count once the options are known.
  selectWanted(panel) {
    if ((panel.wanted === undefined && panel.wantedCell === undefined) || !this.isSettled(panel) || !panel.options.length) return;
    const option = panel.wanted ?? Array.from(panel.options).findIndex((goal) => this.world.stateCell[goal] === panel.wantedCell);
    panel.wanted = panel.wantedCell = undefined;
    if (option >= 0 && option < panel.options.length) this.select(panel, option);
  },

  isSettled(panel) {
    return this.scored?.t === this.t && this.scored.version === this.applied && !this.scored.preview && !panel.waiting;
  },

  async askPolicy(panel) {
    const index = this.panels.indexOf(panel);
    try {
      const answer = await this.ask({ do: "policy", channel: `policy${index}`, method: panel.method, option: panel.option });
      if (answer.version !== this.applied || panel.option !== answer.option) return;
      panel.arrows = answer;
      panel.board.draw();
    } catch (error) {
      this.failed(error);
    }
  },

  async askRoute(panel) {
    const index = this.panels.indexOf(panel);
    const state = this.from >= 0 ? this.from : this.world.first;
    const name = `Option ${panel.option} of ${this.titleOf(panel.method)}`;
    try {
      const answer = await this.ask({ do: "route", channel: `route${index}`, method: panel.method, option: panel.option, state });
      if (answer.version !== this.applied || panel.option !== answer.option) return;
      panel.route = answer.states;
      const steps = answer.states.length - 1;
      this.ui.options.picked.textContent = `${name}: ${steps} ${steps === 1 ? "step" : "steps"} from state ${state}. Click another cell to begin there.`;
    } catch (error) {
      if (error.name !== "Error") return this.failed(error);
      panel.route = null;
      this.ui.options.picked.textContent = `${name} cannot start in state ${state}. Click another cell to begin there.`;
    }
    panel.board.draw();
  },
};
