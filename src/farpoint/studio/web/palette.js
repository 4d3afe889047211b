// @ts-check
// Colors: the heat map's scale (viridis, from ten of its colors) and those of the two themes.

const STOPS = ["#440154", "#482878", "#3e4989", "#31688e", "#26828e", "#1f9e89", "#35b779", "#6ece58", "#b5de2b", "#fde725"];
const SHADES = 256;

function rgb(hex) {
  return [1, 3, 5].map((at) => parseInt(hex.slice(at, at + 2), 16));
}

function luminance(parts) {
  const [red, green, blue] = parts.map((part) => (part <= 10 ? part / 3294.6 : ((part / 255 + 0.055) / 1.055) ** 2.4));
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
}

const LEAST_CONTRAST = 2.6;

// A color, so much lighter or darker that a line of it is seen on a background.
export function seenOn(back, color) {
  const ground = luminance(rgb(back));
  const away = ground < 0.2 ? 255 : 0;
  for (let share = 0; ; share += 0.05) {
    const parts = rgb(color).map((part) => Math.round(part + share * (away - part)));
    const [low, high] = [luminance(parts), ground].sort((a, b) => a - b);
    if (share >= 1 || (high + 0.05) / (low + 0.05) >= LEAST_CONTRAST) return `#${parts.map((part) => part.toString(16).padStart(2, "0")).join("")}`;
  }
}

// One 32-bit pixel per shade, in the byte order of ImageData.
function pixel(parts) {
  const [red, green, blue] = parts;
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

// Walls, unknown and cut-off cells are no shade of the heat map, for people with any color vision, in both themes.
const THEMES = {
  light: { wall: "#dde1e9", floor: "#eef0f4", cut: "#e6b8b8", unknown: "#fbfcfe", grid: "rgba(255,255,255,.28)", back: "#f6f7f9", line: "#aab2c0", text: "#1c2330", accent: "#e4572e", ring: "#ffffff", edge: "#20242c", path: "#ff6b3d" },
  dark: { wall: "#05070a", floor: "#3a4152", cut: "#8c5a5a", unknown: "#2a303c", grid: "rgba(10,12,18,.30)", back: "#161a22", line: "#4c5568", text: "#e8ebf1", accent: "#ff7a50", ring: "#ffffff", edge: "#0c0e13", path: "#ff7a50" },
};

export function theme(dark) {
  const colors = THEMES[dark ? "dark" : "light"];
  return { ...colors, pixels: Object.fromEntries(["wall", "floor", "cut", "unknown"].map((name) => [name, pixel(rgb(colors[name]))])) };
}

// Where a value lies between the ends of the color bar, from 0 to 1; counts (visits) on a logarithmic scale.
export function shareOf(value, low, high, log) {
  if (!(high > low)) return 0.5;
  return log ? Math.log1p(value - low) / Math.log1p(high - low) : (value - low) / (high - low);
}

export function shade(value, low, high, log = false) {
  return Math.max(0, Math.min(SHADES - 1, Math.round(shareOf(value, low, high, log) * (SHADES - 1))));
}

// The labels below the color bar: [share of its width, text].
export function barTicks(low, high, log) {
  if (!(high > low)) return [[0.5, number(low)]];
  const inner = log ? [1, 10, 100, 1000, 1e4, 1e5, 1e6].filter((value) => value < high / 2.5) : [(low + high) / 2];
  return [low, ...inner, high].map((value) => [shareOf(value, low, high, log), number(value)]);
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
