// Agents on the panels: steps come from the server in chunks, the page plays them at any speed.
import { drawChart } from "./charts.js";
import { h } from "./dom.js";
import { number } from "./palette.js";

const TRAIL = 40;
const CHUNK_SECONDS = 1.5;
const MOST_STEPS = 200000;

export class Player {
  constructor(app) {
    this.app = app;
    this.mode = "random";
    this.speed = 40;
    this.playing = false;
    this.runs = [];
    this.ready = false;
    this.credit = 0;
  }

  get panels() {
    return this.app.panels;
  }

  setMode(mode) {
    this.stop();
    this.mode = mode;
    this.reset();
    if (mode === "learn" && this.app.layer === "visits") this.app.setLayer("score");
    this.app.ui.agents.mode.set(mode);
    this.app.keep();
  }

  reset() {
    this.stop();
    this.ready = false;
    this.runs = [];
    this.steps = 0;
    this.app.link.cancel("learn");
    this.app.link.cancel("explore");
    for (const panel of this.panels) {
      panel.agent = -1;
      panel.trail = null;
      panel.path = null;
      panel.found = null;
      panel.target = undefined;
      if (panel.field) panel.field.known = null;
    }
    this.app.refreshGoals();
    this.app.showLayer();
    this.say("");
    this.drawCurve();
  }

  say(text) {
    this.app.ui.agents.say.textContent = text;
  }

  async prepare() {
    if (this.ready) return true;
    // Alone a panel would show options without what they are better than.
    if (this.panels.length === 1 && this.panels[0].method !== "none") this.app.addPanel("none");
    const { world } = this.app;
    for (const panel of this.panels) this.app.deselect(panel);
    this.runs = this.panels.map((panel) => ({ panel, states: [], at: 0, visits: new Float32Array(world.n), seen: 0, most: 0, x: this.mode === "learn" ? [] : [0], y: this.mode === "learn" ? [] : [0], asking: false, length: 0 }));
    this.steps = 0;
    const version = this.app.applied;
    try {
      if (this.mode === "random") await Promise.all(this.runs.map((run, index) => this.more(run, index, true)));
      else if (this.mode === "learn") await this.learn();
      else await this.explore();
    } catch (error) {
      this.app.complain(error.message);
      return false;
    }
    if (version !== this.app.applied) return false;
    this.ready = true;
    if (this.mode !== "learn" && this.app.layer !== "visits") this.app.setLayer("visits");
    return true;
  }

  async more(run, index, begin = false) {
    run.asking = true;
    const steps = Math.max(500, Math.min(MOST_STEPS, Math.round(this.speed * CHUNK_SECONDS)));
    const answer = await this.app.ask({ do: "walk", channel: `walk${index}`, panel: index, begin, steps, method: run.panel.method, probability: this.app.chance, seed: 0 });
    if (!this.runs.includes(run)) return;
    run.asking = false;
    run.first = answer.first;
    const rest = run.states.subarray ? run.states.subarray(run.at) : [];
    const joined = new Int32Array(rest.length + answer.states.length);
    joined.set(rest);
    joined.set(answer.states, rest.length);
    run.states = joined;
    run.at = 0;
    if (begin) this.visit(run, answer.first, false);
  }

  async learn() {
    this.say("Learning …");
    const { app } = this;
    const target = app.from >= 0 && app.from !== app.world.start ? app.from : null;
    const answer = await app.ask({ do: "learn", panels: app.panelList(), probability: app.chance, target, episodes: 200 }, {}, (part) => this.say(`Learning … ${Math.round(100 * part.progress)} %`));
    this.runs.forEach((run, index) => {
      run.curve = answer[`curve${index}`];
      run.episodes = answer[`episodes${index}`];
      run.visits = answer[`visits${index}`];
      const lengths = answer[`lengths${index}`];
      let begin = 0;
      run.paths = Array.from(lengths, (length) => answer[`paths${index}`].subarray(begin, (begin += length)));
      run.length = run.curve.length;
      run.x = [];
      run.y = [];
    });
    this.say("Steps of the greedy policy after each episode, towards the marked target; the line on the map is its path.");
    for (const run of this.runs) run.panel.target = answer.target;
  }

  async explore() {
    this.say("Exploring …");
    const { app } = this;
    const panels = this.panels.map((panel) => ({ method: app.settings.exploring.includes(panel.method) ? panel.method : "none" }));
    const steps = Math.max(2000, Math.min(100000, 30 * app.world.n));
    const answer = await app.ask({ do: "explore", panels, steps, slots: 5, episode: 100 }, {}, (part) => this.say(`Exploring … ${Math.round(100 * part.progress)} %`));
    this.runs.forEach((run, index) => {
      run.before = answer[`before${index}`];
      run.states = answer[`after${index}`];
      run.remade = answer[`remade${index}`];
      const counts = answer[`n_goals${index}`];
      let begin = 0;
      run.goals = Array.from(counts, (count) => answer[`goals${index}`].subarray(begin, (begin += count)));
      run.length = run.states.length;
      run.known = new Uint8Array(app.world.n);
      run.panel.field.known = run.known;
      run.making = -1;
      run.panel.found = [];
      this.visit(run, run.before[0], false);
    });
    this.say("Nothing is known at first. Options to far and little known states appear as the known part grows.");
  }

