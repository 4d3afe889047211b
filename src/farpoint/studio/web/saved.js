// @ts-check
// Worlds that a visitor has named, kept in the browser; and a world as it was, to go back to.
import { fromBase64, readMap, recall, remember, toBase64, writeMap } from "./address.js";
import { h } from "./dom.js";

function allSaved() {
  return JSON.parse(recall("worlds") ?? "{}");
}

// Every painted map, and every opened file, is sent again; everything else is known by its source.
async function packed({ source, arrays }) {
  if (arrays.cells) return { source, map: await writeMap(source.rows, source.cols, arrays.cells) };
  return arrays.content ? { source, content: toBase64(arrays.content) } : { source };
}

async function unpacked({ source, map, content }) {
  if (map) return { source, arrays: { cells: (await readMap(map, Infinity)).cells } };
  return { source, arrays: content ? { content: fromBase64(content) } : {} };
}

export const savedMethods = {
  // The world as it is now: what `reopen` makes it again from.
  snapshot() {
    const { world, source } = this;
    if (world.editable && ["cells", "text", "file"].includes(source.kind)) {
      const { rows, cols, name } = world;
      return { source: { kind: "cells", rows, cols, name, wind: this.wind }, arrays: { cells: world.cells.slice() } };
    }
    return { source, arrays: this.sourceArrays };
  },

  showSaved() {
    const names = Object.keys(allSaved()).sort();
    const { saved, preset, forget } = this.ui.world;
    saved.replaceChildren(...names.map((name) => h("option", { value: `saved ${name}` }, name)));
    saved.hidden = !names.length;
    if (this.savedName) preset.value = `saved ${this.savedName}`;
    forget.hidden = !this.savedName;
  },

  askToSave() {
    const name = h("input", { type: "text", "aria-label": "Name of this world", id: "saved-name", maxlength: 60 });
    name.value = this.savedName ?? (this.world.name === "map" ? "" : this.world.name.replaceAll("_", " "));
    const note = h("p", { class: "note" }, "It is kept in this browser, under World › Your worlds.");
    const save = async (close) => {
      if (!name.value.trim()) return name.focus();
      if (await this.saveAs(name.value.trim())) close();
    };
    const dialog = this.dialog("Save this world", h("div", { class: "stack" }, name, note), [["Save", "strong", save]]);
    name.addEventListener("keydown", (event) => event.key === "Enter" && save(() => dialog.close()));
    name.select();
  },

  async saveAs(name) {
    const worlds = { ...allSaved(), [name]: await packed(this.snapshot()) };
    if (!remember("worlds", JSON.stringify(worlds))) {
      this.complain("The browser has no room for this world. Take the map as text instead.");
      return false;
    }
    this.savedName = name;
    this.showSaved();
    this.tell(`“${name}” is kept in this browser.`);
    return true;
  },

  async openSaved(name) {
    const { source, arrays } = await unpacked(allSaved()[name]);
    await this.openOr(source, arrays);
    this.savedName = name;
    this.showSaved();
  },

  forgetSaved() {
    const worlds = allSaved();
    delete worlds[this.savedName];
    remember("worlds", JSON.stringify(worlds));
    this.tell(`“${this.savedName}” is no longer kept.`);
    this.savedName = null;
    this.showSaved();
    this.showSource();
  },
};
