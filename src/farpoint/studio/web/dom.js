// @ts-check
// Elements in one call: h("button", {class: "quiet", onclick: f}, "Undo").

export function h(tag, properties = {}, ...children) {
  const element = tag === "svg" ? document.createElementNS("http://www.w3.org/2000/svg", "svg") : document.createElement(tag);
  for (const [name, value] of Object.entries(properties)) {
    if (value === null || value === undefined || value === false) continue;
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else if (name === "value") element.value = value;
    // As an attribute it would be a style inside the page, which the page's policy forbids.
    else if (name === "style") element.style.cssText = value;
    else element.setAttribute(name, value === true ? "" : value);
  }
  element.append(...children.filter((child) => child !== null && child !== undefined));
  return element;
}

// A group of buttons of which one is on; `change` gets its name.
export function choice(label, names, change, said = "title") {
  const buttons = new Map();
  const group = h("div", { class: "choice", role: "radiogroup", "aria-label": label });
  for (const [name, text, title] of names) {
    const button = h("button", { type: "button", role: "radio", [said]: title, "data-name": name, onclick: () => change(name) }, text);
    buttons.set(name, button);
    group.append(button);
  }
  walk(group, [...buttons.keys()], (name) => buttons.get(name), change);
  group.set = (chosen) => buttons.forEach((button, name) => {
    button.setAttribute("aria-checked", name === chosen);
    button.tabIndex = name === chosen ? 0 : -1;
  });
  group.button = (name) => buttons.get(name);
  return group;
}

// Arrow keys, Home and End go from button to button.
function walk(group, names, buttonOf, change) {
  group.addEventListener("keydown", (event) => {
    const now = names.findIndex((name) => buttonOf(name) === document.activeElement);
    const usable = names.filter((name) => !buttonOf(name).disabled && buttonOf(name).offsetParent);
    const step = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 }[event.key];
    const at = event.key === "Home" ? 0 : event.key === "End" ? usable.length - 1 : (usable.indexOf(names[now]) + step + usable.length) % usable.length;
    if (now < 0 || Number.isNaN(at)) return;
    event.preventDefault();
    event.stopPropagation();
    buttonOf(usable[at]).focus();
    change(usable[at]);
  });
}

// Tabs over the bodies of the same names; `change` gets the name of the one that is chosen.
export function tablist(label, names, bodies, change) {
  const tabs = new Map();
  const group = h("div", { class: "choice tabs", role: "tablist", "aria-label": label });
  for (const [name, text] of names) {
    const tab = h("button", { type: "button", role: "tab", id: `tab-${name}`, "aria-controls": `panel-${name}`, "data-name": name, onclick: () => change(name, true) }, text);
    tabs.set(name, tab);
    group.append(tab);
    for (const [key, value] of Object.entries({ role: "tabpanel", id: `panel-${name}`, "aria-labelledby": `tab-${name}` })) bodies[name].setAttribute(key, value);
  }
  walk(group, [...tabs.keys()], (name) => tabs.get(name), change);
  group.set = (chosen) => tabs.forEach((tab, name) => {
    tab.setAttribute("aria-selected", name === chosen);
    tab.tabIndex = name === chosen ? 0 : -1;
    bodies[name].hidden = name !== chosen;
  });
  return group;
}

// A labeled slider with its value beside the label; what stands there may be more than its name.
export function slider(shown, { label, min, max, step, value, show, change }) {
  const output = h("output", {});
  const input = h("input", { type: "range", min, max, step, "aria-label": label });
  input.value = value;
  const update = () => {
    output.textContent = show(Number(input.value));
    input.setAttribute("aria-valuetext", output.textContent);
  };
  input.addEventListener("input", () => {
    update();
    change(Number(input.value));
  });
  update();
  const row = h("div", { class: "slider" }, h("span", { class: "slider-label" }, shown, output), input);
  row.set = (next) => {
    input.value = next;
    update();
  };
  row.input = input;
  row.refresh = update;
  return row;
}

export function save(name, content, type) {
  const url = URL.createObjectURL(content instanceof Blob ? content : new Blob([content], { type }));
  const anchor = h("a", { href: url, download: name });
  document.body.append(anchor);
  anchor.click();
  anchor.remove();
  setTimeout(() => URL.revokeObjectURL(url), 10000);
}
