// Asks the server and shows what it says. A change of a control redraws the curves at once, from tables; the plan itself
// follows as soon as the planner has it, and only the last of many changes is planned.

import { canDraw, clear, drawAgain, fade } from "./charts.js";
import { showControls } from "./controls.js";
import * as show from "./figures.js";
import { commandOf, optionsOf, readAddress, state, writeAddress } from "./state.js";

const at = (id) => document.getElementById(id);
const charts = at("charts");
const html = document.documentElement;

let latest = 0; // number of the last change
let known = {}; // of the last change: frontier, plan, picture

async function ask(path, options) {
  const answer = await fetch(`api/${path}?${new URLSearchParams(options)}`);
  const found = await answer.json();
  if (!answer.ok) throw new Error(found.error);
  return found;
}

/** Of several calls while one is under way only the last is made. */
function lastOnly(work) {
  let running = false, next = null;
  return async function call(...given) {
    if (running) {
      next = given;
      return;
    }
    running = true;
    try {
      await work(...given);
    } finally {
      running = false;
      if (next !== null) {
        const again = next;
        next = null;
        call(...again).catch(complain);
      }
    }
  };
}

const need = (settings) =>
  settings.goal === "fpr" ? [{ y: Number(settings.fpr) }] : [{ x: Number(settings["bits-per-element"]) }];

function drawFrontier() {
  if (!known.frontier) return;
  if (state.page === "filter") show.drawFilterFrontier(charts, known.frontier, need(state.filter), known.plan);
  else show.drawTableFrontier(charts, known.frontier, state.table, known.picture);
}

const frontierOptions = {
  filter: () => optionsOf("filter").filter(([flag]) => !["elements", "kind"].includes(flag)),
  table: () => optionsOf("table").filter(([flag]) => ["workload", "bucket-capacity"].includes(flag)),
};

// By what was asked: many changes leave the curves as they are, and sliders go back and forth.
const frontiers = new Map();
const mostFrontiers = 100;

async function frontierOf(page) {
  const path = `frontier/${page}`, options = frontierOptions[page]();
  const asked = `${path}?${new URLSearchParams(options)}`;
  const known = frontiers.get(asked) ?? (await ask(path, options));
  frontiers.set(asked, known);
  if (frontiers.size > mostFrontiers) frontiers.delete(frontiers.keys().next().value); // the oldest
  return known;
}

const askFrontier = lastOnly(async (change) => {
  const frontier = await frontierOf(state.page);
  if (change !== latest) return;
  known.frontier = frontier;
  drawFrontier();
  html.dataset.drawn = String(change);
  html.dataset.firstChart ??= String(performance.now());
});

const askPicture = lastOnly(async (change) => {
  if (state.page !== "table" || change !== latest) return;
  const picture = await ask("picture/table", optionsOf("table"));
  if (change !== latest || picture === null) return;
  known.picture = picture;
  drawFrontier();
  show.drawTablePicture(charts, picture);
});

function showCode() {
  const texts = {
    command: () => commandOf(state.page),
    json: () => (known.answer ? JSON.stringify(known.answer, null, 2) : ""),
    cpp: () => known.cpp ?? "",
  };
  at("code").textContent = texts[state.form]();
  for (const form of Object.keys(texts)) select(at(`form-${form}`), form === state.form);
}

const askCode = lastOnly(async (change) => {
  if (state.form !== "cpp" || known.cpp || change !== latest) return;
  const answer = await fetch(`api/plan/${state.page}?${new URLSearchParams([...optionsOf(state.page), ["cpp", ""]])}`);
  const text = await answer.text();
  if (change !== latest) return;
  known.cpp = answer.headers.get("Content-Type")?.startsWith("text/plain") ? text : "// There is no plan.";
  showCode();
});

function showRefusal(answer) {
  at("reason").textContent = answer.reason;
  at("status").textContent = "No plan";
  for (const list of ["figures", "warnings"]) at(list).replaceChildren();
  at("figures").hidden = true;
}