  visit(run, state, counted = true) {
    if (run.known) run.known[state] = 1;
    if (run.visits[state]++ === 0) run.seen++;
    if (run.visits[state] > run.most) run.most = run.visits[state];
    run.panel.agent = state;
    if (!run.panel.trail) run.panel.trail = [];
    run.panel.trail.push(state);
    if (run.panel.trail.length > TRAIL) run.panel.trail.shift();
    if (counted && run.seen !== run.y[run.y.length - 1]) {
      run.x.push(this.steps, this.steps);
      run.y.push(run.y[run.y.length - 1], run.seen);
    }
    if (run.x.length === 1) run.y[0] = run.seen;
  }

  // Takes so many steps of every agent; fewer where the next chunk is still on its way.
  advance(count) {
    for (let step = 0; step < count; step++) {
      if (this.mode === "random" && this.runs.some((run) => run.at >= run.states.length)) break;
      if (this.mode !== "random" && this.steps >= Math.max(...this.runs.map((run) => run.length))) {
        this.stop();
        break;
      }
      this.steps++;
      for (const run of this.runs) this.advanceRun(run);
    }
    if (this.mode === "random")
      this.runs.forEach((run, index) => {
        if (!run.asking && run.states.length - run.at < this.speed) this.more(run, index).catch((error) => this.app.complain(error.message));
      });
    this.show();
  }

  advanceRun(run) {
    if (this.mode === "learn") {
      const episode = this.steps - 1;
      run.x.push(this.steps);
      run.y.push(run.curve[episode]);
      let shown = 0;
      while (shown + 1 < run.episodes.length && run.episodes[shown + 1] <= episode) shown++;
      run.panel.path = run.paths[shown];
      return;
    }
    if (this.mode === "scratch") {
      const at = this.steps - 1;
      if (run.before[at] !== run.panel.agent && run.panel.trail) run.panel.trail.push(-1);
      while (run.making + 1 < run.remade.length && run.remade[run.making + 1] <= at) run.panel.found = run.goals[++run.making];
    }
    this.visit(run, run.states[run.at++]);
  }

  show() {
    const { app } = this;
    const now = performance.now();
    for (const run of this.runs) {
      if (this.mode === "learn") {
        run.panel.board.draw();
        continue;
      }
      if (this.mode === "scratch" && run.panel.shownGoals !== run.panel.found) {
        run.panel.shownGoals = run.panel.found;
        app.showPanelHead(run.panel);
      }
      app.showVisits(run.panel, run);
    }
    // Curves are read, not watched: ten times a second will do.
    if (!this.playing || now - (this.curveDrawn ?? 0) > 100) {
      this.curveDrawn = now;
      this.drawCurve();
    }
  }

  drawCurve() {
    const { app } = this;
    const learning = this.mode === "learn";
    const series = this.runs.map((run) => ({
      x: learning ? run.x : [...run.x, this.steps], y: learning ? run.y : [...run.y, run.seen],
      color: app.colorOf(run.panel.method), dash: run.panel.method === "none" ? [5, 4] : null,
    }));
    const shared = { colors: app.colors, xMax: learning ? Math.max(10, ...this.runs.map((run) => run.length)) : Math.max(20, this.steps ?? 0) };
    if (learning) drawChart(app.ui.agents.chart, series, { ...shared, xLabel: "episodes", yLabel: "steps to the target", log: true });
    else drawChart(app.ui.agents.chart, series, { ...shared, xLabel: "steps", yLabel: "states seen", yMax: app.world?.n ?? 1 });
    app.ui.agents.legend.replaceChildren(...this.runs.map((run) => {
      const value = learning ? (run.y.length ? `${number(run.y[run.y.length - 1])} steps` : "") : `${number((100 * run.seen) / app.world.n)} %`;
      return h("span", {}, h("i", { style: `background:${app.colorOf(run.panel.method)}` }), `${app.titleOf(run.panel.method)} ${value}`);
    }));
  }

  async toggle() {
    if (this.playing) return this.stop();
    this.playing = true;
    this.label();
    if (!(await this.prepare()) || !this.playing) return this.stop();
    if (this.mode !== "random" && this.steps >= Math.max(...this.runs.map((run) => run.length))) {
      this.reset();
      this.playing = true;
      this.label();
      if (!(await this.prepare())) return this.stop();
    }
    this.credit = 0;
    let last = performance.now();
    // One loop at a time: an earlier one that was paused sees that it has been replaced.
    const turn = (this.turn = {});
    const frame = (now) => {
      if (!this.playing || this.turn !== turn) return;
      this.credit += ((now - last) / 1000) * (this.mode === "learn" ? Math.max(2, this.speed / 2) : this.speed);
      last = now;
      const count = Math.min(Math.floor(this.credit), 20000);
      this.credit -= count;
      this.frames = (this.frames ?? 0) + 1;
      if (count) this.advance(count);
      requestAnimationFrame(frame);
    };
    requestAnimationFrame(frame);
  }

  async step() {
    this.stop();
    if (await this.prepare()) this.advance(1);
  }

  stop() {
    this.playing = false;
    this.turn = null;
    this.label();
  }

  label() {
    this.app.ui.agents.play.textContent = this.playing ? "Pause" : "Play";
  }
}
