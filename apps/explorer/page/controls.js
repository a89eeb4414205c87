// The controls of a page, made from their descriptions in state.js. All are plain form elements, so that the keyboard
// works as everywhere.

import { controls, isUsed, nameOf, state } from "./state.js";

const textOf = (control, value) => control.texts?.[value] ?? (control.show ? control.show(value) : value);

const make = (tag, attributes = {}, ...children) => {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
  element.append(...children);
  return element;
};

function slider(control, id, changed) {
  const input = make("input", { type: "range", id, min: 0, max: control.values.length - 1, step: 1 });
  const output = make("output", { for: id });
  const show = () => {
    const value = control.values[input.value];
    const text = textOf(control, value) + (control.unit ? ` ${control.unit}` : "");
    output.textContent = text;
    input.setAttribute("aria-valuetext", text);
    input.style.setProperty("--share", input.value / input.max);
  };
  input.value = control.values.indexOf(state[state.page][nameOf(control)]);
  show();
  input.addEventListener("input", () => {
    show();
    changed(control, control.values[input.value]);
  });
  return [make("div", { class: "label" }, make("label", { for: id }, control.label), output), input];
}

function segments(control, id, changed) {
  const group = make("div", { class: "segments", role: "radiogroup", "aria-labelledby": `${id}-label` });
  for (const value of control.values) {
    const input = make("input", { type: "radio", name: id, id: `${id}-${value}`, value });
    input.checked = state[state.page][nameOf(control)] === value;
    input.addEventListener("change", () => changed(control, value));
    group.append(input, make("label", { for: input.id }, textOf(control, value)));
  }
  return [make("div", { class: "label" }, make("span", { id: `${id}-label` }, control.label)), group];
}

function list(control, id, changed) {
  const select = make("select", { id });
  for (const value of control.values) select.append(make("option", { value }, textOf(control, value)));
  select.value = state[state.page][nameOf(control)];
  select.addEventListener("change", () => changed(control, select.value));
  return [make("div", { class: "label" }, make("label", { for: id }, control.label)), select];
}

const makers = { choice: segments, select: list };

/** Fills the form; `changed` is called after every change of a setting. */
export function showControls(form, changed) {
  const rows = new Map();
  const showUsed = () => {
    for (const [control, row] of rows) row.hidden = !isUsed(control, state[state.page]);
  };
  const set = (control, value) => {
    state[state.page][nameOf(control)] = value;
    showUsed();
    changed();
  };
  for (const control of controls[state.page]) {
    const id = `${state.page}-${nameOf(control)}`;
    const row = make("div", { class: "control", id: `row-${nameOf(control)}` }, ...(makers[control.kind] ?? slider)(control, id, set));
    if (control.help) row.append(make("p", { class: "help" }, control.help));
    rows.set(control, row);
  }
  form.replaceChildren(...rows.values());
  showUsed();
}
