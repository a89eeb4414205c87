// What of an answer stands where: the figures at the top, the tables, and the charts of each page.

import { draw, hide } from "./charts.js";
import { bytes, elements, fixed, grouped, nothing, odds, or, percent, scientific, short } from "./format.js";

const read = (plan, key) => key.split(".").reduce((value, part) => value?.[part], plan);

/** Key in the plan, label, format, and what stands small behind it. */
const figures = {
  filter: [
    ["kind", "Kind", String],
    ["bits_per_element", "Memory per element", (value) => `${value.toFixed(2)} bits`],
    ["memory_bytes", "Memory in all", bytes],
    ["fpr", "Error", odds, (plan) => scientific(plan.fpr)],
    ["miss_accesses", "Miss", fixed(3), () => "accesses"],
    ["hit_accesses", "Hit", fixed(3), () => "accesses"],
    ["insert_accesses", "Insertion", fixed(3), () => "accesses"],
    ["overflow_mean", "Overflow", (value) => grouped(Math.round(value)),
      (plan) => (plan.overflow_reserve === undefined ? "elements" : `of ${grouped(plan.overflow_reserve)} reserved`)],
  ],
  table: [
    ["load_factor", "Load factor", fixed(3)],
    ["bytes_per_element", "Memory per element", (value) => `${value.toFixed(2)} bytes`],
    ["memory_bytes", "Memory in all", bytes],
    ["overflow_mean", "Overflow", elements, (plan) => `of ${grouped(plan.overflow_reserve)} reserved`],
    ["miss_accesses", "Miss", fixed(3), () => "accesses"],
    ["hit_accesses", "Hit", fixed(3), () => "accesses"],
    ["insert_accesses", "Insertion", fixed(3), () => "accesses"],
    ["full_factor", "Full at", (value) => `${value.toFixed(3)} ×`, () => "the planned elements"],
  ],
};

const element = (tag, text, className) => {
  const made = document.createElement(tag);
  if (text !== undefined) made.textContent = text;
  if (className) made.className = className;
  return made;
};

export function showFigures(page, plan, list) {
  list.replaceChildren(...figures[page].map(([key, label, format, more]) => {
    const value = read(plan, key);
    const box = element("div");
    const shown = element("dd", or(format)(value));
    shown.dataset.key = key;
    if (value !== undefined && value !== null) shown.dataset.value = String(value);
    if (more && value !== undefined && value !== null) shown.append(" ", element("small", more(plan)));
    box.append(element("dt", label), shown);
    return box;
  }));
}

function fill(table, heads, rows) {
  const row = (cells, tag) => {
    const made = element("tr");
    made.append(...cells.map((cell) => (cell instanceof Node ? cell : element(tag, cell))));
    return made;
  };
  const head = element("thead");
  head.append(row(heads, "th"));
  const body = element("tbody");
  body.append(...rows.map((cells) => row(cells, "td")));
  table.replaceChildren(head, body);
}

const more = (factor) => `+${Math.round(100 * (factor - 1))} %`;

const overfillRows = {
  filter: [["", "elements", "error", "accesses", ""], (seen) =>
    [grouped(seen.elements), odds(seen.fpr), seen.miss_accesses.toFixed(3), seen.condition === "degraded" ? "degraded" : ""]],
  table: [["", "elements", "hit", "miss", "overflow"], (seen) =>
    [grouped(seen.elements), seen.hit_accesses.toFixed(3), seen.miss_accesses.toFixed(3),
      elements(seen.overflow_mean) + (seen.exceed_probability > 0.5 ? ", full" : "")]],
};

export function showOverfill(page, plan, table) {
  const [heads, cells] = overfillRows[page];
  fill(table, heads, [["plan", ...cells(plan)], ...plan.overfill.map((seen) => [more(seen.factor), ...cells(seen)])]);
}

const beatenRows = {
  filter: [["", "bits", "error", "accesses"], (plan) =>
    [plan.bits_per_element.toFixed(2), odds(plan.fpr), plan.miss_accesses.toFixed(3)]],
  table: [["", "load", "bytes", "hit", "miss"], (plan) =>
    [plan.load_factor.toFixed(3), plan.bytes_per_element.toFixed(2), plan.hit_accesses.toFixed(3), plan.miss_accesses.toFixed(3)]],
};

