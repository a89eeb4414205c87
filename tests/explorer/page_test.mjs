// Uses the page as a person does, and holds what it shows to what the tool says. Run by page_test.py.

import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { promisify } from "node:util";

const { ONEPROBE_ADDRESS: address, ONEPROBE_SERVER: server, ONEPROBE_CLI: tool, ONEPROBE_SHOTS: shots, ONEPROBE_MODULES: modules, CHROMIUM } = process.env;
const { chromium } = createRequire(import.meta.url)(join(modules, "playwright-core"));
const run = promisify(execFile);

// Those that measure what the page costs run apart from the others.
const { ONEPROBE_PAGE_TESTS: chosen } = process.env;
assert.ok(["timed", "untimed"].includes(chosen));
const timed = chosen === "timed" ? test : () => {};
const untimed = chosen === "untimed" ? test : () => {};

// Milliseconds after which something counts as hanging, however much else runs on the machine.
const hangs = 120_000;

let browser, page, folder, devtools;
const faults = []; // of the page, of any test

before(async () => {
  folder = mkdtempSync(join(tmpdir(), "oneprobe-chromium-"));
  browser = await chromium.launchPersistentContext(folder, {
    executablePath: CHROMIUM,
    args: ["--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
      "--disable-component-update", "--disable-sync"],
    viewport: { width: 1400, height: 1000 },
  });
  page = browser.pages()[0] ?? (await browser.newPage());
  page.on("pageerror", (error) => faults.push(String(error)));
  page.on("console", (message) => message.type() === "error" && faults.push(message.text()));
  page.setDefaultTimeout(hangs);
  page.setDefaultNavigationTimeout(hangs);
  if (chosen !== "timed") return;
  devtools = await browser.newCDPSession(page);
  await devtools.send("Performance.enable", { timeDomain: "threadTicks" });
  await page.addInitScript(() => {
    const plain = window.setTimeout;
    window.delaysAsked = 0;
    window.setTimeout = (work, delay = 0, ...more) => {
      window.delaysAsked += delay;
      return plain(work, delay, ...more);
    };
  });
  // An answer that costs nothing: what is drawn does not depend on it.
  await page.route(/\/api\/(plan|picture)\//, async (route) => {
    await drawn;
    const answer = route.request().url().includes("/plan/") ? { plan: null, reason: "Held back." } : null;
    await route.fulfill({ json: answer });
  });
});

after(async () => {
  await browser?.close();
  rmSync(folder, { recursive: true, force: true });
});

const fresh = async (hash) => {
  await page.goto("about:blank");
  await page.goto(address + hash);
};

/** Waits until the plan on the page is that of the settings. */
const planned = async (kind = page) => {
  await kind.waitForFunction(() => {
    const command = document.getElementById("code").textContent;
    return document.documentElement.dataset.planned === command && !document.documentElement.classList.contains("waiting");
  });
  return kind.locator("#code").textContent();
};

/** The tool's answer to a command; exit code 1 is a need that cannot be met. */
async function said(command) {
  const [name, ...rest] = command.trim().split(" ");
  assert.equal(name, "oneprobe");
  try {
    return JSON.parse((await run(tool, [...rest, "--json"])).stdout);
  } catch (error) {
    assert.equal(error.code, 1, error.stderr);
    return JSON.parse(error.stdout);
  }
}

const median = (values) => values.sort((a, b) => a - b)[Math.floor(values.length / 2)];

/** Moves a slider by its keys, sets a list or a choice. */
async function move(control, index) {
  await page.evaluate(([name, at]) => {
    const row = document.getElementById(`row-${name}`);
    const range = row.querySelector("input[type=range]"), select = row.querySelector("select");
    const radios = row.querySelectorAll("input[type=radio]");
    if (range) {
      range.value = at % (Number(range.max) + 1);
      range.dispatchEvent(new Event("input", { bubbles: true }));
    } else if (select) {
      select.selectedIndex = at % select.options.length;
      select.dispatchEvent(new Event("change", { bubbles: true }));
    } else {
      radios[at % radios.length].click();
    }
  }, [control, index]);
}

