// @ts-check
// The page: header, the world on the left, panels in the middle, options, agents and files on the right.
import { choice, h, slider, tablist } from "./dom.js";
import { MATERIALS } from "./map.js";
import { GRADIENT } from "./palette.js";
import { listenToTips, term } from "./tips.js";
import { icon, MARKS, TOUR, WORDS } from "./words.js";

export const PHONE = "(max-width: 720px)";

function button(text, title, click, kind = "") {
  return h("button", { type: "button", class: kind, title, "aria-label": title, onclick: click }, text);
}

function field(label, input) {
  return h("label", { class: "field" }, h("span", {}, label), input);
}

function numberInput(label, value, min, max, step = 1) {
  return h("input", { type: "number", min, max, step, value, "aria-label": label, inputmode: "decimal" });
}

function worldSection(settings, act) {
  const option = (value, text) => h("option", { value }, text);
  const saved = h("optgroup", { label: "Your worlds", hidden: true });
  const preset = h("select", { "aria-label": "World", id: "world-select", onchange: () => act.choosePreset(preset.value) },
    h("optgroup", { label: "The paper's worlds" }, option("named four_rooms", "4Rooms"), option("named maze", "Maze"), option("named ring", "Ring")),
    h("optgroup", { label: "Grids of any size" }, option("open_room", "Open room"), option("random_maze", "Random maze")),
    h("optgroup", { label: "Gymnasium" }, ...settings.envs.map((name) => option(`env ${name}`, name.replace(/-v\d+$/, ""))), option("env ", "Another, by name …"), option("continuous", "Continuous maze")),
    h("optgroup", { label: "Graphs" }, ...settings.graphs.map((name) => option(`graph ${name}`, name))),
    saved, h("option", { value: "own", disabled: true }, "Your own"));
  const rows = numberInput("Rows", 13, 1, 2000);
  const cols = numberInput("Columns", 13, 1, 2000);
  const seed = numberInput("Seed", 0, 0, 1e9);
  const wall = numberInput("Share of walls", 0.25, 0, 0.6, 0.05);
  const envName = h("input", { type: "text", placeholder: "MiniGrid-Empty-8x8-v0", "aria-label": "Name of the environment", spellcheck: "false", onkeydown: (event) => event.key === "Enter" && act.makePreset() });
  const make = button("Make", "Make this world; Undo brings the one before back", act.makePreset, "strong");
  const size = h("div", { class: "row" }, field("Rows", rows), field("Columns", cols));
  const maze = h("div", { class: "row" }, field("Seed", seed), field("Walls", wall));
  const byName = h("div", { class: "row" }, field("Environment", envName));
  const tools = choice("Tool", [["look", "Look", "Look: click a cell or a goal (V)"], ["brush", "Brush", "Paint cells (B)"], ["box", "Box", "Paint a rectangle (R)"], ["fill", "Fill", "Fill a region (F)"]], act.setTool);
  const materials = choice("Paint with", MATERIALS.map((name, index) => [String(index), name, `Paint with ${name.toLowerCase()} (${index + 1})`]), (name) => act.setMaterial(Number(name)));
  const undo = button("Undo", "Undo (Ctrl+Z)", act.undo);
  const redo = button("Redo", "Redo (Ctrl+Shift+Z)", act.redo);
  const resize = button("Resize", "Resize the map to these rows and columns", act.resize);
  const wind = slider(term("Wind", WORDS.wind), { label: "Wind", min: 0, max: 0.5, step: 0.05, value: 0, show: (value) => (value ? value.toFixed(2) : "none"), change: act.setWind });
  const file = h("input", { type: "file", hidden: true, accept: ".txt,.map,.png,.graphml,.xml,.edges,.edgelist,.csv,.npz", onchange: () => act.upload(file.files[0]) });
  const paintBox = h("div", { class: "stack" }, tools, materials, wind);
  const forget = button("Forget", "Delete this world from your worlds", act.forgetSaved);
  const section = h("section", { class: "side left", "aria-label": "World" },
    h("h2", {}, "World"), preset, size, maze, byName, h("div", { class: "row" }, make, resize), paintBox, h("div", { class: "row" }, undo, redo),
    h("div", { class: "row" }, button("Open …", "Open a map (text, PNG), a graph (GraphML, edge list) or a log (npz, CSV)", () => file.click()), button("Paste …", "Paste a map as text", act.paste)),
    h("div", { class: "row" }, button("Save …", "Keep this world in this browser, under a name", act.askToSave), forget), file);
  return { section, preset, saved, forget, rows, cols, seed, wall, envName, size, maze, byName, make, resize, tools, materials, undo, redo, wind, paintBox, file };
}

