// The page: header, the world on the left, panels in the middle, options, agents and files on the right.
import { choice, h, slider } from "./dom.js";
import { MATERIALS } from "./map.js";
import { GRADIENT } from "./palette.js";

export const INTRO = [
  "Bright cells are where a random walk seldom comes: they are the far points of this world.",
  "Each circle is an option, a skill that leads there from anywhere.",
  "Slide t, paint a wall, or press play.",
];

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
  const preset = h("select", { "aria-label": "World", id: "world-select", onchange: () => act.choosePreset(preset.value) },
    h("optgroup", { label: "The paper's worlds" }, option("named four_rooms", "4Rooms"), option("named maze", "Maze"), option("named ring", "Ring")),
    h("optgroup", { label: "Grids of any size" }, option("open_room", "Open room"), option("random_maze", "Random maze")),
    h("optgroup", { label: "Gymnasium" }, ...settings.envs.map((name) => option(`env ${name}`, name.replace(/-v\d+$/, ""))), option("env ", "Another, by name …")),
    h("optgroup", { label: "Graphs" }, ...settings.graphs.map((name) => option(`graph ${name}`, name))),
    h("option", { value: "own", disabled: true }, "Your own"));
  const rows = numberInput("Rows", 13, 1, 2000);
  const cols = numberInput("Columns", 13, 1, 2000);
  const seed = numberInput("Seed", 0, 0, 1e9);
  const wall = numberInput("Share of walls", 0.25, 0, 0.6, 0.05);
  const envName = h("input", { type: "text", placeholder: "MiniGrid-Empty-8x8-v0", "aria-label": "Name of the environment", spellcheck: "false" });
  const make = button("Make", "Make this world", () => act.makePreset(), "strong");
  const size = h("div", { class: "row" }, field("Rows", rows), field("Columns", cols));
  const maze = h("div", { class: "row" }, field("Seed", seed), field("Walls", wall));
  const byName = h("div", { class: "row" }, field("Environment", envName));
  const tools = choice("Tool", [["look", "Look", "Look: click a cell or a goal (V)"], ["brush", "Brush", "Paint cells (B)"], ["box", "Box", "Paint a rectangle (R)"], ["fill", "Fill", "Fill a region (F)"]], act.setTool);
  const materials = choice("Paint with", MATERIALS.map((name, index) => [String(index), name, `Paint with ${name.toLowerCase()} (${index + 1})`]), (name) => act.setMaterial(Number(name)));
  const undo = button("Undo", "Undo (Ctrl+Z)", act.undo);
  const redo = button("Redo", "Redo (Ctrl+Shift+Z)", act.redo);
  const resize = button("Resize", "Resize the map to these rows and columns", act.resize);
  const wind = slider("Wind", { min: 0, max: 0.5, step: 0.05, value: 0, show: (value) => (value ? value.toFixed(2) : "none"), change: act.setWind });
  const file = h("input", { type: "file", hidden: true, accept: ".txt,.map,.png,.graphml,.xml,.edges,.edgelist,.csv", onchange: () => act.upload(file.files[0]) });
  const paintBox = h("div", { class: "stack" }, tools, materials, h("div", { class: "row" }, undo, redo), wind);
  const section = h("section", { class: "side left", "aria-label": "World" },
    h("h2", {}, "World"), preset, size, maze, byName, h("div", { class: "row" }, make, resize), paintBox,
    h("div", { class: "row" }, button("Open …", "Open a map (text, PNG) or a graph (GraphML, edge list)", () => file.click()), button("Paste …", "Paste a map as text", act.paste)), file);
  return { section, preset, rows, cols, seed, wall, envName, size, maze, byName, make, resize, tools, materials, undo, redo, wind, paintBox, file };
}

function scoreBar(act) {
  const layers = choice("Heat map", [["score", "Score", "The score f_t of every state"], ["stationary", "π₀", "The stationary distribution of the walk"], ["distance", "Distance", "Diffusion distance from the clicked state"], ["visits", "Visits", "How often the agents came"]], act.setLayer);
  const curve = h("svg", { class: "curve", role: "img", "aria-label": "Number of goals over t; click to choose t" });
  const time = h("input", { type: "range", min: 0, max: 3, step: 0.0001, value: Math.log10(4), "aria-label": "Diffusion time t", id: "t-slider" });
  const exact = h("input", { type: "number", min: 1, max: 1000, step: 1, value: 4, "aria-label": "Diffusion time t, as a number", id: "t-number" });
  const count = h("strong", { id: "n-goals", "aria-live": "polite" }, "…");
  const prominence = slider("Least prominence", { min: 0, max: 100, step: 1, value: 0, show: (value) => (value ? `${value} %` : "any"), change: act.setProminence });
  const bar = h("section", { class: "scorebar", "aria-label": "Score" },
    h("div", { class: "count" }, count, h("span", { id: "goals-word" }, "goals")),
    h("div", { class: "time" }, curve, time, h("div", { class: "ticks", "aria-hidden": "true" }, ...["1", "10", "100", "1000"].map((text) => h("span", {}, text)))),
    h("label", { class: "exact" }, h("span", {}, "t ="), exact),
    h("div", { class: "stack layer" }, layers, prominence));
  return { bar, layers, curve, time, exact, count, prominence };
}