/** A fixed sequence (Lehmer's), so that a failure can be repeated. */
function* numbers(seed) {
  for (let x = seed; ; ) yield (x = (x * 48271) % 2147483647);
}

/** Milliseconds that each thread of the server took of the processors so far. */
function serverThreads() {
  const taken = new Map();
  for (const thread of readdirSync(`/proc/${server}/task`)) {
    try {
      taken.set(thread, Number(readFileSync(`/proc/${server}/task/${thread}/schedstat`, "utf8").split(" ")[0]) / 1e6);
    } catch (error) {
      if (!["ENOENT", "ESRCH"].includes(error.code)) throw error; // it has ended
    }
  }
  return taken;
}

/** Milliseconds that the main thread of the page took of the processors so far. */
async function pageThread() {
  const { metrics } = await devtools.send("Performance.getMetrics");
  return 1000 * metrics.find(({ name }) => name === "TaskDuration").value;
}

// What plans and pictures wait for.
let drawn = Promise.resolve();

/**
 * What drawing costs, in milliseconds, none of which grows with what else runs on the machine: processor time of the page
 * and of the server, and the delays that the page asks for. Plans and pictures are held back until it is drawn: who would
 * wait for them never draws. `draws` ends when it is drawn, with the delays.
 */
async function cost(draws) {
  let release, watch;
  drawn = new Promise((done) => { release = done; });
  const never = new Promise((_, fail) => { watch = setTimeout(() => fail(new Error("it is never drawn")), hangs); });
  const pageBefore = await pageThread(), serverBefore = serverThreads();
  const delays = await Promise.race([draws(), never]);
  clearTimeout(watch);
  const found = { page: (await pageThread()) - pageBefore, server: 0, delays };
  for (const [thread, taken] of serverThreads()) found.server += taken - (serverBefore.get(thread) ?? 0);
  release();
  return found;
}

const sum = ({ page: own, server: asked, delays }) => own + asked + delays;
const told = (all) => all.map((each) => `${[each.page, each.server, each.delays].map(Math.round).join("+")} ms`).join(", ");

/** Until so many milliseconds: the median of several. */
function assertQuick(what, costs, allowed) {
  console.log(`${what}: ${told(costs)}`);
  assert.ok(median(costs.map(sum)) < allowed, `${what}: ${told(costs)} of page, server and delays; ${allowed} allowed`);
}

timed("the first chart costs less than a second", async () => {
  const costs = [];
  for (let i = 0; i < 5; ++i) {
    await page.goto("about:blank");
    costs.push(await cost(async () => {
      await page.goto(address + (i % 2 ? "#table" : "#filter"), { waitUntil: "commit" });
      return page.evaluate(async () => {
        const root = document.documentElement;
        await new Promise((done) => {
          const look = () => root.dataset.firstChart && done();
          new MutationObserver(look).observe(root, { attributes: true });
          look();
        });
        return window.delaysAsked;
      });
    }));
  }
  assertQuick("first chart", costs, 1000);
});

const controls = {
  filter: ["elements", "goal", "fpr", "bits-per-element", "choices", "accesses", "overfill", "kind"],
  table: ["elements", "workload", "overflow", "load-factor", "choices", "bucket-capacity", "overfill", "value-bytes"],
};

/** Changes a control by so many of its values and waits until the curves are drawn; the delays that the page asked for. */
const redrawn = (control, step) => page.evaluate(async ([name, by]) => {
  const root = document.documentElement;
  const row = document.getElementById(`row-${name}`);
  const range = row.querySelector("input[type=range]"), select = row.querySelector("select");
  const radios = [...row.querySelectorAll("input[type=radio]")];
  const count = range ? Number(range.max) + 1 : select ? select.options.length : radios.length;
  const now = range ? Number(range.value) : select ? select.selectedIndex : radios.findIndex((each) => each.checked);
  const next = (now + by + count) % count;
  const before = root.dataset.drawn;
  const drawn = new Promise((done) => {
    new MutationObserver(() => root.dataset.drawn !== before && done()).observe(root, { attributes: true });
  });
  const delays = window.delaysAsked;
  if (range) range.value = next;
  if (select) select.selectedIndex = next;
  if (range) range.dispatchEvent(new Event("input", { bubbles: true }));
  else if (select) select.dispatchEvent(new Event("change", { bubbles: true }));
  else radios[next].click();
  await drawn;
  return window.delaysAsked - delays;
}, [control, step]);