export const showWarnings = (plan, list) => list.replaceChildren(...(plan.warnings ?? []).map((text) => element("li", text)));

export function showBeaten(page, plan, table) {
  const [heads, cells] = beatenRows[page];
  fill(table, heads, plan.alternatives.map((other) => {
    const name = element("td", other.name);
    name.append(element("small", other.why));
    return [name, ...(other.plan ? cells(other.plan) : heads.slice(1).map(() => nothing))];
  }));
}

// Charts.

const all = (lists) => lists.flat().filter((value) => value !== null && value > 0);
/** The server says nothing smaller. */
const overflowText = (value) => (value <= 1e-15 ? "below 10⁻¹⁵" : scientific(value, 2));
const decadeBelow = (value) => 10 ** Math.floor(Math.log10(value));

/** Both charts over bits per element: from tables, at once. `plan` is there once it is known. */
export function drawFilterFrontier(place, frontier, need, plan) {
  const bits = frontier.bits_per_element;
  const curves = frontier.curves;
  const dashes = { partitioned: [5, 4], counting: [2, 4] };
  const series = (key) => curves.map((curve) => ({
    label: curve.kind, values: curve[key], colour: curve.kind, dash: dashes[curve.kind],
    width: plan?.kind === curve.kind ? 3 : 1.75,
  }));
  const marks = (key) => [
    ...curves.filter((curve) => curve.asked).map((curve) =>
      ({ x: curve.asked.bits_per_element, y: curve.asked[key], colour: curve.kind, small: true })),
    ...(plan ? [{ x: plan.bits_per_element, y: plan[key], colour: plan.kind }] : []),
  ];
  const x = { label: "bits per element", short: "bits", values: bits, format: (value) => String(value), range: [bits[0], bits.at(-1)] };
  const beyond = plan?.bits_per_element > bits.at(-1) ? " The plan lies beyond the right edge." : "";
  draw(place, "chart-error", {
    title: "Error against memory",
    note: `The least error that the planner reaches, for ${short(frontier.elements)} elements; the ring is the plan, the dashed line what is asked.${beyond}`,
    x, series: series("fpr"), marks: marks("fpr"), lines: need,
    y: { label: "error", log: true, format: (value) => scientific(value, 2), range: [decadeBelow(Math.min(...all(curves.map((curve) => curve.fpr)))), 1] },
  });
  draw(place, "chart-negative", {
    title: "Cost of a negative query",
    note: `Accesses of a query for a key that is not there, in a filter of ${short(frontier.elements)} elements. One is a single cache line.`,
    x, series: series("miss_accesses"), marks: marks("miss_accesses"), lines: need.filter((line) => line.x !== undefined),
    y: { label: "accesses", format: fixed(2), range: [0.9, Math.max(2.4, ...all(curves.map((curve) => curve.miss_accesses)))] },
  });
}

const blockWords = { filter: ["Blocks of each level", "blocks"], table: ["Buckets of each level", "buckets"] };

function drawLevels(place, page, sizes) {
  const [title, label] = blockWords[page];
  draw(place, "chart-levels", {
    title, bars: true,
    note: sizes.length === 1 ? "One level: every element has one candidate." : "An element goes to the first level that admits it.",
    x: { label: "level", values: sizes.map((_, i) => i + 1), format: (value) => (Number.isInteger(value) ? String(value) : ""),
      splits: sizes.map((_, i) => i + 1), range: [0.4, sizes.length + 0.6] },
    series: [{ label, values: sizes, colour: "accent" }],
    y: { label, format: short, range: [0, 1.15 * Math.max(...sizes)] },
  });
}

