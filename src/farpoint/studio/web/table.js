// The exact table beside the panels, a row per method.
import { h } from "./dom.js";
import { number } from "./palette.js";

const COLUMNS = [["median", "Median over targets of the expected steps from a random state"], ["mean", "Mean of the expected steps"], ["worst", "The longest of them"], ["cover", "Steps until every state was visited, mean of 40 walks"]];

// Of larger worlds options are discovered when asked for, and there is no table.
export const MOST_STATES = 50000;

export function showTable(app, table) {
  app.table = table;
  const place = app.ui.options.table;
  if (!table) {
    place.replaceChildren(h("p", { class: "note" }, "Computing …"));
    return;
  }
  if (table.problem) {
    place.replaceChildren(h("p", { class: "note" }, table.problem));
    return;
  }
  const head = h("tr", {}, h("th", {}, "Method"), ...COLUMNS.map(([name, title]) => h("th", { title }, name)));
  const rows = app.panels.map((panel, index) => {
    const row = table.rows[index];
    const name = h("td", {}, h("i", { style: `background:${app.colorOf(panel.method)}` }), panel.method);
    if (!row) return h("tr", { class: "waiting" }, name, h("td", { colspan: COLUMNS.length }, "…"));
    if (row.problem) return h("tr", {}, name, h("td", { colspan: COLUMNS.length, title: row.problem }, "not defined here"));
    const cells = COLUMNS.map(([column]) => h("td", {}, column === "cover" && row.cover === null ? "> 10⁶" : row[column] === null ? "∞" : number(row[column])));
    return h("tr", { "data-method": row.method, title: `${row.n_options} options, taken with probability ${number(row.probability)}` }, name, ...cells);
  });
  const notes = [];
  const problems = table.rows.filter((row) => row.problem);
  if (problems.length) notes.push(`Not defined: ${problems[0].problem}`);
  if (table.sampled && problems.length < table.rows.length) notes.push("Over 60 sampled targets.");
  if (table.difficulty) notes.push(`Difficulty of this world: ${number(table.difficulty)}.`);
  place.replaceChildren(h("table", {}, h("thead", {}, head), h("tbody", {}, ...rows)), notes.length ? h("p", { class: "note" }, notes.join(" ")) : "");
}

export const tableMethods = {
  askTable() {
    clearTimeout(this.tableTimer);
    this.link.cancel("table");
    if (this.tab !== "options" || !this.world) return;
    if (this.world.n > MOST_STATES) return showTable(this, { rows: [], problem: `Worlds of up to ${MOST_STATES.toLocaleString("en-US")} states have a table.` });
    showTable(this, null);
    this.tableTimer = setTimeout(async () => {
      const rows = [];
      try {
        const answer = await this.ask({ do: "table", panels: this.panelList(), probability: this.chance }, {}, (part) => {
          if (part.row === undefined) return;
          rows.push(part.row);
          showTable(this, { rows });
        });
        if (answer.version === this.applied) showTable(this, answer);
      } catch (error) {
        showTable(this, { rows: [], problem: error.message });
      }
    }, 450);
  },
};
