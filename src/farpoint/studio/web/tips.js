// @ts-check
// Tooltips of words and marks: shown by the pointer, by the keyboard and by a tap.
import { h } from "./dom.js";

// A word that says what it means.
export function term(text, meaning, picture = "") {
  const element = h("button", { type: "button", class: "term", "data-tip": meaning });
  if (picture) element.innerHTML = picture;
  element.append(text);
  return element;
}

export function listenToTips(root) {
  const tip = h("div", { class: "tip", role: "tooltip", id: "tip", hidden: true });
  root.append(tip);
  let shown = null;
  const hide = () => {
    shown?.removeAttribute("aria-describedby");
    shown = null;
    tip.hidden = true;
  };
  const show = (event) => {
    const element = event.target.closest?.("[data-tip]");
    if (element === shown) return;
    hide();
    if (!element) return;
    shown = element;
    tip.textContent = element.dataset.tip;
    tip.hidden = false;
    element.setAttribute("aria-describedby", "tip");
    const [box, size] = [element.getBoundingClientRect(), tip.getBoundingClientRect()];
    const left = Math.max(8, Math.min(innerWidth - size.width - 8, box.left + box.width / 2 - size.width / 2));
    const above = box.bottom + 6 + size.height > innerHeight;
    tip.style.left = `${left}px`;
    tip.style.top = `${above ? box.top - size.height - 6 : box.bottom + 6}px`;
  };
  for (const kind of ["pointerover", "focusin", "click"]) root.addEventListener(kind, show);
  root.addEventListener("pointerleave", hide);
  root.addEventListener("focusout", hide);
  document.addEventListener("keydown", (event) => event.key === "Escape" && hide());
  addEventListener("scroll", hide, true);
}