timed("every control redraws for less than a tenth of a second", async () => {
  for (const [name, all] of Object.entries(controls))
    for (const control of all) {
      await fresh(control === "bits-per-element" ? `#${name}?goal=bits-per-element` : `#${name}`);
      await planned();
      const costs = [];
      for (let i = 0; i < 5; ++i) {
        costs.push(await cost(() => redrawn(control, 1)));
      }
      assertQuick(`#${name}, ${control}`, costs, 100);
    }
});

timed("change after change redraws for less than a tenth of a second", async () => {
  for (const [hash, control] of [["#filter", "fpr"], ["#table", "overflow"]]) {
    await fresh(hash);
    await planned();
    const costs = [];
    for (let i = 0; i < 15; ++i) costs.push(await cost(() => redrawn(control, 3)));
    assertQuick(`${hash}, one after the other`, costs, 100);
  }
});

untimed("twenty settings show the numbers of the tool", async () => {
  const random = numbers(20081);
  let plans = 0;
  for (let setting = 0; setting < 20; ++setting) {
    const name = setting % 3 === 0 ? "filter" : "table";
    await fresh(`#${name}`);
    // Some at a time, so that a good part of them can be met.
    for (const control of controls[name]) {
      if (random.next().value % 3 === 0 && control !== "elements") continue;
      // The planner takes seconds for the alternatives with six choices and more, and for tables that only fill.
      const index = random.next().value;
      await move(control, control === "choices" ? index % 5 : control === "workload" ? Number(index % 4 === 0) : index);
    }
    const command = await page.locator("#code").textContent();
    const expected = said(command); // beside the page's own request
    assert.equal(await planned(), command);
    const answer = await expected;
    await page.click("#form-json");
    assert.deepEqual(JSON.parse(await page.locator("#code").textContent()), answer, command);
    await page.click("#form-command");
    const shown = await page.$$eval("#figures dd[data-value]", (all) => all.map((each) => [each.dataset.key, each.dataset.value, each.textContent]));
    if (answer.plan === null) {
      assert.equal(shown.length, 0, command);
      assert.equal(await page.locator("#reason").textContent(), answer.reason);
      continue;
    }
    ++plans;
    assert.ok(shown.length >= 7, command);
    for (const [key, value, text] of shown) {
      assert.equal(value, String(answer[key]), `${command}: ${key}`);
      if (key.endsWith("_accesses")) assert.ok(text.startsWith(answer[key].toFixed(3)), `${command}: ${text}`);
    }
  }
  assert.ok(plans >= 10, `only ${plans} of 20 settings have a plan`);
});

