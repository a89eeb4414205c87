// The settings of all controls, and their place in the address: #filter?elements=1M&fpr=1e-4.
// Only what differs from the default stands there, and in the command.

import { short, percent, scientific } from "./format.js";

const decades = (from, to, steps) => {
  const values = [];
  for (let power = from; power <= to; ++power) for (const step of steps) values.push(`${step}e${power}`);
  return values;
};

/** 1e3, 2e3, 5e3, ... as they are typed: 1k, 2k, 5k. */
const counts = decades(3, 9, [1, 2, 5]).map((text) => short(Number(text)));
const errors = decades(-9, -2, [1, 2, 5]).concat(["1e-1"]);
const whole = (from, to) => Array.from({ length: to - from + 1 }, (_, i) => String(from + i));
const hundredths = (from, to) => whole(from, to).map((text) => String(Number(text) / 100));

const asCount = (text) => text.replace(/(\d)([kMG])$/, "$1 $2").replace("k", "thousand").replace("M", "million").replace("G", "billion");
const asPercent = (text) => percent(Number(text));
const asPower = (text) => scientific(Number(text));

/** `flag` is the option of `oneprobe plan`; a setting equal to `normal` is not written. */
export const controls = {
  filter: [
    { flag: "elements", label: "Elements", values: counts, start: "1M", show: asCount },
    { name: "goal", label: "Given", kind: "choice", values: ["fpr", "bits-per-element"], start: "fpr",
      texts: { fpr: "Error", "bits-per-element": "Memory" } },
    { flag: "fpr", label: "Error at most", values: errors, start: "1e-4", show: asPower, when: ["goal", "fpr"],
      help: "how often a key that is not there is taken for one that is" },
    { flag: "bits-per-element", label: "Memory", values: whole(4, 40), start: "16", unit: "bits per element",
      when: ["goal", "bits-per-element"], help: "everything counted" },
    { flag: "choices", label: "Choices", values: whole(1, 3), start: "3", normal: "3",
      help: "blocks that one key may lie in" },
    { flag: "accesses", label: "Access budget", values: ["1.05", "1.1", "1.2", "1.5"], start: "1.2", normal: "1.2",
      unit: "per negative query" },
    { flag: "overfill", label: "Over-fill", values: ["0", "0.02", "0.05", "0.1", "0.2"], start: "0.05",
      show: asPercent, help: "more elements than planned that it must absorb" },
    { flag: "kind", label: "Kind", kind: "select", start: "best", normal: "best",
      values: ["best", "standard", "partitioned", "blocked", "counting", "balanced", "fingerprint"],
      texts: { best: "the planner's choice" } },
  ],
  table: [
    { flag: "elements", label: "Elements", values: counts, start: "1M", show: asCount },
    { flag: "workload", label: "Churn", kind: "choice", values: ["churn", "fill-only"], start: "churn", normal: "churn",
      texts: { churn: "Come and go", "fill-only": "Only fill" }, help: "whether elements are erased and others come" },
    { flag: "overflow", label: "Overflow at most", values: decades(-9, -2, [1]), start: "1e-6", normal: "1e-6",
      show: asPower, help: "of the elements, which find no room in their buckets" },
    { flag: "load-factor", label: "Memory: load factor", values: ["auto", ...hundredths(40, 95)], start: "auto",
      normal: "auto", show: (text) => (text === "auto" ? "the planner's choice" : text), help: "elements per slot" },
    { flag: "choices", label: "Access budget: choices", values: whole(1, 8), start: "4", normal: "4",
      help: "buckets that an operation may visit" },
    { flag: "bucket-capacity", label: "Slots per bucket", kind: "choice", values: ["4", "8", "16"], start: "16", normal: "16" },
    { flag: "overfill", label: "Over-fill", values: ["0", "0.01", "0.02", "0.05", "0.1", "0.2"], start: "0.02",
      normal: "0.02", show: asPercent, help: "more elements than planned that it must absorb" },
    { flag: "value-bytes", label: "Bytes of a value", kind: "select", values: ["0", "4", "8", "16", "24", "56", "120"],
      start: "8", normal: "8", texts: { 0: "0: a set" }, help: "keys have 8" },
  ],
};

export const nameOf = (control) => control.name ?? control.flag;

const startOf = (page) => Object.fromEntries(controls[page].map((control) => [nameOf(control), control.start]));

export const state = { page: "filter", form: "command", filter: startOf("filter"), table: startOf("table") };

export const isUsed = (control, settings) => !control.when || settings[control.when[0]] === control.when[1];

/** The options of `oneprobe plan` for the settings, as pairs. */
export function optionsOf(page) {
  const settings = state[page];
  return controls[page]
    .filter((control) => control.flag && isUsed(control, settings) && settings[control.flag] !== control.normal)
    .map((control) => [control.flag, settings[control.flag]]);
}

export const commandOf = (page) =>
  `oneprobe plan ${page} ` + optionsOf(page).map(([flag, value]) => `--${flag} ${value}`).join(" ");

export function writeAddress() {
  const settings = state[state.page];
  const said = controls[state.page].filter((control) => settings[nameOf(control)] !== control.start && isUsed(control, settings));
  const query = said.map((control) => [nameOf(control), settings[nameOf(control)]]);
  if (state.form !== "command") query.push(["form", state.form]);
  const text = new URLSearchParams(query).toString();
  history.replaceState(null, "", `#${state.page}${text ? `?${text}` : ""}`);
}

/** What makes no sense in an address is left at its default. */
export function readAddress() {
  const [page, text = ""] = location.hash.slice(1).split("?");
  state.page = Object.hasOwn(controls, page) ? page : "filter";
  const said = new URLSearchParams(text);
  const settings = startOf(state.page);
  for (const control of controls[state.page]) {
    const value = said.get(nameOf(control));
    if (control.values.includes(value)) settings[nameOf(control)] = value;
  }
  state[state.page] = settings;
  const form = said.get("form");
  state.form = ["command", "cpp", "json"].includes(form) ? form : "command";
}