function optionsTab(act) {
  const usual = { text: "all" };
  const number = slider("Options per method", { min: 0, max: 40, step: 1, value: 0, show: (value) => (value ? String(value) : usual.text), change: act.setNumber });
  const chance = slider("Option probability", { min: 0, max: 90, step: 1, value: 0, show: (value) => (value ? `${value} %` : "by the options"), change: act.setChance });
  const table = h("div", { class: "table", "aria-live": "polite" });
  const add = button("Add a panel", "Show another method beside the others", act.addPanel, "strong");
  const picked = h("p", { class: "note", id: "picked" });
  return { body: h("div", { class: "stack" }, add, number, chance, picked, h("h3", {}, "Steps between states, exactly"), table), number, usual, chance, table, add, picked };
}

function agentsTab(act) {
  const mode = choice("Agent", [["random", "Random", "An agent that acts at random, with and without options"], ["learn", "Q-learning", "Q-learning towards a target"], ["scratch", "From scratch", "Exploring a world of which nothing is known"]], act.setMode);
  const play = button("Play", "Play or pause (Space)", act.play, "strong");
  const step = button("Step", "One step (S)", act.step);
  const reset = button("Reset", "Begin again", act.reset);
  const speed = slider("Speed", { min: 0, max: 5, step: 0.1, value: 1.6, show: (value) => `${Math.round(10 ** value).toLocaleString("en-US")} per second`, change: act.setSpeed });
  const chart = h("canvas", { class: "chart", role: "img", "aria-label": "Curve" });
  const legend = h("div", { class: "legend" });
  const say = h("p", { class: "note", "aria-live": "polite", id: "agent-note" });
  return { body: h("div", { class: "stack" }, mode, h("div", { class: "row" }, play, step, reset), speed, chart, legend, say), mode, play, step, reset, speed, chart, legend, say };
}

function takeTab(act) {
  const item = (text, title, what) => h("button", { type: "button", class: "wide", id: `take-${what}`, title, onclick: () => act.take(what) }, h("b", {}, text), h("span", {}, title));
  return { body: h("div", { class: "stack" },
    item("Copy as Python", "The lines that compute this again", "python"), item("Copy link", "An address that shows this page", "link"),
    item("PNG", "The panels as a picture", "png"), item("SVG", "The panels as vector graphics", "svg"),
    item("options.npz", "The options of the first panel, for OptionSet.load", "npz"), item("Map as text", "map.txt, for farpoint discover", "text")) };
}

export function layout(root, settings, act) {
  const world = worldSection(settings, act);
  const score = scoreBar(act);
  const options = optionsTab(act);
  const agents = agentsTab(act);
  const take = takeTab(act);
  const bodies = { options: options.body, agents: agents.body, take: take.body };
  const tabs = choice("Section", [["options", "Options"], ["agents", "Agents"], ["take", "Take away"]], act.setTab);
  const title = h("span", { class: "title", id: "world-title" });
  const status = h("span", { class: "status", role: "status", id: "status" });
  const header = h("header", {}, h("h1", {}, "Farpoint ", h("em", {}, "Studio")), title, status,
    h("div", { class: "row" }, button("◐", "Light or dark (D)", act.toggleTheme, "icon"), button("?", "Keys", act.help, "icon")));
  const intro = h("aside", { class: "intro", hidden: true }, h("p", {}, INTRO.join(" ")), button("×", "Close this text", act.closeIntro, "icon"));
  const panels = h("div", { class: "panels" });
  const [low, high, hover, solver] = [h("span", {}), h("span", {}), h("span", { class: "hover", id: "hover" }), h("span", { class: "solver", id: "solver" })];
  const legend = h("div", { class: "scale" }, low, h("div", { class: "bar", style: `background: ${GRADIENT}` }), high, hover, solver);
  const alert = h("div", { class: "alert", role: "alert", id: "alert", hidden: true });
  const spoken = h("div", { class: "spoken", "aria-live": "polite", id: "spoken" });
  const right = h("section", { class: "side right", "aria-label": "Options, agents and files" }, tabs, ...Object.values(bodies));
  const middle = h("main", { class: "middle" }, intro, score.bar, panels, legend);
  root.classList.add("fp");
  root.replaceChildren(header, h("div", { class: "body" }, world.section, middle, right), alert, spoken);
  return { root, world, score, options, agents, take, tabs, bodies, title, status, intro, panels, low, high, hover, solver, alert, spoken, right };
}
