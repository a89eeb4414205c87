// Charts: curves or bars over one axis, with marks for the chosen design and lines for what was asked. uPlot draws; the
// numbers also stand in a table below each chart, which is all there is where uPlot could not be fetched.

import { or } from "./format.js";

export const canDraw = () => typeof uPlot === "function";

const drawn = new Map(); // id -> { plot, figure, spec }

const style = () => getComputedStyle(document.documentElement);
const colour = (name) => style().getPropertyValue(`--${name}`).trim();

const element = (tag, className, ...children) => {
  const made = document.createElement(tag);
  if (className) made.className = className;
  made.append(...children);
  return made;
};

/** Powers of ten, of which no more are named than there is room for. */
function decades(low, high, most) {
  const first = Math.ceil(Math.log10(low) - 1e-9);
  const last = Math.floor(Math.log10(high) + 1e-9);
  const step = Math.max(1, Math.ceil((last - first) / most));
  const all = [];
  for (let power = first; power <= last; ++power) if ((last - power) % step === 0) all.push(10 ** power);
  return all;
}

function axes(spec) {
  const common = {
    stroke: colour("muted"),
    grid: { stroke: colour("grid"), width: 1 },
    ticks: { show: false },
    font: "12px " + style().getPropertyValue("--sans"),
    labelFont: "12px " + style().getPropertyValue("--sans"),
  };
  const scaled = (axis, size) => ({
    ...common,
    label: axis.label,
    labelSize: 20,
    size,
    values: (_, splits) => splits.map((value) => (value === null ? "" : axis.format(value))),
    ...(axis.log ? { splits: (plot) => decades(plot.scales.y.min, plot.scales.y.max, 6), filter: (_, splits) => splits } : {}),
    ...(axis.splits ? { splits: () => axis.splits } : {}),
  });
  return [scaled(spec.x, 34), scaled(spec.y, 58)];
}

const lineSeries = (series) => ({
  label: series.label,
  stroke: colour(series.colour),
  width: series.width ?? 2,
  dash: series.dash,
  spanGaps: false,
  points: { show: Boolean(series.points), size: 5, fill: colour(series.colour) },
});

const barSeries = (series) => ({
  label: series.label,
  stroke: colour(series.colour),
  fill: colour(series.colour),
  width: 0,
  paths: uPlot.paths.bars({ size: [0.6, 72] }),
  points: { show: false },
});

/** Lines for what was asked, and rings around what was chosen. */
function drawOver(plot, spec) {
  const { ctx, bbox } = plot;
  const ratio = devicePixelRatio;
  ctx.save();
  ctx.beginPath();
  ctx.rect(bbox.left, bbox.top, bbox.width, bbox.height);
  ctx.clip();
  ctx.strokeStyle = colour("ink");
  ctx.lineWidth = ratio;
  ctx.setLineDash([3 * ratio, 4 * ratio]);
  for (const line of spec.lines ?? []) {
    ctx.beginPath();
    if (line.x !== undefined) {
      const x = plot.valToPos(line.x, "x", true);
      ctx.moveTo(x, bbox.top);
      ctx.lineTo(x, bbox.top + bbox.height);
    } else {
      const y = plot.valToPos(line.y, "y", true);
      ctx.moveTo(bbox.left, y);
      ctx.lineTo(bbox.left + bbox.width, y);
    }
    ctx.stroke();
  }
  ctx.restore();
  ctx.save();
  ctx.setLineDash([]);
  for (const mark of spec.marks ?? []) {
    // What lies beyond the axes is marked at their end.
    const within = (value, { min, max }) => Math.min(Math.max(value, min), max);
    const at = [plot.valToPos(within(mark.x, plot.scales.x), "x", true), plot.valToPos(within(mark.y, plot.scales.y), "y", true)];
    ctx.beginPath();
    ctx.arc(...at, (mark.small ? 3 : 6) * ratio, 0, 2 * Math.PI);
    ctx.fillStyle = mark.small ? colour(mark.colour) : colour("panel");
    ctx.fill();
    ctx.lineWidth = (mark.small ? 0 : 3) * ratio;
    ctx.strokeStyle = colour(mark.colour);
    if (!mark.small) ctx.stroke();
  }
  if (spec.bars) {
    ctx.fillStyle = colour("ink");
    ctx.font = `${12 * ratio}px ${style().getPropertyValue("--sans")}`;
    ctx.textAlign = "center";
    plot.data[0].forEach((x, i) => {
      const value = plot.data[1][i];
      ctx.fillText(spec.y.format(value), plot.valToPos(x, "x", true), plot.valToPos(value, "y", true) - 6 * ratio);
    });
  }
  ctx.restore();
}