const looksRight = (leastCharts) => {
  const wrong = [];
  const html = document.documentElement;
  if (html.scrollWidth > innerWidth) wrong.push(`wider than the window: ${html.scrollWidth}`);
  const visible = (each) => each.getClientRects().length > 0;
  // Texts that stand beside each other must not touch.
  const texts = [...document.querySelectorAll("label, output, button, h1, h2, h3, dt, dd, figcaption p, .legend li, th, .help, #reason, #warnings li, summary")]
    .filter((each) => visible(each) && each.textContent.trim() && !each.closest(".scroll, .skip"));
  const boxes = texts.map((each) => {
    const range = document.createRange();
    range.selectNodeContents(each);
    return range.getBoundingClientRect();
  });
  boxes.forEach((a, i) => {
    if (a.left < -1 || a.right > innerWidth + 1) wrong.push(`outside: ${texts[i].textContent}`);
    for (let j = i + 1; j < boxes.length; ++j) {
      const b = boxes[j];
      if (texts[i].contains(texts[j]) || texts[j].contains(texts[i])) continue;
      const across = Math.min(a.right, b.right) - Math.max(a.left, b.left);
      const down = Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top);
      if (across > 1 && down > 3) wrong.push(`overlap: ${texts[i].textContent} | ${texts[j].textContent}`);
    }
  });
  const charts = [...document.querySelectorAll(".chart")].filter(visible);
  if (charts.length < leastCharts) wrong.push(`only ${charts.length} charts`);
  for (const chart of charts) {
    const canvas = chart.querySelector("canvas");
    if (!canvas) {
      wrong.push(`${chart.id} has no picture`);
      continue;
    }
    const { data } = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height);
    const colours = new Map();
    for (let i = 0; i < data.length; i += 4)
      if (data[i + 3] === 255) {
        const name = (data[i] << 16) | (data[i + 1] << 8) | data[i + 2];
        colours.set(name, (colours.get(name) ?? 0) + 1);
      }
    // Curves are in colour, or in the grey that the legend gives them.
    const greys = [...chart.querySelectorAll(".legend i")].map((key) => getComputedStyle(key).color.match(/\d+/g).slice(0, 3).map(Number));
    const coloured = [...colours].filter(([name]) => {
      const parts = [name >> 16, (name >> 8) & 255, name & 255];
      return Math.max(...parts) - Math.min(...parts) > 40 || greys.some((grey) => grey.every((value, n) => Math.abs(value - parts[n]) < 4));
    });
    if (coloured.reduce((sum, [, count]) => sum + count, 0) < 200) wrong.push(`${chart.id} is empty`);
  }
  const raw = document.body.innerText.match(/\bNaN\b|undefined|Infinity|\[object|\bnull\b/);
  if (raw) wrong.push(`raw ${raw[0]}`);
  return wrong;
};

/** Needs, how many charts there are at least, and the last of them to be drawn. */
const shown = {
  filter: ["#filter", 4, "#chart-overfill"],
  table: ["#table", 4, "#chart-cost"],
  refused: ["#table?load-factor=0.95&choices=2", 1, "#chart-overflow"],
  standard: ["#filter?kind=standard", 3, "#chart-overfill"],
  counting: ["#filter?kind=counting", 3, "#chart-overfill"],
  warned: ["#filter?elements=1k&kind=balanced", 3, "#chart-overfill"],
};

untimed("nothing overlaps, overflows or is empty, at both widths and in both themes", async () => {
  for (const width of [390, 1400])
    for (const scheme of ["light", "dark"])
      for (const [name, [hash, charts, last]] of Object.entries(shown)) {
        // Those beside the two ordinary ones show other figures, in the same colours.
        if (scheme === "dark" && !["filter", "table"].includes(name)) continue;
        await page.setViewportSize({ width, height: width === 390 ? 844 : 1000 });
        await page.emulateMedia({ colorScheme: scheme });
        await fresh(hash);
        await planned();
        await page.waitForSelector(`${last} canvas`);
        await page.waitForTimeout(250); // the fading has ended
        assert.deepEqual(await page.evaluate(looksRight, charts), [], `${name}, ${width}, ${scheme}`);
        const ground = await page.evaluate(() => getComputedStyle(document.body).backgroundColor.match(/\d+/g).map(Number));
        assert.equal(ground[0] < 128, scheme === "dark");
        await page.screenshot({ path: join(shots, `${name}-${width}-${scheme}.png`), fullPage: true });
      }
  await page.setViewportSize({ width: 1400, height: 1000 });
  await page.emulateMedia({ colorScheme: "light" });
});

