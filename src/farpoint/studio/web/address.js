// @ts-check
// What the page shows, in its address and in the browser's own storage.

const STORE = "farpoint-studio";

async function squeeze(bytes) {
  const stream = new Blob([bytes]).stream().pipeThrough(new CompressionStream("deflate-raw"));
  return new Uint8Array(await new Response(stream).arrayBuffer());
}

async function unsqueeze(bytes, most) {
  const reader = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate-raw")).getReader();
  const parts = [];
  let size = 0;
  for (;;) {
    const { done, value } = await reader.read();
    if (done) break;
    size += value.length;
    if (size > most) throw new Error("more than its size");
    parts.push(value);
  }
  const result = new Uint8Array(size);
  let offset = 0;
  for (const part of parts) {
    result.set(part, offset);
    offset += part.length;
  }
  return result;
}

export function toBase64(bytes) {
  let text = "";
  for (let at = 0; at < bytes.length; at += 8192) text += String.fromCharCode(...bytes.subarray(at, at + 8192));
  return btoa(text);
}

export function fromBase64(text) {
  return Uint8Array.from(atob(text), (symbol) => symbol.charCodeAt(0));
}

export async function writeMap(rows, cols, cells) {
  const packed = toBase64(await squeeze(cells));
  return `${rows}.${cols}.${packed.replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "")}`;
}

// The map in a text, of at most so many cells: a link comes from anybody.
export async function readMap(text, most) {
  const [rows, cols, packed = ""] = text.split(".");
  const size = Number(rows) * Number(cols);
  if (!(size <= most)) throw new Error("The map in this link is damaged or too large.");
  try {
    const cells = await unsqueeze(fromBase64(packed.replaceAll("-", "+").replaceAll("_", "/")), size);
    return { source: { kind: "cells", rows: Number(rows), cols: Number(cols) }, cells };
  } catch {
    throw new Error("The map in this link is damaged. Ask for the link again.");
  }
}

const NUMBERS = { rows: "rows", cols: "cols", wall: "wall", seed: "seed", wind: "wind" };

// A source in words: named four_rooms, random_maze 40x60, env FrozenLake-v1.
export function writeSource(source, parameters) {
  parameters.set("world", source.kind === "named" ? source.name : source.kind);
  if (source.kind === "env") parameters.set("id", source.id);
  if (source.kind === "graph") parameters.set("graph", source.name);
  for (const name of Object.keys(NUMBERS)) if (source[name]) parameters.set(name, source[name]);
}

export function readSource(parameters) {
  const word = parameters.get("world");
  if (!word) return null;
  const source = {};
  for (const name of Object.keys(NUMBERS)) if (parameters.has(name)) source[name] = Number(parameters.get(name));
  if (["open_room", "random_maze"].includes(word)) return { kind: word, ...source };
  if (word === "env") return { kind: "env", id: parameters.get("id"), ...source };
  if (word === "continuous") return { kind: word };
  if (word === "graph") return { kind: "graph", name: parameters.get("graph"), ...source };
  return { kind: "named", name: word, ...source };
}

// A number of a link, between the ends that it may have; 0 where it has none.
export function numberOf(parameters, name, low, high) {
  const value = Number(parameters.get(name));
  return value ? Math.max(low, Math.min(high, value)) : 0;
}

export function remember(key, value) {
  try {
    localStorage.setItem(`${STORE}.${key}`, value);
    return true;
  } catch {
    // A private window, or no room: then nothing is kept.
    return false;
  }
}

export function recall(key) {
  try {
    return localStorage.getItem(`${STORE}.${key}`);
  } catch {
    return null;
  }
}
