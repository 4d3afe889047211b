// @ts-check
// Keys that work anywhere on the page, except while a text or a number is typed.

export const KEYS = [
  ["V  B  R  F", "look, brush, box, fill"], ["1  2  3  4", "wall, floor, start, target"], ["Ctrl+Z, Ctrl+Shift+Z", "undo, redo"],
  [",  .", "smaller t, larger t"], ["Space, S", "play or pause, one step"], ["Arrows, Enter", "on a panel: move the cursor, click or paint (a box: Enter on two corners)"],
  ["+  −  0", "zoom in, out, fit"], ["Shift+drag, wheel", "move and zoom the map"], ["Esc", "clear what was clicked"], ["D", "light or dark"], ["?", "these keys"],
];

const TOOLS = { v: "look", b: "brush", r: "box", f: "fill" };

export function listenToKeys(app, root) {
  root.ownerDocument.addEventListener("keydown", (event) => {
    if (event.defaultPrevented || document.querySelector(".fp dialog[open]")) return;
    const typing = event.target.matches?.("input:not([type=range]), textarea, select");
    const key = event.key.toLowerCase();
    if ((event.ctrlKey || event.metaKey) && !typing && (key === "z" || key === "y")) {
      event.preventDefault();
      if (key === "y" || event.shiftKey) app.painter.redo();
      else app.painter.undo();
      return;
    }
    if (typing || event.ctrlKey || event.metaKey || event.altKey) return;
    if (key === "escape") return app.clearPick();
    // Who speaks to the computer, or presses keys by chance, can turn single keys off.
    if (!app.singleKeys) return;
    const onButton = event.target.matches?.("button");
    if (TOOLS[key]) app.painter.setTool(TOOLS[key]);
    else if ("1234".includes(key)) app.painter.setMaterial(Number(key) - 1);
    else if (key === "," || key === ".") app.setTime(stepped(app.t, key === "." ? 1 : -1));
    else if (key === " " && !onButton) app.player.toggle();
    else if (key === "s") app.player.step();
    else if (key === "+" || key === "=") app.zoom(1.25);
    else if (key === "-") app.zoom(0.8);
    else if (key === "0") app.zoom(0);
    else if (key === "d") app.toggleTheme();
    else if (key === "?") app.help();
    else return;
    event.preventDefault();
  });
}

// One step of t: by 1, and where that would take long by two percent.
export function stepped(t, direction) {
  return t + direction * Math.max(1, Math.round(0.02 * t));
}