function legendOf(spec) {
  const legend = element("ul", "legend");
  for (const series of spec.series) {
    const key = element("i", series.dash ? "dashed" : "");
    key.style.color = `var(--${series.colour})`;
    legend.append(element("li", "", key, element("span", "", series.label), element("b", "")));
  }
  return legend;
}

/** What the curves say under the pointer, in the legend. */
function showUnder(plot, spec, figure) {
  const i = plot.cursor.idx;
  figure.querySelectorAll(".legend b").forEach((shown, n) => {
    const value = i === null || i === undefined ? null : spec.series[n].values[i];
    shown.textContent = value === null || value === undefined ? "" : spec.y.format(value);
  });
  figure.querySelector(".where").textContent =
    i === null || i === undefined ? "" : `${spec.x.short ?? spec.x.label}: ${spec.x.format(spec.x.values[i])}`;
}

function fillTable(table, spec) {
  const head = element("tr", "", element("th", "", spec.x.label), ...spec.series.map((series) => element("th", "", series.label)));
  const rows = spec.x.values.map((x, i) =>
    element("tr", "", element("td", "", spec.x.format(x)),
      ...spec.series.map((series) => element("td", "", or(spec.y.format)(series.values[i])))));
  table.replaceChildren(element("thead", "", head), element("tbody", "", ...rows));
}

function makeFigure(id) {
  const figure = element("figure", "panel chart");
  figure.id = id;
  const table = element("table", "");
  const numbers = element("details", "", element("summary", "", "Numbers"), element("div", "scroll", table));
  numbers.open = !canDraw();
  figure.append(element("figcaption", "", element("h3", ""), element("p", "")), element("div", "legend-row"),
    element("div", "plot"), numbers);
  numbers.addEventListener("toggle", () => numbers.open && fillTable(table, drawn.get(id).spec));
  return figure;
}

function plotOf(spec, figure, place) {
  const width = Math.max(240, figure.querySelector(".legend-row").clientWidth);
  const bounds = (range) => (range ? () => range : undefined);
  return new uPlot(
    {
      width,
      height: 260,
      padding: [12, 12, 0, 0],
      legend: { show: false },
      cursor: { y: false, points: { size: 6 }, drag: { x: false, y: false } },
      scales: {
        x: { time: false, range: bounds(spec.x.range) },
        y: { distr: spec.y.log ? 3 : 1, range: bounds(spec.y.range) },
      },
      axes: axes(spec),
      series: [{}, ...spec.series.map(spec.bars ? barSeries : lineSeries)],
      hooks: { draw: [(plot) => drawOver(plot, spec)], setCursor: [(plot) => showUnder(plot, spec, figure)] },
    },
    [spec.x.values, ...spec.series.map((series) => series.values)],
    place,
  );
}

/** Draws a chart below `parent`, or again with other numbers. */
export function draw(parent, id, spec) {
  const known = drawn.get(id);
  const figure = known?.figure ?? makeFigure(id);
  if (figure.parentNode !== parent) parent.append(figure);
  figure.hidden = false;
  figure.classList.remove("stale");
  figure.querySelector("h3").textContent = spec.title;
  figure.querySelector("figcaption p").textContent = spec.note;
  figure.querySelector(".legend-row").replaceChildren(...(spec.bars ? [] : [legendOf(spec)]), element("span", "where"));
  const place = figure.querySelector(".plot");
  place.setAttribute("role", "img");
  place.setAttribute("aria-label", `${spec.title}. ${spec.note} The numbers are below.`);
  known?.plot?.destroy();
  drawn.set(id, { figure, spec, plot: null });
  if (canDraw()) drawn.get(id).plot = plotOf(spec, figure, place);
  const numbers = figure.querySelector("details");
  if (numbers.open) fillTable(numbers.querySelector("table"), spec);
}

export const hide = (id) => {
  if (drawn.has(id)) drawn.get(id).figure.hidden = true;
};
export const fade = (...ids) => {
  for (const id of ids) drawn.get(id)?.figure.classList.add("stale");
};

export function clear(parent) {
  for (const { plot } of drawn.values()) plot?.destroy();
  drawn.clear();
  parent.replaceChildren();
}

/** After a change of theme or width. */
export function drawAgain(parent) {
  for (const [id, { figure, spec }] of [...drawn]) {
    if (figure.hidden) continue;
    const stale = figure.classList.contains("stale");
    draw(parent, id, spec);
    figure.classList.toggle("stale", stale);
  }
}