untimed("a plan beyond the axes keeps its ring", async () => {
  await fresh("#filter?kind=counting");
  await planned();
  await page.waitForSelector("#chart-overfill canvas");
  assert.match(await page.locator("#chart-error figcaption p").textContent(), /for 10M elements;.* beyond the right edge/);
  // In the last pixels of the chart, the colour of its kind, which no other mark has.
  const coloured = await page.evaluate(() => {
    const canvas = document.querySelector("#chart-error canvas");
    const wanted = getComputedStyle(document.documentElement).getPropertyValue("--counting").trim().match(/\w\w/g).map((part) => parseInt(part, 16));
    const width = Math.round(10 * devicePixelRatio);
    const { data } = canvas.getContext("2d").getImageData(canvas.width - width, 0, width, canvas.height);
    let found = 0;
    for (let i = 0; i < data.length; i += 4) found += Number(wanted.every((value, n) => Math.abs(data[i + n] - value) < 8));
    return found;
  });
  assert.ok(coloured >= 10, `${coloured} pixels`);
});

untimed("the plan's warnings are listed", async () => {
  for (const [hash, least] of [["#filter?elements=1k&kind=balanced", 1], ["#table?load-factor=0.95&choices=2", 0]]) {
    await fresh(hash);
    const answer = await said(await planned());
    const warnings = answer.warnings ?? [];
    assert.ok(warnings.length >= least, hash);
    assert.deepEqual(await page.locator("#warnings li").allTextContents(), warnings);
  }
});

untimed("the keyboard alone is enough", async () => {
  await fresh("#filter");
  await planned();
  await page.focus("#filter-fpr");
  const before = await page.locator("#row-fpr output").textContent();
  await page.keyboard.press("ArrowRight");
  assert.notEqual(await page.locator("#row-fpr output").textContent(), before);
  assert.match(await planned(), /--fpr 2e-4/);
  await page.focus("#tab-filter");
  await page.keyboard.press("ArrowRight");
  assert.equal(await page.getAttribute("#tab-table", "aria-selected"), "true");
  assert.match(await planned(), /^oneprobe plan table/);
  await page.focus("#form-command");
  await page.keyboard.press("ArrowRight");
  await page.waitForFunction(() => document.getElementById("code").textContent.includes("#include"));
  // Every control can be reached.
  await page.focus("#tab-table");
  const reached = new Set();
  for (let i = 0; i < 40; ++i) {
    await page.keyboard.press("Tab");
    reached.add(await page.evaluate(() => document.activeElement.id || document.activeElement.name));
  }
  for (const id of ["theme", "table-elements", "table-load-factor", "table-value-bytes", "form-cpp", "copy", "code"])
    assert.ok(reached.has(id), `${id} is not reached: ${[...reached]}`);
});

untimed("the address holds the settings", async () => {
  const hash = "#filter?elements=50M&goal=bits-per-element&bits-per-element=20&overfill=0.1&kind=balanced";
  await fresh(hash);
  const command = await planned();
  assert.equal(command, "oneprobe plan filter --elements 50M --bits-per-element 20 --overfill 0.1 --kind balanced");
  assert.equal(new URL(page.url()).hash, hash);
  await move("choices", 1);
  const moved = await planned();
  assert.match(moved, /--choices 2/);
  await page.goto(page.url());
  await page.reload();
  assert.equal(await planned(), moved);
  // Nonsense is left at its default.
  await fresh("#filter?elements=<script>&fpr=7&kind=__proto__&goal=x&form=y");
  assert.equal(await planned(), "oneprobe plan filter --elements 1M --fpr 1e-4 --overfill 0.05");
  await fresh("#constructor?elements=5");
  assert.equal(await planned(), "oneprobe plan filter --elements 1M --fpr 1e-4 --overfill 0.05");
});

untimed("what cannot be met is said, and the curves stay", async () => {
  await fresh("#table?load-factor=0.95&choices=2");
  await planned();
  assert.match(await page.locator("#reason").textContent(), /^No plan: /);
  assert.equal(await page.locator("#status").textContent(), "No plan");
  // The curves come by a request of their own, which the refusal may overtake.
  await page.waitForSelector("#chart-overflow canvas", { state: "visible" });
});

test("the page had no fault", () => assert.deepEqual([...new Set(faults)], []));
