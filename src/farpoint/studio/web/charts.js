// @ts-check
// Small line charts on a canvas, and the number of goals over t above the slider.
import { number } from "./palette.js";

const MARGIN = { left: 44, right: 10, top: 8, bottom: 30 };

export function niceTicks(low, high, count = 4) {
  const rough = (high - low) / count || 1;
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 5, 10].map((factor) => factor * power).find((one) => one >= rough);
  const ticks = [];
  for (let value = Math.ceil(low / step) * step; value <= high * (1 + 1e-9); value += step) ticks.push(value);
  return ticks;
}

// Short enough for the margin: 100k, 1M.
export function tickText(value) {
  return value >= 1e6 ? `${number(value / 1e6)}M` : value >= 1e4 ? `${number(value / 1e3)}k` : number(value);
}

// series: [{x, y, low, high, color, dash}]; arrays of numbers, with a band from low to high where these are given. `now`: a line across.
export function drawChart(canvas, series, { xLabel, yLabel, xMax, yMax = null, now = null, log = false, colors }) {
  const ratio = window.devicePixelRatio || 1;
  const [width, height] = [canvas.clientWidth, canvas.clientHeight];
  if (!width) return;
  if (canvas.width !== Math.round(width * ratio)) canvas.width = Math.round(width * ratio);
  if (canvas.height !== Math.round(height * ratio)) canvas.height = Math.round(height * ratio);
  const context = canvas.getContext("2d");
  context.setTransform(ratio, 0, 0, ratio, 0, 0);
  context.clearRect(0, 0, width, height);
  const top = yMax ?? Math.max(1, ...series.map((one) => (one.high ?? one.y).reduce((a, b) => Math.max(a, b), 0)));
  const right = xMax ?? Math.max(1, ...series.map((one) => one.x[one.x.length - 1] ?? 1));
  const scaleY = log ? (value) => Math.log10(Math.max(value, 1)) / Math.log10(Math.max(top, 10)) : (value) => value / top;
  const px = (value) => MARGIN.left + (value / right) * (width - MARGIN.left - MARGIN.right);
  const py = (value) => height - MARGIN.bottom - scaleY(value) * (height - MARGIN.top - MARGIN.bottom);
  context.font = "11px system-ui, sans-serif";
  context.fillStyle = colors.text;
  context.strokeStyle = colors.line;
  context.globalAlpha = 0.75;
  context.lineWidth = 1;
  context.textBaseline = "middle";
  context.textAlign = "right";
  const yTicks = log ? [1, 10, 100, 1000, 10000].filter((one) => one <= top) : niceTicks(0, top, 3);
  for (const tick of yTicks) {
    context.fillText(tickText(tick), MARGIN.left - 6, py(tick));
    context.globalAlpha = 0.25;
    context.beginPath();
    context.moveTo(MARGIN.left, py(tick));
    context.lineTo(width - MARGIN.right, py(tick));
    context.stroke();
    context.globalAlpha = 0.75;
  }
  context.textAlign = "center";
  context.textBaseline = "top";
  for (const tick of niceTicks(0, right, width < 260 ? 2 : 4)) {
    const text = tickText(tick);
    // The last one must not be cut off by the edge.
    context.fillText(text, Math.min(px(tick), width - context.measureText(text).width / 2), height - MARGIN.bottom + 4);
  }
  context.fillText(xLabel, (MARGIN.left + width - MARGIN.right) / 2, height - 13);
  context.save();
  context.translate(9, (height - MARGIN.bottom + MARGIN.top) / 2);
  context.rotate(-Math.PI / 2);
  context.textBaseline = "middle";
  context.fillText(yLabel, 0, 0);
  context.restore();
  for (const { x, low, high, color } of series) {
    if (!low) continue;
    context.globalAlpha = 0.22;
    context.fillStyle = color;
    context.beginPath();
    for (let index = 0; index < x.length; index++) context[index ? "lineTo" : "moveTo"](px(x[index]), py(high[index]));
    for (let index = x.length - 1; index >= 0; index--) context.lineTo(px(x[index]), py(low[index]));
    context.fill();
  }
  context.globalAlpha = 1;
  if (now !== null) {
    context.lineWidth = 1;
    context.strokeStyle = colors.text;
    context.beginPath();
    context.moveTo(px(now), MARGIN.top);
    context.lineTo(px(now), height - MARGIN.bottom);
    context.stroke();
  }
  context.lineWidth = 2;
  context.lineJoin = "round";
  for (const { x, y, color, dash } of series) {
    context.strokeStyle = color;
    context.setLineDash(dash ?? []);
    context.beginPath();
    for (let index = 0; index < x.length; index++) context[index ? "lineTo" : "moveTo"](px(x[index]), py(y[index]));
    context.stroke();
  }
  context.setLineDash([]);
}

// The curve of the number of goals over t lies exactly above the slider, on the same logarithmic axis.
export function drawGoalCurve(svg, points, t, inset) {
  const width = svg.clientWidth || 300;
  const height = svg.clientHeight || 44;
  const x = (value) => inset + (Math.log10(value) / 3) * (width - 2 * inset);
  const most = Math.max(1, ...points.map(([, count]) => count));
  const y = (count) => height - 4 - (count / most) * (height - 14);
  const sorted = [...points].sort((a, b) => a[0] - b[0]);
  const path = sorted.map(([value, count], index) => `${index ? "L" : "M"}${x(value).toFixed(1)},${y(count).toFixed(1)}`).join("");
  const area = sorted.length > 1 ? `${path}L${x(sorted.at(-1)[0])},${height}L${x(sorted[0][0])},${height}Z` : "";
  svg.setAttribute("viewBox", `0 0 ${width} ${height}`);
  svg.innerHTML = `<path d="${area}" class="curve-area"/><path d="${path}" class="curve-line"/>` +
    `<line x1="${x(t)}" x2="${x(t)}" y1="0" y2="${height}" class="curve-now"/>${ 
    sorted.map(([value, count]) => `<circle cx="${x(value)}" cy="${y(count)}" r="${value === t ? 4 : 2}" class="curve-dot"><title>t = ${value}: ${count} goals</title></circle>`).join("")}`;
}

export function timeAt(svg, event, inset) {
  const box = svg.getBoundingClientRect();
  const share = (event.clientX - box.left - inset) / (box.width - 2 * inset);
  return Math.max(1, Math.min(1000, Math.round(10 ** (3 * share))));
}