function scoreBar(act) {
  const layers = choice("Heat map", [["score", "Score", WORDS.score], ["stationary", "π₀", WORDS.stationary], ["distance", "Distance", WORDS.distance], ["visits", "Visits", WORDS.visits]], act.setLayer, "data-tip");
  const curve = h("svg", { class: "curve", role: "img", "aria-label": "Number of goals over t; click to choose t" });
  const time = h("input", { type: "range", min: 0, max: 3, step: 0.0001, value: Math.log10(4), "aria-label": "Diffusion time t", id: "t-slider" });
  const exact = h("input", { type: "number", min: 1, max: 1000, step: 1, value: 4, "aria-label": "Diffusion time t, as a number", id: "t-number" });
  const count = h("strong", { id: "n-goals" }, "…");
  const word = h("button", { type: "button", class: "term", "data-tip": WORDS.goals, id: "goals-word" }, "goals");
  const prominence = slider(term("Least prominence", WORDS.prominence), { label: "Least prominence", min: 0, max: 100, step: 1, value: 0, show: (value) => (value ? `${value} %` : "any"), change: act.setProminence });
  const play = button("Play", "Play or pause (Space)", act.playHere, "strong play");
  play.dataset.tour = "3";
  const bar = h("section", { class: "scorebar", "aria-label": "Score" },
    h("div", { class: "count" }, count, word),
    h("div", { class: "time", "data-tour": "2" }, curve, time, h("div", { class: "ticks", "aria-hidden": "true" }, ...["1", "10", "100", "1000"].map((text) => h("span", {}, text)))),
    h("div", { class: "now" }, h("label", { class: "exact" }, term("t =", WORDS.t), exact), play),
    h("div", { class: "stack layer" }, layers, prominence));
  return { bar, layers, curve, time, exact, count, word, prominence, play };
}

function optionsTab(act) {
  const usual = { text: "all" };
  const number = slider(term("Options per method", WORDS.number), { label: "Options per method", min: 0, max: 40, step: 1, value: 0, show: (value) => (value ? String(value) : usual.text), change: act.setNumber });
  const chance = slider(term("Option probability", WORDS.probability), { label: "Option probability", min: 0, max: 90, step: 1, value: 0, show: (value) => (value ? `${value} %` : "automatic"), change: act.setChance });
  const table = h("div", { class: "table" });
  const add = button("Compare another method", "Show another method beside the others", act.addPanel, "strong");
  const picked = h("p", { class: "note", id: "picked" });
  const shot = h("canvas", { class: "shot", role: "img", "aria-label": "The environment's own picture" });
  const picture = h("figure", { hidden: true }, shot, h("figcaption", { class: "note" }));
  return { body: h("div", { class: "stack" }, add, picture, number, chance, picked, h("h3", {}, "Steps that an agent needs"), table), number, usual, chance, table, add, picked, picture, shot };
}

function agentsTab(act) {
  const mode = choice("Agent", [["random", "Random", "An agent that acts at random, with and without options"], ["learn", "Q-learning", "Q-learning towards a target"], ["scratch", "From scratch", "Exploring a world of which nothing is known"]], act.setMode);
  const play = button("Play", "Play or pause (Space)", act.play, "strong");
  const step = button("Step", "One step (S)", act.step);
  const reset = button("Reset", "Begin again", act.reset);
  const speed = slider("Speed", { label: "Speed", min: 0, max: 5, step: 0.1, value: 1.6, show: (value) => `${Math.round(10 ** value).toLocaleString("en-US")} per second`, change: act.setSpeed });
  const chart = h("canvas", { class: "chart", role: "img", "aria-label": "Curve" });
  const legend = h("div", { class: "legend" });
  const about = h("p", { class: "note", hidden: true });
  const say = h("p", { class: "note", id: "agent-note" });
  return { body: h("div", { class: "stack" }, mode, h("div", { class: "row" }, play, step, reset), speed, chart, legend, about, say), mode, play, step, reset, speed, chart, legend, about, say };
}

