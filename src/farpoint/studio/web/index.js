// The Studio's own JavaScript; `start` builds the page inside an element.
import { App } from "./app.js";

export function start(root, settings) {
  const style = document.createElement("link");
  style.rel = "stylesheet";
  style.href = new URL("./studio.css", import.meta.url).href;
  let app = null;
  const begin = () => {
    app ??= new App(root, settings);
    window.farpointStudio = app;
  };
  style.addEventListener("load", begin);
  style.addEventListener("error", begin);
  document.head.append(style);
  return () => app?.link.close();
}
