// @ts-check
// Agents on the panels: steps come from the server in chunks, the page plays them at any speed.
import { drawChart } from "./charts.js";
import { h } from "./dom.js";
import { number } from "./palette.js";

const TRAIL = 40;
const CHUNK_SECONDS = 1.5;
const MOST_STEPS = 200000;
const EPISODES = 200;
const EPISODE = 100;
const BANDS = "Of 20 runs the median and, as a band and in brackets, the middle half. The upright line is where the agents on the map are.";
const WAITING = "One run of each method so far, which may mislead; 20 runs are being computed.";

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
    for (const index of this.panels.keys()) this.app.link.cancel(`band${index}`);
    for (const panel of this.panels) {
      panel.agent = -1;
      panel.trail = null;
      panel.path = null;
      panel.found = null;
      panel.target = undefined;
      if (panel.field) panel.field.known = null;
      this.app.cover(panel, "");
    }
    this.app.refreshGoals();
    this.app.showLayer();
    this.say("");
    this.drawCurve();
  }

  say(text) {
    this.app.ui.agents.say.textContent = text;
    if (text && !text.includes("%")) this.app.announce(text);
  }

  async prepare() {
    if (this.ready) return true;
    const { world } = this.app;
    if (this.mode !== "scratch" && this.panels.some((panel) => panel.tooMany && panel.method !== "none")) {
      this.app.complain(`Play needs options: press Discover in the panel first. In a world of ${world.n.toLocaleString("en-US")} states that takes a while.`);
      return false;
    }
    // Alone a panel would show options without what they are better than.
    if (this.panels.length === 1 && this.panels[0].method !== "none") this.app.addPanel("none");
    for (const panel of this.panels) this.app.deselect(panel);
    this.runs = this.panels.map((panel) => ({ panel, states: [], at: 0, visits: new Float32Array(world.n), seen: 0, most: 0, x: this.mode === "learn" ? [] : [0], y: this.mode === "learn" ? [] : [0], asking: false, length: 0 }));
    this.steps = 0;
    this.target = null;
    this.bandSteps = Math.max(2000, Math.min(100000, 30 * world.n));
    const version = this.app.applied;
    try {
      if (this.mode === "random") await Promise.all(this.runs.map((run, index) => this.more(run, index, true)));
      else if (this.mode === "learn") await this.learn();
      else await this.explore();
    } catch (error) {
      this.app.failed(error);
      return false;
    }
    if (version !== this.app.applied) return false;
    this.ready = true;
    this.askBands();
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
    this.target = app.from >= 0 && app.from !== app.world.start ? app.from : null;
    const { target } = this;
    const answer = await app.ask({ do: "learn", panels: app.panelList(), probability: app.chance, target, episodes: EPISODES }, {}, (part) => this.say(`Learning … ${Math.round(100 * part.progress)} %`));
    this.longest = answer.longest;
    this.runs.forEach((run, index) => {
      run.curve = answer[`curve${index}`];
      run.episodes = answer[`episodes${index}`];
      run.visits = answer[`visits${index}`];
      const lengths = answer[`lengths${index}`];
      let begin = 0;
      run.paths = Array.from(lengths, (length) => answer[`paths${index}`].subarray(begin, (begin += length)));
      run.length = run.curve.length;
      run.most = run.visits.reduce((most, count) => Math.max(most, count), 0);
      run.x = [];
      run.y = [];
    });
    this.say("Steps of the greedy policy after each episode, towards the marked target; the line on the map is its path.");
    for (const run of this.runs) run.panel.target = answer.target;
  }

  async explore() {
    this.say("Exploring …");
    const { app } = this;
    this.runs = this.runs.filter((run) => this.canExplore(run.panel.method));
    for (const panel of this.panels) if (!this.canExplore(panel.method)) this.leaveOut(panel);
    if (!this.runs.length) throw new Error("A method that works from scratch must be shown; no panel has one. Choose diffusion options, for example.");
    const panels = this.runs.map((run) => ({ method: run.panel.method }));
    const answer = await app.ask({ do: "explore", panels, probability: app.chance, steps: this.bandSteps, slots: 5, episode: EPISODE }, {}, (part) => this.say(`Exploring … ${Math.round(100 * part.progress)} %`));
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

  canExplore(method) {
    return this.app.settings.exploring.includes(method);
  }

  // Most methods need the whole world; while it is only being explored they have no options.
  leaveOut(panel) {
    panel.field.known = new Uint8Array(this.app.world.n);
    panel.found = [];
    panel.shownGoals = panel.found;
    this.app.cover(panel, `Not from scratch: ${this.app.titleOf(panel.method)} need the whole world beforehand.`);
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
        if (!run.asking && run.states.length - run.at < this.speed) this.more(run, index).catch((error) => {
          // Nothing more to play: the button says so.
          this.stop();
          this.app.failed(error);
        });
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
    }
    if (this.mode !== "learn") app.showVisits();
    // Curves are read, not watched: ten times a second will do.
    if (!this.playing || now - (this.curveDrawn ?? 0) > 100) {
      this.curveDrawn = now;
      this.drawCurve();
    }
  }

  // Over 20 runs: one alone can mislead.
  askBands() {
    for (const [index, run] of this.runs.entries()) {
      const { method } = run.panel;
      const question = { do: "band", channel: `band${index}`, mode: this.mode, method, probability: this.app.chance, steps: this.bandSteps, slots: 5, episode: EPISODE, target: this.target, episodes: EPISODES };
      this.app.ask(question).then((band) => {
        if (!this.runs.includes(run)) return;
        run.band = band;
        this.drawCurve();
      }).catch((error) => this.app.failed(error));
    }
  }

  curveOf(run) {
    const style = { color: this.app.colorOf(run.panel.method), dash: run.panel.method === "none" ? [5, 4] : null };
    if (run.band) return { ...style, x: run.band.x, y: run.band.middle, low: run.band.low, high: run.band.high };
    return this.mode === "learn" ? { ...style, x: run.x, y: run.y } : { ...style, x: [...run.x, this.steps], y: [...run.y, run.seen] };
  }

  // What the agents have come to at this step: the median and the middle half of all runs.
  resultOf(run) {
    const { band } = run;
    // An episode that did not reach its target counts one step more than it may have.
    const show = (value) => (this.mode !== "learn" ? number((100 * value) / this.app.world.n) : value > this.longest ? `> ${number(this.longest)}` : number(value));
    const unit = this.mode === "learn" ? " steps" : " %";
    if (!band) return this.mode === "learn" && !run.y.length ? "" : `${show(this.mode === "learn" ? run.y.at(-1) : run.seen)}${unit}`;
    let at = band.x.findIndex((x) => x >= this.steps);
    if (at < 0) at = band.x.length - 1;
    return `${show(band.middle[at])}${unit} [${show(band.low[at])}, ${show(band.high[at])}]`;
  }

  drawCurve() {
    const { app } = this;
    const learning = this.mode === "learn";
    const banded = this.runs.some((run) => run.band);
    const longest = Math.max(0, ...this.runs.map((run) => run.band?.x.at(-1) ?? 0));
    const now = banded ? Math.min(this.steps, longest) : null;
    const shared = { colors: app.colors, now, xMax: longest || (learning ? Math.max(10, ...this.runs.map((run) => run.length)) : Math.max(20, this.steps ?? 0)) };
    const series = this.runs.map((run) => this.curveOf(run));
    if (learning) drawChart(app.ui.agents.chart, series, { ...shared, xLabel: "episodes", yLabel: "steps to the target", log: true });
    else drawChart(app.ui.agents.chart, series, { ...shared, xLabel: "steps", yLabel: "states seen", yMax: app.world?.n ?? 1 });
    app.ui.agents.legend.replaceChildren(...this.runs.map((run) => h("span", {}, h("i", { style: `background:${app.colorOf(run.panel.method)}` }), `${app.titleOf(run.panel.method)} ${this.resultOf(run)}`)));
    app.ui.agents.about.hidden = !this.runs.length;
    app.ui.agents.about.textContent = this.runs.every((run) => run.band) ? BANDS : WAITING;
    // A walk that has left its band behind asks for a longer one.
    if (this.mode === "random" && banded && this.steps > longest && this.bandSteps < MOST_STEPS && this.bandSteps <= longest) {
      this.bandSteps = Math.min(MOST_STEPS, 4 * this.bandSteps);
      this.askBands();
    }
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
      if (count) this.advance(count);
      requestAnimationFrame(frame);
    };
    requestAnimationFrame(frame);
  }

  // The button beside t; where there is room the curve of the agents is shown with it.
  toggleHere() {
    if (!this.playing) this.app.setTab("agents");
    return this.toggle();
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
    for (const button of [this.app.ui.agents.play, this.app.ui.score.play]) button.textContent = this.playing ? "❚❚ Pause" : "▶ Play";
  }
}