function showPlan(answer) {
  known.plan = answer;
  at("status").textContent = "";
  at("reason").textContent = answer.reason;
  at("figures").hidden = false;
  show.showWarnings(answer, at("warnings"));
  show.showFigures(state.page, answer, at("figures"));
  show.showOverfill(state.page, answer, at("overfill"));
  show.showBeaten(state.page, answer, at("beaten"));
  if (state.page !== "filter") return;
  drawFrontier();
  show.drawFilterPlan(charts, answer);
}

const askPlan = lastOnly(async (change) => {
  if (change !== latest) return;
  const page = state.page;
  const asked = commandOf(page);
  const answer = await ask(`plan/${page}`, optionsOf(page));
  if (change !== latest) return;
  known.answer = answer;
  const planned = answer.plan !== null;
  at("overfill-panel").hidden = at("beaten-panel").hidden = !planned;
  if (planned) showPlan(answer);
  else showRefusal(answer);
  html.classList.remove("waiting");
  html.dataset.planned = asked;
  showCode();
  askCode(change);
});

const complain = (error) => {
  at("status").textContent = error instanceof TypeError ? "The server has ended." : error.message;
};

// Those that show the plan, not what was asked for.
const planCharts = ["chart-levels", "chart-overfill", "chart-loads", "chart-cost"];

function changed() {
  const change = ++latest;
  known = { frontier: null, plan: null, picture: null };
  writeAddress();
  html.classList.add("waiting");
  fade(...planCharts);
  at("status").textContent = "Planning";
  showCode();
  for (const each of [askFrontier, askPicture, askPlan]) each(change).catch(complain);
}

function select(tab, chosen) {
  tab.setAttribute("aria-selected", String(chosen));
  tab.tabIndex = chosen ? 0 : -1;
}

function showPage() {
  for (const page of ["filter", "table"]) select(at(`tab-${page}`), page === state.page);
  at("answer-title").textContent = state.page === "filter" ? "The filter" : "The table";
  clear(charts);
  for (const list of ["figures", "warnings", "overfill", "beaten"]) at(list).replaceChildren();
  at("reason").textContent = "";
  at("figures").hidden = false; // their room is kept for them
  showControls(at("controls"), changed);
  changed();
}

/** Arrow keys go from tab to tab, as in every list of them. */
function tabs(list, chosen) {
  const all = [...list.querySelectorAll("[role=tab]")];
  all.forEach((tab, i) => {
    tab.addEventListener("click", () => chosen(tab));
    tab.addEventListener("keydown", (event) => {
      const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
      if (!step) return;
      event.preventDefault();
      const next = all[(i + step + all.length) % all.length];
      next.focus();
      chosen(next);
    });
  });
}

const { theme } = window;
let themeName = theme.chosen;

function setTheme(name) {
  themeName = name;
  theme.choose(name);
  at("theme").textContent = `Theme: ${name}`;
  drawAgain(charts);
}

at("theme").addEventListener("click", () =>
  setTheme(theme.names[(theme.names.indexOf(themeName) + 1) % theme.names.length]));
theme.dark.addEventListener("change", () => setTheme(themeName));

tabs(document.querySelector("header .tabs"), (tab) => {
  state.page = tab.id.slice("tab-".length);
  showPage();
});
tabs(document.querySelector(".take .tabs"), (tab) => {
  state.form = tab.id.slice("form-".length);
  writeAddress();
  showCode();
  askCode(latest).catch(complain);
});

at("copy").addEventListener("click", async () => {
  await navigator.clipboard.writeText(at("code").textContent);
  at("copy").textContent = "Copied";
  setTimeout(() => { at("copy").textContent = "Copy"; }, 1500);
});

let width = innerWidth;
addEventListener("resize", () => {
  if (innerWidth === width) return;
  width = innerWidth;
  drawAgain(charts);
});
addEventListener("hashchange", () => {
  readAddress();
  showPage();
});

at("no-charts").hidden = canDraw();
at("credit").hidden = !canDraw();
setTheme(themeName);
readAddress();
showPage();