export function drawFilterPlan(place, plan) {
  if (plan.level_buckets) drawLevels(place, "filter", plan.level_buckets);
  else hide("chart-levels");
  const seen = [{ factor: 1, ...plan }, ...plan.overfill];
  draw(place, "chart-overfill", {
    title: "Error with more elements than planned",
    note: "Nothing is lost when there are more; the error grows.",
    x: { label: "percent more elements", short: "more", values: seen.map((each) => Math.round(100 * (each.factor - 1))), format: (value) => `${value}`, range: [-0.5, 20.5], splits: [0, 5, 10, 15, 20] },
    series: [{ label: plan.kind, values: seen.map((each) => each.fpr), colour: plan.kind, points: true }],
    y: { label: "error", log: true, format: (value) => scientific(value, 2), range: [decadeBelow(plan.fpr), 10 * decadeBelow(Math.max(...seen.map((each) => each.fpr)))] },
  });
}

const loadAxis = (loads) => ({ label: "load factor", short: "load", values: loads, format: (value) => String(Number(value.toFixed(2))), range: [loads[0], loads.at(-1)] });

/** Overflow against load for every number of choices, and for the planned table once it is known. */
export function drawTableFrontier(place, frontier, settings, picture) {
  const chosen = Number(settings.choices);
  const target = Number(settings.overflow);
  const series = frontier.curves.filter((curve) => curve.choices <= 4 || curve.choices === 8 || curve.choices === chosen).map((curve) => ({
    label: curve.choices === 1 ? "1 choice" : `${curve.choices} choices`,
    values: curve.overflow_fraction, colour: `level-${curve.choices}`, width: curve.choices === chosen ? 2.5 : 1.25,
  }));
  if (picture) {
    series.push({ label: "this table", values: picture.over_loads.overflow_fraction, colour: "accent", width: 3 });
    series.push({ label: "lower bound for its accesses", values: picture.over_loads.overflow_bound, colour: "ink", width: 2, dash: [2, 3] });
  }
  const load = settings["load-factor"];
  const reached = picture?.overflow_fraction || target;
  const lowest = Math.max(1e-14, decadeBelow(Math.min(target / 1e3, reached)));
  draw(place, "chart-overflow", {
    title: "Overflow against load",
    note: "Thin: the best levels for each load. Bold: the planned table as it fills. The dashed line is what may overflow.",
    x: loadAxis(frontier.load_factor), series,
    lines: [{ y: target }, ...(load === "auto" ? [] : [{ x: Number(load) }])],
    marks: picture ? [{ x: picture.load_factor, y: picture.overflow_fraction, colour: "accent" }] : [],
    y: { label: "fraction that overflows", log: true, format: overflowText, range: [lowest, 1] },
  });
}

export function drawTablePicture(place, picture) {
  const levels = picture.levels;
  drawLevels(place, "table", levels.map((level) => level.buckets));
  const loads = levels[0].loads.map((_, i) => i);
  draw(place, "chart-loads", {
    title: "Loads of the buckets",
    note: "How many buckets of each level hold so many elements.",
    x: { label: "elements in a bucket", short: "elements", values: loads, format: (value) => (Number.isInteger(value) ? String(value) : ""), range: [0, loads.at(-1)] },
    series: levels.map((level, i) => ({ label: `level ${i + 1}`, values: level.loads, colour: `level-${i + 1}`, points: true })),
    y: { label: "share of the buckets", format: percent, range: [0, 1.05 * Math.max(...all(levels.map((level) => level.loads)))] },
  });
  const over = picture.over_loads;
  const most = Math.max(...all([over.miss_accesses, over.hit_accesses, over.insert_accesses]));
  draw(place, "chart-cost", {
    title: "Cost of a miss, a hit and an insertion",
    note: "Mean buckets visited by the planned table as it fills; a miss is the negative query.",
    x: loadAxis(over.load_factor),
    series: [["miss", "miss_accesses", "fingerprint"], ["hit", "hit_accesses", "balanced"], ["insertion", "insert_accesses", "blocked"]]
      .map(([label, key, colour]) => ({ label, values: over[key], colour })),
    marks: [["miss_accesses", "fingerprint"], ["hit_accesses", "balanced"], ["insert_accesses", "blocked"]]
      .map(([key, colour]) => ({ x: picture.load_factor, y: picture[key], colour })),
    y: { label: "accesses", format: fixed(2), range: [0.9, Math.max(2, 1.05 * most)] },
  });
}
