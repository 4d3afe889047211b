// @ts-check
// The questions while t is moved: the score, the goals, the options of every panel, and the number of goals over t.
import { SMALLEST_MARKED } from "./board.js";
import { isShown, showHighest } from "./world.js";

const MOST_PROMINENT = 100;
const PROMINENT_REST_MS = 1500;

export const scoreMethods = {
  refresh() {
    this.askScore();
    for (const panel of this.panels) this.askOptions(panel);
    // It is of the world alone: computed beside everything else, it goes on while t is moved.
    if (this.curveVersion !== this.version) {
      clearTimeout(this.curveTimer);
      this.link.cancel("curve");
      this.curveVersion = this.version;
      this.curveTimer = setTimeout(() => this.askCurve(), this.world.n > this.limits.manyStates ? 1500 : 150);
    }
    this.askTable();
  },

  async askScore() {
    const layer = this.layer === "visits" ? "score" : this.layer;
    // The state that distances are measured from has another number once the painted map is a world.
    if (layer === "distance" && this.from < 0) return;
    const slow = setTimeout(() => {
      this.status("Computing the score …");
      this.showLast(layer);
    }, 250);
    try {
      const answer = await this.ask({ do: "score", layer, state: Math.max(0, this.from), prominences: this.prominence > 0 }, {}, (part) => {
        if (part.preview) this.setScore(part);
        else this.status(`Computing the score … ${Math.round(100 * part.progress)} %`);
      });
      this.status("");
      this.setScore(answer);
    } catch (error) {
      this.failed(error, (text) => this.status(text));
    } finally {
      clearTimeout(slow);
    }
  },

  setScore(answer) {
    if (answer.version !== this.applied) return;
    this.scored = answer;
    if (!answer.preview) this.computed = answer;
    showHighest(this.world, answer.values);
    this.base.show(answer.values, answer.low, answer.high);
    if (!answer.preview) this.counts = [...this.counts.filter(([t]) => t !== answer.t), [answer.t, answer.goals.length]];
    this.showScore();
    this.refreshGoals();
    this.showLayer();
    this.askProminent();
  },

  // Of a large map seen from afar the most prominent goals are marked, once t rests.
  askProminent() {
    clearTimeout(this.prominentTimer);
    for (const panel of this.panels) panel.prominent = null;
    this.showAfar();
    if (this.world.n <= this.limits.manyStates || this.world.drawn !== "map" || this.scored.preview || this.scored.layer !== "score") return;
    this.prominentTimer = setTimeout(() => {
      this.ask({ do: "score", channel: "prominent", layer: "score", prominences: true }).then((answer) => this.showProminent(answer), (error) => this.failed(error));
    }, PROMINENT_REST_MS);
  },

  showProminent({ version, t, goals, prominences }) {
    if (version !== this.applied || t !== this.t) return;
    const order = Array.from(goals.keys()).sort((a, b) => prominences[b] - prominences[a]).slice(0, MOST_PROMINENT);
    for (const panel of this.panels) if (panel.method === "diffusion") panel.prominent = order.map((index) => goals[index]);
    this.showAfar();
    this.drawAll();
  },

  // Says what is seen of a map that is larger than the screen.
  showAfar() {
    const { board, prominent } = this.panels[0];
    const said = [];
    if (this.world.whole) said.push("Visits of all states of a cell.");
    else if (this.world.shared) {
      const count = (states) => `${states.filter((state) => isShown(this.world, state)).length.toLocaleString("en-US")} of ${states.length.toLocaleString("en-US")}`;
      said.push(`Shown: ${count([...Array(this.world.n).keys()])} states, ${count(Array.from(this.prominentGoals()))} goals.`);
    }
    if (this.world.drawn === "map" && this.view.scale < SMALLEST_MARKED) {
      if (board.block > 1) said.push(`Pixels: means of ${board.block} × ${board.block} cells.`);
      if (prominent) said.push(prominent.length < this.scored.goals.length ? `Circles: the ${prominent.length} most prominent goals.` : "Circles: all goals.");
    }
    this.ui.afar.textContent = said.join(" ");
  },

  // A share of the highest score.
  leastProminence() {
    return this.prominence && this.scored ? this.prominence * this.scored.high : 0;
  },

  prominentGoals() {
    if (!this.scored) return [];
    const { goals, prominences } = this.scored;
    const least = this.layer === "score" || this.layer === "visits" ? this.leastProminence() : 0;
    return least && prominences.length ? goals.filter((_, index) => prominences[index] >= least) : goals;
  },

  // Options of Algorithm 1 are the goals of the score, and known with it.
  isWhole(panel) {
    return panel.method === "diffusion" && !this.nOptions && this.world.n <= this.limits.manyStates;
  },

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
    this.ui.score.word.textContent = count === 1 ? "goal" : "goals";
    if (this.scored && !this.scored.preview) this.announce(`t = ${this.scored.t}: ${count} ${count === 1 ? "goal" : "goals"}`);
  },

  async askOptions(panel, wanted = false) {
    this.deselect(panel);
    panel.problem = "";
    clearTimeout(panel.timer);
    if (this.isWhole(panel)) return;
    panel.tooMany = this.world.n > this.limits.tableStates && !wanted;
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
        if (error.name === "AbortError") return;
        panel.waiting = false;
        panel.options = [];
        panel.problem = error.message;
        this.refreshGoals();
        this.failed(error, (text) => this.status(text));
      }
    }, this.world.n > this.limits.manyStates ? 700 : 0);
  },

  askCurve() {
    this.ask({ do: "curve", channel: "curve", ts: this.limits.curve }, {}, (part) => {
      if (part.version !== this.applied) return;
      this.counts = [...this.counts.filter(([t]) => t !== part.t), [part.t, part.n_goals]];
      this.drawCurve();
    }).catch((error) => this.failed(error, (text) => this.status(text)));
  },
};
