// Colors: the heat map's scale (viridis, from nine of its colors) and those of the two themes.

const STOPS = ["#440154", "#482878", "#3e4989", "#31688e", "#26828e", "#1f9e89", "#35b779", "#6ece58", "#b5de2b", "#fde725"];
const SHADES = 256;

function rgb(hex) {
  return [1, 3, 5].map((at) => parseInt(hex.slice(at, at + 2), 16));
}

// One 32-bit pixel per shade, in the byte order of ImageData.
function pixel([red, green, blue]) {
  return ((255 << 24) | (blue << 16) | (green << 8) | red) >>> 0;
}

export const SCALE = Array.from({ length: SHADES }, (_, index) => {
  const place = (index / (SHADES - 1)) * (STOPS.length - 1);
  const low = Math.min(Math.floor(place), STOPS.length - 2);
  const [from, to] = [rgb(STOPS[low]), rgb(STOPS[low + 1])];
  return from.map((part, channel) => Math.round(part + (place - low) * (to[channel] - part)));
});
export const PIXELS = Uint32Array.from(SCALE.map(pixel));
export const GRADIENT = `linear-gradient(to right, ${STOPS.join(", ")})`;

const THEMES = {
  light: { wall: "#c9ced8", floor: "#eef0f4", cut: "#e9d8c3", unknown: "#f6f7f9", grid: "rgba(255,255,255,.28)", back: "#f6f7f9", line: "#aab2c0", text: "#1c2330", accent: "#e4572e", ring: "#ffffff", edge: "#20242c", path: "#ff6b3d" },
  dark: { wall: "#2b3140", floor: "#3a4152", cut: "#4d4233", unknown: "#161a22", grid: "rgba(10,12,18,.30)", back: "#12151c", line: "#4c5568", text: "#e8ebf1", accent: "#ff7a50", ring: "#ffffff", edge: "#0c0e13", path: "#ff7a50" },
};

export function theme(dark) {
  const colors = THEMES[dark ? "dark" : "light"];
  return { ...colors, pixels: Object.fromEntries(["wall", "floor", "cut", "unknown"].map((name) => [name, pixel(rgb(colors[name]))])) };
}

export function shade(value, low, high) {
  const share = high > low ? (value - low) / (high - low) : 0.5;
  return Math.max(0, Math.min(SHADES - 1, Math.round(share * (SHADES - 1))));
}

export function css(index) {
  return `rgb(${SCALE[index].join(",")})`;
}

export function number(value) {
  if (value === null || value === undefined || Number.isNaN(value)) return "–";
  if (!Number.isFinite(value)) return "∞";
  const size = Math.abs(value);
  if (size === 0) return "0";
  if (size >= 1e7 || size < 1e-3) return value.toExponential(2).replace("e+", "e");
  if (size >= 100) return Math.round(value).toLocaleString("en-US");
  return String(Number(value.toPrecision(3)));
}
