// @ts-check
// The exact table beside the panels: a row per method, and always one of an agent without options.
import { h } from "./dom.js";
import { number } from "./palette.js";
import { term } from "./tips.js";
import { WORDS } from "./words.js";

const COLUMNS = ["median", "mean", "worst", "cover"];
const TITLES = { first: "steps until a target" };
const LONGEST_COVER = "> 10⁶";

// A world with episodes and targets has a measure of its own.
export function columnsOf(rows) {
  return rows.some((row) => row.interval) ? ["first"] : COLUMNS;
}

// The lowest number of each column, if there is something to compare.
function bestOf(rows, columns) {
  const known = rows.filter((row) => !row.problem);
  if (known.length < 2) return {};
  const lowest = (column) => Math.min(...known.map((row) => row[column]).filter((value) => value !== null));
  return Object.fromEntries(columns.map((column) => [column, lowest(column)]));
}

function cellOf(row, column, best) {
  const value = row[column];
  const text = column === "first" ? row.interval : value !== null ? number(value) : column === "cover" ? LONGEST_COVER : "∞";
  if (value === null || value !== best[column]) return h("td", {}, text);
  return h("td", { class: "best", title: "The lowest" }, text, h("span", { class: "spoken" }, ", the lowest"));
}

// The table in a sentence: the best method compared with no options.
function headline(app, rows) {
  const column = columnsOf(rows)[0] === "first" ? "first" : "mean";
  const alone = rows.find((row) => row.method === "none")?.[column];
  const [best] = rows.filter((row) => row.method !== "none" && row[column]).sort((one, other) => one[column] - other[column]);
  if (!alone || !best) return null;
  const how = column === "first" ? ["first reaches a target", ""] : ["gets from one state to another", " on average"];
  const quicker = alone / best[column];
  const said = quicker > 1.005 ? `${number(quicker)} times quicker with ${app.titleOf(best.method)}.` : "Options do not help here.";
  return h("p", { class: "headline" }, h("b", {}, said), ` An agent that acts at random ${how[0]} in ${number(best[column])} steps${how[1]}, without options in ${number(alone)}.`);
}

export function showTable(app, table) {
  app.table = table;
  const place = app.ui.options.table;
  if (!table || table.problem) {
    place.replaceChildren(h("p", { class: "note" }, table ? table.problem : "Computing …"));
    return;
  }
  const columns = columnsOf(table.rows);
  const head = h("tr", {}, h("th", { scope: "col" }, "Method"), ...columns.map((name) => h("th", { scope: "col" }, term(TITLES[name] ?? name, WORDS[name]))));
  const best = bestOf(table.rows, columns);
  const methods = app.tableMethodsShown();
  const rows = methods.map((method, index) => {
    const row = table.rows[index];
    const name = h("th", { scope: "row" }, h("i", { style: `background:${app.colorOf(method)}` }), app.titleOf(method));
    if (!row) return h("tr", { class: "waiting" }, name, h("td", { colspan: columns.length }, "…"));
    if (row.problem) return h("tr", {}, name, h("td", { colspan: columns.length, title: row.problem }, "not defined here"));
    const about = method === "none" ? "No options" : `${row.n_options} options, taken with probability ${number(row.probability)}`;
    return h("tr", { "data-method": row.method, title: about }, name, ...columns.map((column) => cellOf(row, column, best)));
  });
  const notes = ["Lower is better."];
  const problems = table.rows.filter((row) => row.problem);
  if (problems.length) notes.push(`Not defined: ${problems[0].problem}`);
  else if (table.sampled) notes.push(`Over ${table.sampled} states drawn at random.`);
  const difficulty = table.difficulty ? [" ", term("Difficulty", WORDS.difficulty), ` of this world: ${number(table.difficulty)}.`] : [];
  const summary = table.rows.length === methods.length && !problems.length ? headline(app, table.rows) : null;
  place.replaceChildren(...(summary ? [summary] : []), h("table", {}, h("thead", {}, head), h("tbody", {}, ...rows)), h("p", { class: "note" }, notes.join(" "), ...difficulty));
}

export const tableMethods = {
  // Beside every method stands what an agent does without options.
  tableMethodsShown() {
    const methods = this.panels.map((panel) => panel.method);
    return methods.includes("none") ? methods : [...methods, "none"];
  },

  askTable() {
    clearTimeout(this.tableTimer);
    this.link.cancel("table");
    if (this.tab !== "options" || !this.world) return;
    if (this.world.n > this.limits.tableStates) return showTable(this, { rows: [], problem: `Worlds of up to ${this.limits.tableStates.toLocaleString("en-US")} states have a table.` });
    showTable(this, null);
    this.tableTimer = setTimeout(async () => {
      const rows = [];
      try {
        const answer = await this.ask({ do: "table", panels: this.tableMethodsShown().map((method) => ({ method })), probability: this.chance }, {}, (part) => {
          if (part.row === undefined) return;
          rows.push(part.row);
          showTable(this, { rows });
        });
        if (answer.version === this.applied) showTable(this, answer);
      } catch (error) {
        if (error.name === "Error") showTable(this, { rows: [], problem: error.message });
      }
    }, 450);
  },
};
