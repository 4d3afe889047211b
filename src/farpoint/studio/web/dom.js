// Elements in one call: h("button", {class: "quiet", onclick: f}, "Undo").

export function h(tag, properties = {}, ...children) {
  const element = tag === "svg" ? document.createElementNS("http://www.w3.org/2000/svg", "svg") : document.createElement(tag);
  for (const [name, value] of Object.entries(properties)) {
    if (value === null || value === undefined || value === false) continue;
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else if (name === "value") element.value = value;
    else element.setAttribute(name, value === true ? "" : value);
  }
  element.append(...children.filter((child) => child !== null && child !== undefined));
  return element;
}

// A group of buttons of which one is on; `change` gets its name.
export function choice(label, names, change) {
  const buttons = new Map();
  const group = h("div", { class: "choice", role: "radiogroup", "aria-label": label });
  for (const [name, text, title] of names) {
    const button = h("button", { type: "button", role: "radio", title, "data-name": name, onclick: () => change(name) }, text);
    buttons.set(name, button);
    group.append(button);
  }
  group.addEventListener("keydown", (event) => {
    const step = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 }[event.key];
    if (!step) return;
    event.preventDefault();
    event.stopPropagation();
    const usable = [...buttons.keys()].filter((name) => !buttons.get(name).disabled);
    const now = usable.findIndex((name) => buttons.get(name) === document.activeElement);
    const next = usable[(now + step + usable.length) % usable.length];
    buttons.get(next).focus();
    change(next);
  });
  group.set = (chosen) => buttons.forEach((button, name) => {
    button.setAttribute("aria-checked", name === chosen);
    button.tabIndex = name === chosen ? 0 : -1;
  });
  group.button = (name) => buttons.get(name);
  return group;
}

// A labeled slider with its value beside the label.
export function slider(label, { min, max, step, value, show, change }) {
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
  const row = h("label", { class: "slider" }, h("span", { class: "slider-label" }, label, output), input);
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