function takeTab(act) {
  const item = (text, title, what) => h("button", { type: "button", class: "wide", id: `take-${what}`, title, onclick: () => act.take(what) }, h("b", {}, text), h("span", {}, title));
  return { body: h("div", { class: "stack" },
    item("Copy as Python", "The lines that compute this again", "python"), item("Copy link", "An address that shows this page", "link"),
    item("PNG", "The panels and the color bar as a picture, at double size", "png"), item("SVG", "The panels as vector graphics", "svg"),
    item("States as CSV", "A row per state: where it is, what the map shows, whose goal it is", "states"), item("Table as CSV", "The table of steps, a row per method", "table"),
    item("options.npz", "The options of the first panel, for OptionSet.load", "npz"), item("Map as text", "map.txt, for farpoint discover", "text")) };
}

export function layout(root, settings, act) {
  const world = worldSection(settings, act);
  const score = scoreBar(act);
  const options = optionsTab(act);
  const agents = agentsTab(act);
  const take = takeTab(act);
  // On a phone the world is a tab of the sheet below the map.
  const bodies = { world: h("div", { class: "stack" }), options: options.body, agents: agents.body, take: take.body };
  const tabs = tablist("Section", [["world", "World"], ["options", "Options"], ["agents", "Agents"], ["take", "Take away"]], bodies, act.chooseTab);
  const title = h("span", { class: "title", id: "world-title" });
  const status = h("span", { class: "status", id: "status" });
  const cancel = button("Cancel", "Stop opening, and keep the world that is shown", act.cancelOpening);
  cancel.hidden = true;
  const header = h("header", {}, h("h1", {}, "Farpoint ", h("em", {}, "Studio")), title, status, cancel,
    h("div", { class: "row" }, button("Tour", "What is to be seen here, in three sentences", act.toggleTour, "icon text"), button("Keys", "Keys of the keyboard (?)", act.help, "icon text keys"), button("◐", "Light or dark (D)", act.toggleTheme, "icon")));
  const tour = h("aside", { class: "tour", "aria-label": "Tour", hidden: true }, h("ol", {}, ...TOUR.map((sentence) => h("li", {}, sentence))), button("×", "Close the tour", act.toggleTour, "icon"));
  const panels = h("div", { class: "panels", "data-tour": "1" });
  const marks = h("div", { class: "marks", role: "group", "aria-label": "Legend" }, ...MARKS.map(([name, text, meaning]) => term(text, meaning, icon(name))));
  const afar = h("span", { class: "afar", id: "afar" });
  marks.append(afar);
  const slices = h("div", { class: "slices", role: "group", "aria-label": "Which states of a cell are shown", hidden: true });
  const [hover, solver] = [h("span", { class: "hover", id: "hover" }), h("span", { class: "solver", id: "solver" })];
  const ticks = h("div", { class: "bar-ticks", id: "bar-ticks" });
  const scale = h("div", { class: "scale" }, h("div", { class: "bar" }, h("div", { class: "bar-colors", style: `background: ${GRADIENT}` }), ticks), hover, solver);
  const alert = h("div", { class: "alert", role: "alert", id: "alert", hidden: true });
  const spoken = h("div", { class: "spoken", "aria-live": "polite", id: "spoken" });
  const right = h("section", { class: "side right", "aria-label": "Options, agents and files", "data-open": "false" }, tabs, h("div", { class: "sheet" }, ...Object.values(bodies)));
  const middle = h("main", { class: "middle" }, tour, score.bar, slices, panels, marks, scale);
  const body = h("div", { class: "body" }, world.section, middle, right);
  root.classList.add("fp");
  root.replaceChildren(header, body, alert, spoken);
  listenToTips(root);
  const phone = matchMedia(PHONE);
  const place = () => {
    if (phone.matches) bodies.world.append(world.section);
    else body.prepend(world.section);
    (phone.matches ? options.body : score.bar.querySelector(".layer")).append(score.prominence);
  };
  phone.addEventListener("change", () => {
    place();
    act.chooseTab("options");
  });
  place();
  return { root, world, score, options, agents, take, tabs, bodies, title, status, cancel, tour, slices, panels, ticks, afar, hover, solver, alert, spoken, right };
}
